import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

private let all = StorageImplementation.allCases

extension ReportedLine {
    /// One report of a purchase, with the names that it carries.
    fileprivate static func named(
        _ original: TransactionID, token: String = "", number: String = "", signedAfter: Int64 = 0
    ) -> ReportedValue {
        guard
            case .transaction(var transaction, _) = Self.transaction(
                original, of: original, token: token, signedAfter: signedAfter)
        else { preconditionFailure("it is a transaction") }
        transaction.appTransactionID = number
        return .transaction(transaction, content: Digest(high: original, low: UInt64(bitPattern: signedAfter)))
    }
}

extension ReportedStore {
    /// The originals of an account by what was reported of them; claims and account numbers differ with the order.
    fileprivate func owned(_ name: String) throws -> [TransactionID] {
        try self.record(name)?.reported?.originals.map(\.id).sorted() ?? []
    }

    fileprivate func grant(_ name: String, to account: String) throws {
        try self.tell(
            .grant(
                EntitlementGrant(name: name, until: nil, reason: "", since: self.wall), to: self.key(account)))
    }
}

@Suite struct `Names of customers` {
    private typealias Step = @Sendable (ReportedStore) throws -> Void

    private static let token = "7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d"

    /// Each way in which a name becomes known, with the purchase that waits for it. In any order the purchase is the account's.
    private static let ways: [(way: String, account: String, steps: [Step])] = [
        (
            "a grant opens the account whose key is the token", token,
            [
                { try $0.tell(.reports(ReportedLine.named(100, token: token))) },
                { try $0.grant("plus", to: token) },
            ]
        ),
        (
            "a grant opens it in upper case", token,
            [
                { try $0.tell(.reports(ReportedLine.named(100, token: token))) },
                { try $0.grant("plus", to: token.uppercased()) },
            ]
        ),
        (
            "a claim of another purchase opens it", token,
            [
                { try $0.tell(.reports(ReportedLine.named(100, token: token))) },
                { try $0.tell(.reports(ReportedLine.named(200), by: $0.key(token.uppercased()))) },
            ]
        ),
        (
            "a name is attached", "alice",
            [
                { try $0.tell(.reports(ReportedLine.named(100, number: "7"))) },
                { try $0.tell(.attach(.appTransactionID("7"), to: $0.key("alice"))) },
            ]
        ),
        (
            "another purchase with the same token is claimed", "alice",
            [
                { try $0.tell(.reports(ReportedLine.named(100, token: token))) },
                { try $0.tell(.reports(ReportedLine.named(200, token: token), by: $0.key("alice"))) },
            ]
        ),
        (
            "another purchase of the same Apple Account is claimed", "alice",
            [
                { try $0.tell(.reports(ReportedLine.named(100, number: "7"))) },
                { try $0.tell(.reports(ReportedLine.named(200, number: "7"), by: $0.key("alice"))) },
            ]
        ),
        (
            "another purchase of the same Apple Account carries a known token", "alice",
            [
                { try $0.tell(.reports(ReportedLine.named(100, number: "7"))) },
                { try $0.tell(.reports(ReportedLine.named(200, token: token, number: "7"))) },
                { try $0.tell(.attach(.appAccountToken(token), to: $0.key("alice"))) },
            ]
        ),
        (
            "a third purchase joins two names", "alice",
            [
                { try $0.tell(.reports(ReportedLine.named(100, number: "7"))) },
                { try $0.tell(.reports(ReportedLine.named(200, token: token, number: "7"))) },
                { try $0.tell(.reports(ReportedLine.named(300, token: token), by: $0.key("alice"))) },
            ]
        ),
        (
            "an administrator moves another purchase", "alice",
            [
                {
                    try $0.tell(.reports(ReportedLine.named(200, number: "7")))
                    try $0.tell(.claim(200, for: $0.key("alice")))
                },
                { try $0.tell(.reports(ReportedLine.named(100, number: "7"))) },
            ]
        ),
        (
            "a later report brings the name", "alice",
            [
                { try $0.tell(.reports(ReportedLine.named(100))) },
                { try $0.tell(.reports(ReportedLine.named(100, number: "7", signedAfter: 5))) },
                { try $0.tell(.reports(ReportedLine.named(200, number: "7"), by: $0.key("alice"))) },
            ]
        ),
    ]

