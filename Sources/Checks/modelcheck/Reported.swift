import PerchModelCheck

/// `modelcheck told`: the laws of App Store apps.
enum Reported {
    /// Whether all seeds keep them.
    static func check(count: UInt64, from first: UInt64, say: (String) -> Void) -> Bool {
        var tally = ReportedCheck.Tally()
        var broken = 0
        for seed in first..<first + count {
            guard let breach = ReportedCheck.breach(seed: seed, tally: &tally) else { continue }
            broken += 1
            say("seed \(seed): \(breach)")
            if broken == 5 { break }
        }
        for (state, times) in tally.states.sorted(by: { $0.key < $1.key }) { say("\(times)\t\(state)") }
        say(
            "\(count) sets of reports from seed \(first), \(tally.reports) reports, each set in 20 orders: \(broken) broken"
        )
        return broken == 0
    }
}
