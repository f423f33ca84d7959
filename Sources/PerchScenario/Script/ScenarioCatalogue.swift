import PerchBase
package import PerchJSON
package import PerchModel

/// A catalogue in the short form of a scenario.
package struct ScenarioCatalogue: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package var id: String
        package var type: ProductType
        package var milliunits: Int64
        package var name: String
        package var details = ""
        package var isShareable = false
        /// Subscriptions only.
        package var group = ""
        package var level: Int64 = 1
        package var period: Period?
        package var offers: [OfferEdit] = []
        /// The same product billed monthly with a commitment of twelve months: price of a charge.
        package var monthlyPlanMilliunits: Int64?
    }

    package var entries: [Entry] = []
    package var licence = ""
    package var privacyText = ""
    package var privacyURL = ""

    package init() {}

    package func entry(_ id: String) -> Entry? { self.entries.first { $0.id == id } }

    /// The eligibility rule of a win-back offer, which a `.storekit` file does not have. Set after the file is loaded.
    package var edits: [AppSettingChange] {
        self.entries.compactMap { entry in
            let offers = entry.offers.filter { $0.winBackRule != nil }
            guard !offers.isEmpty else { return nil }
            var edit = ProductEdit(productID: entry.id)
            edit.offers = offers
            return .product(edit)
        }
    }

    /// The same as a `.storekit` file.
    package func file() throws(JSONOverflow) -> [UInt8] {
        var json = JSONWriter(limitBytes: Limits.catalogRequestBytesMax)
        json.beginObject()
        json.member("identifier", "5CE7A210")
        json.key("version")
        json.beginObject()
        json.key("major")
        json.integer(5)
        json.key("minor")
        json.integer(0)
        json.endObject()
        if !self.licence.isEmpty || !self.privacyText.isEmpty || !self.privacyURL.isEmpty { self.writePolicies(&json) }
        json.key("products")
        json.beginArray()
        for entry in self.entries where entry.type == .consumable || entry.type == .nonConsumable {
            Self.write(entry, &json)
        }
        json.endArray()
        json.key("nonRenewingSubscriptions")
        json.beginArray()
        for entry in self.entries where entry.type == .nonRenewable { Self.write(entry, &json) }
        json.endArray()
        json.key("subscriptionGroups")
        json.beginArray()
        for group in self.groups { self.write(group: group, &json) }
        json.endArray()
        json.key("settings")
        json.beginObject()
        // In a scenario `buy` means that the customer agrees.
        json.key("_disableDialogs")
        json.boolean(true)
        json.endObject()
        json.endObject()
        return try json.finish()
    }

    /// In the order in which they were named.
    package var groups: [String] {
        var groups: [String] = []
        for entry in self.entries where entry.type == .autoRenewable && !groups.contains(entry.group) {
            groups.append(entry.group)
        }
        return groups
    }

    private func writePolicies(_ json: inout JSONWriter) {
        json.key("appPolicies")
        json.beginObject()
        json.member("eula", self.licence)
        json.key("policies")
        json.beginArray()
        json.beginObject()
        json.member("locale", "en_US")
        json.member("policyText", self.privacyText)
        json.member("policyURL", self.privacyURL)
        json.endObject()
        json.endArray()
        json.endObject()
    }

    private func write(group: String, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("id", group)
        json.member("name", group)
        json.key("localizations")
        json.beginArray()
        json.beginObject()
        json.member("locale", "en_US")
        json.member("displayName", group)
        json.member("description", "")
        json.endObject()
        json.endArray()
        json.key("subscriptions")
        json.beginArray()
        for entry in self.entries where entry.type == .autoRenewable && entry.group == group {
            Self.write(entry, &json)
        }
        json.endArray()
        json.endObject()
    }

    private static func decimal(_ milliunits: Int64) -> String {
        Money(milliunits: milliunits, currency: "").decimal()
    }

    private static func write(_ entry: Entry, _ json: inout JSONWriter) {
        json.beginObject()
        json.member("productID", entry.id)
        json.member("referenceName", entry.name)
        json.member("displayPrice", Self.decimal(entry.milliunits))
        json.member("familyShareable", entry.isShareable)
        json.key("localizations")
        json.beginArray()
        json.beginObject()
        json.member("locale", "en_US")
        json.member("displayName", entry.name)
        json.member("description", entry.details)
        json.endObject()
        json.endArray()
        let type: String
        switch entry.type {
        case .consumable: type = "Consumable"
        case .nonConsumable: type = "NonConsumable"
        case .nonRenewable: type = "NonRenewingSubscription"
        default: type = "RecurringSubscription"
        }
        json.member("type", type)
        if let period = entry.period { Self.writeSubscription(entry, period, &json) }
        json.endObject()
    }

    private static func writeSubscription(_ entry: Entry, _ period: Period, _ json: inout JSONWriter) {
        json.member("subscriptionGroupID", entry.group)
        json.key("groupNumber")
        json.integer(entry.level)
        json.member("recurringSubscriptionPeriod", period.description)
        if let plan = entry.monthlyPlanMilliunits {
            json.key("billingPlans")
            json.beginArray()
            Self.writePlan("BILLED_UPFRONT", entry.milliunits, entry.milliunits, &json)
            Self.writePlan("MONTHLY", plan, 12 * plan, &json)
            json.endArray()
        }
        json.key("introductoryOffer")
        if let offer = entry.offers.first(where: { $0.type == .introductory }) {
            Self.write(offer, &json)
        } else {
            json.null()
        }
        for (key, type) in [("adHocOffers", OfferType.promotional), ("codeOffers", .code), ("winbackOffers", .winBack)]
        {
            json.key(key)
            json.beginArray()
            for offer in entry.offers where offer.type == type { Self.write(offer, &json) }
            json.endArray()
        }
    }

    private static func writePlan(
        _ type: String, _ milliunits: Int64, _ commitment: Int64, _ json: inout JSONWriter
    ) {
        json.beginObject()
        json.member("billingPlanType", type)
        json.member("displayPrice", Self.decimal(milliunits))
        json.member("commitmentDisplayPrice", Self.decimal(commitment))
        json.member("isEnabled", true)
        json.endObject()
    }

    private static func write(_ codes: [OfferCode], _ json: inout JSONWriter) {
        json.key("perch")
        json.beginObject()
        json.key("codes")
        json.beginArray()
        for code in codes {
            json.beginObject()
            json.member("code", code.code)
            if code.redemptionLimit > 0 { json.member("redemptions", Int64(code.redemptionLimit)) }
            if let until = code.until { json.member("until", "\(CivilTime(until))") }
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    private static func write(_ offer: OfferEdit, _ json: inout JSONWriter) {
        json.beginObject()
        let mode: String
        switch offer.paymentMode {
        case .payAsYouGo: mode = "payAsYouGo"
        case .payUpFront: mode = "payUpFront"
        case .oneTime: mode = "oneTime"
        default: mode = "free"
        }
        json.member("paymentMode", mode)
        if offer.paymentMode != .freeTrial { json.member("displayPrice", Self.decimal(offer.priceMilliunits)) }
        if offer.paymentMode != .oneTime {
            json.member("subscriptionPeriod", offer.period.description)
            json.key("numberOfPeriods")
            json.integer(max(1, offer.periodCount))
        }
        if !offer.codes.isEmpty { Self.write(offer.codes, &json) }
        if offer.type != .introductory { json.member("referenceName", offer.id) }
        if offer.type == .promotional || offer.type == .winBack { json.member("offerID", offer.id) }
        if offer.type == .code {
            json.key("eligibility")
            json.beginArray()
            for who in offer.eligibility.isEmpty ? ["new", "existing", "expired"] : offer.eligibility {
                json.string(who)
            }
            json.endArray()
            json.member("isStackable", offer.isStackable)
        }
        if offer.type == .winBack { json.member("isEligible", offer.isEligible) }
        json.endObject()
    }
}
