import PerchBase
import PerchModel
import Testing

/// A row of the table of time rates, in seconds.
struct RateRow: Sendable, CustomTestStringConvertible {
    let rate: TimeRate
    let name: String
    /// A week, then 1, 2, 3, 6 and 12 months.
    let periods: [Int64]
    let graceWeekly: Int64
    let grace: Int64
    let retry: Int64

    init(_ raw: Int32, _ name: String, _ periods: [Int64], grace: (weekly: Int64, others: Int64), retry: Int64) {
        guard let rate = TimeRate(rawValue: raw) else { preconditionFailure("time rate \(raw) is not known") }
        self.rate = rate
        self.name = name
        self.periods = periods
        self.graceWeekly = grace.weekly
        self.grace = grace.others
        self.retry = retry
    }

    var testDescription: String { self.name }
}

@Suite struct `time rates` {
    static let lengths = [
        Period(1, .week), Period(1, .month), Period(2, .month), Period(3, .month), Period(6, .month), Period(1, .year),
    ]
    private static let min: Int64 = 60
    private static let h: Int64 = 3_600

    @Test(arguments: [
        RateRow(
            10, "monthlyRenewalEveryHour", [15 * Self.min, Self.h, 2 * Self.h, 3 * Self.h, 6 * Self.h, 12 * Self.h],
            grace: (12 * Self.min + 51, 30 * Self.min), retry: 2 * Self.h),
        RateRow(
            11, "monthlyRenewalEveryThirtyMinutes",
            [10 * Self.min, 30 * Self.min, Self.h, 90 * Self.min, 3 * Self.h, 6 * Self.h],
            grace: (8 * Self.min + 34, 15 * Self.min), retry: Self.h),
        RateRow(
            12, "monthlyRenewalEveryFifteenMinutes",
            [5 * Self.min, 15 * Self.min, 30 * Self.min, 45 * Self.min, 90 * Self.min, 3 * Self.h],
            grace: (4 * Self.min + 17, 7 * Self.min + 30), retry: 30 * Self.min),
        RateRow(
            13, "monthlyRenewalEveryFiveMinutes",
            [3 * Self.min, 5 * Self.min, 10 * Self.min, 15 * Self.min, 30 * Self.min, Self.h],
            grace: (2 * Self.min + 34, 2 * Self.min + 30), retry: 10 * Self.min),
        RateRow(
            15, "monthlyRenewalEveryThirtySeconds", [10, 30, 60, 90, 180, 360], grace: (9, 15), retry: 60),
        RateRow(
            1000, "oneRenewalEveryFifteenMinutes", [Int64](repeating: 900, count: 6), grace: (900, 900), retry: 1_800),
        RateRow(
            1001, "oneRenewalEveryFiveMinutes", [Int64](repeating: 300, count: 6), grace: (300, 300), retry: 600),
        RateRow(1002, "oneRenewalEveryMinute", [Int64](repeating: 60, count: 6), grace: (60, 60), retry: 120),
        RateRow(1003, "oneRenewalEveryThirtySeconds", [Int64](repeating: 30, count: 6), grace: (30, 30), retry: 60),
        RateRow(1004, "oneRenewalEveryTenSeconds", [Int64](repeating: 10, count: 6), grace: (10, 10), retry: 20),
        RateRow(1005, "oneRenewalEveryTwoSeconds", [Int64](repeating: 2, count: 6), grace: (2, 2), retry: 4),
    ])
    func `a rate has the lengths of the document's table`(_ row: RateRow) {
        let start = at("2026-01-31T10:00:00Z")
        for (period, seconds) in zip(Self.lengths, row.periods) {
            let end = row.rate.end(of: period, from: start, anchorDay: 31)
            #expect(end.milliseconds(since: start) == seconds * 1_000, "\(period)")
        }
        #expect(row.rate.graceMilliseconds(for: Period(1, .week), days: 16) == row.graceWeekly * 1_000)
        for period in Self.lengths.dropFirst() {
            #expect(row.rate.graceMilliseconds(for: period, days: 16) == row.grace * 1_000, "\(period)")
        }
        #expect(row.rate.retryMilliseconds == row.retry * 1_000)
        #expect(row.rate.name == row.name)
        #expect(TimeRate(named: row.name) == row.rate)
    }

