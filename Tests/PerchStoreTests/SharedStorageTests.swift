import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import Testing

/// One of several servers on a shared database: its engine, and what its loops were sent.
private final class Server {
    static let start = Instant(milliseconds: 1_800_000_000_000)
    let storage: SharedNode
    let engine: StoreEngine
    var now = start
    private(set) var changes: [Change] = []
    private(set) var answers: [UInt64: StoreAnswer] = [:]
    private var applied: UInt64
    private var ticket: UInt64 = 0

    init(_ database: SharedDatabase) throws {
        self.storage = database.node()
        self.engine = try StoreEngine(storage: self.storage, loops: 1, cacheBytesMax: 1 << 20)
        var settings = AppSettings()
        settings.timeRate = TimeRate(named: "monthlyRenewalEveryFiveMinutes") ?? .realTime
        _ = try self.engine.openApp(
            "com.example.app", .xcode, catalogue: FamilyStore.catalogue, source: "test", fileSettings: settings,
            wall: Self.start)
        self.applied = self.engine.beginLoops()
    }

    /// Runs the engine once. As a loop does, it checks that no revision is left out.
    @discardableResult
    func run(_ bodies: StoreRequest.Body...) -> [UInt64] {
        let requests = bodies.map { body in
            self.ticket += 1
            return StoreRequest(loop: 0, ticket: self.ticket, body)
        }
        self.storage.forgetReads()
        var outbox = StoreEngine.Outbox(loops: 1)
        self.wake = self.engine.run(requests, wall: self.now, into: &outbox)
        for event in outbox.events[0] {
            switch event {
            case .change(let change):
                #expect(change.revision == self.applied + 1)
                self.applied = change.revision
                self.changes.append(change)
            case .answer(let ticket, let answer):
                #expect(self.answers[ticket] == nil, "ticket \(ticket) is answered twice")
                self.answers[ticket] = answer
            case .barrier(let number):
                self.barriers.append(number)
            case .failed(let message):
                Issue.record("the store failed: \(message)")
            }
        }
        return requests.map(\.ticket)
    }

    private(set) var wake: Instant?
    private(set) var barriers: [UInt64] = []

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
        return (record?.owned.map(\.productID) ?? []) + (record?.lines.map(\.latest.productID) ?? [])
    }

    struct Unanswered: Error {}
}

/// Both have the same state and the same feed behind them.
private func checkAlike(_ servers: Server...) throws {
    for server in servers { server.run() }
    let first = try #require(servers.first)
    for server in servers {
        var (header, other) = (server.engine.header, first.engine.header)
        header.lease = .distantPast
        other.lease = .distantPast
        #expect(header == other)
        #expect(server.engine.revoked == first.engine.revoked)
        #expect(server.engine.apps.states.map { "\($0)" } == first.engine.apps.states.map { "\($0)" })
    }
}

@Suite struct `An engine on shared storage` {
    let database = SharedDatabase()

