package import PerchBase
package import PerchModel
package import PerchStore

/// A database that several nodes write to, on a primary and a standby: its tables, its log, and what of it the standby has.
package final class SharedDatabase {
    /// One committed batch, as a standby repeats it.
    struct Entry {
        var writes: [(MemoryStorage) throws(StorageError) -> Void]
        /// Its last revision, or that of the entry before.
        var revision: UInt64
        /// What has passed for all nodes after it.
        var passed: Instant
    }

    /// A change as the log has it. Two nodes may make the same one of the same revision, for two requests.
    struct Written: Equatable {
        var writer: Int
        var change: [UInt8]
    }

    private static let identity = StoreIdentity(high: 3, low: 4)
    fileprivate(set) var tables = MemoryStorage(identity: SharedDatabase.identity)
    fileprivate(set) var feed: [UInt64: Written] = [:]
    private(set) var log: [Entry] = []
    /// Entries that the standby has.
    private(set) var confirmed = 0
    /// The revision of the last of them.
    package var confirmedRevision: UInt64 { self.confirmed == 0 ? 0 : self.log[self.confirmed - 1].revision }
    /// The standby confirms commits. While it does not, a commit can become visible, and is not acknowledged.
    package var hasStandby = true
    /// The database's clock, which batches read under the lock; nil: it has none.
    package var clock: Instant?
    /// A node of the version before is at work, which does not know of instants that have passed.
    package var knowsCommitsOnly = false
    /// What has passed for all nodes.
    var passed: Instant { self.log.last?.passed ?? .distantPast }
    var confirmedPassed: Instant { self.confirmed == 0 ? .distantPast : self.log[self.confirmed - 1].passed }
    private var nodeCount = 0
    /// Another number for another primary.
    private(set) var primary = 1

    package init() {}

    package func node() -> SharedNode {
        self.nodeCount += 1
        return SharedNode(self, number: self.nodeCount)
    }

    /// Whether its writes survive a failover from now on.
    package func confirm() -> Bool {
        if self.hasStandby { self.confirmed = self.log.count }
        return self.hasStandby
    }

    fileprivate func append(
        _ writes: [(MemoryStorage) throws(StorageError) -> Void], _ changes: [StoredChange], raising passed: Instant?,
        by writer: Int
    ) {
        for change in changes { self.feed[change.revision] = Written(writer: writer, change: change.sealed()) }
        self.log.append(
            Entry(
                writes: writes, revision: changes.last?.revision ?? self.log.last?.revision ?? 0,
                passed: max(passed ?? .distantPast, self.passed)))
    }

    /// The primary is gone, and the standby takes its place with what it has.
    package func failOver() throws(StorageError) {
        self.log.removeSubrange(self.confirmed...)
        self.feed = self.feed.filter { $0.key <= self.confirmedRevision }
        self.tables = MemoryStorage(identity: Self.identity)
        for entry in self.log {
            self.tables.begin()
            for write in entry.writes { try write(self.tables) }
            try self.tables.commit()
        }
        self.primary += 1
    }
}

