import Glibc
import PerchBase
import PerchLoop
import PerchModel
import PerchPostgres
import PerchStore
import PerchTesting
import PostgresTesting
import Synchronization
import Testing
import TestingThreads

/// A node on a database: its engine, and what its loops were sent. As a loop does, it checks that no revision is left out.
final class Node {
    static let start = Instant(milliseconds: 1_800_000_000_000)
    static let month: Int64 = 300_000

    let storage: PostgresStorage
    let engine: StoreEngine
    var now = Node.start
    private(set) var changes: [Change] = []
    private(set) var answers: [UInt64: StoreAnswer] = [:]
    private(set) var failure: String?
    private var applied: UInt64
    private var ticket: UInt64 = 0

    init(_ database: TestDatabase, _ name: String = "a") throws {
        self.storage = try database.open(name)
        self.engine = try StoreEngine(storage: self.storage, loops: 1, cacheBytesMax: 1 << 20)
        var settings = AppSettings()
        settings.timeRate = TimeRate(named: "monthlyRenewalEveryFiveMinutes") ?? .realTime
        _ = try self.engine.openApp(
            "com.example.app", .xcode, catalogue: Self.catalogue, source: "test", fileSettings: settings,
            wall: Self.start)
        self.applied = self.engine.beginLoops()
    }

    static let catalogue: Catalogue = {
        func product(_ id: String, _ type: ProductType, _ subscription: CatalogueSubscription? = nil)
            -> CatalogueProduct
        {
            CatalogueProduct(
                id: id, type: type, referenceName: id, price: Money(milliunits: 990, currency: "USD"),
                isFamilyShareable: false, localizations: [], subscription: subscription)
        }
        var monthly = CatalogueSubscription(groupID: "G", level: 1, period: Period(1, .month))
        monthly.introductoryOffers = []
        return Catalogue(
            products: [
                product("silver", .autoRenewable, monthly), product("lifetime", .nonConsumable),
                product("coins", .consumable),
            ],
            groups: [CatalogueGroup(id: "G", name: "G", localizations: [])], schemaVersion: "4.0")
    }()

    @discardableResult
    func run(_ bodies: StoreRequest.Body...) -> [UInt64] {
        let requests = bodies.map { body in
            self.ticket += 1
            return StoreRequest(loop: 0, ticket: self.ticket, body)
        }
        var outbox = StoreEngine.Outbox(loops: 1)
        self.storage.beat(NodeState(calls: 0, isDraining: false))
        _ = self.engine.run(requests, wall: self.now, into: &outbox)
        for event in outbox.events[0] {
            switch event {
            case .change(let change):
                #expect(change.revision == self.applied + 1)
                self.applied = change.revision
                self.changes.append(change)
            case .answer(let ticket, let answer):
                #expect(self.answers[ticket] == nil, "ticket \(ticket) is answered twice")
                self.answers[ticket] = answer
            case .barrier: break
            case .failed(let message): self.failure = message
            }
        }
        return requests.map(\.ticket)
    }

    /// Runs until something has happened, for minutes at most: a node that found no database asks again some time later.
    func runUntil(_ bodies: StoreRequest.Body..., isDone: () -> Bool) {
        for _ in 0..<60_000 where !isDone() {
            for body in bodies { self.run(body) }
            if bodies.isEmpty { self.run() }
            usleep(5_000)
        }
    }

    static func key(_ name: String) -> AccountKey { AccountKey(app: 1, bytes: Array(name.utf8)) }

    static func buying(_ product: String, _ name: String, key: [UInt8] = []) -> StoreRequest.Body {
        var mutation = Mutation.operation(.buy(PurchaseOrder(productID: product)), account: Self.key(name), app: 1)
        if !key.isEmpty { mutation.repeatable(under: key) }
        return .mutate(mutation)
    }

    @discardableResult
    func buy(_ product: String, _ name: String, key: [UInt8] = []) -> UInt64 {
        self.run(Self.buying(product, name, key: key))[0]
    }

    func transaction(_ ticket: UInt64) -> TransactionID? {
        guard case .mutated(.transaction(let transaction, _, _), _)? = self.answers[ticket] else { return nil }
        return transaction.id
    }

