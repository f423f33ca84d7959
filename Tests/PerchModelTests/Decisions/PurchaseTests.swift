import PerchBase
import PerchModel
import Testing

@Suite struct `a purchase while charges fail` {
    private static func reason(_ body: () throws -> Void) -> Refusal.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? Refusal)?.reason
        }
    }

    /// An account in its grace or billing retry period; its charges fail as the app's setting says.
    private static func failing(grace: Bool = false) throws -> TestAccount {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(
            catalogue: Shop.catalogue(introductory: trial), settings: Shop.settings(billingIssues: true, grace: grace))
        try account.buy("gold")
        try account.advanceToBoundary()
        return account
    }

    @Test(arguments: [true, false])
    func `a purchase is refused while a subscription is in grace or retry, whatever its product`(_ hasGrace: Bool)
        throws
    {
        var account = try Self.failing(grace: hasGrace)
        #expect(account.state() == (hasGrace ? .inGracePeriod : .inBillingRetryPeriod))
        for product in ["coins", "lifetime", "season"] + (hasGrace ? [] : ["gold", "silver.yearly"]) {
            #expect(Self.reason { try account.buy(product) } == .purchaseNotAllowed, "\(product)")
        }
        #expect(try account.buy("weekly").transaction.price == usd(0), "a trial charges nothing")
        try account.operate(.setCharges(fail: false))
        try account.buy("coins")
        if !hasGrace { #expect(try account.buy("gold").transaction.originalID == 1) }
        #expect(account.state() == (hasGrace ? .inGracePeriod : .subscribed))
    }

    @Test func `a purchase is refused while the account's charges are set to fail, also the first one`() throws {
        var account = TestAccount()
        try account.operate(.setCharges(fail: true))
        #expect(Self.reason { try account.buy("silver") } == .purchaseNotAllowed)
        #expect(Self.reason { try account.operate(.buy(PurchaseOrder(productID: "coins"))) } == .purchaseNotAllowed)
        try account.operate(.setCharges(fail: nil))
        try account.buy("silver")
    }

    @Test func `a purchase succeeds if only the app's setting fails renewals`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true))
        try account.buy("silver")
        try account.buy("gold")
        try account.buy("coins")
    }

    @Test func `a purchase succeeds after the store gave up, and after the customer cancelled`() throws {
        for cancels in [true, false] {
            var account = try Self.failing()
            if cancels { try account.setAutoRenew(false) } else { account.advance(days: 61) }
            #expect(account.state() == .expired)
            try account.buy("gold")
        }
    }
}

@Suite struct `buying` {
    @Test func `a consumable is a new transaction each time and never entitles`() throws {
        var account = TestAccount()
        let first = try account.buy("coins")
        let second = try account.buy("coins", quantity: 10)
        #expect(first.transaction.id != second.transaction.id)
        #expect(first.transaction.originalID == first.transaction.id)
        #expect(second.transaction.quantity == 10)
        #expect(first.transaction.price == usd(990))
        #expect(second.transaction.price == usd(9_900))
        #expect(!second.wasHeld)
        #expect(account.entitlement("coins") == nil)
        #expect(account.record.entryCount == 0)
    }

    @Test func `a non-consumable that is held is returned, and nothing is charged`() throws {
        var account = TestAccount()
        let first = try account.buy("lifetime")
        account.advance(days: 400)
        let second = try account.buy("lifetime")
        #expect(second.wasHeld)
        #expect(second.facts.isEmpty)
        #expect(second.transaction == first.transaction)
        #expect(account.entitlement("lifetime") == first.transaction)
        #expect(first.transaction.expirationDate == nil)
    }

    @Test func `a refunded non-consumable can be bought again`() throws {
        var account = TestAccount()
        let first = try account.buy("lifetime").transaction
        try account.refund(first.id)
        let second = try account.buy("lifetime")
        #expect(!second.wasHeld)
        #expect(second.transaction.originalID == second.transaction.id)
        #expect(account.entitlement("lifetime") == second.transaction)
    }

    @Test func `a non-renewing subscription is a new transaction each time, and the latest entitles`() throws {
        var account = TestAccount()
        try account.buy("season")
        account.advance(days: 30)
        let second = try account.buy("season")
        #expect(!second.wasHeld)
        #expect(account.entitlement("season") == second.transaction)
        account.advance(days: 4_000)
        #expect(account.entitlement("season") == second.transaction)
    }

