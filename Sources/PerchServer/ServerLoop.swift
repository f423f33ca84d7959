import PerchBase
import PerchCore
import PerchIdentity
import PerchLoop
import PerchMetrics
import PerchStore
import PerchTLS
import PerchWire

/// Events from other threads to a loop, in one order.
enum LoopEvent: Sendable {
    /// The results of one tick of the store. If there are changes, also when the first was durable, in microseconds of
    /// the monotonic clock.
    case store([StoreEvent], committed: UInt64?)
    case control(ticket: UInt64, ControlAnswer)
    /// The store's clock stood still and runs again: the loop only needs a tick.
    case clockWentOn
    /// Asks for the loop's counters; the answer goes to the control thread.
    case report(number: UInt64)
    /// New certificates, for later handshakes.
    case secure(TLSContext)
    /// A new authenticator with other keys and names.
    case trust(Authenticator)
    /// Whether the store vouches for positions: while it does not, no heartbeat is sent.
    case reach(isFresh: Bool)
    /// This node has been cut off for long, and other nodes may not be: its clients go to them.
    case sendAway
    case drain
}

extension LoopEvent {
    /// Number of contained events, for the histogram of waiting events.
    fileprivate var count: Int {
        if case .store(let events, _) = self { return events.count }
        return 1
    }
}

/// Drives one core: epoll's events in, system calls out. Owned by its loop's thread and invisible to others.
///
/// TLS runs here, between socket and core: see `ServerLoop+TLS.swift`.
///
/// The properties of the hot path are not checked for exclusive access: no callee calls back.
/// With the checks, here and in `StoreLoop`, a change alone in its tick costs 5,000 instructions more (callgrind of
/// `perch serve --loops 2` under `perch bench keyed --rate 100`).
final class ServerLoop: LoopDriver {
    let loop: EventLoop
    private let index: Int
    private let memory = UnsafeMutablePointer<LoopCore>.allocate(capacity: 1)
    private let acceptor: Acceptor
    private let appStore: AppStore
    private let inbox: Inbox<LoopEvent>
    private let store: Inbox<StoreRequest>
    let control: Inbox<ControlEvent>
    /// The store that this loop's thread drives itself, between input and output; nil: the store has its own thread.
    private let ownStore: StoreLoop?
    let clock: StoreClock
    private let limits: SharedLimits
    private let log: Log

    private let buffer: UnsafeMutableRawBufferPointer
    @exclusivity(unchecked) private var events: [LoopEvent] = []
    /// Events from the loop's own store; empty between two questions.
    @exclusivity(unchecked) private var told: [StoreEvent] = []
    @exclusivity(unchecked) var sending = SendShare()
    @exclusivity(unchecked) private var measures = LoopMeasures()
    /// When the oldest commit of this tick became durable.
    @exclusivity(unchecked) private var oldestCommit: UInt64?
    @exclusivity(unchecked) private var standing = Standing()

    /// By connection number.
    @exclusivity(unchecked) var sessions: [Session] = []

    // TLS.
    var port: TLSPort
    let window = TLSWindow()
    let plaintext: UnsafeMutableRawBufferPointer
    var tls = TLSCounters()
    /// Ciphertext that the kernel has not accepted, by connection number: at most one record, except for TLS's own
    /// answers.
    var pending: [Int32: PendingCiphertext] = [:]

    /// In separate memory, because each access to an object's property is checked for exclusive access, and one write
    /// to a connection has five.
    var core: LoopCore {
        unsafeAddress { UnsafePointer(self.memory) }
        unsafeMutableAddress { self.memory }
    }

    /// The loop's state of a connection: a plain structure, so that thousands cost only their bytes.
    struct Session {
        var generation: UInt32 = 0
        var socket: Int32 = -1
        /// The events that the core wants from epoll.
        var wantsReading = false
        var wantsWriting = false
        /// The events registered with epoll.
        var reading = false
        var writing = false
        var transport = Transport.fresh
        /// `pending` has ciphertext of it.
        var hasPending = false
        /// The writing side is shut down after that is sent.
        var endsAfterPending = false
        /// Bytes of its handshake so far.
        var handshakeBytes: Int32 = 0
        /// Number of the key change after which the connection got its ticket.
        var ticketChange: UInt32 = 0
        /// While it speaks TLS.
        var secure: TLSConnection?
    }

