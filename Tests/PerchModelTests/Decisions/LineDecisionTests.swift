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

    @Test func `a season's refund is taken back, and the later season counts`() throws {
        var account = TestAccount()
        try account.buy("season")
        account.advance(days: 1)
        try account.buy("season")
        try account.operate(.refund(.product("season"), reason: .other, share: .full))
        #expect(account.entitlement("season")?.id == 1)
        try account.operate(.reverseRefund(.transaction(2)))
        #expect(account.entitlement("season")?.id == 2)
    }
}

@Suite struct `a purchase for good that was bought twice` {
    @Test func `the first purchase entitles if only its refund was reversed`() throws {
        var account = TestAccount()
        try account.buy("lifetime")
        try account.operate(.refund(.product("lifetime"), reason: .other, share: .full))
        try account.buy("lifetime")
        try account.operate(.reverseRefund(.transaction(1)))
        #expect(account.entitlement("lifetime")?.id == 2)
        try account.operate(.refund(.product("lifetime"), reason: .other, share: .full))
        #expect(account.entitlement("lifetime")?.id == 1)
    }
}

@Suite struct `a charge that recovers` {
    @Test func `in grace keeps the cycle, after it begins a new one`() throws {
        var account = TestAccount(at: at("2026-01-31"), settings: Shop.settings(billingIssues: true, grace: true))
        try account.buy("silver")
        account.advance(to: at("2026-03-05"))
        #expect(account.state() == .inGracePeriod)
        var other = account
        try account.operate(.resolveBilling(.product("silver")))
        #expect(account.rows[1].purchaseDate == at("2026-02-28"))
        #expect(account.rows[1].expirationDate == at("2026-03-31"), "counted from the line's own day")

        other.advance(to: at("2026-04-03"))
        #expect(other.state() == .inBillingRetryPeriod)
        try other.operate(.resolveBilling(.transaction(1)))
        #expect(other.rows[1].purchaseDate == at("2026-04-03"))
        #expect(other.rows[1].expirationDate == at("2026-05-03"))
        #expect(try other.line().recentStart == at("2026-01-31"))
    }

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

    @Test func `a higher price is charged from the next period on once it is agreed, and the status goes back`() throws
    {
        var account = TestAccount()
        try account.buy("silver")
        try account.operate(.raisePrice(Self.silver, milliunits: 12_990, needsConsent: true))
        #expect(try account.renewalInfo().renewalPrice == usd(9_990))
        #expect(try account.renewalInfo().priceIncreaseStatus == .pending)
        try account.operate(.answerPriceIncrease(Self.silver, agrees: true))
        #expect(try account.renewalInfo().renewalPrice == usd(12_990))
        #expect(try account.operate(.answerPriceIncrease(Self.silver, agrees: true)).facts.isEmpty)
        account.advance(days: 70)
        #expect(account.rows.map(\.price) == [usd(9_990), usd(12_990), usd(12_990)])
        #expect(try account.renewalInfo().priceIncreaseStatus == .noIncreasePending)
        #expect(try account.renewalInfo().renewalPrice == usd(12_990), "it stays")
        try account.operate(.raisePrice(Self.silver, milliunits: 13_000, needsConsent: nil))
        #expect(try account.renewalInfo().priceIncreaseStatus == .pending, "the second within a year")
    }

    @Test func `that is refused or not answered ends the subscription, and the forecast says so`() throws {
        for isAnswered in [true, false] {
            var account = TestAccount()
            try account.buy("silver")
            try account.operate(.raisePrice(Self.silver, milliunits: 12_990, needsConsent: true))
            if isAnswered { try account.operate(.answerPriceIncrease(Self.silver, agrees: false)) }
            #expect(try account.renewalInfo().willAutoRenew == !isAnswered)
            let viewed = subscriptionStatuses(of: account.record, inGroup: "G", app: account.app, at: account.now)
            #expect(viewed.forecast?.kind == .expiry && viewed.forecast?.state == .expired)
            try account.advanceToBoundary()
            #expect(account.state() == .expired)
            #expect(try account.renewalInfo().expirationReason == .didNotConsentToPriceIncrease)
            try account.buy("silver")
            #expect(try account.renewalInfo().expirationReason == nil)
        }
    }

    @Test func `that was refused can still be agreed to within the period`() throws {
        var account = TestAccount()
        try account.buy("silver")
        try account.operate(.raisePrice(Self.silver, milliunits: 12_990, needsConsent: true))
        try account.operate(.answerPriceIncrease(Self.silver, agrees: false))
        try account.operate(.answerPriceIncrease(Self.silver, agrees: true))
        account.advance(days: 40)
        #expect(account.state() == .subscribed && account.rows.last?.price == usd(12_990))
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
    @Test func `a renewal that is extended ends later, and the next period begins there`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        try account.operate(.extendRenewal(.transaction(1), milliseconds: 5 * day))
        #expect(try account.renewalInfo().renewalDate == at("2026-02-15"))
        #expect(account.rows.count == 1 && account.rows[0].expirationDate == at("2026-02-15"))
        account.advance(days: 40)
        #expect(account.rows[1].purchaseDate == at("2026-02-15"))
    }

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
    @Test func `deleting a transaction restores the introductory offer, unless another transaction has one`() throws {
        let trial = Shop.introductory(.payAsYouGo, Period(1, .month), count: 2, price: 500)
        var account = TestAccount(catalogue: Shop.catalogue(introductory: trial))
        try account.buy("silver")
        account.advance(days: 40)
        try account.operate(.deleteTransaction(1))
        #expect(!isEligibleForIntroductoryOffer(account.record, groupID: "G"))
        try account.operate(.deleteTransaction(2))
        #expect(isEligibleForIntroductoryOffer(account.record, groupID: "G"))
        #expect(account.rows.isEmpty && account.record.lines.isEmpty)
        #expect(try account.buy("silver").transaction.offer?.type == .introductory)
    }

