import PerchBase
import PerchModel
import PerchStore
import PerchTLS
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore
@testable import PerchLoop
@testable import PerchServer

/// A server's loop, stepped by hand on a stopped clock, and its output.
private final class SteppedLoop {
    let driver: ServerLoop
    let address: SocketAddress
    let control: Inbox<ControlEvent>
    let tickets = TicketKeys(wall: Instant(milliseconds: 0))
    /// When this is. No machine has just been switched on.
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private let loop: EventLoop
    private let inbox: Inbox<LoopEvent>

    static let authority = MadeCertificate.authority()
    static let certificate = MadeCertificate.server(of: authority)

    static func context(
        of made: MadeCertificate = certificate, _ tickets: TicketKeys, asksClients: Bool = false
    ) throws -> TLSContext {
        var files = TLSContext.ServerFiles(certificates: made.certificate, key: made.key)
        if asksClients { files.clientAuthorities = Self.authority.certificate }
        return try TLSContext(server: files, tickets: tickets)
    }

    init(
        _ mode: TLSSettings.Mode, sendBufferBytes: Int = Limits.sendBufferBytes, asksClients: Bool = false,
        notBefore lease: Instant = Instant(milliseconds: 0)
    ) throws {
        self.loop = try EventLoop(name: "secure-test")
        let other = try WakeUp()
        self.inbox = Inbox(wake: other)
        self.control = Inbox(wake: other)
        var options = ConnectionOptions()
        options.sendBufferBytes = sendBufferBytes
        let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false, options: options)
        self.address = Sockets.localAddress(listener.number)
        let acceptor = try Acceptor(
            listener, tag: ServerLoop.listenerTag, on: self.loop.poller, budget: ConnectionBudget(limit: 10))
        let context = mode == .off ? nil : try Self.context(self.tickets, asksClients: asksClients)
        self.driver = ServerLoop(
            loop: self.loop, index: 0,
            core: LoopCore(
                loop: 0, identity: StoreIdentity(high: 1, low: 2), epoch: 1, revision: 1, apps: [],
                settings: CoreSettings(), now: Moment(monotonic: 0, wall: Instant(milliseconds: 0))),
            acceptor: acceptor, inbox: self.inbox, store: Inbox(wake: other), control: self.control,
            clock: StoreClock(notBefore: lease, bound: .distantFuture), limits: SharedLimits(loops: 1),
            log: Log(LogSettings(), Supervision()),
            port: TLSPort(mode: mode, context: context, tickets: context == nil ? nil : self.tickets))
    }

    func post(_ event: LoopEvent) { self.inbox.post([event]) }

    /// One tick, with all events that are ready.
    func step() {
        self.loop.setNow(self.now)
        let count = self.loop.poller.wait(timeoutMilliseconds: 1)
        for index in 0..<count {
            let event = self.loop.poller[index]
            guard event.tag != EventLoop.reservedTag else { continue }
            self.driver.ready(
                tag: event.tag, readable: event.readable, writable: event.writable, hungUp: event.hungUp)
        }
        _ = self.driver.turn(now: self.now)
    }
}

/// A client on a socket that reads only on request.
private final class Client {
    private let window = TLSWindow()
    private(set) var secure: TLSClientSide?
    let descriptor: Descriptor
    private var output: [UInt8] = []
    private(set) var plaintext: [UInt8] = []
    private(set) var event = TLSClientSide.Event.continues
    private(set) var hasEnded = false

    private static func context(showing made: MadeCertificate?) throws -> TLSContext {
        var files = TLSContext.ClientFiles()
        files.authorities = SteppedLoop.authority.certificate
        files.certificates = made?.certificate ?? []
        files.key = made?.key ?? []
        return try TLSContext(client: files)
    }

    init(
        _ stage: SteppedLoop, isSecure: Bool = true, session: TLSSession? = nil, showing made: MadeCertificate? = nil
    ) throws {
        self.descriptor = try Sockets.connect(to: stage.address)
        guard isSecure else { return }
        self.secure = try TLSClientSide(
            self.window, Client.context(showing: made), to: TLSServerName("localhost"), session: session)
    }

    deinit { self.secure?.free() }

    func say(_ bytes: [UInt8]) {
        if self.secure == nil {
            self.output += bytes
        } else {
            _ = bytes.withUnsafeBytes { self.secure?.seal($0) }
        }
    }

    func send() {
        self.output += self.secure?.output ?? []
        self.secure?.output = []
        guard !self.output.isEmpty else { return }
        if case .wrote(let count) = self.output.withUnsafeBytes({ Sockets.send(self.descriptor.number, $0) }) {
            self.output.removeFirst(count)
        }
    }

