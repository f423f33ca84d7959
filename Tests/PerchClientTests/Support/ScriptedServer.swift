import PerchBase
import PerchClient
import PerchModel
import PerchWire
import Testing

/// A client's core, and a server scripted by the test, in virtual time.
final class ScriptedServer {
    var core: ClientCore
    private(set) var time = ClientTime(monotonic: 1_000, wall: Instant(milliseconds: 1_700_000_000_000))
    private let codec = MessageCodec()
    private var decoder = FrameDecoder()
    static let clientID: [UInt8] = [1, 2, 3]

    init(seed: UInt64 = 1, _ change: (inout ClientSettings) -> Void = { _ in }) {
        var settings = ClientSettings(name: "test/1", clientID: Self.clientID)
        change(&settings)
        self.core = ClientCore(settings: settings, codec: MessageCodec(), seed: seed, now: self.time)
    }

    /// Copied from the core, because an expectation cannot copy the core itself.
    var nextWake: Int64? { self.core.nextWake }
    var disconnectedSince: Instant? { self.core.away?.since.wall }
    var output: [UInt8] { self.core.output }
    func refusal(of authorization: String) -> PerchError? { self.core.refusal(of: authorization) }

    /// The actions of the core since the last call.
    func actions() -> [ClientAction] {
        let actions = self.core.actions
        self.core.actions.removeAll()
        return actions
    }

    /// Moves the clock, and steps the core.
    func advance(_ milliseconds: Int64) {
        self.time.monotonic += milliseconds
        self.time.wall = self.time.wall.advanced(byMilliseconds: milliseconds)
        self.core.tick(self.time)
    }

    /// Moves the clock to when the core wants to be stepped next; how long that was.
    @discardableResult
    func advanceToWake() throws -> Int64 {
        let wake = try #require(self.nextWake, "the core waits for nothing")
        let pause = max(wake - self.time.monotonic, 0)
        self.advance(pause)
        return pause
    }

    // MARK: What the client sends

    struct Sent: Equatable {
        var kind: FrameKind
        var stream: UInt32
        var request: Request?
        var timeoutMilliseconds: UInt64 = 0
        var metadata: [Metadata] = []
        var payload: [UInt8]
    }

    func sent() throws -> [Sent] {
        self.decoder.append(self.core.output)
        self.core.output.removeAll()
        var sent: [Sent] = []
        while let frame = try self.decoder.next() {
            var one = Sent(kind: frame.header.kind, stream: frame.header.stream, payload: frame.payload)
            if frame.header.kind == .call {
                let call = try self.codec.decodeCall(frame.payload.span.bytes)
                let method = try #require(Method(path: call.path))
                one.request = try self.codec.decodeRequest(method, Array(frame.payload[call.request]).span.bytes)
                one.timeoutMilliseconds = call.timeoutMilliseconds
                one.metadata = call.metadata
            }
            sent.append(one)
        }
        return sent
    }

    /// The one call that was sent.
    func call() throws -> Sent {
        let sent = try self.sent()
        try #require(sent.count == 1 && sent[0].kind == .call, "\(sent)")
        return sent[0]
    }

    // MARK: What the server says

    func receive(_ bytes: [UInt8]) {
        self.core.received(bytes.span.bytes)
    }

    func frame(_ kind: FrameKind, stream: UInt32 = 0, compressed: Bool = false, _ payload: [UInt8] = []) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: FrameHeader.byteCount)
        header.withUnsafeMutableBytes { memory in
            FrameHeader(kind: kind, stream: stream, isCompressed: compressed, length: payload.count)
                .write(into: memory)
        }
        return header + payload
    }

    func say(_ response: Response, on stream: UInt32) throws {
        self.receive(self.frame(.message, stream: stream, try self.bytes(response)))
    }

    func bytes(_ response: Response) throws -> [UInt8] { Array(try self.codec.encode(response).message) }

    func compressed(_ response: Response) throws -> [UInt8]? {
        _ = try self.codec.encode(response)
        return self.codec.compressed().map { Array($0.message) }
    }

    func end(_ stream: UInt32, _ reason: ErrorReason? = nil, _ message: String = "it ended") throws {
        try self.end(stream, reason.map { WireStatus($0, message).status } ?? Status())
    }

    func end(_ stream: UInt32, _ status: Status) throws {
        self.receive(self.frame(.status, stream: stream, Array(try self.codec.encode(status).message)))
    }

    func answer(_ response: Response, on stream: UInt32) throws {
        try self.say(response, on: stream)
        try self.end(stream)
    }

    func beat(_ revision: UInt64 = 1, at serverTime: Instant = Instant(milliseconds: 0)) throws {
        let beat = Beat(revision: revision, serverTime: serverTime)
        self.receive(self.frame(.beat, Array(try self.codec.encode(beat).message)))
    }

    func drain(_ drain: Drain) throws {
        self.receive(self.frame(.drain, Array(try self.codec.encode(drain).message)))
    }

    func welcome(_ change: (inout Welcome) -> Void = { _ in }) throws {
        var welcome = Welcome(
            serverVersion: "9", storeID: [UInt8](repeating: 7, count: 16), epoch: 1, revision: 5,
            limits: PeerLimits(frameBytes: UInt32(Limits.frameBytesMax)), heartbeatSeconds: 30)
        change(&welcome)
        self.receive(self.frame(.welcome, Array(try self.codec.encode(welcome).message)))
    }

    /// Accepts and welcomes the core's connection. Returns its other actions.
    @discardableResult
    func connect(_ change: (inout Welcome) -> Void = { _ in }) throws -> [ClientAction] {
        let actions = self.actions()
        try #require(actions.contains(.connect), "\(actions)")
        self.decoder = FrameDecoder()
        self.core.connected(authorization: "")
        let sent = try self.sent()
        try #require(sent.count == 1 && sent[0].kind == .hello)
        try self.welcome(change)
        return actions + self.actions()
    }

    /// The connection breaks, and the core comes back as soon as it wants to.
    @discardableResult
    func reconnect(_ change: (inout Welcome) -> Void = { _ in }) throws -> [ClientAction] {
        self.core.ended("cut")
        try self.advanceToWake()
        return try self.connect(change)
    }
}

