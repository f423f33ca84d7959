import Glibc
import PerchSimulation
import Testing

/// Simulates a whole server from seeds. `make simulate SEEDS=n` runs more; `PERCH_SEED=n` prints one step by step.
@Suite struct SimulationTests {
    /// The first seed, so that runs on request use other seeds than `make test`.
    private static let first = Self.number("PERCH_FIRST_SEED") ?? 1
    private static let count = Self.number("PERCH_SEEDS") ?? 200

    @Test func `the promises of a stream are kept over whatever happens`() {
        var total = Simulation.Totals()
        for seed in Self.first..<(Self.first + Self.count) {
            let report = Simulation(seed: seed).run(steps: Simulation.usualSteps)
            total.add(report)
            for breach in report.breaches.prefix(3) { Issue.record("seed \(seed): \(breach)") }
            if total.brokenSeeds.count == 5 { return }
        }
        // A simulation in which nothing happens keeps every promise.
        #expect(total.messages > total.seeds * 20)
        #expect(total.revisions > Self.count * 5)
        #expect(total.seeds < 100 || (total.deaths.killed > 20 && total.deaths.cut > 5 && total.deaths.inCommit > 5))
        #expect(total.seeds < 100 || total.familyChanges > 20)
        let callers = total.callers
        #expect(total.seeds < 100 || (callers.expired > 20 && callers.revoked > 5 && callers.denied > 20))
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a seed lives the same life twice, byte for byte`(seed: UInt64) {
        let first = Simulation(seed: seed).run(steps: Simulation.usualSteps)
        let second = Simulation(seed: seed).run(steps: Simulation.usualSteps)
        let other = Simulation(seed: seed + 1_000).run(steps: Simulation.usualSteps)
        #expect(first.hash == second.hash)
        #expect(first.messageCount == second.messageCount)
        #expect(first.hash != other.hash)
    }

    @Test(.enabled(if: Self.number("PERCH_SEED") != nil))
    func `one seed can be printed step by step`() {
        guard let seed = Self.number("PERCH_SEED") else { return }
        let simulation = Simulation(seed: seed)
        simulation.isTold = true
        let report = simulation.run(steps: Simulation.usualSteps)
        print(report)
        #expect(report.breaches == [])
    }

    private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
