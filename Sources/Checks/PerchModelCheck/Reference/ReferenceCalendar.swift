import PerchBase
import PerchModel

/// Lengths of periods, for the reference only: section 16 of the model, and section 7 of the file's format.
///
/// It counts years and months one by one and shares no code with the model.
enum ReferenceCalendar {
    struct Date: Equatable {
        var year: Int64
        /// 1 to 12.
        var month: Int64
        var day: Int64
        /// Milliseconds since midnight.
        var rest: Int64
    }

    static let day: Int64 = 86_400_000

    static func date(of instant: Instant) -> Date {
        var rest = instant.milliseconds % self.day
        var days = instant.milliseconds / self.day
        if rest < 0 {
            rest += self.day
            days -= 1
        }
        var date = Date(year: 1970, month: 1, day: 1, rest: rest)
        while days < 0 {
            date.year -= 1
            days += self.days(inYear: date.year)
        }
        while days >= self.days(inYear: date.year) {
            days -= self.days(inYear: date.year)
            date.year += 1
        }
        while days >= self.days(inMonth: date.month, of: date.year) {
            days -= self.days(inMonth: date.month, of: date.year)
            date.month += 1
        }
        date.day = days + 1
        return date
    }

    static func instant(of date: Date) -> Instant {
        var days = date.day - 1
        for month in 1..<date.month { days += self.days(inMonth: month, of: date.year) }
        var year: Int64 = 1970
        while year < date.year {
            days += self.days(inYear: year)
            year += 1
        }
        while year > date.year {
            year -= 1
            days -= self.days(inYear: year)
        }
        return Instant(milliseconds: days * self.day + date.rest)
    }

    static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        if month == 2 { return self.days(inYear: year) - 337 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func days(inYear year: Int64) -> Int64 {
        let isLeap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
        return isLeap ? 366 : 365
    }

    /// This number of months later, on the day of counting, or on the last day of a shorter month.
    static func months(_ count: Int64, after start: Instant, countedFrom day: Int64) -> Instant {
        var date = self.date(of: start)
        for _ in 0..<count {
            date.month += 1
            if date.month == 13 { (date.year, date.month) = (date.year + 1, 1) }
        }
        date.day = min(day, self.days(inMonth: date.month, of: date.year))
        return self.instant(of: date)
    }

    /// Whether counting months from a day leads to this instant's day.
    static func leads(_ day: Int64, to instant: Instant) -> Bool {
        let date = self.date(of: instant)
        return date.day == min(day, self.days(inMonth: date.month, of: date.year))
    }
}

/// The effect of a time rate on periods: the table of section 7 of the format.
enum ReferenceRate {
    case real
    /// Milliseconds for a week and for a month.
    case scaled(week: Int64, month: Int64)
    /// All periods have this length.
    case fixed(Int64)
    /// Milliseconds of a day.
    case compressed(Int64)

    init(_ rate: TimeRate) {
        let second: Int64 = 1_000
        let minute = 60 * second
        switch rate.rawValue {
        case 1: self = .compressed(60 * minute)
        case 2: self = .compressed(30 * minute)
        case 3: self = .compressed(5 * minute)
        case 4: self = .compressed(minute)
        case 5: self = .compressed(30 * second)
        case 6: self = .compressed(second)
        case 10: self = .scaled(week: 15 * minute, month: 60 * minute)
        case 11: self = .scaled(week: 10 * minute, month: 30 * minute)
        case 12: self = .scaled(week: 5 * minute, month: 15 * minute)
        case 13: self = .scaled(week: 3 * minute, month: 5 * minute)
        case 15: self = .scaled(week: 10 * second, month: 30 * second)
        case 1000: self = .fixed(15 * minute)
        case 1001: self = .fixed(5 * minute)
        case 1002: self = .fixed(minute)
        case 1003: self = .fixed(30 * second)
        case 1004: self = .fixed(10 * second)
        case 1005: self = .fixed(2 * second)
        default: self = .real
        }
    }

    var isReal: Bool {
        if case .real = self { true } else { false }
    }

    /// The end of a period. `day` is the day of the month from which months are counted.
    func end(of period: Period, from start: Instant, countedFrom day: Int64) -> Instant {
        let count = Int64(period.value)
        switch self {
        case .real:
            switch period.unit {
            case .day: return start.advanced(byMilliseconds: count * ReferenceCalendar.day)
            case .week: return start.advanced(byMilliseconds: 7 * count * ReferenceCalendar.day)
            case .month: return ReferenceCalendar.months(count, after: start, countedFrom: day)
            default: return ReferenceCalendar.months(12 * count, after: start, countedFrom: day)
            }
        case .scaled(let week, let month):
            switch period.unit {
            case .day: return start.advanced(byMilliseconds: count * week / 7)
            case .week: return start.advanced(byMilliseconds: count * week)
            case .month: return start.advanced(byMilliseconds: count * month)
            default: return start.advanced(byMilliseconds: 12 * count * month)
            }
        case .fixed(let length):
            return start.advanced(byMilliseconds: length)
        case .compressed(let length):
            let real = ReferenceRate.real.end(of: period, from: start, countedFrom: day)
            return start.advanced(byMilliseconds: real.milliseconds(since: start) / ReferenceCalendar.day * length)
        }
    }

    /// This number of months after an instant, as offers count them. If all periods have one length, a month has it
    /// too.
    func months(_ count: Int32, after start: Instant) -> Instant {
        if case .fixed(let length) = self { return start.advanced(byMilliseconds: Int64(count) * length) }
        return self.end(
            of: Period(count, .month), from: start, countedFrom: ReferenceCalendar.date(of: start).day)
    }

    /// Months of a paid duration: average months, less three days for short ones.
    func paid(forMonths count: Int32) -> Int64 {
        let count = Int64(count)
        switch self {
        case .real: return max(0, count * (ReferenceCalendar.day * 30_437 / 1_000) - 3 * ReferenceCalendar.day)
        case .scaled(_, let month): return count * month
        case .fixed(let length): return count * length
        case .compressed(let length): return max(0, count * (length * 30_437 / 1_000) - 3 * length)
        }
    }

    /// Time for which a failed charge is retried.
    var retry: Int64 {
        switch self {
        case .real: 60 * ReferenceCalendar.day
        case .scaled(_, let month): 2 * month
        case .fixed(let length): 2 * length
        case .compressed(let length): 60 * length
        }
    }

    /// Length of a plan's grace period. `days` is the app's setting.
    func grace(isWeekly: Bool, days: Int64) -> Int64 {
        let days = !isWeekly ? days : days == 3 ? 3 : 6
        return switch self {
        case .real: days * ReferenceCalendar.day
        // Six sevenths of a week, to the nearest second.
        case .scaled(let week, let month): isWeekly ? (week * 6 / 7 + 500) / 1_000 * 1_000 : month / 2
        case .fixed(let length): length
        case .compressed(let length): days * length
        }
    }
}
