import PerchBase
import PerchModel
import Testing

/// The history of an account, and whether it entitles to the product.
struct EntitlementCase: Sendable, CustomTestStringConvertible {
    let name: String
    let product: String
    let settings: AppSettings
    let isEntitled: Bool
    let story: @Sendable (inout TestAccount) throws -> Void

    init(
        _ product: String, _ name: String, entitles isEntitled: Bool, settings: AppSettings = AppSettings(),
        _ story: @escaping @Sendable (inout TestAccount) throws -> Void
    ) {
        self.name = name
        self.product = product
        self.settings = settings
        self.isEntitled = isEntitled
        self.story = story
    }

    var testDescription: String {
        "\(self.product): \(self.name) \(self.isEntitled ? "entitles" : "does not entitle")"
    }
}

@Suite struct `a current entitlement` {
    @Test(arguments: [
        EntitlementCase("coins", "a consumable", entitles: false) { try $0.buy("coins") },
        EntitlementCase("coins", "a finished consumable", entitles: false) {
            $0.finish(try $0.buy("coins").transaction.id)
        },
        EntitlementCase("lifetime", "nothing bought", entitles: false) { _ in },
        EntitlementCase("lifetime", "bought", entitles: true) { try $0.buy("lifetime") },
        EntitlementCase("lifetime", "bought and finished", entitles: true) {
            $0.finish(try $0.buy("lifetime").transaction.id)
        },
        EntitlementCase("lifetime", "bought years ago", entitles: true) {
            try $0.buy("lifetime")
            $0.advance(days: 5_000)
        },
        EntitlementCase("lifetime", "refunded", entitles: false) {
            try $0.refund(try $0.buy("lifetime").transaction.id)
        },
        EntitlementCase("lifetime", "withdrawn from sale", entitles: true) {
            try $0.buy("lifetime")
            $0.catalogue = Shop.catalogue(without: ["lifetime"])
        },
        EntitlementCase("season", "bought years ago", entitles: true) {
            try $0.buy("season")
            $0.advance(days: 5_000)
        },
        EntitlementCase("season", "refunded", entitles: false) { try $0.refund(try $0.buy("season").transaction.id) },
        EntitlementCase("season", "bought twice, the latest refunded", entitles: true) {
            try $0.buy("season")
            try $0.refund(try $0.buy("season").transaction.id)
        },
        EntitlementCase("silver", "subscribed", entitles: true) { try $0.buy("silver") },
        EntitlementCase("silver", "subscribed and finished", entitles: true) {
            $0.finish(try $0.buy("silver").transaction.id)
        },
        EntitlementCase("silver", "renewal off, within the period", entitles: true) {
            try $0.buy("silver")
            try $0.setAutoRenew(false)
        },
        EntitlementCase("silver", "in grace", entitles: true, settings: Shop.settings(billingIssues: true, grace: true))
        {
            try $0.buy("silver")
            $0.advance(days: 35)
        },
        EntitlementCase("silver", "in billing retry", entitles: false, settings: Shop.settings(billingIssues: true)) {
            try $0.buy("silver")
            $0.advance(days: 35)
        },
        EntitlementCase("silver", "expired", entitles: false) {
            try $0.buy("silver")
            try $0.setAutoRenew(false)
            $0.advance(days: 35)
        },
        EntitlementCase("silver", "refunded", entitles: false) { try $0.refund(try $0.buy("silver").transaction.id) },
        EntitlementCase("silver", "left behind by an upgrade", entitles: false) {
            try $0.buy("silver")
            try $0.buy("gold")
        },
        EntitlementCase("gold", "upgraded to", entitles: true) {
            try $0.buy("silver")
            try $0.buy("gold")
        },
        EntitlementCase("silver", "with a downgrade pending", entitles: true) {
            try $0.buy("silver")
            try $0.buy("bronze")
        },
        EntitlementCase("bronze", "with the downgrade to it pending", entitles: false) {
            try $0.buy("silver")
            try $0.buy("bronze")
        },
        EntitlementCase("silver", "after the downgrade", entitles: false) {
            try $0.buy("silver")
            try $0.buy("bronze")
            $0.advance(days: 35)
        },
        EntitlementCase("bronze", "after the downgrade to it", entitles: true) {
            try $0.buy("silver")
            try $0.buy("bronze")
            $0.advance(days: 35)
        },
        EntitlementCase("nothing", "a product nobody knows", entitles: false) { try $0.buy("silver") },
    ])
    func `a current entitlement follows the table of its product's type`(_ row: EntitlementCase) throws {
        var account = TestAccount(settings: row.settings)
        try row.story(&account)
        let transaction = account.entitlement(row.product)
        #expect((transaction != nil) == row.isEntitled)
        if let transaction {
            #expect(transaction.productID == row.product)
            #expect(transaction.revocation == nil)
            #expect(!transaction.isUpgraded)
        }
        let listed = currentEntitlements(of: account.record, app: account.app, at: account.now).map(\.value)
        #expect(listed.contains { $0.productID == row.product } == row.isEntitled)
    }

