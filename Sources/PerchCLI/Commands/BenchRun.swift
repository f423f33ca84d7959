import Glibc
import PerchBase
import PerchBench
import PerchCatalogue
import PerchClient
import PerchLoop
import PerchScenario

/// One run of `perch bench`, on the main thread: no task and no await stands between a socket and the clock.
struct BenchRun {
    private let invocation: Invocation
    private let settings: Settings
    private let console: any Console
    private let executable: String
    private let environment: [String: String]

    init(_ job: Tool.Job, console: any Console, executable: String, environment: [String: String]) {
        self.invocation = job.invocation
        self.settings = job.settings
        self.console = console
        self.executable = executable
        self.environment = environment
    }

    func run() throws -> ExitCode {
        switch self.invocation.action {
        case .benchCompare: return try self.compare()
        case .benchFigures: return try self.listFigures()
        case .benchFloorServer:
            let reason = FloorServer.run(
                port: UInt16(self.settings.number("port") ?? 0), valueBytes: self.number("value-bytes") ?? 0,
                answerBytes: self.number("answer-bytes") ?? 0, store: self.settings.text("store"))
            throw CommandFailure(.failure, reason)
        default:
            guard let workload = BenchTable.workload(of: self.invocation.action) else {
                preconditionFailure("\(self.invocation.name) is no bench")
            }
            return try self.measure(workload)
        }
    }

    // MARK: A workload

    private func measure(_ workload: Workload) throws -> ExitCode {
        let conditions = try self.conditions(of: workload)
        let format = OutputFormat(rawValue: self.settings.text("output") ?? "") ?? .text
        let settings = try self.benchSettings(workload)
        if let refusal = settings.refusal { throw UsageError(refusal, command: self.invocation.name) }

        let directory = try TemporaryPlace(below: self.environment["TMPDIR"] ?? "/tmp")
        defer { directory.remove() }
        var storePlace: TemporaryPlace?
        defer { storePlace?.remove() }
        var bench = Bench(
            settings, server: .perch(loops: 1, store: nil), executable: self.executable, directory: directory.path)
        if workload == .scenario {
            bench.script = try self.script()
        }
        if self.settings.has("connect"), let address = self.settings.text("connect") {
            bench.server = try self.remote(address)
        } else if let stray = (["pid"] + BenchTable.access.map(\.name)).first(where: self.isWritten) {
            throw UsageError("--\(stray) goes with --connect", command: self.invocation.name)
        } else {
            if let store = self.settings.text("store"), store != "memory" {
                storePlace = try TemporaryPlace(below: store)
            }
            bench.server = .perch(loops: Int(self.settings.number("loops") ?? 1), store: storePlace?.path)
        }
        bench.hasFloor = self.isFloorWanted
        if self.settings.has("one-loop"), self.settings.flag("one-loop") {
            guard self.number("loops") ?? 1 > 1 else {
                throw UsageError(
                    "--one-loop compares several loops with one: give --loops 2", command: self.invocation.name)
            }
            bench.hasOneLoop = true
        }
        if self.settings.has("redis"), self.settings.flag("redis") {
            bench.redis = try self.redisPath(settings)
            if let script = self.settings.text("redis-script") {
                let file = try Files.read(script, limitBytes: Limits.benchScriptBytesMax)
                bench.redisScript = String(decoding: file, as: UTF8.self)
            }
        }
        if self.settings.has("transport") { try self.addPeers(to: &bench) }
        if let condition = conditions.first(where: \.isRatio), !bench.hasFloor, !bench.hasOneLoop, bench.redis == nil,
            !bench.hasOwnProtocol, bench.grpcServer == nil
        {
            throw UsageError(
                "--fail-if \(condition): a ratio is to the floor; give --floor", command: self.invocation.name)
        }
        bench.rounds = Int(self.settings.number("pairs") ?? 1)
        bench.version = Tool.version
        // The settings of the generator must not reach the measured server.
        bench.environment = self.environment.filter { !$0.key.hasPrefix("PERCH_") }
        bench.isInterrupted = { Interruption.isAsked }

        let page = self.settings.text("report")
        // Fails before the load rather than after it.
        if let page { try Files.requireReplaceable(page) }
        let ticker = Ticker(
            console: self.console, format: format, isTerminal: isatty(2) == 1 && self.environment["TERM"] != "dumb")
        var report: BenchReport
        do throws(BenchError) {
            report = try bench.run { ticker.tell($0) }
        } catch {
            // The run could not begin: the refusal decides the exit code, as for every command that asks a server.
            guard let refusal = error.refusal else { throw error }
            throw CommandFailure(ExitCode(code: refusal.code, reason: refusal.reason), error.description)
        }
        ticker.clear()
        report.title = self.title
        report.check(conditions)
        // The report and the exit code matter even after the reader of standard output has gone.
        var unread: ReaderGone?
        do { try self.print(report, format) } catch let gone as ReaderGone { unread = gone }
        if let page { try Files.replace(page, with: Array(report.html.utf8)) }
        if let unread, !unread.hasEnough { throw unread }
        if Interruption.isAsked { return .interrupted }
        return report.breaches.isEmpty ? .success : .failure
    }

