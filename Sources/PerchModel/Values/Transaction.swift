public import PerchBase

/// Unique in a store. Zero is valid.
public typealias TransactionID = UInt64

/// An App Store storefront.
public struct Storefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3, such as `USA`.
    public var countryCode: String
    /// Apple's number of the storefront; empty where unknown.
    public var id: String

    /// Creates a value from its parts.
    public init(countryCode: String, id: String = "") {
        self.countryCode = countryCode
        self.id = id
    }
}

/// The offer of a transaction, or of the next period.
public struct TransactionOffer: Hashable, Sendable {
    /// Empty for introductory offers.
    public var id: String
    /// Which kind.
    public var type: OfferType
    /// How it was paid.
    public var paymentMode: PaymentMode
    /// Its period.
    public var period: Period?

    /// Creates a value from its parts.
    public init(id: String, type: OfferType, paymentMode: PaymentMode, period: Period?) {
        self.id = id
        self.type = type
        self.paymentMode = paymentMode
        self.period = period
    }
}

/// A refund, or the end of family sharing.
public struct Revocation: Hashable, Sendable {
    /// The instant.
    public var date: Instant
    /// Why.
    public var reason: RevocationReason
    /// How much.
    public var type: RevocationType
    /// The refunded part in thousandths of a per cent: 50,000 is half.
    public var percentageMilli: UInt32

    /// Creates a value from its parts.
    public init(
        date: Instant, reason: RevocationReason, type: RevocationType = .refundFull, percentageMilli: UInt32 = 100_000
    ) {
        self.date = date
        self.reason = reason
        self.type = type
        self.percentageMilli = percentageMilli
    }
}

/// The position of a transaction in a commitment of twelve months.
public struct Commitment: Hashable, Sendable {
    /// Number of the billing period within the commitment, from 1.
    public var billingPeriodNumber: UInt32
    /// Number of billing periods of the commitment.
    public var totalBillingPeriods: UInt32
    /// When the commitment ends.
    public var expirationDate: Instant
    /// Price of one billing period.
    public var price: Money
    /// Whether another commitment follows.
    public var willRenew: Bool

    /// Creates a value from its parts.
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

/// One purchase, renewal or restore, with all fields of StoreKit 2's `Transaction`.
///
/// Equality ignores the signing date and the device verification, which change without an action of the customer or the
/// store.
///
/// A value behind one reference, because a transaction has a dozen texts and passes from the decision through fact,
/// row, record, event, answer and view.
public struct Transaction: Sendable {
    package private(set) var contents: Contents