/// One node's connection to a shared database. The test scripts how its commits end.
package final class SharedNode: Storage {
    package enum CommitFault {
        /// Another node is first: it runs now.
        case superseded(() -> Void)
        case unreachable
        /// The connection breaks. `outcomeFailures`: questions for the outcome that break too.
        case unknown(isWritten: Bool, outcomeFailures: Int = 0)
    }

    /// The end of a log: two logs that have the same change at a revision are the same up to it.
    private struct End: Equatable {
        var revision: UInt64 = 0
        var change: SharedDatabase.Written?
    }

    let database: SharedDatabase
    private let number: Int
    /// How the next commits end, in order. Empty: they succeed.
    package var faults: [CommitFault] = []
    /// Nothing is reached while this is set.
    package var isCut = false
    /// Its heartbeats have been missing for too long.
    package var isUnheard = false
    /// The storage's clock does not agree with this node's.
    package var jump: Int64 = 0
    /// Barriers that break.
    package var sealFailures = 0
    /// Runs while the engine asks for the outcome of a commit.
    package var whileOutcomeIsUnknown: (() -> Void)?
    package private(set) var plans: [ReadPlan] = []
    /// Point reads that no plan of this tick holds.
    package private(set) var unplannedReads: [String] = []
    private var outcomeFailures = 0
    private var pending: [StoredChange] = []
    private var writes: [(MemoryStorage) throws(StorageError) -> Void] = []
    /// What has passed for all, as it was last read, and what the open batch raises it to.
    private var readPassed = Instant.distantPast
    private var raisedPassed: Instant?
    private var isInBatch = false
    /// The primary that this connection reached.
    private var primary: Int
    private var begun = 0
    /// The last change that the engine has applied, and the last one that it may have shown.
    private var (applied, shown) = (End(), End())
    private var tables: MemoryStorage { self.database.tables }

    init(_ database: SharedDatabase, number: Int) {
        self.database = database
        self.number = number
        self.primary = database.primary
        _ = database.confirm()
        self.applied = self.end(database.log.last?.revision ?? 0)
        self.shown = self.applied
    }

    private func end(_ revision: UInt64) -> End { End(revision: revision, change: self.database.feed[revision]) }

    package let isShared = true

    package func forgetReads() {
        self.plans = []
        self.unplannedReads = []
    }

    private func reach() throws(StorageError) {
        if self.isCut { throw .unreachable("the test has cut the connection") }
        guard self.primary != self.database.primary else { return }
        // A new connection: has this primary the history that the engine has?
        guard self.end(self.applied.revision) == self.applied else {
            throw .historyLost(self.end(self.shown.revision) == self.shown ? Self.onlyRead : "shown")
        }
        self.primary = self.database.primary
    }

    /// The reason of a node that ends because it has read a change which is lost, and has not shown it.
    package static let onlyRead = "nobody was shown"

    private func write(_ write: @escaping (MemoryStorage) throws(StorageError) -> Void) throws(StorageError) {
        try write(self.tables)
        self.writes.append(write)
    }

    private func note(_ name: String, isPlanned: (ReadPlan) -> Bool) {
        if !self.plans.contains(where: isPlanned) { self.unplannedReads.append(name) }
    }

    // MARK: Reads

    package func prefetch(_ requests: [StoreRequest], accounts: [AccountNumber]) throws(StorageError) {
        try self.reach()
        self.readPassed = max(self.readPassed, self.database.passed)
        self.plans.append(ReadPlan(requests: requests, accounts: accounts))
    }

    package func header() -> StoreHeader { self.tables.header() }
    package func appStates() -> [StoredAppState] { self.tables.appStates() }

    package func appState(_ app: AppNumber, inForceAt instant: Instant) throws(StorageError) -> StoredAppState? {
        try self.reach()
        return self.tables.appState(app, inForceAt: instant)
    }

    package func appState(_ app: AppNumber, at revision: UInt64) throws(StorageError) -> StoredAppState? {
        try self.reach()
        return self.tables.appState(app, at: revision)
    }

    package func image(_ app: AppNumber, _ hash: ContentHash) -> [UInt8]? { self.tables.image(app, hash) }

    package func account(_ key: AccountKey) throws(StorageError) -> AccountNumber? {
        try self.reach()
        self.note("account \(key.bytes)") { $0.keys.contains(key) }
        return self.tables.account(key)
    }

    package func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        self.tables.keys(of: app, after: key, limit: limit)
    }

    package func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        try self.reach()
        self.note("record \(account)") { plan in
            plan.accounts.contains(account) || plan.keys.contains { self.tables.account($0) == account }
                || plan.transactions.contains { self.tables.transaction($0.app, $0.id)?.account == account }
        }
        return self.tables.record(account)
    }

    package func transaction(_ app: AppNumber, _ id: TransactionID) throws(StorageError) -> TransactionRow? {
        try self.reach()
        self.note("transaction \(id)") { $0.transactions.contains(ReadPlan.TransactionName(app: app, id: id)) }
        return self.tables.transaction(app, id)
    }

    package func transactions(of account: AccountNumber, _ query: TransactionQuery) throws(StorageError)
        -> [TransactionRow]
    {
        try self.reach()
        return self.tables.transactions(of: account, query)
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

    package func facts(ofRevision revision: UInt64) throws(StorageError) -> [StoredFact] {
        try self.reach()
        return self.tables.facts(ofRevision: revision)
    }

    package func key(of account: AccountNumber) -> [UInt8]? { self.tables.key(of: account) }
    package func names(of account: AccountNumber) -> [AccountKey] { self.tables.names(of: account) }
    package func answers(keptAt instant: Instant) -> [KeyedAnswer] { self.tables.answers(keptAt: instant) }

    package func crossings(_ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int) -> [DueEntry]
    {
        self.tables.crossings(app, after: entry, through: instant, limit: limit)
    }

    package func commitRows(after revision: UInt64, limit: Int) throws(StorageError) -> [CommitRow]? {
        try self.reach()
        return self.tables.commitRows(after: revision, limit: limit)
    }

    package func commitTime(of revision: UInt64) -> Instant? { self.tables.commitTime(of: revision) }

    package func due(_ app: AppNumber, through instant: Instant, limit: Int) throws(StorageError) -> [DueEntry] {
        try self.reach()
        return self.tables.due(app, through: instant, limit: limit)
    }

    package func earliestDue(_ app: AppNumber) -> Instant? { self.tables.earliestDue(app) }

    package func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer? {
        try self.reach()
        self.note("answer \(key.bytes)") { $0.answers.contains(key) }
        return self.tables.answer(to: key)
    }

    package func item(_ key: ItemKey) -> StoredItem? { self.tables.item(key) }

    package func items(_ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int) -> [StoredItem] {
        self.tables.items(kind, group: group, after: key, limit: limit)
    }

    package func itemCount(_ kind: ItemKind, group: [UInt8]) -> Int { self.tables.itemCount(kind, group: group) }

    package func revokedTokens() -> [RevokedToken] { self.tables.revokedTokens() }

    package func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]? {
        try self.reach()
        var changes: [StoredChange] = []
        var next = revision + 1
        while changes.count < limit, let blob = self.database.feed[next]?.change {
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
        if revision == self.applied.revision, let last = changes.last { self.applied = self.end(last.revision) }
        return changes
    }

    // MARK: Writes

    package func begin() throws(StorageError) {
        try self.reach()
        (self.pending, self.writes, self.raisedPassed) = ([], [], nil)
        self.readPassed = max(self.readPassed, self.database.passed)
        self.isInBatch = true
        self.begun = self.database.primary
        self.tables.begin()
    }

    package func apply(_ change: StoredChange) throws(StorageError) {
        try self.write { (tables) throws(StorageError) in tables.apply(change) }
        self.pending.append(change)
    }

    package func keep(_ answer: KeptAnswer, for key: MutationKey) throws(StorageError) {
        try self.write { (tables) throws(StorageError) in tables.keep(answer, for: key) }
    }

    package func setLease(until instant: Instant) throws(StorageError) {
        try self.write { (tables) throws(StorageError) in tables.setLease(until: instant) }
    }

    package func forgetRevokedTokens(before instant: Instant) throws(StorageError) {
        try self.write { (tables) throws(StorageError) in tables.forgetRevokedTokens(before: instant) }
    }

    package func forgetAnswers(before instant: Instant) throws(StorageError) {
        try self.write { (tables) throws(StorageError) in tables.forgetAnswers(before: instant) }
    }

    package func forgetCrossings(_ app: AppNumber, through entry: DueEntry) throws(StorageError) {
        try self.write { (tables) throws(StorageError) in tables.forgetCrossings(app, through: entry) }
    }

    package func commit() throws(StorageError) {
        self.isInBatch = false
        guard !self.faults.isEmpty else {
            try self.finish()
            // Visible, and not acknowledged: the wait for the standby was cancelled.
            guard self.database.confirm() else { throw .unknown("no standby confirms") }
            self.readPassed = max(self.readPassed, self.database.passed)
            self.applied = self.end(self.pending.last?.revision ?? self.applied.revision)
            self.shown = self.applied
            return
        }
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
            if isWritten {
                try self.finish()
                _ = self.database.confirm()
            } else {
                self.tables.rollback()
            }
            throw .unknown("the test breaks the connection")
        }
    }

    private func finish() throws(StorageError) {
        try self.tables.commit()
        self.database.append(self.writes, self.pending, raising: self.raisedPassed, by: self.number)
    }

    package func hasCommitted(_ revision: UInt64) throws(StorageError) -> Bool {
        if self.outcomeFailures > 0 {
            self.outcomeFailures -= 1
            throw .unreachable("the test lets the question fail")
        }
        self.whileOutcomeIsUnknown?()
        try self.reach()
        let own = self.pending.last.map { SharedDatabase.Written(writer: self.number, change: $0.sealed()) }
        guard self.database.feed[revision] == own else { return false }
        guard self.database.confirm() else { throw .unreachable("no standby confirms the barrier") }
        self.applied = self.end(revision)
        self.shown = self.applied
        return true
    }

    package func seal() throws(StorageError) {
        try self.reach()
        guard self.applied.revision > self.shown.revision else { return }
        if self.sealFailures > 0 {
            self.sealFailures -= 1
            throw .unreachable("the test lets a barrier fail")
        }
        guard self.database.confirm() else { throw .unreachable("no standby confirms the barrier") }
        self.shown = self.applied
    }

    package func rollback() {
        self.isInBatch = false
        self.tables.rollback()
    }

    // MARK: Time

    package var passed: Instant? { self.database.knowsCommitsOnly ? nil : self.readPassed }
    package var batchClock: Instant? { self.isInBatch ? self.database.clock : nil }
    package var keepsRefusals: Bool { !self.database.knowsCommitsOnly }

    package func confirmedPassed() throws(StorageError) -> Instant {
        try self.reach()
        if self.readPassed > self.database.confirmedPassed, !self.database.confirm() {
            throw .unreachable("no standby confirms the barrier")
        }
        return self.readPassed
    }

    package func raisePassed(to instant: Instant) -> Bool {
        if self.database.knowsCommitsOnly { return false }
        self.raisedPassed = instant
        return true
    }

    package func close() {}

    // MARK: Heartbeats

    package var sharing: (any StoreSharing)? { self }
}

extension SharedNode: StoreSharing {
    package func beat(_ state: NodeState) {}
    package var sinceBeat: Int64 { self.isUnheard ? Limits.freshnessMilliseconds + 1 : 0 }
    package var descriptor: Int32 { -1 }
    package var connectionNumber: Int { 0 }
    package var clockOffset: Int64 { 0 }
    package var obstacle: ReachObstacle { self.isCut ? .silence : .refusal }
    package var clockJump: Int64 { self.jump }
    package var nodes: [NodeReport] { [] }
    package var nodeID: Int64 { 1 }
    package var databaseFigures: DatabaseFigures { DatabaseFigures() }
    package var sendsForMilliseconds: Int64 { 0 }
    package func keepCode(_ name: [UInt8], _ sealed: [UInt8]) {}
    package func takeCode(_ name: [UInt8]) -> [UInt8]? { nil }
}
