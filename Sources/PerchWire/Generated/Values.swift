// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

package import PerchBase
package import PerchModel

/// The result of a purchase.
package struct PurchaseResult: OpenEnumeration {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let names = ["unspecified", "success", "userCancelled", "pending"]
    /// The purchase has a transaction. It may be the one already held.
    package static let success = Self(rawValue: 1)
    /// The customer cancelled; nothing happened.
    package static let userCancelled = Self(rawValue: 2)
    /// The purchase waits for approval. If approved, the transaction arrives on TransactionUpdates.
    package static let pending = Self(rawValue: 3)
}

/// Encodings of a message.
package struct Encoding: OpenEnumeration {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
    package static let names = ["unspecified", "identity", "zlib"]
    /// Bytes as they are.
    package static let identity = Self(rawValue: 1)
    /// zlib, RFC 1950.
    package static let zlib = Self(rawValue: 2)
}

/// Names an app. May be absent if the server, or the caller's identity, has exactly one.
package struct AppReference: Hashable, Sendable {
    /// Bundle identifier, such as `com.example.app`.
    package var bundleID: String
    /// The store. May be unspecified if the bundle identifier has exactly one.
    package var environment: AppEnvironment

    package init(bundleID: String = "", environment: AppEnvironment = .unspecified) {
        self.bundleID = bundleID
        self.environment = environment
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.bundleID.isEmpty && self.environment == .unspecified }
}

/// A group and its statuses.
package struct GroupStatuses: Hashable, Sendable {
    /// The group.
    package var groupID: String
    /// Its statuses.
    package var statuses: SubscriptionStatuses

    package init(groupID: String = "", statuses: SubscriptionStatuses = .blank) {
        self.groupID = groupID
        self.statuses = statuses
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.groupID.isEmpty && self.statuses.isBlank }
}

/// The value could not be computed. A state, not the end of the stream: the next successful load pushes success.
package struct Failure: Hashable, Sendable {
    /// The reason code, from the table in proto/README.md.
    package var reason: String
    /// For people.
    package var message: String

    package init(reason: String = "", message: String = "") {
        self.reason = reason
        self.message = message
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.reason.isEmpty && self.message.isEmpty }
}

/// Up to where a stream has said everything. A message of its own on gRPC, Connect and gRPC-Web: the fields beside it are
/// absent. On perch/1 BEAT says it for the whole connection.
package struct Bookmark: Hashable, Sendable {
    /// Everything up to this revision that concerns this stream has been said.
    package var revision: UInt64
    /// The server's wall clock, in milliseconds since the Unix epoch.
    package var serverTime: Instant

    package init(revision: UInt64 = 0, serverTime: Instant = Instant(milliseconds: 0)) {
        self.revision = revision
        self.serverTime = serverTime
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.revision == 0 && self.serverTime.milliseconds == 0 }
}

/// Position, cause and forecast of a value. Not part of the value's equality.
package struct ValueInfo: Hashable, Sendable {
    /// Revision and instant.
    package var position: Position
    /// When that revision was committed, in milliseconds since the Unix epoch.
    package var committed: Instant
    /// The cause of this value.
    package var cause: Cause
    /// Absent if only new facts can change the value.
    package var forecast: Forecast?
    /// Opaque. A new call that sends it gets what changed since.
    package var token: [UInt8]
    /// The value is empty, and the catalogue has no group or product of the name asked for: check the spelling. A later load
    /// of a catalogue that has it sends no message, because the value stays the same.
    package var isNotInCatalog: Bool

    package init(
        position: Position = .blank,
        committed: Instant = Instant(milliseconds: 0),
        cause: Cause = .unspecified,
        forecast: Forecast? = nil,
        token: [UInt8] = [],
        isNotInCatalog: Bool = false
    ) {
        self.position = position
        self.committed = committed
        self.cause = cause
        self.forecast = forecast
        self.token = token
        self.isNotInCatalog = isNotInCatalog
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.committed.milliseconds == 0 && self.cause == .unspecified && self.forecast == nil && self.token.isEmpty && !self.isNotInCatalog }
}

/// Orders a mishap.
package struct OrderMishapRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// What goes wrong.
    package var kind: MishapKind
    /// With how many notifications or requests: up to 1,000,000, and up to 1,000 that are reordered. 0 means 1.
    package var times: UInt32
    /// By how much a notification is delayed, in milliseconds of the app's clock: 1 to 365 days. Of other mishaps 0.
    package var delayMilliseconds: Int64
    /// How the path of a request begins; empty for every request. Of notifications empty.
    package var path: String

    package init(
        app: AppReference = AppReference(),
        kind: MishapKind = .unspecified,
        times: UInt32 = 0,
        delayMilliseconds: Int64 = 0,
        path: String = ""
    ) {
        self.app = app
        self.kind = kind
        self.times = times
        self.delayMilliseconds = delayMilliseconds
        self.path = path
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.kind == .unspecified && self.times == 0 && self.delayMilliseconds == 0 && self.path.isEmpty }
}

/// It waits for its notification or request.
package struct OrderMishapResponse: Hashable, Sendable {
    /// The mishaps of the app that wait, of this kind of event, with this one.
    package var waiting: UInt32

    package init(waiting: UInt32 = 0) {
        self.waiting = waiting
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.waiting == 0 }
}

/// Performs one operation on one account.
package struct OperateRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes. May be empty if the operation names a transaction. `buy`,
    /// `create_intent`, `set_storefront`, `set_charges`, `set_payments` and `set_app_transaction` create an account that does not
    /// exist.
    package var account: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]
    /// What to do.
    package var operation: StoreOperation?

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        idempotencyKey: [UInt8] = [],
        operation: StoreOperation? = nil
    ) {
        self.app = app
        self.account = account
        self.idempotencyKey = idempotencyKey
        self.operation = operation
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.idempotencyKey.isEmpty && self.operation == nil }
}

/// It is done.
package struct OperateResponse: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?
    /// The transaction that was created or changed; absent for none.
    package var transaction: Verified<Transaction>?
    /// For a purchase: its result.
    package var purchaseResult: PurchaseResult
    /// For a purchase: the account already held the transaction.
    package var wasHeld: Bool
    /// The number of a pending purchase, or of an intent.
    package var number: UInt64

    package init(
        position: Position? = nil,
        transaction: Verified<Transaction>? = nil,
        purchaseResult: PurchaseResult = .unspecified,
        wasHeld: Bool = false,
        number: UInt64 = 0
    ) {
        self.position = position
        self.transaction = transaction
        self.purchaseResult = purchaseResult
        self.wasHeld = wasHeld
        self.number = number
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.transaction == nil && self.purchaseResult == .unspecified && !self.wasHeld && self.number == 0 }
}

/// Asks for the store's record of an account.
package struct InspectAccountRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(app: AppReference = AppReference(), account: String = "", atLeast: Position? = nil) {
        self.app = app
        self.account = account
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.atLeast == nil }
}

/// One product that an account shares with another account.
package struct FamilySharing: Hashable, Sendable {
    /// The first transaction of the purchaser's line, or its transaction of a non-consumable.
    package var original: UInt64
    /// The first transaction of the member's line, or its transaction of a non-consumable.
    package var memberOriginal: UInt64

    package init(original: UInt64 = 0, memberOriginal: UInt64 = 0) {
        self.original = original
        self.memberOriginal = memberOriginal
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.original == 0 && self.memberOriginal == 0 }
}

/// The store's record of an account.
package struct AccountInspection: Hashable, Sendable {
    /// Where the answer stands.
    package var position: Position
    /// The groups in which the account has a line.
    package var groups: [GroupStatuses]
    /// Products without an end that the account owns.
    package var owned: [Verified<Transaction>]
    /// Purchases that wait, oldest first.
    package var pendingPurchases: [PendingPurchase]
    /// Purchases that the customer began outside the app, oldest first.
    package var intents: [PurchaseIntent]
    /// The account's shares with others.
    package var shares: [FamilySharing]
    /// Its own storefront; empty for the app's.
    package var storefront: String
    /// Whether its charges fail.
    package var charges: ChargeOutcome
    /// Unique for each account and app.
    package var appTransactionID: String
    /// Non-consumables shared with the account that its next Sync delivers.
    package var awaitingSync: [Verified<Transaction>]
    /// Payments of the account are forbidden.
    package var arePaymentsForbidden: Bool
    /// The offers of codes that the account has redeemed, oldest first.
    package var redeemedOffers: [RedeemedOffer]

    package init(
        position: Position = .blank,
        groups: [GroupStatuses] = [],
        owned: [Verified<Transaction>] = [],
        pendingPurchases: [PendingPurchase] = [],
        intents: [PurchaseIntent] = [],
        shares: [FamilySharing] = [],
        storefront: String = "",
        charges: ChargeOutcome = .unspecified,
        appTransactionID: String = "",
        awaitingSync: [Verified<Transaction>] = [],
        arePaymentsForbidden: Bool = false,
        redeemedOffers: [RedeemedOffer] = []
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
        self.arePaymentsForbidden = arePaymentsForbidden
        self.redeemedOffers = redeemedOffers
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.groups.isEmpty && self.owned.isEmpty && self.pendingPurchases.isEmpty && self.intents.isEmpty && self.shares.isEmpty && self.storefront.isEmpty && self.charges == .unspecified && self.appTransactionID.isEmpty && self.awaitingSync.isEmpty && !self.arePaymentsForbidden && self.redeemedOffers.isEmpty }
}

/// Asks for accounts.
package struct ListAccountsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Maximum number of entries: up to 500; 0 means 100.
    package var pageSize: UInt32
    /// The token of the previous page; empty to begin.
    package var pageToken: [UInt8]
    /// Adds a summary of each account, for lists that people read.
    package var withSummaries: Bool

    package init(
        app: AppReference = AppReference(),
        pageSize: UInt32 = 0,
        pageToken: [UInt8] = [],
        withSummaries: Bool = false
    ) {
        self.app = app
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.withSummaries = withSummaries
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.pageSize == 0 && self.pageToken.isEmpty && !self.withSummaries }
}

/// What a list shows of one account: its line that matters most. That is the one that entitles, and among equals the one that
/// ends last.
package struct AccountSummary: Hashable, Sendable {
    /// The state of that line; unspecified if the account never subscribed.
    package var state: RenewalState
    /// The product of the line, or of the newest product without an end.
    package var productID: String
    /// The newest transaction of the line, or of the newest product without an end.
    package var transactionID: UInt64
    /// The first transaction of the line.
    package var originalTransactionID: UInt64
    /// End of the line's period, in milliseconds since the Unix epoch.
    package var expirationDate: Instant?
    /// Whether the line renews.
    package var willAutoRenew: Bool
    /// The next change that time alone makes; absent for none.
    package var nextChange: Forecast?
    /// The line is shared by a family member.
    package var isFamilyShared: Bool
    /// The newest transaction of the line is refunded.
    package var isRefunded: Bool
    /// A price increase waits for an answer.
    package var isPriceIncreasePending: Bool
    /// Number of lines, in all groups.
    package var lineCount: UInt32
    /// Number of products without an end that the account owns.
    package var ownedCount: UInt32
    /// Number of purchases that wait.
    package var pendingCount: UInt32
    /// The app's UUID for its customer; empty for none.
    package var appAccountToken: String
    /// The revision that last changed the account.
    package var revision: UInt64

    package init(
        state: RenewalState = .unspecified,
        productID: String = "",
        transactionID: UInt64 = 0,
        originalTransactionID: UInt64 = 0,
        expirationDate: Instant? = nil,
        willAutoRenew: Bool = false,
        nextChange: Forecast? = nil,
        isFamilyShared: Bool = false,
        isRefunded: Bool = false,
        isPriceIncreasePending: Bool = false,
        lineCount: UInt32 = 0,
        ownedCount: UInt32 = 0,
        pendingCount: UInt32 = 0,
        appAccountToken: String = "",
        revision: UInt64 = 0
    ) {
        self.state = state
        self.productID = productID
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.expirationDate = expirationDate
        self.willAutoRenew = willAutoRenew
        self.nextChange = nextChange
        self.isFamilyShared = isFamilyShared
        self.isRefunded = isRefunded
        self.isPriceIncreasePending = isPriceIncreasePending
        self.lineCount = lineCount
        self.ownedCount = ownedCount
        self.pendingCount = pendingCount
        self.appAccountToken = appAccountToken
        self.revision = revision
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.state == .unspecified && self.productID.isEmpty && self.transactionID == 0 && self.originalTransactionID == 0 && self.expirationDate == nil && !self.willAutoRenew && self.nextChange == nil && !self.isFamilyShared && !self.isRefunded && !self.isPriceIncreasePending && self.lineCount == 0 && self.ownedCount == 0 && self.pendingCount == 0 && self.appAccountToken.isEmpty && self.revision == 0 }
}

/// A page of accounts.
package struct AccountPage: Hashable, Sendable {
    /// Their keys, in bytewise order.
    package var accounts: [String]
    /// Empty on the last page.
    package var nextPageToken: [UInt8]
    /// On request: one for each account, in the same order.
    package var summaries: [AccountSummary]

    package init(accounts: [String] = [], nextPageToken: [UInt8] = [], summaries: [AccountSummary] = []) {
        self.accounts = accounts
        self.nextPageToken = nextPageToken
        self.summaries = summaries
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.accounts.isEmpty && self.nextPageToken.isEmpty && self.summaries.isEmpty }
}

/// Changes an app.
package struct ConfigureRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// In order; all or none.
    package var settings: [AppSettingChange]
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(app: AppReference = AppReference(), settings: [AppSettingChange] = [], idempotencyKey: [UInt8] = []) {
        self.app = app
        self.settings = settings
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.settings.isEmpty && self.idempotencyKey.isEmpty }
}

