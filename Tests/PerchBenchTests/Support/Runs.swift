import Glibc
import PerchBase
import PerchBench
import PerchLoop
import PerchTesting
import Synchronization
import Testing

/// The program that was built beside these tests.
enum Program {
    static let path: String = {
        // `swift test` names the bundle; its directory is that of the products.
        for argument in CommandLine.arguments {
            guard let end = argument.range(of: "/perchPackageTests.xctest") else { continue }
            return String(argument[..<end.lowerBound]) + "/perch"
        }
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(4).joined(separator: "/") + "/.build/debug/perch"
    }()

    /// A server, once it serves.
    static func start(_ arguments: [String]) throws -> (ChildProcess, SocketAddress) {
        let child = try ChildProcess(path: Self.path, arguments: arguments, environment: [:])
        var said = ""
        while true {
            for line in said.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "on"), line.contains("serving on") else { continue }
                return (child, try SocketAddress(parsing: words[place + 1]))
            }
            child.waitForOutput(milliseconds: 300_000)
            said += String(decoding: try #require(child.read(), "it ended: \(said)"), as: UTF8.self)
        }
    }

    /// A command, to its end.
    static func run(_ arguments: [String]) throws {
        let child = try ChildProcess(path: Self.path, arguments: arguments, environment: [:])
        while child.read() != nil { child.waitForOutput(milliseconds: 300_000) }
    }

    /// Runs a shell line, in which `$PERCH` is the program; returns its output and exit code.
    static func shell(_ line: String, environment: [String: String] = [:]) throws -> (said: String, code: Int32) {
        var environment = environment
        environment["PERCH"] = Self.path
        let child = try ChildProcess(path: "/bin/sh", arguments: ["-c", line], environment: environment)
        var said: [UInt8] = []
        while let more = child.read() {
            said += more
            if more.isEmpty { child.waitForOutput(milliseconds: 300_000) }
        }
        while true { if let code = child.hasEnded() { return (String(decoding: said, as: UTF8.self), code) } }
    }

    /// Nil if it is not installed.
    static let redis: String? = access("/usr/bin/redis-server", X_OK) == 0 ? "/usr/bin/redis-server" : nil
}

/// Runs a bench, with windows of twice the length each time until `hasEnough` has come to pass in each target: a window of a tenth of a
/// second may be too short for anything on a busy machine. What was begun before a window and ended in it is not enough, nor the reverse.
func measured(
    _ settings: BenchSettings, server: Bench.Server? = nil, hasFloor: Bool = false, redis: String? = nil,
    hasOwnProtocol: Bool = false, store: String? = nil, loops: Int = 1, script: Bench.Script? = nil,
    isInterruptedAfter turns: Int? = nil, isInterruptedAt milliseconds: Int64 = .max,
    eachTurn: (@Sendable (_ milliseconds: Int64) -> Void)? = nil, hasEnough: ((BenchReport.Target) -> Bool)? = nil
) throws -> BenchReport {
    var settings = settings
    let canRepeat = server == nil && turns == nil && eachTurn == nil && settings.workload.hasWindow
    let wanted: [Figure]
    switch settings.workload {
    case .idle: wanted = []
    case .buy: wanted = [.changes, .answerP99]
    default: wanted = [.deliveries, .pushP50]
    }
    for attempt in 1...9 {
        let report = try bench(
            settings, server: server, hasFloor: hasFloor, redis: redis, hasOwnProtocol: hasOwnProtocol, store: store,
            loops: loops, script: script, isInterruptedAfter: turns,
            isInterruptedAt: milliseconds, eachTurn: eachTurn)
        let isEnough = report.targets.allSatisfy { target in
            hasEnough?(target) ?? wanted.allSatisfy { target.figures[$0] ?? 0 > 0 }
        }
        if isEnough || !canRepeat || attempt == 9 { return report }
        settings.durationNanoseconds *= 2
    }
    preconditionFailure("the last attempt returns")
}

/// Runs with times of twice the length each time until `isEnough`: on a busy machine a process may not run for a second, or is stopped
/// before it has begun, which is an error of all attempts but the last.
func scaled<Value>(until isEnough: (Value) -> Bool, _ run: (_ scale: Int64) throws -> Value) rethrows -> Value {
    for exponent in 0..<6 {
        if let value = try? run(1 << exponent), isEnough(value) { return value }
    }
    return try run(1 << 6)
}

/// Benches beside each other take the time from one another: at most two run at a time.
private let places = Mutex(2)

private func takePlace() {
    while true {
        let isTaken = places.withLock { free in
            if free == 0 { return false }
            free -= 1
            return true
        }
        if isTaken { return }
        usleep(5_000)
    }
}

/// Runs a bench on a new thread, as the program does on its main one, because it stays on one core afterwards.
private func bench(
    _ settings: BenchSettings, server: Bench.Server?, hasFloor: Bool, redis: String?, hasOwnProtocol: Bool,
    store: String?, loops: Int, script: Bench.Script?, isInterruptedAfter turns: Int?,
    isInterruptedAt milliseconds: Int64, eachTurn: (@Sendable (_ milliseconds: Int64) -> Void)?
) throws -> BenchReport {
    takePlace()
    defer { places.withLock { $0 += 1 } }
    let directory = TemporaryDirectory()
    let result = Mutex<Result<BenchReport, BenchError>?>(nil)
    let thread = try LoopThread(name: "bench-test", stackBytes: 4 * 1024 * 1024) {
        var bench = Bench(
            settings, server: server ?? .perch(loops: loops, store: store), executable: Program.path,
            directory: directory.path)
        bench.hasFloor = hasFloor
        bench.redis = redis
        bench.hasOwnProtocol = hasOwnProtocol
        bench.hasOneLoop = loops > 1
        bench.script = script
        if let turns {
            var left = turns
            bench.isInterrupted = {
                left -= 1
                return left <= 0
            }
        }
        if let eachTurn {
            let began = Clocks.monotonic()
            bench.isInterrupted = {
                let elapsed = Clocks.monotonic().milliseconds(since: began)
                eachTurn(elapsed)
                return elapsed >= milliseconds
            }
        }
        // Copied, so that a store of a test ends with it.
        let made = Result { () throws(BenchError) in try bench.run() }
        result.withLock { $0 = made }
    }
    thread.join()
    return try #require(result.withLock { $0 }).get()
}

/// Small enough for every test run. Tests compare counts only: times need a quiet machine.
func tiny(_ workload: Workload, watches: Int = 24) -> BenchSettings {
    var settings = BenchSettings(workload, watches: watches)
    settings.warmupNanoseconds = 20_000_000
    settings.durationNanoseconds = 150_000_000
    // A server that stands still for some seconds has lost nothing.
    settings.settleNanoseconds = 300_000_000_000
    settings.viewBytes = 20_000
    return settings
}

extension String {
    func range(of part: String) -> Range<String.Index>? {
        for start in self.indices where self[start...].hasPrefix(part) {
            return start..<self.index(start, offsetBy: part.count)
        }
        return nil
    }
}
