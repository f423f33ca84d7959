package import PerchBase

/// A length of time as people write it: calendar months apart from what has a fixed length. Either may be negative.
package struct ScenarioDuration: Hashable, Sendable, CustomStringConvertible {
    package var months: Int64
    package var milliseconds: Int64

    package init(months: Int64 = 0, milliseconds: Int64 = 0) {
        self.months = months
        self.milliseconds = milliseconds
    }

    /// Adds months first, keeping the day if the month has it; then units of fixed length.
    package func end(from start: Instant) -> Instant {
        let civil = CivilTime(start)
        let moved = self.months == 0 ? start : civil.adding(months: self.months, anchorDay: civil.day).instant
        return moved.advanced(byMilliseconds: self.milliseconds)
    }

    package var isZero: Bool { self.months == 0 && self.milliseconds == 0 }

    package var description: String {
        let sign = self.months < 0 || (self.months == 0 && self.milliseconds < 0) ? "-" : "+"
        var text = ""
        let months = self.months.magnitude
        if months >= 12 { text += "\(months / 12)y" }
        if months % 12 > 0 { text += "\(months % 12)mo" }
        if self.months != 0, self.milliseconds != 0 { text += self.milliseconds < 0 ? "-" : "+" }
        var rest = self.milliseconds.magnitude
        for (unit, length) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)]
            as [(String, UInt64)] where rest >= length
        {
            text += "\(rest / length)\(unit)"
            rest %= length
        }
        return sign + (text.isEmpty ? "0s" : text)
    }

    private static let units: [String: ScenarioDuration] = {
        var units: [String: ScenarioDuration] = [:]
        for (names, length) in [
            (["ms", "millisecond", "milliseconds"], ScenarioDuration(milliseconds: 1)),
            (["s", "sec", "secs", "second", "seconds"], ScenarioDuration(milliseconds: 1_000)),
            (["m", "min", "mins", "minute", "minutes"], ScenarioDuration(milliseconds: 60_000)),
            (["h", "hour", "hours"], ScenarioDuration(milliseconds: 3_600_000)),
            (["d", "day", "days"], ScenarioDuration(milliseconds: 86_400_000)),
            (["w", "week", "weeks"], ScenarioDuration(milliseconds: 7 * 86_400_000)),
            (["mo", "month", "months"], ScenarioDuration(months: 1)),
            (["y", "year", "years"], ScenarioDuration(months: 12)),
        ] { for name in names { units[name] = length } }
        return units
    }()

    static func unit(_ text: some StringProtocol) -> ScenarioDuration? { Self.units[text.lowercased()] }

    /// `1y2d`, `-1s`, `+1mo-1s`. Nil for anything else, for a number without a unit, and for what cannot be counted:
    /// ten thousand years.
    init?(parsing text: some StringProtocol) {
        self.init()
        var rest = text[...]
        guard !rest.isEmpty else { return nil }
        var sign: Int64 = 1
        while let first = rest.first {
            if first == "+" || first == "-" {
                sign = first == "+" ? 1 : -1
                rest = rest.dropFirst()
            }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            let letters = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest[letters.endIndex...]
            guard let count = LineCursor.number(digits), let unit = Self.unit(letters), self.add(count, unit, sign)
            else { return nil }
        }
    }

    mutating func add(_ count: Int64, _ unit: ScenarioDuration, _ sign: Int64 = 1) -> Bool {
        guard count <= 400_000_000_000_000 else { return false }
        let months = (sign * count).multipliedReportingOverflow(by: unit.months)
        let milliseconds = (sign * count).multipliedReportingOverflow(by: unit.milliseconds)
        guard !months.overflow, !milliseconds.overflow else { return false }
        let allMonths = self.months.addingReportingOverflow(months.partialValue)
        let all = self.milliseconds.addingReportingOverflow(milliseconds.partialValue)
        guard !allMonths.overflow, !all.overflow, allMonths.partialValue.magnitude <= 120_000,
            all.partialValue.magnitude <= 400_000_000_000_000
        else { return false }
        self.months = allMonths.partialValue
        self.milliseconds = all.partialValue
        return true
    }
}
