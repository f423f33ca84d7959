import PerchBase
import PerchSimulation
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore

/// A transport without frames: it opens calls at the seam, and gets answers by role.
@Suite(.onChosenStorage) struct SeamTests {
    /// A core with one greeted connection, number 0.
    private static func world() -> World {
        let world = World()
        _ = world.welcomedClient()
        return world
    }

    private static func open(_ request: Request, stream: UInt32, in world: World) throws {
        let codec = MessageCodec()
        let bytes = Array(try codec.encode(request).message)
        let opening = Opening(method: request.method, timeoutMilliseconds: 0, metadata: [])
        world.loops[0].core.open(0, stream: stream, opening, request: bytes.span.bytes)
    }

    private static func call(_ connection: Int32, _ stream: UInt32, in world: World) -> Int32? {
        world.loops[0].core.transport.call(connection, stream, world.loops[0].core.tables)
    }

    private static func unsent(_ world: World) -> [Unsent.Role] {
        var roles: [Unsent.Role] = []
        var slot = world.loops[0].core.tables.connections[0].firstUnsent
        while slot >= 0 {
            roles.append(world.loops[0].core.transport.unsent[slot].role)
            slot = world.loops[0].core.transport.unsent[slot].next
        }
        return roles
    }

    @Test func `a read without a record has its answer and its end pending at once`() throws {
        let world = Self.world()
        try Self.open(.listApps, stream: 9, in: world)
        #expect(Self.unsent(world) == [.answer, .status])
        #expect(world.loops[0].core.asks.isEmpty)
    }

    @Test func `a read of an account asks the store, and has nothing pending until the answer`() throws {
        let world = Self.world()
        try Self.open(.readStatus(), stream: 9, in: world)
        #expect(Self.unsent(world).isEmpty)
        #expect(world.loops[0].core.asks.count == 1)
        let call = Self.call(0, 9, in: world)
        #expect(call != nil)
    }

    @Test func `a request refused before it begins has only its end pending`() throws {
        let world = Self.world()
        try Self.open(.readStatus(""), stream: 9, in: world)
        #expect(Self.unsent(world) == [.status])
    }

    @Test func `a watch is ready with its first message, and pulls its value through the seam`() throws {
        let world = Self.world()
        try Self.open(.products(["gold"]), stream: 9, in: world)
        // A core cannot be copied into an expectation.
        let found = Self.call(0, 9, in: world)
        let call = try #require(found)
        let before = world.loops[0].core.tables.calls[call].flags
        #expect(before.isSuperset(of: [.isListed, .hasUnsentLoading]))
        world.loops[0].core.endInput()
        let after = world.loops[0].core.tables.calls[call].flags
        let body = world.loops[0].core.views.encoding(for: call, zlib: false, world.loops[0].core.tables)
        #expect(after.contains(.hasUnsentValue) && !body.isNone)
    }
}

extension LoopCore {
    /// What a transport does with a request that has come.
    fileprivate mutating func open(
        _ connection: Int32, stream: UInt32, _ opening: borrowing Opening, request: borrowing RawSpan
    ) {
        let closes = self.service.open(
            connection, stream: stream, opening, request: request, &self.tables, &self.views, &self.transport)
        #expect(closes == nil)
    }
}