    /// How values of the App Store come in.
    struct AppStore {
        /// Of Apple's notifications; nil on all loops but one.
        var acceptor: Acceptor?
        /// Of the thread that verifies signed values; nil without one.
        var intake: Inbox<IntakeTask>?
    }

    /// How far the tick is, and the loop's life.
    private struct Standing {
        var hasBegun = false
        var isDraining = false
        var isAccepting = true
        /// The service manager owns the listener: the next process accepts its backlog.
        var isInherited = false
        /// The store's thread last said so; see also `StoreClock.vouches`.
        var isFresh = true
    }

    /// The layer between a connection's socket and the core.
    enum Transport: UInt8 {
        /// No bytes were received or sent yet.
        case fresh
        case plain
        case handshake
        case secure
        /// TLS has ended: further input is ignored.
        case ended
    }

    static let listenerTag: UInt64 = 1 << 63
    static let appleListenerTag: UInt64 = 1 << 63 | 1

    init(
        loop: EventLoop, index: Int, core: consuming LoopCore, acceptor: Acceptor, inbox: Inbox<LoopEvent>,
        store: Inbox<StoreRequest>, control: Inbox<ControlEvent>, clock: StoreClock,
        limits: SharedLimits, log: Log, port: TLSPort = .off, isInherited: Bool = false, ownStore: StoreLoop? = nil,
        appStore: AppStore = AppStore()
    ) {
        self.appStore = appStore
        self.port = port
        self.ownStore = ownStore
        self.standing.isInherited = isInherited
        self.loop = loop
        self.index = index
        self.memory.initialize(to: core)
        self.acceptor = acceptor
        self.inbox = inbox
        self.store = store
        self.control = control
        self.clock = clock
        self.limits = limits
        self.log = log
        self.buffer = .allocate(byteCount: Limits.readBytes, alignment: 64)
        // One read yields at most its own bytes plus a record that was partly received.
        self.plaintext = .allocate(
            byteCount: port.mode == .off ? 1 : Limits.readBytes + Limits.tlsRecordBytes, alignment: 64)
    }

    deinit {
        self.memory.deinitialize(count: 1)
        self.memory.deallocate()
        for session in self.sessions { session.secure?.free() }
        self.buffer.deallocate()
        self.plaintext.deallocate()
    }

    private func begin(_ now: MonotonicTime) {
        guard !self.standing.hasBegun else { return }
        self.standing.hasBegun = true
        self.core.begin(Moment(monotonic: now.nanoseconds / 1_000_000, wall: self.clock.now()))
        self.core.vouches(self.standing.isFresh && self.clock.vouches(at: now))
        self.core.callsBytesElsewhere = self.limits.callsBytes(elsewhereThan: self.index)
        self.core.notesEverything = self.log.isDebug
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
        if tag == Self.appleListenerTag {
            self.appStore.acceptor?.ready(now: now) { socket, peer in self.accept(socket, peer, isIntake: true) }
            self.execute()
            return
        }
        let connection = Int32(truncatingIfNeeded: tag & 0xFFFF_FFFF)
        guard self.sessions[Int(connection)].generation == UInt32(truncatingIfNeeded: tag >> 32) else { return }
        if writable, self.sendPending(connection) { self.core.writable(connection) }
        if readable || hungUp { self.read(connection, isHungUp: hungUp && !readable) }
        self.execute()
    }

    private func accept(_ socket: Int32, _ peer: SocketAddress, isIntake: Bool = false) {
        let connection = self.core.accepted(
            socket: socket, isLoopback: peer.isLoopback,
            address: PeerAddress(high: peer.host.high, low: peer.host.low), isIntake: isIntake)
        if self.core.notesEverything { self.core.note(.opened, connection, what: "\(peer)") }
    }

