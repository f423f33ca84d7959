import PerchBase
import PerchModel
import Testing

private func reason(_ body: () throws -> Void) -> Refusal.Reason? {
    do {
        try body()
        return nil
    } catch {
        return (error as? Refusal)?.reason
    }
}

@Suite struct `refunding a part` {
    @Test(
        arguments: [
            (0, 100_000, RevocationType.refundFull), (7, 75_000, .refundProrated), (27, 3_571, .refundProrated),
        ] as [(Int64, UInt32, RevocationType)])
    func `prorated gives back the unused part of the period, to the thousandth of a per cent`(
        _ days: Int64, _ percentage: UInt32, _ type: RevocationType
    ) throws {
        // February has 28 days.
        var account = TestAccount(at: at("2026-02-01"))
        try account.buy("silver")
        account.advance(days: days)
        let refunded = try #require(
            try account.operate(.refund(.product("silver"), reason: .developerIssue, share: .prorated)).transaction)
        #expect(
            refunded.revocation
                == Revocation(date: account.now, reason: .developerIssue, type: type, percentageMilli: percentage))
        #expect(account.state() == .revoked)
    }

    @Test func `a named part is kept as it is named, and a whole is a full refund`() throws {
        for (part, type) in [(25_000, RevocationType.refundProrated), (100_000, .refundFull)]
            as [(UInt32, RevocationType)]
        {
            var account = TestAccount()
            try account.buy("coins", quantity: 3)
            let target = OperationTarget.product("coins")
            let refunded = try account.operate(.refund(target, reason: .other, share: .part(milliPercent: part)))
            #expect(refunded.transaction?.revocation?.percentageMilli == part)
            #expect(refunded.transaction?.revocation?.type == type)
            #expect(try account.operate(.refund(.transaction(1), reason: .other, share: .full)).wasHeld)
            #expect(account.rows[0].revocation?.percentageMilli == part, "the first refund counts")
        }
    }

    @Test func `a refund of a part is refused if nothing is left`() throws {
        var account = TestAccount()
        try account.buy("coins")
        try account.buy("silver")
        try account.setAutoRenew(false)
        account.advance(days: 31)
        for (target, share) in [
            (OperationTarget.product("coins"), RefundShare.prorated), (.product("silver"), .prorated),
            (.product("silver"), .part(milliPercent: 0)), (.product("silver"), .part(milliPercent: 100_001)),
        ] {
            #expect(
                reason { try account.operate(.refund(target, reason: .other, share: share)) } == .refundNotPossible)
        }
        #expect(
            reason { try account.operate(.refund(.product("gold"), reason: .other, share: .full)) }
                == .transactionUnknown)
        #expect(reason { try account.operate(.reverseRefund(.product("silver"))) } == .refundNotPossible)
        #expect(reason { try account.operate(.declineRefund(.transaction(9))) } == .transactionUnknown)
        #expect(reason { try account.operate(.requestConsumption(.transaction(9))) } == .transactionUnknown)
    }
}

