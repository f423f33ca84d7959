import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@Suite(.onChosenStorage) struct ConflationTests {
    @Test func `several changes in one turn are one value, the newest`() throws {
        let world = World()
        let watcher = world.welcomedClient()
        let buyer = world.welcomedClient()
        let stream = watcher.call(.status())
        world.settle()
        let before = watcher.statuses(on: stream).count

        for product in ["silver", "gold"] { buyer.call(.buy(product)) }
        _ = world.deliver(buyer)
        world.turn()
        world.runStore()
        world.settle()

        let values = watcher.statuses(on: stream)
        #expect(values.count == before + 1)
        #expect(values.last?.value?.effective?.transaction.value.productID == "gold")
        #expect(world.loops[0].core.counters.changesApplied == 2)
        world.checkNothingIsLeft()
    }

    @Test func `while a stream is full its changes come to one value, the newest`() throws {
        var setup = World.Setup()
        setup.sendBufferBytes = 4_096
        let world = World(setup)
        let watcher = world.welcomedClient()
        let other = world.welcomedClient()
        let stream = watcher.call(.status())
        let otherStream = other.call(.status())
        world.settle()
        watcher.socket.isStalled = true
        let gold = try world.buy("gold", from: other)
        for round in 0..<20 { try world.require(.autoRenew(gold.id, round % 2 == 1), from: other) }
        let heard = watcher.statuses(on: stream).count
        #expect(other.statuses(on: otherStream).count == 2 + 21)
        watcher.socket.isStalled = false
        world.settle()

        let values = watcher.statuses(on: stream)
        // The values that the kernel accepted before its buffer was full, and then one value, not twenty.
        #expect(values.count < heard + 15)
        #expect(values.last?.value == other.statuses(on: otherStream).last?.value)
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `a value that comes back to what was said last, while the stream is full, is not said again`() throws {
        let world = World()
        let watcher = world.welcomedClient()
        let other = world.welcomedClient()
        let gold = try world.buy("gold", from: other)
        let stream = watcher.call(.status())
        world.settle()
        for roundTrips in 1...3 {
            let heard = watcher.statuses(on: stream).count
            watcher.socket.capacity = 0
            for _ in 0..<roundTrips {
                try world.require(.autoRenew(gold.id, false), from: other)
                try world.require(.autoRenew(gold.id, true), from: other)
            }
            watcher.socket.capacity = 1 << 16
            world.settle()
            world.checkInvariants()
            #expect(watcher.statuses(on: stream).count == heard)
            // No output waits for this reader any more: it is not stalled.
            world.advance(Limits.writeStallMilliseconds + 5_000)
            #expect(watcher.isOpen)
            try world.require(.autoRenew(gold.id, false), from: other)
            #expect(watcher.statuses(on: stream).count == heard + 1)
            try world.require(.autoRenew(gold.id, true), from: other)
            #expect(watcher.statuses(on: stream).count == heard + 2)
        }
        world.checkNothingIsLeft()
    }

    @Test func `a change that leaves a view as it was pushes nothing`() throws {
        let world = World()
        let watcher = world.welcomedClient()
        let plans = watcher.call(.status(group: "plans"))
        let lifetime = watcher.call(.entitlement(product: "lifetime"))
        world.settle()
        let plansBefore = watcher.messages(on: plans).count
        let lifetimeBefore = watcher.messages(on: lifetime).count
        try world.buy("weekly", from: watcher)
        #expect(watcher.messages(on: plans).count == plansBefore)
        #expect(watcher.messages(on: lifetime).count == lifetimeBefore)
    }

    @Test func `ten thousand watchers of one view cost one encoding, and of two views two`() throws {
        let world = World()
        var clients: [WireClient] = []
        for _ in 0..<100 {
            let client = world.welcomedClient()
            for _ in 0..<100 { client.call(.status(group: "plans")) }
            clients.append(client)
        }
        let buyer = world.welcomedClient()
        world.settle()
        let before = world.loops[0].core.counters
        let gold = try world.buy("gold", from: buyer)
        var after = world.loops[0].core.counters
        #expect(after.viewsEncoded == before.viewsEncoded + 1)
        #expect(after.valuesPushed == before.valuesPushed + 10_000)

        for client in clients[..<50] { client.call(.entitlement(product: "gold")) }
        world.settle()
        let beforeSecond = world.loops[0].core.counters
        try world.require(.refund(gold.id), from: buyer)
        after = world.loops[0].core.counters
        #expect(after.viewsEncoded == beforeSecond.viewsEncoded + 2)
        #expect(after.valuesPushed == beforeSecond.valuesPushed + 10_050)
    }

    @Test func `a change of an unwatched account computes nothing`() throws {
        let world = World()
        let client = world.welcomedClient()
        client.call(.status("anna"))
        world.settle()
        let before = world.loops[0].core.counters
        try world.buy("gold", "berta", from: client)
        let after = world.loops[0].core.counters
        #expect(after.viewsComputed == before.viewsComputed)
        #expect(after.recordsAsked == before.recordsAsked)
        #expect(after.changesApplied == before.changesApplied + 1)
    }

    @Test func `a value that only its reader has is not kept`() throws {
        let world = World()
        let client = world.welcomedClient()
        client.call(.status())
        world.settle()
        #expect(world.loops[0].core.census.payloads == 2, "`loading`, and the STATUS of a call that went well")
        let second = world.welcomedClient()
        let stream = second.call(.status())
        world.settle()
        #expect(second.statuses(on: stream).last?.value != nil)
    }
}