    @Test func `a subscription begins its line`() throws {
        var account = TestAccount(at: at("2026-01-10T08:30:00Z"))
        let transaction = try account.buy("silver", token: "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d").transaction
        #expect(transaction.originalID == transaction.id)
        #expect(transaction.reason == .purchase)
        #expect(transaction.purchaseDate == account.now)
        #expect(transaction.originalPurchaseDate == account.now)
        #expect(transaction.expirationDate == at("2026-02-10T08:30:00Z"))
        #expect(transaction.subscriptionGroupID == "G")
        #expect(transaction.price == usd(9_990))
        #expect(transaction.offer == nil)
        #expect(!transaction.webOrderLineItemID.isEmpty)
        #expect(transaction.appTransactionID == "app-1")
        #expect(transaction.storefront == Storefront(countryCode: "USA", id: "143441"))

        let info = try account.renewalInfo()
        #expect(account.state() == .subscribed)
        #expect(info.willAutoRenew)
        #expect(info.autoRenewPreference == "silver")
        #expect(info.currentProductID == "silver")
        #expect(info.renewalDate == at("2026-02-10T08:30:00Z"))
        #expect(info.renewalPrice == usd(9_990))
        #expect(info.expirationReason == nil)
        #expect(!info.isInBillingRetry)
        #expect(info.recentSubscriptionStartDate == account.now)
        #expect(info.appAccountToken == "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d")
    }

    @Test func `a held subscription is returned, and nothing changes`() throws {
        var account = TestAccount()
        let first = try account.buy("silver").transaction
        account.advance(days: 3)
        let before = account.record
        let second = try account.buy("silver")
        #expect(second.wasHeld)
        #expect(second.transaction == first)
        #expect(account.record == before)
    }

    @Test func `a purchase is priced in the currency of the app's storefront`() throws {
        var settings = AppSettings()
        settings.storefront = "DEU"
        var account = TestAccount(settings: settings)
        #expect(try account.buy("coins").transaction.price == Money(milliunits: 990, currency: "EUR"))
        let transaction = try account.buy("silver").transaction
        #expect(transaction.price == Money(milliunits: 9_990, currency: "EUR"))
        #expect(transaction.storefront == Storefront(countryCode: "DEU", id: "143443"))
        #expect(try account.renewalInfo().renewalPrice == Money(milliunits: 9_990, currency: "EUR"))
    }

    @Test(
        arguments: [
            ("coins", 0, .purchaseInvalidQuantity), ("coins", 11, .purchaseInvalidQuantity),
            ("coins", .max, .purchaseInvalidQuantity), ("lifetime", 2, .purchaseInvalidQuantity),
            ("season", 2, .purchaseInvalidQuantity), ("silver", 2, .purchaseInvalidQuantity),
            ("silver", 0, .purchaseInvalidQuantity), ("nothing", 1, .purchaseProductUnavailable),
            ("", 1, .purchaseProductUnavailable), ("Silver", 1, .purchaseProductUnavailable),
        ] as [(String, UInt32, Refusal.Reason)])
    func `an order that cannot be is refused, and uses no number`(
        _ product: String, _ quantity: UInt32, _ reason: Refusal.Reason
    ) {
        var account = TestAccount()
        let before = account.record
        let error = #expect(throws: Refusal.self) { try account.buy(product, quantity: quantity) }
        #expect(error?.reason == reason)
        #expect(account.record == before)
        #expect(account.numbers == TransactionNumbers(next: 1))
    }

    @Test func `a price that does not fit is refused`() {
        let product = CatalogueProduct(
            id: "dear", type: .consumable, referenceName: "dear", price: usd(.max / 5), isFamilyShareable: false,
            localizations: [])
        var account = TestAccount(catalogue: Catalogue(products: [product], groups: [], schemaVersion: "4.0"))
        let error = #expect(throws: Refusal.self) { try account.buy("dear", quantity: 10) }
        #expect(error?.reason == .purchaseInvalidQuantity)
    }

    @Test func `each purchase of one customer has its own number, in order`() throws {
        var account = TestAccount()
        for product in ["coins", "lifetime", "season", "silver", "weekly", "coins"] { try account.buy(product) }
        #expect(account.rows.map(\.id) == [1, 2, 3, 4, 5, 6])
    }
}

/// Expected fields of the transactions of one line, from its purchase on.
struct OfferCase: Sendable, CustomTestStringConvertible {
    let name: String
    let offer: SubscriptionOffer
    let ends: [String]
    let prices: [Int64]
    let offers: [PaymentMode?]

