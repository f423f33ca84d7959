import PerchBase
import PerchModel
import Testing

@Suite struct `ordering` {
    @Test func `a token is a UUID, and is kept in lower case`() throws {
        var account = TestAccount()
        let bought = try account.order("coins") { $0.appAccountToken = "7E3FB204-2DB1-4BBB-9A33-BF4C3B1B6B0D" }
        #expect(bought.transaction?.appAccountToken == "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d")
        for token in ["anna", "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0", "7e3fb2042db14bbb9a33bf4c3b1b6b0d", "-----"] {
            #expect(refusal { try account.order("coins") { $0.appAccountToken = token } } == .fieldInvalid, "\(token)")
        }
    }

    @Test func `the account's storefront decides currency and storefront, at renewals too`() throws {
        var account = TestAccount()
        try account.ask(.setStorefront("DEU"))
        let bought = try #require(try account.order("silver").transaction)
        #expect(bought.storefront.countryCode == "DEU")
        #expect(bought.price == Money(milliunits: 9_990, currency: "EUR"))
        #expect(try account.order("coins").transaction?.price?.currency == "EUR")
        try account.ask(.setStorefront(""))
        #expect(try account.order("coins").transaction?.price?.currency == "USD")
        #expect(refusal { try account.ask(.setStorefront("de")) } == .fieldInvalid)
        #expect(try account.ask(.setStorefront("")).facts.isEmpty)
    }

    @Test func `a purchase is called off where the storefront is not the one that was seen`() throws {
        var account = TestAccount()
        let called = try account.order("coins") { $0.seenStorefront = "FRA" }
        #expect(called.isCancelled)
        #expect(called.facts.isEmpty)
        #expect(called.transaction == nil)
        let bought = try account.order("coins") {
            $0.seenStorefront = "FRA"
            $0.continuesInNewStorefront = true
        }
        #expect(bought.transaction?.storefront.countryCode == "USA")
        #expect(try !account.order("coins") { $0.seenStorefront = "USA" }.isCancelled)
    }