    /// The scenario, if it can be read.
    private func script() throws -> Bench.Script {
        let path = self.operand(0)
        let parsed = try ScenarioFiles.parse(path)
        if let fault = parsed.faults.first {
            throw CommandFailure(
                .failure,
                "\(printable(path)):\(fault.place): \(printable(fault.message)); perch scenario check says more")
        }
        return Bench.Script(parsed.scenario, file: printable(path), readFile: ScenarioFiles.reader(beside: path))
    }

    /// What a run over gRPC is compared with.
    private func addPeers(to bench: inout Bench) throws {
        bench.hasOwnProtocol = self.settings.flag("own-protocol")
        bench.grpcServer = self.settings.text("grpc-server")
        guard bench.settings.transport != .grpc else {
            if case .address(_, let access, _) = bench.server, access.tls != nil {
                throw UsageError("--transport grpc goes without TLS", command: self.invocation.name)
            }
            if let path = bench.grpcServer, access(path, X_OK) != 0 {
                throw CommandFailure(
                    .failure,
                    "--grpc-server \(printable(path)) is no program: \(Errno(errno)); Tests/Bench/Peer/build makes one")
            }
            return
        }
        for (name, isGiven) in [("own-protocol", bench.hasOwnProtocol), ("grpc-server", bench.grpcServer != nil)]
        where isGiven {
            throw UsageError("--\(name) goes with --transport grpc", command: self.invocation.name)
        }
    }

    /// `redis-server`, where PATH has it.
    private func redisPath(_ settings: BenchSettings) throws -> String {
        guard settings.workload == .mux || settings.watches == settings.connections else {
            throw UsageError(
                "--redis goes with one watch on each connection, or with mux", command: self.invocation.name)
        }
        for directory in (self.environment["PATH"] ?? "").split(separator: ":") {
            let path = "\(directory)/redis-server"
            if access(path, X_OK) == 0 { return path }
        }
        throw CommandFailure(
            .failure, "redis-server is not in PATH: install it (as root: apt-get install redis-server), then try again")
    }

    /// Whether the command line has it. A variable is meant for other commands too.
    private func isWritten(_ option: String) -> Bool { self.invocation.written[option] != nil }

    private func remote(_ text: String) throws -> Bench.Server {
        for name in ["floor", "redis", "one-loop", "own-protocol"]
        where self.settings.has(name) && self.settings.flag(name) {
            throw UsageError(
                "--\(name) goes with a server that the bench starts itself: on the same machine, on the same core; leave "
                    + "out --connect", command: self.invocation.name)
        }
        if self.settings.has("replace-catalog"), !self.settings.flag("replace-catalog") {
            throw UsageError(
                "this would replace the catalogue of the app at \(text), for good; write out --replace-catalog if it may",
                command: self.invocation.name)
        }
        let address = try self.place(text)
        if let stray = ["store", "loops"].first(where: self.isWritten) {
            throw UsageError(
                "--\(stray) is of a server that the bench starts itself; leave out --connect",
                command: self.invocation.name)
        }
        let process = self.settings.number("pid").map { Int32(clamping: Int64($0)) }
        if let process, ProcessFigures(process: process) == nil {
            throw CommandFailure(
                .failure, "--pid \(process): there is no such process on this machine, or it cannot be inspected")
        }
        return .address(address, access: try self.accessToServer(text), process: process)
    }

    /// Looks a name up once. The load goes to its first address, because figures describe one server.
    private func place(_ text: String) throws -> SocketAddress {
        do {
            return try Destination(parsing: text).addresses()[0]
        } catch let fault as NameFault {
            throw CommandFailure(.unavailable, "--connect \(text): \(fault); is the name right?")
        } catch {
            throw UsageError("--connect \(error)", command: self.invocation.name)
        }
    }

    private func accessToServer(_ address: String) throws -> BenchAccess {
        var access = BenchAccess()
        access.app = self.settings.app
        if let file = self.settings.text("credentials-file") {
            access.authorization = try PerchClientOptions.Authorization.file(path: file).read()
        }
        access.tls = try self.settings.tls(of: address)
        return access
    }

