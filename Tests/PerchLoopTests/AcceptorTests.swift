import CPerchLinux
import Glibc
import PerchBase
import PerchLoop
import Testing
import TestingThreads

/// Ends the test's child process if a condition is false. The exit code is the line number modulo 256, because the
/// child's output is lost.
private func orExit(_ holds: Bool, line: Int32 = #line) {
    if !holds { exit(line & 0xFF) }
}

@Suite(.onOwnThreads) struct `acceptor` {
    private static let farewell = Array("full, come back later".utf8)

    @Test func `an iteration accepts a bounded number, and the next one the rest`() throws {
        let poller = try Poller()
        let acceptor = try Acceptor(
            try Sockets.listen(on: .loopback(port: 0), reusePort: false), tag: 5, on: poller,
            budget: ConnectionBudget(limit: 2 * Limits.acceptsPerTurn))
        let clients = try Clients(Limits.acceptsPerTurn + 3, to: acceptor.address)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        #expect(poller[0].tag == 5)
        var accepted: [Int32] = []
        defer { for fd in accepted { Sockets.close(fd) } }
        acceptor.ready(now: .zero) { fd, peer in
            accepted.append(fd)
            #expect(Sockets.peerAddress(fd) == peer)
        }
        #expect(accepted.count == Limits.acceptsPerTurn)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        acceptor.ready(now: .zero) { fd, _ in accepted.append(fd) }
        #expect(accepted.count == clients.count)
        #expect(acceptor.counters.accepted == UInt64(clients.count) && acceptor.counters.pauses == 0)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
    }

    @Test func `a connection beyond the limit gets the farewell and is counted, and the listener pauses`() throws {
        let poller = try Poller()
        let budget = ConnectionBudget(limit: 2)
        let acceptor = try Acceptor(
            try Sockets.listen(on: .loopback(port: 0), reusePort: false), tag: 5, on: poller, budget: budget,
            farewell: Self.farewell)
        let clients = try Clients(3, to: acceptor.address)
        var accepted: [Int32] = []
        let start = MonotonicTime(nanoseconds: 1_000)
        acceptor.ready(now: start) { fd, _ in accepted.append(fd) }
        #expect(accepted.count == 2 && budget.count == 2)
        var expected = Acceptor.Counters()
        expected.accepted = 2
        expected.refusedForLimit = 1
        expected.pauses = 1
        #expect(acceptor.counters == expected)
        let (last, bytes) = try receiveAll(clients.descriptors[2])
        #expect(last == .end && bytes == Self.farewell)

        let end = start.advanced(byMilliseconds: Int64(Limits.acceptPauseMilliseconds))
        #expect(acceptor.turn(now: start) == end)
        let fourth = try Clients(1, to: acceptor.address)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0, "a pausing listener wakes no thread")
        #expect(acceptor.turn(now: end) == nil)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        acceptor.ready(now: end) { fd, _ in accepted.append(fd) }
        #expect(acceptor.counters.refusedForLimit == 2)
        #expect(try receiveAll(fourth.descriptors[0]).bytes == Self.farewell)

