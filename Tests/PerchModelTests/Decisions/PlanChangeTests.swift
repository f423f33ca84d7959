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
    func `an upgrade or an equal plan takes effect now, every other change at the renewal`(
        _ held: String, _ target: String, _ change: PlanChange
    ) throws {
        var account = TestAccount()
        try account.buy(held)
        let product = try #require(account.catalogue.product(target))
        #expect(HeldPlan(try account.line(), account.catalogue).change(to: product) == change)
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
    func `a change at the renewal keeps the held plan until then`(_ target: String) throws {
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

    @Test func `buying the held product cancels a change of plan`() throws {
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

    @Test func `a downgrade switches renewal on`() throws {
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

    @Test func `an upgrade in grace ends the retry`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        account.advance(days: 32)
        #expect(account.state() == .inGracePeriod)
        try account.operate(.setCharges(fail: false))
        try account.buy("gold")
        #expect(account.state() == .subscribed)
        #expect(try account.renewalInfo().expirationReason == nil)
        #expect(account.rows.first?.isUpgraded == true)
    }

    @Test(arguments: [true, false])
    func `an upgrade after the period is a new purchase of the same line`(_ inRetry: Bool) throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: inRetry))
        let first = try account.buy("silver").transaction
        if !inRetry { try account.setAutoRenew(false) }
        account.advance(days: 40)
        #expect(account.state() == (inRetry ? .inBillingRetryPeriod : .expired))
        try account.operate(.setCharges(fail: false))
        let transaction = try account.buy("gold").transaction
        #expect(transaction.originalID == first.id)
        #expect(account.rows.first?.isUpgraded == false)
        #expect(account.state() == .subscribed)
    }

    @Test func `a change from an unsold product uses its level at the purchase`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.catalogue = Shop.catalogue(without: ["silver"])
        #expect(try account.buy("bronze").wasHeld)
        #expect(try account.buy("silver.twin").wasHeld, "whether it is as long is not known")
        #expect(try !account.buy("gold").wasHeld)
        #expect(try account.line().latest.productID == "gold")
    }

    @Test func `a change from a plan of unknown level waits for the renewal`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.catalogue = Shop.catalogue(without: ["silver"])
        account.record.lines[0].level = 0
        #expect(try account.buy("gold").wasHeld)
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "gold")
    }
}

@Suite struct `changing to a plan that is billed monthly` {
    /// Silver, and from its renewal on a year of it, paid by the month.
    private func waiting(catalogue: Catalogue = OfferShop.catalogue()) throws -> TestAccount {
        var account = TestAccount(catalogue: catalogue)
        try account.order("silver") { $0.introductoryEligibility = .denied }
        let outcome = try account.order("silver.yearly") { $0.billingPlan = .monthly }
        #expect(outcome.wasHeld)
        return account
    }

    private static var withoutPlans: Catalogue {
        OfferShop.changed(OfferShop.catalogue()) { $0.subscription?.billingPlans = [] }
    }