/// The app is changed.
package struct Acknowledgement: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?

    package init(position: Position? = nil) {
        self.position = position
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil }
}

/// Asks for settings.
package struct SettingsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference

    package init(app: AppReference = AppReference()) {
        self.app = app
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank }
}

/// Settings of an app, as a list that Configure accepts.
package struct SettingsList: Hashable, Sendable {
    /// One of each kind, then one for each armed failure.
    package var settings: [AppSettingChange]

    package init(settings: [AppSettingChange] = []) {
        self.settings = settings
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.settings.isEmpty }
}

/// Asks for the clock.
package struct ClockRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference

    package init(app: AppReference = AppReference()) {
        self.app = app
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank }
}

/// An app's clock.
package struct ClockState: Hashable, Sendable {
    /// The instant, in milliseconds since the Unix epoch.
    package var now: Instant
    /// Whether it stands still.
    package var isFrozen: Bool
    /// Milliseconds by which the clock is ahead of the wall clock.
    package var offsetMilliseconds: Int64
    /// The time rate: a value of SKTestSession.TimeRate, see `perch store clock --help`.
    package var timeRate: Int32

    package init(
        now: Instant = Instant(milliseconds: 0),
        isFrozen: Bool = false,
        offsetMilliseconds: Int64 = 0,
        timeRate: Int32 = 0
    ) {
        self.now = now
        self.isFrozen = isFrozen
        self.offsetMilliseconds = offsetMilliseconds
        self.timeRate = timeRate
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.now.milliseconds == 0 && !self.isFrozen && self.offsetMilliseconds == 0 && self.timeRate == 0 }
}

/// The clock.
package struct ClockResponse: Hashable, Sendable {
    /// The clock.
    package var clock: ClockState

    package init(clock: ClockState = ClockState()) {
        self.clock = clock
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.clock.isBlank }
}

/// A change of the clock.
package struct SetClockRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Exactly one of the fields of `change`.
    package var change: ClockChange?

    package init(app: AppReference = AppReference(), change: ClockChange? = nil) {
        self.app = app
        self.change = change
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.change == nil }
}

/// The clock afterwards.
package struct SetClockResponse: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?
    /// The clock.
    package var clock: ClockState
    /// Number of renewal attempts settled during the advance: renewed, failed, or ended because renewal was off.
    package var settledCount: UInt64
    /// Number of those that renewed.
    package var renewedCount: UInt64
    /// Number of those whose charge failed.
    package var failedCount: UInt64

    package init(
        position: Position? = nil,
        clock: ClockState = ClockState(),
        settledCount: UInt64 = 0,
        renewedCount: UInt64 = 0,
        failedCount: UInt64 = 0
    ) {
        self.position = position
        self.clock = clock
        self.settledCount = settledCount
        self.renewedCount = renewedCount
        self.failedCount = failedCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.clock.isBlank && self.settledCount == 0 && self.renewedCount == 0 && self.failedCount == 0 }
}

/// An app.
package struct AppSummary: Hashable, Sendable {
    /// Its bundle identifier.
    package var bundleID: String
    /// Its store.
    package var environment: AppEnvironment
    /// Number of products in its catalogue.
    package var productCount: UInt32
    /// Origin of its catalogue, as a text for operators.
    package var catalogSource: String

    package init(
        bundleID: String = "",
        environment: AppEnvironment = .unspecified,
        productCount: UInt32 = 0,
        catalogSource: String = ""
    ) {
        self.bundleID = bundleID
        self.environment = environment
        self.productCount = productCount
        self.catalogSource = catalogSource
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.bundleID.isEmpty && self.environment == .unspecified && self.productCount == 0 && self.catalogSource.isEmpty }
}

/// The apps.
package struct AppList: Hashable, Sendable {
    /// By bundle identifier.
    package var apps: [AppSummary]

    package init(apps: [AppSummary] = []) {
        self.apps = apps
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.apps.isEmpty }
}

/// A warning about a place in a catalogue file.
package struct CatalogWarning: Hashable, Sendable {
    /// Line, from 1; 0 if the warning has none.
    package var line: UInt32
    /// Column, from 1; 0 if the warning has none.
    package var column: UInt32
    /// The product concerned; empty for none.
    package var productID: String
    /// The problem, and how the server read the place.
    package var message: String

    package init(line: UInt32 = 0, column: UInt32 = 0, productID: String = "", message: String = "") {
        self.line = line
        self.column = column
        self.productID = productID
        self.message = message
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.line == 0 && self.column == 0 && self.productID.isEmpty && self.message.isEmpty }
}

/// The contents of a catalogue, in numbers.
package struct CatalogSummary: Hashable, Sendable {
    /// The file's schema, such as `4.0`.
    package var schemaVersion: String
    /// Consumables.
    package var consumableCount: UInt32
    /// Non-consumables.
    package var nonConsumableCount: UInt32
    /// Non-renewing subscriptions.
    package var nonRenewingCount: UInt32
    /// Auto-renewable subscriptions.
    package var subscriptionCount: UInt32
    /// Subscription groups.
    package var groupCount: UInt32
    /// Introductory offers.
    package var introductoryOfferCount: UInt32
    /// Promotional offers.
    package var promotionalOfferCount: UInt32
    /// Offer codes.
    package var codeOfferCount: UInt32
    /// Win-back offers.
    package var winBackOfferCount: UInt32
    /// What is odd.
    package var warnings: [CatalogWarning]
    /// Promotional images.
    package var imageCount: UInt32

    package init(
        schemaVersion: String = "",
        consumableCount: UInt32 = 0,
        nonConsumableCount: UInt32 = 0,
        nonRenewingCount: UInt32 = 0,
        subscriptionCount: UInt32 = 0,
        groupCount: UInt32 = 0,
        introductoryOfferCount: UInt32 = 0,
        promotionalOfferCount: UInt32 = 0,
        codeOfferCount: UInt32 = 0,
        winBackOfferCount: UInt32 = 0,
        warnings: [CatalogWarning] = [],
        imageCount: UInt32 = 0
    ) {
        self.schemaVersion = schemaVersion
        self.consumableCount = consumableCount
        self.nonConsumableCount = nonConsumableCount
        self.nonRenewingCount = nonRenewingCount
        self.subscriptionCount = subscriptionCount
        self.groupCount = groupCount
        self.introductoryOfferCount = introductoryOfferCount
        self.promotionalOfferCount = promotionalOfferCount
        self.codeOfferCount = codeOfferCount
        self.winBackOfferCount = winBackOfferCount
        self.warnings = warnings
        self.imageCount = imageCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.schemaVersion.isEmpty && self.consumableCount == 0 && self.nonConsumableCount == 0 && self.nonRenewingCount == 0 && self.subscriptionCount == 0 && self.groupCount == 0 && self.introductoryOfferCount == 0 && self.promotionalOfferCount == 0 && self.codeOfferCount == 0 && self.winBackOfferCount == 0 && self.warnings.isEmpty && self.imageCount == 0 }
}

/// An image file of a catalogue: of a bundle directory, `Assets/<id>.png`.
package struct CatalogImage: Hashable, Sendable {
    /// The identifier by which products refer to it.
    package var id: String
    /// The file: PNG or JPEG, at most 1 MiB.
    package var content: [UInt8]

    package init(id: String = "", content: [UInt8] = []) {
        self.id = id
        self.content = content
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty && self.content.isEmpty }
}

/// Asks for the contents of a catalogue file.
package struct CheckCatalogRequest: Hashable, Sendable {
    /// The file.
    package var file: [UInt8]
    /// Its images.
    package var images: [CatalogImage]
    /// The file of named entitlements beside it; empty for none.
    package var entitlements: [UInt8]

    package init(file: [UInt8] = [], images: [CatalogImage] = [], entitlements: [UInt8] = []) {
        self.file = file
        self.images = images
        self.entitlements = entitlements
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.file.isEmpty && self.images.isEmpty && self.entitlements.isEmpty }
}

/// The contents of the file.
package struct CheckCatalogResponse: Hashable, Sendable {
    /// The summary.
    package var summary: CatalogSummary

    package init(summary: CatalogSummary = CatalogSummary()) {
        self.summary = summary
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.summary.isBlank }
}

/// Replaces a catalogue.
package struct LoadCatalogRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The file.
    package var file: [UInt8]
    /// Origin of the file, as a text for operators.
    package var source: String
    /// All images of the catalogue, in one request. The images of the previous catalogue are dropped.
    package var images: [CatalogImage]
    /// The file of named entitlements beside it. Empty: the app keeps those that it has.
    package var entitlements: [UInt8]

    package init(
        app: AppReference = AppReference(),
        file: [UInt8] = [],
        source: String = "",
        images: [CatalogImage] = [],
        entitlements: [UInt8] = []
    ) {
        self.app = app
        self.file = file
        self.source = source
        self.images = images
        self.entitlements = entitlements
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.file.isEmpty && self.source.isEmpty && self.images.isEmpty && self.entitlements.isEmpty }
}

/// The catalogue is loaded.
package struct LoadCatalogResponse: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?
    /// What is in it.
    package var summary: CatalogSummary

    package init(position: Position? = nil, summary: CatalogSummary = CatalogSummary()) {
        self.position = position
        self.summary = summary
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.summary.isBlank }
}

/// Asks for the contents of a catalogue.
package struct GetCatalogRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference

    package init(app: AppReference = AppReference()) {
        self.app = app
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank }
}

/// An image of a catalogue.
package struct CatalogImageInfo: Hashable, Sendable {
    /// The identifier by which products refer to it.
    package var id: String
    /// SHA-256, 32 bytes.
    package var contentHash: [UInt8]
    /// Its length in bytes.
    package var byteCount: UInt32

    package init(id: String = "", contentHash: [UInt8] = [], byteCount: UInt32 = 0) {
        self.id = id
        self.contentHash = contentHash
        self.byteCount = byteCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty && self.contentHash.isEmpty && self.byteCount == 0 }
}

/// What a catalogue holds.
package struct CatalogContents: Hashable, Sendable {
    /// Product identifiers, in the order of the file.
    package var productIDs: [String]
    /// Subscription groups, in the order of the file.
    package var groupIDs: [String]
    /// Origin of the file, as a text for operators.
    package var source: String
    /// The revision that loaded it.
    package var revision: UInt64
    /// It in numbers, without warnings.
    package var summary: CatalogSummary
    /// Its images, by identifier.
    package var images: [CatalogImageInfo]
    /// Products that have offers of codes, each with those offers and their codes: the first 1,000 of both.
    package var codeOffers: [ProductEdit]

    package init(
        productIDs: [String] = [],
        groupIDs: [String] = [],
        source: String = "",
        revision: UInt64 = 0,
        summary: CatalogSummary = CatalogSummary(),
        images: [CatalogImageInfo] = [],
        codeOffers: [ProductEdit] = []
    ) {
        self.productIDs = productIDs
        self.groupIDs = groupIDs
        self.source = source
        self.revision = revision
        self.summary = summary
        self.images = images
        self.codeOffers = codeOffers
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.productIDs.isEmpty && self.groupIDs.isEmpty && self.source.isEmpty && self.revision == 0 && self.summary.isBlank && self.images.isEmpty && self.codeOffers.isEmpty }
}

/// One measured value.
package struct Metric: Hashable, Sendable {
    /// Name by the Prometheus conventions.
    package var name: String
    /// Labels as `key="value"`, comma-separated; empty for none.
    package var labels: String
    /// The value.
    package var value: Double
    /// What it means.
    package var help: String

    package init(name: String = "", labels: String = "", value: Double = 0, help: String = "") {
        self.name = name
        self.labels = labels
        self.value = value
        self.help = help
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.name.isEmpty && self.labels.isEmpty && self.value == 0 && self.help.isEmpty }
}

/// One finding of the server's self-check.
package struct Finding: Hashable, Sendable {
    /// `ok`, `warning` or `problem`.
    package var level: String
    /// What was looked at.
    package var subject: String
    /// The finding as a sentence, with the numbers.
    package var message: String
    /// The suggested action; empty with `ok`.
    package var remedy: String

    package init(level: String = "", subject: String = "", message: String = "", remedy: String = "") {
        self.level = level
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.level.isEmpty && self.subject.isEmpty && self.message.isEmpty && self.remedy.isEmpty }
}

/// The server's state.
package struct ServerStatus: Hashable, Sendable {
    /// Version of the server program.
    package var version: String
    /// Identity of the store: 16 bytes.
    package var storeID: [UInt8]
    /// Epoch of the store.
    package var epoch: UInt32
    /// Newest revision.
    package var revision: UInt64
    /// Every counter, gauge and histogram.
    package var metrics: [Metric]
    /// The server's findings about itself.
    package var findings: [Finding]
    /// The root of the certificates that sign values of test apps, in PEM.
    package var appleRootPEM: String

    package init(
        version: String = "",
        storeID: [UInt8] = [],
        epoch: UInt32 = 0,
        revision: UInt64 = 0,
        metrics: [Metric] = [],
        findings: [Finding] = [],
        appleRootPEM: String = ""
    ) {
        self.version = version
        self.storeID = storeID
        self.epoch = epoch
        self.revision = revision
        self.metrics = metrics
        self.findings = findings
        self.appleRootPEM = appleRootPEM
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.version.isEmpty && self.storeID.isEmpty && self.epoch == 0 && self.revision == 0 && self.metrics.isEmpty && self.findings.isEmpty && self.appleRootPEM.isEmpty }
}

/// Asks for a copy of the store.
package struct BackupRequest: Hashable, Sendable {
    /// Absolute path of the copy on the server's machine. The file must not exist yet.
    package var path: String

    package init(path: String = "") {
        self.path = path
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.path.isEmpty }
}

