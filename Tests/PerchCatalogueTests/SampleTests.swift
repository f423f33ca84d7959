import PerchCatalogue
import PerchJSON
import PerchModel
import Testing

/// The contents of a sample, counted by another program (Python's json), independent of the loader.
struct Expected: Sendable, CustomTestStringConvertible {
    let index: Int
    let summary: CatalogueSummary
    let settings: AppSettings
    /// How often each reason occurs.
    let warnings: [CatalogueWarning.Reason: Int]

    init(
        _ index: Int, _ version: String, products: [Int], groups: Int, offers: [Int],
        warnings: [CatalogueWarning.Reason: Int] = [:], settings change: (inout AppSettings) -> Void = { _ in }
    ) {
        self.index = index
        var summary = CatalogueSummary()
        summary.schemaVersion = version
        summary.consumableCount = products[0]
        summary.nonConsumableCount = products[1]
        summary.nonRenewingCount = products[2]
        summary.subscriptionCount = products[3]
        summary.groupCount = groups
        summary.introductoryOfferCount = offers[0]
        summary.promotionalOfferCount = offers[1]
        summary.codeOfferCount = offers[2]
        summary.winBackOfferCount = offers[3]
        self.summary = summary
        var settings = Made.defaults
        change(&settings)
        self.settings = settings
        self.warnings = warnings
    }

    var testDescription: String { Samples.names[self.index] }
}

@Suite struct `real files` {
    // Products: consumable, non-consumable, non-renewing, auto-renewable. Offers: introductory, promotional, code,
    // win-back. A price that is an empty string is in two of the eight.
    static let expected: [Expected] = [
        Expected(0, "1.1", products: [1, 2, 0, 5], groups: 2, offers: [0, 0, 0, 0], warnings: [.noPrice: 8]),
        Expected(
            1, "3.0", products: [1, 1, 1, 13], groups: 6, offers: [4, 5, 8, 0], warnings: [.emptyLocalization: 5]),
        Expected(
            2, "5.0", products: [1, 1, 1, 4], groups: 2, offers: [2, 2, 0, 0], warnings: [.emptyLocalization: 1]),
        Expected(3, "4.0", products: [1, 2, 0, 6], groups: 2, offers: [0, 0, 0, 2], warnings: [.noPrice: 7]) {
            $0.timeRate = TimeRate(rawValue: 1002) ?? .realTime
        },
        Expected(4, "2.0", products: [0, 1, 0, 2], groups: 1, offers: [0, 0, 0, 0]),
        Expected(
            5, "3.0", products: [0, 2, 1, 4], groups: 1, offers: [4, 1, 1, 0], warnings: [.freeOfferWithPrice: 2]
        ) {
            $0.timeRate = TimeRate(rawValue: 13) ?? .realTime
        },
        Expected(6, "5.0", products: [0, 1, 0, 1], groups: 1, offers: [0, 0, 1, 0]),
        Expected(7, "6.3", products: [0, 2, 0, 2], groups: 1, offers: [0, 0, 4, 0]) { $0.storefront = "SGP" },
    ]

    @Test(arguments: expected)
    func `a real file loads with the counts that another program finds in it`(_ expected: Expected) throws {
        let loaded = try StoreKitFile.load(try Samples.real(Samples.names[expected.index]))
        #expect(loaded.summary == expected.summary)
        var settings = expected.settings
        // The others say nothing of dialogs.
        settings.asksBeforePurchases = ["UnitTestsConfiguration", "StoreKitHelper", "joodle"].contains {
            Samples.names[expected.index].contains($0)
        }
        #expect(loaded.settings == settings)
        #expect(Dictionary(grouping: loaded.reasons) { $0 }.mapValues(\.count) == expected.warnings)
        for warning in loaded.warnings { #expect(warning.productID != "", "\(warning)") }
    }

    @Test(arguments: Samples.names)
    func `each product's own JSON is compact, in the file's order, and reads as the product`(_ name: String) throws {
        let loaded = try StoreKitFile.load(try Samples.real(name))
        for product in loaded.catalogue.products {
            let value = try JSONReader.read(product.json)
            #expect(value["productID"]?.string == product.id)
            #expect(value["referenceName"]?.string == product.referenceName)
            let keys = try #require(value.members).map(\.key)
            #expect(keys == keys.sorted(), "Xcode sorts its keys")
            #expect(!product.json.contains(UInt8(ascii: "\n")))
        }
    }

    @Test func `a file of the sixth schema keeps its seven locales and its stackable codes`() throws {
        let loaded = try StoreKitFile.load(try Samples.real("xmliszt--joodle--Store"))
        let yearly = try #require(loaded.catalogue.product("dev.liyuxuan.joodle.pro.yearly"))
        #expect(yearly.localizations.count == 7)
        #expect(yearly.localizations.first { $0.locale == "zh_Hant" }?.displayName == "Joodle Pro 年訂閱")
        #expect(yearly.price == Money(milliunits: 29_980, currency: "SGD"))
        #expect(yearly.isFamilyShareable)
        let codes = try #require(yearly.subscription?.codeOffers)
        #expect(codes.map(\.offer.id) == ["1 Month Free", "1 Year Free", "Mergeek 推广"])
        #expect(codes.map(\.isStackable) == [true, true, false])
        #expect(codes.allSatisfy { $0.eligibility == [.new, .existing, .expired] })
        #expect(loaded.catalogue.group("21852566")?.localizations.count == 7)
    }

    @Test func `a file of the fifth schema gives one introductory offer, not the mirrored one again, and its plans`()
        throws
    {
        let loaded = try StoreKitFile.load(try Samples.real("RevenueCat--purchases-ios--UnitTestsConfiguration"))
        let monthly = try #require(loaded.catalogue.product("com.revenuecat.monthly_4.99.1_week_intro")?.subscription)
        #expect(monthly.introductoryOffers.map(\.period) == [Period(3, .month)])
        #expect(monthly.promotionalOffers.map(\.paymentMode) == [.payUpFront, .payAsYouGo])
        #expect(monthly.promotionalOffers.map(\.price.milliunits) == [40_990, 20_150])
        #expect(monthly.promotionalOffers.map(\.periodCount) == [1, 2])
        #expect(monthly.billingPlans.isEmpty)
        let committed = try #require(loaded.catalogue.product("com.revenuecat.annual_with_commitment")?.subscription)
        #expect(committed.billingPlans.map(\.type) == [.upFront, .monthly])
        #expect(committed.billingPlans.map(\.price.milliunits) == [990, 500])
        #expect(committed.billingPlans.map(\.commitmentPrice.milliunits) == [990, 6_000])
        #expect(committed.billingPlans.map(\.chargeCount) == [1, 12])
    }

    @Test func `products stand in the order of the file, list by list`() throws {
        let loaded = try StoreKitFile.load(try Samples.real("circles-project--circles-ios--Products"))
        #expect(
            loaded.catalogue.products.map(\.id) == [
                "org.futo.circles.individual_lifetime", "com.temporary.id.nonconsumable.a",
                "com.temporary.id.nonconsumable.b", "org.futo.circles.individual_monthly",
                "org.futo.circles.family_monthly", "org.futo.circles.individual_yearly",
                "org.futo.circles.family_yearly",
            ])
    }
}
