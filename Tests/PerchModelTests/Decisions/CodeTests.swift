import PerchBase
import PerchModel
import Testing

@Suite struct `offers of codes` {
    private static func offer(_ id: String, price: Int64 = 490, codes: [OfferCode] = []) -> CodeOffer {
        CodeOffer(offer: .oneTime(id, price: usd(price)), eligibility: .all, isStackable: false, codes: codes)
    }

    /// The offer shop, with codes on what is no subscription, and listed codes on silver.
    private static func account() -> TestAccount {
        TestAccount(
            catalogue: OfferShop.changed(OfferShop.catalogue()) { product in
                switch product.id {
                case "coins": product.codeOffers = [Self.offer("SPRING")]
                case "lifetime": product.codeOffers = [Self.offer("LIFELONG", price: 0)]
                case "silver":
                    product.codeOffers.append(
                        CodeOffer(
                            offer: OfferShop.offer(.code, "campaign"), eligibility: .all, isStackable: false,
                            codes: [
                                OfferCode(code: "ONCE", redemptionLimit: 1), OfferCode(code: "MANY"),
                                OfferCode(code: "EARLY", until: at("2026-01-10")),
                            ]))
                default: break
                }
            })
    }

    @Test func `a product of every type is bought with a code, for one payment`() throws {
        var account = Self.account()
        let coins = try #require(try account.order("coins", .code, "SPRING").transaction)
        #expect(coins.offer == TransactionOffer(id: "SPRING", type: .code, paymentMode: .oneTime, period: nil))
        #expect(coins.price == usd(490))
        let lifetime = try #require(try account.redeem("LIFELONG").transaction)
        #expect(lifetime.productID == "lifetime")
        #expect(lifetime.price == usd(0))
        #expect(account.entitlement("lifetime") == lifetime)
        #expect(refusal { try account.order("coins", .promotional, "SPRING") } == .purchaseInvalidOffer)
    }

    @Test func `the quantity multiplies the price of the code`() throws {
        var account = Self.account()
        let order = try account.order("coins") {
            ($0.quantity, $0.offer) = (3, OrderedOffer(type: .code, id: "SPRING"))
        }
        #expect(order.transaction?.price == usd(1_470))
    }

    @Test func `each account redeems an offer once, by whichever of its codes`() throws {
        var account = Self.account()
        try account.redeem("MANY")
        #expect(account.record.redeemedOffers.map(\.code) == ["MANY"])
        #expect(refusal { try account.redeem("ONCE") } == .purchaseIneligibleForOffer)
        #expect(refusal { try account.redeem("MANY") } == .purchaseIneligibleForOffer)
        let reported = offerEligibility(
            of: account.record, inGroup: "", product: "silver", app: account.app, at: account.now
        ).offers.first { $0.offerID == "campaign" }
        #expect(reported?.reason == "REDEEMED")
        var coins = Self.account()
        try coins.order("coins", .code, "SPRING")
        #expect(refusal { try coins.order("coins", .code, "SPRING") } == .purchaseIneligibleForOffer)
        #expect(try coins.order("coins").transaction?.price == usd(990), "without the code it is for sale")
    }

    @Test func `a deletion makes the offer new again`() throws {
        var account = Self.account()
        let id = try #require(try account.order("coins", .code, "SPRING").transaction?.id)
        try account.operate(.deleteTransaction(id))
        #expect(account.record.redeemedOffers.isEmpty)
        try account.order("coins", .code, "SPRING")
        try account.operate(.clearTransactions)
        #expect(account.record.redeemedOffers.isEmpty)
    }

    @Test func `a one-time-use code works once, and a code as often as it says`() throws {
        var account = Self.account()
        #expect(refusal { try account.redeem("ONCE", redemptions: ["ONCE": 1]) } == .purchaseIneligibleForOffer)
        #expect(account.record.redeemedOffers.isEmpty)
        #expect(try account.redeem("ONCE", redemptions: ["ONCE": 0]).transaction != nil)
    }

    @Test func `a code ends at its instant`() throws {
        var account = Self.account()
        #expect(account.now == at("2026-01-10"))
        #expect(refusal { try account.redeem("EARLY") } == .purchaseIneligibleForOffer, "at exactly its end it is over")
        account.now = at("2026-01-10").advanced(byMilliseconds: -1)
        #expect(try account.redeem("EARLY").transaction != nil)
    }

    @Test func `an offer that lists codes is not redeemed by its name`() throws {
        var account = Self.account()
        #expect(refusal { try account.redeem("campaign") } == .purchaseInvalidOffer)
        #expect(refusal { try account.order("silver", .code, "campaign") } == .purchaseInvalidOffer)
    }

    @Test func `a code for what is owned is refused, not wasted`() throws {
        var account = Self.account()
        try account.buy("lifetime")
        #expect(refusal { try account.redeem("LIFELONG") } == .purchaseIneligibleForOffer)
        #expect(account.record.redeemedOffers.isEmpty)
    }

