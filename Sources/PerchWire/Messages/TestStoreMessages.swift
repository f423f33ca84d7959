package import PerchBase
package import PerchModel

/// Does one thing to one account.
package struct OperateRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// The caller's key of the account; may be empty where the operation names a transaction.
    package var account: String
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]
    /// Nil where the caller did not say, which is refused.
    package var operation: StoreOperation?

    package init(
        app: AppReference = AppReference(), account: String = "", idempotencyKey: [UInt8] = [],
        operation: StoreOperation? = nil
    ) {
        self.app = app
        self.account = account
        self.idempotencyKey = idempotencyKey
        self.operation = operation
    }
}

/// What an operation came to.
package struct OperateResponse: Hashable, Sendable {
    /// Where the change stands; nil until it is committed.
    package var position: Position?
    /// Made or changed; nil where there is none.
    package var transaction: Verified<Transaction>?
    /// Of a purchase: what became of it.
    package var purchaseResult: PurchaseResult
    /// Of a purchase: the transaction was held before.
    package var wasHeld: Bool
    /// Of a purchase that waits, or of an intent.
    package var number: UInt64

    package init(
        position: Position? = nil, transaction: Verified<Transaction>? = nil,
        purchaseResult: PurchaseResult = .unspecified, wasHeld: Bool = false, number: UInt64 = 0
    ) {
        self.position = position
        self.transaction = transaction
        self.purchaseResult = purchaseResult
        self.wasHeld = wasHeld
        self.number = number
    }
}

/// Asks what the store knows of an account.
package struct InspectAccountRequest: Hashable, Sendable {
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

/// Asks for a page of accounts.
package struct ListAccountsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// At most so many; 0 for the default.
    package var pageSize: UInt32
    /// From the page before; empty to begin.
    package var pageToken: [UInt8]

    package init(app: AppReference = AppReference(), pageSize: UInt32 = 0, pageToken: [UInt8] = []) {
        self.app = app
        self.pageSize = pageSize
        self.pageToken = pageToken
    }
}

/// A page of accounts.
package struct AccountPage: Hashable, Sendable {
    /// Their keys, in bytewise order.
    package var accounts: [String]
    /// Empty on the last page.
    package var nextPageToken: [UInt8]

    package init(accounts: [String] = [], nextPageToken: [UInt8] = []) {
        self.accounts = accounts
        self.nextPageToken = nextPageToken
    }
}

/// Changes an app.
package struct ConfigureRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference
    /// In order; all or none.
    package var settings: [AppSettingChange]
    /// Makes the call safe to repeat; empty for none.
    package var idempotencyKey: [UInt8]

    package init(app: AppReference = AppReference(), settings: [AppSettingChange] = [], idempotencyKey: [UInt8] = []) {
        self.app = app
        self.settings = settings
        self.idempotencyKey = idempotencyKey
    }
}

/// Asks for the settings of an app.
package struct SettingsRequest: Hashable, Sendable {
    /// The app; left out where the identity, or the server, has exactly one.
    package var app: AppReference

    package init(app: AppReference = AppReference()) {
        self.app = app
    }
}

/// Settings of an app.
package struct SettingsList: Hashable, Sendable {
    /// One of each kind, then one for each armed failure.
    package var settings: [AppSettingChange]

    package init(settings: [AppSettingChange] = []) {
        self.settings = settings
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

/// What the store knows of an account, and where that stands.
package struct AccountInspection: Hashable, Sendable {
    /// Where the answer stands.
    package var position: Position
    /// The groups in which the account has a line.
    package var groups: [GroupStatuses]
    /// Products without an end that it owns.
    package var owned: [Verified<Transaction>]
    /// Oldest first.
    package var pendingPurchases: [PendingPurchase]
    /// Oldest first.
    package var intents: [PurchaseIntent]
    /// What it shares with others.
    package var shares: [FamilySharing]
    /// Empty for the app's.
    package var storefront: String
    /// Whether its charges fail.
    package var charges: ChargeOutcome
    /// One for each account and app.
    package var appTransactionID: String
    /// Comes with its next restore.
    package var awaitingSync: [Verified<Transaction>]

    package init(
        position: Position = Position(revision: 0, asOf: Instant(milliseconds: 0)), groups: [GroupStatuses] = [],
        owned: [Verified<Transaction>] = [], pendingPurchases: [PendingPurchase] = [], intents: [PurchaseIntent] = [],
        shares: [FamilySharing] = [], storefront: String = "", charges: ChargeOutcome = .asTheApp,
        appTransactionID: String = "",
        awaitingSync: [Verified<Transaction>] = []
    ) {
        self.position = position
        self.groups = groups
        self.owned = owned
        self.pendingPurchases = pendingPurchases
        self.intents = intents
        self.shares = shares
        self.storefront = storefront
        self.charges = charges
        self.appTransactionID = appTransactionID
        self.awaitingSync = awaitingSync
    }
}

/// What one account shares with another, as a reader is told: without the other's number.
package struct FamilySharing: Hashable, Sendable {
    /// The first transaction of the purchaser's line, or its transaction of a non-consumable.
    package var original: UInt64
    /// The same as the member has it.
    package var memberOriginal: UInt64

    package init(original: UInt64, memberOriginal: UInt64) {
        self.original = original
        self.memberOriginal = memberOriginal
    }
}

/// A group and its statuses.
package struct GroupStatuses: Hashable, Sendable {
    /// The group.
    package var groupID: String
    /// Its statuses.
    package var statuses: SubscriptionStatuses

    package init(groupID: String, statuses: SubscriptionStatuses) {
        self.groupID = groupID
        self.statuses = statuses
    }
}
