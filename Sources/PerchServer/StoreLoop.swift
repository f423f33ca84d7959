import PerchBase
import PerchLoop
import PerchMetrics
import PerchModel
import PerchStore

/// Drives the store's engine on its own thread: takes all queued requests, runs them as one batch, and sends the
/// results to every loop.
///
/// A store in memory never waits for a disk. With one loop it has no thread: the loop steps it within its own tick
/// (`turn(now:asks:)`), as often as enough requests wait. So a change is pushed in the tick in which it came, and no
/// thread has to be woken.
///
/// The properties of the hot path are not checked for exclusive access: no callee calls back.
/// With the checks, here and in `ServerLoop`, a change alone in its tick costs 5,000 instructions more (callgrind of
/// `perch serve --loops 2` under `perch bench keyed --rate 100`).
final class StoreLoop: LoopDriver {
    private let engine: StoreEngine
    private let inbox: Inbox<StoreRequest>
    private let questions: Inbox<StoreQuestion>
    private let loops: [Inbox<LoopEvent>]
    private let control: Inbox<ControlEvent>
    private let clock: StoreClock
    @exclusivity(unchecked) private var requests: [StoreRequest] = []
    @exclusivity(unchecked) private var asked: [StoreQuestion] = []
    @exclusivity(unchecked) private var measures = StoreMeasures()
    /// The results of a tick for every loop; empty between ticks.
    @exclusivity(unchecked) private var outbox: StoreEngine.Outbox
    /// The backup under way.
    @exclusivity(unchecked) private var copying: CopyRun?
    /// The count of subscriptions under way. It runs only after somebody asked for a report.
    private var counting: SubscriptionCount?
    /// When the count may go on.
    private var countingPause: MonotonicTime?
    private var counted: SubscriptionReport?
    private var failedCommit: Instant?
    @exclusivity(unchecked) private var wasWithoutRoom = false
    private var hasToldFailure = false
    @exclusivity(unchecked) private var sharing = Sharing()
    /// Nil where nothing asks the App Store back.
    private let reconciler: ReconcileThread?
    /// For the descriptor of notifications; nil where no other thread would see it.
    private let poller: Poller?

    /// The part of a node among several.
    private struct Sharing {
        var isOn = false
        /// The number of the connection whose descriptor is watched; -1: none.
        var watched = -1
        var calls = 0
        var isDraining = false
        /// Until when the reconciler was told that it may send.
        var sendsUntil: MonotonicTime?
        /// The loops were told that this node is cut off.
        var wasBlind = false
        /// As it was last reported; nil: it can vouch.
        var obstacle: ReachObstacle?
        /// They were told that it has been for long.
        var hasSentAway = false
        /// The jump of the storage's clock that was last reported, in milliseconds.
        var clockJump: Int64 = 0
    }
    /// The storage is closed: later requests get no answer, because the process is ending.
    @exclusivity(unchecked) private var hasStopped = false

    init(
        engine: StoreEngine, inbox: Inbox<StoreRequest>, questions: Inbox<StoreQuestion>, loops: [Inbox<LoopEvent>],
        control: Inbox<ControlEvent>, clock: StoreClock, reconciler: ReconcileThread? = nil, poller: Poller? = nil
    ) {
        self.engine = engine
        self.inbox = inbox
        self.questions = questions
        self.loops = loops
        self.outbox = StoreEngine.Outbox(loops: loops.count, askers: reconciler == nil ? 1 : 2)
        self.control = control
        self.reconciler = reconciler
        self.clock = clock
        self.poller = poller
        self.sharing.isOn = engine.sharing != nil
        self.engine.timing.stopwatch = Clocks.microseconds
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {}

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.inbox.take(into: &self.requests)
        guard let batch = self.run(now: now) else { return nil }
        // Before any other work, so that the loops wait as little as possible.
        for loop in self.loops.indices where !self.outbox.events[loop].isEmpty {
            // Moved, not shared, so that the loop can consume the list without copying it.
            var events: [StoreEvent] = []
            swap(&events, &self.outbox.events[loop])
            self.loops[loop].post(.store(events, committed: batch.committed))
        }
        return self.finish(batch)
    }

