import PerchSimulation
import Testing

@Suite struct `Three nodes on one database` {
    /// More of them: `make simulate-nodes`.
    @Test(arguments: 0..<4) func `keep the promises of one store, whatever ends their commits`(_ part: UInt64) {
        var totals = NodesSimulation.Totals()
        for seed in 1...15 { totals.add(NodesSimulation.run(seed: part * 15 + UInt64(seed))) }
        #expect(totals.breaches == [])
        #expect(totals.acknowledged > 300 && totals.unknown > 30 && totals.failovers > 30, "\(totals)")
    }
}
