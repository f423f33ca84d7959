import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import PerchWire
import Testing

/// TransactionUpdates: every event once and in order, over whatever happens to the connection.
@Suite(.onChosenStorage) struct UpdatesTests {
    private func ids(_ events: [TransactionEvent]) -> [TransactionID] { events.compactMap { $0.transaction?.value.id } }

    @Test func `unfinished transactions come first, then the place where new events begin, then events`() throws {
        let world = World()
        let client = world.welcomedClient()
        let coins = try world.buy("coins", from: client)
        let gold = try world.buy("gold", from: client)
        let stream = client.call(.updates())
        world.settle()
        var events = client.updates(on: stream)
        #expect(self.ids(events) == [coins.id, gold.id])
        #expect(events.map(\.kind) == [.unfinished, .unfinished, .unspecified])
        #expect(events.map(\.cursor.isEmpty) == [true, true, false])
        let lifetime = try world.buy("lifetime", from: client)
        events = client.updates(on: stream)
        #expect(events.count == 4)
        #expect(events.last?.transaction?.value.id == lifetime.id)
        #expect(events.last?.kind == .purchased)
        #expect(events.last?.revision == world.engine.header.revision)
        world.checkNothingIsLeft()
    }

    @Test func `a finished transaction is not replayed`() throws {
        let world = World()
        let client = world.welcomedClient()
        let coins = try world.buy("coins", from: client)
        try world.require(.finish(FinishRequest(account: "anna", transactionID: coins.id)), from: client)
        let stream = client.call(.updates())
        world.settle()
        #expect(client.updates(on: stream).map(\.kind) == [.unspecified])
    }

