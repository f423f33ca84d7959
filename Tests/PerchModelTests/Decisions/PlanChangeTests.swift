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
