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
    @Test func `a refunded consumable is an event and changes no view`() throws {
        var account = TestAccount()
        let coins = try account.buy("coins").transaction
        let record = account.record
        try account.refund(coins.id)
        #expect(account.record == record)
        #expect(account.rows.first?.revocation != nil)
        #expect(account.facts.last?.event?.kind == .revoked)
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
