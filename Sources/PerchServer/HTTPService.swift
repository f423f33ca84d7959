import PerchBase
import PerchHTTP
import PerchLoop
import PerchMetrics

/// Drives the conversations of the HTTP listener on the control loop. It forwards each question; the answer comes
/// later.
final class HTTPService {
    struct Counters {
        /// Answers, by their code.
        var responses: [Int: UInt64] = [:]
        var closedForTime: UInt64 = 0
        /// Connections closed to free a place for a new one.
        var closedForPlace: UInt64 = 0
    }

    /// Asked and not answered yet.
    struct Question {
        var connection: UInt64
        var request: HTTPRequest
    }

    private struct Connection {
        var socket: Int32
        var address: PeerAddress
        var conversation: HTTPConversation
        var interest: Poller.Interest
    }

    static let listenerTag: UInt64 = 2
    /// Tags of connections begin here and are never reused.
    static let firstConnectionTag: UInt64 = 1 << 32

    let address: SocketAddress
    private(set) var counters = Counters()
    var connectionCount: Int { self.connections.count }
    var acceptorCounters: Acceptor.Counters { self.acceptor.counters }

    private let loop: EventLoop
    private let acceptor: Acceptor
    private let questioned: (Question) -> Void
    private var connections: [UInt64: Connection] = [:]
    private var nextTag = HTTPService.firstConnectionTag
    private var isAccepting = true
    private let wall: () -> Instant
    private let hosts: HostRule
    /// The answer for a connection that is closed because all places are taken.
    private let farewell: [UInt8]

    /// `questioned` is called on the loop's thread; `answer` may be called from within it, or later.
    init(
        _ listener: consuming Descriptor, on loop: EventLoop, hosts: HostRule = HostRule(.any),
        wall: @escaping () -> Instant, questioned: @escaping (Question) -> Void
    ) throws(SystemError) {
        let farewell = HTTPResponse(
            .serviceUnavailable,
            "\(Limits.httpConnectionsMax) connections are open here, the limit; close one, or come back in a moment")
        self.farewell = farewell.bytes(to: .get, keepsAlive: false, at: wall())
        // One place more than the limit: the address of a new connection is known before another one has to close.
        self.acceptor = try Acceptor(
            listener, tag: Self.listenerTag, on: loop.poller,
            budget: ConnectionBudget(limit: Limits.httpConnectionsMax + 1), farewell: self.farewell)
        self.address = self.acceptor.address
        self.loop = loop
        self.hosts = hosts
        self.wall = wall
        self.questioned = questioned
    }

