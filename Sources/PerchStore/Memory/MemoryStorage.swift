package import PerchBase
package import PerchModel

/// Storage that forgets when the process ends: for development (`--store memory`), for the simulator and for tests.
///
/// Passes the same contract suite as every other storage. Owned by one thread.
package final class MemoryStorage: Storage {
    // Unchecked: no method of it calls back. With the checks a purchase costs 2 % more instructions, and 2.5 % more where 256 share a
    // tick (`pushcost once`, `mux`).
    @exclusivity(unchecked) private var tables: MemoryTables
    /// For tests: the next commit throws this and undoes its batch.
    package var nextCommitFailure: StorageError?
    /// For tests: a medium to ask for space.
    package var maintenance: (any StoreMaintenance)?
    /// For tests: false has the engine keep a cache all the same.
    package var holdsRecords = true

    package init(identity: StoreIdentity) { self.tables = MemoryTables(identity: identity) }

    package func header() -> StoreHeader { self.tables.header() }
    package func appStates() -> [StoredAppState] { self.tables.appStates() }

    package func appState(_ app: AppNumber, inForceAt instant: Instant) -> StoredAppState? {
        self.tables.appState(app, inForceAt: instant)
    }

    package func appState(_ app: AppNumber, at revision: UInt64) -> StoredAppState? {
        self.tables.appState(app, at: revision)
    }

    package func image(_ app: AppNumber, _ hash: ContentHash) -> [UInt8]? { self.tables.image(app, hash) }

    package func account(_ key: AccountKey) -> AccountNumber? { self.tables.account(key) }
    package func account(_ key: OrderAccount, app: AppNumber) -> AccountNumber? { self.tables.account(key, app: app) }

    package func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        self.tables.keys(of: app, after: key, limit: limit)
    }

    package func record(_ account: AccountNumber) -> AccountRecord? { self.tables.record(account) }

    /// Numbers are those of a store beside it, if it keeps guests, so many of them may be behind its last account.
    package func records(
        from account: AccountNumber, before end: AccountNumber, limit: Int
    ) -> (records: [AccountRecord], next: AccountNumber) {
        let bound = min(end, AccountNumber(self.tables.accounts.count))
        guard account < bound else { return ([], end) }
        let next = account + min(bound - account, AccountNumber(limit))
        let records = (account..<next).compactMap { self.tables.record($0) }
        return (records, next == bound ? end : next)
    }

    package func transaction(_ app: AppNumber, _ id: TransactionID) -> TransactionRow? {
        self.tables.transaction(app, id)
    }

    package func transactions(of account: AccountNumber, _ query: TransactionQuery) -> [TransactionRow] {
        self.tables.transactions(of: account, query)
    }

    package func events(of account: AccountNumber, after place: EventPlace, limit: Int) -> [AccountEvent] {
        self.tables.events(of: account, after: place, limit: limit)
    }

    package func facts(of account: AccountNumber) -> [Fact] { self.tables.facts(of: account) }

    package func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) -> [DatedFact] {
        self.tables.facts(of: account, after: first, through: revision, limit: limit)
    }

    package func facts(ofRevision revision: UInt64) -> [StoredFact] { self.tables.facts(ofRevision: revision) }

    package func key(of account: AccountNumber) -> [UInt8]? { self.tables.key(of: account) }
    package func names(of account: AccountNumber) -> [AccountKey] { self.tables.aliases.names(of: account) }
    package func answers(keptAt instant: Instant) -> [KeyedAnswer] { self.tables.answers(keptAt: instant) }

    package func crossings(
        _ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int
    ) -> [DueEntry] {
        self.tables.crossings(app, after: entry, through: instant, limit: limit)
    }

    package func commitRows(after revision: UInt64, limit: Int) -> [CommitRow]? {
        self.tables.commitRows(after: revision, limit: limit)
    }

    package func commitTime(of revision: UInt64) -> Instant? { self.tables.commitTime(of: revision) }

    package func due(_ app: AppNumber, through instant: Instant, limit: Int) -> [DueEntry] {
        self.tables.due(app, through: instant, limit: limit)
    }

    package func earliestDue(_ app: AppNumber) -> Instant? { self.tables.earliestDue(app) }
    package func answer(to key: MutationKey) -> KeptAnswer? { self.tables.answer(to: key) }
    package func item(_ key: ItemKey) -> StoredItem? { self.tables.items[key].map { StoredItem(key, $0) } }

    package func items(_ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int) -> [StoredItem] {
        self.tables.items.items(kind, group: group, after: key, limit: limit)
    }

    package func itemCount(_ kind: ItemKind, group: [UInt8]) -> Int { self.tables.items.count(kind, group: group) }

    package func revokedTokens() -> [RevokedToken] { self.tables.revokedTokens() }

    package func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]? {
        try self.tables.commitRows(after: revision, limit: limit).map { (row) throws(StorageError) in
            try self.change(row, facts: self.tables.facts(ofRevision: row.revision))
        }
    }

    package func warm(_ requests: [StoreRequest], from start: Int) { self.tables.prefetch(requests, from: start) }

    package func begin() { self.tables.begin() }
    package func apply(_ change: StoredChange) { self.tables.apply(change) }
    package func apply(_ purchase: StoredPurchase) { self.tables.apply(purchase) }
    package func keep(_ answer: KeptAnswer, for key: MutationKey) { self.tables.keep(answer, for: key) }
    package func setLease(until instant: Instant) { self.tables.setLease(until: instant) }
    package func forgetRevokedTokens(before instant: Instant) { self.tables.forgetRevokedTokens(before: instant) }
    package func forgetAnswers(before instant: Instant) { self.tables.forgetAnswers(before: instant) }

    package func forgetCrossings(_ app: AppNumber, through entry: DueEntry) {
        self.tables.forgetCrossings(app, through: entry)
    }

    package func commit() throws(StorageError) {
        if let failure = self.nextCommitFailure {
            self.nextCommitFailure = nil
            self.tables.rollback()
            throw failure
        }
        self.tables.commit()
    }

    package func rollback() { self.tables.rollback() }
    package func close() {}
}
