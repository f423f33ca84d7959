public import PerchModel
package import PerchWire

/// The record of an account in a test store.
public struct AccountDetails: Hashable, Sendable {
    /// A subscription group with a line of the account, and its statuses.
    public struct Group: Hashable, Sendable {
        /// Identifier of the subscription group.
        public var id: String
        /// The statuses of the account in the group.
        public var statuses: SubscriptionStatuses

        /// Creates a group from its parts, for tests.
        public init(id: String, statuses: SubscriptionStatuses) {
            self.id = id
            self.statuses = statuses
        }
    }

    /// A purchase that the account shares with a family member.
    public struct Share: Hashable, Sendable {
        /// The first transaction of the purchaser's line, or its transaction of a non-consumable.
        public var originalTransactionID: TransactionID
        /// The first transaction of the member's copy.
        public var memberOriginalTransactionID: TransactionID

        /// Creates a share from its parts, for tests.
        public init(originalTransactionID: TransactionID, memberOriginalTransactionID: TransactionID) {
            self.originalTransactionID = originalTransactionID
            self.memberOriginalTransactionID = memberOriginalTransactionID
        }
    }

    /// Subscription groups in which the account has a line.
    public var groups: [Group]
    /// Owned products without an end.
    public var owned: [Verified<Transaction>]
    /// Pending purchases, oldest first.
    public var pendingPurchases: [PendingPurchase]
    /// Purchases begun outside the app, oldest first.
    public var purchaseIntents: [PurchaseIntent]
    /// Purchases that the account shares.
    public var shares: [Share]
    /// Storefront of the account; empty for that of the app.
    public var storefront: String
    /// Whether charges of the account succeed or fail.
    public var charges: ChargeOutcome
    /// Identifier of the app transaction: one for each account and app.
    public var appTransactionID: String
    /// Shared non-consumables that the next `sync` of the account delivers.
    public var awaitingSync: [Verified<Transaction>]
    /// Whether the account may make no payments.
    public var arePaymentsForbidden: Bool
    /// The offers of codes that it has redeemed, oldest first.
    public var redeemedOffers: [RedeemedOffer]

    package init(_ inspection: AccountInspection) {
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
        self.arePaymentsForbidden = inspection.arePaymentsForbidden
        self.redeemedOffers = inspection.redeemedOffers
    }
}
