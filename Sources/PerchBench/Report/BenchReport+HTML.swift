extension BenchReport {
    /// One page that needs nothing but itself: no script, no font, no image from elsewhere. Charts are inline SVG, in
    /// the colours of whoever looks, light or dark.
    package var html: String {
        let figures = self.targets.map(\.figures)
        var page = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>perch bench \(escaped(self.title))</title>
            <style>\(Self.style)</style></head><body>
            <h1>perch bench \(escaped(self.title))</h1>

            """
        if !self.breaches.isEmpty {
            page += "<ul class=\"bad\">" + self.breaches.map { "<li>\(escaped($0))</li>" }.joined() + "</ul>\n"
        }
        for target in self.targets {
            if let reason = target.generatorBound {
                page +=
                    "<p class=\"bad\"><b>Generator-bound.</b> The figures of \(escaped(target.name)) are not the "
                    + "server’s: \(escaped(reason)).</p>\n"
            }
            if let failure = target.failure {
                page += "<p class=\"bad\"><b>\(escaped(target.name)) ended early:</b> \(escaped(failure))</p>\n"
            }
        }
        page +=
            "<p class=\"what\">"
            + self.settings.map { "\(escaped($0.name)) <b>\(escaped($0.value))</b>" }
            .joined(separator: " · ") + "</p>\n"
        page +=
            "<p class=\"what\">\(escaped(self.machine.processorName)), \(self.machine.processors) processors, Linux "
            + "\(escaped(self.machine.kernel)), load \(decimals(self.machine.load, 2)) before and "
            + "\(decimals(self.loadAfter, 2)) after</p>\n"
        page += self.notes.map { "<p class=\"what\">\(escaped($0))</p>\n" }.joined()
        page += self.tiles(figures)
        page += self.charts
        page += self.table(figures)
        page += "</body></html>\n"
        return page
    }

    private static let style = """
        :root{--ground:#fcfcfb;--card:#fff;--ink:#1a1c20;--soft:#5d636e;--line:#dfe2e7;--bad:#b42318;
        --s0:#2563c9;--s1:#c2570c;--s2:#5b7f1b}
        @media(prefers-color-scheme:dark){:root{--ground:#14161a;--card:#1c1f25;--ink:#e8eaee;--soft:#9aa1ad;
        --line:#333842;--bad:#ff8a7a;--s0:#7aa9ff;--s1:#f2a25c;--s2:#a8cf5f}}
        body{margin:0 auto;max-width:68rem;padding:2rem 1.25rem 4rem;background:var(--ground);color:var(--ink);
        font:15px/1.5 system-ui,sans-serif}
        h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1rem;margin:0 0 .25rem}
        .what{color:var(--soft);margin:.1rem 0}.bad{color:var(--bad)}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.75rem;margin:1.5rem 0}
        .tile,.chart{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem}
        .tile b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}.tile span{color:var(--soft);font-size:.85rem}
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr));gap:.75rem;margin:1.5rem 0}
        svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font:12px system-ui,sans-serif}
        .grid{stroke:var(--line)}.l0{stroke:var(--s0)}.l1{stroke:var(--s1)}.l2{stroke:var(--s2)}
        .d0{fill:var(--s0)}.d1{fill:var(--s1)}.d2{fill:var(--s2)}
        path{fill:none;stroke-width:1.75;stroke-linejoin:round}.thin{stroke-width:1.25;stroke-dasharray:4 3}
        .key{color:var(--soft);font-size:.85rem}.key i{display:inline-block;width:.8rem;height:.2rem;vertical-align:middle;
        margin:0 .35rem 0 .8rem}.k0{background:var(--s0)}.k1{background:var(--s1)}.k2{background:var(--s2)}
        .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        td,th{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
        td:first-child,th:first-child{text-align:left}td.why{text-align:left;color:var(--soft);white-space:normal}
        """

    private func tiles(_ figures: [[Figure: Double]]) -> String {
        let wanted: [Figure] = [
            .deliveriesPerSecond, .opensPerSecond, .changesPerSecond, .pushP50, .pushP99, .firstP50, .answerP50,
            .cpuPerMillion, .rssPerConnection,
        ]
        let ratios = self.ratios
        let base = escaped(self.targets.first { $0.name == "floor" }?.name ?? self.targets.last?.name ?? "")
        let tiles = wanted.compactMap { figure -> String? in
            guard let value = figures.first?[figure] else { return nil }
            let ratio = ratios[figure].map { " · \(decimals($0, 2)) of \(base)" } ?? ""
            return
                "<div class=\"tile\"><b>\(escaped(figure.unit.text(value)))</b><span>\(figure.rawValue)\(ratio)</span></div>"
        }
        return "<div class=\"tiles\">" + tiles.prefix(6).joined() + "</div>\n"
    }

    private func table(_ figures: [[Figure: Double]]) -> String {
        let columns = self.ratioColumns
        var rows = ""
        for figure in Figure.allCases where figures.contains(where: { $0[figure] != nil }) {
            rows += "<tr><td>\(figure.rawValue)</td>"
            for each in figures { rows += "<td>\(each[figure].map { escaped(figure.unit.text($0)) } ?? "")</td>" }
            for column in columns { rows += "<td>\(column.ratios[figure].map { decimals($0, 3) } ?? "")</td>" }
            rows += "<td class=\"why\">\(escaped(figure.meaning))</td></tr>\n"
        }
        let names = self.targets.map(\.name) + columns.map(\.name)
        let head = names.map { "<th>\(escaped($0))</th>" }.joined()
        return "<div class=\"wide\"><table><tr><th></th>\(head)<th></th></tr>\n\(rows)</table></div>\n"
    }

    // MARK: Charts

    private var charts: String {
        let all = self.targets.map { target in target.rounds.map(\.intervals) }
        let first = self.targets.first?.rounds.first
        let isSilent = first?.intervals.allSatisfy { $0.deliveries == 0 } ?? true
        let isAboutOpens = isSilent && first?.intervals.contains { $0.opens > 0 } ?? false
        let isAboutChanges = isSilent && !isAboutOpens
        var charts: [Chart] = []
        let rate = isAboutOpens ? "Opens a second" : isAboutChanges ? "Changes a second" : "Deliveries a second"
        charts.append(
            Chart(title: rate, unit: .perSecond, all, names: self.names) { interval in
                let count = isAboutOpens ? interval.opens : isAboutChanges ? interval.changes : interval.deliveries
                return interval.length > 0 ? Double(count) / interval.length : nil
            })
        charts.append(
            Chart(title: "Latency over time, median", unit: .nanoseconds, all, names: self.names) {
                $0.pushP50 > 0 ? Double($0.pushP50) : nil
            })
        charts.append(
            Chart(title: "Latency over time, 99 %", unit: .nanoseconds, all, names: self.names) {
                $0.pushP99 > 0 ? Double($0.pushP99) : nil
            })
        charts.append(Chart(percentilesOf: self.targets))
        charts.append(
            Chart(title: "Resident memory of the server", unit: .bytes, all, names: self.names) {
                $0.residentBytes > 0 ? Double($0.residentBytes) : nil
            })
        charts.append(
            Chart(title: "Processor of the server", unit: .share, all, names: self.names) { $0.serverCPU })
        return "<div class=\"charts\">" + charts.compactMap(\.svg).joined() + "</div>\n"
    }

    private var names: [String] { self.targets.map(\.name) }
}

/// Lines over a common axis, one colour for each target; several rounds of a target are several lines.
struct Chart {
    private struct Line {
        var colour: Int
        var points: [(x: Double, y: Double)]
    }

    private var title: String
    private var unit: Figure.Unit
    private var names: [String]
    private var lines: [Line] = []
    private var xLabels: [(x: Double, text: String)] = []
    private var isLogarithmic = false

    init(
        title: String, unit: Figure.Unit, _ targets: [[[Recorder.Interval]]], names: [String],
        _ value: (Recorder.Interval) -> Double?
    ) {
        (self.title, self.unit, self.names) = (title, unit, names)
        for (colour, rounds) in targets.enumerated() {
            for intervals in rounds {
                // The rest of a second at the end says nothing about a second.
                let whole = intervals.count > 1 ? intervals.filter { $0.length > 0.5 } : intervals
                self.lines.append(
                    Line(colour: colour, points: whole.compactMap { each in value(each).map { (each.end, $0) } }))
            }
        }
        let end = self.lines.flatMap(\.points).map(\.x).max() ?? 0
        self.xLabels = Self.ticks(0, end).map { ($0, "\(decimals($0, $0 == $0.rounded() ? 0 : 1)) s") }
    }

    /// Percentiles on the axis of HdrHistogram: each nine as wide as the one before.
    init(percentilesOf targets: [BenchReport.Target]) {
        (self.title, self.unit, self.names) = ("Latency by percentile", .nanoseconds, targets.map(\.name))
        func place(_ quantile: Double) -> Double { quantile >= 1 ? 5 : min(5, -Self.log10(1 - quantile)) }
        for (colour, target) in targets.enumerated() {
            for round in target.rounds {
                let points = round.percentiles.filter { $0.nanoseconds > 0 }
                    .map { (x: place($0.quantile), y: Double($0.nanoseconds)) }
                self.lines.append(Line(colour: colour, points: points))
            }
        }
        self.isLogarithmic = true
        self.xLabels = [(0.0, "0"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %"), (5.0, "max")]
    }

    /// Nil where there is nothing to draw.
    var svg: String? {
        let points = self.lines.flatMap(\.points)
        guard let top = points.map(\.y).max(), top > 0 else { return nil }
        let (width, height, left, right, above, below) = (560.0, 230.0, 74.0, 14.0, 10.0, 26.0)
        let xEnd = max(self.xLabels.last?.x ?? 1, points.map(\.x).max() ?? 1, 1e-9)
        let low = self.isLogarithmic ? max(1, points.map(\.y).min() ?? 1) : 0
        let yTicks = self.isLogarithmic ? Self.decades(low, top) : Self.ticks(0, top)
        // A linear axis goes on to the next round number, so that no line runs along its edge or over it.
        let step = yTicks.count > 1 ? yTicks[1] - yTicks[0] : top
        let yEnd = self.isLogarithmic ? max(top, yTicks.last ?? top) : (top / step).rounded(.up) * step
        let ruled = self.isLogarithmic ? yTicks : yTicks + (yEnd > (yTicks.last ?? 0) * 1.001 ? [yEnd] : [])
        let yStart = self.isLogarithmic ? min(low, yTicks.first ?? low) : 0
        func x(_ value: Double) -> Double { left + (width - left - right) * value / xEnd }
        func y(_ value: Double) -> Double {
            let share =
                self.isLogarithmic
                ? (Self.log10(value) - Self.log10(yStart)) / max(1e-9, Self.log10(yEnd) - Self.log10(yStart))
                : value / yEnd
            return height - below - (height - above - below) * share
        }
        var drawing = ""
        for tick in ruled {
            drawing +=
                "<line class=\"grid\" x1=\"\(at(left))\" x2=\"\(at(width - right))\" y1=\"\(at(y(tick)))\" "
                + "y2=\"\(at(y(tick)))\"/><text x=\"\(at(left - 8))\" y=\"\(at(y(tick) + 4))\" text-anchor=\"end\">"
                + "\(tick == 0 ? "0" : escaped(self.unit.text(tick)))</text>"
        }
        for label in self.xLabels {
            drawing +=
                "<text x=\"\(at(x(label.x)))\" y=\"\(at(height - 6))\" text-anchor=\"middle\">"
                + "\(escaped(label.text))</text>"
        }
        // The last target is drawn first, so that what is measured lies on top.
        for line in self.lines.reversed() where !line.points.isEmpty {
            if line.points.count == 1 {
                drawing +=
                    "<circle class=\"d\(line.colour % 3)\" r=\"3\" cx=\"\(at(x(line.points[0].x)))\" "
                    + "cy=\"\(at(y(line.points[0].y)))\"/>"
                continue
            }
            let path = line.points.enumerated().map { "\($0 == 0 ? "M" : "L")\(at(x($1.x))) \(at(y($1.y)))" }
            drawing += "<path class=\"l\(line.colour % 3)\(line.colour > 0 ? " thin" : "")\" d=\"\(path.joined())\"/>"
        }
        let keys = self.names.enumerated().map { "<i class=\"k\($0 % 3)\"></i>\(escaped($1))" }.joined()
        return "<div class=\"chart\"><h2>\(escaped(self.title))</h2><div class=\"key\">\(keys)</div>"
            + "<svg viewBox=\"0 0 \(at(width)) \(at(height))\" role=\"img\" aria-label=\"\(escaped(self.title))\">"
            + "\(drawing)</svg></div>\n"
    }

    /// At most six round numbers from 0 on.
    static func ticks(_ start: Double, _ end: Double) -> [Double] {
        guard end > start, end.isFinite else { return [start] }
        var step = 1.0
        while (end - start) / step > 5 { step *= 10 }
        while (end - start) / step < 0.5 { step /= 10 }
        for divisor in [10.0, 5, 2] where (end - start) / (step / divisor) <= 5 {
            step /= divisor
            break
        }
        return (0...Int(((end - start) / step).rounded(.down))).map { start + Double($0) * step }
    }

    private static func decades(_ low: Double, _ high: Double) -> [Double] {
        var tick = 1.0
        while tick * 10 <= low { tick *= 10 }
        var result = [tick]
        while tick < high, result.count < 14 {
            tick *= 10
            result.append(tick)
        }
        return result
    }

    /// To some digits, which is what a chart needs: by halving, for there is no mathematics library here.
    static func log10(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        // ln(m) by its series in (m-1)/(m+1), which converges fast for a significand between 1 and 2.
        let ratio = (value.significand - 1) / (value.significand + 1)
        var (term, sum, power) = (ratio, 0.0, 1.0)
        while power < 30 {
            sum += term / power
            term *= ratio * ratio
            power += 2
        }
        return (Double(value.exponent) * 0.693_147_180_559_945 + 2 * sum) / 2.302_585_092_994_046
    }
}

/// A coordinate.
private func at(_ value: Double) -> String { decimals(value, 1) }

/// A text of somebody's, as it may stand in HTML.
func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default: result.unicodeScalars.append(character)
        }
    }
    return result
}
