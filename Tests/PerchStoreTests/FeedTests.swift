import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

/// A change in comparable parts.
private struct Parts: Equatable {
    var revision: UInt64
    var committed: Instant
    var accounts: [Account]
    var aliases: [AccountKey: AccountNumber]
    var app: UInt64?
    var appCause: Cause
    var revoked: [RevokedToken]

    struct Account: Equatable {
        var record: AccountRecord
        var cause: Cause
        var facts: [Fact]
        var ordinal: UInt32
        var origin: [UInt8]
        var events: [AccountEvent]
    }

    init(_ change: Change) {
        self.revision = change.revision
        self.committed = change.committed
        self.accounts = change.accounts.map {
            Account(
                record: $0.record, cause: $0.cause, facts: $0.facts, ordinal: $0.ordinal, origin: $0.origin,
                events: $0.events)
        }
        self.aliases = Dictionary(change.aliases.map { ($0.key, $0.account) }) { $1 }
        self.app = change.app?.revision
        self.appCause = change.appCause
        self.revoked = change.revoked
    }
}

@Suite struct `The feed of changes` {
    /// A family, its purchases, refunds and renewals, a setting, a clock and a revoked token.
    private static func live(_ store: FamilyStore) throws {
        try store.buy("silver", "a")
        try store.operate(.share(.product("silver"), member: "b"), "a")
        try store.buy("coins", "b")
        let lifetime = try store.buy("lifetime", "c")
        store.advance(FamilyStore.month + 1_000)
        try store.operate(.refund(.transaction(lifetime.id), reason: .other, share: .full), nil)
        try store.operate(.reverseRefund(.transaction(lifetime.id)), nil)
        try store.mutate(
            Mutation(.app(1), needsTestApp: true) { view in
                var change = AppChange()
                change.settings = view.app.settings
                change.settings?.storefront = "FRA"
                return .commitApp(change, answer: .none)
            })
        try store.revoke("stolen")
        try store.operate(.buy(PurchaseOrder(productID: "gold")), "a")
        store.advance(2 * FamilyStore.month)
        try store.operate(.clearTransactions, "b")
    }

    @Test(arguments: StorageImplementation.allCases)
    func `the feed of changes is read from storage as it was sent to the loops`(_ implementation: StorageImplementation)
        throws
    {
        let made = try implementation.make()
        let store = try FamilyStore(storage: made.storage)
        try Self.live(store)
        let stored = try #require(try made.storage.changes(after: 1, limit: 1_000))
        #expect(stored.map { Parts(Change($0)) } == store.changes.map(Parts.init))
        #expect(stored.count > 12)
        #expect(
            stored.last.map { [$0.nextTransaction, $0.nextAccount] } == [
                store.engine.header.nextTransaction, store.engine.header.nextAccount,
            ])
        #expect(try made.storage.changes(after: 0, limit: 1)?.first?.app?.state.bundleID == "com.example.app")
        #expect(try made.storage.changes(after: 3, limit: 2)?.map(\.revision) == [4, 5])
        #expect(try made.storage.changes(after: store.engine.header.revision, limit: 2)?.isEmpty == true)
        // The due instants of successive changes end with the storage's.
        var due: [AccountNumber: Instant] = [:]
        for record in stored.flatMap(\.records) {
            #expect(record.previousDue == due[record.record.account])
            due[record.record.account] = record.due
        }
        let entries = try made.storage.due(1, through: .distantFuture, limit: 100)
        #expect(entries.count == due.count && entries.allSatisfy { due[$0.account] == $0.instant })
    }

    @Test func `the feed of changes survives sealing, whole`() throws {
        let store = try FamilyStore()
        try Self.live(store)
        for change in try #require(try store.storage.changes(after: 0, limit: 1_000)) {
            let opened = try StoredChange(unsealing: change.sealed(), revision: change.revision) { _, _ in
                FamilyStore.catalogue
            }
            #expect(Parts(Change(opened)) == Parts(Change(change)))
            #expect(opened.facts == change.facts)
            #expect(opened.records == change.records)
            #expect(opened.app?.sealed() == change.app?.sealed())
            #expect(opened.appNumber == change.appNumber)
            #expect([opened.nextTransaction, opened.nextAccount] == [change.nextTransaction, change.nextAccount])
            #expect(throws: DecodingFault.self) {
                try StoredChange(unsealing: change.sealed(), revision: change.revision + 1) { _, _ in
                    FamilyStore.catalogue
                }
            }
        }
    }
}

@Suite struct `The window of due attempts` {
    @Test func `the window of due attempts is the earliest that storage has, through random moves`() {
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var window = DueWindow()
            var due: [AccountNumber: Instant] = [:]
            // All entries in order, as storage has them.
            var stored: [DueEntry] = []
            func place(of entry: DueEntry) -> Int {
                var range = 0..<stored.count
                while !range.isEmpty {
                    let middle = (range.lowerBound + range.upperBound) / 2
                    let isBefore = (stored[middle].instant, stored[middle].account) < (entry.instant, entry.account)
                    range = isBefore ? middle + 1..<range.upperBound : range.lowerBound..<middle
                }
                return range.lowerBound
            }
            var loads = 0
            for _ in 0..<4_000 {
                let account = AccountNumber(random.below(900))
                let to = random.below(3) == 0 ? nil : Instant(milliseconds: Int64(random.below(2_000)))
                let from = due.updateValue(to ?? .distantPast, forKey: account)
                if to == nil { due[account] = nil }
                if let from { stored.remove(at: place(of: DueEntry(instant: from, account: account))) }
                if let to {
                    let entry = DueEntry(instant: to, account: account)
                    stored.insert(entry, at: place(of: entry))
                }
                if from != to { window.move(account, from: from, to: to) }
                if random.below(20) == 0 { continue }
                if window.needsEntries {
                    window.load(Array(stored.prefix(Limits.dueEntriesHeld + 1)))
                    loads += 1
                }
                #expect(window.entries.first == stored.first, "seed \(seed)")
                #expect(window.entries.count <= 2 * Limits.dueEntriesHeld)
            }
            #expect(loads < 200, "most moves need no read")
        }
    }

    /// As when a window was read from storage that is ahead of the feed.
    @Test func `the window of due attempts takes moves that it knows already`() {
        var window = DueWindow()
        func at(_ instant: Int64) -> Instant { Instant(milliseconds: instant) }
        window.load([DueEntry(instant: at(30), account: 7)])
        window.move(7, from: at(10), to: at(20))
        window.move(7, from: at(20), to: at(30))
        #expect(window.entries == [DueEntry(instant: at(30), account: 7)])
        window.move(7, from: at(30), to: nil)
        #expect(window.entries.isEmpty && !window.needsEntries)
    }
}
