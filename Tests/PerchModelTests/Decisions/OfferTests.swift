import PerchBase
import PerchModel
import Testing

@Suite struct `offers` {
    /// A customer who paid for silver from January until the middle of April, and let it end then.
    private static func lapsed(_ catalogue: Catalogue = OfferShop.catalogue()) throws -> TestAccount {
        var account = TestAccount(catalogue: catalogue)
        try account.order("silver") { $0.introductoryEligibility = .denied }
        account.advance(to: at("2026-03-20"))
        try account.setAutoRenew(false)
        account.advance(to: at("2026-04-10"))
        return account
    }

    /// A customer who holds silver without an offer.
    private static func subscribed(_ product: String = "silver") throws -> TestAccount {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order(product) { $0.introductoryEligibility = .denied }
        account.advance(days: 3)
        return account
    }

    @Test func `a promotional offer is not for who never subscribed, and never becomes a full price`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        #expect(refusal { try account.order("silver", .promotional, "half") } == .purchaseIneligibleForOffer)
        #expect(account.rows.isEmpty)
    }

    @Test func `a code that would be a downgrade is refused`() throws {
        var account = try Self.subscribed()
        #expect(refusal { try account.order("bronze", .code, "STAY") } == .purchaseIneligibleForOffer)
        var gold = try Self.subscribed("bronze")
        #expect(try !gold.order("silver", .code, "STAY").wasHeld, "an upgrade is now")
    }

    @Test func `a stackable code comes after the introductory offer, any other takes its place`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        let stacked = try #require(try account.order("silver", .code, "STACK").transaction)
        #expect(stacked.offer?.type == .introductory)
        #expect(try account.renewalInfo().offer?.id == "STACK")
        try account.advanceToBoundary()
        #expect(account.rows.last?.offer?.id == "STACK")

        var other = TestAccount(catalogue: OfferShop.catalogue())
        #expect(try other.order("silver", .code, "WELCOME").transaction?.offer?.id == "WELCOME")
        #expect(try other.renewalInfo().offer == nil)
    }

    @Test func `introductory eligibility can be allowed and denied`() throws {
        var account = try Self.lapsed()
        #expect(try account.order("silver") { $0.introductoryEligibility = .denied }.transaction?.offer == nil)
        var allowed = TestAccount(catalogue: OfferShop.catalogue())
        try allowed.order("silver")
        try allowed.expire()
        let again = try allowed.order("silver") { $0.introductoryEligibility = .allowed }
        #expect(again.transaction?.offer?.type == .introductory)
    }

    @Test func `a signature that cannot be verified is never a purchase at the full price`() throws {
        var account = try Self.lapsed()
        let before = account.rows.count
        let signed = OrderedOffer(type: .promotional, id: "half", signature: "eyJh.eyJh.c2ln")
        #expect(refusal { try account.order("silver") { $0.offer = signed } } == .purchaseInvalidOfferSignature)
        let override = refusal {
            try account.order("silver") {
                $0.introductoryEligibility = .allowed
                $0.introductoryEligibilitySignature = "eyJh.eyJh.c2ln"
            }
        }
        #expect(override == .purchaseInvalidOfferSignature)
        #expect(account.rows.count == before)
    }

    @Test(arguments: [
        (OfferType.unspecified, "half", Refusal.Reason.purchaseMissingOfferParameters),
        (.promotional, "", .purchaseMissingOfferParameters),
        (.promotional, "nobody's", .purchaseInvalidOffer),
        (.introductory, "half", .purchaseInvalidOffer),
        (.code, "half", .purchaseInvalidOffer),
        (OfferType(rawValue: 99), "half", .purchaseInvalidOffer),
    ])
    func `an offer that is not there is refused`(_ type: OfferType, _ id: String, _ reason: Refusal.Reason) throws {
        var account = try Self.lapsed()
        #expect(refusal { try account.order("silver", type, id) } == reason)
        #expect(refusal { try account.order("coins", .promotional, "half") } == .purchaseInvalidOffer)
    }

    @Test func `a code can be redeemed without knowing its product`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        func redeem(_ code: String, _ product: String = "") throws -> OperationOutcome {
            try account.redeem(code, product)
        }
        #expect(refusal { _ = try redeem("NOBODY") } == .purchaseInvalidOffer)
        #expect(refusal { _ = try redeem("STAY") } == .purchaseMissingOfferParameters, "two products have it")
        let new = try redeem("WELCOME")
        #expect(new.transaction?.productID == "silver")
        #expect(!new.wasHeld)
        let kept = try redeem("STAY", "silver")
        #expect(kept.wasHeld)
        #expect(try account.renewalInfo().offer?.id == "STAY")
        account.settings.simulatedErrors[.offerCodeRedeem] = .networkError
        #expect(refusal { _ = try redeem("WELCOME") } == .storeKitNetworkError)
    }
}

