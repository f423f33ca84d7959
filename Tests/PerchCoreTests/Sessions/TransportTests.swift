import PerchBase
import PerchCore
import PerchSimulation
import PerchWire
import Testing

/// Events of a driver with a layer between socket and core.
@Suite struct `a driver with a layer below the core` {
    @Test func `input below the core meets the limit for the first byte, but not that for HELLO`() {
        let world = World()
        let client = world.connect()
        world.settle()
        world.loops[0].core.heard(0)
        world.advance(Limits.helloTimeoutMilliseconds - 1)
        #expect(client.drains.isEmpty)
        world.advance(1)
        #expect(client.drains.map(\.reason) == ["HELLO_TIMEOUT"])
        world.checkNothingIsLeft()
    }

    @Test func `a driver with a layer below the core can refuse a peer, which reads why`() {
        let world = World()
        let client = world.connect()
        world.settle()
        world.loops[0].core.refuse(0, WireStatus(.tlsRequired, "speak TLS"))
        world.turn()
        world.settle()
        #expect(client.drains.map(\.reason) == ["TLS_REQUIRED"])
        #expect(world.loops[0].core.counters.refusalsByReason[.tlsRequired] == 1)
        world.checkNothingIsLeft()
    }

    @Test(arguments: ["greeting", "open", "closing"])
    func `a driver with a layer below the core can give up: nothing more is said, and the writing side is shut`(
        _ phase: String
    ) {
        let world = World()
        let client = world.connect()
        if phase == "open" {
            client.hello()
            world.settle()
            client.call(.status())
        }
        world.settle()
        if phase == "closing" { world.loops[0].core.refuse(0, WireStatus(.tlsRequired, "speak TLS")) }
        let count = client.events.count
        world.loops[0].core.giveUp(0)
        world.loops[0].core.giveUp(0)
        world.turn()
        world.settle()
        #expect(client.events.count == count + 1, "more was said than that it ends")
        #expect(!client.isOpen)
        world.loops[0].core.checkInvariants()
        #expect(world.loops[0].core.handshakes == 0)
        client.socket.clientEnds()
        world.settle()
        world.loops[0].core.checkIsEmpty()
    }

    @Test func `that gives up is waited for no longer than any closing connection`() {
        let world = World()
        _ = world.connect()
        world.settle()
        world.loops[0].core.giveUp(0)
        world.advance(Limits.lingerMilliseconds)
        #expect(world.loops[0].core.connectionCount == 0)
        #expect(world.loops[0].core.counters.lingerExpired == 1)
    }

    @Test func `a number without a connection is ignored`() {
        let world = World()
        world.loops[0].core.heard(7)
        world.loops[0].core.refuse(7, WireStatus(.tlsRequired, "speak TLS"))
        world.loops[0].core.giveUp(7)
        world.loops[0].core.progressed(7, isAll: true)
        world.loops[0].core.checkIsEmpty()
    }
}
