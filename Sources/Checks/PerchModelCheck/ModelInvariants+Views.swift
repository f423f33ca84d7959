import PerchBase
import PerchModel
import PerchStore

// Views follow from the record: renewal information, messages, offers, products.
extension ModelInvariants {
    func told(_ record: AccountRecord, _ rows: [TransactionRow], app: AppState, now: Instant) -> String? {
        if let found = self.renewing(record, rows, app: app, now: now) { return found }
        if let found = self.listed(record, app: app, now: now) { return found }
        if let found = self.messages(record, app: app, now: now) { return found }
        return self.eligible(record, rows, app: app, now: now)
    }

    /// Section 4: product, price and offer of the next period, and the reason for the end of a line.
    private func renewing(
        _ record: AccountRecord, _ rows: [TransactionRow], app: AppState, now: Instant
    ) -> String? {
        for group in ModelShop.groups {
            let lines = record.lines.filter { $0.groupID == group }
            let ordered = lines.filter(\.isOwn) + lines.filter { !$0.isOwn }
            let statuses = subscriptionStatuses(of: record, inGroup: group, app: app, at: now).value.statuses
            guard statuses.count == ordered.count else { return "\(ordered.count) lines, \(statuses.count) statuses" }
            for (line, status) in zip(ordered, statuses) {
                if let found = Self.fault(in: status, of: line, app: app) {
                    return "line \(line.originalID), \(status.state): \(found)"
                }
                if let found = Self.fault(inWinBacksOf: status, line, ordered, rows, app: app, now: now) {
                    return "line \(line.originalID): \(found)"
                }
            }
        }
        return nil
    }

    private static func fault(in status: SubscriptionStatus, of line: Line, app: AppState) -> String? {
        let info = status.renewalInfo.value
        if status.transaction.value != line.latest { return "it shows \(status.transaction.value.id)" }
        if info.priceIncreaseStatus != line.increase?.status ?? .noIncreasePending {
            return "the increase is \(info.priceIncreaseStatus)"
        }
        if info.recentSubscriptionStartDate != line.recentStart { return "another run" }
        if info.commitment?.billingPeriodNumber != line.latest.commitment?.billingPeriodNumber {
            return "the commitment is \(String(describing: info.commitment))"
        }
        if let own = info.commitment?.willRenew, status.state == .subscribed, own != line.willAutoRenew {
            return "the commitment \(own ? "renews" : "ends"), the customer's switch says otherwise"
        }
        let isOver = status.state == .expired || status.state == .revoked
        if line.goesOn, line.lapse == nil, !isOver, let found = Self.fault(inNextOf: info, line, app: app) {
            return found
        }
        switch status.state {
        case .inGracePeriod:
            return info.gracePeriodExpirationDate == line.retry?.graceUntil ? nil : "another grace period"
        case .expired:
            let isCancelled = line.lapse == .autoRenewDisabled
            let wanted = line.retry != nil && !isCancelled ? .billingError : line.lapse ?? .autoRenewDisabled
            return info.expirationReason == wanted ? nil : "it ended for \(String(describing: info.expirationReason))"
        default:
            return nil
        }
    }

    /// The next period of a line that renews, also while a charge fails.
    private static func fault(inNextOf info: RenewalInfo, _ line: Line, app: AppState) -> String? {
        if info.autoRenewPreference != line.nextPlan {
            return "it renews as \(String(describing: info.autoRenewPreference)), not \(line.nextPlan)"
        }
        let staysInPlan = line.staysInPlan
        let offer = line.nextDiscount
        if info.offer?.id != offer?.id || info.offer?.type != offer?.type {
            return "the next offer is \(String(describing: info.offer))"
        }
        let raised = line.increase.flatMap { $0.status == .agreed ? $0.price : nil } ?? line.agreedPrice
        if (info.renewalBillingPlan == .monthly) != (line.nextBilled == .monthly) {
            return "it renews billed \(info.renewalBillingPlan), not \(line.nextBilled)"
        }
        let terms = app.catalogue.product(line.nextPlan)?.terms(billed: line.nextBilled)
        let price = offer?.price ?? (staysInPlan ? raised : nil) ?? terms?.price
        return info.renewalPrice?.milliunits == price?.milliunits
            ? nil : "the next price is \(String(describing: info.renewalPrice)), not \(String(describing: price))"
    }

