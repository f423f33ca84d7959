import PerchBase
import PerchModel
import PerchSimulation
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore

/// Many streams, slow streams, and peers whose windows, padding and settings come as they like.
@Suite struct HTTP2LoadTests {
    private static func newCatalogue(_ world: World, _ name: String) {
        world.mutate(
            World.load(
                1, TestShop.catalogue(names: ["gold": name], jsonBytes: 400), settings: TestShop.settings(),
                source: name))
    }

    /// Values of products encoded, and compressions, for one change seen by these watchers.
    private static func work(watchers: Int, connections: Int) -> (encoded: UInt64, compressed: UInt64, told: Int) {
        let world = World()
        let perch = world.welcomedClient(accepts: [.zlib])
        perch.call(.products())
        let clients = (0..<connections).map { _ in HTTP2Client(world, initialWindow: 1 << 20) }
        for client in clients { client.window(0, 1 << 30) }
        var streams: [(client: HTTP2Client, stream: UInt32)] = []
        for index in 0..<watchers {
            // A quarter each: plain, deflate, gzip, and gzip behind both.
            let accepts = [nil, "deflate", "gzip", "identity,gzip"][index % 4]
            let client = clients[index % connections]
            streams.append((client, client.call(.products(), accepts.map { [("grpc-accept-encoding", $0)] } ?? [])))
        }
        for client in clients { client.settle() }
        let before = world.loops[0].core.counters
        let heard = streams.map { $0.client[$0.stream].messages.count }
        Self.newCatalogue(world, "another")
        world.settle()
        for client in clients { client.settle() }
        let after = world.loops[0].core.counters
        let told = zip(streams, heard).filter { $0.client[$0.stream].messages.count == $1 + 1 }.count
        return (
            after.viewsEncoded - before.viewsEncoded, after.valuesCompressed - before.valuesCompressed, told
        )
    }

    @Test func `ten thousand gRPC watchers add no encoding and no compression to a change`() {
        let few = Self.work(watchers: 4, connections: 1)
        let many = Self.work(watchers: 10_000, connections: 10)
        #expect(few.told == 4 && many.told == 10_000)
        #expect(few.encoded == 1 && many.encoded == 1)
        // zlib and gzip share the deflated bytes.
        #expect(few.compressed == 1 && many.compressed == 1)
    }

    // MARK: Windows of one byte

    /// Streams that many one-byte windows make the server look at, beyond those that it writes to.
    private static func looks(_ world: World, _ client: HTTP2Client, updates: Int) -> Int {
        let before = world.loops[0].core.counters.streamsPlanned
        for _ in 0..<updates {
            client.window(0, 1)
            client.settle()
        }
        return Int(world.loops[0].core.counters.streamsPlanned - before)
    }

    @Test func `a window of one byte costs the same with two thousand ready streams as with one`() throws {
        let world = World()
        let buyer = world.welcomedClient()
        let client = HTTP2Client(world, initialWindow: 1 << 20)
        let products = (0..<1_000).map { _ in client.call(.products()) }
        let accounts = (0..<1_000).map { "account \($0)" }
        let statuses = accounts.map { client.call(.status($0)) }
        client.settle()
        #expect(statuses.contains { client[$0].messages.isEmpty }, "the connection's window is used up")
        #expect(Self.looks(world, client, updates: 300) < 300 * 4)
        // All values are freed: each is computed again when a write comes to its stream.
        Self.newCatalogue(world, "another")
        for account in accounts[..<100] { try world.buy("gold", account, from: buyer) }
        client.settle()
        #expect(Self.looks(world, client, updates: 300) < 2 * 2_000 + 300 * 4)
        #expect(Self.looks(world, client, updates: 300) < 300 * 4)
        client.window(0, 1 << 30)
        client.settle()
        let reference = world.welcomedClient()
        let truth = reference.call(.products())
        let bought = reference.call(.status(accounts[7]))
        world.settle()
        for stream in products {
            #expect(client.products(stream).last?.value == reference.products(on: truth).last?.value)
        }
        #expect(client.statuses(statuses[7]).last?.value == reference.statuses(on: bought).last?.value)
        #expect(statuses.allSatisfy { client.statuses($0).last?.isLoading == false })
        world.checkInvariants()
    }

