package import PerchBase
package import PerchMetrics
package import PerchModel

/// Limits of a store that an operator or a test may set; the defaults are those of `Limits`.
package struct StoreLimits: Sendable {
    /// How long answers to idempotency keys are kept.
    package var answersKeptMilliseconds = Limits.idempotencyKeyMilliseconds
    /// A cursor of events is valid for this time, or for `cursorRevisions`, whichever lasts longer.
    package var cursorMilliseconds = Limits.cursorRetentionMilliseconds
    package var cursorRevisions = Limits.cursorRetentionRevisionsMin
    /// Subscription lines and owned products of an account.
    package var recordEntriesMax = Limits.recordEntriesMax
    package var revokedTokensMax = Limits.revocationsMax
    package var renewalsPerAdvanceMax = Limits.renewalsPerAdvanceMax

    package init() {}
}

/// Runs the store thread's work: batches of requests in, changes and answers out, in one order.
///
/// The engine has no clock and no thread: the server runs it on the store thread, and the simulator and the tests step it.
/// Nothing of a batch reaches a loop before its commit.
///
/// Three parts, in files of their own: reading and deciding (`+Reads`, `+Decide`, `+Apply`, `+Settling`), committing
/// (`+Commit`), and the feed of changes (`+Feed`).
package final class StoreEngine {
    let storage: any Storage
    /// The store as committed, at `header.revision`.
    package internal(set) var header: StoreHeader
    package internal(set) var apps = StoredApps()
    /// Revoked tokens, each with the instant at which it would have ended.
    var revocations: [String: Instant] = [:]
    /// By app number.
    var dueWindows: [DueWindow] = []
    var others = Others()
    package internal(set) var counters = Counters()
    /// Why the store can no longer acknowledge anything; nil while it can.
    package internal(set) var failure: StorageError?
    var cache: RecordCache
    /// False if the storage holds every record in memory.
    let cachesRecords: Bool
    let isShared: Bool
    let loopCount: Int

    /// Mutations that wait until their account has caught up with its renewals.
    var deferred: [StoreRequest] = []
    var appChanges = AppChangeReads()
    /// Clock moves that wait until everything due up to the new instant is settled.
    var settlings: [Batch.Settling] = []
    var barriers = Barriers()
    /// The last batch found no space: what is due is tried again a second later, not at once.
    package internal(set) var isWithoutRoom = false
    /// The last batch did not reach the storage.
    package internal(set) var isUnreachable = false
    /// A batch whose commit has an unknown outcome. All other requests are refused until it is known.
    var unresolved: UnresolvedBatch?
    package var timing = Timing()
    let limits: StoreLimits
    /// When old kept answers were last deleted.
    var answersSwept = Instant.distantPast
    /// The number of facts that a read of the past goes through at most: `Limits.factsPerReadMax`, less in tests.
    package var factsPerReadMax = Limits.factsPerReadMax
    var reused = Reused()
    /// Of the app that was bought from last.
    var prepared: PreparedSales?

    /// What readers of apps' changes need.
    struct AppChangeReads {
        /// Questions that are not answered yet. Each tick answers a bounded number of entries.
        var asked: [StoreRequest] = []
        /// Questions for slices of copies. Each tick answers one slice.
        var slices: [StoreRequest] = []
        /// Some wait for an instant that has not passed for every node: when to look again, by the machine's clock.
        var heldUntil: Instant?
        /// When this node last raised the instant that has passed, by the machine's clock.
        var raised = Instant.distantPast
        /// Records as they were.
        var pastRecords = RecordCache(bytesMax: Limits.changeRecordsBytes)
        /// The keys of accounts that were erased lately by any node, for copies that have them. Never stored.
        var erasedKeys = ErasedKeys()
        /// When the next missing rows of sources are filled, by the machine's clock; nil: none is missing.
        var sourcesFill: Instant?
    }

    /// Empty values whose lists have capacity.
    struct Reused {
        /// For the next change.
        var draft = StoredChange(revision: 0, committed: .distantPast, app: 0, nextTransaction: 0, nextAccount: 0)
        /// For the next batch.
        var batch: Batch?
    }

    /// What this node knows of others on the same storage.
    struct Others {
        /// When the newest commit of any node was made. No decision is made at an earlier instant.
        var newestCommit = Instant.distantPast
        /// Reads are refused: this node does not know, or may not show, what others have committed.
        var isBlind = false
        /// Storage could not be reached at the beginning of this tick: others may have committed more than is known here.
        var isCutOff = false
        /// Changes of other nodes that are not sent to the loops yet.
        var news: [Change] = []
    }

    /// How long commits take.
    package struct Timing {
        /// Microseconds of a clock that never jumps; nil in the simulator.
        package var stopwatch: (() -> UInt64)?
        /// Duration of commits, fsync included; empty without a stopwatch.
        package internal(set) var commitMicroseconds = Histogram()
        /// Changes in a group commit, of those that had any.
        package internal(set) var batchChanges = Histogram()
        /// The stopwatch's time when the first commit of the latest run was durable.
        var firstCommit: UInt64?
    }

    package struct Counters: Sendable {
        package var batches: UInt64 = 0
        /// Groups of reported products that the catalogue names otherwise, in the order in which they came.
        package var groupDifferences: [GroupDifference] = []
        package var changes: UInt64 = 0
        package var reads: UInt64 = 0
        /// Changes of apps that were read for streams.
        package var changesRead: UInt64 = 0
        /// Items that were read as lists.
        package var itemsListed: UInt64 = 0
        package var refusals: UInt64 = 0
        package var replays: UInt64 = 0
        package var attemptsSettled = RenewalCount()
        package var failedBatches: UInt64 = 0
        package var batchSizeMax: UInt64 = 0
        /// Batches that ran again, because another node was first or the connection broke.
        package var reruns: UInt64 = 0
        /// Times that this node let time pass for every node, by a small write.
        package var timesPassed: UInt64 = 0
        /// Facts of a business, committed since the start.
        package var milestones = Milestones()
    }

    /// Barriers that are on their way through the loops, by number.
    struct Barriers {
        var underWay: [UInt64: Barrier] = [:]
        var next: UInt64 = 1
    }

    /// A settling whose barrier is on its way through the loops.
    struct Barrier {
        var settling: Batch.Settling
        var loopsAwaited: Int
    }

    package init(
        storage: any Storage, loops: Int, cacheBytesMax: Int, limits: StoreLimits = StoreLimits()
    ) throws(StorageError) {
        self.limits = limits
        self.storage = storage
        self.loopCount = loops
        self.cache = RecordCache(bytesMax: cacheBytesMax)
        self.cachesRecords = !storage.holdsRecords
        self.isShared = storage.isShared
        self.header = try storage.header()
        if storage.isShared, let newest = try storage.commitTime(of: self.header.revision) {
            self.others.newestCommit = newest
        }
        for app in try storage.appStates() { self.apps[app.state.number] = app }
        if try storage.lacksSources() { self.appChanges.sourcesFill = .distantPast }
        for revocation in try storage.revokedTokens() { self.revocations[revocation.id] = revocation.expires }
    }

    package func app(_ bundleID: String, _ environment: AppEnvironment) -> AppState? {
        self.apps.states.first { $0.bundleID == bundleID && $0.environment == environment }
    }

    /// The other side of a storage that several nodes share; nil where this process has the store alone.
    package var sharing: (any StoreSharing)? { self.storage.sharing }

    package var newestCommit: Instant { self.others.newestCommit }

    /// The latest instant that has passed for every node: this one's clock is moved up to it.
    package var newestPassed: Instant { max(self.others.newestCommit, self.storage.passed ?? .distantPast) }

    /// The instant at which a batch decides. Of several nodes: no earlier than the storage's clock under the lock, the newest
    /// commit, and what has passed for all. So whatever time has caused up to then stands before the batch's changes.
    func decisionTime(_ wall: Instant) -> Instant {
        guard self.isShared else { return wall }
        return max(wall, self.newestPassed, self.storage.batchClock ?? .distantPast)
    }
    /// Whether reads are refused, because other nodes may have committed what this one does not know.
    package var isBlind: Bool { self.others.isBlind }

    /// Whether other nodes have the store open.
    package var hasOtherNodes: Bool {
        guard let sharing = self.storage.sharing else { return false }
        return sharing.nodes.contains { $0.id != sharing.nodeID && !$0.isGone }
    }

    package var recordsCached: Int { self.cache.count }
    package var cacheBytes: Int { self.cache.bytes }
    package var cacheHits: Int { self.cache.hitCount }
    package var cacheMisses: Int { self.cache.missCount }
    package var cacheEvictions: Int { self.cache.evictionCount }

    /// One tick of the store: answers the reads, commits the mutations together, settles some of what is due.
    ///
    /// `wall` never runs backwards. After a crash it stands at the lease until `machine`, the clock of the machine, has
    /// reached it; nil: the two are equal. Returns when the engine must run again: an instant of `machine`, possibly
    /// past; nil: at the next request.
    package func run(
        _ requests: [StoreRequest], wall: Instant, machine: Instant? = nil, into outbox: inout Outbox
    ) -> Instant? {
        let machine = machine ?? wall
        self.timing.firstCommit = nil
        if self.unresolved != nil, !self.resolve(into: &outbox) {
            self.checkReach()
            self.refuse(requests, self.unreachableRefusal, wall: wall, into: &outbox)
            return machine.advanced(byMilliseconds: Limits.storageRetryMilliseconds)
        }
        self.read(ahead: requests, into: &outbox)
        let wall = self.decisionTime(wall)
        var mutations: [StoreRequest]
        var revocations: [StoreRequest] = []
        var codes: [StoreRequest] = []
        if self.deferred.isEmpty, Self.areMutations(requests) {
            // The usual case under load: the list is not copied.
            mutations = requests
        } else {
            mutations = []
            mutations.reserveCapacity(self.deferred.count + requests.count)
            let all = self.deferred + requests
            self.deferred = []
            for request in all {
                switch request.body {
                case .mutate, .order:
                    mutations.append(request)
                case .revoke, .note:
                    revocations.append(request)
                case .code:
                    codes.append(request)
                case .barrierReached(let number):
                    self.reached(number, wall: wall, into: &outbox)
                case .changes where self.isBlind, .copySlice where self.isBlind:
                    outbox.answer(request, .refused(self.blindRefusal))
                case .changes(let asked):
                    // It is answered in a later tick perhaps, which may know no more.
                    if let refusal = self.refusal(ofCursorAhead: asked.start.revision) {
                        outbox.answer(request, .refused(refusal))
                    } else {
                        self.appChanges.asked.append(request)
                    }
                case .copySlice:
                    self.appChanges.slices.append(request)
                default:
                    outbox.answer(
                        request, self.isBlind ? .refused(self.blindRefusal) : self.read(request.body, wall: wall))
                }
            }
        }
        if self.isShared { self.storage.endReads() }
        if self.failure != nil {
            for request in mutations + revocations + codes { outbox.answer(request, .refused(self.failedRefusal)) }
            self.refuseChanges(self.failedRefusal, into: &outbox)
            return nil
        }
        self.revoke(revocations, wall: wall, into: &outbox)
        for request in codes { outbox.answer(request, self.answer(toCode: request.body)) }
        self.commitTogether(mutations, wall: wall, machine: machine, into: &outbox)
        return self.finish(wall: wall, machine: machine, into: &outbox)
    }

    private func finish(wall: Instant, machine: Instant, into outbox: inout Outbox) -> Instant? {
        var next = self.settleAndAnswer(wall: wall, machine: machine, into: &outbox)
        if self.appChanges.sourcesFill != nil, let fill = self.fillSources(machine: machine) {
            next = min(next ?? fill, fill)
        }
        guard self.failure == nil, let held = self.appChanges.heldUntil else { return next }
        return min(next ?? held, held)
    }

    /// Settles due attempts, and returns when to run again.
    private func settleAndAnswer(wall: Instant, machine: Instant, into outbox: inout Outbox) -> Instant? {
        let due = self.lookForDue(wall: wall)
        let hasMore = due.isNow && self.unresolved == nil && self.settleDue(wall: wall, into: &outbox)
        guard self.failure == nil else {
            self.refuseChanges(self.failedRefusal, into: &outbox)
            outbox.broadcast(.failed(self.failure.map(\.description) ?? ""))
            return nil
        }
        if self.unresolved == nil { self.finishSettlings(wall: wall, into: &outbox) }
        if self.unresolved == nil {
            let hasChanges = self.answerChanges(wall: wall, machine: machine, into: &outbox)
            let hasSlices = self.failure == nil && self.answerSlice(wall: wall, into: &outbox)
            if hasChanges || hasSlices { return machine }
        }
        if self.isWithoutRoom { return machine.advanced(byMilliseconds: 1_000) }
        if self.isUnreachable || self.unresolved != nil {
            return machine.advanced(byMilliseconds: Limits.storageRetryMilliseconds)
        }
        if hasMore || !self.deferred.isEmpty { return machine }
        let lease = self.header.lease.advanced(byMilliseconds: -Limits.leaseRenewalMilliseconds)
        return due.wake.map { min($0, lease) } ?? lease
    }

    /// Applies the changes of other nodes, and reads this tick's data in one request.
    ///
    /// Storage that cannot be reached is no failure here: cached records are still answered, and everything else finds the
    /// same error by itself.
    private func read(ahead requests: [StoreRequest], into outbox: inout Outbox) {
        guard self.failure == nil else { return }
        self.others.isCutOff = false
        do throws(StorageError) {
            // Questions that are held need to know what has passed by now.
            let waiting = self.deferred + (self.isShared ? self.appChanges.asked : [])
            try self.storage.prefetch(waiting.isEmpty ? requests : waiting + requests, accounts: [])
            if self.isShared { try self.refresh() }
        } catch {
            self.others.isCutOff = self.isShared
            if !error.isPassing { self.fail(error) }
        }
        self.publishNews(into: &outbox)
        self.checkReach()
    }

    /// Checks whether other nodes may have committed what this one does not know. Each tick needs it, also one that only waits for
    /// the outcome of a batch: readiness, heartbeats and DRAIN follow from it.
    private func checkReach() {
        guard self.isShared, let sharing = self.storage.sharing else { return }
        self.others.isBlind = !self.others.news.isEmpty || sharing.sinceBeat > Limits.freshnessMilliseconds
    }

    /// Refuses all requests, reads too. A loop's report of a barrier is no request and counts.
    private func refuse(
        _ requests: [StoreRequest], _ refusal: Refusal, wall: Instant, into outbox: inout Outbox
    ) {
        for request in requests {
            if case .barrierReached(let number) = request.body {
                self.reached(number, wall: wall, into: &outbox)
            } else {
                self.counters.refusals += 1
                outbox.answer(request, .refused(refusal))
            }
        }
    }

    /// The engine's state for the store's driver, read once a tick. One value, because each property that another module reads
    /// is checked for exclusive access.
    package struct Standing: Sendable {
        package var batches: UInt64
        package var failedBatches: UInt64
        package var changes: UInt64
        package var isWithoutRoom: Bool
        package var hasFailed: Bool
        /// The stopwatch's time when the first change of the last tick was durable.
        package var firstCommit: UInt64?
        package var clockBound: Instant
        /// The clock of all threads must stand until another run.
        package var isClockStopping: Bool
    }

    package var standing: Standing {
        Standing(
            batches: self.counters.batches, failedBatches: self.counters.failedBatches, changes: self.counters.changes,
            isWithoutRoom: self.isWithoutRoom, hasFailed: self.failure != nil, firstCommit: self.timing.firstCommit,
            clockBound: self.clockBound,
            isClockStopping: (!self.settlings.isEmpty || !self.barriers.underWay.isEmpty || self.unresolved != nil)
                && self.isClockStopping)
    }

    private static func areMutations(_ requests: [StoreRequest]) -> Bool {
        // By index: to hand out an element copies it, with everything that it refers to.
        for place in requests.indices {
            guard requests[place].isMutation else { return false }
        }
        return true
    }

    /// Writes the lease of a clean stop: no clock has shown more than `wall`, so the next start need not wait.
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

    /// The commit time of a revision; nil if it is not known.
    package func commitTime(of revision: UInt64) -> Instant? {
        guard self.failure == nil, revision > 0 else { return nil }
        return try? self.storage.commitTime(of: revision)
    }

    /// Commits and syncs a renewed lease, which changes no view.
    ///
    /// A watchdog calls it to check that the store still writes. Afterwards `isWithoutRoom` reports a full disk, and
    /// `failure` a failed one.
    package func prove(machine: Instant) {
        guard self.failure == nil, self.unresolved == nil else { return }
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
            try self.renewLease(machine, &batch)
        }
        if error == nil { self.give(back: batch) }
    }

    /// The latest instant that a clock may show: the durable lease, so that a crash never makes a clock run backwards.
    ///
    /// On a full disk no lease can be written. Then there is no bound, because a full disk must not delay expiries. A clock
    /// could run backwards only if a crash follows and the machine's clock is set back too.
    package var clockBound: Instant { self.isWithoutRoom ? .distantFuture : self.header.lease }

    func renewLease(_ machine: Instant, _ batch: inout Batch) throws(StorageError) {
        let lease = machine.advanced(byMilliseconds: Limits.leaseMilliseconds)
        guard lease > batch.header.lease else { return }
        try self.storage.setLease(until: lease)
        batch.header.lease = lease
    }

    /// Closes the storage. Later requests are refused.
    package func close() {
        if self.failure == nil { self.failure = .failed("the server is stopping") }
        self.storage.close()
    }

    /// A batch was written. A batch with a change proves that there is space. A lease fits even into a full disk, so
    /// after a batch without changes the medium is asked.
    func wrote(_ changes: Int) {
        self.isUnreachable = false
        guard self.isWithoutRoom else { return }
        self.isWithoutRoom = changes == 0 && !self.hasRoom
    }

    func fail(_ error: StorageError) {
        self.counters.failedBatches += 1
        switch error {
        case .full: self.isWithoutRoom = true
        case .unreachable, .unknown, .superseded: self.isUnreachable = true
        case .failed, .historyLost, .corrupt, .newerSchema, .newerForm, .olderSchema: self.failure = error
        }
    }

    /// Codes are no part of the log: they live for a minute, and a failover may lose them.
    private func answer(toCode body: StoreRequest.Body) -> StoreAnswer {
        guard case .code(let request) = body, let sharing = self.storage.sharing else {
            preconditionFailure("codes of a store that one process has alone are in its memory")
        }
        if self.isBlind { return .refused(self.blindRefusal) }
        do throws(StorageError) {
            switch request {
            case .keep(let name, let sealed):
                try sharing.keepCode(name, sealed)
                return .code([])
            case .take(let name):
                return .code(try sharing.takeCode(name))
            }
        } catch {
            self.fail(error)
            return .refused(self.refusal(of: error))
        }
    }

    /// The answer to a mutation whose batch failed.
    func refusal(of error: StorageError) -> Refusal {
        switch error {
        case .full: Refusal(.storeFull, error.description)
        case .unreachable, .unknown, .superseded: Refusal(.storeUnreachable, Self.isOutOfReach)
        case .failed, .historyLost, .corrupt, .newerSchema, .newerForm, .olderSchema: self.failedRefusal
        }
    }

    /// For clients: the reason may name addresses, which operators find in the log and in `/status`.
    static let isOutOfReach =
        "the database of the store cannot be reached from this node; nothing was written: try again, or at another node"

    private var unreachableRefusal: Refusal {
        let error = StorageError.unreachable("the outcome of an earlier commit is not known")
        return Refusal(.storeUnreachable, error.description)
    }

    var blindRefusal: Refusal {
        let error = StorageError.unreachable("it has not confirmed a heartbeat of this node for a while")
        return Refusal(.storeUnreachable, error.description)
    }

    var failedRefusal: Refusal {
        Refusal(.storeFailed, self.failure.map(\.description) ?? "the store failed")
    }
}