    @Test func `a deletion falls back to the transaction before, and attempts nothing for past time`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        account.advance(days: 100)
        #expect(account.rows.count == 4)
        try account.operate(.deleteTransaction(4))
        #expect(account.state() == .expired && account.record.attemptDue == nil)
        #expect(try account.line().latest.id == 3)
        #expect(try account.renewalInfo().expirationReason == .unknown)
        #expect(try account.buy("silver").transaction.originalID == 1)
    }

    @Test func `a deletion keeps the day of the month of the transaction before`() throws {
        var account = TestAccount(at: at("2026-01-31"))
        try account.buy("silver")
        let gold = try account.buy("gold").transaction
        try account.operate(.deleteTransaction(gold.id))
        #expect(try account.line().boundary == at("2026-02-28"))
        account.advance(days: 80)
        #expect(account.rows.compactMap(\.expirationDate) == ["2026-02-28", "2026-03-31", "2026-04-30"].map { at($0) })
    }

    @Test func `deleting the last transaction makes the account new to the group again`() throws {
        var account = TestAccount(at: at("2026-01-10"), catalogue: OfferShop.catalogue())
        try account.buy("silver")
        account.advance(days: 8)
        for id in account.rows.map(\.id) { try account.operate(.deleteTransaction(id)) }
        #expect(account.record.histories.isEmpty)
        #expect(try account.order("silver", .code, "WELCOME").transaction?.offer?.id == "WELCOME")
    }

    @Test func `deleting the first transaction of a run removes the run`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        try account.expire()
        account.advance(days: 100)
        let again = try account.buy("silver").transaction
        #expect(try account.renewalInfo().recentSubscriptionStartDate == again.purchaseDate)
        try account.operate(.deleteTransaction(again.id))
        #expect(try account.renewalInfo().recentSubscriptionStartDate == at("2026-01-10"))
    }

    @Test func `a deletion keeps an end that the customer's switch did not cause`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        try account.advanceToBoundary()
        try account.operate(.raisePrice(.product("silver"), milliunits: 30_000, needsConsent: true))
        try account.advanceToBoundary()
        #expect(try account.renewalInfo().expirationReason == .didNotConsentToPriceIncrease)
        try account.operate(.deleteTransaction(2))
        #expect(try account.renewalInfo().expirationReason == .unknown)
        var other = TestAccount(at: at("2026-01-10"))
        try other.buy("silver")
        try other.advanceToBoundary()
        try other.expire()
        try other.operate(.deleteTransaction(2))
        #expect(try other.renewalInfo().expirationReason == .autoRenewDisabled)
    }

    @Test func `an upgrade's deletion restores the plan that it left behind`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        account.advance(days: 3)
        try account.buy("gold")
        try account.operate(.deleteTransaction(2))
        #expect(account.state() == .subscribed && account.rows.map(\.isUpgraded) == [false])
        #expect(account.entitlement("silver")?.id == 1 && account.entitlement("gold") == nil)
        #expect(try account.renewalInfo().autoRenewPreference == "silver")
        try account.advanceToBoundary()
        #expect(account.rows.map(\.productID) == ["silver", "silver"])
        #expect(account.rows.last?.purchaseDate == at("2026-02-10"))
    }

    @Test func `an upgrade's deletion after the old period ended leaves an expired line`() throws {
        var account = TestAccount(at: at("2026-01-10"))
        try account.buy("silver")
        account.advance(days: 20)
        try account.buy("gold")
        account.advance(days: 20)
        try account.operate(.deleteTransaction(2))
        #expect(account.state() == .expired && account.record.attemptDue == nil)
        #expect(try account.renewalInfo().currentProductID == "silver")
    }

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

    @Test func `a deletion restores the season before`() throws {
        var account = TestAccount()
        try account.buy("season")
        try account.buy("season")
        try account.operate(.deleteTransaction(2))
        #expect(account.entitlement("season")?.id == 1)
        #expect(reason { try account.operate(.deleteTransaction(2)) } == .transactionUnknown)
    }

    @Test func `clearing leaves nothing, and the introductory offer is there again`() throws {
        let trial = Shop.introductory(.freeTrial, Period(1, .week))
        var account = TestAccount(catalogue: Shop.catalogue(introductory: trial))
        try account.buy("silver")
        try account.buy("coins")
        try account.buy("lifetime")
        let pending = PendingPurchase(
            id: 90, reason: .askToBuy, order: PurchaseOrder(productID: "coins"), since: account.now)
        account.commit([Fact(.purchaseHeld(pending), effective: account.now)])
        try account.operate(.clearTransactions)
        #expect(account.rows.isEmpty && account.record.entryCount == 0)
        #expect(account.entitlement("lifetime") == nil)
        #expect(try account.buy("silver").transaction.offer?.type == .introductory)
    }

    @Test func `a deletion removes a pending purchase by its number`() throws {
        var account = TestAccount()
        let pending = PendingPurchase(
            id: 90, reason: .askToBuy, order: PurchaseOrder(productID: "coins"), since: account.now)
        account.commit([Fact(.purchaseHeld(pending), effective: account.now)])
        try account.operate(.deleteTransaction(90))
        #expect(account.record.pendingPurchases.isEmpty)
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