    func refusal(_ ticket: UInt64) -> Refusal.Reason? {
        guard case .refused(let refusal)? = self.answers[ticket] else { return nil }
        return refusal.reason
    }

    func owned(_ name: String) throws -> [String] {
        let ticket = self.run(.record(Self.key(name)))[0]
        guard case .record(let record)? = self.answers[ticket] else { throw Unanswered() }
        return ((record?.owned.map(\.productID) ?? []) + (record?.lines.map(\.latest.productID) ?? [])).sorted()
    }

    struct Unanswered: Error {}
}

/// All nodes have the same state behind them.
private func checkAlike(_ nodes: Node...) throws {
    for node in nodes { _ = try? node.owned("nobody") }
    let first = try #require(nodes.first)
    for node in nodes {
        var (header, other) = (node.engine.header, first.engine.header)
        header.lease = .distantPast
        other.lease = .distantPast
        #expect(header == other)
        #expect(node.engine.apps.states.map { "\($0)" } == first.engine.apps.states.map { "\($0)" })
        #expect(node.failure == nil)
    }
}

extension TestDatabase {
    /// Until `body` returns, a function of PostgreSQL ends each commit that waits for a standby: `pg_cancel_backend`, or
    /// `pg_terminate_backend`, which ends its session too.
    fileprivate func endingWaits<Result>(by function: String, _ body: () throws -> Result) throws -> Result {
        let flag = Flag()
        let thread = try LoopThread(name: "ends-waits") {
            while !flag.isRaised.load(ordering: .acquiring) {
                self.run("SELECT \(function)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            }
        }
        defer {
            flag.isRaised.store(true, ordering: .releasing)
            thread.join()
        }
        return try body()
    }
}

private final class Flag: Sendable {
    let isRaised = Atomic(false)
}

@Suite(.onOwnThreads) struct `Nodes on one database` {
    let database = TestDatabase()

    @Test func `nodes on one database see each other's purchases in order, before they read or decide`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        #expect(b.engine.header.revision == 1, "the second node finds the app of the first")
        a.buy("lifetime", "anna")
        a.buy("silver", "anna")
        #expect(try b.owned("anna") == ["lifetime", "silver"])
        #expect(b.changes.map(\.revision) == [2, 3])
        #expect(b.changes[0].aliases.map(\.key) == [Node.key("anna")])
        let ticket = b.buy("coins", "bert")
        #expect(b.transaction(ticket) == 3)
        #expect(try a.owned("bert") == [])
        #expect(a.changes.last?.revision == 4)
        try checkAlike(a, b)
    }

    @Test func `a thousand purchases by turns leave no gap`() throws {
        let nodes = try (0..<3).map { try Node(self.database, "n\($0)") }
        var random = SeededRandom(seed: 7)
        for turn in 0..<1_000 {
            let node = nodes[random.below(3)]
            let ticket = node.buy("coins", "user-\(turn % 17)")
            #expect(node.transaction(ticket) == UInt64(turn + 1))
        }
        try checkAlike(nodes[0], nodes[1], nodes[2])
        let first = nodes[0].changes.map { [$0.revision, $0.accounts[0].record.account] }
        for node in nodes { #expect(node.changes.map { [$0.revision, $0.accounts[0].record.account] } == first) }
    }

    @Test func `one key on two nodes is one mutation, and two attempts of a renewal are one`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        let (first, second) = (a.buy("silver", "anna", key: [1]), b.buy("silver", "anna", key: [1]))
        #expect(a.transaction(first) == 1)
        #expect(b.transaction(second) == 1)
        for _ in 0..<4 {
            for node in [a, b] {
                node.now = node.now.advanced(byMilliseconds: Node.month + 1_000)
                node.run()
            }
            b.run()
            a.run()
        }
        _ = try b.owned("anna")
        _ = try a.owned("anna")
        let renewals = a.changes.flatMap(\.accounts).flatMap(\.events).filter { $0.kind == .renewed }
        #expect(renewals.count == 4)
        try checkAlike(a, b)
    }

    /// A caller that was told so gives up. An earlier attempt of it may still wait at another node.
    @Test func `a final refusal under a key is final on every node, also once the request would be right`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        a.buy("lifetime", "anna")
        func finishing(_ key: [UInt8]) -> StoreRequest.Body {
            var mutation = Mutation.operation(
                .refund(.transaction(2), reason: .other, share: .full), account: Node.key("anna"), app: 1)
            mutation.repeatable(under: key)
            return .mutate(mutation)
        }
        #expect(b.refusal(b.run(finishing([1]))[0]) == .transactionUnknown)
        #expect(a.transaction(a.buy("coins", "anna")) == 2)
        for node in [a, b, try Node(self.database, "c")] {
            #expect(node.refusal(node.run(finishing([1]))[0]) == .transactionUnknown, "the key is refused for good")
        }
        let other = a.run(finishing([2]))[0]
        #expect(a.refusal(other) == nil && a.answers[other] != nil, "another key is another request")
    }