    /// Section 15, win-back offers after an own subscription has ended: `soon` at once; `back` after a month, for six
    /// months, and five months after the last redemption.
    private static func fault(
        inWinBacksOf status: SubscriptionStatus, _ line: Line, _ lines: [Line], _ rows: [TransactionRow],
        app: AppState, now: Instant
    ) -> String? {
        let offers = status.renewalInfo.value.eligibleWinBackOfferIDs
        if !line.isOwn { return offers.isEmpty ? nil : "who is shared with is won back" }
        let hasOther = lines.contains { other in
            other.originalID != line.originalID && other.state(at: now, leewayMilliseconds: nil).isEntitled
        }
        let isSold = app.catalogue.productOnSale("silver") != nil
        let isLost = status.state == .expired && !hasOther && isSold && line.groupID == "plans"
        if offers.contains("soon") != isLost { return "it is \(isLost ? "" : "not ")lost, and won back by \(offers)" }
        guard app.settings.timeRate == .realTime else { return nil }
        let end = max(line.boundary, line.retry?.graceUntil ?? line.boundary)
        let own = rows.map(\.transaction).filter {
            $0.subscriptionGroupID == line.groupID && $0.ownership == .purchased
        }
        let redemptions = own.filter { $0.offer?.type == .winBack && $0.reason == .purchase }
        let redeemed = redemptions.map(\.purchaseDate).max()
        let waits = redeemed.map { now < Self.months(5, after: $0) } ?? false
        let isTime = Self.months(1, after: end) <= now && now < Self.months(6, after: end)
        let paidDays = Self.paidMilliseconds(own) / 86_400_000
        // The length of a month in days depends on the month. A duration below the shortest counts as none.
        if paidDays == 27 { return nil }
        let isWanted = isLost && isTime && !waits && paidDays >= 28
        if offers.contains("back") == isWanted { return nil }
        return
            "\(paidDays) days were paid for until \(end), \(String(describing: redeemed)) was the last time, and it is "
            + "won back by \(offers)"
    }

    private static func months(_ count: Int32, after instant: Instant) -> Instant {
        ModelLaws.end(of: Period(count, .month), from: instant, day: CivilTime(instant).day)
    }

    /// The list of all entitlements equals the single entitlements.
    private func listed(_ record: AccountRecord, app: AppState, now: Instant) -> String? {
        let all = currentEntitlements(of: record, app: app, at: now).map(\.value)
        for product in ModelShop.subscriptions + ModelShop.others {
            let found = currentEntitlement(of: record, toProduct: product, app: app, at: now).value?.value
            if all.first(where: { $0.productID == product }) != found { return "the list has another \(product)" }
        }
        return nil
    }

    /// Section 10: a message is true, is sent once, and repeats as often as that section says.
    private func messages(_ record: AccountRecord, app: AppState, now: Instant) -> String? {
        let viewed = storeMessages(of: record, app: app, at: now)
        var wanted: [MessageReason: Int] = [:]
        for line in record.lines where line.isOwn {
            switch line.state(at: now, leewayMilliseconds: nil) {
            case .inGracePeriod, .inBillingRetryPeriod:
                wanted[.billingIssue, default: 0] += 1
                if let found = Self.fault(inReminderOf: line, viewed.value, now: now) { return found }
            case .subscribed:
                let isAsked = line.increase?.status == .pending && line.staysInPlan
                if isAsked, line.goesOn { wanted[.priceIncreaseConsent, default: 0] += 1 }
            case .expired:
                let statuses = subscriptionStatuses(of: record, inGroup: line.groupID, app: app, at: now).value.statuses
                let own = statuses.first { $0.transaction.value.originalID == line.originalID }
                if own?.renewalInfo.value.eligibleWinBackOfferIDs.isEmpty == false {
                    wanted[.winBackOffer, default: 0] += 1
                }
            default:
                break
            }
        }
        for reason in [MessageReason.billingIssue, .priceIncreaseConsent, .winBackOffer] {
            let count = viewed.value.count { $0.reason == reason }
            if count != wanted[reason, default: 0] { return "\(count) messages of \(reason), not \(wanted)" }
        }
        if let found = Self.fault(inPosted: record.messagePosted, viewed.value, app: app, now: now) { return found }
        guard let crossing = viewed.nextCrossing, crossing < .distantFuture else { return nil }
        let before = crossing.advanced(byMilliseconds: -1)
        if before > now, storeMessages(of: record, app: app, at: before).value != viewed.value {
            return "the messages change before \(crossing)"
        }
        return nil
    }

