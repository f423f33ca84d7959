import PerchBase
import PerchLoop
import Synchronization
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `event loop` {
    @Test func `an actor pinned to a loop runs on its thread, in order`() async throws {
        let loop = try EventLoop(name: "pinned")
        let thread = try loop.start(IdleDriver())
        let counter = Counter(on: loop)
        #expect(await counter.isOnLoop)
        for _ in 0..<1_000 { await counter.increment() }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { for _ in 0..<100 { await counter.increment() } } }
        }
        #expect(await counter.count == 11_000)
        #expect(!loop.isOnLoop)
        loop.stop()
        thread.join()
    }

    @Test func `a task that prefers a loop runs on its thread`() async throws {
        let loop = try EventLoop(name: "preferred")
        let thread = try loop.start(IdleDriver())
        #expect(await Task(executorPreference: loop) { loop.isOnLoop }.value)
        loop.stop()
        thread.join()
    }

    @Test func `a driver enters an actor of its loop without a hop`() async throws {
        let loop = try EventLoop(name: "entered")
        let counter = Counter(on: loop)
        let thread = try loop.start(TurnDriver(each: { _ in counter.incrementAsIfOnLoop() }))
        #expect(await counter.count >= 1, "the first iteration precedes the first job")
        loop.stop()
        thread.join()
    }

    @Test func `assumeIsolated off the loop traps`() async {
        await #expect(processExitsWith: .failure) {
            let counter = Counter(on: try EventLoop(name: "elsewhere"))
            counter.incrementAsIfOnLoop()
        }
    }

    @Test func `using a loop's poller from another thread traps`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop(name: "guarded")
            let thread = try loop.start(IdleDriver())
            _ = loop.poller
            loop.stop()
            thread.join()
        }
    }

    @Test func `sockets are not starved by tasks that never pause`() async throws {
        let pair = try SocketPair()
        let loop = try EventLoop(name: "busy")
        let seen = Flag()
        try loop.poller.watch(pair.server, tag: 9, for: .readable)
        let server = pair.server
        let thread = try loop.start(
            ReadyDriver { tag in
                #expect(tag == 9 && receive(server).bytes == [1])
                seen.raise()
            })
        let spinner = Task(executorPreference: loop) { while !seen.isRaised { await Task.yield() } }
        #expect(send(pair.client, [1]) == .wrote(1))
        await spinner.value
        loop.stop()
        thread.join()
        withExtendedLifetime(pair) {}
    }

    @Test func `an iteration runs a bounded number of jobs, and later ones run the rest`() async throws {
        let loop = try EventLoop(name: "bounded")
        let ran = Tally()
        let tasks = (0..<Limits.jobsPerTurn * 3 + 7).map { _ in
            Task(executorPreference: loop) { ran.add() }
        }
        let log = Inbox<Int>(wake: try WakeUp())
        let thread = try loop.start(TurnDriver(each: { _ in log.post(ran.count) }))
        for task in tasks { await task.value }
        loop.stop()
        thread.join()
        var counts: [Int] = []
        log.take(into: &counts)
        #expect(counts.first == 0)
        #expect(ran.count == tasks.count)
        for (before, after) in zip(counts, counts.dropFirst()) { #expect(after - before <= Limits.jobsPerTurn) }
    }

    @Test func `the driver is called at its requested time, not earlier`() throws {
        let loop = try EventLoop(name: "timed")
        var wanted: MonotonicTime?
        var turns = 0
        loop.run(
            TurnDriver { now in
                turns += 1
                guard let due = wanted, now >= due else {
                    #expect(wanted == nil, "woken before the requested time without an event")
                    wanted = now.advanced(byMilliseconds: 3)
                    return wanted
                }
                loop.stop()
                return nil
            })
        #expect(turns == 2)
    }

    @Test(
        arguments: [
            (nil, 60_000), (-1, 0), (0, 0), (1, 1), (1_000_000, 1), (1_000_001, 2), (59_999_000_000, 59_999),
            (60_000_000_001, 60_000), (Int64.max, 60_000),
        ] as [(Int64?, Int)])
    func `a loop sleeps until the next deadline, rounded up, at most a minute`(ahead: Int64?, expected: Int) {
        let now = MonotonicTime(nanoseconds: 12_345)
        let next = ahead.map { now.advanced(byNanoseconds: $0) }
        #expect(EventLoop.sleepMilliseconds(until: next, from: now) == expected)
    }

    @Test func `an event posted by another thread arrives in an iteration`() throws {
        let loop = try EventLoop(name: "posted")
        let inbox = Inbox<Int>(wake: loop.wake)
        var events: [Int] = []
        let thread = try LoopThread(name: "poster") { for number in 0..<500 { inbox.post(number) } }
        var next = 0
        loop.run(
            TurnDriver { _ in
                inbox.take(into: &events)
                for event in events {
                    #expect(event == next)
                    next += 1
                }
                events.removeAll(keepingCapacity: true)
                if next == 500 { loop.stop() }
                return nil
            })
        thread.join()
        #expect(next == 500)
    }

    @Test func `a stopped loop runs one iteration and returns`() throws {
        let loop = try EventLoop(name: "stopped")
        loop.stop()
        var turns = 0
        loop.run(
            TurnDriver { _ in
                turns += 1
                return nil
            })
        #expect(turns == 1)
    }

    @Test func `a loop cannot be run again`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop(name: "once")
            loop.stop()
            loop.run(IdleDriver())
            loop.run(IdleDriver())
        }
    }

    @Test func `no task hangs because the loop of its actor has ended`() async throws {
        let loop = try EventLoop(name: "ended")
        let counter = Counter(on: loop)
        loop.stop()
        // Still queued when the loop ends, because it was enqueued before the first iteration.
        let waiting = Task(executorPreference: loop) { loop.isOnLoop }
        loop.run(IdleDriver())
        #expect(await waiting.value)
        for _ in 0..<50 {
            await counter.increment()
            #expect(await counter.isOnLoop)
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { for _ in 0..<50 { await counter.increment() } } }
        }
        #expect(await counter.count == 2_550)
    }
}

private actor Counter {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }
    private(set) var count = 0

    init(on loop: EventLoop) { self.loop = loop }

    var isOnLoop: Bool { self.loop.isOnLoop }

    func increment() { self.count += 1 }

    nonisolated func incrementAsIfOnLoop() { self.assumeIsolated { $0.increment() } }
}

private final class IdleDriver: LoopDriver {
    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {}

    func turn(now: MonotonicTime) -> MonotonicTime? { nil }
}

private final class TurnDriver: LoopDriver {
    private let body: (MonotonicTime) -> MonotonicTime?

    init(_ body: @escaping (MonotonicTime) -> MonotonicTime?) { self.body = body }

    convenience init(each body: @escaping (MonotonicTime) -> Void) {
        self.init { now in
            body(now)
            return nil
        }
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {}

    func turn(now: MonotonicTime) -> MonotonicTime? { self.body(now) }
}

private final class ReadyDriver: LoopDriver {
    private let body: (UInt64) -> Void

    init(_ body: @escaping (UInt64) -> Void) { self.body = body }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) { self.body(tag) }

    func turn(now: MonotonicTime) -> MonotonicTime? { nil }
}

private final class Flag: Sendable {
    private let raised = Atomic<Bool>(false)

    var isRaised: Bool { self.raised.load(ordering: .acquiring) }

    func raise() { self.raised.store(true, ordering: .releasing) }
}

private final class Tally: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { self.number.load(ordering: .acquiring) }

    func add() { self.number.add(1, ordering: .acquiringAndReleasing) }
}
