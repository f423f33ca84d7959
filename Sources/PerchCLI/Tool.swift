import PerchBase
package import PerchClient
import PerchJSON
package import PerchServer

/// `perch` as a library: a command line in, an exit code out.
package struct Tool: Sendable {
    package static let version = "0.1.0"
    /// `perch --version`, `perch -V` and `perch version`.
    package static let versionLine = "perch \(Self.version)\n"

    /// The work that remains after the command line was read.
    package enum Plan: Sendable {
        /// None: the answer is printed.
        case done(ExitCode)
        /// A server. It needs the main thread before any other thread exists: see `Serve`.
        case serve(ServerSettings)
        /// A bench or one of its tools. It needs the main thread too, which becomes the generator: see `BenchRun`.
        case bench(Job)
        /// A command that asks a server, or works on this machine.
        case run(Job)
    }

    /// A command that is ready to run.
    package struct Job: Sendable {
        let invocation: Invocation
        let settings: Settings
    }

    private let console: any Console

    package init(console: any Console) {
        self.console = console
    }

    /// Reads the command line (without the program's name) and the settings that go with it.
    package func plan(_ arguments: [String], environment: [String: String]) -> Plan {
        let root = CommandTable.root
        do throws(UsageError) {
            switch try ArgumentParser(root).parse(arguments) {
            case .help(let path):
                return .done(self.say(Help.text(for: path, width: Help.columns(of: self.console))))
            case .helpOnExitCodes:
                return .done(self.say(Help.exitCodes(width: Help.columns(of: self.console))))
            case .helpOnConnection:
                return .done(self.say(Help.connection(width: Help.columns(of: self.console))))
            case .version: return .done(self.say(Self.versionLine))
            case .run(let invocation): return try self.plan(invocation, root, environment)
            }
        } catch {
            return .done(self.ended(by: error, asJSON: Self.asksForJSON(arguments, environment)))
        }
    }

    /// Whether a command line that cannot be read asks for JSON all the same.
    private static func asksForJSON(_ arguments: [String], _ environment: [String: String]) -> Bool {
        var format = environment["PERCH_OUTPUT"]
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { break }
            if argument == "-o" || argument == "--output" {
                format = arguments.dropFirst(index + 1).first
            } else if argument.hasPrefix("--output=") {
                format = String(argument.dropFirst("--output=".count))
            }
        }
        return format.flatMap { OutputFormat(rawValue: $0) }.map { $0 != .text } ?? false
    }

    private func plan(
        _ invocation: Invocation, _ root: CommandSpec, _ environment: [String: String]
    ) throws(UsageError) -> Plan {
        let sources = Settings.Sources(environment: environment) { (path) throws(FileFault) in
            try Files.read(path, limitBytes: Limits.settingsFileBytesMax)
        }
        let settings = try Settings(invocation, root: root, from: sources)
        let job = Job(invocation: invocation, settings: settings)
        if BenchTable.workload(of: invocation.action) != nil || BenchTable.isBeside(invocation.action) {
            return .bench(job)
        }
        guard invocation.action == .serve else { return .run(job) }
        let server = ServerSettings(settings, version: Self.version)
        let refusal = settings.unused ?? server.contradiction
        if settings.flag("show-config") {
            let said = self.say(settings.listing())
            guard let refusal else { return .done(said) }
            self.complain("perch serve would not start: \(refusal)")
            return .done(.usage)
        }
        if let refusal { throw UsageError(refusal, command: invocation.name) }
        return .serve(server)
    }

    /// Runs a command to its end.
    package func run(_ job: Job) async -> ExitCode {
        do {
            return try await CommandRun(job, console: self.console).run()
        } catch let gone as ReaderGone {
            return self.ended(by: gone)
        } catch {
            let format = job.settings.has("output") ? job.settings.text("output") : nil
            return self.ended(
                by: error, asJSON: format != nil && format != OutputFormat.text.rawValue, of: job.invocation.name)
        }
    }

    /// Reports the error that ended a command, on standard error: a line for people, or one JSON document.
    private func ended(by error: any Error, asJSON: Bool, of command: String? = nil) -> ExitCode {
        let (code, text): (ExitCode, String) =
            switch error {
            case let failure as CommandFailure: (failure.code, failure.description)
            case let error as PerchError: (ExitCode(error), error.told(of: command))
            case let error as UsageError: (.usage, error.description)
            default: (.failure, "\(error)")
            }
        guard asJSON else {
            self.complain(text)
            return code
        }
        let document = DocumentWriter.document(.compact) { json in
            json.message("error") { json in
                if let error = error as? PerchError {
                    error.write(to: &json, of: command)
                } else {
                    json.text("message", text)
                }
                json.number("exitCode", code.rawValue)
            }
        }
        self.console.talk(String(document.dropLast()))
        return code
    }

    /// Runs a bench to its end, on the calling thread.
    package func runBench(_ job: Job, executable: String, environment: [String: String]) -> ExitCode {
        do {
            return try BenchRun(job, console: self.console, executable: executable, environment: environment).run()
        } catch let gone as ReaderGone {
            return self.ended(by: gone)
        } catch let failure as CommandFailure {
            self.complain(failure.description)
            return failure.code
        } catch let error as UsageError {
            self.complain(error.description)
            return .usage
        } catch {
            self.complain("\(error)")
            return .failure
        }
    }

    /// A closed pipe is no failure; a full disk is one.
    private func ended(by gone: ReaderGone) -> ExitCode {
        if gone.hasEnough { return .success }
        self.complain(gone.description)
        return .failure
    }

    private func say(_ text: String) -> ExitCode {
        do throws(ReaderGone) {
            try self.console.data(text)
            return .success
        } catch {
            return self.ended(by: error)
        }
    }

    private func complain(_ message: String) {
        self.console.talk("perch: " + message)
    }
}

extension ExitCode {
    package init(_ error: PerchError) {
        switch error.reason {
        case .addressInvalid: self = .usage
        case .authorizationUnreadable: self = .denied
        case .tlsFiles: self = .failure
        default: self.init(code: error.code.rawValue, reason: error.reason.rawValue)
        }
    }
}
