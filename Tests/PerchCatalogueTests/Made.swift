import PerchCatalogue
import PerchModel

/// A JSON object put together for a test: keys and raw JSON values, in order.
struct Made: Sendable {
    var members: [(key: String, json: String)]

    /// The same with another value for a key.
    func with(_ key: String, _ json: String) -> Made {
        var made = self
        if let index = made.members.firstIndex(where: { $0.key == key }) {
            made.members[index].json = json
        } else {
            made.members.append((key, json))
        }
        return made
    }

    func without(_ key: String) -> Made { Made(members: self.members.filter { $0.key != key }) }

    var json: String { "{" + self.members.map { "\"\($0.key)\":\($0.json)" }.joined(separator: ",") + "}" }

    static let texts = "[{\"locale\":\"en_US\",\"displayName\":\"Name\",\"description\":\"\"}]"

    /// The settings of a file that says nothing of them.
    static var defaults: AppSettings { AppSettings() }

    /// A consumable that nothing is odd about.
    static func product(_ id: String, type: String = "Consumable") -> Made {
        Made(members: [
            ("productID", "\"\(id)\""), ("type", "\"\(type)\""), ("displayPrice", "\"0.99\""),
            ("localizations", Self.texts),
        ])
    }

    /// A monthly subscription that nothing is odd about.
    static func subscription(_ id: String) -> Made {
        Self.product(id, type: "RecurringSubscription").with("recurringSubscriptionPeriod", "\"P1M\"")
            .with("groupNumber", "1")
    }

    /// A free offer that nothing is odd about, in any list.
    static let offer = Made(members: [
        ("paymentMode", "\"free\""), ("subscriptionPeriod", "\"P1W\""), ("offerID", "\"offer\""),
        ("referenceName", "\"CODE\""), ("eligibility", "[\"new\"]"),
    ])

    static func group(_ id: String, _ subscriptions: [Made]) -> Made {
        Made(members: [("id", "\"\(id)\""), ("name", "\"Group\""), ("subscriptions", Self.list(subscriptions))])
    }

    static func list(_ entries: [Made]) -> String { "[" + entries.map(\.json).joined(separator: ",") + "]" }

    static func file(products: [Made] = [], nonRenewing: [Made] = [], groups: [Made] = []) -> Made {
        Made(members: [
            ("products", Self.list(products)), ("nonRenewingSubscriptions", Self.list(nonRenewing)),
            ("subscriptionGroups", Self.list(groups)),
        ])
    }

    /// One subscription `s` in a group `g`.
    static func file(_ subscription: Made) -> Made { Self.file(groups: [Self.group("g", [subscription])]) }

    /// One product with these settings.
    static func settings(_ json: String) -> Made {
        Self.file(products: [Self.product("a")]).with("settings", json)
    }

    func load() throws(CatalogueError) -> LoadedCatalogue { try StoreKitFile.load(Array(self.json.utf8)) }
}

extension LoadedCatalogue {
    /// The reasons of the warnings, in the order of the file.
    var reasons: [CatalogueWarning.Reason] { self.warnings.map(\.reason) }
}
