import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

/// Orders decided in the plain way and in the general one come to the same.
@Suite struct `a plain purchase` {
    private static func settings(_ random: inout SeededRandom) -> AppSettings? {
        guard random.below(6) == 0 else { return nil }
        var settings = AppSettings()
        settings.timeRate = TimeRate(named: "monthlyRenewalEveryFiveMinutes") ?? .realTime
        settings.storefront = random.bool() ? "USA" : "FRA"
        switch random.below(8) {
        case 0: settings.isAskToBuyEnabled = true
        case 1: settings.areRenewalBillingIssuesEnabled = true
        case 2: settings.asksBeforePurchases = true
        default: break
        }
        return settings
    }

    private static func change(_ settings: AppSettings) -> Mutation {
        Mutation(.app(1), needsTestApp: true) { _ in
            var change = AppChange()
            change.settings = settings
            return .commitApp(change, answer: .none)
        }
    }

    @Test(arguments: StorageImplementation.allCases)
    func `is what the general decision makes of it`(_ implementation: StorageImplementation) throws {
        var random = SeededRandom(seed: 28)
        let made = try (implementation.make(), implementation.make())
        let (plain, general) = (try FamilyStore(storage: made.0.storage), try FamilyStore(storage: made.1.storage))
        let catalogue = FamilyStore.catalogue
        let products = catalogue.products.indices
        for step in 0..<300 {
            let account = "a\(random.below(6))"
            if let settings = Self.settings(&random) {
                for store in [plain, general] { try store.mutate(Self.change(settings)) }
            }
            if random.below(5) == 0 {
                let member = "a\(random.below(6))"
                let operation: StoreOperation =
                    switch random.below(4) {
                    case 0: .setStorefront(random.bool() ? "DEU" : "")
                    case 1: .createIntent(productID: "coins", offer: nil)
                    case 2: .share(.product("lifetime"), member: member)
                    default: .refund(.product("lifetime"), reason: .other, share: .full)
                    }
                for store in [plain, general] { _ = try? store.operate(operation, account) }
            }
            if random.below(10) == 0 {
                let milliseconds = Int64(random.below(Int(3 * FamilyStore.month)))
                for store in [plain, general] { store.advance(milliseconds) }
            }
            let key = Array(account.utf8)
            let named = try #require(key.withUnsafeBytes { OrderAccount(app: 1, $0) })
            // Some keys come again: with the same request, or with another.
            let again = random.below(12)
            let used = [UInt8]("key-\(again < 10 ? step : random.below(max(step, 1)))".utf8)
            let repeated = try #require(used.withUnsafeBytes { OrderKey($0) })
            let order = StoreOrder(
                app: 1, product: Int32(products[random.below(products.count)]),
                catalogueRevision: plain.app.catalogueRevision, quantity: UInt32(random.below(12)),
                accountToken: random.bool() ? AccountToken(high: random.next(), low: random.next()) : nil,
                account: named, origin: random.bool() ? OrderOrigin([1, 2]) : .none,
                key: random.bool() ? repeated : .none,
                digest: Digest(high: 1, low: again == 11 ? UInt64(step) : 0))
            let found = (
                Result { try plain.order(.order(order)) },
                Result { try general.order(.mutate(order.general(catalogue))) }
            )
            switch found {
            case (.success(let left), .success(let right)): #expect(left == right, "step \(step)")
            case (.failure(let left), .failure(let right)):
                #expect(left as? Refusal == right as? Refusal, "step \(step)")
            default: Issue.record("step \(step): \(found)")
            }
        }
        #expect(plain.changes.count == general.changes.count && plain.changes.count > 150)
        for (left, right) in zip(plain.changes, general.changes) {
            #expect(left.revision == right.revision && left.committed == right.committed)
            #expect(left.accounts.map(\.record) == right.accounts.map(\.record), "revision \(left.revision)")
            #expect(left.accounts.map(\.facts) == right.accounts.map(\.facts), "revision \(left.revision)")
            #expect(left.accounts.map(\.cause) == right.accounts.map(\.cause))
            #expect(left.accounts.map(\.origin) == right.accounts.map(\.origin))
            #expect(left.accounts.map(\.events) == right.accounts.map(\.events))
        }
        #expect(plain.engine.header.nextTransaction == general.engine.header.nextTransaction)
        #expect(plain.engine.counters.milestones == general.engine.counters.milestones)
        for account in 0..<6 {
            #expect((try? plain.rows("a\(account)")) == (try? general.rows("a\(account)")))
        }
    }

    @Test func `names its product in the catalogue that the loop knew`() throws {
        let store = try FamilyStore()
        try store.buy("coins", "a")
        let before = store.app.catalogueRevision
        let place = try #require(FamilyStore.catalogue.place(ofProduct: "season"))
        try store.mutate(
            Mutation(.app(1), needsTestApp: true) { view in
                var change = AppChange()
                let kept = view.app.catalogue.products.reversed()
                change.catalogue = (
                    Catalogue(products: Array(kept), groups: view.app.catalogue.groups, schemaVersion: "4.0"), "test"
                )
                return .commitApp(change, answer: .none)
            })
        #expect(store.app.catalogueRevision > before)
        let key = Array("a".utf8)
        let account = try #require(key.withUnsafeBytes { OrderAccount(app: 1, $0) })
        let order = StoreOrder(
            app: 1, product: Int32(place), catalogueRevision: before, quantity: 1, accountToken: nil, account: account,
            origin: .none)
        guard case .transaction(let transaction, _, _) = try store.order(.order(order)) else {
            Issue.record("not bought")
            return
        }
        #expect(transaction.productID == "season")
    }

    @Test func `has an account's key of at most forty bytes`() {
        func account(_ count: Int) -> OrderAccount? {
            [UInt8](repeating: 97, count: count).withUnsafeBytes { OrderAccount(app: 1, $0) }
        }
        #expect(account(0) == nil && account(41) == nil)
        #expect(account(1) != nil && account(40) != nil)
    }
}
