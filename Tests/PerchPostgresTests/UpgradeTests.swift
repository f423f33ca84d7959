import Glibc
import PerchBase
import PerchLoop
import PerchModel
import PerchPostgres
import PerchStore
import PerchTesting
import PostgresTesting
import Testing
import TestingThreads

/// Nodes of two versions on one database, and what a database remembers of a lost history.
@Suite(.onOwnThreads) struct `A database of the version before` {
    private let database = TestDatabase()
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    private func holds(_ condition: String) -> Bool {
        self.database.run("DO $$ BEGIN ASSERT (\(condition)); END $$")
    }

    /// The tables as the version before makes them, with one of its nodes at work.
    private func makeTables() throws {
        try self.database.open().close()
        self.database.run(
            """
            ALTER TABLE perch.store DROP COLUMN passed, DROP COLUMN first_id; ALTER TABLE perch.nodes DROP COLUMN schema;
            DROP TABLE perch.console_codes;
            DROP TABLE perch.sender;
            UPDATE perch.store SET schema = 2; DELETE FROM perch.nodes;
            INSERT INTO perch.nodes VALUES (7, 'old', '0', \(Self.now), \(Self.now) + 60000, 0, 0, 0, 0);
            """)
    }

    @Test func `has nodes of both versions, until the last one of its own is gone`() throws {
        try self.makeTables()
        let node = try Node(self.database)
        #expect(node.storage.hasGrown)
        #expect(try !self.database.open("b").hasGrown)
        #expect(node.transaction(node.buy("coins", "anna")) == 1)
        #expect(node.storage.passed == nil, "the version before does not know of it")
        #expect(!node.storage.keepsRefusals, "nor could it read one")
        #expect(self.holds("(SELECT schema FROM perch.store) = 2"))
        self.database.run("UPDATE perch.nodes SET beat = 0 WHERE id = 7")
        while !self.holds("(SELECT schema FROM perch.store) = 3") {
            node.run()
            usleep(20_000)
        }
        #expect(node.transaction(node.buy("coins", "anna")) == 2)
        #expect(node.storage.passed != nil && node.storage.keepsRefusals)
    }

    @Test func `keeps its readers in order by commits alone`() throws {
        try self.makeTables()
        let node = try Node(self.database)
        let before = node.engine.header.revision
        var mutation = Mutation.operation(
            .buy(PurchaseOrder(productID: "silver")), account: Node.key("anna"), app: 1)
        mutation.repeatable(under: [1])
        node.run(.mutate(mutation))
        node.run(.mutate(.operation(.setAutoRenew(.product("silver"), isOn: false), account: Node.key("anna"), app: 1)))
        node.now = node.now.advanced(byMilliseconds: Node.month + 1_000)
        let ticket = node.run(.changes(ChangesAsked(app: 1, start: .oldest)))[0]
        var pages: [ChangePage] = []
        for _ in 0..<10 where node.answers[ticket] == nil {
            node.now = node.now.advanced(byMilliseconds: Limits.passedMilliseconds)
            node.run()
        }
        if case .changes(let page)? = node.answers[ticket] { pages.append(page) }
        let page = try #require(pages.first)
        let last = page.isComplete ? page.entries : try self.rest(node, after: page)
        #expect(last.last?.account?.isCrossing == true)
        #expect(node.engine.header.revision == before + 3, "time passed with a commit that changes nothing")
    }

    private func rest(_ node: Node, after page: ChangePage) throws -> [ChangeEntry] {
        let ticket = node.run(.changes(ChangesAsked(app: 1, start: .after(page.through))))[0]
        for _ in 0..<10 where node.answers[ticket] == nil {
            node.now = node.now.advanced(byMilliseconds: Limits.passedMilliseconds)
            node.run()
        }
        guard case .changes(let page)? = node.answers[ticket] else { throw Node.Unanswered() }
        return page.entries
    }
}

@Suite(.onOwnThreads) struct `A database that was restored` {
    private let database = TestDatabase()

    @discardableResult
    private func open(_ memory: String, url: String? = nil) throws(PostgresOpenError) -> PostgresStorage {
        try PostgresStorage.open(
            try TestDatabase.location(url ?? self.database.url),
            node: NodeIdentity(id: .random(in: 1 ... .max), name: "n", version: "t"),
            memory: memory)
    }

