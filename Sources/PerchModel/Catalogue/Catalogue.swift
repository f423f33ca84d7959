package import PerchBase

/// What an app sells, as its `.storekit` file says. Immutable: a new file is a new catalogue.
package final class Catalogue: Sendable, Equatable {
    /// In the order of the file.
    package let products: [CatalogueProduct]
    /// In the order of the file.
    package let groups: [CatalogueGroup]
    package let schemaVersion: String
    package let policies: AppPolicies
    /// By identifier.
    package let images: [CatalogueImage]
    private let productIndex: [String: Int]
    private let groupIndex: [String: Int]
    private let imageIndex: [String: Int]

    /// `products` and `images` have unique identifiers, and products name groups that exist: the loader's promise, trapped here.
    package init(
        products: [CatalogueProduct], groups: [CatalogueGroup], schemaVersion: String,
        policies: AppPolicies = AppPolicies(), images: [CatalogueImage] = []
    ) {
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
                && left.groups == right.groups && left.policies == right.policies && left.images == right.images)
    }

    package static let empty = Catalogue(products: [], groups: [], schemaVersion: "")

    package func product(_ id: String) -> CatalogueProduct? {
        self.productIndex[id].map { self.products[$0] }
    }

    /// The product, unless it is withdrawn from sale.
    package func productOnSale(_ id: String) -> CatalogueProduct? {
        self.product(id).flatMap { $0.isWithdrawn ? nil : $0 }
    }

    /// The same catalogue with these products in the place of its own.
    func replacing(products: [CatalogueProduct]) -> Catalogue {
        Catalogue(
            products: products, groups: self.groups, schemaVersion: self.schemaVersion, policies: self.policies,
            images: self.images)
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

    package init(offer: SubscriptionOffer, eligibility: Eligibility, isStackable: Bool) {
        self.offer = offer
        self.eligibility = eligibility
        self.isStackable = isStackable
    }
}

/// Who may have a win-back offer, beyond that the subscription was lost.
package struct WinBackRule: Hashable, Sendable {
    /// Months that were paid for, at least.
    package var paidMonthsMin: Int32 = 1
    /// Months since the subscription ended: at least and at most so many, 1 to 24.
    package var lapsedMonthsMin: Int32 = 1
    package var lapsedMonthsMax: Int32 = 24
    /// Months from one redemption to the next, 2 to 24.
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
    /// Nil: nobody may have it but by `isEligible`, as in Xcode, whose files know no rule.
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

/// A product as the catalogue has it: in all its locales. Prices carry the currency of the file's storefront.
package struct CatalogueProduct: Hashable, Sendable {
    package var id: String
    package var type: ProductType
    /// Internal name, never shown to customers.
    package var referenceName: String
    package var price: Money
    package var isFamilyShareable: Bool
    package var localizations: [Localization]
    package var promotionalImageID: String
    /// Withdrawn from sale: unavailable, though the catalogue keeps it, so that its level of service is still known.
    package var isWithdrawn = false
    package var subscription: CatalogueSubscription?
    /// The product's own JSON, as the file has it.
    package var json: [UInt8]

    package init(
        id: String, type: ProductType, referenceName: String, price: Money, isFamilyShareable: Bool,
        localizations: [Localization], promotionalImageID: String = "", subscription: CatalogueSubscription? = nil,
        json: [UInt8] = []
    ) {
        self.id = id
        self.type = type
        self.referenceName = referenceName
        self.price = price
        self.isFamilyShareable = isFamilyShareable
        self.localizations = localizations
        self.promotionalImageID = promotionalImageID
        self.subscription = subscription
        self.json = json
    }
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
