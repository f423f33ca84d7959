/// Compares two reports: what improved and what got worse.
package struct Comparison: Sendable {
    package struct Row: Equatable, Sendable {
        package var target: String
        package var figure: Figure
        /// Whether it is the ratio to the baseline server, which is the most comparable value of two runs.
        package var isRatio = false
        package var before: Double
        package var after: Double
        /// Relative difference between rounds of one report. A smaller change is not significant.
        package var noise: Double = Self.noiseOfOne
        /// Whether better or worse applies: not to a requested rate, nor to different work.
        package var isComparable = true

        /// The noise assumed for a single round, as measured on shared machines.
        static let noiseOfOne = 0.05

        /// Relative change; nil if the first value is 0.
        package var change: Double? { self.before == 0 ? nil : self.after / self.before - 1 }

        var name: String { "\(self.target) \(self.figure.rawValue)" + (self.isRatio ? " ratio" : "") }

        func text(_ value: Double) -> String { self.isRatio ? decimals(value, 3) : self.figure.unit.text(value) }

        var changeText: String { self.change.map { ($0 > 0 ? "+" : "") + decimals($0 * 100, 1) + " %" } ?? "-" }

        package var verdict: String {
            guard self.isComparable, let isBetterHigher = self.figure.isBetterHigher, self.before != self.after else {
                return ""
            }
            // For error counts any difference is significant.
            if self.figure.unit != .count, let change = self.change, abs(change) <= self.noise { return "" }
            return (self.after > self.before) == isBetterHigher ? "better" : "worse"
        }
    }

    let before: ReportFigures
    let after: ReportFigures
    package var rows: [Row] = []
    /// Reasons why the reports are not directly comparable.
    package var warnings: [String] = []

    package init(_ before: ReportFigures, _ after: ReportFigures) {
        (self.before, self.after) = (before, after)
        if before.title != after.title {
            self.warnings.append("the reports describe different work: \(before.title) and \(after.title)")
        }
        for name in Set(before.settings.keys).union(after.settings.keys).sorted() {
            switch (before.settings[name], after.settings[name]) {
            case (let old?, let new?) where old != new: self.warnings.append("\(name) was \(old) and is \(new)")
            case (let old?, nil): self.warnings.append("\(name) was \(old), and the second report lacks it")
            case (nil, let new?): self.warnings.append("\(name) is \(new), and the first report lacks it")
            default: break
            }
        }
        for (which, report) in [("first", before), ("second", after)] {
            for target in report.targets {
                if target.isGeneratorBound {
                    self.warnings.append(
                        "\(target.name) of the \(which) report is generator-bound: it does not describe the server")
                }
                if let failure = target.failure {
                    self.warnings.append("\(target.name) of the \(which) report failed: \(failure)")
                }
            }
        }
        if !before.targets.contains(where: { target in after.targets.contains { $0.name == target.name } }) {
            self.warnings.append(
                "the reports share no target: the first measured \(Self.names(before)), "
                    + "the second \(Self.names(after))")
        }
        for (name, old) in before.machine {
            let new = after.machine.first { $0.name == name }?.value ?? ""
            if old != new { self.warnings.append("the \(name) was \(old) and is \(new): compare only ratios") }
        }
        for target in before.targets {
            guard let other = after.targets.first(where: { $0.name == target.name }) else { continue }
            self.compare(target, other)
        }
    }

    private mutating func compare(_ old: ReportFigures.Target, _ new: ReportFigures.Target) {
        let isSameWork = self.before.workload == self.after.workload
        for figure in Figure.allCases {
            switch (old.figures[figure], new.figures[figure]) {
            case (let before?, let after?):
                var row = Row(target: old.name, figure: figure, before: before, after: after)
                row.noise = max(Self.spread(old, figure), Self.spread(new, figure))
                // With a requested rate, the number of changes is an input.
                let isGiven = figure == .changesPerSecond && self.before.settings["rate"] != nil
                row.isComparable = isSameWork && !isGiven
                self.rows.append(row)
            case (.some, nil): self.warnings.append("\(old.name) \(figure.rawValue) is only in the first report")
            case (nil, .some): self.warnings.append("\(old.name) \(figure.rawValue) is only in the second report")
            default: break
            }
            guard let before = old.ratios[figure], let after = new.ratios[figure] else { continue }
            var row = Row(target: old.name, figure: figure, isRatio: true, before: before, after: after)
            row.isComparable = isSameWork
            self.rows.append(row)
        }
    }

    /// Half of the range of the rounds relative to the figure: the possible error of its median.
    private static func spread(_ target: ReportFigures.Target, _ figure: Figure) -> Double {
        let values = target.rounds.compactMap { $0[figure] }
        guard values.count > 1, let low = values.min(), let high = values.max(), let middle = target.figures[figure],
            middle > 0
        else { return Row.noiseOfOne }
        return (high - low) / 2 / middle
    }

    private static func names(_ report: ReportFigures) -> String {
        report.targets.isEmpty ? "nothing" : report.targets.map(\.name).joined(separator: " and ")
    }

    /// Rows except for counts that are 0 in both.
    var shownRows: [Row] {
        self.rows.filter { $0.before != 0 || $0.after != 0 || $0.figure.unit != .count }
    }

    package var text: [String] {
        var table = [["", "before", "after", "change", ""]]
        for row in self.shownRows {
            table.append([row.name, row.text(row.before), row.text(row.after), row.changeText, row.verdict])
        }
        return self.warnings.map { "caution: \($0)" } + BenchReport.aligned(table)
    }
}
