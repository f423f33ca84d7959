internal import Glibc
package import PerchBase
internal import Synchronization

/// The code that an event loop drives, between sockets and a core. All of it runs on the loop's thread.
package protocol LoopDriver: AnyObject {
    /// Handles a ready descriptor, which the driver registered under `tag`. `EventLoop.now` is the time.
    ///
    /// One more event may arrive after a close in the same iteration, so tags need a generation.
    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool)

    /// Runs once at start and at the end of each iteration: after a batch of ready descriptors and jobs, after a
    /// wake-up, and at least once a minute. It empties inboxes, fires timers, reads the wall clock and flushes.
    ///
    /// Returns the time of the next call if nothing happens before; nil waits for an event.
    func turn(now: MonotonicTime) -> MonotonicTime?
}

/// One thread's event loop: waits for sockets, passes them to its driver, and runs the Swift jobs of its actors.
///
///     wait ─▶ ready, for each socket ─▶ jobs, at most `Limits.jobsPerTurn` ─▶ turn ─▶ wait
///
/// An actor runs on the loop by returning `asUnownedSerialExecutor()` from `unownedExecutor`. On the loop's thread
/// `assumeIsolated` enters such an actor without a hop: once an iteration, not once a frame. A task runs on the loop by
/// `Task(executorPreference: loop)`.
///
/// `@unchecked Sendable`, because executors must be Sendable, and `owned`, `batch` and `now` are plain. Only the thread
/// in `owner` accesses them, or the creator while no thread runs the loop. `checkOwner` enforces this: it traps on any
/// other thread, in release builds too.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The name of its thread.
    package let name: String

    /// Ends the loop's sleep; for inboxes and other threads. Any thread may use it.
    package let wake: WakeUp

    /// The tag of `wake` in the poller. Drivers must not use it.
    package static let reservedTag = UInt64.max

    private let queue = Mutex<JobQueue>(JobQueue())
    private let stopping = Atomic<Bool>(false)

    /// The thread that runs the loop: 0 for none, `promised` for one that is starting.
    private let owner = Atomic<UInt>(0)
    private static let promised = UInt.max

    private let owned: Poller
    private var batch: [UnownedJob] = []
    private var batchNext = 0
    private var turnTime = MonotonicTime.zero

    private struct JobQueue {
        var jobs: [UnownedJob] = []
        /// The loop is awake, or will check the queue before it sleeps, so it needs no wake-up.
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

    // MARK: Start and stop

    /// Starts a thread that runs the loop, and moves the driver to it.
    package func start(
        _ driver: sending any LoopDriver, stackBytes: Int = Limits.loopStackBytes
    ) throws(SystemError) -> LoopThread {
        let (free, other) = self.owner.compareExchange(
            expected: 0, desired: Self.promised, ordering: .acquiringAndReleasing)
        precondition(free, "loop \(self.name) has thread \(other) already")
        // Safe because the driver was sent into this call, and only the new thread uses it from here on. `run` traps if
        // a second thread runs the loop.
        nonisolated(unsafe) let driver = driver
        do {
            return try LoopThread(name: self.name, stackBytes: stackBytes) { self.run(driver) }
        } catch {
            self.owner.store(0, ordering: .releasing)
            throw error
        }
    }

    /// Runs the loop on the calling thread until `stop`. Call it at most once.
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

    /// Stops the loop: `run` returns after the current iteration, or at once if the loop sleeps. Any thread may call
    /// it.
    ///
    /// A separate thread runs the remaining and later jobs. A task therefore never hangs because its actor's loop has
    /// ended.
    package func stop() {
        self.stopping.store(true, ordering: .releasing)
        self.wake.signal()
    }

    // MARK: For the driver

    /// The poller. Only the loop's thread may use it, or the creator before `start` and after the end.
    package var poller: Poller {
        self.checkOwner()
        return self.owned
    }

    /// The start of this iteration. Only the loop's thread may read it.
    package var now: MonotonicTime {
        self.checkOwner()
        return self.turnTime
    }

    /// Sets `now`, for tests that step a driver by hand.
    func setNow(_ now: MonotonicTime) {
        self.checkOwner()
        self.turnTime = now
    }

    /// Whether the caller runs on the loop's thread.
    package var isOnLoop: Bool {
        self.owner.load(ordering: .relaxed) == UInt(pthread_self())
    }

    private func checkOwner() {
        let owner = self.owner.load(ordering: .relaxed)
        precondition(
            owner == UInt(pthread_self()) || owner == 0,
            "loop \(self.name) was accessed from another thread: post to an inbox, or await its actor")
    }

    /// Rounded up, so that the deadline has passed when the loop wakes.
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

    /// Allows `assumeIsolated` on the loop's thread outside of jobs, and traps elsewhere.
    package func checkIsolated() {
        precondition(self.isOnLoop, "this runs on another thread than that of loop \(self.name)")
    }

    package func isIsolatingCurrentContext() -> Bool? { self.isOnLoop }

    /// Whether jobs are queued, checked before sleeping. After a false result, `enqueue` wakes the loop.
    private func hasJobs() -> Bool {
        guard self.batchNext == self.batch.count else { return true }
        return self.queue.withLock { queue in
            queue.isExpected = !queue.jobs.isEmpty
            return queue.isExpected
        }
    }

    /// Runs jobs until the queue is empty or the iteration's limit is reached. It includes jobs that jobs enqueue, so a
    /// chain of awaits between actors of this loop needs no system call for each step.
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

    /// Swaps the two arrays, so nothing is allocated.
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

    // MARK: Jobs after the end

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

    /// Starts a thread that owns the loop while there are jobs.
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
            // Release ownership before the phase changes; otherwise the next late thread could find this one still
            // registered.
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
