import PerchBase
import PerchIdentity
import PerchModel
import PerchSQLite
import PerchStore
import PerchTesting
import PostgresTesting
import Testing

@testable import PerchServer

@Suite struct `The keys of passes` {
    private static let life: Int64 = 90 * 86_400_000
    private static let start = Instant(milliseconds: 1_800_000_000_000)

    private static func engine(on storage: any Storage) throws -> StoreEngine {
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        _ = try engine.openApp(
            "com.example.app", .production, catalogue: Catalogue(products: [], groups: [], schemaVersion: "4.0"),
            source: "test", fileSettings: AppSettings(), wall: Self.start)
        return engine
    }

    /// The start of a server.
    private static func start(_ engine: StoreEngine, at wall: Instant) throws -> StoreSecrets {
        let fresh = try StoreSecrets.missing(in: engine, ServerSettings(), wall: wall)
        try StoreSecrets.rotate(in: engine, after: Self.life, wall: wall)
        return try StoreSecrets(of: engine, keeping: fresh, wall: wall)
    }

    private static func shown(_ secrets: StoreSecrets) -> Set<String> {
        Set(([secrets.passKey] + secrets.otherPassKeys).map(\.id))
    }

    @Test func `change at the first start after their life, and the one before stays`() throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(path: directory.file("store"))
        defer { storage.close() }
        let engine = try Self.engine(on: storage)
        let first = try Self.start(engine, at: Self.start)
        let same = try Self.start(engine, at: Self.start.advanced(byMilliseconds: Self.life - 1))
        #expect(same.passKey.id == first.passKey.id && Self.shown(same) == Self.shown(first))
        let second = try Self.start(engine, at: Self.start.advanced(byMilliseconds: Self.life))
        #expect(second.passKey.id != first.passKey.id)
        #expect(Self.shown(second).contains(first.passKey.id), "what it signed can be verified")
        let third = try Self.start(engine, at: Self.start.advanced(byMilliseconds: 2 * Self.life))
        #expect(!Self.shown(third).contains(first.passKey.id), "passes end within a day, so its key goes")
        #expect(Self.shown(third).contains(second.passKey.id))
        #expect(Self.shown(third).count == 3)
    }

    @Test func `are shown without their secret half, each so that it verifies what it signed`() throws {
        let engine = try Self.engine(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        let first = try Self.start(engine, at: Self.start)
        let second = try Self.start(engine, at: Self.start.advanced(byMilliseconds: Self.life))
        let shown = try TokenKey.read(TokenKey.publicSet([second.passKey] + second.otherPassKeys), name: "keys")
        #expect(shown.allSatisfy { !$0.isSecret })
        for key in [first.passKey, second.passKey] {
            let found = try #require(shown.first { $0.id == key.id })
            #expect(try found.verifiesSame(as: #require(key.publicHalf)))
        }
    }

    /// A node that starts later than another may rotate the keys. The other one has shown the new key since its own start.
    @Test(arguments: [true, false])
    func `are shown by every node before one of them signs with them`(_ isOnPostgres: Bool) throws {
        let storage: any Storage =
            isOnPostgres ? try TestDatabase().open() : MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
        let engine = try Self.engine(on: storage)
        let old = try Self.start(engine, at: Self.start)
        let fresh = try Self.start(engine, at: Self.start.advanced(byMilliseconds: Self.life))
        #expect(fresh.passKey.id != old.passKey.id)
        #expect(Self.shown(old).contains(fresh.passKey.id))
        #expect(Self.shown(fresh).contains(old.passKey.id))
    }

    @Test func `of a store of an earlier version get a successor first, and change later`() throws {
        let storage = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
        let engine = try Self.engine(on: storage)
        let fresh = try StoreSecrets.missing(in: engine, ServerSettings(), wall: Self.start)
        // It had a key, and neither its age nor a successor.
        try engine.keep(fresh.filter { $0.key == ItemKey(.passKey) }, wall: Self.start)
        let late = Self.start.advanced(byMilliseconds: 2 * Self.life)
        let first = try Self.start(engine, at: late)
        #expect(Self.shown(first).count == 2)
        let second = try Self.start(engine, at: late.advanced(byMilliseconds: Self.life))
        #expect(second.passKey.id != first.passKey.id && Self.shown(first).contains(second.passKey.id))
    }
}
