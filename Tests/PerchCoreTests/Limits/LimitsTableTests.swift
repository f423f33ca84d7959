import PerchBase
import PerchSimulation
import Testing

@Suite struct `Each limit of the contract` {
    @Test func `each limit of the contract has one row`() {
        #expect(limitsTable.map(\.limit.rawValue).sorted() == ContractLimit.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: ContractLimit.allCases)
    func `a limit admits one less and its exact value, and refuses one more with the reason`(_ limit: ContractLimit)
        throws
    {
        guard let row = limitsTable.first(where: { $0.limit == limit }) else {
            Issue.record("\(limit.rawValue) has no row")
            return
        }
        #expect(try row.probe(-1) == .passed)
        #expect(try row.probe(0) == .passed)
        let outcome = try row.probe(1)
        #expect(outcome.reason == row.reason)
        #expect(outcome.counted == 1)
        guard row.reason != nil else { return }
        #expect(outcome.namesLimit == true, "its number is for people only")
        // A cursor that is too old is so by time and by count: it names the one of them.
        #expect(outcome.setting == (limit == .cursorTime ? "cursor-revisions" : row.setting))
    }
}
