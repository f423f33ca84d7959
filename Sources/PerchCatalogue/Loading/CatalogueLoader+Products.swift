import PerchBase
import PerchJSON
import PerchModel

extension CatalogueLoader {
    /// One entry of a list. Nil if it cannot be sold, which is then reported.
    mutating func product(_ id: String, _ fields: inout Fields, of entry: JSONValue, on shelf: Shelf)
        throws(CatalogueError) -> CatalogueProduct?
    {
        let statedGroup = fields.take("subscriptionGroupID")
        guard let type = self.type(&fields, on: shelf) else { return nil }
        let referenceName = fields.text("referenceName", &self.findings)
        let price = try self.price(&fields, "displayPrice")
        let isShareable = self.isFamilyShareable(&fields, type)
        let texts = self.localizations(&fields)
        let image = self.promotionalImageID(&fields)
        var subscription: CatalogueSubscription?
        if type == .autoRenewable {
            let groupID = try self.groupID(statedGroup, fields.place, on: shelf)
            subscription = try self.subscription(&fields, groupID: groupID, price: price)
        }
        let codeOffers = subscription == nil ? try self.oneTimeOffers(&fields) : []
        fields.ignore("internalID")
        fields.reportUnknown(in: subscription == nil ? "a product" : "a subscription", to: &self.findings)
        var product = CatalogueProduct(
            id: id, type: type, referenceName: referenceName, price: price, isFamilyShareable: isShareable,
            localizations: texts, promotionalImageID: image, subscription: subscription, json: self.json(of: entry))
        if !codeOffers.isEmpty { product.codeOffers = codeOffers }
        return product
    }

    /// The type of an entry. Without the key, the list determines it.
    ///
    /// An entry in the wrong list was put there by hand, and is sold as its type says. An entry of an unknown type is left
    /// out, so that the rest of a newer file is usable.
    private mutating func type(_ fields: inout Fields, on shelf: Shelf) -> ProductType? {
        let value = fields.take("type")
        let place = value?.place ?? fields.place
        let type: ProductType
        switch value?.string {
        case "Consumable": type = .consumable
        case "NonConsumable": type = .nonConsumable
        case "NonRenewingSubscription": type = .nonRenewable
        case "RecurringSubscription": type = .autoRenewable
        case nil where value == nil && shelf == .nonRenewing:
            self.findings.warn(.unusableValue, at: place, "no type; taken as NonRenewingSubscription, as its list says")
            return .nonRenewable
        case nil where value == nil && shelf != .products:
            self.findings.warn(.unusableValue, at: place, "no type; taken as RecurringSubscription, as its group says")
            return .autoRenewable
        case let other:
            let found = other.map { "the type \(quoted($0)) is unknown" } ?? "the type is \(value?.kind ?? "missing")"
            self.findings.warn(.unsupported, at: place, "\(found); the product is left out")
            return nil
        }
        switch (type, shelf) {
        case (.autoRenewable, .group), (.consumable, .products), (.nonConsumable, .products),
            (.nonRenewable, .nonRenewing), (.autoRenewable, .products), (.autoRenewable, .nonRenewing):
            // A subscription outside of a group is read with the groups.
            break
        case (_, .group(let id)):
            self.findings.warn(
                .misplaced, at: place,
                "a product that is no auto-renewable subscription stands in the group \(quoted(id)); "
                    + "sold as what its type says, outside of the group")
        default:
            let list = type == .nonRenewable ? "nonRenewingSubscriptions" : "products"
            self.findings.warn(.misplaced, at: place, "this type belongs into \"\(list)\"; sold as what its type says")
        }
        return type
    }

    /// The group that contains the subscription. Its own key only repeats it.
    ///
    /// A subscription outside of all groups joins the group that it names. One that names no existing group refuses the
    /// file: it would have no status stream and no plans to change to, and leaving it out would stop its sale.
    private mutating func groupID(_ stated: JSONValue?, _ place: JSONPlace, on shelf: Shelf) throws(CatalogueError)
        -> String
    {
        if case .group(let id) = shelf {
            if let stated, stated.string != id {
                self.findings.warn(
                    .groupMismatch, at: stated.place,
                    "\"subscriptionGroupID\" is not \(quoted(id)), the group that it stands in; that group is taken")
            }
            return id
        }
        guard let id = stated?.string, self.groups.contains(where: { $0.id == id }) else {
            throw self.findings.error(
                .noGroup, at: stated?.place ?? place,
                "an auto-renewable subscription stands outside of \"subscriptionGroups\" and names no group of the file; "
                    + "move it into its group")
        }
        self.findings.warn(
            .misplaced, at: stated?.place ?? place,
            "an auto-renewable subscription stands outside of its group; taken into \(quoted(id)), which it names")
        return id
    }

    private mutating func isFamilyShareable(_ fields: inout Fields, _ type: ProductType) -> Bool {
        let place = fields.take("familyShareable")?.place ?? fields.place
        guard fields.flag("familyShareable", &self.findings) else { return false }
        guard type == .nonConsumable || type == .autoRenewable else {
            self.findings.warn(
                .unusableValue, at: place, "a \(type) product cannot be shared with a family; taken as not shared")
            return false
        }
        return true
    }

    /// The JSON of the entry, compact and in its own order. It goes to every client, so it leaves out every member that
    /// could be a private key.
    private mutating func json(of entry: JSONValue) -> [UInt8] {
        var writer = JSONWriter(limitBytes: Limits.productJSONBytes)
        writer.value(entry, hiding: ["subscriptionOffersKeyPair", "privateKey"])
        do {
            return try writer.finish()
        } catch {
            self.findings.warn(
                .leftOut, at: entry.place, "its JSON is longer than \(error.limitBytes) bytes; sold without it")
            return []
        }
    }
}
