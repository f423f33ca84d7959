package import PerchBase
package import PerchModel

extension Catalogue {
    package func sealed(app: AppNumber, revision: UInt64) -> [UInt8] {
        SealedBlob.seal(.catalogue(app, revision: revision)) { writer in
            writer.write(self.schemaVersion)
            writer.write(self.groups)
            writer.write(self.products)
            writer.write(self.policies.licenceAgreement)
            writer.write(self.policies.privacyPolicies)
            writer.write(self.images)
            writer.write(self.entitlements)
        }
    }

    /// The catalogue of a sealed blob. A function, since a class cannot be assigned by its own initialiser.
    package static func unsealed(
        _ bytes: [UInt8], app: AppNumber, revision: UInt64
    ) throws(DecodingFault) -> Catalogue {
        try SealedBlob.open(bytes, .catalogue(app, revision: revision)) { (reader) throws(DecodingFault) in
            let schemaVersion = try reader.string()
            let groups = try reader.array(of: CatalogueGroup.self)
            let start = reader.offset
            let products = try reader.array(of: CatalogueProduct.self)
            // Conditions that the catalogue traps on, because its loader guarantees them.
            let groupIDs = Set(groups.map(\.id))
            guard groupIDs.count == groups.count, Set(products.map(\.id)).count == products.count,
                products.allSatisfy({ $0.subscription.map { groupIDs.contains($0.groupID) } ?? true })
            else { throw .invalid("list of products", atOffset: start) }
            let policies = AppPolicies(licenceAgreement: try reader.string(), privacyPolicies: try reader.array())
            let imagesStart = reader.offset
            let images = try reader.array(of: CatalogueImage.self)
            guard Set(images.map(\.id)).count == images.count else {
                throw .invalid("list of images", atOffset: imagesStart)
            }
            // Before form 4 no entitlement had a name.
            let entitlements = reader.form < 4 ? [] : try reader.array(of: EntitlementRule.self)
            return Catalogue(
                products: products, groups: groups, schemaVersion: schemaVersion, policies: policies, images: images,
                entitlements: entitlements)
        }
    }
}

extension Localization: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.locale)
        writer.write(self.displayName)
        writer.write(self.description)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            locale: try reader.string(), displayName: try reader.string(), description: try reader.string())
    }
}

extension CatalogueGroup: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        writer.write(self.name)
        writer.write(self.localizations)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(id: try reader.string(), name: try reader.string(), localizations: try reader.array())
    }
}

extension CatalogueProduct: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        self.type.write(to: &writer)
        writer.write(self.referenceName)
        writer.write(self.price)
        writer.write(self.isFamilyShareable)
        writer.write(self.localizations)
        writer.write(self.promotionalImageID)
        writer.write(self.subscription)
        writer.write(self.json)
        writer.write(self.isWithdrawn)
        let codeOffers = self.subscription == nil ? self.codeOffers : []
        if writer.has(form: 5, isNeeded: !codeOffers.isEmpty) { writer.write(codeOffers) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.string()
        let type = try ProductType(from: &reader)
        let referenceName = try reader.string()
        let price = try Money(from: &reader)
        let isFamilyShareable = try reader.bool()
        let localizations = try reader.array(of: Localization.self)
        let promotionalImageID = try reader.string()
        let subscription = try reader.optional(CatalogueSubscription.self)
        self.init(
            id: id, type: type, referenceName: referenceName, price: price, isFamilyShareable: isFamilyShareable,
            localizations: localizations, promotionalImageID: promotionalImageID, subscription: subscription,
            json: try reader.blob())
        self.isWithdrawn = try reader.bool()
        // Before form 5 only subscriptions had offers of codes.
        guard reader.form >= 5 else { return }
        let codeOffers = try reader.array(of: CodeOffer.self)
        if subscription == nil { self.codeOffers = codeOffers }
    }
}

extension CatalogueSubscription: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.groupID)
        writer.write(self.level)
        writer.write(self.period)
        writer.write(self.introductoryOffers)
        writer.write(self.promotionalOffers)
        writer.write(self.codeOffers)
        writer.write(self.winBackOffers)
        writer.write(self.billingPlans)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let groupID = try reader.string()
        let level = try reader.int32()
        self.init(groupID: groupID, level: level, period: try reader.value())
        self.introductoryOffers = try reader.array()
        self.promotionalOffers = try reader.array()
        self.codeOffers = try reader.array()
        self.winBackOffers = try reader.array()
        self.billingPlans = try reader.array()
    }
}

extension CodeOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.offer)
        writer.write(byte: self.eligibility.rawValue)
        writer.write(self.isStackable)
        if writer.has(form: 5, isNeeded: !self.codes.isEmpty) { writer.write(self.codes) }
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let offer = try SubscriptionOffer(from: &reader)
        let eligibility = Eligibility(rawValue: try reader.byte())
        self.init(offer: offer, eligibility: eligibility, isStackable: try reader.bool())
        if reader.form >= 5 { self.codes = try reader.array() }
    }
}

extension OfferCode: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.code)
        writer.write(self.redemptionLimit)
        writer.write(self.until)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(
            code: try reader.string(), redemptionLimit: try reader.uint32(), until: try reader.optional())
    }
}

extension WinBackOffer: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.offer)
        writer.write(self.isEligible)
        writer.write(self.isHighPriority)
        writer.write(self.rule)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let offer = try SubscriptionOffer(from: &reader)
        self.init(
            offer: offer, isEligible: try reader.bool(), isHighPriority: try reader.bool(), rule: try reader.optional())
    }
}

extension CatalogueImage: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.id)
        writer.write(self.hash.bytes)
        writer.write(self.byteCount)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let id = try reader.string()
        let start = reader.offset
        guard let hash = ContentHash(bytes: try reader.blob()) else { throw .invalid("hash", atOffset: start) }
        self.init(id: id, hash: hash, byteCount: try reader.uint32())
    }
}

extension ImageContent {
    package func sealed(app: AppNumber) -> [UInt8] {
        SealedBlob.seal(.image(app, self.hash)) { $0.write(self.bytes) }
    }

    /// The bytes of a sealed blob.
    package static func unsealed(
        _ bytes: [UInt8], app: AppNumber, hash: ContentHash
    ) throws(DecodingFault) -> [UInt8] {
        try SealedBlob.open(bytes, .image(app, hash)) { (reader) throws(DecodingFault) in try reader.blob() }
    }
}

extension BillingPlan: StoreCoded {
    func write(to writer: inout ByteWriter) {
        self.type.write(to: &writer)
        writer.write(self.price)
        writer.write(self.displayPrice)
        writer.write(self.commitmentPrice)
        writer.write(self.commitmentDisplayPrice)
        writer.write(self.chargeCount)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        let type = try BillingPlanType(from: &reader)
        let price = try Money(from: &reader)
        let displayPrice = try reader.string()
        let commitmentPrice = try Money(from: &reader)
        let commitmentDisplayPrice = try reader.string()
        self.init(type: type, price: price, commitmentPrice: commitmentPrice, chargeCount: try reader.uint32())
        self.displayPrice = displayPrice
        self.commitmentDisplayPrice = commitmentDisplayPrice
    }
}

extension AppPolicies.PrivacyPolicy: StoreCoded {
    func write(to writer: inout ByteWriter) {
        writer.write(self.locale)
        writer.write(self.text)
        writer.write(self.url)
    }

    init(from reader: inout ByteReader) throws(DecodingFault) {
        self.init(locale: try reader.string(), text: try reader.string(), url: try reader.string())
    }
}
