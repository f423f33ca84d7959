import PerchBase
import PerchCore
import PerchLoop
import PerchMetrics
import PerchStore

/// What comes to a loop from other threads, in one order.
enum LoopEvent: Sendable {
    case store(StoreEvent)
    /// Stands before changes: when the first of them was durable, in microseconds of the clock that never jumps.
    case committed(at: UInt64)
    case control(ticket: UInt64, ControlAnswer)
    /// Tell the control thread what this loop counts.
    case report(number: UInt64)
    case drain
}

/// Drives one core: epoll's events in, system calls out. Owned by its loop's thread; nothing else ever sees it.
final class ServerLoop: LoopDriver {
    private let loop: EventLoop
    private let index: Int
    private var core: LoopCore
    private let acceptor: Acceptor
    private let inbox: Inbox<LoopEvent>
    private let store: Inbox<StoreRequest>
    private let control: Inbox<ControlEvent>
    private let clock: StoreClock
    private let limits: SharedLimits

    private let buffer: UnsafeMutableRawBufferPointer
    private var events: [LoopEvent] = []
    private var asks: [StoreRequest] = []
    private var pieces: [SendPiece] = []
    private var measures = LoopMeasures()
    /// When the oldest commit that came in this turn was durable.
    private var oldestCommit: UInt64?
    private var hasBegun = false
    private var isDraining = false
    private var isAccepting = true
    /// The listener is the service manager's: what waits in its backlog is for the next process.
    private let isInherited: Bool

    /// By connection number: its generation here, and what epoll was told to wait for.
    private var tenants: [Tenant] = []

    private struct Tenant {
        var generation: UInt32 = 0
        var socket: Int32 = -1
        var reading = false
        var writing = false
    }

    static let listenerTag: UInt64 = 1 << 63
    /// One read a turn and connection: what is left is read in the next turn, after the others had theirs.
    private static let readBytes = 64 * 1024

    init(
        loop: EventLoop, index: Int, core: consuming LoopCore, acceptor: Acceptor, inbox: Inbox<LoopEvent>,
        store: Inbox<StoreRequest>, control: Inbox<ControlEvent>, clock: StoreClock,
        limits: SharedLimits, isInherited: Bool = false
    ) {
        self.isInherited = isInherited
        self.loop = loop
        self.index = index
        self.core = core
        self.acceptor = acceptor
        self.inbox = inbox
        self.store = store
        self.control = control
        self.clock = clock
        self.limits = limits
        self.buffer = .allocate(byteCount: Self.readBytes, alignment: 64)
    }

    deinit { self.buffer.deallocate() }

