import PerchBase
import PerchModel
import Testing

@Suite struct `configuration` {
    private static let catalogue = OfferShop.catalogue()

    private static func configured(
        _ changes: [AppSettingChange], from settings: AppSettings = AppSettings()
    ) throws -> (settings: AppSettings, catalogue: Catalogue?) {
        try decideConfiguration(
            changes, settings: settings, fileSettings: AppSettings(), catalogue: Self.catalogue)
    }

    @Test func `each setting is applied, and reported as the change that would make it`() throws {
        let all: [AppSettingChange] = [
            .askToBuy(true), .interruptedPurchases(true), .billingRetryOnRenewal(true), .gracePeriod(true),
            .gracePeriodDays(28), .gracePeriodForAllRenewals(false), .dialogs(true), .timeRate(15), .storefront("DEU"),
            .locale("de_DE"), .simulatedError(.loadProducts, .networkError),
            .simulatedError(.verification, .invalidSignature),
        ]
        let configured = try Self.configured(all)
        #expect(configured.catalogue == nil)
        #expect(changes(making: configured.settings) == all)
        #expect(try Self.configured([.locale("de-DE")]).settings.locale == "de_DE")
        let disarmed = try Self.configured([.simulatedError(.loadProducts, nil)], from: configured.settings)
        #expect(disarmed.settings.simulatedErrors.entries.map(\.api) == [.verification])
        let reset = try Self.configured([.reset], from: configured.settings)
        #expect(reset.settings == AppSettings())
    }

    @Test(
        arguments: [
            .gracePeriodDays(0), .gracePeriodDays(17), .timeRate(14), .timeRate(-1), .storefront(""), .storefront("us"),
            .storefront("USAX"), .locale(""), .locale("e"), .locale("en US"), .locale("true"), .locale("nonsense"),
            .locale("en_"), .locale("e1"), .locale("dé"),
            .simulatedError(StoreKitAPI(rawValue: 99), .networkError), .simulatedError(.unspecified, .networkError),
            .simulatedError(.loadProducts, .invalidSignature), .simulatedError(.verification, .networkError),
            .simulatedError(.loadProducts, .invalidQuantity), .simulatedError(.purchase, .duplicateRequest),
            .simulatedError(.purchase, SimulatedError(rawValue: 24)), .simulatedError(.purchase, .unspecified),
        ] as [AppSettingChange])
    func `an invalid setting is refused, and nothing is changed`(_ change: AppSettingChange) {
        #expect(refusal { _ = try Self.configured([.askToBuy(true), change]) } == .fieldInvalid)
    }

    @Test func `each error is possible somewhere, and has a word of its own`() {
        let apis = StoreKitAPI.names.indices.map { StoreKitAPI(rawValue: Int32($0)) }
        for number in SimulatedError.names.indices.dropFirst() {
            let error = SimulatedError(rawValue: Int32(number))
            #expect(apis.contains { error.isPossible(for: $0) }, "\(error)")
            #expect((error.verificationFailure != nil) == error.isPossible(for: .verification), "\(error)")
        }
    }

    @Test func `a product is changed, and the rest stays`() throws {
        var edit = ProductEdit(productID: "silver")
        edit.priceMilliunits = 12_990
        edit.displayName = "Argent"
        edit.isWithdrawn = true
        edit.isFamilyShareable = true
        let changed = try #require(try Self.configured([.product(edit)]).catalogue)
        let product = try #require(changed.product("silver"))
        #expect(product.price == usd(12_990))
        #expect(product.isWithdrawn)
        #expect(product.isFamilyShareable)
        #expect(product.localizations.map(\.displayName) == ["Argent"])
        #expect(changed.productOnSale("silver") == nil)
        #expect(changed.products.filter { $0.id != "silver" } == Self.catalogue.products.filter { $0.id != "silver" })
        #expect(try Self.configured([.product(ProductEdit(productID: "silver"))]).catalogue == nil)
        #expect(refusal { _ = try Self.configured([.product(ProductEdit(productID: "x"))]) } == .productUnknown)
        #expect(refusal { _ = try Self.configured([.product(priceEdit("coins", -1))]) } == .fieldInvalid)
        let yearly = try #require(try Self.configured([.product(priceEdit("silver.yearly", 89_000))]).catalogue)
        #expect(yearly.product("silver.yearly")?.subscription?.billingPlans.map(\.price) == [usd(89_000), usd(9_000)])
    }