    var testDescription: String { self.name }
}

@Suite struct `introductory offers` {
    @Test(arguments: [
        OfferCase(
            name: "a free trial is one period of the trial's length, then the standard price",
            offer: Shop.introductory(.freeTrial, Period(2, .week)),
            ends: ["2026-01-24", "2026-02-24", "2026-03-24"], prices: [0, 9_990, 9_990],
            offers: [.freeTrial, nil, nil]),
        OfferCase(
            name: "pay up front is one charge for the whole offer, then the standard price",
            offer: Shop.introductory(.payUpFront, Period(3, .month), price: 14_990),
            ends: ["2026-04-10", "2026-05-10", "2026-06-10"], prices: [14_990, 9_990, 9_990],
            offers: [.payUpFront, nil, nil]),
        OfferCase(
            name: "pay as you go is a discounted charge for each of its periods, then the standard price",
            offer: Shop.introductory(.payAsYouGo, Period(1, .month), count: 3, price: 1_990),
            ends: ["2026-02-10", "2026-03-10", "2026-04-10", "2026-05-10", "2026-06-10"],
            prices: [1_990, 1_990, 1_990, 9_990, 9_990],
            offers: [.payAsYouGo, .payAsYouGo, .payAsYouGo, nil, nil]),
    ])
    func `run through their periods to the standard price`(_ row: OfferCase) throws {
        var account = TestAccount(catalogue: Shop.catalogue(introductory: row.offer))
        #expect(isEligibleForIntroductoryOffer(account.record, groupID: "G"))
        try account.buy("silver")
        #expect(!isEligibleForIntroductoryOffer(account.record, groupID: "G"))
        for index in row.ends.indices {
            let transaction = try account.line().latest
            #expect(transaction.expirationDate == at(row.ends[index]), "period \(index)")
            #expect(transaction.price == usd(row.prices[index]), "period \(index)")
            #expect(transaction.offer?.paymentMode == row.offers[index], "period \(index)")
            #expect(transaction.offer?.type == (row.offers[index] == nil ? nil : .introductory))
            if index + 1 < row.ends.count {
                // The status announces the price that the next transaction has.
                #expect(try account.renewalInfo().renewalPrice == usd(row.prices[index + 1]), "period \(index)")
                #expect(try account.renewalInfo().offer?.paymentMode == row.offers[index + 1], "period \(index)")
            }
            try account.advanceToBoundary()
        }
    }

    @Test func `apply to one subscription of a group and never again in it`() throws {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(catalogue: Shop.catalogue(introductory: trial))
        #expect(try account.buy("silver").transaction.offer != nil)
        try account.expire()
        account.advance(days: 500)
        #expect(try account.buy("silver.twin").transaction.offer == nil)
        #expect(try account.buy("weekly").transaction.offer != nil, "another group has its own eligibility")
    }

    @Test func `apply to a customer who paid before and never used one`() throws {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(catalogue: Shop.catalogue(introductory: trial))
        #expect(try account.buy("gold").transaction.offer == nil)
        try account.expire()
        #expect(try account.buy("silver").transaction.offer?.paymentMode == .freeTrial)
    }

    @Test func `used once stay used when the trial is refunded`() throws {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(catalogue: Shop.catalogue(introductory: trial))
        try account.refund(try account.buy("silver").transaction.id)
        #expect(try account.buy("silver").transaction.offer == nil)
    }

    @Test func `introductory offers are open to an unknown account`() {
        #expect(isEligibleForIntroductoryOffer(nil, groupID: "G"))
    }

    @Test func `end with an upgrade, and the new plan is paid in full`() throws {
        let offer = Shop.introductory(.payAsYouGo, Period(1, .month), count: 3, price: 1_990)
        var account = TestAccount(catalogue: Shop.catalogue(introductory: offer))
        try account.buy("silver")
        account.advance(days: 5)
        let upgraded = try account.buy("gold").transaction
        #expect(upgraded.offer == nil)
        #expect(upgraded.price == usd(19_990))
        try account.advanceToBoundary()
        #expect(try account.line().latest.price == usd(19_990))
    }

    @Test func `introductory offers are neither announced nor charged for the plan of a pending change`() throws {
        let offer = Shop.introductory(.payAsYouGo, Period(1, .month), count: 3, price: 1_990)
        var account = TestAccount(catalogue: Shop.catalogue(introductory: offer))
        try account.buy("silver")
        try account.buy("bronze")
        #expect(try account.renewalInfo().renewalPrice == usd(4_990))
        #expect(try account.renewalInfo().offer == nil)
        try account.advanceToBoundary()
        #expect(try account.line().latest.offer == nil)
        #expect(try account.line().latest.price == usd(4_990))
    }
}

