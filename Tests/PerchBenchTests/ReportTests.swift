import PerchBase
import PerchBench
import PerchConsole
import PerchJSON
import Testing

@Suite struct `a report of a bench` {
    private static let report: BenchReport = {
        var report = BenchReport(title: "hot --watchers 10 <&\">", workload: "hot")
        report.settings = [("watchers", "10")]
        report.notes = ["a note <b>"]
        func target(_ name: String, _ p50s: [Double]) -> BenchReport.Target {
            BenchReport.Target(
                name: name,
                rounds: p50s.map { p50 in
                    var round = RoundResult()
                    round.figures = [.pushP50: p50, .deliveriesPerSecond: 1e9 / p50, .gaps: 1, .rssPerConnection: 800]
                    round.closes = ["WRITE_STALLED": 2]
                    round.percentiles = [0, 0.5, 0.9, 0.99, 1].map {
                        RoundResult.Percentile(quantile: $0, nanoseconds: Int64(p50 * (1 + $0)))
                    }
                    round.intervals = (1...4).map { second in
                        var interval = Recorder.Interval()
                        (interval.end, interval.length) = (Double(second), 1)
                        (interval.deliveries, interval.pushP50, interval.pushP99) = (1_000, Int64(p50), Int64(2 * p50))
                        (interval.residentBytes, interval.serverCPU) = (10_000_000, 0.5)
                        return interval
                    }
                    return round
                })
        }
        report.targets = [target("perch", [100_000, 300_000, 200_000]), target("floor", [80_000, 400_000, 100_000])]
        return report
    }()

    @Test func `a report of a bench combines rounds by median, and error counts by sum`() {
        let figures = Self.report.targets[0].figures
        #expect(figures[.pushP50] == 200_000)
        #expect(figures[.gaps] == 3)
    }

    @Test func `a report of a bench takes the largest maximum of all rounds`() {
        var report = Self.report
        for (round, maximum) in [995e6, 1.4e6, 2.4e6].enumerated() {
            report.targets[0].rounds[round].figures.merge([.pushMax: maximum, .pushP99: maximum]) { $1 }
        }
        #expect(report.targets[0].figures[.pushMax] == 995e6)
        #expect(report.targets[0].figures[.pushP99] == 2.4e6)
    }

    /// 1.25, 0.75 and 2: not the ratio of the medians, which would be 2.
    @Test func `a report of a bench computes ratios pair by pair`() {
        #expect(Self.report.ratios[.pushP50] == 1.25)
        #expect(Self.report.ratios[.gaps] == nil)
    }

