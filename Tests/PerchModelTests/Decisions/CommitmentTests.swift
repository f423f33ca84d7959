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

    @Test func `a commitment of twelve months is charged by the month, each charge a transaction with its place`()
        throws
    {
        var account = try Self.account()
        account.advance(to: at("2027-02-15"))
        #expect(account.rows.count == 13)
        #expect(account.rows.map { $0.commitment?.billingPeriodNumber } == (1...12).map(UInt32.init) + [1])
        #expect(account.rows[0].commitment?.expirationDate == at("2027-01-31"))
        #expect(account.rows[11].expirationDate == at("2027-01-31"))
        #expect(account.rows[12].commitment?.expirationDate == at("2028-01-31"))
        #expect(account.rows.allSatisfy { $0.price == usd(9_000) && $0.billingPlan == .monthly })
        #expect(account.rows[1].expirationDate == at("2026-03-31"))
    }

    @Test func `a cancelled commitment renews to its end, and only its own flag is off`() throws {
        var account = try Self.account()
        try account.setAutoRenew(false)
        let info = try account.renewalInfo()
        #expect(info.willAutoRenew && info.autoRenewPreference == "silver.yearly")
        #expect(info.commitment?.willRenew == false && info.renewalBillingPlan == .monthly)
        account.advance(to: at("2027-01-30"))
        #expect(account.rows.count == 12 && account.state() == .subscribed)
        #expect(try !account.renewalInfo().willAutoRenew)
        account.advance(to: at("2027-02-01"))
        #expect(account.rows.count == 12 && account.state() == .expired)
        #expect(try account.renewalInfo().expirationReason == .autoRenewDisabled)
    }

    @Test func `a commitment's charge is retried for ninety days without grace, even after cancelling`() throws {
        var account = try Self.account(billingIssues: true)
        account.advance(to: at("2026-03-01"))
        #expect(account.state() == .inBillingRetryPeriod)
        #expect(try account.line().retry?.until == at("2026-02-28").advanced(byMilliseconds: 90 * day))
        try account.setAutoRenew(false)
        #expect(account.state() == .inBillingRetryPeriod)
        try account.operate(.resolveBilling(.product("silver.yearly")))
        #expect(account.rows[1].commitment?.billingPeriodNumber == 2)
        try account.operate(.expire(.product("silver.yearly")))
        account.advance(days: 40)
        #expect(account.rows.count == 2 && account.state() == .expired)
    }

    @Test func `that recovers after more than sixty days begins a new run`() throws {
        var account = try Self.account(billingIssues: true)
        account.advance(to: at("2026-04-28"))
        try account.operate(.resolveBilling(.product("silver.yearly")))
        #expect(try account.renewalInfo().recentSubscriptionStartDate == at("2026-01-31"))
        account.advance(to: at("2026-07-28"))
        try account.operate(.resolveBilling(.product("silver.yearly")))
        #expect(try account.renewalInfo().recentSubscriptionStartDate == at("2026-07-28"))
    }

    @Test func `a commitment of twelve months ends with its last period, where a charge came later than it was due`()
        throws
    {
        var account = try Self.account(billingIssues: true)
        account.advance(to: at("2026-04-10"))
        account.settings = Shop.settings()
        try account.operate(.resolveBilling(.product("silver.yearly")))
        #expect(account.rows[1].expirationDate == at("2026-05-10"))
        #expect(account.rows[1].commitment?.expirationDate == at("2027-03-10"))
        account.advance(to: at("2027-03-09"))
        #expect(account.rows.count == 12 && account.rows[11].expirationDate == at("2027-03-10"))
        #expect(account.rows.dropFirst().allSatisfy { $0.commitment?.expirationDate == at("2027-03-10") })
    }

    @Test func `a commitment of twelve months ends with its last period, where one was cut by a forced renewal`() throws
    {
        var account = try Self.account()
        account.advance(to: at("2026-02-05"))
        try account.forceRenewal()
        #expect(account.rows[0].commitment?.expirationDate == at("2027-01-31"), "as it was told then")
        #expect(account.rows[1].commitment?.expirationDate == at("2027-01-05"))
        account.advance(to: at("2027-01-04"))
        #expect(account.rows.count == 12 && account.rows[11].expirationDate == at("2027-01-05"))
        #expect(account.rows[11].commitment?.expirationDate == at("2027-01-05"))
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

    @Test func `each charge's transaction says whether the commitment renewed when it was charged`() throws {
        var account = try Self.account()
        account.advance(to: at("2026-03-10"))
        try account.setAutoRenew(false)
        #expect(account.rows.map { $0.commitment?.willRenew } == [true, true], "charged before the switch")
        account.advance(to: at("2026-04-10"))
        try account.setAutoRenew(true)
        account.advance(to: at("2026-05-10"))
        #expect(account.rows.map { $0.commitment?.willRenew } == [true, true, false, true])
        #expect(try account.renewalInfo().commitment?.willRenew == true)
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

    @Test func `that was ended by hand renews no more, and says so`() throws {
        var account = try Self.account()
        try account.expire()
        let info = try account.renewalInfo()
        #expect(account.state() == .expired && !info.willAutoRenew && info.commitment?.willRenew == false)
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

    @Test func `a commitment of twelve months keeps a lower plan waiting until it ends`() throws {
        var account = try Self.account()
        try account.buy("bronze")
        #expect(try account.renewalInfo().autoRenewPreference == "silver.yearly")
        account.advance(to: at("2027-01-30"))
        #expect(account.rows.allSatisfy { $0.productID == "silver.yearly" })
        #expect(try account.renewalInfo().autoRenewPreference == "bronze")
        account.advance(to: at("2027-02-01"))
        #expect(account.rows.last?.productID == "bronze" && account.rows.last?.commitment == nil)
        #expect(account.rows.last?.billingPlan == .unspecified)
    }
}
