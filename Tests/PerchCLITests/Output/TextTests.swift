import PerchBase
import PerchModel
import Testing

@testable import PerchCLI
@testable import PerchClient

private let noon = CivilTime(year: 2026, month: 11, day: 21, milliseconds: 43_200_000).instant
private let writer = TextWriter(isColoured: false)

private func after(_ seconds: Int64) -> Instant { noon.advanced(byMilliseconds: seconds * 1_000) }

private func info(_ cause: Cause, forecast: Forecast? = nil) -> ValueInfo {
    ValueInfo(position: Position(revision: 8, asOf: noon), committed: noon, cause: cause, forecast: forecast)
}

private func transaction(_ id: UInt64 = 41, _ product: String = "pro.monthly") -> Transaction {
    var result = Transaction(
        id: id, originalID: 41, appBundleID: "com.example.app", productID: product, productType: .autoRenewable,
        purchaseDate: noon, originalPurchaseDate: noon, environment: .xcode, storefront: Storefront(countryCode: "USA"),
        reason: .purchase, signedDate: noon)
    result.expirationDate = after(30)
    return result
}

private func status(
    _ state: RenewalState, renews: Bool = true, _ change: (inout Transaction, inout RenewalInfo) -> Void = { _, _ in }
) -> SubscriptionStatus {
    var transaction = transaction()
    var renewal = RenewalInfo(
        originalTransactionID: 41, currentProductID: "pro.monthly", willAutoRenew: renews, renewalDate: after(30),
        recentSubscriptionStartDate: noon, environment: .xcode, signedDate: noon)
    change(&transaction, &renewal)
    return SubscriptionStatus(state: state, transaction: Verified(transaction), renewalInfo: Verified(renewal))
}

private func line(_ status: SubscriptionStatus, _ cause: Cause = .purchase, forecast: Forecast? = nil) -> String {
    let value = SubscriptionStatuses(statuses: [status], effectiveIndex: 0, effectiveReason: .onlyEntitled)
    return writer.statuses(value, info(cause, forecast: forecast), group: "premium").joined(separator: "\n")
}