    @Test func `a look is answered behind everything that other nodes have committed, or refused`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.buy("lifetime", "anna")
        let looked = b.run(.look)[0]
        guard case .looked? = b.answers[looked] else {
            Issue.record("\(String(describing: b.answers[looked]))")
            return
        }
        #expect(b.changes.map(\.revision) == [2])
        b.storage.isCut = true
        #expect(b.refusal(b.run(.look)[0]) == .storeUnreachable)
    }

    @Test func `an engine on shared storage applies the changes of another node in order before it reads or decides`()
        throws
    {
        let (a, b) = (try Server(self.database), try Server(self.database))
        #expect(b.engine.header.revision == 1, "the second node finds the app of the first")
        a.buy("lifetime", "anna")
        a.buy("silver", "anna")
        #expect(try b.owned("anna").sorted() == ["lifetime", "silver"])
        #expect(b.changes.map(\.revision) == [2, 3])
        #expect(b.changes[0].aliases.map(\.key) == [Server.key("anna")])
        #expect(
            b.changes.map { $0.accounts[0].events.map(\.kind) } == a.changes.map { $0.accounts[0].events.map(\.kind) })
        // The record is cached now, and follows the feed.
        a.buy("season", "anna")
        #expect(try b.owned("anna").contains("season"))
        b.buy("gold", "anna")
        #expect(try a.owned("anna").contains("gold"))
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage applies settings and revoked tokens of another node`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        let hourly = try #require(TimeRate(rawValue: 1))
        a.run(
            .mutate(
                Mutation(.app(1), needsTestApp: true) { view in
                    var change = AppChange()
                    change.settings = view.app.settings
                    change.settings?.timeRate = hourly
                    return .commitApp(change, answer: .none)
                }))
        let token = RevokedToken(id: "stolen", expires: Server.start.advanced(byMilliseconds: 60_000))
        a.run(.revoke(token))
        b.run()
        #expect(b.engine.apps[1]?.state.settings.timeRate == hourly)
        #expect(b.engine.revoked == [token])
        #expect(b.changes.last?.revoked == [token])
        #expect(b.changes.last?.accounts.isEmpty == true)
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage settles each renewal once, whichever node is first`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.buy("silver", "anna")
        b.run()
        for turn in 0..<6 {
            for server in [a, b] { server.now = server.now.advanced(byMilliseconds: FamilyStore.month + 1_000) }
            for server in turn % 2 == 0 ? [a, b] : [b, a] { server.run() }
        }
        let renewals = a.changes.flatMap(\.accounts).flatMap(\.events).filter { $0.kind == .renewed }
        #expect(renewals.count == 6)
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage runs a superseded batch again on what the other node has changed`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.storage.faults = [.superseded { b.buy("lifetime", "bert") }, .superseded { b.buy("season", "anna") }]
        let ticket = a.buy("lifetime", "anna")
        #expect(a.transaction(ticket) == 3, "the numbers of the others' purchases are taken")
        #expect(a.changes.map(\.revision) == [2, 3, 4])
        #expect(try a.owned("anna").sorted() == ["lifetime", "season"])
        #expect(a.engine.counters.reruns == 2)
        #expect(a.engine.failure == nil && !a.engine.isUnreachable)
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage finds the answer that another node kept for the same key meanwhile`() throws
    {
        let (a, b) = (try Server(self.database), try Server(self.database))
        var other: UInt64?
        a.storage.faults = [.superseded { other = b.buy("lifetime", "anna", key: [1]) }]
        let ticket = a.buy("lifetime", "anna", key: [1])
        #expect(a.transaction(ticket) == 1)
        #expect(b.transaction(try #require(other)) == 1)
        #expect(a.engine.counters.replays == 1)
        #expect(a.engine.header.revision == 2, "it was bought once")
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage refuses a batch that never comes first, and takes the next one`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.storage.faults = (0..<Limits.batchRunsMax).map { _ in .superseded { b.buy("coins", "bert") } }
        let ticket = a.buy("lifetime", "anna")
        #expect(a.refusal(ticket) == .storeUnreachable)
        #expect(a.changes.count == Limits.batchRunsMax - 1, "what the others did is sent all the same")
        #expect(a.transaction(a.buy("lifetime", "anna")) != nil)
        #expect(a.changes.flatMap(\.aliases).filter { $0.key == Server.key("anna") }.count == 1)
        try checkAlike(a, b)
    }

    @Test(arguments: [true, false])
    func `an engine answers UNAVAILABLE while storage is unreachable, and continues to read`(atCommit: Bool) throws {
        let a = try Server(self.database)
        a.buy("lifetime", "anna")
        _ = try a.owned("anna")
        if atCommit { a.storage.faults = [.unreachable] } else { a.storage.isCut = true }
        let tickets = a.run(Server.buying("season", "anna"), .recordOf(1))
        #expect(a.refusal(tickets[0]) == .storeUnreachable)
        guard case .record(let record?)? = a.answers[tickets[1]] else { throw Server.Unanswered() }
        #expect(record.owned.map(\.productID) == ["lifetime"])
        #expect(a.engine.failure == nil)
        #expect(a.engine.isUnreachable)
        #expect(a.wake == a.now.advanced(byMilliseconds: Limits.storageRetryMilliseconds))
        if !atCommit {
            #expect(a.refusal(a.run(.record(Server.key("bert")))[0]) == .storeUnreachable)
        }
        a.storage.isCut = false
        #expect(a.transaction(a.buy("season", "anna")) != nil)
        #expect(!a.engine.isUnreachable)
        #expect(try a.owned("anna").sorted() == ["lifetime", "season"])
        #expect(a.engine.header.revision == 3)
    }

    /// A client comes with its cursor from a node that has seen more.
    @Test func `an engine that cannot reach storage says so to a cursor of a revision that it does not know`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.buy("lifetime", "anna")
        _ = try b.owned("anna")
        a.buy("season", "anna")
        let place = EventPlace(revision: 3, ordinal: 0)
        let questions: [StoreRequest.Body] = [
            .events(Server.key("anna"), after: place, limit: 10),
            .changes(ChangesAsked(app: 1, start: .after(ChangePlace(through: 3, at: b.now)))),
        ]
        b.storage.isCut = true
        for question in questions { #expect(b.refusal(b.run(question)[0]) == .storeUnreachable) }
        b.storage.isCut = false
        for question in questions { #expect(b.refusal(b.run(question)[0]) == nil) }
        let ahead = b.run(.events(Server.key("anna"), after: EventPlace(revision: 4, ordinal: 0), limit: 10))
        #expect(b.refusal(ahead[0]) == .tokenFuture)
    }

    @Test(arguments: [true, false])
    func `an engine asks for the outcome of a commit that lost its connection, and answers once`(isWritten: Bool) throws
    {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.storage.faults = [.unknown(isWritten: isWritten)]
        let ticket = a.buy("lifetime", "anna")
        #expect(a.transaction(ticket) == 1)
        #expect(a.changes.map(\.revision) == [2])
        #expect(a.engine.counters.reruns == (isWritten ? 0 : 1))
        #expect(try b.owned("anna") == ["lifetime"])
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage does not take another node's revision for its own batch`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.storage.faults = [.unknown(isWritten: false)]
        var other: UInt64?
        a.storage.whileOutcomeIsUnknown = { if other == nil { other = b.buy("lifetime", "bert") } }
        let ticket = a.buy("lifetime", "anna")
        #expect(a.transaction(ticket) == 2)
        #expect(a.changes.flatMap(\.accounts).map(\.record.account) == [1, 2])
        #expect(try a.owned("bert") == ["lifetime"])
        #expect(try a.owned("anna") == ["lifetime"])
        try checkAlike(a, b)
    }

    @Test(arguments: [true, false])
    func `an engine on shared storage holds everything back until it knows the outcome of a commit`(isWritten: Bool)
        throws
    {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.buy("lifetime", "anna")
        a.storage.faults = [.unknown(isWritten: isWritten, outcomeFailures: 2)]
        let ticket = a.buy("season", "anna")
        #expect(a.answers[ticket] == nil)
        #expect(a.changes.count == 1)
        #expect(a.wake == a.now.advanced(byMilliseconds: Limits.storageRetryMilliseconds))
        // A read might show a revision that no loop has been sent.
        let refused = a.run(.recordOf(1), Server.buying("silver", "anna"))
        #expect(refused.map { a.refusal($0) } == [.storeUnreachable, .storeUnreachable])
        #expect(a.answers[ticket] == nil)
        let later = a.run(.recordOf(1))
        #expect(a.transaction(ticket) == 2)
        guard case .record(let record?)? = a.answers[later[0]] else { throw Server.Unanswered() }
        #expect(
            record.owned.map(\.productID).contains("season") == isWritten, "reads come before the batch of their tick")
        #expect(try a.owned("anna").sorted() == ["lifetime", "season"])
        #expect(a.changes.map(\.revision) == [2, 3])
        #expect(try b.owned("anna").sorted() == ["lifetime", "season"])
        try checkAlike(a, b)
    }

    /// Else it stays ready, and its clients stay with it, for as long as the database is away.
    @Test func `an engine that waits for the outcome of a commit notices that its storage is out of reach`() throws {
        let a = try Server(self.database)
        a.storage.faults = [.unknown(isWritten: true, outcomeFailures: 2)]
        let ticket = a.buy("lifetime", "anna")
        a.storage.isUnheard = true
        a.run()
        #expect(a.answers[ticket] == nil)
        #expect(a.engine.isBlind)
        a.storage.isUnheard = false
        a.run()
        #expect(a.transaction(ticket) == 1)
        #expect(!a.engine.isBlind)
    }

    /// The commit was cut off at the same time as the barrier for what it was decided on.
    @Test func `an engine on shared storage shows another node's change before its own one that came later`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.storage.faults = [
            .superseded { b.buy("lifetime", "bert") }, .unknown(isWritten: true, outcomeFailures: 1),
        ]
        a.storage.sealFailures = 1
        let ticket = a.buy("season", "anna")
        #expect(a.answers[ticket] == nil && a.changes.isEmpty)
        a.run()
        #expect(a.transaction(ticket) == 2)
        #expect(a.changes.map(\.revision) == [2, 3])
        try checkAlike(a, b)
    }

    @Test(arguments: [true, false])
    func `an engine on shared storage keeps a revoked token and a settled renewal through a lost connection`(
        isWritten: Bool
    ) throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.buy("silver", "anna")
        a.storage.faults = [.unknown(isWritten: isWritten, outcomeFailures: 1)]
        let token = RevokedToken(id: "stolen", expires: Server.start.advanced(byMilliseconds: 9_000_000))
        let ticket = a.run(.revoke(token))[0]
        #expect(a.answers[ticket] == nil)
        a.run()
        guard case .revoked(wasRevoked: false)? = a.answers[ticket] else { throw Server.Unanswered() }
        a.now = a.now.advanced(byMilliseconds: FamilyStore.month + 1_000)
        a.storage.faults = [.unknown(isWritten: isWritten, outcomeFailures: 1)]
        a.run()
        a.run()
        a.run()
        let renewals = a.changes.flatMap(\.accounts).flatMap(\.events).filter { $0.kind == .renewed }
        #expect(renewals.count == 1)
        b.now = a.now
        #expect(try b.owned("anna") == ["silver"])
        #expect(b.engine.revoked == [token])
        try checkAlike(a, b)
    }

    @Test func `an engine on shared storage moves a clock once, and answers when everything due is settled`() throws {
        let a = try Server(self.database)
        a.buy("silver", "anna")
        let advance = a.now.advanced(byMilliseconds: 3 * FamilyStore.month)
        var mutation = Mutation(.app(1), needsTestApp: true) { view in
            var change = AppChange()
            change.clock = .frozen(at: advance)
            return .commitApp(change, answer: .none)
        }
        mutation.waitsForSettling = true
        a.storage.faults = [.unknown(isWritten: false)]
        let ticket = a.run(.mutate(mutation))[0]
        for _ in 0..<5 where a.barriers.isEmpty { a.run() }
        a.run(.barrierReached(try #require(a.barriers.first)))
        guard
            case .mutated(.clock(_, _, _, _, settled: RenewalCount(settled: 3, renewed: 3, failed: 0)), _)? = a.answers[
                ticket]
        else {
            Issue.record("answered \(String(describing: a.answers[ticket]))")
            return
        }
        #expect(a.barriers.count == 1)
    }

    @Test func `reads all that a tick looks at first in one request`() throws {
        let a = try Server(self.database)
        a.buy("lifetime", "anna")
        a.buy("lifetime", "bert")
        let b = try Server(self.database)
        let refund = Mutation.operation(.refund(.transaction(2), reason: .other, share: .full), account: nil, app: 1)
        b.run(
            Server.buying("season", "anna", key: [1]), Server.buying("season", "carl", key: [2]), .mutate(refund),
            .record(Server.key("bert")), .recordOf(1), .history(Server.key("anna"), nil))
        #expect(b.storage.plans.count == 1)
        #expect(b.storage.unplannedReads == [])
        #expect(b.answers.count == 6)
    }
}

@Suite struct `Time on shared storage` {
    private let database = SharedDatabase()
    private static let month: Int64 = 300_000

    private func changes(_ server: Server, after start: ChangesAsked.Start) throws -> ChangePage {
        let ticket = server.run(.changes(ChangesAsked(app: 1, start: start)))[0]
        guard case .changes(let page)? = server.answers[ticket] else { throw Server.Unanswered() }
        return page
    }

    private static func endingRenewal(of name: String) -> StoreRequest.Body {
        .mutate(.operation(.setAutoRenew(.product("silver"), isOn: false), account: Server.key(name), app: 1))
    }

    /// A crossing that one node has shown stands before whatever another one commits later, though that node's clock is behind.
    @Test(arguments: [false, true])
    func `what a reader was shown by time keeps its place when a slower node commits`(_ knowsCommitsOnly: Bool) throws {
        self.database.knowsCommitsOnly = knowsCommitsOnly
        let (a, b) = (try Server(self.database), try Server(self.database))
        a.buy("silver", "anna")
        a.run(Self.endingRenewal(of: "anna"))
        let start = try self.changes(a, after: .oldest)
        let end = Server.start.advanced(byMilliseconds: Self.month)
        a.now = end.advanced(byMilliseconds: 10)
        let shown = try self.changes(a, after: .after(start.through))
        #expect(shown.entries.map { $0.account?.isCrossing } == [true])
        b.now = end.advanced(byMilliseconds: -5_000)
        b.buy("coins", "ben")
        #expect(try #require(b.changes.last).committed >= end)
        for server in [a, b] {
            let replay = try self.changes(server, after: .after(start.through))
            #expect(replay.entries.map { $0.account?.isCrossing } == [true, false])
            #expect(replay.entries.first?.place == shown.entries.first?.place)
        }
        #expect(a.engine.counters.timesPassed == 1)
    }

    @Test func `time passes by at most ten small writes a second, and without readers by none`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        for number in 0..<50 {
            a.now = Server.start.advanced(byMilliseconds: Int64(number) * 20)
            a.buy("silver", "account-\(number)")
            a.run(Self.endingRenewal(of: "account-\(number)"))
        }
        let revision = a.engine.header.revision
        for step in 0..<150 {
            for server in [a, b] {
                server.now = Server.start.advanced(byMilliseconds: Self.month - 500 + Int64(step) * 10)
                server.run()
            }
        }
        #expect(a.engine.counters.timesPassed == 0 && b.engine.counters.timesPassed == 0)
        for server in [a, b] { server.now = Server.start.advanced(byMilliseconds: Self.month + 1_000) }
        _ = try self.changes(a, after: .oldest)
        for step in 0..<100 {
            for server in [a, b] {
                server.now = Server.start.advanced(byMilliseconds: Self.month + 1_000 + Int64(step) * 10)
                server.run(.changes(ChangesAsked(app: 1, start: .oldest)))
            }
        }
        #expect(a.engine.counters.timesPassed + b.engine.counters.timesPassed <= 10)
        #expect(a.engine.header.revision == revision, "no commit of its own")
    }

    @Test func `a batch decides no earlier than the storage's clock under the lock`() throws {
        let (a, b) = (try Server(self.database), try Server(self.database))
        self.database.clock = Server.start.advanced(byMilliseconds: 4_000)
        a.buy("coins", "anna")
        #expect(a.changes.last?.committed == Server.start.advanced(byMilliseconds: 4_000))
        b.buy("coins", "ben")
        #expect(b.changes.last?.committed == Server.start.advanced(byMilliseconds: 4_000))
    }

    @Test func `a node whose clock does not agree with the storage's settles nothing until it does`() throws {
        let a = try Server(self.database)
        a.buy("silver", "anna")
        let revision = a.engine.header.revision
        a.storage.jump = 600_000
        a.now = Server.start.advanced(byMilliseconds: Self.month + 1)
        for _ in 0..<5 { a.run() }
        #expect(a.engine.header.revision == revision)
        a.storage.jump = 0
        a.run()
        #expect(a.engine.header.revision == revision + 1)
    }
}
