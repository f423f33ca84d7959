/// Two reports beside each other: what got better and what got worse.
package struct Comparison: Sendable {
    package struct Row: Equatable, Sendable {
        package var target: String
        package var figure: Figure
        package var before: Double
        package var after: Double

        /// Nil where there is nothing to divide by.
        package var change: Double? { self.before == 0 ? nil : self.after / self.before - 1 }

        /// Half of the last digit that is shown.
        private static let leastChange = 0.0005

        var changeText: String { self.change.map { ($0 > 0 ? "+" : "") + decimals($0 * 100, 1) + " %" } ?? "-" }

        package var verdict: String {
            guard let isBetterHigher = self.figure.isBetterHigher, self.before != self.after else { return "" }
            // What is shown as no change is none: two runs of one thing differ by more.
            if let change = self.change, abs(change) < Self.leastChange { return "" }
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
        for target in before.targets {
            guard let other = after.targets.first(where: { $0.name == target.name }) else { continue }
            for figure in Figure.allCases {
                guard let old = target.figures[figure], let new = other.figures[figure] else { continue }
                self.rows.append(Row(target: target.name, figure: figure, before: old, after: new))
            }
        }
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
            let unit = row.figure.unit
            table.append([
                "\(row.target) \(row.figure.rawValue)", unit.text(row.before), unit.text(row.after), row.changeText,
                row.verdict,
            ])
        }
        return self.warnings.map { "caution: \($0)" } + BenchReport.aligned(table)
    }
}
