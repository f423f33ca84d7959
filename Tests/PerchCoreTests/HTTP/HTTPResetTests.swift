import PerchBase
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// A client resets a stream at its deadline. That may cost the stream, and nothing else.
@Suite struct `streams that are reset` {
    @Test func `ten thousand deadlines beside a hundred watches end no watch`() throws {
        let world = World()
        let client = HTTP2Client(world)
        client.window(0, 1 << 30)
        let watches = (0..<100).map { client.call(.status("watcher \($0)")) }
        client.settle()
        // The calls wait in the kernel while the server stalls; then their deadlines have passed.
        let calls = (0..<10_000).map { client.call(.readStatus("account \($0 % 50)"), [("grpc-timeout", "1S")]) }
        for stream in calls { client.socket.clientSends(HTTP2.reset(stream, .cancel)) }
        client.settle()
        #expect(client.goAways.isEmpty && !client.hasEnded)
        let buyer = world.welcomedClient()
        for index in 0..<100 { try world.buy("gold", "watcher \(index)", from: buyer) }
        client.settle()
        for watch in watches {
            #expect(client.code(watch) == nil && client.statuses(watch).last?.value?.statuses.count == 1)
        }
        let http = world.loops[0].core.transport.http.connections[0]
        #expect(http.heldCount == 0 && http.streamCount == 100)
    }

    @Test func `deadlines that the server meets end no watch either, and hold their places`() {
        let world = World()
        let client = HTTP2Client(world)
        let watch = client.call(.status())
        let calls = (0..<500).map { client.call(.status("a\($0)", atLeast: .far), [("grpc-timeout", "1S")]) }
        client.settle()
        world.advance(2_000)
        client.settle()
        #expect(calls.allSatisfy { client.code($0) == 4 || client.code($0) == 9 })
        #expect(client.goAways.isEmpty && client.code(watch) == nil)
    }

    private static func limited(_ streams: Int) -> World {
        var setup = World.Setup()
        setup.core.callsPerConnectionMax = streams
        return World(setup)
    }

    @Test(arguments: [Request.readStatus("anna"), .buy("coins"), .status("anna"), .updates("anna")])
    func `a question keeps the place of its stream until it is answered`(_ request: Request) {
        let world = Self.limited(40)
        let client = HTTP2Client(world)
        let watch = client.call(.status("watcher"))
        client.settle()
        // All of it comes before the store says anything.
        var streams: [UInt32] = []
        for index in 0..<100 {
            let stream = client.call(request.of("account \(index)"))
            client.socket.clientSends(HTTP2.reset(stream, .cancel))
            streams.append(stream)
        }
        client.settle()
        #expect(client.goAways.isEmpty)
        let refused = streams.filter { client[$0].resetCode == HTTP2Error.refusedStream.rawValue }
        #expect(refused.count == 61, "\(refused.count) of 100 were refused")
        #expect(world.loops[0].core.counters.httpStreamsRefused == 61)
        #expect(world.loops[0].core.counters.httpStreamsReset == 39)
        // The answers have come, and free the places.
        let next = client.call(.listApps)
        client.settle()
        #expect(client.code(next) == 0 && client.code(watch) == nil)
        client.socket.reset()
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }

    @Test(arguments: [UInt32(0), 0x7FFF_FFFF])
    func `streams that a peer makes the server reset keep their places too`(increment: UInt32) {
        let world = Self.limited(40)
        let client = HTTP2Client(world)
        let watch = client.call(.status("watcher"))
        client.settle()
        for index in 0..<400 {
            let stream = client.call(.readStatus("account \(index)"))
            client.window(stream, increment)
        }
        client.settle()
        #expect(client.goAways.isEmpty && client.code(watch) == nil)
        // Not all of it is read in one tick, so some are answered meanwhile.
        #expect(world.loops[0].core.counters.httpStreamsRefused > 100)
        #expect(world.loops[0].core.transport.http.connections[0].heldCount == 0)
    }

    @Test func `places of a connection that is gone are forgotten with their answers`() {
        let world = Self.limited(1_000)
        let client = HTTP2Client(world)
        for index in 0..<100 {
            let stream = client.call(.readStatus("account \(index)"))
            client.socket.clientSends(HTTP2.reset(stream, .cancel))
        }
        _ = client.socket.deliverToServer()
        world.beginTurn(0)
        #expect(world.loops[0].core.transport.http.heldPlaces.count == 100)
        world.finishTurn(0)
        client.socket.reset()
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }
}

extension Request {
    /// The same for another account.
    fileprivate func of(_ account: String) -> Request {
        switch self {
        case .getSubscriptionStatus: .readStatus(account)
        case .purchase: .buy("coins", account)
        case .subscriptionStatusTask: .status(account)
        default: .updates(account)
        }
    }
}

extension Position {
    fileprivate static var far: Position { Position(revision: 1 << 50, asOf: .distantPast) }
}
