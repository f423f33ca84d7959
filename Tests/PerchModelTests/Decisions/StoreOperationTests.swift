import PerchBase
import PerchModel
import Testing

@Suite struct `the renewal switch after a refund` {
    @Test func `the renewal switch after a refund can be switched off, and holds when the refund is reversed`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.refund(1)
        try account.setAutoRenew(false)
        #expect(account.state() == .revoked)
        #expect(try !account.renewalInfo().willAutoRenew)
        try account.setAutoRenew(true)
        try account.setAutoRenew(false)
        try account.operate(.reverseRefund(.transaction(1)))
        #expect(account.state() == .subscribed)
        try account.advanceToBoundary()
        #expect(account.state() == .expired && account.rows.count == 1)
    }

    @Test func `the renewal switch after a refund cannot be switched on after the period ended`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.refund(1)
        try account.setAutoRenew(false)
        account.advance(days: 40)
        #expect(throws: Refusal.self) { try account.setAutoRenew(true) }
    }
}

@Suite struct `refunding` {
    @Test func `the current transaction revokes the line at that instant`() throws {
        var account = TestAccount()
        let held = try account.buy("silver").transaction
        account.advance(days: 3)
        let refunded = try account.refund(held.id)
        #expect(refunded.revocation == Revocation(date: account.now, reason: .other))
        #expect(account.state() == .revoked)
        #expect(account.statuses().statuses.first?.transaction.value == refunded)
        #expect(account.entitlement("silver") == nil)
        #expect(account.record.attemptDue == nil, "a refunded line does not renew")
        account.advance(days: 300)
        #expect(account.state() == .revoked)
    }

    @Test func `an older transaction changes that transaction, what was paid for, and nothing else`() throws {
        var account = TestAccount()
        let first = try account.buy("silver").transaction
        try account.advanceToBoundary()
        let (statuses, entitlement, before) = (account.statuses(), account.entitlement("silver"), account.record)
        try account.refund(first.id)
        #expect(account.rows.first?.revocation != nil)
        #expect(account.statuses() == statuses)
        #expect(account.entitlement("silver") == entitlement)
        var record = before
        record.histories[0].paidMilliseconds -= first.paidMilliseconds
        #expect(account.record == record)
        #expect(account.facts.last?.event?.kind == .revoked, "the updates sequence tells of it")
    }

    @Test func `the transaction that an upgrade left behind leaves the new plan alone`() throws {
        var account = TestAccount()
        let first = try account.buy("silver").transaction
        let second = try account.buy("gold").transaction
        try account.refund(first.id)
        #expect(account.state() == .subscribed)
        #expect(account.entitlement("gold") == second)
    }

    @Test(arguments: [true, false])
    func `the last transaction after the period's end revokes the line`(_ inRetry: Bool) throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: inRetry))
        let held = try account.buy("silver").transaction
        if !inRetry { try account.setAutoRenew(false) }
        account.advance(days: 40)
        try account.refund(held.id)
        #expect(account.state() == .revoked)
        #expect(account.entitlement("silver") == nil)
    }

    @Test func `a non-consumable ends its entitlement`() throws {
        var account = TestAccount()
        try account.refund(try account.buy("lifetime").transaction.id)
        #expect(account.entitlement("lifetime") == nil)
        #expect(account.record.owned.isEmpty)
    }

    @Test func `the latest of a non-renewing product falls back to the one before it`() throws {
        var account = TestAccount()
        var bought: [Transaction] = []
        for _ in 0..<3 {
            bought.append(try account.buy("season").transaction)
            account.advance(days: 10)
        }
        try account.refund(bought[1].id)
        #expect(account.entitlement("season") == bought[2])
        try account.refund(bought[2].id)
        #expect(account.entitlement("season") == bought[0])
        try account.refund(bought[0].id)
        #expect(account.entitlement("season") == nil)
    }

    @Test func `a refunded consumable is an event and changes no view`() throws {
        var account = TestAccount()
        let coins = try account.buy("coins").transaction
        let record = account.record
        try account.refund(coins.id)
        #expect(account.record == record)
        #expect(account.rows.first?.revocation != nil)
        #expect(account.facts.last?.event?.kind == .revoked)
    }

    @Test func `twice is refunding once, and the first date stays`() throws {
        var account = TestAccount()
        let held = try account.buy("lifetime").transaction
        let first = try account.refund(held.id)
        account.advance(days: 1)
        let count = account.facts.count
        #expect(try account.refund(held.id) == first)
        #expect(account.facts.count == count)
    }

    @Test func `a refund of a shared transaction is refused`() {
        let shared = Shop.transaction(
            7, of: "silver", from: at("2026-01-10"), to: at("2026-02-10"), ownership: .familyShared)
        let error = #expect(throws: Refusal.self) {
            try decideRefund(of: shared, reason: .other, others: [], now: at("2026-01-11"))
        }
        #expect(error?.reason == .refundNotPossible)
    }
}

