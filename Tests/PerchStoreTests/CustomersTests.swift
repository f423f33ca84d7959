import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

extension ReportedStore {
    /// What a search finds, a line each.
    fileprivate func find(
        _ text: String, _ kinds: Set<CustomerNameKind> = [], limit: Int = 20
    ) throws -> (lines: [String], hasMore: Bool) {
        let answer = try self.ask(.customers(1, CustomersSought(text, kinds: kinds, limit: limit)))
        guard case .customers(let names, let hasMore) = answer else { throw Unexpected() }
        return (
            names.map { name in
                let key = name.key.isEmpty ? "nobody" : String(decoding: name.key, as: UTF8.self)
                return "\(key) \(name.kind) \(name.name)" + (name.original.map { " of \($0)" } ?? "")
            }, hasMore
        )
    }

    fileprivate func lines(_ text: String, _ kinds: Set<CustomerNameKind> = []) throws -> [String] {
        try self.find(text, kinds).lines
    }

    fileprivate func grant(to account: String) throws {
        try self.tell(
            .grant(EntitlementGrant(name: "plus", until: nil, reason: "", since: self.wall), to: self.key(account)))
    }

    fileprivate func notes(_ account: String) throws -> [CustomerNote] {
        guard case .notes(let notes) = try self.ask(.notes(self.key(account))) else { throw Unexpected() }
        return notes
    }

    @discardableResult
    fileprivate func note(_ text: String, on account: String, by author: String = "ann", key: String = "") throws
        -> UInt64
    {
        var mutation = Mutation.reported(.note(text, by: author, on: self.key(account)), app: 1)
        mutation.audit = AuditEntry(
            at: self.wall, subject: "\"\(author)\" by main", address: "", method: "/perch.v1.AdminService/AddNote",
            what: "", bundleID: "com.example.app", environment: "production")
        if !key.isEmpty { mutation.repeatable(under: Array(key.utf8)) }
        switch try self.ask(.mutate(mutation)) {
        case .mutated(.number(let id), _): return id
        case .refused(let refusal): throw refusal
        default: throw Unexpected()
        }
    }
}

@Suite struct `Finding customers` {
    private static let token = ReportedLine.alice

