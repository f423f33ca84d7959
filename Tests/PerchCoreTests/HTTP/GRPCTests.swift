import PerchBase
import PerchModel
import PerchSimulation
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore

/// gRPC over HTTP/2, against a core in memory.
@Suite struct GRPCTests {
    @Test func `a unary call has a head, one message and trailers`() {
        let client = HTTP2Client(World())
        let stream = client.call(.listApps)
        client.settle()
        #expect(client[stream].head[":status"] == "200")
        #expect(client[stream].head["content-type"] == "application/grpc")
        #expect(client[stream].messages.count == 1)
        #expect(client.code(stream) == 0 && client[stream].hasEnded)
    }

    @Test(arguments: [[], Array("once".utf8)] as [[UInt8]])
    func `a purchase has the client ID of its call as origin, with a key and without`(key: [UInt8]) throws {
        let world = World()
        let watcher = world.welcomedClient()
        let events = watcher.call(.updates())
        world.settle()
        let client = HTTP2Client(world)
        let order = PurchaseRequest(account: "anna", order: PurchaseOrder(productID: "gold"), idempotencyKey: key)
        client.call(.purchase(order), [("perch-client-id-bin", "Bwg=")])
        client.settle()
        #expect(watcher.updates(on: events).last?.originClientID == [7, 8])
    }

    /// The key `once` in base64 is `b25jZQ==`.
    @Test func `a purchase under a key is one, in whichever form it is repeated`() throws {
        let world = World()
        let client = HTTP2Client(world)
        let token = "123e4567-e89b-12d3-a456-42661417400f"
        let order = PurchaseOrder(productID: "gold", appAccountToken: token)
        let asked = PurchaseRequest(account: "anna", order: order, idempotencyKey: Array("once".utf8))
        let streams = (client.call(.purchase(asked)), client.call(.purchase(asked)))
        client.settle()
        let first = client.responses(streams.0)
        #expect(first.count == 1 && first == client.responses(streams.1))
        guard case .purchase(let bought)? = first.first, let transaction = bought.transaction else {
            Issue.record("not bought: \(first)")
            return
        }
        func again(_ product: String) -> String {
            PlainClient(world).post(
                "/perch.v1.TransactionService/Purchase",
                #"{"idempotencyKey":"b25jZQ==","order":{"appAccountToken":"\#(token.uppercased())","productId":"\#(product)","quantity":1},"account":"anna"}"#
            )
        }
        #expect(again("gold").contains("\"\(transaction.value.id)\""))
        #expect(again("silver").contains("KEY_REUSED"))
    }

    @Test func `a refusal is trailers alone, with content type and details`() {
        let client = HTTP2Client(World())
        let stream = client.call(.readStatus(""))
        client.settle()
        #expect(client[stream].head["content-type"] == "application/grpc")
        #expect(client.code(stream) == 3 && client[stream].messages.isEmpty)
        #expect(client[stream].trailers["grpc-status-details-bin"] != nil)
        #expect(client.frames.filter { $0.header.stream == stream }.count == 1)
    }

    @Test func `a watch says loading, a snapshot and each change`() throws {
        let world = World()
        let client = HTTP2Client(world)
        let stream = client.call(.status())
        client.settle()
        #expect(client.responses(stream).count == 2)
        let buyer = world.welcomedClient()
        try world.buy("gold", from: buyer)
        client.settle()
        let states = client.statuses(stream)
        #expect(states.count == 3)
        guard case .success(let value, _)? = states.last else {
            Issue.record("the last state is no value")
            return
        }
        #expect(value.statuses.count == 1)
    }

    @Test func `one change has the same payload on perch/1 and on gRPC, encoded once`() throws {
        let world = World()
        let watcher = world.welcomedClient()
        let client = HTTP2Client(world)
        let stream = client.call(.status())
        let other = watcher.call(.status())
        client.settle()
        watcher.keepsBytes = true
        let encodedBefore = world.loops[0].core.counters.viewsEncoded
        let buyer = world.welcomedClient()
        try world.buy("gold", from: buyer)
        client.settle()
        let encodedAfter = world.loops[0].core.counters.viewsEncoded
        let message = try #require(client[stream].messages.last)
        #expect(encodedAfter - encodedBefore == 1)
        #expect(watcher.statuses(on: other).count == 3)
        let places = watcher.bytes.indices.filter { watcher.bytes[$0...].starts(with: message) }
        #expect(places.count == 1)
    }

    // MARK: Flow control

