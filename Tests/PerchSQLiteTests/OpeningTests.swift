import PerchBase
import PerchSQLite
import PerchStore
import PerchTesting
import Testing

@Suite struct `Opening a store` {
    @Test func `a new store has an identity of its own, and keeps it`() throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(path: directory.file("a"))
        let header = storage.header()
        storage.close()
        #expect(try SQLiteStorage(path: directory.file("a")).header() == header)
        #expect(try SQLiteStorage(path: directory.file("b")).header().identity != header.identity)
    }
}
