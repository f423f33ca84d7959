import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

@Suite struct `A generated store` {
    private static let now = Instant(milliseconds: 1_790_000_000_000)

    private static func generation(accounts: Int, productID: String = "pro.yearly") -> StoreGeneration {
        let group = CatalogueGroup(id: "1", name: "Pro", localizations: [])
        var yearly = CatalogueProduct(
            id: "pro.yearly", type: .autoRenewable, referenceName: "Yearly",
            price: Money(milliunits: 29_990, currency: "USD"), isFamilyShareable: false, localizations: [])
        yearly.subscription = CatalogueSubscription(groupID: group.id, level: 1, period: Period(1, .year))
        let coins = CatalogueProduct(
            id: "coins", type: .consumable, referenceName: "Coins", price: Money(milliunits: 990, currency: "USD"),
            isFamilyShareable: false, localizations: [])
        let catalogue = Catalogue(products: [yearly, coins], groups: [group], schemaVersion: "4.0")
        return StoreGeneration(
            accounts: accounts, bundleID: "com.example.birds", catalogue: catalogue, catalogueSource: "Birds.storekit",
            productID: productID, now: Self.now)
    }

    @Test func `a generated store consists of accounts whose records are the fold of their facts`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let count = 60
        var reported = 0
        try generateStore(Self.generation(accounts: count), at: path) { reported = $0 }
        #expect(reported == count)
        #expect(TemporaryDirectory.names(in: directory.path) == ["store"])

        let storage = try SQLiteStorage(path: path)
        let app = try #require(storage.appStates().first?.state)
        #expect(app.catalogue.products.map(\.id) == ["pro.yearly", "coins"])
        var ends: [Instant] = []
        for number in 1...count {
            let key = AccountKey(app: app.number, bytes: Array("user-\(number)".utf8))
            let account = try #require(try storage.account(key))
            let record = try #require(try storage.record(account))
            var folded = AccountRecord(account: account, app: app.number)
            for fact in try storage.facts(of: account) { folded.apply(fact) }
            folded.revision = record.revision
            folded.committed = record.committed
            #expect(record == folded)
            let line = try #require(record.lines.first)
            #expect(line.state(at: Self.now, leewayMilliseconds: nil) == .subscribed)
            #expect(try storage.transaction(1, line.latest.id)?.transaction == line.latest)
            #expect(try storage.events(of: account, after: EventPlace(revision: 0, ordinal: 0), limit: 9).count == 1)
            ends.append(line.boundary)
        }
        #expect(Set(ends).count == count, "they end at times of their own")
        let due = try storage.due(app.number, through: .distantFuture, limit: 1_000)
        #expect(due.map(\.instant) == ends.sorted())
        #expect(try #require(ends.min()) > Self.now.advanced(byMilliseconds: 9 * 365 * 86_400_000))

        // The generated store continues: new IDs do not collide.
        let header = storage.header()
        #expect(header.revision == UInt64(count) + 1)
        #expect(try storage.transaction(1, header.nextTransaction) == nil)
        #expect(try storage.record(header.nextAccount) == nil)
        try storage.begin()
        try storage.apply(
            StoredChange(
                revision: header.revision + 1, committed: Self.now, app: 1, nextTransaction: header.nextTransaction,
                nextAccount: header.nextAccount))
        try storage.commit()
    }

    @Test func `a generated store is not written over a store that is there`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try generateStore(Self.generation(accounts: 2), at: path)
        let before = TemporaryDirectory.read(path)
        let error = #expect(throws: StoreGenerationError.self) {
            try generateStore(Self.generation(accounts: 2), at: path)
        }
        #expect(error?.description.contains("is there already") == true)
        #expect(TemporaryDirectory.read(path) == before)
    }

    @Test(arguments: ["coins", "none"])
    func `a generated store is of a subscription, or is not begun`(_ product: String) {
        let directory = TemporaryDirectory()
        #expect(throws: StoreGenerationError.self) {
            try generateStore(Self.generation(accounts: 2, productID: product), at: directory.file("store"))
        }
        #expect(TemporaryDirectory.names(in: directory.path) == [])
    }
}
