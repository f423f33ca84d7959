import PerchBase
import PerchCatalogue
import PerchJSON
import Testing

/// A refused file: the reason, the product, and a part of the message.
struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let json: String
    let reason: CatalogueError.Reason
    let productID: String
    let says: String

    init(_ name: String, _ made: Made, _ reason: CatalogueError.Reason, _ productID: String = "", says: String) {
        self.init(name, made.json, reason, productID, says: says)
    }

    init(_ name: String, _ json: String, _ reason: CatalogueError.Reason, _ productID: String = "", says: String) {
        self.name = name
        self.json = json
        self.reason = reason
        self.productID = productID
        self.says = says
    }

    var testDescription: String { self.name }
}

@Suite struct `files that are refused` {
    private static let a = Made.product("a")
    private static let s = Made.subscription("s")
    private static let longID = String(repeating: "x", count: Limits.catalogueIdentifierBytes + 1)

    static let shapes: [Refusal] = [
        Refusal("an empty file", "", .emptyFile, says: "an empty document of 0 bytes"),
        Refusal("a blank file", " \n", .emptyFile, says: "white space"),
        Refusal("no JSON", "<plist/>", .notJSON, says: "found '<'"),
        Refusal("half of a file", "{\"products\":[", .notJSON, says: "the end of the document"),
        Refusal("an array", "[]", .wrongShape, says: "a JSON object, this is an array"),
        Refusal("a string", "\"products\"", .wrongShape, says: "this is a string"),
        Refusal(
            "products that are an object", "{\"products\":{}}", .wrongShape, says: "\"products\" should be an array"),
        Refusal(
            "non-renewing ones that are a string", "{\"nonRenewingSubscriptions\":\"\"}", .wrongShape,
            says: "\"nonRenewingSubscriptions\" should be an array, not a string"),
        Refusal("groups that are a number", "{\"subscriptionGroups\":1}", .wrongShape, says: "not a number"),
        Refusal(
            "a product that is a string", "{\"products\":[\"a\"]}", .wrongShape, says: "a product should be an object"),
        Refusal("a product that is null", "{\"products\":[null]}", .wrongShape, says: "not null"),
        Refusal("a group that is a list", "{\"subscriptionGroups\":[[]]}", .wrongShape, says: "not an array"),
        Refusal(
            "subscriptions that are an object",
            Made.file(groups: [Made.group("g", []).with("subscriptions", "{}")]), .wrongShape,
            says: "\"subscriptions\" should be an array"),
        Refusal("an empty object", "{}", .noUsableProduct, says: "no product in the file"),
        Refusal("lists without products", Made.file(), .noUsableProduct, says: "is this a StoreKit configuration?"),
        Refusal(
            "a group without subscriptions", Made.file(groups: [.group("g", [])]), .noUsableProduct,
            says: "expected at least one"),
        Refusal(
            "only products of unknown types", Made.file(products: [Self.a.with("type", "\"Bundle\"")]),
            .noUsableProduct, says: "of 1 in the file"),
    ]

    static let identifiers: [Refusal] = [
        Refusal(
            "a product twice in a list", Made.file(products: [Self.a, Self.a]), .duplicateProduct, "a",
            says: "stands already at line 1, column"),
        Refusal(
            "a product twice, in two lists",
            Made.file(products: [Self.a], nonRenewing: [.product("a", type: "NonRenewingSubscription")]),
            .duplicateProduct, "a", says: "remove one of the two or rename it"),
        Refusal(
            "a product twice, in two groups",
            Made.file(groups: [.group("g", [Self.s]), .group("h", [Self.s])]), .duplicateProduct, "s", says: "already"),
        Refusal(
            "a product twice, once of an unknown type", Made.file(products: [Self.a.with("type", "\"New\""), Self.a]),
            .duplicateProduct, "a", says: "already"),
        Refusal(
            "a product twice, composed and not", Made.file(products: [.product("caf\u{E9}"), .product("cafe\u{301}")]),
            .duplicateProduct, "cafe\u{301}", says: "already"),
        Refusal(
            "a product without ID", Made.file(products: [Self.a.without("productID")]), .badIdentifier,
            says: "the ID of a product is missing"),
        Refusal(
            "a product whose ID is null", Made.file(products: [Self.a.with("productID", "null")]), .badIdentifier,
            says: "missing"),
        Refusal(
            "a product with an empty ID", Made.file(products: [.product("")]), .badIdentifier, says: "not an empty one"),
        Refusal(
            "a product whose ID is a number", Made.file(products: [Self.a.with("productID", "7")]), .badIdentifier,
            says: "not a number"),
        Refusal(
            "a product with an ID too long", Made.file(products: [.product(Self.longID)]), .badIdentifier,
            says: "has 256 bytes, the limit is 255"),
        Refusal(
            "a group without ID", Made.file(groups: [Made.group("g", [Self.s]).without("id")]), .badIdentifier,
            says: "the ID of a subscription group is missing"),
        Refusal("a group with an empty ID", Made.file(groups: [.group("", [Self.s])]), .badIdentifier, says: "empty"),
        Refusal(
            "a subscription among the products", Made.file(products: [Self.s]), .noGroup, "s",
            says: "move it into its group"),
        Refusal(
            "a subscription among the products that names a group that is not there",
            Made.file(products: [Self.s.with("subscriptionGroupID", "\"x\"")], groups: [.group("g", [])]), .noGroup,
            "s",
            says: "names no group of the file"),
        Refusal(
            "a subscription among the non-renewing ones", Made.file(nonRenewing: [Self.s]), .noGroup, "s",
            says: "outside of \"subscriptionGroups\""),
    ]

