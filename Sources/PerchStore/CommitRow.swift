package import PerchBase
package import PerchModel

/// A commit as its own row describes it: what a storage reads first of a change for the feed.
package struct CommitRow: Sendable {
    package var revision: UInt64
    package var committed: Instant
    package var app: AppNumber
    package var nextTransaction: TransactionID
    package var nextAccount: AccountNumber
    package var detail: CommitDetail?

    package init(
        revision: UInt64, committed: Instant, app: AppNumber, nextTransaction: TransactionID,
        nextAccount: AccountNumber, detail: CommitDetail?
    ) {
        self.revision = revision
        self.committed = committed
        self.app = app
        self.nextTransaction = nextTransaction
        self.nextAccount = nextAccount
        self.detail = detail
    }
}

extension Storage {
    /// Rebuilds a committed change from its row and its facts. The records are folded from the facts of their accounts:
    /// only the newest record is stored, and a feed of a local store is read seldom.
    package func change(_ row: CommitRow, facts: [StoredFact]) throws(StorageError) -> StoredChange {
        var change = StoredChange(
            revision: row.revision, committed: row.committed, app: row.app, nextTransaction: row.nextTransaction,
            nextAccount: row.nextAccount)
        change.facts = facts
        if let detail = row.detail { change.add(detail) }
        guard row.app != 0, let app = try self.appState(row.app, at: row.revision) else { return change }
        if app.state.revision == row.revision { change.app = app }
        var last: AccountNumber?
        for stored in facts where stored.account != last {
            last = stored.account
            change.records.append(try self.record(of: stored.account, at: row, isTestApp: app.state.isTestApp))
        }
        return change
    }

    private func record(
        of account: AccountNumber, at row: CommitRow, isTestApp: Bool
    ) throws(StorageError) -> StoredRecord {
        let history = try self.facts(of: account, after: 0, through: row.revision, limit: .max)
        let first = history.partitioningIndex { $0.revision >= row.revision }
        var record = AccountRecord(account: account, app: row.app)
        for dated in history[..<first] { record.apply(dated.fact) }
        let previousDue = isTestApp && first > 0 ? record.attemptDue : nil
        record.fold(history[first...].map(\.fact), revision: row.revision, committed: row.committed)
        return StoredRecord(record, due: isTestApp ? record.attemptDue : nil, previousDue: previousDue)
    }
}