    /// Alice with a line of three orders, bob with one, and a purchase of nobody.
    private static func filled(_ implementation: StorageImplementation) throws -> ReportedStore {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.attach(.appAccountToken(Self.token), to: store.key("alice")))
        try store.tell(.reports(ReportedLine.transaction(100, token: Self.token)))
        try store.tell(.reports(ReportedLine.transaction(101, period: 1, token: Self.token)))
        try store.tell(.reports(ReportedLine.transaction(500, of: 500), by: store.key("bob")))
        try store.tell(.reports(ReportedLine.transaction(900, of: 900)))
        return store
    }

    @Test(arguments: all)
    func `by every kind of name`(_ implementation: StorageImplementation) throws {
        let store = try Self.filled(implementation)
        #expect(try store.lines("alice") == ["alice account alice"])
        #expect(try store.lines("al") == ["alice account alice"])
        #expect(try store.lines("b") == ["bob account bob"])
        #expect(try store.lines("carol") == [])
        #expect(try store.lines("100") == ["alice originalTransaction 100 of 100"])
        #expect(try store.lines("101") == ["alice transaction 101 of 100"])
        #expect(try store.lines("100", [.transaction]) == ["alice transaction 100 of 100"])
        #expect(try store.lines("w100-1") == ["alice order w100-1 of 100"])
        #expect(try store.lines("w500-0") == ["bob order w500-0 of 500"])
        #expect(try store.lines(Self.token) == ["alice appAccountToken \(Self.token)"])
        #expect(try store.lines(Self.token.uppercased(), [.appAccountToken]).count == 1)
        #expect(try store.lines("70100") == ["alice appTransaction 70100 of 100"])
        #expect(try store.lines("900") == ["nobody originalTransaction 900 of 900"])
        #expect(try store.lines("70900") == ["nobody appTransaction 70900 of 900"])
        #expect(try store.lines("alice", [.order]) == [])
        #expect(try store.lines("18446744073709551615") == [])
    }

    @Test(arguments: all)
    func `in other capitals, after those in the very ones`(_ implementation: StorageImplementation) throws {
        let store = try Self.filled(implementation)
        for name in ["clara", "Clara", "CLARA-2", "claire", "Änne", "carl", "Dora"] { try store.grant(to: name) }
        #expect(try store.lines("clara") == ["clara account clara", "CLARA-2 account CLARA-2", "Clara account Clara"])
        #expect(try store.lines("cLaRa") == ["CLARA-2 account CLARA-2", "Clara account Clara", "clara account clara"])
        #expect(try store.lines("ALICE") == ["alice account alice"])
        #expect(try store.lines("dOR") == ["Dora account Dora"])
        #expect(try store.lines("änNE") == ["Änne account Änne"])
        #expect(try store.lines("CLARISSA") == [])
        #expect(try store.lines("ALICE", [.order]) == [])
        // An alias is a key too.
        try store.tell(.merge(store.key("bob"), into: store.key("alice")))
        #expect(try store.lines("BOB") == ["alice alias bob"])
        // The page is full: there are more. It is full with all that there are: there are none.
        #expect(try store.find("CLARA", limit: 2).hasMore)
        #expect(try store.find("CLARA", limit: 3).hasMore == false)
        #expect(try store.find("Dora", limit: 1).hasMore == false)
    }

    @Test(arguments: all)
    func `by an e-mail address of which the store has the hash`(_ implementation: StorageImplementation) throws {
        let store = try Self.filled(implementation)
        let hash = try #require(EmailHash.hash(of: " Alice@Example.com "))
        #expect(hash.description == "ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976")
        try store.tell(.attachEmail(hash, to: store.key("alice")))
        let line = "alice emailHash \(hash)"
        for text in ["alice@example.com", " Alice@Example.com ", hash.description, hash.description.uppercased()] {
            #expect(try store.lines(text) == [line], "\(text)")
        }
        #expect(try store.lines("bob@example.com") == [])
        // It is exported, goes with a merger, can be detached, and leaves with the account.
        guard case .exported(let export?) = try store.ask(.export(store.key("alice"), TransactionQuery(limit: 9)))
        else { throw ReportedStore.Unexpected() }
        #expect(export.emailHashes == [hash.description])
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        #expect(try store.lines("alice@example.com") == [line])
        #expect(try store.lines("alice") == ["alice account alice"])
        try store.tell(.detachEmail(hash))
        #expect(try store.lines("alice@example.com") == [])
        #expect(try store.refusal(.detachEmail(hash)) == .accountUnknown)
        try store.tell(.attachEmail(hash, to: store.key("bob")))
        _ = try store.ask(.mutate(.reported(.erase(store.key("bob")), app: 1)))
        #expect(try store.lines("alice@example.com") == [])
    }

    @Test(arguments: all)
    func `follows what moves, and forgets what is erased`(_ implementation: StorageImplementation) throws {
        let store = try Self.filled(implementation)
        try store.tell(.claim(100, for: store.key("bob")))
        for name in ["100", "101", "w100-0", "w100-1", "70100"] {
            #expect(try store.lines(name).allSatisfy { $0.hasPrefix("bob ") }, "\(name)")
            #expect(try store.lines(name).count == 1)
        }
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        #expect(try store.lines("bob") == ["alice alias bob"])
        _ = try store.ask(.mutate(.reported(.erase(store.key("bob")), app: 1)))
        for name in ["100", "101", "w100-0", "w100-1", "w500-0", "70100", "alice", "bob", Self.token] {
            #expect(try store.lines(name) == [], "\(name)")
        }
        #expect(try store.lines("900").count == 1)
    }

    /// The numbers of rows that a search reads are those of its limit, whatever the number of accounts: a page of keys, and two points
    /// for each key of it. That the statements behind them use an index is in the plans of SQLite and PostgreSQL.
    @Test(arguments: all)
    func `lists a page of keys that begin so, and says that there are more`(_ implementation: StorageImplementation)
        throws
    {
        let store = try ReportedStore(on: try implementation.make().storage)
        for number in 0..<60 { try store.grant(to: "user-\(number < 10 ? "0" : "")\(number)") }
        try store.grant(to: "user")
        let (first, hasMore) = try store.find("user", limit: 20)
        #expect(first.count == 20 && hasMore)
        #expect(first.first == "user account user" && first[1] == "user-00 account user-00")
        let (some, noMore) = try store.find("user-5", limit: 20)
        #expect(some.count == 10 && !noMore)
        #expect(try store.find("user-50", limit: 1) == (["user-50 account user-50"], false))
        #expect(try store.find("user-5", limit: 10) == (some, false))
    }

    @Test(arguments: all)
    func `in a test app, by transaction and by order`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(
            on: try implementation.make().storage, environment: .xcode, catalogue: FamilyStore.catalogue)
        for (account, product) in [("alice", "silver"), ("bob", "coins")] {
            let order = StoreOperation.buy(PurchaseOrder(productID: product))
            _ = try store.ask(.mutate(.operation(order, account: store.key(account), app: 1)))
        }
        #expect(try store.lines("ali") == ["alice account alice"])
        guard
            case .transactions(let rows, false) = try store.ask(
                .transactions(store.key("alice"), TransactionQuery(limit: 9))),
            let bought = rows.first?.transaction
        else { throw ReportedStore.Unexpected() }
        #expect(try store.lines("\(bought.id)") == ["alice originalTransaction \(bought.id) of \(bought.id)"])
        #expect(try store.lines(bought.webOrderLineItemID, [.order]).map { $0.prefix(12) } == ["alice order "])
        #expect(try store.lines("\(bought.id + 1)").map { $0.prefix(4) } == ["bob "])
        #expect(try store.lines("\(bought.id + 2)") == [])
    }
}

