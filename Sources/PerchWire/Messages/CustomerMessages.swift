package import PerchBase
package import PerchModel

/// Restores.
package struct SyncRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(app: AppReference = AppReference(), account: String = "", idempotencyKey: [UInt8] = []) {
        self.app = app
        self.account = account
        self.idempotencyKey = idempotencyKey
    }
}

/// Asks for a refund, as a customer does.
package struct RefundRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The transaction.
    package var transactionID: UInt64
    /// Unspecified means other.
    package var reason: RevocationReason
    /// What the customer wrote.
    package var text: String
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", transactionID: UInt64 = 0,
        reason: RevocationReason = .unspecified, text: String = "", idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.transactionID = transactionID
        self.reason = reason
        self.text = text
        self.idempotencyKey = idempotencyKey
    }
}

/// What became of a request for a refund.
package struct RefundAnswer: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// The money is given back.
    package var isApproved: Bool
    /// Revoked, or as it was.
    package var transaction: Verified<Transaction>?

    package init(position: Position? = nil, isApproved: Bool = false, transaction: Verified<Transaction>? = nil) {
        self.position = position
        self.isApproved = isApproved
        self.transaction = transaction
    }
}

/// Redeems an offer code.
package struct RedeemOfferCodeRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Its reference name.
    package var code: String
    /// Which product, where several have a code of that name; empty otherwise.
    package var productID: String
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", code: String = "", productID: String = "",
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.code = code
        self.productID = productID
        self.idempotencyKey = idempotencyKey
    }
}

/// What a code came to.
package struct RedeemedCode: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// New, or the one held while the offer waits.
    package var transaction: Verified<Transaction>?
    /// The offer applies from the next period.
    package var appliesAtRenewal: Bool

    package init(
        position: Position? = nil, transaction: Verified<Transaction>? = nil, appliesAtRenewal: Bool = false
    ) {
        self.position = position
        self.transaction = transaction
        self.appliesAtRenewal = appliesAtRenewal
    }
}

/// Switches renewal on or off, as a customer does.
package struct ManageSubscriptionsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Of the subscription that is held.
    package var productID: String
    /// On or off.
    package var isAutoRenewOn: Bool
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(), account: String = "", productID: String = "", isAutoRenewOn: Bool = false,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.isAutoRenewOn = isAutoRenewOn
        self.idempotencyKey = idempotencyKey
    }
}

/// Asks for the app transaction.
package struct AppTransactionRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(app: AppReference = AppReference(), account: String = "", atLeast: Position? = nil) {
        self.app = app
        self.account = account
        self.atLeast = atLeast
    }
}

/// What stands for the account's first use of the app.
package struct AppTransactionAnswer: Hashable, Sendable {
    /// One for each account and app.
    package var appTransactionID: String
    /// The app.
    package var bundleID: String
    /// Its store.
    package var environment: AppEnvironment
    /// Verified, or why not.
    package var failure: VerificationFailure
    /// Where the answer stands.
    package var position: Position

    package init(
        appTransactionID: String = "", bundleID: String = "", environment: AppEnvironment = .unspecified,
        failure: VerificationFailure = .unspecified,
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0))
    ) {
        self.appTransactionID = appTransactionID
        self.bundleID = bundleID
        self.environment = environment
        self.failure = failure
        self.position = position
    }
}

/// Asks for what waits for an account: purchase intents, or messages.
package struct AccountWatchRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// From the last value of an earlier call; empty to begin.
    package var resumeToken: [UInt8]
    /// Wait until the server is at least here.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(), account: String = "", resumeToken: [UInt8] = [], atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.resumeToken = resumeToken
        self.atLeast = atLeast
    }
}