/// The answer after the copy is complete and on disk.
package struct BackupSummary: Hashable, Sendable {
    /// The newest revision in the copy.
    package var revision: UInt64
    /// Length of the file.
    package var byteCount: UInt64
    /// How long it took.
    package var durationMilliseconds: UInt64
    /// The longest single pause of the store's other work, in microseconds.
    package var longestStallMicroseconds: UInt64

    package init(
        revision: UInt64 = 0,
        byteCount: UInt64 = 0,
        durationMilliseconds: UInt64 = 0,
        longestStallMicroseconds: UInt64 = 0
    ) {
        self.revision = revision
        self.byteCount = byteCount
        self.durationMilliseconds = durationMilliseconds
        self.longestStallMicroseconds = longestStallMicroseconds
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.revision == 0 && self.byteCount == 0 && self.durationMilliseconds == 0 && self.longestStallMicroseconds == 0 }
}

/// Takes a token back.
package struct RevokeTokenRequest: Hashable, Sendable {
    /// The token's `jti`. A token without `jti` has `sha256:` and the hash of its first two parts, as `perch token
    /// inspect` shows. Never the token itself.
    package var tokenID: String
    /// The token's own end. The server keeps the revocation until then, and at least for its `--token-life`. 0: for ever.
    package var expires: Instant?

    package init(tokenID: String = "", expires: Instant? = nil) {
        self.tokenID = tokenID
        self.expires = expires
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.tokenID.isEmpty && self.expires == nil }
}

/// The answer after the token is revoked, durably.
package struct RevokeTokenResponse: Hashable, Sendable {
    /// The token was already revoked.
    package var wasRevoked: Bool
    /// A caller used the token since the server started. Without one, check the ID: a wrong ID revokes nothing.
    package var wasSeen: Bool

    package init(wasRevoked: Bool = false, wasSeen: Bool = false) {
        self.wasRevoked = wasRevoked
        self.wasSeen = wasSeen
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { !self.wasRevoked && !self.wasSeen }
}

/// Offers a token.
package struct OfferConsoleCodeRequest: Hashable, Sendable {
    /// The token that the browser will use.
    package var token: String

    package init(token: String = "") {
        self.token = token
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.token.isEmpty }
}

/// The code of a token.
package struct ConsoleCode: Hashable, Sendable {
    /// Good once, and for a minute.
    package var code: String

    package init(code: String = "") {
        self.code = code
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.code.isEmpty }
}

/// Redeems a code.
package struct RedeemConsoleCodeRequest: Hashable, Sendable {
    /// The code.
    package var code: String

    package init(code: String = "") {
        self.code = code
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.code.isEmpty }
}

/// The token behind a code.
package struct ConsoleToken: Hashable, Sendable {
    /// The token.
    package var token: String

    package init(token: String = "") {
        self.token = token
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.token.isEmpty }
}

/// A value that was not taken.
package struct DeadLetterSummary: Hashable, Sendable {
    /// Its identifier, for RetryDeadLetter and DropDeadLetter.
    package var id: String
    /// When it came, in milliseconds since the Unix epoch.
    package var received: Instant
    /// Why it was not taken: a word of the table of errors.
    package var reason: String
    /// That as a sentence. It quotes nothing of the value.
    package var message: String
    /// The bundle identifier that the value names.
    package var bundleID: String
    /// Apple's name of the environment that the value names.
    package var environment: String
    /// Apple's type of the notification; empty for another value.
    package var notificationType: String
    /// Length of the value.
    package var byteCount: UInt32

    package init(
        id: String = "",
        received: Instant = Instant(milliseconds: 0),
        reason: String = "",
        message: String = "",
        bundleID: String = "",
        environment: String = "",
        notificationType: String = "",
        byteCount: UInt32 = 0
    ) {
        self.id = id
        self.received = received
        self.reason = reason
        self.message = message
        self.bundleID = bundleID
        self.environment = environment
        self.notificationType = notificationType
        self.byteCount = byteCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty && self.received.milliseconds == 0 && self.reason.isEmpty && self.message.isEmpty && self.bundleID.isEmpty && self.environment.isEmpty && self.notificationType.isEmpty && self.byteCount == 0 }
}

/// Asks for dead letters.
package struct ListDeadLettersRequest: Hashable, Sendable {
    /// At most this many; 0 for 100.
    package var pageSize: UInt32
    /// From `next_page_token` of the page before.
    package var pageToken: [UInt8]

    package init(pageSize: UInt32 = 0, pageToken: [UInt8] = []) {
        self.pageSize = pageSize
        self.pageToken = pageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.pageSize == 0 && self.pageToken.isEmpty }
}

/// Dead letters.
package struct DeadLetterPage: Hashable, Sendable {
    /// Oldest first.
    package var deadLetters: [DeadLetterSummary]
    /// For the next page; empty if there is none.
    package var nextPageToken: [UInt8]

    package init(deadLetters: [DeadLetterSummary] = [], nextPageToken: [UInt8] = []) {
        self.deadLetters = deadLetters
        self.nextPageToken = nextPageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.deadLetters.isEmpty && self.nextPageToken.isEmpty }
}

/// Takes a dead letter once more.
package struct RetryDeadLetterRequest: Hashable, Sendable {
    /// Which one.
    package var id: String

    package init(id: String = "") {
        self.id = id
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty }
}

/// It was taken.
package struct RetryAnswer: Hashable, Sendable {
    /// Where the store stands with it.
    package var position: Position
    /// Values that changed something.
    package var newsCount: UInt32

    package init(position: Position = .blank, newsCount: UInt32 = 0) {
        self.position = position
        self.newsCount = newsCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.newsCount == 0 }
}

/// Deletes a dead letter.
package struct DropDeadLetterRequest: Hashable, Sendable {
    /// Which one.
    package var id: String

    package init(id: String = "") {
        self.id = id
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty }
}

/// A question of the App Store about a purchase whose customer wants a refund.
package struct ConsumptionItem: Hashable, Sendable {
    /// The purchase.
    package var transactionID: UInt64
    /// Apple's word for the customer's reason, such as `UNINTENDED_PURCHASE`; empty where Apple gave none.
    package var reason: String
    /// When the App Store signed it, in milliseconds since the Unix epoch.
    package var asked: Instant
    /// Until when Apple takes an answer, in milliseconds since the Unix epoch.
    package var deadline: Instant
    /// What became of it.
    package var state: ConsumptionState
    /// Why the App Store refused the answer; else empty.
    package var message: String
    /// The answer; absent for none.
    package var answer: ConsumptionAnswer?

    package init(
        transactionID: UInt64 = 0,
        reason: String = "",
        asked: Instant = Instant(milliseconds: 0),
        deadline: Instant = Instant(milliseconds: 0),
        state: ConsumptionState = .unspecified,
        message: String = "",
        answer: ConsumptionAnswer? = nil
    ) {
        self.transactionID = transactionID
        self.reason = reason
        self.asked = asked
        self.deadline = deadline
        self.state = state
        self.message = message
        self.answer = answer
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.transactionID == 0 && self.reason.isEmpty && self.asked.milliseconds == 0 && self.deadline.milliseconds == 0 && self.state == .unspecified && self.message.isEmpty && self.answer == nil }
}

/// Asks for the questions.
package struct ListConsumptionRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// At most this many; 0 for 100.
    package var pageSize: UInt32
    /// From `next_page_token` of the page before.
    package var pageToken: [UInt8]

    package init(app: AppReference = AppReference(), pageSize: UInt32 = 0, pageToken: [UInt8] = []) {
        self.app = app
        self.pageSize = pageSize
        self.pageToken = pageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.pageSize == 0 && self.pageToken.isEmpty }
}

/// Questions.
package struct ConsumptionPage: Hashable, Sendable {
    /// In the order of the transactions.
    package var cases: [ConsumptionItem]
    /// For the next page; empty if there is none.
    package var nextPageToken: [UInt8]

    package init(cases: [ConsumptionItem] = [], nextPageToken: [UInt8] = []) {
        self.cases = cases
        self.nextPageToken = nextPageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.cases.isEmpty && self.nextPageToken.isEmpty }
}

/// Answers a question.
package struct AnswerConsumptionRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The purchase.
    package var transactionID: UInt64
    /// What the App Store is told.
    package var answer: ConsumptionAnswer?

    package init(app: AppReference = AppReference(), transactionID: UInt64 = 0, answer: ConsumptionAnswer? = nil) {
        self.app = app
        self.transactionID = transactionID
        self.answer = answer
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.transactionID == 0 && self.answer == nil }
}

/// Asks the App Store now, or how far that is.
package struct ReconcileRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Nothing is changed: what differs is only listed.
    package var isRehearsal: Bool
    /// Every notification that the App Store still has, and every subscription, rather than those that failed or ended.
    package var isWhole: Bool
    /// How far this run is; 0 begins one. One that is under way with the same flags goes on instead; with other flags the call is
    /// refused (RECONCILE_RUNNING).
    package var run: UInt64

    package init(
        app: AppReference = AppReference(),
        isRehearsal: Bool = false,
        isWhole: Bool = false,
        run: UInt64 = 0
    ) {
        self.app = app
        self.isRehearsal = isRehearsal
        self.isWhole = isWhole
        self.run = run
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && !self.isRehearsal && !self.isWhole && self.run == 0 }
}

/// How far it is.
package struct ReconcileProgress: Hashable, Sendable {
    /// Its number, for the next call.
    package var run: UInt64
    /// It has ended.
    package var isDone: Bool
    /// What no notification had told, or the App Store refuses to be told, at most 1,000.
    package var differences: [ReconcileDifference]
    /// Further differences, which are only counted.
    package var moreCount: UInt32
    /// Notifications that were read.
    package var notificationCount: UInt32
    /// Subscriptions that were asked about.
    package var subscriptionCount: UInt32
    /// Histories of customers that were read.
    package var historyCount: UInt32
    /// What the App Store or the store did not answer, so the run is not complete; empty for nothing. It is tried again later.
    package var problem: String

    package init(
        run: UInt64 = 0,
        isDone: Bool = false,
        differences: [ReconcileDifference] = [],
        moreCount: UInt32 = 0,
        notificationCount: UInt32 = 0,
        subscriptionCount: UInt32 = 0,
        historyCount: UInt32 = 0,
        problem: String = ""
    ) {
        self.run = run
        self.isDone = isDone
        self.differences = differences
        self.moreCount = moreCount
        self.notificationCount = notificationCount
        self.subscriptionCount = subscriptionCount
        self.historyCount = historyCount
        self.problem = problem
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.run == 0 && !self.isDone && self.differences.isEmpty && self.moreCount == 0 && self.notificationCount == 0 && self.subscriptionCount == 0 && self.historyCount == 0 && self.problem.isEmpty }
}

/// What no notification had told, or the App Store refuses to be told.
package struct ReconcileDifference: Hashable, Sendable {
    /// How it was found: `notification`, `subscription` or `history`. `update`, in dry runs: the App Store refuses an update of a purchase.
    package var source: String
    /// The subscription, or the first transaction of what was told; of an update its transaction; 0 where that is not known.
    package var originalTransactionID: UInt64
    /// What is different, for people.
    package var message: String

    package init(source: String = "", originalTransactionID: UInt64 = 0, message: String = "") {
        self.source = source
        self.originalTransactionID = originalTransactionID
        self.message = message
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.source.isEmpty && self.originalTransactionID == 0 && self.message.isEmpty }
}

/// Asks for notifications.
package struct ListNotificationsRequest: Hashable, Sendable {
    /// At most this many; 0 for 100.
    package var pageSize: UInt32
    /// From `next_page_token` of the page before.
    package var pageToken: [UInt8]

    package init(pageSize: UInt32 = 0, pageToken: [UInt8] = []) {
        self.pageSize = pageSize
        self.pageToken = pageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.pageSize == 0 && self.pageToken.isEmpty }
}

/// A notification that was taken, and what became of it.
package struct ReceivedNotification: Hashable, Sendable {
    /// Its identifier, for GetSignedPayload.
    package var id: String
    /// When it came, in milliseconds since the Unix epoch.
    package var received: Instant
    /// The bundle identifier that it names.
    package var bundleID: String
    /// Apple's type.
    package var notificationType: String
    /// Apple's subtype; empty for none.
    package var subtype: String
    /// Values in it that changed something.
    package var newsCount: UInt32
    /// Values in it that were older than what was known. They were kept, because they tell about the past.
    package var staleCount: UInt32
    /// Values in it that were known.
    package var duplicateCount: UInt32
    /// The revision that took it.
    package var revision: UInt64

    package init(
        id: String = "",
        received: Instant = Instant(milliseconds: 0),
        bundleID: String = "",
        notificationType: String = "",
        subtype: String = "",
        newsCount: UInt32 = 0,
        staleCount: UInt32 = 0,
        duplicateCount: UInt32 = 0,
        revision: UInt64 = 0
    ) {
        self.id = id
        self.received = received
        self.bundleID = bundleID
        self.notificationType = notificationType
        self.subtype = subtype
        self.newsCount = newsCount
        self.staleCount = staleCount
        self.duplicateCount = duplicateCount
        self.revision = revision
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty && self.received.milliseconds == 0 && self.bundleID.isEmpty && self.notificationType.isEmpty && self.subtype.isEmpty && self.newsCount == 0 && self.staleCount == 0 && self.duplicateCount == 0 && self.revision == 0 }
}

/// Notifications.
package struct NotificationPage: Hashable, Sendable {
    /// By the time of their signature, oldest first.
    package var notifications: [ReceivedNotification]
    /// For the next page; empty if there is none.
    package var nextPageToken: [UInt8]

    package init(notifications: [ReceivedNotification] = [], nextPageToken: [UInt8] = []) {
        self.notifications = notifications
        self.nextPageToken = nextPageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.notifications.isEmpty && self.nextPageToken.isEmpty }
}

