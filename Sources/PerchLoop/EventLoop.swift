internal import Glibc
package import PerchBase
internal import Synchronization

/// What an event loop drives: the code between sockets and a core. All of it runs on the loop's thread.
package protocol LoopDriver: AnyObject {
    /// A descriptor that was given to the poller under `tag` is ready. `EventLoop.now` tells the time.
    ///
    /// After a close within the same turn it may be told once more: let tags carry a generation.
    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool)

    /// Called once when the loop begins, and then at the end of each turn: after a batch of ready descriptors and jobs,
    /// after a wake-up, and at least once a minute. Takes inboxes, fires timers, looks at the wall clock, flushes.
    ///
    /// Returns when it wants to be called next if nothing happens; nil: only when something does.
    func turn(now: MonotonicTime) -> MonotonicTime?
}

/// One thread's loop: waits for sockets, hands them to its driver, and runs the Swift jobs of actors that live on it.
///
///     wait ─▶ ready, for each socket ─▶ jobs, at most `Limits.jobsPerTurn` ─▶ turn ─▶ wait
///
/// An actor lives on the loop by returning `asUnownedSerialExecutor()` from `unownedExecutor`. On the loop's thread
/// `assumeIsolated` enters such an actor without a hop: once a turn, not once a frame. A task runs on the loop by
/// `Task(executorPreference: loop)`.
///
/// `@unchecked Sendable`, because executors must be, and `owned`, `batch` and `now` are plain. They are touched only by
/// the thread in `owner`, or, while nobody runs the loop, by the one who holds it to set it up. The check that stands
/// with this claim is `checkOwner`, which traps on any other thread, in release too.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The name of its thread.
    package let name: String

    /// For inboxes, and for whoever else has to end the loop's sleep. Any thread.
    package let wake: WakeUp

    /// The tag of `wake` in the poller. No driver may use it.
    package static let reservedTag = UInt64.max

    private let queue = Mutex<JobQueue>(JobQueue())
    private let stopping = Atomic<Bool>(false)

    /// The thread that runs the loop; 0: none; `promised`: one that was started to.
    private let owner = Atomic<UInt>(0)
    private static let promised = UInt.max

    private let owned: Poller
    private var batch: [UnownedJob] = []
    private var batchNext = 0
    private var turnTime = MonotonicTime.zero

    private struct JobQueue {
        var jobs: [UnownedJob] = []
        /// The loop has been woken, or is about to look here before it sleeps: no need to wake it.
        var isExpected = false
        var phase = Phase.open
    }

    private enum Phase { case open, ended, runningLate }

    package init(name: String) throws(SystemError) {
        self.name = name
        self.wake = try WakeUp()
        self.owned = try Poller()
        try self.owned.watch(self.wake.number, tag: Self.reservedTag, for: .readable)
    }

    // MARK: Its life

    /// Starts a thread that runs the loop. The driver was made here and moves there.
    package func start(
        _ driver: sending any LoopDriver, stackBytes: Int = Limits.loopStackBytes
    ) throws(SystemError) -> LoopThread {
        let (free, other) = self.owner.compareExchange(
            expected: 0, desired: Self.promised, ordering: .acquiringAndReleasing)
        precondition(free, "loop \(self.name) has thread \(other) already")
        // Because: it was sent into this call, and from here on only the new thread knows it. The trap that stands with this
        // is `run`'s: the loop was promised to one thread.
        nonisolated(unsafe) let driver = driver
        do {
            return try LoopThread(name: self.name, stackBytes: stackBytes) { self.run(driver) }
        } catch {
            self.owner.store(0, ordering: .releasing)
            throw error
        }
    }

    /// Runs the loop on the calling thread until `stop`. Once in the life of a loop.
    package func run(_ driver: any LoopDriver) {
        let previous = self.owner.exchange(UInt(pthread_self()), ordering: .acquiringAndReleasing)
        precondition(previous == 0 || previous == Self.promised, "loop \(self.name) is run by two threads")
        precondition(self.queue.withLock { $0.phase == .open }, "loop \(self.name) has ended and is run again")

        self.turnTime = Clocks.monotonic()
        var next = driver.turn(now: self.turnTime)
        while !self.stopping.load(ordering: .acquiring) {
            let timeout = self.hasJobs() ? 0 : Self.sleepMilliseconds(until: next, from: Clocks.monotonic())
            let count = self.owned.wait(timeoutMilliseconds: timeout)
            self.turnTime = Clocks.monotonic()
            for index in 0..<count {
                let event = self.owned[index]
                guard event.tag != Self.reservedTag else {
                    self.wake.clear()
                    continue
                }
                driver.ready(
                    tag: event.tag, readable: event.readable, writable: event.writable, hungUp: event.hungUp)
            }
            self.runJobs()
            next = driver.turn(now: self.turnTime)
        }
        self.end()
    }

    /// Any thread. `run` returns after the turn that is under way, or at once if the loop sleeps.
    ///
    /// Jobs that have not run by then, and those that come later, are run by a thread of their own: a task is never
    /// left hanging because the loop of its actor has ended.
    package func stop() {
        self.stopping.store(true, ordering: .releasing)
        self.wake.signal()
    }

    // MARK: For the driver

    /// What the loop waits for. The loop's thread; before `start` and after the end, whoever holds the loop.
    package var poller: Poller {
        self.checkOwner()
        return self.owned
    }

    /// When this turn began. The loop's thread.
    package var now: MonotonicTime {
        self.checkOwner()
        return self.turnTime
    }

    /// For tests that step a driver by hand: says what `now` is.
    func stand(at now: MonotonicTime) {
        self.checkOwner()
        self.turnTime = now
    }

    /// Whether the caller stands on the loop's thread.
    package var isOnLoop: Bool {
        self.owner.load(ordering: .relaxed) == UInt(pthread_self())
    }

    private func checkOwner() {
        let owner = self.owner.load(ordering: .relaxed)
        precondition(
            owner == UInt(pthread_self()) || owner == 0,
            "loop \(self.name) was touched by another thread than its own: post to an inbox, or await its actor")
    }

    /// Rounded up, so that a deadline has passed when the loop wakes for it.
    package static func sleepMilliseconds(until next: MonotonicTime?, from now: MonotonicTime) -> Int {
        guard let next else { return Limits.loopSleepMaxMilliseconds }
        let nanoseconds = next.nanoseconds(since: now)
        guard nanoseconds > 0 else { return 0 }
        let (milliseconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return min(Int(milliseconds) + (rest > 0 ? 1 : 0), Limits.loopSleepMaxMilliseconds)
    }

    // MARK: Executor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enum Then { case nothing, wake, runLate }
        let then: Then = self.queue.withLock { queue in
            queue.jobs.append(job)
            switch queue.phase {
            case .open where queue.isExpected: return .nothing
            case .open:
                queue.isExpected = true
                return .wake
            case .runningLate: return .nothing
            case .ended:
                queue.phase = .runningLate
                return .runLate
            }
        }
        switch then {
        case .nothing: break
        case .wake: self.wake.signal()
        case .runLate: self.startRunningLate()
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    /// Lets `assumeIsolated` pass on the loop's thread outside of jobs, and traps elsewhere.
    package func checkIsolated() {
        precondition(self.isOnLoop, "this runs on another thread than that of loop \(self.name)")
    }

    package func isIsolatingCurrentContext() -> Bool? { self.isOnLoop }

    /// Before sleeping: are there jobs? From a no onwards, `enqueue` wakes the loop.
    private func hasJobs() -> Bool {
        guard self.batchNext == self.batch.count else { return true }
        return self.queue.withLock { queue in
            queue.isExpected = !queue.jobs.isEmpty
            return queue.isExpected
        }
    }

    /// Until there are none, or the turn has had its share. Jobs that jobs enqueue are of the same turn: a chain of
    /// awaits between actors of this loop costs no system call a link.
    private func runJobs() {
        for _ in 0..<Limits.jobsPerTurn {
            if self.batchNext == self.batch.count {
                self.takeJobs()
                if self.batch.isEmpty { return }
            }
            let job = self.batch[self.batchNext]
            self.batchNext += 1
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }

    /// By one swap: the two arrays change places, and nothing is allocated.
    private func takeJobs() {
        self.batch.removeAll(keepingCapacity: true)
        self.batchNext = 0
        var taken = self.batch
        self.batch = []
        self.queue.withLock { queue in
            swap(&queue.jobs, &taken)
            queue.isExpected = true
        }
        self.batch = taken
    }

    // MARK: After the end

    private func end() {
        let left = Array(self.batch[self.batchNext...])
        self.batch = []
        self.batchNext = 0
        self.owner.store(0, ordering: .releasing)
        let runLate = self.queue.withLock { queue in
            queue.jobs.insert(contentsOf: left, at: 0)
            queue.phase = queue.jobs.isEmpty ? .ended : .runningLate
            return !queue.jobs.isEmpty
        }
        if runLate { self.startRunningLate() }
    }

    /// A thread that owns the loop for as long as there are jobs.
    private func startRunningLate() {
        do {
            try LoopThread.startDetached(name: self.name) { self.runLate() }
        } catch {
            fatalError("jobs of the ended loop \(self.name) cannot be run: \(error)")
        }
    }

    private func runLate() {
        let previous = self.owner.exchange(UInt(pthread_self()), ordering: .acquiringAndReleasing)
        precondition(previous == 0, "loop \(self.name) has ended and is run by two threads")
        while true {
            self.takeJobs()
            guard self.batch.isEmpty else {
                while self.batchNext < self.batch.count { self.runJobs() }
                continue
            }
            // Given up before the phase says so, or the next late thread could meet this one's name.
            self.owner.store(0, ordering: .releasing)
            let ended = self.queue.withLock { queue in
                if queue.jobs.isEmpty { queue.phase = .ended }
                return queue.jobs.isEmpty
            }
            if ended { return }
            self.owner.store(UInt(pthread_self()), ordering: .releasing)
        }
    }
}