    /// Runs a tick for the loop that drives this store on its own thread. `asks` are the loop's requests, and are
    /// consumed. `told` receives the events, and must be empty before.
    func turn(
        now: MonotonicTime, asks: inout [StoreRequest], told: inout [StoreEvent]
    ) -> (committed: UInt64?, wake: MonotonicTime?) {
        precondition(told.isEmpty, "a loop has \(told.count) unhandled events")
        self.inbox.take(into: &self.requests)
        if self.requests.isEmpty {
            swap(&self.requests, &asks)
        } else {
            self.requests.append(contentsOf: asks)
            asks.removeAll(keepingCapacity: true)
        }
        guard let batch = self.run(now: now) else { return (nil, nil) }
        swap(&told, &self.outbox.events[0])
        return (batch.committed, self.finish(batch))
    }

    /// The result of a tick; the events for the loops are in the outbox.
    private struct Batch {
        let now: MonotonicTime
        let wall: Instant
        let machine: Instant
        /// When the engine wants to run again.
        let next: Instant?
        let failedBefore: UInt64
        /// When the first of its changes became durable.
        let committed: UInt64?
    }

    /// Runs the queued requests; nil after the store has stopped.
    private func run(now: MonotonicTime) -> Batch? {
        if self.hasStopped {
            self.requests.removeAll()
            return nil
        }
        if self.engine.stopsClock(self.requests) { self.clock.hold() }
        if self.sharing.isOn, let sharing = self.engine.sharing { self.share(sharing) }
        let wall = self.clock.now()
        let machine = self.clock.machine()
        if !self.requests.isEmpty { self.measures.inboxRequests.record(UInt64(self.requests.count)) }
        let before = self.engine.standing
        let next = self.engine.run(self.requests, wall: wall, machine: machine, into: &self.outbox)
        self.requests.removeAll(keepingCapacity: true)
        if self.sharing.isOn { self.clock.reach(self.engine.newestPassed) }
        let after = self.engine.standing
        if after.batches > before.batches {
            self.measures.batchMicroseconds.record(
                UInt64(max(0, Clocks.monotonic().nanoseconds(since: now) / 1_000)))
        }
        return Batch(
            now: now, wall: wall, machine: machine, next: next, failedBefore: before.failedBatches,
            committed: after.changes > before.changes ? after.firstCommit : nil)
    }

    /// Does the work that can wait until the loops have their events, and returns when to run again.
    private func finish(_ batch: Batch) -> MonotonicTime? {
        for case .answer(let ticket, let answer) in self.outbox.events[self.loops.count] {
            self.control.post(.storeAnswer(ticket: ticket, answer))
        }
        if let reconciler = self.reconciler {
            for case .answer(let ticket, let answer) in self.outbox.events[self.loops.count + 1] {
                reconciler.inbox.post(.stored(ticket: ticket, answer))
            }
        }
        self.outbox.clear()
        self.answerQuestions(wall: batch.wall, machine: batch.machine, now: batch.now)
        self.countSome(wall: batch.wall, machine: batch.machine, now: batch.now)
        let standing = self.engine.standing
        var wentOn = !standing.hasFailed && self.clock.extend(to: standing.clockBound, machine: batch.machine)
        if !standing.isClockStopping, self.clock.release() { wentOn = true }
        // Their next instants may be due already.
        if wentOn { for loop in self.loops { loop.post(.clockWentOn) } }
        self.copySome()
        if standing.failedBatches > batch.failedBefore { self.failedCommit = batch.machine }
        self.tellRoom(isThere: !standing.isWithoutRoom)
        self.tellReach()
        if standing.hasFailed, let failure = self.engine.failure, !self.hasToldFailure, !self.hasStopped {
            self.hasToldFailure = true
            self.control.post(.storeFailed(failure.description))
        }
        if self.hasStopped { return nil }
        // Requests that came meanwhile are taken first.
        if self.copying != nil { return batch.now }
        var next = batch.next.map { batch.now.advanced(byMilliseconds: max(0, $0.milliseconds(since: batch.machine))) }
        if self.sharing.isOn {
            let poll = batch.now.advanced(byMilliseconds: Limits.feedPollMilliseconds)
            next = min(next ?? poll, poll)
        }
        guard self.counting != nil, let pause = self.countingPause else { return next }
        return next.map { min($0, pause) } ?? pause
    }