    @Test func `a cursor brings everything after it, once`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        try world.buy("gold", from: client)
        let cursor = try #require(client.updates(on: stream).last?.cursor)
        client.cancel(stream)
        world.settle()
        let coins = try world.buy("coins", from: client)
        let season = try world.buy("season", from: client)
        let again = client.call(.updates(cursor: cursor))
        world.settle()
        #expect(self.ids(client.updates(on: again)) == [coins.id, season.id])
        #expect(client.updates(on: again).map(\.kind) == [.unspecified, .purchased, .purchased])
        try world.require(.refund(coins.id), from: client)
        #expect(client.updates(on: again).last?.kind == .revoked)
        #expect(client.updates(on: again).count == 4)
        world.checkNothingIsLeft()
    }

    @Test func `a cursor is accepted at once, although nothing is new, and a cursor that is too old is not`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        try world.buy("gold", from: client)
        let cursor = try #require(client.updates(on: stream).last?.cursor)
        let revision = world.engine.header.revision
        let again = client.call(.updates(cursor: cursor))
        world.settle()
        let heard = client.updates(on: again)
        #expect(heard.map(\.cursor) == [cursor])
        #expect(heard.map(\.revision) == [revision])
        #expect(heard.allSatisfy { $0.transaction == nil && $0.kind == .unspecified })
        // It is live from then on, and says so once.
        let coins = try world.buy("coins", from: client)
        #expect(self.ids(client.updates(on: again)) == [coins.id])
        #expect(client.updates(on: again).count == 2)
        let other = client.call(.updates("berta", cursor: cursor))
        world.settle()
        #expect(client.updates(on: other).isEmpty)
        #expect(client.status(of: other)?.reason == "TOKEN_OTHER_VIEW")
        world.checkNothingIsLeft()
    }

    @Test func `an event has the client that caused it`() throws {
        let world = World()
        let watcher = world.welcomedClient(clientID: [1])
        let buyer = world.welcomedClient(clientID: [2, 2])
        let stream = watcher.call(.updates())
        world.settle()
        let gold = try world.buy("gold", from: buyer)
        #expect(watcher.updates(on: stream).last?.originClientID == [2, 2])
        try world.require(.clock(.advanceBy(milliseconds: TestShop.month)), from: buyer)
        #expect(watcher.updates(on: stream).last?.kind == .renewed)
        #expect(watcher.updates(on: stream).last?.originClientID == [])
        let cursor = try #require(watcher.updates(on: stream).first?.cursor)
        let again = watcher.call(.updates(cursor: cursor))
        world.settle()
        #expect(watcher.updates(on: again).map(\.originClientID) == [[], [2, 2], []])
        #expect(self.ids(watcher.updates(on: again)).first == gold.id)
    }

    @Test func `an account that is opened later is followed from its first event`() throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.updates("nobody-yet"))
        world.settle()
        #expect(client.updates(on: stream).count == 1)
        let gold = try world.buy("gold", "nobody-yet", from: client)
        #expect(self.ids(client.updates(on: stream)) == [gold.id])
    }

    @Test func `events during the fetch of a page are neither lost nor sent twice`() throws {
        let world = World()
        let client = world.welcomedClient()
        let buyer = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        let cursor = try #require(client.updates(on: stream).last?.cursor)
        client.cancel(stream)
        world.settle()
        var expected = [try world.buy("coins", from: buyer).id]

        // The page is answered. Before the stream is live, another change is committed and applied in the same tick.
        let again = client.call(.updates(cursor: cursor))
        _ = world.deliver(client)
        world.turn()
        world.runStore()
        buyer.call(.buy("coins"))
        _ = world.deliver(buyer)
        world.beginTurn(0)
        let asked = world.loops[0].asks.count
        #expect(asked == 1)
        world.mutateForTest(of: "anna")
        world.runStore()
        world.finishTurn(0)
        world.settle()
        let heard = self.ids(client.updates(on: again))
        expected = world.history.events(of: AccountKey(app: world.app, bytes: Array("anna".utf8))).map(\.transaction.id)
        #expect(heard == expected)
        #expect(heard.count == 3)
        world.checkNothingIsLeft()
    }

    @Test func `a slow reader catches up in pages, without gap or duplicate, and is then live`() throws {
        var setup = World.Setup()
        setup.sendBufferBytes = 1_024
        let world = World(setup)
        let client = world.welcomedClient()
        let buyer = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        client.socket.isStalled = true
        for _ in 0..<200 { try world.buy("coins", from: buyer) }
        world.checkInvariants()
        client.socket.isStalled = false
        world.settle()
        #expect(self.ids(client.updates(on: stream)) == Array(1...200))
        let last = try world.buy("coins", from: buyer)
        #expect(self.ids(client.updates(on: stream)).last == last.id)
        #expect(client.updates(on: stream).count == 202)
        world.checkNothingIsLeft()
    }

    @Test func `many events in one turn reach a reader who takes all of them`() throws {
        let world = World()
        let client = world.welcomedClient()
        let buyer = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        for _ in 0..<150 { buyer.call(.buy("coins")) }
        world.settle()
        #expect(self.ids(client.updates(on: stream)) == Array(1...150))
        world.checkNothingIsLeft()
    }

    @Test func `more events in one change than a page holds reach their reader`() throws {
        var setup = World.Setup()
        let groups = (0..<70).map { CatalogueGroup(id: "g\($0)", name: "", localizations: []) }
        let plans = groups.map { group in
            var product = CatalogueProduct(
                id: "p.\(group.id)", type: .autoRenewable, referenceName: "",
                price: Money(milliunits: 1, currency: "USD"),
                isFamilyShareable: false, localizations: [])
            product.subscription = CatalogueSubscription(groupID: group.id, level: 1, period: Period(1, .month))
            return product
        }
        setup.catalogue = Catalogue(products: plans, groups: groups, schemaVersion: "4.0")
        let world = World(setup)
        let client = world.welcomedClient()
        try world.require(.clock(.freeze), from: client)
        for plan in plans { try world.buy(plan.id, from: client) }
        let stream = client.call(.updates())
        world.settle()
        let before = client.updates(on: stream).count
        #expect(before == 71)
        // All seventy renew at one instant: one revision.
        try world.require(.clock(.advanceBy(milliseconds: TestShop.month)), from: client)
        #expect(client.updates(on: stream).count == before + 70)
        #expect(client.updates(on: stream).suffix(70).allSatisfy { $0.kind == .renewed })
        world.checkNothingIsLeft()
    }

    @Test(arguments: [1, 63, 64, 65, 128, 200])
    func `a page of any length is followed by what comes after it`(count: Int) throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        let cursor = try #require(client.updates(on: stream).last?.cursor)
        client.cancel(stream)
        world.settle()
        for _ in 0..<count { client.call(.buy("coins")) }
        world.settle()
        let again = client.call(.updates(cursor: cursor))
        world.settle()
        #expect(self.ids(client.updates(on: again)) == Array(1...TransactionID(count)))
        let fresh = client.call(.updates())
        world.settle()
        #expect(self.ids(client.updates(on: fresh)) == Array(1...TransactionID(count)))
        try world.buy("coins", from: client)
        // The first message of each says where it begins.
        #expect(client.updates(on: again).count == count + 2)
        #expect(client.updates(on: fresh).count == count + 2)
        world.checkNothingIsLeft()
    }

    /// An attached name is another key of an account. Changes come right behind the one that moves it, in the same run of the store.
    @Test func `a stream by an attached name has every event from the change on that moves it`() throws {
        var setup = World.Setup()
        setup.environment = .sandbox
        let world = World(setup)
        let client = world.welcomedClient()
        let token = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"
        let stream = client.call(.updates(token))
        // A watch of the name asks for the record too, and one of another name shares the account.
        client.call(.entitlementsTask(AccountWatchRequest(account: token)))
        let own = client.call(.updates("bert"))
        world.settle()
        func run(_ requests: [ReportedRequest]) {
            for request in requests { world.mutate(.reported(request, app: world.app)) }
            world.settle()
            world.checkInvariants()
        }
        func key(_ account: String) -> AccountKey { AccountKey(app: world.app, bytes: Array(account.utf8)) }
        func attach(to account: String) -> ReportedRequest { .attach(.appAccountToken(token), to: key(account)) }
        func bought(_ id: TransactionID, by account: String?) -> ReportedRequest {
            var transaction = Transaction(
                id: id, originalID: id, appBundleID: TestShop.bundleID, productID: "lifetime",
                productType: .nonConsumable, purchaseDate: world.wall, originalPurchaseDate: world.wall,
                environment: .sandbox, storefront: Storefront(countryCode: "USA"), reason: .purchase,
                signedDate: world.wall)
            if account == nil { transaction.appAccountToken = token }
            return .reports(
                [.transaction(transaction, content: .zero)], source: account == nil ? .notification : .submission,
                claimant: account.map(key))
        }
        run([bought(100, by: nil), bought(200, by: "bert")])
        #expect(self.ids(client.updates(on: stream)) == [])
        // The purchase that waited for the name is the account's, and so is the next one.
        run([attach(to: "anna"), bought(300, by: "anna")])
        #expect(self.ids(client.updates(on: stream)) == [100, 300])
        // It follows the name to another account, and leaves the first.
        run([attach(to: "bert"), bought(400, by: "anna"), bought(500, by: "bert")])
        #expect(self.ids(client.updates(on: stream)) == [100, 300, 100, 500])
        run([.detach(.appAccountToken(token)), bought(600, by: "bert")])
        #expect(self.ids(client.updates(on: stream)) == [100, 300, 100, 500])
        run([bought(700, by: nil), attach(to: "anna"), .merge(key("anna"), into: key("bert")), bought(800, by: "bert")])
        #expect(self.ids(client.updates(on: stream)).suffix(2) == [700, 800])
        #expect(self.ids(client.updates(on: own)).suffix(2) == [700, 800])
        world.checkNothingIsLeft()
    }

    @Test func `no BEAT passes an event that a slow reader has not received`() throws {
        var setup = World.Setup()
        setup.sendBufferBytes = 2_048
        let world = World(setup)
        let client = world.welcomedClient(heartbeatSeconds: 10)
        let buyer = world.welcomedClient()
        let stream = client.call(.updates())
        client.call(.status("berta"))
        world.settle()
        let key = AccountKey(app: world.app, bytes: Array("anna".utf8))
        let passed = Box<[UInt64]>([])
        let beatCount = Box(0)
        client.onEvent = { event in
            guard case .beat(let beat) = event else { return }
            beatCount.value += 1
            let due = world.history.events(of: key).count { $0.place.revision <= beat.revision }
            if client.updates(on: stream).count - 1 < due { passed.value.append(beat.revision) }
        }
        var random = SeededRandom(seed: 7)
        for round in 0..<40 {
            client.socket.isStalled = round % 4 != 3
            for _ in 0..<random.below(30) { buyer.call(.buy("coins")) }
            buyer.call(.buy("gold", "berta"))
            world.advance(Int64(random.below(5_000)))
        }
        client.socket.isStalled = false
        world.advance(11_000)
        #expect(passed.value.isEmpty)
        #expect(beatCount.value > 5)
        #expect(client.beats.last?.revision == world.engine.header.revision)
        #expect(zip(client.beats, client.beats.dropFirst()).allSatisfy { $0.revision <= $1.revision })
        #expect(client.updates(on: stream).count - 1 == world.history.events(of: key).count)
    }

    @Test(arguments: ["store", "epoch", "account", "damaged", "future"])
    func `a cursor that is not of this account of this store is refused`(what: String) throws {
        let world = World()
        let client = world.welcomedClient()
        let stream = client.call(.updates())
        world.settle()
        var cursor = try EventCursor(try #require(client.updates(on: stream).last?.cursor))
        var expected = "TOKEN_OTHER_STORE"
        switch what {
        case "store": cursor.store = StoreIdentity(high: 1, low: 1)
        case "epoch": cursor.epoch += 1
        case "account":
            cursor.view = Digest(high: 1, low: 1)
            expected = "TOKEN_OTHER_VIEW"
        case "future":
            cursor.revision += 1
            expected = "TOKEN_FUTURE"
        default: expected = "CURSOR_MALFORMED"
        }
        var bytes = cursor.bytes
        if what == "damaged" { bytes[9] ^= 1 }
        let (response, status) = world.answer(to: .updates(cursor: bytes), from: client)
        #expect(response == nil)
        #expect(status?.reason == expected)
        world.checkNothingIsLeft()
    }
}

extension World {
    /// A purchase of coins straight at the store, as if another loop had asked.
    func mutateForTest(of account: String) {
        let key = AccountKey(app: self.app, bytes: Array(account.utf8))
        self.mutate(
            Mutation(.account(key, opens: true), needsTestApp: true) { view throws(Refusal) in
                let outcome = try decidePurchase(
                    PurchaseOrder(productID: "coins"), record: view.accountRecord, app: view.app, now: view.now,
                    numbers: &view.numbers)
                return .commit(
                    [AccountFacts(account: view.accountRecord.account, facts: outcome.facts)], answer: .none)
            })
    }
}
