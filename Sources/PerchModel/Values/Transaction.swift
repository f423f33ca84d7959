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
///
/// A value behind one reference. A transaction is handed from the decision through fact, row, record, event, answer and
/// view, and has a dozen texts: copying them one by one was a third of the cost of a change.
public struct Transaction: Sendable {
    package private(set) var contents: Contents

    public var id: TransactionID {
        get { self.contents.fields.id }
        set { self.change { $0.id = newValue } }
    }
    /// The first transaction of its line.
    public var originalID: TransactionID {
        get { self.contents.fields.originalID }
        set { self.change { $0.originalID = newValue } }
    }
    /// One for each purchase event of a subscription; empty for other products.
    public var webOrderLineItemID: String {
        get { self.contents.fields.webOrderLineItemID }
        set { self.change { $0.webOrderLineItemID = newValue } }
    }
    public var appBundleID: String {
        get { self.contents.fields.appBundleID }
        set { self.change { $0.appBundleID = newValue } }
    }
    public var appTransactionID: String {
        get { self.contents.fields.appTransactionID }
        set { self.change { $0.appTransactionID = newValue } }
    }
    public var productID: String {
        get { self.contents.fields.productID }
        set { self.change { $0.productID = newValue } }
    }
    public var productType: ProductType {
        get { self.contents.fields.productType }
        set { self.change { $0.productType = newValue } }
    }
    /// Auto-renewable subscriptions only; empty otherwise.
    public var subscriptionGroupID: String {
        get { self.contents.fields.subscriptionGroupID }
        set { self.change { $0.subscriptionGroupID = newValue } }
    }
    /// When it was charged; for a renewal, the start of the new period.
    public var purchaseDate: Instant {
        get { self.contents.fields.purchaseDate }
        set { self.change { $0.purchaseDate = newValue } }
    }
    public var originalPurchaseDate: Instant {
        get { self.contents.fields.originalPurchaseDate }
        set { self.change { $0.originalPurchaseDate = newValue } }
    }
    /// End of this period; nil where nothing expires. In a grace period it is already past.
    public var expirationDate: Instant? {
        get { self.contents.fields.expirationDate }
        set { self.change { $0.expirationDate = newValue } }
    }
    public var quantity: UInt32 {
        get { self.contents.fields.quantity }
        set { self.change { $0.quantity = newValue } }
    }
    /// True on the transaction that an upgrade left behind.
    public var isUpgraded: Bool {
        get { self.contents.fields.isUpgraded }
        set { self.change { $0.isUpgraded = newValue } }
    }
    public var ownership: OwnershipType {
        get { self.contents.fields.ownership }
        set { self.change { $0.ownership = newValue } }
    }
    public var offer: TransactionOffer? {
        get { self.contents.fields.offer }
        set { self.change { $0.offer = newValue } }
    }
    public var revocation: Revocation? {
        get { self.contents.fields.revocation }
        set { self.change { $0.revocation = newValue } }
    }
    /// The caller's own UUID for its customer, lower case; empty for none.
    public var appAccountToken: String {
        get { self.contents.fields.appAccountToken }
        set { self.change { $0.appAccountToken = newValue } }
    }
    public var environment: AppEnvironment {
        get { self.contents.fields.environment }
        set { self.change { $0.environment = newValue } }
    }
    public var storefront: Storefront {
        get { self.contents.fields.storefront }
        set { self.change { $0.storefront = newValue } }
    }
    public var reason: TransactionReason {
        get { self.contents.fields.reason }
        set { self.change { $0.reason = newValue } }
    }
    /// What was charged, after the offer and times the quantity.
    public var price: Money? {
        get { self.contents.fields.price }
        set { self.change { $0.price = newValue } }
    }
    public var signedDate: Instant {
        get { self.contents.fields.signedDate }
        set { self.change { $0.signedDate = newValue } }
    }
    public var deviceVerification: [UInt8] {
        get { self.contents.fields.deviceVerification }
        set { self.change { $0.deviceVerification = newValue } }
    }
    public var deviceVerificationNonce: String {
        get { self.contents.fields.deviceVerificationNonce }
        set { self.change { $0.deviceVerificationNonce = newValue } }
    }
    public var billingPlan: BillingPlanType {
        get { self.contents.fields.billingPlan }
        set { self.change { $0.billingPlan = newValue } }
    }
    public var commitment: Commitment? {
        get { self.contents.fields.commitment }
        set { self.change { $0.commitment = newValue } }
    }
    public var advancedCommerceInfo: [UInt8] {
        get { self.contents.fields.advancedCommerceInfo }
        set { self.change { $0.advancedCommerceInfo = newValue } }
    }

