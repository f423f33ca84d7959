import Foundation
import PerchBase
import PerchModel
import PerchSQLite
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

@Suite struct `Erasing an account` {
    private static let late: Int64 = 2_000

    /// Alice with a subscription in two accounts, a refund, a stale report, a grant, a kept answer and a dead letter; and bob.
    private static func filled(_ storage: any Storage) throws -> ReportedStore {
        let store = try ReportedStore(on: storage)
        try store.tell(.attach(.appAccountToken(ReportedLine.bob), to: store.key("bob")))
        try store.tell(.reports(ReportedLine.transaction(500, of: 500, token: ReportedLine.bob)))
        // Before her account was known, then as an anonymous customer, then as alice.
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        try store.tell(.attach(.appAccountToken(ReportedLine.alice), to: store.key("anonymous-alice")))
        try store.tell(
            .reports(ReportedLine.transaction(100, token: ReportedLine.alice, signedAfter: Self.late, revoked: true)),
            key: Array("alice's request".utf8))
        try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice, signedAfter: 1)))
        try store.tell(.merge(store.key("anonymous-alice"), into: store.key("alice-the-first")))
        let letter = DeadLetter(
            received: ReportedStore.start, reason: "APPLE_SIGNATURE", message: "m", bundleID: "b",
            environment: "Production",
            notificationType: "REFUND", jws: "letter-of-alice", about: [DeadLetter.about(original: 100)])
        _ = try store.ask(.mutate(.item(.keep(letter.item(signed: ReportedStore.start, isStrange: false), limit: 9))))
        let other = DeadLetter(
            received: ReportedStore.start, reason: "APPLE_SIGNATURE", message: "m", bundleID: "b",
            environment: "Production",
            notificationType: "REFUND", jws: "letter-of-bob", about: [DeadLetter.about(original: 500)])
        _ = try store.ask(.mutate(.item(.keep(other.item(signed: ReportedStore.start, isStrange: false), limit: 9))))
        try store.tell(.notified("notification of alice", about: 100, reports: []))
        try store.tell(.notified("notification of bob", about: 500, reports: []))
        return store
    }

    private static func erase(_ name: String, _ store: ReportedStore) throws -> (facts: UInt64, revision: UInt64) {
        switch try store.ask(.mutate(.reported(.erase(store.key(name)), app: 1))) {
        case .mutated(.number(let count), let position): return (count, position.revision)
        case .refused(let refusal): throw refusal
        default: throw ReportedStore.Unexpected()
        }
    }

    @Test func `tells other nodes the keys, and names no account by them`() throws {
        var change = StoredChange(
            revision: 5, committed: Instant(milliseconds: 9), app: 1, nextTransaction: 1, nextAccount: 4)
        let erased = Fact(.reported(.erased), effective: Instant(milliseconds: 9))
        change.facts = [StoredFact(account: 2, fact: erased, origin: [])]
        let (gone, other) = (
            AccountKey(app: 1, bytes: Array("gone".utf8)), AccountKey(app: 1, bytes: Array("other".utf8))
        )
        change.aliases = [(other, 3)]
        change.erasedKeys = [(gone, 2)]
        let read = try StoredChange(unsealing: change.sealed(), revision: 5) { _, _ in
            preconditionFailure("no catalogue")
        }
        #expect(read.aliases.map(\.key) == [other] && read.aliases.map(\.account) == [3])
        #expect(read.erasedKeys.map(\.key) == [gone] && read.erasedKeys.map(\.account) == [2])
        var known = ErasedKeys()
        known.add(erasedBy: read, isOwn: false)
        #expect(known[2] == [gone])
        // As a node of the version before says it.
        change.erasedKeys = []
        change.facts[0].account = 7
        known.add(erasedBy: change, isOwn: false)
        #expect(known[7] == nil, "copies begin again")
        known.add(erasedBy: change, isOwn: true)
        #expect(known[7] == [])
    }

    @Test func `is remembered for the last of many`() {
        var erased = ErasedKeys()
        let key = AccountKey(app: 1, bytes: Array("account".utf8))
        for number in 1...Limits.erasedKeysKept + 3 { erased.add(AccountNumber(number), number % 2 == 0 ? [key] : []) }
        #expect((1...3).allSatisfy { erased[$0] == nil })
        #expect(erased[4] == [key] && erased[5] == [] && erased[AccountNumber(Limits.erasedKeysKept + 3)] != nil)
    }

    @Test(arguments: all)
    func `leaves nothing of it, and everything of others`(_ implementation: StorageImplementation) throws {
        let made = try implementation.make()
        let store = try Self.filled(made.storage)
        let bob = try #require(try store.record("bob"))
        let before = store.engine.header.revision
        let erased = try Self.erase("alice-the-first", store)
        #expect(erased.revision == before + 1 && erased.facts > 6)
        for name in ["alice-the-first", "anonymous-alice"] { #expect(try store.record(name) == nil, "\(name)") }
        #expect(try store.found(.transaction(100)) == nil)
        #expect(try store.found(.alias(.appAccountToken(ReportedLine.alice))) == nil)
        #expect(try made.storage.answer(to: MutationKey(app: 1, bytes: Array("alice's request".utf8))) == nil)
        let letters = try made.storage.items(.deadLetter, group: DeadLetter.known, after: [], limit: 9)
        #expect(letters.compactMap { DeadLetter($0)?.jws } == ["letter-of-bob"])
        #expect(try store.notifications().map(\.jws) == ["notification of bob"])
        // Another one about her comes too late.
        try store.tell(
            .notified("late", about: 100, reports: [ReportedLine.transaction(100, token: ReportedLine.alice)]))
        #expect(try store.notifications().map(\.jws) == ["notification of bob"])
        #expect(try made.storage.transaction(1, 100) == nil)
        // Revisions have no holes, and what is left in them is bob's, or says that something was erased.
        let rows = try #require(try made.storage.commitRows(after: 0, limit: 99))
        #expect(rows.map(\.revision) == Array(1...erased.revision))
        for row in rows {
            for stored in try made.storage.facts(ofRevision: row.revision) where stored.account != bob.account {
                #expect(stored.fact.reported == .erased && row.revision == erased.revision)
            }
            for (key, account) in row.detail?.aliases ?? [] {
                #expect(account == bob.account || String(decoding: key.bytes, as: UTF8.self).contains("500"), "\(key)")
            }
        }
        #expect(try store.record("bob") == bob)
        #expect(try store.state("bob") == [.subscribed])
        let change = try #require(store.changes.last)
        #expect(change.revision == erased.revision && change.accounts.allSatisfy { $0.record.reported == nil })
        #expect(throws: Refusal.self) { try Self.erase("alice-the-first", store) }
    }

    @Test(arguments: all)
    func `keeps no later report until somebody claims it`(_ implementation: StorageImplementation) throws {
        let store = try Self.filled(try implementation.make().storage)
        _ = try Self.erase("alice-the-first", store)
        let revision = store.engine.header.revision
        let report = ReportedLine.transaction(101, period: 1, token: ReportedLine.alice)
        let outcome = try store.tell(.reports(report))
        #expect(outcome.erased == 1 && outcome.news == 0)
        #expect(store.engine.header.revision == revision)
        #expect(try store.found(.transaction(101)) == nil)
        try store.tell(.reports(report, by: store.key("alice-again")))
        #expect(try store.found(.transaction(101))?.key == Array("alice-again".utf8))
        #expect(try store.tell(.reports(ReportedLine.transaction(102, period: 2))).news == 1)
        #expect(try store.record("alice-again")?.reported?.original(100)?.registers.count == 2)
    }

    @Test(arguments: all)
    func `that is not committed changes nothing`(_ implementation: StorageImplementation) throws {
        let made = try implementation.make()
        let store = try Self.filled(made.storage)
        let account = try #require(try store.record("alice-the-first"))
        let facts = try made.storage.facts(of: account.account)
        let header = try made.storage.header()
        var change = StoredChange(
            revision: header.revision + 1, committed: ReportedStore.start, app: 1,
            nextTransaction: header.nextTransaction,
            nextAccount: header.nextAccount)
        change.facts = [
            StoredFact(
                account: account.account, fact: Fact(.reported(.erased), effective: ReportedStore.start), origin: [])
        ]
        change.records = [StoredRecord(AccountRecord(account: account.account, app: 1))]
        var side = SideWrites()
        side.removedAliases = try made.storage.names(of: account.account)
        side.erasure = Erasure([account.account])
        side.erasure?.answers = [MutationKey(app: 1, bytes: Array("alice's request".utf8))]
        side.erasure?.commits = (1...header.revision).map { CommitDetailEdit(revision: $0, detail: nil) }
        change.side = side
        let details = try #require(try made.storage.commitRows(after: 0, limit: 99)).map(\.detail)
        try made.storage.begin()
        try made.storage.apply(change)
        #expect(try made.storage.facts(of: account.account).count == 1)
        made.storage.rollback()
        #expect(try made.storage.names(of: account.account) == side.removedAliases)
        #expect(try #require(try made.storage.commitRows(after: 0, limit: 99)).map(\.detail) == details)
        #expect(try made.storage.facts(of: account.account) == facts)
        #expect(try made.storage.record(account.account) == account)
        #expect(try made.storage.transaction(1, 100) != nil)
        #expect(try made.storage.answer(to: MutationKey(app: 1, bytes: Array("alice's request".utf8))) != nil)
    }

    /// The number of a removed app is another app's later, which has reports of its own.
    @Test func `leaves nothing that an app with the same number later would take for its own`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store.db")
        do {
            let storage = try SQLiteStorage(path: path)
            defer { storage.close() }
            let store = try Self.filled(storage)
            _ = try Self.erase("alice-the-first", store)
            _ = try Self.erase("bob", store)
        }
        try StoreApps.remove("com.example.app", .production, from: path)
        let storage = try SQLiteStorage(path: path)
        let removed = storage.header().revision
        let store = try ReportedStore(on: storage)
        let outcome = try store.tell(.reports(ReportedLine.transaction(100, token: ReportedLine.alice)))
        #expect(outcome.erased == 0 && outcome.news == 1)
        let rows = try #require(try storage.commitRows(after: 0, limit: 99))
        #expect(rows.filter { $0.revision <= removed }.allSatisfy { $0.app == 0 })
        #expect(try storage.findings() == [])
    }

    @Test func `leaves no byte of it in the file`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let storage = try SQLiteStorage(path: path)
        let store = try Self.filled(storage)
        func found(_ text: String) throws -> Bool {
            try Data(contentsOf: URL(filePath: path)).range(of: Data(text.utf8)) != nil
        }
        _ = try Self.erase("alice-the-first", store)
        storage.close()
        #expect(try found(ReportedLine.bob), "the test finds what is there")
        for text in ["alice", ReportedLine.alice, "70100", "w100-0"] { #expect(try !found(text), "\(text)") }
        #expect(try SQLiteStorage(path: path).findings() == [])
    }

    @Test(arguments: all)
    func `of a test app ends its renewals, and its key opens a new account`(_ implementation: StorageImplementation)
        throws
    {
        let store = try FamilyStore(storage: try implementation.make().storage)
        try store.buy("silver", "anna")
        try store.buy("lifetime", "anna")
        try store.buy("gold", "berta")
        let number = try #require(try store.storage.account(FamilyStore.key("anna")))
        try store.mutate(.reported(.erase(FamilyStore.key("anna")), app: 1))
        #expect(try store.storage.due(1, through: .distantFuture, limit: 9).count == 1)
        #expect(try store.storage.facts(of: number).map(\.reported) == [.erased])
        store.now = store.now.advanced(byMilliseconds: 3 * FamilyStore.month)
        try store.buy("coins", "berta")
        try store.buy("gold", "anna")
        let again = try #require(try store.storage.account(FamilyStore.key("anna")))
        #expect(again != number)
        #expect(try store.storage.record(again)?.lines.count == 1)
        #expect(try store.storage.transactions(of: number, TransactionQuery(limit: 9)).isEmpty)
    }

    @Test func `that shares with the family is refused, on both sides`() throws {
        let store = try FamilyStore()
        try store.buy("gold", "anna")
        try store.mutate(
            .operation(.share(.product("gold"), member: "berta"), account: FamilyStore.key("anna"), app: 1))
        for name in ["anna", "berta"] {
            #expect {
                try store.mutate(.reported(.erase(FamilyStore.key(name)), app: 1))
            } throws: {
                ($0 as? Refusal)?.reason == .accountShares
            }
        }
        try store.mutate(
            .operation(.stopSharing(.product("gold"), member: "berta"), account: FamilyStore.key("anna"), app: 1))
        try store.mutate(.reported(.erase(FamilyStore.key("anna")), app: 1))
        #expect(try store.storage.account(FamilyStore.key("anna")) == nil)
    }
}
