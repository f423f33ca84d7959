package import PerchBase
package import PerchMetrics
package import PerchModel

/// Limits of a store that an operator or a test may set; the defaults are those of `Limits`.
package struct StoreLimits: Sendable {
    /// Answers to idempotency keys are kept for so long.
    package var answersKeptMilliseconds = Limits.idempotencyKeyMilliseconds
    /// Cursors of events go on for so long, and for so many revisions.
    package var cursorMilliseconds = Limits.cursorRetentionMilliseconds
    package var cursorRevisions = Limits.cursorRetentionRevisionsMin
    /// Subscription lines and owned products of an account.
    package var recordEntriesMax = Limits.recordEntriesMax
    package var revokedTokensMax = Limits.revocationsMax
    package var renewalsPerAdvanceMax = Limits.renewalsPerAdvanceMax

    package init() {}
}

/// What the store thread decides: batches of requests in, changes and answers out, in one order.
///
/// Plain code over a synchronous `Storage`, without a clock or a thread of its own: the server runs it on the store
/// thread, the simulator and the tests run it step by step. Nothing of a batch reaches a loop before its commit.
///
/// What each turn looks at is not checked for exclusive access at run time, which was a fourteenth of a turn with one change
/// (`pushcost mux 3000 2000 1`): neither the storage nor a decision, which is pure, calls back.
package final class StoreEngine {
    let storage: any Storage
    @exclusivity(unchecked) package internal(set) var header: StoreHeader
    @exclusivity(unchecked) package internal(set) var apps = StoredApps()
    @exclusivity(unchecked) package internal(set) var counters = Counters()
    /// Why nothing can be acknowledged any more; nil while all is well.
    @exclusivity(unchecked) package internal(set) var failure: StorageError?
    @exclusivity(unchecked) var cache: RecordCache
    /// Not where the storage holds every record itself.
    let cachesRecords: Bool
    let loopCount: Int

    /// Mutations that wait until their account has caught up with its renewals.
    @exclusivity(unchecked) var deferred: [StoreRequest] = []
    /// Moves of a clock that wait until all that is due by then is settled.
    @exclusivity(unchecked) var settlings: [Settling] = []
    @exclusivity(unchecked) var barriers: [UInt64: Barrier] = [:]
    var nextBarrier: UInt64 = 1
    /// The last batch found no room: what is due is tried again a second later, not at once.
    @exclusivity(unchecked) package internal(set) var isWithoutRoom = false
    /// Microseconds of a clock that never jumps, to measure commits with; nil where nobody does, as in the simulator.
    @exclusivity(unchecked) package var stopwatch: (() -> UInt64)?
    /// Microseconds that the storage took to commit, fsync included; empty without a stopwatch.
    @exclusivity(unchecked) package internal(set) var commitMicroseconds = Histogram()
    /// Changes in a group commit, of those that had any.
    @exclusivity(unchecked) package internal(set) var batchChanges = Histogram()
    /// What the stopwatch said when the first commit of the latest run was durable: from then on its watchers wait.
    @exclusivity(unchecked) package internal(set) var firstCommit: UInt64?
    let limits: StoreLimits
    /// When the kept answers were last looked through.
    @exclusivity(unchecked) var answersSwept = Instant.distantPast
    /// How many facts a read about the past goes through: `Limits.factsPerReadMax`, less in tests.
    package var factsPerReadMax = Limits.factsPerReadMax
    /// Tokens that were taken back, and when each would have ended by itself.
    var revocations: [String: Instant] = [:]
    /// An empty change, whose lists have room: the one before has let go of it.
    @exclusivity(unchecked) var draft = StoredChange(
        revision: 0, committed: .distantPast, nextTransaction: 0, nextAccount: 0)

    /// Empty lists with room, for the answers and changes of the next batch.
    @exclusivity(unchecked) var spareAnswers: [Answered] = []
    @exclusivity(unchecked) var spareChanges: [Change] = []

    package struct Counters: Sendable {
        package var batches: UInt64 = 0
        package var changes: UInt64 = 0
        package var reads: UInt64 = 0
        package var refusals: UInt64 = 0
        package var replays: UInt64 = 0
        package var attemptsSettled: UInt64 = 0
        package var failedBatches: UInt64 = 0
        package var batchSizeMax: UInt64 = 0
    }

    /// Who is answered, and what.
    struct Answered {
        var loop: Int
        var ticket: UInt64
        var answer: StoreAnswer
    }

    struct Settling {
        var app: AppNumber
        var target: Instant
        var loop: Int
        var ticket: UInt64
        var attemptsBefore: UInt64
    }

    struct Barrier {
        var settling: Settling
        var loopsAwaited: Int
    }

    /// One list of events for each loop, each in commit order.
    package struct Outbox: Sendable {
        package var events: [[StoreEvent]]

        /// Those that hear of every change; behind them stand those that are only answered.
        let loops: Int

        package init(loops: Int, askers: Int = 0) {
            self.loops = loops
            self.events = Array(repeating: [], count: loops + askers)
        }

        /// Empties it for another turn.
        package mutating func clear() {
            for place in self.events.indices where !self.events[place].isEmpty { self.events[place] = [] }
        }

        /// There is room for so many changes, and answers to them.
        mutating func reserve(changes: Int, answers: Int) {
            for loop in 0..<self.loops {
                self.events[loop].reserveCapacity(
                    self.events[loop].count + changes + (self.loops == 1 ? answers : 0))
            }
        }

        mutating func broadcast(_ event: StoreEvent) {
            for loop in 0..<self.loops { self.events[loop].append(event) }
        }

        mutating func answer(_ request: StoreRequest, _ answer: StoreAnswer) {
            self.answer(loop: request.loop, ticket: request.ticket, answer)
        }

        mutating func answer(loop: Int, ticket: UInt64, _ answer: consuming StoreAnswer) {
            self.events[loop].append(.answer(ticket: ticket, answer))
        }
    }

    package init(
        storage: any Storage, loops: Int, cacheBytesMax: Int, limits: StoreLimits = StoreLimits()
    ) throws(StorageError) {
        self.limits = limits
        self.storage = storage
        self.loopCount = loops
        self.cache = RecordCache(bytesMax: cacheBytesMax)
        self.cachesRecords = !storage.holdsRecords
        self.header = try storage.header()
        for app in try storage.appStates() { self.apps[app.state.number] = app }
        for revocation in try storage.revokedTokens() { self.revocations[revocation.id] = revocation.expires }
    }

    package func app(_ bundleID: String, _ environment: AppEnvironment) -> AppState? {
        self.apps.states.first { $0.bundleID == bundleID && $0.environment == environment }
    }

    package var recordsCached: Int { self.cache.count }
    package var cacheBytes: Int { self.cache.bytes }
    package var cacheHits: Int { self.cache.hitCount }
    package var cacheMisses: Int { self.cache.missCount }
    package var cacheEvictions: Int { self.cache.evictionCount }
    package var figures: StorageFigures { self.storage.figures }

    /// One turn of the store: answers the reads, commits the mutations together, settles some of what is due.
    ///
    /// `wall` never runs backwards. After a crash it stands at the lease until `machine`, the clock of the machine, has
    /// come there; nil: they are the same. Returns when it wants to run again: an instant of `machine` that may be past;
    /// nil for "when something is asked".
    package func run(
        _ requests: [StoreRequest], wall: Instant, machine: Instant? = nil, into outbox: inout Outbox
    ) -> Instant? {
        let machine = machine ?? wall
        self.firstCommit = nil
        var mutations: [StoreRequest]
        var revocations: [StoreRequest] = []
        if self.deferred.isEmpty, Self.areMutations(requests) {
            // Under load they mostly are, and need not be copied one by one.
            mutations = requests
        } else {
            mutations = self.deferred
            self.deferred.removeAll()
            mutations.reserveCapacity(mutations.count + requests.count)
            for request in requests {
                switch request.body {
                case .mutate:
                    mutations.append(request)
                case .revoke:
                    revocations.append(request)
                case .barrierReached(let number):
                    self.reached(number, wall: wall, into: &outbox)
                default:
                    outbox.answer(request, self.read(request.body, wall: wall))
                }
            }
        }
        if self.failure != nil {
            for request in mutations + revocations { outbox.answer(request, .refused(self.failedRefusal)) }
            return nil
        }
        self.revoke(revocations, wall: wall, into: &outbox)
        self.commitTogether(mutations, wall: wall, machine: machine, into: &outbox)
        let due = self.lookForDue(wall: wall)
        let hasMore = due.isNow && self.settleDue(wall: wall, into: &outbox)
        guard self.failure == nil else {
            outbox.broadcast(.failed(self.failure.map(\.description) ?? ""))
            return nil
        }
        self.finishSettlings(wall: wall, into: &outbox)
        if self.isWithoutRoom { return machine.advanced(byMilliseconds: 1_000) }
        if hasMore || !self.deferred.isEmpty { return machine }
        let lease = self.header.lease.advanced(byMilliseconds: -Limits.leaseRenewalMilliseconds)
        return due.wake.map { min($0, lease) } ?? lease
    }

    /// How it stands, for whoever steps it in every turn: all at once, as what another module looks up one by one is checked
    /// for exclusive access each time.
    package struct Standing: Sendable {
        package var batches: UInt64
        package var failedBatches: UInt64
        package var changes: UInt64
        package var isWithoutRoom: Bool
        package var hasFailed: Bool
        /// When the first change of the last turn was durable.
        package var firstCommit: UInt64?
        package var clockBound: Instant
    }

    package var standing: Standing {
        Standing(
            batches: self.counters.batches, failedBatches: self.counters.failedBatches, changes: self.counters.changes,
            isWithoutRoom: self.isWithoutRoom, hasFailed: self.failure != nil, firstCommit: self.firstCommit,
            clockBound: self.clockBound)
    }

    private static func areMutations(_ requests: [StoreRequest]) -> Bool {
        // By place: an element that is handed out is copied, with all that it refers to.
        for place in requests.indices {
            guard case .mutate = requests[place].body else { return false }
        }
        return true
    }

    /// Writes down that no clock has shown more than this: a clean stop costs no time at the next start.
    package func writeLeaseAtStop(wall: Instant) {
        guard self.failure == nil else { return }
        do {
            try self.storage.begin()
            try self.storage.setLease(until: wall)
            try self.storage.commit()
        } catch {
            self.storage.rollback()
        }
    }

    /// When a revision was committed; nil where that is not known.
    package func commitTime(of revision: UInt64) -> Instant? {
        guard self.failure == nil, revision > 0 else { return nil }
        return try? self.storage.commitTime(of: revision)
    }

    /// Commits, and syncs, what changes nothing that anybody sees: the lease, a little further ahead.
    ///
    /// For a watchdog that wants to know whether the store still works. A disk without room is told by `isWithoutRoom`,
    /// one that fails by `failure`.
    package func prove(machine: Instant) {
        guard self.failure == nil else { return }
        var changes: [Change] = []
        self.batch(&changes) { (_: inout [Change]) throws(StorageError) in
            try self.renewLease(machine)
        } failed: { _ in
        }
    }

    /// What a clock may show: nothing that a crash would forget, were the machine's clock set back as well.
    ///
    /// Without room no lease can be written, and streams go on all the same: an expiry that is not shown for as long as a
    /// disk is full would be worse than a clock that runs backwards after a full disk, a crash and a clock set back.
    package var clockBound: Instant { self.isWithoutRoom ? .distantFuture : self.header.lease }

    func renewLease(_ machine: Instant) throws(StorageError) {
        let lease = machine.advanced(byMilliseconds: Limits.leaseMilliseconds)
        guard lease > self.header.lease else { return }
        try self.storage.setLease(until: lease)
        self.header.lease = lease
    }

    /// Closes the storage; nothing may be asked afterwards.
    package func close() {
        if self.failure == nil { self.failure = .failed("the server is stopping") }
        self.storage.close()
    }

    /// A batch was written. Whether there is room again is told by one that changes something; a lease fits where nothing
    /// else does, so after one alone the medium is asked.
    func wrote(_ changes: Int) {
        guard self.isWithoutRoom else { return }
        self.isWithoutRoom = changes == 0 && !self.storage.hasRoom
    }

    func fail(_ error: StorageError) {
        self.counters.failedBatches += 1
        if self.isFull(error) {
            self.isWithoutRoom = true
        } else {
            self.failure = error
        }
    }

    var failedRefusal: Refusal {
        Refusal(.storeFailed, self.failure.map(\.description) ?? "the store failed")
    }

    func isFull(_ error: StorageError) -> Bool {
        if case .full = error { return true }
        return false
    }

    // MARK: Reading

    func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        if !self.cachesRecords { return try self.storage.record(account) }
        if let cached = self.cache.record(account) { return cached }
        guard let record = try self.storage.record(account) else { return nil }
        self.cache.insert(record)
        return record
    }

    private func read(_ body: StoreRequest.Body, wall: Instant) -> StoreAnswer {
        self.counters.reads += 1
        do throws(StorageError) {
            switch body {
            case .record(let key):
                guard let account = try self.storage.account(key) else { return .record(nil) }
                return .record(try self.record(account))
            case .recordOf(let account):
                return .record(try self.record(account))
            case .recordAsKnown(let key, let known):
                return try self.recordAsKnown(key, known)
            case .history(let key, let known):
                return try self.history(key, known)
            case .keys(let app, let after, let limit):
                var keys = try self.storage.keys(of: app, after: after, limit: limit + 1)
                let hasMore = keys.count > limit
                if hasMore { keys.removeLast() }
                return .keys(keys, hasMore: hasMore)
            case .transactions(let key, let query):
                guard let account = try self.storage.account(key) else { return .transactions([], hasMore: false) }
                var query = query
                query.limit += 1
                var rows = try self.storage.transactions(of: account, query)
                let hasMore = rows.count == query.limit
                if hasMore { rows.removeLast() }
                return .transactions(rows, hasMore: hasMore)
            case .events(let key, let place, let limit):
                return try self.events(key, after: place, limit: limit, wall: wall)
            case .image(let app, let hash):
                return .image(try self.storage.image(app, hash), hash)
            case .mutate, .revoke, .barrierReached:
                preconditionFailure("not a read")
            }
        } catch {
            self.fail(error)
            return .refused(Refusal(.storeFailed, error.description))
        }
    }

    /// What was known at a revision, of what had happened by an instant: the facts up to both, folded anew, and the app as
    /// it was then.
    private func recordAsKnown(_ key: AccountKey, _ known: KnownAs) throws(StorageError) -> StoreAnswer {
        let (found, refusal) = try self.past(key, known)
        guard let found else { return .refused(refusal) }
        return .recordAsKnown(found.record, found.app)
    }

    /// A record with the newest of its rows, for what a record does not hold: periods that are over.
    private func history(_ key: AccountKey, _ known: KnownAs?) throws(StorageError) -> StoreAnswer {
        if let known {
            let (found, refusal) = try self.past(key, known)
            guard let found else { return .refused(refusal) }
            let rows = found.rows.values.sorted { ($0.purchaseDate, $0.id) > ($1.purchaseDate, $1.id) }
            return .history(found.record, Array(rows.prefix(Limits.pageSizeMax)), found.app)
        }
        guard let app = self.apps[key.app]?.state else { preconditionFailure("app \(key.app) is gone") }
        guard let account = try self.storage.account(key) else { return .history(nil, [], app) }
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.isNewestFirst = true
        query.includesFinishedConsumables = true
        let rows = try self.storage.transactions(of: account, query).map(\.transaction)
        return .history(try self.record(account), rows, app)
    }

    private struct Past {
        var record: AccountRecord?
        var rows: [TransactionID: Transaction] = [:]
        var app: AppState
    }

    private func past(_ key: AccountKey, _ known: KnownAs) throws(StorageError) -> (Past?, Refusal) {
        let revision = known.revision == 0 ? self.header.revision : known.revision
        guard revision <= self.header.revision else {
            return (
                nil,
                Refusal(
                    .fieldInvalid,
                    "as_of.known_at_revision is \(revision), the store is at \(self.header.revision); ask for what was known",
                    field: "as_of.known_at_revision", found: Int64(clamping: revision),
                    limit: Int64(clamping: self.header.revision))
            )
        }
        var stored = try self.storage.appState(key.app, at: revision)
        if let instant = known.instant, let then = try self.storage.appState(key.app, inForceAt: instant),
            then.state.revision <= revision
        {
            stored = then
        }
        guard let app = stored?.state else {
            return (
                nil,
                Refusal(
                    .fieldInvalid, "at as_of.known_at_revision \(revision) there was no such app; ask for later",
                    field: "as_of.known_at_revision", found: Int64(clamping: revision))
            )
        }
        var past = Past(app: app)
        guard let account = try self.storage.account(key) else { return (past, self.failedRefusal) }
        let facts = try self.storage.facts(of: account, through: revision, limit: self.factsPerReadMax + 1)
        guard facts.count <= self.factsPerReadMax else {
            return (
                nil,
                Refusal(
                    .historyLimit,
                    "a read about the past would go through more than \(self.factsPerReadMax) facts of this account; ask for now, or list its transactions"
                )
            )
        }
        for dated in facts {
            if let instant = known.instant, dated.fact.effective > instant { continue }
            var record = past.record ?? AccountRecord(account: account, app: key.app)
            // A purchaser's change into the past may be older than the line of a member with whom he shares.
            if let line = dated.fact.line, record.lineIndex(original: line) == nil { continue }
            record.apply(dated.fact)
            record.revision = dated.revision
            past.record = record
            switch dated.fact.rowWrite {
            case .insert(let transaction), .update(let transaction): past.rows[transaction.id] = transaction
            case .delete(let id): past.rows[id] = nil
            case .deleteAll: past.rows.removeAll()
            case .finish, nil: break
            }
        }
        if let last = past.record?.revision {
            past.record?.committed = try self.storage.commitTime(of: last) ?? app.committed
        }
        return (past, self.failedRefusal)
    }

    private func events(
        _ key: AccountKey, after place: EventPlace?, limit: Int, wall: Instant
    ) throws(StorageError) -> StoreAnswer {
        let newest = EventPlace(revision: self.header.revision, ordinal: .max)
        guard let place else {
            return .events([], through: newest, isComplete: true, nextTransaction: self.header.nextTransaction)
        }
        guard place.revision <= self.header.revision else {
            return .refused(
                Refusal(
                    .tokenFuture,
                    "the cursor is of revision \(place.revision), the store is at \(self.header.revision); begin without one",
                    found: Int64(clamping: place.revision), limit: Int64(clamping: self.header.revision)))
        }
        let behind = self.header.revision - place.revision
        if behind > self.limits.cursorRevisions,
            let committed = try self.storage.commitTime(of: place.revision),
            wall.milliseconds(since: committed) > self.limits.cursorMilliseconds
        {
            return .refused(
                Refusal(
                    .cursorTooOld,
                    "the cursor is \(behind) revisions and more than \(self.limits.cursorMilliseconds / 3_600_000) h old, the limit is \(self.limits.cursorRevisions); list the transactions and begin without a cursor",
                    found: Int64(clamping: behind), limit: Int64(clamping: self.limits.cursorRevisions)))
        }
        guard let account = try self.storage.account(key) else {
            return .events([], through: newest, isComplete: true, nextTransaction: self.header.nextTransaction)
        }
        let events = try self.storage.events(of: account, after: place, limit: limit)
        let isComplete = events.count < limit
        let through = isComplete ? newest : events[events.count - 1].place
        return .events(
            events, through: through, isComplete: isComplete, nextTransaction: self.header.nextTransaction)
    }
}