@Suite struct `expiring a subscription` {
    @Test func `expiring ends the period now, for good`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.advance(days: 3)
        try account.expire()
        #expect(account.state() == .expired)
        #expect(try account.line().latest.expirationDate == account.now)
        #expect(account.rows.first?.expirationDate == account.now)
        #expect(try account.renewalInfo().expirationReason == .autoRenewDisabled)
        #expect(account.entitlement("silver") == nil)
        #expect(account.record.attemptDue == nil)
        #expect(account.facts.last?.cause == .expiry)
    }

    @Test func `in grace does not lengthen the period that has ended`() throws {
        var account = TestAccount(
            at: at("2026-01-10"), settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        account.advance(to: at("2026-02-12"))
        try account.expire()
        #expect(account.state() == .expired)
        #expect(try account.line().latest.expirationDate == at("2026-02-10"))
        #expect(try account.renewalInfo().renewalDate == at("2026-02-10"))
    }
}

@Suite struct `forcing a renewal` {
    @Test func `a forced renewal ends the period now and begins the next`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        let first = try account.buy("silver").transaction
        account.advance(to: at("2026-01-20"))
        let next = try account.forceRenewal()
        #expect(account.rows.map(\.expirationDate) == [at("2026-01-20"), at("2026-02-20")])
        #expect(next.purchaseDate == account.now)
        #expect(next.reason == .renewal)
        #expect(next.originalID == first.id)
        #expect(account.entitlement("silver") == next)
        #expect(account.facts.suffix(2).map { $0.event?.kind } == [.changed, .renewed])
    }

    @Test func `a forced renewal's month begins on its own day`() throws {
        var account = TestAccount(at: at("2026-01-31"))
        try account.buy("silver")
        account.advance(to: at("2026-02-10"))
        #expect(try account.forceRenewal().expirationDate == at("2026-03-10"))
        try account.advanceToBoundary()
        #expect(try account.line().boundary == at("2026-04-10"))
    }

    @Test func `a forced renewal brings the pending plan`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("bronze")
        #expect(try account.forceRenewal().productID == "bronze")
    }

    @Test func `a forced renewal uses up a period of the offer`() throws {
        let offer = Shop.introductory(.payAsYouGo, Period(1, .month), count: 2, price: 1_990)
        var account = TestAccount(catalogue: Shop.catalogue(introductory: offer))
        try account.buy("silver")
        #expect(try account.forceRenewal().price == usd(1_990))
        #expect(try account.forceRenewal().price == usd(9_990))
    }

    @Test func `a forced renewal keeps the customer's switch`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.setAutoRenew(false)
        account.advance(days: 3)
        try account.forceRenewal()
        #expect(account.state() == .subscribed)
        #expect(try !account.renewalInfo().willAutoRenew)
        try account.advanceToBoundary()
        #expect(account.state() == .expired)
    }

    @Test func `a forced renewal in grace is a recovered charge: the cycle continues from the boundary`() throws {
        var account = TestAccount(
            at: at("2026-01-31"), settings: Shop.settings(billingIssues: true, grace: true))
        let first = try account.buy("silver").transaction
        account.advance(to: at("2026-03-05"))
        #expect(account.state() == .inGracePeriod)
        let next = try account.forceRenewal()
        #expect(next.purchaseDate == at("2026-02-28"))
        #expect(next.expirationDate == at("2026-03-31"))
        #expect(account.state() == .subscribed)
        #expect(try account.renewalInfo().expirationReason == nil)
        #expect(account.rows == [first, next], "the period that had ended is not cut")
    }

    @Test func `a forced renewal of a withdrawn product is refused`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.catalogue = Shop.catalogue(without: ["silver"])
        let error = #expect(throws: Refusal.self) { try account.forceRenewal() }
        #expect(error?.reason == .productUnknown)
    }
}

@Suite struct `a line that is not subscribed` {
    enum Operation: String, CaseIterable { case expire, force, switchOff, switchOn }

    @Test(arguments: Operation.allCases, ["expired", "retry over", "revoked"])
    func `a line that is not subscribed can neither be expired, renewed nor switched`(
        _ operation: Operation, _ ending: String
    ) throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: ending == "retry over"))
        let held = try account.buy("silver").transaction
        if ending == "expired" { try account.setAutoRenew(false) }
        if ending == "revoked" { try account.refund(held.id) }
        account.advance(days: 200)
        // A refund may be reversed, so renewal can be switched off.
        if ending == "revoked", operation == .switchOff { return try account.setAutoRenew(false) }
        let before = account.record
        let error = #expect(throws: Refusal.self) {
            switch operation {
            case .expire: try account.expire()
            case .force: try account.forceRenewal()
            case .switchOff: try account.setAutoRenew(false)
            case .switchOn: try account.setAutoRenew(true)
            }
        }
        #expect(error?.reason == .notSubscribed)
        #expect(account.record == before)
    }

    @Test func `a line in billing retry can be neither expired nor renewed by force`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true))
        try account.buy("silver")
        account.advance(days: 40)
        #expect(throws: Refusal.self) { try account.expire() }
        #expect(throws: Refusal.self) { try account.forceRenewal() }
    }

    @Test func `a switch to the current setting changes nothing`() throws {
        var account = TestAccount()
        try account.buy("silver")
        let count = account.facts.count
        try account.setAutoRenew(true)
        #expect(account.facts.count == count)
        try account.setAutoRenew(false)
        try account.setAutoRenew(false)
        #expect(account.facts.count == count + 1)
    }
}