    @Test func `at the renewal is charged by the month, as it was ordered`() throws {
        var account = try self.waiting()
        let info = try account.renewalInfo()
        #expect(info.autoRenewPreference == "silver.yearly")
        #expect(info.renewalBillingPlan == .monthly)
        #expect(info.renewalPrice == usd(9_000))
        #expect(info.commitment == nil, "what is held has none")
        try account.advanceToBoundary()
        let first = try account.line().latest
        #expect(first.billingPlan == .monthly)
        #expect(first.price == usd(9_000))
        #expect(first.expirationDate == at("2026-03-10"))
        #expect(
            first.commitment
                == Commitment(
                    billingPeriodNumber: 1, totalBillingPeriods: 12, expirationDate: at("2027-02-10"),
                    price: usd(108_000), willRenew: true))
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
        try account.advanceToBoundary()
        #expect(try account.line().latest.commitment?.billingPeriodNumber == 2)
        #expect(try account.line().latest.price == usd(9_000))
    }

    @Test func `cancelling the order cancels its billing plan`() throws {
        for takeBack in [
            { account in _ = try account.order("silver") },
            { account in
                try account.setAutoRenew(false)
                try account.setAutoRenew(true)
            },
        ] as [(inout TestAccount) throws -> Void] {
            var account = try self.waiting()
            try takeBack(&account)
            #expect(try account.renewalInfo().autoRenewPreference == "silver")
            #expect(try account.renewalInfo().renewalBillingPlan == .unspecified)
            try account.order("silver.yearly")
            #expect(try account.renewalInfo().renewalBillingPlan == .upFront, "nothing is left of the first order")
        }
    }

    @Test func `the last order counts, and twice the same changes nothing`() throws {
        var account = try self.waiting()
        #expect(try account.order("silver.yearly") { $0.billingPlan = .monthly }.facts.isEmpty)
        try account.order("silver.yearly") { $0.billingPlan = .upFront }
        #expect(try account.renewalInfo().renewalBillingPlan == .upFront)
        #expect(try account.renewalInfo().renewalPrice == usd(99_000))
        try account.advanceToBoundary()
        #expect(try account.line().latest.billingPlan == .upFront)
        #expect(try account.line().latest.commitment == nil)
        #expect(try account.line().latest.price == usd(99_000))
    }

    @Test func `an order has the offers of its plan, and cancelling it drops them`() throws {
        var account = TestAccount(
            catalogue: OfferShop.changed(OfferShop.catalogue()) { product in
                guard product.id == "silver.yearly" else { return }
                var offer = OfferShop.offer(.promotional, "months", .payAsYouGo, price: 4_990, count: 2)
                offer.billingPlan = .monthly
                product.subscription?.promotionalOffers = [offer]
            })
        try account.order("silver") { $0.introductoryEligibility = .denied }
        let monthly = { (order: inout PurchaseOrder) in
            order.billingPlan = .monthly
            order.offer = OrderedOffer(type: .promotional, id: "months")
        }
        try account.order("silver.yearly", monthly)
        #expect(try account.renewalInfo().offer?.id == "months")
        try account.order("silver.yearly")
        #expect(try account.renewalInfo().offer == nil)
        try account.order("silver.yearly", monthly)
        try account.advanceToBoundary()
        #expect(try account.line().latest.price == usd(4_990))
        #expect(try account.line().latest.commitment?.expirationDate == at("2027-02-10"))
        account.advance(to: at("2026-04-10"))
        #expect(try account.line().latest.price == usd(9_000))
    }

    @Test func `a change that waits for approval keeps its order`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver") { $0.introductoryEligibility = .denied }
        let number = try account.order("silver.yearly") {
            $0.billingPlan = .monthly
            $0.simulatesAskToBuy = true
        }.number
        try account.ask(.decidePurchase(id: try #require(number), approves: true))
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
    }

    @Test func `a change of plan waits for the end of a commitment as ordered`() throws {
        let catalogue = OfferShop.changed(OfferShop.catalogue()) { product in
            guard product.id == "bronze" else { return }
            product.subscription?.period = Period(1, .year)
            product.subscription?.billingPlans = [
                BillingPlan(type: .upFront, price: usd(49_000), commitmentPrice: usd(49_000), chargeCount: 1),
                BillingPlan(type: .monthly, price: usd(5_000), commitmentPrice: usd(60_000), chargeCount: 12),
            ]
        }
        var account = TestAccount(catalogue: catalogue)
        try account.order("silver.yearly") {
            $0.billingPlan = .monthly
            $0.introductoryEligibility = .denied
        }
        try account.order("bronze") { $0.billingPlan = .monthly }
        account.advance(to: at("2026-12-20"))
        #expect(try account.line().latest.commitment?.billingPeriodNumber == 12)
        #expect(try account.renewalInfo().autoRenewPreference == "bronze")
        #expect(try account.renewalInfo().renewalPrice == usd(5_000))
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "bronze")
        #expect(try account.line().latest.billingPlan == .monthly)
        #expect(try account.line().latest.commitment?.billingPeriodNumber == 1)
    }

    @Test func `an offer that was redeemed for what comes behind a commitment waits for that`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver.yearly") {
            $0.billingPlan = .monthly
            $0.introductoryEligibility = .denied
        }
        try account.order("silver", .promotional, "half")
        #expect(try account.renewalInfo().offer == nil)
        #expect(try account.renewalInfo().renewalPrice == usd(9_000))
        try account.advanceToBoundary()
        #expect(try account.line().latest.price == usd(9_000))
        account.advance(to: at("2026-12-20"))
        #expect(account.rows.count == 12 && account.rows.allSatisfy { $0.price == usd(9_000) })
        #expect(try account.renewalInfo().offer?.id == "half")
        try account.advanceToBoundary()
        #expect(try account.line().latest.productID == "silver")
        #expect(try account.line().latest.price == usd(4_990))
    }

    @Test func `a recovered charge pays for the ordered plan`() throws {
        var account = try self.waiting()
        try account.operate(.setCharges(fail: true))
        account.advance(to: at("2026-02-20"))
        #expect(account.state() == .inBillingRetryPeriod)
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
        #expect(try account.renewalInfo().renewalPrice == usd(9_000))
        try account.operate(.resolveBilling(.product("silver")))
        #expect(try account.line().latest.productID == "silver.yearly")
        #expect(try account.line().latest.price == usd(9_000))
        #expect(try account.line().latest.commitment?.expirationDate == at("2027-02-20"))
    }

    @Test func `a plan that left the catalogue ends the subscription`() throws {
        var account = try self.waiting()
        account.catalogue = Self.withoutPlans
        let viewed = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now)
        #expect(viewed.forecast?.kind == .expiry)
        #expect(try account.renewalInfo().renewalPrice == nil, "nothing has a price that is not sold")
        #expect(refusal { try account.operate(.renew(.product("silver"))) } == .productUnknown)
        try account.advanceToBoundary()
        #expect(account.state() == .expired)
        #expect(try account.renewalInfo().expirationReason == .productUnavailable)
        #expect(account.rows.count == 1)
    }

    @Test func `within a commitment ends it where the catalogue has the plan no longer`() throws {
        var account = try self.waiting()
        account.advance(to: at("2026-03-20"))
        account.catalogue = Self.withoutPlans
        try account.advanceToBoundary()
        #expect(account.state() == .expired)
        #expect(try account.renewalInfo().expirationReason == .productUnavailable)
    }

    @Test func `an old fact without a plan means up front`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver") { $0.introductoryEligibility = .denied }
        let original = try account.line().originalID
        account.commit([
            Fact(.autoRenewSet(original: original, isOn: true, preference: "silver.yearly"), effective: account.now)
        ])
        #expect(try account.renewalInfo().renewalBillingPlan == .upFront)
        #expect(try account.order("silver.yearly") { $0.billingPlan = .upFront }.facts.isEmpty)
        try account.advanceToBoundary()
        #expect(try account.line().latest.price == usd(99_000))
    }
}
