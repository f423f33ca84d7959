import PerchBase
import PerchModel
import Testing

@Suite struct `renewing` {
    @Test func `several lines due at one instant renew oldest first`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        try account.buy("weekly")
        let facts = settleRenewals(
            of: account.record, app: account.app, at: at("2026-03-01"), numbers: &account.numbers)
        #expect(facts.map(\.effective) == [at("2026-01-17"), at("2026-02-10")])
    }

    @Test func `a renewal is not attempted a millisecond before the boundary`() throws {
        var account = TestAccount()
        try account.buy("silver")
        let due = try #require(account.record.attemptDue)
        let early = due.advanced(byMilliseconds: -1)
        #expect(settleRenewals(of: account.record, app: account.app, at: early, numbers: &account.numbers).isEmpty)
        #expect(settleRenewals(of: account.record, app: account.app, at: due, numbers: &account.numbers).count == 1)
    }
}

@Suite struct `a failed renewal` {
    @Test func `a failed charge after a trial has the plan's grace, whatever the day`() throws {
        // The trial is counted in days, so its line has no day of the month to count from.
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(
            at: at("2026-08-17"), catalogue: Shop.catalogue(introductory: trial),
            settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        try account.advanceToBoundary()
        #expect(try account.line().retry?.graceUntil == at("2026-09-09"))
    }
}
