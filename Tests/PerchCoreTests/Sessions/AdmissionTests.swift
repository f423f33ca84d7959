import PerchBase
import PerchIdentity
import PerchSimulation
import PerchTesting
import PerchWire
import Testing

@testable import PerchCore

/// Bounded resources that unauthenticated peers can hold: no address keeps another one out.
@Suite struct AdmissionTests {
    private static let addresses = (1...6).map { PeerAddress(high: 0, low: 0xFFFF_C000_0200 + $0) }

    private func world(_ change: (inout World.Setup) -> Void) -> World {
        var setup = World.Setup()
        change(&setup)
        return World(setup)
    }

    /// Why each connection was closed; nil: it is open. A refused peer reads the reason after its first byte.
    private func reasons(_ clients: [WireClient], _ world: World) -> [String?] {
        for client in clients where client.welcome == nil { client.sendBytes([FrameKind.hello.rawValue]) }
        world.settle()
        return clients.map { $0.drains.first?.reason }
    }

    private static let partialCall: [UInt8] = [3, 0, 0, 1, 0, 0, 0, 4, 0] + [UInt8](repeating: 0, count: 391)

    // MARK: Handshake slots

    @Test func `a full handshake table admits a newcomer and closes the oldest of the address that holds most`() {
        let world = self.world { $0.core.handshakesMax = 4 }
        let few = world.connect(address: Self.addresses[0])
        let many = (0..<3).map { _ in world.connect(address: Self.addresses[1]) }
        world.settle()
        let newcomer = world.connect(address: Self.addresses[2])
        newcomer.hello()
        world.settle()
        #expect(newcomer.welcome != nil && few.isOpen)
        #expect(self.reasons(many, world) == ["HANDSHAKE_LIMIT", nil, nil])
        world.checkNothingIsLeft()
    }

    @Test func `an address that floods a full handshake table replaces its own connections`() {
        let world = self.world { $0.core.handshakesMax = 4 }
        let others = (1...2).map { world.connect(address: Self.addresses[$0]) }
        let flood = (0..<40).map { _ in world.connect(address: Self.addresses[0]) }
        world.settle()
        _ = self.reasons(flood, world)
        #expect(others.allSatisfy { $0.isOpen })
        #expect(flood.count { $0.isOpen } == 2 && flood.suffix(2).allSatisfy { $0.isOpen })
        world.checkNothingIsLeft()
    }

    @Test func `loopback shares handshake slots as any other address`() {
        let world = self.world { $0.core.handshakesMax = 3 }
        let local = (0..<3).map { _ in world.connect() }
        world.settle()
        let newcomer = world.connect(address: Self.addresses[0])
        newcomer.hello()
        world.settle()
        #expect(newcomer.welcome != nil)
        #expect(self.reasons(local, world) == ["HANDSHAKE_LIMIT", nil, nil])
        world.checkNothingIsLeft()
    }

    @Test func `between addresses that hold equally much the oldest handshake gives way`() {
        let world = self.world { $0.core.handshakesMax = 3 }
        let clients = (0..<5).map { world.connect(address: Self.addresses[$0]) }
        world.settle()
        #expect(self.reasons(clients, world) == ["HANDSHAKE_LIMIT", "HANDSHAKE_LIMIT", nil, nil, nil])
        world.checkNothingIsLeft()
    }

    @Test func `a connection without credentials keeps its handshake slot until valid ones come`() {
        let world = Gate.world { $0.core.handshakesMax = 3 }
        let anonymous = world.welcomedClient()
        let caller = world.welcomedClient()
        _ = world.welcomedClient(authorization: Gate.token(.read))
        #expect(world.loops[0].core.handshakes == 2)
        // Credentials of a call count too.
        caller.call(.readStatus(), authorization: Gate.token(.read, id: "call"))
        world.settle()
        #expect(world.loops[0].core.handshakes == 1)
        let more = (0..<3).map { _ in world.connect(address: Self.addresses[0]) }
        world.settle()
        #expect(self.reasons([anonymous, caller] + more, world) == [nil, nil, "HANDSHAKE_LIMIT", nil, nil])
        world.checkNothingIsLeft()
    }

    @Test func `memory of TLS handshakes is bounded: the address that holds most gives way`() {
        let world = self.world { $0.core.handshakesBytesMax = 100_000 }
        let clients = [0, 1, 1, 2].map { world.connect(address: Self.addresses[$0]) }
        world.settle()
        for connection in 0..<4 { world.loops[0].core.holds(30_000, for: Int32(connection)) }
        world.turn()
        world.settle()
        #expect(clients.map { $0.drains.first?.reason } == [nil, "HANDSHAKE_LIMIT", nil, nil])
        clients[0].hello()
        world.settle()
        // It is welcomed, so its handshake is over.
        #expect(world.loops[0].core.handshakeBytes == 60_000)
        world.checkNothingIsLeft()
    }