    @Test func `a window of one byte costs the same with a thousand answers that wait for it`() {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 1 << 20)
        let streams = (0..<1_000).map { client.call(.readStatus("account \($0)")) }
        client.settle()
        #expect(streams.contains { client.code($0) == nil }, "the connection's window is used up")
        #expect(Self.looks(world, client, updates: 300) < 300 * 4)
        // An end that needs no window passes the answers that need one.
        let wrong = client.call(.readStatus(""))
        client.settle()
        #expect(client.code(wrong) == 3)
        client.window(0, 1 << 30)
        client.settle()
        #expect(streams.allSatisfy { client.code($0) == 0 })
        world.checkInvariants()
    }

    @Test func `SETTINGS that open all windows again and again end the connection, with or without DATA between`() {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 0)
        client.window(0, 1 << 30)
        for _ in 0..<10 { client.call(.status()) }
        client.settle()
        for round in 0..<400 where client.goAways.isEmpty {
            client.settings(initialWindow: UInt32(round % 2 * (round + 1)))
            client.settle()
        }
        #expect(client.goAways.last?.code == HTTP2Error.enhanceYourCalm.rawValue)
        #expect(client.goAways.last?.text.contains("opened all windows") == true)
    }

    @Test func `a drain tells ten thousand streams their end`() {
        let world = World()
        let clients = (0..<10).map { _ in HTTP2Client(world) }
        for client in clients { client.window(0, 1 << 30) }
        let streams = clients.map { client in (0..<1_000).map { client.call(.status("account \($0)")) } }
        for client in clients { client.settle() }
        world.drain()
        for client in clients { client.settle() }
        for (client, own) in zip(clients, streams) {
            #expect(own.allSatisfy { client.code($0) == 14 && client[$0].trailers["grpc-status-details-bin"] != nil })
            #expect(client.hasEnded)
            client.socket.clientEnds()
        }
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }

    @Test func `a stream without window costs the same memory after a thousand changes, and its siblings see each`()
        throws
    {
        let world = World()
        let client = HTTP2Client(world, initialWindow: 0)
        let slow = client.call(.status())
        let sibling = client.call(.status())
        let events = client.call(.updates())
        client.window(0, 1 << 30)
        client.window(sibling, 1 << 30)
        client.window(events, 1 << 30)
        client.settle()
        let buyer = world.welcomedClient()
        let gold = try world.buy("gold", from: buyer)
        client.settle()
        var bytes: [Int] = []
        for round in 0..<1_000 {
            try world.require(.autoRenew(gold.id, round % 2 == 1), from: buyer)
            try world.buy("coins", from: buyer)
            client.settle()
            bytes.append(world.loops[0].core.callsBytes)
        }
        #expect(Set(bytes.suffix(500)).count <= 2, "\(Set(bytes))")
        #expect(client.statuses(sibling).count == 1_003)
        #expect(
            client.responses(events).filter {
                if case .transactionUpdates(let event) = $0 { event.kind == .purchased } else { false }
            }
            .count == 1_001)
        #expect(client[slow].messages.isEmpty)
        client.window(slow, 1 << 20)
        client.settle()
        #expect(client.responses(slow).count == 2)
        #expect(client.statuses(slow).last?.value == client.statuses(sibling).last?.value)
    }

    /// The windows of a peer, as the peer counts them.
    private struct Windows {
        var initial: Int64
        var connection: Int64 = 65_535
        var increments: [UInt32: Int64] = [:]
        var received: [UInt32: Int64] = [:]

        func left(_ stream: UInt32) -> Int64 {
            self.initial + (self.increments[stream] ?? 0) - (self.received[stream] ?? 0)
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `windows, padding and settings in the middle of messages change nothing of what streams say`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let world = World()
        let buyer = world.welcomedClient()
        let reference = world.welcomedClient()
        let first = UInt32(random.element([0, 1, 3, 17, 400, 70_000]))
        let client = HTTP2Client(world, initialWindow: first)
        var windows = Windows(initial: Int64(first))
        let accounts = ["anna", "bert", "carl"]
        let truth = accounts.map { reference.call(.status($0)) }
        var streams: [(account: Int, stream: UInt32)] = []
        var frames = 0

        /// Reads what came, and checks that each byte of DATA was allowed.
        func settle() {
            let before = windows
            client.settle()
            var connection: Int64 = 0
            for frame in client.frames[frames...] where frame.header.kind == .data {
                windows.received[frame.header.stream, default: 0] += Int64(frame.body.count)
                connection += Int64(frame.body.count)
            }
            frames = client.frames.count
            for (stream, count) in windows.received {
                let new = count - (before.received[stream] ?? 0)
                #expect(new <= max(0, before.left(stream)), "stream \(stream)")
            }
            #expect(connection <= max(0, before.connection))
            windows.connection -= connection
            #expect(client.goAways.isEmpty)
        }

        func padded(_ bytes: [UInt8]) -> [UInt8] {
            let count = random.below(20)
            return [UInt8(count)] + bytes + [UInt8](repeating: 0, count: count)
        }

        let codec = MessageCodec()
        for _ in 0..<150 {
            switch random.below(8) {
            case 0 where streams.count < 12:
                let account = random.below(3)
                let request = Request.status(accounts[account])
                let stream = client.open(request.method.path, accept(&random), .padded, padded: padded)
                client.expect(request.method, on: stream)
                let message = Array(try codec.encode(request).prefixed)
                // The request itself in pieces, each with its padding.
                let cut = random.below(message.count)
                client.send(.data, .padded, stream, padded(Array(message[..<cut])))
                client.send(.data, [.padded, .endStream], stream, padded(Array(message[cut...])))
                streams.append((account, stream))
            case 1, 2:
                guard !streams.isEmpty else { continue }
                let stream = random.element(streams.map(\.stream))
                let more = UInt32(random.element([1, 2, 9, 100, 5_000]))
                client.window(stream, more)
                windows.increments[stream, default: 0] += Int64(more)
            case 3:
                let more = UInt32(random.element([1, 50, 10_000]))
                client.window(0, more)
                windows.connection += Int64(more)
            case 4:
                let initial = UInt32(random.element([0, 1, 5, 300, 65_535]))
                client.settings(initialWindow: initial)
                windows.initial = Int64(initial)
            case 5: try world.buy(random.element(["gold", "silver"]), random.element(accounts), from: buyer)
            case 6: world.advance(Int64(random.below(30_000)))
            default: client.send(.ping, [], 0, [1, 2, 3, 4, 5, 6, 7, 8])
            }
            settle()
        }
        // Everything is let through in the end.
        client.settings(initialWindow: 1 << 24)
        windows.initial = 1 << 24
        client.window(0, 1 << 30)
        windows.connection += 1 << 30
        settle()
        world.settle()
        for (account, stream) in streams {
            let said = client.statuses(stream)
            #expect(said.first?.isLoading == true)
            #expect(
                said.last?.value == reference.statuses(on: truth[account]).last?.value, "seed \(seed) stream \(stream)")
            #expect(client[stream].bytes.isEmpty, "a part of a message is left")
            #expect(zip(said, said.dropFirst()).allSatisfy { $0 != $1 }, "a value came twice")
        }
        world.checkInvariants()
    }

    private func accept(_ random: inout SeededRandom) -> [(String, String)] {
        random.bool() ? [] : [("te", "trailers")]
    }

    @Test func `a connection that is refused by a limit hears why in its own protocol`() {
        var setup = World.Setup()
        setup.core.connectionsPerAddressMax = 1
        let world = World(setup)
        let address = PeerAddress(high: 0, low: 0xFFFF_0A00_0001)
        let first = world.connect(address: address)
        first.hello()
        world.settle()
        #expect(first.welcome != nil)
        var number: Int32 = 9_100
        func answer(_ begins: [UInt8]) -> [UInt8] {
            let socket = SimulatedSocket(number: number)
            number += 1
            socket.address = address
            world.loops[0].backlog.append(socket)
            world.settle()
            socket.clientSends(begins)
            var bytes: [UInt8] = []
            for _ in 0..<3 {
                _ = socket.deliverToServer()
                world.settle()
                bytes += socket.deliverToClient()
            }
            socket.reset()
            world.settle()
            return bytes
        }
        let http1 = String(decoding: answer(Array("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8)), as: UTF8.self)
        #expect(http1.hasPrefix("HTTP/1.1 429 ") && http1.contains("the limit is 1"), "\(http1)")
        let http2 = answer(HTTP2.preface)
        // SETTINGS first, then GOAWAY with the reason.
        #expect(http2.count > 18 && http2[3] == HTTP2FrameHeader.Kind.settings.rawValue)
        #expect(String(decoding: http2, as: UTF8.self).contains("CONNECTION_LIMIT"))
        let refused = world.connect(address: address)
        refused.hello()
        world.settle()
        #expect(refused.drains.first?.reason == "CONNECTION_LIMIT")
        // One that says nothing hears it after the time for the first byte.
        let silent = world.connect(address: address)
        world.settle()
        #expect(silent.drains.isEmpty)
        world.advance(6_000)
        #expect(silent.drains.first?.reason == "CONNECTION_LIMIT")
        world.checkNothingIsLeft()
    }
}
