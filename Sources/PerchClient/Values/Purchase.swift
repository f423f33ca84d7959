public import PerchBase
public import PerchModel
import PerchWire

/// What became of a purchase.
public struct Purchase: Hashable, Sendable {
    /// As StoreKit's `Product.PurchaseResult`.
    public enum Result: Hashable, Sendable {
        case success(Verified<Transaction>)
        case userCancelled
        /// It waits for somebody, under this number. If it is approved, its transaction arrives as an event.
        case pending(number: UInt64)
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

/// What an operation of the test store came to.
public struct OperationResult: Hashable, Sendable {
    /// Where the change stands: hand it to a read as `atLeast` to see it.
    public var position: Position
    /// What was made or changed; nil where there is none.
    public var transaction: Verified<Transaction>?
    /// Of a purchase: what became of it.
    public var purchase: Purchase.Result?
    /// The customer held the transaction before, and nothing was charged.
    public var wasHeld: Bool
    /// The number of a purchase that waits, or of an intent; nil where there is none.
    public var number: UInt64?

    public init(
        position: Position, transaction: Verified<Transaction>? = nil, purchase: Purchase.Result? = nil,
        wasHeld: Bool = false, number: UInt64? = nil
    ) {
        self.position = position
        self.transaction = transaction
        self.purchase = purchase
        self.wasHeld = wasHeld
        self.number = number
    }
}

/// What became of a request for a refund.
public struct RefundOutcome: Hashable, Sendable {
    /// Where the change stands.
    public var position: Position
    /// The money is given back.
    public var isApproved: Bool
    /// Revoked, or as it was.
    public var transaction: Verified<Transaction>?

    public init(position: Position, isApproved: Bool, transaction: Verified<Transaction>?) {
        self.position = position
        self.isApproved = isApproved
        self.transaction = transaction
    }
}

/// What a redeemed code came to.
public struct Redemption: Hashable, Sendable {
    /// Where the change stands.
    public var position: Position
    /// New, or the one held while the offer waits. It arrives as an event too.
    public var transaction: Verified<Transaction>
    /// The offer applies from the next period.
    public var appliesAtRenewal: Bool

    public init(position: Position, transaction: Verified<Transaction>, appliesAtRenewal: Bool) {
        self.position = position
        self.transaction = transaction
        self.appliesAtRenewal = appliesAtRenewal
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