@Suite struct `subscribing again` {
    /// The time since the end of service, and whether the run of periods continues.
    @Test(
        arguments: [
            (0, true), (59 * day, true), (60 * day - 1, true), (60 * day, false), (400 * day, false),
        ] as [(Int64, Bool)])
    func `subscribing again keeps the line, and the start of the run if the lapse is under 60 days`(
        _ lapse: Int64, _ isKept: Bool
    )
        throws
    {
        var account = TestAccount(at: at("2026-01-10"))
        let first = try account.buy("silver").transaction
        try account.setAutoRenew(false)
        account.advance(to: at("2026-02-10").advanced(byMilliseconds: lapse))
        #expect(account.state() == .expired)
        let again = try account.buy("bronze").transaction
        #expect(again.id != first.id)
        #expect(again.originalID == first.id)
        #expect(again.originalPurchaseDate == first.purchaseDate)
        #expect(again.purchaseDate == account.now)
        #expect(again.reason == .purchase)
        #expect(account.statuses().statuses.count == 1)
        let info = try account.renewalInfo()
        #expect(info.recentSubscriptionStartDate == (isKept ? first.purchaseDate : account.now))
        #expect(info.expirationReason == nil)
        #expect(info.willAutoRenew)
        #expect(account.state() == .subscribed)
    }

    @Test func `the lapse counts from a refund before the period's end`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.refund(try account.buy("silver.yearly").transaction.id)
        account.advance(days: 60)
        try account.buy("silver")
        #expect(try account.renewalInfo().recentSubscriptionStartDate == account.now)
    }

    @Test func `the lapse counts from the end of grace, because grace is service`() throws {
        var account = TestAccount(
            at: at("2026-01-10"), settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        account.advance(to: at("2026-02-26").advanced(byMilliseconds: 60 * day - 1))
        #expect(account.state() == .expired)
        try account.buy("silver")
        #expect(try account.renewalInfo().recentSubscriptionStartDate == at("2026-01-10"))
    }

    /// Grace is from 10 to 26 February. When the customer cancels, or a tester ends it; from when on it is lost.
    @Test(
        arguments: [
            ("2026-02-20", "2026-02-20", false), ("2026-02-20", "2026-02-20", true),
            ("2026-03-05", "2026-02-26", false),
        ] as [(String, String, Bool)])
    func `the lapse counts from the shortened end of grace, if the line was ended in grace`(
        _ ended: String, _ lost: String, _ byHand: Bool
    ) throws {
        for (milliseconds, isKept) in [(60 * day - 1, true), (60 * day, false)] {
            var account = TestAccount(
                at: at("2026-01-10"), settings: Shop.settings(billingIssues: true, grace: true))
            try account.buy("silver")
            account.advance(to: at(ended))
            if byHand { try account.expire() } else { try account.setAutoRenew(false) }
            #expect(account.state() == .expired)
            #expect(try account.renewalInfo().expirationReason == .autoRenewDisabled)
            #expect(try !account.renewalInfo().isInBillingRetry)
            account.advance(to: at(lost).advanced(byMilliseconds: milliseconds))
            try account.buy("silver")
            let start = try account.renewalInfo().recentSubscriptionStartDate
            #expect(start == (isKept ? at("2026-01-10") : account.now))
        }
    }

    @Test func `in a retry period begins a new cycle of the same line and ends the retry`() throws {
        var account = TestAccount(at: at("2026-01-10"), settings: Shop.settings(billingIssues: true))
        let first = try account.buy("silver").transaction
        account.advance(to: at("2026-02-20"))
        #expect(account.state() == .inBillingRetryPeriod)
        try account.operate(.setCharges(fail: false))
        let again = try account.buy("silver").transaction
        #expect(again.originalID == first.id)
        #expect(again.expirationDate == at("2026-03-20"))
        #expect(account.state() == .subscribed)
        #expect(try !account.renewalInfo().isInBillingRetry)
    }

    @Test func `subscribing again begins on a new day of the month`() throws {
        var account = TestAccount(at: at("2026-01-31"))
        try account.buy("silver")
        try account.setAutoRenew(false)
        account.advance(to: at("2026-03-05"))
        #expect(try account.buy("silver").transaction.expirationDate == at("2026-04-05"))
    }
}
