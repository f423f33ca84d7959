/// A line chart with one colour for each target, and a line for each of its rounds.
///
/// It is drawn at the width of a phone, so that its labels are readable there; wider screens show several in a row.
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
                // The last interval may be too short to be significant.
                let whole = intervals.count > 1 ? intervals.filter { $0.length > 0.5 } : intervals
                self.lines.append(
                    Line(colour: colour, points: whole.compactMap { each in value(each).map { (each.end, $0) } }))
            }
        }
        let end = self.lines.flatMap(\.points).map(\.x).max() ?? 0
        self.xLabels = Self.ticks(0, end).map { ($0, "\(decimals($0, $0 == $0.rounded() ? 0 : 1)) s") }
    }

    /// Percentiles on the axis of HdrHistogram: each further nine has the same width.
    init(percentilesOf targets: [BenchReport.Target]) {
        (self.title, self.unit, self.names) = (
            "Latency by percentile", .nanoseconds, targets.map { BenchReport.title(of: $0.name) }
        )
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

    /// The width of a letter of a label, rounded up.
    private static let letterWidth = 7.0

    /// Nil without data.
    var svg: String? {
        let points = self.lines.flatMap(\.points)
        guard let top = points.map(\.y).max(), top > 0 else { return nil }
        let xEnd = max(self.xLabels.last?.x ?? 1, points.map(\.x).max() ?? 1, 1e-9)
        let low = self.isLogarithmic ? max(1, points.map(\.y).min() ?? 1) : 0
        let yTicks = self.isLogarithmic ? Self.decades(low, top) : Self.ticks(0, top)
        // A linear axis ends at the next round number, so that no line touches its edge.
        let step = yTicks.count > 1 ? yTicks[1] - yTicks[0] : top
        let yEnd = self.isLogarithmic ? max(top, yTicks.last ?? top) : (top / step).rounded(.up) * step
        let ruled = self.isLogarithmic ? yTicks : yTicks + (yEnd > (yTicks.last ?? 0) * 1.001 ? [yEnd] : [])
        let yStart = self.isLogarithmic ? min(low, yTicks.first ?? low) : 0
        let labels = ruled.map { $0 == 0 ? "0" : self.unit.text($0) }
        let (width, height, right, above, below) = (360.0, 220.0, 16.0, 10.0, 26.0)
        let left = 12 + Self.letterWidth * Double(labels.map(\.count).max() ?? 0)
        func x(_ value: Double) -> Double { left + (width - left - right) * value / xEnd }
        func y(_ value: Double) -> Double {
            let share =
                self.isLogarithmic
                ? (Self.log10(value) - Self.log10(yStart)) / max(1e-9, Self.log10(yEnd) - Self.log10(yStart))
                : value / yEnd
            return height - below - (height - above - below) * share
        }
        var drawing = ""
        for (tick, label) in zip(ruled, labels) {
            drawing +=
                "<line class=\"grid\" x1=\"\(at(left))\" x2=\"\(at(width - right))\" y1=\"\(at(y(tick)))\" "
                + "y2=\"\(at(y(tick)))\"/><text x=\"\(at(left - 8))\" y=\"\(at(y(tick) + 4))\" text-anchor=\"end\">"
                + "\(escaped(label))</text>"
        }
        for label in self.xLabels {
            // A label that would be clipped ends at the edge instead.
            let isCut = x(label.x) + Self.letterWidth / 2 * Double(label.text.count) > width
            drawing +=
                "<text x=\"\(at(isCut ? width : x(label.x)))\" y=\"\(at(height - 6))\" "
                + "text-anchor=\"\(isCut ? "end" : "middle")\">"
                + "\(escaped(label.text))</text>"
        }
        // The measured target is drawn last, so that it is on top.
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

    /// At most six round numbers, starting at `start`.
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

    /// A logarithm of a few correct digits, because no mathematics library is linked.
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

/// Formats a coordinate.
private func at(_ value: Double) -> String { decimals(value, 1) }