    /// A posted message is sent once, within a day.
    private static func fault(
        inPosted posted: Instant?, _ messages: [StoreMessage], app: AppState, now: Instant
    ) -> String? {
        let generic = messages.filter { $0.reason == .generic }
        guard app.settings.timeRate == .realTime else {
            return generic.count <= 1 ? nil : "\(generic.count) messages were posted"
        }
        let wanted = posted.flatMap { now < $0.advanced(byMilliseconds: 86_400_000) ? [$0] : nil } ?? []
        return generic.map(\.since) == wanted ? nil : "posted at \(String(describing: posted)), told \(generic)"
    }

    /// The current reminder is the last due one: daily on days 1 to 3, then every 3rd, 4th and 5th day.
    private static func fault(inReminderOf line: Line, _ messages: [StoreMessage], now: Instant) -> String? {
        let hour: Int64 = 3_600_000
        guard let retry = line.retry, retry.until.milliseconds(since: retry.failedAt) == 60 * 24 * hour else {
            return nil
        }
        var due: [Int64] = []
        for day in Int64(0)..<60 {
            let (first, every): (Int64, Int64) = day < 3 ? (0, 1) : day < 16 ? (3, 3) : day < 30 ? (16, 4) : (30, 5)
            if (day - first) % every == 0 { due.append(day * 24 * hour) }
        }
        let passed = now.milliseconds(since: retry.failedAt)
        let last = retry.failedAt.advanced(byMilliseconds: due.last { $0 <= passed } ?? 0)
        let found = messages.first {
            $0.reason == .billingIssue && $0.originalTransactionID == line.originalID
        }
        return found?.since == last ? nil : "reminded at \(String(describing: found?.since)), not \(last)"
    }

    /// Section 15, for silver. Promotional offers are for customers who have or had a subscription in the group. Codes
    /// are for customers without one, now or ever (`WELCOME`), and for those who have one, unless it is a downgrade
    /// (`LOYAL`). A customer redeems a code of an offer once.
    private func eligible(
        _ record: AccountRecord, _ rows: [TransactionRow], app: AppState, now: Instant
    ) -> String? {
        let told = offerEligibility(of: record, inGroup: "plans", product: "silver", app: app, at: now)
        let isSold = app.catalogue.productOnSale("silver") != nil
        let hadOne = rows.contains {
            $0.transaction.subscriptionGroupID == "plans" && $0.transaction.ownership == .purchased
        }
        let held = record.lines.first {
            $0.isOwn && $0.groupID == "plans" && $0.state(at: now, leewayMilliseconds: nil).isEntitled
        }
        let isLeft = { (code: String) in
            !record.redeemedOffers.contains { $0.productID == "silver" && $0.offerID == code }
        }
        let isNoDowngrade = held.map { $0.latest.productID != "gold" } ?? false
        let wanted: [String: Bool] = [
            "half": hadOne, "upfront": hadOne, "WELCOME": held == nil && isLeft("WELCOME"),
            "LOYAL": isNoDowngrade && isLeft("LOYAL"),
        ]
        for offer in told.offers {
            guard let isWanted = wanted[offer.offerID] else { continue }
            if offer.isEligible != (isWanted && isSold) {
                return "\(offer.offerID) is \(offer.isEligible ? "" : "not ")to be had: \(offer.reason)"
            }
        }
        return nil
    }

    /// Withdrawn products are unavailable, and no others.
    func sold(_ app: AppState) -> String? {
        let ids = ModelShop.subscriptions + ModelShop.others
        let seen = products(ids, locale: "", storefront: "", app: app)
        let withdrawn = ids.filter { app.catalogue.product($0)?.isWithdrawn == true }
        if seen.unavailableIDs != withdrawn { return "unavailable are \(seen.unavailableIDs), not \(withdrawn)" }
        return seen.products.map(\.id) == ids.filter { !withdrawn.contains($0) } ? nil : "products are out of order"
    }
}