    /// Reports when writing stops for lack of space, and when it resumes.
    private func tellRoom(isThere: Bool) {
        guard isThere == self.wasWithoutRoom, !self.hasStopped else { return }
        self.wasWithoutRoom = !isThere
        self.control.post(.storeRoom(isThere: isThere))
    }

    /// Stops the heartbeats of the loops while this node cannot vouch for a position, and reports it.
    private func tellReach() {
        guard self.sharing.isOn, !self.hasStopped else { return }
        // Alone, or while the database refuses everybody, it keeps its clients: they would be no better off at another node.
        if self.engine.isBlind, !self.sharing.hasSentAway, self.engine.hasOtherNodes,
            let sharing = self.engine.sharing, sharing.obstacle == .silence,
            sharing.sinceBeat > Limits.nodeGoneMilliseconds
        {
            self.sharing.hasSentAway = true
            for loop in self.loops { loop.post(.sendAway) }
        }
        let obstacle = self.engine.isBlind ? self.engine.sharing?.obstacle : nil
        if obstacle != self.sharing.obstacle {
            self.control.post(.storeReach(obstacle, reason: self.engine.sharing?.databaseFigures.lastLoss ?? ""))
        }
        self.sharing.obstacle = obstacle
        guard self.engine.isBlind != self.sharing.wasBlind else { return }
        self.sharing.wasBlind = self.engine.isBlind
        if !self.engine.isBlind { self.sharing.hasSentAway = false }
        for loop in self.loops { loop.post(.reach(isFresh: !self.engine.isBlind)) }
    }

    private func answerQuestions(wall: Instant, machine: Instant, now: MonotonicTime) {
        self.questions.take(into: &self.asked)
        for question in self.asked {
            switch question {
            case .report(let number, let proves):
                if proves { self.engine.prove(machine: machine) }
                self.beginCount(machine: machine)
                self.countSome(wall: wall, machine: machine, now: now)
                self.control.post(.storeReport(number: number, self.report()))
            case .copy(let path):
                self.beginCopy(path)
            case .node(let calls, let isDraining):
                self.sharing.calls = calls
                self.sharing.isDraining = isDraining
            case .stop:
                self.endCopy("the server is stopping; ask for a backup when it has started again")
                self.engine.writeLeaseAtStop(wall: wall)
                self.engine.close()
                self.hasStopped = true
                self.counting = nil
                self.control.post(.storeStopped)
            }
        }
        self.asked.removeAll(keepingCapacity: true)
    }

    // MARK: Several nodes

    private static let notificationTag: UInt64 = 1

    /// Heartbeats and notifications, before each tick.
    private func share(_ sharing: any StoreSharing) {
        sharing.beat(
            NodeState(
                calls: self.sharing.calls, isDraining: self.sharing.isDraining,
                wantsToSend: self.reconciler?.figures.asksAboutApps ?? false))
        self.tellRightToSend(sharing.sendsForMilliseconds)
        self.clock.follow(offset: sharing.clockOffset)
        let jump = sharing.clockJump
        if (jump != 0) != (self.sharing.clockJump != 0) { self.control.post(.storeClock(jumpMilliseconds: jump)) }
        self.sharing.clockJump = jump
        self.clock.vouch(sinceBeat: sharing.sinceBeat, now: Clocks.monotonic())
        let (descriptor, number) = (sharing.descriptor, sharing.connectionNumber)
        guard descriptor >= 0, number != self.sharing.watched, let poller = self.poller else { return }
        // A closed descriptor is not watched any more.
        guard (try? poller.watch(descriptor, tag: Self.notificationTag, for: .readable)) != nil else { return }
        self.sharing.watched = number
    }

    /// Tells the reconciler how long it may send: when a heartbeat has renewed that, and when it has ended.
    private func tellRightToSend(_ milliseconds: Int64) {
        guard let reconciler = self.reconciler?.inbox else { return }
        let until = Clocks.monotonic().advanced(byMilliseconds: milliseconds)
        guard milliseconds > 0 else {
            if self.sharing.sendsUntil != nil { reconciler.post(.maySend(until: nil)) }
            self.sharing.sendsUntil = nil
            return
        }
        // Two readings of one end differ by some milliseconds.
        if let known = self.sharing.sendsUntil, until.milliseconds(since: known) < 500 { return }
        self.sharing.sendsUntil = until
        reconciler.post(.maySend(until: until))
    }

