import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire

/// The limits of the contract, each once: what is missing from the table below does not pass its test.
enum ContractLimit: String, CaseIterable {
    case helloBytes = "HELLO"
    case firstByteTime = "first byte"
    case helloTime = "HELLO, in time"
    case handshakes = "connections before WELCOME"
    case handshakesBytes = "connections before WELCOME, what they hold"
    case unidentifiedFrameBytes = "frame before credentials"
    case frameTime = "frame, in time"
    case frameBytes = "frame"
    case inflatedBytes = "frame, inflated"
    case inflateRatio = "inflate ratio"
    case requestBytes = "request"
    case catalogueBytes = "catalogue load"
    case partialFrames = "partial frames held"
    case singularFields = "protobuf: singular fields"
    case repeatedItems = "protobuf: repeated items"
    case callsPerConnection = "calls per connection"
    case callsBytes = "calls, what they hold"
    case connectionsPerAddress = "connections per address"
    case connectionsPerIdentity = "connections per identity"
    case connectRate = "connects per address and second"
    case callRate = "calls per identity and second"
    case credentialFailures = "credentials not taken"
    case tokenBytes = "token"
    case writeStall = "write stall"
    case lingerTime = "linger"
    case dyingConnections = "the dying"
    case recordEntries = "record"
    case recordCache = "record cache"
    case cursorTime = "cursors, time"
    case cursorRevisions = "cursors, revisions"
    case idempotencyKeyBytes = "idempotency key"
    case idempotencyKeyTime = "idempotency keys, time"
    case revokedTokens = "tokens taken back"
}

/// The result of one step at a limit.
struct LimitOutcome: Equatable {
    /// The reason that the peer read; nil if it was admitted.
    var reason: String?
    /// By how much the limit's counter has grown.
    var counted: UInt64
    /// Whether the details name the limit; nil if nothing was refused.
    var namesLimit: Bool?
    var setting: String?

    static let passed = LimitOutcome(reason: nil, counted: 0)
}

/// One limit, tried: with one less than it allows, with as many, with one more.
struct LimitRow: Sendable {
    var limit: ContractLimit
    /// The option of `perch serve`; nil for a constant of the protocol.
    var setting: String?
    /// The reason that the peer reads; nil if data is dropped or cut off instead of a refusal.
    var reason: String?
    var probe: @Sendable (Int) throws -> LimitOutcome
}