    @Test func `a code of the console is good at every node, once`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        /// A node that was not run for seconds has to hear of a heartbeat first.
        func ask(_ node: Node, _ request: CodeRequest) throws -> [UInt8]? {
            for _ in 0..<10_000 {
                let ticket = node.run(.code(request))[0]
                if case .code(let bytes)? = node.answers[ticket] { return bytes }
                guard node.refusal(ticket) == .storeUnreachable else { break }
            }
            throw Node.Unanswered()
        }
        #expect(try ask(a, .keep([1, 2], sealed: [3, 4])) == [])
        #expect(try ask(b, .take([1])) == nil)
        #expect(try ask(b, .take([1, 2])) == [3, 4])
        #expect(try ask(a, .take([1, 2])) == nil && ask(b, .take([1, 2])) == nil)
        // A minute later, as the database counts it.
        #expect(try ask(a, .keep([5], sealed: [6])) == [])
        self.database.run("UPDATE perch.console_codes SET ends = ends - \(Limits.consoleCodeMilliseconds)")
        #expect(try ask(b, .take([5])) == nil)
        let names = (0...Limits.consoleCodesKept).map { [7, UInt8($0)] }
        for name in names { _ = try ask(a, .keep(name, sealed: [8])) }
        let kept = try names.filter { try ask(b, .take($0)) == [8] }
        #expect(kept.count == Limits.consoleCodesKept && kept.last == names.last, "the newest")
        #expect(a.changes.isEmpty && b.changes.isEmpty, "they are no part of the log")
    }

    @Test func `one node at a time has the right to send, and another one after its end`() throws {
        let (a, b) = (try self.database.open("a"), try self.database.open("b"))
        /// Until the next heartbeats of both are confirmed.
        func beat(a wantsA: Bool, b wantsB: Bool) {
            let before = [a, b].map(\.databaseFigures.heartbeats)
            for _ in 0..<300_000 {
                a.beat(NodeState(calls: 0, isDraining: false, wantsToSend: wantsA))
                b.beat(NodeState(calls: 0, isDraining: false, wantsToSend: wantsB))
                let now = [a, b].map(\.databaseFigures.heartbeats)
                if zip(now, before).allSatisfy({ $0 > $1 + 1 }) { return }
                usleep(1_000)
            }
            Issue.record("no heartbeat is confirmed")
        }
        beat(a: false, b: false)
        #expect(a.sendsForMilliseconds == 0 && b.sendsForMilliseconds == 0, "nobody asked")
        beat(a: true, b: false)
        #expect(a.sendsForMilliseconds > 0 && b.sendsForMilliseconds == 0)
        #expect(a.sendsForMilliseconds <= 12_000, "less than the database counts")
        beat(a: true, b: true)
        #expect(a.sendsForMilliseconds > 0 && b.sendsForMilliseconds == 0, "it is taken")
        // The first one is silent for long, as the database counts it. Once more where a heartbeat of it was still under way.
        for _ in 0..<2 where b.sendsForMilliseconds == 0 {
            self.database.run("UPDATE perch.sender SET ends = ends - 60000")
            beat(a: false, b: true)
        }
        #expect(b.sendsForMilliseconds > 0)
        beat(a: true, b: true)
        let nodes = [a, b].map(\.nodeID)
        #expect(self.database.run("DO $$ BEGIN ASSERT (SELECT node = \(nodes[1]) FROM perch.sender); END $$"))
    }

    @Test func `two nodes that start on an empty database make one store`() throws {
        let stores = try (0..<2).map { try self.database.open("n\($0)") }
        #expect(stores[0].header().identity == stores[1].header().identity)
        #expect(stores[0].nodes.isEmpty)
        #expect(stores[1].nodes.map(\.name) == ["n0"])
    }

    /// The negative control of the fence: another node writes although this one holds what it takes for the lock.
    @Test func `a batch that was decided on an old log is not written, and runs again`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        a.buy("lifetime", "anna")
        #expect(try b.owned("anna") == ["lifetime"])
        try b.storage.begin()
        let next = b.engine.header
        // The lock is lost behind b's back: its session ends, and another node is first.
        self.database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()"
        )
        a.buy("coins", "bert")
        var change = StoredChange(
            revision: next.revision + 1, committed: b.now, app: 1, nextTransaction: next.nextTransaction + 1,
            nextAccount: next.nextAccount)
        change.appCause = .unspecified
        try b.storage.apply(change)
        let error = #expect(throws: StorageError.self) { try b.storage.commit() }
        guard case .unknown = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try b.storage.hasCommitted(next.revision + 1) == false, "the revision is another node's")
        #expect(b.transaction(b.buy("coins", "carl")) == 3)
        try checkAlike(a, b)
    }

    @Test func `a node runs a batch again whose session ended in the commit, and answers once`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        a.buy("lifetime", "anna")
        self.database.run(
            """
            CREATE SEQUENCE perch.commits_cut;
            CREATE FUNCTION perch.cut() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF nextval('perch.commits_cut') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON perch.commits DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION perch.cut();
            """)
        let ticket = a.buy("coins", "anna")
        #expect(a.transaction(ticket) == 2)
        #expect(a.storage.databaseFigures.unknownCommits == 1)
        #expect(a.engine.counters.reruns == 1)
        #expect(try b.owned("anna") == ["lifetime"], "consumables are not owned")
        #expect(b.changes.map(\.revision) == [2, 3])
        try checkAlike(a, b)
    }

    /// A commit that waits for a standby is written on the primary only. Nothing of it may be answered or shown, and nothing is lost
    /// or done twice once the standby confirms.
    @Test func `a commit that no standby confirms is neither answered nor shown, and is answered once when one does`()
        throws
    {
        let server = PostgresServer()
        let database = TestDatabase(on: server)
        let (a, b) = (try Node(database, "a"), try Node(database, "b"))
        a.buy("lifetime", "anna")
        // The announcement of the purchase is a commit too.
        for node in [a, b] { #expect(try node.owned("anna") == ["lifetime"]) }
        database.makeCommitsWait()
        // As after a crash and restart of the primary: the commit can be seen, and only the primary has it.
        let ticket = try database.endingWaits(by: "pg_terminate_backend") { a.buy("silver", "anna") }
        #expect(a.answers[ticket] == nil, "its outcome is not known")
        #expect(a.changes.count == 1)
        let asked = try database.endingWaits(by: "pg_terminate_backend") { b.run(.record(Node.key("anna")))[0] }
        #expect(b.refusal(asked) == .storeUnreachable, "b has read it, and cannot vouch for it")
        #expect(b.changes.count == 1)
        database.letCommitsReturn()
        a.runUntil { a.answers[ticket] != nil }
        #expect(a.transaction(ticket) == 2)
        #expect(try b.owned("anna") == ["lifetime", "silver"])
        #expect(b.changes.map(\.revision) == [2, 3])
        #expect(b.storage.databaseFigures.seals <= 1)
        try checkAlike(a, b)
    }

    /// PostgreSQL then answers COMMIT with a warning: only the primary has it.
    @Test func `a commit whose wait for a standby is cancelled is not acknowledged`() throws {
        let database = TestDatabase(on: PostgresServer())
        let a = try Node(database, "a")
        #expect(try a.owned("anna") == [])
        database.makeCommitsWait()
        // First its heartbeat waits, for whose row the commit waits.
        let ticket = try database.endingWaits(by: "pg_cancel_backend") { a.buy("coins", "anna") }
        #expect(a.answers[ticket] == nil && a.changes.isEmpty)
        #expect(a.storage.databaseFigures.unknownCommits == 1)
        database.letCommitsReturn()
        a.runUntil { a.answers[ticket] != nil }
        #expect(a.transaction(ticket) == 1)
        #expect(a.changes.map(\.revision) == [2])
    }

    /// A failover to a standby that confirmed all it had to confirm loses nothing that anyone was shown, and nobody's token.
    @Test func `a node that read what no standby had ends, and the epoch stays`() throws {
        let database = TestDatabase(on: PostgresServer())
        let (a, b) = (try Node(database, "a"), try Node(database, "b"))
        a.buy("lifetime", "anna")
        // The announcement of the purchase is a commit too.
        for node in [a, b] { #expect(try node.owned("anna") == ["lifetime"]) }
        database.makeCommitsWait()
        let ticket = try database.endingWaits(by: "pg_terminate_backend") { a.buy("coins", "bert") }
        let asked = try database.endingWaits(by: "pg_terminate_backend") { b.run(.record(Node.key("bert")))[0] }
        #expect(b.refusal(asked) == .storeUnreachable, "b has read it")
        // The standby has all but that.
        database.letCommitsReturn()
        database.run(
            """
            DELETE FROM perch.feed WHERE revision > 2; DELETE FROM perch.commits WHERE revision > 2;
            DELETE FROM perch.transactions WHERE revision > 2; DELETE FROM perch.facts WHERE revision > 2;
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
            """)
        // A session may still answer before it hears that it has ended.
        b.runUntil(.record(Node.key("anna"))) { b.engine.failure != nil }
        guard case .historyLost(let what)? = b.engine.failure else {
            Issue.record("\(String(describing: b.engine.failure))")
            return
        }
        #expect(what.contains("revision 3") && what.contains("nobody was shown"), "\(what)")
        #expect(a.answers[ticket] == nil)
        #expect(b.changes.map(\.revision) == [2])
        #expect(try Node(database, "c").engine.header.epoch == 1)
    }

    @Test func `a node whose sessions are ended goes on with new ones`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        for round in 0..<5 {
            self.database.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            #expect(a.transaction(a.buy("coins", "anna")) == UInt64(2 * round + 1))
            #expect(b.transaction(b.buy("coins", "bert")) == UInt64(2 * round + 2))
        }
        #expect(a.storage.databaseFigures.reconnects >= 5)
        try checkAlike(a, b)
    }

    /// The same account, product and millisecond, for two requests: the changes are equal, and only one of them was made.
    @Test func `a node does not take the equal change of another node for its own`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        _ = try b.owned("anna")
        let next = try #require(try a.storage.commitRows(after: 0, limit: 9)).count + 1
        let header = a.storage.header()
        let change = StoredChange(
            revision: UInt64(next), committed: Node.start, app: 1, nextTransaction: header.nextTransaction,
            nextAccount: header.nextAccount)
        self.database.run(
            """
            CREATE FUNCTION perch.cut() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON perch.commits DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION perch.cut();
            """)
        try a.storage.begin()
        try a.storage.apply(change)
        #expect(throws: StorageError.self) { try a.storage.commit() }
        #expect(a.storage.databaseFigures.unknownCommits == 1)
        self.database.run("DROP TRIGGER cut ON perch.commits")
        try b.storage.begin()
        try b.storage.apply(change)
        try b.storage.commit()
        #expect(try !a.storage.hasCommitted(change.revision))
    }

    @Test func `a node that sees another history ends, and the epoch rises once`() throws {
        let (a, b) = (try Node(self.database, "a"), try Node(self.database, "b"))
        for _ in 0..<3 { a.buy("coins", "anna") }
        _ = try b.owned("anna")
        // As after a failover that lost the last two commits, and wrote another one.
        self.database.run(
            """
            DELETE FROM perch.feed WHERE revision > 2; DELETE FROM perch.commits WHERE revision > 2;
            DELETE FROM perch.transactions WHERE revision > 2; DELETE FROM perch.facts WHERE revision > 2;
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
            """)
        for node in [a, b] {
            let ticket = node.buy("coins", "anna")
            #expect(node.refusal(ticket) == .storeFailed)
            guard case .historyLost? = node.engine.failure else {
                Issue.record("\(String(describing: node.engine.failure))")
                return
            }
        }
        let c = try Node(self.database, "c")
        #expect(c.engine.header.epoch == 2)
        #expect(c.engine.header.revision == 2)
        #expect(c.transaction(c.buy("coins", "anna")) == 2 << 40, "no number is given out twice")
    }
}