    deinit { for connection in self.connections.values { Sockets.close(connection.socket) } }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        let now = self.loop.now
        if tag == Self.listenerTag {
            self.acceptor.ready(now: now) { socket, peer in self.accept(socket, peer, now) }
            return
        }
        guard let connection = self.connections[tag] else { return }
        if writable { self.flush(tag) }
        if readable, connection.conversation.reads {
            self.read(tag)
        } else if hungUp, self.connections[tag] != nil {
            self.step(tag) { $0.end() }
        }
    }

    /// Checks the deadlines; returns the next one.
    func turn(now: MonotonicTime) -> MonotonicTime? {
        var next = self.isAccepting ? self.acceptor.turn(now: now) : nil
        // At most 64.
        for (tag, connection) in self.connections {
            if connection.conversation.deadline <= now {
                self.counters.closedForTime += 1
                self.step(tag) { $0.timePassed(now: now, wall: self.wall()) }
            }
            if let deadline = self.connections[tag]?.conversation.deadline { next = min(next ?? deadline, deadline) }
        }
        return next == .distantFuture ? nil : next
    }

    /// Answers a question. The connection may already be closed.
    func answer(_ connection: UInt64, _ response: HTTPResponse) {
        let now = self.loop.now
        self.step(connection) { $0.answer(response, now: now, wall: self.wall()) }
    }

    /// Stops accepting; open connections are still answered.
    func stopAccepting() {
        guard self.isAccepting else { return }
        self.isAccepting = false
        self.acceptor.leave()
    }

    private func accept(_ socket: Int32, _ peer: SocketAddress, _ now: MonotonicTime) {
        let tag = self.nextTag
        self.nextTag += 1
        do {
            try self.loop.poller.watch(socket, tag: tag, for: .readable)
        } catch {
            // The kernel has no memory for another connection.
            Sockets.close(socket)
            self.acceptor.connectionClosed()
            return
        }
        self.connections[tag] = Connection(
            socket: socket, address: PeerAddress(high: peer.host.high, low: peer.host.low),
            conversation: HTTPConversation(now: now, hosts: self.hosts), interest: .readable)
        if self.connections.count > Limits.httpConnectionsMax { self.freePlace() }
    }

    /// Closes the oldest connection without a request, of the address with the most of them. If all others are being
    /// answered, the new connection closes.
    private func freePlace() {
        let counts = Dictionary(grouping: self.connections.values, by: \.address).mapValues(\.count)
        let waiting = self.connections.filter { $0.value.conversation.reads }
        let most = waiting.values.reduce(0) { max($0, counts[$1.address] ?? 0) }
        let victims = waiting.filter { counts[$0.value.address] == most }
        // Tags ascend, and the new connection is among those without a request.
        guard let tag = victims.keys.min(), let socket = self.connections[tag]?.socket else { return }
        self.counters.closedForPlace += 1
        self.connections[tag] = nil
        // Closing with unread input would reset the connection before the client reads the farewell.
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { _ = Sockets.receive(socket, into: $0) }
        _ = self.farewell.withUnsafeBytes { Sockets.send(socket, $0) }
        Sockets.shutdownWriting(socket)
        Sockets.close(socket)
        self.acceptor.connectionClosed()
    }

    private func read(_ tag: UInt64) {
        guard let socket = self.connections[tag]?.socket else { return }
        let now = self.loop.now
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { buffer in
            switch Sockets.receive(socket, into: buffer) {
            case .bytes(let count):
                let bytes = Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
                self.step(tag) { $0.received(bytes, now: now, wall: self.wall()) }
            case .end: self.step(tag) { $0.peerEnded() }
            case .empty: break
            case .broken: self.step(tag) { $0.end() }
            }
        }
    }

    private func flush(_ tag: UInt64) {
        guard let connection = self.connections[tag], connection.conversation.writes else { return }
        let now = self.loop.now
        switch connection.conversation.output.withUnsafeBytes({ Sockets.send(connection.socket, $0) }) {
        case .wrote(let count): self.step(tag) { $0.wrote(count, now: now, wall: self.wall()) }
        case .full: self.listen(tag)
        case .broken: self.step(tag) { $0.end() }
        }
    }

    /// Steps a conversation, and carries out its effects.
    private func step(_ tag: UInt64, _ step: (inout HTTPConversation) -> HTTPConversation.Step) {
        guard var connection = self.connections[tag] else { return }
        let action = step(&connection.conversation)
        self.connections[tag] = connection
        switch action {
        case .wait:
            self.listen(tag)
        case .ask(let request):
            self.listen(tag)
            self.questioned(Question(connection: tag, request: request))
        case .write(let status):
            self.counters.responses[status.rawValue, default: 0] += 1
            self.flush(tag)
        case .shutDownWriting:
            Sockets.shutdownWriting(connection.socket)
            self.listen(tag)
        case .close:
            self.connections[tag] = nil
            Sockets.close(connection.socket)
            self.acceptor.connectionClosed()
        }
    }

    private func listen(_ tag: UInt64) {
        guard let connection = self.connections[tag] else { return }
        var interest: Poller.Interest = []
        if connection.conversation.reads { interest.insert(.readable) }
        if connection.conversation.writes { interest.insert(.writable) }
        guard interest != connection.interest else { return }
        self.connections[tag]?.interest = interest
        self.loop.poller.change(connection.socket, tag: tag, to: interest)
    }
}