/// Asks for a notification or a dead letter.
package struct GetSignedPayloadRequest: Hashable, Sendable {
    /// Which one: `id` of either.
    package var id: String

    package init(id: String = "") {
        self.id = id
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.id.isEmpty }
}

/// A value as it came.
package struct SignedPayload: Hashable, Sendable {
    /// Compact JWS.
    package var signedPayload: String

    package init(signedPayload: String = "") {
        self.signedPayload = signedPayload
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.signedPayload.isEmpty }
}

/// Asks for customers.
package struct FindCustomersRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The beginning of a key, a whole name of another kind, or an e-mail address, of which only the hash is looked up: 1 to 255 bytes.
    package var text: String
    /// Kinds of names that are tried; empty for all.
    package var kinds: [CustomerNameKind]
    /// At most this many customers, up to 100; 0 for 20.
    package var pageSize: UInt32

    package init(
        app: AppReference = AppReference(),
        text: String = "",
        kinds: [CustomerNameKind] = [],
        pageSize: UInt32 = 0
    ) {
        self.app = app
        self.text = text
        self.kinds = kinds
        self.pageSize = pageSize
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.text.isEmpty && self.kinds.isEmpty && self.pageSize == 0 }
}

/// A customer who was found, and by what name.
package struct FoundCustomer: Hashable, Sendable {
    /// The caller's key of the account; empty for an unclaimed one, which no caller can name.
    package var account: String
    /// What was reported belongs to no account that is known.
    package var isUnclaimed: Bool
    /// The kind of the name that matched.
    package var kind: CustomerNameKind
    /// The whole name that matched.
    package var name: String
    /// The purchase that the name leads to, by its first transaction; 0 for none.
    package var originalTransactionID: UInt64

    package init(
        account: String = "",
        isUnclaimed: Bool = false,
        kind: CustomerNameKind = .unspecified,
        name: String = "",
        originalTransactionID: UInt64 = 0
    ) {
        self.account = account
        self.isUnclaimed = isUnclaimed
        self.kind = kind
        self.name = name
        self.originalTransactionID = originalTransactionID
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.account.isEmpty && !self.isUnclaimed && self.kind == .unspecified && self.name.isEmpty && self.originalTransactionID == 0 }
}

/// Customers.
package struct CustomersFound: Hashable, Sendable {
    /// Whole names first, then keys in bytewise order.
    package var customers: [FoundCustomer]
    /// More keys begin so.
    package var hasMore: Bool

    package init(customers: [FoundCustomer] = [], hasMore: Bool = false) {
        self.customers = customers
        self.hasMore = hasMore
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.customers.isEmpty && !self.hasMore }
}

/// Writes a note.
package struct AddNoteRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account, which must be known: 1 to 255 bytes.
    package var account: String
    /// The text: 1 to 2,000 bytes.
    package var text: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        text: String = "",
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.text = text
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.text.isEmpty && self.idempotencyKey.isEmpty }
}

/// It is written.
package struct NoteAdded: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position
    /// The note's number.
    package var noteID: UInt64

    package init(position: Position = .blank, noteID: UInt64 = 0) {
        self.position = position
        self.noteID = noteID
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.noteID == 0 }
}

/// Asks for the notes beside a customer.
package struct ListNotesRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String

    package init(app: AppReference = AppReference(), account: String = "") {
        self.app = app
        self.account = account
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty }
}

/// The notes beside a customer.
package struct NoteList: Hashable, Sendable {
    /// Oldest first, at most 100.
    package var notes: [CustomerNote]

    package init(notes: [CustomerNote] = []) {
        self.notes = notes
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.notes.isEmpty }
}

/// Deletes a note.
package struct DeleteNoteRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// The note's number.
    package var noteID: UInt64

    package init(app: AppReference = AppReference(), account: String = "", noteID: UInt64 = 0) {
        self.app = app
        self.account = account
        self.noteID = noteID
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.noteID == 0 }
}

/// Asks for an account. Exactly one of the last three fields is set.
package struct FindAccountRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Any transaction, or original transaction, of the account.
    package var transactionID: UInt64
    /// The app's own UUID for its customer.
    package var appAccountToken: String
    /// Apple's number of the customer in this app.
    package var appTransactionID: String

    package init(
        app: AppReference = AppReference(),
        transactionID: UInt64 = 0,
        appAccountToken: String = "",
        appTransactionID: String = ""
    ) {
        self.app = app
        self.transactionID = transactionID
        self.appAccountToken = appAccountToken
        self.appTransactionID = appTransactionID
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.transactionID == 0 && self.appAccountToken.isEmpty && self.appTransactionID.isEmpty }
}

/// An account.
package struct AccountFound: Hashable, Sendable {
    /// The caller's key of the account; empty for an unclaimed one, which no caller can name.
    package var account: String
    /// What was reported belongs to no account that is known.
    package var isUnclaimed: Bool
    /// The original transactions of the account, in decimal digits as Apple writes them: those that were reported, and in a test app
    /// those of its subscriptions and of its products without an end.
    package var originalTransactionIDs: [String]

    package init(account: String = "", isUnclaimed: Bool = false, originalTransactionIDs: [String] = []) {
        self.account = account
        self.isUnclaimed = isUnclaimed
        self.originalTransactionIDs = originalTransactionIDs
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.account.isEmpty && !self.isUnclaimed && self.originalTransactionIDs.isEmpty }
}

/// Asks for purchases that need somebody.
package struct ListUnclaimedRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// At most this many accounts are looked at; 0 for 100.
    package var pageSize: UInt32
    /// From `next_page_token` of the page before.
    package var pageToken: [UInt8]

    package init(app: AppReference = AppReference(), pageSize: UInt32 = 0, pageToken: [UInt8] = []) {
        self.app = app
        self.pageSize = pageSize
        self.pageToken = pageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.pageSize == 0 && self.pageToken.isEmpty }
}

/// A purchase that needs somebody.
package struct UnclaimedPurchase: Hashable, Sendable {
    /// The original transaction, in decimal digits as Apple writes it.
    package var originalTransactionID: String
    /// The product that it is about now; empty where only renewal information came.
    package var productID: String
    /// The caller's key of its account; empty where it belongs to no account that is known.
    package var account: String
    /// It belongs to no account that is known.
    package var isUnclaimed: Bool
    /// Its renewal was awaited for the app's leeway, and nothing was reported.
    package var isOverdue: Bool
    /// The app's own UUIDs for the customer, as reported, the newest first.
    package var appAccountTokens: [String]
    /// Apple's numbers of the customer in this app, as reported, the newest first.
    package var appTransactionIDs: [String]
    /// When it was bought first, in milliseconds since the Unix epoch.
    package var originalPurchaseDate: Instant
    /// When the latest period that was reported ends, in milliseconds since the Unix epoch.
    package var end: Instant?
    /// Of a subscription; unspecified for another purchase.
    package var state: RenewalState

    package init(
        originalTransactionID: String = "",
        productID: String = "",
        account: String = "",
        isUnclaimed: Bool = false,
        isOverdue: Bool = false,
        appAccountTokens: [String] = [],
        appTransactionIDs: [String] = [],
        originalPurchaseDate: Instant = Instant(milliseconds: 0),
        end: Instant? = nil,
        state: RenewalState = .unspecified
    ) {
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.account = account
        self.isUnclaimed = isUnclaimed
        self.isOverdue = isOverdue
        self.appAccountTokens = appAccountTokens
        self.appTransactionIDs = appTransactionIDs
        self.originalPurchaseDate = originalPurchaseDate
        self.end = end
        self.state = state
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.originalTransactionID.isEmpty && self.productID.isEmpty && self.account.isEmpty && !self.isUnclaimed && !self.isOverdue && self.appAccountTokens.isEmpty && self.appTransactionIDs.isEmpty && self.originalPurchaseDate.milliseconds == 0 && self.end == nil && self.state == .unspecified }
}

/// Purchases that need somebody.
package struct UnclaimedPage: Hashable, Sendable {
    /// By account, then by original purchase date.
    package var purchases: [UnclaimedPurchase]
    /// For the next page; empty if there is none.
    package var nextPageToken: [UInt8]

    package init(purchases: [UnclaimedPurchase] = [], nextPageToken: [UInt8] = []) {
        self.purchases = purchases
        self.nextPageToken = nextPageToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.purchases.isEmpty && self.nextPageToken.isEmpty }
}

/// Attaches a name to an account. Exactly one of the last three fields is set.
package struct AttachAliasRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account, which is opened if there is none.
    package var account: String
    /// The app's own UUID for its customer.
    package var appAccountToken: String
    /// Apple's number of the customer in this app.
    package var appTransactionID: String
    /// SHA-256 of the customer's e-mail address, trimmed and in lower case: 64 hexadecimal digits. Only FindCustomers uses it.
    package var emailSha256: String

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        appAccountToken: String = "",
        appTransactionID: String = "",
        emailSha256: String = ""
    ) {
        self.app = app
        self.account = account
        self.appAccountToken = appAccountToken
        self.appTransactionID = appTransactionID
        self.emailSha256 = emailSha256
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.appAccountToken.isEmpty && self.appTransactionID.isEmpty && self.emailSha256.isEmpty }
}

/// It is attached.
package struct MoveAnswer: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position
    /// Original transactions that changed their account.
    package var movedCount: UInt32
    /// The key of the account whose name it was. Empty: it was nobody's, or that account's already.
    package var previousAccount: String

    package init(position: Position = .blank, movedCount: UInt32 = 0, previousAccount: String = "") {
        self.position = position
        self.movedCount = movedCount
        self.previousAccount = previousAccount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.movedCount == 0 && self.previousAccount.isEmpty }
}

/// Detaches a name. Exactly one of the last three fields is set.
package struct DetachAliasRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The app's own UUID for its customer.
    package var appAccountToken: String
    /// Apple's number of the customer in this app.
    package var appTransactionID: String
    /// SHA-256 of the customer's e-mail address, as it was attached.
    package var emailSha256: String

    package init(
        app: AppReference = AppReference(),
        appAccountToken: String = "",
        appTransactionID: String = "",
        emailSha256: String = ""
    ) {
        self.app = app
        self.appAccountToken = appAccountToken
        self.appTransactionID = appTransactionID
        self.emailSha256 = emailSha256
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.appAccountToken.isEmpty && self.appTransactionID.isEmpty && self.emailSha256.isEmpty }
}

/// Moves an original transaction.
package struct MoveTransactionRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The original transaction.
    package var originalTransactionID: UInt64
    /// The caller's key of the account that gets it, which is opened if there is none.
    package var account: String

    package init(app: AppReference = AppReference(), originalTransactionID: UInt64 = 0, account: String = "") {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.account = account
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.originalTransactionID == 0 && self.account.isEmpty }
}

/// Merges two accounts.
package struct MergeAccountsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account that ends. From now on it names the other account.
    package var account: String
    /// The caller's key of the account that gets everything.
    package var intoAccount: String

    package init(app: AppReference = AppReference(), account: String = "", intoAccount: String = "") {
        self.app = app
        self.account = account
        self.intoAccount = intoAccount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.intoAccount.isEmpty }
}

/// They are merged.
package struct MergeAccountsResponse: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position
    /// Original transactions that changed their account.
    package var movedCount: UInt32

    package init(position: Position = .blank, movedCount: UInt32 = 0) {
        self.position = position
        self.movedCount = movedCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.movedCount == 0 }
}

/// Erases an account.
package struct EraseAccountRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account. It may be opened again, as another account.
    package var account: String

    package init(app: AppReference = AppReference(), account: String = "") {
        self.app = app
        self.account = account
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty }
}

/// It is erased.
package struct EraseAccountResponse: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position
    /// Facts that the account had.
    package var factCount: UInt64

    package init(position: Position = .blank, factCount: UInt64 = 0) {
        self.position = position
        self.factCount = factCount
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.factCount == 0 }
}

/// Reads everything of an account.
package struct ExportAccountRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String

    package init(app: AppReference = AppReference(), account: String = "") {
        self.app = app
        self.account = account
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty }
}

/// An account as the store has it.
package struct AccountExport: Hashable, Sendable {
    /// Keys that callers use for the account.
    package var keys: [String]
    /// The app's own UUIDs for the customer.
    package var appAccountTokens: [String]
    /// Apple's numbers of the customer in this app.
    package var appTransactionIDs: [String]
    /// What the account has, by groups and products.
    package var inspection: AccountInspection
    /// Transactions, oldest first, at most 1,000.
    package var transactions: [Verified<Transaction>]
    /// Goes on with ListTransactions and its `include_finished_consumables`; empty after the last one.
    package var nextPageToken: [UInt8]
    /// Granted entitlements.
    package var grants: [EntitlementGrant]
    /// Notes, oldest first.
    package var notes: [CustomerNote]
    /// SHA-256 of e-mail addresses that were attached.
    package var emailSha256s: [String]

    package init(
        keys: [String] = [],
        appAccountTokens: [String] = [],
        appTransactionIDs: [String] = [],
        inspection: AccountInspection = AccountInspection(),
        transactions: [Verified<Transaction>] = [],
        nextPageToken: [UInt8] = [],
        grants: [EntitlementGrant] = [],
        notes: [CustomerNote] = [],
        emailSha256s: [String] = []
    ) {
        self.keys = keys
        self.appAccountTokens = appAccountTokens
        self.appTransactionIDs = appTransactionIDs
        self.inspection = inspection
        self.transactions = transactions
        self.nextPageToken = nextPageToken
        self.grants = grants
        self.notes = notes
        self.emailSha256s = emailSha256s
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.keys.isEmpty && self.appAccountTokens.isEmpty && self.appTransactionIDs.isEmpty && self.inspection.isBlank && self.transactions.isEmpty && self.nextPageToken.isEmpty && self.grants.isEmpty && self.notes.isEmpty && self.emailSha256s.isEmpty }
}