    private func begin(_ now: MonotonicTime) {
        guard !self.hasBegun else { return }
        self.hasBegun = true
        self.core.begin(Moment(monotonic: now.nanoseconds / 1_000_000, wall: self.clock.now()))
        self.core.elsewhere = self.limits.elsewhere(than: self.index)
        self.core.takePausedInput()
        self.execute()
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        let now = self.loop.now
        self.begin(now)
        if tag == Self.listenerTag {
            self.acceptor.ready(now: now) { socket, peer in self.accept(socket, peer) }
            self.execute()
            return
        }
        let connection = Int32(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard self.tenants[Int(connection)].generation == UInt32(truncatingIfNeeded: tag >> 32) else { return }
        if writable { self.core.writable(connection) }
        if readable || hungUp { self.read(connection, isHungUp: hungUp && !readable) }
        self.execute()
    }

    private func accept(_ socket: Int32, _ peer: SocketAddress) {
        // Judged by what the others hold now: a storm of connects fills many turns of one loop.
        self.core.elsewhere = self.limits.elsewhere(than: self.index)
        defer { self.publishLimits() }
        _ = self.core.accepted(socket: socket, isLoopback: peer.isLoopback)
    }

    private func publishLimits() {
        self.limits.publish(self.index, handshakes: self.core.handshakes, partialBytes: self.core.partialBytes)
    }

    private func read(_ connection: Int32, isHungUp: Bool) {
        let socket = self.tenants[Int(connection)].socket
        guard isHungUp || self.core.wantsInput(connection) else { return }
        switch Sockets.receive(socket, into: self.buffer) {
        case .bytes(let count):
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(self.buffer)[..<count])
            self.core.received(connection, RawSpan(_unsafeBytes: bytes))
        case .end: self.core.peerEnded(connection)
        case .empty: break
        case .broken: self.core.broken(connection)
        }
    }

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.begin(now)
        self.inbox.take(into: &self.events)
        if !self.events.isEmpty { self.measures.inboxEvents.record(UInt64(self.events.count)) }
        let before = (changes: self.core.counters.changesApplied, pushes: self.pushes)
        for event in self.events { self.handle(event) }
        self.events.removeAll(keepingCapacity: true)
        self.core.endInput()
        self.execute()
        self.flush()
        if let oldest = self.oldestCommit, self.core.counters.changesApplied > before.changes,
            self.pushes > before.pushes
        {
            self.measures.pushMicroseconds.record(Clocks.microseconds() - oldest)
        }
        self.oldestCommit = nil
        let next = self.core.endTurn()
        self.execute()
        self.hasBegun = false
        self.publishLimits()
        if !self.asks.isEmpty {
            self.store.post(self.asks)
            self.asks.removeAll(keepingCapacity: true)
        }
        self.measures.turnMicroseconds.record(UInt64(max(0, Clocks.monotonic().nanoseconds(since: now) / 1_000)))
        var wake = next.map { MonotonicTime(nanoseconds: $0.multipliedReportingOverflow(by: 1_000_000).partialValue) }
        if self.isAccepting, let rest = self.acceptor.turn(now: now) { wake = min(wake ?? .distantFuture, rest) }
        return wake
    }

    private var pushes: UInt64 { self.core.counters.valuesPushed + self.core.counters.eventsPushed }

    private func handle(_ event: LoopEvent) {
        switch event {
        case .store(let event): self.core.handle(event)
        case .committed(let time): self.oldestCommit = min(self.oldestCommit ?? time, time)
        case .control(let ticket, let answer): self.core.handle(control: ticket, answer)
        case .report(let number):
            self.control.post(
                .report(
                    number: number,
                    LoopReport(
                        counters: self.core.counters, census: self.core.census, acceptor: self.acceptor.counters,
                        measures: self.measures),
                    loop: self.index))
        case .drain:
            guard !self.isDraining else { return }
            self.isDraining = true
            // The listener goes first: who comes now goes to another server. Its backlog is told why.
            self.isAccepting = false
            if self.isInherited {
                self.acceptor.leave()
            } else {
                self.acceptor.close { socket, peer in self.accept(socket, peer) }
            }
            self.core.beginDrain()
        }
    }

    /// One system call a connection, as long as the core has something to write.
    private func flush() {
        while true {
            let count = self.core.planWrites()
            if count == 0 { break }
            for index in 0..<count {
                let write = self.core.plannedWrite(index)
                self.core.wrote(index, self.send(write))
            }
            self.execute()
        }
    }

    private func send(_ write: PlannedWrite) -> WriteResult {
        let outcome: SendOutcome
        if write.segmentCount == 1 {
            outcome = Sockets.send(write.socket, self.core.segment(0, of: write))
        } else {
            self.pieces.removeAll(keepingCapacity: true)
            for index in 0..<min(write.segmentCount, Limits.piecesPerSend) {
                self.pieces.append(SendPiece(self.core.segment(index, of: write)))
            }
            outcome = self.pieces.withUnsafeBufferPointer { Sockets.sendVector(write.socket, $0) }
        }
        switch outcome {
        case .wrote(let count): return .wrote(count)
        case .full: return .wrote(0)
        case .broken: return .broken
        }
    }

    /// Does what the core decided, in its order.
    private func execute() {
        guard !self.core.effects.isEmpty else { return }
        var effects: [Effect] = []
        swap(&effects, &self.core.effects)
        for effect in effects {
            switch effect {
            case .listen(let connection, let socket, let reading, let writing):
                self.listen(connection, socket, reading: reading, writing: writing)
            case .shutDownWriting(let socket):
                Sockets.shutdownWriting(socket)
            case .close(let connection, let socket):
                self.tenants[Int(connection)].generation &+= 1
                self.tenants[Int(connection)].socket = -1
                Sockets.close(socket)
                self.acceptor.connectionClosed()
            case .ask(let request):
                self.asks.append(request)
            case .control(let ticket, let request):
                self.control.post(.request(loop: self.index, ticket: ticket, request))
            case .drained:
                self.control.post(.drained(loop: self.index))
            }
        }
        effects.removeAll(keepingCapacity: true)
        if self.core.effects.isEmpty { swap(&effects, &self.core.effects) }
    }

    private func listen(_ connection: Int32, _ socket: Int32, reading: Bool, writing: Bool) {
        let index = Int(connection)
        while self.tenants.count <= index { self.tenants.append(Tenant()) }
        var interest: Poller.Interest = []
        if reading { interest.insert(.readable) }
        if writing { interest.insert(.writable) }
        let tag = UInt64(self.tenants[index].generation) << 32 | UInt64(UInt32(bitPattern: connection))
        if self.tenants[index].socket == socket {
            guard self.tenants[index].reading != reading || self.tenants[index].writing != writing else { return }
            self.loop.poller.change(socket, tag: tag, to: interest)
        } else {
            self.tenants[index].socket = socket
            do {
                try self.loop.poller.watch(socket, tag: tag, for: interest)
            } catch {
                // The kernel has no memory for one more: the connection cannot be served.
                self.core.broken(connection)
                return
            }
        }
        self.tenants[index].reading = reading
        self.tenants[index].writing = writing
    }
}