    @Test func `offers are replaced by identifier, added and removed`() throws {
        var edit = ProductEdit(productID: "silver")
        var half = OfferEdit(type: .promotional, id: "half")
        half.paymentMode = .payUpFront
        half.priceMilliunits = 990
        var trial = OfferEdit(type: .promotional, id: "trial")
        trial.paymentMode = .freeTrial
        trial.priceMilliunits = 990
        var code = OfferEdit(type: .code, id: "NEW")
        code.paymentMode = .payAsYouGo
        code.periodCount = 3
        code.eligibility = ["new", "expired"]
        var everybody = OfferEdit(type: .code, id: "STAY")
        everybody.paymentMode = .freeTrial
        everybody.isStackable = true
        var winBack = OfferEdit(type: .winBack, id: "rule")
        winBack.paymentMode = .freeTrial
        winBack.winBackRule = WinBackRuleEdit(paidMonths: 1, lapsedMonthsMin: 2, lapsedMonthsMax: 3, waitMonths: 4)
        var introductory = OfferEdit(type: .introductory, id: "")
        introductory.isRemoved = true
        edit.offers = [half, trial, code, everybody, winBack, introductory]
        let changed = try edited(Self.catalogue, by: edit, locale: "en_US")
        let subscription = try #require(changed.product("silver")?.subscription)
        #expect(subscription.introductoryOffers.isEmpty)
        #expect(subscription.promotionalOffers.map(\.id) == ["half", "trial"])
        #expect(subscription.promotionalOffers.map(\.price) == [usd(990), usd(0)])
        #expect(subscription.codeOffers.map(\.offer.id) == ["WELCOME", "STAY", "BACK", "STACK", "NEW"])
        #expect(subscription.codeOffers[1].eligibility == [.new, .existing, .expired])
        #expect(subscription.codeOffers[4].eligibility == [.new, .expired])
        #expect(subscription.codeOffers.map(\.isStackable) == [false, true, false, true, false])
        #expect(subscription.codeOffers[4].offer.periodCount == 3)
        #expect(subscription.winBackOffers.last?.rule?.lapsedMonthsMax == 3)
    }

    private static let wrong: [(String, @Sendable (inout OfferEdit) -> Void)] = [
        ("an identifier is missing", { $0.id = "" }),
        ("a type", { $0.type = .unspecified }),
        ("a type that is known", { $0.type = OfferType(rawValue: 9) }),
        ("introductory offers have no identifier", { $0.type = .introductory }),
        ("a payment mode", { $0.paymentMode = .unspecified }),
        ("a payment mode of subscriptions", { $0.paymentMode = .oneTime }),
        ("a price", { $0.priceMilliunits = -1 }),
        ("a period", { $0.period = Period(0, .month) }),
        ("a unit", { $0.period = Period(1, .unspecified) }),
        ("one period of a trial", { $0.periodCount = 2 }),
        ("a category", { ($0.type, $0.eligibility) = (.code, ["old"]) }),
        ("a rule", { ($0.type, $0.winBackRule) = (.winBack, Self.rule(lapsed: 0, 3, wait: 2)) }),
        ("a window", { ($0.type, $0.winBackRule) = (.winBack, Self.rule(lapsed: 4, 3, wait: 2)) }),
        ("months", { ($0.type, $0.winBackRule) = (.winBack, Self.rule(lapsed: 1, 25, wait: 2)) }),
        ("a wait", { ($0.type, $0.winBackRule) = (.winBack, Self.rule(lapsed: 1, 3, wait: 1)) }),
    ]

    private static func rule(lapsed min: UInt32, _ max: UInt32, wait: UInt32) -> WinBackRuleEdit {
        WinBackRuleEdit(paidMonths: 1, lapsedMonthsMin: min, lapsedMonthsMax: max, waitMonths: wait)
    }

