import PerchBase
import PerchModel
import Testing

/// One row of the state-transition table: an event, and which views' values change by it.
struct Transition: Sendable, CustomTestStringConvertible {
    enum Change: Sendable {
        case none, appears, disappears, replaced
    }

    let row: String
    let from: RenewalState?
    let to: RenewalState?
    /// Whether the value of the group's status view changes.
    let changesStatus: Bool
    /// The change of the entitlement to each product.
    let entitlements: [(product: String, change: Change)]
    let settings: AppSettings
    let before: @Sendable (inout TestAccount) throws -> Void
    let event: @Sendable (inout TestAccount) throws -> Void

    init(
        _ row: String, _ from: RenewalState?, _ to: RenewalState?, status changesStatus: Bool = true,
        _ entitlements: [(product: String, change: Change)], settings: AppSettings = AppSettings(),
        before: @escaping @Sendable (inout TestAccount) throws -> Void,
        event: @escaping @Sendable (inout TestAccount) throws -> Void
    ) {
        self.row = row
        self.from = from
        self.to = to
        self.changesStatus = changesStatus
        self.entitlements = entitlements
        self.settings = settings
        self.before = before
        self.event = event
    }

    var testDescription: String { self.row }
}

extension TestAccount {
    /// The effect of another account's sharing of silver on this one.
    private static func sharing(_ now: Instant) throws -> (purchaser: TestAccount, share: FamilyShare) {
        var purchaser = TestAccount(at: now, catalogue: Shop.catalogue(shareable: ["silver"]))
        purchaser.record = AccountRecord(account: 2, app: 1)
        purchaser.numbers = TransactionNumbers(next: 1_000)
        try purchaser.buy("silver")
        let outcome = try purchaser.operate(
            .share(.product("silver"), member: "member"), member: AccountRecord(account: 1, app: 1))
        guard case .sharingBegan(let share) = outcome.facts.first?.body else { throw Unshared() }
        purchaser.record.shares = []
        return (purchaser, share)
    }

    private struct Unshared: Error {}

    fileprivate mutating func beShared() throws {
        let (purchaser, share) = try Self.sharing(self.now)
        self.follow([Fact(.sharingBegan(share), effective: self.now)], of: purchaser.record, share)
    }

    fileprivate mutating func endSharing() {
        guard let (purchaser, share) = try? Self.sharing(self.now) else { return }
        let end = Fact(.sharingEnded(original: share.original, member: share.member), effective: self.now)
        self.follow([end], of: purchaser.record, share)
    }
}

@Suite struct `the transition table` {
    private static let held: @Sendable (inout TestAccount) throws -> Void = { try $0.buy("silver") }
    private static let toBoundary: @Sendable (inout TestAccount) throws -> Void = { try $0.advanceToBoundary() }
    private static let failing = Shop.settings(billingIssues: true)
    private static let failingWithGrace = Shop.settings(billingIssues: true, grace: true)
    private static let lapsed: @Sendable (inout TestAccount) throws -> Void = {
        try $0.buy("silver")
        try $0.setAutoRenew(false)
        $0.advance(days: 40)
    }
    private static let failed: @Sendable (inout TestAccount) throws -> Void = {
        try $0.buy("silver")
        $0.advance(days: 40)
    }
    private static let failedAndResolved: @Sendable (inout TestAccount) throws -> Void = {
        try Self.failed(&$0)
        try $0.operate(.setCharges(fail: false))
    }
    private static let renewed: @Sendable (inout TestAccount) throws -> Void = {
        try $0.buy("silver")
        $0.advance(days: 40)
    }
    private static let asked: @Sendable (inout TestAccount) throws -> Void = {
        try $0.buy("silver")
        try $0.operate(.raisePrice(.product("silver"), milliunits: 10_990, needsConsent: true))
    }
    /// The only transaction, or the last one.
    private static let refundLast: @Sendable (inout TestAccount) throws -> Void = {
        try $0.refund(try $0.line().latest.id)
    }

