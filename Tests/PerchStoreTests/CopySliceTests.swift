import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

extension FamilyStore {
    fileprivate static let mapping = [
        EntitlementRule(name: "plus", groupID: "G", level: 1, tier: "gold"),
        EntitlementRule(name: "plus", groupID: "G", level: 2, tier: "silver"),
        EntitlementRule(name: "plus", productID: "lifetime"),
        EntitlementRule(name: "season", productID: "season"),
    ]

    /// The store's app with a mapping.
    fileprivate var plan: EntitlementPlan {
        let app = self.app
        return EntitlementPlan(
            AppState(
                number: app.number, bundleID: app.bundleID, environment: app.environment, revision: app.revision,
                effective: app.effective, committed: app.committed,
                catalogue: app.catalogue.replacing(entitlements: Self.mapping), catalogueRevision: 1,
                catalogueSource: "", settings: app.settings, clock: app.clock))
    }

    /// What a walk over all slices finds.
    fileprivate func walked() throws -> [String: [EntitlementSegment]] {
        var found: [String: [EntitlementSegment]] = [:]
        var from: AccountNumber? = 1
        while let account = from {
            var outbox = StoreEngine.Outbox(loops: 1)
            self.engine.sendBeat()
            let asked = CopyAsked(app: 1, from: account)
            _ = self.engine.run([StoreRequest(loop: 0, ticket: 7, .copySlice(asked))], wall: self.now, into: &outbox)
            var slice: CopySlice?
            for case .answer(7, .copySlice(let answered)) in outbox.events[0] { slice = answered }
            let answer = try #require(slice)
            for row in answer.rows {
                let segments = self.plan.segments(of: row.sources, after: answer.now)
                if !segments.isEmpty { found[String(decoding: row.names.key, as: UTF8.self)] = segments }
            }
            from = answer.next
        }
        return found
    }

    /// What the records say.
    fileprivate func recorded() throws -> [String: [EntitlementSegment]] {
        var found: [String: [EntitlementSegment]] = [:]
        let now = self.app.clock.now(wall: self.now)
        for key in try self.storage.keys(of: 1, after: [], limit: 1_000) {
            guard let account = try self.storage.account(AccountKey(app: 1, bytes: key)),
                let record = try self.storage.record(account)
            else { continue }
            let segments = self.plan.segments(of: record.entitlementSources(after: now), after: now)
            if !segments.isEmpty { found[String(decoding: key, as: UTF8.self)] = segments }
        }
        return found
    }

    fileprivate func step(_ random: inout SeededRandom) throws {
        let accounts = (0..<8).map { "account-\($0)" }
        let account = random.element(accounts)
        let plan = random.element(["gold", "silver", "alone"])
        func attempt(_ operation: StoreOperation) throws {
            do { try self.operate(operation, account) } catch is Refusal {}
        }
        switch random.below(12) {
        case 0, 1, 2: try attempt(.buy(PurchaseOrder(productID: plan)))
        case 3, 4:
            try attempt(.buy(PurchaseOrder(productID: random.element(["coins", "lifetime", "season"]))))
        case 5: try attempt(.setAutoRenew(.product(plan), isOn: random.bool()))
        case 6: try attempt(.share(.product(plan), member: random.element(accounts.filter { $0 != account })))
        case 7: try attempt(.expire(.product(plan)))
        case 8: try attempt(.refund(.product(random.element([plan, "lifetime"])), reason: .other, share: .full))
        case 9:
            do { try self.mutate(.reported(.erase(Self.key(account)), app: 1)) } catch is Refusal {}
        default: self.advance(Int64(random.below(400)) * 1_000)
        }
    }
}

@Suite struct `Slices of a copy` {
    @Test(arguments: StorageImplementation.allCases)
    func `have what the records say, whatever has happened`(_ implementation: StorageImplementation) throws {
        for seed in UInt64(1)...3 {
            let made = try implementation.make()
            let store = try FamilyStore(storage: made.storage)
            var random = SeededRandom(seed: seed)
            var seen = 0
            for step in 0..<80 {
                try store.step(&random)
                let recorded = try store.recorded()
                seen += recorded.count
                #expect(try store.walked() == recorded, "seed \(seed), step \(step)")
            }
            #expect(seen > 80)
        }
    }

    /// A store of a version without rows of sources: they are filled while it serves, and copies are right meanwhile.
    @Test func `are filled for a store that has no rows of sources`() throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(path: directory.file("store"))
        var store = try FamilyStore(storage: storage)
        let count = 2 * Limits.sourcesFilledAtOnce + 30
        for number in 0..<count { try store.buy("lifetime", "customer-\(number)") }
        let recorded = try store.recorded()
        #expect(recorded.count == count)
        #expect(try storage.sources(of: 1, from: 1, before: 1_000_000, limit: 10_000)?.rows.count == count)
        try storage.connection.execute("DELETE FROM sources; INSERT INTO sources VALUES (0, 1, NULL)")
        storage.hasAllSources = false
        #expect(try storage.lacksSources())

        let now = store.now
        store = try FamilyStore(storage: storage)
        store.now = now
        #expect(try storage.sources(of: 1, from: 1, before: 1_000_000, limit: 10_000) == nil)
        #expect(try store.walked() == recorded)
        // An account that changes before its row is filled.
        try store.operate(.refund(.product("lifetime"), reason: .other, share: .full), "customer-\(count - 1)")
        for _ in 0..<5 { store.advance(Limits.sourcesFillPauseMilliseconds) }
        #expect(try !storage.lacksSources())
        #expect(try storage.sources(of: 1, from: 1, before: 1_000_000, limit: 10_000)?.rows.count == count - 1)
        #expect(try store.walked() == store.recorded())
        storage.close()
        #expect(try SQLiteStorage.inspect(directory.file("store")).schema == Schema.version)
    }
}
