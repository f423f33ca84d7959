import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// A watch whose record cannot be read: its failure is a state, it loads again by itself, and nothing vouches for it meanwhile.
@Suite struct `a watch whose load fails` {
    private static let accounts = ["anna", "ben", "cleo", "dora", "emil"]
    private let node = SharedDatabase().node()

    private func world() -> World {
        var setup = World.Setup()
        setup.storage = self.node
        return World(setup)
    }

    @Test func `loads again by itself when the store is there again, also beside many others`() throws {
        let world = self.world()
        let client = world.welcomedClient()
        for account in Self.accounts { try world.buy("gold", account, from: client) }
        self.node.isUnheard = true
        let streams = Self.accounts.map { client.call(.status($0)) }
        world.advance(5_000)
        for stream in streams {
            let states = client.statuses(on: stream)
            #expect(states.count == 2, "one failure, however often the load was tried: \(states)")
            guard case .failure(let failure, _)? = states.last else {
                Issue.record("\(states)")
                continue
            }
            #expect(failure.reason == "STORE_UNREACHABLE")
        }
        let asked = world.loops[0].core.counters.recordsAsked
        world.advance(10_000)
        #expect(world.loops[0].core.counters.recordsAsked - asked <= 41, "one account stands for all")
        self.node.isUnheard = false
        world.advance(2 * Limits.storageRetryMilliseconds)
        for stream in streams {
            #expect(client.statuses(on: stream).count == 3)
            #expect(client.statuses(on: stream).last?.value?.states == [.subscribed])
        }
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    /// The store's thread may be waiting for a commit that no standby confirms: it can refuse nothing then.
    @Test func `a read that the store has is refused by the loop once nothing vouches for its answer`() throws {
        let world = self.world()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let read = client.call(.readStatus())
        let mutation = client.call(.buy("coins"))
        while world.deliver(client) {}
        world.turn()
        let isAwaited = world.loops[0].core.awaitsStore
        #expect(isAwaited)
        world.loops[0].core.vouches(false)
        let late = client.call(.readStatus())
        while world.deliver(client) {}
        world.turn()
        while world.deliver(client) {}
        for stream in [read, late] {
            #expect(client.status(of: stream)?.reason == "STORE_UNREACHABLE")
            #expect(client.status(of: stream)?.code == 14)
        }
        #expect(client.status(of: mutation) == nil, "its outcome is the store's to say")
        // The store's answer comes all the same, and finds nobody.
        world.settle()
        #expect(client.status(of: mutation)?.code == 0)
        #expect(client.messages(on: read).isEmpty)
        world.loops[0].core.vouches(true)
        let again = client.call(.readStatus())
        world.settle()
        #expect(client.status(of: again)?.code == 0)
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `is not vouched for by a BEAT, which still ends groups and shows that the connection lives`() throws {
        let world = self.world()
        let client = world.welcomedClient(heartbeatSeconds: 10)
        try world.buy("gold", from: client)
        let shown = client.call(.products())
        world.advance(11_000)
        let before = try #require(client.beats.last?.revision)
        #expect(before == world.loops[0].core.applied)
        // Another node's change, which this one has applied.
        try world.buy("coins", "ben", from: client)
        self.node.isUnheard = true
        let stream = client.call(.status())
        world.settle()
        #expect(client.statuses(on: stream).count == 2)
        let count = client.beats.count
        world.advance(31_000)
        #expect(client.beats.count >= count + 3, "the connection lives")
        for beat in client.beats[count...] {
            #expect(beat.revision <= before, "a BEAT of revision \(beat.revision) vouches for a watch in failure")
        }
        self.node.isUnheard = false
        world.advance(11_000)
        #expect(client.statuses(on: stream).last?.value?.states == [.subscribed])
        #expect(client.beats.last?.revision == world.loops[0].core.applied)
        #expect(client.products(on: shown).count == 2)
        world.checkNothingIsLeft()
    }

    @Test func `gets no bookmark on its stream, and the other streams of its connection do`() throws {
        let world = self.world()
        let buyer = world.welcomedClient()
        try world.buy("gold", from: buyer)
        let client = HTTP2Client(world)
        let healthy = client.call(.products(), [("perch-heartbeat", "10")])
        client.settle()
        self.node.isUnheard = true
        let failed = client.call(.status())
        client.settle()
        world.advance(31_000)
        client.settle()
        #expect(client.bookmarks(failed).isEmpty)
        #expect(client.bookmarks(healthy).count >= 2)
        self.node.isUnheard = false
        world.advance(11_000)
        client.settle()
        #expect(client.bookmarks(failed).last == world.loops[0].core.applied)
        world.checkInvariants()
    }

    @Test func `a watch that comes to a failed view is told so once, and both get the value`() throws {
        let world = self.world()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        self.node.isUnheard = true
        let first = client.call(.status())
        world.advance(1_000)
        let second = client.call(.status())
        world.advance(1_000)
        #expect(client.statuses(on: first).count == 2)
        #expect(client.statuses(on: second).count == 2)
        self.node.isUnheard = false
        world.advance(1_000)
        for stream in [first, second] {
            #expect(client.statuses(on: stream).last?.value?.states == [.subscribed])
        }
        world.checkNothingIsLeft()
    }
}
