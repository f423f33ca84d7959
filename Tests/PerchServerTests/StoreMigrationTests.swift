import PerchBase
import PerchModel
import PerchPostgres
import PerchSQLite
import PerchStore
import PerchTesting
import PostgresTesting
import Testing

@testable import PerchServer

@Suite struct `A migration to PostgreSQL` {
    let directory = TemporaryDirectory()
    let database = TestDatabase()

    /// A store of random changes, and their script.
    private func fill(_ changes: Int) throws -> (path: String, script: StorageScript) {
        let path = self.directory.file("store.db")
        let storage = try SQLiteStorage(path: path)
        var script = StorageScript(seed: 21)
        try storage.begin()
        for _ in 0..<changes { try storage.apply(script.change()) }
        try storage.setLease(until: Instant(milliseconds: 5_000))
        try storage.commit()
        storage.close()
        return (path, script)
    }

    /// As patient as a node of the tests: a machine that stands still is no failure.
    private func migrate(
        _ path: String, progress: (String, Int64, Int64) -> Void = { _, _, _ in }
    ) throws(ServerError) -> StoreHeader {
        try StoreMigration.run(from: path, to: self.database.url, patience: 60, progress: progress)
    }

    @Test func `a migration to PostgreSQL brings everything that reads can see, and the next epoch`() throws {
        let (path, script) = try self.fill(300)
        var told: Set<String> = []
        let header = try self.migrate(path) { table, done, count in
            #expect(done <= count)
            told.insert(table)
        }
        #expect(header.epoch == 2)
        #expect(told.isSuperset(of: ["commits", "facts", "accounts", "transactions", "aliases", "catalogues"]))
        let file = try SQLiteStorage(path: path)
        let storage = try self.database.open()
        #expect(storage.header().identity == file.header().identity)
        #expect(storage.header().epoch == file.header().epoch + 1)
        #expect(storage.header().lease == Instant(milliseconds: 5_000))
        func lines(_ storage: any Storage) throws -> [String] {
            try storage.transcript(of: script).filter { !$0.hasPrefix("header") }
        }
        #expect(try lines(storage) == lines(file))
        // And it goes on from there.
        var next = script
        let change = next.change()
        try storage.begin()
        try storage.apply(change)
        try storage.commit()
        #expect(storage.header().revision == file.header().revision + 1)
    }

    @Test func `a migration to PostgreSQL refuses a database with a store, and a place without one`() throws {
        let (path, _) = try self.fill(3)
        _ = try self.migrate(path)
        let error = #expect(throws: ServerError.self) { try self.migrate(path) }
        #expect(error?.description.contains("has a store already") == true)
        let missing = #expect(throws: ServerError.self) {
            try self.migrate(self.directory.file("nothing"))
        }
        #expect(missing?.description.contains("there is no store") == true)
    }

    @Test func `a migration to PostgreSQL that fails leaves nothing behind`() throws {
        let (path, _) = try self.fill(50)
        let writer = try SQLiteStorage(path: path)
        let error = #expect(throws: ServerError.self) { try self.migrate(path) }
        #expect(error?.description.contains("held by another process") == true)
        writer.close()
        #expect(self.database.run("SELECT 1 / (CASE WHEN to_regclass('perch.store') IS NULL THEN 1 ELSE 0 END)"))
        _ = try self.migrate(path)
    }
}