@Suite struct `a charge that recovers` {
    @Test func `a charge that recovers has no effect when nothing fails, nor when the store has given up`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true))
        #expect(reason { try account.operate(.resolveBilling(.product("silver"))) } == .notSubscribed)
        try account.buy("silver")
        #expect(reason { try account.operate(.resolveBilling(.product("silver"))) } == .notInRetry)
        account.advance(days: 31 + 60)
        #expect(account.state() == .expired)
        #expect(reason { try account.operate(.resolveBilling(.product("silver"))) } == .notInRetry)
        #expect(reason { try account.operate(.resolveBilling(.product("coins"))) } == .notASubscription)
    }

    @Test func `after a billing issue is resolved, the next charge of the account succeeds`() throws {
        var account = TestAccount(settings: Shop.settings(grace: true))
        try account.buy("silver")
        try account.operate(.setCharges(fail: true))
        try account.advanceToBoundary()
        #expect(account.state() == .inGracePeriod)
        try account.operate(.resolveBilling(.product("silver")))
        #expect(account.record.chargesFail == nil)
        try account.advanceToBoundary()
        #expect(account.state() == .subscribed)
        // What the app's setting says goes on, and an account whose charges succeed keeps that.
        for charges in [nil, false] {
            var bob = TestAccount(settings: Shop.settings(billingIssues: true))
            try bob.buy("silver")
            try bob.advanceToBoundary()
            try bob.operate(.setCharges(fail: charges))
            try bob.operate(.resolveBilling(.product("silver")))
            #expect(bob.record.chargesFail == charges)
            try bob.advanceToBoundary()
            #expect(bob.state() == (charges == nil ? .inBillingRetryPeriod : .subscribed))
        }
    }

    @Test func `an account's own charges come before the app's setting`() throws {
        for isFailing in [true, false] {
            var account = TestAccount(settings: Shop.settings(billingIssues: !isFailing))
            try account.buy("silver")
            try account.operate(.setCharges(fail: isFailing))
            #expect(try account.operate(.setCharges(fail: isFailing)).facts.isEmpty)
            account.advance(days: 31)
            #expect(account.state() == (isFailing ? .inBillingRetryPeriod : .subscribed))
            try account.operate(.setCharges(fail: nil))
            #expect(account.record.chargesFail == nil)
        }
    }

    @Test func `a trial has a grace period only where every renewal has one`() throws {
        for isForAll in [true, false] {
            var settings = Shop.settings(billingIssues: true, grace: true)
            settings.hasGracePeriodForAllRenewals = isForAll
            let trial = Shop.introductory(.freeTrial, Period(1, .week))
            var account = TestAccount(catalogue: Shop.catalogue(introductory: trial), settings: settings)
            try account.buy("silver")
            try account.advanceToBoundary()
            #expect(account.state() == (isForAll ? .inGracePeriod : .inBillingRetryPeriod))
        }
    }

    @Test func `a renewal that costs nothing has a grace period only where every renewal has one`() throws {
        let free = SubscriptionOffer(
            id: "free", type: .promotional, paymentMode: .freeTrial, price: usd(0), period: Period(1, .month),
            periodCount: 1)
        for isForAll in [true, false] {
            var settings = Shop.settings(billingIssues: true, grace: true)
            settings.hasGracePeriodForAllRenewals = isForAll
            var account = TestAccount(settings: settings)
            let held = try account.buy("silver").transaction
            account.commit([Fact(.offerQueued(original: held.originalID, free), effective: account.now)])
            try account.advanceToBoundary()
            #expect(account.state() == (isForAll ? .inGracePeriod : .inBillingRetryPeriod))
        }
    }

    @Test func `the grace period is never longer than the period`() throws {
        for rate in TimeRate.all {
            for (product, group) in [("weekly", "H"), ("silver", "G")] {
                var account = TestAccount(
                    settings: Shop.settings(rate, billingIssues: true, grace: true, graceDays: 28))
                try account.buy(product)
                let first = try account.line(group).latest
                try account.advanceToBoundary(inGroup: group)
                let line = try account.line(group)
                let grace = try #require(line.retry?.graceUntil)
                #expect(
                    grace.milliseconds(since: line.boundary)
                        <= line.boundary.milliseconds(since: first.purchaseDate) + day, "\(rate) \(product)")
                #expect(grace > line.boundary)
            }
        }
    }
}

@Suite struct `a higher price` {
    private static let silver = OperationTarget.product("silver")

    @Test(
        arguments: [
            // product, old price, new price, asked
            ("silver", 14_980, false), ("silver", 14_990, false), ("silver", 14_995, true), ("bronze", 9_900, false),
            ("silver.yearly", 148_999, false), ("silver.yearly", 149_501, true), ("weekly", 6_980, false),
            ("weekly", 7_000, true),
        ] as [(String, Int64, Bool)])
    func `a higher price needs consent if it is of more than a half and of more than five, or fifty a year`(
        _ product: String, _ price: Int64, _ isAsked: Bool
    ) throws {
        var account = TestAccount()
        try account.buy(product)
        try account.operate(.raisePrice(.product(product), milliunits: price, needsConsent: nil))
        let group = product == "weekly" ? "H" : "G"
        #expect(try account.renewalInfo(group).priceIncreaseStatus == (isAsked ? .pending : .agreed))
    }

