import PerchBase
import PerchModel
import Testing

@Suite struct `messages of the store` {
    private static func messages(_ account: TestAccount) -> [StoreMessage] {
        storeMessages(of: account.record, app: account.app, at: account.now).value
    }

    /// The instants at which billing reminders come, by following the view's own crossings until `end`.
    private static func reminders(_ account: TestAccount, until end: Instant) -> [Instant] {
        var now = account.now
        var found: [Instant] = []
        while true {
            let viewed = storeMessages(of: account.record, app: account.app, at: now)
            for message in viewed.value where message.reason == .billingIssue && found.last != message.since {
                found.append(message.since)
            }
            guard let next = viewed.nextCrossing, next <= end else { return found }
            #expect(next > now)
            now = next
        }
    }

    @Test func `a billing issue is a message daily on days 1 to 3, then every 72, 96 and 120 hours`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true))
        let bought = try #require(try account.order("silver").transaction)
        #expect(Self.messages(account).isEmpty)
        try account.advanceToBoundary()
        let failed = account.now
        #expect(
            Self.messages(account) == [
                StoreMessage(
                    reason: .billingIssue, since: failed, originalTransactionID: bought.id, productID: "silver")
            ])
        let days = Self.reminders(account, until: .distantFuture).map { $0.milliseconds(since: failed) / day }
        #expect(days == [0, 1, 2, 3, 6, 9, 12, 15, 16, 20, 24, 28, 30, 35, 40, 45, 50, 55])
        account.advance(to: failed.advanced(byMilliseconds: 60 * day - 1))
        #expect(Self.messages(account).count == 1)
        account.advance(to: failed.advanced(byMilliseconds: 60 * day))
        #expect(Self.messages(account).isEmpty)
    }

    @Test func `the cadence is scaled by the time rate, and continues through a grace period`() throws {
        let rate = try #require(TimeRate(named: "monthlyRenewalEveryHour"))
        var account = TestAccount(settings: Shop.settings(rate, billingIssues: true, grace: true))
        try account.order("silver")
        try account.advanceToBoundary()
        let failed = account.now
        let seen = Self.reminders(account, until: .distantFuture).map { $0.milliseconds(since: failed) / minute }
        #expect(seen == [0, 2, 4, 6, 12, 18, 24, 30, 32, 40, 48, 56, 60, 70, 80, 90, 100, 110])
    }

    @Test func `the billing issue message ends when the customer cancels`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true))
        try account.order("silver")
        try account.advanceToBoundary()
        #expect(Self.messages(account).count == 1)
        try account.setAutoRenew(false)
        #expect(Self.messages(account).isEmpty)
    }

    @Test func `a price increase is a message while it waits for an answer`() throws {
        var account = TestAccount()
        let original = try #require(try account.order("silver").transaction).originalID
        account.advance(days: 2)
        let asked = account.now
        let increase = PriceIncrease(price: usd(14_990), asked: asked, status: .pending)
        account.commit([Fact(.priceRaised(original: original, increase), effective: asked)])
        account.advance(days: 1)
        #expect(
            Self.messages(account) == [
                StoreMessage(
                    reason: .priceIncreaseConsent, since: asked, originalTransactionID: original, productID: "silver",
                    price: usd(14_990))
            ])
        var refusing = account
        account.commit([Fact(.priceAnswered(original: original, agrees: true), effective: account.now)])
        #expect(Self.messages(account).isEmpty)
        refusing.commit([Fact(.priceAnswered(original: original, agrees: false), effective: refusing.now)])
        #expect(Self.messages(refusing).isEmpty)
    }

    @Test func `a posted message lasts a day of the time rate`() throws {
        var account = TestAccount()
        try account.ask(.postMessage)
        let posted = account.now
        #expect(Self.messages(account) == [StoreMessage(reason: .generic, since: posted)])
        let viewed = storeMessages(of: account.record, app: account.app, at: account.now)
        #expect(viewed.nextCrossing == posted.advanced(byMilliseconds: day))
        #expect(viewed.forecast?.kind == .message)
        account.advance(days: 1)
        #expect(Self.messages(account).isEmpty)

        account.settings.timeRate = try #require(TimeRate(named: "oneMinuteIsOneDay"))
        try account.ask(.postMessage)
        let crossing = storeMessages(of: account.record, app: account.app, at: account.now).nextCrossing
        #expect(crossing == account.now.advanced(byMilliseconds: minute))
    }

    @Test func `the best win-back offer is a message while it is available`() throws {
        var account = TestAccount(catalogue: OfferShop.catalogue())
        let original = try #require(
            try account.order("silver") { $0.introductoryEligibility = .denied }.transaction
        ).originalID
        account.advance(to: at("2026-03-20"))
        try account.setAutoRenew(false)
        account.advance(to: at("2026-04-12"))
        #expect(
            Self.messages(account) == [
                StoreMessage(
                    reason: .winBackOffer, since: at("2026-04-10"), originalTransactionID: original,
                    productID: "silver", offerID: "again")
            ])
        account.catalogue = OfferShop.catalogue(winBacks: [
            WinBackOffer(
                offer: OfferShop.offer(.winBack, "return"), isEligible: false, isHighPriority: false,
                rule: OfferShop.rule)
        ])
        #expect(Self.messages(account).isEmpty)
        let crossing = storeMessages(of: account.record, app: account.app, at: account.now).nextCrossing
        #expect(crossing == at("2026-05-10"))
        account.advance(to: at("2026-05-10"))
        #expect(Self.messages(account).map(\.offerID) == ["return"])
        #expect(Self.messages(account).map(\.since) == [at("2026-05-10")])
        try account.order("silver", .winBack, "return")
        #expect(Self.messages(account).isEmpty)
    }

    @Test func `an account that was never opened has none`() {
        #expect(storeMessages(of: nil, app: Shop.app(), at: at("2026-01-01")).value.isEmpty)
    }
}
