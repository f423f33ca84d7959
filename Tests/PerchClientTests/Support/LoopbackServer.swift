import PerchBase
import PerchClient
import PerchCore
import PerchLoop
import PerchModel
import Synchronization
import Testing

/// A whole server on its own thread, on loopback: `MemoryServer`, with sockets.
final class LoopbackServer: Sendable {
    let address: String
    private let inbox: Inbox<Command>
    private let thread: LoopThread

    fileprivate enum Command: Sendable {
        /// Breaks every connection, as a server does that is killed.
        case breakConnections
        case drain
        /// Resumed at the end of the first tick in which the condition holds.
        case notify(@Sendable (Census) -> Bool, CheckedContinuation<Void, Never>)
        case stop
    }

    /// How much there is on the server.
    struct Census: Sendable {
        var connections: Int
        var calls: Int
        /// Number of streams that were answered by `unchanged`.
        var unchangedAnswers: UInt64
        /// Number of resumed streams that got a newer value.
        var resumedWithValue: UInt64
    }

    /// `port` 0 takes a free port.
    init(port: UInt16 = 0) throws {
        let loop = try EventLoop(name: "test-server")
        let listener = try Sockets.listen(on: .loopback(port: port), reusePort: false)
        self.address = Sockets.localAddress(listener.number).description
        let acceptor = try Acceptor(listener, tag: 0, on: loop.poller, budget: ConnectionBudget(limit: 100))
        let inbox = Inbox<Command>(wake: loop.wake)
        self.inbox = inbox
        self.thread = try loop.start(try LoopbackDriver(loop: loop, acceptor: acceptor, inbox: inbox))
    }

    func breakConnections() { self.inbox.post(.breakConnections) }

    /// Sends DRAIN to every client; its listener stays, for the clients that return.
    func drain() { self.inbox.post(.drain) }

    /// Returns when `holds` is true of the server.
    func reaches(_ holds: @escaping @Sendable (Census) -> Bool) async {
        await withCheckedContinuation { self.inbox.post(.notify(holds, $0)) }
    }

    func stop() {
        self.inbox.post(.stop)
        self.thread.join()
    }
}

private final class LoopbackDriver: LoopDriver {
    private let loop: EventLoop
    private let acceptor: Acceptor
    private let inbox: Inbox<LoopbackServer.Command>
    private let server: MemoryServer
    private var commands: [LoopbackServer.Command] = []
    private var watched: [Int32: UInt64] = [:]
    private var connections: [UInt64: (connection: Int32, socket: Int32)] = [:]
    private var lastTag: UInt64 = 0
    private var awaited: [(@Sendable (LoopbackServer.Census) -> Bool, CheckedContinuation<Void, Never>)] = []
    private let wallAtStart = Instant(milliseconds: 1_700_000_000_000)
    private let start: MonotonicTime

    init(loop: EventLoop, acceptor: Acceptor, inbox: Inbox<LoopbackServer.Command>) throws {
        self.loop = loop
        self.acceptor = acceptor
        self.inbox = inbox
        self.start = Clocks.monotonic()
        // A client that waits for a core is no failure.
        var settings = CoreSettings()
        settings.firstByteTimeoutMilliseconds = 300_000
        settings.helloTimeoutMilliseconds = 300_000
        self.server = try MemoryServer(Moment(monotonic: 0, wall: self.wallAtStart), settings)
        self.server.send = { socket, bytes in
            switch bytes.withUnsafeBytes({ Sockets.send(socket, $0) }) {
            case .wrote(let count): .wrote(count)
            case .full: .wrote(0)
            case .broken: .broken
            }
        }
        self.server.listen = { [unowned self] connection, socket, reading, writing in
            self.listen(connection, socket, reading: reading, writing: writing)
        }
        self.server.closed = { [unowned self] _, socket in
            if let tag = self.watched.removeValue(forKey: socket) { self.connections[tag] = nil }
            Sockets.close(socket)
            self.acceptor.connectionClosed()
        }
    }

    private var now: Moment {
        let milliseconds = self.loop.now.milliseconds(since: self.start)
        return Moment(
            monotonic: milliseconds, wall: self.wallAtStart.advanced(byMilliseconds: milliseconds))
    }

