import PerchBase
import PerchCore
import PerchModel
import PerchStore
import PerchTesting
import PerchWire

/// The way of a change from its CALL frame to the pushed value and the answer, without sockets, threads and clients. It
/// is deterministic, so a profiler can count the instructions of our own code.
///
/// It drives core and engine as `ServerLoop` and `StoreLoop` do with one loop. A tick reads the calls of one round,
/// sends them to the store in batches, and writes the results.
package final class PushLoad {
    package struct Setup: Sendable {
        package var watches: Int
        /// Watch w watches account w modulo this number.
        package var accounts: Int
        /// Number of connections that share the watches.
        package var connections: Int
        /// Changes in a tick.
        package var batch: Int
        package var seed: UInt64 = 1
        package var change = Change.purchase
        /// The watches are streams of gRPC, not of perch/1.
        package var speaksGRPC = false

        package init(watches: Int, connections: Int, batch: Int) {
            self.watches = watches
            self.accounts = watches
            self.connections = connections
            self.batch = batch
        }
    }

    /// What each change is.
    package enum Change: Sendable {
        /// A purchase of a non-renewing product, with the account token that an app sends.
        case purchase
        /// The same with an idempotency key, another one each time.
        case keyedPurchase
        /// A renewal of the account's subscription, whose status is watched. The warm-up buys the subscription.
        case renewal
    }

    private let setup: Setup
    private let engine: StoreEngine
    private var outbox = StoreEngine.Outbox(loops: 1)
    private var told: [StoreEvent] = []
    // Unchecked, since the driver's is. With the checks a change costs 22 % more instructions where it goes to many (`pushcost hot`).
    @exclusivity(unchecked) private var core: LoopCore
    private var random: SeededRandom
    private var now = Moment(monotonic: 1_000_000, wall: World.begin)
    private let writer: Int32
    /// The change of the warm-up, and of the measurement.
    private let first: NamedFrame
    private let change: NamedFrame
    private var changeCount = 0
    private let watch: NamedFrame
    /// The message of a watch by gRPC.
    private let watchMessage: [UInt8]
    private let hello: [UInt8]
    private var input: [UInt8] = []
    /// The input of each tick to come.
    private var prepared: [[UInt8]] = []
    /// Number of written values, with snapshots.
    package var values: UInt64 { self.core.counters.valuesPushed }
    package private(set) var writes = 0
    package private(set) var bytesWritten = 0

    fileprivate static let digitCount = 9
    /// Of account 0. Other accounts have their number in the last digits.
    private static let accountToken = "7e3fb204-2db1-4bbb-9a33-bf4000000000"
    /// Of change 0.
    private static let idempotencyKey = "5d1f0a7c-2f6e-4f0e-8f4f-a17000000000"

    private static func account(_ number: Int) -> String {
        let digits = String(number)
        return "bench-" + String(repeating: "0", count: Self.digitCount - digits.count) + digits
    }

    package init(_ setup: Setup) {
        self.setup = setup
        self.random = SeededRandom(seed: setup.seed)
        do {
            let codec = MessageCodec()
            self.engine = try StoreEngine(
                storage: MemoryStorage(identity: World.identity), loops: 1, cacheBytesMax: Limits.recordCacheBytesMax)
            _ = try self.engine.openApp(
                TestShop.bundleID, .xcode, catalogue: TestShop.catalogue(), source: "test",
                fileSettings: TestShop.settings(), wall: World.begin)
            let account = Self.account(0)
            func frame(_ request: Request) throws -> [UInt8] {
                Array(try codec.encodeCall(request).frame(.call, stream: 1))
            }
            let isRenewal = setup.change == .renewal
            let order = PurchaseOrder(productID: isRenewal ? "gold" : "season", appAccountToken: Self.accountToken)
            var change = OperateRequest(account: account, operation: .buy(order))
            self.first = NamedFrame(try frame(.operate(change)), account: account, token: Self.accountToken)
            if isRenewal { change.operation = .renew(.product("gold")) }
            if setup.change == .keyedPurchase { change.idempotencyKey = Array(Self.idempotencyKey.utf8) }
            self.change = NamedFrame(
                try frame(.operate(change)), account: account, token: isRenewal ? nil : Self.accountToken,
                key: setup.change == .keyedPurchase ? Self.idempotencyKey : nil)
            let watch: Request =
                isRenewal
                ? .subscriptionStatusTask(SubscriptionStatusRequest(account: account, groupID: "plans"))
                : .currentEntitlementTask(CurrentEntitlementRequest(account: account, productID: "season"))
            self.watch = NamedFrame(try frame(watch), account: account)
            self.watchMessage = Array(try codec.encode(watch).prefixed)
            let hello = Hello(protocolVersion: 1, clientName: "load", heartbeatSeconds: 600)
            self.hello = Array(try codec.encode(hello).frame(.hello, stream: 0))
        } catch {
            preconditionFailure("a load cannot be prepared: \(error)")
        }
        self.core = LoopCore(
            loop: 0, identity: self.engine.header.identity, epoch: self.engine.header.epoch,
            revision: self.engine.header.revision, apps: self.engine.apps.states,
            settings: CoreSettings(), now: self.now)
        self.core.begin(self.now)
        self.writer = self.core.accepted(socket: 1, isLoopback: true)
        self.receive(self.writer, self.hello)
        self.finishTurn()
        self.openWatches()
    }

    private func openWatches() {
        for index in 0..<self.setup.connections {
            self.beginTurn()
            let connection = self.core.accepted(socket: Int32(index + 2), isLoopback: true)
            if self.setup.speaksGRPC {
                self.openStreams(of: connection, index)
                self.finishTurn()
                continue
            }
            self.receive(connection, self.hello)
            for (place, watch) in stride(from: index, to: self.setup.watches, by: self.setup.connections).enumerated() {
                self.input.removeAll(keepingCapacity: true)
                self.watch.append(
                    stream: UInt32(place + 1), account: watch % self.setup.accounts, to: &self.input)
                self.receive(connection, self.input)
            }
            self.finishTurn()
        }
        for _ in 0..<2 {
            self.beginTurn()
            self.finishTurn()
        }
    }

    /// The watches of a connection of HTTP/2, with the widest windows. All are of account 0.
    private func openStreams(of connection: Int32, _ index: Int) {
        precondition(self.setup.accounts == 1, "a load over gRPC has one account")
        func frame(_ kind: UInt8, _ flags: UInt8, _ stream: Int, _ body: [UInt8]) -> [UInt8] {
            let (length, stream) = (UInt32(body.count), UInt32(stream))
            return [UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8)]
                + [UInt8(truncatingIfNeeded: length), kind, flags]
                + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + body
        }
        func field(_ name: String, _ value: String) -> [UInt8] {
            [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        let path = "/perch.v1.EntitlementService/CurrentEntitlementTask"
        let head =
            field(":method", "POST") + field(":scheme", "http") + field(":path", path)
            + field(":authority", "localhost")
            + field("content-type", "application/grpc") + field("te", "trailers")
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        self.receive(
            connection,
            preface + frame(4, 0, 0, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF]) + frame(8, 0, 0, [0x7F, 0xFE, 0xFF, 0xFF]))
        for (place, _) in stride(from: index, to: self.setup.watches, by: self.setup.connections).enumerated() {
            self.receive(
                connection, frame(1, 4, 2 * place + 1, head) + frame(0, 1, 2 * place + 1, self.watchMessage))
        }
    }

    /// Buys once for every account, so that no account is new during the measurement.
    package func warmUp() {
        var next = 0
        while next < self.setup.accounts {
            let end = min(next + self.setup.batch, self.setup.accounts)
            self.turn(self.input(Array(next..<end), self.first))
            next = end
        }
        self.turn([])
    }

    /// Makes this number of changes for random accounts, a batch in each tick.
    package func run(changes: Int) {
        self.prepare(changes: changes)
        self.runPrepared()
    }

    /// Writes the frames of that many changes, so that what they cost their client is not measured.
    package func prepare(changes: Int) {
        var left = changes
        while left > 0 {
            let count = min(left, self.setup.batch)
            self.prepared.append(
                self.input((0..<count).map { _ in Int(self.random.next() % UInt64(self.setup.accounts)) }, self.change))
            left -= count
        }
    }

    /// Makes the prepared changes, a batch in each tick.
    package func runPrepared() {
        for input in self.prepared { self.turn(input) }
        self.turn([])
        self.prepared.removeAll()
    }

    /// The frames of a change of each account.
    private func input(_ accounts: [Int], _ frame: NamedFrame) -> [UInt8] {
        var input: [UInt8] = []
        for (index, account) in accounts.enumerated() {
            self.changeCount += 1
            frame.append(stream: 1 + UInt32(index), account: account, change: self.changeCount, to: &input)
        }
        return input
    }

    private func turn(_ input: [UInt8]) {
        self.beginTurn()
        self.receive(self.writer, input)
        self.finishTurn()
    }

    /// Opens this number of connections in batches. Each sends HELLO, watches one account, receives its value and
    /// closes.
    package func storm(connections: Int) {
        var left = connections
        while left > 0 {
            let count = min(left, self.setup.batch)
            self.beginTurn()
            let batch = (0..<count).map { self.core.accepted(socket: Int32($0 + 2), isLoopback: true) }
            self.finishTurn()
            self.beginTurn()
            for connection in batch { self.receive(connection, self.hello) }
            self.finishTurn()
            self.beginTurn()
            for connection in batch {
                self.input.removeAll(keepingCapacity: true)
                let account = Int(self.random.next() % UInt64(self.setup.accounts))
                self.watch.append(stream: 1, account: account, to: &self.input)
                self.receive(connection, self.input)
            }
            self.finishTurn()
            self.beginTurn()
            self.finishTurn()
            self.beginTurn()
            for connection in batch { self.core.peerEnded(connection) }
            self.finishTurn()
            left -= count
        }
    }

    private func receive(_ connection: Int32, _ bytes: [UInt8]) {
        var taken = 0
        while taken < bytes.count {
            let rest = bytes.span.bytes.extracting(taken...)
            taken += self.core.received(connection, rest, untilAsks: Limits.asksAtOnce)
            if self.core.asks.count >= Limits.asksAtOnce { self.askStore() }
        }
    }

    private func askStore() {
        guard !self.core.asks.isEmpty else { return }
        _ = self.engine.run(self.core.asks, wall: self.now.wall, into: &self.outbox)
        self.core.asks.removeAll(keepingCapacity: true)
        swap(&self.told, &self.outbox.events[0])
        if self.engine.counters.refusals > 0 { self.tellRefusal() }
        self.core.handle(&self.told)
    }

    /// Searched only after a refusal: a check of each answer would count as cost of a change.
    private func tellRefusal() -> Never {
        for case .answer(_, .refused(let refusal)) in self.told {
            preconditionFailure("a purchase was refused: \(refusal.message)")
        }
        preconditionFailure("a purchase was refused")
    }

    private func beginTurn() {
        self.now.monotonic += 1
        self.now.wall = self.now.wall.advanced(byMilliseconds: 1)
        self.core.begin(self.now)
        self.core.takePausedInput()
        self.takeEffects()
    }

    private func finishTurn() {
        self.askStore()
        self.core.endInput()
        self.takeEffects()
        while true {
            let count = self.core.planWrites()
            if count == 0 { break }
            for index in 0..<count {
                let write = self.core.plannedWrite(index)
                self.writes += 1
                self.bytesWritten += write.byteCount
                self.core.wrote(index, .wrote(write.byteCount))
            }
            self.takeEffects()
        }
        _ = self.core.endTurn()
        self.takeEffects()
    }

    private func takeEffects() {
        if !self.core.effects.isEmpty { self.core.effects.removeAll(keepingCapacity: true) }
    }
}

