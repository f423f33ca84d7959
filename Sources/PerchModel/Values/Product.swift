/// An offer that a product is configured with; whether an account may have it is another question.
public struct SubscriptionOffer: Hashable, Sendable {
    /// Empty for introductory offers; an offer code is known by its reference name.
    public var id: String
    public var type: OfferType
    public var paymentMode: PaymentMode
    /// One charge; nothing for a free trial.
    public var price: Money
    /// For people; filled when a product is shown, empty in a catalogue.
    public var displayPrice = ""
    /// Free trial and pay up front: the whole offer. Pay as you go: one billing period.
    public var period: Period
    /// Pay as you go: how many billing periods. Otherwise 1.
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
        TransactionOffer(id: self.id, type: self.type, paymentMode: self.paymentMode, period: self.period)
    }
}

/// A way to pay for a subscription, where there is more than one.
public struct BillingPlan: Hashable, Sendable {
    public var type: BillingPlanType
    public var price: Money
    public var displayPrice = ""
    public var commitmentPrice: Money
    public var commitmentDisplayPrice = ""
    /// Charges in a commitment; 1 without one.
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

/// A product as it is shown: in one locale and one storefront. Nothing here depends on an account.
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
    /// SHA-256 of the promotional image, 32 bytes; empty where there is none to be had.
    public var promotionalImageHash: [UInt8] = []
    /// Nil unless auto-renewable.
    public var subscription: SubscriptionInfo?
    public var storefront: Storefront
    /// The product as the catalogue file has it.
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
    /// What the catalogue does not have, in the order of the request.
    public var unavailableIDs: [String]

    public init(products: [Product], unavailableIDs: [String]) {
        self.products = products
        self.unavailableIDs = unavailableIDs
    }
}