    @Test(arguments: ways.indices) func `attach a purchase in any order of what is reported`(_ index: Int) throws {
        let way = Self.ways[index]
        for order in Self.permutations(Array(way.steps.indices)) {
            let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
            for step in order {
                try way.steps[step](store)
                // A repetition changes nothing.
                try way.steps[step](store)
            }
            #expect(try store.owned(way.account).contains(100), "\(way.way), in the order \(order)")
            #expect(try store.found(.transaction(100))?.isUnclaimed == false)
            // The next purchase of the customer, by notification, is the account's too.
            let names = try #require(try store.record(way.account)?.reported?.original(100)?.links)
            let token = names.aliases.keys.compactMap {
                if case .appAccountToken(let token) = $0 { token } else { nil }
            }
            let number = names.aliases.keys.compactMap { if case .appTransactionID(let id) = $0 { id } else { nil } }
            guard !token.isEmpty || !number.isEmpty else { continue }
            try store.tell(
                .reports(ReportedLine.named(900, token: token.first ?? "", number: number.first ?? "", signedAfter: 9)))
            #expect(try store.owned(way.account).contains(900), "\(way.way), in the order \(order)")
        }
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        if items.count < 2 { return [items] }
        return items.flatMap { first in
            Self.permutations(items.filter { $0 != first }).map { [first] + $0 }
        }
    }

    @Test func `leave a purchase to nobody whose token is another customer's`() throws {
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        // Two customers of the app share one Apple Account.
        try store.tell(
            .reports(ReportedLine.named(100, token: ReportedLine.alice, number: "7"), by: store.key("alice")))
        try store.tell(.reports(ReportedLine.named(200, token: ReportedLine.bob, number: "7")))
        #expect(try store.owned("alice") == [100])
        #expect(try store.found(.transaction(200))?.isUnclaimed == true)
        #expect(try store.found(.alias(.appAccountToken(ReportedLine.bob)))?.isUnclaimed == true)
        try store.grant("plus", to: ReportedLine.bob)
        #expect(try store.owned(ReportedLine.bob) == [200])
    }

    @Test(arguments: all)
    func `are found with the account that has their purchases now`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        let name = AccountSought.alias(.appTransactionID("7"))
        #expect(try store.found(name) == nil)
        try store.tell(.reports(ReportedLine.named(100, number: "7")))
        #expect(try store.found(name)?.isUnclaimed == true)
        try store.tell(.reports(ReportedLine.named(100, number: "7"), by: store.key("alice")))
        let found = try store.found(name)
        #expect(found?.key == Array("alice".utf8) && found?.isUnclaimed == false)
        #expect(found?.record.reported?.originals.map(\.id) == [100])
        try store.tell(.reports(ReportedLine.named(100, number: "7"), by: store.key("bob")))
        #expect(try store.found(name)?.key == Array("bob".utf8), "it is whose the purchase is")
    }

    @Test(arguments: all)
    func `that are UUIDs compare without regard to case`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.reports(ReportedLine.named(100), by: store.key(Self.token.uppercased())))
        for key in [Self.token, Self.token.uppercased(), Self.token.prefix(9).uppercased() + Self.token.dropFirst(9)] {
            #expect(try store.owned(key) == [100])
            try store.grant("plus", to: key)
        }
        #expect(try store.record(Self.token)?.grants.count == 1, "it is one account")
        guard case .keys(let keys, false) = try store.ask(.keys(1, after: [], limit: 10)) else {
            throw ReportedStore.Unexpected()
        }
        #expect(keys == [Array(Self.token.utf8)])
    }

    @Test(arguments: all)
    func `list an account with two keys once`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.reports(ReportedLine.named(100), by: store.key("zoe")))
        try store.tell(.reports(ReportedLine.named(200), by: store.key("alice")))
        try store.tell(.merge(store.key("zoe"), into: store.key("alice")))
        try store.tell(.reports(ReportedLine.named(300)))
        func listed(once: Bool, limit: Int) throws -> [String] {
            var (keys, after): ([String], [UInt8]?) = ([], AccountKey.beforeUnclaimed)
            while let place = after {
                guard
                    case .accounts(let accounts, let next) = try store.ask(
                        .accounts(1, after: place, limit: limit, once: once))
                else { throw ReportedStore.Unexpected() }
                keys += accounts.map {
                    $0.record.reported?.isUnclaimed == true ? "" : String(decoding: $0.key, as: UTF8.self)
                }
                after = next
            }
            return keys
        }
        for limit in 1...4 {
            #expect(try listed(once: true, limit: limit) == ["", "alice"], "\(limit) keys a page")
            #expect(try listed(once: false, limit: limit) == ["", "alice", "zoe"])
        }
    }

    @Test(arguments: all)
    func `go with an account that is merged`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.attach(.appTransactionID("7"), to: store.key("anon")))
        try store.grant("plus", to: "anon")
        try store.tell(.reports(ReportedLine.named(100, number: "7")))
        try store.tell(.merge(store.key("anon"), into: store.key("alice")))
        #expect(try store.owned("alice") == [100])
        #expect(try store.record("alice")?.grants.map(\.name) == ["plus"])
        try store.tell(.reports(ReportedLine.named(200, number: "7")))
        #expect(try store.owned("alice") == [100, 200])
    }

    /// One order for reads, changes and purchases: an attached name is a key of its account, and a key leads to one account.
    @Test(arguments: all)
    func `lead what is bought and granted by them to their account`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        let (token, number) = (ReportedLine.alice, AccountAlias.appTransactionID("7"))
        try store.tell(.attach(.appAccountToken(token), to: store.key("alice")))
        try store.tell(.attach(number, to: store.key("alice")))
        try store.tell(.reports(ReportedLine.named(100), by: store.key(token.uppercased())))
        try store.tell(.reports(ReportedLine.named(200), by: store.key("7")))
        try store.grant("plus", to: "7")
        #expect(try store.owned("alice") == [100, 200] && store.record("alice")?.grants.map(\.name) == ["plus"])
        // The key of another account stays that account's: in a submission too, which brings a number of Apple's.
        try store.grant("plus", to: "8")
        try store.tell(.detach(number))
        #expect(try store.refusal(.attach(.appTransactionID("8"), to: store.key("alice"))) == .ownedByOther)
        try store.tell(
            .reports(
                [ReportedLine.named(300)], source: .submission, claimant: store.key("alice"),
                names: [.appTransactionID("8")]))
        #expect(try store.owned("alice") == [100, 200, 300] && store.owned("8") == [])
        try store.tell(.merge(store.key("8"), into: store.key("alice")))
        try store.tell(.attach(.appTransactionID("8"), to: store.key("alice")))
        #expect(try store.owned("8") == [100, 200, 300])
    }

    @Test func `that are no UUID name no customer`() throws {
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        // The name of the index of an original, and a text of an earlier version.
        for (id, token) in [(TransactionID(100), "\u{0}o200"), (101, "alice")] {
            try store.tell(.reports(ReportedLine.named(id, token: token)))
            #expect(try store.found(.transaction(id))?.isUnclaimed == true)
        }
        try store.tell(.reports(ReportedLine.named(200), by: store.key("alice")))
        #expect(try store.owned("alice") == [200])
    }
}