/// Grants a named entitlement.
package struct GrantEntitlementRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account, which is opened if there is none.
    package var account: String
    /// The entitlement: 1 to 64 bytes. It need not stand in the app's file.
    package var name: String
    /// When it ends, in milliseconds since the Unix epoch.
    package var until: Instant?
    /// For the record; up to 255 bytes.
    package var reason: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]
    /// One of the entitlement's tiers in the app's file, such as `premium`; empty: the grant adds time and no tier. A grant never takes
    /// a higher tier away.
    package var tier: String

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        name: String = "",
        until: Instant? = nil,
        reason: String = "",
        idempotencyKey: [UInt8] = [],
        tier: String = ""
    ) {
        self.app = app
        self.account = account
        self.name = name
        self.until = until
        self.reason = reason
        self.idempotencyKey = idempotencyKey
        self.tier = tier
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.name.isEmpty && self.until == nil && self.reason.isEmpty && self.idempotencyKey.isEmpty && self.tier.isEmpty }
}

/// It is granted.
package struct GrantEntitlementResponse: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?
    /// If the app has named entitlements and the granted name is none of them: those names. The granted name may be misspelt.
    package var knownNames: [String]

    package init(position: Position? = nil, knownNames: [String] = []) {
        self.position = position
        self.knownNames = knownNames
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.knownNames.isEmpty }
}

/// Ends a grant.
package struct RevokeGrantRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The entitlement.
    package var name: String

    package init(app: AppReference = AppReference(), account: String = "", name: String = "") {
        self.app = app
        self.account = account
        self.name = name
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.name.isEmpty }
}

/// Asks for the audit trail.
package struct ListAuditRequest: Hashable, Sendable {
    /// Changes after this revision; 0 for all.
    package var afterRevision: UInt64
    /// At most this many; 0 for 100. The next page begins after the last revision of this one.
    package var pageSize: UInt32

    package init(afterRevision: UInt64 = 0, pageSize: UInt32 = 0) {
        self.afterRevision = afterRevision
        self.pageSize = pageSize
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.afterRevision == 0 && self.pageSize == 0 }
}

/// An administrative or test change.
package struct AuditLine: Hashable, Sendable {
    /// The revision that it made.
    package var revision: UInt64
    /// When it was asked for, in milliseconds since the Unix epoch.
    package var at: Instant
    /// Who asked: subject and key of the credentials.
    package var subject: String
    /// The caller's IPv4 address, or the network of an IPv6 address; empty for the server's own machine.
    package var address: String
    /// The method's path.
    package var method: String
    /// The operation within the method, or what it was about.
    package var what: String
    /// Bundle identifier of the app; empty for a change of the store itself.
    package var bundleID: String
    /// Its environment; empty for a change of the store itself.
    package var environment: String
    /// The key of the account that was changed, as it is now: after a merger that of the account's owner, empty once the account is
    /// erased, and for a change of none.
    package var account: String

    package init(
        revision: UInt64 = 0,
        at: Instant = Instant(milliseconds: 0),
        subject: String = "",
        address: String = "",
        method: String = "",
        what: String = "",
        bundleID: String = "",
        environment: String = "",
        account: String = ""
    ) {
        self.revision = revision
        self.at = at
        self.subject = subject
        self.address = address
        self.method = method
        self.what = what
        self.bundleID = bundleID
        self.environment = environment
        self.account = account
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.revision == 0 && self.at.milliseconds == 0 && self.subject.isEmpty && self.address.isEmpty && self.method.isEmpty && self.what.isEmpty && self.bundleID.isEmpty && self.environment.isEmpty && self.account.isEmpty }
}

/// The audit trail.
package struct AuditPage: Hashable, Sendable {
    /// Oldest first.
    package var entries: [AuditLine]
    /// There are more.
    package var hasMore: Bool

    package init(entries: [AuditLine] = [], hasMore: Bool = false) {
        self.entries = entries
        self.hasMore = hasMore
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.entries.isEmpty && !self.hasMore }
}

/// The moment of a read. Absent: now.
package struct AsOf: Hashable, Sendable {
    /// An instant in the past or future, in milliseconds since the Unix epoch: the same rules, applied at that instant.
    package var instant: Instant?
    /// Uses only facts up to this revision; 0: all facts known now.
    package var revision: UInt64

    package init(instant: Instant? = nil, revision: UInt64 = 0) {
        self.instant = instant
        self.revision = revision
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.instant == nil && self.revision == 0 }
}

/// The success value of CurrentEntitlementTask.
package struct CurrentEntitlement: Hashable, Sendable {
    /// Absent: not entitled. Present with a `verification_error`: the transaction would entitle, but is not trusted, so the
    /// account is not entitled.
    package var transaction: Verified<Transaction>?

    package init(transaction: Verified<Transaction>? = nil) {
        self.transaction = transaction
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.transaction == nil }
}

/// Asks for products.
package struct ProductsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Product identifiers, none empty; duplicates are collapsed. No identifiers have no products: the answer is an empty success.
    package var productIDs: [String]
    /// Locale such as `en_US`; empty for the app's.
    package var locale: String
    /// ISO 3166-1 alpha-3; empty for the app's.
    package var storefront: String
    /// The token of the last value of an earlier call with the same parameters; empty to begin.
    package var resumeToken: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        productIDs: [String] = [],
        locale: String = "",
        storefront: String = "",
        resumeToken: [UInt8] = [],
        atLeast: Position? = nil
    ) {
        self.app = app
        self.productIDs = productIDs
        self.locale = locale
        self.storefront = storefront
        self.resumeToken = resumeToken
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.productIDs.isEmpty && self.locale.isEmpty && self.storefront.isEmpty && self.resumeToken.isEmpty && self.atLeast == nil }
}

/// Asks for the statuses of an account in a group.
package struct SubscriptionStatusRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// Subscription group, not empty unless `all_groups` is set. An unknown one has no statuses.
    package var groupID: String
    /// The token of the last value of an earlier call with the same parameters; empty to begin.
    package var resumeToken: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool
    /// The statuses of all groups, as StoreKit's `Status.all`. `group_id` is then empty.
    package var allGroups: Bool
    /// Which moment; absent: now.
    package var asOf: AsOf

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        groupID: String = "",
        resumeToken: [UInt8] = [],
        atLeast: Position? = nil,
        includesJWS: Bool = false,
        allGroups: Bool = false,
        asOf: AsOf = AsOf()
    ) {
        self.app = app
        self.account = account
        self.groupID = groupID
        self.resumeToken = resumeToken
        self.atLeast = atLeast
        self.includesJWS = includesJWS
        self.allGroups = allGroups
        self.asOf = asOf
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.groupID.isEmpty && self.resumeToken.isEmpty && self.atLeast == nil && !self.includesJWS && !self.allGroups && self.asOf.isBlank }
}

/// The success value of EntitlementsTask.
package struct NamedEntitlements: Hashable, Sendable {
    /// By name: one for each name of the app's file, and one for each other name that was granted.
    package var entitlements: [NamedEntitlement]

    package init(entitlements: [NamedEntitlement] = []) {
        self.entitlements = entitlements
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.entitlements.isEmpty }
}

/// Asks for the named entitlements of an account.
package struct AccountWatchRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// The token of the last value of an earlier call with the same parameters; empty to begin.
    package var resumeToken: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        resumeToken: [UInt8] = [],
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.resumeToken = resumeToken
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.resumeToken.isEmpty && self.atLeast == nil }
}

/// Asks once for the named entitlements of an account.
package struct GetEntitlementsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// The moment; absent: now.
    package var asOf: AsOf
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        asOf: AsOf = AsOf(),
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.asOf = asOf
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.asOf.isBlank && self.atLeast == nil }
}

/// Asks for a pass.
package struct GetPassRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(app: AppReference = AppReference(), account: String = "", atLeast: Position? = nil) {
        self.app = app
        self.account = account
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.atLeast == nil }
}

/// A pass.
package struct EntitlementPass: Hashable, Sendable {
    /// Where the answer stands.
    package var position: Position?
    /// A compact JWS of the type JWT, signed with ES256: `iss`, `aud` (the bundle ID), `sub` (the account), `env`, `iat`, `exp`,
    /// `entitlements`.
    package var pass: String
    /// When it ends, by the app's clock, in milliseconds since the Unix epoch.
    package var expiresAt: Instant

    package init(position: Position? = nil, pass: String = "", expiresAt: Instant = Instant(milliseconds: 0)) {
        self.position = position
        self.pass = pass
        self.expiresAt = expiresAt
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.pass.isEmpty && self.expiresAt.milliseconds == 0 }
}

/// Asks for the entitlement of an account to a product.
package struct CurrentEntitlementRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// Product, not empty. No account is entitled to an unknown one.
    package var productID: String
    /// The token of the last value of an earlier call with the same parameters; empty to begin.
    package var resumeToken: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool
    /// Which moment; absent: now.
    package var asOf: AsOf

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        resumeToken: [UInt8] = [],
        atLeast: Position? = nil,
        includesJWS: Bool = false,
        asOf: AsOf = AsOf()
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.resumeToken = resumeToken
        self.atLeast = atLeast
        self.includesJWS = includesJWS
        self.asOf = asOf
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && self.resumeToken.isEmpty && self.atLeast == nil && !self.includesJWS && self.asOf.isBlank }
}

/// Asks for an image.
package struct GetImageRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// `promotional_image_id` of a product.
    package var imageID: String
    /// The `content_hash` of the bytes that the caller already has; empty for none.
    package var knownHash: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        imageID: String = "",
        knownHash: [UInt8] = [],
        atLeast: Position? = nil
    ) {
        self.app = app
        self.imageID = imageID
        self.knownHash = knownHash
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.imageID.isEmpty && self.knownHash.isEmpty && self.atLeast == nil }
}

/// An image.
package struct ImageAnswer: Hashable, Sendable {
    /// SHA-256 of the image, 32 bytes: `promotional_image_hash` of its products.
    package var contentHash: [UInt8]
    /// `image/png` or `image/jpeg`.
    package var contentType: String
    /// True if `known_hash` is current: `content` is left out.
    package var isUnchanged: Bool
    /// The image.
    package var content: [UInt8]

    package init(
        contentHash: [UInt8] = [],
        contentType: String = "",
        isUnchanged: Bool = false,
        content: [UInt8] = []
    ) {
        self.contentHash = contentHash
        self.contentType = contentType
        self.isUnchanged = isUnchanged
        self.content = content
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.contentHash.isEmpty && self.contentType.isEmpty && !self.isUnchanged && self.content.isEmpty }
}

/// Asks for all entitlements of an account.
package struct ListCurrentEntitlementsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Which moment; absent: now.
    package var asOf: AsOf
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        atLeast: Position? = nil,
        asOf: AsOf = AsOf(),
        includesJWS: Bool = false
    ) {
        self.app = app
        self.account = account
        self.atLeast = atLeast
        self.asOf = asOf
        self.includesJWS = includesJWS
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.atLeast == nil && self.asOf.isBlank && !self.includesJWS }
}

/// All entitlements of an account.
package struct EntitlementList: Hashable, Sendable {
    /// One for each entitled product and owner, by product identifier, own before shared. One with a `verification_error` would
    /// entitle, but is not trusted, so it does not.
    package var transactions: [Verified<Transaction>]
    /// Where the answer stands.
    package var info: ValueInfo

    package init(transactions: [Verified<Transaction>] = [], info: ValueInfo = ValueInfo()) {
        self.transactions = transactions
        self.info = info
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.transactions.isEmpty && self.info.isBlank }
}

/// Asks for plan options.
package struct PlanOptionsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// Subscription group.
    package var groupID: String
    /// Locale such as `en_US`; empty for the app's.
    package var locale: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        groupID: String = "",
        locale: String = "",
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.groupID = groupID
        self.locale = locale
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.groupID.isEmpty && self.locale.isEmpty && self.atLeast == nil }
}

/// The plans of a group.
package struct PlanOptionList: Hashable, Sendable {
    /// By level of service, then in the order of the catalogue.
    package var options: [PlanOption]
    /// Where the answer stands.
    package var position: Position
    /// The catalogue has no such group.
    package var isNotInCatalog: Bool
    /// Whether the account is eligible for an introductory offer in the group.
    package var introductoryEligibility: Eligibility

    package init(
        options: [PlanOption] = [],
        position: Position = .blank,
        isNotInCatalog: Bool = false,
        introductoryEligibility: Eligibility = .unspecified
    ) {
        self.options = options
        self.position = position
        self.isNotInCatalog = isNotInCatalog
        self.introductoryEligibility = introductoryEligibility
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.options.isEmpty && self.position.isBlank && !self.isNotInCatalog && self.introductoryEligibility == .unspecified }
}

/// Asks for the eligibility of offers.
package struct OfferEligibilityRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// Only offers of this product; empty for all of the group.
    package var productID: String
    /// Subscription group; may be left out with a product.
    package var groupID: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        groupID: String = "",
        atLeast: Position? = nil
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.groupID = groupID
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && self.groupID.isEmpty && self.atLeast == nil }
}

/// The eligibility of offers.
package struct OfferEligibilityAnswer: Hashable, Sendable {
    /// The value itself.
    package var value: OfferEligibilities
    /// Where the answer stands.
    package var position: Position
    /// The catalogue has no such group or product, so nobody is eligible.
    package var isNotInCatalog: Bool

    package init(
        value: OfferEligibilities = OfferEligibilities(isEligibleForIntroductory: false, offers: []),
        position: Position = .blank,
        isNotInCatalog: Bool = false
    ) {
        self.value = value
        self.position = position
        self.isNotInCatalog = isNotInCatalog
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { false && self.position.isBlank && !self.isNotInCatalog }
}

/// Asks for policies.
package struct AppPoliciesRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Locale such as `en_US`; empty for the app's.
    package var locale: String

    package init(app: AppReference = AppReference(), locale: String = "") {
        self.app = app
        self.locale = locale
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.locale.isEmpty }
}