/// Two limits are tested elsewhere. The connections of a process are limited before any core (`AcceptorTests`,
/// `Tests/Crash/machine`). No message of the contract nests 32 deep, so only the scan itself can be tried
/// (`Tests/PerchWireTests/RefusalTests.swift`).
let limitsTable: [LimitRow] = [
    LimitRow(limit: .helloBytes, reason: "FRAME_TOO_LONG") { step in
        let world = World()
        let client = world.connect()
        let name = Limits.helloBytesMax + step - 6
        // The version, and a client's name that fills it up.
        let length = [UInt8(name & 0x7F | 0x80), UInt8(name >> 7 & 0x7F | 0x80), UInt8(name >> 14)]
        client.sendFrame(.hello, stream: 0, [8, 1, 0x1A] + length + [UInt8](repeating: 0x61, count: name))
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .firstByteTime, setting: "first-byte-timeout", reason: "HELLO_TIMEOUT") { step in
        let world = limited { $0.core.firstByteTimeoutMilliseconds = 2_000 }
        let client = world.connect()
        // Within it, exactly at it, and one too late.
        world.advance(Int64(1_999 + step))
        client.sendBytes([1])
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .helloTime, setting: "hello-timeout", reason: "HELLO_TIMEOUT") { step in
        let world = limited { $0.core.helloTimeoutMilliseconds = 9_000 }
        let client = world.connect()
        client.sendBytes([1])
        world.advance(Int64(8_999 + step))
        client.sendBytes([0, 0, 0, 0, 0, 0, 0, 2, 8, 1])
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .handshakes, setting: "handshakes", reason: "HANDSHAKE_LIMIT") { step in
        let world = limited { $0.core.handshakesMax = 4 }
        let clients = (0..<4 + step).map { _ in world.connect() }
        world.settle()
        clients[0].sendBytes([1])
        world.settle()
        precondition(clients.dropFirst().allSatisfy { $0.isOpen }, "a newer one was closed")
        return world.outcome(clients[0])
    },
    LimitRow(limit: .handshakesBytes, setting: "handshakes-bytes", reason: "HANDSHAKE_LIMIT") { step in
        let world = limited { $0.core.handshakesBytesMax = 1_000 }
        let client = world.connect()
        client.sendBytes([1, 0, 0, 0, 0, 0, 0, 16, 0] + [UInt8](repeating: 0, count: 991 + step))
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .unidentifiedFrameBytes, setting: "unidentified-frame-bytes", reason: "FRAME_TOO_LONG") { step in
        let world = Gate.world { $0.core.unidentifiedFrameBytesMax = 20_000 }
        let length = 20_000 + step
        let client = world.welcomedClient()
        client.sendBytes([3, 0, 0, 1, 0, 0, 0, UInt8(length >> 8), UInt8(length & 0xFF)])
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .frameTime, setting: "frame-timeout", reason: "FRAME_TIMEOUT") { step in
        let world = limited { $0.core.frameTimeoutMilliseconds = 5_000 }
        let client = world.welcomedClient()
        client.sendBytes([8, 0, 0, 0, 0])
        world.settle()
        // One millisecond before the limit, exactly at it, and one too late.
        world.advance(4_999 + Int64(step))
        client.sendBytes([0, 0, 0, 8] + [UInt8](repeating: 1, count: 8))
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .frameBytes, setting: "frame-bytes", reason: "FRAME_TOO_LONG") { step in
        let world = limited { $0.core.frameBytesMax = 70_000 }
        return world.check(client: world.welcomedClient(), callBytes: 70_000 + step)
    },
    LimitRow(limit: .inflatedBytes, setting: "frame-bytes", reason: "INFLATE_LIMIT") { step in
        let world = limited { $0.core.frameBytesMax = 60_000 }
        return world.check(client: world.welcomedClient(), callBytes: 60_000 + step, compressed: true)
    },
    LimitRow(limit: .inflateRatio, reason: "INFLATE_RATIO") { step in
        // Of zeros, which shrink a thousandfold: to the free bytes, and beyond.
        let world = World()
        return world.check(
            client: world.welcomedClient(), callBytes: Limits.inflateRatioFreeBytes + step * 40_000, compressed: true)
    },
    LimitRow(limit: .requestBytes, reason: "REQUEST_TOO_LONG") { step in
        let world = World()
        let client = world.welcomedClient()
        // An unknown field fills it up.
        let bytes = filled(account, to: Limits.requestBytesMax + step)
        return world.outcome(client, client.call(.getSubscriptionStatus, requestBytes: bytes))
    },
    LimitRow(limit: .catalogueBytes, reason: "CATALOG_TOO_LONG") { step in
        let world = limited { $0.core.frameBytesMax = 2 * Limits.frameBytesMax }
        let client = world.welcomedClient()
        let bytes = filled([], to: Limits.catalogRequestBytesMax + step)
        return world.outcome(client, client.call(.checkCatalog, requestBytes: bytes))
    },
    LimitRow(limit: .partialFrames, setting: "partial-frames-bytes", reason: "PARTIAL_FRAMES_LIMIT") { step in
        let world = limited { $0.core.partialFramesBytesMax = 1_000 }
        let client = world.welcomedClient()
        client.sendBytes([3, 0, 0, 1, 0, 0, 0, 16, 0] + [UInt8](repeating: 0, count: 991 + step))
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .singularFields, reason: "MESSAGE_TOO_MANY_FIELDS") { step in
        let world = World()
        let client = world.welcomedClient()
        let count = Limits.protobufSingularFieldsMax - 2 + step
        let bytes = account + [UInt8]((0..<count).flatMap { _ in [0xF8, 1, 0] })
        return world.outcome(client, client.call(.getSubscriptionStatus, requestBytes: bytes))
    },
    LimitRow(limit: .repeatedItems, reason: "MESSAGE_TOO_MANY_ITEMS") { step in
        let world = World()
        let client = world.welcomedClient()
        // Images without anything in them.
        let bytes = [UInt8]((0..<Limits.protobufRepeatedItemsMax + step).flatMap { _ in [0x12, 0] })
        return world.outcome(client, client.call(.checkCatalog, requestBytes: bytes))
    },
    LimitRow(limit: .callsPerConnection, setting: "calls-per-connection", reason: "CALLS_LIMIT") { step in
        let world = limited { $0.core.callsPerConnectionMax = 3 }
        let client = world.welcomedClient()
        let streams = (0..<3 + step).map { _ in client.call(.status()) }
        return world.outcome(client, streams[streams.count - 1])
    },
    LimitRow(limit: .callsBytes, setting: "calls-bytes", reason: "CALLS_BYTES_LIMIT") { step in
        // The bytes of a hundred watched products, and no byte less.
        func life(_ bytes: Int) -> (world: World, client: WireClient) {
            let world = limited { $0.core.callsBytesMax = bytes }
            let client = world.welcomedClient()
            client.call(.products((0..<100).map { "app.perch.product.\($0)" }))
            world.settle()
            return (world, client)
        }
        let request = Request.products(["gold"])
        let codec = MessageCodec()
        let needed = life(.max).world.loops[0].core.callsBytes + (try codec.encode(request)).prefixed.count - 5
        let (world, client) = life(needed - step)
        return world.outcome(client, client.call(request))
    },
    LimitRow(limit: .connectionsPerAddress, setting: "connections-per-address", reason: "CONNECTION_LIMIT") { step in
        let world = limited {
            $0.core.connectionsPerAddressMax = 3
            $0.loops = 2
        }
        // Over both loops together; those of another address and of this machine are not counted.
        let others = [world.connect(address: addresses[1]), world.connect()]
        let clients = (0..<3 + step).map { world.connect(loop: $0 % 2, address: addresses[0]) }
        world.settle()
        clients[clients.count - 1].sendBytes([1])
        world.settle()
        precondition(others.allSatisfy { $0.isOpen }, "somebody else was refused")
        return world.outcome(clients[clients.count - 1])
    },
    LimitRow(limit: .connectionsPerIdentity, setting: "connections-per-identity", reason: "CONNECTION_LIMIT") { step in
        let world = Gate.world {
            $0.core.connectionsPerIdentityMax = 3
            $0.loops = 2
        }
        // Over both loops, and over all tokens of one subject.
        let clients = (0..<3 + step).map { number in
            let client = world.connect(loop: number % 2)
            client.hello(authorization: Gate.token(.read, id: "\(number)"))
            world.settle()
            return client
        }
        return world.outcome(clients[clients.count - 1])
    },
    LimitRow(limit: .connectRate, setting: "connects-per-second", reason: "CONNECT_RATE") { step in
        let world = limited { $0.core.connectsPerAddress = RateLimit(perSecond: 10, burst: 3) }
        let clients = (0..<3 + step).map { _ in
            let client = world.connect(address: addresses[0])
            client.sendBytes([1])
            world.settle()
            return client
        }
        return world.outcome(clients[clients.count - 1])
    },
    LimitRow(limit: .callRate, setting: "calls-per-second", reason: "CALL_RATE") { step in
        let world = Gate.world { $0.core.callsPerIdentity = RateLimit(perSecond: 10, burst: 3) }
        let client = world.welcomedClient(authorization: Gate.token(.read))
        let streams = (0..<3 + step).map { _ in client.call(.readStatus()) }
        return world.outcome(client, streams[streams.count - 1])
    },
    LimitRow(limit: .credentialFailures, reason: "CREDENTIALS_LIMIT") { step in
        let world = Gate.world()
        let client = world.welcomedClient()
        for _ in 0..<Limits.credentialFailuresMax + step { client.call(.readStatus(), authorization: "Bearer x") }
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .tokenBytes, reason: "CREDENTIALS_MALFORMED") { step in
        let world = Gate.world()
        let client = world.connect()
        // A token that is too long is refused unread. Up to the limit it is read, and here it has no valid signature.
        let token = Gate.token(.read).dropFirst(7)
        let rest = Limits.tokenBytesMax + step - token.utf8.count
        client.hello(authorization: "Bearer " + token + String(repeating: "A", count: rest))
        world.settle()
        let outcome = world.outcome(client)
        return outcome.reason == "CREDENTIALS_UNTRUSTED" ? .passed : outcome
    },
    LimitRow(limit: .writeStall, setting: "write-stall", reason: "WRITE_STALLED") { step in
        let world = limited {
            $0.sendBufferBytes = 64
            $0.core.writeStallMilliseconds = 10_000
        }
        let client = world.welcomedClient()
        client.socket.isStalled = true
        client.call(.products())
        world.settle()
        // Checked each second: a second early, in time, and a second late.
        world.advance(10_000 + Int64(step) * 1_000 - (step > 0 ? 0 : 1))
        client.socket.isStalled = false
        world.settle()
        return world.outcome(client)
    },
    LimitRow(limit: .lingerTime, setting: "linger") { step in
        let world = limited { $0.core.lingerMilliseconds = 5_000 }
        let client = world.welcomedClient()
        client.sendBytes([0x16])
        world.settle()
        world.advance(Int64(4_999 + step))
        return LimitOutcome(reason: nil, counted: world.loops[0].core.counters.lingerExpired)
    },
    LimitRow(limit: .dyingConnections, setting: "dying-connections") { step in
        let world = limited { $0.core.dyingConnectionsMax = 3 }
        for _ in 0..<3 + step {
            world.welcomedClient().sendBytes([0x16])
            world.settle()
        }
        return LimitOutcome(reason: nil, counted: world.loops[0].core.counters.dyingCutOff)
    },
    LimitRow(limit: .recordEntries, setting: "record-entries", reason: "RECORD_LIMIT") { step in
        let world = limited { $0.storeLimits.recordEntriesMax = 3 }
        let client = world.welcomedClient()
        let streams = ["gold", "weekly", "lifetime", "season"].prefix(3 + step).map { product in
            let stream = client.call(.buy(product))
            world.settle()
            return stream
        }
        return world.outcome(client, streams[streams.count - 1])
    },
    LimitRow(limit: .recordCache, setting: "record-cache-bytes") { step in
        func life(_ bytes: Int) throws -> World {
            let storage = MemoryStorage(identity: World.identity)
            storage.holdsRecords = false
            let world = limited {
                $0.storage = storage
                $0.cacheBytesMax = bytes
            }
            let client = world.welcomedClient()
            for account in ["anna", "ben"] { try world.buy("coins", account, from: client) }
            return world
        }
        // The bytes of two records; with a byte less the older one is evicted.
        let needed = try life(1 << 20).engine.cacheBytes
        return LimitOutcome(reason: nil, counted: UInt64(try life(needed - step).engine.cacheEvictions))
    },
    LimitRow(limit: .cursorTime, setting: "cursor-time", reason: "CURSOR_TOO_OLD") { step in
        try resumed(afterMilliseconds: 60_000 + Int64(step), revisions: 4)
    },
    LimitRow(limit: .cursorRevisions, setting: "cursor-revisions", reason: "CURSOR_TOO_OLD") { step in
        try resumed(afterMilliseconds: 60_001, revisions: 3 + step)
    },
    LimitRow(limit: .idempotencyKeyBytes, reason: "FIELD_INVALID") { step in
        let world = World()
        let client = world.welcomedClient()
        let key = [UInt8](repeating: 1, count: Limits.idempotencyKeyBytesMax + step)
        return world.outcome(client, client.call(.buy("coins", key: key)))
    },
    LimitRow(limit: .idempotencyKeyTime, setting: "idempotency-keys") { step in
        // The default, by the clock: to the millisecond the answer is the first one's; then the key is new.
        let world = World()
        let client = world.welcomedClient()
        func buy() throws -> Transaction? {
            guard case .purchase(let bought) = try world.require(.buy("coins", key: [7]), from: client) else {
                return nil
            }
            return bought.transaction?.value
        }
        let first = try buy()
        // The sweep of old keys runs once an hour, so it did not run here: the time itself decides.
        world.jump(Limits.idempotencyKeyMilliseconds - 1_800_000)
        world.settle()
        try world.buy("coins", from: client)
        world.jump(1_800_000 + Int64(step))
        world.settle()
        let again = try buy()
        precondition((world.engine.counters.replays == 1) == (first == again), "a replay is counted wrongly")
        return LimitOutcome(reason: nil, counted: first == again ? 0 : 1)
    },
    LimitRow(limit: .revokedTokens, reason: "REVOCATION_LIMIT") { step in
        let world = Gate.world { $0.storeLimits.revokedTokensMax = 3 }
        let client = world.welcomedClient(authorization: Gate.token(.admin, app: .all))
        let streams = (0..<3 + step).map { client.call(.revokeToken(RevokeTokenRequest(tokenID: "\($0)"))) }
        return world.outcome(client, streams[streams.count - 1])
    },
]