    // MARK: Counting

    /// Begins a count where the last one is old.
    private func beginCount(machine: Instant) {
        guard self.counting == nil, self.engine.canCount, !self.hasStopped else { return }
        if let counted, machine.milliseconds(since: counted.counted) < Limits.subscriptionCountMilliseconds { return }
        self.counting = self.engine.beginSubscriptionCount()
        self.countingPause = nil
    }

    /// Counts within the budget of a tick, at most once in a pause, so that a store under load loses 1 % of its time.
    private func countSome(wall: Instant, machine: Instant, now: MonotonicTime) {
        guard var count = self.counting, self.engine.failure == nil else {
            self.counting = nil
            return
        }
        if let pause = self.countingPause, now < pause { return }
        guard self.engine.canCount else {
            self.countingPause = now.advanced(byMilliseconds: Limits.subscriptionCountPauseMilliseconds)
            return
        }
        let began = Clocks.microseconds()
        do throws(StorageError) {
            while !count.isComplete, Clocks.microseconds() &- began < Limits.subscriptionCountTurnMicroseconds {
                try self.engine.count(&count, wall: wall)
            }
        } catch {
            // The next request of a client finds the same error, and reports it.
            self.counting = nil
            return
        }
        guard count.isComplete else {
            self.counting = count
            self.countingPause = now.advanced(byMilliseconds: Limits.subscriptionCountPauseMilliseconds)
            return
        }
        self.counting = nil
        self.counted = SubscriptionReport(count: count, counted: machine)
    }

    // MARK: Copying

    private func beginCopy(_ path: String) {
        do throws(CopyFault) {
            self.copying = CopyRun(try self.engine.beginCopy(at: path), path: path)
        } catch {
            self.control.post(.copied(.failed(error.description)))
        }
    }

    private func copySome() {
        guard self.copying != nil else { return }
        if self.engine.failure != nil { return self.endCopy("the store failed; its backup is given up") }
        let outcome = self.copying?.turn(
            revision: self.engine.header.revision, stalls: &self.measures.copyStallMicroseconds)
        guard let outcome else { return }
        self.copying = nil
        self.control.post(.copied(outcome))
    }

    private func endCopy(_ reason: String) {
        guard let copying = self.copying else { return }
        self.copying = nil
        self.control.post(.copied(copying.given(up: reason)))
    }

    private func report() -> StoreReport {
        self.measures.commitMicroseconds = self.engine.timing.commitMicroseconds
        self.measures.batchChanges = self.engine.timing.batchChanges
        return StoreReport(
            counters: self.engine.counters,
            census: StoreCensus(
                records: self.engine.recordsCached, cacheBytes: self.engine.cacheBytes,
                cacheHits: self.engine.cacheHits, cacheMisses: self.engine.cacheMisses,
                cacheEvictions: self.engine.cacheEvictions, revision: self.engine.header.revision),
            figures: self.engine.figures, measures: self.measures, isWithoutRoom: self.engine.isWithoutRoom,
            failure: self.engine.failure?.description, failedCommit: self.failedCommit, apps: self.apps(),
            subscriptions: self.counted, sharing: self.engine.sharing.map { SharingReport($0) })
    }

    private func apps() -> [AppReport] {
        self.engine.apps.states.filter { !$0.isGuest }.map { app in
            AppReport(
                bundleID: app.bundleID, environment: app.environment, productCount: app.catalogue.products.count,
                catalogueRevision: app.catalogueRevision,
                catalogueLoaded: self.engine.commitTime(of: app.catalogueRevision),
                namesEntitlements: !app.catalogue.entitlements.isEmpty)
        }
    }
}

/// Questions of the control thread to the store's thread.
enum StoreQuestion: Sendable {
    /// `proves`: commit first, so that the answer proves that the store still writes.
    case report(number: UInt64, proves: Bool)
    /// Copies the store into a new file. Must not be sent while a copy is running.
    case copy(path: String)
    /// What this node says of itself to the others.
    case node(calls: Int, isDraining: Bool)
    case stop
}
