import PerchBase
import PerchModel

/// A small shop with each kind of product.
///
/// | Product | Type | Group, level, period | Price |
/// |---|---|---|---|
/// | gold | auto-renewable | G, 1, a month | 19.99 |
/// | silver | auto-renewable | G, 2, a month | 9.99 |
/// | silver.twin | auto-renewable | G, 2, a month | 8.99 |
/// | silver.yearly | auto-renewable | G, 2, a year | 99.00 |
/// | bronze | auto-renewable | G, 3, a month | 4.99 |
/// | weekly | auto-renewable | H, 1, a week | 1.99 |
/// | coins | consumable | | 0.99 |
/// | lifetime | non-consumable | | 49.00 |
/// | season | non-renewing | | 14.99 |
enum Shop {
    static let all = [
        "gold", "silver", "silver.twin", "silver.yearly", "bronze", "weekly", "coins", "lifetime", "season",
    ]

    static func catalogue(
        introductory offer: SubscriptionOffer? = nil, without withdrawn: Set<String> = [], shareable: Set<String> = [],
        change: (inout CatalogueProduct) -> Void = { _ in }
    ) -> Catalogue {
        var products = [
            Self.subscription("gold", group: "G", level: 1, Period(1, .month), 19_990),
            Self.subscription("silver", group: "G", level: 2, Period(1, .month), 9_990, introductory: offer),
            Self.subscription("silver.twin", group: "G", level: 2, Period(1, .month), 8_990, introductory: offer),
            Self.subscription("silver.yearly", group: "G", level: 2, Period(1, .year), 99_000),
            Self.subscription("bronze", group: "G", level: 3, Period(1, .month), 4_990),
            Self.subscription("weekly", group: "H", level: 1, Period(1, .week), 1_990, introductory: offer),
            Self.product("coins", .consumable, 990),
            Self.product("lifetime", .nonConsumable, 49_000),
            Self.product("season", .nonRenewable, 14_990),
        ]
        products.removeAll { withdrawn.contains($0.id) }
        for index in products.indices {
            products[index].isFamilyShareable = shareable.contains(products[index].id)
            change(&products[index])
        }
        let groups = ["G", "H"].map { CatalogueGroup(id: $0, name: "Group \($0)", localizations: []) }
        return Catalogue(products: products, groups: groups, schemaVersion: "4.0")
    }

    /// The year of silver can be paid by the month: a commitment.
    static func billedMonthly() -> Catalogue {
        Self.catalogue { product in
            guard product.id == "silver.yearly" else { return }
            product.subscription?.billingPlans = [
                BillingPlan(type: .upFront, price: usd(99_000), commitmentPrice: usd(99_000), chargeCount: 1),
                BillingPlan(type: .monthly, price: usd(9_000), commitmentPrice: usd(108_000), chargeCount: 12),
            ]
        }
    }

    static func app(
        catalogue: Catalogue = Self.catalogue(), settings: AppSettings = AppSettings(),
        environment: AppEnvironment = .xcode
    ) -> AppState {
        let start = Instant(milliseconds: 0)
        return AppState(
            number: 1, bundleID: "com.example.shop", environment: environment, revision: 1, effective: start,
            committed: start, catalogue: catalogue, catalogueRevision: 1, catalogueSource: "test", settings: settings,
            clock: .frozen(at: start))
    }

    static func settings(
        _ rate: TimeRate = .realTime, billingIssues: Bool = false, grace: Bool = false, graceDays: Int64 = 16
    ) -> AppSettings {
        var settings = AppSettings()
        settings.timeRate = rate
        settings.areRenewalBillingIssuesEnabled = billingIssues
        settings.isGracePeriodEnabled = grace
        settings.gracePeriodDays = graceDays
        return settings
    }

    static func introductory(
        _ mode: PaymentMode, _ period: Period, count: Int32 = 1, price: Int64 = 0
    ) -> SubscriptionOffer {
        SubscriptionOffer(
            id: "", type: .introductory, paymentMode: mode, price: usd(price), period: period, periodCount: count)
    }

    /// A transaction of one of the shop's subscriptions, made by hand.
    static func transaction(
        _ id: TransactionID, of productID: String, group: String = "G", from start: Instant, to end: Instant?,
        ownership: OwnershipType = .purchased
    ) -> Transaction {
        var transaction = Transaction(
            id: id, originalID: id, appBundleID: "com.example.shop", productID: productID,
            productType: .autoRenewable, purchaseDate: start, originalPurchaseDate: start, environment: .xcode,
            storefront: Storefront(countryCode: "USA", id: "143441"), reason: .purchase, signedDate: start)
        transaction.subscriptionGroupID = group
        transaction.expirationDate = end
        transaction.ownership = ownership
        return transaction
    }

    private static func product(_ id: String, _ type: ProductType, _ price: Int64) -> CatalogueProduct {
        CatalogueProduct(
            id: id, type: type, referenceName: id, price: usd(price), isFamilyShareable: false, localizations: [])
    }

    private static func subscription(
        _ id: String, group: String, level: Int32, _ period: Period, _ price: Int64,
        introductory offer: SubscriptionOffer? = nil
    ) -> CatalogueProduct {
        var product = Self.product(id, .autoRenewable, price)
        var subscription = CatalogueSubscription(groupID: group, level: level, period: period)
        if let offer { subscription.introductoryOffers = [offer] }
        product.subscription = subscription
        return product
    }
}