    private var isFloorWanted: Bool { self.settings.has("floor") && self.settings.flag("floor") }

    /// The command line to repeat the run, without the destinations of results.
    private var title: String {
        var words = [self.invocation.command.name]
        if self.invocation.action == .benchScenario { words.append(printable(self.operand(0))) }
        for option in self.invocation.command.options {
            guard let value = self.invocation.written[option.name] else { continue }
            guard !Self.asideFromTitle.contains(option.name) else { continue }
            if case .flag(let isOn) = value {
                if isOn { words.append("--\(option.name)") }
            } else {
                words.append("--\(option.name) \(option.kind.text(of: value))")
            }
        }
        return words.joined(separator: " ")
    }

    private static let asideFromTitle = Set(
        ["output", "report", "fail-if", "connect", "pid", "store", "grpc-server"] + BenchTable.access.map(\.name))

    private func conditions(of workload: Workload) throws(UsageError) -> [FailCondition] {
        let texts = self.settings.texts("fail-if")
        guard texts.count <= Limits.benchConditionsMax else {
            throw UsageError(
                "\(texts.count) conditions are more than \(Limits.benchConditionsMax)", command: self.invocation.name)
        }
        var conditions: [FailCondition] = []
        for text in texts {
            do throws(FailCondition.Fault) {
                conditions.append(try FailCondition(parsing: text))
            } catch {
                throw UsageError(
                    "--fail-if \(quoted(text)) \(printable(error.description))",
                    suggesting: error.candidates.count == 1
                        ? error.candidates.first : nearest(to: error.word, in: error.candidates),
                    command: self.invocation.name)
            }
        }
        if let strange = conditions.first(where: { !$0.figure.isMeasured(by: workload) }) {
            throw UsageError(
                "--fail-if \(quoted(strange.description)): \(workload.rawValue) does not measure "
                    + "\(strange.figure.rawValue); `perch bench figures` says which workloads do",
                command: self.invocation.name)
        }
        return conditions
    }

    /// The value of an option that this workload may lack.
    private func number(_ name: String) -> Int? {
        self.settings.has(name) ? self.settings.number(name).map { Int($0) } : nil
    }

    private func benchSettings(_ workload: Workload) throws(UsageError) -> BenchSettings {
        var settings = BenchSettings(workload, watches: self.number("watchers") ?? 0)
        if workload == .scenario { settings.connections = self.number("accounts") ?? 0 }
        if let milliseconds = self.number("patience") { settings.settleNanoseconds = Int64(milliseconds) * 1_000_000 }
        if let connections = self.number("connections") { settings.connections = connections }
        if let accounts = self.number("accounts") { settings.keys = accounts }
        if let writers = self.number("writers") {
            settings.writers = writers
            settings.outstanding = writers
        }
        if let milliseconds = self.number("duration") { settings.durationNanoseconds = Int64(milliseconds) * 1_000_000 }
        if let milliseconds = self.number("warmup") { settings.warmupNanoseconds = Int64(milliseconds) * 1_000_000 }
        if let bytes = self.number("view-bytes") { settings.viewBytes = bytes }
        if let changed = self.number("changed") { settings.changedPercent = changed }
        if let churn = self.number("churn") { settings.churnPerSecond = churn }
        if let slow = self.number("slow") { settings.slowPercent = slow }
        if self.settings.has("zlib") { settings.acceptsZlib = self.settings.flag("zlib") }
        if self.settings.has("copies") { settings.readsCopies = self.settings.flag("copies") }
        guard !settings.readsCopies || !self.settings.flag("floor") && !self.settings.flag("redis") else {
            throw UsageError(
                "--copies has no counterpart: leave --floor and --redis out", command: self.invocation.name)
        }
        if self.settings.has("change") {
            settings.change = self.settings.text("change").flatMap { BenchChange(rawValue: $0) } ?? .purchase
            guard settings.change != .renewal || !self.settings.has("connect") || self.settings.text("connect") == nil
            else {
                throw UsageError(
                    "--change renewal renews a subscription of the bench's own catalogue: leave --connect out",
                    command: self.invocation.name)
            }
        }
        settings.seed = UInt64(self.number("seed") ?? 1)
        if self.settings.has("transport") {
            settings.transport = self.settings.text("transport").flatMap { BenchTransport(rawValue: $0) } ?? .perch
        }
        if self.settings.has("product") { settings.product = self.settings.text("product") ?? settings.product }
        try self.setPace(&settings)
        return settings
    }

