import Glibc
import PerchBase
import PerchClient
import PerchLoop
import Synchronization

/// What a copy costs in Swift, of a server with many accounts: a line of JSON with the figures.
enum Figures {
    /// `figures ADDRESS NAME SECONDS`: changes are grants of a name by the same process, 1,000 a second.
    static func run(address: String, name: String, seconds: Int) async throws {
        let client = try PerchClient(address: address)
        let before = Self.residentBytes()
        let (began, used) = (Self.seconds(CLOCK_MONOTONIC), Self.seconds(CLOCK_PROCESS_CPUTIME_ID))
        let copy = try client.copy()
        try await copy.ready()
        var figures = [
            ("seconds", Self.seconds(CLOCK_MONOTONIC) - began),
            ("cpuSeconds", Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - used), ("accounts", Double(copy.count)),
            ("bytesAnAccount", Double(Self.residentBytes() - before) / Double(max(copy.count, 1))),
        ]
        var keys: [String] = []
        copy.snapshot()?.forEach { keys.append($0.key) }
        let chosen = (0..<100_000).map { _ in keys[Int.random(in: 0..<keys.count)] }
        keys = []
        let entitled = copy.names[0]
        figures.append(("check", try Self.nanoseconds(chosen) { try copy.has($0, entitled) }))
        figures.append(
            (
                "checkOfNobody",
                try Self.nanoseconds((0..<100_000).map { "nobody-\(1_000_000 + $0)" }) { try copy.has($0, entitled) }
            ))
        let few = Array(chosen[..<100])
        figures.append(
            ("checkOfFew", try Self.nanoseconds((0..<1_000).flatMap { _ in few }) { try copy.has($0, entitled) }))
        let delays = try await Self.delays(copy, address, name, seconds: seconds)
        figures.append(("changes", Double(delays.count)))
        figures.append(("p50", delays[delays.count / 2]))
        figures.append(("p99", delays[delays.count * 99 / 100]))
        copy.close()
        client.close()
        print("{" + figures.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}")
    }

    /// CPU time of one check: the least of several rounds.
    private static func nanoseconds(_ keys: [String], _ check: (String) throws -> Bool) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<20 {
            let began = Self.seconds(CLOCK_THREAD_CPUTIME_ID)
            for key in keys { _ = try check(key) }
            least = min(least, (Self.seconds(CLOCK_THREAD_CPUTIME_ID) - began) / Double(keys.count) * 1e9)
        }
        return least
    }

    /// Milliseconds from the request of each change to its callback, in order.
    private static func delays(
        _ copy: EntitlementCopy, _ address: String, _ name: String, seconds: Int
    ) async throws -> [Double] {
        let writer = try PerchClient(address: address)
        let count = seconds * 1_000
        let moments = Moments(count)
        let changes = copy.changes.makeAsyncIterator()
        let reader = Task {
            for _ in 0..<count {
                guard case .account(let account, _, _)? = try await changes.next() else { break }
                if let number = Int(account.dropFirst("probe-".count)) { moments.heard(number) }
            }
        }
        await withTaskGroup { group in
            let began = Self.seconds(CLOCK_MONOTONIC)
            for number in 0..<count {
                let wait = began + Double(number) / 1_000 - Self.seconds(CLOCK_MONOTONIC)
                if wait > 0 { try? await Task.sleep(for: .microseconds(Int64(wait * 1e6))) }
                moments.said(number)
                group.addTask { _ = try? await writer.grantEntitlement(name, to: "probe-\(number)") }
            }
        }
        try await reader.value
        writer.close()
        return moments.delays
    }

    static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
            separator: " ")
        return (Int(words[1]) ?? 0) * Int(getpagesize())
    }
}

/// When each change was asked for, and when it was heard of.
private final class Moments: Sendable {
    private let inside: Mutex<[(said: Double, heard: Double)]>

    init(_ count: Int) { self.inside = Mutex([(said: Double, heard: Double)](repeating: (0, 0), count: count)) }

    func said(_ number: Int) { self.inside.withLock { $0[number].said = Figures.seconds(CLOCK_MONOTONIC) } }
    func heard(_ number: Int) { self.inside.withLock { $0[number].heard = Figures.seconds(CLOCK_MONOTONIC) } }
    var delays: [Double] {
        self.inside.withLock { $0.filter { $0.heard > 0 }.map { ($0.heard - $0.said) * 1_000 }.sorted() }
    }
}
