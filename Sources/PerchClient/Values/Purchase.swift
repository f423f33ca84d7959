public import PerchBase
public import PerchModel
import PerchWire

/// The outcome of a purchase.
public struct Purchase: Hashable, Sendable {
    /// The cases of StoreKit's `Product.PurchaseResult`.
    public enum Result: Hashable, Sendable {
        case success(Verified<Transaction>)
        case userCancelled
        /// The purchase is pending under this number. If it is approved, its transaction arrives as an event.
        case pending(number: UInt64)
        /// A result of a newer server.
        case unknown(rawValue: Int32)
    }

    /// The result of the purchase.
    public var result: Result
    /// Position of the change. A read with this `atLeast` sees the purchase. Nil if nothing was written.
    public var position: Position?
    /// Whether the account held the transaction before, so that nothing was charged.
    public var wasHeld: Bool

    /// Creates a purchase from its parts, for tests.
    public init(result: Result, position: Position?, wasHeld: Bool) {
        self.result = result
        self.position = position
        self.wasHeld = wasHeld
    }

    /// The transaction of a successful purchase.
    public var transaction: Verified<Transaction>? {
        guard case .success(let transaction) = self.result else { return nil }
        return transaction
    }
}

/// The result of an operation of the test store.
public struct OperationResult: Hashable, Sendable {
    /// Position of the change. A read with this `atLeast` sees it.
    public var position: Position
    /// The transaction that was made or changed; nil for none.
    public var transaction: Verified<Transaction>?
    /// The result of a purchase; nil for other operations.
    public var purchase: Purchase.Result?
    /// Whether the account held the transaction before, so that nothing was charged.
    public var wasHeld: Bool
    /// Number of a pending purchase or of an intent; nil for none.
    public var number: UInt64?

    /// Creates an operation result from its parts, for tests.
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

/// The outcome of a request for a refund.
public struct RefundOutcome: Hashable, Sendable {
    /// Position of the change.
    public var position: Position
    /// Whether the refund is approved.
    public var isApproved: Bool
    /// The transaction: revoked if the refund is approved, otherwise unchanged.
    public var transaction: Verified<Transaction>?

    /// Creates a refund outcome from its parts, for tests.
    public init(position: Position, isApproved: Bool, transaction: Verified<Transaction>?) {
        self.position = position
        self.isApproved = isApproved
        self.transaction = transaction
    }
}

/// The result of a redeemed code.
public struct Redemption: Hashable, Sendable {
    /// Position of the change.
    public var position: Position
    /// The new transaction, or the current one while the offer waits for the renewal. It also arrives as an event.
    public var transaction: Verified<Transaction>
    /// Whether the offer applies from the next period on.
    public var appliesAtRenewal: Bool

    /// Creates a redemption from its parts, for tests.
    public init(position: Position, transaction: Verified<Transaction>, appliesAtRenewal: Bool) {
        self.position = position
        self.transaction = transaction
        self.appliesAtRenewal = appliesAtRenewal
    }
}

/// A page of transactions, oldest first.
public struct TransactionPage: Hashable, Sendable {
    /// The transactions of the page.
    public var transactions: [Verified<Transaction>]
    /// Opaque token of the next page; nil on the last page.
    public var nextPageToken: [UInt8]?
    /// Position of the server when it answered.
    public var position: Position
    /// Whether the page is empty and the catalogue has no such product.
    public var isNotInCatalog = false

    /// Creates a page from its parts, for tests.
    public init(transactions: [Verified<Transaction>], nextPageToken: [UInt8]?, position: Position) {
        self.transactions = transactions
        self.nextPageToken = nextPageToken
        self.position = position
    }

    init(_ page: PerchWire.TransactionPage) {
        self.init(
            transactions: page.transactions, nextPageToken: page.nextPageToken.isEmpty ? nil : page.nextPageToken,
            position: page.position)
        self.isNotInCatalog = page.isNotInCatalog
    }
}