/// The app's policies.
package struct AppPoliciesAnswer: Hashable, Sendable {
    /// Text of the licence agreement; empty for none.
    package var licenceAgreement: String
    /// Text of the privacy policy; empty for none.
    package var privacyPolicyText: String
    /// Address of the privacy policy; empty for none.
    package var privacyPolicyURL: String
    /// The locale of the selected privacy policy.
    package var privacyPolicyLocale: String
    /// The app's setting of dialogs: a client that sells shows a payment sheet, and asks the customer before it buys.
    package var showsDialogs: Bool

    package init(
        licenceAgreement: String = "",
        privacyPolicyText: String = "",
        privacyPolicyURL: String = "",
        privacyPolicyLocale: String = "",
        showsDialogs: Bool = false
    ) {
        self.licenceAgreement = licenceAgreement
        self.privacyPolicyText = privacyPolicyText
        self.privacyPolicyURL = privacyPolicyURL
        self.privacyPolicyLocale = privacyPolicyLocale
        self.showsDialogs = showsDialogs
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.licenceAgreement.isEmpty && self.privacyPolicyText.isEmpty && self.privacyPolicyURL.isEmpty && self.privacyPolicyLocale.isEmpty && !self.showsDialogs }
}

/// Asks why.
package struct ExplainRequest: Hashable, Sendable {
    package enum About: Hashable, Sendable {
        /// The statuses of a group.
        case group(String)
        /// The entitlement to a product.
        case product(String)
    }

    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes.
    package var account: String
    /// Exactly one of the fields of `about`.
    package var about: About?
    /// Which moment; absent: now.
    package var asOf: AsOf
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Language of the texts for people, such as `de` or `de_AT`. Empty, or a language that the server has no texts in: English.
    package var locale: String
    /// Where the reader's clock stands, in minutes east of UTC: -1080 to 1080. Days and times in the texts for people are of this clock.
    package var utcOffsetMinutes: Int32
    /// An event that has not happened. The answer has, beside what is, what would be. Nothing is changed.
    package var suppose: Supposition?
    /// Also what happened. Only of a question about everything that the account has.
    package var withHistory: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        about: About? = nil,
        asOf: AsOf = AsOf(),
        atLeast: Position? = nil,
        locale: String = "",
        utcOffsetMinutes: Int32 = 0,
        suppose: Supposition? = nil,
        withHistory: Bool = false
    ) {
        self.app = app
        self.account = account
        self.about = about
        self.asOf = asOf
        self.atLeast = atLeast
        self.locale = locale
        self.utcOffsetMinutes = utcOffsetMinutes
        self.suppose = suppose
        self.withHistory = withHistory
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.about == nil && self.asOf.isBlank && self.atLeast == nil && self.locale.isEmpty && self.utcOffsetMinutes == 0 && self.suppose == nil && !self.withHistory }
}

/// Why.
package struct ExplainAnswer: Hashable, Sendable {
    /// The value itself.
    package var value: Explanations
    /// Where the answer stands.
    package var position: Position
    /// The account owns nothing there, and the catalogue has no such group or product.
    package var isNotInCatalog: Bool

    package init(
        value: Explanations = Explanations(message: "", isEntitled: false, explanations: []),
        position: Position = .blank,
        isNotInCatalog: Bool = false
    ) {
        self.value = value
        self.position = position
        self.isNotInCatalog = isNotInCatalog
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { false && self.position.isBlank && !self.isNotInCatalog }
}

/// Asks for the changes of an app.
package struct AppChangesRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The cursor of the last change of an earlier call: all later changes follow. Empty: changes from now on. In each case the
    /// first message has only a cursor, that of the place where the changes begin.
    package var cursor: [UInt8]
    /// Without a cursor: begins with the oldest change that a cursor may stand before, not with the next one.
    package var fromOldest: Bool
    /// Only changes with one of these causes; empty for all.
    package var causes: [Cause]
    /// Only changes of statuses in one of these groups, or of one of `product_ids`; both empty for all.
    package var groupIDs: [String]
    /// Only changes of entitlements to one of these products, of consumables among them, or of statuses in one of `group_ids`; both
    /// empty for all.
    package var productIDs: [String]
    /// Only changes of an entitlement: an account may use something from now on, no longer, or by another transaction.
    package var entitlementsOnly: Bool
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        cursor: [UInt8] = [],
        fromOldest: Bool = false,
        causes: [Cause] = [],
        groupIDs: [String] = [],
        productIDs: [String] = [],
        entitlementsOnly: Bool = false,
        atLeast: Position? = nil
    ) {
        self.app = app
        self.cursor = cursor
        self.fromOldest = fromOldest
        self.causes = causes
        self.groupIDs = groupIDs
        self.productIDs = productIDs
        self.entitlementsOnly = entitlementsOnly
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.cursor.isEmpty && !self.fromOldest && self.causes.isEmpty && self.groupIDs.isEmpty && self.productIDs.isEmpty && !self.entitlementsOnly && self.atLeast == nil }
}

/// The entitlement of an account to a product after a change.
package struct EntitlementChange: Hashable, Sendable {
    /// The product.
    package var productID: String
    /// The transaction that entitles now. Absent: not entitled.
    package var transaction: Verified<Transaction>?

    package init(productID: String = "", transaction: Verified<Transaction>? = nil) {
        self.productID = productID
        self.transaction = transaction
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.productID.isEmpty && self.transaction == nil }
}

/// One change of an account. A change whose values are too long for a message has neither statuses nor entitlements: read the
/// account. A message without a cause, statuses and entitlements and without an account has only a cursor:
/// nothing that the call asks for has happened up to there.
package struct FeedEvent: Hashable, Sendable {
    /// The caller's key of the account, the first in bytewise order if it has several. Empty: the app itself has changed, its
    /// catalogue, its clock or a setting, as `cause` says.
    package var account: String
    /// Why. Unspecified for a change that no value shows, such as Finish.
    package var cause: Cause
    /// Every group in which a status has changed, with all of its statuses.
    package var groups: [GroupStatuses]
    /// Every product to which the entitlement has changed.
    package var entitlements: [EntitlementChange]
    /// The revision, and the instant on the app's clock. A change by time has the revision before it. Positions never decrease.
    package var position: Position
    /// When the revision was committed; of a change by time, when the account's last change was. In milliseconds since the
    /// Unix epoch.
    package var committed: Instant
    /// The `client_id` of the connection that caused it; empty for the store itself.
    package var originClientID: [UInt8]
    /// Opaque. A new call that sends it gets the changes after this one.
    package var cursor: [UInt8]
    /// The notification that brought the change. Absent for a change that came otherwise. A notification that changed no value, such
    /// as REFUND_DECLINED, has a message of its own.
    package var notification: NotificationNotice?
    /// The question that the notification asks; absent for none.
    package var consumptionRequest: ConsumptionRequest?
    /// Consumables that were bought, refunded or given back. They are in no list of entitlements.
    package var consumables: [Verified<Transaction>]
    /// Alone in its message: up to where this stream has said everything.
    package var bookmark: Bookmark?

    package init(
        account: String = "",
        cause: Cause = .unspecified,
        groups: [GroupStatuses] = [],
        entitlements: [EntitlementChange] = [],
        position: Position = .blank,
        committed: Instant = Instant(milliseconds: 0),
        originClientID: [UInt8] = [],
        cursor: [UInt8] = [],
        notification: NotificationNotice? = nil,
        consumptionRequest: ConsumptionRequest? = nil,
        consumables: [Verified<Transaction>] = [],
        bookmark: Bookmark? = nil
    ) {
        self.account = account
        self.cause = cause
        self.groups = groups
        self.entitlements = entitlements
        self.position = position
        self.committed = committed
        self.originClientID = originClientID
        self.cursor = cursor
        self.notification = notification
        self.consumptionRequest = consumptionRequest
        self.consumables = consumables
        self.bookmark = bookmark
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.account.isEmpty && self.cause == .unspecified && self.groups.isEmpty && self.entitlements.isEmpty && self.position.isBlank && self.committed.milliseconds == 0 && self.originClientID.isEmpty && self.cursor.isEmpty && self.notification == nil && self.consumptionRequest == nil && self.consumables.isEmpty && self.bookmark == nil }
}

/// Asks for a copy of an app's named entitlements.
package struct AppEntitlementsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The newest resume token of a copy that was complete: its changes go on. Of another store, app, catalogue, list of names or
    /// shard, or too old: the stream begins a new copy. Empty: a new copy.
    package var resumeToken: [UInt8]
    /// Only these names, at most 1,024; empty for all. A name that the app does not have gives no entry.
    package var names: [String]
    /// Only accounts of this shard, from 0. The shard of an account is the CRC-32 of its key (the checksum of zlib, gzip and PNG)
    /// modulo `shard_count`.
    package var shard: UInt32
    /// The number of shards, at most 256. 0 and 1: the copy has every account.
    package var shardCount: UInt32
    /// The server answers when it has reached this position.
    package var atLeast: Position?

    package init(
        app: AppReference = AppReference(),
        resumeToken: [UInt8] = [],
        names: [String] = [],
        shard: UInt32 = 0,
        shardCount: UInt32 = 0,
        atLeast: Position? = nil
    ) {
        self.app = app
        self.resumeToken = resumeToken
        self.names = names
        self.shard = shard
        self.shardCount = shardCount
        self.atLeast = atLeast
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.resumeToken.isEmpty && self.names.isEmpty && self.shard == 0 && self.shardCount == 0 && self.atLeast == nil }
}

/// The app's clock at an instant of the server's clock. It runs as fast as that one, or stands still.
package struct CopyClock: Hashable, Sendable {
    /// The app's clock, in milliseconds since the Unix epoch.
    package var appTime: Instant
    /// The server's wall clock at the same moment, in milliseconds since the Unix epoch.
    package var serverTime: Instant
    /// The app's clock stands still until a message has another clock.
    package var isFrozen: Bool
    /// Perch itself is the store of this app.
    package var isTestApp: Bool

    package init(
        appTime: Instant = Instant(milliseconds: 0),
        serverTime: Instant = Instant(milliseconds: 0),
        isFrozen: Bool = false,
        isTestApp: Bool = false
    ) {
        self.appTime = appTime
        self.serverTime = serverTime
        self.isFrozen = isFrozen
        self.isTestApp = isTestApp
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.appTime.milliseconds == 0 && self.serverTime.milliseconds == 0 && !self.isFrozen && !self.isTestApp }
}

/// The beginning of a copy, or of the changes of one that goes on. The first message of each call.
package struct CopyBegin: Hashable, Sendable {
    /// The copy of the resume token goes on: its entries stay, and there is no `end`. False: a new copy.
    package var isResumed: Bool
    /// The grades of the app's file of entitlements, by the number that stands for each in a batch.
    package var grades: [EntitlementGrade]
    /// The names that the app's file has, whether the call asks for them or not.
    package var names: [String]
    /// The app's clock. Segments are on it.
    package var clock: CopyClock

    package init(
        isResumed: Bool = false,
        grades: [EntitlementGrade] = [],
        names: [String] = [],
        clock: CopyClock = CopyClock()
    ) {
        self.isResumed = isResumed
        self.grades = grades
        self.names = names
        self.clock = clock
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { !self.isResumed && self.grades.isEmpty && self.names.isEmpty && self.clock.isBlank }
}

/// Entries of some accounts, each whole: what it has replaces everything that the copy had of it, its aliases too. An entry goes before
/// an alias of the same name. A key that has become an alias comes as an entry without segments.
///
/// The columns have fixed widths, so that a reader decodes them with slices of its language, without a message for each account.
/// Column i of an account is at place i; the segments of an account are neighbours, by name, and in order within a name. The first
/// segment of a name has begun; each later one begins where the one before ends. A name is entitled by its first segment whose end
/// is later than the app's clock, if that has a reason. Grace and leeway are in the segments.
package struct CopyBatch: Hashable, Sendable {
    /// The keys of the accounts, one after another.
    package var keys: [UInt8]
    /// Where each key ends in `keys`.
    package var keyEnds: [UInt32]
    /// Where the segments of each account end among all segments. An account without one has nothing any more.
    package var segmentEnds: [UInt32]
    /// Of each segment: the place of its grade in `begin.grades`; beyond them, in `more_grades` of this message.
    package var grades: [UInt32]
    /// Of each segment: the instant of the app's clock at which it ends, in milliseconds since the Unix epoch. 2^63 - 1: never by
    /// itself.
    package var untils: [Int64]
    /// Of each segment: its `EntitlementReason`, in one byte.
    package var reasons: [UInt8]
    /// Other keys of the accounts, one after another: the keys of merged accounts, then names that `AttachAlias` or a report has given to a
    /// customer, by which reads find the account too. Hashes of e-mail addresses are not among them. Of an account at most 1,000, the first
    /// in bytewise order.
    package var aliases: [UInt8]
    /// Where each alias ends in `aliases`.
    package var aliasEnds: [UInt32]
    /// Of each alias: the place of its account in this message, ascending.
    package var aliasAccounts: [UInt32]
    /// Grades that the app's file of entitlements does not have: those of grants.
    package var moreGrades: [EntitlementGrade]
    /// Of a change: where the copy stands after it. Positions never decrease. Absent until `end`.
    package var position: Position?
    /// Of a change: when it was committed, in milliseconds since the Unix epoch. A batch of several changes has that of the last.
    package var committed: Instant
    /// Of a change: a new call that sends it goes on after this batch.
    package var resumeToken: [UInt8]
    /// The app's clock was moved, stopped or started. Absent: it runs on as before.
    package var clock: CopyClock?

    package init(
        keys: [UInt8] = [],
        keyEnds: [UInt32] = [],
        segmentEnds: [UInt32] = [],
        grades: [UInt32] = [],
        untils: [Int64] = [],
        reasons: [UInt8] = [],
        aliases: [UInt8] = [],
        aliasEnds: [UInt32] = [],
        aliasAccounts: [UInt32] = [],
        moreGrades: [EntitlementGrade] = [],
        position: Position? = nil,
        committed: Instant = Instant(milliseconds: 0),
        resumeToken: [UInt8] = [],
        clock: CopyClock? = nil
    ) {
        self.keys = keys
        self.keyEnds = keyEnds
        self.segmentEnds = segmentEnds
        self.grades = grades
        self.untils = untils
        self.reasons = reasons
        self.aliases = aliases
        self.aliasEnds = aliasEnds
        self.aliasAccounts = aliasAccounts
        self.moreGrades = moreGrades
        self.position = position
        self.committed = committed
        self.resumeToken = resumeToken
        self.clock = clock
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.keys.isEmpty && self.keyEnds.isEmpty && self.segmentEnds.isEmpty && self.grades.isEmpty && self.untils.isEmpty && self.reasons.isEmpty && self.aliases.isEmpty && self.aliasEnds.isEmpty && self.aliasAccounts.isEmpty && self.moreGrades.isEmpty && self.position == nil && self.committed.milliseconds == 0 && self.resumeToken.isEmpty && self.clock == nil }
}

/// The copy is complete.
package struct CopyEnd: Hashable, Sendable {
    /// Where it stands.
    package var position: Position
    /// A new call that sends it goes on from here.
    package var resumeToken: [UInt8]

    package init(position: Position = .blank, resumeToken: [UInt8] = []) {
        self.position = position
        self.resumeToken = resumeToken
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.resumeToken.isEmpty }
}

/// A part of a copy.
package struct CopyPart: Hashable, Sendable {
    /// A copy begins.
    package var begin: CopyBegin?
    /// Entries of a copy, or a change. Without accounts: nothing that the call asks for has happened up to its position.
    package var accounts: CopyBatch?
    /// The copy is complete.
    package var end: CopyEnd?
    /// Alone in its message: up to where this stream has said everything, and the server's time.
    package var bookmark: Bookmark?

    package init(begin: CopyBegin? = nil, accounts: CopyBatch? = nil, end: CopyEnd? = nil, bookmark: Bookmark? = nil) {
        self.begin = begin
        self.accounts = accounts
        self.end = end
        self.bookmark = bookmark
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.begin == nil && self.accounts == nil && self.end == nil && self.bookmark == nil }
}

/// Signed values for one app.
package struct SubmitTransactionRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// Compact JWS, as they came from Apple; up to 50.
    package var signedValues: [String]
    /// The caller's key of the account that bought. The app's claim policy decides where another account has the purchase.
    /// Empty: appAccountToken and the aliases of accounts decide.
    package var account: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        signedValues: [String] = [],
        account: String = "",
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.signedValues = signedValues
        self.account = account
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.signedValues.isEmpty && self.account.isEmpty && self.idempotencyKey.isEmpty }
}