    @Test func `an edit adds codes to any product, within its limits`() throws {
        var account = Self.account()
        var offer = OfferEdit(type: .code, id: "NEW")
        (offer.paymentMode, offer.priceMilliunits) = (.oneTime, 100)
        offer.codes = [OfferCode(code: "N1", redemptionLimit: 1)]
        func configure(_ product: String, _ offer: OfferEdit) throws -> Catalogue {
            var edit = ProductEdit(productID: product)
            edit.offers = [offer]
            let decided = try decideConfiguration(
                [.product(edit)], settings: account.settings, fileSettings: account.settings,
                catalogue: account.catalogue)
            return decided.catalogue ?? account.catalogue
        }
        account.catalogue = try configure("coins", offer)
        #expect(try account.redeem("N1").transaction?.price == usd(100))
        offer.codes = [OfferCode(code: "A"), OfferCode(code: "A")]
        #expect(refusal { _ = try configure("coins", offer) } == .fieldInvalid)
        offer.codes = [OfferCode(code: "")]
        #expect(refusal { _ = try configure("coins", offer) } == .fieldInvalid)
        offer.codes = (0...Limits.offerCodesMax).map { OfferCode(code: "\($0)") }
        #expect(refusal { _ = try configure("coins", offer) } == .fieldInvalid)
        offer.codes = []
        offer.paymentMode = .freeTrial
        #expect(refusal { _ = try configure("coins", offer) } == .fieldInvalid)
        #expect(refusal { _ = try configure("coins", OfferEdit(type: .promotional, id: "half")) } == .notASubscription)
        offer.isRemoved = true
        #expect(try configure("coins", offer).product("coins")?.codeOffers.map(\.offer.id) == ["SPRING"])
    }
}

@Suite struct `payments that are forbidden` {
    @Test func `every purchase and every code is refused, and renewals go on`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.buy("silver")
        try account.operate(.setPayments(isAllowed: false))
        #expect(!canMakePayments(account.record, app: account.app))
        #expect(account.record.chargesFail == nil)
        for product in ["coins", "lifetime", "season", "silver", "gold"] {
            #expect(refusal { try account.order(product) } == .purchaseNotAllowed, "\(product)")
        }
        #expect(refusal { try account.redeem("STAY", "silver") } == .purchaseNotAllowed)
        try account.advanceToBoundary()
        #expect(account.state() == .subscribed)
        #expect(try account.line().latest.reason == .renewal)
        try account.operate(.setPayments(isAllowed: true))
        #expect(canMakePayments(account.record, app: account.app))
        #expect(try account.order("coins").transaction != nil)
        #expect(try account.operate(.setPayments(isAllowed: true)).facts.isEmpty)
    }

    @Test func `what waits for approval cannot be approved meanwhile`() throws {
        var account = TestAccount()
        let number = try #require(try account.order("coins") { $0.simulatesAskToBuy = true }.number)
        try account.operate(.setPayments(isAllowed: false))
        #expect(refusal { try account.ask(.decidePurchase(id: number, approves: true)) } == .purchaseNotAllowed)
        #expect(account.record.pendingPurchases.map(\.id) == [number])
        try account.operate(.setPayments(isAllowed: true))
        #expect(try account.ask(.decidePurchase(id: number, approves: true)).transaction != nil)
    }
}

@Suite struct `app transactions of test apps` {
    @Test func `they can be set, part by part, and reset`() throws {
        var account = TestAccount()
        func shown() throws -> AppTransaction { try appTransaction(of: account.record, app: account.app).value }
        #expect(try shown().originalAppVersion == "1.0")
        #expect(try shown().originalPurchaseDate == at("2013-08-01T07:00:00Z"))
        #expect(try shown().originalPlatform == .iOS)
        #expect(try shown().environment == .xcode)
        let terms = AppTransactionTerms(
            originalAppVersion: "3.1", originalPurchaseDate: at("2020-05-01"), originalPlatform: .macOS,
            environment: .production)
        try account.operate(.setAppTransaction(terms))
        #expect(try shown().originalAppVersion == "3.1")
        #expect(try shown().originalPurchaseDate == at("2020-05-01"))
        #expect(try shown().originalPlatform == .macOS)
        #expect(try shown().environment == .production)
        try account.operate(.clearTransactions)
        #expect(try shown().originalAppVersion == "3.1", "it is about the app, not about purchases")
        try account.operate(.setAppTransaction(AppTransactionTerms()))
        #expect(account.record.appTransaction == nil)
        #expect(try shown().originalAppVersion == "1.0")
    }

