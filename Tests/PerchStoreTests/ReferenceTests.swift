import PerchBase
import PerchModel
import PerchStore
import Testing

@testable import PerchModelCheck

/// Expected values of the reference model, computed by hand from the document of the semantics.
@Suite struct `the reference beside the laws` {
    private var life = Life()

    @Test
    mutating func `a trial is followed by a paid month, and a failed charge by grace, recovery and the same days`() {
        self.life.buy("silver")
        self.life.expect("2026-01-31 2026-02-07 free")
        self.life.advance("2026-02-07")
        self.life.expect("2026-02-07 2026-03-07 9.99")
        self.life.configure(.gracePeriod(true))
        self.life.operate(.setCharges(fail: true))
        self.life.advance("2026-03-07")
        #expect(self.life.status?.state == .inGracePeriod)
        #expect(self.life.status?.graceEnd == Life.instant("2026-03-23"))
        self.life.advance("2026-03-20")
        self.life.operate(.resolveBilling(.product("silver")))
        self.life.expect("2026-03-07 2026-04-07 9.99")
        #expect(self.life.status?.state == .subscribed)
        self.life.operate(.setCharges(fail: true))
        self.life.advance("2026-04-07")
        self.life.advance("2026-04-23")
        #expect(self.life.status?.state == .inBillingRetryPeriod)
        self.life.advance("2026-06-05")
        self.life.operate(.resolveBilling(.product("silver")))
        self.life.expect("2026-06-05 2026-07-05 9.99")
        self.life.operate(.setCharges(fail: true))
        self.life.advance("2026-07-05")
        self.life.advance("2026-09-03")
        #expect(self.life.status?.state == .expired)
        #expect(self.life.status?.reason == .billingError)
        #expect(self.life.status?.willRenew == false)
    }

    @Test mutating func `a short month is not forgotten, neither by a renewal nor by a recovery in grace`() {
        self.life.configure(.gracePeriod(true))
        self.life.buy("gold")
        self.life.expect("2026-01-31 2026-02-28 19.99")
        self.life.operate(.setCharges(fail: true))
        self.life.advance("2026-03-01")
        self.life.operate(.resolveBilling(.product("gold")))
        self.life.expect("2026-02-28 2026-03-31 19.99")
        self.life.operate(.setCharges(fail: nil))
        self.life.advance("2026-03-31")
        self.life.expect("2026-03-31 2026-04-30 19.99")
        self.life.operate(.renew(.product("gold")))
        self.life.expect("2026-03-31 2026-04-30 19.99")
        self.life.advance("2026-04-15")
        self.life.operate(.renew(.product("gold")))
        self.life.expect("2026-04-15 2026-05-15 19.99")
    }

    @Test mutating func `an offer of two periods that waited is charged twice, and then the plan costs what it does`() {
        self.life.buy("silver")
        self.life.advance("2026-02-07")
        self.life.buy("silver", offer: OrderedOffer(type: .promotional, id: "half"))
        self.life.expect("2026-02-07 2026-03-07 9.99")
        #expect(self.life.status?.price?.milliunits == 4_990)
        self.life.advance("2026-03-07")
        self.life.expect("2026-03-07 2026-04-07 4.99")
        self.life.advance("2026-04-07")
        self.life.expect("2026-04-07 2026-05-07 4.99")
        #expect(self.life.status?.price?.milliunits == 9_990)
        self.life.advance("2026-05-07")
        self.life.expect("2026-05-07 2026-06-07 9.99")
    }

    @Test mutating func `a refund in grace that is taken back leaves the grace period as it was`() {
        self.life.configure(.gracePeriod(true))
        self.life.buy("gold")
        self.life.operate(.setCharges(fail: true))
        self.life.advance("2026-03-01")
        self.life.operate(.refund(.product("gold"), reason: .other, share: .full))
        #expect(self.life.status?.state == .revoked)
        self.life.operate(.reverseRefund(.product("gold")))
        #expect(self.life.status?.state == .inGracePeriod)
        #expect(self.life.status?.graceEnd == Life.instant("2026-03-16"))
    }

    @Test mutating func `an upgrade is now, and a downgrade and another length wait for the renewal`() {
        self.life.buy("bronze")
        self.life.advance("2026-02-10")
        self.life.buy("gold")
        self.life.expect("2026-02-10 2026-03-10 19.99")
        #expect(self.life.store.accounts[0].transactions.first?.isUpgraded == true)
        self.life.buy("silver.yearly")
        #expect(self.life.status?.preference == "silver.yearly")
        self.life.advance("2026-03-10")
        self.life.expect("2026-03-10 2027-03-10 99")
    }