        Sockets.close(accepted.removeLast())
        acceptor.connectionClosed()
        #expect(acceptor.turn(now: end) == nil, "free capacity ends the pause at once")
        let fifth = try Clients(1, to: acceptor.address)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        acceptor.ready(now: end) { fd, _ in accepted.append(fd) }
        #expect(accepted.count == 2 && fifth.count == 1)
        for fd in accepted { Sockets.close(fd) }
    }

    @Test func `a process without descriptors refuses cleanly and recovers when one is freed`() async {
        await #expect(processExitsWith: .success) {
            let poller = try Poller()
            let acceptor = try Acceptor(
                try Sockets.listen(on: .loopback(port: 0), reusePort: false), tag: 5, on: poller,
                budget: ConnectionBudget(limit: 100), farewell: Array("full".utf8))
            let clients = try Clients(4, to: acceptor.address)
            orExit(perch_set_descriptor_limit(200, 200) == 0)
            orExit(DescriptorLimit.current == 200)
            var fillers: [Int32] = []
            while case let filler = perch_open_null(), filler >= 0 { fillers.append(filler) }

            var accepted: [Int32] = []
            var now = MonotonicTime.zero
            acceptor.ready(now: now) { fd, _ in accepted.append(fd) }
            // A client may be connected before the listener accepts it. Clients that arrive during a pause are refused
            // after it.
            while acceptor.counters.refusedForDescriptors < 4 {
                if let end = acceptor.turn(now: now) { now = end }
                // It pauses no longer than announced.
                orExit(acceptor.turn(now: now) == nil)
                orExit(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
                acceptor.ready(now: now) { fd, _ in accepted.append(fd) }
            }
            let pauses = acceptor.counters.pauses
            orExit(acceptor.counters.refusedForDescriptors == 4)
            orExit(pauses > 0 && accepted.isEmpty)
            // A pausing listener wakes no thread.
            orExit(poller.wait(timeoutMilliseconds: 0) == 0)
            // The spare was reopened.
            orExit(perch_open_null() < 0)
            for client in clients.descriptors {
                var bytes = receive(client)
                while bytes.outcome == .empty { bytes = receive(client) }
                orExit(bytes.bytes == Array("full".utf8))
            }

            // One descriptor for the next client, one for its other end.
            for _ in 0..<2 { Sockets.close(fillers.removeLast()) }
            let next = try Sockets.connect(to: acceptor.address)
            acceptor.descriptorFreed()
            orExit(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
            acceptor.ready(now: now) { fd, _ in accepted.append(fd) }
            orExit(accepted.count == 1 && acceptor.counters.accepted == 1)
            // The backlog is empty, so a lack of descriptors causes no pause.
            orExit(acceptor.turn(now: now) == nil && acceptor.counters.pauses == pauses)
            orExit(Sockets.connectResult(next.number) == .connected)
        }
    }

    @Test func `closing one of two listeners on a port loses no connection`() throws {
        let poller = try Poller()
        let budget = ConnectionBudget(limit: 1_000)
        let first = try Acceptor(
            try Sockets.listen(on: .loopback(port: 0), reusePort: true), tag: 1, on: poller, budget: budget)
        let second = try Acceptor(
            try Sockets.listen(on: first.address, reusePort: true), tag: 2, on: poller, budget: budget)
        let clients = try Clients(32, to: first.address)
        for client in clients.descriptors {
            #expect(send(client, [1]) == .wrote(1))
            // An acknowledged byte means that the connection is in a backlog.
            while Sockets.unacknowledgedBytes(client) > 0 {}
        }
        var (ofFirst, ofSecond): ([Int32], [Int32]) = ([], [])
        first.close { fd, _ in ofFirst.append(fd) }
        second.ready(now: .zero) { fd, _ in ofSecond.append(fd) }
        #expect(ofFirst.count + ofSecond.count == clients.count)
        #expect(!ofFirst.isEmpty && !ofSecond.isEmpty, "the kernel spreads connections")
        for client in clients.descriptors { #expect(receive(client).outcome == .empty) }
        first.close { _, _ in Issue.record("a closed listener accepted") }
        for fd in ofFirst + ofSecond { Sockets.close(fd) }
    }
}

/// Connected clients, closed at the end.
private final class Clients {
    let descriptors: [Int32]

    var count: Int { self.descriptors.count }

    init(_ count: Int, to address: SocketAddress) throws {
        var descriptors: [Int32] = []
        for _ in 0..<count {
            let client = try Sockets.connect(to: address)
            try waitUntilReady(client.number, .writable)
            #expect(Sockets.connectResult(client.number) == .connected)
            descriptors.append(client.release())
        }
        self.descriptors = descriptors
    }

    deinit { for fd in self.descriptors { Sockets.close(fd) } }
}