    @Test func `a report of a bench is a page that asks for nothing`() throws {
        let page = Self.report.html
        let rest = try Self.withoutScript(page)
        #expect(rest.components(of: "<script type=\"application/json\">") == 6)
        #expect(page.hasPrefix("<!doctype html>"))
        #expect(page.contains("prefers-color-scheme:dark"))
        // Untrusted texts must be escaped.
        #expect(!page.contains("note <b>"))
        #expect(page.contains("hot --watchers 10 &lt;&amp;&quot;&gt;"))
        for number in ["NaN", "inf", ">-<"] { #expect(!rest.contains(number)) }
    }

    /// The page without the text of its one script, which is the console's module of charts. Its policy names both by their
    /// hashes. Neither asks for anything.
    private static func withoutScript(_ page: String) throws -> String {
        let start = try #require(page.firstRange(of: "<script type=\"module\">")).upperBound
        let end = try #require(page[start...].firstRange(of: "</script>")).lowerBound
        let script = String(page[start..<end])
        #expect(script.hasPrefix(ConsoleFiles.chart) && !ConsoleFiles.chart.contains("</script"))
        for outside in [
            "fetch(", "import ", "import(", "XMLHttp", "WebSocket", "EventSource", "sendBeacon", "location",
        ] {
            #expect(!script.contains(outside), "\(outside)")
        }
        let style = try #require(page.firstRange(of: "<style>")).upperBound
        let styleEnd = try #require(page.firstRange(of: "</style>")).lowerBound
        func hash(_ text: Substring) -> String { Base64.encode(ContentHash(of: Array(text.utf8)).bytes) }
        let policy =
            "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-\(hash(page[style..<styleEnd]))'; "
            + "script-src 'sha256-\(hash(page[start..<end]))'"
        #expect(page.contains("<meta http-equiv=\"content-security-policy\" content=\"\(policy)\">"))
        let rest = String(page[..<start] + page[end...])
        for outside in ["http:", "https:", "//", "src=", "href=", "@import", "url(", "<link", "style=", "<i>"] {
            #expect(!rest.contains(outside), "\(outside)")
        }
        #expect(rest.components(of: "<script") == rest.components(of: "<script type=\"application/json\">") + 1)
        return rest
    }

    @Test func `a report of a bench has each chart as values, and in words`() throws {
        let charts = try Self.charts(in: Self.report.html)
        #expect(charts.count == 6)
        for chart in charts {
            let series = try #require(chart["series"]?.array)
            #expect(series.map { $0["name"]?.string } == ["Perch", "baseline server"], "\(chart)")
            #expect(series.allSatisfy { $0["lines"]?.array?.count == 3 })
        }
        let line = charts[1]["series"]?.array?[0]["lines"]?.array?[0].array
        #expect(line?.first?.array?.map(\.double) == [1, 100_000] && line?.count == 4)
        let page = Self.report.html
        #expect(
            page.contains(
                "<h2>Push latency over time, median</h2><p class=\"what\">Perch 200 µs, from 100 µs to 300 µs; "
                    + "baseline server 100 µs, from 80.0 µs to 400 µs</p>"), "\(page)")
        #expect(page.contains("Perch median 300 µs, p99 398 µs, max 400 µs; baseline server "), "\(page)")
    }

    /// The name of a target is a text from outside: a report that `bench compare` read.
    @Test func `a report of a bench cannot end the block of its values`() throws {
        var report = Self.report
        report.targets[0].name = "</script><img>\u{1}\"\\"
        let charts = try Self.charts(in: report.html)
        #expect(charts[0]["series"]?.array?[0]["name"]?.string == BenchReport.title(of: report.targets[0].name))
        #expect(!report.html.contains("<img>"))
    }

    private static func charts(in page: String) throws -> [JSONValue] {
        try page.split(separator: "<script type=\"application/json\">").dropFirst().map { part in
            let end = try #require(part.firstRange(of: "</script>")).lowerBound
            return try JSONReader.read(Array(part[..<end].utf8))
        }
    }

    @Test func `names the version of Perch and its date`() throws {
        var report = Self.report
        #expect(report.html.contains("Perch, unknown version, unknown date"))
        report.version = "1.2.3"
        report.startedAt = CivilTime(parsing: "2026-11-25T05:13:43Z")?.instant
        #expect(report.html.contains("Perch 1.2.3, 2026-11-25 05:13 UTC"))
        let read = try ReportFigures(try report.json(.compact))
        #expect(read.version == "1.2.3" && read.startedAt == report.startedAt)
        #expect(Comparison(read, read).html.contains("Perch 1.2.3, 2026-11-25 05:13 UTC"))
    }