    /// As a base backup of revision 2, restored into the same server.
    private func restore() {
        self.database.run(
            """
            DELETE FROM perch.feed WHERE revision > 2; DELETE FROM perch.commits WHERE revision > 2;
            DELETE FROM perch.transactions WHERE revision > 2; DELETE FROM perch.facts WHERE revision > 2;
            """)
    }

    @Test func `is noticed at the start of a node that has shown more, also where others have written since`() throws {
        let memory = TemporaryDirectory()
        let first = try Node(self.database)
        for _ in 0..<4 { first.buy("coins", "anna") }
        first.storage.close()
        let shown = try self.open(memory.path)
        #expect(shown.lostRevision == nil && shown.header().epoch == 1)
        shown.close()
        #expect(try self.open(memory.path).header().epoch == 1, "nothing is lost")
        self.restore()
        // Somebody who remembers nothing writes on.
        let other = try Node(self.database, "b")
        for _ in 0..<4 { other.buy("coins", "ben") }
        other.storage.close()
        let noticed = try self.open(memory.path)
        #expect(noticed.lostRevision == 5)
        #expect(noticed.header().epoch == 2)
        #expect(noticed.header().nextTransaction == 2 << 40)
        #expect(noticed.header().nextAccount == 2 << 40)
        noticed.close()
        #expect(try self.open(memory.path).header().epoch == 2, "once")
    }

    /// An old primary that writes lacks what this machine has shown; the host that has it may be the one whose TLS is not in order.
    @Test func `is not taken while a further host cannot be asked because of a setting`() throws {
        let memory = TemporaryDirectory()
        let first = try Node(self.database)
        for _ in 0..<4 { first.buy("coins", "anna") }
        first.storage.close()
        try self.open(memory.path).close()
        self.restore()
        let plain = try HostWithoutTLS()
        let url =
            "postgres://perch@/\(self.database.name)?host=\(self.database.server.directory),127.0.0.1&port=5432,\(plain.port)&sslmode=require"
        let error = #expect(throws: PostgresOpenError.self) { try self.open(memory.path, url: url) }
        guard case .lacksShown(_, revision: 5, epoch: 1)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `is declared by an operator, and numbers begin anew at the epoch`() throws {
        let node = try Node(self.database)
        for _ in 0..<3 { node.buy("coins", "anna") }
        node.storage.close()
        let location = try TestDatabase.location(self.database.url)
        #expect(try PostgresStorage.declareRestored(location) == 2)
        #expect(try PostgresStorage.declareRestored(location) == 3)
        let next = try Node(self.database)
        #expect(next.engine.header.epoch == 3)
        #expect(next.transaction(next.buy("coins", "anna")) == 3 << 40)
        #expect(next.transaction(next.buy("coins", "ben")) == 3 << 40 + 1)
        #expect(next.engine.header.nextAccount == 3 << 40 + 1)
    }

    @Test func `an epoch that was drawn at random begins at the next multiple of 2^40`() throws {
        let node = try Node(self.database)
        node.buy("coins", "anna")
        node.storage.close()
        self.database.run("UPDATE perch.store SET epoch = 3000000000")
        let location = try TestDatabase.location(self.database.url)
        #expect(try PostgresStorage.declareRestored(location) == 3_000_000_001)
        #expect(try self.database.open().header().nextTransaction == 1 << 40)
        #expect(try PostgresStorage.declareRestored(location) == 3_000_000_002)
        #expect(try self.database.open().header().nextTransaction == 2 << 40)
    }
}

/// Says to all who ask for TLS that it has none, as a PostgreSQL whose certificate was forgotten.
private final class HostWithoutTLS: Sendable {
    let port: UInt16
    private let listener: Int32
    private let thread: LoopThread

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        precondition(bound, "no port: errno \(errno)")
        self.listener = listener
        self.port = UInt16(bigEndian: address.sin_port)
        self.thread = try LoopThread(name: "no-tls") {
            while true {
                let peer = accept(listener, nil, nil)
                guard peer >= 0 else { return }
                var request = [UInt8](repeating: 0, count: 8)
                _ = read(peer, &request, 8)
                _ = write(peer, [UInt8(ascii: "N")], 1)
                close(peer)
            }
        }
    }

    deinit {
        shutdown(self.listener, Int32(SHUT_RDWR))
        self.thread.join()
        close(self.listener)
    }
}
