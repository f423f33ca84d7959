import PerchBase
import PerchLoop
import Synchronization
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `poller and inbox` {
    @Test func `readiness is reported until it is handled`() throws {
        let pair = try SocketPair()
        let poller = try Poller()
        try poller.watch(pair.server, tag: 0xFEED_0000_0000_0001, for: .readable)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
        #expect(send(pair.client, [1]) == .wrote(1))
        for _ in 0..<3 {
            #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
            #expect(
                poller[0]
                    == Readiness(tag: 0xFEED_0000_0000_0001, readable: true, writable: false, hungUp: false))
        }
        _ = receive(pair.server)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
    }

    @Test func `only requested events are reported, except a hang-up`() throws {
        let pair = try SocketPair()
        let poller = try Poller()
        try poller.watch(pair.server, tag: 1, for: [])
        #expect(send(pair.client, [1]) == .wrote(1))
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
        poller.change(pair.server, tag: 2, to: .writable)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        #expect(poller[0] == Readiness(tag: 2, readable: false, writable: true, hungUp: false))
        try waitUntilReady(pair.server, .readable)
        poller.change(pair.server, tag: 3, to: [.readable, .writable])
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        #expect(poller[0] == Readiness(tag: 3, readable: true, writable: true, hungUp: false))
        poller.change(pair.server, tag: 4, to: [])
        pair.reset(pair.client)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        #expect(poller[0] == Readiness(tag: 4, readable: false, writable: false, hungUp: true))
        poller.forget(pair.server)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
    }

    @Test func `each of many ready descriptors is reported under its own tag`() throws {
        let pairs = try (0..<40).map { _ in try SocketPair() }
        let poller = try Poller()
        for (index, pair) in pairs.enumerated() {
            try poller.watch(pair.server, tag: UInt64(index) << 40, for: .writable)
        }
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == pairs.count)
        let tags = (0..<pairs.count).map { poller[$0].tag }
        #expect(Set(tags) == Set((0..<pairs.count).map { UInt64($0) << 40 }))
    }

    @Test func `an inbox wakes once for a batch, and again only after it was emptied`() throws {
        let wake = try WakeUp()
        let inbox = Inbox<Int>(wake: wake)
        #expect(inbox.post([]) == 0)
        #expect(wake.clear() == 0)
        #expect(inbox.post([1, 2, 3]) == 3)
        #expect(inbox.post(4) == 4)
        #expect(wake.clear() == 1)
        var events: [Int] = []
        inbox.take(into: &events)
        #expect(events == [1, 2, 3, 4])
        events.removeAll(keepingCapacity: true)
        inbox.take(into: &events)
        #expect(events.isEmpty && wake.clear() == 0)
        inbox.post(5)
        #expect(wake.clear() == 1)
    }

    @Test func `each sender's events arrive completely and in order`() throws {
        let posters = 4
        let each = 20_000
        let wake = try WakeUp()
        let inbox = Inbox<(poster: Int, number: Int)>(wake: wake)
        let poller = try Poller()
        try poller.watch(wake.number, tag: 0, for: .readable)
        let threads = try (0..<posters).map { poster in
            try LoopThread(name: "poster \(poster)") {
                for number in stride(from: 0, to: each, by: 2) {
                    inbox.post((poster, number))
                    inbox.post([(poster, number + 1)])
                }
            }
        }
        var next = [Int](repeating: 0, count: posters)
        var events: [(poster: Int, number: Int)] = []
        while next.contains(where: { $0 < each }) {
            try #require(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1, "a wake-up was lost: \(next)")
            wake.clear()
            inbox.take(into: &events)
            for event in events {
                try #require(event.number == next[event.poster])
                next[event.poster] += 1
            }
            events.removeAll(keepingCapacity: true)
        }
        for thread in threads { thread.join() }
    }

    @Test func `an inbox frees the capacity of a burst`() throws {
        let inbox = Inbox<Int>(wake: try WakeUp())
        inbox.post(Array(0..<Limits.inboxCapacityKept * 4))
        var events: [Int] = []
        inbox.take(into: &events)
        #expect(events.capacity > Limits.inboxCapacityKept)
        events.removeAll(keepingCapacity: true)
        inbox.take(into: &events)
        inbox.post(1)
        events.removeAll(keepingCapacity: true)
        inbox.take(into: &events)
        #expect(events == [1] && events.capacity <= Limits.inboxCapacityKept)
    }
}
