import PerchBase
import PerchCatalogue
import PerchClient
import PerchModel
import PerchScenario
import PerchServer
import PerchTLS
import PerchWire

extension CommandRun {
    /// `perch scenario check`
    func checkScenarios() throws -> ExitCode {
        var isSound = true
        let paths = self.scenarioPaths()
        let destination = self.settings.text("catalog")
        if destination != nil, paths.count != 1 {
            throw UsageError("--catalog is of one scenario, here are \(paths.count)", command: self.invocation.name)
        }
        for path in paths {
            let parsed: ParsedScenario
            do throws(CommandFailure) {
                parsed = try Self.parse(path)
            } catch {
                isSound = false
                try self.printUnreadable(path.name, error)
                continue
            }
            isSound = isSound && parsed.isSound
            try self.tellFaults(path.name, parsed)
            if let destination, parsed.isSound { try Self.writeCatalogue(of: parsed, path.name, to: destination) }
        }
        return isSound ? .success : .failure
    }

    private static func writeCatalogue(of parsed: ParsedScenario, _ path: String, to destination: String) throws {
        let file: [UInt8]
        switch parsed.scenario.catalogue {
        case .inline(let catalogue): file = try catalogue.file()
        case .named(let name): file = try parsed.scenario.namedCatalogues[name]?.file() ?? []
        case .file(let name):
            file = try Files.read(ScenarioFiles.resolve(name, beside: path), limitBytes: Limits.catalogRequestBytesMax)
        case .text(let text): file = Array(text.utf8)
        case nil: throw CommandFailure(.failure, "\(printable(path)) has no catalogue")
        }
        do throws(FileFault) {
            try Files.replace(destination, with: file)
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }

    /// `perch scenario run`
    func runScenarios() throws -> ExitCode {
        var reports: [ScenarioReport] = []
        let results = self.settings.text("junit")
        if let results { try Files.requireReplaceable(results) }
        let options = try self.remoteOptions()
        for path in self.scenarioPaths() { reports.append(try self.run(path, options)) }
        if let results { try JUnit.write(reports, to: results) }
        let failed = reports.count { !$0.isPassed }
        if self.printer.format == .text {
            let passed = reports.count - failed
            let milliseconds = reports.reduce(0) { $0 + $1.milliseconds }
            self.console.talk(
                "\(counted(reports.count, "scenario")): \(passed) passed, \(failed) failed, "
                    + "\(reports.reduce(0) { $0 + $1.stepCount }) steps, \(reports.reduce(0) { $0 + $1.checkCount }) "
                    + "expectations, \(milliseconds) ms")
        }
        if failed == 0 { return .success }
        // If no scenario reached a server, the server failed, not the scenarios.
        let refusals = reports.compactMap(\.refusal)
        guard let refusal = refusals.first, refusals.count == failed else { return .failure }
        return ExitCode(code: refusal.code, reason: refusal.reason)
    }

    /// Runs one file. A file that cannot be read, or has mistakes, is one failed scenario, and the others go on.
    private func run(_ path: ScenarioPath, _ options: ScenarioRunner.Options?) throws -> ScenarioReport {
        var report = ScenarioReport(file: path.name)
        let parsed: ParsedScenario
        do throws(CommandFailure) {
            parsed = try Self.parse(path)
        } catch {
            report.failure = error.description
            try self.tell(report)
            return report
        }
        guard parsed.isSound else {
            try self.tellFaults(path.name, parsed)
            report.failure = "it has \(counted(parsed.faultCount, "mistake"))"
            return report
        }
        do {
            report = try self.play(parsed.scenario, path.name, options)
        } catch let failure as CommandFailure {
            report.failure = failure.description
        }
        try self.tell(report)
        return report
    }

    // MARK: Files

    /// A file to run, or the reason against it.
    private struct ScenarioPath {
        var name: String
        var failure: CommandFailure?
    }

    private static func parse(_ path: ScenarioPath) throws(CommandFailure) -> ParsedScenario {
        if let failure = path.failure { throw failure }
        return try ScenarioFiles.parse(path.name)
    }

    /// The files of the command line, and the scenarios of its directories, sorted by name.
    private func scenarioPaths() -> [ScenarioPath] {
        var paths: [ScenarioPath] = []
        for path in self.texts("FILE") {
            guard Files.isDirectory(path) else {
                paths.append(ScenarioPath(name: path))
                continue
            }
            let found = Self.scenarios(in: path)
            paths += found.map { ScenarioPath(name: $0) }
            if found.isEmpty {
                let failure = CommandFailure(.failure, "\(printable(path)) has no file that ends in .scenario")
                paths.append(ScenarioPath(name: path, failure: failure))
            }
        }
        return paths
    }

    private static func scenarios(in directory: String) -> [String] {
        let paths = try? Files.paths(in: directory)
        return (paths ?? []).filter { $0.hasSuffix(".scenario") }
    }

    // MARK: Playing

    /// The connection to `--server`; nil without that option. It is the same for all files, so a mistake ends the command.
    private func remoteOptions() throws -> ScenarioRunner.Options? {
        guard let address = self.settings.text("server") else { return nil }
        var options = ScenarioRunner.Options(address: address)
        let app = self.settings.app
        options.app = (app.bundleID, app.environment)
        if let file = self.settings.text("credentials-file") {
            options.authorization = try PerchClientOptions.Authorization.file(path: file).read()
        }
        options.tls = try self.settings.tls(of: address)
        return options
    }

    private func play(
        _ scenario: Scenario, _ path: String, _ options: ScenarioRunner.Options?
    ) throws -> ScenarioReport {
        let readFile = ScenarioFiles.reader(beside: path)
        if let options { return ScenarioRunner.run(scenario, file: path, options: options, readFile: readFile) }
        let server = try ScenarioServer(start: scenario.start)
        var options = ScenarioRunner.Options(address: server.address)
        options.ownsServer = true
        options.clientName = "perch/\(Tool.version) scenario"
        var report = ScenarioRunner.run(scenario, file: path, options: options, readFile: readFile)
        if let failure = report.failure {
            let words = server.lastWords().split(separator: "\n").suffix(3).joined(separator: " | ")
            if !words.isEmpty { report.failure = "\(failure); the server's last lines: \(printable(words))" }
        }
        return report
    }

    // MARK: Telling

    private func printUnreadable(_ path: String, _ failure: CommandFailure) throws {
        try self.printer.print { json in
            json.text("file", path)
            json.text("failure", failure.description)
        } text: { _ in
            ["\(printable(path)): error: \(printable(failure.description))"]
        }
    }

    private func tellFaults(_ path: String, _ parsed: ParsedScenario) throws {
        try self.printer.print { json in
            json.text("file", path)
            json.number("stepCount", UInt32(clamping: parsed.scenario.stepCount))
            json.number("expectationCount", UInt32(clamping: parsed.scenario.expectationCount))
            json.messages("faults", parsed.faults) { json, fault in
                json.number("line", UInt32(clamping: fault.place.line))
                json.number("column", UInt32(clamping: fault.place.column))
                json.text("message", fault.message)
            }
        } text: { _ in
            let faults = parsed.faults.map { "\(printable(path)):\($0.place): error: \(printable($0.message))" }
            let more = parsed.faultCount - parsed.faults.count
            guard !faults.isEmpty else {
                return [
                    "\(printable(path)): \(parsed.scenario.stepCount) steps, \(parsed.scenario.expectationCount) "
                        + "expectations"
                ]
            }
            return faults + (more > 0 ? ["\(printable(path)): and \(more) more"] : [])
        }
    }

    private func tell(_ report: ScenarioReport) throws {
        if report.isPassed, self.settings.flag("quiet") { return }
        try self.printer.print { json in
            json.text("file", report.file)
            json.text("result", report.isPassed ? "passed" : "failed")
            json.number("stepCount", UInt32(clamping: report.stepCount))
            json.number("expectationCount", UInt32(clamping: report.checkCount))
            json.number("skippedCount", UInt32(clamping: report.skippedCount))
            json.number("milliseconds", UInt32(clamping: report.milliseconds))
            json.text("failure", report.failure ?? "")
            json.messages("differences", report.differences) { json, difference in
                json.number("line", UInt32(clamping: difference.place.line))
                json.number("column", UInt32(clamping: difference.place.column))
                json.text("text", difference.line)
                json.text("message", difference.message)
                json.text("expected", difference.expected)
                json.text("seen", difference.seen)
            }
        } text: { writer in
            Self.lines(report)
        }
    }

    static func lines(_ report: ScenarioReport) -> [String] {
        let file = printable(report.file)
        var lines: [String] = []
        for difference in report.differences {
            lines.append("\(file):\(difference.place): \(printable(difference.message))")
            lines.append("    \(printable(difference.line))")
            if !difference.expected.isEmpty { lines.append("  - expected  \(printable(difference.expected))") }
            if !difference.seen.isEmpty { lines.append("  + seen      \(printable(difference.seen))") }
        }
        if let failure = report.failure { lines.append("\(file): could not be played: \(printable(failure))") }
        if report.skippedCount > 0 { lines.append("\(file): \(report.skippedCount) lines below that were not played") }
        if report.isPassed {
            lines.append("\(file): passed, \(report.stepCount) steps, \(report.checkCount) expectations")
        }
        return lines
    }
}

/// The results as the XML that build servers read.
enum JUnit {
    static func write(_ reports: [ScenarioReport], to path: String) throws(CommandFailure) {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        let failed = reports.count { !$0.isPassed }
        text += "<testsuite name=\"perch scenario\" tests=\"\(reports.count)\" failures=\"\(failed)\">\n"
        for report in reports {
            let milliseconds = Money(milliunits: report.milliseconds, currency: "").decimal(decimals: 3)
            text += "  <testcase name=\"\(Self.escaped(report.file))\" time=\"\(milliseconds)\""
            guard !report.isPassed else {
                text += "/>\n"
                continue
            }
            let lines = CommandRun.lines(report)
            text += ">\n    <failure message=\"\(Self.escaped(lines.first ?? ""))\">"
            text += Self.escaped(lines.joined(separator: "\n")) + "</failure>\n  </testcase>\n"
        }
        text += "</testsuite>\n"
        do throws(FileFault) {
            try Files.replace(path, with: Array(text.utf8))
        } catch {
            throw CommandFailure(.failure, "\(error)")
        }
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in printable(text.replacing("\n", with: "\u{2028}")) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{2028}": result += "&#10;"
            default: result.append(character)
            }
        }
        return result
    }
}
