import PerchBase
package import PerchModel

/// The shop of the model's checks: several levels, lengths and offers, and things that can be shared.
///
/// | Product | Type | Group, level, period | Price | Offers |
/// |---|---|---|---|---|
/// | gold | auto-renewable | plans, 1, a month | 19.99 | promotional |
/// | silver | auto-renewable | plans, 2, a month | 9.99 | trial of a week; promotional, code, win-back |
/// | silver.twin | auto-renewable | plans, 2, a month | 8.99 | three months at 1.99; a code that goes behind them |
/// | silver.yearly | auto-renewable | plans, 2, a year | 99.00, or 9.00 a month | |
/// | silver.quarterly | auto-renewable | plans, 2, three months | 26.99 | |
/// | bronze | auto-renewable | plans, 3, a month | 4.99 | an offer with a code that works once, and one that works twice |
/// | weekly | auto-renewable | news, 1, a week | 1.99 | two weeks for 2.50 |
/// | quarterly | auto-renewable | news, 1, three months | 7.99 | |
/// | coins | consumable | | 0.99 | a code, and one that works once |
/// | lifetime | non-consumable | | 49.00 | a code |
/// | season | non-renewing | | 14.99 | |
package enum ModelShop {
    package static let bundleID = "com.example.model"
    package static let subscriptions = [
        "gold", "silver", "silver.twin", "silver.yearly", "silver.quarterly", "bronze", "weekly", "quarterly",
    ]
    package static let others = ["coins", "lifetime", "season"]
    package static let groups = ["plans", "news"]

    private static let groupOfSubscription: [String: String] = {
        let pairs = Self.catalogue().products.compactMap { product in
            product.subscription.map { (product.id, $0.groupID) }
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    /// Empty for products without subscription.
    package static func group(of product: String) -> String { self.groupOfSubscription[product, default: ""] }

    package static func catalogue() -> Catalogue {
        let month = Period(1, .month)
        let products = [
            plan("gold", "plans", level: 1, month, 19_990, shared: true) { subscription in
                subscription.promotionalOffers = [offer("gold.half", .promotional, .payUpFront, 9_990, month)]
            },
            plan("silver", "plans", level: 2, month, 9_990, shared: true) { subscription in
                Self.setSilverOffers(&subscription)
            },
            plan("silver.twin", "plans", level: 2, month, 8_990) { subscription in
                subscription.introductoryOffers = [
                    offer("", .introductory, .payAsYouGo, 1_990, month, count: 3)
                ]
                subscription.codeOffers = [
                    CodeOffer(
                        offer: offer("BEHIND", .code, .payAsYouGo, 2_990, month, count: 2),
                        eligibility: [.new, .existing, .expired], isStackable: true)
                ]
            },
            plan("silver.yearly", "plans", level: 2, Period(1, .year), 99_000) { subscription in
                subscription.billingPlans = [
                    BillingPlan(type: .upFront, price: price(99_000), commitmentPrice: price(99_000), chargeCount: 1),
                    BillingPlan(type: .monthly, price: price(9_000), commitmentPrice: price(108_000), chargeCount: 12),
                ]
            },
            // Months like silver, but another number of them, so another length.
            plan("silver.quarterly", "plans", level: 2, Period(3, .month), 26_990),
            plan("bronze", "plans", level: 3, month, 4_990) { subscription in
                subscription.codeOffers = [
                    CodeOffer(
                        offer: offer("bronze.code", .code, .freeTrial, 0, month), eligibility: .all, isStackable: false,
                        codes: [OfferCode(code: "ONE", redemptionLimit: 1), OfferCode(code: "TWO", redemptionLimit: 2)])
                ]
            },
            plan("weekly", "news", level: 1, Period(1, .week), 1_990) { subscription in
                subscription.introductoryOffers = [
                    offer("", .introductory, .payUpFront, 2_500, Period(2, .week))
                ]
            },
            // Weeks and months in one group, so that plans of both compete.
            plan("quarterly", "news", level: 1, Period(3, .month), 7_990),
            product("coins", .consumable, 990) { product in
                product.codeOffers = [
                    CodeOffer(offer: .oneTime("SPRING", price: price(490)), eligibility: .all, isStackable: false),
                    CodeOffer(
                        offer: .oneTime("gifts", price: price(0)), eligibility: .all, isStackable: false,
                        codes: [OfferCode(code: "GIFT", redemptionLimit: 1)]),
                ]
            },
            product("lifetime", .nonConsumable, 49_000, shared: true) { product in
                product.codeOffers = [
                    CodeOffer(offer: .oneTime("LIFELONG", price: price(19_000)), eligibility: .all, isStackable: false)
                ]
            },
            product("season", .nonRenewable, 14_990),
        ]
        let groups = Self.groups.map { CatalogueGroup(id: $0, name: $0, localizations: []) }
        return Catalogue(products: products, groups: groups, schemaVersion: "4.0")
    }

    /// One offer of each kind, several of some.
    private static func setSilverOffers(_ subscription: inout CatalogueSubscription) {
        let month = Period(1, .month)
        subscription.introductoryOffers = [offer("", .introductory, .freeTrial, 0, Period(1, .week))]
        subscription.promotionalOffers = [
            offer("half", .promotional, .payAsYouGo, 4_990, month, count: 2),
            offer("upfront", .promotional, .payUpFront, 15_000, Period(3, .month)),
        ]
        subscription.codeOffers = [
            CodeOffer(
                offer: offer("WELCOME", .code, .freeTrial, 0, month), eligibility: [.new, .expired],
                isStackable: false),
            CodeOffer(
                offer: offer("LOYAL", .code, .payAsYouGo, 1_000, month), eligibility: [.existing],
                isStackable: false),
        ]
        var rule = WinBackRule()
        rule.paidMonthsMin = 1
        rule.lapsedMonthsMin = 1
        rule.lapsedMonthsMax = 6
        // Longer than three months of the offer and one of lapse, so its beginning matters.
        rule.waitMonths = 5
        subscription.winBackOffers = [
            WinBackOffer(
                offer: offer("back", .winBack, .payAsYouGo, 990, month, count: 3), isEligible: false,
                isHighPriority: false, rule: rule),
            WinBackOffer(
                offer: offer("soon", .winBack, .freeTrial, 0, month), isEligible: true, isHighPriority: false),
        ]
    }

    private static func price(_ milliunits: Int64) -> Money { Money(milliunits: milliunits, currency: "USD") }

    private static func offer(
        _ id: String, _ type: OfferType, _ mode: PaymentMode, _ milliunits: Int64, _ period: Period,
        count: Int32 = 1
    ) -> SubscriptionOffer {
        SubscriptionOffer(
            id: id, type: type, paymentMode: mode, price: price(milliunits), period: period, periodCount: count)
    }

    private static func product(
        _ id: String, _ type: ProductType, _ milliunits: Int64, shared: Bool = false,
        _ change: (inout CatalogueProduct) -> Void = { _ in }
    ) -> CatalogueProduct {
        var product = CatalogueProduct(
            id: id, type: type, referenceName: id, price: price(milliunits), isFamilyShareable: shared,
            localizations: [Localization(locale: "en_US", displayName: id, description: "")])
        change(&product)
        return product
    }

    private static func plan(
        _ id: String, _ group: String, level: Int32, _ period: Period, _ milliunits: Int64, shared: Bool = false,
        _ change: (inout CatalogueSubscription) -> Void = { _ in }
    ) -> CatalogueProduct {
        var plan = product(id, .autoRenewable, milliunits, shared: shared)
        var subscription = CatalogueSubscription(groupID: group, level: level, period: period)
        change(&subscription)
        plan.subscription = subscription
        return plan
    }
}
