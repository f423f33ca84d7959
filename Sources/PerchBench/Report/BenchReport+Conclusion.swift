extension BenchReport {
    /// The result in words: whether the figures are valid, the main figures, and the comparison with the baseline.
    package var conclusion: [String] {
        guard let figures = self.targets.first?.figures, !figures.isEmpty else { return ["This run measured nothing."] }
        var sentences: [String] = []
        let broken = self.allChecks.filter { $0.breach != nil }
        if broken.isEmpty {
            sentences.append("The run met all of its conditions.")
        } else {
            sentences.append(
                "The run violated \(broken.count) of \(self.allChecks.count) conditions: read its figures with care.")
        }
        if let work = Self.work(figures) { sentences.append(work) }
        if let memory = figures[.rssPerConnection] {
            sentences.append(
                "Each connection with its watches took \(Figure.Unit.bytes.text(memory)) of the server's memory.")
        }
        sentences += self.comparison
        return sentences
    }

    private static func work(_ figures: [Figure: Double]) -> String? {
        func spread(_ p50: Figure, _ p99: Figure, _ what: String) -> String {
            guard let half = figures[p50], let most = figures[p99] else { return "" }
            return "; half of \(what) within \(p50.unit.text(half)), 99\u{A0}% within \(p99.unit.text(most))"
        }
        if let rate = figures[.deliveriesPerSecond], rate > 0 {
            return "Perch delivered \(grouped(rate)) values per second\(spread(.pushP50, .pushP99, "them arrived"))."
        }
        if let rate = figures[.opensPerSecond], rate > 0 {
            return "Perch opened \(grouped(rate)) connections per second"
                + "\(spread(.firstP50, .firstP99, "the first values arrived"))."
        }
        if let rate = figures[.changesPerSecond], rate > 0 {
            return "Perch answered \(grouped(rate)) changes per second"
                + "\(spread(.answerP50, .answerP99, "the answers arrived"))."
        }
        return nil
    }

    /// One sentence for each of the main ratios: what is divided by what, and which direction is better.
    private var comparison: [String] {
        guard let base = self.baseline else { return [] }
        let name = base.name == "floor" ? "the baseline server" : Self.title(of: base.name)
        let ratios = self.ratios
        let subjects: [(Figure, String)] = [
            (.deliveriesPerSecond, "Perch's rate of deliveries"), (.opensPerSecond, "Perch's rate of connections"),
            (.changesPerSecond, "Perch's rate of changes"), (.pushP50, "Perch's median push latency"),
            (.cpuPerMillion, "Perch's CPU time per delivery"), (.rssPerConnection, "Perch's memory per connection"),
        ]
        let isPushed = ratios[.deliveriesPerSecond] != nil
        return subjects.compactMap { figure, subject in
            guard let ratio = ratios[figure], let isBetterHigher = figure.isBetterHigher else { return nil }
            if figure == .changesPerSecond, isPushed { return nil }
            return "\(subject) was \(decimals(ratio, 2)) times that of \(name) "
                + "(\(isBetterHigher ? "higher" : "lower") is better)."
        }
    }
}
