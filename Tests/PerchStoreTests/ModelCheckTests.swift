import PerchTesting
import Testing

/// A few sequences of `make modelcheck`, which lives as many as are asked for.
@Suite struct `the model, lived at random` {
    @Test(arguments: [1, 101, 201, 301] as [UInt64])
    func `breaks no law and no invariant`(_ first: UInt64) {
        var tally = ModelCheck.Tally()
        for seed in first..<first + 3 {
            if let failure = ModelCheck.live(seed: seed, events: 150, tally: &tally) {
                let actions = failure.actions.map { "\($0)" }.joined(separator: "\n")
                Issue.record("seed \(seed): \(failure.breach)\n\(actions)")
            }
        }
        // A life that was refused everything would break nothing either.
        #expect(tally.events == 450)
        #expect(tally.revisions > 150)
        #expect(tally.refusals < 300)
    }
}