    static let subscriptionRows: [Transition] = [
        Transition("1 buy", nil, .subscribed, [("silver", .appears)], before: { _ in }, event: Self.held),
        Transition(
            "2 buy after the end", .expired, .subscribed, [("silver", .appears)], before: Self.lapsed,
            event: Self.held),
        Transition(
            "3 buy again", .subscribed, .subscribed, status: false, [("silver", .none)], before: Self.held,
            event: Self.held),
        Transition(
            "4 renewal", .subscribed, .subscribed, [("silver", .replaced)], before: Self.held,
            event: Self.toBoundary),
        Transition(
            "5 renewal into a pending plan", .subscribed, .subscribed, [("silver", .disappears), ("bronze", .appears)],
            before: {
                try $0.buy("silver")
                try $0.buy("bronze")
            }, event: Self.toBoundary),
        Transition(
            "6 renewal switched off", .subscribed, .subscribed, [("silver", .none)], before: Self.held
        ) { try $0.setAutoRenew(false) },
        Transition(
            "7 renewal switched on", .subscribed, .subscribed, [("silver", .none)],
            before: {
                try $0.buy("silver")
                try $0.setAutoRenew(false)
            }
        ) { try $0.setAutoRenew(true) },
        Transition(
            "8 period ends with renewal off", .subscribed, .expired, [("silver", .disappears)],
            before: {
                try $0.buy("silver")
                try $0.setAutoRenew(false)
            }, event: Self.toBoundary),
        Transition(
            "9 charge fails, grace on", .subscribed, .inGracePeriod, [("silver", .none)],
            settings: Self.failingWithGrace, before: Self.held, event: Self.toBoundary),
        Transition(
            "10 charge fails, grace off", .subscribed, .inBillingRetryPeriod, [("silver", .disappears)],
            settings: Self.failing, before: Self.held, event: Self.toBoundary),
        Transition(
            "11 grace ends", .inGracePeriod, .inBillingRetryPeriod, [("silver", .disappears)],
            settings: Self.failingWithGrace, before: Self.failed
        ) { $0.advance(days: 16) },
        Transition(
            "12 charge recovers in grace", .inGracePeriod, .subscribed, [("silver", .replaced)],
            settings: Self.failingWithGrace, before: Self.failed
        ) { try $0.operate(.resolveBilling(.product("silver"))) },
        Transition(
            "13 charge recovers in retry", .inBillingRetryPeriod, .subscribed, [("silver", .appears)],
            settings: Self.failing, before: Self.failed
        ) { try $0.operate(.resolveBilling(.product("silver"))) },
        Transition(
            "14 retry ends", .inBillingRetryPeriod, .expired, [("silver", .none)], settings: Self.failing,
            before: Self.failed
        ) { $0.advance(days: 60) },
        Transition(
            "15 switched off in grace", .inGracePeriod, .expired, [("silver", .disappears)],
            settings: Self.failingWithGrace, before: Self.failed
        ) { try $0.setAutoRenew(false) },
        Transition(
            "16 switched off in retry", .inBillingRetryPeriod, .expired, [("silver", .none)],
            settings: Self.failing, before: Self.failed
        ) { try $0.setAutoRenew(false) },
        Transition(
            "17 upgrade", .subscribed, .subscribed, [("silver", .disappears), ("gold", .appears)], before: Self.held
        ) { try $0.buy("gold") },
        Transition(
            "17 upgrade in grace", .inGracePeriod, .subscribed, [("silver", .disappears), ("gold", .appears)],
            settings: Self.failingWithGrace, before: Self.failedAndResolved
        ) { try $0.buy("gold") },
        Transition(
            "18 upgrade in retry", .inBillingRetryPeriod, .subscribed, [("silver", .none), ("gold", .appears)],
            settings: Self.failing, before: Self.failedAndResolved
        ) { try $0.buy("gold") },
        Transition(
            "18 upgrade after the end", .expired, .subscribed, [("silver", .none), ("gold", .appears)],
            before: Self.lapsed
        ) { try $0.buy("gold") },
        Transition(
            "19 downgrade", .subscribed, .subscribed, [("silver", .none), ("bronze", .none)], before: Self.held
        ) { try $0.buy("bronze") },
        Transition(
            "19 crossgrade of another duration", .subscribed, .subscribed,
            [("silver", .none), ("silver.yearly", .none)], before: Self.held
        ) { try $0.buy("silver.yearly") },
        Transition(
            "20 downgrade taken back", .subscribed, .subscribed, [("silver", .none), ("bronze", .none)],
            before: {
                try $0.buy("silver")
                try $0.buy("bronze")
            }, event: Self.held),
        Transition(
            "21 crossgrade of the same duration", .subscribed, .subscribed,
            [("silver", .disappears), ("silver.twin", .appears)], before: Self.held
        ) { try $0.buy("silver.twin") },
        Transition(
            "22 refund of the current", .subscribed, .revoked, [("silver", .disappears)], before: Self.held,
            event: Self.refundLast),
        Transition(
            "22 refund of the current in grace", .inGracePeriod, .revoked, [("silver", .disappears)],
            settings: Self.failingWithGrace, before: Self.failed, event: Self.refundLast),
        Transition(
            "23 refund of an older one", .subscribed, .subscribed, status: false, [("silver", .none)],
            before: {
                try $0.buy("silver")
                $0.advance(days: 40)
            }
        ) { try $0.refund(1) },
        Transition(
            "24 refund of the last after the end", .expired, .revoked, [("silver", .none)], before: Self.lapsed,
            event: Self.refundLast),
        Transition(
            "24 refund of the last in retry", .inBillingRetryPeriod, .revoked, [("silver", .none)],
            settings: Self.failing, before: Self.failed, event: Self.refundLast),
        Transition(
            "25 refund reversed", .revoked, .subscribed, [("silver", .appears)],
            before: {
                try $0.buy("silver")
                try $0.refund(1)
            }
        ) { try $0.operate(.reverseRefund(.transaction(1))) },
        Transition(
            "25 refund reversed in grace", .revoked, .inGracePeriod, [("silver", .appears)],
            settings: Self.failingWithGrace,
            before: {
                try $0.buy("silver")
                $0.advance(days: 40)
                try $0.refund(1)
            }
        ) { try $0.operate(.reverseRefund(.product("silver"))) },
        Transition(
            "25 refund reversed after the period's end", .revoked, .expired, [("silver", .none)],
            before: {
                try $0.buy("silver")
                try $0.refund(1)
                $0.advance(days: 40)
            }
        ) { try $0.operate(.reverseRefund(.transaction(1))) },
        Transition(
            "26 refund declined", .subscribed, .subscribed, status: false, [("silver", .none)], before: Self.held
        ) { try $0.operate(.declineRefund(.transaction(1))) },
        Transition(
            "26 consumption asked for", .subscribed, .subscribed, status: false, [("silver", .none)],
            before: Self.held
        ) { try $0.operate(.requestConsumption(.product("silver"))) },
        Transition(
            "27 family shares", nil, .subscribed, [("silver", .appears)], before: { _ in }
        ) { try $0.beShared() },
        Transition(
            "27 family shares, own active", .subscribed, .subscribed, [("silver", .none)], before: Self.held
        ) { try $0.beShared() },
        Transition(
            "28 sharing ends", .subscribed, .revoked, [("silver", .disappears)], before: { try $0.beShared() }
        ) { $0.endSharing() },
        Transition(
            "28 sharing ends, own active", .subscribed, .subscribed, [("silver", .none)],
            before: {
                try $0.buy("silver")
                try $0.beShared()
            }
        ) { $0.endSharing() },
        Transition(
            "29 higher price asked", .subscribed, .subscribed, [("silver", .none)], before: Self.held
        ) { try $0.operate(.raisePrice(.product("silver"), milliunits: 19_990, needsConsent: nil)) },
        Transition(
            "30 consent given", .subscribed, .subscribed, [("silver", .none)], before: Self.asked
        ) { try $0.operate(.answerPriceIncrease(.product("silver"), agrees: true)) },
        Transition(
            "30 informed", .subscribed, .subscribed, [("silver", .none)], before: Self.held
        ) { try $0.operate(.raisePrice(.product("silver"), milliunits: 10_990, needsConsent: nil)) },
        Transition(
            "31 not consented, period ends", .subscribed, .expired, [("silver", .disappears)], before: Self.asked,
            event: Self.toBoundary),
        Transition(
            "31 declined, period ends", .subscribed, .expired, [("silver", .disappears)],
            before: {
                try Self.asked(&$0)
                try $0.operate(.answerPriceIncrease(.product("silver"), agrees: false))
            }, event: Self.toBoundary),
        Transition(
            "35 renewal extended", .subscribed, .subscribed, [("silver", .replaced)], before: Self.held
        ) { try $0.operate(.extendRenewal(.product("silver"), milliseconds: 10 * day)) },
        Transition(
            "40 cleared", .subscribed, nil, [("silver", .disappears)], before: Self.held
        ) { try $0.operate(.clearTransactions) },
        Transition(
            "41 only one deleted", .subscribed, nil, [("silver", .disappears)], before: Self.held
        ) { try $0.operate(.deleteTransaction(1)) },
        Transition(
            "41 latest deleted, one before it", .subscribed, .expired, [("silver", .disappears)], before: Self.renewed
        ) { try $0.operate(.deleteTransaction(2)) },
        Transition(
            "41 older deleted", .subscribed, .subscribed, status: false, [("silver", .none)], before: Self.renewed
        ) { try $0.operate(.deleteTransaction(1)) },
        Transition(
            "32 period ends with the product withdrawn", .subscribed, .expired, [("silver", .disappears)],
            before: {
                try $0.buy("silver")
                $0.catalogue = Shop.catalogue(without: ["silver"])
            }, event: Self.toBoundary),
        Transition(
            "36 finish", .subscribed, .subscribed, status: false, [("silver", .none)], before: Self.held
        ) { $0.finish(1) },
        Transition(
            "39 storefront and locale change", .subscribed, .subscribed, status: false, [("silver", .none)],
            before: Self.held
        ) {
            $0.settings.storefront = "DEU"
            $0.settings.locale = "de_DE"
        },
        Transition(
            "time passes within a period", .subscribed, .subscribed, status: false, [("silver", .none)],
            before: Self.held
        ) { $0.advance(days: 5) },
        Transition(
            "a purchase in another group", .subscribed, .subscribed, status: false, [("silver", .none)],
            before: Self.held
        ) { try $0.buy("weekly") },
    ]

