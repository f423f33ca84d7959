import PerchBase
import PerchModel
import Testing

/// The expected end of a calendar period that begins at `start`.
struct CalendarCase: Sendable, CustomTestStringConvertible {
    let period: Period
    let start: String
    let anchorDay: Int64
    let end: String

    init(_ period: Period, _ start: String, anchor: Int64, _ end: String) {
        self.period = period
        self.start = start
        self.anchorDay = anchor
        self.end = end
    }

    var testDescription: String { "\(self.period) from \(self.start) ends \(self.end)" }
}

@Suite struct `periods by the calendar` {
    @Test(arguments: [
        CalendarCase(Period(1, .month), "2026-01-31", anchor: 31, "2026-02-28"),
        CalendarCase(Period(1, .month), "2026-02-28", anchor: 31, "2026-03-31"),
        CalendarCase(Period(1, .month), "2026-02-28", anchor: 28, "2026-03-28"),
        CalendarCase(Period(1, .month), "2024-01-31", anchor: 31, "2024-02-29"),
        CalendarCase(Period(1, .month), "2024-02-29", anchor: 31, "2024-03-31"),
        CalendarCase(Period(1, .month), "2026-01-30", anchor: 30, "2026-02-28"),
        CalendarCase(Period(1, .month), "2026-04-30", anchor: 31, "2026-05-31"),
        CalendarCase(Period(1, .month), "2026-12-15", anchor: 15, "2027-01-15"),
        CalendarCase(Period(2, .month), "2026-12-31", anchor: 31, "2027-02-28"),
        CalendarCase(Period(3, .month), "2026-11-30", anchor: 30, "2027-02-28"),
        CalendarCase(Period(6, .month), "2026-08-31", anchor: 31, "2027-02-28"),
        CalendarCase(Period(1, .year), "2024-02-29", anchor: 29, "2025-02-28"),
        CalendarCase(Period(1, .year), "2027-02-28", anchor: 29, "2028-02-29"),
        CalendarCase(Period(1, .year), "1900-02-28", anchor: 28, "1901-02-28"),
        CalendarCase(Period(1, .week), "2026-02-25", anchor: 25, "2026-03-04"),
        CalendarCase(Period(3, .day), "2024-02-27", anchor: 27, "2024-03-01"),
        CalendarCase(Period(1, .month), "2023-10-19T14:07:33.250Z", anchor: 19, "2023-11-19T14:07:33.250Z"),
    ])
    func `a month keeps its day and its time of day, and is clamped where the month is short`(_ row: CalendarCase) {
        #expect(
            TimeRate.realTime.end(of: row.period, from: at(row.start), anchorDay: row.anchorDay) == at(row.end))
    }

    @Test func `a line that began on the 31st is billed on the last day of short months and on the 31st of long ones`()
        throws
    {
        var account = TestAccount(at: at("2026-01-31"))
        try account.buy("silver")
        account.advance(to: at("2026-06-01"))
        #expect(
            account.rows.map(\.expirationDate)
                == ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30"].map(at))
    }

    @Test func `the day of the month is that of the first month, not that of the trial before it`() throws {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(at: at("2026-01-24"), catalogue: Shop.catalogue(introductory: trial))
        try account.buy("silver")
        account.advance(to: at("2026-04-01"))
        #expect(
            account.rows.map(\.expirationDate)
                == ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"].map(at))
    }

    @Test func `a yearly line of a leap day comes back to the leap day`() throws {
        var account = TestAccount(at: at("2024-02-29"))
        try account.buy("silver.yearly")
        account.advance(to: at("2028-03-01"))
        #expect(
            account.rows.map(\.expirationDate)
                == ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29", "2029-02-28"].map(at))
    }

    @Test func `a month begun on another day than the anchor's begins its own count`() throws {
        // The store ran a month in thirty seconds, so that the line's boundary wandered off its first day.
        var account = TestAccount(
            at: at("2026-01-31T23:59:50Z"), settings: Shop.settings(try #require(TimeRate(rawValue: 15))))
        try account.buy("silver")
        account.settings = Shop.settings()
        account.advance(to: at("2026-02-01T00:00:20Z"))
        #expect(try account.line().boundary == at("2026-03-01T00:00:20Z"))
    }

    @Test func `a period at the end of time ends there`() {
        for unit in [Period.Unit.day, .week, .month, .year] {
            let start = Instant.distantFuture.advanced(byMilliseconds: -1)
            #expect(TimeRate.realTime.end(of: Period(1, unit), from: start, anchorDay: 1) == .distantFuture)
        }
    }

    @Test(arguments: [
        ("P3D", Period(3, .day)), ("P1W", Period(1, .week)), ("P2W", Period(2, .week)), ("P1M", Period(1, .month)),
        ("P6M", Period(6, .month)), ("P1Y", Period(1, .year)),
    ])
    func `a period in text is read and written alike`(_ text: String, _ period: Period) {
        #expect(Period(iso8601: text) == period)
        #expect(period.description == text)
    }

    @Test(arguments: [
        "", "P", "PW", "P1", "1W", "P0W", "P-1W", "P+1W", "P1.5M", "P1H", "PT1H", "P1M2W", "p1w", "P1w", " P1W",
        "P1W ", "P 1W", "P99999M", "P99999999999M", "P１W", "P1Wé",
    ])
    func `a text that is no whole period of days, weeks, months or years is refused`(_ text: String) {
        #expect(Period(iso8601: text) == nil)
    }
}
