import PerchBase
import PerchModel
import Testing

@Suite struct `a commitment of twelve months` {
    private static func account(billingIssues: Bool = false) throws -> TestAccount {
        var account = TestAccount(
            at: at("2026-01-31"), catalogue: Shop.billedMonthly(),
            settings: Shop.settings(billingIssues: billingIssues, grace: true))
        try account.buyMonthly()
        return account
    }

    @Test func `the next commitment counts its months from a moved boundary`() throws {
        var account = try Self.account()
        account.advance(to: at("2027-01-15"))
        try account.operate(.extendRenewal(.product("silver.yearly"), milliseconds: 3 * day))
        account.advance(to: at("2027-02-10"))
        #expect(account.rows[12].expirationDate == at("2027-03-03"))
        #expect(account.rows[12].commitment?.expirationDate == at("2028-02-03"))
    }

    @Test func `a commitment of twelve months keeps its price: only its last period can be followed by a higher one`()
        throws
    {
        var account = try Self.account()
        func raise() throws -> Refusal.Reason? {
            do throws(Refusal) {
                var numbers = account.numbers
                let operation = StoreOperation.raisePrice(
                    .product("silver.yearly"), milliunits: 9_500, needsConsent: false)
                _ = try decide(
                    operation, on: OperationSubject(record: account.record), app: account.app, now: account.now,
                    numbers: &numbers)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(try raise() == .priceIncreaseInvalid)
        account.advance(to: at("2026-12-30"))
        #expect(try raise() == .priceIncreaseInvalid, "charge 11 of 12")
        account.advance(to: at("2026-12-31"))
        #expect(try raise() == nil, "charge 12 of 12")
    }

    @Test func `a commitment's price is a month's, and a large increase of it needs consent`() throws {
        var account = try Self.account()
        account.advance(to: at("2027-01-10"))
        try account.operate(.raisePrice(.product("silver.yearly"), milliunits: 14_000, needsConsent: nil))
        #expect(try account.renewalInfo().priceIncreaseStatus == .agreed)
        var other = try Self.account()
        other.advance(to: at("2027-01-10"))
        try other.operate(.raisePrice(.product("silver.yearly"), milliunits: 20_000, needsConsent: nil))
        #expect(try other.renewalInfo().priceIncreaseStatus == .pending)
    }

    @Test func `a commitment of twelve months is nothing that a plan change leads to: the year is paid up front`()
        throws
    {
        var account = TestAccount(at: at("2026-01-31"), catalogue: try Self.account().catalogue)
        try account.buy("silver")
        try account.buy("silver.yearly")
        try account.advanceToBoundary()
        #expect(account.rows.last?.productID == "silver.yearly" && account.rows.last?.billingPlan == .upFront)
        #expect(account.rows.last?.price == usd(99_000) && account.rows.last?.commitment == nil)
    }

    @Test func `a commitment whose last charge was deleted is not charged for past time`() throws {
        var account = try Self.account()
        try account.setAutoRenew(false)
        account.advance(to: at("2026-04-15"))
        try account.operate(.deleteTransaction(3))
        #expect(try account.line().latest.id == 2 && account.record.attemptDue == nil)
        #expect(account.state() == .expired)
        #expect(try !account.renewalInfo().willAutoRenew && account.renewalInfo().expirationReason == .unknown)
    }
}
