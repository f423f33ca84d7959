/// A UTC date and time of the proleptic Gregorian calendar: calendar arithmetic without Foundation.
package struct CivilTime: Hashable, Sendable, CustomStringConvertible {
    package var year: Int64
    /// 1 to 12.
    package var month: Int64
    /// 1 to 31.
    package var day: Int64
    /// Milliseconds since midnight.
    package var milliseconds: Int64

    package init(_ instant: Instant) {
        let (days, rest) = Self.divide(instant.milliseconds, by: 86_400_000)
        self.milliseconds = rest
        // Converts days to a civil date by eras of 400 years (146,097 days). A year of this computation starts in
        // March.
        let shifted = days + 719_468
        let (era, dayOfEra) = Self.divide(shifted, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        self.month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        self.year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
    }

    package init(year: Int64, month: Int64, day: Int64, milliseconds: Int64 = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.milliseconds = milliseconds
    }

    package var instant: Instant {
        let year = self.month <= 2 ? self.year - 1 : self.year
        let (era, yearOfEra) = Self.divide(year, by: 400)
        let monthFromMarch = self.month > 2 ? self.month - 3 : self.month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + self.day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return Instant(milliseconds: days * 86_400_000 + self.milliseconds)
    }

    /// The same time of day `count` months later, on `anchorDay`. A month that is too short clamps it to its last day.
    /// An `anchorDay` of 0 means this time's own day.
    package func adding(months count: Int64, anchorDay: Int64) -> CivilTime {
        let (years, month) = Self.divide(self.month - 1 + count, by: 12)
        let year = self.year + years
        let day = min(anchorDay < 1 ? self.day : anchorDay, Self.days(inMonth: month + 1, of: year))
        return CivilTime(year: year, month: month + 1, day: day, milliseconds: self.milliseconds)
    }

    package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2:
            let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
            return leap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }

    /// RFC 3339, with milliseconds unless they are 0: `2026-11-21T09:30:00Z`.
    package var description: String {
        func pad(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let seconds = self.milliseconds / 1_000
        let fraction = self.milliseconds % 1_000
        let time = "\(pad(seconds / 3_600, 2)):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2))"
        let tail = fraction == 0 ? "Z" : ".\(pad(fraction, 3))Z"
        return "\(pad(self.year, 4))-\(pad(self.month, 2))-\(pad(self.day, 2))T\(time)\(tail)"
    }

    /// Parses the format of `description`: a date, or a date and a time in UTC.
    package init?(parsing text: some StringProtocol) {
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3, date[0].count == 4, date[1].count == 2, date[2].count == 2,
            let year = Int64(date[0]), let month = Int64(date[1]), let day = Int64(date[2]),
            (1...12).contains(month), day >= 1, day <= Self.days(inMonth: month, of: year)
        else { return nil }
        var milliseconds: Int64 = 0
        if parts.count == 2 {
            guard parts[1].last == "Z" else { return nil }
            let time = parts[1].dropLast().split(separator: ":", omittingEmptySubsequences: false)
            guard time.count == 3, time[0].count == 2, time[1].count == 2,
                let hour = Int64(time[0]), let minute = Int64(time[1]), (0..<24).contains(hour),
                (0..<60).contains(minute)
            else { return nil }
            let seconds = time[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard seconds[0].count == 2, let second = Int64(seconds[0]), (0..<60).contains(second) else { return nil }
            var fraction: Int64 = 0
            if seconds.count == 2 {
                guard (1...3).contains(seconds[1].count), let digits = Int64(seconds[1]), digits >= 0 else {
                    return nil
                }
                fraction = digits * [100, 10, 1][seconds[1].count - 1]
            }
            milliseconds = ((hour * 60 + minute) * 60 + second) * 1_000 + fraction
        }
        self.init(year: year, month: month, day: day, milliseconds: milliseconds)
    }

    /// Division that rounds down, with a remainder that is never negative.
    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
