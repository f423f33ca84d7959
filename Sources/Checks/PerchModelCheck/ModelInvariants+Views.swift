import PerchBase
import PerchModel
import PerchStore

// Views that the reference does not predict: messages, lists of entitlements, products.
extension ModelInvariants {
    func told(_ record: AccountRecord, app: AppState, now: Instant) -> String? {
        self.listed(record, app: app, now: now) ?? self.messages(record, app: app, now: now)
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

    /// Withdrawn products are unavailable, and no others.
    func sold(_ app: AppState) -> String? {
        let ids = ModelShop.subscriptions + ModelShop.others
        let seen = products(ids, locale: "", storefront: "", app: app)
        let withdrawn = ids.filter { app.catalogue.product($0)?.isWithdrawn == true }
        if seen.unavailableIDs != withdrawn { return "unavailable are \(seen.unavailableIDs), not \(withdrawn)" }
        return seen.products.map(\.id) == ids.filter { !withdrawn.contains($0) } ? nil : "products are out of order"
    }
}
