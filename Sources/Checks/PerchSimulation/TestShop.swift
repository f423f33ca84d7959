import PerchBase
package import PerchModel

/// A small shop with each kind of product, for tests of everything above the model.
///
/// | Product | Type | Group, level, period | Price |
/// |---|---|---|---|
/// | gold | auto-renewable | plans, 1, a month | 19.99 |
/// | silver | auto-renewable | plans, 2, a month | 9.99 |
/// | weekly | auto-renewable | news, 1, a week | 1.99 |
/// | coins | consumable | | 0.99 |
/// | lifetime | non-consumable | | 49.00 |
/// | season | non-renewing | | 14.99 |
package enum TestShop {
    package static let bundleID = "com.example.shop"
    package static let all = ["gold", "silver", "weekly", "coins", "lifetime", "season"]
    package static let groups = ["plans", "news"]

    package static func catalogue(
        prices: [String: Int64] = [:], names: [String: String] = [:], without withdrawn: Set<String> = [],
        jsonBytes: Int = 0, extra: [CatalogueProduct] = [], shareable: Set<String> = []
    ) -> Catalogue {
        func product(_ id: String, _ type: ProductType, _ price: Int64) -> CatalogueProduct {
            CatalogueProduct(
                id: id, type: type, referenceName: id, price: Money(milliunits: prices[id] ?? price, currency: "USD"),
                isFamilyShareable: shareable.contains(id),
                localizations: [
                    Localization(locale: "en_US", displayName: names[id] ?? "The \(id)", description: "One \(id)"),
                    Localization(locale: "de", displayName: "Das \(id)", description: "Ein \(id)"),
                ],
                json: (0..<jsonBytes).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) })
        }
        func plan(
            _ id: String, _ group: String, level: Int32, _ period: Period, _ price: Int64
        ) -> CatalogueProduct {
            var plan = product(id, .autoRenewable, price)
            plan.subscription = CatalogueSubscription(groupID: group, level: level, period: period)
            return plan
        }
        let products = [
            plan("gold", "plans", level: 1, Period(1, .month), 19_990),
            plan("silver", "plans", level: 2, Period(1, .month), 9_990),
            plan("weekly", "news", level: 1, Period(1, .week), 1_990),
            product("coins", .consumable, 990),
            product("lifetime", .nonConsumable, 49_000),
            product("season", .nonRenewable, 14_990),
        ]
        let groups = Self.groups.map { CatalogueGroup(id: $0, name: $0, localizations: []) }
        return Catalogue(
            products: (products + extra).filter { !withdrawn.contains($0.id) }, groups: groups, schemaVersion: "4.0")
    }

    /// A month lasts five minutes, a week three.
    package static func settings(
        _ rate: String = "monthlyRenewalEveryFiveMinutes", storefront: String = "USA", locale: String = "en_US",
        billingIssues: Bool = false, grace: Bool = false
    ) -> AppSettings {
        var settings = AppSettings()
        settings.timeRate = TimeRate(named: rate) ?? .realTime
        settings.storefront = storefront
        settings.locale = locale
        settings.areRenewalBillingIssuesEnabled = billingIssues
        settings.isGracePeriodEnabled = grace
        return settings
    }

    /// A length of a month at the shop's own time rate, in milliseconds.
    package static let month: Int64 = 5 * 60_000
}
