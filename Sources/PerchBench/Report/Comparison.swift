/// Two reports beside each other: what got better and what got worse.
package struct Comparison: Sendable {
    package struct Row: Equatable, Sendable {
        package var target: String
        package var figure: Figure
        /// It is the ratio to the floor: what of two runs compares best.
        package var isRatio = false
        package var before: Double
        package var after: Double
        /// By how much two rounds of one thing differ here, as a part of the figure: less than that is no change.
        package var noise: Double = Self.noiseOfOne
        /// Nothing is better or worse where it was asked for, or where different work was done.
        package var isJudged = true

        /// Where there is one round, nothing says how much the next would differ. On a machine with neighbours it does by this.
        static let noiseOfOne = 0.05

        /// Nil where there is nothing to divide by.
        package var change: Double? { self.before == 0 ? nil : self.after / self.before - 1 }

        var name: String { "\(self.target) \(self.figure.rawValue)" + (self.isRatio ? " ratio" : "") }

        func text(_ value: Double) -> String { self.isRatio ? decimals(value, 3) : self.figure.unit.text(value) }

        var changeText: String { self.change.map { ($0 > 0 ? "+" : "") + decimals($0 * 100, 1) + " %" } ?? "-" }

        package var verdict: String {
            guard self.isJudged, let isBetterHigher = self.figure.isBetterHigher, self.before != self.after else {
                return ""
            }
            // Of what must not happen each one counts.
            if self.figure.unit != .count, let change = self.change, abs(change) <= self.noise { return "" }
            return (self.after > self.before) == isBetterHigher ? "better" : "worse"
        }
    }

    let before: ReportFigures
    let after: ReportFigures
    package var rows: [Row] = []
    /// What keeps the two from being compared as they stand.
    package var warnings: [String] = []

    package init(_ before: ReportFigures, _ after: ReportFigures) {
        (self.before, self.after) = (before, after)
        if before.title != after.title {
            self.warnings.append("one is of \(before.title), the other of \(after.title): different work was done")
        }
        for name in Set(before.settings.keys).union(after.settings.keys).sorted() {
            switch (before.settings[name], after.settings[name]) {
            case (let old?, let new?) where old != new: self.warnings.append("\(name) was \(old) and is \(new)")
            case (let old?, nil): self.warnings.append("\(name) was \(old), and the second does not name it")
            case (nil, let new?): self.warnings.append("\(name) is \(new), and the first does not name it")
            default: break
            }
        }
        for (which, report) in [("first", before), ("second", after)] {
            for target in report.targets {
                if target.isGeneratorBound {
                    self.warnings.append("\(target.name) of the \(which) is generator-bound: not a server's figures")
                }
                if let failure = target.failure {
                    self.warnings.append("\(target.name) of the \(which) did not end well: \(failure)")
                }
            }
        }
        if !before.targets.contains(where: { target in after.targets.contains { $0.name == target.name } }) {
            self.warnings.append(
                "nothing is in both: the first measured \(Self.names(before)), the second \(Self.names(after))")
        }
        for (name, old) in before.machine {
            let new = after.machine.first { $0.name == name }?.value ?? ""
            if old != new { self.warnings.append("the \(name) was \(old) and is \(new): only ratios compare") }
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
                // At a rate that was given, so much is made as was asked for.
                let isGiven = figure == .changesPerSecond && self.before.settings["rate"] != nil
                row.isJudged = isSameWork && !isGiven
                self.rows.append(row)
            case (.some, nil): self.warnings.append("\(old.name) \(figure.rawValue) is only in the first")
            case (nil, .some): self.warnings.append("\(old.name) \(figure.rawValue) is only in the second")
            default: break
            }
            guard let before = old.ratios[figure], let after = new.ratios[figure] else { continue }
            var row = Row(target: old.name, figure: figure, isRatio: true, before: before, after: after)
            row.isJudged = isSameWork
            self.rows.append(row)
        }
    }

    /// Half of what lies between the lowest and the highest round, as a part of the figure: by so much may its median be off.
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

    /// Without counts of what was in neither.
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