    // MARK: Partial frames

    @Test func `a full budget of partial frames closes the oldest holder of the address that holds most`() {
        let world = self.world { $0.core.partialFramesBytesMax = 1_200 }
        let many = (0..<2).map { _ in world.connect(address: Self.addresses[0]) }
        let newcomer = world.connect(address: Self.addresses[1])
        for client in many + [newcomer] { client.hello() }
        world.settle()
        for client in many + [newcomer] {
            client.sendBytes(Self.partialCall)
            world.settle()
        }
        #expect(self.reasons(many + [newcomer], world) == [nil, nil, nil])
        newcomer.sendBytes([0])
        world.settle()
        #expect(self.reasons(many + [newcomer], world) == ["PARTIAL_FRAMES_LIMIT", nil, nil])
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `peers without credentials leave the budget of partial frames to those that have some`() {
        let world = Gate.world { $0.core.partialFramesBytesMax = 500 }
        let known = world.welcomedClient(authorization: Gate.token(.read))
        for number in 0..<6 {
            let client = world.connect(address: Self.addresses[number])
            if number > 2 { client.hello() }
            world.settle()
            client.sendBytes([number > 2 ? 3 : 1] + Self.partialCall.dropFirst())
            world.settle()
        }
        known.sendBytes(Self.partialCall)
        world.settle()
        #expect(known.isOpen)
        #expect(world.loops[0].core.counters.refusalsByReason[.partialFramesLimit] == nil)
        world.checkNothingIsLeft()
    }

    @Test func `a frame of a peer without credentials has the time of a HELLO`() {
        let world = Gate.world()
        let client = world.welcomedClient()
        client.sendBytes(Self.partialCall)
        world.advance(Limits.helloTimeoutMilliseconds - 1)
        #expect(client.isOpen)
        world.advance(1)
        #expect(client.drains.map(\.reason) == ["FRAME_TIMEOUT"])
        world.checkNothingIsLeft()
    }

    @Test func `bytes that dribble do not extend the time of a frame, and the next frame has its own`() {
        let world = self.world { $0.core.frameTimeoutMilliseconds = 10_000 }
        let client = world.welcomedClient()
        let ping: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0, 8] + [UInt8](repeating: 1, count: 8)
        for _ in 0..<4 {
            client.sendBytes(Array(ping[..<9]))
            world.advance(9_000)
            client.sendBytes(Array(ping[9...]))
            world.settle()
        }
        #expect(client.isOpen)
        for byte in ping.dropLast() {
            client.sendBytes([byte])
            world.advance(700)
        }
        #expect(client.drains.map(\.reason) == ["FRAME_TIMEOUT"])
        world.checkNothingIsLeft()
    }

    // MARK: Closing connections

    @Test func `a flood of refused connections leaves others the time to read why they were closed`() {
        let world = self.world { $0.core.dyingConnectionsMax = 4 }
        let other = world.connect(address: Self.addresses[0])
        other.sendBytes([0x16])
        world.settle()
        for _ in 0..<20 {
            world.connect(address: Self.addresses[1]).sendBytes([0x16])
            world.settle()
            world.checkInvariants()
        }
        #expect(!other.socket.isClosedByServer)
        #expect(world.loops[0].core.connectionCount == 4)
        world.checkNothingIsLeft()
    }

    // MARK: The queue

    @Test(arguments: [1, 2, 3]) func `a queue gives the oldest member of the heaviest address, whatever came before`(
        _ seed: Int
    ) {
        var random = SeededRandom(seed: UInt64(seed))
        var queue = FairQueue()
        // Connection, origin, weight, in the order in which they came.
        var model: [(connection: Int32, origin: Int32, weight: Int)] = []
        for step in 0..<4_000 {
            let connection = Int32.random(in: 0..<200, using: &random)
            if let place = model.firstIndex(where: { $0.connection == connection }) {
                if Bool.random(using: &random) {
                    #expect(queue.remove(connection) == model[place].weight)
                    model.remove(at: place)
                } else {
                    let more = Int.random(in: -model[place].weight...20, using: &random)
                    queue.add(more, to: connection, origin: model[place].origin)
                    model[place].weight += more
                }
            } else {
                let origin = Int32.random(in: 0..<12, using: &random)
                queue.add(step % 7, to: connection, origin: origin)
                model.append((connection, origin, step % 7))
            }
            let weights = Dictionary(grouping: model, by: \.origin).mapValues { $0.reduce(0) { $0 + $1.weight } }
            let most = weights.values.max() ?? 0
            let expected = model.first { weights[$0.origin] == most }?.connection ?? -1
            #expect(queue.victim == expected && queue.weight == model.reduce(0) { $0 + $1.weight })
            if step % 50 == 0 { queue.checkInvariants() }
        }
    }
}