@Suite struct `win-back offers` {
    @Test func `win-back offers are messages by rule within their months, and by the switch at once`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver") { $0.introductoryEligibility = .denied }
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs.isEmpty)
        #expect(refusal { try account.order("silver", .winBack, "again") } == .purchaseIneligibleForOffer)
        account.advance(to: at("2026-03-20"))
        try account.setAutoRenew(false)
        account.advance(to: at("2026-04-10"))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"])
        #expect(refusal { try account.order("silver", .winBack, "return") } == .purchaseIneligibleForOffer)

        let viewed = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now)
        #expect(viewed.nextCrossing == at("2026-05-10"))
        #expect(viewed.forecast?.kind == .offerWindow)
        account.advance(to: at("2026-05-10"))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again", "return"], "the larger discount first")
        #expect(
            subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now).nextCrossing
                == at("2026-10-10"))
        let bought = try #require(try account.order("silver", .winBack, "return").transaction)
        #expect(bought.offer?.type == .winBack)
        #expect(bought.price == usd(990))
        #expect(bought.originalID == account.rows[0].originalID)
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs.isEmpty)

        // Lost again: the wait from one redemption to the next is twelve months, the window closes before.
        try account.setAutoRenew(false)
        account.advance(to: at("2026-08-10"))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"])
    }

    @Test func `win-back offers wait for the loss of the subscription, and count from the end of grace`() throws {
        var account = TestAccount(
            catalogue: OfferShop.catalogue(), settings: Shop.settings(grace: true, graceDays: 28))
        try account.order("silver") { $0.introductoryEligibility = .denied }
        account.advance(to: at("2026-04-01"))
        account.settings.areRenewalBillingIssuesEnabled = true
        account.advance(to: at("2026-04-20"))
        var other = account
        try account.setAutoRenew(false)
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"])
        #expect(
            storeMessages(of: account.record, app: account.app, at: account.now).value.map(\.since) == [account.now])
        account.advance(to: at("2026-05-19"))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"], "a month after 20 April, not 10 April")
        account.advance(to: at("2026-05-20"))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again", "return"])

        // Cancelled when grace was over, the months count from its end.
        other.advance(to: at("2026-05-20"))
        #expect(other.state() == .inBillingRetryPeriod)
        try other.setAutoRenew(false)
        #expect(storeMessages(of: other.record, app: other.app, at: other.now).value.map(\.since) == [other.now])
        other.advance(to: at("2026-06-07"))
        #expect(try other.renewalInfo().eligibleWinBackOfferIDs == ["again"])
        other.advance(to: at("2026-06-08"))
        #expect(try other.renewalInfo().eligibleWinBackOfferIDs == ["again", "return"])
    }

    /// Redeemed on 10 May for three months, and lost on 10 August.
    private func wonBackForThreeMonths() throws -> TestAccount {
        var rule = OfferShop.rule
        rule.waitMonths = 4
        let offer = OfferShop.offer(.winBack, "return", .payAsYouGo, price: 990, count: 3)
        let winBack = WinBackOffer(offer: offer, isEligible: false, isHighPriority: false, rule: rule)
        var account = TestAccount(catalogue: OfferShop.catalogue(winBacks: [winBack]))
        try account.order("silver") { $0.introductoryEligibility = .denied }
        account.advance(to: at("2026-03-20"))
        try account.setAutoRenew(false)
        account.advance(to: at("2026-05-10"))
        try account.order("silver", .winBack, "return")
        account.advance(to: at("2026-07-20"))
        #expect(account.rows.suffix(3).map(\.price) == [usd(990), usd(990), usd(990)])
        try account.setAutoRenew(false)
        account.advance(to: at("2026-08-10"))
        return account
    }

    @Test func `a redemption that is taken out of a test store is waited for no longer, a period that it discounts is`()
        throws
    {
        var account = try self.wonBackForThreeMonths()
        let group = try account.line().groupID
        let won = account.rows.filter { $0.offer?.type == .winBack }.map(\.id)
        try account.operate(.deleteTransaction(won[2]))
        #expect(account.record.history(ofGroup: group)?.lastWinBack == at("2026-05-10"))
        try account.operate(.deleteTransaction(won[0]))
        #expect(account.record.history(ofGroup: group)?.lastWinBack == nil)
    }

    @Test func `win-back windows are scaled by the time rate`() throws {
        var account = TestAccount(
            catalogue: OfferShop.catalogue(),
            settings: Shop.settings(try #require(TimeRate(named: "oneRenewalEveryMinute"))))
        try account.order("silver") { $0.introductoryEligibility = .denied }
        try account.advanceToBoundary()
        try account.setAutoRenew(false)
        try account.advanceToBoundary()
        let end = account.now
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"])
        account.advance(to: end.advanced(byMilliseconds: minute))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again", "return"])
        account.advance(to: end.advanced(byMilliseconds: 6 * minute))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"])
    }

    @Test func `an account that paid too little, or has not lost the subscription, is not eligible`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver") { $0.introductoryEligibility = .denied }
        try account.setAutoRenew(false)
        account.advance(to: at("2026-04-01"))
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["again"], "one month, not two")

        var failing = TestAccount(
            catalogue: OfferShop.catalogue(), settings: Shop.settings(billingIssues: true, grace: true))
        try failing.order("silver")
        try failing.advanceToBoundary()
        #expect(failing.state() == .inGracePeriod)
        #expect(try failing.renewalInfo().eligibleWinBackOfferIDs.isEmpty)
        failing.advance(days: 20)
        #expect(failing.state() == .inBillingRetryPeriod)
        #expect(try failing.renewalInfo().eligibleWinBackOfferIDs.isEmpty)
        failing.advance(days: 45)
        #expect(failing.state() == .expired)
        #expect(try failing.renewalInfo().eligibleWinBackOfferIDs == ["again"])
    }

    private static func paidDays(_ account: TestAccount) throws -> Int64 {
        try #require(account.record.history(ofGroup: "G")).paidMilliseconds / day
    }

    /// The paid time of a customer is the sum over the transactions, in their current form.
    @Test func `a period counts to the end that it has: cut, forced, extended, left by an upgrade`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver")
        #expect(try Self.paidDays(account) == 0, "a free week")
        account.advance(days: 7)
        #expect(try Self.paidDays(account) == 31)
        account.advance(days: 3)
        try account.forceRenewal()
        #expect(try Self.paidDays(account) == 3 + 31)
        try account.operate(.extendRenewal(.product("silver"), milliseconds: 5 * day))
        #expect(try Self.paidDays(account) == 3 + 36)
        account.advance(days: 10)
        try account.order("gold")
        #expect(try Self.paidDays(account) == 3 + 36 + 29, "from 30 January until 28 February")
        account.advance(days: 2)
        try account.expire()
        #expect(try Self.paidDays(account) == 3 + 36 + 2)
        try account.operate(.deleteTransaction(3))
        #expect(try Self.paidDays(account) == 3 + 2)
        try account.operate(.deleteTransaction(4))
        #expect(try Self.paidDays(account) == 3)
        try account.operate(.deleteTransaction(2))
        #expect(try Self.paidDays(account) == 0, "the free week is left")
    }

    @Test func `priority comes before discount, and the identifier last`() throws {
        func winBack(_ id: String, price: Int64, isHighPriority: Bool = false) -> WinBackOffer {
            WinBackOffer(
                offer: OfferShop.offer(.winBack, id, price: price), isEligible: true, isHighPriority: isHighPriority)
        }
        let offers = [
            winBack("d", price: 990), winBack("c", price: 990), winBack("a", price: 5_990),
            winBack("b", price: 8_990, isHighPriority: true),
        ]
        var account = TestAccount(catalogue: OfferShop.catalogue(winBacks: offers))
        try account.order("silver")
        try account.expire()
        #expect(try account.renewalInfo().eligibleWinBackOfferIDs == ["b", "c", "d", "a"])
    }
}

