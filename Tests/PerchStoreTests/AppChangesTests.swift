import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

/// Reads the changes of the app of a `FamilyStore`, page by page.
private struct ChangesReader {
    var start: ChangesAsked.Start
    var entries: [ChangeEntry] = []
    var pages = 0
    var nextCrossing: Instant?

    init(_ start: ChangesAsked.Start) { self.start = start }

    /// Reads until nothing more is stored.
    mutating func read(_ engine: StoreEngine, wall: Instant) throws {
        while true {
            var outbox = StoreEngine.Outbox(loops: 1)
            engine.sendBeat()
            _ = engine.run(
                [StoreRequest(loop: 0, ticket: 9, .changes(ChangesAsked(app: 1, start: self.start)))], wall: wall,
                into: &outbox)
            var found: ChangePage?
            for event in outbox.events[0] {
                switch event {
                case .answer(9, .changes(let page)): found = page
                case .answer(9, .refused(let refusal)): throw refusal
                default: break
                }
            }
            let page = try #require(found)
            self.pages += 1
            self.entries += page.entries
            self.start = .after(page.through)
            self.nextCrossing = page.nextCrossing
            if page.isComplete { return }
        }
    }

    mutating func read(_ store: FamilyStore) throws { try self.read(store.engine, wall: store.now) }

    /// Each entry as a text that tells it from all others.
    var names: [String] { self.entries.map(\.name) }
}

extension ChangeEntry {
    fileprivate var name: String {
        let account = self.account.map { String(decoding: $0.key, as: UTF8.self) } ?? "the app"
        let states = self.account?.states(at: self.position.asOf) ?? ""
        return "\(self.position.revision) \(self.position.asOf.milliseconds) \(account) \(self.cause) \(states)"
    }
}

extension ChangedAccount {
    fileprivate func states(at instant: Instant) -> String {
        self.after.lines.map { "\($0.state(at: instant, leewayMilliseconds: self.app.renewalLeewayMilliseconds))" }
            .joined(separator: ",")
    }
}

@Suite struct `The changes of an app` {
    private static let start = ChangesAsked.Start.after(ChangePlace(through: 1, at: FamilyStore.start))

    /// One random step of a shop with a family: purchases, refunds, settings, failing charges, and time.
    private static func step(_ store: FamilyStore, _ random: inout SeededRandom) throws {
        let accounts = ["a", "b", "c", "d"]
        let account = random.element(accounts)
        let plan = random.element(["gold", "silver", "alone"])
        func attempt(_ operation: StoreOperation, _ account: String?) throws {
            do { try store.operate(operation, account) } catch is Refusal {}
        }
        switch random.below(14) {
        case 0, 1, 2: try attempt(.buy(PurchaseOrder(productID: plan)), account)
        case 3:
            let product = random.element(["coins", "lifetime", "season"])
            try attempt(.buy(PurchaseOrder(productID: product)), account)
        case 4, 5: try attempt(.setAutoRenew(.product(plan), isOn: random.bool()), account)
        case 6: try attempt(.setCharges(fail: random.bool()), account)
        case 7: try attempt(.share(.product(plan), member: random.element(accounts.filter { $0 != account })), account)
        case 8: try attempt(.expire(.product(plan)), account)
        case 9: try attempt(.refund(.product(plan), reason: .other, share: .full), account)
        case 10:
            try store.mutate(
                Mutation(.app(1), needsTestApp: true) { view in
                    var change = AppChange()
                    change.settings = view.app.settings
                    change.settings?.isGracePeriodEnabled.toggle()
                    return .commitApp(change, answer: .none)
                })
        case 11: store.advance(FamilyStore.month * 70)
        default: store.advance(Int64(random.below(400)) * 1_000)
        }
    }