/// What became of a submission.
package struct SubmissionAnswer: Hashable, Sendable {
    /// Where the store stands with it.
    package var position: Position
    /// Values that changed something.
    package var newsCount: UInt32
    /// Values that are older than what is known. They are kept, because they tell about the past.
    package var staleCount: UInt32
    /// Values that were known.
    package var duplicateCount: UInt32
    /// Values that were not taken, in the order of the request. The others were.
    package var refused: [RefusedValue]

    package init(
        position: Position = .blank,
        newsCount: UInt32 = 0,
        staleCount: UInt32 = 0,
        duplicateCount: UInt32 = 0,
        refused: [RefusedValue] = []
    ) {
        self.position = position
        self.newsCount = newsCount
        self.staleCount = staleCount
        self.duplicateCount = duplicateCount
        self.refused = refused
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position.isBlank && self.newsCount == 0 && self.staleCount == 0 && self.duplicateCount == 0 && self.refused.isEmpty }
}

/// A value of a submission that was not taken.
package struct RefusedValue: Hashable, Sendable {
    /// Its place in `signed_values`, from 0.
    package var index: UInt32
    /// A word of the table of errors.
    package var reason: String
    /// That as a sentence. It quotes nothing of the value.
    package var message: String

    package init(index: UInt32 = 0, reason: String = "", message: String = "") {
        self.index = index
        self.reason = reason
        self.message = message
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.index == 0 && self.reason.isEmpty && self.message.isEmpty }
}

/// A notification, with Apple's name of its field.
package struct SubmitNotificationRequest: Hashable, Sendable {
    /// Compact JWS.
    package var signedPayload: String

    package init(signedPayload: String = "") {
        self.signedPayload = signedPayload
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.signedPayload.isEmpty }
}

/// Buys a product.
package struct PurchaseRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account: 1 to 255 bytes. An account that does not exist is created.
    package var account: String
    /// The order.
    package var order: PurchaseOrder
    /// Makes the call safe to repeat: the same key gives the same answer for seven days. Up to 64 bytes.
    package var idempotencyKey: [UInt8]
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool
    /// The customer has agreed in the client's own payment sheet: the app's dialogs do not ask again.
    package var isConfirmed: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        order: PurchaseOrder = .blank,
        idempotencyKey: [UInt8] = [],
        includesJWS: Bool = false,
        isConfirmed: Bool = false
    ) {
        self.app = app
        self.account = account
        self.order = order
        self.idempotencyKey = idempotencyKey
        self.includesJWS = includesJWS
        self.isConfirmed = isConfirmed
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.order.isBlank && self.idempotencyKey.isEmpty && !self.includesJWS && !self.isConfirmed }
}

/// The result of a purchase.
package struct PurchaseResponse: Hashable, Sendable {
    /// The position of the change. A read with this `at_least` sees the change.
    package var position: Position?
    /// The result.
    package var result: PurchaseResult
    /// Present with success.
    package var transaction: Verified<Transaction>?
    /// True if the account already held the transaction and nothing was charged.
    package var wasHeld: Bool
    /// The number of a pending purchase.
    package var pendingNumber: UInt64

    package init(
        position: Position? = nil,
        result: PurchaseResult = .unspecified,
        transaction: Verified<Transaction>? = nil,
        wasHeld: Bool = false,
        pendingNumber: UInt64 = 0
    ) {
        self.position = position
        self.result = result
        self.transaction = transaction
        self.wasHeld = wasHeld
        self.pendingNumber = pendingNumber
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.result == .unspecified && self.transaction == nil && !self.wasHeld && self.pendingNumber == 0 }
}

/// Marks a transaction as delivered.
package struct FinishRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The transaction.
    package var transactionID: UInt64
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        transactionID: UInt64 = 0,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.transactionID = transactionID
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.transactionID == 0 && self.idempotencyKey.isEmpty }
}

/// Asks for a page of transactions.
package struct ListTransactionsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Only of this product; empty for all.
    package var productID: String
    /// Finished consumables too (SKIncludeConsumableInAppPurchaseHistory).
    package var includesFinishedConsumables: Bool
    /// Maximum number of entries: up to 500; 0 means 100.
    package var pageSize: UInt32
    /// The token of the previous page; empty to begin.
    package var pageToken: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        includesFinishedConsumables: Bool = false,
        pageSize: UInt32 = 0,
        pageToken: [UInt8] = [],
        atLeast: Position? = nil,
        includesJWS: Bool = false
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.includesFinishedConsumables = includesFinishedConsumables
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.atLeast = atLeast
        self.includesJWS = includesJWS
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && !self.includesFinishedConsumables && self.pageSize == 0 && self.pageToken.isEmpty && self.atLeast == nil && !self.includesJWS }
}

/// A page of transactions.
package struct TransactionPage: Hashable, Sendable {
    /// Oldest first.
    package var transactions: [Verified<Transaction>]
    /// Empty on the last page.
    package var nextPageToken: [UInt8]
    /// Where the answer stands.
    package var position: Position
    /// The request names a product, the page is empty, and the catalogue has no such product.
    package var isNotInCatalog: Bool

    package init(
        transactions: [Verified<Transaction>] = [],
        nextPageToken: [UInt8] = [],
        position: Position = .blank,
        isNotInCatalog: Bool = false
    ) {
        self.transactions = transactions
        self.nextPageToken = nextPageToken
        self.position = position
        self.isNotInCatalog = isNotInCatalog
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.transactions.isEmpty && self.nextPageToken.isEmpty && self.position.isBlank && !self.isNotInCatalog }
}

/// Asks for the unfinished transactions.
package struct ListUnfinishedRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Maximum number of entries: up to 500; 0 means 100.
    package var pageSize: UInt32
    /// The token of the previous page; empty to begin.
    package var pageToken: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        pageSize: UInt32 = 0,
        pageToken: [UInt8] = [],
        atLeast: Position? = nil,
        includesJWS: Bool = false
    ) {
        self.app = app
        self.account = account
        self.pageSize = pageSize
        self.pageToken = pageToken
        self.atLeast = atLeast
        self.includesJWS = includesJWS
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.pageSize == 0 && self.pageToken.isEmpty && self.atLeast == nil && !self.includesJWS }
}

/// Asks for the newest transaction of a product.
package struct LatestTransactionRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The product.
    package var productID: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        atLeast: Position? = nil,
        includesJWS: Bool = false
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.atLeast = atLeast
        self.includesJWS = includesJWS
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && self.atLeast == nil && !self.includesJWS }
}

/// The newest transaction of a product.
package struct LatestTransaction: Hashable, Sendable {
    /// Absent if there is none.
    package var transaction: Verified<Transaction>?
    /// Where the answer stands.
    package var position: Position
    /// There is no transaction, and the catalogue has no such product.
    package var isNotInCatalog: Bool

    package init(transaction: Verified<Transaction>? = nil, position: Position = .blank, isNotInCatalog: Bool = false) {
        self.transaction = transaction
        self.position = position
        self.isNotInCatalog = isNotInCatalog
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.transaction == nil && self.position.isBlank && !self.isNotInCatalog }
}

/// Asks for the events of an account.
package struct TransactionUpdatesRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The cursor of the last event of an earlier call. The first message repeats it, without a transaction, as soon as the
    /// server has accepted it; all later events follow. Empty: unfinished transactions come first, without a cursor, then new
    /// events.
    package var cursor: [UInt8]
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        cursor: [UInt8] = [],
        atLeast: Position? = nil,
        includesJWS: Bool = false
    ) {
        self.app = app
        self.account = account
        self.cursor = cursor
        self.atLeast = atLeast
        self.includesJWS = includesJWS
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.cursor.isEmpty && self.atLeast == nil && !self.includesJWS }
}

/// One event, or the position at which new events begin.
package struct TransactionEvent: Hashable, Sendable {
    /// The transaction after the event. Absent in one message of each call, whose cursor is the position at which new events
    /// begin: the first message after a cursor, else the one that ends the unfinished transactions.
    package var transaction: Verified<Transaction>?
    /// What happened.
    package var kind: TransactionEventKind
    /// Opaque. A new call that sends it gets the events after this one.
    package var cursor: [UInt8]
    /// Its revision.
    package var revision: UInt64
    /// When it was committed, in milliseconds since the Unix epoch.
    package var committed: Instant
    /// The `client_id` of the connection that caused it; empty for the store itself.
    package var originClientID: [UInt8]
    /// Alone in its message: up to where this stream has said everything.
    package var bookmark: Bookmark?

    package init(
        transaction: Verified<Transaction>? = nil,
        kind: TransactionEventKind = .unspecified,
        cursor: [UInt8] = [],
        revision: UInt64 = 0,
        committed: Instant = Instant(milliseconds: 0),
        originClientID: [UInt8] = [],
        bookmark: Bookmark? = nil
    ) {
        self.transaction = transaction
        self.kind = kind
        self.cursor = cursor
        self.revision = revision
        self.committed = committed
        self.originClientID = originClientID
        self.bookmark = bookmark
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.transaction == nil && self.kind == .unspecified && self.cursor.isEmpty && self.revision == 0 && self.committed.milliseconds == 0 && self.originClientID.isEmpty && self.bookmark == nil }
}

/// Restores.
package struct SyncRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(app: AppReference = AppReference(), account: String = "", idempotencyKey: [UInt8] = []) {
        self.app = app
        self.account = account
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.idempotencyKey.isEmpty }
}

/// Asks for a refund.
package struct RefundRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// Which transaction.
    package var transactionID: UInt64
    /// Why; unspecified means other.
    package var reason: RevocationReason
    /// The customer's text. `REJECT` with the reason other is declined.
    package var text: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        transactionID: UInt64 = 0,
        reason: RevocationReason = .unspecified,
        text: String = "",
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.transactionID = transactionID
        self.reason = reason
        self.text = text
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.transactionID == 0 && self.reason == .unspecified && self.text.isEmpty && self.idempotencyKey.isEmpty }
}

/// What became of it.
package struct RefundAnswer: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?
    /// Whether the refund was approved.
    package var isApproved: Bool
    /// The transaction, revoked or unchanged.
    package var transaction: Verified<Transaction>?

    package init(position: Position? = nil, isApproved: Bool = false, transaction: Verified<Transaction>? = nil) {
        self.position = position
        self.isApproved = isApproved
        self.transaction = transaction
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && !self.isApproved && self.transaction == nil }
}

/// Redeems an offer code.
package struct RedeemOfferCodeRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account. An account that does not exist is created.
    package var account: String
    /// A code of the offer, or the offer's reference name.
    package var code: String
    /// The product, if several have a code of that name; otherwise empty.
    package var productID: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        code: String = "",
        productID: String = "",
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.code = code
        self.productID = productID
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.code.isEmpty && self.productID.isEmpty && self.idempotencyKey.isEmpty }
}

