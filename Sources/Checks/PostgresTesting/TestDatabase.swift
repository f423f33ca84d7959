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
    /// `patience`: as many times as long as in production an answer of PostgreSQL is waited for.
    package func open(_ name: String = "test", patience: Int64 = 60) throws -> PostgresStorage {
        let node = NodeIdentity(id: .random(in: 1 ... .max), name: name, version: "test")
        var location = try PostgresLocation(self.url)
        location.patience = patience
        let storage = try PostgresStorage.open(location, node: node, shift: Self.longAgo)
        storage.owner = self
        return storage
    }

    private static let longAgo: Int64 = -1 << 40

    package func makeCommitsWait() { self.server.makeCommitsWait(in: self.name) }

    package func letCommitsReturn() { self.server.letCommitsReturn(in: self.name) }

    @discardableResult
    package func run(_ sql: String) -> Bool { self.server.run(sql, in: self.name) }
}
