import PerchBase
import PerchModel
import PerchStore

/// A database that several nodes write to: tables, and a feed of sealed changes.
final class SharedDatabase {
    let tables = MemoryStorage(identity: StoreIdentity(high: 3, low: 4))
    var feed: [UInt64: [UInt8]] = [:]

    func node() -> SharedNode { SharedNode(self) }
}

/// One node's connection to a shared database. The test scripts how its commits end.
final class SharedNode: Storage {
    enum CommitFault {
        /// Another node is first: it runs now.
        case superseded(() -> Void)
        case unreachable
        /// The connection breaks. `outcomeFailures`: questions for the outcome that break too.
        case unknown(isWritten: Bool, outcomeFailures: Int = 0)
    }

    let database: SharedDatabase
    /// How the next commits end, in order. Empty: they succeed.
    var faults: [CommitFault] = []
    /// Nothing is reached while this is set.
    var isCut = false
    /// Barriers that break.
    var sealFailures = 0
    /// Runs while the engine asks for the outcome of a commit.
    var whileOutcomeIsUnknown: (() -> Void)?
    private(set) var plans: [ReadPlan] = []
    /// Point reads that no plan of this tick holds.
    private(set) var unplannedReads: [String] = []
    private var outcomeFailures = 0
    private var pending: [StoredChange] = []
    private var tables: MemoryStorage { self.database.tables }

    init(_ database: SharedDatabase) { self.database = database }

    let isShared = true

    func forgetReads() {
        self.plans = []
        self.unplannedReads = []
    }

    private func reach() throws(StorageError) {
        if self.isCut { throw .unreachable("the test has cut the connection") }
    }

    private func note(_ name: String, isPlanned: (ReadPlan) -> Bool) {
        if !self.plans.contains(where: isPlanned) { self.unplannedReads.append(name) }
    }

    // MARK: Reads

    func prefetch(_ requests: [StoreRequest], accounts: [AccountNumber]) throws(StorageError) {
        try self.reach()
        self.plans.append(ReadPlan(requests: requests, accounts: accounts))
    }

    func header() -> StoreHeader { self.tables.header() }
    func appStates() -> [StoredAppState] { self.tables.appStates() }

    func appState(_ app: AppNumber, inForceAt instant: Instant) throws(StorageError) -> StoredAppState? {
        try self.reach()
        return self.tables.appState(app, inForceAt: instant)
    }

    func appState(_ app: AppNumber, at revision: UInt64) throws(StorageError) -> StoredAppState? {
        try self.reach()
        return self.tables.appState(app, at: revision)
    }

    func image(_ app: AppNumber, _ hash: ContentHash) -> [UInt8]? { self.tables.image(app, hash) }

    func account(_ key: AccountKey) throws(StorageError) -> AccountNumber? {
        try self.reach()
        self.note("account \(key.bytes)") { $0.keys.contains(key) }
        return self.tables.account(key)
    }

