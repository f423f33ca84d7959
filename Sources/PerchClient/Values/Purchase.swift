public import PerchBase
public import PerchModel
import PerchWire

/// How to buy.
public struct PurchaseOptions: Hashable, Sendable {
    /// An offer to buy with. Introductory offers apply by themselves.
    public struct Offer: Hashable, Sendable {
        /// Promotional, code or win-back.
        public var type: OfferType
        /// The offer's identifier; for a code, its reference name.
        public var id: String
        /// Signature of a promotional offer, as a compact JWS.
        public var jws: String

        public init(type: OfferType, id: String, jws: String = "") {
            self.type = type
            self.id = id
            self.jws = jws
        }
    }

    /// Of a consumable, 1 to 10.
    public var quantity: Int
    /// A UUID of the caller's own for its customer; empty for none.
    public var appAccountToken: String
    public var offer: Offer?
    /// Where the product has several.
    public var billingPlan: BillingPlanType
    /// Repeating the call with the same key buys once. Nil: a random one, under which the client itself repeats.
    public var idempotencyKey: [UInt8]?

    public init(
        quantity: Int = 1, appAccountToken: String = "", offer: Offer? = nil,
        billingPlan: BillingPlanType = .unspecified, idempotencyKey: [UInt8]? = nil
    ) {
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        self.offer = offer
        self.billingPlan = billingPlan
        self.idempotencyKey = idempotencyKey
    }
}

/// What became of a purchase.
public struct Purchase: Hashable, Sendable {
    /// As StoreKit's `Product.PurchaseResult`.
    public enum Result: Hashable, Sendable {
        case success(Verified<Transaction>)
        case userCancelled
        case pending
        /// Of a newer server.
        case unknown(rawValue: Int32)
    }

    public var result: Result
    /// Where the change stands: hand it to a read as `atLeast` to see the purchase. Nil if nothing was written.
    public var position: Position?
    /// The transaction was held before, and nothing was charged.
    public var wasHeld: Bool

    public init(result: Result, position: Position?, wasHeld: Bool) {
        self.result = result
        self.position = position
        self.wasHeld = wasHeld
    }

    /// The transaction, with success.
    public var transaction: Verified<Transaction>? {
        guard case .success(let transaction) = self.result else { return nil }
        return transaction
    }
}

/// A change that came to a transaction.
public struct TransactionChange: Hashable, Sendable {
    /// Where the change stands.
    public var position: Position
    /// New, or as it is now.
    public var transaction: Verified<Transaction>
    /// The customer held it before, and nothing was charged.
    public var wasHeld: Bool

    public init(position: Position, transaction: Verified<Transaction>, wasHeld: Bool = false) {
        self.position = position
        self.transaction = transaction
        self.wasHeld = wasHeld
    }
}

/// A page of transactions, oldest first.
public struct TransactionPage: Hashable, Sendable {
    public var transactions: [Verified<Transaction>]
    /// Opaque; nil on the last page.
    public var nextPageToken: [UInt8]?
    /// How far the server had come.
    public var position: Position

    public init(transactions: [Verified<Transaction>], nextPageToken: [UInt8]?, position: Position) {
        self.transactions = transactions
        self.nextPageToken = nextPageToken
        self.position = position
    }

    init(_ page: PerchWire.TransactionPage) {
        self.init(
            transactions: page.transactions, nextPageToken: page.nextPageToken.isEmpty ? nil : page.nextPageToken,
            position: page.position)
    }
}