    @Test(arguments: Self.wrong.indices)
    func `an offer that cannot be is refused`(_ index: Int) throws {
        var offer = OfferEdit(type: .promotional, id: "x")
        offer.paymentMode = .freeTrial
        var edit = ProductEdit(productID: "silver")
        edit.offers = [offer]
        #expect(try edited(Self.catalogue, by: edit, locale: "en_US") != Self.catalogue)
        Self.wrong[index].1(&edit.offers[0])
        #expect(
            refusal { _ = try edited(Self.catalogue, by: edit, locale: "en_US") } == .fieldInvalid,
            "\(Self.wrong[index].0)")
    }

    @Test func `an edit leaves the images of the catalogue as they are`() throws {
        let image = CatalogueImage(id: "gold.png", hash: ImageContent([0xFF, 0xD8, 0xFF]).hash, byteCount: 3)
        let catalogue = Catalogue(
            products: Self.catalogue.products, groups: Self.catalogue.groups, schemaVersion: "4.0", images: [image])
        var edit = ProductEdit(productID: "gold")
        edit.displayName = "Gold of the club"
        #expect(try edited(catalogue, by: edit, locale: "en_US").image("gold.png") == image)
    }

    @Test func `a product that does not renew has no offers, and none has endlessly many`() throws {
        var edit = ProductEdit(productID: "coins")
        var offer = OfferEdit(type: .promotional, id: "x")
        offer.paymentMode = .freeTrial
        edit.offers = [offer]
        #expect(refusal { _ = try edited(Self.catalogue, by: edit, locale: "en_US") } == .notASubscription)
        edit.productID = "gold"
        edit.offers = (0..<Limits.editedOffersMax).map { number in
            var each = offer
            each.id = "x\(number)"
            return each
        }
        #expect(refusal { _ = try edited(Self.catalogue, by: edit, locale: "en_US") } == .fieldInvalid)
        edit.offers.removeLast()
        let full = try edited(Self.catalogue, by: edit, locale: "en_US")
        #expect(full.product("gold")?.subscription?.promotionalOffers.count == Limits.editedOffersMax)
    }
}

@Suite struct `simulated failures` {
    @Test(arguments: [
        (SimulatedError.unknown, Refusal.Reason.storeKitUnknown), (.networkError, .storeKitNetworkError),
        (.systemError, .storeKitSystemError),
        (.notAvailableInStorefront, .storeKitNotAvailableInStorefront), (.notEntitled, .storeKitNotEntitled),
        (.unsupported, .storeKitUnsupported), (.invalidQuantity, .purchaseInvalidQuantity),
        (.productUnavailable, .purchaseProductUnavailable), (.purchaseNotAllowed, .purchaseNotAllowed),
        (.ineligibleForOffer, .purchaseIneligibleForOffer), (.invalidOfferIdentifier, .purchaseInvalidOffer),
        (.invalidOfferPrice, .purchaseInvalidOfferPrice), (.invalidOfferSignature, .purchaseInvalidOfferSignature),
        (.missingOfferParameters, .purchaseMissingOfferParameters),
    ])
    func `a purchase fails with the error that is armed`(_ error: SimulatedError, _ reason: Refusal.Reason) throws {
        var account = TestAccount()
        account.settings.simulatedErrors[.purchase] = error
        #expect(refusal { try account.order("coins") } == reason)
        account.settings.simulatedErrors[.purchase] = nil
        #expect(try account.order("coins").transaction != nil)
    }

    @Test func `a customer who cancels is no error`() throws {
        var account = TestAccount()
        account.settings.simulatedErrors[.purchase] = .userCancelled
        #expect(try account.order("coins").isCancelled)
        #expect(account.rows.isEmpty)
    }

    @Test func `each part fails separately, with a reason and a message`() throws {
        var account = TestAccount()
        #expect(simulatedFailure(of: .loadProducts, app: account.app) == nil)
        account.settings.simulatedErrors[.subscriptionStatus] = .userCancelled
        let failure = try #require(simulatedFailure(of: .subscriptionStatus, app: account.app))
        #expect(failure.reason == .storeKitUserCancelled)
        #expect(failure.message.contains("subscriptionStatus is set to fail with userCancelled"))
        #expect(simulatedFailure(of: .currentEntitlement, app: account.app) == nil)
    }

    @Test func `values become unverified, and can still be read`() throws {
        var account = TestAccount()
        let bought = try #require(try account.order("silver").transaction)
        try account.order("lifetime")
        let before = account.statuses()
        account.settings.simulatedErrors[.verification] = .invalidSignature
        let status = try #require(account.statuses().statuses.first)
        #expect(account.statuses() != before)
        #expect(status.transaction.value == bought)
        #expect(status.transaction.failure == VerificationFailure(named: "invalidSignature"))
        #expect(!status.renewalInfo.isVerified)
        let entitled = currentEntitlement(of: account.record, toProduct: "silver", app: account.app, at: account.now)
        #expect(entitled.value?.isVerified == false)
        let all = currentEntitlements(of: account.record, app: account.app, at: account.now)
        #expect(all.map(\.isVerified) == [false, false])
        #expect(try !appTransaction(of: account.record, app: account.app).isVerified)
    }

