package import PerchBase

/// The products and groups that an app sells, as its `.storekit` file lists them. Immutable: a new file makes a new
/// catalogue.
package final class Catalogue: Sendable, Equatable {
    /// In the order of the file.
    package let products: [CatalogueProduct]
    /// In the order of the file.
    package let groups: [CatalogueGroup]
    package let schemaVersion: String
    package let policies: AppPolicies
    /// By identifier.
    package let images: [CatalogueImage]
    /// What gives the app's named entitlements, in the order of their file.
    package let entitlements: [EntitlementRule]
    private let productIndex: [String: Int]
    private let groupIndex: [String: Int]
    private let imageIndex: [String: Int]

    /// The loader guarantees that `products` and `images` have unique identifiers, and that products name existing
    /// groups. Violations trap.
    package init(
        products: [CatalogueProduct], groups: [CatalogueGroup], schemaVersion: String,
        policies: AppPolicies = AppPolicies(), images: [CatalogueImage] = [], entitlements: [EntitlementRule] = []
    ) {
        self.entitlements = entitlements
        self.products = products
        self.groups = groups
        self.schemaVersion = schemaVersion
        self.policies = policies
        self.images = images
        self.productIndex = Dictionary(uniqueKeysWithValues: products.enumerated().map { ($1.id, $0) })
        self.groupIndex = Dictionary(uniqueKeysWithValues: groups.enumerated().map { ($1.id, $0) })
        self.imageIndex = Dictionary(uniqueKeysWithValues: images.enumerated().map { ($1.id, $0) })
        for product in products {
            if let subscription = product.subscription {
                precondition(self.groupIndex[subscription.groupID] != nil, "a product names a group that is not there")
            }
        }
    }

    package static func == (left: Catalogue, right: Catalogue) -> Bool {
        left === right
            || (left.schemaVersion == right.schemaVersion && left.products == right.products
                && left.groups == right.groups && left.policies == right.policies && left.images == right.images
                && left.entitlements == right.entitlements)
    }

    package static let empty = Catalogue(products: [], groups: [], schemaVersion: "")

    /// The place of a product among `products`.
    package func place(ofProduct id: String) -> Int? { self.productIndex[id] }

    package func product(_ id: String) -> CatalogueProduct? {
        self.productIndex[id].map { self.products[$0] }
    }

    /// The product, unless it is withdrawn from sale.
    package func productOnSale(_ id: String) -> CatalogueProduct? {
        self.product(id).flatMap { $0.isWithdrawn ? nil : $0 }
    }

    /// A copy of this catalogue with other products.
    func replacing(products: [CatalogueProduct]) -> Catalogue {
        Catalogue(
            products: products, groups: self.groups, schemaVersion: self.schemaVersion, policies: self.policies,
            images: self.images, entitlements: self.entitlements)
    }

    /// A copy of this catalogue with other named entitlements.
    package func replacing(entitlements: [EntitlementRule]) -> Catalogue {
        Catalogue(
            products: self.products, groups: self.groups, schemaVersion: self.schemaVersion, policies: self.policies,
            images: self.images, entitlements: entitlements)
    }

    package func group(_ id: String) -> CatalogueGroup? {
        self.groupIndex[id].map { self.groups[$0] }
    }

    package func image(_ id: String) -> CatalogueImage? {
        self.imageIndex[id].map { self.images[$0] }
    }
}

/// Texts of a product or group in one locale.
package struct Localization: Hashable, Sendable {
    /// Underscore form: `en_US`, `zh_Hans`.
    package var locale: String
    package var displayName: String
    package var description: String

    package init(locale: String, displayName: String, description: String) {
        self.locale = locale
        self.displayName = displayName
        self.description = description
    }
}

/// A subscription group.
package struct CatalogueGroup: Hashable, Sendable {
    package var id: String
    /// Reference name, never shown.
    package var name: String
    package var localizations: [Localization]

    package init(id: String, name: String, localizations: [Localization]) {
        self.id = id
        self.name = name
        self.localizations = localizations
    }
}

/// An offer code and who may redeem it.
package struct CodeOffer: Hashable, Sendable {
    package struct Eligibility: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let new = Self(rawValue: 1)
        package static let existing = Self(rawValue: 2)
        package static let expired = Self(rawValue: 4)
    }

    package var offer: SubscriptionOffer
    package var eligibility: Eligibility
    package var isStackable: Bool
    /// What customers enter. None: the offer's reference name, without a limit.
    package var codes: [OfferCode]

    package init(offer: SubscriptionOffer, eligibility: Eligibility, isStackable: Bool, codes: [OfferCode] = []) {
        self.offer = offer
        self.eligibility = eligibility
        self.isStackable = isStackable
        self.codes = codes
    }

    /// The code that a customer entered; nil if it is not one of this offer.
    package func code(_ entered: String) -> OfferCode? {
        if self.codes.isEmpty { return entered == self.offer.id ? OfferCode(code: "") : nil }
        return self.codes.first { $0.code == entered }
    }
}

/// The conditions of a win-back offer, beyond the loss of the subscription.
package struct WinBackRule: Hashable, Sendable {
    /// Minimum number of paid months.
    package var paidMonthsMin: Int32 = 1
    /// Minimum and maximum number of months since the subscription ended, each from 1 to 24.
    package var lapsedMonthsMin: Int32 = 1
    package var lapsedMonthsMax: Int32 = 24
    /// Months between two redemptions, 2 to 24.
    package var waitMonths: Int32 = 2
    package var from: Instant?
    package var until: Instant?

    package init() {}
}