    @Test func `an unknown account has no entitlement`() {
        let app = Shop.app()
        #expect(currentEntitlement(of: nil, toProduct: "silver", app: app, at: at("2026-01-10")).value == nil)
        #expect(currentEntitlements(of: nil, app: app, at: at("2026-01-10")).isEmpty)
        #expect(subscriptionStatuses(of: nil, inGroup: "G", app: app, at: at("2026-01-10")).value.statuses.isEmpty)
    }

    @Test func `a current entitlement prefers the own transaction, then the one that ends later; a list has them all`()
    {
        let start = at("2026-01-10")
        var record = AccountRecord(account: 1, app: 1)
        let ends = ["2026-02-10", "2026-12-10", "2026-06-10"].map(at)
        let owners: [OwnershipType] = [.purchased, .familyShared, .familyShared]
        for index in 0..<3 {
            let transaction = Shop.transaction(
                TransactionID(index + 1), of: "silver", from: start, to: ends[index], ownership: owners[index])
            record.lines.append(Line(latest: transaction, preference: "silver", recentStart: start))
        }
        let app = Shop.app()
        func holder() -> TransactionID? {
            currentEntitlement(of: record, toProduct: "silver", app: app, at: at("2026-01-20")).value?.value.id
        }
        #expect(holder() == 1)
        #expect(
            currentEntitlements(of: record, app: app, at: at("2026-01-20")).map(\.value.id) == [1, 2, 3])
        record.lines[0].latest.revocation = Revocation(date: at("2026-01-15"), reason: .other)
        #expect(holder() == 2)
        record.lines[1].latest.revocation = Revocation(date: at("2026-01-15"), reason: .other)
        #expect(holder() == 3)
        record.lines[2].latest.revocation = Revocation(date: at("2026-01-15"), reason: .other)
        #expect(holder() == nil)
    }

    @Test func `a non-consumable that is also shared entitles by the account's own one`() throws {
        var account = TestAccount()
        var shared = Shop.transaction(
            90, of: "lifetime", group: "", from: account.now, to: nil, ownership: .familyShared)
        shared.productType = .nonConsumable
        account.commit([Fact(.purchased(shared, terms: nil), effective: account.now)])
        #expect(account.entitlement("lifetime")?.id == 90)
        let own = try account.buy("lifetime")
        #expect(!own.wasHeld)
        #expect(account.entitlement("lifetime") == own.transaction)
        try account.refund(own.transaction.id)
        #expect(account.entitlement("lifetime")?.id == 90)
    }
}

/// Lines of a group, and which of them counts.
struct EffectiveCase: Sendable, CustomTestStringConvertible {
    struct Holding: Sendable {
        let product: String
        let ownership: OwnershipType
        let end: String