    @Test func `a report of a bench marks each condition with a check mark or a cross`() throws {
        var report = Self.report
        report.check([try FailCondition(parsing: "push_p50>20ms"), try FailCondition(parsing: "push_p50:ratio>1.2")])
        #expect(report.html.contains("✓</b> push_p50 at most 20.0 ms</li>"))
        #expect(report.html.contains("✗</b> push_p50 ratio to the baseline at most 1.200: it is 1.250</li>"))
        #expect(report.html.contains("✓</b> Every round ran to its end</li>"))
        #expect(report.html.contains("✗</b> Every watcher received the last change: gaps: 3</li>"))
        report.targets[1].rounds[0].failure = "signal 9 ended the server"
        #expect(
            report.html.contains("✗</b> Every round ran to its end: baseline server: signal 9 ended the server</li>"))
    }

    @Test func `a report of a bench draws its conclusion in words`() {
        var report = Self.report
        #expect(report.conclusion.first == "The run violated 1 of 3 conditions: read its figures with care.")
        #expect(report.html.contains("<h2>Conclusion</h2>"))
        for round in report.targets[0].rounds.indices { report.targets[0].rounds[round].figures[.gaps] = 0 }
        #expect(report.conclusion.first == "The run met all of its conditions.")
        #expect(report.conclusion.contains("Perch delivered 5,000 values per second."))
        #expect(
            report.conclusion.contains(
                "Perch's median push latency was 1.25 times that of the baseline server (lower is better)."))
        #expect(BenchReport(title: "idle", workload: "idle").conclusion == ["This run measured nothing."])
    }

    @Test func `a report of a bench explains each ratio`() {
        let page = Self.report.html
        #expect(page.contains("1.25 times the baseline server's (lower is better)"))
        #expect(page.contains("<th>Perch ÷ baseline server</th>"))
        #expect(page.contains("data-name=\"Perch ÷ baseline server\">1.250</td>"))
        #expect(page.contains("divided by the right server's"))
    }

    @Test func `a report of a bench is a page even without measurements`() {
        var report = BenchReport(title: "idle", workload: "idle")
        #expect(report.html.contains("</html>"))
        report.targets = [BenchReport.Target(name: "perch", rounds: [RoundResult()])]
        #expect(report.html.contains("</html>"))
    }

    @Test(arguments: [JSONWriter.Layout.compact, .indented])
    func `a report of a bench survives the round trip through JSON`(_ layout: JSONWriter.Layout) throws {
        let read = try ReportFigures(try Self.report.json(layout))
        #expect(read.title == Self.report.title)
        #expect(read.targets.map(\.name) == ["perch", "floor"])
        #expect(read.targets[0].figures == Self.report.targets[0].figures)
        #expect(!read.targets[0].isGeneratorBound)
    }

    @Test func `a report of a bench is read from the last line of ndjson`() throws {
        let news = Bench.News(
            target: "perch", round: 1, rounds: 1,
            progress: Generator.Progress(
                stage: "measuring", seconds: 1, connections: 3, interval: Recorder.Interval()))
        let lines = BenchReport.json(news) + [10] + (try Self.report.json(.compact)) + [10]
        #expect(try ReportFigures(lines).title == Self.report.title)
    }

    @Test(arguments: [
        ("{}", "not a report"), ("nonsense", "not JSON"), ("{\"type\":\"report\",\"format\":9}", "format 9"),
        ("{\"type\":\"report\",\"format\":1,\"targets\":\"none\"}", "no targets"),
    ])
    func `a report of another kind is refused`(_ text: String, _ reason: String) {
        let fault = #expect(throws: ReportFigures.Fault.self) { try ReportFigures(Array(text.utf8)) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }

    @Test func `a report of a bench is compared figure by figure, with warnings about differences`() throws {
        var later = Self.report
        later.settings = [("watchers", "20")]
        for round in later.targets[0].rounds.indices {
            later.targets[0].rounds[round].figures[.pushP50]? *= 2
            later.targets[0].rounds[round].figures[.deliveriesPerSecond]? *= 2
            later.targets[0].rounds[round].generatorBound = "busy"
        }
        let comparison = Comparison(
            try ReportFigures(try Self.report.json(.compact)), try ReportFigures(try later.json(.compact)))
        func row(_ figure: Figure) -> Comparison.Row? {
            comparison.rows.first { $0.target == "perch" && $0.figure == figure }
        }
        #expect(row(.pushP50)?.change == 1)
        #expect(row(.pushP50)?.verdict == "worse")
        #expect(row(.deliveriesPerSecond)?.verdict == "better")
        #expect(row(.gaps)?.verdict == "")
        // A change that rounds to 0.0 % counts as neither.
        var alike = Self.report
        for round in alike.targets[0].rounds.indices {
            alike.targets[0].rounds[round].figures[.pushP50]? *= 1.0004
        }
        let same = Comparison(
            try ReportFigures(try Self.report.json(.compact)), try ReportFigures(try alike.json(.compact)))
        #expect(Set(same.rows.filter { $0.figure == .pushP50 }.map(\.verdict)) == [""])
        #expect(comparison.warnings.contains("watchers was 10 and is 20"))
        #expect(comparison.warnings.contains { $0.contains("generator-bound") })
        #expect(comparison.text.contains { $0.contains("push_p50") && $0.contains("+100.0 %") })
    }

    @Test func `is compared by ratios, with the noise of its rounds, and with figures of one report only`()
        throws
    {
        var later = Self.report
        later.machine.processorName = "another"
        for round in later.targets[0].rounds.indices {
            later.targets[0].rounds[round].figures[.pushP50]? *= 1.4
            later.targets[0].rounds[round].figures[.rssPerConnection] = nil
            later.targets[0].rounds[round].figures[.bytesPerSecond] = 1e6
        }
        func compared(_ before: BenchReport, _ after: BenchReport) throws -> Comparison {
            Comparison(try ReportFigures(try before.json(.compact)), try ReportFigures(try after.json(.compact)))
        }
        let comparison = try compared(Self.report, later)
        let rows = comparison.rows.filter { $0.target == "perch" && $0.figure == .pushP50 }
        // One run varies from 100 to 300 µs, so 40 % more is not significant.
        #expect(rows.map(\.isRatio) == [false, true] && rows[0].verdict == "" && rows[0].noise == 0.5)
        #expect(rows[1].before == 1.25 && rows[1].after == 1.75 && rows[1].verdict == "worse")
        #expect(comparison.text.contains { $0.hasPrefix("perch push_p50 ratio") && $0.contains("1.250") })
        #expect(comparison.html.contains("perch push_p50 ratio"))
        #expect(comparison.warnings.contains("perch rss_per_connection is only in the first report"))
        #expect(comparison.warnings.contains("perch bytes_per_second is only in the second report"))
        #expect(comparison.warnings.contains { $0.hasPrefix("the processor was  and is another") })
        // Different work is neither better nor worse, and nor is a requested rate.
        var other = later
        other.workload = "buy"
        #expect(try compared(Self.report, other).rows.allSatisfy { $0.verdict == "" })
        var given = Self.report
        given.settings = [("rate", "500/s, open loop")]
        for round in given.targets[0].rounds.indices { given.targets[0].rounds[round].figures[.changesPerSecond] = 500 }
        var faster = given
        for round in faster.targets[0].rounds.indices {
            faster.targets[0].rounds[round].figures[.changesPerSecond] = 900
        }
        #expect(try compared(given, faster).rows.filter { $0.figure == .changesPerSecond }.map(\.verdict) == [""])
        var more = later
        for round in more.targets[0].rounds.indices { more.targets[0].rounds[round].figures[.bytesPerSecond] = 9e6 }
        #expect(try compared(later, more).rows.filter { $0.figure == .bytesPerSecond }.map(\.verdict) == [""])
    }

    @Test func `is compared with a report of another server or of an aborted round only with a warning`() throws {
        var later = Self.report
        later.settings = [("server", "127.0.0.1:7447")]
        later.targets[1].rounds[0].failure = "interrupted by the user"
        func warnings(_ later: BenchReport) throws -> [String] {
            Comparison(
                try ReportFigures(try Self.report.json(.compact)), try ReportFigures(try later.json(.compact))
            ).warnings
        }
        let found = try warnings(later)
        #expect(found.contains("server is 127.0.0.1:7447, and the first report lacks it"))
        #expect(found.contains("watchers was 10, and the second report lacks it"))
        #expect(found.contains("floor of the second report failed: interrupted by the user"))
        later.targets = [BenchReport.Target(name: "redis")]
        #expect(try warnings(later).contains { $0.hasPrefix("the reports share no target") && $0.hasSuffix("redis") })
    }

    @Test func `a report with impossible numbers is read without them`() throws {
        let text =
            #"{"type":"report","format":1,"title":"x","workload":"hot","targets":[{"name":"perch","figures":{},"#
            + #""rounds":[{"percentiles":[{"quantile":0.5,"ns":1e30}],"intervals":[{"deliveries":-1,"rss_bytes":1e99}]}]}]}"#
        let report = try ReportFigures(Array(text.utf8))
        #expect(report.rounds[0].percentiles[0].nanoseconds == 0)
        #expect(report.rounds[0].intervals[0].deliveries == 0)
        #expect(Comparison(report, report).html.contains("</html>"))
    }

    @Test func `a report with an aborted baseline round is a failure`() {
        var report = Self.report
        report.targets[1].rounds[0].failure = "signal 9 ended the server"
        report.check([])
        #expect(report.breaches == ["a round with floor failed: signal 9 ended the server"])
    }

    @Test func `a report of a bench is compared with a later one on one page`() throws {
        var later = Self.report
        later.title = "hot --watchers 20 <i>"
        later.targets[0].rounds[0].figures[.pushP50]? *= 4
        later.targets[0].rounds[1].figures[.pushP50]? *= 4
        let page = Comparison(
            try ReportFigures(try Self.report.json(.compact)), try ReportFigures(try later.json(.compact))
        ).html
        _ = try Self.withoutScript(page)
        #expect(page.contains("hot --watchers 10") && page.contains("hot --watchers 20"))
        #expect(page.contains("<td class=\"worse\">worse</td>"))
        // The reports contain the rounds, so each chart has three lines of each.
        for chart in try Self.charts(in: page) {
            #expect(chart["series"]?.array?.map { $0["name"]?.string } == ["after", "before"])
            #expect(chart["series"]?.array?.map { $0["thin"]?.boolean } == [false, true])
            #expect(chart["series"]?.array?.map { $0["lines"]?.array?.count } == [3, 3])
        }
        #expect(page.contains("Latency by percentile"))
    }

    @Test func `lists failures in words`() throws {
        var report = Self.report
        report.targets[0].rounds[0].findings = ["account 3, line 7: nothing <came>"]
        #expect(report.text.contains("perch: account 3, line 7: nothing <came>"))
        #expect(report.html.contains("nothing &lt;came&gt;"))
        let json = String(decoding: try report.json(.compact), as: UTF8.self)
        #expect(json.contains(#""findings":["account 3, line 7: nothing <came>"]"#))
    }

    @Test func `a report of a bench marks generator-bound figures`() {
        var report = Self.report
        report.targets[0].rounds[1].generatorBound = "the generator used 99 % of its core"
        #expect(report.text.contains { $0.contains("GENERATOR-BOUND") })
        #expect(report.html.contains("Generator-bound."))
    }
}

extension String {
    fileprivate func components(of part: String) -> Int {
        self.indices.count { self[$0...].hasPrefix(part) }
    }
}

@Suite struct `numbers for people` {
    @Test(arguments: [
        (950.0, "950 ns"), (1_234, "1.23 µs"), (45_678_000, "45.7 ms"), (1.5e9, "1.50 s"), (123.4e9, "123 s"),
    ])
    func `show times with three digits`(_ nanoseconds: Double, _ text: String) {
        #expect(duration(nanoseconds: nanoseconds) == text)
    }

    @Test func `show small byte counts exactly`() {
        #expect(Figure.Unit.bytes.text(9_999_999) == "9,999,999 B")
        #expect(Figure.Unit.bytes.text(34_869_248) == "34.9 MB")
    }

    @Test func `are grouped by thousands and rounded`() {
        #expect(grouped(1_234_567.6) == "1,234,568")
        #expect(grouped(999) == "999")
        #expect(grouped(-1_000) == "-1,000")
        #expect(grouped(2.5) == "2.50")
        #expect(grouped(.nan) == "-")
        #expect(decimals(-0.25, 1) == "-0.3")
        #expect(decimals(1.005, 0) == "1")
    }
}