    /// Messages show prices, not milliunits.
    @Test func `that is none is refused with both prices as people write them`() throws {
        var account = TestAccount()
        try account.buy("silver")
        let refusal = #expect(throws: Refusal.self) {
            try account.operate(.raisePrice(.product("silver"), milliunits: 3_000, needsConsent: nil))
        }
        #expect(refusal?.message.hasPrefix("the new price USD 3.00 is not higher than the present one, USD ") == true)
        let extended = #expect(throws: Refusal.self) {
            try account.operate(.extendRenewal(.product("silver"), milliseconds: 1_000 * 86_400_000))
        }
        #expect(extended?.message == "the renewal would move by 1000d; it can move later by 1ms to 90d at a time")
        let storefront = #expect(throws: Refusal.self) { try account.operate(.setStorefront("GER")) }
        #expect(storefront?.message.hasSuffix("for Germany it is DEU") == true)
    }

    /// Found by `modelcheck 1 30493 200`: the year was over on the last day of the month before.
    @Test func `a second time needs consent until a year has passed, to the instant`() throws {
        for (instant, status) in [
            (at("2027-03-21T11:59:59Z"), PriceIncreaseStatus.pending), (at("2027-03-21T12:00:00Z"), .agreed),
        ] {
            var account = TestAccount(at: at("2026-03-10"))
            try account.buy("silver")
            account.advance(to: at("2026-03-21T12:00:00Z"))
            try account.operate(.raisePrice(.product("silver"), milliunits: 10_000, needsConsent: nil))
            account.advance(to: instant)
            try account.operate(.raisePrice(.product("silver"), milliunits: 10_010, needsConsent: nil))
            #expect(try account.line().increase?.status == status, "at \(instant)")
        }
    }

    @Test func `that the customer answers by switching renewal off is no refusal of it`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.operate(.raisePrice(Self.silver, milliunits: 10_990, needsConsent: false))
        try account.operate(.setAutoRenew(Self.silver, isOn: false))
        try account.advanceToBoundary()
        #expect(try account.renewalInfo().expirationReason == .autoRenewDisabled)
    }

    @Test func `a second increase leaves the first one agreed`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.operate(.raisePrice(Self.silver, milliunits: 10_990, needsConsent: false))
        try account.operate(.raisePrice(Self.silver, milliunits: 15_990, needsConsent: true))
        #expect(try account.renewalInfo().priceIncreaseStatus == .pending)
        #expect(try account.renewalInfo().renewalPrice == usd(10_990), "the customer agreed to this one")
        #expect(
            reason { try account.operate(.raisePrice(Self.silver, milliunits: 10_500, needsConsent: nil)) }
                == .priceIncreaseInvalid)
        try account.operate(.answerPriceIncrease(Self.silver, agrees: true))
        try account.advanceToBoundary()
        #expect(account.rows.map(\.price) == [usd(9_990), usd(15_990)])
    }

    @Test func `a higher price is refused where it is none, and where nothing renews`() throws {
        var account = TestAccount()
        try account.buy("silver")
        func raise(_ price: Int64) -> Refusal.Reason? {
            reason { try account.operate(.raisePrice(Self.silver, milliunits: price, needsConsent: nil)) }
        }
        #expect(raise(9_990) == .priceIncreaseInvalid)
        #expect(reason { try account.operate(.answerPriceIncrease(Self.silver, agrees: true)) } == .noPriceIncrease)
        try account.buy("bronze")
        #expect(raise(12_990) == .priceIncreaseInvalid)
        try account.setAutoRenew(false)
        #expect(raise(12_990) == .notSubscribed)
        try account.setAutoRenew(true)
        #expect(raise(12_990) == nil)
        #expect(reason { try account.operate(.answerPriceIncrease(Self.silver, agrees: false)) } == .noPriceIncrease)
        #expect(raise(15_990) == nil)
        #expect(reason { try account.operate(.renew(Self.silver)) } == .priceIncreaseInvalid)
    }
}

@Suite struct `a renewal that is extended` {
    @Test func `a renewal that is extended is refused beyond the limit, and where no period runs`() throws {
        var account = TestAccount(settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        func extend(_ milliseconds: Int64) -> Refusal.Reason? {
            reason { try account.operate(.extendRenewal(.product("silver"), milliseconds: milliseconds)) }
        }
        #expect(extend(0) == .extensionInvalid && extend(-1) == .extensionInvalid)
        #expect(extend(Limits.renewalExtensionMillisecondsMax + 1) == .extensionInvalid)
        #expect(extend(Limits.renewalExtensionMillisecondsMax) == nil)
        try account.advanceToBoundary()
        #expect(account.state() == .inGracePeriod && extend(day) == .notSubscribed)
    }

    @Test func `a third extension within 365 days is refused, and allowed when the first is that old`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver.yearly")
        func extend() -> Refusal.Reason? {
            reason { try account.operate(.extendRenewal(.product("silver.yearly"), milliseconds: day)) }
        }
        #expect(extend() == nil)
        account.advance(days: 100)
        #expect(extend() == nil)
        #expect(extend() == .extensionIneligible)
        account.advance(to: at("2027-01-09T23:59:59Z"))
        #expect(extend() == .extensionIneligible)
        account.advance(to: at("2027-01-10"))
        #expect(extend() == nil)
        #expect(extend() == .extensionIneligible, "the second is 265 days old")
    }

