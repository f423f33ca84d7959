import PerchBase
import PerchCatalogue
import PerchJSON
import PerchModel
import Testing

@Suite struct `products in a file` {
    private let a = Made.product("a")
    private let s = Made.subscription("s")

    @Test func `the smallest file has a product's ID and type`() throws {
        let loaded = try StoreKitFile.load(
            Array("{\"products\":[{\"productID\":\"a\",\"type\":\"NonConsumable\"}]}".utf8))
        let product = try #require(loaded.catalogue.product("a"))
        #expect(product.type == .nonConsumable)
        #expect(product.referenceName == "" && product.localizations == [] && product.promotionalImageID == "")
        #expect(product.price == Money(milliunits: 0, currency: "USD"))
        #expect(!product.isFamilyShareable)
        #expect(product.subscription == nil)
        #expect(loaded.catalogue.schemaVersion == "")
        #expect(loaded.settings == Made.defaults)
        #expect(loaded.reasons == [.noPrice, .emptyLocalization])
        #expect(
            loaded.summary.description
                == "schema not stated: 1 product (1 non-consumable), 0 subscription groups, 0 offers")
    }

    /// Levels that we map: a file with `x` at that level, and what the warning calls it.
    static let unknown: [(level: String, made: Made)] = {
        let s = Made.subscription("s")
        let offer = "[\(Made.offer.with("x", "1").json)]"
        return [
            ("the file", Made.file(s).with("x", "1")),
            ("the version", Made.file(s).with("version", "{\"major\":4,\"minor\":0,\"x\":1}")),
            ("the settings", Made.file(s).with("settings", "{\"x\":1}")),
            ("a failure", Made.file(s).with("settings", "{\"_storeKitErrors\":[{\"name\":\"Purchase\",\"x\":1}]}")),
            ("the policies", Made.file(s).with("appPolicies", "{\"x\":1}")),
            ("a policy", Made.file(s).with("appPolicies", "{\"policies\":[{\"locale\":\"en\",\"x\":1}]}")),
            ("a product", Made.file(products: [Made.product("a").with("x", "1")])),
            ("a product", Made.file(nonRenewing: [Made.product("a", type: "NonRenewingSubscription").with("x", "1")])),
            (
                "a localization",
                Made.file(s.with("localizations", "[{\"locale\":\"en\",\"displayName\":\"N\",\"x\":1}]"))
            ),
            ("a subscription group", Made.file(groups: [Made.group("g", [s]).with("x", "1")])),
            ("a subscription", Made.file(s.with("x", "1"))),
            ("an offer", Made.file(s.with("introductoryOffer", Made.offer.with("x", "1").json))),
            ("an offer", Made.file(s.with("introductoryOffers", offer))),
            ("an offer", Made.file(s.with("adHocOffers", offer))),
            ("an offer", Made.file(s.with("codeOffers", offer))),
            ("an offer", Made.file(s.with("winbackOffers", offer))),
            (
                "a billing plan",
                Made.file(
                    s.with("billingPlans", "[{\"billingPlanType\":\"BILLED_UPFRONT\",\"isEnabled\":true,\"x\":1}]"))
            ),
        ]
    }()

    @Test(arguments: unknown.indices)
    func `an unknown key at a level that we map is ignored and reported at its place`(_ index: Int) throws {
        let (level, made) = Self.unknown[index]
        let loaded = try made.load()
        #expect(loaded.reasons == [.unknownKey])
        let warning = try #require(loaded.warnings.first)
        #expect(warning.message == "the key \"x\" is unknown in \(level); ignored")
        let offset = try #require(made.json.firstRange(of: "\"x\":1")).lowerBound
        #expect(warning.place == JSONPlace(line: 1, column: UInt32(made.json[..<offset].count + 1)))
        #expect(!warning.message.contains("line"))
    }

    @Test func `keys known to be irrelevant are ignored silently`() throws {
        let settings = """
            {"_applicationInternalID":"1","_developerTeamID":"T","_lastSynchronizedDate":804965276.43550706,\
            "_shouldSetupSyncOnLoad":true,"_failTransactionsEnabled":false,"_storeKitError":0,"_compatibilityTimeRate":6}
            """
        let loaded = try Made.file(products: [self.a.with("internalID", "\"1\"")]).with("identifier", "\"A\"")
            .with("subscriptionBundleGroups", "[]").with("subscriptionSuiteGroups", "[]")
            .with("subscriptionOffersKeyPair", "{\"id\":\"1\",\"privateKey\":\"2\"}").with("settings", settings).load()
        #expect(loaded.warnings == [])
        #expect(loaded.settings == Made.defaults)
    }

    @Test(arguments: ["{\"major\":2,\"minor\":0}", "{\"major\":6,\"minor\":3}", "{\"major\":1,\"minor\":0}"])
    func `no field depends on the version`(_ version: String) throws {
        let offers = Made.list([Made.offer.with("isEligible", "true")])
        let loaded = try Made.file(self.s.with("winbackOffers", offers)).with("version", version)
            .with("settings", "{\"_timeRate\":1005}").load()
        #expect(loaded.summary.winBackOfferCount == 1)
        #expect(loaded.settings.timeRate.rawValue == 1005)
        #expect(loaded.warnings == [])
    }

    @Test(arguments: [
        "\"4.0\"", "4", "{\"major\":4}", "{\"major\":\"four\",\"minor\":0}", "[]", "{\"major\":4.5,\"minor\":0}",
    ])
    func `a version that is none is reported and shown as not stated`(_ version: String) throws {
        let loaded = try Made.file(products: [self.a]).with("version", version).load()
        #expect(loaded.catalogue.schemaVersion == "")
        #expect(loaded.reasons == [.unusableValue])
    }

    @Test(arguments: [
        ("{\"major\":6,\"minor\":4}", "6.4"), ("{\"major\":99,\"minor\":1}", "99.1"),
        ("{\"major\":0,\"minor\":9}", "0.9"),
    ])
    func `an unknown schema version is reported, and the file is used`(_ version: String, _ shown: String)
        throws
    {
        let loaded = try Made.file(products: [self.a]).with("version", version).load()
        #expect(loaded.catalogue.schemaVersion == shown)
        #expect(loaded.reasons == [.schemaVersion])
        #expect(
            loaded.warnings[0].message
                == "the schema version is \(shown), versions 1.0 to 6.3 are known; known keys are used, check the catalogue "
                + "with `perch catalog show`")
    }

    @Test func `a new file without products is an empty catalogue, with a warning`() throws {
        let text = #"{"identifier":"5CE7A210","version":{"major":4,"minor":0}}"#
        let loaded = try StoreKitFile.load(Array(text.utf8))
        #expect(loaded.catalogue.products.isEmpty)
        #expect(loaded.catalogue.schemaVersion == "4.0")
        #expect(loaded.reasons == [.noProducts])
        #expect(
            loaded.warnings[0].message
                == "no product in the file; the catalogue is empty until products are added")
    }

    @Test(arguments: ["xx_YY", "english", "en_USA", "en_us", "EN", "en_US_x", "en__US", "zh_hans"])
    func `a locale that does not exist is reported, and its text is kept`(_ locale: String) throws {
        let texts = "[{\"locale\":\"\(locale)\",\"displayName\":\"N\"}]"
        let loaded = try Made.file(products: [self.a.with("localizations", texts)]).load()
        #expect(loaded.catalogue.product("a")?.localizations.map(\.locale) == [locale])
        #expect(loaded.reasons == [.locale])
        #expect(loaded.warnings[0].message.contains("the locale \"\(locale)\" is unknown"))
    }

    @Test(arguments: ["en", "en_US", "en-GB", "zh_Hans", "zh_Hant_TW", "es_419", "pt_BR", "fil_PH", "ar"])
    func `a locale of a language that exists is used without a word`(_ locale: String) throws {
        let texts = "[{\"locale\":\"\(locale)\",\"displayName\":\"N\"}]"
        #expect(try Made.file(products: [self.a.with("localizations", texts)]).load().warnings == [])
    }

    @Test(arguments: [("\"2\"", "\"2\""), ("2.0", "2.0"), ("2.00", "2.00")])
    func `a level of service that can only mean 2 is 2, with a warning`(_ json: String, _ found: String) throws {
        let loaded = try Made.file(self.s.with("groupNumber", json)).load()
        #expect(loaded.catalogue.product("s")?.subscription?.level == 2)
        #expect(
            loaded.warnings.map(\.message) == ["\"groupNumber\" is \(found), not an integer; used as 2, write 2"])
    }

    @Test func `a version whose numbers are strings is read as numbers`() throws {
        let loaded = try Made.file(products: [self.a]).with("version", "{\"major\":\"4\",\"minor\":0.0}").load()
        #expect(loaded.catalogue.schemaVersion == "4.0")
        #expect(loaded.reasons == [.unusableValue, .unusableValue])
    }

    @Test func `null stands for a missing value everywhere`() throws {
        let product = self.a.with("familyShareable", "null").with("referenceName", "null")
        let loaded = try Made.file(
            products: [product], groups: [.group("g", [self.s.with("introductoryOffer", "null")])]
        )
        .with("settings", "null").with("appPolicies", "null").with("version", "null")
        .with("nonRenewingSubscriptions", "null").load()
        #expect(loaded.summary.productCount == 2)
        #expect(loaded.warnings == [])
    }

    @Test(arguments: [
        ("0", 0), ("29", 29_000), ("4900", 4_900_000), ("0.5", 500), ("0.99", 990), ("4.99", 4_990), ("10.995", 10_995),
        ("0.1", 100), ("1.10", 1_100), ("9223372036854775.807", Int64.max),
    ])
    func `a price is the decimal that the file writes, exactly, quoted or not`(_ text: String, _ milliunits: Int64)
        throws
    {
        let loaded = try Made.file(products: [self.a.with("displayPrice", "\"\(text)\"")]).load()
        #expect(loaded.catalogue.product("a")?.price == Money(milliunits: milliunits, currency: "USD"))
        #expect(loaded.warnings == [])
        let bare = try Made.file(products: [self.a.with("displayPrice", text)]).load()
        #expect(bare.catalogue.product("a")?.price == Money(milliunits: milliunits, currency: "USD"))
        #expect(bare.reasons == [.unusableValue])
    }

    @Test(arguments: [("JPN", "JPY"), ("DEU", "EUR"), ("GBR", "GBP"), ("SGP", "SGD"), ("USA", "USD")])
    func `the currency of every price is the storefront's`(_ storefront: String, _ currency: String) throws {
        let plans = """
            [{"billingPlanType":"MONTHLY","displayPrice":"1","commitmentDisplayPrice":"12","isEnabled":true}]
            """
        let yearly = self.s.with("recurringSubscriptionPeriod", "\"P1Y\"").with("billingPlans", plans)
            .with("introductoryOffer", Made.offer.json)
            .with(
                "adHocOffers",
                Made.list([Made.offer.with("paymentMode", "\"payUpFront\"").with("displayPrice", "\"2\"")]))
        let loaded = try Made.file(yearly).with("settings", "{\"_storefront\":\"\(storefront)\"}").load()
        let product = try #require(loaded.catalogue.product("s"))
        let subscription = try #require(product.subscription)
        let prices =
            [product.price] + subscription.introductoryOffers.map(\.price) + subscription.promotionalOffers.map(\.price)
            + subscription.billingPlans.flatMap { [$0.price, $0.commitmentPrice] }
        #expect(prices.count == 5)
        #expect(Set(prices.map(\.currency)) == [currency])
        #expect(loaded.settings.storefront == storefront)
        #expect(loaded.warnings == [])
    }

    @Test(arguments: [nil, "\"\"", "null"])
    func `a product without a price is sold for nothing, and reported`(_ price: String?) throws {
        let product = price.map { self.a.with("displayPrice", $0) } ?? self.a.without("displayPrice")
        let loaded = try Made.file(products: [product]).load()
        #expect(loaded.catalogue.product("a")?.price.milliunits == 0)
        #expect(loaded.reasons == [.noPrice])
        #expect(loaded.warnings[0].productID == "a")
    }

    @Test func `an internal ID is nothing: missing, twice the same, or a number`() throws {
        let products = [
            self.a.with("internalID", "\"X\""), .product("b").with("internalID", "\"X\""),
            .product("c").with("internalID", "7"),
        ]
        let loaded = try Made.file(products: products).load()
        #expect(loaded.catalogue.products.map(\.id) == ["a", "b", "c"])
        #expect(loaded.warnings == [])
    }

    @Test(arguments: [
        ("Consumable", ProductType.consumable, false), ("NonConsumable", .nonConsumable, true),
    ])
    func `a product is family shareable only if its type can be`(_ name: String, _ type: ProductType, _ can: Bool)
        throws
    {
        let loaded = try Made.file(products: [Made.product("a", type: name).with("familyShareable", "true")]).load()
        #expect(loaded.catalogue.product("a")?.type == type)
        #expect(loaded.catalogue.product("a")?.isFamilyShareable == can)
        #expect(loaded.reasons == (can ? [] : [.unusableValue]))
    }

    @Test func `a switch or text of the wrong kind is taken as missing, and reported`() throws {
        let product = self.a.with("familyShareable", "\"yes\"").with("referenceName", "7").with(
            "promotionalImageID", "[]"
        )
        .with("localizations", "{}")
        let loaded = try Made.file(products: [product]).load()
        #expect(loaded.catalogue.product("a")?.isFamilyShareable == false)
        #expect(loaded.catalogue.product("a")?.referenceName == "")
        #expect(loaded.reasons.count { $0 == .unusableValue } == 4)
    }

    // MARK: Texts

    @Test func `texts may be empty; a missing name is reported, a missing description is not`() throws {
        let texts =
            "[{\"locale\":\"de\",\"displayName\":\"Name\"},{\"locale\":\"fr\",\"displayName\":\"\",\"description\":\"x\"}]"
        let loaded = try Made.file(products: [self.a.with("localizations", texts)]).load()
        #expect(
            loaded.catalogue.product("a")?.localizations == [
                Localization(locale: "de", displayName: "Name", description: ""),
                Localization(locale: "fr", displayName: "", description: "x"),
            ])
        #expect(loaded.reasons == [.emptyLocalization])
    }

    @Test func `a group may have no text; a product without any is reported`() throws {
        let loaded = try Made.file(self.s.with("localizations", "[]")).load()
        #expect(loaded.reasons == [.emptyLocalization])
        #expect(loaded.warnings[0].productID == "s")
    }

    @Test func `a locale is kept in the underscore form, and the first text of a locale counts`() throws {
        let texts = """
            [{"locale":"pt-BR","displayName":"1"},{"locale":"pt_BR","displayName":"2"},{"displayName":"3"},"x"]
            """
        let loaded = try Made.file(products: [self.a.with("localizations", texts)]).load()
        #expect(loaded.catalogue.product("a")?.localizations.map(\.locale) == ["pt_BR", ""])
        #expect(loaded.catalogue.product("a")?.localizations.map(\.displayName) == ["1", "3"])
        #expect(loaded.reasons == [.leftOut, .unusableValue, .leftOut])
    }

    @Test func `policies are the app's; the empty one that Xcode writes is none`() throws {
        let policies = """
            {"eula":"Be kind.","policies":[{"locale":"en_US","policyText":"","policyURL":""},\
            {"locale":"de-DE","policyText":"Wir merken uns nichts.","policyURL":"https://perch.example/de"}]}
            """
        let loaded = try Made.file(products: [self.a]).with("appPolicies", policies).load()
        #expect(loaded.catalogue.policies.licenceAgreement == "Be kind.")
        #expect(
            loaded.catalogue.policies.privacyPolicies == [
                AppPolicies.PrivacyPolicy(
                    locale: "de_DE", text: "Wir merken uns nichts.", url: "https://perch.example/de")
            ])
        #expect(loaded.warnings == [])
    }

    // MARK: Where products stand

    @Test(arguments: [
        ("Consumable", ProductType.consumable), ("NonConsumable", .nonConsumable),
        ("NonRenewingSubscription", .nonRenewable),
    ])
    func `a product in a group that is no subscription is sold outside of it, and reported`(
        _ name: String, _ type: ProductType
    ) throws {
        let loaded = try Made.file(groups: [.group("g", [.product("a", type: name), self.s])]).load()
        #expect(loaded.catalogue.product("a")?.type == type)
        #expect(loaded.catalogue.product("a")?.subscription == nil)
        #expect(loaded.reasons == [.misplaced])
        #expect(loaded.warnings[0].productID == "a")
        #expect(loaded.warnings[0].message.contains("sold as what its type says"))
    }

    @Test func `products in the wrong one of two plain lists are sold as what they say, and reported`() throws {
        let loaded = try Made.file(
            products: [.product("n", type: "NonRenewingSubscription")], nonRenewing: [.product("c")]
        ).load()
        #expect(loaded.catalogue.products.map(\.type) == [.nonRenewable, .consumable])
        #expect(loaded.reasons == [.misplaced, .misplaced])
        #expect(loaded.warnings[0].message.contains("\"nonRenewingSubscriptions\""))
    }

    @Test func `a subscription outside of all groups joins the group that it names, even one further down`() throws {
        let stray = self.s.with("subscriptionGroupID", "\"g\"")
        let loaded = try Made.file(products: [stray], groups: [.group("g", [.subscription("t")])]).load()
        #expect(loaded.catalogue.products.map(\.id) == ["s", "t"])
        #expect(loaded.catalogue.product("s")?.subscription?.groupID == "g")
        #expect(loaded.reasons == [.misplaced])
    }

    @Test func `a product of an unknown type is left out, and the rest is sold`() throws {
        let loaded = try Made.file(products: [
            self.a.with("type", "\"Bundle\""), .product("b"), .product("c").without("type"),
            .product("d").with("type", "1"),
        ]).load()
        #expect(loaded.catalogue.products.map(\.id) == ["b"])
        #expect(loaded.reasons == [.unsupported, .unsupported, .unsupported])
        #expect(loaded.warnings.map(\.productID) == ["a", "c", "d"])
        #expect(loaded.warnings[0].message == "the type \"Bundle\" is unknown; the product is left out")
    }

    @Test func `a product without a type is what its list holds, where that holds one type`() throws {
        let loaded = try Made.file(
            nonRenewing: [self.a.without("type")], groups: [.group("g", [self.s.without("type")])]
        ).load()
        #expect(loaded.catalogue.product("a")?.type == .nonRenewable)
        #expect(loaded.catalogue.product("s")?.type == .autoRenewable)
        #expect(loaded.reasons == [.unusableValue, .unusableValue])
    }

    @Test func `lists in any order give products in the order of the file`() throws {
        let text = """
            {"subscriptionGroups":\(Made.list([.group("g", [self.s])])),"products":\(Made.list([self.a])),\
            "nonRenewingSubscriptions":\(Made.list([.product("n", type: "NonRenewingSubscription")]))}
            """
        #expect(try StoreKitFile.load(Array(text.utf8)).catalogue.products.map(\.id) == ["s", "a", "n"])
    }

    @Test(arguments: ["subscriptionBundleGroups", "subscriptionSuiteGroups"])
    func `bundles and suites are accepted empty and reported as unsupported otherwise`(_ key: String) throws {
        #expect(try Made.file(products: [self.a]).with(key, "[]").load().warnings == [])
        // As Xcode 27 writes a group of suites before it has a product.
        let empty = "[{\"id\":\"E6F94E48\",\"localizations\":[],\"name\":\"Plans\",\"subscriptions\":[]}]"
        #expect(try Made.file(products: [self.a]).with(key, empty).load().warnings == [])
        let suite = Made(members: [
            ("displayPrice", "\"99.99\""), ("duration", "\"P1Y\""), ("groupNumber", "1"), ("members", "[]"),
            ("introductoryOffers", "[]"), ("isFamilyShareable", "false"), ("productID", "\"all.yearly\""),
            ("type", "\"SubscriptionSuite\""),
        ])
        let loaded = try Made.file(products: [self.a]).with(key, Made.list([.group("S", [suite, suite])])).load()
        #expect(loaded.reasons == [.unsupported, .unsupported], "one for each product that is not sold")
        #expect(loaded.warnings.first?.productID == "all.yearly")
        #expect(loaded.catalogue.products.map(\.id) == ["a"])
    }

    @Test func `a group that stands twice is one group, with the names of the first`() throws {
        let twice = Made.file(groups: [
            Made.group("g", [self.s]), Made.group("g", [Made.subscription("t")]).with("name", "\"Other\""),
        ])
        let loaded = try twice.load()
        #expect(loaded.reasons == [.duplicateGroup])
        #expect(loaded.warnings.first?.message.contains("\"g\" stands already at") == true)
        #expect(loaded.catalogue.groups.map(\.name) == ["Group"])
        #expect(loaded.catalogue.products.map(\.id) == ["s", "t"])
        #expect(loaded.catalogue.products.map(\.subscription?.groupID) == ["g", "g"])
    }

    @Test(arguments: ["introductoryOffer", "adHocOffers", "codeOffers", "winbackOffers"])
    func `an offer of the payment mode none is no offer, as in Xcode's editor`(_ key: String) throws {
        let none = Made.offer.with("paymentMode", "\"none\"")
        let json = key == "introductoryOffer" ? none.json : "[\(none.json)]"
        let loaded = try Made.file(self.s.with(key, json)).load()
        #expect(loaded.warnings == [])
        #expect(loaded.summary.description.contains("0 offers"))
    }

    @Test func `a product that is no subscription has offers of codes, paid once`() throws {
        let offer = Made(members: [
            ("displayPrice", "\"0.49\""), ("internalID", "\"1\""), ("paymentMode", "\"payUpFront\""),
            ("referenceName", "\"SPRING\""),
        ])
        let free = offer.with("paymentMode", "\"free\"").with("referenceName", "\"GIFT\"").without("displayPrice")
        let loaded = try Made.file(products: [self.a.with("codeOffers", Made.list([offer, free]))]).load()
        #expect(loaded.warnings == [])
        let offers = try #require(loaded.catalogue.product("a")?.codeOffers)
        #expect(offers.map(\.offer.id) == ["SPRING", "GIFT"])
        #expect(offers.map(\.offer.paymentMode) == [.oneTime, .oneTime])
        #expect(offers.map(\.offer.price.milliunits) == [490, 0])
    }

    private static let codes = Made.offer.with(
        "perch",
        "{\"codes\":[{\"code\":\"A1\",\"redemptions\":1},{\"code\":\"B\",\"redemptions\":500,"
            + "\"until\":\"2027-01-01T00:00:00Z\"}]}")

    @Test func `an offer lists the codes that customers enter, with their limits`() throws {
        let loaded = try Made.file(self.s.with("codeOffers", "[\(Self.codes.json)]")).load()
        #expect(loaded.warnings == [])
        let end = CivilTime(parsing: "2027-01-01T00:00:00Z")?.instant
        #expect(
            loaded.catalogue.product("s")?.codeOffers.first?.codes == [
                OfferCode(code: "A1", redemptionLimit: 1), OfferCode(code: "B", redemptionLimit: 500, until: end),
            ])
    }

    @Test(arguments: [
        "[]", "{}", "{\"codes\":{}}", "{\"codes\":[],\"x\":1}", "{\"codes\":[{}]}", "{\"codes\":[{\"code\":\"\"}]}",
        "{\"codes\":[{\"code\":\"A\"},{\"code\":\"A\"}]}", "{\"codes\":[{\"code\":\"A\",\"redemptions\":0}]}",
        "{\"codes\":[{\"code\":\"A\",\"redemptions\":-1}]}", "{\"codes\":[{\"code\":\"A\",\"until\":\"soon\"}]}",
        "{\"codes\":[{\"code\":\"A\",\"x\":1}]}",
    ])
    func `a list of codes with a mistake refuses the file`(_ json: String) throws {
        let offer = Made.offer.with("perch", json)
        let error = #expect(throws: CatalogueError.self) {
            try Made.file(self.s.with("codeOffers", "[\(offer.json)]")).load()
        }
        #expect(error?.reason == .badRule)
    }

    // MARK: JSON and warnings

    @Test func `a product's own JSON is the file's, compact, numbers in their digits, unknown keys and all`() throws {
        let text =
            "{ \"products\" : [ { \"z\" : [ 1.50, 1e3 ],\n \"productID\" : \"a\", \"type\" : \"Consumable\" } ] }"
        let loaded = try StoreKitFile.load(Array(text.utf8))
        let json = try #require(loaded.catalogue.product("a")?.json)
        #expect(String(decoding: json, as: UTF8.self) == #"{"z":[1.50,1e3],"productID":"a","type":"Consumable"}"#)
    }

    @Test func `a product whose JSON is too long is sold without it, and reported`() throws {
        let long = "\"" + String(repeating: "x", count: Limits.productJSONBytes) + "\""
        let loaded = try Made.file(products: [self.a.with("referenceName", long)]).load()
        #expect(loaded.catalogue.product("a")?.json == [])
        #expect(loaded.reasons == [.leftOut])
    }

    @Test func `warnings stand in the order of the file and are bounded`() throws {
        let count = Limits.catalogueWarnings + 5
        let unknown = (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",\n")
        let loaded = try Made.file(products: [self.a]).with("settings", "{\(unknown)}").load()
        #expect(loaded.warnings.count == Limits.catalogueWarnings + 1)
        #expect(loaded.warnings.map(\.place) == loaded.warnings.map(\.place).sorted())
        #expect(loaded.warnings.last?.reason == .more)
        #expect(loaded.warnings.last?.message.hasPrefix("5 more places are odd") == true)
        #expect(
            try Made.file(products: [self.a, .product("b").without("displayPrice")]).with("x", "1").load().reasons == [
                .noPrice, .unknownKey,
            ])
    }
}
