import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

extension ReportedStore {
    fileprivate func updates() throws -> [AppStoreUpdate] {
        let body = StoreRequest.Body.items(.appStoreUpdate, groups: [ItemKey.appGroup(1)], after: [], limit: 10)
        guard case .items(let items, _) = try self.ask(body) else { throw Unexpected() }
        return items.compactMap { AppStoreUpdate($0) }
    }

    fileprivate func finish(_ id: TransactionID, of name: String) throws {
        let mutation = Mutation(.transaction(self.key(name), id), needsTestApp: false) { view throws(Refusal) in
            guard let row = view.transaction, !row.isFinished else { return .unchanged(answer: .none) }
            let fact = Fact(.finished(id), effective: view.now)
            return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
        }
        guard case .mutated = try self.ask(.mutate(mutation)) else { throw Unexpected() }
    }
}

/// What the App Store is told about purchases.
@Suite struct `updates for the App Store` {
    private static func store(
        _ kind: StorageImplementation = .memory, finishes: Bool = true, tokens: Bool = true
    ) throws -> ReportedStore {
        var settings = AppSettings()
        settings.finishesAtAppStore = finishes
        settings.setsTokensAtAppStore = tokens
        return try ReportedStore(on: try kind.make().storage, settings: settings)
    }

    private static func token(_ token: String, of original: TransactionID, _ store: ReportedStore) -> AppStoreUpdate {
        AppStoreUpdate(.token(token), of: original, asked: store.wall)
    }

    @Test(arguments: all) func `are stored with the change that asks for them, until they were taken`(
        _ kind: StorageImplementation
    ) throws {
        let store = try Self.store(kind)
        try store.tell(.reports(ReportedLine.transaction(101), by: store.key(ReportedLine.alice)))
        let token = Self.token(ReportedLine.alice, of: 100, store)
        #expect(try store.updates() == [token])
        let revisions = store.changes.count
        try store.finish(101, of: ReportedLine.alice)
        #expect(store.changes.count == revisions + 1, "in the revision that finishes it")
        let finish = AppStoreUpdate(.finish, of: 101, asked: store.wall)
        #expect(try store.updates() == [finish, token])
        try store.finish(101, of: ReportedLine.alice)
        try store.tell(.updated(finish, refusing: nil))
        #expect(try store.updates() == [token])
        try store.tell(.updated(finish, refusing: nil))
        // What the App Store refuses stays, with why.
        try store.tell(.updated(token, refusing: "4000185 of a family"))
        #expect(try store.updates().map(\.message) == ["4000185 of a family"])
    }

    @Test func `are those that the app asks for`() throws {
        for (finishes, tokens, count) in [(false, false, 0), (true, false, 1), (false, true, 1)] {
            let store = try Self.store(finishes: finishes, tokens: tokens)
            try store.tell(.reports(ReportedLine.transaction(101), by: store.key(ReportedLine.alice)))
            try store.finish(101, of: ReportedLine.alice)
            #expect(try store.updates().count == count)
        }
    }