@Suite struct `text for people` {
    @Test func `a subscription says until when, and what happens then`() {
        #expect(
            line(status(.subscribed) { $1.renewalPrice = Money(milliunits: 9_990, currency: "USD") })
                == "2026-11-21T12:00:00Z  purchase  subscribed   pro.monthly  until 2026-11-21T12:00:30Z, then it renews for "
                + "USD 9.99  (transaction 41)")
        #expect(
            line(status(.subscribed, renews: false), .setting)
                == "2026-11-21T12:00:00Z  setting   subscribed   pro.monthly  until 2026-11-21T12:00:30Z, then it expires  "
                + "(transaction 41)")
        #expect(
            line(status(.subscribed) { $1.autoRenewPreference = "pro.yearly" }, .setting)
                .contains("then it renews as pro.yearly  ("))
    }

    @Test(arguments: [
        (ForecastKind.renewal, RenewalState.subscribed, ", then it renews"), (.expiry, .expired, ", then it expires"),
        (.renewal, .inGracePeriod, ", then the charge fails; still entitled for a while"),
        (.renewal, .inBillingRetryPeriod, ", then the charge fails"),
    ])
    func `the text has the forecast, whatever the customer's switch says`(
        _ kind: ForecastKind, _ state: RenewalState, _ words: String
    ) {
        let forecast = Forecast(at: after(30), kind: kind, originalTransactionID: 41, state: state)
        let text = line(status(.subscribed), forecast: forecast)
        #expect(text.contains("until 2026-11-21T12:00:30Z\(words)"), "\(text)")
        let entitled = writer.entitlement(Verified(transaction()), info(.purchase, forecast: forecast), product: "pro")
            .joined(separator: "\n")
        #expect(entitled.contains("until 2026-11-21T12:00:30Z\(words)"), "\(entitled)")
    }

    @Test func `each state that is not simply subscribed says why`() {
        #expect(
            line(status(.expired, renews: false) { $1.expirationReason = .autoRenewDisabled }, .expiry)
                == "2026-11-21T12:00:00Z  expiry    expired      pro.monthly  since 2026-11-21T12:00:30Z: auto-renew was off  "
                + "(transaction 41)")
        #expect(
            line(status(.inGracePeriod) { $1.gracePeriodExpirationDate = after(45) }, .renewal)
                .contains("grace period pro.monthly  the charge failed; still entitled until 2026-11-21T12:00:45Z"))
        let end = Forecast(at: after(90), kind: .retryEnd, originalTransactionID: 41, state: .expired)
        #expect(
            line(status(.inBillingRetryPeriod), .expiry, forecast: end)
                .contains(
                    "retrying     pro.monthly  the charge fails since 2026-11-21T12:00:30Z; the store tries until "
                        + "2026-11-21T12:01:30Z"))
        let revoked = status(.revoked) { transaction, _ in
            transaction.revocation = Revocation(date: after(5), reason: .other)
        }
        #expect(line(revoked, .refund).contains("revoked      pro.monthly  since 2026-11-21T12:00:05Z: refunded"))
    }

    @Test func `a state of a newer server is shown as its number`() {
        #expect(
            line(status(RenewalState(rawValue: 9)), Cause(rawValue: 99)).contains(
                "unknown(99)  unknown(9)   pro.monthly"))
    }

    @Test func `of several lines the one that counts is marked with the reason`() {
        let value = SubscriptionStatuses(
            statuses: [status(.expired), status(.subscribed)], effectiveIndex: 1, effectiveReason: .highestLevel)
        let lines = writer.statuses(value, info(.snapshot), group: "premium")
        #expect(lines.count == 2)
        #expect(!lines[0].contains("counts"))
        #expect(lines[1].hasSuffix("<- counts: the highest level of service"))
    }

    @Test func `loading, failure, an empty success and a missing entitlement are four different lines`() {
        func state(_ state: EntitlementTaskState<SubscriptionStatuses>) -> [String] {
            writer.state(state, wall: noon) { writer.statuses($0, $1, group: "premium") }
        }
        let empty = SubscriptionStatuses(statuses: [])
        let failure = EntitlementTaskFailure(reason: "LOAD_FAILED", message: "told to fail")
        #expect(state(.loading) == ["2026-11-21T12:00:00Z            loading"])
        #expect(
            state(.failure(failure, last: nil))
                == ["2026-11-21T12:00:00Z            no value now: told to fail (LOAD_FAILED)"])
        #expect(
            state(.failure(failure, last: empty)) == [
                "2026-11-21T12:00:00Z            no value now: told to fail (LOAD_FAILED); the value before is the last "
                    + "known one"
            ])
        #expect(
            state(.success(empty, info: info(.snapshot)))
                == ["2026-11-21T12:00:00Z  snapshot  never subscribed in group premium"])
        #expect(
            writer.entitlement(nil, info(.refund), product: "pro")
                == ["2026-11-21T12:00:00Z  refund    not entitled pro"])
    }

    @Test func `an entitlement says until when, or that it is for good`() {
        let renewal = Forecast(at: after(30), kind: .renewal, originalTransactionID: 41, state: .subscribed)
        #expect(
            writer.entitlement(Verified(transaction()), info(.renewal, forecast: renewal), product: "pro.monthly") == [
                "2026-11-21T12:00:00Z  renewal   entitled     pro.monthly  until 2026-11-21T12:00:30Z, then it renews  "
                    + "(transaction 41)"
            ])
        var owned = transaction(7, "lifetime")
        owned.productType = .nonConsumable
        owned.expirationDate = nil
        owned.ownership = .familyShared
        #expect(
            writer.entitlement(Verified(owned), info(.purchase), product: "lifetime") == [
                "2026-11-21T12:00:00Z  purchase  entitled     lifetime  for good  (transaction 7, shared by the family)"
            ])
    }

    @Test func `products are listed with their price, period and introductory offer`() {
        var monthly = Product(
            id: "pro.monthly", type: .autoRenewable, displayName: "Pro", description: "",
            price: Money(milliunits: 9_990, currency: "USD"), displayPrice: "$9.99", isFamilyShareable: false,
            storefront: Storefront(countryCode: "USA"))
        var subscription = SubscriptionInfo(
            groupID: "premium", groupDisplayName: "", groupLevel: 1, period: Period(1, .month))
        subscription.introductoryOffers = [
            SubscriptionOffer(
                id: "", type: .introductory, paymentMode: .freeTrial, price: Money(milliunits: 0, currency: "USD"),
                period: Period(1, .week))
        ]
        monthly.subscription = subscription
        let lines = writer.products(Products(products: [monthly], unavailableIDs: ["gone", "lost"]), info(.catalog))
        #expect(
            lines == [
                "2026-11-21T12:00:00Z  catalog   1 product, unavailable: gone, lost",
                "  pro.monthly  auto-renewable  $9.99 for 1 month, group premium level 1, first 1 week free  Pro",
            ])
    }

    @Test func `the text of a transaction has every field that operators look for`() {
        var value = transaction(42)
        value.reason = .renewal
        value.price = Money(milliunits: 9_990, currency: "USD")
        value.isUpgraded = true
        value.revocation = Revocation(date: after(5), reason: .developerIssue, type: .refundProrated)
        #expect(
            writer.transaction(value)
                == "transaction 42  pro.monthly  of 41  renewed 2026-11-21T12:00:00Z  USD 9.99  until 2026-11-21T12:00:30Z  "
                + "refunded in part 2026-11-21T12:00:05Z  upgraded")
        let update = TransactionUpdate(
            transaction: Verified(transaction()), kind: .purchased, cursor: nil, revision: 8, committed: noon,
            originClientID: [])
        #expect(
            writer.update(update) == [
                "2026-11-21T12:00:00Z  purchased   transaction 41  pro.monthly  bought 2026-11-21T12:00:00Z  until "
                    + "2026-11-21T12:00:30Z"
            ])
        // A transaction from before the stream is no event, and has no time.
        let unfinished = TransactionUpdate(
            transaction: Verified(transaction()), kind: .unfinished, cursor: nil, revision: 8,
            committed: Instant(milliseconds: 0), originClientID: [])
        #expect(
            writer.update(unfinished) == [
                "                      unfinished  transaction 41  pro.monthly  bought 2026-11-21T12:00:00Z  until "
                    + "2026-11-21T12:00:30Z"
            ])
    }

    @Test func `a clock says whether it runs, and how far it is ahead`() {
        func clock(_ isFrozen: Bool, _ offset: Duration, _ rate: Int32) -> String {
            writer.clock(AppClockState(now: noon, isFrozen: isFrozen, offset: offset, timeRate: rate))
        }
        #expect(clock(false, .zero, 0) == "2026-11-21T12:00:00Z  running, time rate realTime")
        #expect(
            clock(true, .seconds(93_784), 1002)
                == "2026-11-21T12:00:00Z  frozen, 1d2h ahead of the wall clock, time rate oneRenewalEveryMinute")
        #expect(clock(false, .seconds(-90), 77).hasSuffix("1m30s behind the wall clock, time rate unknown(77)"))
    }

    @Test func `colours are around words only, and only where they are wanted`() {
        let coloured = TextWriter(isColoured: true)
        let lines = coloured.entitlement(nil, info(.refund), product: "pro")
        #expect(lines == ["2026-11-21T12:00:00Z  refund    \u{1B}[31mnot entitled\u{1B}[0m pro"])
        #expect(StandardConsole.wantsColour([:]) { true })
        #expect(!StandardConsole.wantsColour([:]) { false })
        #expect(!StandardConsole.wantsColour(["NO_COLOR": "1"]) { true })
        #expect(StandardConsole.wantsColour(["NO_COLOR": ""]) { true })
        #expect(!StandardConsole.wantsColour(["TERM": "dumb"]) { true })
    }

    @Test func `a name in a catalogue cannot steer the terminal`() {
        for text in ["\u{1B}[2Jx", "a\nb", "a\u{7F}", "\u{9B}31m", "\u{202E}abc", "\u{2066}x"] {
            let shown = printable(text)
            #expect(shown != text)
            #expect(shown.contains("\\u{"))
        }
        #expect(printable("Fußgänger 山 👨‍👩‍👧") == "Fußgänger 山 👨‍👩‍👧")
        let lines = writer.statuses(SubscriptionStatuses(statuses: []), info(.snapshot), group: "\u{1B}]0;x\u{7}")
        #expect(!lines[0].unicodeScalars.contains("\u{1B}"))
    }

    @Test func `offers with one name are distinguished by their billing plan`() {
        func offer(_ plan: BillingPlanType, _ isEligible: Bool) -> OfferEligibility {
            OfferEligibility(
                productID: "pro.yearly", type: .introductory, offerID: "", isEligible: isEligible, reason: "WHY",
                message: "because", billingPlan: plan)
        }
        let told = OfferEligibilities(
            isEligibleForIntroductory: true,
            offers: [offer(.unspecified, true), offer(.monthly, true), offer(.upFront, false)])
        #expect(
            writer.eligibilities(told) == [
                "yes  an introductory offer of this group",
                "yes  pro.yearly  introductory offer",
                "yes  pro.yearly  introductory offer, billed monthly",
                "no   pro.yearly  introductory offer, billed up front  because (WHY)",
            ])
    }

    @Test func `a name that the catalogue does not have is said to be none`() {
        #expect(
            writer.noEligibilities(of: "group pluss") == [
                "no   an offer of group pluss, which is not in the catalogue"
            ])
        #expect(writer.unknown(true) == ", which is not in the catalogue" && writer.unknown(false).isEmpty)
    }

    @Test func `lengths of time and sizes are short`() {
        #expect(roughly(milliseconds: 90_061_000) == "1d1h")
        #expect(roughly(milliseconds: 3_661_000) == "1h1m")
        #expect(roughly(milliseconds: 61_500) == "1m1s")
        #expect(roughly(milliseconds: 250) == "250ms")
        #expect(exactly(milliseconds: 90_061_001) == "1d1h1m1s1ms")
        #expect(exactly(milliseconds: 0) == "0s")
        #expect(byteCount(268_435_456) == "256MiB")
        #expect(byteCount(1_500) == "1500B")
        #expect(roughBytes(5_000_000_000) == "4768 MiB")
    }

    @Test func `a word for a shell is quoted where it must be`() {
        #expect(shellWord("pro.monthly") == "pro.monthly")
        #expect(shellWord("my group") == "'my group'")
        #expect(shellWord("it's") == "'it'\\''s'")
        #expect(shellWord("$(reboot)") == "'$(reboot)'")
        #expect(shellWord("") == "''")
    }
}