    func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        self.tables.keys(of: app, after: key, limit: limit)
    }

    func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        try self.reach()
        self.note("record \(account)") { plan in
            plan.accounts.contains(account) || plan.keys.contains { self.tables.account($0) == account }
                || plan.transactions.contains { self.tables.transaction($0.app, $0.id)?.account == account }
        }
        return self.tables.record(account)
    }

    func transaction(_ app: AppNumber, _ id: TransactionID) throws(StorageError) -> TransactionRow? {
        try self.reach()
        self.note("transaction \(id)") { $0.transactions.contains(ReadPlan.TransactionName(app: app, id: id)) }
        return self.tables.transaction(app, id)
    }

    func transactions(of account: AccountNumber, _ query: TransactionQuery) throws(StorageError) -> [TransactionRow] {
        try self.reach()
        return self.tables.transactions(of: account, query)
    }

    func events(of account: AccountNumber, after place: EventPlace, limit: Int) -> [AccountEvent] {
        self.tables.events(of: account, after: place, limit: limit)
    }

    func facts(of account: AccountNumber) -> [Fact] { self.tables.facts(of: account) }

    func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) -> [DatedFact] {
        self.tables.facts(of: account, after: first, through: revision, limit: limit)
    }

    func facts(ofRevision revision: UInt64) throws(StorageError) -> [StoredFact] {
        try self.reach()
        return self.tables.facts(ofRevision: revision)
    }

    func key(of account: AccountNumber) -> [UInt8]? { self.tables.key(of: account) }
    func names(of account: AccountNumber) -> [AccountKey] { self.tables.names(of: account) }
    func answers(keptAt instant: Instant) -> [KeyedAnswer] { self.tables.answers(keptAt: instant) }

    func crossings(_ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int) -> [DueEntry] {
        self.tables.crossings(app, after: entry, through: instant, limit: limit)
    }

    func commitRows(after revision: UInt64, limit: Int) throws(StorageError) -> [CommitRow]? {
        try self.reach()
        return self.tables.commitRows(after: revision, limit: limit)
    }

    func commitTime(of revision: UInt64) -> Instant? { self.tables.commitTime(of: revision) }

    func due(_ app: AppNumber, through instant: Instant, limit: Int) throws(StorageError) -> [DueEntry] {
        try self.reach()
        return self.tables.due(app, through: instant, limit: limit)
    }

    func earliestDue(_ app: AppNumber) -> Instant? { self.tables.earliestDue(app) }

    func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer? {
        try self.reach()
        self.note("answer \(key.bytes)") { $0.answers.contains(key) }
        return self.tables.answer(to: key)
    }

    func item(_ key: ItemKey) -> StoredItem? { self.tables.item(key) }

    func items(_ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int) -> [StoredItem] {
        self.tables.items(kind, group: group, after: key, limit: limit)
    }

    func itemCount(_ kind: ItemKind, group: [UInt8]) -> Int { self.tables.itemCount(kind, group: group) }

    func revokedTokens() -> [RevokedToken] { self.tables.revokedTokens() }

    func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]? {
        try self.reach()
        var changes: [StoredChange] = []
        var next = revision + 1
        while changes.count < limit, let blob = self.database.feed[next] {
            do throws(DecodingFault) {
                changes.append(
                    try StoredChange(unsealing: blob, revision: next) { (app, revision) throws(DecodingFault) in
                        guard let state = self.tables.appState(app, at: revision) else {
                            throw .invalid("catalogue", atOffset: 0)
                        }
                        return state.state.catalogue
                    })
            } catch {
                throw .corrupt("revision \(next) of the feed: \(error)")
            }
            next += 1
        }
        return changes
    }

    // MARK: Writes

    func begin() throws(StorageError) {
        try self.reach()
        self.pending = []
        self.tables.begin()
    }

    func apply(_ change: StoredChange) {
        self.tables.apply(change)
        self.pending.append(change)
    }

    func keep(_ answer: KeptAnswer, for key: MutationKey) { self.tables.keep(answer, for: key) }
    func setLease(until instant: Instant) { self.tables.setLease(until: instant) }
    func forgetRevokedTokens(before instant: Instant) { self.tables.forgetRevokedTokens(before: instant) }
    func forgetAnswers(before instant: Instant) { self.tables.forgetAnswers(before: instant) }

    func forgetCrossings(_ app: AppNumber, through entry: DueEntry) {
        self.tables.forgetCrossings(app, through: entry)
    }

    func commit() throws(StorageError) {
        guard !self.faults.isEmpty else { return try self.write() }
        switch self.faults.removeFirst() {
        case .superseded(let other):
            self.tables.rollback()
            other()
            throw .superseded
        case .unreachable:
            self.tables.rollback()
            throw .unreachable("the test lets a commit fail")
        case .unknown(let isWritten, let outcomeFailures):
            self.outcomeFailures = outcomeFailures
            if isWritten { try self.write() } else { self.tables.rollback() }
            throw .unknown("the test breaks the connection")
        }
    }

    private func write() throws(StorageError) {
        try self.tables.commit()
        for change in self.pending { self.database.feed[change.revision] = change.sealed() }
    }

    func hasCommitted(_ revision: UInt64) throws(StorageError) -> Bool {
        if self.outcomeFailures > 0 {
            self.outcomeFailures -= 1
            throw .unreachable("the test lets the question fail")
        }
        self.whileOutcomeIsUnknown?()
        return self.database.feed[revision] == self.pending.last?.sealed()
    }

    func seal() throws(StorageError) {
        guard self.sealFailures > 0 else { return }
        self.sealFailures -= 1
        throw .unreachable("the test lets a barrier fail")
    }

    func rollback() { self.tables.rollback() }
    func close() {}
}