    /// An open loop by default: a closed loop slows down with its server, and so flatters it.
    private func setPace(_ settings: inout BenchSettings) throws(UsageError) {
        let closed = self.number("closed")
        let rate = self.number("rate")
        switch settings.workload {
        case .storm:
            settings.rate = rate
            if let closed { settings.handshakes = closed }
        case .resume, .idle: break
        case .scenario: settings.rate = rate ?? settings.rate
        case .buy: settings.rate = rate
        case .mixed: settings.rate = rate ?? settings.rate
        case .hot, .keyed, .mux, .catalog:
            guard rate == nil || closed == nil else {
                throw UsageError(
                    "--rate is an open loop and --closed a closed one: give one of them", command: self.invocation.name)
            }
            if let closed {
                settings.outstanding = closed
            } else {
                settings.rate = rate ?? settings.gentleRate
            }
        }
    }

    private func print(_ report: BenchReport, _ format: OutputFormat) throws {
        switch format {
        case .text: try self.console.data(report.text.map { printable($0) + "\n" }.joined())
        case .json, .ndjson:
            let bytes = try report.json(format.layout)
            try self.console.data(String(decoding: bytes, as: UTF8.self) + "\n")
        }
        for breach in report.breaches where format != .text { self.console.talk("perch: \(printable(breach))") }
    }

    // MARK: Beside

    private func operand(_ index: Int) -> String {
        guard case .text(let text)? = self.invocation.operands[index].first else { preconditionFailure("no operand") }
        return text
    }

    private func compare() throws -> ExitCode {
        func report(_ path: String) throws -> ReportFigures {
            let bytes = try Files.read(path, limitBytes: Limits.benchReportBytesMax)
            do throws(ReportFigures.Fault) {
                return try ReportFigures(bytes)
            } catch {
                throw CommandFailure(.failure, "\(printable(path)) \(error)")
            }
        }
        let comparison = Comparison(try report(self.operand(0)), try report(self.operand(1)))
        try self.console.data(comparison.text.map { printable($0) + "\n" }.joined())
        if let path = self.settings.text("report") { try Files.replace(path, with: Array(comparison.html.utf8)) }
        return .success
    }

    private func listFigures() throws -> ExitCode {
        let width = Figure.allCases.map(\.rawValue.count).max() ?? 0
        try self.console.data(
            Figure.allCases.map { figure in
                let workloads = Workload.allCases.filter { figure.isMeasured(by: $0) }
                let only =
                    workloads == Workload.allCases ? "" : "; of " + workloads.map(\.rawValue).joined(separator: ", ")
                return
                    "\(figure.rawValue.padded(to: width))  \(figure.meaning)\(figure.hasRatio ? "; has :ratio" : "")\(only)\n"
            }.joined())
        return .success
    }
}

/// Progress: one line on a terminal that is overwritten, a line of JSON for a program, nothing otherwise.
private struct Ticker {
    let console: any Console
    let format: OutputFormat
    let isTerminal: Bool

    func tell(_ news: Bench.News) {
        if self.format == .ndjson {
            // The exit code matters even after the reader of standard output has gone.
            do { try self.console.data(String(decoding: BenchReport.json(news), as: UTF8.self) + "\n") } catch {}
        }
        guard self.isTerminal else { return }
        let progress = news.progress
        var line = "\(news.target) \(news.round)/\(news.rounds) \(progress.stage) \(decimals(progress.seconds, 0)) s, "
        line += "\(grouped(Double(progress.connections))) connections"
        let interval = progress.interval
        if interval.length > 0 {
            let count = interval.deliveries + interval.opens + (interval.deliveries == 0 ? interval.changes : 0)
            line += ", \(grouped(Double(count) / interval.length))/s"
            if let p50 = interval.pushP50, let p99 = interval.pushP99 {
                line += ", p50 \(duration(nanoseconds: Double(p50))), p99 \(duration(nanoseconds: Double(p99)))"
            }
            line += ", generator \(decimals(interval.generatorCPU * 100, 0)) %"
        }
        Self.write("\r\u{1B}[K" + line)
    }

    func clear() { if self.isTerminal { Self.write("\r\u{1B}[K") } }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(2, bytes, bytes.count)
    }
}

/// The temporary directory of a bench.
private struct TemporaryPlace {
    let path: String

    init(below directory: String) throws {
        mkdir(directory, 0o700)
        var template = Array("\(directory)/perch-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                .failure,
                "nothing can be made in \(printable(directory)): \(Errno(errno)); name another with --store, or TMPDIR")
        }
        self.path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Removes the files of a store and a catalogue, which have no subdirectories.
    func remove() {
        if let directory = opendir(self.path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { unlink("\(self.path)/\(name)") }
            }
            closedir(directory)
        }
        rmdir(self.path)
    }
}