    /// Unique in the store; new for each purchase, renewal and restore.
    public var id: TransactionID {
        get { self.contents.fields.id }
        set { self.change { $0.id = newValue } }
    }
    /// The first transaction of its line.
    public var originalID: TransactionID {
        get { self.contents.fields.originalID }
        set { self.change { $0.originalID = newValue } }
    }
    /// Unique for each purchase event of a subscription; empty for other products.
    public var webOrderLineItemID: String {
        get { self.contents.fields.webOrderLineItemID }
        set { self.change { $0.webOrderLineItemID = newValue } }
    }
    /// Bundle identifier of the app.
    public var appBundleID: String {
        get { self.contents.fields.appBundleID }
        set { self.change { $0.appBundleID = newValue } }
    }
    /// Unique for each account and app.
    public var appTransactionID: String {
        get { self.contents.fields.appTransactionID }
        set { self.change { $0.appTransactionID = newValue } }
    }
    /// What was bought.
    public var productID: String {
        get { self.contents.fields.productID }
        set { self.change { $0.productID = newValue } }
    }
    /// Its type.
    public var productType: ProductType {
        get { self.contents.fields.productType }
        set { self.change { $0.productType = newValue } }
    }
    /// Auto-renewable subscriptions only; empty otherwise.
    public var subscriptionGroupID: String {
        get { self.contents.fields.subscriptionGroupID }
        set { self.change { $0.subscriptionGroupID = newValue } }
    }
    /// When the transaction was charged; for a renewal, the start of the new period.
    public var purchaseDate: Instant {
        get { self.contents.fields.purchaseDate }
        set { self.change { $0.purchaseDate = newValue } }
    }
    /// The purchase date of the original transaction.
    public var originalPurchaseDate: Instant {
        get { self.contents.fields.originalPurchaseDate }
        set { self.change { $0.originalPurchaseDate = newValue } }
    }
    /// End of this period; nil for products without an end. In a grace period it is in the past.
    public var expirationDate: Instant? {
        get { self.contents.fields.expirationDate }
        set { self.change { $0.expirationDate = newValue } }
    }
    /// Number of items; above 1 only for consumables.
    public var quantity: UInt32 {
        get { self.contents.fields.quantity }
        set { self.change { $0.quantity = newValue } }
    }
    /// True on the transaction that an upgrade left behind.
    public var isUpgraded: Bool {
        get { self.contents.fields.isUpgraded }
        set { self.change { $0.isUpgraded = newValue } }
    }
    /// Whether the account bought it, or shares it.
    public var ownership: OwnershipType {
        get { self.contents.fields.ownership }
        set { self.change { $0.ownership = newValue } }
    }
    /// The offer it was bought with; nil for none.
    public var offer: TransactionOffer? {
        get { self.contents.fields.offer }
        set { self.change { $0.offer = newValue } }
    }
    /// Absent unless refunded or revoked.
    public var revocation: Revocation? {
        get { self.contents.fields.revocation }
        set { self.change { $0.revocation = newValue } }
    }
    /// The app's UUID for its customer, lower case; empty for none.
    public var appAccountToken: String {
        get { self.contents.fields.appAccountToken }
        set { self.change { $0.appAccountToken = newValue } }
    }
    /// Which store made it.
    public var environment: AppEnvironment {
        get { self.contents.fields.environment }
        set { self.change { $0.environment = newValue } }
    }
    /// The storefront at the time of purchase.
    public var storefront: Storefront {
        get { self.contents.fields.storefront }
        set { self.change { $0.storefront = newValue } }
    }
    /// Purchase or renewal.
    public var reason: TransactionReason {
        get { self.contents.fields.reason }
        set { self.change { $0.reason = newValue } }
    }
    /// The amount charged: with the offer, times the quantity.
    public var price: Money? {
        get { self.contents.fields.price }
        set { self.change { $0.price = newValue } }
    }
    /// When this transaction was signed. Not part of equality.
    public var signedDate: Instant {
        get { self.contents.fields.signedDate }
        set { self.change { $0.signedDate = newValue } }
    }
    /// Device verification; set for devices only.
    public var deviceVerification: [UInt8] {
        get { self.contents.fields.deviceVerification }
        set { self.change { $0.deviceVerification = newValue } }
    }
    /// Nonce of the device verification.
    public var deviceVerificationNonce: String {
        get { self.contents.fields.deviceVerificationNonce }
        set { self.change { $0.deviceVerificationNonce = newValue } }
    }
    /// The billing plan, if the product has several.
    public var billingPlan: BillingPlanType {
        get { self.contents.fields.billingPlan }
        set { self.change { $0.billingPlan = newValue } }
    }
    /// Present on a commitment.
    public var commitment: Commitment? {
        get { self.contents.fields.commitment }
        set { self.change { $0.commitment = newValue } }
    }
    /// Advanced Commerce data as JSON, unchanged.
    public var advancedCommerceInfo: [UInt8] {
        get { self.contents.fields.advancedCommerceInfo }
        set { self.change { $0.advancedCommerceInfo = newValue } }
    }

    /// Creates a value from its parts.
    public init(
        id: TransactionID, originalID: TransactionID, appBundleID: String, productID: String, productType: ProductType,
        purchaseDate: Instant, originalPurchaseDate: Instant, environment: AppEnvironment, storefront: Storefront,
        reason: TransactionReason, signedDate: Instant
    ) {
        self.contents = Contents(
            TransactionFields(
                id: id, originalID: originalID, purchaseDate: purchaseDate,
                sale: SaleTerms(
                    SaleFields(
                        productID: productID, productType: productType, environment: environment, reason: reason,
                        appBundleID: appBundleID, storefront: storefront)),
                originalPurchaseDate: originalPurchaseDate, signedDate: signedDate))
    }

    init(_ fields: consuming TransactionFields) { self.contents = Contents(fields) }

    /// Changes several fields with one copy; changing them one by one would copy the contents each time.
    package mutating func change<Failure: Error>(
        _ body: (inout TransactionFields) throws(Failure) -> Void
    ) throws(Failure) {
        var fields = self.contents.fields
        try body(&fields)
        self.contents = Contents(consume fields)
    }

