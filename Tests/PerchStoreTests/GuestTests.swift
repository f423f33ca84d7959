import PerchBase
import PerchModel
import PerchSQLite
import PerchStore
import PerchTesting
import Testing

@Suite struct `Guests of a store` {
    private static let name = GuestApps.prefix + "birds"

    private static func opening(_ name: String = Self.name) -> Mutation {
        Mutation(
            opening: GuestOpening(
                bundleID: name, catalogue: FamilyStore.catalogue, images: [], source: "birds.storekit",
                settings: AppSettings()))
    }

    private static func guestKey(_ account: String, _ store: FamilyStore, _ name: String = Self.name) throws
        -> AccountKey
    {
        AccountKey(app: try #require(store.engine.app(name, .xcode)).number, bytes: Array(account.utf8))
    }

    private static func buy(_ product: String, _ key: AccountKey, _ store: FamilyStore) throws {
        try store.mutate(.operation(.buy(PurchaseOrder(productID: product)), account: key, app: key.app))
    }

    /// Runs with a store in memory, and with one in a file that has guests beside it.
    private static func both(_ body: (FamilyStore, (any Storage)?) throws -> Void) throws {
        try body(try FamilyStore(), nil)
        let directory = TemporaryDirectory()
        let file = try SQLiteStorage(path: directory.file("store"))
        try body(try FamilyStore(storage: try GuestStorage(beside: file)), file)
        file.close()
    }

    @Test func `sell, renew and remember as other apps do`() throws {
        try Self.both { store, _ in
            try store.mutate(Self.opening())
            let ben = try Self.guestKey("ben", store)
            try Self.buy("silver", ben, store)
            try Self.buy("coins", ben, store)
            // The same name in the store's own app is another customer.
            try store.buy("lifetime", "ben")
            let guest = try #require(try store.storage.account(ben))
            let own = try #require(try store.storage.account(FamilyStore.key("ben")))
            #expect(guest != own)
            #expect(try store.storage.record(guest)?.lines.map(\.latest.productID) == ["silver"])
            #expect(try store.storage.record(own)?.lines.isEmpty == true)
            var query = TransactionQuery(limit: 9)
            query.includesFinishedConsumables = true
            #expect(
                try store.storage.transactions(of: guest, query).map(\.transaction.productID).sorted() == [
                    "coins", "silver",
                ])
            #expect(try store.storage.transactions(of: own, query).map(\.transaction.productID) == ["lifetime"])
            // In real time: the guest's settings are its own.
            store.advance(40 * 86_400_000)
            #expect(try store.storage.transactions(of: guest, query).count == 3)
            // A reader of the guest's changes finds them, at the store's revisions.
            let rows = try #require(try store.storage.commitRows(after: 0, limit: 99))
            #expect(rows.map(\.revision) == Array(1...store.engine.header.revision))
            #expect(rows.count { $0.app == ben.app } >= 4)
            #expect(try store.storage.changes(after: 0, limit: 99)?.contains { $0.app?.state.isGuest == true } == true)
        }
    }

    @Test func `leave nothing but the count of revisions in the store's file`() throws {
        let directory = TemporaryDirectory()
        let file = try SQLiteStorage(path: directory.file("store"))
        let store = try FamilyStore(storage: try GuestStorage(beside: file))
        try store.buy("gold", "anna")
        try store.mutate(Self.opening())
        let ben = try Self.guestKey("ben", store)
        try Self.buy("silver", ben, store)
        #expect(try file.appStates().map(\.state.bundleID) == ["com.example.app"])
        #expect(try file.keys(of: ben.app, after: [], limit: 9).isEmpty)
        #expect(try file.account(ben) == nil)
        #expect(try file.due(ben.app, through: .distantFuture, limit: 9).isEmpty)
        let rows = try #require(try file.commitRows(after: 0, limit: 9))
        #expect(rows.map(\.app) == [1, 1, 0, 0])
        #expect(rows.allSatisfy { $0.app != 0 || $0.detail == nil })
        for row in rows where row.app == 0 { #expect(try file.facts(ofRevision: row.revision).isEmpty) }
        #expect(file.header() == store.engine.header)
        file.close()
        // The next process knows no guest, and gives no number of the guest's a second time.
        let again = try SQLiteStorage(path: directory.file("store"))
        let next = try StoreEngine(storage: try GuestStorage(beside: again), loops: 1, cacheBytesMax: 1 << 20)
        #expect(next.apps.states.map(\.bundleID) == ["com.example.app"])
        #expect(next.header.nextAccount == store.engine.header.nextAccount)
        again.close()
    }

    @Test func `are gone where their batch is`() throws {
        let inner = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
        let store = try FamilyStore(storage: try GuestStorage(beside: inner))
        inner.nextCommitFailure = .full("as the test wants it")
        #expect(throws: Refusal.self) { try store.mutate(Self.opening()) }
        #expect(store.engine.app(Self.name, .xcode) == nil)
        store.advance(2_000)
        try store.mutate(Self.opening())
        try Self.buy("silver", try Self.guestKey("ben", store), store)
        #expect(inner.appStates().count == 1)
    }

    @Test func `are made once, and not without end`() throws {
        try Self.both { store, _ in
            try store.mutate(Self.opening())
            let number = try #require(store.engine.app(Self.name, .xcode)).number
            try store.mutate(Self.opening())
            #expect(store.engine.apps.states.count == 2)
            #expect(store.engine.app(Self.name, .xcode)?.number == number)
            for index in 1..<GuestApps.countMax { try store.mutate(Self.opening("\(GuestApps.prefix)\(index)")) }
            let refusal = #expect(throws: Refusal.self) {
                try store.mutate(Self.opening("\(GuestApps.prefix)one.more"))
            }
            #expect(refusal?.reason == .appUnknown)
            #expect(refusal?.message.contains("the limit is \(GuestApps.countMax)") == true)
        }
    }

    @Test(arguments: [
        ("perch.examples.birds", AppEnvironment.xcode, true), ("perch.examples.birds", .production, false),
        ("com.example.app", .xcode, false), ("perch.examples", .xcode, false),
        ("perch.examples." + String(repeating: "x", count: 60), .xcode, false),
    ])
    func `are told by their names`(_ name: String, _ environment: AppEnvironment, _ isGuest: Bool) {
        #expect(GuestApps.isGuest(name, environment) == isGuest)
    }
}