/// A win-back offer and Xcode's simplified eligibility.
package struct WinBackOffer: Hashable, Sendable {
    package var offer: SubscriptionOffer
    /// True: redeemable as soon as the owner's subscription lapses.
    package var isEligible: Bool
    package var isHighPriority: Bool
    /// Nil: only `isEligible` makes an account eligible, as in Xcode, whose files have no rules.
    package var rule: WinBackRule?

    package init(offer: SubscriptionOffer, isEligible: Bool, isHighPriority: Bool, rule: WinBackRule? = nil) {
        self.offer = offer
        self.isEligible = isEligible
        self.isHighPriority = isHighPriority
        self.rule = rule
    }
}

/// What only auto-renewable subscriptions have.
package struct CatalogueSubscription: Hashable, Sendable {
    package var groupID: String
    /// 1 is the highest level of service.
    package var level: Int32
    package var period: Period
    package var introductoryOffers: [SubscriptionOffer] = []
    package var promotionalOffers: [SubscriptionOffer] = []
    package var codeOffers: [CodeOffer] = []
    package var winBackOffers: [WinBackOffer] = []
    package var billingPlans: [BillingPlan] = []

    package init(groupID: String, level: Int32, period: Period) {
        self.groupID = groupID
        self.level = level
        self.period = period
    }
}

/// A product as the catalogue has it, in all its locales. Prices are in the currency of the file's storefront.
///
/// A value behind one reference, because every purchase looks up its product, and a product has a dozen texts and
/// lists.
package struct CatalogueProduct: Hashable, Sendable {
    private var contents: Contents

    package var id: String {
        get { self.contents.fields.id }
        set { self.change { $0.id = newValue } }
    }
    package var type: ProductType {
        get { self.contents.fields.type }
        set { self.change { $0.type = newValue } }
    }
    /// Internal name, never shown to customers.
    package var referenceName: String {
        get { self.contents.fields.referenceName }
        set { self.change { $0.referenceName = newValue } }
    }
    package var price: Money {
        get { self.contents.fields.price }
        set { self.change { $0.price = newValue } }
    }
    package var isFamilyShareable: Bool {
        get { self.contents.fields.isFamilyShareable }
        set { self.change { $0.isFamilyShareable = newValue } }
    }
    package var localizations: [Localization] {
        get { self.contents.fields.localizations }
        set { self.change { $0.localizations = newValue } }
    }
    package var promotionalImageID: String {
        get { self.contents.fields.promotionalImageID }
        set { self.change { $0.promotionalImageID = newValue } }
    }
    /// Withdrawn from sale. The catalogue keeps the product, so that its level of service stays known.
    package var isWithdrawn: Bool {
        get { self.contents.fields.isWithdrawn }
        set { self.change { $0.isWithdrawn = newValue } }
    }
    package var subscription: CatalogueSubscription? {
        get { self.contents.fields.subscription }
        set { self.change { $0.subscription = newValue } }
    }
    /// The offers of codes of any product. Those of a subscription stand with its other offers.
    package var codeOffers: [CodeOffer] {
        get { self.contents.fields.subscription?.codeOffers ?? self.contents.fields.codeOffers }
        set {
            self.change { fields in
                if fields.subscription != nil {
                    fields.subscription?.codeOffers = newValue
                } else {
                    fields.codeOffers = newValue
                }
            }
        }
    }
    /// The product's own JSON, as the file has it.
    package var json: [UInt8] {
        get { self.contents.fields.json }
        set { self.change { $0.json = newValue } }
    }

    package init(
        id: String, type: ProductType, referenceName: String, price: Money, isFamilyShareable: Bool,
        localizations: [Localization], promotionalImageID: String = "", subscription: CatalogueSubscription? = nil,
        json: [UInt8] = []
    ) {
        self.contents = Contents(
            Fields(
                id: id, type: type, referenceName: referenceName, price: price, isFamilyShareable: isFamilyShareable,
                localizations: localizations, promotionalImageID: promotionalImageID, subscription: subscription,
                json: json))
    }

    private mutating func change(_ body: (inout Fields) -> Void) {
        var fields = self.contents.fields
        body(&fields)
        self.contents = Contents(fields)
    }

    private struct Fields: Hashable, Sendable {
        var id: String
        var type: ProductType
        var referenceName: String
        var price: Money
        var isFamilyShareable: Bool
        var localizations: [Localization]
        var promotionalImageID: String
        var isWithdrawn = false
        var subscription: CatalogueSubscription?
        /// Of a product that is no subscription.
        var codeOffers: [CodeOffer] = []
        var json: [UInt8]
    }

    private final class Contents: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    package static func == (left: CatalogueProduct, right: CatalogueProduct) -> Bool {
        left.contents === right.contents || left.contents.fields == right.contents.fields
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.contents.fields)
    }
}

extension CatalogueProduct: CustomReflectable {
    /// Shows the fields, without the storage behind them.
    package var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
}

/// Licence agreement and privacy policies of an app.
package struct AppPolicies: Hashable, Sendable {
    package struct PrivacyPolicy: Hashable, Sendable {
        package var locale: String
        package var text: String
        package var url: String

        package init(locale: String, text: String, url: String) {
            self.locale = locale
            self.text = text
            self.url = url
        }
    }

    package var licenceAgreement: String
    package var privacyPolicies: [PrivacyPolicy]

    package init(licenceAgreement: String = "", privacyPolicies: [PrivacyPolicy] = []) {
        self.licenceAgreement = licenceAgreement
        self.privacyPolicies = privacyPolicies
    }
}