/// It is redeemed.
package struct RedeemedCode: Hashable, Sendable {
    /// Where the change stands.
    package var position: Position?
    /// The new transaction, or the current one while the offer waits for the next period. It arrives on TransactionUpdates
    /// too.
    package var transaction: Verified<Transaction>?
    /// The offer applies from the next period.
    package var appliesAtRenewal: Bool

    package init(position: Position? = nil, transaction: Verified<Transaction>? = nil, appliesAtRenewal: Bool = false) {
        self.position = position
        self.transaction = transaction
        self.appliesAtRenewal = appliesAtRenewal
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.position == nil && self.transaction == nil && !self.appliesAtRenewal }
}

/// Switches renewal on or off.
package struct ManageSubscriptionsRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The product of the account's subscription.
    package var productID: String
    /// On or off.
    package var isAutoRenewOn: Bool
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        isAutoRenewOn: Bool = false,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.isAutoRenewOn = isAutoRenewOn
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && !self.isAutoRenewOn && self.idempotencyKey.isEmpty }
}

/// Resolves a billing issue.
package struct ResolveBillingIssueRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The product of the account's subscription.
    package var productID: String
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && self.idempotencyKey.isEmpty }
}

/// Answers a price increase.
package struct AnswerPriceIncreaseRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The product of the account's subscription.
    package var productID: String
    /// Whether the customer agrees. Without consent the subscription ends with its period.
    package var agrees: Bool
    /// Makes the call safe to repeat. Up to 64 bytes.
    package var idempotencyKey: [UInt8]

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        productID: String = "",
        agrees: Bool = false,
        idempotencyKey: [UInt8] = []
    ) {
        self.app = app
        self.account = account
        self.productID = productID
        self.agrees = agrees
        self.idempotencyKey = idempotencyKey
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.productID.isEmpty && !self.agrees && self.idempotencyKey.isEmpty }
}

/// Asks for the app transaction.
package struct AppTransactionRequest: Hashable, Sendable {
    /// The app.
    package var app: AppReference
    /// The caller's key of the account.
    package var account: String
    /// The server answers when it has reached this position.
    package var atLeast: Position?
    /// Whether test apps fill `jws`.
    package var includesJWS: Bool

    package init(
        app: AppReference = AppReference(),
        account: String = "",
        atLeast: Position? = nil,
        includesJWS: Bool = false
    ) {
        self.app = app
        self.account = account
        self.atLeast = atLeast
        self.includesJWS = includesJWS
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.app.isBlank && self.account.isEmpty && self.atLeast == nil && !self.includesJWS }
}

/// The app transaction.
package struct AppTransactionAnswer: Hashable, Sendable {
    /// Unique for each account and app. Empty where it is not known: no report of the App Store has said it.
    package var appTransactionID: String
    /// The app.
    package var bundleID: String
    /// Its store.
    package var environment: AppEnvironment
    /// Unspecified: verified.
    package var failure: VerificationFailure
    /// Where the answer stands.
    package var position: Position
    /// Whether the account may make payments, as StoreKit's `canMakePayments`. False while payments of a test account are
    /// forbidden (`set_payments`): every purchase is then refused with `PURCHASE_NOT_ALLOWED`. False too while its charges are
    /// set to fail: every paid purchase is then refused so.
    package var canMakePayments: Bool
    /// The signed form (compact JWS), if the request asked for it and the app is a test app.
    package var jws: String
    /// The version that the customer got first; empty: unknown, as in apps whose purchases the App Store reports.
    package var originalAppVersion: String
    /// When the customer got the app first, in milliseconds since the Unix epoch.
    package var originalPurchaseDate: Instant?
    /// On what; unspecified: unknown.
    package var originalPlatform: AppPlatform
    /// Payments of the account are forbidden, whatever becomes of its charges.
    package var arePaymentsForbidden: Bool
    /// Whether the account may make payments, or that it is unknown: the App Store says it on the device only.
    package var paymentsEligibility: Eligibility

    package init(
        appTransactionID: String = "",
        bundleID: String = "",
        environment: AppEnvironment = .unspecified,
        failure: VerificationFailure = .unspecified,
        position: Position = .blank,
        canMakePayments: Bool = false,
        jws: String = "",
        originalAppVersion: String = "",
        originalPurchaseDate: Instant? = nil,
        originalPlatform: AppPlatform = .unspecified,
        arePaymentsForbidden: Bool = false,
        paymentsEligibility: Eligibility = .unspecified
    ) {
        self.appTransactionID = appTransactionID
        self.bundleID = bundleID
        self.environment = environment
        self.failure = failure
        self.position = position
        self.canMakePayments = canMakePayments
        self.jws = jws
        self.originalAppVersion = originalAppVersion
        self.originalPurchaseDate = originalPurchaseDate
        self.originalPlatform = originalPlatform
        self.arePaymentsForbidden = arePaymentsForbidden
        self.paymentsEligibility = paymentsEligibility
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.appTransactionID.isEmpty && self.bundleID.isEmpty && self.environment == .unspecified && self.failure == .unspecified && self.position.isBlank && !self.canMakePayments && self.jws.isEmpty && self.originalAppVersion.isEmpty && self.originalPurchaseDate == nil && self.originalPlatform == .unspecified && !self.arePaymentsForbidden && self.paymentsEligibility == .unspecified }
}

/// All purchase intents that wait.
package struct PurchaseIntentList: Hashable, Sendable {
    /// Oldest first. An intent disappears when its product is bought, or when it is ended.
    package var intents: [PurchaseIntent]

    package init(intents: [PurchaseIntent] = []) {
        self.intents = intents
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.intents.isEmpty }
}

/// All messages that matter now.
package struct StoreMessages: Hashable, Sendable {
    /// Oldest first.
    package var messages: [StoreMessage]

    package init(messages: [StoreMessage] = []) {
        self.messages = messages
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.messages.isEmpty }
}

/// Asks for several watches.
package struct WatchRequest: Hashable, Sendable {
    /// 1 to 256 watches, of any apps and accounts that the caller may read.
    package var watches: [Request]

    package init(watches: [Request] = []) {
        self.watches = watches
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.watches.isEmpty }
}

/// Kind 1. The first frame of a client, never compressed, at most 16 KiB.
package struct Hello: Hashable, Sendable {
    /// The version of this protocol that the client speaks: 1.
    package var protocolVersion: UInt32
    /// Credentials of the connection, in the form of the HTTP header of that name; empty for none.
    package var authorization: String
    /// Name and version of the client program, for the server's logs.
    package var clientName: String
    /// Encodings that the client can read. Identity is always understood and need not be listed.
    package var accepts: [Encoding]
    /// Requested seconds between heartbeats: 10 to 600; 0 for the server's default of 30.
    package var heartbeatSeconds: UInt32
    /// Up to 32 bytes that identify this client across its connections. Events caused by its own calls carry it as their
    /// origin, so that the client can skip them. Empty for none.
    package var clientID: [UInt8]

    package init(
        protocolVersion: UInt32 = 0,
        authorization: String = "",
        clientName: String = "",
        accepts: [Encoding] = [],
        heartbeatSeconds: UInt32 = 0,
        clientID: [UInt8] = []
    ) {
        self.protocolVersion = protocolVersion
        self.authorization = authorization
        self.clientName = clientName
        self.accepts = accepts
        self.heartbeatSeconds = heartbeatSeconds
        self.clientID = clientID
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.protocolVersion == 0 && self.authorization.isEmpty && self.clientName.isEmpty && self.accepts.isEmpty && self.heartbeatSeconds == 0 && self.clientID.isEmpty }
}

/// The limits that this server enforces.
package struct PeerLimits: Hashable, Sendable {
    /// Longest message, in bytes, compressed or inflated.
    package var frameBytes: UInt32
    /// Longest request of an ordinary method, in bytes.
    package var requestBytes: UInt32
    /// Longest request of the catalogue methods, in bytes.
    package var catalogRequestBytes: UInt32
    /// Calls that may be live on one connection.
    package var callsPerConnection: UInt32
    /// Milliseconds after which the server closes a connection that reads nothing while data waits for it.
    package var writeStallMilliseconds: UInt32

    package init(
        frameBytes: UInt32 = 0,
        requestBytes: UInt32 = 0,
        catalogRequestBytes: UInt32 = 0,
        callsPerConnection: UInt32 = 0,
        writeStallMilliseconds: UInt32 = 0
    ) {
        self.frameBytes = frameBytes
        self.requestBytes = requestBytes
        self.catalogRequestBytes = catalogRequestBytes
        self.callsPerConnection = callsPerConnection
        self.writeStallMilliseconds = writeStallMilliseconds
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.frameBytes == 0 && self.requestBytes == 0 && self.catalogRequestBytes == 0 && self.callsPerConnection == 0 && self.writeStallMilliseconds == 0 }
}

/// Kind 2. The server's answer to Hello.
package struct Welcome: Hashable, Sendable {
    /// Version of the server program.
    package var serverVersion: String
    /// Identity of the store behind this server: 16 bytes.
    package var storeID: [UInt8]
    /// Changes with each restore of the store from a backup. Tokens of another epoch are refused.
    package var epoch: UInt32
    /// The revision at which this connection starts.
    package var revision: UInt64
    /// The limits in force.
    package var limits: PeerLimits?
    /// Seconds between heartbeats on this connection.
    package var heartbeatSeconds: UInt32
    /// Encodings that the server can read.
    package var accepts: [Encoding]
    /// The server's wall clock, in milliseconds since the Unix epoch.
    package var serverTime: Instant

    package init(
        serverVersion: String = "",
        storeID: [UInt8] = [],
        epoch: UInt32 = 0,
        revision: UInt64 = 0,
        limits: PeerLimits? = nil,
        heartbeatSeconds: UInt32 = 0,
        accepts: [Encoding] = [],
        serverTime: Instant = Instant(milliseconds: 0)
    ) {
        self.serverVersion = serverVersion
        self.storeID = storeID
        self.epoch = epoch
        self.revision = revision
        self.limits = limits
        self.heartbeatSeconds = heartbeatSeconds
        self.accepts = accepts
        self.serverTime = serverTime
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.serverVersion.isEmpty && self.storeID.isEmpty && self.epoch == 0 && self.revision == 0 && self.limits == nil && self.heartbeatSeconds == 0 && self.accepts.isEmpty && self.serverTime.milliseconds == 0 }
}

/// One entry of call metadata.
package struct Metadata: Hashable, Sendable {
    /// Lower-case name, as in gRPC.
    package var key: String
    /// Value.
    package var value: [UInt8]

    package init(key: String = "", value: [UInt8] = []) {
        self.key = key
        self.value = value
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.key.isEmpty && self.value.isEmpty }
}

/// One named value of a status: a limit, the value found, the setting that changes it.
package struct StatusDetail: Hashable, Sendable {
    /// Name, such as `limit`, `found`, `setting`, `field`. `README.md` lists them all.
    package var key: String
    /// Value, as text.
    package var value: String

    package init(key: String = "", value: String = "") {
        self.key = key
        self.value = value
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.key.isEmpty && self.value.isEmpty }
}

/// Kind 5. Ends a call.
package struct Status: Hashable, Sendable {
    /// A gRPC status code: 0 is OK.
    package var code: Int32
    /// A text for users: what happened, with the numbers, and the next step.
    package var message: String
    /// The reason code, from the table in proto/README.md, such as `FRAME_TOO_LONG`; empty with OK.
    package var reason: String
    /// The numbers of `message`, for programs.
    package var details: [StatusDetail]

    package init(code: Int32 = 0, message: String = "", reason: String = "", details: [StatusDetail] = []) {
        self.code = code
        self.message = message
        self.reason = reason
        self.details = details
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.code == 0 && self.message.isEmpty && self.reason.isEmpty && self.details.isEmpty }
}

/// Kind 7. The heartbeat, and the end of a group of values that changed together.
package struct Beat: Hashable, Sendable {
    /// The server has sent everything up to this revision that concerns the open watches of this connection. It does not rise
    /// while a watch of the connection is in failure: the BEAT then ends a group, and shows that the connection lives.
    package var revision: UInt64
    /// The server's wall clock, in milliseconds since the Unix epoch.
    package var serverTime: Instant

    package init(revision: UInt64 = 0, serverTime: Instant = Instant(milliseconds: 0)) {
        self.revision = revision
        self.serverTime = serverTime
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.revision == 0 && self.serverTime.milliseconds == 0 }
}

/// Kind 10. The server is about to stop, or to close this connection.
package struct Drain: Hashable, Sendable {
    /// The reason code, from the table in proto/README.md, such as `SHUTTING_DOWN`.
    package var reason: String
    /// A text for users: what happened, with the numbers, and the next step.
    package var message: String
    /// Minimum milliseconds before the client reconnects.
    package var reconnectAfterMilliseconds: UInt32
    /// Maximum milliseconds of a random time to add.
    package var jitterMilliseconds: UInt32
    /// True: the connection closes now. False: each call continues until its status.
    package var isFinal: Bool
    /// The numbers of `message`, for programs.
    package var details: [StatusDetail]

    package init(
        reason: String = "",
        message: String = "",
        reconnectAfterMilliseconds: UInt32 = 0,
        jitterMilliseconds: UInt32 = 0,
        isFinal: Bool = false,
        details: [StatusDetail] = []
    ) {
        self.reason = reason
        self.message = message
        self.reconnectAfterMilliseconds = reconnectAfterMilliseconds
        self.jitterMilliseconds = jitterMilliseconds
        self.isFinal = isFinal
        self.details = details
    }

    /// Whether it says nothing, and is left out of the message around it.
    package var isBlank: Bool { self.reason.isEmpty && self.message.isEmpty && self.reconnectAfterMilliseconds == 0 && self.jitterMilliseconds == 0 && !self.isFinal && self.details.isEmpty }
}