    @Test mutating func `a waiting change is billed as ordered, and its offer waits with it`() {
        self.life.buy("gold")
        self.life.buy("silver.yearly", billed: .monthly)
        #expect(self.life.status?.billing == .monthly)
        #expect(self.life.status?.price?.milliunits == 9_000)
        self.life.advance("2026-02-28")
        self.life.expect("2026-02-28 2026-03-31 9")
        self.life.buy("silver", offer: OrderedOffer(type: .promotional, id: "half"))
        #expect(self.life.status?.offer == nil)
        self.life.advance("2027-01-31")
        self.life.expect("2027-01-31 2027-02-28 9")
        #expect(self.life.status?.latest.commitment?.billingPeriodNumber == 12)
        self.life.advance("2027-02-28")
        self.life.expect("2027-02-28 2027-03-31 4.99")
    }

    @Test func `calendar and time rates are those of the documents`() {
        let start = Life.instant("2028-01-31")
        #expect(ReferenceCalendar.months(1, after: start, countedFrom: 31) == Life.instant("2028-02-29"))
        #expect(ReferenceCalendar.months(12, after: start, countedFrom: 31) == Life.instant("2029-01-31"))
        #expect(ReferenceCalendar.months(13, after: start, countedFrom: 31) == Life.instant("2029-02-28"))
        for days in Int64(-800)...800 {
            let instant = Instant(milliseconds: days * 86_400_000 * 13 + 1_234)
            let date = ReferenceCalendar.date(of: instant)
            #expect(ReferenceCalendar.instant(of: date) == instant)
            #expect(CivilTime(instant).day == date.day)
        }
        let rates: [(Int32, month: Int64, weeklyGrace: Int64, grace: Int64, retry: Int64)] = [
            (10, 3_600, 771, 1_800, 7_200), (13, 300, 154, 150, 600), (15, 30, 9, 15, 60), (1000, 900, 900, 900, 1_800),
        ]
        for (number, month, weeklyGrace, grace, retry) in rates {
            guard let known = TimeRate(rawValue: number) else { continue }
            let rate = ReferenceRate(known)
            let end = rate.end(of: Period(1, .month), from: start, countedFrom: 31)
            #expect(end.milliseconds(since: start) == month * 1_000)
            #expect(rate.grace(isWeekly: true, days: 16) == weeklyGrace * 1_000)
            #expect(rate.grace(isWeekly: false, days: 16) == grace * 1_000)
            #expect(rate.retry == retry * 1_000)
        }
    }
}

/// One account of the model's shop, from 31 January 2026 on, at ten in the morning.
private struct Life {
    var store = ReferenceStore(ModelShop.catalogue(), accounts: 1, at: Self.instant("2026-01-31"))

    static func instant(_ day: String) -> Instant {
        CivilTime(parsing: day + "T10:00:00Z")?.instant ?? .distantPast
    }

    var status: ReferenceStatus? { self.store.statuses(0, in: "plans").first }

    mutating func live(_ action: ModelAction) {
        let answer = ModelWorld.Answer.done(.none, Position(revision: 1, asOf: self.store.now))
        #expect(self.store.live(action, answer: answer) == nil)
    }

    mutating func operate(_ operation: StoreOperation) { self.live(.operate(account: 0, operation)) }
    mutating func configure(_ change: AppSettingChange) { self.live(.configure([change])) }
    mutating func advance(_ day: String) { self.live(.advance(to: Self.instant(day))) }

    mutating func buy(_ product: String, offer: OrderedOffer? = nil, billed plan: BillingPlanType = .unspecified) {
        var order = PurchaseOrder(productID: product, offer: offer)
        order.billingPlan = plan
        self.operate(.buy(order))
    }

    /// The latest transaction, as `begin end price`.
    func expect(_ wanted: String, _ location: SourceLocation = #_sourceLocation) {
        guard let latest = self.status?.latest, let end = latest.end else {
            Issue.record("there is no line", sourceLocation: location)
            return
        }
        let day = { (instant: Instant) in "\(CivilTime(instant))".prefix(10) }
        let price = latest.price.milliunits == 0 ? "free" : latest.price.decimal(decimals: 0)
        #expect("\(day(latest.begin)) \(day(end)) \(price)" == wanted, sourceLocation: location)
    }
}
