import PerchBase
import PerchJSON

/// A line chart of a report: one series for each target, with a line for each of its rounds.
///
/// The page holds its values and a caption in words. The console's `chart.js`, which the page has with it, draws it; a reader
/// without scripts has the caption.
struct Chart {
    private struct Series {
        var name: String
        var lines: [[(x: Double, y: Double)]] = []

        var values: [Double] { self.lines.flatMap { $0.map(\.y) } }
    }

    private var title: String
    private var unit: Figure.Unit
    private var series: [Series] = []
    /// Each x is a quantile.
    private var isOfPercentiles = false

    init(
        title: String, unit: Figure.Unit, _ targets: [[[Recorder.Interval]]], names: [String],
        _ value: (Recorder.Interval) -> Double?
    ) {
        (self.title, self.unit) = (title, unit)
        self.series = zip(names, targets).map { name, rounds in
            let lines = rounds.map { intervals in
                // The last interval may be too short to be significant.
                let whole = intervals.count > 1 ? intervals.filter { $0.length > 0.5 } : intervals
                return whole.compactMap { each in value(each).map { (x: each.end, y: $0) } }
            }
            return Series(name: name, lines: lines)
        }
    }

    init(percentilesOf targets: [BenchReport.Target]) {
        (self.title, self.unit) = ("Latency by percentile", .nanoseconds)
        self.isOfPercentiles = true
        self.series = targets.map { target in
            let lines = target.rounds.map { round in
                round.percentiles.filter { $0.nanoseconds > 0 }.map { (x: $0.quantile, y: Double($0.nanoseconds)) }
            }
            return Series(name: BenchReport.title(of: target.name), lines: lines)
        }
    }

    /// The place of the chart in the page; nil without data.
    var html: String? {
        guard self.series.flatMap(\.values).contains(where: { $0 > 0 }), let json = self.json else { return nil }
        return "<div class=\"chart\"><h2>\(escaped(self.title))</h2><p class=\"what\">\(escaped(self.caption))</p>"
            + "<script type=\"application/json\">\(json)</script></div>\n"
    }

    // MARK: Words

    private var caption: String {
        let texts = self.series.filter { !$0.values.isEmpty }.map { series in
            "\(series.name) \(self.isOfPercentiles ? self.percentiles(of: series) : self.range(of: series))"
        }
        return texts.joined(separator: "; ")
    }

    private func range(of series: Series) -> String {
        let values = series.values
        let (low, high) = (values.min() ?? 0, values.max() ?? 0)
        let middle = self.unit.text(median(values))
        return low == high ? middle : "\(middle), from \(self.unit.text(low)) to \(self.unit.text(high))"
    }

    private func percentiles(of series: Series) -> String {
        let wanted = [(0.5, "median"), (0.99, "p99"), (1, "max")]
        return wanted.compactMap { quantile, name in
            let values = series.lines.compactMap { line in line.first { $0.x >= quantile }?.y }
            return values.isEmpty ? nil : "\(name) \(self.unit.text(median(values)))"
        }.joined(separator: ", ")
    }

    // MARK: Values

    /// The options of `chart` in `chart.js`, as JSON that cannot end its element.
    private var json: String? {
        var json = JSONWriter(limitBytes: Limits.benchChartBytesMax)
        json.beginObject()
        json.member("title", self.title)
        json.member("unit", "\(self.unit)")
        json.member("percentiles", self.isOfPercentiles)
        json.key("series")
        json.beginArray()
        for (place, series) in self.series.enumerated() {
            json.beginObject()
            json.member("name", series.name)
            json.member("thin", place > 0)
            json.key("lines")
            json.beginArray()
            for line in series.lines { Self.write(line, &json) }
            json.endArray()
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return (try? json.finish()).map { String(decoding: $0, as: UTF8.self).replacing("<", with: "\\u003c") }
    }

    private static func write(_ line: [(x: Double, y: Double)], _ json: inout JSONWriter) {
        json.beginArray()
        for point in line {
            json.beginArray()
            json.double((point.x * 1e6).rounded() / 1e6)
            json.double((point.y * 1e3).rounded() / 1e3)
            json.endArray()
        }
        json.endArray()
    }
}