    static let otherRows: [Transition] = [
        Transition("consumable bought", nil, nil, status: false, [("coins", .none)], before: { _ in }) {
            try $0.buy("coins")
        },
        Transition(
            "consumable refunded", nil, nil, status: false, [("coins", .none)], before: { try $0.buy("coins") }
        ) { try $0.refund(1) },
        Transition("non-consumable bought", nil, nil, status: false, [("lifetime", .appears)], before: { _ in }) {
            try $0.buy("lifetime")
        },
        Transition(
            "non-consumable bought again", nil, nil, status: false, [("lifetime", .none)],
            before: { try $0.buy("lifetime") }
        ) { try $0.buy("lifetime") },
        Transition(
            "non-consumable refunded", nil, nil, status: false, [("lifetime", .disappears)],
            before: { try $0.buy("lifetime") }
        ) { try $0.refund(1) },
        Transition("non-renewing bought", nil, nil, status: false, [("season", .appears)], before: { _ in }) {
            try $0.buy("season")
        },
        Transition(
            "non-renewing bought again", nil, nil, status: false, [("season", .replaced)],
            before: { try $0.buy("season") }
        ) { try $0.buy("season") },
        Transition(
            "latest non-renewing refunded, one before it", nil, nil, status: false, [("season", .replaced)],
            before: {
                try $0.buy("season")
                try $0.buy("season")
            }
        ) { try $0.refund(2) },
        Transition(
            "older non-renewing refunded", nil, nil, status: false, [("season", .none)],
            before: {
                try $0.buy("season")
                try $0.buy("season")
            }
        ) { try $0.refund(1) },
        Transition(
            "only non-renewing refunded", nil, nil, status: false, [("season", .disappears)],
            before: { try $0.buy("season") }
        ) { try $0.refund(1) },
        Transition(
            "time passes over a non-renewing one", nil, nil, status: false, [("season", .none)],
            before: { try $0.buy("season") }
        ) { $0.advance(days: 5_000) },
    ]