    @Test func `refund requests are approved, unless the customer writes REJECT under other`() throws {
        var account = TestAccount()
        func isApproved(_ reason: RevocationReason, _ text: String) throws -> Bool {
            let coins = try account.buy("coins").transaction
            let outcome = try account.requestRefund(coins.id, reason, text)
            #expect((outcome.transaction?.revocation == nil) == outcome.wasHeld)
            return !outcome.wasHeld
        }
        #expect(try isApproved(.other, ""))
        #expect(try isApproved(.developerIssue, "REJECT"))
        #expect(try !isApproved(.other, "REJECT"))
        #expect(try !isApproved(.unspecified, "REJECT"))
        account.settings.simulatedErrors[.refundRequest] = .duplicateRequest
        #expect(refusal { _ = try isApproved(.other, "") } == .storeKitDuplicateRequest)
        account.settings.simulatedErrors[.refundRequest] = .failed
        #expect(refusal { _ = try isApproved(.other, "") } == .storeKitFailed)
    }

    /// `Transaction.RefundRequestError.duplicateRequest`: the first request is pending, denied or approved.
    @Test func `a second refund request for a transaction is a duplicate, also after a decline or a reversal`() throws {
        var account = TestAccount()
        try account.buy("silver")
        func request(_ id: TransactionID, _ text: String = "") -> Refusal.Reason? {
            refusal { _ = try account.requestRefund(id, .other, text) }
        }
        #expect(request(1, "REJECT") == nil && account.state() == .subscribed)
        #expect(request(1) == .storeKitDuplicateRequest)
        try account.advanceToBoundary()
        #expect(request(2) == nil && account.state() == .revoked)
        #expect(request(2) == .storeKitDuplicateRequest)
        try account.operate(.reverseRefund(.transaction(2)))
        #expect(request(2) == .storeKitDuplicateRequest)
        // The store itself may still give the money back.
        try account.operate(.refund(.transaction(2), reason: .other, share: .full))
        #expect(account.state() == .revoked)
    }

    @Test func `a refund that the store gave counts as long as it holds`() throws {
        var account = TestAccount()
        try account.buy("coins")
        try account.refund(1)
        #expect(refusal { _ = try account.requestRefund(1, .other, "") } == .storeKitDuplicateRequest)
        try account.operate(.reverseRefund(.transaction(1)))
        #expect(refusal { _ = try account.requestRefund(1, .other, "") } == nil)
    }

    @Test func `refund requests are remembered up to a limit, and forgotten with the transaction`() throws {
        var account = TestAccount()
        for _ in 0...Limits.refundRequestsKept { try account.buy("coins") }
        for row in account.rows { try account.requestRefund(row.id, .other, "REJECT") }
        #expect(account.record.refundRequests.count == Limits.refundRequestsKept)
        #expect(account.record.refundRequests.first == 2, "the oldest is forgotten")
        try account.operate(.deleteTransaction(2))
        #expect(account.record.refundRequests.first == 3)
        try account.operate(.clearTransactions)
        #expect(account.record.refundRequests.isEmpty)
    }

    @Test func `the app transaction is one for each account and app, or its failure`() throws {
        var account = TestAccount()
        let found = try appTransaction(of: account.record, app: account.app)
        #expect(
            found
                == Verified(
                    AppTransaction(
                        id: "app-1", bundleID: "com.example.shop", environment: .xcode, originalAppVersion: "1.0",
                        originalPurchaseDate: at("2013-08-01T07:00:00Z"), originalPlatform: .iOS)))
        #expect(try appTransaction(of: nil, app: account.app).value.id.isEmpty)
        account.settings.simulatedErrors[.appTransaction] = .networkError
        #expect(refusal { _ = try appTransaction(of: account.record, app: account.app) } == .storeKitNetworkError)
        account.settings.simulatedErrors[.manageSubscriptions] = .systemError
        let managed = refusal {
            _ = try decideManagement(
                of: "silver", autoRenews: false, OperationSubject(record: account.record), app: account.app,
                now: account.now)
        }
        #expect(managed == .storeKitSystemError)
    }
}
