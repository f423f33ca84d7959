package import PerchBase
package import PerchModel

/// Buys a product outside the app.
package struct BuyProductRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The product.
    package var productID: String
    /// For consumables; 0 means 1.
    package var quantity: UInt32
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", quantity: UInt32 = 0,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.quantity = quantity
        self.idempotencyKey = idempotencyKey
    }
}

/// The transaction that a purchase outside the app came to.
package struct BuyProductResponse: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// New, or the one held before.
    package var transaction: Verified<Transaction>?
    /// The transaction was held before.
    package var wasHeld: Bool

    package init(position: Position? = nil, transaction: Verified<Transaction>? = nil, wasHeld: Bool = false) {
        self.position = position
        self.transaction = transaction
        self.wasHeld = wasHeld
    }
}

/// Refunds a transaction.
package struct RefundTransactionRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The transaction.
    package var transactionID: UInt64
    /// Unspecified means other.
    package var reason: RevocationReason
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), transactionID: UInt64 = 0, reason: RevocationReason = .unspecified,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.transactionID = transactionID
        self.reason = reason
        self.idempotencyKey = idempotencyKey
    }
}

/// Switches renewal on or off.
package struct SetAutoRenewRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// Any transaction of the line.
    package var transactionID: UInt64
    /// On or off.
    package var isEnabled: Bool
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), transactionID: UInt64 = 0, isEnabled: Bool = false,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.transactionID = transactionID
        self.isEnabled = isEnabled
        self.idempotencyKey = idempotencyKey
    }
}

/// Ends the current period now and renews.
package struct ForceRenewalRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// A product held by the account.
    package var productID: String
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.idempotencyKey = idempotencyKey
    }
}

/// Ends the current period now, for good.
package struct ExpireSubscriptionRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// A product held by the account.
    package var productID: String
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.idempotencyKey = idempotencyKey
    }
}

/// A change of one transaction, and the transaction after it.
package struct ChangedTransaction: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// Revoked, or new.
    package var transaction: Verified<Transaction>?

    package init(position: Position? = nil, transaction: Verified<Transaction>? = nil) {
        self.position = position
        self.transaction = transaction
    }
}

/// A change that has nothing to tell but where it stands.
package struct Acknowledgement: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?

    package init(position: Position? = nil) {
        self.position = position
    }
}

/// Asks for an app's clock.
package struct ClockRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference

    package init(app: AppReference = AppReference()) {
        self.app = app
    }
}

/// An app's clock.
package struct ClockState: Hashable, Sendable {
    /// What it shows.
    package var now: Instant
    /// Whether it stands still.
    package var isFrozen: Bool
    /// How far it is ahead of the wall clock.
    package var offsetMilliseconds: Int64
    /// A value of `SKTestSession.TimeRate`, known here or not.
    package var timeRate: Int32

    package init(
        now: Instant = Instant(milliseconds: 0), isFrozen: Bool = false, offsetMilliseconds: Int64 = 0,
        timeRate: Int32 = 0
    ) {
        self.now = now
        self.isFrozen = isFrozen
        self.offsetMilliseconds = offsetMilliseconds
        self.timeRate = timeRate
    }
}

/// An app's clock, as it was asked for.
package struct ClockResponse: Hashable, Sendable {
    /// The clock.
    package var clock: ClockState

    package init(clock: ClockState = ClockState()) {
        self.clock = clock
    }
}

/// Freezes, resumes or advances an app's clock.
package struct SetClockRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// Nil where the caller did not say.
    package var change: ClockChange?

    package init(app: AppReference = AppReference(), change: ClockChange? = nil) {
        self.app = app
        self.change = change
    }
}

/// The clock afterwards.
package struct SetClockResponse: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// The clock.
    package var clock: ClockState
    /// Renewal attempts that were settled on the way.
    package var settledCount: UInt64

    package init(position: Position? = nil, clock: ClockState = ClockState(), settledCount: UInt64 = 0) {
        self.position = position
        self.clock = clock
        self.settledCount = settledCount
    }
}

/// Sets how long a period lasts, from the next one on.
package struct SetTimeRateRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// A value of `SKTestSession.TimeRate`, known here or not.
    package var timeRate: Int32

    package init(app: AppReference = AppReference(), timeRate: Int32 = 0) {
        self.app = app
        self.timeRate = timeRate
    }
}