    @Test(arguments: StorageImplementation.allCases)
    func `a reader gets the same changes live, later, in other pages, and after a restart`(
        _ implementation: StorageImplementation
    ) throws {
        var kinds: Set<String> = []
        var crossings = 0
        // What is stored is compared with the model for a second each, which is the most of it.
        let seeds: UInt64 = implementation == .memory ? 12 : 4
        for seed in 1...seeds {
            let made = try implementation.make()
            let store = try FamilyStore(storage: made.storage)
            var random = SeededRandom(seed: seed)
            var live = ChangesReader(Self.start)
            var rare = ChangesReader(Self.start)
            for number in 0..<120 {
                try Self.step(store, &random)
                try live.read(store)
                if number % 31 == 0 { try rare.read(store) }
            }
            try rare.read(store)
            #expect(live.names == rare.names, "seed \(seed)")

            // Another engine over the same storage: nothing is moved, and nothing comes again.
            let engine = try StoreEngine(storage: made.storage, loops: 1, cacheBytesMax: 1 << 20)
            var late = ChangesReader(Self.start)
            try late.read(engine, wall: store.now)
            #expect(late.names == live.names, "seed \(seed)")
            for place in [0, live.entries.count / 3, live.entries.count - 1] {
                var rest = ChangesReader(.after(live.entries[place].place))
                try rest.read(engine, wall: store.now)
                #expect(rest.names == Array(live.names[(place + 1)...]), "seed \(seed) from \(place)")
            }
            crossings += try Self.check(live, store)
            for entry in live.entries { kinds.insert(entry.account?.isCrossing == true ? "time" : "\(entry.cause)") }
        }
        #expect(kinds.isSuperset(of: ["time", "purchase", "renewal", "setting", "refund", "expiry"]), "\(kinds)")
        #expect(crossings > (implementation == .memory ? 20 : 3))
    }