        init(_ product: String, _ ownership: OwnershipType, until end: String = "2026-06-01") {
            self.product = product
            self.ownership = ownership
            self.end = end
        }
    }

    let name: String
    let holdings: [Holding]
    /// The index among `holdings`.
    let effective: Int?
    let reason: EffectiveReason

    init(_ name: String, _ holdings: [Holding], _ effective: Int?, _ reason: EffectiveReason) {
        self.name = name
        self.holdings = holdings
        self.effective = effective
        self.reason = reason
    }

    var testDescription: String { self.name }
}

@Suite struct `the effective status` {
    @Test(arguments: [
        EffectiveCase("no line", [], nil, .unspecified),
        EffectiveCase("one that ended", [.init("silver", .purchased, until: "2026-01-15")], nil, .unspecified),
        EffectiveCase("one that entitles", [.init("silver", .purchased)], 0, .onlyEntitled),
        EffectiveCase(
            "one that ended beside one that entitles",
            [.init("gold", .purchased, until: "2026-01-15"), .init("bronze", .familyShared)], 1, .onlyEntitled),
        EffectiveCase(
            "a shared one of a higher level", [.init("silver", .purchased), .init("gold", .familyShared)], 1,
            .highestLevel),
        EffectiveCase(
            "an own one of a higher level", [.init("gold", .purchased), .init("silver", .familyShared)], 0,
            .highestLevel),
        EffectiveCase(
            "own and shared of one level, though the shared one ends later",
            [.init("silver", .familyShared, until: "2026-12-01"), .init("silver.twin", .purchased)], 1,
            .ownBeforeShared),
        EffectiveCase(
            "two shared of one level",
            [.init("silver", .familyShared), .init("silver.yearly", .familyShared, until: "2026-12-01")], 1,
            .latestExpiration),
        EffectiveCase(
            "a lower rival does not change what the closest one lost by",
            [
                .init("bronze", .familyShared), .init("silver", .familyShared),
                .init("silver", .familyShared, until: "2026-12-01"),
            ], 2, .latestExpiration),
    ])
    func `the effective status has the highest level, own before shared, then the later end, and the reason`(
        _ row: EffectiveCase
    ) {
        var record = AccountRecord(account: 1, app: 1)
        for (index, holding) in row.holdings.enumerated() {
            let transaction = Shop.transaction(
                TransactionID(index), of: holding.product, from: at("2026-01-10"), to: at(holding.end),
                ownership: holding.ownership)
            var line = Line(latest: transaction, preference: holding.product, recentStart: at("2026-01-10"))
            line.willAutoRenew = false
            record.lines.append(line)
        }
        let value = subscriptionStatuses(of: record, inGroup: "G", app: Shop.app(), at: at("2026-01-20")).value
        #expect(value.statuses.count == row.holdings.count)
        #expect(value.effective?.transaction.value.id == row.effective.map { TransactionID($0) })
        #expect(value.effectiveReason == row.reason)
        let owners = value.statuses.map { $0.transaction.value.ownership == .purchased }
        #expect(owners == owners.sorted { $0 && !$1 }, "own lines come first")
    }

    @Test func `the effective status is none where the group is not known`() throws {
        var account = TestAccount()
        try account.buy("silver")
        #expect(account.statuses("nothing") == SubscriptionStatuses(statuses: []))
    }

    @Test func `the forecast of an entitlement is that of the line that entitles`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        func forecast() -> Forecast? {
            currentEntitlement(of: account.record, toProduct: "silver", app: account.app, at: account.now).outlook
                .forecast
        }
        #expect(forecast()?.kind == .renewal)
        try account.operate(.setCharges(fail: true))
        try account.advanceToBoundary()
        // In billing retry nothing entitles, and the end of the retry changes nothing.
        #expect(account.entitlement("silver") == nil && forecast() == nil)
        let status = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now)
        #expect(status.outlook.forecast?.kind == .retryEnd)
    }
}
