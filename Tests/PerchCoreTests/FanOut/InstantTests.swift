import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// A beat ends a group, and a group shows one instant of an app's clock.
@Suite(.onChosenStorage) struct InstantTests {
    /// A connection that watches two accounts: one subscription ends at its boundary, the other account only buys.
    private struct Pair {
        let world: World
        let client: WireClient
        let other: WireClient
        let ending: UInt32
        let buying: UInt32
        let end: Instant

        init(_ setup: World.Setup = World.Setup()) throws {
            self.world = World(setup)
            self.client = self.world.welcomedClient()
            self.other = self.world.welcomedClient()
            let gold = try self.world.buy("gold", "berta", from: self.other)
            try self.world.require(.autoRenew(gold.id, false), from: self.other)
            self.end = try #require(gold.expirationDate)
            self.ending = self.client.call(.status("berta"))
            self.buying = self.client.call(.entitlement("anna", product: "lifetime"))
            self.world.settle()
            self.client.forgetEvents()
        }

        /// What the client hears up to its first beat, as `watch: instant` and `beat: revision`.
        var firstGroup: [WireClient.Event] {
            guard let beat = self.client.events.firstIndex(where: { if case .beat = $0 { true } else { false } }) else {
                return []
            }
            return Array(self.client.events[...beat])
        }

        func checkGroup() {
            let states = self.firstGroup.compactMap { event -> [RenewalState]? in
                if case .message(self.ending, .subscriptionStatusTask(let state)) = event {
                    state.value?.states
                } else {
                    nil
                }
            }
            #expect(states == [[.expired]], "\(self.firstGroup)")
        }
    }

    @Test func `a beat does not pass a clock advance that another view has yet to show`() throws {
        let pair = try Pair()
        // Both are in one run of the store, so the loop hears of both in one turn.
        pair.other.call(.clock(.advanceTo(pair.end)))
        pair.other.call(.buy("lifetime", "anna"))
        pair.world.settle()
        pair.checkGroup()
        #expect(pair.firstGroup.count == 3)
        pair.world.checkNothingIsLeft()
    }

    @Test func `a beat does not pass an expiry of the same instant on a running clock`() throws {
        let pair = try Pair()
        pair.world.advance(pair.end.milliseconds(since: pair.world.wall) - 1)
        pair.other.call(.buy("lifetime", "anna"))
        _ = pair.world.deliver(pair.other)
        pair.world.turn()
        pair.world.jump(1)
        pair.world.runStore()
        pair.world.settle()
        pair.checkGroup()
        pair.world.checkNothingIsLeft()
    }

    @Test func `a view that stays as it was at its crossing holds no beat for good`() throws {
        var setup = World.Setup()
        setup.settings = TestShop.settings(billingIssues: true, grace: true)
        let world = World(setup)
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        let end = try #require(gold.expirationDate)
        world.advance(end.milliseconds(since: world.wall) + 1)
        let entitlement = client.call(.entitlement("anna", product: "silver"))
        let other = client.call(.entitlement("berta", product: "lifetime"))
        world.settle()
        client.forgetEvents()
        // Grace and retry end, and nothing of it is an entitlement to silver.
        try world.require(.clock(.advanceBy(milliseconds: 200 * 86_400_000)), from: client)
        client.forgetEvents()
        client.call(.buy("lifetime", "berta"))
        world.settle()
        #expect(client.entitlements(on: entitlement).isEmpty)
        #expect(client.entitlements(on: other).count == 1)
        #expect(client.beats.last?.revision == world.engine.header.revision)
        world.checkNothingIsLeft()
    }

    @Test func `a watch that is cancelled while its view is behind the clock holds no beat`() throws {
        let pair = try Pair()
        pair.other.call(.clock(.advanceTo(pair.end)))
        pair.other.call(.buy("lifetime", "anna"))
        _ = pair.world.deliver(pair.other)
        pair.world.turn()
        pair.world.runStore()
        // The loop has heard of both, and its question about berta is still with the store.
        pair.client.cancel(pair.ending)
        _ = pair.world.deliver(pair.client)
        pair.world.turn()
        pair.world.checkInvariants()
        pair.world.settle()
        let again = pair.client.call(.status("berta"))
        pair.world.settle()
        #expect(pair.client.statuses(on: again).last?.value?.states == [.expired])
        #expect(pair.client.beats.last?.revision == pair.world.engine.header.revision)
        pair.world.checkNothingIsLeft()
    }
}
