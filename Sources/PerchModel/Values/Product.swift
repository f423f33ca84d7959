/// An offer configured for a product. Eligibility of an account is decided elsewhere.
public struct SubscriptionOffer: Hashable, Sendable {
    /// Empty for introductory offers; an offer code is known by its reference name.
    public var id: String
    public var type: OfferType
    public var paymentMode: PaymentMode
    /// The price of one charge; zero for a free trial.
    public var price: Money
    /// For display; filled for a shown product, empty in a catalogue.
    public var displayPrice = ""
    /// Free trial and pay up front: the length of the whole offer. Pay as you go: one billing period. One-time: without
    /// meaning.
    public var period: Period
    /// Pay as you go: the number of billing periods. Otherwise 1.
    public var periodCount: Int32
    public var billingPlan: BillingPlanType = .unspecified

    public init(
        id: String, type: OfferType, paymentMode: PaymentMode, price: Money, period: Period, periodCount: Int32 = 1
    ) {
        self.id = id
        self.type = type
        self.paymentMode = paymentMode
        self.price = price
        self.period = period
        self.periodCount = periodCount
    }

    package var applied: TransactionOffer {
        TransactionOffer(
            id: self.id, type: self.type, paymentMode: self.paymentMode,
            period: self.paymentMode == .oneTime ? nil : self.period)
    }
}

/// A way to pay for a subscription that has several.
public struct BillingPlan: Hashable, Sendable {
    public var type: BillingPlanType
    public var price: Money
    public var displayPrice = ""
    public var commitmentPrice: Money
    public var commitmentDisplayPrice = ""
    /// Number of charges in a commitment; 1 without a commitment.
    public var chargeCount: UInt32

    public init(type: BillingPlanType, price: Money, commitmentPrice: Money, chargeCount: UInt32) {
        self.type = type
        self.price = price
        self.commitmentPrice = commitmentPrice
        self.chargeCount = chargeCount
    }
}

/// What only auto-renewable subscriptions have.
public struct SubscriptionInfo: Hashable, Sendable {
    public var groupID: String
    public var groupDisplayName: String
    /// 1 is the highest level of service.
    public var groupLevel: Int32
    public var period: Period
    public var introductoryOffers: [SubscriptionOffer] = []
    public var promotionalOffers: [SubscriptionOffer] = []
    public var winBackOffers: [SubscriptionOffer] = []
    public var billingPlans: [BillingPlan] = []

    public init(groupID: String, groupDisplayName: String, groupLevel: Int32, period: Period) {
        self.groupID = groupID
        self.groupDisplayName = groupDisplayName
        self.groupLevel = groupLevel
        self.period = period
    }
}

/// A product for display, in one locale and one storefront. Independent of any account.
public struct Product: Hashable, Sendable {
    public var id: String
    public var type: ProductType
    public var displayName: String
    public var description: String
    public var price: Money
    public var displayPrice: String
    public var isFamilyShareable: Bool
    /// Empty for none.
    public var promotionalImageID = ""
    /// SHA-256 of the promotional image, 32 bytes; empty if there is no image.
    public var promotionalImageHash: [UInt8] = []
    /// Nil unless auto-renewable.
    public var subscription: SubscriptionInfo?
    public var storefront: Storefront
    /// The product's JSON from the catalogue file.
    public var jsonRepresentation: [UInt8] = []

    public init(
        id: String, type: ProductType, displayName: String, description: String, price: Money, displayPrice: String,
        isFamilyShareable: Bool, storefront: Storefront
    ) {
        self.id = id
        self.type = type
        self.displayName = displayName
        self.description = description
        self.price = price
        self.displayPrice = displayPrice
        self.isFamilyShareable = isFamilyShareable
        self.storefront = storefront
    }
}

/// The value of a products view.
public struct Products: Hashable, Sendable {
    /// In the order of the request.
    public var products: [Product]
    /// Requested IDs that the catalogue does not have, in the order of the request.
    public var unavailableIDs: [String]

    public init(products: [Product], unavailableIDs: [String]) {
        self.products = products
        self.unavailableIDs = unavailableIDs
    }
}