    @Test func `a renewal that is extended counts the extensions of one line, not those of another group`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.buy("weekly")
        for _ in 0..<2 { try account.operate(.extendRenewal(.product("silver"), milliseconds: day)) }
        for _ in 0..<2 { try account.operate(.extendRenewal(.product("weekly"), milliseconds: day)) }
        for product in ["silver", "weekly"] {
            #expect(
                reason { try account.operate(.extendRenewal(.product(product), milliseconds: day)) }
                    == .extensionIneligible)
        }
    }

    @Test func `a renewal that is extended is refused in a free offer period, and where nothing was ever paid`() throws
    {
        for mode in [PaymentMode.freeTrial, .payAsYouGo] {
            let offer = Shop.introductory(mode, Period(1, .month), price: mode == .freeTrial ? 0 : 1_000)
            var account = TestAccount(catalogue: Shop.catalogue(introductory: offer))
            try account.buy("silver")
            let refused = reason { try account.operate(.extendRenewal(.product("silver"), milliseconds: day)) }
            #expect(refused == (mode == .freeTrial ? .extensionIneligible : nil))
            try account.advanceToBoundary()
            try account.operate(.extendRenewal(.product("silver"), milliseconds: day))
        }
        let free = Shop.catalogue { if $0.id == "silver" { $0.price = usd(0) } }
        var account = TestAccount(catalogue: free)
        try account.buy("silver")
        #expect(
            reason { try account.operate(.extendRenewal(.product("silver"), milliseconds: day)) }
                == .extensionIneligible)
    }
}

@Suite struct `an offer that waits for the renewal` {
    private static let promo = SubscriptionOffer(
        id: "promo", type: .promotional, paymentMode: .payAsYouGo, price: usd(1_000), period: Period(1, .month),
        periodCount: 2)

    @Test func `a queued offer applies from the next period for its periods, then the standard price`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.commit([Fact(.offerQueued(original: 1, Self.promo), effective: account.now)])
        #expect(try account.renewalInfo().offer?.id == "promo")
        #expect(try account.renewalInfo().renewalPrice == usd(1_000))
        account.advance(days: 100)
        #expect(account.rows.map { $0.offer?.id } == [nil, "promo", "promo", nil])
        #expect(account.rows.map(\.price) == [usd(9_990), usd(1_000), usd(1_000), usd(9_990)])
    }

    @Test func `an offer that waits for the renewal comes after the introductory offer that is in force`() throws {
        let introductory = Shop.introductory(.payAsYouGo, Period(1, .month), count: 2, price: 500)
        var account = TestAccount(catalogue: Shop.catalogue(introductory: introductory))
        try account.buy("silver")
        account.commit([Fact(.offerQueued(original: 1, Self.promo), effective: account.now)])
        account.advance(days: 130)
        #expect(
            account.rows.map { $0.offer?.type }
                == [.introductory, .introductory, .promotional, .promotional, nil])
    }

    @Test func `an offer that waits for the renewal is gone with the plan it was redeemed for`() throws {
        var account = TestAccount()
        try account.buy("silver")
        account.commit([Fact(.offerQueued(original: 1, Self.promo), effective: account.now)])
        try account.buy("bronze")
        #expect(try account.renewalInfo().offer == nil)
        account.advance(days: 40)
        #expect(account.rows.last?.price == usd(4_990))
    }
}

@Suite struct `taking a transaction out of a test store` {
    @Test func `deleting a shared and refunded transaction leaves no share`() throws {
        var account = TestAccount(catalogue: Shop.catalogue(shareable: ["lifetime"]))
        try account.buy("lifetime")
        let member = AccountRecord(account: 9, app: account.record.app)
        try account.operate(.share(.product("lifetime"), member: "bob"), member: member)
        #expect(account.record.shares.count == 1)
        try account.refund(1)
        try account.operate(.deleteTransaction(1))
        #expect(account.record.shares.isEmpty && account.rows.isEmpty)
    }
}

@Suite struct `a product that is withdrawn` {
    @Test func `a withdrawn product is forecast to end the subscription, and keeps its rank`() throws {
        var account = TestAccount()
        try account.buy("gold")
        account.catalogue = Shop.catalogue(without: ["gold"])
        let shared = Shop.transaction(
            90, of: "silver", from: account.now, to: account.now.advanced(byMilliseconds: 90 * day),
            ownership: .familyShared)
        var line = Line(latest: shared, preference: "silver", recentStart: account.now)
        line.level = 2
        account.commit([Fact(.sharedLineSet(line, isNew: true), effective: account.now)])
        let viewed = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now)
        #expect(viewed.value.effective?.transaction.value.productID == "gold")
        #expect(viewed.forecast?.kind == .expiry)
        try account.advanceToBoundary()
        #expect(try account.renewalInfo().expirationReason == .productUnavailable)
    }
}
