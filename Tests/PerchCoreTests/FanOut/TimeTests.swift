import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

/// Values that change because time passed, and the cost and content of app-wide changes.
@Suite(.onChosenStorage) struct TimeTests {
    @Test func `an expiry is pushed at its instant without anything being written`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        let status = client.call(.status())
        let entitlement = client.call(.entitlement())
        world.settle()
        let revision = world.engine.header.revision
        world.advance(TestShop.month - 1)
        #expect(client.statuses(on: status).last?.value?.states == [.subscribed])
        world.advance(1)
        #expect(client.statuses(on: status).last?.value?.states == [.expired])
        #expect(client.statuses(on: status).last?.info?.cause == .expiry)
        #expect(client.statuses(on: status).last?.info?.position.asOf == gold.expirationDate)
        #expect(
            client.entitlements(on: entitlement).last
                == .some(.success(nil, try #require(client.entitlements(on: entitlement).last?.info))))
        #expect(world.engine.header.revision == revision)
        world.checkNothingIsLeft()
    }

    @Test func `a renewing line is one value at its boundary, and never shown expired`() throws {
        let world = World()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let stream = client.call(.status())
        world.settle()
        let before = client.statuses(on: stream).count
        world.advance(TestShop.month)
        #expect(client.statuses(on: stream).count == before + 1)
        #expect(client.statuses(on: stream).last?.info?.cause == .renewal)
        world.advance(TestShop.month * 3)
        #expect(client.statuses(on: stream).count == before + 4)
        #expect(client.statuses(on: stream).compactMap(\.value).allSatisfy { $0.states == [.subscribed] })
    }

    @Test func `a boundary that the store is late for is not an expiry`() throws {
        let world = World()
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let stream = client.call(.status())
        world.settle()
        let before = client.statuses(on: stream).count
        // The loop wakes a minute late, and before the store does.
        world.jump(TestShop.month + 60_000)
        world.turn()
        _ = world.deliver(client)
        let fresh = client.call(.status())
        _ = world.deliver(client)
        world.turn()
        _ = world.deliver(client)
        #expect(client.statuses(on: stream).count == before)
        world.settle()
        #expect(client.statuses(on: stream).count == before + 1)
        #expect(
            (client.statuses(on: stream) + client.statuses(on: fresh)).compactMap(\.value).allSatisfy {
                $0.states == [.subscribed]
            })
    }