@Suite struct `What is submitted for an account` {
    @Test(arguments: all)
    func `is a purchase, and waits to be finished`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        let report = ReportedLine.transaction(100)
        try store.tell(.reports(report, by: store.key("alice")))
        let change = try #require(store.changes.last?.accounts.last)
        #expect(change.cause == .purchase)
        let account = try #require(try store.record("alice")?.account)
        let events = try store.storage.events(of: account, after: EventPlace(revision: 0, ordinal: 0), limit: 10)
        #expect(events.map(\.kind) == [.purchased])
        #expect(try self.unfinished("alice", store) == [100])
        // A repetition does not bring it back once it is finished.
        guard case .mutated = try store.ask(.mutate(Self.finishing(100, store))) else {
            throw ReportedStore.Unexpected()
        }
        #expect(try self.unfinished("alice", store) == [])
        try store.tell(.reports(report, by: store.key("alice")))
        #expect(try self.unfinished("alice", store) == [])
    }

    @Test func `is a purchase also where a notification came first`() throws {
        let store = try ReportedStore(on: MemoryStorage(identity: StoreIdentity(high: 1, low: 2)))
        try store.tell(.reports(ReportedLine.transaction(100)))
        try store.tell(.reports(ReportedLine.transaction(100), by: store.key("alice")))
        let account = try #require(try store.record("alice")?.account)
        #expect(store.changes.last?.accounts.first { $0.record.account == account }?.cause == .purchase)
        let events = try store.storage.events(of: account, after: EventPlace(revision: 0, ordinal: 0), limit: 10)
        #expect(events.map(\.kind) == [.purchased])
        #expect(try self.unfinished("alice", store) == [100])
    }

    private func unfinished(_ name: String, _ store: ReportedStore) throws -> [TransactionID] {
        var query = TransactionQuery(limit: 10)
        query.unfinishedOnly = true
        guard case .transactions(let rows, false) = try store.ask(.transactions(store.key(name), query)) else {
            throw ReportedStore.Unexpected()
        }
        return rows.map(\.transaction.id)
    }

    private static func finishing(_ id: TransactionID, _ store: ReportedStore) -> Mutation {
        Mutation(.transaction(store.key("alice"), id), needsTestApp: false) { view throws(Refusal) in
            let row = view.transaction
            guard let row, !row.isFinished else { return .unchanged(answer: .none) }
            let fact = Fact(.finished(id), effective: view.now)
            return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
        }
    }
}

