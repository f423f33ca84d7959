import PerchBase
import PerchModel
import Testing

@Suite struct `changing plan` {
    @Test(
        arguments: [
            ("silver", "gold", .now), ("bronze", "gold", .now), ("bronze", "silver.yearly", .now),
            ("silver", "silver.twin", .now), ("silver", "silver.yearly", .atRenewal),
            ("silver.yearly", "silver", .atRenewal), ("silver", "bronze", .atRenewal),
            ("gold", "silver.yearly", .atRenewal),
            ("silver", "silver", .none),
        ] as [(String, String, PlanChange)])
    func `takes effect now to a higher level or to an equal plan, else at the renewal`(
        _ held: String, _ target: String, _ change: PlanChange
    ) throws {
        var account = TestAccount()
        try account.buy(held)
        let product = try #require(account.catalogue.product(target))
        #expect(planChange(from: try account.line(), to: product, catalogue: account.catalogue) == change)
    }

    @Test(arguments: ["gold", "silver.twin"])
    func `now leaves the old transaction behind and begins a period of the same line`(_ target: String) throws {
        var account = TestAccount(at: at("2026-01-31"))
        let old = try account.buy("silver").transaction
        try account.setAutoRenew(false)
        account.advance(to: at("2026-02-10"))
        let outcome = try account.buy(target)
        #expect(!outcome.wasHeld)
        #expect(outcome.transaction.originalID == old.id)
        #expect(outcome.transaction.originalPurchaseDate == old.purchaseDate)
        #expect(outcome.transaction.reason == .purchase)
        #expect(outcome.transaction.purchaseDate == account.now)
        #expect(outcome.transaction.expirationDate == at("2026-03-10"))
        let left = try #require(account.rows.first { $0.id == old.id })
        #expect(left.isUpgraded)
        #expect(left.revocation == nil)
        #expect(left.expirationDate == old.expirationDate)
        #expect(account.entitlement("silver") == nil)
        #expect(account.entitlement(target) == outcome.transaction)
        #expect(account.statuses().statuses.count == 1)
        let info = try account.renewalInfo()
        #expect(info.autoRenewPreference == target)
        #expect(info.willAutoRenew, "changing plan switches renewal on")
        #expect(info.recentSubscriptionStartDate == old.purchaseDate)
    }

    @Test(arguments: ["bronze", "silver.yearly"])
    func `at the renewal keeps what is held until then`(_ target: String) throws {
        var account = TestAccount(at: at("2026-01-31"))
        let held = try account.buy("silver").transaction
        let outcome = try account.buy(target)
        #expect(outcome.wasHeld)
        #expect(outcome.transaction == held)
        #expect(account.entitlement("silver") == held)
        #expect(account.entitlement(target) == nil)
        #expect(try account.renewalInfo().autoRenewPreference == target)
        #expect(try account.renewalInfo().currentProductID == "silver")
        #expect(try account.renewalInfo().renewalPrice == account.catalogue.product(target)?.price)

        try account.advanceToBoundary()
        let next = try account.line().latest
        #expect(next.productID == target)
        #expect(next.reason == .renewal)
        #expect(next.originalID == held.id)
        #expect(next.purchaseDate == held.expirationDate)
        #expect(next.price == account.catalogue.product(target)?.price)
        #expect(next.expirationDate == (target == "bronze" ? at("2026-03-31") : at("2027-02-28")))
        #expect(account.entitlement("silver") == nil)
        #expect(account.entitlement(target) == next)
        #expect(account.rows.allSatisfy { !$0.isUpgraded })
    }

    @Test func `asked for twice changes nothing the second time`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("bronze")
        #expect(try account.buy("bronze").facts.isEmpty)
    }

    @Test func `is taken back by buying what is held`() throws {
        var account = TestAccount()
        let held = try account.buy("silver").transaction
        let before = account.statuses()
        try account.buy("bronze")
        let outcome = try account.buy("silver")
        #expect(outcome.wasHeld)
        #expect(outcome.transaction == held)
        #expect(account.statuses() == before)
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "silver")
    }

    @Test func `to a lower level switches renewal on`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.setAutoRenew(false)
        try account.buy("bronze")
        #expect(try account.renewalInfo().willAutoRenew)
        #expect(try account.renewalInfo().autoRenewPreference == "bronze")
    }

    @Test func `that is pending is forgotten when renewal is switched off`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("bronze")
        try account.setAutoRenew(false)
        #expect(try account.renewalInfo().autoRenewPreference == nil)
        try account.setAutoRenew(true)
        #expect(try account.renewalInfo().autoRenewPreference == "silver")
    }

    @Test func `that is pending gives way to an upgrade`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("bronze")
        try account.buy("gold")
        #expect(try account.renewalInfo().autoRenewPreference == "gold")
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "gold")
    }

    @Test func `upwards in grace ends the retry`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        account.advance(days: 32)
        #expect(account.state() == .inGracePeriod)
        try account.buy("gold")
        #expect(account.state() == .subscribed)
        #expect(try account.renewalInfo().expirationReason == nil)
        #expect(account.rows.first?.isUpgraded == true)
    }

    @Test(arguments: [true, false])
    func `upwards after the period is a new purchase of the same line`(_ inRetry: Bool) throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: inRetry))
        let first = try account.buy("silver").transaction
        if !inRetry { try account.setAutoRenew(false) }
        account.advance(days: 40)
        #expect(account.state() == (inRetry ? .inBillingRetryPeriod : .expired))
        let transaction = try account.buy("gold").transaction
        #expect(transaction.originalID == first.id)
        #expect(account.rows.first?.isUpgraded == false)
        #expect(account.state() == .subscribed)
    }

    @Test func `goes by the level that a product had when it was bought, where it is no longer sold`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.catalogue = Shop.catalogue(without: ["silver"])
        #expect(try account.buy("bronze").wasHeld)
        #expect(try account.buy("silver.twin").wasHeld, "whether it is as long is not known")
        #expect(try !account.buy("gold").wasHeld)
        #expect(try account.line().latest.productID == "gold")
    }

    @Test func `waits for the renewal where the level of what is held was never known`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.catalogue = Shop.catalogue(without: ["silver"])
        account.record.lines[0].level = 0
        #expect(try account.buy("gold").wasHeld)
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "gold")
    }
}
