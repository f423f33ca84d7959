package import PerchPostgres

/// A database of the tests' server. Another test gets it, without its tables, when this value is released.
package final class TestDatabase: Sendable {
    package let server: PostgresServer
    package let name: String

    package init(on server: PostgresServer = .shared) {
        self.server = server
        self.name = server.takeDatabase()
    }

    deinit { self.server.giveBack(self.name) }

    package var url: String { self.server.url(self.name) }

    /// One more node on the store in it. The storage keeps the database.
    ///
    /// Tests play at instants of their own. So the database's clock counts from long before them, and decides nothing.
    package func open(_ name: String = "test") throws -> PostgresStorage {
        let node = NodeIdentity(id: .random(in: 1 ... .max), name: name, version: "test")
        let storage = try PostgresStorage.open(Self.location(self.url), node: node, shift: Self.longAgo)
        storage.owner = self
        return storage
    }

    private static let longAgo: Int64 = -1 << 40

    /// Where a test opens a store: an answer of PostgreSQL is waited for 60 times as long as in production, since a machine may stand
    /// still.
    package static func location(_ url: String) throws(PostgresOpenError) -> PostgresLocation {
        var location = try PostgresLocation(url)
        location.patience = 60
        return location
    }

    package func makeCommitsWait() { self.server.makeCommitsWait(in: self.name) }

    package func letCommitsReturn() { self.server.letCommitsReturn(in: self.name) }

    @discardableResult
    package func run(_ sql: String) -> Bool { self.server.run(sql, in: self.name) }
}