@Suite struct `Consumables of a reported app` {
    private static func consumable(_ id: TransactionID, signedAfter: Int64 = 0, revoked: Bool = false) -> ReportedValue
    {
        let bought = ReportedStore.start.advanced(byMilliseconds: Int64(id))
        var transaction = Transaction(
            id: id, originalID: id, appBundleID: "com.example.app", productID: "coins", productType: .consumable,
            purchaseDate: bought, originalPurchaseDate: bought, environment: .production,
            storefront: Storefront(countryCode: "USA"), reason: .purchase,
            signedDate: bought.advanced(byMilliseconds: signedAfter))
        transaction.appTransactionID = "7"
        if revoked {
            transaction.revocation = Revocation(date: transaction.signedDate, reason: .other, type: .refundFull)
        }
        return .transaction(transaction, content: Digest(high: id, low: UInt64(bitPattern: signedAfter)))
    }

    @Test(arguments: all)
    func `never fill the record, and a late refund finds them`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        try store.tell(.attach(.appTransactionID("7"), to: store.key("alice")))
        let count = TransactionID(Limits.reportedConsumablesMax + 40)
        let reports = (1...count).map { Self.consumable(1_000 + $0) }
        for first in stride(from: 0, to: reports.count, by: 50) {
            let part = Array(reports[first..<min(first + 50, reports.count)])
            try store.tell(.reports(part, source: .notification, claimant: nil))
        }
        func kept() throws -> [TransactionID] { try store.record("alice")?.reported?.originals.map(\.id) ?? [] }
        #expect(try kept().count == Limits.reportedConsumablesMax)
        #expect(try !kept().contains(1_001))
        // It is known, though: a repetition is one, and it is found.
        #expect(try store.tell(.reports(Self.consumable(1_001))).duplicates == 1)
        #expect(try store.found(.transaction(1_001))?.key == Array("alice".utf8))
        try store.tell(.reports(Self.consumable(1_001, signedAfter: 5, revoked: true)))
        #expect(try kept().count == Limits.reportedConsumablesMax)
        var query = TransactionQuery(limit: 500)
        query.includesFinishedConsumables = true
        guard case .transactions(let rows, false) = try store.ask(.transactions(store.key("alice"), query)) else {
            throw ReportedStore.Unexpected()
        }
        #expect(rows.count == Int(count), "the list of transactions has all")
        #expect(rows.first { $0.transaction.id == 1_001 }?.transaction.revocation != nil)
        #expect(try store.tell(.reports(Self.consumable(1_001))).stale == 1, "an older report changes nothing")
        // All of them go where the account goes.
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        #expect(try store.found(.transaction(1_001))?.key == Array("alice".utf8), "the first of its keys")
        #expect(try store.record("bob")?.reported?.originals.count == Limits.reportedConsumablesMax)
        guard case .mutated = try store.ask(.mutate(.reported(.erase(store.key("bob")), app: 1))) else {
            throw ReportedStore.Unexpected()
        }
        #expect(try store.found(.transaction(1_001)) == nil)
        #expect(try store.tell(.reports(Self.consumable(1_001))).erased == 1)
    }
}

@Suite struct `Notifications of a reported app` {
    private static func note(_ type: String, _ uuid: String, reason: String = "") -> NotedNotification {
        NotedNotification(
            NotificationNotice(
                type: type, subtype: "", uuid: uuid, signed: ReportedStore.start, transactionID: 100),
            consumptionReason: reason)
    }

    @Test(arguments: all)
    func `are noted once in the account of their purchase`(_ implementation: StorageImplementation) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        func notify(_ report: ReportedValue, _ note: NotedNotification) throws {
            try store.tell(.reports([report], source: .notification, claimant: nil, notice: note))
        }
        try store.tell(.reports(ReportedLine.transaction(100), by: store.key("alice")))
        let account = try #require(try store.record("alice")?.account)
        func noted() throws -> [String] {
            try store.storage.facts(of: account).compactMap {
                if case .notified(let notice, let reason) = $0.reported { notice.type + reason } else { nil }
            }
        }
        try notify(ReportedLine.transaction(100), Self.note("SUBSCRIBED", "u-1"))
        try notify(ReportedLine.transaction(100), Self.note("CONSUMPTION_REQUEST", "u-2", reason: "LEGAL"))
        let revision = store.engine.header.revision
        try notify(ReportedLine.transaction(100), Self.note("CONSUMPTION_REQUEST", "u-2", reason: "LEGAL"))
        #expect(store.engine.header.revision == revision, "a retry makes no revision")
        #expect(try noted() == ["SUBSCRIBED", "CONSUMPTION_REQUESTLEGAL"])
    }
}