/// A CALL frame of account 0. The frames of the other accounts are copies with other digits.
private struct NamedFrame {
    private let bytes: [UInt8]
    /// Where the digits of the account's number end, in the account's key and in its token.
    private var accountEnds: [Int] = []
    /// Where the digits of the change's number end, in the idempotency key.
    private var changeEnd: Int?

    init(_ bytes: [UInt8], account: String, token: String? = nil, key: String? = nil) {
        self.bytes = bytes
        func end(of text: String) -> Int {
            let text = Array(text.utf8)
            guard
                let found = (0...(bytes.count - text.count)).first(where: {
                    bytes[$0..<$0 + text.count].elementsEqual(text)
                })
            else { preconditionFailure("a text is not in its own request") }
            return found + text.count
        }
        self.accountEnds = [end(of: account)] + (token.map { [end(of: $0)] } ?? [])
        self.changeEnd = key.map { end(of: $0) }
    }

    func append(stream: UInt32, account: Int, change: Int = 0, to input: inout [UInt8]) {
        self.bytes.withUnsafeBufferPointer { input.append(contentsOf: $0) }
        input.withUnsafeMutableBytes { buffer in
            let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[(buffer.count - self.bytes.count)...])
            FrameHeader.writeAddress(.call, stream, into: frame)
            if let first = self.accountEnds.first { Self.write(account, before: first, into: frame) }
            for index in self.accountEnds.indices.dropFirst() {
                let (from, to) = (
                    self.accountEnds[0] - PushLoad.digitCount, self.accountEnds[index] - PushLoad.digitCount
                )
                frame.baseAddress.map { ($0 + to).copyMemory(from: $0 + from, byteCount: PushLoad.digitCount) }
            }
            if let changeEnd = self.changeEnd { Self.write(change, before: changeEnd, into: frame) }
        }
    }

    private static func write(_ number: Int, before end: Int, into frame: UnsafeMutableRawBufferPointer) {
        var rest = number
        for place in stride(from: end - 1, through: end - PushLoad.digitCount, by: -1) {
            frame[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}
