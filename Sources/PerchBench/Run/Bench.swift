import Glibc
import PerchBase
package import PerchLoop
package import PerchScenario

/// The reason why a bench cannot run, or failed before it measured anything, with the next step.
package struct BenchError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
    /// The server's refusal, if any.
    package var refusal: ServerRefusal?

    package init(_ description: String) { self.description = description }
}

/// Runs rounds, each with its own server, and combines their results.
///
/// Blocks the calling thread, which becomes the generator: it is pinned to one core, and the server gets another.
package struct Bench {
    package enum Server: Sendable {
        /// `perch serve` as a child process.
        case perch(loops: Int, store: String?)
        /// A running server. `process` is its process number, if it runs on this machine and may be read.
        case address(SocketAddress, access: BenchAccess = BenchAccess(), process: Int32?)
    }

    /// A scenario file, and a function that reads the files it names.
    package struct Script: Sendable {
        package typealias ReadFile = @Sendable (_ path: String) throws(ScenarioFailure) -> [UInt8]

        package var scenario: Scenario
        package var file: String
        package var readFile: ReadFile

        package init(_ scenario: Scenario, file: String, readFile: @escaping ReadFile) {
            self.scenario = scenario
            self.file = file
            self.readFile = readFile
        }
    }

    package var settings: BenchSettings
    package var server: Server
    /// The scenario of workload `scenario`.
    package var script: Script?
    package var hasFloor = false
    /// Whether to measure the same server over perch/1 in the same rounds. Useful with another transport.
    package var hasOwnProtocol = false
    /// Path of a program to measure in the same rounds: a server of gRPC with the same two methods (`Tests/Bench/Peer`).
    package var grpcServer: String?
    /// Path of `redis-server` to measure in the same rounds; nil for none.
    package var redis: String?
    /// A library of functions whose `buy` Redis runs for each change, which it publishes itself; nil: it only publishes.
    package var redisScript: String?
    /// Rounds with the server. Each is followed by one with the baseline server, if requested.
    package var rounds = 1
    /// The executable of child processes: this one.
    package var executable: String
    package var environment: [String: String] = [:]
    /// The version of Perch, for the report.
    package var version = ""
    /// Bytes of the baseline server's values; nil for the same as the server's.
    package var floorValueBytes: Int?
    /// Whether to measure the same server with one loop in the same rounds, which shows the cost of several loops.
    package var hasOneLoop = false
    /// A directory for temporary stores and catalogues.
    package var directory: String
    /// Whether the user wants to stop; the results so far are kept.
    package var isInterrupted: () -> Bool = { false }

    package init(_ settings: BenchSettings, server: Server, executable: String, directory: String) {
        self.settings = settings
        self.server = server
        self.executable = executable
        self.directory = directory
    }

    /// A line of progress with its subject.
    package struct News: Sendable {
        package var target: String
        package var round: Int
        package var rounds: Int
        package var progress: Generator.Progress

        package init(target: String, round: Int, rounds: Int, progress: Generator.Progress) {
            self.target = target
            self.round = round
            self.rounds = rounds
            self.progress = progress
        }
    }

    package func run(news: @escaping (News) -> Void = { _ in }) throws(BenchError) -> BenchReport {
        if let refusal = self.settings.refusal { throw BenchError(refusal) }
        try self.checkDescriptors()
        var report = BenchReport(title: self.settings.workload.rawValue, workload: self.settings.workload.rawValue)
        report.version = self.version
        report.startedAt = Clocks.wall()
        report.machine = MachineFigures.now()
        var targets = [BenchReport.Target(name: "perch")]
        if self.hasFloor { targets.append(BenchReport.Target(name: "floor")) }
        if self.hasOwnProtocol { targets.append(BenchReport.Target(name: Self.ownProtocol)) }
        if self.grpcServer != nil { targets.append(BenchReport.Target(name: Self.grpcPeer)) }
        if self.redis != nil { targets.append(BenchReport.Target(name: "redis")) }
        if self.hasOneLoop { targets.append(BenchReport.Target(name: Self.oneLoop)) }
        let processors = Processors.allowed()
        let isPinned = processors.count > 1
        if isPinned {
            do throws(SystemError) {
                try Processors.pin(to: processors[1])
            } catch {
                throw BenchError("\(error)")
            }
        } else {
            report.notes.append("the server and the generator shared the only core, so the figures include both")
        }
        let places = Self.places(among: processors, loops: self.loops)
        let sharesCore = Self.sharesCore(places, among: processors)
        if isPinned, sharesCore {
            report.notes.append(
                "the server's loops also ran on the generator's core, so the latencies include waiting for each other")
        }
        let program = try self.script.map { (script) throws(BenchError) in
            try self.program(of: script, processors: places)
        }
        rounds: for round in 0..<self.rounds {
            for place in targets.indices {
                let name = targets[place].name
                let wire = Wire(self.floorValueBytes, as: targets[0].rounds.last?.figures ?? [:])
                let syncs = self.storeDirectory.flatMap {
                    SyncProbe(in: $0, within: self.settings.durationNanoseconds)
                }
                var result = try self.round(name, program, wire, processors: places, sharesCore: sharesCore) {
                    progress in
                    news(News(target: name, round: round + 1, rounds: self.rounds, progress: progress))
                }
                syncs?.add(to: &result.figures)
                targets[place].rounds.append(result)
                if self.isInterrupted() { break rounds }
                if let failure = result.failure, result.figures.isEmpty {
                    // Name the target if there are several.
                    var error = BenchError(targets.count > 1 ? "\(name): \(failure)" : failure)
                    error.refusal = result.refusal
                    throw error
                }
            }
        }
        report.targets = targets
        report.loadAfter = MachineFigures.now().load
        report.settings = self.described
        return report
    }

    /// Whether the server may run on the generator's core, so that each waits for the other.
    package static func sharesCore(_ places: [Int], among processors: [Int]) -> Bool {
        processors.count < 2 || places.contains(processors[1])
    }

    private static let oneLoop = "one loop"
    private static let ownProtocol = "perch/1"
    private static let grpcPeer = "grpc"

    /// Loops of the bench's own server; 1 for a running server.
    private var loops: Int {
        if case .perch(let loops, _) = self.server { loops } else { 1 }
    }

    /// The cores on which servers may run. The generator has the second core. One loop gets one core. Several loops get
    /// all other cores, and the generator's too if there would be fewer cores than loops. All sides of a comparison get
    /// the same.
    package static func places(among processors: [Int], loops: Int) -> [Int] {
        guard processors.count > 1 else { return [] }
        guard loops > 1 else { return [processors[0]] }
        return processors.count > loops ? processors.filter { $0 != processors[1] } : processors
    }

    /// The directory of the server's store; nil without a store, or for a running server.
    private var storeDirectory: String? {
        if case .perch(_, let store) = self.server { store } else { nil }
    }

    /// Message lengths of the server, which the other sides imitate.
    private struct Wire {
        var valueBytes: Int
        var answerBytes: Int

        init(_ valueBytes: Int?, as figures: [Figure: Double]) {
            let wanted = valueBytes ?? Int(figures[.valueBytes] ?? 0)
            self.valueBytes = max(FloorServer.valueBytes.lowerBound, wanted)
            self.answerBytes = min(FloorServer.answerBytes.upperBound, Int(figures[.answerBytes] ?? 0))
        }
    }

    /// Checks the descriptor limit: both sides need one for each connection, and a server reserves some.
    private func checkDescriptors() throws(BenchError) {
        let limit = DescriptorLimit.raise()
        let needed = self.settings.connections + self.settings.writers + Limits.descriptorsReserved + 32
        guard needed <= limit else {
            throw BenchError(
                "\(self.settings.connections) connections need \(needed) descriptors on each side, and the hard limit of "
                    + "this process is \(limit); raise it (ulimit -Hn, LimitNOFILE), or put more watches on each connection "
                    + "with --connections")
        }
    }

    /// Runs the scenario for one account, which defines the expected results of the others. It needs its own round,
    /// because a clock never runs backwards.
    private func program(of script: Script, processors: [Int]) throws(BenchError) -> ScenarioProgram {
        guard case .perch(let loops, let store) = self.server else {
            preconditionFailure("a scenario needs a separate server with a separate clock")
        }
        let child = try self.startPerch(loops: loops, store: store, processors: processors)
        defer { child.stop() }
        var options = ScenarioRunner.Options(address: "\(child.address)")
        options.ownsServer = true
        options.clientName = "perch bench"
        let (report, trace) = ScenarioRunner.trace(
            script.scenario, file: script.file, options: options, readFile: script.readFile)
        if let failure = report.failure { throw BenchError("\(script.file): \(failure)") }
        if let difference = report.differences.first {
            throw BenchError(
                "\(script.file):\(difference.place): for one account already, \(difference.message); perch scenario run "
                    + "says more")
        }
        return ScenarioProgram(trace, file: script.file)
    }

    private func round(
        _ target: String, _ program: ScenarioProgram?, _ wire: Wire, processors: [Int], sharesCore: Bool,
        progress: @escaping (Generator.Progress) -> Void
    ) throws(BenchError) -> RoundResult {
        var child: BenchChild?
        let address: SocketAddress
        var dialect = Generator.Dialect.perch(.perch)
        var process: Int32?
        var access = BenchAccess()
        if target == "floor" {
            let started = try self.startFloor(wire, processors: processors)
            (child, address) = (started, started.address)
        } else if target == Self.grpcPeer, let program = self.grpcServer {
            let started = try self.startPeer(program, wire, processors: processors)
            (child, address) = (started, started.address)
            dialect = .perch(.grpc)
        } else if target == "redis", let redis = self.redis {
            let started = try self.startRedis(redis, processors: processors)
            (child, address) = (started, started.address)
            if let script = self.redisScript { try self.load(script, into: started.address) }
            dialect = .redis(valueBytes: wire.valueBytes, runsScript: self.redisScript != nil)
        } else {
            if target != Self.ownProtocol { dialect = .perch(self.settings.transport) }
            switch self.server {
            case .address(let known, let given, let number):
                (address, access, process) = (known, given, number)
            case .perch(let loops, let store):
                let started = try self.startPerch(
                    loops: target == Self.oneLoop ? 1 : loops, store: store, processors: processors)
                (child, address) = (started, started.address)
            }
        }
        defer { child?.stop() }
        do {
            let loop = try EventLoop(name: "perch-bench")
            if let program {
                let load = try ScenarioLoad(
                    program, self.settings, address: address, serverProcess: child?.number, loop: loop,
                    isInterrupted: self.isInterrupted
                ) { tick in
                    child?.drain()
                    progress(tick)
                }
                load.sharesCore = sharesCore
                loop.run(load)
                return self.told(load.outcome, by: child)
            }
            let generator = try Generator(
                self.settings, address: address, access: access, serverProcess: child?.number ?? process,
                dialect: dialect, loop: loop, isInterrupted: self.isInterrupted
            ) { tick in
                child?.drain()
                progress(tick)
            }
            generator.sharesCore = sharesCore
            loop.run(generator)
            return self.told(generator.outcome, by: child)
        } catch {
            throw BenchError("\(error)")
        }
    }

    /// Adds the reason of a server that ended.
    private func told(_ result: RoundResult, by child: BenchChild?) -> RoundResult {
        guard result.failure != nil, let end = child?.end else { return result }
        var result = result
        result.failure? += "; \(end)"
        return result
    }

    private func startFloor(_ wire: Wire, processors: [Int]) throws(BenchError) -> BenchChild {
        var arguments = [
            "bench", "floor-server", "--port", "0", "--value-bytes", "\(wire.valueBytes)B", "--answer-bytes",
            "\(wire.answerBytes)B",
        ]
        if let store = self.storeDirectory {
            for name in ["", "-wal", "-shm"] { unlink("\(store)/floor.db\(name)") }
            arguments += ["--store", store]
        }
        return try self.start(arguments, processors: processors)
    }

    private func startPeer(_ path: String, _ wire: Wire, processors: [Int]) throws(BenchError) -> BenchChild {
        let arguments = ["--value-bytes", "\(wire.valueBytes)", "--answer-bytes", "\(wire.answerBytes)"]
        return try BenchChild(path: path, arguments: arguments, environment: self.environment, processors: processors)
    }

    private func startPerch(loops: Int, store: String?, processors: [Int]) throws(BenchError) -> BenchChild {
        let catalogue = "\(self.directory)/bench.storekit"
        // Remove the store, so that the next round starts like this one.
        if let store { for name in ["", "-wal", "-shm"] { unlink("\(store)/perch.db\(name)") } }
        try Self.write(BenchCatalogue(viewBytes: self.settings.viewBytes).file(edition: 0), to: catalogue)
        if self.settings.readsCopies {
            try Self.write(BenchCatalogue.entitlements, to: "\(self.directory)/bench.entitlements.json")
        }
        var arguments = [
            "serve", "--listen", "127.0.0.1:0", "--store", store ?? "memory", "--catalog", catalogue, "--bundle-id",
            BenchCatalogue.bundleID, "--loops", "\(loops)",
            // Its clients are those of this process, which may wait long for a core.
            "--hello-timeout", "300s", "--first-byte-timeout", "300s",
        ]
        if let script = self.script { arguments += ["--clock", script.scenario.start.description] }
        return try self.start(arguments, processors: processors)
    }

    /// Starts Redis without persistence, with as many clients as the descriptor limit allows.
    private func startRedis(_ path: String, processors: [Int]) throws(BenchError) -> BenchChild {
        let port: UInt16
        do throws(SystemError) {
            // Redis does not accept port 0, so a free port is found and released.
            let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
            port = Sockets.localAddress(listener.number).port
        } catch {
            throw BenchError("\(error)")
        }
        return try BenchChild(
            path: path,
            arguments: [
                "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no",
                "--dir", self.directory, "--maxclients", "\(DescriptorLimit.current - 64)",
            ], environment: self.environment, processors: processors, knownAddress: .loopback(port: port))
    }

    /// Loads the functions, and the one product.
    private func load(_ script: String, into address: SocketAddress) throws(BenchError) {
        let product = self.settings.product
        var request = Array("*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n$\(script.utf8.count)\r\n\(script)\r\n".utf8)
        let price = "$\(product.utf8.count)\r\n\(product)\r\n$4\r\n9990\r\n"
        request += "*4\r\n$4\r\nHSET\r\n$8\r\nproducts\r\n\(price)".utf8
        do throws(SystemError) {
            let socket = try Sockets.connect(to: address, options: nil)
            var (sent, reply) = (0, "")
            var buffer = [UInt8](repeating: 0, count: 4_096)
            // The library's name, and one field that was set.
            while !reply.hasSuffix(":1\r\n") {
                let awaited = Int16(sent < request.count ? POLLOUT : POLLIN)
                var waited = pollfd(fd: socket.number, events: awaited, revents: 0)
                guard poll(&waited, 1, 5_000) == 1 else { throw SystemError(call: "poll", errno: Errno(ETIMEDOUT)) }
                if sent < request.count {
                    if case .wrote(let count) = request[sent...].withUnsafeBytes({ Sockets.send(socket.number, $0) }) {
                        sent += count
                    }
                    continue
                }
                let received = buffer.withUnsafeMutableBytes { Sockets.receive(socket.number, into: $0) }
                guard case .bytes(let count) = received else { throw SystemError(call: "read", errno: Errno(EPIPE)) }
                reply += String(decoding: buffer[..<count], as: UTF8.self)
                if reply.hasPrefix("-") {
                    throw SystemError(call: "FUNCTION LOAD", subject: reply, errno: Errno(EPROTO))
                }
            }
        } catch {
            throw BenchError("the script could not be loaded into Redis: \(error)")
        }
    }

    private func start(_ arguments: [String], processors: [Int]) throws(BenchError) -> BenchChild {
        try BenchChild(
            path: self.executable, arguments: arguments, environment: self.environment, processors: processors)
    }

    static func write(_ bytes: [UInt8], to path: String) throws(BenchError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchError("\(path) could not be written: \(Errno(errno))") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw BenchError("\(path) could not be written: \(Errno(errno))") }
            rest = rest.dropFirst(count)
        }
    }

    private var described: [(name: String, value: String)] {
        let settings = self.settings
        var result: [(name: String, value: String)] = [
            ("watchers", "\(settings.watches)"), ("connections", "\(settings.connections)"),
            ("accounts", "\(settings.keys)"),
        ]
        if settings.workload == .scenario { result.removeFirst(2) }
        if settings.transport != .perch { result.append(("transport", settings.transport.rawValue)) }
        if let rate = settings.rate {
            result.append(("rate", "\(rate)/s, open loop"))
        } else if settings.workload != .storm, settings.workload != .idle, settings.workload != .resume {
            result.append(("outstanding", "\(settings.outstanding), closed loop"))
        }
        if settings.workload.hasWindow {
            result.append(("warm-up", duration(nanoseconds: Double(settings.warmupNanoseconds))))
            result.append(("duration", duration(nanoseconds: Double(settings.durationNanoseconds))))
        }
        result.append(("rounds", "\(self.rounds)"))
        switch self.server {
        case .address(let address, let access, _):
            result.append(("server", access.tls == nil ? "\(address)" : "\(address), over TLS"))
        case .perch(let loops, let store):
            result.append(("loops", "\(loops)"))
            result.append(("store", store == nil ? "memory" : "SQLite"))
        }
        if let script = self.script { result.append(("scenario", script.file)) }
        if settings.workload == .catalog { result.append(("zlib", settings.acceptsZlib ? "yes" : "no")) }
        if settings.workload != .scenario { result.append(("seed", "\(settings.seed)")) }
        return result
    }
}