// MARK: What the probes share

/// `account: anna`, `group_id: plans`.
private let account: [UInt8] = [0x12, 4] + Array("anna".utf8) + [0x1A, 5] + Array("plans".utf8)

private let addresses = [
    PeerAddress(high: 0, low: 0xFFFF_C000_0201), PeerAddress(high: 0x2001_0DB8_0000_0001, low: 1),
]

private func limited(_ change: (inout World.Setup) -> Void) -> World {
    var setup = World.Setup()
    change(&setup)
    return World(setup)
}

/// A message extended to that number of bytes by an unknown field of zeros.
private func filled(_ message: [UInt8], to count: Int) -> [UInt8] {
    // Tag of two bytes, length of four.
    let rest = count - message.count - 6
    let length = (0..<4).map { UInt8(truncatingIfNeeded: rest >> ($0 * 7) & 0x7F | ($0 < 3 ? 0x80 : 0)) }
    return message + [0xFA, 1] + length + [UInt8](repeating: 0, count: rest)
}

/// A stream of transactions that resumes by its cursor after that time and those revisions.
private func resumed(afterMilliseconds time: Int64, revisions: Int) throws -> LimitOutcome {
    let world = limited {
        $0.storeLimits.cursorMilliseconds = 60_000
        $0.storeLimits.cursorRevisions = 3
    }
    let client = world.welcomedClient()
    try world.buy("coins", from: client)
    let first = client.call(.updates())
    world.settle()
    guard let cursor = client.updates(on: first).last?.cursor else { throw NoAnswer(status: nil) }
    client.cancel(first)
    for _ in 0..<revisions { try world.buy("coins", from: client) }
    world.jump(time)
    world.settle()
    return world.outcome(client, client.call(.updates(cursor: cursor)))
}

