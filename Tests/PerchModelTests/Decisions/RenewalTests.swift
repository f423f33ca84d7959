import PerchBase
import PerchModel
import Testing

@Suite struct `renewing` {
    @Test func `a renewal begins the next period at the boundary, in the same line`() throws {
        var account = TestAccount(at: at("2026-01-10T08:30:00Z"))
        let first = try account.buy("silver", token: "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d").transaction
        account.advance(to: at("2026-02-15"))
        let next = try account.line().latest
        #expect(next.id != first.id)
        #expect(next.originalID == first.id)
        #expect(next.originalPurchaseDate == first.purchaseDate)
        #expect(next.reason == .renewal)
        #expect(next.purchaseDate == first.expirationDate)
        #expect(next.expirationDate == at("2026-03-10T08:30:00Z"))
        #expect(next.webOrderLineItemID != first.webOrderLineItemID)
        #expect(next.appAccountToken == first.appAccountToken)
        #expect(next.price == usd(9_990))
        #expect(account.facts.last?.effective == first.expirationDate)
        #expect(try account.renewalInfo().recentSubscriptionStartDate == first.purchaseDate)
        #expect(try account.renewalInfo().renewalDate == next.expirationDate)
    }

    @Test func `a renewing line is never shown expired, before or after the attempt`() throws {
        var account = TestAccount()
        try account.buy("silver")
        let before = account.statuses()
        account.now = try account.line().boundary
        #expect(account.statuses() == before)
        #expect(account.entitlement("silver") != nil)
        account.advance(to: account.now)
        #expect(account.state() == .subscribed)
        #expect(account.entitlement("silver")?.reason == .renewal)
    }

    @Test func `after downtime settles each boundary at its own instant, oldest first`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        try account.buy("weekly")
        account.advance(to: at("2026-06-01"))
        let renewals = account.facts.filter { if case .renewed = $0.body { true } else { false } }
        #expect(renewals.map(\.effective) == renewals.map(\.effective).sorted())
        #expect(renewals.count == 4 + 20)
        #expect(account.rows.map(\.id) == Array(1...TransactionID(account.rows.count)))
        for group in ["G", "H"] {
            let periods = account.rows.filter { $0.subscriptionGroupID == group }
            #expect(zip(periods, periods.dropFirst()).allSatisfy { $0.expirationDate == $1.purchaseDate })
        }
    }

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

    @Test func `at the price in force at the boundary`() throws {
        var account = TestAccount()
        try account.buy("silver")
        var product = try #require(account.catalogue.product("silver"))
        product.price = usd(12_990)
        account.catalogue = Catalogue(
            products: [product], groups: account.catalogue.groups, schemaVersion: "4.0")
        #expect(try account.renewalInfo().renewalPrice == usd(12_990))
        try account.advanceToBoundary()
        #expect(try account.line().latest.price == usd(12_990))
    }

    @Test func `a line of a withdrawn product ends at the boundary`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.catalogue = Shop.catalogue(without: ["silver"])
        #expect(account.state() == .subscribed)
        #expect(account.entitlement("silver") != nil)
        try account.advanceToBoundary()
        #expect(account.state() == .expired)
        let info = try account.renewalInfo()
        #expect(info.expirationReason == .productUnavailable)
        #expect(!info.willAutoRenew)
        #expect(info.autoRenewPreference == nil)
        #expect(account.entitlement("silver") == nil)
        #expect(account.record.attemptDue == nil)
        #expect(account.rows.count == 1, "an expiry makes no transaction")
        #expect(account.facts.last?.cause == .expiry)
    }

    @Test func `a line whose next product was withdrawn ends at the boundary`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("bronze")
        account.catalogue = Shop.catalogue(without: ["bronze"])
        try account.advanceToBoundary()
        #expect(try account.renewalInfo().expirationReason == .productUnavailable)
    }

    @Test func `a line renews if the withdrawn product is not its next one`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("bronze")
        account.catalogue = Shop.catalogue(without: ["silver"])
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "bronze")
    }

    @Test func `a switched-off line runs to the end of its period`() throws {
        var account = TestAccount()
        let held = try account.buy("silver").transaction
        try account.setAutoRenew(false)
        #expect(account.state() == .subscribed)
        #expect(account.entitlement("silver") == held)
        var info = try account.renewalInfo()
        #expect(!info.willAutoRenew)
        #expect(info.autoRenewPreference == nil)
        #expect(info.renewalPrice == nil)
        #expect(info.expirationReason == nil)
        try account.advanceToBoundary()
        info = try account.renewalInfo()
        #expect(account.state() == .expired)
        #expect(info.expirationReason == .autoRenewDisabled)
        #expect(info.renewalDate == held.expirationDate)
        #expect(account.entitlement("silver") == nil)
        #expect(account.rows.count == 1)
    }

    @Test func `switched off and on again is as before`() throws {
        var account = TestAccount()
        try account.buy("silver")
        let before = account.statuses()
        try account.setAutoRenew(false)
        try account.setAutoRenew(true)
        #expect(account.statuses() == before)
        try account.advanceToBoundary()
        #expect(try account.line().latest.reason == .renewal)
    }
}

