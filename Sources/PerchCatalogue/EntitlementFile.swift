import PerchBase
import PerchJSON
package import PerchModel

/// The file that maps products and groups to the names of entitlements, beside a catalogue:
///
///     {"entitlements": [
///         {"name": "watch", "from": [
///             {"group": "destination", "level": 1, "tier": "premium"}, {"group": "destination", "level": 2, "tier": "basic"},
///             {"product": "video.lifetime", "tier": "premium"}]}]}
package enum EntitlementFile {
    /// The rules in the order of the file: of an entitlement's tiers the first one wins. Refuses products and groups that the
    /// catalogue does not have, because they are probably misspelt.
    package static func load(_ bytes: [UInt8], for catalogue: Catalogue) throws(CatalogueError) -> [EntitlementRule] {
        let root: JSONValue
        do {
            root = try JSONReader.read(bytes)
        } catch {
            throw CatalogueError(ofEntitlements: error.message, at: error.place)
        }
        guard let entries = root["entitlements"]?.array else {
            throw Self.fault("there is no list named entitlements", at: (root["entitlements"] ?? root).place)
        }
        var rules: [EntitlementRule] = []
        var names: Set<String> = []
        for entry in entries {
            guard let name = entry["name"]?.string, !name.isEmpty, name.utf8.count <= Limits.entitlementNameBytesMax
            else {
                throw Self.fault(
                    "an entitlement has no name of 1 to \(Limits.entitlementNameBytesMax) bytes",
                    at: (entry["name"] ?? entry).place)
            }
            guard names.insert(name).inserted else {
                throw Self.fault("the entitlement \(printable(name)) stands twice", at: entry.place)
            }
            guard let sources = entry["from"]?.array, !sources.isEmpty else {
                throw Self.fault(
                    "the entitlement \(printable(name)) comes from nothing; give it a list named from",
                    at: (entry["from"] ?? entry).place)
            }
            for source in sources { rules.append(try Self.rule(source, name, catalogue)) }
        }
        guard rules.count <= Limits.entitlementRulesMax else {
            throw Self.fault(
                "the entitlements have \(rules.count) sources, the limit is \(Limits.entitlementRulesMax)",
                at: root.place)
        }
        return rules
    }

    private static func rule(
        _ source: JSONValue, _ name: String, _ catalogue: Catalogue
    ) throws(CatalogueError) -> EntitlementRule {
        let tier = source["tier"]?.string ?? ""
        switch (source["product"]?.string, source["group"]?.string) {
        case (let product?, nil):
            guard let found = catalogue.product(product) else {
                throw Self.fault(
                    "\(printable(name)) comes from the product \(printable(product)), which the catalogue lacks",
                    at: (source["product"] ?? source).place)
            }
            guard found.type != .consumable else {
                throw Self.fault(
                    "\(printable(name)) comes from \(printable(product)), a consumable, and those never entitle",
                    at: (source["product"] ?? source).place)
            }
            return EntitlementRule(name: name, productID: product, tier: tier)
        case (nil, let group?):
            guard catalogue.group(group) != nil else {
                throw Self.fault(
                    "\(printable(name)) comes from the group \(printable(group)), which the catalogue lacks",
                    at: (source["group"] ?? source).place)
            }
            var level: Int32?
            if let given = source["level"] {
                guard let number = given.integer.flatMap({ Int32(exactly: $0) }), number > 0 else {
                    throw Self.fault("the level of \(printable(name)) is no number from 1 on", at: given.place)
                }
                guard
                    catalogue.products.contains(where: {
                        $0.subscription?.groupID == group && $0.subscription?.level == number
                    })
                else {
                    throw Self.fault(
                        "\(printable(name)) comes from level \(number) of the group \(printable(group)), and no product has it",
                        at: given.place)
                }
                level = number
            }
            return EntitlementRule(name: name, groupID: group, level: level, tier: tier)
        default:
            throw Self.fault(
                "a source of \(printable(name)) names neither a product nor a group, or both", at: source.place)
        }
    }

    private static func fault(_ what: String, at place: JSONPlace) -> CatalogueError {
        CatalogueError(ofEntitlements: what, at: place)
    }
}
