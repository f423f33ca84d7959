public import PerchBase

/// How long a period lasts in a test app: the values of `SKTestSession.TimeRate`.
public struct TimeRate: Hashable, Sendable, CustomStringConvertible {
    /// The number that Xcode writes to a `.storekit` file.
    public let rawValue: Int32

    /// Periods last as long as on the calendar.
    public static let realTime = TimeRate(known: 0)

    private init(known: Int32) {
        self.rawValue = known
    }

    /// Nil for numbers that no version of Xcode has used.
    public init?(rawValue: Int32) {
        guard Self.table.contains(where: { $0.raw == rawValue }) else { return nil }
        self.rawValue = rawValue
    }

    /// By the name in Xcode and `perch store clock`.
    public init?(named name: some StringProtocol) {
        guard let entry = Self.table.first(where: { $0.name == name }) else { return nil }
        self.rawValue = entry.raw
    }

    /// Every rate of Xcode.
    public static var all: [TimeRate] { Self.table.map { TimeRate(known: $0.raw) } }

    /// Name in Xcode and in `perch store clock`.
    public var name: String { self.entry.name }
    /// Name in Xcode and in `perch store clock`.
    public var description: String { self.name }

    /// How a rate changes the length of periods.
    private enum Rule {
        case real
        /// Milliseconds for a week and for a month; a year is twelve months.
        case scaled(week: Int64, month: Int64)
        /// Every period lasts this number of milliseconds.
        case fixed(Int64)
        /// A day lasts this number of milliseconds.
        case compressed(day: Int64)
    }

    private static let minute: Int64 = 60_000
    private static let table: [(raw: Int32, name: String, rule: Rule)] = [
        (0, "realTime", .real),
        (1, "oneHourIsOneDay", .compressed(day: 60 * Self.minute)),
        (2, "thirtyMinutesIsOneDay", .compressed(day: 30 * Self.minute)),
        (3, "fiveMinutesIsOneDay", .compressed(day: 5 * Self.minute)),
        (4, "oneMinuteIsOneDay", .compressed(day: Self.minute)),
        (5, "thirtySecondsIsOneDay", .compressed(day: 30_000)),
        (6, "oneSecondIsOneDay", .compressed(day: 1_000)),
        (10, "monthlyRenewalEveryHour", .scaled(week: 15 * Self.minute, month: 60 * Self.minute)),
        (11, "monthlyRenewalEveryThirtyMinutes", .scaled(week: 10 * Self.minute, month: 30 * Self.minute)),
        (12, "monthlyRenewalEveryFifteenMinutes", .scaled(week: 5 * Self.minute, month: 15 * Self.minute)),
        (13, "monthlyRenewalEveryFiveMinutes", .scaled(week: 3 * Self.minute, month: 5 * Self.minute)),
        (15, "monthlyRenewalEveryThirtySeconds", .scaled(week: 10_000, month: 30_000)),
        (1000, "oneRenewalEveryFifteenMinutes", .fixed(15 * Self.minute)),
        (1001, "oneRenewalEveryFiveMinutes", .fixed(5 * Self.minute)),
        (1002, "oneRenewalEveryMinute", .fixed(Self.minute)),
        (1003, "oneRenewalEveryThirtySeconds", .fixed(30_000)),
        (1004, "oneRenewalEveryTenSeconds", .fixed(10_000)),
        (1005, "oneRenewalEveryTwoSeconds", .fixed(2_000)),
    ]

    private var entry: (raw: Int32, name: String, rule: Rule) {
        Self.table.first { $0.raw == self.rawValue } ?? Self.table[0]
    }

    /// The end of a period that begins at `start`.
    public func end(of period: Period, from start: Instant, anchorDay: Int64) -> Instant {
        switch self.entry.rule {
        case .real:
            return period.calendarEnd(from: start, anchorDay: anchorDay)
        case .scaled(let week, let month):
            switch period.unit {
            case .year: return start.advanced(byMilliseconds: Int64(period.value) * 12 * month)
            case .month: return start.advanced(byMilliseconds: Int64(period.value) * month)
            case .week: return start.advanced(byMilliseconds: Int64(period.value) * week)
            default: return start.advanced(byMilliseconds: Int64(period.value) * week / 7)
            }
        case .fixed(let length):
            return start.advanced(byMilliseconds: length)
        case .compressed(let day):
            let length = period.calendarEnd(from: start, anchorDay: anchorDay).milliseconds(since: start)
            return start.advanced(byMilliseconds: length / 86_400_000 * day)
        }
    }

    /// The end of a number of months from `start`. If every period has the same length, so does a month.
    func end(ofMonths count: Int32, from start: Instant) -> Instant {
        if case .fixed(let length) = self.entry.rule { return start.advanced(byMilliseconds: Int64(count) * length) }
        return self.end(of: Period(count, .month), from: start, anchorDay: CivilTime(start).day)
    }

    /// The minimum paid time of a customer who paid for `count` months.
    ///
    /// Calendar months differ: any `count` consecutive months are at most three days shorter than `count` average ones,
    /// and one month fewer is always shorter than that.
    func paidMilliseconds(ofMonths count: Int32) -> Int64 {
        let count = Int64(min(count, 12_000))
        func months(day: Int64) -> Int64 { max(count * (day * 30_437 / 1_000) - 3 * day, 0) }
        switch self.entry.rule {
        case .real: return months(day: 86_400_000)
        case .scaled(_, let month): return count * month
        case .fixed(let length): return count * length
        case .compressed(let day): return months(day: day)
        }
    }

    /// How long the store tries to charge again after a failure.
    public var retryMilliseconds: Int64 {
        switch self.entry.rule {
        case .real: 60 * 86_400_000
        case .scaled(_, let month): 2 * month
        case .fixed(let length): 2 * length
        case .compressed(let day): 60 * day
        }
    }

    /// How long a customer stays entitled after a failed charge; `days` is the app's setting of 3, 16 or 28.
    public func graceMilliseconds(for period: Period, days: Int64) -> Int64 {
        let isWeekly = period.unit == .week || period.unit == .day
        switch self.entry.rule {
        case .real: return (isWeekly ? (days <= 3 ? 3 : 6) : days) * 86_400_000
        // The table holds the values for the default of 16 days (6 for weekly periods), to the nearest second.
        case .scaled(let week, let month):
            return isWeekly ? (week * 6 / 7 + 500) / 1_000 * 1_000 : month / 2
        case .fixed(let length): return length
        case .compressed(let day): return (isWeekly ? (days <= 3 ? 3 : 6) : days) * day
        }
    }
}