    @Test func `what no app transaction can say is refused`() throws {
        var account = TestAccount()
        let bad = [
            AppTransactionTerms(originalAppVersion: String(repeating: "1", count: Limits.appVersionBytesMax + 1)),
            AppTransactionTerms(originalPurchaseDate: account.now.advanced(byMilliseconds: 1)),
            AppTransactionTerms(originalPurchaseDate: Instant(milliseconds: -1)),
            AppTransactionTerms(originalPlatform: AppPlatform(rawValue: 99)),
            AppTransactionTerms(environment: AppEnvironment(rawValue: 99)),
        ]
        for terms in bad { #expect(refusal { try account.operate(.setAppTransaction(terms)) } == .fieldInvalid) }
        #expect(account.record.appTransaction == nil)
    }
}

@Suite struct `a switch of the billing plan` {
    @Test func `it takes effect at the renewal`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver.yearly") { $0.billingPlan = .upFront }
        let switched = try account.order("silver.yearly") { $0.billingPlan = .monthly }
        #expect(switched.wasHeld)
        #expect(try account.line().latest.billingPlan == .upFront)
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
        #expect(try account.renewalInfo().autoRenewPreference == "silver.yearly")
        #expect(try account.renewalInfo().renewalPrice == usd(9_000))
        #expect(try account.order("silver.yearly") { $0.billingPlan = .monthly }.facts.isEmpty, "it is ordered already")
        try account.advanceToBoundary()
        #expect(try account.line().latest.billingPlan == .monthly)
        #expect(try account.line().latest.price == usd(9_000))
        #expect(try account.line().latest.commitment?.billingPeriodNumber == 1)
    }

    @Test func `buying the held plan cancels it, and so does the customer's switch`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver.yearly") { $0.billingPlan = .upFront }
        try account.order("silver.yearly") { $0.billingPlan = .monthly }
        try account.order("silver.yearly") { $0.billingPlan = .upFront }
        #expect(try account.renewalInfo().renewalBillingPlan == .upFront)
        try account.order("silver.yearly") { $0.billingPlan = .monthly }
        try account.order("silver.yearly")
        #expect(try account.renewalInfo().renewalBillingPlan == .upFront)
        try account.order("silver.yearly") { $0.billingPlan = .monthly }
        try account.setAutoRenew(false)
        try account.setAutoRenew(true)
        #expect(try account.renewalInfo().renewalBillingPlan == .upFront)
    }

    @Test func `within a commitment it waits for the end`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver.yearly") {
            ($0.billingPlan, $0.introductoryEligibility) = (.monthly, .denied)
        }
        try account.order("silver.yearly") { $0.billingPlan = .upFront }
        #expect(try account.renewalInfo().renewalBillingPlan == .monthly)
        for number in 2...12 {
            try account.advanceToBoundary()
            #expect(try account.line().latest.commitment?.billingPeriodNumber == UInt32(number))
        }
        #expect(try account.renewalInfo().renewalBillingPlan == .upFront)
        try account.advanceToBoundary()
        #expect(try account.line().latest.billingPlan == .upFront)
        #expect(try account.line().latest.price == usd(99_000))
        #expect(try account.line().latest.commitment == nil)
    }

    @Test func `a price that was agreed to belongs to the old plan`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        try account.order("silver.yearly") { $0.billingPlan = .upFront }
        try account.operate(.raisePrice(.product("silver.yearly"), milliunits: 119_000, needsConsent: true))
        try account.order("silver.yearly") { $0.billingPlan = .monthly }
        #expect(try account.renewalInfo().renewalPrice == usd(9_000))
        try account.advanceToBoundary()
        #expect(account.state() == .subscribed, "the question was about the plan that was left")
        #expect(try account.line().latest.price == usd(9_000))
        var other = TestAccount(catalogue: OfferShop.catalogue())
        try other.order("silver.yearly") { $0.billingPlan = .upFront }
        try other.order("silver.yearly") { $0.billingPlan = .monthly }
        #expect(
            refusal {
                try other.operate(.raisePrice(.product("silver.yearly"), milliunits: 119_000, needsConsent: false))
            }
                == .priceIncreaseInvalid)
    }
}

@Suite struct `A list of offers of codes` {
    @Test func `has edits that make the same offers`() throws {
        let catalogue = OfferShop.changed(OfferShop.catalogue()) { product in
            guard product.id == "lifetime" else { return }
            let code = OfferCode(code: "SPRING", redemptionLimit: 2, until: Instant(milliseconds: 9))
            let offer = SubscriptionOffer.oneTime("LESS", price: usd(9_000))
            product.codeOffers = [CodeOffer(offer: offer, eligibility: .all, isStackable: false, codes: [code])]
        }
        let listed = catalogue.codeOffers(limit: 1_000)
        #expect(listed.map(\.productID) == catalogue.products.filter { !$0.codeOffers.isEmpty }.map(\.id))
        #expect(listed.map(\.productID).sorted() == ["bronze", "lifetime", "silver"])
        var bare = OfferShop.changed(catalogue) { $0.codeOffers = [] }
        for edit in listed { bare = try edited(bare, by: edit, locale: "en_US") }
        #expect(bare.products.map(\.codeOffers) == catalogue.products.map(\.codeOffers))
        #expect(catalogue.codeOffers(limit: 2).flatMap(\.offers).count == 2, "a list has its limit")
    }
}
