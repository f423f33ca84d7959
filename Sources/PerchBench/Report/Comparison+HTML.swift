extension Comparison {
    /// The comparison as a self-contained page: both reports' charts in one, and the table.
    package var html: String {
        var page = BenchReport.head("perch bench compare")
        for (name, report) in [("before", self.before), ("after", self.after)] {
            page += "<p class=\"what\">\(name): <b>\(escaped(report.title))</b>, "
            page += "\(escaped(BenchReport.origin(report.version, report.startedAt)))</p>\n"
        }
        page += self.warnings.map { "<p class=\"bad\">\(escaped($0))</p>\n" }.joined()
        let (better, worse) = (self.count("better"), self.count("worse"))
        page += "<h2>Conclusion</h2>\n<p class=\"verdict\">\(better) figures are better and \(worse) are worse. A "
        page += "change within the noise of the rounds, or without a better direction, counts as neither.</p>\n"
        var both = BenchReport(title: self.after.title, workload: self.after.workload)
        both.targets = [
            BenchReport.Target(name: "after", rounds: self.after.rounds),
            BenchReport.Target(name: "before", rounds: self.before.rounds),
        ]
        page += both.charts
        page += self.table
        return page + BenchReport.end
    }

    private func count(_ verdict: String) -> Int { self.rows.count { $0.verdict == verdict } }

    private var table: String {
        var lines =
            "<tr class=\"names\"><th>figure</th><th>before</th><th>after</th><th>change</th><th></th>"
            + "<th class=\"why\">definition</th></tr>\n"
        for row in self.shownRows {
            lines += "<tr><td>\(escaped(row.name))</td>"
            lines += "<td data-name=\"before\">\(escaped(row.text(row.before)))</td>"
            lines += "<td data-name=\"after\">\(escaped(row.text(row.after)))</td>"
            lines += "<td data-name=\"change\">\(escaped(row.changeText))</td>"
            lines += "<td class=\"\(row.verdict)\">\(row.verdict)</td>"
            let ratio = row.isRatio ? "ratio to the baseline: " : ""
            lines += "<td class=\"why\">\(ratio)\(escaped(row.figure.meaning))\(row.figure.betterText)</td></tr>\n"
        }
        return "<table>\(lines)</table>\n"
    }
}