    @Test(
        arguments: [
            (1, "oneHourIsOneDay", 3_600), (2, "thirtyMinutesIsOneDay", 1_800), (3, "fiveMinutesIsOneDay", 300),
            (4, "oneMinuteIsOneDay", 60), (5, "thirtySecondsIsOneDay", 30), (6, "oneSecondIsOneDay", 1),
        ] as [(Int32, String, Int64)])
    func `a deprecated rate compresses each day of the calendar alike`(_ raw: Int32, _ name: String, _ seconds: Int64)
        throws
    {
        let rate = try #require(TimeRate(rawValue: raw))
        let start = at("2026-01-10")
        for (period, days) in zip(Self.lengths, [7, 31, 59, 90, 181, 365] as [Int64]) {
            let end = rate.end(of: period, from: start, anchorDay: 10)
            #expect(end.milliseconds(since: start) == days * seconds * 1_000, "\(period)")
        }
        #expect(rate.retryMilliseconds == 60 * seconds * 1_000)
        #expect(rate.graceMilliseconds(for: Period(1, .month), days: 16) == 16 * seconds * 1_000)
        #expect(rate.graceMilliseconds(for: Period(1, .week), days: 16) == 6 * seconds * 1_000)
        #expect(rate.name == name)
    }

    @Test(arguments: [(3, 3, 3), (16, 6, 16), (28, 6, 28)] as [(Int64, Int64, Int64)])
    func `in real time the grace period is the app's setting, and 3 or 6 days for weekly subscriptions`(
        _ setting: Int64, _ weekly: Int64, _ others: Int64
    ) {
        let rate = TimeRate.realTime
        #expect(rate.graceMilliseconds(for: Period(1, .week), days: setting) == weekly * day)
        #expect(rate.graceMilliseconds(for: Period(1, .month), days: setting) == others * day)
        #expect(rate.graceMilliseconds(for: Period(1, .year), days: setting) == others * day)
        #expect(rate.retryMilliseconds == 60 * day)
    }

    @Test func `an offer's period is scaled by the same rate`() throws {
        let rate = try #require(TimeRate(rawValue: 15))
        let start = at("2026-01-10")
        func seconds(_ period: Period) -> Int64 {
            rate.end(of: period, from: start, anchorDay: 10).milliseconds(since: start)
        }
        #expect(seconds(Period(1, .week)) == 10_000)
        #expect(seconds(Period(2, .week)) == 20_000)
        #expect(seconds(Period(7, .day)) == 10_000)
        #expect(seconds(Period(3, .day)) == 4_285)
    }

    @Test(arguments: [-1, 7, 9, 14, 16, 999, 1006, .max, .min] as [Int32])
    func `a number that no version of Xcode used is no rate`(_ raw: Int32) {
        #expect(TimeRate(rawValue: raw) == nil)
    }

    @Test func `each rate is known by its number and by its name, once`() {
        #expect(TimeRate.all.count == 18)
        #expect(Set(TimeRate.all.map(\.rawValue)).count == 18)
        for rate in TimeRate.all {
            #expect(TimeRate(rawValue: rate.rawValue) == rate)
            #expect(TimeRate(named: rate.name) == rate)
        }
        #expect(TimeRate(named: "realtime") == nil)
    }

    @Test func `a rate applies from the next period, and dates that are written stay`() throws {
        var account = TestAccount(settings: Shop.settings(try #require(TimeRate(rawValue: 1002))))
        try account.buy("silver")
        let end = try account.line().boundary
        account.settings = Shop.settings(try #require(TimeRate(rawValue: 1005)))
        #expect(try account.line().boundary == end)
        account.advance(to: end)
        #expect(try account.line().boundary == end.advanced(byMilliseconds: 2_000))
    }
}