    private func listen(_ connection: Int32, _ socket: Int32, reading: Bool, writing: Bool) {
        var interest: Poller.Interest = []
        if reading { interest.insert(.readable) }
        if writing { interest.insert(.writable) }
        if let tag = self.watched[socket] {
            self.loop.poller.change(socket, tag: tag, to: interest)
            return
        }
        self.lastTag += 1
        self.watched[socket] = self.lastTag
        self.connections[self.lastTag] = (connection, socket)
        do {
            try self.loop.poller.watch(socket, tag: self.lastTag, for: interest)
        } catch {
            preconditionFailure("a test's socket cannot be watched: \(error)")
        }
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        if tag == 0 {
            var sockets: [Int32] = []
            self.acceptor.ready(now: self.loop.now) { socket, _ in sockets.append(socket) }
            self.server.step(self.now) { core in
                for socket in sockets { _ = core.accepted(socket: socket, isLoopback: true) }
            }
            return
        }
        guard let (connection, socket) = self.connections[tag] else { return }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let outcome = readable || hungUp ? buffer.withUnsafeMutableBytes { Sockets.receive(socket, into: $0) } : .empty
        self.server.step(self.now) { core in
            if writable { core.writable(connection) }
            switch outcome {
            case .bytes(let count):
                let bytes = Array(buffer[..<count])
                core.received(connection, bytes.span.bytes)
            case .end: core.peerEnded(connection)
            case .empty: break
            case .broken: core.broken(connection)
            }
        }
    }

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.inbox.take(into: &self.commands)
        for command in self.commands {
            switch command {
            case .breakConnections:
                let broken = self.connections.values.map(\.connection)
                self.server.step(self.now) { core in for connection in broken { core.broken(connection) } }
            case .drain:
                self.server.step(self.now) { $0.beginDrain() }
            case .notify(let holds, let waiter):
                self.awaited.append((holds, waiter))
            case .stop:
                let left = self.connections.values.map(\.connection)
                self.server.step(self.now) { core in for connection in left { core.broken(connection) } }
                self.loop.stop()
            }
        }
        self.commands.removeAll()
        self.server.step(self.now)
        let census = LoopbackServer.Census(
            connections: self.server.core.census.connections, calls: self.server.core.census.calls,
            unchangedAnswers: self.server.core.counters.unchangedAnswers,
            resumedWithValue: self.server.core.counters.resumedWithValue)
        let reached = self.awaited.filter { $0.0(census) }
        self.awaited.removeAll { $0.0(census) }
        for (_, waiter) in reached { waiter.resume() }
        return self.start.advanced(byMilliseconds: self.server.nextWake(self.now))
    }
}

/// A server and its clients on one loop, for as long as a test lasts.
final class LoopbackStage {
    let server: LoopbackServer
    let loop: ClientLoop

    /// The addresses that `lookUp` returns for a name.
    init(lookUp: @escaping AddressSource = NameLookup.addresses) throws {
        self.server = try LoopbackServer()
        self.loop = try ClientLoop(name: "test-client", lookUp: lookUp)
    }

    deinit {
        self.loop.stop()
        self.server.stop()
    }

    /// A client of the server, by its address or by another word for it.
    func client(
        at address: String? = nil, _ change: (inout PerchClientOptions) -> Void = { _ in }
    ) throws -> PerchClient {
        var options = PerchClientOptions()
        options.reconnectBase = .milliseconds(5)
        options.reconnectCap = .milliseconds(20)
        // A busy machine is no failure.
        options.callTimeout = .seconds(300)
        options.connectTimeout = .seconds(300)
        change(&options)
        return try PerchClient(address: address ?? self.server.address, options: options, on: self.loop)
    }
}

extension AsyncIteratorProtocol {
    /// The next element of that kind; those before are skipped.
    mutating func next(where holds: (Element) -> Bool) async throws(Failure) -> Element? {
        while let element = try await self.next(isolation: nil) {
            if holds(element) { return element }
        }
        return nil
    }
}
