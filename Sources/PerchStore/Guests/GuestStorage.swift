package import PerchBase
package import PerchModel

/// A store's storage, with guests beside it: apps that are kept in memory and never written to the store.
///
/// A change of a guest reaches the store as its revision alone, so that revisions and numbers of transactions and accounts stay
/// unique, and a guest leaves no key, no fact and no catalogue behind. Lines of the audit trail about guests are not kept.
package final class GuestStorage: Storage {
    private let store: any Storage
    private let memory: MemoryStorage
    private var guests: Set<AppNumber> = []
    /// The guests of the open batch.
    private var opened: [AppNumber] = []

    package init(beside store: any Storage) throws(StorageError) {
        self.store = store
        self.memory = MemoryStorage(identity: try store.header().identity)
    }

    private func keeper(of app: AppNumber) -> any Storage { self.guests.contains(app) ? self.memory : self.store }

    private func keeper(of account: AccountNumber) -> any Storage {
        guard !self.guests.isEmpty else { return self.store }
        return self.memory.record(account) != nil || self.memory.key(of: account) != nil ? self.memory : self.store
    }

    private func keeper(of kind: ItemKind, group: [UInt8]) -> any Storage {
        guard !self.guests.isEmpty, ItemKind.ofApps.contains(kind) else { return self.store }
        return self.guests.contains { group.starts(with: ItemKey.appGroup($0)) } ? self.memory : self.store
    }

    // MARK: Reads

    package func header() throws(StorageError) -> StoreHeader { try self.store.header() }
    package func appStates() throws(StorageError) -> [StoredAppState] {
        try self.store.appStates() + self.memory.appStates()
    }

    package func appState(_ app: AppNumber, inForceAt instant: Instant) throws(StorageError) -> StoredAppState? {
        try self.keeper(of: app).appState(app, inForceAt: instant)
    }

    package func appState(_ app: AppNumber, at revision: UInt64) throws(StorageError) -> StoredAppState? {
        try self.keeper(of: app).appState(app, at: revision)
    }

    package func image(_ app: AppNumber, _ hash: ContentHash) throws(StorageError) -> [UInt8]? {
        try self.keeper(of: app).image(app, hash)
    }

    package func account(_ key: AccountKey) throws(StorageError) -> AccountNumber? {
        try self.keeper(of: key.app).account(key)
    }

    package func account(_ key: OrderAccount, app: AppNumber) throws(StorageError) -> AccountNumber? {
        try self.keeper(of: app).account(key, app: app)
    }

    package func key(of account: AccountNumber) throws(StorageError) -> [UInt8]? {
        try self.keeper(of: account).key(of: account)
    }

    package func names(of account: AccountNumber) throws(StorageError) -> [AccountKey] {
        try self.keeper(of: account).names(of: account)
    }

    package func names(of accounts: [AccountNumber]) throws(StorageError) -> [[AccountKey]] {
        guard !self.guests.isEmpty else { return try self.store.names(of: accounts) }
        return try accounts.map { account throws(StorageError) in try self.names(of: account) }
    }

    package func records(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber) {
        try self.keeper(of: app).records(of: app, from: account, before: end, limit: limit)
    }

    package var keepsSources: Bool { self.store.keepsSources }
    package func lacksSources() throws(StorageError) -> Bool { try self.store.lacksSources() }
    package func fillSources(limit: Int) throws(StorageError) { try self.store.fillSources(limit: limit) }

    package func sources(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> SourcesPage? {
        try self.keeper(of: app).sources(of: app, from: account, before: end, limit: limit)
    }

    package func keys(of app: AppNumber, after key: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]] {
        try self.keeper(of: app).keys(of: app, after: key, limit: limit)
    }

    package func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        try self.keeper(of: account).record(account)
    }

    package func transaction(_ app: AppNumber, _ id: TransactionID) throws(StorageError) -> TransactionRow? {
        try self.keeper(of: app).transaction(app, id)
    }

    package func transactions(
        of account: AccountNumber, _ query: TransactionQuery
    ) throws(StorageError) -> [TransactionRow] {
        try self.keeper(of: account).transactions(of: account, query)
    }

    package func events(
        of account: AccountNumber, after place: EventPlace, limit: Int
    ) throws(StorageError) -> [AccountEvent] {
        try self.keeper(of: account).events(of: account, after: place, limit: limit)
    }

    package func facts(of account: AccountNumber) throws(StorageError) -> [Fact] {
        try self.keeper(of: account).facts(of: account)
    }

    package func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) throws(StorageError) -> [DatedFact] {
        try self.keeper(of: account).facts(of: account, after: first, through: revision, limit: limit)
    }

    package func facts(ofRevision revision: UInt64) throws(StorageError) -> [StoredFact] {
        let own = self.memory.facts(ofRevision: revision)
        return own.isEmpty ? try self.store.facts(ofRevision: revision) : own
    }

    package func commitTime(of revision: UInt64) throws(StorageError) -> Instant? {
        try self.store.commitTime(of: revision)
    }

    package func due(_ app: AppNumber, through instant: Instant, limit: Int) throws(StorageError) -> [DueEntry] {
        try self.keeper(of: app).due(app, through: instant, limit: limit)
    }

    package func earliestDue(_ app: AppNumber) throws(StorageError) -> Instant? {
        try self.keeper(of: app).earliestDue(app)
    }

    package func crossings(
        _ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int
    ) throws(StorageError) -> [DueEntry] {
        try self.keeper(of: app).crossings(app, after: entry, through: instant, limit: limit)
    }

    package func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer? {
        try self.keeper(of: key.app).answer(to: key)
    }

    package func answers(keptAt instant: Instant) throws(StorageError) -> [KeyedAnswer] {
        try self.store.answers(keptAt: instant) + self.memory.answers(keptAt: instant)
    }

    package func revokedTokens() throws(StorageError) -> [RevokedToken] { try self.store.revokedTokens() }

    package func item(_ key: ItemKey) throws(StorageError) -> StoredItem? {
        try self.keeper(of: key.kind, group: key.group).item(key)
    }

    package func items(
        _ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int
    ) throws(StorageError) -> [StoredItem] {
        try self.keeper(of: kind, group: group).items(kind, group: group, after: key, limit: limit)
    }

    package func itemCount(_ kind: ItemKind, group: [UInt8]) throws(StorageError) -> Int {
        try self.keeper(of: kind, group: group).itemCount(kind, group: group)
    }

    // MARK: The feed

    package func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]? {
        guard !self.guests.isEmpty else { return try self.store.changes(after: revision, limit: limit) }
        return try self.commitRows(after: revision, limit: limit)?.map { (row) throws(StorageError) in
            try self.change(row, facts: try self.facts(ofRevision: row.revision))
        }
    }

    /// The store has each revision; those of guests it has without contents.
    package func commitRows(after revision: UInt64, limit: Int) throws(StorageError) -> [CommitRow]? {
        guard let rows = try self.store.commitRows(after: revision, limit: limit) else { return nil }
        guard !self.guests.isEmpty else { return rows }
        return rows.map { row in
            guard row.app == 0,
                let own = self.memory.commitRows(after: row.revision - 1, limit: 1)?.first,
                own.revision == row.revision
            else { return row }
            return own
        }
    }

    package func hasCommitted(_ revision: UInt64) throws(StorageError) -> Bool {
        try self.store.hasCommitted(revision)
    }

    package func prefetch(_ requests: [StoreRequest], accounts: [AccountNumber]) throws(StorageError) {
        try self.store.prefetch(requests, accounts: accounts)
    }

    package func warm(_ requests: [StoreRequest], from start: Int) { self.store.warm(requests, from: start) }
    package func endReads() { self.store.endReads() }

    // MARK: Writes

    package func begin() throws(StorageError) {
        self.opened.removeAll()
        try self.store.begin()
        self.memory.begin()
    }

    package func apply(_ change: StoredChange) throws(StorageError) {
        if let state = change.app?.state, state.isGuest, self.guests.insert(state.number).inserted {
            self.opened.append(state.number)
        }
        guard self.guests.contains(change.appNumber) else { return try self.store.apply(change) }
        self.memory.apply(change)
        try self.store.apply(
            StoredChange(
                revision: change.revision, committed: change.committed, app: 0,
                nextTransaction: change.nextTransaction, nextAccount: change.nextAccount))
    }

    package func apply(_ purchase: StoredPurchase) throws(StorageError) {
        guard self.guests.contains(purchase.app) else { return try self.store.apply(purchase) }
        try self.apply(StoredChange(purchase))
    }

    package func keep(_ answer: KeptAnswer, for key: MutationKey) throws(StorageError) {
        try self.keeper(of: key.app).keep(answer, for: key)
    }

    package func setLease(until instant: Instant) throws(StorageError) { try self.store.setLease(until: instant) }

    package func forgetRevokedTokens(before instant: Instant) throws(StorageError) {
        try self.store.forgetRevokedTokens(before: instant)
    }

    package func forgetAnswers(before instant: Instant) throws(StorageError) {
        try self.store.forgetAnswers(before: instant)
        self.memory.forgetAnswers(before: instant)
    }

    package func forgetCrossings(_ app: AppNumber, through entry: DueEntry) throws(StorageError) {
        try self.keeper(of: app).forgetCrossings(app, through: entry)
    }

    package func commit() throws(StorageError) {
        try self.store.commit()
        try self.memory.commit()
        self.opened.removeAll()
    }

    package func rollback() {
        self.store.rollback()
        self.memory.rollback()
        self.guests.subtract(self.opened)
        self.opened.removeAll()
    }

    package func close() { self.store.close() }

    package var maintenance: (any StoreMaintenance)? { self.store.maintenance }
}
