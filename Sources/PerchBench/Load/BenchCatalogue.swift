import PerchJSON

/// The catalogue of a bench: a pass that can be bought repeatedly and changes its owner's entitlements each time, a plan that
/// renews, and enough items for a products view of the requested size.
package struct BenchCatalogue: Sendable {
    package static let bundleID = "app.perch.bench"
    /// A monthly subscription, and its group.
    static let planID = "bench.plan"
    static let groupID = "BE4C9000"

    package let itemIDs: [String]

    /// Bytes of an item's description. Its name, price and identifier come on top.
    private static let descriptionBytes = 400
    private static let itemBytes = 1_000

    package init(viewBytes: Int) {
        let count = max(1, viewBytes / Self.itemBytes)
        self.itemIDs = (0..<count).map { "bench.item.\($0)" }
    }

    /// The price of the first item, which is the only difference between editions. All prices have the same length.
    static func price(ofEdition edition: Int) -> String {
        let digits = String(edition)
        return "1" + String(repeating: "0", count: max(0, Self.editionDigits - digits.count)) + "\(digits).99"
    }

    static let editionDigits = 6

    /// The file of entitlements beside the catalogue, for workloads that read copies.
    package static let entitlements = Array(
        #"{"entitlements": [{"name": "pass", "from": [{"product": "bench.pass"}]}]}"#.utf8)

    /// The catalogue file of an edition.
    package func file(edition: Int) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("identifier", "BE4C0001")
        json.key("nonRenewingSubscriptions")
        json.beginArray()
        Self.write(
            "bench.pass", id: 1, price: "9.99", type: "NonRenewingSubscription", name: "Pass",
            description: "Bought by a bench", &json)
        json.endArray()
        json.key("products")
        json.beginArray()
        for (index, item) in self.itemIDs.enumerated() {
            Self.write(
                item, id: index + 2, price: index == 0 ? Self.price(ofEdition: edition) : "4.99", type: "NonConsumable",
                name: "Item \(index)", description: Self.description(index), &json)
        }
        json.endArray()
        json.key("settings")
        json.beginObject()
        // A bench buys: nobody confirms its purchases.
        json.key("_disableDialogs")
        json.boolean(true)
        json.member("_locale", "en_US")
        json.member("_storefront", "USA")
        json.endObject()
        json.key("subscriptionGroups")
        json.beginArray()
        json.beginObject()
        json.member("id", Self.groupID)
        json.member("name", "Plans")
        json.key("subscriptions")
        json.beginArray()
        Self.write(
            Self.planID, id: 0x9001, price: "9.99", type: "RecurringSubscription", name: "Plan",
            description: "Renewed by a bench", &json
        ) { json in
            json.member("groupNumber", 1)
            json.member("recurringSubscriptionPeriod", "P1M")
            json.member("subscriptionGroupID", Self.groupID)
        }
        json.endArray()
        json.endObject()
        json.endArray()
        json.key("version")
        json.beginObject()
        json.member("major", 4)
        json.member("minor", 0)
        json.endObject()
        json.endObject()
        do throws(JSONOverflow) {
            return try json.finish()
        } catch {
            preconditionFailure("the catalogue of a bench: \(error)")
        }
    }

    private static func write(
        _ productID: String, id: Int, price: String, type: String, name: String, description: String,
        _ json: inout JSONWriter, more: (inout JSONWriter) -> Void = { _ in }
    ) {
        json.beginObject()
        more(&json)
        json.member("displayPrice", price)
        json.member("familyShareable", false)
        json.member("internalID", "BE4C" + String(0x1_0000 + id, radix: 16).uppercased())
        json.key("localizations")
        json.beginArray()
        json.beginObject()
        json.member("description", description)
        json.member("displayName", name)
        json.member("locale", "en_US")
        json.endObject()
        json.endArray()
        json.member("productID", productID)
        json.member("referenceName", name)
        json.member("type", type)
        json.endObject()
    }

    /// Words without a repeating order, so that they compress like prose.
    private static func description(_ index: Int) -> String {
        let words = [
            "perch", "river", "lake", "rod", "line", "hook", "dawn", "reed", "deep", "bank", "float", "net", "tide",
            "stone", "cast", "reel",
        ]
        var text = ""
        var state = UInt64(index) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        while text.utf8.count < Self.descriptionBytes {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += words[Int(state >> 60)] + (state >> 40 & 7 == 0 ? ", " : " ")
        }
        return text
    }
}
