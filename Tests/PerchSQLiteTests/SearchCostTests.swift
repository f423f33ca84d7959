import CPerchSQLite
import PerchTesting
import Testing

@testable import PerchSQLite

/// A search for customers while somebody types: what it costs is counted in steps of SQLite's machine.
@Suite struct `A search of keys` {
    @Test func `takes the same steps among a million accounts as among a thousand`() throws {
        let few = try Self.steps(among: 1_000, of: .keysOfApp, reading: 21)
        let many = try Self.steps(among: 1_000_000, of: .keysOfApp, reading: 21)
        #expect(few == many, "\(few) steps, then \(many)")
        for query in [Query.accountOfAlias, .keyOfAccount] {
            let few = try Self.steps(among: 1_000, of: query, reading: 1)
            let many = try Self.steps(among: 1_000_000, of: query, reading: 1)
            #expect(few == many, "\(query): \(few) steps, then \(many)")
        }
    }

    /// Steps of the machine for the first rows of a query about the middle of that many accounts.
    private static func steps(among accounts: Int, of query: Query, reading rows: Int) throws -> Int32 {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        var database: OpaquePointer?
        #expect(sqlite3_open(path, &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        let filling = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(accounts))
            INSERT INTO aliases SELECT 1, CAST(printf('user-%09d', i) AS BLOB), i FROM n
            """
        #expect(sqlite3_exec(database, filling, nil, nil, nil) == SQLITE_OK)
        var statement: OpaquePointer?
        #expect(sqlite3_prepare_v2(database, query.sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        let middle = Array("user-\(String(format(accounts / 2)))".utf8)
        switch query {
        case .keyOfAccount:
            sqlite3_bind_int64(statement, 1, Int64(accounts / 2))
        default:
            sqlite3_bind_int64(statement, 1, 1)
            _ = middle.withUnsafeBytes { perch_bind_bytes(statement, 2, $0.baseAddress, Int32($0.count)) }
        }
        for _ in 0..<rows { #expect(sqlite3_step(statement) == SQLITE_ROW) }
        #expect(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) == 0)
        return sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0)
    }

    private static func format(_ number: Int) -> Substring {
        (String(repeating: "0", count: 9) + String(number)).suffix(9)
    }
}
