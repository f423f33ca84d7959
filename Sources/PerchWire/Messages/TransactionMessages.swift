package import PerchBase
package import PerchModel

/// Buys a product, as an app does.
package struct PurchaseRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// What to buy, and how.
    package var order: PurchaseOrder
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "",
        order: PurchaseOrder = PurchaseOrder(productID: "", quantity: 0), idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.order = order
        self.idempotencyKey = idempotencyKey
    }
}

/// What became of a purchase.
package struct PurchaseResponse: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// Success, cancelled or pending.
    package var result: PurchaseResult
    /// Present with success.
    package var transaction: Verified<Transaction>?
    /// The transaction was held before and nothing was charged.
    package var wasHeld: Bool
    /// Of a pending purchase.
    package var pendingNumber: UInt64

    package init(
        position: Position? = nil, result: PurchaseResult = .unspecified, transaction: Verified<Transaction>? = nil,
        wasHeld: Bool = false, pendingNumber: UInt64 = 0
    ) {
        self.position = position
        self.result = result
        self.transaction = transaction
        self.wasHeld = wasHeld
        self.pendingNumber = pendingNumber
    }
}

/// Marks a transaction as delivered.
package struct FinishRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The transaction.
    package var transactionID: UInt64
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", transactionID: UInt64 = 0,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.transactionID = transactionID
        self.idempotencyKey = idempotencyKey
    }
}

/// Asks for a page of transactions.
package struct ListTransactionsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Only of this product; empty for all.
    package var productID: String
    /// Finished consumables too.
    package var includesFinishedConsumables: Bool
    /// At most so many; 0 for the default.
    package var pageSize: UInt32
    /// From the page before; empty to begin.
    package var pageToken: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "",
        includesFinishedConsumables: Bool = false, pageSize: UInt32 = 0, pageToken: [UInt8] = [],
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.includesFinishedConsumables = includesFinishedConsumables
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.atLeast = atLeast
    }
}

/// Asks for a page of what is not finished.
package struct ListUnfinishedRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// At most so many; 0 for the default.
    package var pageSize: UInt32
    /// From the page before; empty to begin.
    package var pageToken: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", pageSize: UInt32 = 0, pageToken: [UInt8] = [],
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.atLeast = atLeast
    }
}

/// A page of transactions.
package struct TransactionPage: Hashable, Sendable {
    /// Oldest first.
    package var transactions: [Verified<Transaction>]
    /// Empty on the last page.
    package var nextPageToken: [UInt8]
    /// Where the answer stands.
    package var position: Position

    package init(
        transactions: [Verified<Transaction>] = [], nextPageToken: [UInt8] = [],
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0))
    ) {
        self.transactions = transactions
        self.nextPageToken = nextPageToken
        self.position = position
    }
}

/// Asks for the newest transaction of a product.
package struct LatestTransactionRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The product.
    package var productID: String
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.atLeast = atLeast
    }
}

/// The newest transaction of a product.
package struct LatestTransaction: Hashable, Sendable {
    /// Nil if there is none.
    package var transaction: Verified<Transaction>?
    /// Where the answer stands.
    package var position: Position

    package init(
        transaction: Verified<Transaction>? = nil,
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0))
    ) {
        self.transaction = transaction
        self.position = position
    }
}

/// Asks for the events of an account.
package struct TransactionUpdatesRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// From the last event of an earlier call. Empty: unfinished transactions come first.
    package var cursor: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", cursor: [UInt8] = [], atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.cursor = cursor
        self.atLeast = atLeast
    }
}

/// One event, or the place where new events begin.
package struct TransactionEvent: Hashable, Sendable {
    /// As it is after the event. Nil in the message that ends the unfinished ones.
    package var transaction: Verified<Transaction>?
    /// What happened.
    package var kind: TransactionEventKind
    /// Sent back in a new call, it asks for what came after this event.
    package var cursor: [UInt8]
    /// Its revision.
    package var revision: UInt64
    /// When it was committed, by the wall clock.
    package var committed: Instant
    /// The client that caused it; empty for the store itself.
    package var originClientID: [UInt8]

    package init(
        transaction: Verified<Transaction>? = nil, kind: TransactionEventKind = .unspecified, cursor: [UInt8] = [],
        revision: UInt64 = 0, committed: Instant = Instant(milliseconds: 0), originClientID: [UInt8] = []
    ) {
        self.transaction = transaction
        self.kind = kind
        self.cursor = cursor
        self.revision = revision
        self.committed = committed
        self.originClientID = originClientID
    }
}
