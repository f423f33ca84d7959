import PerchBase

extension BenchReport {
    /// The report as text: the settings, a table of figures, and their interpretation.
    package var text: [String] {
        var lines = ["\(self.title): " + self.settings.map { "\($0.name) \($0.value)" }.joined(separator: ", ")]
        lines.append(
            "\(self.machine.processorName), \(self.machine.processors) processors, Linux \(self.machine.kernel), load "
                + "\(decimals(self.machine.load, 2)) before and \(decimals(self.loadAfter, 2)) after")
        lines += self.notes
        lines.append("")
        lines += self.table
        for target in self.targets {
            lines += target.reasons.map { "\(target.name): \($0)" }
            for finding in target.rounds.flatMap(\.findings).prefix(Limits.benchFindingsMax) {
                lines.append("\(target.name): \(finding)")
            }
            if let failure = target.failure { lines.append("\(target.name): failed: \(failure)") }
            if let reason = target.generatorBound {
                lines.append(
                    "\(target.name): GENERATOR-BOUND, so these are not the server's figures: \(reason)")
            }
        }
        lines += self.breaches.map { "failed: \($0)" }
        return lines
    }

    private var table: [String] {
        let figures = self.targets.map(\.figures)
        let columns = self.ratioColumns
        var rows: [[String]] = []
        for figure in Figure.allCases {
            let values = figures.map { $0[figure] }
            guard values.contains(where: { $0 != nil }) else { continue }
            // Error counts, and figures that the workload lacks, are shown only if they are not 0.
            if figure.unit == .count, !values.contains(where: { $0 ?? 0 != 0 }), !Self.alwaysShown.contains(figure) {
                continue
            }
            var row = [figure.rawValue] + values.map { $0.map { figure.unit.text($0) } ?? "-" }
            row += columns.map { column in column.ratios[figure].map { decimals($0, 3) } ?? "" }
            rows.append(row)
        }
        let head = [""] + self.targets.map(\.name) + columns.map(\.name)
        return Self.aligned([head] + rows)
    }

    private static let alwaysShown: [Figure] = [.lost, .gaps, .duplicates, .reorderings, .failures]

    /// Aligns the first column to the left, the others to the right.
    static func aligned(_ rows: [[String]]) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let gap = String(repeating: " ", count: widths[column] - cell.count)
                line += column == 0 ? cell + gap : "  " + gap + cell
            }
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension BenchReport.Target {
    /// Numbers of closed connections and refusals by reason, each as a sentence.
    var reasons: [String] {
        [("closed", \RoundResult.closes), ("refused", \RoundResult.refusals)].flatMap { kind, counts in
            let sums = self.rounds.reduce(into: [:]) { sums, round in
                sums.merge(round[keyPath: counts], uniquingKeysWith: +)
            }
            return sums.sorted { $0.key < $1.key }.map { "\(kind) \($0.value) with \($0.key)" }
        }
    }
}