    @Test(arguments: Self.subscriptionRows + Self.otherRows)
    func `changes the views that it names, and no other`(_ row: Transition) throws {
        var account = TestAccount(settings: row.settings)
        try row.before(&account)
        let statuses = account.statuses()
        let entitlements = row.entitlements.map { account.entitlement($0.product) }
        #expect(account.state() == row.from)

        try row.event(&account)

        #expect(account.state() == row.to)
        #expect((account.statuses() != statuses) == row.changesStatus)
        for (index, expected) in row.entitlements.enumerated() {
            let old = entitlements[index]
            let new = account.entitlement(expected.product)
            let change: Transition.Change =
                switch (old, new) {
                case (nil, .some): .appears
                case (.some, nil): .disappears
                default: old == new ? .none : .replaced
                }
            #expect(change == expected.change, "\(expected.product)")
        }
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

    @Test func `a withdrawn product moves to the unavailable ones at once, long before its last period ends`() throws {
        var account = TestAccount()
        try account.buy("silver")
        func view() -> Products { products(["silver", "gold"], locale: "", storefront: "", app: account.app) }
        #expect(view().products.map(\.id) == ["silver", "gold"])
        account.catalogue = Shop.catalogue(without: ["silver"])
        #expect(view().products.map(\.id) == ["gold"])
        #expect(view().unavailableIDs == ["silver"])
        #expect(account.state() == .subscribed)
    }
}
