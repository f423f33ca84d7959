import PerchBase
import PerchModel
import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `a count of subscriptions` {
    private func counted(_ shop: FamilyStore, steps: inout Int) throws -> [String: UInt64] {
        var count = try #require(shop.engine.beginSubscriptionCount())
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

    /// Accounts that come while it runs are counted or not, and nothing twice.
    @Test func `goes over more accounts than a step takes`() throws {
        let shop = try FamilyStore()
        let count = Limits.subscriptionCountAccountsPerStep * 3
        for number in 0..<count { try shop.buy("gold", "user\(number)") }
        var steps = 0
        #expect(try self.counted(shop, steps: &steps) == ["subscribed": UInt64(count)])
        #expect(steps > 3)
        var walk = try #require(shop.engine.beginSubscriptionCount())
        try shop.engine.count(&walk, wall: shop.now)
        try shop.buy("gold", "a first one")
        try shop.buy("gold", "zzz")
        while !walk.isComplete { try shop.engine.count(&walk, wall: shop.now) }
        let total = walk.byState.reduce(0) { $0 + $1.count }
        #expect(total == UInt64(count) + 1, "the one behind the walk is missed, the one before it is counted")
    }
}
