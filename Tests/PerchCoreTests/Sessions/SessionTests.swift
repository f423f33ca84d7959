import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// Connections from accept to close: the limits before WELCOME, heartbeats, slow and dying readers, drain.
@Suite(.onChosenStorage) struct SessionTests {
    private func world(_ change: (inout World.Setup) -> Void) -> World {
        var setup = World.Setup()
        change(&setup)
        return World(setup)
    }

    // MARK: Before WELCOME

    @Test func `a silent connection is closed with the reason after the limit for the first byte`() {
        let world = World()
        let client = world.connect()
        world.advance(Limits.firstByteTimeoutMilliseconds - 1)
        #expect(client.events.isEmpty)
        world.advance(1)
        #expect(client.drains.map(\.reason) == ["HELLO_TIMEOUT"])
        #expect(client.drains.map(\.isFinal) == [true])
        #expect(!client.isOpen)
        client.socket.clientEnds()
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }

    @Test func `half a HELLO is given up after the limit for a whole one`() {
        let world = World()
        let client = world.connect()
        client.sendBytes([1, 0, 0])
        world.advance(Limits.helloTimeoutMilliseconds - 1)
        #expect(client.events.isEmpty)
        world.advance(1)
        #expect(client.drains.map(\.reason) == ["HELLO_TIMEOUT"])
        world.checkNothingIsLeft()
    }

    @Test func `a HELLO in single bytes is welcomed`() {
        var conditions = SimulatedLoop.Conditions()
        conditions.readBytes = { 1 }
        let world = World(World.Setup(), conditions: conditions)
        let client = world.welcomedClient()
        #expect(client.welcome?.heartbeatSeconds == 600)
        world.checkNothingIsLeft()
    }