    public init(
        id: TransactionID, originalID: TransactionID, appBundleID: String, productID: String, productType: ProductType,
        purchaseDate: Instant, originalPurchaseDate: Instant, environment: AppEnvironment, storefront: Storefront,
        reason: TransactionReason, signedDate: Instant
    ) {
        self.contents = Contents(
            TransactionFields(
                id: id, originalID: originalID, productID: productID, purchaseDate: purchaseDate,
                productType: productType, environment: environment, reason: reason,
                originalPurchaseDate: originalPurchaseDate, signedDate: signedDate, appBundleID: appBundleID,
                storefront: storefront))
    }

    init(_ fields: consuming TransactionFields) { self.contents = Contents(fields) }

    /// Changes several fields at the cost of one: each change of one makes the contents anew.
    package mutating func change<Failure: Error>(
        _ body: (inout TransactionFields) throws(Failure) -> Void
    ) throws(Failure) {
        var fields = self.contents.fields
        try body(&fields)
        self.contents = Contents(consume fields)
    }

    /// What a transaction says, once and for all: shared by its copies, on all threads.
    package final class Contents: Sendable {
        package let fields: TransactionFields

        init(_ fields: consuming TransactionFields) { self.fields = fields }
    }
}

/// The fields of a `Transaction`, which says what they mean.
///
/// A store in memory and every cache hold them by the million: what few transactions have is in a box, and with what the
/// runtime keeps of an object they fill four lines of a cache. What is asked of a transaction to find it among others, or
/// to see whether it entitles, stands in the first two.
///
/// Its initializer is the compiler's, as is that of everything large that is made for each change: one that is written by
/// hand copies what it has made, text by text, and lets go of what it copied (Swift 6.3).
package struct TransactionFields: Sendable {
    package var id: TransactionID
    package var originalID: TransactionID
    package var productID: String
    package var purchaseDate: Instant
    /// Looked at by who asks for several of them; changed by name.
    package private(set) var rare: Boxed<RareTransactionFields>?
    package var expirationDate: Instant?
    package var isUpgraded = false
    package var productType: ProductType
    package var quantity: UInt32 = 1
    package var ownership: OwnershipType = .purchased
    package var environment: AppEnvironment
    package var reason: TransactionReason
    package var billingPlan: BillingPlanType = .unspecified
    package var originalPurchaseDate: Instant
    package var signedDate: Instant
    package var webOrderLineItemID = ""
    package var appBundleID: String
    package var appTransactionID = ""
    package var subscriptionGroupID = ""
    package var appAccountToken = ""
    package var storefront: Storefront
    package var price: Money?

    package var offer: TransactionOffer? {
        get { self.rare?.value.offer }
        set { self.rare.change { $0.offer = newValue } }
    }
    package var revocation: Revocation? {
        get { self.rare?.value.revocation }
        set { self.rare.change { $0.revocation = newValue } }
    }
    package var deviceVerification: [UInt8] {
        get { self.rare?.value.deviceVerification ?? [] }
        set { self.rare.change { $0.deviceVerification = newValue } }
    }
    package var deviceVerificationNonce: String {
        get { self.rare?.value.deviceVerificationNonce ?? "" }
        set { self.rare.change { $0.deviceVerificationNonce = newValue } }
    }
    package var commitment: Commitment? {
        get { self.rare?.value.commitment }
        set { self.rare.change { $0.commitment = newValue } }
    }
    package var advancedCommerceInfo: [UInt8] {
        get { self.rare?.value.advancedCommerceInfo ?? [] }
        set { self.rare.change { $0.advancedCommerceInfo = newValue } }
    }
}

/// What few transactions have.
package struct RareTransactionFields: Rare {
    package var offer: TransactionOffer?
    package var revocation: Revocation?
    package var deviceVerification: [UInt8] = []
    package var deviceVerificationNonce = ""
    package var commitment: Commitment?
    package var advancedCommerceInfo: [UInt8] = []

    init() {}
}

extension Transaction: Hashable {
    public static func == (left: Transaction, right: Transaction) -> Bool {
        if left.contents === right.contents { return true }
        return left.id == right.id && left.originalID == right.originalID
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

extension Transaction: CustomReflectable {
    /// Shows the fields, not where they are kept.
    public var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
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

    /// The value, if it may be relied upon; nil if its verification failed.
    public var verifiedValue: Value? { self.isVerified ? self.value : nil }

    public static func == (left: Self, right: Self) -> Bool {
        left.value == right.value && left.failure == right.failure
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.value)
    }
}
