/// An offer configured for a product. Eligibility of an account is decided elsewhere.
public struct SubscriptionOffer: Hashable, Sendable {
    /// Empty for introductory offers; an offer code is known by its reference name.
    public var id: String
    /// Introductory, promotional or win-back. Codes are not listed on a product.
    public var type: OfferType
    /// How it is paid.
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
    /// The billing plan of the offer, if the product has several.
    public var billingPlan: BillingPlanType = .unspecified

    /// Creates a value from its parts.
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
    /// Which plan.
    public var type: BillingPlanType
    /// Price of one charge.
    public var price: Money
    /// The price of one charge, as a text.
    public var displayPrice = ""
    /// Price of the whole commitment; equal to `price` without a commitment.
    public var commitmentPrice: Money
    /// The price of the whole commitment, as a text.
    public var commitmentDisplayPrice = ""
    /// Number of charges in a commitment; 1 without a commitment.
    public var chargeCount: UInt32

    /// Creates a value from its parts.
    public init(type: BillingPlanType, price: Money, commitmentPrice: Money, chargeCount: UInt32) {
        self.type = type
        self.price = price
        self.commitmentPrice = commitmentPrice
        self.chargeCount = chargeCount
    }
}

/// What only auto-renewable subscriptions have.
public struct SubscriptionInfo: Hashable, Sendable {
    /// The group that this product belongs to.
    public var groupID: String
    /// The group's name in the request's locale; empty without localization.
    public var groupDisplayName: String
    /// 1 is the highest level of service.
    public var groupLevel: Int32
    /// Billing period.
    public var period: Period
    /// The introductory offers: at most one for each billing plan.
    public var introductoryOffers: [SubscriptionOffer] = []
    /// Promotional offers.
    public var promotionalOffers: [SubscriptionOffer] = []
    /// Win-back offers.
    public var winBackOffers: [SubscriptionOffer] = []
    /// Billing plans, if the product has several.
    public var billingPlans: [BillingPlan] = []

    /// Creates a value from its parts.
    public init(groupID: String, groupDisplayName: String, groupLevel: Int32, period: Period) {
        self.groupID = groupID
        self.groupDisplayName = groupDisplayName
        self.groupLevel = groupLevel
        self.period = period
    }
}

/// A product for display, in one locale and one storefront. Independent of any account.
public struct Product: Hashable, Sendable {
    /// Product identifier, unique in the app.
    public var id: String
    /// Which of the four types.
    public var type: ProductType
    /// Name in the request's locale; empty without localization.
    public var displayName: String
    /// Description in the request's locale; empty without localization.
    public var description: String
    /// Price in the storefront's currency.
    public var price: Money
    /// The price for people.
    public var displayPrice: String
    /// Whether family members share it.
    public var isFamilyShareable: Bool
    /// Empty for none.
    public var promotionalImageID = ""
    /// SHA-256 of the promotional image, 32 bytes; empty if there is no image.
    public var promotionalImageHash: [UInt8] = []
    /// Nil unless auto-renewable.
    public var subscription: SubscriptionInfo?
    /// The storefront of the price.
    public var storefront: Storefront
    /// The product's JSON from the catalogue file.
    public var jsonRepresentation: [UInt8] = []

    /// Creates a value from its parts.
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

    /// Creates a value from its parts.
    public init(products: [Product], unavailableIDs: [String]) {
        self.products = products
        self.unavailableIDs = unavailableIDs
    }
}
