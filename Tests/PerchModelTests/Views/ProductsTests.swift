import PerchBase
import PerchModel
import Testing

@Suite struct `a products view` {
    /// One subscription with texts in these locales.
    static func app(locales: [String], appLocale: String = "en_US", storefront: String = "USA") -> AppState {
        let texts = locales.map { Localization(locale: $0, displayName: "name \($0)", description: "text \($0)") }
        var product = CatalogueProduct(
            id: "silver", type: .autoRenewable, referenceName: "never shown", price: usd(9_990),
            isFamilyShareable: true, localizations: texts)
        var subscription = CatalogueSubscription(groupID: "G", level: 2, period: Period(1, .month))
        subscription.introductoryOffers = [
            Shop.introductory(.payAsYouGo, Period(1, .month), count: 3, price: 1_990)
        ]
        product.subscription = subscription
        let group = CatalogueGroup(id: "G", name: "never shown", localizations: texts)
        var settings = AppSettings()
        settings.locale = appLocale
        settings.storefront = storefront
        return Shop.app(
            catalogue: Catalogue(products: [product], groups: [group], schemaVersion: "4.0"), settings: settings)
    }

    @Test func `products come once each in the order of the request, unsold ones apart`() {
        let value = products(
            ["gold", "nothing", "coins", "gold", "nothing", "silver", "other"], locale: "", storefront: "",
            app: Shop.app())
        #expect(value.products.map(\.id) == ["gold", "coins", "silver"])
        #expect(value.unavailableIDs == ["nothing", "other"])
    }

    @Test func `that are all unknown are an empty success`() {
        #expect(
            products(["x"], locale: "", storefront: "", app: Shop.app())
                == Products(products: [], unavailableIDs: ["x"]))
        #expect(
            products([], locale: "", storefront: "", app: Shop.app()) == Products(products: [], unavailableIDs: []))
    }

    @Test(arguments: [
        ("fr_FR", ["en_US", "fr_FR"], "fr_FR"),
        ("fr-FR", ["en_US", "fr_FR"], "fr_FR"),
        ("fr_CA", ["en_US", "fr", "fr_FR"], "fr"),
        ("fr", ["en_US", "fr_FR"], "fr_FR"),
        ("it", ["en_US", "de", "ja"], "de"),
        ("it", ["ja", "en_US"], "en_US"),
        ("it", ["ja", "ko"], "ja"),
        ("", ["en_US", "de"], "de"),
        ("zh_Hant", ["en_US", "zh_Hans", "zh_Hant"], "zh_Hant"),
        ("zh_Hant_TW", ["en_US", "zh_Hans", "zh_Hant"], "zh_Hant"),
        ("zh-Hant-HK", ["en_US", "zh_Hans", "zh_Hant"], "zh_Hant"),
        ("zh_TW", ["en_US", "zh_Hans", "zh_Hant"], "zh_Hant"),
        ("zh_SG", ["en_US", "zh_Hant", "zh_Hans"], "zh_Hans"),
        ("zh", ["en_US", "zh_Hant", "zh_Hans"], "zh_Hans"),
        ("zh_TW", ["en_US", "zh_Hans"], "zh_Hans"),
        ("pt_BR", ["en_US", "pt_PT"], "pt_PT"),
        ("es_MX", ["en_US", "es_ES", "es_419", "es"], "es"),
        ("f", ["en_US", "fr"], "en_US"),
    ])
    func `speak the request's locale, else its language, the app's locale, US English, the first there is`(
        _ locale: String, _ locales: [String], _ chosen: String
    ) throws {
        let app = Self.app(locales: locales, appLocale: "de")
        let product = try #require(products(["silver"], locale: locale, storefront: "", app: app).products.first)
        #expect(product.displayName == "name \(chosen)")
        #expect(product.description == "text \(chosen)")
        #expect(product.subscription?.groupDisplayName == "name \(chosen)")
    }

    @Test func `products without texts have empty ones`() throws {
        let product = try #require(
            products(["silver"], locale: "", storefront: "", app: Self.app(locales: [])).products.first)
        #expect(product.displayName.isEmpty)
        #expect(product.description.isEmpty)
        #expect(product.subscription?.groupDisplayName.isEmpty == true)
    }

    @Test(arguments: [
        ("", "", "USA", "$9.99", "$1.99"), ("DEU", "de_DE", "DEU", "9,99\u{A0}€", "1,99\u{A0}€"),
        ("GBR", "", "GBR", "£9.99", "£1.99"), ("XXX", "", "XXX", "$9.99", "$1.99"),
    ])
    func `a products view are priced in the currency of the request's storefront, their offers too`(
        _ storefront: String, _ locale: String, _ country: String, _ price: String, _ offer: String
    ) throws {
        let app = Self.app(locales: [])
        let product = try #require(
            products(["silver"], locale: locale, storefront: storefront, app: app).products.first)
        #expect(product.storefront.countryCode == country)
        #expect(product.displayPrice == price)
        #expect(product.price.milliunits == 9_990)
        #expect(product.price.currency == Storefronts.currency(of: country))
        #expect(product.subscription?.introductoryOffers.map(\.displayPrice) == [offer])
        #expect(product.subscription?.introductoryOffers.first?.price.currency == product.price.currency)
    }

    @Test func `name the image that the catalogue has, with its hash`() throws {
        let image = CatalogueImage(id: "A", hash: ContentHash(of: [1]), byteCount: 1)
        func shown(_ images: [CatalogueImage]) throws -> Product {
            var product = try #require(Shop.app().catalogue.product("coins"))
            product.promotionalImageID = "A"
            let catalogue = Catalogue(products: [product], groups: [], schemaVersion: "4.0", images: images)
            return try #require(
                products(["coins"], locale: "", storefront: "", app: Shop.app(catalogue: catalogue)).products.first)
        }
        #expect(try shown([image]).promotionalImageHash == image.hash.bytes)
        #expect(try shown([image]).promotionalImageID == "A")
        #expect(try shown([]).promotionalImageHash == [])
        #expect(try shown([]).promotionalImageID == "A")
    }

    @Test func `show what the catalogue says of a subscription`() throws {
        let product = try #require(
            products(["silver"], locale: "", storefront: "", app: Self.app(locales: [])).products.first)
        #expect(product.isFamilyShareable)
        let info = try #require(product.subscription)
        #expect(info.groupID == "G")
        #expect(info.groupLevel == 2)
        #expect(info.period == Period(1, .month))
        #expect(info.introductoryOffers.first?.periodCount == 3)
        let coins = try #require(products(["coins"], locale: "", storefront: "", app: Shop.app()).products.first)
        #expect(coins.subscription == nil)
    }
}
