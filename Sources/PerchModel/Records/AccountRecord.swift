package import PerchBase

/// What happened to an account in a subscription group, as far as offers ask for it.
package struct GroupHistory: Hashable, Sendable {
    package var groupID: String
    /// A transaction of this account carried an introductory offer.
    package var hadIntroductoryOffer = false
    /// The length of all periods that were paid for.
    package var paidMilliseconds: Int64 = 0
    /// When a win-back offer was last redeemed.
    package var lastWinBack: Instant?

    package init(groupID: String) { self.groupID = groupID }
}

/// What the views of an account need from its facts: current, bounded, rebuilt from the facts by `apply`.
///
/// Transactions and the unfinished list are rows beside it.
package struct AccountRecord: Hashable, Sendable {
    package let account: AccountNumber
    package let app: AppNumber
    /// The revision that last changed this record; 0 before the first.
    package var revision: UInt64 = 0
    /// When that revision was committed, by the wall clock.
    package var committed = Instant(milliseconds: 0)
    /// One for each account and app.
    package var appTransactionID = ""
    /// Own lines and shared ones, in the order in which they began.
    package var lines: [Line] = []
    /// The latest transaction, not revoked, of each non-consumable and non-renewing product, by product.
    package var owned: [Transaction] = []
    /// In the order in which the groups were first bought in.
    package var histories: [GroupHistory] = []
    /// Purchases that wait for somebody, oldest first.
    package var pendingPurchases: [PendingPurchase] = []
    /// Purchases that were begun outside the app, oldest first.
    package var intents: [PurchaseIntent] = []
    /// What this account shares with others, in the order in which that began.
    package var shares: [FamilyShare] = []
    /// Shared with this account after it was bought: it comes with the next `Sync`.
    package var awaitingSync: [Transaction] = []
    /// Alpha-3; empty for the app's.
    package var storefront = ""
    /// Whether this account's charges fail; nil: as the app's setting says.
    package var chargesFail: Bool?
    /// When a message without a reason of its own was last posted.
    package var messagePosted: Instant?

    package init(account: AccountNumber, app: AppNumber) {
        self.account = account
        self.app = app
    }

    /// Lines, owned products and what waits: what the record limit counts.
    package var entryCount: Int {
        self.lines.count + self.owned.count + self.pendingPurchases.count + self.intents.count + self.shares.count
            + self.awaitingSync.count
    }

    package func history(ofGroup group: String) -> GroupHistory? {
        self.histories.first { $0.groupID == group }
    }

    /// When the store next has to attempt a renewal for this account.
    package var attemptDue: Instant? {
        self.lines.lazy.compactMap(\.attemptDue).min()
    }

    package func ownLineIndex(inGroup group: String) -> Int? {
        self.lines.firstIndex { $0.isOwn && $0.groupID == group }
    }

    package func lineIndex(original id: TransactionID) -> Int? {
        self.lines.firstIndex { $0.originalID == id }
    }
}
