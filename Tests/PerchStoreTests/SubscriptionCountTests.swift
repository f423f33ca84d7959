import PerchBase
import PerchModel
import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `a count of subscriptions` {
    private func counted(_ shop: FamilyStore, steps: inout Int) throws -> [String: UInt64] {
        var count = shop.engine.beginSubscriptionCount()
        while !count.isComplete {
            try shop.engine.count(&count, wall: shop.now)
            steps += 1
        }
        return Dictionary(
            uniqueKeysWithValues: count.byState.filter { $0.count > 0 }.map { ("\($0.state)", $0.count) })
    }

    private func counted(_ shop: FamilyStore) throws -> [String: UInt64] {
        var steps = 0
        return try self.counted(shop, steps: &steps)
    }

    @Test func `has each own subscription by its state`() throws {
        let shop = try FamilyStore()
        #expect(try self.counted(shop).isEmpty)
        try shop.buy("gold", "anna")
        try shop.buy("silver", "bert")
        try shop.buy("lifetime", "carl")
        try shop.operate(.share(.product("gold"), member: "dora"), "anna")
        #expect(try self.counted(shop) == ["subscribed": 2], "neither what lasts for ever nor a shared copy")
        try shop.operate(.setAutoRenew(.product("silver"), isOn: false), "bert")
        shop.advance(FamilyStore.month + 1)
        #expect(try self.counted(shop) == ["subscribed": 1, "expired": 1])
        try shop.operate(.refund(.product("gold"), reason: .other, share: .full), "anna")
        #expect(try self.counted(shop) == ["revoked": 1, "expired": 1])
    }

    @Test func `has failing charges`() throws {
        let shop = try FamilyStore()
        try shop.buy("gold", "anna")
        try shop.operate(.setCharges(fail: true), "anna")
        shop.advance(FamilyStore.month + 1)
        let counts = try self.counted(shop)
        #expect(counts == ["inBillingRetryPeriod": 1] || counts == ["inGracePeriod": 1], "\(counts)")
    }

    /// Accounts that come while it runs are not counted, and nothing is counted twice.
    @Test func `goes over more accounts than a step takes`() throws {
        let shop = try FamilyStore()
        let count = Limits.subscriptionCountAccountsPerStep * 3
        for number in 0..<count { try shop.buy("gold", "user\(number)") }
        var steps = 0
        #expect(try self.counted(shop, steps: &steps) == ["subscribed": UInt64(count)])
        #expect(steps >= 3)
        var walk = shop.engine.beginSubscriptionCount()
        try shop.engine.count(&walk, wall: shop.now)
        try shop.buy("gold", "a first one")
        try shop.buy("gold", "zzz")
        while !walk.isComplete { try shop.engine.count(&walk, wall: shop.now) }
        #expect(walk.byState.reduce(0) { $0 + $1.count } == UInt64(count))
    }

    /// Counted on the storage itself, and over a network in few requests.
    @Test(arguments: StorageImplementation.allCases)
    func `of what was reported has what belongs to nobody and what is overdue, each account once`(
        _ implementation: StorageImplementation
    ) throws {
        let store = try ReportedStore(on: try implementation.make().storage)
        func counted() throws -> (unclaimed: UInt64, overdue: UInt64, states: [String: UInt64]) {
            var count = store.engine.beginSubscriptionCount()
            while !count.isComplete { try store.engine.count(&count, wall: store.wall) }
            let states = count.byState.filter { $0.count > 0 }.map { ("\($0.state)", $0.count) }
            return (count.unclaimed, count.overdue, Dictionary(uniqueKeysWithValues: states))
        }
        #expect(try counted().states.isEmpty)
        try store.tell(.reports(ReportedLine.transaction(100)))
        try store.tell(.reports(ReportedLine.transaction(200, of: 200), by: store.key("alice")))
        #expect(try counted() == (1, 0, ["subscribed": 2]))
        // An account with two keys is one account.
        try store.tell(.merge(store.key("alice"), into: store.key("bob")))
        #expect(try counted() == (1, 0, ["subscribed": 2]))
        try store.tell(.attach(.appTransactionID("70100"), to: store.key("carol")))
        #expect(try counted() == (0, 0, ["subscribed": 2]))
        for number in 1...UInt64(Limits.subscriptionCountAccountsPerStep) {
            try store.tell(.reports(ReportedLine.transaction(1_000 + number, of: 1_000 + number)))
        }
        let many = UInt64(Limits.subscriptionCountAccountsPerStep)
        #expect(try counted() == (many, 0, ["subscribed": 2 + many]))
        // No renewal is reported.
        store.wall = ReportedStore.start.advanced(byMilliseconds: 60 * ReportedLine.day)
        #expect(try counted() == (many, 2 + many, ["expired": 2 + many]))
    }
}