    @Test func `have the token of the account that has the purchase last`() throws {
        let store = try Self.store()
        try store.tell(.reports(ReportedLine.transaction(101), by: store.key(ReportedLine.alice)))
        // While the first token is sent, the purchase moves: what is said of that one says nothing of this.
        let first = try #require(try store.updates().first)
        try store.tell(.claim(100, for: store.key(ReportedLine.bob)))
        #expect(try store.updates() == [Self.token(ReportedLine.bob, of: 100, store)])
        try store.tell(.updated(first, refusing: nil))
        #expect(try store.updates().count == 1)
        // Back again: the App Store may have been told the other one.
        try store.tell(.updated(try #require(try store.updates().first), refusing: nil))
        try store.tell(.claim(100, for: store.key(ReportedLine.alice)))
        #expect(try store.updates() == [Self.token(ReportedLine.alice, of: 100, store)])
    }

    @Test func `say nothing that the purchase says`() throws {
        let store = try Self.store()
        let bought = ReportedLine.transaction(101, token: ReportedLine.alice)
        try store.tell(.reports(bought, by: store.key(ReportedLine.alice)))
        #expect(try store.updates().isEmpty)
        try store.tell(.claim(100, for: store.key(ReportedLine.bob)))
        try store.tell(.claim(100, for: store.key(ReportedLine.alice)))
        #expect(try store.updates() == [Self.token(ReportedLine.alice, of: 100, store)])
    }

    @Test func `have the token that was attached, where the account's key is none`() throws {
        let store = try Self.store()
        try store.tell(.reports(ReportedLine.transaction(101), by: store.key("carol")))
        #expect(try store.updates().isEmpty, "nothing names her")
        try store.tell(.attach(.appAccountToken(ReportedLine.bob), to: store.key("dora")))
        try store.tell(.merge(store.key("carol"), into: store.key("dora")))
        #expect(try store.updates() == [Self.token(ReportedLine.bob, of: 100, store)])
    }

    @Test(arguments: all) func `tell no token of an account that has lost the purchase to one without a token`(
        _ kind: StorageImplementation
    ) throws {
        let store = try Self.store(kind)
        try store.tell(.reports(ReportedLine.transaction(101), by: store.key(ReportedLine.alice)))
        #expect(try store.updates().count == 1)
        try store.tell(.claim(100, for: store.key("carol")))
        #expect(try store.updates().isEmpty)
    }

    @Test func `name no family member's purchase`() throws {
        let store = try Self.store()
        guard case .transaction(var transaction, let content) = ReportedLine.transaction(101) else { return }
        transaction.ownership = .familyShared
        try store.tell(
            .reports(
                [.transaction(transaction, content: content)], source: .submission,
                claimant: store.key(ReportedLine.alice)))
        #expect(try store.updates().isEmpty)
    }

    @Test(arguments: all) func `go with the account`(_ kind: StorageImplementation) throws {
        let store = try Self.store(kind)
        try store.tell(.reports(ReportedLine.transaction(101), by: store.key(ReportedLine.alice)))
        try store.finish(101, of: ReportedLine.alice)
        try store.tell(.reports(ReportedLine.transaction(301, of: 300), by: store.key(ReportedLine.bob)))
        #expect(try store.updates().count == 3)
        guard case .mutated = try store.ask(.mutate(.reported(.erase(store.key(ReportedLine.alice)), app: 1))) else {
            return #expect(Bool(false), "she is erased")
        }
        #expect(try store.updates() == [Self.token(ReportedLine.bob, of: 300, store)])
    }

    @Test(arguments: all) func `of others are not read where an account is erased, however many wait`(
        _ kind: StorageImplementation
    ) throws {
        let store = try Self.store(kind)
        for number in 1...TransactionID(20) {
            let original = 1_000 * number
            try store.tell(
                .reports(ReportedLine.transaction(original, of: original), by: store.key("customer\(number)")))
            try store.finish(original, of: "customer\(number)")
        }
        try store.tell(.reports(ReportedLine.transaction(101), by: store.key(ReportedLine.alice)))
        let before = store.engine.counters.itemsListed
        guard case .mutated = try store.ask(.mutate(.reported(.erase(store.key(ReportedLine.alice)), app: 1))) else {
            return #expect(Bool(false), "she is erased")
        }
        let listed = store.engine.counters.itemsListed - before
        #expect(listed < 10, "\(listed) items were read to find those of one account")
        #expect(try store.updates().count == 10, "the page of others' updates is full")
    }

    @Test func `are read as they were written`() {
        var update = AppStoreUpdate(.token(ReportedLine.alice), of: 7, asked: ReportedStore.start)
        update.message = "no"
        #expect(AppStoreUpdate(update.item(1)) == update)
        let finish = AppStoreUpdate(.finish, of: 7, asked: ReportedStore.start)
        #expect(AppStoreUpdate(finish.item(1)) == finish)
        #expect(AppStoreUpdate(StoredItem(finish.key(1), [3])) == nil)
        #expect(finish.key(1) != update.key(1))
    }
}

/// How many notifications a change took that had not come before.
@Suite struct `notices of notifications` {
    private static func tell(_ uuid: String, _ report: ReportedValue, _ store: ReportedStore) throws -> ReportedOutcome
    {
        let notice = NotificationNotice(
            type: "DID_RENEW", subtype: "", uuid: uuid, signed: store.wall, transactionID: 101)
        return try store.tell(
            .reports([report], source: .history, claimant: nil, notice: NotedNotification(notice)))
    }

    @Test func `are new once, whatever became of their values`() throws {
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        let early = ReportedLine.transaction(101)
        #expect(try Self.tell("one", early, store).notices == 1)
        #expect(try Self.tell("two", ReportedLine.transaction(101, signedAfter: 5_000), store).notices == 1)
        // The first one comes again. Its value is older than what is known, and changed nothing before.
        let again = try Self.tell("one", early, store)
        #expect(again.notices == 0 && again.stale == 1)
        // Another one has only what is known, and had not come.
        #expect(try Self.tell("three", early, store).notices == 1)
    }
}
