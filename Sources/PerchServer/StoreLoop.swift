import PerchBase
import PerchLoop
import PerchMetrics
import PerchStore

/// Drives the store's engine on a thread of its own: takes all that waits, runs it as one batch, tells every loop.
final class StoreLoop: LoopDriver {
    private let engine: StoreEngine
    private let inbox: Inbox<StoreRequest>
    private let questions: Inbox<StoreQuestion>
    private let loops: [Inbox<LoopEvent>]
    private let control: Inbox<ControlEvent>
    private let clock: StoreClock
    private var requests: [StoreRequest] = []
    private var asked: [StoreQuestion] = []
    /// Microseconds that a batch took, from taking it to the end of its commit.
    private var batchMicroseconds = Histogram()
    private var hasToldFailure = false
    /// The storage is closed: whoever still asks is not answered, the process is ending.
    private var hasStopped = false

    init(
        engine: StoreEngine, inbox: Inbox<StoreRequest>, questions: Inbox<StoreQuestion>, loops: [Inbox<LoopEvent>],
        control: Inbox<ControlEvent>, clock: StoreClock
    ) {
        self.engine = engine
        self.inbox = inbox
        self.questions = questions
        self.loops = loops
        self.control = control
        self.clock = clock
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {}

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.inbox.take(into: &self.requests)
        if self.hasStopped {
            self.requests.removeAll()
            return nil
        }
        let wall = self.clock.now()
        let machine = Clocks.wall()
        var outbox = StoreEngine.Outbox(loops: self.loops.count, askers: 1)
        let batches = self.engine.counters.batches
        let next = self.engine.run(self.requests, wall: wall, machine: machine, into: &outbox)
        self.requests.removeAll(keepingCapacity: true)
        if self.engine.counters.batches > batches {
            self.batchMicroseconds.record(UInt64(max(0, Clocks.monotonic().nanoseconds(since: now) / 1_000)))
        }
        for loop in self.loops.indices where !outbox.events[loop].isEmpty {
            self.loops[loop].post(outbox.events[loop].map { LoopEvent.store($0) })
        }
        for case .answer(let ticket, let answer) in outbox.events[self.loops.count] {
            self.control.post(.storeAnswer(ticket: ticket, answer))
        }
        self.answerQuestions(wall: wall)
        if let failure = self.engine.failure, !self.hasToldFailure, !self.hasStopped {
            self.hasToldFailure = true
            self.control.post(.storeFailed(failure.description))
        }
        if self.hasStopped { return nil }
        return next.map { now.advanced(byMilliseconds: max(0, $0.milliseconds(since: machine))) }
    }

    private func answerQuestions(wall: Instant) {
        self.questions.take(into: &self.asked)
        for question in self.asked {
            switch question {
            case .report(let number):
                self.control.post(
                    .storeReport(
                        number: number, self.engine.counters, self.batchMicroseconds,
                        StoreCensus(
                            records: self.engine.recordsCached, cacheBytes: self.engine.cacheBytes,
                            cacheHits: self.engine.cacheHits, cacheMisses: self.engine.cacheMisses,
                            revision: self.engine.header.revision)))
            case .stop:
                self.engine.writeLeaseAtStop(wall: wall)
                self.engine.close()
                self.hasStopped = true
                self.control.post(.storeStopped)
            }
        }
        self.asked.removeAll(keepingCapacity: true)
    }
}

/// What the control thread asks of the store's thread.
enum StoreQuestion: Sendable {
    case report(number: UInt64)
    case stop
}

/// How much the store holds in memory.
struct StoreCensus: Sendable {
    var records: Int
    var cacheBytes: Int
    var cacheHits: Int
    var cacheMisses: Int
    var revision: UInt64
}