    @Test func `a purchase in the past is followed by every renewal until now, in one change`() throws {
        var account = TestAccount(at: at("2026-06-15"))
        let outcome = try account.order("silver") {
            $0.date = at("2026-01-31")
            $0.renewalBehaviour = .renewUntilNow
        }
        #expect(outcome.transaction?.purchaseDate == at("2026-01-31"))
        #expect(
            account.rows.map { $0.purchaseDate } == [
                at("2026-01-31"), at("2026-02-28"), at("2026-03-31"), at("2026-04-30"), at("2026-05-31"),
            ])
        #expect(account.rows.dropFirst().allSatisfy { $0.reason == .renewal })
        #expect(account.record.attemptDue == at("2026-06-30"))
        #expect(account.state() == .subscribed)
    }

    @Test func `a purchase in the past can be one that does not renew`() throws {
        var account = TestAccount(at: at("2026-06-15"))
        try account.order("silver") {
            $0.date = at("2026-01-31")
            $0.renewalBehaviour = .cancelImmediately
        }
        #expect(account.rows.count == 1)
        #expect(account.state() == .expired)
        #expect(try account.renewalInfo().expirationReason == .autoRenewDisabled)
        try account.order("silver") { $0.renewalBehaviour = .cancelImmediately }
        #expect(account.state() == .subscribed)
        #expect(try !account.renewalInfo().willAutoRenew)
    }

    @Test func `a date is neither in the future, nor before what the group holds, nor endlessly far`() throws {
        var account = TestAccount(at: at("2026-06-15"))
        #expect(refusal { try account.order("coins") { $0.date = at("2026-06-16") } } == .fieldInvalid)
        try account.order("silver")
        #expect(refusal { try account.order("gold") { $0.date = at("2026-06-01") } } == .purchaseNotAllowed)
        let far = refusal {
            try account.order("weekly") {
                $0.date = at("1976-01-01")
                $0.renewalBehaviour = .renewUntilNow
            }
        }
        #expect(far == .advanceLimit)
    }

    @Test(arguments: [(0, true), (1, false)])
    func `a purchase in the past is by default followed by its renewals, up to a limit`(
        _ over: Int64, _ isAllowed: Bool
    ) throws {
        var account = TestAccount(at: at("2026-06-15"))
        account.settings.timeRate = try #require(TimeRate(named: "oneRenewalEveryTwoSeconds"))
        let first = account.now.advanced(byMilliseconds: -2_000 * (Int64(Limits.renewalsPerPurchaseMax) + over))
        let refused = refusal { try account.order("weekly") { $0.date = first } }
        #expect(refused == (isAllowed ? nil : .advanceLimit))
        #expect(account.rows.count == (isAllowed ? 1 + Limits.renewalsPerPurchaseMax : 0))
        let isAhead = account.record.attemptDue.map { $0 > account.now }
        #expect(isAhead == (isAllowed ? true : nil), "none is left to be made")
    }

    @Test func `an order that would begin at a past boundary is refused, and a held product is returned`()
        throws
    {
        var account = TestAccount(at: at("2026-01-15"))
        let held = try account.order("gold").transaction
        try account.setAutoRenew(false)
        account.advance(to: at("2026-03-01"))
        let change = refusal {
            try account.order("bronze") {
                $0.date = at("2026-01-20")
                $0.renewalBehaviour = .renewUntilNow
            }
        }
        #expect(change == .purchaseNotAllowed)
        #expect(account.rows.count == 1 && account.record.attemptDue == nil)
        #expect(try account.order("gold") { $0.date = at("2026-01-20") }.transaction == held)
        #expect(account.state() == .expired)
    }

    @Test func `a plan that waits for the renewal does not come where it is cancelled immediately`() throws {
        var account = TestAccount(at: at("2026-01-15"))
        try account.order("gold")
        account.advance(to: at("2026-01-20"))
        let held = try account.order("bronze") {
            $0.date = at("2026-01-18")
            $0.renewalBehaviour = .cancelImmediately
        }
        #expect(held.wasHeld)
        #expect(try !account.renewalInfo().willAutoRenew)
        account.advance(to: at("2026-03-01"))
        #expect(account.rows.count == 1 && account.state() == .expired)
    }

    @Test func `a non-renewing purchase in the past does not take the place of a later one`() throws {
        var account = TestAccount(at: at("2026-06-15"))
        let latest = try account.order("season").transaction
        try account.order("season") { $0.date = at("2026-01-01") }
        #expect(account.entitlement("season") == latest)
    }

    @Test func `a withdrawn product is not sold, and a subscription to it lapses`() throws {
        var account = TestAccount()
        try account.order("silver")
        account.catalogue = OfferShop.changed(account.catalogue) { if $0.id == "silver" { $0.isWithdrawn = true } }
        #expect(products(["silver"], locale: "", storefront: "", app: account.app).unavailableIDs == ["silver"])
        #expect(refusal { try account.order("silver") } == .purchaseProductUnavailable)
        #expect(account.entitlement("silver") != nil)
        #expect(try account.order("gold").facts.count == 2, "its level is still known: this is an upgrade, now")
        var other = TestAccount()
        try other.order("silver")
        other.catalogue = account.catalogue
        try other.advanceToBoundary()
        #expect(other.state() == .expired)
        #expect(try other.renewalInfo().expirationReason == .productUnavailable)
    }
}

@Suite struct `purchases that wait` {
    private static let waits: [(PendingReason, @Sendable (inout AppSettings, inout PurchaseOrder) -> Void)] = [
        (.askToBuy, { settings, _ in settings.isAskToBuyEnabled = true }),
        (.askToBuy, { _, order in order.simulatesAskToBuy = true }),
        (.interrupted, { settings, _ in settings.areBillingIssuesEnabled = true }),
        (.dialog, { settings, order in (settings.asksBeforePurchases, order.isByApp) = (true, true) }),
    ]

    @Test func `a purchase that a tester makes has no dialog`() throws {
        var account = TestAccount()
        account.settings.asksBeforePurchases = true
        #expect(try account.ask(.buy(PurchaseOrder(productID: "lifetime"))).transaction != nil)
    }

    @Test(arguments: Self.waits.indices)
    func `a purchase waits, and its transaction is there once it is approved`(_ index: Int) throws {
        let (reason, change) = Self.waits[index]
        var account = TestAccount()
        var order = PurchaseOrder(productID: "lifetime")
        change(&account.settings, &order)
        let held = try account.ask(.buy(order))
        #expect(held.transaction == nil)
        #expect(!held.isCancelled)
        let number = try #require(held.number)
        #expect(account.record.pendingPurchases.map(\.reason) == [reason])
        #expect(account.record.pendingPurchases.map(\.id) == [number])
        #expect(account.entitlement("lifetime") == nil)
        #expect(account.rows.isEmpty)

        account.advance(days: 1)
        let approved = try account.ask(.decidePurchase(id: number, approves: true))
        #expect(approved.transaction?.purchaseDate == account.now)
        #expect(approved.transaction == account.entitlement("lifetime"))
        #expect(account.record.pendingPurchases.isEmpty)
        #expect(refusal { try account.ask(.decidePurchase(id: number, approves: true)) } == .pendingUnknown)
    }

