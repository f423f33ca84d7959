public import PerchBase

/// Unique in a store. Zero is a valid one.
public typealias TransactionID = UInt64

/// An App Store storefront.
public struct Storefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3, such as `USA`.
    public var countryCode: String
    /// Apple's number of the storefront; empty where unknown.
    public var id: String

    public init(countryCode: String, id: String = "") {
        self.countryCode = countryCode
        self.id = id
    }
}

/// The offer that a transaction was bought with, or that the next one will be.
public struct TransactionOffer: Hashable, Sendable {
    /// Empty for introductory offers.
    public var id: String
    public var type: OfferType
    public var paymentMode: PaymentMode
    public var period: Period?

    public init(id: String, type: OfferType, paymentMode: PaymentMode, period: Period?) {
        self.id = id
        self.type = type
        self.paymentMode = paymentMode
        self.period = period
    }
}

/// A refund, or the end of family sharing.
public struct Revocation: Hashable, Sendable {
    public var date: Instant
    public var reason: RevocationReason
    public var type: RevocationType
    /// The refunded part in thousandths of a per cent: 50,000 is half.
    public var percentageMilli: UInt32

    public init(
        date: Instant, reason: RevocationReason, type: RevocationType = .refundFull, percentageMilli: UInt32 = 100_000
    ) {
        self.date = date
        self.reason = reason
        self.type = type
        self.percentageMilli = percentageMilli
    }
}

/// Where in a commitment of twelve months a transaction stands.
public struct Commitment: Hashable, Sendable {
    public var billingPeriodNumber: UInt32
    public var totalBillingPeriods: UInt32
    public var expirationDate: Instant
    public var price: Money
    public var willRenew: Bool

    public init(
        billingPeriodNumber: UInt32, totalBillingPeriods: UInt32, expirationDate: Instant, price: Money, willRenew: Bool
    ) {
        self.billingPeriodNumber = billingPeriodNumber
        self.totalBillingPeriods = totalBillingPeriods
        self.expirationDate = expirationDate
        self.price = price
        self.willRenew = willRenew
    }
}

/// One purchase, renewal or restore, with all that StoreKit 2 tells of it.
///
/// Equality covers everything but the signing date and the device verification, which change without the customer
/// or the store having done anything.
public struct Transaction: Sendable {
    public var id: TransactionID
    /// The first transaction of its line.
    public var originalID: TransactionID
    /// One for each purchase event of a subscription; empty for other products.
    public var webOrderLineItemID = ""
    public var appBundleID: String
    public var appTransactionID = ""
    public var productID: String
    public var productType: ProductType
    /// Auto-renewable subscriptions only; empty otherwise.
    public var subscriptionGroupID = ""
    /// When it was charged; for a renewal, the start of the new period.
    public var purchaseDate: Instant
    public var originalPurchaseDate: Instant
    /// End of this period; nil where nothing expires. In a grace period it is already past.
    public var expirationDate: Instant?
    public var quantity: UInt32 = 1
    /// True on the transaction that an upgrade left behind.
    public var isUpgraded = false
    public var ownership: OwnershipType = .purchased
    public var offer: TransactionOffer?
    public var revocation: Revocation?
    /// The caller's own UUID for its customer, lower case; empty for none.
    public var appAccountToken = ""
    public var environment: AppEnvironment
    public var storefront: Storefront
    public var reason: TransactionReason
    /// What was charged, after the offer and times the quantity.
    public var price: Money?
    public var signedDate: Instant
    public var deviceVerification: [UInt8] = []
    public var deviceVerificationNonce = ""
    public var billingPlan: BillingPlanType = .unspecified
    public var commitment: Commitment?
    public var advancedCommerceInfo: [UInt8] = []

    public init(
        id: TransactionID, originalID: TransactionID, appBundleID: String, productID: String, productType: ProductType,
        purchaseDate: Instant, originalPurchaseDate: Instant, environment: AppEnvironment, storefront: Storefront,
        reason: TransactionReason, signedDate: Instant
    ) {
        self.id = id
        self.originalID = originalID
        self.appBundleID = appBundleID
        self.productID = productID
        self.productType = productType
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.environment = environment
        self.storefront = storefront
        self.reason = reason
        self.signedDate = signedDate
    }
}

extension Transaction: Hashable {
    public static func == (left: Transaction, right: Transaction) -> Bool {
        left.id == right.id && left.originalID == right.originalID
            && left.webOrderLineItemID == right.webOrderLineItemID && left.appBundleID == right.appBundleID
            && left.appTransactionID == right.appTransactionID && left.productID == right.productID
            && left.productType == right.productType && left.subscriptionGroupID == right.subscriptionGroupID
            && left.purchaseDate == right.purchaseDate && left.originalPurchaseDate == right.originalPurchaseDate
            && left.expirationDate == right.expirationDate && left.quantity == right.quantity
            && left.isUpgraded == right.isUpgraded && left.ownership == right.ownership && left.offer == right.offer
            && left.revocation == right.revocation && left.appAccountToken == right.appAccountToken
            && left.environment == right.environment && left.storefront == right.storefront
            && left.reason == right.reason && left.price == right.price && left.billingPlan == right.billingPlan
            && left.commitment == right.commitment && left.advancedCommerceInfo == right.advancedCommerceInfo
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.id)
        hasher.combine(self.purchaseDate)
    }
}

/// A value, and whether its signature is to be trusted. The value can be read in either case.
public struct Verified<Value: Hashable & Sendable>: Hashable, Sendable {
    public var value: Value
    public var failure: VerificationFailure
    /// The compact JWS; empty where the store does not sign. Not part of equality: signing again changes it.
    public var jws: String

    public init(_ value: Value, failure: VerificationFailure = .verified, jws: String = "") {
        self.value = value
        self.failure = failure
        self.jws = jws
    }

    public var isVerified: Bool { self.failure == .verified }

    public static func == (left: Self, right: Self) -> Bool {
        left.value == right.value && left.failure == right.failure
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.value)
    }
}
