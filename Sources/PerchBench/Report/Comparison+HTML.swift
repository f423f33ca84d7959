extension Comparison {
    /// The two as one page, which needs nothing but itself: their charts over each other, and the table.
    package var html: String {
        var page = BenchReport.head("perch bench compare")
        page += "<p class=\"what\">before: <b>\(escaped(self.before.title))</b></p>\n"
        page += "<p class=\"what\">after: <b>\(escaped(self.after.title))</b></p>\n"
        page += self.warnings.map { "<p class=\"bad\">\(escaped($0))</p>\n" }.joined()
        var both = BenchReport(title: self.after.title, workload: self.after.workload)
        both.targets = [
            BenchReport.Target(name: "after", rounds: self.after.rounds),
            BenchReport.Target(name: "before", rounds: self.before.rounds),
        ]
        page += both.charts
        page += self.table
        page += "</body></html>\n"
        return page
    }

    private var table: String {
        var lines = "<tr><th></th><th>before</th><th>after</th><th>change</th><th></th><th></th></tr>\n"
        for row in self.shownRows {
            lines += "<tr><td>\(escaped(row.name))</td>"
            lines += "<td>\(escaped(row.text(row.before)))</td><td>\(escaped(row.text(row.after)))</td>"
            lines += "<td>\(escaped(row.changeText))</td><td class=\"\(row.verdict)\">\(row.verdict)</td>"
            lines += "<td class=\"why\">\(escaped(row.figure.meaning))</td></tr>\n"
        }
        return "<div class=\"wide\"><table>\(lines)</table></div>\n"
    }
}