    @Test func `a declined purchase makes no transaction`() throws {
        var account = TestAccount()
        let number = try #require(try account.order("silver") { $0.simulatesAskToBuy = true }.number)
        let declined = try account.ask(.decidePurchase(id: number, approves: false))
        #expect(declined.transaction == nil)
        #expect(account.rows.isEmpty)
        #expect(account.record.pendingPurchases.isEmpty)
        #expect(account.facts.compactMap(\.event).isEmpty)
    }

    @Test func `an approved purchase has the price and the eligibility of its approval`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        let number = try #require(try account.order("silver") { $0.simulatesAskToBuy = true }.number)
        // Meanwhile the trial is used up elsewhere, and the price goes up.
        try account.order("silver.twin")
        try account.advanceToBoundary()
        try account.expire()
        account.catalogue = try edited(account.catalogue, by: priceEdit("silver", 12_990), locale: "en_US")
        let approved = try account.ask(.decidePurchase(id: number, approves: true))
        #expect(approved.transaction?.offer == nil)
        #expect(approved.transaction?.price == usd(12_990))
    }

    @Test func `refusals and held products are answered at once, without waiting`() throws {
        var account = TestAccount()
        let held = try #require(try account.order("lifetime").transaction)
        account.settings.isAskToBuyEnabled = true
        #expect(try account.order("lifetime").transaction == held)
        #expect(refusal { try account.order("silver", .promotional, "nobody's") } == .purchaseInvalidOffer)
        #expect(account.record.pendingPurchases.isEmpty)
    }

    @Test func `a refused approval leaves the purchase waiting`() throws {
        var account = TestAccount()
        let number = try #require(try account.order("silver") { $0.simulatesAskToBuy = true }.number)
        account.catalogue = OfferShop.changed(account.catalogue) { if $0.id == "silver" { $0.isWithdrawn = true } }
        let refused = refusal { try account.ask(.decidePurchase(id: number, approves: true)) }
        #expect(refused == .purchaseProductUnavailable)
        #expect(account.record.pendingPurchases.count == 1)
        try account.ask(.decidePurchase(id: number, approves: false))
        #expect(account.record.pendingPurchases.isEmpty)
    }

    @Test func `the limit of pending purchases is exact`() throws {
        var account = TestAccount()
        account.settings.isAskToBuyEnabled = true
        for _ in 0..<Limits.pendingPurchasesMax { try account.order("coins") }
        #expect(refusal { try account.order("coins") } == .pendingLimit)
    }
}

@Suite struct `purchase intents` {
    @Test func `intents stay in order until the product is bought or they are ended`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        let offer = OrderedOffer(type: .winBack, id: "return")
        let first = try #require(try account.ask(.createIntent(productID: "silver", offer: offer)).number)
        let second = try #require(try account.ask(.createIntent(productID: "coins", offer: nil)).number)
        let third = try #require(try account.ask(.createIntent(productID: "coins", offer: nil)).number)
        #expect(purchaseIntents(of: account.record).value.map(\.id) == [first, second, third])
        #expect(purchaseIntents(of: account.record).value.first?.offer == offer)
        #expect(account.rows.isEmpty)
        try account.ask(.endIntent(id: first))
        try account.order("coins")
        #expect(purchaseIntents(of: account.record).value.isEmpty)
        #expect(refusal { try account.ask(.endIntent(id: second)) } == .intentUnknown)
        #expect(purchaseIntents(of: nil).value.isEmpty)
    }

    @Test func `intents end when a pending purchase is approved, not before`() throws {
        var account = TestAccount()
        try account.ask(.createIntent(productID: "coins", offer: nil))
        let number = try #require(try account.order("coins") { $0.simulatesAskToBuy = true }.number)
        #expect(account.record.intents.count == 1)
        try account.ask(.decidePurchase(id: number, approves: true))
        #expect(account.record.intents.isEmpty)
    }

    @Test func `an intent for an unsold product or a missing offer is refused`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        #expect(refusal { try account.ask(.createIntent(productID: "x", offer: nil)) } == .purchaseProductUnavailable)
        let offer = OrderedOffer(type: .winBack, id: "x")
        #expect(refusal { try account.ask(.createIntent(productID: "silver", offer: offer)) } == .purchaseInvalidOffer)
        for _ in 0..<Limits.purchaseIntentsMax { try account.ask(.createIntent(productID: "coins", offer: nil)) }
        #expect(refusal { try account.ask(.createIntent(productID: "coins", offer: nil)) } == .intentLimit)
    }
}

func priceEdit(_ productID: String, _ milliunits: Int64) -> ProductEdit {
    var edit = ProductEdit(productID: productID)
    edit.priceMilliunits = milliunits
    return edit
}