// MARK: Values to say

enum Sample {
    static func transaction(_ id: TransactionID, product: String = "gold") -> Verified<Transaction> {
        let date = Instant(milliseconds: 1_700_000_000_000)
        return Verified(
            Transaction(
                id: id, originalID: id, appBundleID: "shop", productID: product, productType: .nonConsumable,
                purchaseDate: date, originalPurchaseDate: date, environment: .xcode,
                storefront: Storefront(countryCode: "USA"), reason: .purchase, signedDate: date))
    }

    static func info(_ revision: UInt64, cause: Cause = .purchase) -> PerchWire.ValueInfo {
        PerchWire.ValueInfo(
            position: Position(revision: revision, asOf: Instant(milliseconds: 10)), cause: cause,
            token: [UInt8(revision)])
    }

    static func entitled(_ id: TransactionID?, revision: UInt64) -> Response {
        .currentEntitlementTask(.success(id.map { Self.transaction($0) }, Self.info(revision)))
    }

    static func event(_ id: TransactionID, cursor: [UInt8], origin: [UInt8] = []) -> Response {
        .transactionUpdates(
            TransactionEvent(
                transaction: Self.transaction(id), kind: cursor.isEmpty ? .unfinished : .purchased, cursor: cursor,
                revision: id, originClientID: origin))
    }

    static let read = Request.getCurrentEntitlement(CurrentEntitlementRequest(account: "anna", productID: "gold"))
    static let watch = Request.currentEntitlementTask(CurrentEntitlementRequest(account: "anna", productID: "gold"))
    static let keyed = Request.operate(
        OperateRequest(account: "anna", idempotencyKey: [9], operation: .buy(PurchaseOrder(productID: "gold"))))
    static let clock = Request.setClock(SetClockRequest(change: .freeze))
    static let noEntitlement = Response.getCurrentEntitlement(.success(nil, Self.info(1)))
}

extension Request {
    /// The resume token of a state stream.
    var watchToken: [UInt8]? {
        guard case .currentEntitlementTask(let request) = self else { return nil }
        return request.resumeToken
    }
}

extension [ClientAction] {
    /// The states that watch `id` showed, as identifiers of its transactions.
    func shown(_ id: ItemID) -> [String] {
        self.compactMap { action in
            guard case .show(id, let state, let isNews) = action, isNews else { return nil }
            func name(_ value: WatchValue?) -> String {
                guard case .entitlement(let transaction)? = value else { return "?" }
                return transaction.map { "\($0.value.id)" } ?? "none"
            }
            switch state {
            case .loading: return "loading"
            case .failure(let failure, let last):
                return "\(failure.isFinal ? "final " : "")\(failure.reason) after \(last.map { name($0) } ?? "nothing")"
            case .success(let value, _): return name(value)
            case .unchanged: return "unchanged"
            }
        }
    }

    /// IDs of the transactions that stream `id` delivered.
    func events(_ id: ItemID) -> [TransactionID] {
        self.flatMap { action -> [TransactionID] in
            guard case .events(id, let items) = action else { return [] }
            return items.compactMap { $0.update?.transaction.value.id }
        }
    }

    func result(_ id: ItemID) -> Result<Response, PerchError>? {
        for case .finish(id, let result) in self { return result }
        return nil
    }

    func error(_ id: ItemID) -> PerchError? {
        guard case .failure(let error)? = self.result(id) else { return nil }
        return error
    }

    var refused: PerchError? {
        for case .connection(.refused(let reason)) in self { return reason }
        return nil
    }

    var waiting: PerchError? {
        for case .connection(.waiting(_, let reason)) in self { return reason }
        return nil
    }
}