/// A server that was started for a round.
private final class BenchChild {
    private let process: ChildProcess
    let address: SocketAddress
    private var said: [UInt8]

    var number: Int32 { self.process.number }

    /// Starts a server and returns when it serves.
    ///
    /// `knownAddress` is for a program that reports readiness without an address.
    init(
        path: String, arguments: [String], environment: [String: String], processors: [Int],
        knownAddress: SocketAddress? = nil
    ) throws(BenchError) {
        do throws(SystemError) {
            self.process = try ChildProcess(
                path: path, arguments: arguments, environment: environment, processors: processors)
        } catch {
            throw BenchError("\(error)")
        }
        var said: [UInt8] = []
        let deadline = Clocks.monotonic().advanced(byMilliseconds: Limits.benchStartMilliseconds)
        while true {
            if let knownAddress, Self.isReady(said) {
                self.address = knownAddress
                self.said = said
                return
            }
            if knownAddress == nil, let address = Self.address(in: said) {
                self.address = address
                self.said = said
                return
            }
            let left = deadline.milliseconds(since: Clocks.monotonic())
            guard left > 0 else {
                throw BenchError("\(path) did not start within \(Limits.benchStartMilliseconds / 1_000) s")
            }
            self.process.waitForOutput(milliseconds: Int(left))
            guard let more = self.process.read() else {
                throw BenchError("the server ended at its start; its last line: \(Self.lastLine(said))")
            }
            said += more
        }
    }