    /// All that has come.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let outcome = buffer.withUnsafeMutableBytes { Sockets.receive(self.descriptor.number, into: $0) }
            guard case .bytes(let count) = outcome else {
                if outcome == .end { self.hasEnded = true }
                return
            }
            guard self.secure != nil else {
                self.plaintext += buffer[..<count]
                continue
            }
            self.event = buffer[..<count].withUnsafeBytes { bytes in
                self.secure?.received(bytes, established: {}, taken: { self.plaintext += $0 }) ?? .continues
            }
        }
    }

    /// Steps both until `isDone`; false if that never happens.
    func step(_ stage: SteppedLoop, until isDone: () -> Bool) -> Bool {
        for _ in 0..<5_000 {
            self.send()
            stage.step()
            self.receive()
            if isDone() { return true }
        }
        return false
    }

    func greet(_ stage: SteppedLoop) -> Bool {
        let isReady = self.secure == nil || self.step(stage, until: { self.secure?.isEstablished == true })
        guard isReady else { return false }
        self.say([1, 0, 0, 0, 0, 0, 0, 0, 2, 8, 1])
        return self.step(stage, until: { self.plaintext.first == 2 })
    }

    /// Kinds of the frames that came.
    func frames() throws -> [FrameKind] {
        var decoder = FrameDecoder()
        decoder.append(self.plaintext)
        var kinds: [FrameKind] = []
        while let frame = try decoder.next() { kinds.append(frame.header.kind) }
        return kinds
    }
}