@Suite struct `a failed renewal` {
    @Test func `a failed renewal with grace entitles, then retries, then ends, with the same transaction`() throws {
        var account = TestAccount(
            at: at("2026-01-10"), settings: Shop.settings(billingIssues: true, grace: true))
        let held = try account.buy("silver").transaction
        account.advance(to: at("2026-02-10"))
        #expect(account.state() == .inGracePeriod)
        #expect(account.entitlement("silver") == held)
        var info = try account.renewalInfo()
        #expect(info.isInBillingRetry)
        #expect(info.expirationReason == .billingError)
        #expect(info.gracePeriodExpirationDate == at("2026-02-26"))
        #expect(info.willAutoRenew)
        #expect(info.renewalDate == at("2026-02-10"))

        account.advance(to: at("2026-02-26"))
        #expect(account.state() == .inBillingRetryPeriod)
        #expect(account.entitlement("silver") == nil)
        info = try account.renewalInfo()
        #expect(info.isInBillingRetry)
        #expect(info.gracePeriodExpirationDate == nil)

        account.advance(to: at("2026-04-11"))
        #expect(account.state() == .expired)
        info = try account.renewalInfo()
        #expect(!info.isInBillingRetry)
        #expect(!info.willAutoRenew)
        #expect(info.autoRenewPreference == nil)
        #expect(info.expirationReason == .billingError)
        #expect(account.rows.count == 1)
    }

    @Test func `a failed renewal without grace ends the entitlement at the boundary`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true))
        try account.buy("silver")
        try account.advanceToBoundary()
        #expect(account.state() == .inBillingRetryPeriod)
        #expect(account.entitlement("silver") == nil)
        #expect(try account.renewalInfo().gracePeriodExpirationDate == nil)
    }

    @Test(arguments: [(3, 3, 3), (16, 16, 6), (28, 28, 6)] as [(Int64, Int64, Int64)])
    func `a failed renewal is given the grace of the app's setting, as it was when the charge failed`(
        _ setting: Int64, _ monthly: Int64, _ weekly: Int64
    ) throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true, grace: true, graceDays: setting))
        try account.buy("silver")
        try account.buy("weekly")
        account.advance(days: 32)
        let lines = try [account.line("G"), account.line("H")]
        account.settings = Shop.settings(grace: true, graceDays: 3)
        #expect(lines.map { $0.retry?.graceUntil?.milliseconds(since: $0.boundary) } == [monthly * day, weekly * day])
        #expect(try [account.line("G"), account.line("H")] == lines)
    }

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

    @Test func `a failed renewal is attempted once: that the charge recovered later is news`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        account.advance(days: 40)
        #expect(account.record.attemptDue == nil)
    }

    @Test(arguments: [true, false])
    func `a failed renewal ends at once when the customer switches renewal off`(_ hasGrace: Bool) throws {
        var account = TestAccount(
            at: at("2026-01-10"), settings: Shop.settings(billingIssues: true, grace: hasGrace))
        let held = try account.buy("silver").transaction
        account.advance(to: at("2026-02-12"))
        try account.setAutoRenew(false)
        #expect(account.state() == .expired)
        #expect(account.entitlement("silver") == nil)
        let info = try account.renewalInfo()
        #expect(info.expirationReason == .autoRenewDisabled)
        #expect(!info.willAutoRenew)
        #expect(!info.isInBillingRetry)
        #expect(info.gracePeriodExpirationDate == nil)
        #expect(account.rows == [held], "the period had ended before, and its transaction stays as it was")
        #expect(account.facts.last?.event == nil, "nothing happened to a transaction")
        #expect(account.facts.last?.cause == .setting)
    }
}