@Suite struct `Notes beside a customer` {
    @Test(arguments: all)
    func `are kept, listed, deleted, and written once for a key`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        #expect(throws: Refusal.self) { try store.note("hello", on: "alice") }
        #expect(try store.notes("alice") == [])
        try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("alice")))
        let first = try store.note("She called.\nAgain.", on: "alice", key: "once")
        #expect(try store.note("She called.\nAgain.", on: "alice", key: "once") == first)
        let second = try store.note("A week was promised.", on: "alice", by: "ben")
        #expect(
            try store.notes("alice") == [
                CustomerNote(id: first, at: store.wall, author: "ann", text: "She called.\nAgain."),
                CustomerNote(id: second, at: store.wall, author: "ben", text: "A week was promised."),
            ])
        // The trail has that a note was written and on whom, not its text.
        guard
            case .items(let items, _) = try store.ask(
                .items(.audit, groups: [[]], after: AuditEntry.key(ofRevision: first - 1).key, limit: 9))
        else { throw ReportedStore.Unexpected() }
        let trail = items.compactMap { AuditEntry($0) }
        #expect(trail.map(\.author) == ["ann", "ben"])
        #expect(trail.allSatisfy { $0.accountKey == "alice" && $0.what.isEmpty })
        try store.tell(.dropNote(first, of: store.key("alice")))
        try store.tell(.dropNote(first, of: store.key("alice")))
        #expect(try store.notes("alice").map(\.id) == [second])
        guard case .exported(let export?) = try store.ask(.export(store.key("alice"), TransactionQuery(limit: 9)))
        else { throw ReportedStore.Unexpected() }
        #expect(export.notes.map(\.text) == ["A week was promised."])
    }

    @Test(arguments: all)
    func `go with a merger, and leave with the account`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        for name in ["alice", "bob"] { try store.grant(to: name) }
        try store.note("of alice", on: "alice")
        try store.note("of bob", on: "bob")
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        #expect(try store.notes("bob").map(\.text) == ["of alice", "of bob"])
        #expect(try store.notes("alice").count == 2)
        _ = try store.ask(.mutate(.reported(.erase(store.key("bob")), app: 1)))
        try store.grant(to: "bob")
        #expect(try store.notes("bob") == [])
    }

    @Test(arguments: all)
    func `are within the limit after a merger too, or it is refused and changes nothing`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        for name in ["alice", "bob"] { try store.grant(to: name) }
        for number in 0..<Limits.notesMax - 1 { try store.note("\(number)", on: "alice") }
        let last = try store.note("of bob", on: "bob")
        try store.note("one more", on: "bob")
        let revision = store.engine.header.revision
        #expect(try store.refusal(.merge(store.key("alice"), into: store.key("bob"))) == .recordLimit)
        #expect(store.engine.header.revision == revision)
        #expect(try store.notes("alice").count == Limits.notesMax - 1)
        try store.tell(.dropNote(last, of: store.key("bob")))
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        #expect(try store.notes("bob").count == Limits.notesMax)
    }

    @Test(arguments: all)
    func `are as many as the limit`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.grant(to: "alice")
        for number in 0..<Limits.notesMax { try store.note("\(number)", on: "alice") }
        #expect(throws: Refusal.self) { try store.note("one more", on: "alice") }
        #expect(try store.notes("alice").count == Limits.notesMax)
    }

    @Test(arguments: all)
    func `in a test app too`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage, environment: .xcode)
        try store.grant(to: "alice")
        try store.note("rehearsed", on: "alice")
        #expect(try store.notes("alice").map(\.text) == ["rehearsed"])
        _ = try store.ask(.mutate(.reported(.erase(store.key("alice")), app: 1)))
        #expect(try store.notes("alice") == [])
    }
}

@Suite struct `Who granted` {
    @Test(arguments: all)
    func `is who the audit trail names at the revision of the grant`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        func grant(_ name: String, by subject: String) throws {
            var mutation = Mutation.reported(
                .grant(
                    EntitlementGrant(name: name, until: nil, reason: "r", since: store.wall), to: store.key("alice")),
                app: 1)
            mutation.audit = AuditEntry(
                at: store.wall, subject: subject, address: "", method: "/perch.v1.AdminService/GrantEntitlement",
                what: name, bundleID: "com.example.app", environment: "production")
            _ = try store.ask(.mutate(mutation))
        }
        try grant("plus", by: "\"ada\" by main")
        try grant("beta", by: "everyone")
        store.wall = store.wall.advanced(byMilliseconds: 1_000)
        try grant("plus", by: "\"ben\" by main")
        func history(_ name: String, withGranters: Bool = true) throws -> AccountHistory {
            let question = StoreRequest.Body.history(store.key(name), nil, withGranters: withGranters)
            guard case .history(let history) = try store.ask(question) else { throw ReportedStore.Unexpected() }
            return history
        }
        #expect(try history("alice").granters == ["plus": "ben", "beta": "everyone"])
        #expect(try history("alice", withGranters: false).granters.isEmpty)
        // A merger grants nothing.
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        let merged = try history("bob")
        #expect(merged.granters.isEmpty && merged.record?.grants.count == 2)
    }
}