@Suite struct `a loop that speaks TLS` {
    private static let ping: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]

    @Test func `a loop keeps one record for a stopped reader, and continues there when it reads again`() throws {
        let stage = try SteppedLoop(.required, sendBufferBytes: 4_096)
        let client = try Client(stage)
        #expect(client.greet(stage))
        let count = 16_000
        var sent = 0
        var largest = 0
        // It sends requests and does not read, until nothing more is accepted.
        for _ in 0..<200 {
            if sent < count {
                client.say(Array(repeatElement(Self.ping, count: 500).joined()))
                sent += 500
            }
            client.send()
            stage.step()
            largest = max(largest, stage.driver.pending.values.map(\.count).max() ?? 0)
        }
        #expect(stage.driver.pending.count == 1, "the kernel took everything: the test shows nothing")
        #expect(largest <= Limits.tlsPendingBytesMax)
        #expect(stage.driver.core.counters.readPauses > 0)
        let isAll = client.step(stage) { client.plaintext.count >= count * 17 }
        #expect(isAll)
        #expect(try client.frames().filter { $0 == .pong }.count == count)
        #expect(stage.driver.pending.isEmpty)
    }

    /// Everything is sealed, but the kernel has not accepted all of it: the core has nothing pending, and the reader is
    /// stalled.
    @Test(arguments: [false, true])
    func `a loop closes a reader that reads nothing, also when all its output is sealed`(_ readsAtLast: Bool) throws {
        let stage = try SteppedLoop(.required, sendBufferBytes: 4_096)
        let client = try Client(stage)
        #expect(client.greet(stage))
        // A record at a time, so that the one of which the kernel takes a part is the last.
        let some = Array(repeatElement(Self.ping, count: 100).joined())
        let late = Limits.writeStallMilliseconds - 1_001
        var held: [Int] = []
        // On a busy machine the kernel takes more later, as it delivers what it has. Then nothing was stalled: once more.
        repeat {
            for _ in 0..<20_000 where stage.driver.pending.isEmpty {
                client.say(some)
                client.send()
                stage.step()
            }
            #expect(stage.driver.pending.count == 1, "the kernel took everything: the test shows nothing")
            held = stage.driver.pending.values.map(\.count)
            stage.now = stage.now.advanced(byMilliseconds: late)
            stage.step()
            #expect(stage.driver.core.counters.stalledClosed == 0)
            guard !readsAtLast, stage.driver.pending.values.map(\.count) == held else { continue }
            stage.now = stage.now.advanced(byMilliseconds: 3_000)
            stage.step()
        } while stage.driver.core.counters.stalledClosed == 0 && stage.driver.pending.values.map(\.count) != held
        if readsAtLast {
            #expect(client.step(stage) { stage.driver.pending.isEmpty })
            stage.now = stage.now.advanced(byMilliseconds: 3_000)
            stage.step()
            #expect(stage.driver.core.counters.stalledClosed == 0)
            stage.driver.core.checkInvariants()
        } else {
            #expect(stage.driver.core.counters.stalledClosed == 1)
            #expect(client.step(stage) { client.event == .closed })
            #expect(try client.frames().last == .drain)
        }
    }

    @Test func `a loop that speaks TLS knows by the first byte what a peer speaks`() throws {
        let stage = try SteppedLoop(.allowed)
        let plain = try Client(stage, isSecure: false)
        let secure = try Client(stage)
        #expect(plain.greet(stage) && secure.greet(stage))
        #expect(stage.driver.tls.open == 1 && stage.driver.tls.handshakes == 1)
    }

    @Test func `a loop that speaks TLS refuses plaintext where TLS is required, with a reason`() throws {
        let stage = try SteppedLoop(.required)
        let client = try Client(stage, isSecure: false)
        client.say([1])
        #expect(client.step(stage, until: { client.hasEnded }))
        #expect(try client.frames() == [.drain])
        #expect(stage.driver.core.counters.refusalsByReason[.tlsRequired] == 1)
    }

    @Test func `a plaintext server answers TLS with an alert, and logs it`() throws {
        let stage = try SteppedLoop(.off)
        let client = try Client(stage)
        #expect(client.step(stage, until: { client.hasEnded }))
        guard case .failed(let error) = client.event else {
            Issue.record("no alert came")
            return
        }
        #expect(error.fault == .alert)
        #expect(stage.driver.tls.failures == ["off": 1])
        var events: [ControlEvent] = []
        stage.control.take(into: &events)
        #expect(events.contains { if case .handshakeFailed(_, "off", _) = $0 { true } else { false } })
    }

    @Test func `a loop that speaks TLS gives up a handshake that is too long`() throws {
        let stage = try SteppedLoop(.required)
        let client = try Client(stage, isSecure: false)
        // A ClientHello that says it has 128 KiB, in records of 16 KiB each.
        client.say([0x16, 3, 1, 0x40, 0, 1, 1, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 16_380))
        for _ in 0..<6 { client.say([0x16, 3, 1, 0x40, 0] + [UInt8](repeating: 0, count: 16_384)) }
        #expect(client.step(stage, until: { client.hasEnded }))
        #expect(stage.driver.tls.failures.values.reduce(0, +) == 1)
        #expect(stage.driver.tls.open == 0)
    }

    @Test func `a loop that speaks TLS shows new certificates to new connections only`() throws {
        let stage = try SteppedLoop(.required)
        let old = try Client(stage)
        #expect(old.greet(stage))
        let stranger = MadeCertificate.server(of: MadeCertificate.authority("Another"))
        stage.post(.secure(try SteppedLoop.context(of: stranger, stage.tickets)))
        stage.step()
        let new = try Client(stage)
        #expect(new.step(stage, until: { new.event != .continues }))
        guard case .failed(let error) = new.event else {
            Issue.record("the old certificate was shown")
            return
        }
        #expect(error.fault == .certificate)
        old.say(Self.ping)
        #expect(old.step(stage, until: { (try? old.frames().contains(.pong)) == true }))
    }

    @Test func `a loop gives connections new tickets after a change of keys, so that they resume`() throws {
        let stage = try SteppedLoop(.required)
        let client = try Client(stage)
        #expect(client.greet(stage))
        for period in 1...3 {
            stage.tickets.rotate(wall: Instant(milliseconds: Int64(period) * Limits.tlsTicketKeyMilliseconds))
            client.say(Self.ping)
            #expect(client.step(stage, until: { (try? client.frames().filter { $0 == .pong }.count) == period }))
        }
        let back = try Client(stage, session: client.secure?.takeSession())
        #expect(back.greet(stage))
        #expect(stage.driver.tls.resumed == 1 && stage.driver.tls.handshakes == 2)
    }

    @Test func `the core learns the client's certificate, also of a resumed session`() throws {
        let stage = try SteppedLoop(.required, asksClients: true)
        let alice = MadeCertificate("alice", names: "URI:spiffe://example.com/alice", issuer: SteppedLoop.authority)
        let client = try Client(stage, showing: alice)
        #expect(client.greet(stage))
        #expect(stage.driver.core.transport.certificates.values.map(\.commonName) == ["alice"])
        let back = try Client(stage, session: client.secure?.takeSession(), showing: alice)
        #expect(back.greet(stage))
        #expect(stage.driver.tls.resumed == 1)
        #expect(
            stage.driver.core.transport.certificates.values.map(\.names) == [
                ["spiffe://example.com/alice"], ["spiffe://example.com/alice"],
            ])
        let nobody = try Client(stage)
        #expect(nobody.greet(stage))
        #expect(stage.driver.core.transport.certificates.count == 2)
    }

    @Test func `a loop refuses a client certificate that ended by the server's clock, with a reason`() throws {
        // As for a resumed session: TLS does not check its certificate again, and finds no fault.
        let alice = MadeCertificate("alice", issuer: SteppedLoop.authority)
        let later = Clocks.wall().advanced(byMilliseconds: 2 * 86_400_000)
        let stage = try SteppedLoop(.required, asksClients: true, notBefore: later)
        let client = try Client(stage, showing: alice)
        #expect(client.step(stage, until: { client.hasEnded }))
        #expect(try client.frames() == [.drain])
        #expect(stage.driver.core.counters.refusalsByReason[.certificateExpired] == 1)
        #expect(stage.driver.core.transport.certificates.isEmpty)
    }

    @Test func `a loop that speaks TLS says farewell in TLS before it closes`() throws {
        let stage = try SteppedLoop(.required)
        let client = try Client(stage)
        #expect(client.greet(stage))
        stage.post(.drain)
        #expect(client.step(stage, until: { client.hasEnded }))
        #expect(client.event == .closed)
        #expect(try client.frames().last == .drain)
        #expect(stage.driver.tls.open == 0)
    }
}