extension World {
    /// The reason that a closed connection received, and whether it was counted.
    fileprivate func outcome(_ client: WireClient) -> LimitOutcome {
        self.settle()
        let drain = client.drains.last
        return self.outcome(drain?.reason, drain?.details ?? [])
    }

    /// The status of a call.
    fileprivate func outcome(_ client: WireClient, _ stream: UInt32) -> LimitOutcome {
        self.settle()
        let status = client.status(of: stream)
        guard let status else { return self.outcome(client) }
        return self.outcome(status.code == 0 ? nil : status.reason, status.details)
    }

    private func outcome(_ reason: String?, _ details: [StatusDetail]) -> LimitOutcome {
        guard let reason else { return .passed }
        let counted = self.loops.reduce(0) { sum, loop in
            sum + (ErrorReason(rawValue: reason).flatMap { loop.core.counters.refusalsByReason[$0] } ?? 0)
        }
        return LimitOutcome(
            reason: reason, counted: counted,
            namesLimit: details.contains { $0.key == "limit" && Int64($0.value) != nil },
            setting: details.first { $0.key == "setting" }?.value)
    }

    /// A CALL with that number of bytes in all, filled with zeros.
    fileprivate func check(client: WireClient, callBytes: Int, compressed: Bool = false) -> LimitOutcome {
        // Path and request, each with its tag and length.
        let around = 2 + PerchWire.Method.checkCatalog.path.utf8.count + 4
        let stream = client.call(
            .checkCatalog, requestBytes: filled([], to: callBytes - around), compressed: compressed)
        return self.outcome(client, stream)
    }
}