    /// Compares with what the store sent to its loops, and with the states that accounts had in between. Returns the number
    /// of crossings.
    private static func check(_ reader: ChangesReader, _ store: FamilyStore) throws -> Int {
        #expect(Set(reader.names).count == reader.entries.count, "a change came twice")
        #expect(zip(reader.entries, reader.entries.dropFirst()).allSatisfy { $0.place < $1.place })
        #expect(
            zip(reader.entries, reader.entries.dropFirst()).allSatisfy { $0.position <= $1.position },
            "a position decreases")
        // Facts: each account of each change, in order, with the records of the store.
        let facts = reader.entries.filter { $0.account.map { !$0.isCrossing } ?? false }
        let sent = store.changes.flatMap { change in change.accounts.map { (change, $0) } }
        #expect(facts.count == sent.count)
        for (entry, (change, account)) in zip(facts, sent) {
            #expect(entry.position.revision == change.revision)
            #expect(entry.cause == account.cause)
            #expect(entry.account?.after == account.record)
        }
        #expect(reader.entries.filter { $0.account == nil }.count == store.changes.filter { $0.app != nil }.count)
        // Time: between two changes of an account, every second in which its state differs from the second before has a
        // crossing, and no other second has.
        var records: [AccountNumber: [(from: Instant, record: AccountRecord)]] = [:]
        var crossings: [AccountNumber: [Instant]] = [:]
        for entry in reader.entries {
            guard let account = entry.account else { continue }
            if account.isCrossing {
                crossings[account.after.account, default: []].append(entry.position.asOf)
            } else {
                records[account.after.account, default: []].append((entry.position.asOf, account.after))
            }
        }
        var found = 0
        for (account, history) in records {
            var expected: [Instant] = []
            for (index, (from, record)) in history.enumerated() {
                let end = index + 1 < history.count ? history[index + 1].from : store.now
                var second = from
                func states(_ instant: Instant) -> [RenewalState] {
                    record.lines.map { $0.state(at: instant, leewayMilliseconds: nil) }
                }
                var before = states(from)
                while second < end {
                    second = min(second.advanced(byMilliseconds: 1_000), end)
                    let now = states(second)
                    if now != before { expected.append(second) }
                    before = now
                }
            }
            let seen = crossings[account] ?? []
            #expect(seen.count == expected.count, "account \(account)")
            for (crossing, second) in zip(seen, expected) {
                #expect((0..<1_000).contains(second.milliseconds(since: crossing)))
            }
            found += seen.count
        }
        return found
    }

    @Test(arguments: StorageImplementation.allCases)
    func `an expiry comes before the first commit at its instant`(_ implementation: StorageImplementation) throws {
        let store = try FamilyStore(storage: try implementation.make().storage)
        try store.buy("gold", "a")
        try store.operate(.setAutoRenew(.product("gold"), isOn: false), "a")
        let end = try #require(try store.record("a").lines.first?.boundary)
        var reader = ChangesReader(Self.start)
        try reader.read(store)
        #expect(reader.nextCrossing == end)
        store.advance(end.milliseconds(since: store.now))
        try store.buy("coins", "b")
        try reader.read(store)
        #expect(reader.entries.map(\.cause) == [.purchase, .setting, .expiry, .purchase])
        #expect(reader.entries[2].position.asOf == end)
        #expect(reader.entries[3].position.asOf == end)
        #expect(reader.entries[2].position.revision == reader.entries[1].position.revision)
        #expect(reader.nextCrossing == nil)
    }

    @Test func `a crossing of an account that nobody asked for costs one row of an index`() throws {
        let store = try FamilyStore()
        for number in 0..<300 { try store.buy("gold", "account \(number)") }
        try store.operate(.setAutoRenew(.product("gold"), isOn: false), "account 7")
        var reader = ChangesReader(.now)
        try reader.read(store)
        let all = try store.storage.crossings(
            1, after: DueEntry(instant: .distantPast, account: 0), through: .distantFuture, limit: 10_000)
        #expect(all.count == 1, "a line that renews has no crossing: the store attempts it")
        store.advance(FamilyStore.month / 2)
        try reader.read(store)
        #expect(reader.entries.isEmpty)
        store.advance(FamilyStore.month)
        try reader.read(store)
        #expect(reader.entries.filter { $0.cause == .expiry }.count == 1)
    }

    @Test(arguments: StorageImplementation.allCases)
    func `a page is bounded in entries, in commits of other apps and in facts`(_ implementation: StorageImplementation)
        throws
    {
        let store = try FamilyStore(storage: try implementation.make().storage)
        let other = try store.engine.openApp(
            "com.example.other", .xcode, catalogue: FamilyStore.catalogue, source: "test", fileSettings: AppSettings(),
            wall: store.now)
        func write(_ account: String, app: AppNumber, facts: Int) throws {
            try store.mutate(
                Mutation(.account(AccountKey(app: app, bytes: Array(account.utf8)), opens: true), needsTestApp: true) {
                    view in
                    let fact = Fact(.storefrontSet("FRA"), effective: view.now)
                    return .commit(
                        [
                            AccountFacts(
                                account: view.accountRecord.account, facts: Array(repeating: fact, count: facts))
                        ], answer: .none)
                })
        }
        for number in 0..<600 { try write("quiet \(number)", app: other, facts: 1) }
        for _ in 0..<3 { try write("busy", app: 1, facts: 3_000) }
        for number in 0..<100 { try write("some \(number)", app: 1, facts: 1) }
        var reader = ChangesReader(Self.start)
        try reader.read(store)
        // 600 rows of another app in pages of 256, then 103 changes in pages of 64, and 9,000 facts in pages of 4,096.
        #expect(reader.entries.count == 103)
        #expect(reader.pages >= 5)
        #expect(reader.entries.map(\.position.revision) == reader.entries.map(\.position.revision).sorted())

        // The third change of the busy account, without what an earlier reader has left in memory.
        let fresh = try StoreEngine(storage: store.storage, loops: 1, cacheBytesMax: 1 << 20)
        let second = reader.entries[1]
        var late = ChangesReader(.after(second.place))
        try late.read(fresh, wall: store.now)
        #expect(late.names == Array(reader.names[2...]))
        #expect(late.pages >= 3)
    }

    @Test func `the store answers a bounded number of changes in a tick, and mutations come first`() throws {
        let store = try FamilyStore()
        for number in 0..<200 { try store.buy("coins", "account \(number)") }
        let requests =
            (0..<20).map { number in
                StoreRequest(
                    loop: 0, ticket: UInt64(number),
                    .changes(
                        ChangesAsked(
                            app: 1, start: .after(ChangePlace(through: UInt64(2 + number), at: FamilyStore.start)))))
            } + [
                StoreRequest(
                    loop: 0, ticket: 99,
                    .mutate(.operation(.clearTransactions, account: FamilyStore.key("account 1"), app: 1)))
            ]
        var outbox = StoreEngine.Outbox(loops: 1)
        #expect(store.engine.run(requests, wall: store.now, into: &outbox) == store.now)
        func answered() -> [UInt64] {
            outbox.events[0].compactMap { if case .answer(let ticket, _) = $0 { ticket } else { nil } }
        }
        #expect(answered().first == 99)
        #expect(answered().count == 1 + Limits.changesPerTick / Limits.changesPerPage)
        while let wake = store.engine.run([], wall: store.now, into: &outbox), wake <= store.now {}
        #expect(answered().count == 21)
        #expect(Set(answered()).count == 21)
    }

    @Test(arguments: [(5, 60_000, 4), (2, 90_000, 6), (2, 86_400_000, 0), (100, 0, 0)])
    func `a cursor of the future and one that is too old are refused, and the oldest is not`(
        _ revisions: UInt64, _ milliseconds: Int64, _ oldestValid: UInt64
    ) throws {
        let storage = MemoryStorage(identity: StoreIdentity(high: 1, low: 2))
        _ = try FamilyStore(storage: storage)
        var limits = StoreLimits()
        limits.cursorRevisions = revisions
        limits.cursorMilliseconds = milliseconds
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20, limits: limits)
        var wall = FamilyStore.start
        func buy(_ account: String) {
            var outbox = StoreEngine.Outbox(loops: 1)
            let order = StoreOperation.buy(PurchaseOrder(productID: "coins"))
            _ = engine.run(
                [
                    StoreRequest(
                        loop: 0, ticket: 1, .mutate(.operation(order, account: FamilyStore.key(account), app: 1)))
                ],
                wall: wall, into: &outbox)
        }
        for number in 0..<8 {
            buy("account \(number)")
            wall = wall.advanced(byMilliseconds: 20_000)
        }
        func refusal(_ revision: UInt64) -> Refusal.Reason? {
            var reader = ChangesReader(.after(ChangePlace(through: revision, at: FamilyStore.start)))
            do {
                try reader.read(engine, wall: wall)
                return nil
            } catch {
                return (error as? Refusal)?.reason
            }
        }
        #expect(engine.header.revision == 9)
        #expect(refusal(10) == .tokenFuture)
        if oldestValid > 0 { #expect(refusal(oldestValid - 1) == .cursorTooOld) }
        #expect(refusal(oldestValid) == nil)
        var oldest = ChangesReader(.oldest)
        try oldest.read(engine, wall: wall)
        #expect(oldest.entries.map(\.position.revision) == Array(oldestValid + 1...9))
    }

    @Test(arguments: StorageImplementation.allCases)
    func `crossings that no cursor stands before are forgotten, and others are not`(
        _ implementation: StorageImplementation
    ) throws {
        let storage = try implementation.make().storage
        var limits = StoreLimits()
        limits.cursorRevisions = 3
        limits.cursorMilliseconds = 1_000
        _ = try FamilyStore(storage: storage)
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20, limits: limits)
        var wall = FamilyStore.start
        func operate(_ operation: StoreOperation, _ account: String) {
            var outbox = StoreEngine.Outbox(loops: 1)
            _ = engine.run(
                [
                    StoreRequest(
                        loop: 0, ticket: 1, .mutate(.operation(operation, account: FamilyStore.key(account), app: 1)))
                ], wall: wall, into: &outbox)
        }
        for number in 0..<4 {
            operate(.buy(PurchaseOrder(productID: "gold")), "account \(number)")
            operate(.setAutoRenew(.product("gold"), isOn: false), "account \(number)")
            wall = wall.advanced(byMilliseconds: FamilyStore.month + 1)
        }
        func stored() throws -> Int {
            try storage.crossings(
                1, after: DueEntry(instant: .distantPast, account: 0), through: .distantFuture, limit: 100
            ).count
        }
        #expect(try stored() == 4)
        wall = wall.advanced(byMilliseconds: 3_600_001)
        operate(.buy(PurchaseOrder(productID: "coins")), "account 0")
        operate(.buy(PurchaseOrder(productID: "coins")), "account 0")
        #expect(try stored() == 2, "those before the revision that a cursor may still name")
        var reader = ChangesReader(.oldest)
        try reader.read(engine, wall: wall)
        #expect(
            reader.entries.filter { $0.cause == .expiry }.count == 1, "the last two purchases moved the oldest place on"
        )
    }
}
