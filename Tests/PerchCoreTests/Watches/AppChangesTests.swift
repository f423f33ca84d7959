import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

extension Request {
    static func changes(
        cursor: [UInt8] = [], fromOldest: Bool = false, causes: [Cause] = [], groups: [String] = [],
        products: [String] = [], entitlementsOnly: Bool = false
    ) -> Request {
        .appChanges(
            AppChangesRequest(
                cursor: cursor, fromOldest: fromOldest, causes: causes, groupIDs: groups, productIDs: products,
                entitlementsOnly: entitlementsOnly))
    }
}

extension WireClient {
    func changes(on stream: UInt32) -> [FeedEvent] {
        self.messages(on: stream).compactMap { if case .appChanges(let event) = $0 { event } else { nil } }
    }
}

/// AppChanges: every change of every account of an app, once and in order, over whatever happens to the connection.
@Suite(.onChosenStorage) struct AppChangesTests {
    @Test func `the place where changes begin comes first, then each change with what it changed`() throws {
        let world = World()
        let client = world.welcomedClient(clientID: [7])
        let stream = client.call(.changes())
        world.settle()
        #expect(client.changes(on: stream).count == 1)
        #expect(client.changes(on: stream).first?.cursor.isEmpty == false)
        #expect(client.changes(on: stream).first?.cause == .unspecified)
        try world.buy("gold", "anna", from: client)
        try world.buy("coins", "bert", from: client)
        try world.buy("lifetime", "bert", from: client)
        let changes = Array(client.changes(on: stream).dropFirst())
        #expect(changes.map(\.account) == ["anna", "bert", "bert"])
        #expect(changes.map(\.cause) == [.purchase, .purchase, .purchase])
        #expect(changes.map(\.originClientID) == [[7], [7], [7]])
        #expect(changes.map { $0.groups.map(\.groupID) } == [["plans"], [], []])
        #expect(changes.map { $0.entitlements.map(\.productID) } == [["gold"], [], ["lifetime"]])
        #expect(changes[0].groups[0].statuses.states == [.subscribed])
        #expect(changes[0].entitlements[0].transaction?.value.productID == "gold")
        #expect(changes.map(\.position.revision) == [2, 3, 4])
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `positions begin at the place, also at that of the app's first revision, and never decrease`() throws {
        let world = World()
        let client = world.welcomedClient()
        let now = world.wall
        let gold = try world.buy("gold", from: client)
        world.advance(90_000)
        try world.require(.autoRenew(gold.id, false), from: client)
        world.advance(90_000)
        let whole = client.call(.changes(fromOldest: true))
        world.settle()
        let changes = client.changes(on: whole)
        #expect(changes.dropFirst().first?.cause == .catalog)
        let resumed = client.call(.changes(cursor: changes[2].cursor))
        world.settle()
        for stream in [whole, resumed] {
            let positions = client.changes(on: stream).map(\.position)
            #expect(positions.count >= 2)
            for (earlier, later) in zip(positions, positions.dropFirst()) {
                #expect(earlier.revision <= later.revision && earlier.asOf <= later.asOf, "\(positions)")
            }
            #expect(positions.allSatisfy { $0.asOf.milliseconds >= 0 }, "\(positions)")
        }
        // The change that made the app has the instant at which the app's clock began.
        #expect(changes[1].position.asOf <= now && changes[1].position.asOf.milliseconds > 0)
        world.checkNothingIsLeft()
    }

    @Test func `an expiry of an account that nobody watches is pushed by time alone`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        let stream = client.call(.changes())
        world.settle()
        let end = try #require(gold.expirationDate)
        world.advance(end.milliseconds(since: world.wall) - 1)
        #expect(client.changes(on: stream).count == 1)
        world.advance(1)
        let expiry = try #require(client.changes(on: stream).last)
        #expect(client.changes(on: stream).count == 2)
        #expect(expiry.account == "anna")
        #expect(expiry.cause == .expiry)
        #expect(expiry.groups.first?.statuses.states == [.expired])
        #expect(expiry.entitlements == [EntitlementChange(productID: "gold")])
        #expect(expiry.position.revision == world.engine.header.revision && expiry.position.asOf == end)
        world.checkNothingIsLeft()
    }

