public import PerchModel
import PerchWire

/// What a test store knows of an account.
public struct AccountDetails: Hashable, Sendable {
    /// A group in which the account has a line, and its statuses.
    public struct Group: Hashable, Sendable {
        public var id: String
        public var statuses: SubscriptionStatuses

        public init(id: String, statuses: SubscriptionStatuses) {
            self.id = id
            self.statuses = statuses
        }
    }

    /// Something that the account shares with another.
    public struct Share: Hashable, Sendable {
        /// The first transaction of the purchaser's line, or its transaction of a non-consumable.
        public var originalTransactionID: TransactionID
        /// The same as the member has it.
        public var memberOriginalTransactionID: TransactionID

        public init(originalTransactionID: TransactionID, memberOriginalTransactionID: TransactionID) {
            self.originalTransactionID = originalTransactionID
            self.memberOriginalTransactionID = memberOriginalTransactionID
        }
    }

    public var groups: [Group]
    /// Products without an end that it owns.
    public var owned: [Verified<Transaction>]
    /// Purchases that wait, oldest first.
    public var pendingPurchases: [PendingPurchase]
    /// Purchases that were begun outside the app, oldest first.
    public var purchaseIntents: [PurchaseIntent]
    /// What it shares with others.
    public var shares: [Share]
    /// Its own storefront; empty for the app's.
    public var storefront: String
    /// Whether its charges fail.
    public var charges: ChargeOutcome
    /// One for each account and app.
    public var appTransactionID: String
    /// Non-consumables that are shared with it and come with its next `sync`.
    public var awaitingSync: [Verified<Transaction>]

    init(_ inspection: AccountInspection) {
        self.groups = inspection.groups.map { Group(id: $0.groupID, statuses: $0.statuses) }
        self.owned = inspection.owned
        self.pendingPurchases = inspection.pendingPurchases
        self.purchaseIntents = inspection.intents
        self.shares = inspection.shares.map {
            Share(originalTransactionID: $0.original, memberOriginalTransactionID: $0.memberOriginal)
        }
        self.storefront = inspection.storefront
        self.charges = inspection.charges
        self.appTransactionID = inspection.appTransactionID
        self.awaitingSync = inspection.awaitingSync
    }
}