    private func read(_ connection: Int32, isHungUp: Bool) {
        let session = self.sessions[Int(connection)]
        guard isHungUp || (self.core.wantsInput(connection) && !self.isClogged(connection)) else { return }
        switch Sockets.receive(session.socket, into: self.buffer) {
        case .bytes(let count):
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(self.buffer)[..<count])
            if session.transport == .plain {
                self.give(connection, bytes)
            } else {
                self.receivedBelow(connection, bytes)
            }
        case .end:
            if session.transport == .handshake { self.countFailure("closed") }
            self.core.peerEnded(connection)
        case .empty: break
        case .broken:
            if session.transport == .handshake { self.countFailure("closed") }
            self.core.broken(connection)
        }
    }

    /// Gives received bytes to the core.
    ///
    /// Asks the loop's own store whenever `Limits.asksAtOnce` requests wait, also within one read. So the data of a
    /// change is freed while it is still in the cache.
    func give(_ connection: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard let store = self.ownStore else {
            self.core.received(connection, RawSpan(_unsafeBytes: bytes))
            return
        }
        var taken = 0
        while true {
            // A variable captured by a span would live on the heap.
            let rest = UnsafeRawBufferPointer(rebasing: bytes[taken...])
            taken += self.core.received(connection, RawSpan(_unsafeBytes: rest), untilAsks: Limits.asksAtOnce)
            if self.core.asks.count >= Limits.asksAtOnce { _ = self.ask(store) }
            guard taken < bytes.count else { return }
        }
    }

    /// Asks a store without its own thread, and handles its events at once.
    private func ask(_ store: StoreLoop) -> MonotonicTime? {
        let (committed, wake) = store.turn(now: Clocks.monotonic(), asks: &self.core.asks, told: &self.told)
        if !self.told.isEmpty {
            self.measures.inboxEvents.record(UInt64(self.told.count))
            self.handle(&self.told, committed: committed)
            if self.told.capacity > Limits.inboxCapacityKept { self.told = [] }
        }
        return wake
    }

    func turn(now: MonotonicTime) -> MonotonicTime? {
        self.begin(now)
        let storeWake = self.ownStore.flatMap { self.ask($0) }
        self.inbox.take(into: &self.events)
        if !self.events.isEmpty { self.measures.inboxEvents.record(UInt64(self.events.reduce(0) { $0 + $1.count })) }
        for place in self.events.indices {
            // Moved out of the list, because a store event contains a list that is consumed in turn.
            var event = LoopEvent.clockWentOn
            swap(&event, &self.events[place])
            self.handle(event)
        }
        self.events.removeAll(keepingCapacity: true)
        self.core.endInput()
        self.execute()
        let before = self.pushes
        self.flush()
        if let oldest = self.oldestCommit, self.pushes > before {
            self.measures.pushMicroseconds.record(Clocks.microseconds() - oldest)
        }
        self.oldestCommit = nil
        let next = self.core.endTurn()
        self.execute()
        self.standing.hasBegun = false
        self.limits.publish(self.index, callsBytes: self.core.callsBytes)
        if !self.core.notes.isEmpty {
            var notes: [LoopNote] = []
            swap(&notes, &self.core.notes)
            self.control.post(.notes(notes, loop: self.index))
        }
        if !self.core.asks.isEmpty {
            self.store.post(self.core.asks)
            self.core.asks.removeAll(keepingCapacity: true)
        }
        self.measures.turnMicroseconds.record(UInt64(max(0, Clocks.monotonic().nanoseconds(since: now) / 1_000)))
        var wake = next.map { MonotonicTime(nanoseconds: $0.multipliedReportingOverflow(by: 1_000_000).partialValue) }
        if let storeWake { wake = min(wake ?? .distantFuture, storeWake) }
        // A read waits no longer than this node knows what others have written.
        if self.core.awaitsStore, let end = self.clock.vouchesUntil, now <= end {
            wake = min(wake ?? .distantFuture, end.advanced(byMilliseconds: 1))
        }
        if self.standing.isAccepting {
            if let rest = self.acceptor.turn(now: now) { wake = min(wake ?? .distantFuture, rest) }
            if let rest = self.appStore.acceptor?.turn(now: now) { wake = min(wake ?? .distantFuture, rest) }
        }
        return wake
    }

    private var pushes: UInt64 { self.core.counters.valuesPushed + self.core.counters.eventsPushed }

    private func handle(_ events: inout [StoreEvent], committed: UInt64?) {
        if let committed { self.oldestCommit = min(self.oldestCommit ?? committed, committed) }
        self.core.handle(&events)
    }

    private func handle(_ event: consuming LoopEvent) {
        switch consume event {
        case .store(var events, let committed): self.handle(&events, committed: committed)
        case .control(let ticket, let answer): self.core.handle(control: ticket, answer)
        case .clockWentOn: break
        case .report(let number):
            self.control.post(
                .report(
                    number: number,
                    LoopReport(
                        counters: self.core.counters, census: self.core.census, acceptor: self.acceptor.counters,
                        measures: self.measures, tls: self.tls, credentialRefusal: self.core.lastCredentialRefusal),
                    loop: self.index))
        case .secure(let context):
            self.port.context = context
        case .trust(let authenticator): self.core.trust(authenticator)
        case .reach(let isFresh): self.standing.isFresh = isFresh
        case .sendAway: self.core.sendAway()
        case .drain:
            guard !self.standing.isDraining else { return }
            self.standing.isDraining = true
            // The listener closes first: new clients go to another server. Connections in its backlog get the reason.
            self.standing.isAccepting = false
            self.appStore.acceptor?.close { socket, peer in self.accept(socket, peer, isIntake: true) }
            if self.standing.isInherited {
                self.acceptor.leave()
            } else {
                self.acceptor.close { socket, peer in self.accept(socket, peer) }
            }
            self.core.beginDrain()
        }
    }

    /// One system call a connection, as long as the core has data to write.
    private func flush() {
        self.sending.begin()
        for place in 0..<min(2, self.core.listedCount) { self.prefetchSession(self.core.listedConnection(place)) }
        while true {
            let count = self.core.planWrites()
            if count == 0 { break }
            for index in 0..<count {
                // The kernel call takes long enough to prefetch the connection after the next.
                if index + 2 < count { self.prefetchSession(self.core.plannedWrite(index + 2).connection) }
                let write = self.core.plannedWrite(index)
                self.core.wrote(index, self.send(write))
            }
            self.execute()
        }
    }

    private func prefetchSession(_ connection: Int32) {
        self.sessions.withUnsafeBufferPointer { sessions in
            guard let base = sessions.baseAddress else { return }
            Prefetch.bytes(base + Int(connection), MemoryLayout<Session>.size)
        }
    }

    private func send(_ write: PlannedWrite) -> WriteResult {
        switch self.sessions[Int(write.connection)].transport {
        case .plain: break
        // Here the core sends first, with a refusal. The peer's protocol is unknown, and plaintext costs no handshake.
        case .fresh: self.sessions[Int(write.connection)].transport = .plain
        default: return self.sendSecure(write)
        }
        let outcome: SendOutcome
        var rest = self.sending.part(of: write.byteCount)
        guard rest > 0 else { return .wrote(0) }
        if write.segmentCount == 1 {
            outcome = Sockets.send(write.socket, .init(rebasing: self.core.segment(0, of: write).prefix(rest)))
        } else {
            self.sending.pieces.removeAll(keepingCapacity: true)
            for index in 0..<min(write.segmentCount, Limits.piecesPerSend) where rest > 0 {
                let piece = self.core.segment(index, of: write).prefix(rest)
                self.sending.pieces.append(SendPiece(.init(rebasing: piece)))
                rest -= piece.count
            }
            outcome = self.sending.pieces.withUnsafeBufferPointer { Sockets.sendVector(write.socket, $0) }
        }
        switch outcome {
        case .wrote(let count):
            self.sending.sent(count, of: write.byteCount)
            return .wrote(count)
        case .full: return .wrote(0)
        case .broken: return .broken
        }
    }

    /// Carries out the core's effects, in order.
    private func execute() {
        guard !self.core.effects.isEmpty else { return }
        var effects: [Effect] = []
        swap(&effects, &self.core.effects)
        for effect in effects {
            switch effect {
            case .listen(let connection, let socket, let reading, let writing):
                self.listen(connection, socket, reading: reading, writing: writing)
            case .shutDownWriting(let connection, let socket):
                if self.endSecure(connection) { Sockets.shutdownWriting(socket) }
            case .close(let connection, let socket):
                self.forgetSecure(connection)
                self.sessions[Int(connection)] = Session(generation: self.sessions[Int(connection)].generation &+ 1)
                Sockets.close(socket)
                self.acceptor.connectionClosed()
            case .control(let ticket, .ingest(let work)):
                self.verify(work, ticket)
            case .control(let ticket, let request):
                self.control.post(.request(loop: self.index, ticket: ticket, request))
            case .drained:
                self.control.post(.drained(loop: self.index))
            }
        }
        effects.removeAll(keepingCapacity: true)
        if self.core.effects.isEmpty { swap(&effects, &self.core.effects) }
    }

    /// Hands signed values to the intake's thread.
    private func verify(_ work: IngestWork, _ ticket: UInt64) {
        guard let intake = self.appStore.intake else {
            return self.core.handle(
                control: ticket,
                .refused(
                    .notToldApp, "this server takes no values of the App Store; start it with --apple-apps", []))
        }
        let waiting = intake.depth
        guard waiting < Limits.intakeQueueMax else {
            return self.core.handle(
                control: ticket,
                .refused(
                    .intakeFull,
                    "\(waiting) values wait to be verified, the limit is \(Limits.intakeQueueMax); try again",
                    [.found(waiting), .limit(Limits.intakeQueueMax)]))
        }
        intake.post(IntakeTask(loop: self.index, ticket: ticket, work: work))
    }

    private func listen(_ connection: Int32, _ socket: Int32, reading: Bool, writing: Bool) {
        let index = Int(connection)
        while self.sessions.count <= index { self.sessions.append(Session()) }
        self.sessions[index].wantsReading = reading
        self.sessions[index].wantsWriting = writing
        if self.sessions[index].socket == socket {
            self.updateInterest(connection)
            return
        }
        self.sessions[index].socket = socket
        self.sessions[index].reading = reading
        self.sessions[index].writing = writing
        do {
            try self.loop.poller.watch(
                socket, tag: self.tag(connection), for: Poller.Interest(reading: reading, writing: writing))
        } catch {
            // The kernel has no memory for another connection, so this one cannot be served.
            self.core.broken(connection)
        }
    }

    private func tag(_ connection: Int32) -> UInt64 {
        UInt64(self.sessions[Int(connection)].generation) << 32 | UInt64(UInt32(bitPattern: connection))
    }

    /// Updates epoll's registration if the needs of the core or of TLS have changed.
    func updateInterest(_ connection: Int32) {
        let session = self.sessions[Int(connection)]
        let reading = session.wantsReading && !self.isClogged(connection)
        let writing = session.wantsWriting || session.hasPending
        guard session.reading != reading || session.writing != writing else { return }
        self.sessions[Int(connection)].reading = reading
        self.sessions[Int(connection)].writing = writing
        self.loop.poller.change(
            session.socket, tag: self.tag(connection), to: Poller.Interest(reading: reading, writing: writing))
    }
}

extension Poller.Interest {
    fileprivate init(reading: Bool, writing: Bool) {
        self = []
        if reading { self.insert(.readable) }
        if writing { self.insert(.writable) }
    }
}