@Suite struct `text about what is not verified` {
    private static let failure = VerificationFailure(rawValue: 4)

    @Test func `a status, a transaction and an entitlement say so`() {
        var unverified = status(.subscribed)
        unverified.transaction.failure = Self.failure
        let value = SubscriptionStatuses(statuses: [unverified])
        let shown = writer.statuses(value, info(.setting), group: "premium").joined()
        #expect(shown.hasSuffix("UNVERIFIED: invalid signature"), "\(shown)")
        #expect(writer.transaction(unverified.transaction).hasSuffix("UNVERIFIED: invalid signature"))
        let entitlement = writer.entitlement(unverified.transaction, info(.setting), product: "pro.monthly").joined()
        #expect(entitlement.contains("not entitled pro.monthly"), "\(entitlement)")
        #expect(entitlement.hasSuffix("UNVERIFIED: invalid signature"))
    }

    @Test func `the renewal information alone is enough`() {
        var unverified = status(.inGracePeriod)
        unverified.renewalInfo.failure = Self.failure
        let value = SubscriptionStatuses(statuses: [unverified])
        #expect(
            writer.statuses(value, info(.setting), group: "premium").joined().hasSuffix("UNVERIFIED: invalid signature")
        )
    }

    @Test func `what is verified says nothing of it`() {
        #expect(!writer.transaction(status(.subscribed).transaction).contains("UNVERIFIED"))
    }

    @Test func `statuses of all groups name their group, and which counts there`() {
        let one = status(.subscribed) { transaction, _ in transaction.subscriptionGroupID = "news" }
        let other = status(.expired) { transaction, _ in transaction.subscriptionGroupID = "premium" }
        var value = SubscriptionStatuses(statuses: [one, other])
        value.effectiveInGroups = [GroupEffective(groupID: "news", index: 0, reason: .onlyEntitled)]
        let lines = writer.statuses(value, info(.purchase), group: nil)
        #expect(lines.count == 2)
        #expect(lines[0].contains("in group news") && lines[0].hasSuffix("<- counts: the only one that entitles"))
        #expect(lines[1].contains("in group premium") && !lines[1].contains("counts"))
        let none = writer.statuses(SubscriptionStatuses(statuses: []), info(.purchase), group: nil)
        #expect(none.joined().contains("never subscribed in any group"))
    }
}