    static let prices: [Refusal] =
        ["4,99", "$4.99", "-1", "+1", "4.9999", "1e2", ".5", "5.", " 1", "1 000", "free", "٤", "9223372036854775808"]
        .flatMap { price in
            [
                Refusal(
                    "a product for \(price)", Made.file(products: [Self.a.with("displayPrice", "\"\(price)\"")]),
                    .badPrice, "a", says: "is \"\(price)\"; write a price as digits"),
                Refusal(
                    "an offer for \(price)",
                    Made.file(
                        Self.s.with(
                            "adHocOffers",
                            "[\(Made.offer.with("paymentMode", "\"payUpFront\"").with("displayPrice", "\"\(price)\"").json)]"
                        )),
                    .badPrice, "s", says: "is \"\(price)\""),
            ]
        } + [
            Refusal(
                "a number with an exponent", Made.file(products: [Self.a.with("displayPrice", "1e2")]), .badPrice, "a",
                says: "is \"1e2\""),
            Refusal(
                "a negative number", Made.file(products: [Self.a.with("displayPrice", "-1")]), .badPrice, "a",
                says: "is \"-1\""),
            Refusal(
                "a price that is a boolean", Made.file(products: [Self.a.with("displayPrice", "true")]), .badPrice, "a",
                says: "not a boolean"),
            Refusal(
                "a plan's commitment",
                Made.file(
                    Self.s.with(
                        "billingPlans", "[{\"billingPlanType\":\"MONTHLY\",\"commitmentDisplayPrice\":\"x\"}]")),
                .badPrice, "s", says: "\"commitmentDisplayPrice\" is \"x\""),
        ]

    static let periods: [Refusal] =
        [
            "", "P", "PM", "P0M", "P-1M", "P+1M", "P01M", "1M", "P1", "P1H", "PT1H", "P1M1D", "P1.5M", "p1m", "monthly",
            "P10001D", "P99999999999M", " P1M", "P1M ",
        ].flatMap { period in
            [
                Refusal(
                    "a subscription of \(period)",
                    Made.file(Self.s.with("recurringSubscriptionPeriod", "\"\(period)\"")), .badPeriod, "s",
                    says: "is \"\(period)\"; write an ISO 8601 period"),
                Refusal(
                    "an offer of \(period)",
                    Made.file(
                        Self.s.with("introductoryOffer", Made.offer.with("subscriptionPeriod", "\"\(period)\"").json)),
                    .badPeriod, "s", says: "\"subscriptionPeriod\" is \"\(period)\""),
            ]
        } + [
            Refusal(
                "no period", Made.file(Self.s.without("recurringSubscriptionPeriod")), .badPeriod, "s",
                says: "is missing"),
            Refusal(
                "a period that is a number", Made.file(Self.s.with("recurringSubscriptionPeriod", "1")), .badPeriod,
                "s",
                says: "not a number"),
            Refusal(
                "an offer without period",
                Made.file(Self.s.with("codeOffers", Made.list([Made.offer.without("subscriptionPeriod")]))), .badPeriod,
                "s", says: "\"subscriptionPeriod\" is missing"),
        ]

    @Test(arguments: shapes + identifiers + prices + periods)
    func `an unsafe product is refused, with reason, product and place`(_ refusal: Refusal) throws {
        let error = try #require(throws: CatalogueError.self) { _ = try StoreKitFile.load(Array(refusal.json.utf8)) }
        #expect(error.reason == refusal.reason, "\(error)")
        #expect(error.productID == refusal.productID, "\(error)")
        #expect(error.message.contains(refusal.says), "\(error)")
        #expect(error.description.hasPrefix("line "))
        if !refusal.productID.isEmpty { #expect(error.description.contains(", product \"")) }
    }

    @Test func `a refusal stands at the value that is wrong, and names where the other one stands`() throws {
        func place(_ text: String) throws -> (JSONPlace, String) {
            let error = try #require(throws: CatalogueError.self) { _ = try StoreKitFile.load(Array(text.utf8)) }
            return (error.place, error.description)
        }
        let twice = """
            {
              "products" : [
                { "productID" : "a", "type" : "Consumable", "displayPrice" : "1" },
                { "productID" : "a", "type" : "Consumable", "displayPrice" : "1" }
              ]
            }
            """
        #expect(
            try place(twice).1
                == "line 4, column 21, product \"a\": this product ID stands already at line 3, column 21; "
                + "remove one of the two or rename it")
        let price = "{\"products\":[\n {\"productID\":\"a\",\"type\":\"Consumable\",\n  \"displayPrice\" : \"1,5\"}]}"
        #expect(try place(price).0 == JSONPlace(line: 3, column: 20))
        let missing = "{\"subscriptionGroups\":[{\"id\":\"g\",\"subscriptions\":[\n\n  {\"productID\":\"s\"}]}]}"
        #expect(try place(missing).0 == JSONPlace(line: 3, column: 3))
    }

    @Test func `a long text of the file is quoted in part, and its control characters escaped`() throws {
        let text = "\\u001b[31m" + String(repeating: "x", count: 100)
        let error = try #require(throws: CatalogueError.self) {
            _ = try Made.file(products: [Self.a.with("displayPrice", "\"\(text)\"")]).load()
        }
        #expect(error.message.contains("\"\\u{1b}[31m" + String(repeating: "x", count: 59) + "…\""))
    }

    @Test func `a file beyond the reader's limits is refused as no JSON, with both numbers`() throws {
        let huge = [UInt8](repeating: UInt8(ascii: " "), count: Limits.catalogueFileBytes + 1)
        let error = try #require(throws: CatalogueError.self) { _ = try StoreKitFile.load(huge) }
        #expect(error.reason == .notJSON)
        #expect(error.description == "line 1, column 1: expected at most 4194304 bytes, found 4194305")
    }
}