    /// Reads its output, so that it never blocks on a full pipe.
    func drain() {
        while let more = self.process.read(), !more.isEmpty {
            self.said += more
            if self.said.count > 64 * 1024 { self.said.removeFirst(self.said.count - 4_096) }
        }
    }

    /// Its exit with its last line of output; nil while it runs.
    var end: String? {
        self.drain()
        guard let status = self.process.hasEnded() else { return nil }
        // A killed process had no chance to report a reason.
        if status > 128 { return "signal \(status - 128) ended the server" }
        let line = Self.lastLine(self.said)
        return "the server ended with status \(status)" + (line.isEmpty ? "" : "; its last line: \(line)")
    }

    func stop() { self.process.kill() }

    private static func lastLine(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.split(separator: UInt8(ascii: "\n")).last ?? [], as: UTF8.self)
    }

    private static func isReady(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains {
            String(decoding: $0, as: UTF8.self).hasSuffix("eady to accept connections")
        }
    }

    /// The address in `… serving on 127.0.0.1:PORT …`, once the line is complete.
    private static func address(in bytes: [UInt8]) -> SocketAddress? {
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard let place = words.firstIndex(of: "serving"), place + 2 < words.count else { continue }
            return try? SocketAddress(parsing: String(words[place + 2]))
        }
        return nil
    }
}