    @Test func `the end of grace and the end of retry are changes of their own`() throws {
        var setup = World.Setup()
        setup.settings = TestShop.settings(billingIssues: true, grace: true)
        let world = World(setup)
        let client = world.welcomedClient()
        try world.buy("gold", from: client)
        let stream = client.call(.changes())
        world.settle()
        world.advance(80 * TestShop.month)
        let changes = client.changes(on: stream).dropFirst()
        #expect(changes.map(\.cause) == [.renewal, .expiry, .expiry])
        #expect(
            changes.map { $0.groups.first?.statuses.states ?? [] } == [
                [.inGracePeriod], [.inBillingRetryPeriod], [.expired],
            ])
        #expect(changes.map { $0.entitlements.map { $0.transaction == nil } } == [[], [true], []])
    }

    @Test func `a cursor brings everything after it, once, and a moved clock too`() throws {
        let world = World()
        let client = world.welcomedClient()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        let first = client.call(.changes(fromOldest: true))
        world.settle()
        #expect(client.changes(on: first).map(\.cause) == [.unspecified, .catalog, .purchase, .setting])
        for place in 0..<4 {
            let cursor = client.changes(on: first)[place].cursor
            let again = client.call(.changes(cursor: cursor))
            world.settle()
            #expect(client.changes(on: again).map(\.cursor) == client.changes(on: first)[place...].map(\.cursor))
            client.cancel(again)
        }
        let cursor = try #require(client.changes(on: first).last?.cursor)
        client.cancel(first)
        world.settle()
        try world.require(.clock(.advanceBy(milliseconds: 3 * TestShop.month)), from: client)
        try world.buy("weekly", "bert", from: client)
        let again = client.call(.changes(cursor: cursor))
        world.settle()
        #expect(client.changes(on: again).map(\.cause) == [.unspecified, .clock, .expiry, .purchase])
        #expect(client.changes(on: again).map(\.account) == ["", "", "anna", "bert"])
        #expect(client.changes(on: again).first?.cursor == cursor)
        world.checkNothingIsLeft()
    }

    @Test func `filters select changes, and a cursor comes along where nothing fits`() throws {
        let world = World()
        let client = world.welcomedClient()
        let streams = [
            client.call(.changes(causes: [.setting])), client.call(.changes(groups: ["news"])),
            client.call(.changes(products: ["lifetime"])), client.call(.changes(groups: ["news"], products: ["gold"])),
            client.call(.changes(entitlementsOnly: true)),
        ]
        world.settle()
        let gold = try world.buy("gold", from: client)
        try world.require(.autoRenew(gold.id, false), from: client)
        try world.buy("weekly", from: client)
        try world.buy("lifetime", from: client)
        try world.buy("coins", from: client)
        func revisions(_ index: Int) -> [UInt64] {
            client.changes(on: streams[index]).dropFirst().map(\.position.revision)
        }
        #expect(revisions(0) == [3])
        #expect(revisions(1) == [4])
        #expect(revisions(2) == [5])
        #expect(revisions(3) == [2, 4], "a setting changes no entitlement")
        #expect(revisions(4) == [2, 4, 5])
        for _ in 0..<Int(Limits.changesMarkerRevisions) { world.mutateForTest(of: "carl") }
        world.settle()
        let last = try #require(client.changes(on: streams[2]).last)
        #expect(last.account.isEmpty && last.cause == .unspecified)
        #expect(last.position.revision >= Limits.changesMarkerRevisions)
        let again = client.call(.changes(cursor: last.cursor, products: ["lifetime"]))
        world.settle()
        try world.buy("lifetime", "bert", from: client)
        #expect(client.changes(on: again).map(\.account) == ["", "bert"])
    }

    @Test func `two streams at one place share an encoding, and each has all changes`() throws {
        var setup = World.Setup()
        setup.loops = 2
        let world = World(setup)
        let buyer = world.welcomedClient()
        let readers = (0..<6).map { world.welcomedClient(loop: $0 % 2) }
        let streams = readers.map { $0.call(.changes()) }
        world.settle()
        for number in 0..<200 { buyer.call(.buy("coins", "account \(number)")) }
        world.settle()
        let all = zip(readers, streams).map { reader, stream in reader.changes(on: stream).dropFirst().map(\.cursor) }
        #expect(all.allSatisfy { $0 == all[0] })
        #expect(Set(all[0]).count == 200)
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `a slow reader holds one page, and gets everything when it reads on`() throws {
        let world = World()
        let buyer = world.welcomedClient()
        let slow = world.welcomedClient()
        let quick = world.welcomedClient()
        let stream = slow.call(.changes())
        let other = quick.call(.changes())
        world.settle()
        slow.socket.capacity = 0
        let before = world.loops[0].core.callsBytes
        for round in 0..<20 {
            for number in 0..<50 { buyer.call(.buy("lifetime", "account \(round) \(number)")) }
            world.settle()
        }
        #expect(quick.changes(on: other).count == 1_001)
        #expect(world.loops[0].core.callsBytes - before < 2 * Limits.changesPerPage * 2_048)
        #expect(slow.changes(on: stream).count < 1_001)
        slow.socket.capacity = 1 << 20
        world.settle()
        #expect(slow.changes(on: stream).map(\.cursor) == quick.changes(on: other).map(\.cursor))
        world.checkNothingIsLeft()
    }

    @Test func `a bookmark does not pass a stream of changes that is behind`() throws {
        let world = World()
        let client = world.welcomedClient(heartbeatSeconds: 10)
        let buyer = world.welcomedClient()
        let stream = client.call(.changes())
        world.settle()
        var said: [(beat: UInt64, changes: UInt64)] = []
        client.onEvent = { event in
            guard case .beat(let beat) = event else { return }
            said.append((beat.revision, client.changes(on: stream).last?.position.revision ?? 0))
        }
        for number in 0..<40 {
            try world.buy("coins", "account \(number)", from: buyer)
            world.advance(3_000)
        }
        #expect(said.count > 5)
        #expect(said.allSatisfy { $0.beat <= $0.changes })
    }

    @Test func `cursors of another app and of another store, and two beginnings, are refused`() throws {
        var setup = World.Setup()
        setup.moreApps = ["com.example.other"]
        let world = World(setup)
        let client = world.welcomedClient()
        func refusal(_ cursor: [UInt8], fromOldest: Bool = false) -> String? {
            var asked = AppChangesRequest(app: AppReference(bundleID: TestShop.bundleID), cursor: cursor)
            asked.fromOldest = fromOldest
            let stream = client.call(.appChanges(asked))
            world.settle()
            return client.status(of: stream)?.reason
        }
        let store = world.engine.header.identity
        let origin = TokenOrigin(store: store, epoch: 1)
        func cursor(_ origin: TokenOrigin, app: UInt32 = 1, revision: UInt64 = 1, ordinal: UInt32 = .max) -> [UInt8] {
            ChangesCursor(
                origin: origin, app: app, revision: revision, ordinal: ordinal, instant: World.begin, account: 0
            ).bytes
        }
        #expect(refusal(cursor(origin, app: 2)) == "TOKEN_OTHER_VIEW")
        #expect(refusal(cursor(TokenOrigin(store: StoreIdentity(high: 1, low: 1), epoch: 1))) == "TOKEN_OTHER_STORE")
        #expect(refusal(cursor(TokenOrigin(store: store, epoch: 2))) == "TOKEN_OTHER_STORE")
        #expect(refusal(cursor(origin, revision: 99)) == "TOKEN_FUTURE")
        #expect(refusal([1, 2, 3]) == "CURSOR_MALFORMED")
        #expect(refusal(cursor(origin), fromOldest: true) == "FIELD_INVALID")
        // A forged place reads on from somewhere, and breaks nothing.
        for revision in [0, 1, 2] as [UInt64] {
            for ordinal in [0, 1, 7] as [UInt32] {
                #expect(refusal(cursor(origin, revision: revision, ordinal: ordinal)) == nil)
            }
        }
        world.checkInvariants()
        world.checkNothingIsLeft()
    }

    @Test func `changes go on over a server that dies between two writes`() throws {
        var setup = World.Setup()
        setup.disk = FaultyDisk(seed: 3)
        let world = World(setup)
        var cursor: [UInt8] = []
        var heard: [FeedEvent] = []
        for round in 0..<6 {
            let client = world.welcomedClient()
            let stream = client.call(cursor.isEmpty ? .changes(fromOldest: true) : .changes(cursor: cursor))
            world.settle()
            for number in 0..<12 {
                let gold = try world.buy("gold", "account \(round) \(number)", from: client)
                if number % 2 == 0 { try world.require(.autoRenew(gold.id, false), from: client) }
                world.advance(20_000)
            }
            // The client has read a part of them.
            let part = client.changes(on: stream).dropFirst().dropLast(round)
            heard += part
            cursor = part.last?.cursor ?? cursor
            _ = world.restart(after: round % 2 == 0 ? .process : .power)
            world.advance(10_000)
        }
        let client = world.welcomedClient()
        let rest = client.call(.changes(cursor: cursor))
        let whole = client.call(.changes(fromOldest: true))
        world.advance(20 * TestShop.month)
        heard += client.changes(on: rest).dropFirst()
        #expect(heard.map(\.cursor) == client.changes(on: whole).dropFirst().map(\.cursor))
        #expect(Set(heard.map(\.cursor)).count == heard.count)
        #expect(heard.filter { $0.cause == .expiry }.count == 36)
        #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.position <= $1.position })
    }
}
