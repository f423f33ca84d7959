package import PerchBase

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
    /// Groups in which a transaction of this account carried an introductory offer.
    package var introductoryGroups: [String] = []

    package init(account: AccountNumber, app: AppNumber) {
        self.account = account
        self.app = app
    }

    /// Lines and owned products: what the record limit counts.
    package var entryCount: Int { self.lines.count + self.owned.count }

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
