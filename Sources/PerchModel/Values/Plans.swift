public import PerchBase

/// The relation of a plan to the account's current plan.
public struct PlanRelation: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "current", "upgrade", "downgrade", "crossgrade"]
    /// It is held.
    public static let current = Self(rawValue: 1)
    /// A higher level of service.
    public static let upgrade = Self(rawValue: 2)
    /// A lower level of service.
    public static let downgrade = Self(rawValue: 3)
    /// The same level of service.
    public static let crossgrade = Self(rawValue: 4)
}

/// A plan of a group that an account can choose.
public struct PlanOption: Hashable, Sendable {
    /// The product.
    public var product: Product
    /// Unspecified if the account holds no plan.
    public var relation: PlanRelation
    /// The choice takes effect at the next renewal, not now.
    public var takesEffectAtRenewal: Bool
    /// The plan of the next period.
    public var isPreferred: Bool
    /// What would apply now. Nil also while the account's eligibility is not known.
    public var offer: TransactionOffer?

    /// Creates a value from its parts.
    public init(
        product: Product, relation: PlanRelation, takesEffectAtRenewal: Bool, isPreferred: Bool,
        offer: TransactionOffer?
    ) {
        self.product = product
        self.relation = relation
        self.takesEffectAtRenewal = takesEffectAtRenewal
        self.isPreferred = isPreferred
        self.offer = offer
    }
}

/// Whether an account may have an offer.
public struct OfferEligibility: Hashable, Sendable {
    /// The product.
    public var productID: String
    /// Which kind.
    public var type: OfferType
    /// For a code, its reference name; empty for introductory.
    public var offerID: String
    /// False while it is not known.
    public var isEligible: Bool
    /// For programs: one word.
    public var reason: String
    /// For people.
    public var message: String
    /// For products with several plans: each plan may have an introductory offer.
    public var billingPlan: BillingPlanType
    /// Whether, or that it is unknown.
    public var eligibility: Eligibility

    /// Creates a value from its parts.
    public init(
        productID: String, type: OfferType, offerID: String, isEligible: Bool, reason: String, message: String,
        billingPlan: BillingPlanType = .unspecified, eligibility: Eligibility = .unspecified
    ) {
        self.productID = productID
        self.type = type
        self.offerID = offerID
        self.isEligible = isEligible
        self.reason = reason
        self.message = message
        self.billingPlan = billingPlan
        self.eligibility = eligibility
    }
}

/// The offers of products, and whether an account may have each.
public struct OfferEligibilities: Hashable, Sendable {
    /// Whether the account is eligible for an introductory offer in the group, even if the group has none. False while it is
    /// not known.
    public var isEligibleForIntroductory: Bool
    /// The same, or that it is not known.
    public var introductory: Eligibility
    /// Product by product; the win-back offers of all products come last, best first.
    public var offers: [OfferEligibility]

    /// Creates a value from its parts.
    public init(
        isEligibleForIntroductory: Bool, offers: [OfferEligibility], introductory: Eligibility = .unspecified
    ) {
        self.isEligibleForIntroductory = isEligibleForIntroductory
        self.introductory = introductory
        self.offers = offers
    }
}

/// The record of an account's first use of an app.
public struct AppTransaction: Hashable, Sendable {
    /// Unique for each account and app; empty for an account that was never opened.
    public var id: String
    /// Bundle identifier of the app.
    public var bundleID: String
    /// The store that made it.
    public var environment: AppEnvironment
    /// The version that the customer got first; empty where that is unknown.
    public var originalAppVersion: String
    /// When the customer got the app first; nil where that is unknown.
    public var originalPurchaseDate: Instant?
    /// Platform of the first use of the app.
    public var originalPlatform: AppPlatform

    /// Creates a value from its parts.
    public init(
        id: String, bundleID: String, environment: AppEnvironment, originalAppVersion: String = "",
        originalPurchaseDate: Instant? = nil, originalPlatform: AppPlatform = .unspecified
    ) {
        self.id = id
        self.bundleID = bundleID
        self.environment = environment
        self.originalAppVersion = originalAppVersion
        self.originalPurchaseDate = originalPurchaseDate
        self.originalPlatform = originalPlatform
    }
}

/// The platform of an app.
public struct AppPlatform: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// As StoreKit writes them.
    public static let names = ["unspecified", "iOS", "macOS", "tvOS", "visionOS", "watchOS"]
    /// IOS and iPadOS.
    public static let iOS = Self(rawValue: 1)
    /// MacOS.
    public static let macOS = Self(rawValue: 2)
    /// TvOS.
    public static let tvOS = Self(rawValue: 3)
    /// VisionOS.
    public static let visionOS = Self(rawValue: 4)
    /// WatchOS.
    public static let watchOS = Self(rawValue: 5)
}

/// What a test store says of an account's first use of the app. A value that is not given is that of every test app.
public struct AppTransactionTerms: Hashable, Sendable {
    /// Version of the app at its first use.
    public var originalAppVersion: String
    /// When the app was bought; nil for the first use.
    public var originalPurchaseDate: Instant?
    /// Platform of the first use of the app.
    public var originalPlatform: AppPlatform
    /// What the app transaction names as its store; unspecified for the app's own.
    public var environment: AppEnvironment

    /// Creates a value from its parts.
    public init(
        originalAppVersion: String = "", originalPurchaseDate: Instant? = nil,
        originalPlatform: AppPlatform = .unspecified, environment: AppEnvironment = .unspecified
    ) {
        self.originalAppVersion = originalAppVersion
        self.originalPurchaseDate = originalPurchaseDate
        self.originalPlatform = originalPlatform
        self.environment = environment
    }
}

/// An offer of a code that an account has redeemed.
public struct RedeemedOffer: Hashable, Sendable {
    /// The product.
    public var productID: String
    /// The offer's reference name.
    public var offerID: String
    /// What the customer entered; empty for the reference name.
    public var code: String
    /// The transaction that it gave, or the one held then, if the offer applies from the next period.
    public var transactionID: TransactionID

    /// Creates a value from its parts.
    public init(productID: String, offerID: String, code: String, transactionID: TransactionID) {
        self.productID = productID
        self.offerID = offerID
        self.code = code
        self.transactionID = transactionID
    }
}

/// An app's policies in one locale. Empty texts mean that there is none.
public struct ShownPolicies: Hashable, Sendable {
    /// Text of the licence agreement; empty for none.
    public var licenceAgreement: String
    /// Text of the privacy policy; empty for none.
    public var privacyPolicyText = ""
    /// Address of the privacy policy; empty for none.
    public var privacyPolicyURL = ""
    /// The locale of the selected privacy policy.
    public var privacyPolicyLocale = ""
    /// Whether a client that sells shows a payment sheet, and asks the customer before it buys.
    public var showsDialogs = false

    /// Creates a value from its parts.
    public init(licenceAgreement: String) { self.licenceAgreement = licenceAgreement }
}
