import PerchBase
import PerchCore
import PerchSimulation
import PerchWire
import Testing

@Suite struct `the memory of open calls` {
    private static let many = (0..<1_300).map { "app.perch.a.product.with.a.long.name.\($0)" }

    private static func held(_ world: World) -> Int { world.loops[0].core.callsBytes }

    private static func world(callsBytesMax: Int = .max) -> World {
        var setup = World.Setup()
        setup.core.callsBytesMax = callsBytesMax
        return World(setup)
    }

    @Test func `the memory of a view is counted once for all its watches, and freed with the last`() {
        let world = Self.world()
        let clients = (0..<3).map { _ in world.welcomedClient() }
        let before = Self.held(world)
        var held = [before]
        var streams: [UInt32] = []
        for client in clients {
            streams.append(client.call(.products(Self.many)))
            world.settle()
            held.append(Self.held(world))
        }
        #expect(held[1] - before > 100_000, "each name is an object of seventy bytes or more, and sixteen in the list")
        #expect(held[2] - held[1] < 60_000, "what several share is kept encoded")
        #expect(held[3] - held[2] < 200, "a slot")
        for (client, stream) in zip(clients, streams) {
            #expect(Self.held(world) - before > 100_000)
            client.cancel(stream)
            world.settle()
        }
        #expect(Self.held(world) == before)
        world.checkNothingIsLeft()
    }

    @Test func `the memory of open calls has the keys of accounts in it`() {
        let world = Self.world()
        let client = world.welcomedClient()
        let short = client.call(.status("a"))
        world.settle()
        let before = Self.held(world)
        client.cancel(short)
        client.call(.status(String(repeating: "a", count: 255)))
        world.settle()
        #expect(Self.held(world) == before + 248)
        world.checkNothingIsLeft()
    }

    @Test func `the memory of open calls has a request in it that waits, until its call ends`() {
        let world = Self.world()
        let client = world.welcomedClient()
        let before = Self.held(world)
        let ahead = Position(revision: 1_000, asOf: .distantPast)
        let stream = client.call(.getProducts(ProductsRequest(productIDs: Self.many, atLeast: ahead)))
        world.settle()
        #expect(Self.held(world) - before > 50_000)
        client.cancel(stream)
        world.settle()
        #expect(Self.held(world) == before)
        // A stream that waits holds its request; one that watches holds its view.
        let token = client.call(.productsTask(ProductsRequest(productIDs: Self.many, atLeast: ahead)))
        world.settle()
        #expect(Self.held(world) - before > 50_000)
        client.cancel(token)
        world.checkNothingIsLeft()
    }

    @Test func `beyond the limit lets small reads and purchases pass, and nothing that stays`() throws {
        let world = Self.world(callsBytesMax: 80_000)
        let client = world.welcomedClient()
        let big = client.call(.products(Self.many))
        world.settle()
        #expect(client.status(of: big) == nil, "its request fits")
        let refused = [
            client.call(.status()), client.call(.updates()),
            client.call(.readStatus(atLeast: Position(revision: 1_000, asOf: .distantPast))),
            client.call(.getProducts(ProductsRequest(productIDs: Array(Self.many.prefix(20))))),
        ]
        world.settle()
        #expect(refused.map { client.status(of: $0)?.reason } == Array(repeating: "CALLS_BYTES_LIMIT", count: 4))
        let details = client.status(of: refused[0])?.details
        #expect(details?.first { $0.key == "limit" }?.value == "80000")
        let found = Int(details?.first { $0.key == "found" }?.value ?? "") ?? 0
        #expect(found > 100_000)
        try world.buy("gold", from: client)
        #expect(world.answer(to: .readStatus(), from: client).status?.code == 0)
        client.cancel(big)
        world.settle()
        let again = client.call(.status())
        world.settle()
        #expect(client.status(of: again) == nil)
        world.checkNothingIsLeft()
    }

    @Test func `the memory of open calls counts what other loops hold`() {
        let world = Self.world(callsBytesMax: 80_000)
        let client = world.welcomedClient()
        world.loops[0].core.callsBytesElsewhere = 80_000
        let stream = client.call(.status())
        world.settle()
        #expect(client.status(of: stream)?.reason == "CALLS_BYTES_LIMIT")
    }
}
