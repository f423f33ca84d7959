/// Two reports beside each other: what got better and what got worse.
package struct Comparison: Sendable {
    package struct Row: Equatable, Sendable {
        package var target: String
        package var figure: Figure
        package var before: Double
        package var after: Double

        /// Nil where there is nothing to divide by.
        package var change: Double? { self.before == 0 ? nil : self.after / self.before - 1 }

        var changeText: String { self.change.map { ($0 > 0 ? "+" : "") + decimals($0 * 100, 1) + " %" } ?? "-" }

        package var verdict: String {
            guard let isBetterHigher = self.figure.isBetterHigher, self.before != self.after else { return "" }
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
        for (name, value) in before.settings.sorted(by: { $0.key < $1.key }) {
            guard let other = after.settings[name], other != value else { continue }
            self.warnings.append("\(name) was \(value) and is \(other)")
        }
        for (which, report) in [("first", before), ("second", after)] {
            for target in report.targets where target.isGeneratorBound {
                self.warnings.append("\(target.name) of the \(which) is generator-bound: not a server's figures")
            }
        }
        for target in before.targets {
            guard let other = after.targets.first(where: { $0.name == target.name }) else { continue }
            for figure in Figure.allCases {
                guard let old = target.figures[figure], let new = other.figures[figure] else { continue }
                self.rows.append(Row(target: target.name, figure: figure, before: old, after: new))
            }
        }
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