    /// The immutable contents of a transaction, shared by its copies on all threads.
    package final class Contents: Sendable {
        package let fields: TransactionFields

        init(_ fields: consuming TransactionFields) { self.fields = fields }
    }
}

/// The fields of a `Transaction`, which documents them.
///
/// A box holds the fields that few transactions have, because stores in memory and caches hold transactions by the
/// million, and `SaleTerms` the fields that all transactions of a product share. With the object header, the rest fills
/// three cache lines. The fields for finding a transaction and for checking whether it entitles are in the first two.
///
/// Uses the compiler's memberwise initializer, as all large values that each change makes do: a hand-written one copies
/// and releases every text (Swift 6.3).
package struct TransactionFields: Sendable {
    package var id: TransactionID
    package var originalID: TransactionID
    package var purchaseDate: Instant
    /// What it shares with other transactions of its product. Changed by the names of its fields.
    package internal(set) var sale: SaleTerms
    /// Read directly by code that needs several rare fields; changed by name.
    package private(set) var rare: Boxed<RareTransactionFields>?
    package var expirationDate: Instant?
    package var isUpgraded = false
    /// Whether `accountUUID` says something: in a byte that is free here.
    private(set) var hasAccountUUID = false
    package var quantity: UInt32 = 1
    package var ownership: OwnershipType = .purchased
    package var originalPurchaseDate: Instant
    package var signedDate: Instant
    private(set) var accountUUID = AccountToken(high: 0, low: 0)
    package var webOrderLineItemID = ""
    package var appTransactionID = ""

    package var appAccountToken: String {
        get { self.writtenAccountToken.text }
        set { self.writtenAccountToken = WrittenAccountToken(newValue) }
    }
    static var noUUID: AccountToken { AccountToken(high: 0, low: 0) }
    package var accountToken: AccountToken? { self.hasAccountUUID ? self.accountUUID : nil }
    package var writtenAccountToken: WrittenAccountToken {
        get { WrittenAccountToken(uuid: self.accountToken, other: self.rare?.value.foreignAccountToken ?? "") }
        set {
            (self.accountUUID, self.hasAccountUUID) = (newValue.uuid ?? Self.noUUID, newValue.uuid != nil)
            if self.rare != nil || !newValue.other.isEmpty {
                self.rare.change { $0.foreignAccountToken = newValue.other }
            }
        }
    }
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
    /// An app account token that is not a UUID.
    package var foreignAccountToken = ""

    init() {}
}

extension Transaction: Hashable {
    /// Whether both have the same value, however it was signed.
    public static func == (left: Transaction, right: Transaction) -> Bool {
        if left.contents === right.contents { return true }
        return left.id == right.id && left.originalID == right.originalID
            && left.webOrderLineItemID == right.webOrderLineItemID
            && left.contents.fields.sale == right.contents.fields.sale
            && left.appTransactionID == right.appTransactionID
            && left.purchaseDate == right.purchaseDate && left.originalPurchaseDate == right.originalPurchaseDate
            && left.expirationDate == right.expirationDate && left.quantity == right.quantity
            && left.isUpgraded == right.isUpgraded && left.ownership == right.ownership && left.offer == right.offer
            && left.revocation == right.revocation
            && left.contents.fields.writtenAccountToken == right.contents.fields.writtenAccountToken
            && left.commitment == right.commitment && left.advancedCommerceInfo == right.advancedCommerceInfo
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.id)
        hasher.combine(self.purchaseDate)
    }
}

extension Transaction: CustomReflectable {
    /// Shows the fields, without the storage behind them.
    public var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
}

/// A value, and whether its signature is trusted. The value is readable in both cases.
public struct Verified<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The value, trusted or not. Other packages know it as `unverifiedValue`.
    package var value: Value
    /// Why the value is not trusted; `noFailure` if it is.
    public var failure: VerificationFailure
    /// The compact JWS; empty if the store does not sign. Not part of equality, because each signing changes it.
    public var jws: String

    /// Creates a value from its parts.
    public init(_ value: Value, failure: VerificationFailure = .noFailure, jws: String = "") {
        self.value = value
        self.failure = failure
        self.jws = jws
    }

    /// Whether the value is trusted.
    public var isVerified: Bool { self.failure == .noFailure }

    /// The value, also if its verification failed: nothing may be unlocked by it. `verifiedValue` is the trusted one.
    public var unverifiedValue: Value {
        get { self.value }
        set { self.value = newValue }
    }

    /// The value if it is trusted; nil if its verification failed.
    public var verifiedValue: Value? { self.isVerified ? self.value : nil }

    /// Whether both have the same value, however it was signed.
    public static func == (left: Self, right: Self) -> Bool {
        left.value == right.value && left.failure == right.failure
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.value)
    }
}