    @Test func `a stream without window says nothing until it has one, and siblings go on`() throws {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 0)
        let stuck = client.call(.status())
        let open = client.call(.status())
        client.window(open, 100_000)
        client.settle()
        #expect(client[stuck].messages.isEmpty)
        #expect(client.responses(open).count == 2)
        let buyer = world.welcomedClient()
        for product in ["silver", "coins", "lifetime", "season"] { try world.buy(product, from: buyer) }
        client.settle()
        #expect(client[stuck].messages.isEmpty)
        client.window(stuck, 100_000)
        client.settle()
        // No queue: the first message, and the newest value.
        #expect(client.responses(stuck).count == 2)
        guard case .success(let value, _)? = client.statuses(stuck).last else {
            Issue.record("no value came")
            return
        }
        #expect(value.statuses.count == 1)
    }

    @Test func `several watches share a window of any size: values are the newest, and events are all of them`() throws
    {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 0)
        let stream = client.call(.watch(WatchRequest(watches: [.status(), .products(), .updates()])))
        client.settle()
        #expect(client[stream].messages.isEmpty)
        let buyer = world.welcomedClient()
        func heard() -> [WatchedResponse] {
            client.responses(stream).compactMap { if case .watch(let told) = $0 { told } else { nil } }
        }
        for product in ["silver", "coins", "lifetime", "season"] {
            try world.buy(product, from: buyer)
            for _ in 0..<40 { client.window(stream, 7) }
            client.settle()
        }
        client.window(stream, 100_000)
        client.settle()
        var events: [String] = []
        var statuses: [SubscriptionStatuses] = []
        for told in heard() {
            switch told.content {
            case .response(.transactionUpdates(let event)):
                if let transaction = event.transaction { events.append(transaction.value.productID) }
            case .response(.subscriptionStatusTask(.success(let value, _))): statuses.append(value)
            default: break
            }
        }
        #expect(events.sorted() == ["coins", "lifetime", "season", "silver"])
        #expect(statuses.last?.statuses.count == 1)
        world.checkInvariants()
        client.socket.clientSends(HTTP2.reset(stream, .cancel))
        client.settle()
        #expect(world.loops[0].core.counters.callsOpened == world.loops[0].core.counters.callsEnded)
    }

    @Test func `a message that is partly sent is finished, and then the newest follows`() throws {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 20)
        let stream = client.call(.status())
        client.settle()
        // Seven bytes of loading, and a part of the snapshot.
        #expect(client[stream].messages.count == 1 && client[stream].bytes.count == 13)
        let buyer = world.welcomedClient()
        try world.buy("silver", from: buyer)
        try world.buy("gold", from: buyer)
        client.window(stream, 100_000)
        client.settle()
        let states = client.statuses(stream)
        #expect(states.count == 3)
        guard case .success(let first, _) = states[1], case .success(let last, _) = states[2] else {
            Issue.record("no values came")
            return
        }
        #expect(first.statuses.isEmpty && last.statuses.first?.transaction.value.productID == "gold")
    }

    @Test func `a window that SETTINGS make negative holds a stream until it is positive again`() throws {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 1_000)
        let stream = client.call(.status())
        client.settle()
        let before = client[stream].messages.count
        client.settings(initialWindow: 0)
        client.settle()
        let buyer = world.welcomedClient()
        try world.buy("gold", from: buyer)
        client.settle()
        #expect(client[stream].messages.count == before && client[stream].bytes.isEmpty)
        client.settings(initialWindow: 100_000)
        client.settle()
        #expect(client[stream].messages.count == before + 1)
    }

    @Test func `the connection's window holds all streams, and ends need none`() throws {
        let world = World()
        let client = HTTP2Client(world)
        var streams: [UInt32] = []
        // 65,535 bytes are used up by products.
        for _ in 0..<200 { streams.append(client.call(.products())) }
        client.settle()
        let stuck = streams.filter { client[$0].messages.count < 2 }
        #expect(!stuck.isEmpty)
        let refused = client.call(.readStatus(""))
        client.settle()
        #expect(client.code(refused) == 3)
        client.window(0, 10_000_000)
        client.settle()
        #expect(streams.allSatisfy { client[$0].messages.count == 2 })
    }

    @Test(arguments: 1...12)
    func `random windows and writes never tear a message, and the newest value arrives`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var conditions = SimulatedLoop.Conditions()
        let write = Box(SplitMix64(seed: seed &* 7))
        conditions.writeBytes = { 1 + write.value.below(3_000) }
        conditions.readBytes = { 1 + write.value.below(200) }
        let world = World(World.Setup(), conditions: conditions)
        let client = HTTP2Client(world, initialWindow: UInt32(random.below(3) * 30))
        let streams = (0..<6).map { client.call(.status("a\($0 % 3)")) }
        let buyer = world.welcomedClient()
        for _ in 0..<60 {
            switch random.below(5) {
            case 0:
                try world.buy(["gold", "silver", "coins"][random.below(3)], "a\(random.below(3))", from: buyer)
            case 1: client.settings(initialWindow: UInt32(random.below(500)))
            case 2: client.window(0, UInt32(1 + random.below(400)))
            default: client.window(streams[random.below(6)], UInt32(1 + random.below(300)))
            }
            if random.below(2) == 0 { client.settle() }
        }
        client.window(0, 1_000_000)
        for stream in streams { client.window(stream, 1_000_000) }
        client.settle()
        let probe = HTTP2Client(world)
        for (index, stream) in streams.enumerated() {
            #expect(client[stream].bytes.isEmpty, "a message is torn")
            let now = probe.call(.status("a\(index % 3)"))
            probe.settle()
            guard case .success(let seen, _)? = client.statuses(stream).last,
                case .success(let newest, _)? = probe.statuses(now).last
            else {
                Issue.record("no value on stream \(stream)")
                continue
            }
            #expect(seen == newest)
        }
    }

    // MARK: Bookmarks

    @Test func `bookmarks come at each heartbeat, behind the value`() throws {
        let world = World()
        let client = HTTP2Client(world)
        let stream = client.call(.status(), [("perch-heartbeat", "10")])
        client.settle()
        world.advance(11_000)
        client.settle()
        #expect(client.bookmarks(stream) == [world.loops[0].core.applied])
        let buyer = world.welcomedClient()
        try world.buy("gold", from: buyer)
        world.advance(11_000)
        client.settle()
        let messages = client[stream].messages
        #expect(client.bookmarks(stream).last == world.loops[0].core.applied)
        #expect(HTTP2Client.bookmark(messages[messages.count - 1]) != nil)
    }

    /// A proxy puts the calls of many clients on one connection.
    @Test(arguments: [[("perch-heartbeat", "600")], []])
    func `a call does not delay the bookmarks of another one on its connection`(_ wish: [(String, String)]) throws {
        let world = World()
        let client = HTTP2Client(world)
        let first = client.call(.status(), [("perch-heartbeat", "10")])
        client.settle()
        let second = client.call(.status("ben"), wish)
        client.settle()
        world.advance(11_000)
        client.settle()
        #expect(client.bookmarks(first).count == 1 && client.bookmarks(second).count == 1)
    }

    @Test func `a call that is alone can ask for fewer bookmarks, until another one joins it`() throws {
        let world = World()
        let client = HTTP2Client(world)
        let first = client.call(.status(), [("perch-heartbeat", "600")])
        client.settle()
        world.advance(40_000)
        client.settle()
        #expect(client.bookmarks(first).isEmpty)
        let second = client.call(.status("ben"))
        client.settle()
        world.advance(31_000)
        client.settle()
        #expect(client.bookmarks(second).count == 1)
    }

    @Test func `a client that asks for groups gets a bookmark on every stream after a change`() throws {
        let world = World()
        let client = HTTP2Client(world)
        let groups = [("perch-groups", "1")]
        let status = client.call(.status(), groups)
        let updates = client.call(.updates("ben"), groups)
        client.settle()
        let buyer = world.welcomedClient()
        let answer = try world.require(.buy("gold"), from: buyer)
        client.settle()
        let revision = try #require(world.position(of: answer)?.revision)
        #expect(client.bookmarks(status).last == revision)
        #expect(client.bookmarks(updates).last == revision)
    }

    @Test func `a bookmark does not pass a clock advance that its stream has yet to show`() throws {
        let world = World()
        let client = HTTP2Client(world)
        let other = world.welcomedClient()
        let gold = try world.buy("gold", "berta", from: other)
        try world.require(.autoRenew(gold.id, false), from: other)
        let end = try #require(gold.expirationDate)
        let groups = [("perch-groups", "1")]
        let ending = client.call(.status("berta"), groups)
        let buying = client.call(.entitlement("anna", product: "lifetime"), groups)
        client.settle()
        // Both changes are in one run of the store, so the loop hears of both in one turn, before it has berta's record.
        let before = client[ending].messages.count
        other.call(.clock(.advanceTo(end)))
        other.call(.buy("lifetime", "anna"))
        client.settle()
        let revision = world.loops[0].core.applied
        let said = client[ending].messages[before...]
        let value = try #require(said.firstIndex { HTTP2Client.bookmark($0) == nil })
        let bookmark = try #require(said.firstIndex { HTTP2Client.bookmark($0) == revision })
        #expect(value < bookmark)
        #expect(client.bookmarks(buying).last == revision)
    }

    @Test func `a bookmark waits for the window of its value`() throws {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 1_000)
        let stream = client.call(.status(), [("perch-groups", "1"), ("perch-heartbeat", "10")])
        client.settle()
        client.settings(initialWindow: 0)
        client.settle()
        let before = client.bookmarks(stream)
        let buyer = world.welcomedClient()
        try world.buy("gold", from: buyer)
        world.advance(30_000)
        client.settle()
        #expect(client.bookmarks(stream) == before)
        client.window(stream, 50_000)
        client.settle()
        #expect(client.bookmarks(stream).last == world.loops[0].core.applied)
    }

    @Test func `every streaming response has its bookmark in field 15`() throws {
        let codec = MessageCodec()
        let bookmark = Bookmark(revision: 7, serverTime: Instant(milliseconds: 9))
        let bytes = Array(try codec.encode(bookmark: bookmark).message)
        for method in PerchWire.Method.allCases where method.isStreaming {
            let json = String(decoding: bytes.withUnsafeBytes { codec.json(ofResponse: method, $0) }, as: UTF8.self)
            #expect(json == #"{"bookmark":{"revision":"7","serverTimeMs":"9"}}"#, "\(method)")
        }
    }

    // MARK: Requests

    @Test(arguments: [
        ("0m", 4), ("1x", 13), ("123456789S", 13), ("", 13), ("5S", 0), ("1n", 0),
    ])
    func `grpc-timeout has up to eight digits and a unit`(_ timeout: String, _ code: Int) {
        let client = HTTP2Client(World())
        let stream = client.call(.listApps, [("grpc-timeout", timeout)])
        client.settle()
        #expect(client.code(stream) == code)
    }

    @Test func `an unknown encoding names those that are taken, and a flag without an encoding is a fault`() {
        let client = HTTP2Client(World())
        let unknown = client.call(.listApps, [("grpc-encoding", "snappy")])
        let flagged = client.open("/perch.v1.AdminService/ListApps")
        client.send(.data, .endStream, flagged, [1, 0, 0, 0, 0])
        client.settle()
        #expect(client.code(unknown) == 12)
        #expect(client[unknown].trailers["grpc-accept-encoding"] == "identity,deflate,gzip")
        #expect(client.code(flagged) == 13)
    }

    @Test(
        arguments: [
            ("application/x-www-form-urlencoded", "415", nil), ("text/plain", "415", nil),
            ("application/grpc+thrift", "200", "12"), ("application/grpc+proto", "200", "0"),
        ] as [(String, String, String?)])
    func `content types that are not gRPC's get 415, unknown codecs UNIMPLEMENTED`(
        _ type: String, _ status: String, _ code: String?
    ) {
        let client = HTTP2Client(World())
        let stream = client.open("/perch.v1.AdminService/ListApps", type: type)
        client.send(.data, .endStream, stream, [0, 0, 0, 0, 0])
        client.settle()
        #expect(client[stream].head[":status"] == status)
        #expect(client[stream].trailers["grpc-status"] == code)
    }

    @Test func `a second request message is refused`() {
        let client = HTTP2Client(World())
        let stream = client.call(.status(), ends: false)
        client.settle()
        client.send(.data, [], stream, [0, 0, 0, 0, 0])
        client.settle()
        #expect(client.code(stream) == 13)
    }

    @Test func `an end before the client's half-close is followed by RST_STREAM without blame`() {
        let client = HTTP2Client(World())
        let stream = client.call(.readStatus(""), ends: false)
        client.settle()
        #expect(client.code(stream) == 3)
        #expect(client[stream].resetCode == 0)
    }

    // MARK: Ends

    @Test func `a drain tells GOAWAY twice, and every call its end`() {
        let world = World()
        let client = HTTP2Client(world)
        let streams = (0..<50).map { client.call(.status("a\($0)")) }
        client.settle()
        world.loops[0].inbox.append(.drain)
        client.settle()
        #expect(client.goAways.map(\.last) == [0x7FFF_FFFF, streams[49]])
        #expect(client.goAways.map(\.code) == [0, 0])
        #expect(streams.allSatisfy { client.code($0) == 14 })
        #expect(client.hasEnded)
        client.socket.clientEnds()
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }

    @Test func `an old stream ends with UNAVAILABLE, an old connection leaves`() {
        var setup = World.Setup()
        setup.core.streamAgeMilliseconds = 100_000
        setup.core.connectionAgeMilliseconds = 300_000
        let world = World(setup)
        let client = HTTP2Client(world)
        let stream = client.call(.status())
        client.settle()
        world.advance(79_000)
        client.settle()
        #expect(client.code(stream) == nil)
        world.advance(42_000)
        client.settle()
        #expect(client.code(stream) == 14)
        world.advance(260_000)
        client.settle()
        #expect(client.goAways.count == 2 && client.hasEnded)
    }

    @Test func `a connection that ends lets everything go`() throws {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 30)
        for index in 0..<20 { client.call(.status("a\(index)")) }
        _ = client.open("/perch.v1.AdminService/ListApps")
        client.settle()
        client.socket.reset()
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }
}
