import Glibc
import PerchTesting
import Testing

/// Lives of a whole server, drawn from seeds. `PERCH_SEEDS=n` lives more of them; `PERCH_SEED=n` tells one step by step.
@Suite struct SimulationTests {
    private static let stepCount = 500
    /// The first seed, so that runs on request look at others than `make test` does.
    private static let first = Self.number("PERCH_FIRST_SEED") ?? 1
    private static let count = Self.number("PERCH_SEEDS") ?? 200

    @Test func `the promises of a stream are kept over whatever happens`() {
        var messages = 0
        var revisions: UInt64 = 0
        var failed = 0
        for seed in Self.first..<(Self.first + Self.count) {
            let report = Simulation(seed: seed).run(steps: Self.stepCount)
            messages += report.messageCount
            revisions += report.revision
            for breach in report.breaches.prefix(3) { Issue.record("seed \(seed): \(breach)") }
            failed += report.breaches.isEmpty ? 0 : 1
            if failed == 5 { return }
        }
        // A simulation in which nothing happens keeps every promise.
        #expect(messages > Int(Self.count) * 20)
        #expect(revisions > Self.count * 5)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a seed lives the same life twice, byte for byte`(seed: UInt64) {
        let first = Simulation(seed: seed).run(steps: Self.stepCount)
        let second = Simulation(seed: seed).run(steps: Self.stepCount)
        let other = Simulation(seed: seed + 1_000).run(steps: Self.stepCount)
        #expect(first.hash == second.hash)
        #expect(first.messageCount == second.messageCount)
        #expect(first.hash != other.hash)
    }

    @Test(.enabled(if: Self.number("PERCH_SEED") != nil))
    func `one seed is told step by step`() {
        guard let seed = Self.number("PERCH_SEED") else { return }
        let simulation = Simulation(seed: seed)
        simulation.isTold = true
        let report = simulation.run(steps: Self.stepCount)
        print(report)
        #expect(report.breaches == [])
    }

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