    /// Otherwise an unauthenticated peer could make the server hold four megabytes as a HELLO.
    @Test(arguments: 1...8) func `a header that comes in two pieces is judged like a whole one`(_ cut: Int) {
        let world = World()
        let client = world.connect()
        let header: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0x40, 0x01]
        client.sendBytes(Array(header[..<cut]))
        world.settle()
        client.sendBytes(Array(header[cut...]))
        world.settle()
        #expect(client.drains.map(\.reason) == ["FRAME_TOO_LONG"])
        world.checkNothingIsLeft()
    }

    @Test func `a connection beyond the process's limit gets the reason in a frame`() throws {
        var decoder = FrameDecoder()
        decoder.append(Farewell.noRoom(limit: 236))
        let frame = try #require(try decoder.next())
        #expect(frame.header.kind == .drain && frame.header.stream == 0 && decoder.bufferedByteCount == 0)
        let drain = try MessageCodec().decodeDrain(frame.payload.span.bytes)
        #expect(drain.isFinal && drain.reason == "CONNECTION_LIMIT" && drain.reconnectAfterMilliseconds > 0)
        #expect(drain.details.contains { $0.key == "limit" && $0.value == "236" })
    }

    @Test(arguments: [
        (frame: [3, 0, 0, 1, 0, 0, 0, 0, 0] as [UInt8], reason: "HELLO_EXPECTED"),
        ([1, 0, 0, 1, 0, 0, 0, 0, 0], "STREAM_NOT_ZERO"), ([1, 0, 0, 0, 1, 0, 0, 0, 0], "COMPRESSION_NOT_OFFERED"),
        ([1, 0, 0, 0, 2, 0, 0, 0, 0], "RESERVED_FLAG"), ([1, 0, 0, 0, 0, 0, 0, 0x40, 1], "FRAME_TOO_LONG"),
        ([0x16], "UNKNOWN_KIND"), ([1, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF], "HELLO_INVALID"),
        ([1, 0, 0, 0, 0, 0, 0, 0, 2, 8, 2], "PROTOCOL_VERSION"), ([2, 0, 0, 0, 0, 0, 0, 0, 0], "KIND_NOT_FOR_CLIENTS"),
    ])
    func `a breach before WELCOME is answered by its reason, and closed`(frame: [UInt8], reason: String) {
        let world = World()
        let other = world.welcomedClient()
        let client = world.connect()
        client.sendBytes(frame)
        world.settle()
        #expect(client.drains.map(\.reason) == [reason])
        #expect(
            client.drains.first?.reconnectAfterMilliseconds == Limits.drainFinalMilliseconds,
            "a client that sends the same again has time")
        #expect(!client.isOpen && other.isOpen)
        world.checkNothingIsLeft()
    }

    @Test(arguments: [
        (frame: [1, 0, 0, 0, 0, 0, 0, 0, 2, 8, 1] as [UInt8], reason: "HELLO_REPEATED"),
        ([3, 0, 0, 0, 0, 0, 0, 0, 0], "STREAM_ZERO"), ([6, 0, 0, 0, 0, 0, 0, 0, 0], "STREAM_ZERO"),
        ([6, 0, 0, 1, 0, 0, 0, 0, 1, 0], "CANCEL_NOT_EMPTY"), ([8, 0, 0, 0, 0, 0, 0, 0, 7], "PING_LENGTH"),
        ([3, 0, 0, 1, 0, 0, 0, 0, 0], "STREAM_LIVE"), ([3, 0, 0, 9, 0, 0, 0x40, 0, 1], "FRAME_TOO_LONG"),
        ([3, 0, 0, 9, 1, 0, 0, 0, 2, 1, 2], "INFLATE_CORRUPT"), ([4, 0, 0, 9, 0, 0, 0, 0, 0], "KIND_NOT_FOR_CLIENTS"),
    ])
    func `a breach after WELCOME closes this connection alone, and it can read why`(frame: [UInt8], reason: String) {
        let world = World()
        let other = world.welcomedClient()
        let watched = other.call(.status())
        let client = world.welcomedClient()
        client.call(.status())
        world.settle()
        client.sendBytes(frame)
        world.settle()
        #expect(client.drains.map(\.reason) == [reason])
        #expect(client.drains.allSatisfy { !$0.message.isEmpty && $0.isFinal })
        #expect(!client.isOpen)
        #expect(other.isOpen && other.status(of: watched) == nil)
        world.checkNothingIsLeft()
    }

    // MARK: Heartbeats

    @Test(
        arguments: [(asked: 0, given: 30), (1, 10), (9, 10), (10, 10), (77, 77), (600, 600), (9_999, 600)]
            as [(UInt32, UInt32)])
    func `a wished heartbeat is moved into its bounds`(asked: UInt32, given: UInt32) {
        let world = World()
        let client = world.welcomedClient(heartbeatSeconds: asked)
        #expect(client.welcome?.heartbeatSeconds == given)
        world.advance(Int64(given) * 1_000 * 3 + 1_000)
        #expect((3...4).contains(client.beats.count))
    }

    @Test func `WELCOMEs of one tick differ only in the heartbeat, later ones in the time`() throws {
        let world = World()
        func greeted(_ wished: [UInt32]) throws -> [Welcome] {
            let clients = wished.map { _ in world.connect() }
            for (client, seconds) in zip(clients, wished) { client.hello(heartbeatSeconds: seconds) }
            world.settle()
            return try clients.map { try #require($0.welcome) }
        }
        let first = try greeted([20, 20, 60, 20])
        #expect(first.map(\.heartbeatSeconds) == [20, 20, 60, 20])
        #expect(Set(first.map(\.serverTime)).count == 1)
        #expect(first[0] == first[1] && first[0] == first[3])

        try world.buy("gold", from: world.welcomedClient())
        world.advance(1_000)
        let later = try greeted([20])
        #expect(later[0].serverTime > first[0].serverTime && later[0].revision > first[0].revision)
        world.checkInvariants()
    }

    @Test func `silence is never longer than the heartbeat, and a beat that was sent anyway counts`() throws {
        let world = World()
        let client = world.welcomedClient(heartbeatSeconds: 10)
        client.call(.status())
        client.call(.entitlement())
        world.settle()
        let times = Box<[Int64]>([world.monotonic])
        client.onEvent = { if case .beat = $0 { times.value.append(world.monotonic) } }
        for round in 0..<30 {
            world.advance(3_000)
            if round == 9 || round == 17 { try world.buy(round == 9 ? "gold" : "silver", from: client) }
        }
        let gaps = zip(times.value, times.value.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 <= 11_000 })
        #expect(times.value.count < 14)
    }

    @Test func `connections that came together do not beat together`() {
        let world = World()
        let clients = (0..<40).map { _ in world.connect() }
        let seconds = Box<[Int64: Int]>([:])
        for client in clients {
            client.onEvent = { if case .beat = $0 { seconds.value[world.monotonic / 1_000, default: 0] += 1 } }
            client.hello(heartbeatSeconds: 20)
        }
        world.advance(20_000)
        #expect(seconds.value.values.reduce(0, +) >= 40)
        #expect(seconds.value.values.max() ?? 0 <= 10)
    }

    @Test func `a beat names the revision that was said, and a ping gets its own bytes back`() throws {
        let world = World()
        let client = world.welcomedClient(heartbeatSeconds: 10)
        let other = world.welcomedClient()
        try world.buy("gold", from: other)
        client.ping([9, 8, 7, 6, 5, 4, 3, 2])
        world.advance(11_000)
        #expect(client.beats.last?.revision == world.engine.header.revision)
        let pongs = client.events.compactMap { if case .pong(let bytes) = $0 { bytes } else { nil } }
        #expect(pongs == [[9, 8, 7, 6, 5, 4, 3, 2]])
    }

    // MARK: Slow readers

    @Test func `a connection that reads nothing for too long is closed with a readable reason`() throws {
        let world = self.world { $0.sendBufferBytes = 2_048 }
        let slow = world.welcomedClient()
        let quick = world.welcomedClient()
        let stream = slow.call(.status())
        let quickStream = quick.call(.status())
        world.settle()
        slow.socket.isStalled = true
        let gold = try world.buy("gold", from: quick)
        for round in 0..<8 { try world.require(.autoRenew(gold.id, round % 2 == 1), from: quick) }
        world.advance(Limits.writeStallMilliseconds - 1_001)
        #expect(world.loops[0].core.counters.stalledClosed == 0)
        world.advance(3_000)
        #expect(world.loops[0].core.counters.stalledClosed == 1)
        #expect(quick.isOpen && quick.statuses(on: quickStream).count == 11)
        // It reads at last: whole frames only, then why.
        slow.socket.isStalled = false
        world.settle()
        #expect(slow.statuses(on: stream).last?.value != nil)
        #expect(slow.drains.map(\.reason) == ["WRITE_STALLED"])
        #expect(slow.drains.first?.details.contains { $0.key == "limit" && $0.value == "30000" } == true)
        #expect(slow.partialByteCount == 0 && !slow.isOpen)
        world.checkNothingIsLeft()
    }

    @Test func `a connection that reads a little now and then is not closed`() throws {
        let world = self.world { $0.sendBufferBytes = 64 }
        let slow = world.welcomedClient()
        slow.socket.isStalled = true
        slow.call(.products())
        world.settle()
        for _ in 0..<10 {
            world.advance(20_000)
            slow.socket.isStalled = false
            slow.take(slow.socket.deliverToClient(upTo: 50))
            slow.socket.isStalled = true
        }
        #expect(world.loops[0].core.counters.stalledClosed == 0)
        slow.socket.isStalled = false
        world.settle()
        #expect(slow.isOpen)
        world.checkNothingIsLeft()
    }

    @Test func `a connection that stopped reading is cut off when lingering ends`() throws {
        let world = self.world { $0.sendBufferBytes = 64 }
        let slow = world.welcomedClient()
        slow.socket.isStalled = true
        slow.call(.products())
        world.advance(Limits.writeStallMilliseconds + 2_000)
        #expect(world.loops[0].core.connectionCount == 1)
        world.advance(Limits.lingerMilliseconds)
        #expect(world.loops[0].core.connectionCount == 0)
        world.loops[0].core.checkIsEmpty()
    }

    @Test func `the oldest of too many dying connections is cut off`() {
        let world = self.world { $0.core.dyingConnectionsMax = 4 }
        let clients = (0..<7).map { _ in world.welcomedClient() }
        for client in clients {
            client.sendBytes([0x16])
            world.settle()
            world.checkInvariants()
        }
        #expect(world.loops[0].core.connectionCount == 4)
        #expect(clients.allSatisfy { $0.drains.map(\.reason) == ["UNKNOWN_KIND"] })
        world.checkNothingIsLeft()
    }

    /// The bytes that a client has sent, taken out of its socket.
    private func sent(by client: WireClient) -> [UInt8] {
        _ = client.socket.deliverToServer()
        guard case .bytes(let bytes) = client.socket.read(upTo: .max) else { return [] }
        return bytes
    }

    @Test func `frames are handled until a limit of requests waits, and one at least`() {
        let world = World()
        let client = world.welcomedClient()
        let streams = (0..<5).map { client.call(.status("a\($0)")) }
        let bytes = self.sent(by: client)
        let frame = bytes.count / streams.count
        let before = world.loops[0].core.counters
        var taken: [Int] = []
        while taken.reduce(0, +) < bytes.count {
            let rest = bytes.span.bytes.extracting(taken.reduce(0, +)...)
            taken.append(world.loops[0].core.received(0, rest, untilAsks: 2))
        }
        #expect(taken == [2 * frame, frame, frame, frame])
        #expect(world.loops[0].core.asks.count == 5)
        #expect(world.loops[0].core.counters.bytesIn - before.bytesIn == UInt64(bytes.count))
        #expect(world.loops[0].core.counters.framesIn - before.framesIn == 5)
        // Gives the tick some work.
        client.ping()
        world.settle()
        // That it is on its way, and the value.
        for stream in streams { #expect(client.statuses(on: stream).count == 2) }
        world.checkNothingIsLeft()
    }

    @Test func `half a frame behind the last is kept, however many asks wait`() {
        let world = World()
        let client = world.welcomedClient()
        let streams = (0..<3).map { client.call(.status("a\($0)")) }
        let bytes = self.sent(by: client)
        let cut = bytes.count - 4
        let first = world.loops[0].core.received(0, bytes.span.bytes.extracting(..<cut), untilAsks: 2)
        #expect(first < cut)
        #expect(
            world.loops[0].core.received(0, bytes.span.bytes.extracting(first..<cut), untilAsks: 2) == cut - first)
        #expect(world.loops[0].core.partialBytes > 0)
        // Kept bytes are handled together with those that complete them.
        #expect(world.loops[0].core.received(0, bytes.span.bytes.extracting(cut...), untilAsks: 2) == 4)
        #expect(world.loops[0].core.partialBytes == 0)
        // Gives the tick some work.
        client.ping()
        world.settle()
        // That it is on its way, and the value.
        for stream in streams { #expect(client.statuses(on: stream).count == 2) }
        world.checkNothingIsLeft()
    }

    @Test func `a connection with too many unsent answers is not read from until it reads some`() throws {
        let world = self.world { $0.sendBufferBytes = 1_024 }
        let client = world.welcomedClient()
        client.socket.isStalled = true
        for _ in 0..<20_000 { client.ping() }
        world.settle()
        #expect(!client.socket.serverReadable.isEmpty)
        world.checkInvariants()
        client.socket.isStalled = false
        world.settle()
        let pongs = client.events.count { if case .pong = $0 { true } else { false } }
        #expect(pongs == 20_000)
        world.checkNothingIsLeft()
    }

    @Test func `calls beyond the limit of a connection are refused, and the connection stays`() {
        let world = self.world { $0.core.callsPerConnectionMax = 3 }
        let client = world.welcomedClient()
        let streams = (0..<4).map { client.call(.status("a\($0)")) }
        world.settle()
        #expect(streams.map { client.status(of: $0)?.reason } == [nil, nil, nil, "CALLS_LIMIT"])
        client.cancel(streams[0])
        world.settle()
        let again = client.call(.status("b"))
        world.settle()
        #expect(client.status(of: again) == nil)
        world.checkNothingIsLeft()
    }

    // MARK: The end

    @Test func `a client that ends its writing side is gone`() {
        let world = World()
        let client = world.welcomedClient()
        client.call(.status())
        client.call(.updates())
        world.settle()
        client.socket.clientEnds()
        world.settle()
        world.loops[0].core.checkIsEmpty()
        #expect(!client.isOpen)
    }

    @Test func `a drain sends every call its status, then closes`() throws {
        let world = World()
        let busy = world.welcomedClient()
        let idle = world.welcomedClient()
        let greeting = world.connect()
        let streams = [busy.call(.status()), busy.call(.products()), busy.call(.updates())]
        world.settle()
        let token = try #require(busy.statuses(on: streams[0]).last?.info?.token)
        world.drain()
        world.settle()
        #expect(streams.map { busy.status(of: $0)?.reason } == Array(repeating: "SHUTTING_DOWN", count: 3))
        #expect(busy.drains.map(\.isFinal) == [false, true])
        #expect(busy.drains.allSatisfy { $0.reason == "SHUTTING_DOWN" })
        #expect(idle.drains.map(\.isFinal) == [true] && greeting.drains.map(\.isFinal) == [true])
        for client in [busy, idle, greeting] {
            #expect(!client.isOpen)
            client.socket.clientEnds()
        }
        world.settle()
        #expect(world.loops[0].hasDrained)
        world.loops[0].core.checkIsEmpty()
        #expect(!token.isEmpty)
    }

    @Test(arguments: [nil, 0, 7_000] as [UInt32?])
    func `a drain says when to return, so that the next process listens by then`(_ after: UInt32?) {
        let world = self.world { setup in
            if let after { setup.core.returnAfterMilliseconds = after }
        }
        let busy = world.welcomedClient()
        let idle = world.welcomedClient()
        let stream = busy.call(.status())
        world.settle()
        world.drain()
        world.settle()
        let late = world.connect()
        world.settle()
        let expected = after ?? Limits.drainReturnMilliseconds
        for client in [busy, idle, late] {
            #expect(!client.drains.isEmpty)
            #expect(
                client.drains.allSatisfy {
                    $0.reconnectAfterMilliseconds == expected && $0.jitterMilliseconds == Limits.drainJitterMilliseconds
                })
        }
        let told = busy.status(of: stream)?.details.first { $0.key == "retry_after_ms" }?.value
        #expect(told == "\(expected + Limits.drainJitterMilliseconds / 2)", "`RetryInfo` tells the middle")
    }

    @Test func `a drain also ends calls that wait for a position`() {
        let world = World()
        let client = world.welcomedClient()
        let next = Position(revision: world.history.revision + 1, asOf: World.begin)
        let calls = [Request.status(atLeast: next), .updates(atLeast: next), .readStatus(atLeast: next)].map {
            client.call($0, timeoutMilliseconds: 86_400_000)
        }
        world.settle()
        world.drain()
        world.settle()
        #expect(calls.map { client.status(of: $0)?.reason } == Array(repeating: "SHUTTING_DOWN", count: 3))
        #expect(client.drains.last?.isFinal == true)
        world.checkNothingIsLeft()
    }

    @Test func `a drain waits for a mutation under way, and refuses new calls`() throws {
        let world = World()
        let client = world.welcomedClient()
        let bought = client.call(.buy("gold"))
        _ = world.deliver(client)
        world.turn()
        world.drain()
        world.turn()
        let late = client.call(.status())
        _ = world.deliver(client)
        world.turn()
        _ = world.deliver(client)
        #expect(client.status(of: late)?.reason == "SHUTTING_DOWN")
        #expect(client.status(of: bought) == nil)
        world.settle()
        #expect(client.status(of: bought)?.code == 0)
        #expect(client.drains.last?.isFinal == true)
        world.checkNothingIsLeft()
    }

    @Test func `a node that is cut off sends its clients to others, and lets in who comes`() {
        let world = World()
        let watching = world.welcomedClient()
        let idle = world.welcomedClient()
        let greeting = world.connect()
        watching.call(.status())
        world.settle()
        world.sendAway()
        world.settle()
        for client in [watching, idle] {
            #expect(client.drains.map(\.reason) == ["STORE_UNREACHABLE"])
            #expect(client.drains.allSatisfy { $0.isFinal && $0.reconnectAfterMilliseconds > 0 })
            #expect(!client.isOpen)
        }
        #expect(greeting.drains.isEmpty && greeting.isOpen)
        let late = world.welcomedClient()
        #expect(late.isOpen)
        world.checkNothingIsLeft()
    }

    @Test func `a drain ends at its deadline whatever a client does`() throws {
        let world = self.world { $0.sendBufferBytes = 256 }
        let client = world.welcomedClient()
        client.socket.isStalled = true
        client.call(.products())
        world.settle()
        world.drain()
        world.advance(2_001)
        client.socket.isStalled = false
        world.settle()
        #expect(client.drains.last?.isFinal == true)
        world.checkNothingIsLeft()
    }
}