@Suite struct `billing plans` {
    @Test func `a monthly plan is charged by the month, within a commitment`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        let bought = try #require(
            try account.order("silver.yearly") {
                $0.billingPlan = .monthly
                $0.introductoryEligibility = .denied
            }.transaction)
        #expect(bought.billingPlan == .monthly)
        #expect(bought.price == usd(9_000))
        #expect(bought.expirationDate == at("2026-02-10"))
        #expect(
            bought.commitment
                == Commitment(
                    billingPeriodNumber: 1, totalBillingPeriods: 12, expirationDate: at("2027-01-10"),
                    price: usd(108_000), willRenew: true))
        #expect(try account.renewalInfo().renewalPrice == usd(9_000))
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
        #expect(try account.order("silver.yearly").wasHeld)
    }

    @Test func `an order without a plan buys up front, and offers belong to their plan`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        let bought = try #require(try account.order("silver.yearly").transaction)
        #expect(bought.billingPlan == .upFront)
        #expect(bought.price == usd(99_000))
        #expect(bought.offer == nil, "the free month is one of the monthly plan")
        #expect(bought.commitment == nil)
        #expect(bought.expirationDate == at("2027-01-10"))
        var monthly = TestAccount(catalogue: OfferShop.catalogue())
        let trial = try monthly.order("silver.yearly") { $0.billingPlan = .monthly }.transaction
        #expect(trial?.offer?.type == .introductory)
        #expect(trial?.price == usd(0))
    }

    @Test func `an offer of the held product belongs to the held plan by default`() throws {
        var account = TestAccount(
            catalogue: OfferShop.changed(OfferShop.catalogue()) { product in
                guard product.id == "silver.yearly" else { return }
                var months = OfferShop.offer(.promotional, "months", .payAsYouGo, price: 4_990, count: 2)
                months.billingPlan = .monthly
                let year = OfferShop.offer(.promotional, "year", .payUpFront, price: 49_000, count: 1)
                var both = OfferShop.offer(.promotional, "both", .payUpFront, price: 59_000, count: 1)
                product.subscription?.promotionalOffers = [months, year, both]
                both.billingPlan = .monthly
                both.price = usd(5_990)
                product.subscription?.promotionalOffers.append(both)
            })
        func promotional(_ id: String) -> (inout PurchaseOrder) -> Void {
            { $0.offer = OrderedOffer(type: .promotional, id: id) }
        }
        func reported() -> [OfferEligibility] {
            offerEligibility(
                of: account.record, inGroup: "", product: "silver.yearly", app: account.app, at: account.now
            ).offers.filter { $0.type == .promotional }
        }
        func reasons() -> [String] { reported().map(\.reason) }
        // Two offers share a name: only the plan distinguishes them.
        #expect(reported().map(\.offerID) == ["months", "year", "both", "both"])
        #expect(reported().map(\.billingPlan) == [.monthly, .unspecified, .unspecified, .monthly])
        try account.order("silver.yearly") {
            $0.billingPlan = .monthly
            $0.introductoryEligibility = .denied
        }
        #expect(
            reasons() == ["ELIGIBLE", "ELIGIBLE", "ELIGIBLE", "ELIGIBLE"], "the plan can be switched with the offer")
        #expect(refusal { try account.order("silver.yearly", promotional("year")) } == .purchaseInvalidOffer)
        try account.order("silver.yearly", promotional("both"))
        #expect(try account.renewalInfo().renewalPrice == usd(5_990))
        try account.advanceToBoundary()
        #expect(try account.line().latest.billingPlan == .monthly)
        #expect(try account.line().latest.price == usd(5_990), "a month at the offer's price, not a year")
        try account.expire()
        #expect(reasons() == ["ELIGIBLE", "ELIGIBLE", "ELIGIBLE", "ELIGIBLE"], "nothing is held that binds to a plan")
        let again = try account.order("silver.yearly", promotional("year")).transaction
        #expect(again?.billingPlan == .upFront)
        #expect(reasons() == ["ELIGIBLE", "ELIGIBLE", "ELIGIBLE", "ELIGIBLE"])
        let switched = try account.order("silver.yearly") {
            ($0.billingPlan, $0.offer) = (.monthly, OrderedOffer(type: .promotional, id: "months"))
        }
        #expect(switched.wasHeld)
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
        #expect(try account.renewalInfo().renewalPrice == usd(4_990), "the offer begins with its plan")
    }

    @Test func `buying a held product returns it, even if its plan left the catalogue`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver.yearly") { $0.billingPlan = .monthly }
        account.catalogue = OfferShop.changed(account.catalogue) { product in
            product.subscription?.billingPlans.removeAll { $0.type == .monthly }
        }
        #expect(try account.order("silver.yearly").wasHeld)
    }

    @Test func `a plan that is not there is refused`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        #expect(refusal { try account.order("gold") { $0.billingPlan = .monthly } } == .fieldInvalid)
        #expect(refusal { try account.order("coins") { $0.billingPlan = .monthly } } == .purchaseInvalidOffer)
        #expect(try account.order("gold") { $0.billingPlan = .upFront }.transaction?.billingPlan == .unspecified)
    }

    @Test func `a commitment has all its charges at a rate where every period lasts equally long`() throws {
        let rate = try #require(TimeRate(named: "oneRenewalEveryMinute"))
        var account = TestAccount(catalogue: OfferShop.catalogue(), settings: Shop.settings(rate))
        let bought = try account.order("silver.yearly") { $0.billingPlan = .monthly }.transaction
        #expect(bought?.commitment?.expirationDate == account.now.advanced(byMilliseconds: 12 * minute))
    }
}