    @Test func `billing retry and its end are pushed, and an entitlement that stays nil is not said twice`() throws {
        var setup = World.Setup()
        setup.settings = TestShop.settings(billingIssues: true, grace: true)
        let world = World(setup)
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let status = client.call(.status())
        let entitlement = client.call(.entitlement())
        world.settle()
        world.advance(TestShop.month * 4)
        #expect(
            client.statuses(on: status).compactMap(\.value?.states) == [
                [.subscribed], [.inGracePeriod], [.inBillingRetryPeriod], [.expired],
            ])
        let values = client.entitlements(on: entitlement).compactMap { state -> Bool? in
            if case .success(let value, _) = state { value != nil } else { nil }
        }
        #expect(values == [true, false])
        world.checkNothingIsLeft()
    }

    @Test func `moving the clock answers when all that is due is settled and said on every loop`() throws {
        var setup = World.Setup()
        setup.loops = 3
        let world = World(setup)
        let watchers = (0..<3).map { world.welcomedClient(loop: $0) }
        let mover = world.welcomedClient(loop: 1)
        for account in 0..<300 { mover.call(.buy("gold", "a\(account)")) }
        let silver = try world.buy("silver", "ending", from: mover)
        try world.require(.autoRenew(silver.id, false), from: mover)
        let streams = watchers.map { [$0.call(.status("a7")), $0.call(.status("ending"))] }
        world.settle()
        let moved = mover.call(.clock(.advanceBy(milliseconds: TestShop.month * 2)))
        var wasAnswered = false
        mover.onEvent = { event in
            guard case .message(moved, .setClock(let answer)) = event else { return }
            wasAnswered = true
            #expect(answer.settledCount == 600)
            for (watcher, streams) in zip(watchers, streams) {
                // Everything written so far is in the pipe of every watcher.
                _ = world.deliver(watcher)
                #expect(watcher.statuses(on: streams[0]).last?.info?.cause == .renewal)
                #expect(watcher.statuses(on: streams[1]).last?.value?.states == [.expired])
            }
        }
        world.settle()
        #expect(wasAnswered)
        world.checkNothingIsLeft()
    }

    @Test func `a loop that looked at the clock before the store did says what the change means`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        let stream = client.call(.status())
        world.settle()
        let before = client.statuses(on: stream).count
        client.call(.refund(gold.id))
        _ = world.deliver(client)
        world.turn()
        // The loop begins a tick; a millisecond later the store commits; the loop applies the change in that tick.
        world.jump(5)
        world.beginTurn(0)
        world.jump(5)
        world.runStore()
        world.finishTurn(0)
        world.advance(100)
        let values = client.statuses(on: stream)
        #expect(values.count == before + 1)
        #expect(values.last?.value?.states == [.revoked])
        #expect(values.last?.info?.cause == .refund)
    }

    @Test func `a clock that is moved in the middle of a loop's turn is answered after its expiries are said`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        let stream = client.call(.status())
        world.settle()
        let moved = client.call(.clock(.advanceToBoundary(account: "anna")))
        _ = world.deliver(client)
        world.turn()
        world.beginTurn(0)
        world.jump(3)
        world.runStore()
        world.finishTurn(0)
        while client.status(of: moved) == nil {
            if world.storeHasWork { world.runStore() }
            world.turn()
            _ = world.deliver(client)
        }
        #expect(client.statuses(on: stream).last?.value?.states == [.expired])
    }

    @Test func `freezing and resuming the clock says nothing, and lets nothing expire meanwhile`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        let stream = client.call(.status())
        world.settle()
        let before = client.statuses(on: stream).count
        try world.require(.clock(.freeze), from: client)
        world.advance(TestShop.month * 2)
        #expect(client.statuses(on: stream).count == before)
        try world.require(.clock(.resume), from: client)
        #expect(client.statuses(on: stream).count == before)
        world.advance(TestShop.month)
        #expect(client.statuses(on: stream).count == before + 1)
        #expect(client.statuses(on: stream).last?.value?.states == [.expired])
    }

    // MARK: Catalogues

    @Test func `a catalogue is pushed to the products that it changes, and to no others`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = client.call(.products(["gold"]))
        let coins = client.call(.products(["coins"]))
        let both = client.call(.products(["coins", "gold"]))
        let german = client.call(.products(["gold"], locale: "de"))
        world.settle()
        let before = [gold, coins, both, german].map { client.products(on: $0).count }
        world.catalogueFiles[[1]] = (TestShop.catalogue(names: ["gold": "Pure gold"]), TestShop.settings())
        try world.require(.loadCatalog(LoadCatalogRequest(file: [1], source: "test")), from: client)
        let after = [gold, coins, both, german].map { client.products(on: $0).count }
        #expect(zip(before, after).map { $1 - $0 } == [1, 0, 1, 0])
        #expect(client.products(on: gold).last?.value?.products.first?.displayName == "Pure gold")
        #expect(client.products(on: gold).last?.info?.cause == .catalog)
    }

    @Test func `a price reaches the statuses that renew at it, a bounded number in a turn, and no beat before`() throws
    {
        let world = World()
        let client = world.welcomedClient(heartbeatSeconds: 10)
        let buyer = world.welcomedClient()
        let count = 2_500
        for account in 0..<count { buyer.call(.buy("gold", "a\(account)")) }
        world.settle()
        let streams = (0..<count).map { client.call(.status("a\($0)")) }
        world.settle()
        client.forgetEvents()
        world.catalogueFiles[[1]] = (TestShop.catalogue(prices: ["gold": 29_990]), TestShop.settings())
        buyer.call(.loadCatalog(LoadCatalogRequest(file: [1], source: "test")))
        let asked = Box<[UInt64]>([])
        let heard = Box<Int>(0)
        let beats = Box<[(UInt64, Int)]>([])
        client.onEvent = { event in
            switch event {
            case .message: heard.value += 1
            case .beat(let beat): beats.value.append((beat.revision, heard.value))
            default: break
            }
        }
        var recordsAsked = world.loops[0].core.counters.recordsAsked
        for _ in 0..<40 {
            _ = world.deliver(buyer)
            world.turn()
            asked.value.append(world.loops[0].core.counters.recordsAsked - recordsAsked)
            recordsAsked = world.loops[0].core.counters.recordsAsked
            _ = world.deliver(client)
            world.runStore()
        }
        #expect(asked.value.reduce(0, +) == UInt64(count))
        #expect(asked.value.max() ?? 0 <= 1_024)
        #expect(heard.value == count)
        #expect(beats.value.count == 1)
        #expect(beats.value.last?.0 == world.engine.header.revision)
        #expect(beats.value.last?.1 == count)
        #expect(
            client.statuses(on: streams[9]).last?.value?.statuses.first?.renewalInfo.value.renewalPrice?.milliunits
                == 29_990)
    }

    @Test func `a locale or storefront of the file reaches product views that do not name their own`() throws {
        let world = World()
        let client = world.welcomedClient()
        let plain = client.call(.products(["gold"]))
        let named = client.call(.products(["gold"], locale: "en_US", storefront: "USA"))
        let status = client.call(.status())
        world.settle()
        world.catalogueFiles[[1]] = (TestShop.catalogue(), TestShop.settings(storefront: "DEU", locale: "de"))
        try world.require(.loadCatalog(LoadCatalogRequest(file: [1], source: "test")), from: client)
        #expect(client.products(on: plain).count == 3)
        #expect(client.products(on: plain).last?.value?.products.first?.displayName == "Das gold")
        #expect(client.products(on: plain).last?.info?.cause == .setting)
        #expect(client.products(on: named).count == 2)
        #expect(client.statuses(on: status).count == 2)
    }

    // MARK: Groups

    @Test func `values of one change are followed by one beat at its revision`() throws {
        let world = World()
        let client = world.welcomedClient()
        client.call(.status())
        client.call(.entitlement())
        client.call(.updates())
        world.settle()
        client.forgetEvents()
        let other = world.welcomedClient()
        try world.buy("gold", from: other)
        #expect(kinds(client) == ["message", "message", "message", "beat \(world.engine.header.revision)"])
        client.forgetEvents()
        try world.buy("coins", "berta", from: other)
        #expect(kinds(client).isEmpty)
    }

    /// A watch resumes with a token of this revision and a later instant: its value will be older than any BEAT from
    /// now on. `end`: how its waiting ends.
    @Test(arguments: ["the clock", "CANCELLED", "BEHIND"])
    func `no beat passes a watch whose revision is here and whose instant is not`(end: String) throws {
        let world = World()
        let client = world.welcomedClient()
        let writer = world.welcomedClient()
        _ = client.call(.status("anna"))
        _ = client.call(.status("berta"))
        world.settle()
        let later = Position(
            revision: world.history.revision,
            asOf: world.wall.advanced(byMilliseconds: end == "BEHIND" ? 60_000 : 9_000))
        let waiting = client.call(.status("carl", atLeast: later))
        world.settle()
        let beats = client.beats.count
        try world.buy("gold", from: writer)
        // It changes, and so do others of its connection: a BEAT now would claim that its value was sent.
        try world.buy("gold", "carl", from: writer)
        world.checkInvariants()
        #expect(client.beats.count == beats)
        switch end {
        case "the clock": world.advance(9_000)
        case "BEHIND": world.advance(30_000)
        default: client.cancel(waiting)
        }
        world.settle()
        #expect(client.beats.count == beats + 1)
        #expect(client.beats.last?.revision == world.history.revision)
        if end == "the clock" {
            #expect(client.statuses(on: waiting).last?.value?.states == [.subscribed])
        } else {
            #expect(client.status(of: waiting)?.reason == end)
        }
        world.checkNothingIsLeft()
    }

    /// A client would treat silence of twice its time as a dead connection.
    @Test func `a PING replaces a delayed BEAT at the time of a heartbeat`() throws {
        let world = World()
        let client = world.welcomedClient(heartbeatSeconds: 10)
        client.call(.status("anna"))
        let later = Position(revision: 0, asOf: world.wall.advanced(byMilliseconds: 25_000))
        let waiting = client.call(.status("carl", atLeast: later))
        world.settle()
        func pings() -> Int { client.events.count { if case .ping = $0 { true } else { false } } }
        for _ in 0..<24 { world.advance(1_000) }
        // Heartbeats begin anywhere in an interval.
        #expect(client.beats.isEmpty && (2...3).contains(pings()))
        world.advance(1_000)
        #expect(client.statuses(on: waiting).last?.isLoading == false)
        #expect(client.beats.count == 1 && (2...3).contains(pings()))
        world.checkNothingIsLeft()
    }

    /// Its value will be newer than any bookmark, so no bookmark has to wait.
    @Test func `a watch whose revision is not here yet holds no beat up`() throws {
        let world = World()
        let client = world.welcomedClient()
        let writer = world.welcomedClient()
        _ = client.call(.status("anna"))
        _ = client.call(.status("berta"))
        let ahead = Position(revision: world.history.revision + 2, asOf: world.wall)
        let waiting = client.call(.status("carl", atLeast: ahead))
        world.settle()
        let beats = client.beats.count
        try world.buy("gold", from: writer)
        #expect(client.beats.count == beats + 1)
        #expect(client.beats.last?.revision == world.history.revision)
        #expect(client.statuses(on: waiting).map(\.isLoading) == [true])
        try world.buy("gold", "carl", from: writer)
        #expect(client.statuses(on: waiting).last?.value?.states == [.subscribed])
        #expect(client.beats.last?.revision == world.history.revision)
        world.checkNothingIsLeft()
    }

    /// Its reader has received `loading`, and so holds the other value until the end of a group.
    @Test func `a value beside a watch that waits for its revision is followed by a beat`() throws {
        let world = World()
        let client = world.welcomedClient()
        let writer = world.welcomedClient()
        let stream = client.call(.status("anna"))
        client.call(.status("carl", atLeast: Position(revision: world.history.revision + 9, asOf: world.wall)))
        world.settle()
        let beats = client.beats.count
        try world.buy("gold", from: writer)
        #expect(client.statuses(on: stream).last?.value?.states == [.subscribed])
        #expect(client.beats.count == beats + 1)
        world.checkNothingIsLeft()
    }

    @Test func `a read that waits for its instant holds no beat up`() throws {
        let world = World()
        let client = world.welcomedClient()
        let writer = world.welcomedClient()
        _ = client.call(.status("anna"))
        _ = client.call(.status("berta"))
        let later = Position(revision: 1, asOf: world.wall.advanced(byMilliseconds: 9_000))
        client.call(.readStatus("carl", atLeast: later))
        world.settle()
        let beats = client.beats.count
        try world.buy("gold", from: writer)
        #expect(client.beats.count == beats + 1)
    }

    @Test func `a connection with a single watch needs no beat for a group`() throws {
        let world = World()
        let client = world.welcomedClient()
        client.call(.status())
        world.settle()
        try world.buy("gold", "anna", from: world.welcomedClient())
        #expect(client.beats.isEmpty)
    }

    private func kinds(_ client: WireClient) -> [String] {
        client.events.map { event in
            switch event {
            case .message: "message"
            case .beat(let beat): "beat \(beat.revision)"
            default: "other"
            }
        }
    }
}
