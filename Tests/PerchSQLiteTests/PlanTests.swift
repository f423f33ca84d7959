import PerchTesting
import Testing

@testable import PerchSQLite

@Suite struct `The store's statements` {
    @Test(arguments: Query.allCases)
    func `search by an index, and never read a whole table`(_ query: Query) throws {
        guard ![.begin, .commit, .rollback].contains(query) else { return }
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        let connection = try Connection(path: path)
        defer { connection.close(keepingLog: false) }
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        let plan = try Self.plan(of: query.sql, on: connection)
        // The apps are few, and all of them are wanted.
        let scans = plan.filter { $0.contains("SCAN") && $0 != "SCAN apps" }
        #expect(scans == [], "\(query): \(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "it sorts: \(plan)")
        let isInsert = query.sql.hasPrefix("INSERT")
        #expect(isInsert || plan.contains { $0.contains("SEARCH") || $0 == "SCAN apps" }, "\(query): \(plan)")
    }

    @Test func `that list transactions skip what they do not want within an index`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        let connection = try Connection(path: path)
        defer { connection.close(keepingLog: false) }
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        let expected: [(Query, String)] = [
            (.allOldestFirst, "e USING PRIMARY KEY (account=? AND kind=? AND (first,second)>(?,?))"),
            (.listedNewestFirst, "e USING PRIMARY KEY (account=? AND kind=? AND (first,second)<(?,?))"),
            (.unfinishedOldestFirst, "e USING PRIMARY KEY (account=? AND kind=? AND (first,second)>(?,?))"),
            (.unfinishedNewestFirst, "e USING PRIMARY KEY (account=? AND kind=? AND (first,second)<(?,?))"),
            (.eventsOfAccount, "e USING PRIMARY KEY (account=? AND kind=? AND (first,second)<(?,?))"),
            (.factsThrough, "e USING PRIMARY KEY (account=? AND kind=? AND first>? AND first<?)"),
            (.forgetAnswers, "answers_by_age (kept<?)"),
        ]
        for (query, search) in expected {
            let plan = try Self.plan(of: query.sql, on: connection)
            #expect(plan.contains { $0.hasSuffix(search) }, "\(query): \(plan)")
        }
    }

    private static func plan(of sql: String, on connection: Connection) throws -> [String] {
        let statement = try Statement("EXPLAIN QUERY PLAN \(sql)", on: connection)
        defer { statement.reset() }
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(3)) }
        return lines
    }
}
