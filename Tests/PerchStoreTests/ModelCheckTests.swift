import PerchModel
import PerchModelCheck
import Testing

/// A few sequences of `make modelcheck`, which runs any number.
@Suite struct `the model, lived at random` {
    @Test(arguments: [1, 101, 201, 301] as [UInt64])
    func `a random sequence breaks no law and no invariant`(_ first: UInt64) {
        var tally = ModelCheck.Tally()
        for seed in first..<first + 3 {
            if let failure = ModelCheck.live(seed: seed, events: 150, tally: &tally) {
                let actions = failure.actions.map { "\($0)" }.joined(separator: "\n")
                Issue.record("seed \(seed): \(failure.breach)\n\(actions)")
            }
        }
        // A sequence of refusals alone would break no law either.
        #expect(tally.events == 450)
        #expect(tally.revisions > 150)
        #expect(tally.refusals < 300)
    }

    /// In this sequence an upgrade is deleted. The plan that it left behind is newer than the line's latest, and no
    /// renewal.
    @Test func `a transaction that was left behind counts as no renewal`() {
        var tally = ModelCheck.Tally()
        let failure = ModelCheck.live(seed: 95_982, events: 200, tally: &tally)
        #expect(failure == nil, "\(failure?.breach ?? "")")
        #expect(tally.events > 176, "it was broken by event 177")
    }

    /// A law finds nothing in states that never occur.
    @Test func `random sequences perform every operation and reach every state`() {
        var reach = ModelReach()
        for seed in 1...12 as ClosedRange<UInt64> { reach.live(seed: seed, events: 200) }
        let operations = [
            "buy", "refund", "reverseRefund", "declineRefund", "requestConsumption", "renew", "expire", "setAutoRenew",
            "resolveBilling", "setCharges", "raisePrice", "answerPriceIncrease", "extendRenewal", "share",
            "stopSharing",
            "decidePurchase", "deleteTransaction", "clearTransactions", "createIntent", "endIntent", "setStorefront",
            "postMessage", "sync", "finish", "advance", "again",
        ]
        let states: [RenewalState] = [.subscribed, .inGracePeriod, .inBillingRetryPeriod, .expired, .revoked]
        let names =
            operations.map { "done: \($0)" } + states.map { "line: own, \($0)" } + [
                "line: shared, subscribed", "done: buy, by the app", "account: waits, dialog",
            ]
        for name in names { #expect(reach.counts[name, default: 0] > 0, "\(name)") }
    }
}
