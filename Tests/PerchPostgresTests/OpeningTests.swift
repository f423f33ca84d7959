import PerchBase
import PerchModel
import PerchPostgres
import PerchStore
import PerchTesting
import PostgresTesting
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `Opening a database` {
    private static func open(_ url: String) throws(PostgresOpenError) -> PostgresStorage {
        try PostgresStorage.open(
            try TestDatabase.location(url), node: NodeIdentity(id: .random(in: 1 ... .max), name: "n", version: "test"))
    }

    private static func refusal(of url: String) -> String {
        do {
            _ = try Self.open(url)
            return "opened"
        } catch {
            return error.description
        }
    }

    @Test func `opening a database refuses an address with a password, with a sentence that names the remedy`() {
        #expect(Self.refusal(of: "postgres://me:secret@localhost/perch").contains("PGPASSFILE"))
        #expect(Self.refusal(of: "postgres://me@localhost/perch?password=secret").contains("PGPASSFILE"))
        #expect(!Self.refusal(of: "postgres://me:secret@localhost/perch").contains("secret"))
    }

    @Test func `opening a database refuses settings that Perch makes itself, and text that is no address`() {
        #expect(Self.refusal(of: "postgres://localhost/perch?options=-cfsync%3Doff").contains("leave it out"))
        #expect(Self.refusal(of: "postgres://localhost/perch?nonsense=1").contains("no address of a database"))
        #expect(Self.refusal(of: "postgres:///perch?host=a,b,c&port=1,2").contains("no address of a database"))
    }

    @Test func `opening a database tells of a server that is not there, and of one that lets nobody in`() {
        #expect(Self.refusal(of: "postgres://127.0.0.1:1/perch").contains("cannot be reached"))
        #expect(Self.refusal(of: "postgres://no-such-host.invalid/perch").contains("cannot be reached"))
        let server = PostgresServer.shared
        #expect(Self.refusal(of: server.url("postgres", user: "stranger")).contains("lets this user not in"))
        #expect(Self.refusal(of: server.url("nowhere")).contains("createdb"))
    }

    /// A start waits for what may pass.
    @Test func `opening a database tells a mistake in the address from a server that may come`() throws {
        func failure(_ url: String) throws -> PostgresOpenError {
            do throws(PostgresOpenError) {
                _ = try Self.open(url)
            } catch {
                return error
            }
            throw Opened()
        }
        let server = PostgresServer.shared
        let database = server.url("postgres")
        let more = database.contains("?") ? "&" : "?"
        for mistaken in [
            "postgres:///?service=nowhere", server.url("nowhere"), server.url("postgres", user: "stranger"),
            database + more + "sslmode=odd",
        ] {
            let error = try failure(mistaken)
            #expect(!error.isPassing, "\(mistaken): \(error)")
        }
        for absent in ["postgres://127.0.0.1:1/perch", "postgres://no-such-host.invalid/perch"] {
            #expect(try failure(absent).isPassing, "\(absent)")
        }
    }

    private struct Opened: Error {}

    @Test func `opening a database needs the right to make its schema, and says which`() {
        let database = TestDatabase()
        database.run("DROP ROLE IF EXISTS poor_\(database.name); CREATE ROLE poor_\(database.name) LOGIN")
        let url = database.server.url(database.name, user: "poor_\(database.name)")
        #expect(Self.refusal(of: url).contains("CREATE SCHEMA perch AUTHORIZATION"))
        database.run("CREATE SCHEMA perch AUTHORIZATION poor_\(database.name)")
        #expect(Self.refusal(of: url) == "opened")
        database.run("DROP SCHEMA perch CASCADE; DROP ROLE poor_\(database.name)")
    }

    @Test func `opening a database brings the tables of version 1 up to date`() throws {
        let database = TestDatabase()
        try database.open().close()
        database.run("ALTER TABLE perch.feed DROP COLUMN writer; UPDATE perch.store SET schema = 1")
        let node = try Node(database)
        #expect(node.transaction(node.buy("coins", "anna")) == 1)
        #expect(try Node(database, "b").engine.header.revision == 2)
    }

    @Test func `opening a database refuses a schema of a later version, and tables of others`() throws {
        let database = TestDatabase()
        try database.open().close()
        database.run("UPDATE perch.store SET schema = 99")
        #expect(Self.refusal(of: database.url).contains("schema 99"))
        database.run("DROP SCHEMA perch CASCADE; CREATE SCHEMA perch; CREATE TABLE perch.store (x int)")
        #expect(Self.refusal(of: database.url).contains("name another database"))
        database.run("DROP TABLE perch.store; CREATE TABLE perch.commits (x int)")
        #expect(Self.refusal(of: database.url).contains("name another database"))
    }

    @Test func `opening a database refuses a server that only reads, and one that does not sync`() throws {
        let database = TestDatabase()
        try database.open().close()
        #expect(database.run("ALTER ROLE perch IN DATABASE \(database.name) SET default_transaction_read_only = on"))
        // Perch's own sessions ask to write: only a standby refuses that.
        #expect(Self.refusal(of: database.url) == "opened")
        #expect(
            database.run(
                "SET default_transaction_read_only = off; ALTER ROLE perch IN DATABASE \(database.name) RESET ALL"))
        let careless = PostgresServer(settings: ["fsync = off"])
        #expect(Self.refusal(of: careless.url("postgres")).contains("fsync=off"))
    }

    @Test func `opening a database that was dumped into another server raises the epoch`() throws {
        let database = TestDatabase()
        let first = try database.open()
        #expect(first.header().epoch == 1)
        first.close()
        let second = try database.open()
        #expect(second.header().epoch == 1)
        second.close()
        database.run("UPDATE perch.store SET system = system + 1")
        #expect(try database.open().header().epoch == 2)
    }

    @Test func `a lease counts until the next start of the only node, and not beside living nodes`() throws {
        let database = TestDatabase()
        let first = try database.open()
        try first.begin()
        try first.setLease(until: Instant(milliseconds: 123))
        try first.commit()
        let beside = try database.open()
        #expect(beside.header().lease == .distantPast)
        beside.close()
        first.close()
        #expect(try database.open().header().lease == Instant(milliseconds: 123))
    }
}
