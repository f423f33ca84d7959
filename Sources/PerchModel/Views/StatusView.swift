package import PerchBase

/// A view's value, and when it changes if nothing happens.
package struct Viewed<Value: Sendable>: Sendable {
    package var value: Value
    package var outlook = Outlook()

    package var nextCrossing: Instant? { self.outlook.nextCrossing }
    package var forecast: Forecast? { self.outlook.forecast }
}

/// When a view changes automatically. Collected while its value is computed.
package struct Outlook: Sendable {
    /// The next instant at which the value has to be recomputed; nil if only facts can change it.
    package private(set) var nextCrossing: Instant?
    /// The forecast shown to readers.
    package private(set) var forecast: Forecast?

    package init() {}
}

/// The statuses of an account in a group: one for each line, own lines first.
package func subscriptionStatuses(
    of record: AccountRecord?, inGroup groupID: String, app: AppState, at now: Instant
) -> Viewed<SubscriptionStatuses> {
    var viewed = Viewed(value: SubscriptionStatuses(statuses: []))
    guard let record else { return viewed }
    let leeway = app.renewalLeewayMilliseconds
    if let told = record.told {
        return toldStatuses(
            of: told, inGroup: groupID, catalogue: app.catalogue, leewayMilliseconds: leeway ?? 0, at: now)
    }
    let rules = OfferRules(record: record, groupID: groupID, app: app, now: now)
    let winBacks = rules.winBacks
    var levels: [Int32] = []
    let lines = record.lines.filter { $0.groupID == groupID }
    for line in lines.filter(\.isOwn) + lines.filter({ !$0.isOwn }) {
        viewed.value.statuses.append(
            status(of: line, in: record, winBacks: line.isOwn ? winBacks.eligible : [], app: app, at: now))
        viewed.outlook.note(line, of: record, app, after: now, leewayMilliseconds: leeway)
        // A withdrawn product keeps the level of service it was bought at.
        let held = app.catalogue.product(line.latest.productID)?.subscription
        levels.append(held?.level ?? (line.level == 0 ? .max : line.level))
    }
    if let line = rules.line, let change = winBacks.nextChange {
        let state = line.state(at: now, leewayMilliseconds: leeway)
        viewed.outlook.note(
            Forecast(at: change, kind: .offerWindow, originalTransactionID: line.originalID, state: state))
    }
    (viewed.value.effectiveIndex, viewed.value.effectiveReason) = effectiveStatus(
        among: viewed.value.statuses, levels: levels)
    return viewed
}

/// The statuses of an account in all groups, one group after another, by group ID.
package func statusesOfAllGroups(
    of record: AccountRecord?, app: AppState, at now: Instant
) -> Viewed<SubscriptionStatuses> {
    var all = Viewed(value: SubscriptionStatuses(statuses: []))
    let groups = record?.groupIDs(in: app.catalogue) ?? []
    for group in groups.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        let viewed = subscriptionStatuses(of: record, inGroup: group, app: app, at: now)
        if let index = viewed.value.effectiveIndex {
            all.value.effectiveInGroups.append(
                GroupEffective(
                    groupID: group, index: UInt32(all.value.statuses.count + index),
                    reason: viewed.value.effectiveReason))
        }
        all.value.statuses += viewed.value.statuses
        all.outlook.note(crossing: viewed.nextCrossing, forecast: viewed.forecast)
    }
    return all
}

extension Outlook {
    /// Notes when a value must be computed again, and what readers are told to expect.
    mutating func note(crossing: Instant?, forecast: Forecast?) {
        if let crossing { self.nextCrossing = min(self.nextCrossing ?? .distantFuture, crossing) }
        guard let forecast, self.forecast.map({ forecast.at < $0.at }) ?? true else { return }
        self.forecast = forecast
    }

    /// Adds a change that does not concern a line's state.
    mutating func note(_ forecast: Forecast) {
        self.nextCrossing = min(self.nextCrossing ?? .distantFuture, forecast.at)
        if self.forecast.map({ forecast.at < $0.at }) ?? true { self.forecast = forecast }
    }

    mutating func note(
        _ line: Line, of record: AccountRecord, _ app: AppState, after now: Instant, leewayMilliseconds leeway: Int64?
    ) {
        self.noteCrossing(of: line, after: now, leewayMilliseconds: leeway)
        self.noteForecast(of: line, of: record, app, after: now, leewayMilliseconds: leeway)
    }

    mutating func noteCrossing(of line: Line, after now: Instant, leewayMilliseconds leeway: Int64?) {
        if let crossing = line.nextCrossing(after: now, leewayMilliseconds: leeway) {
            self.nextCrossing = min(self.nextCrossing ?? .distantFuture, crossing.at)
        }
    }

    mutating func noteForecast(
        of line: Line, of record: AccountRecord, _ app: AppState, after now: Instant,
        leewayMilliseconds leeway: Int64?
    ) {
        if let forecast = line.forecast(
            after: now, leewayMilliseconds: leeway, attempt: foreseenAttempt(of: line, in: record, app: app))
        {
            if self.forecast.map({ forecast.at < $0.at }) ?? true { self.forecast = forecast }
        }
    }
}

private func status(
    of line: Line, in record: AccountRecord, winBacks: [OfferRules.WinBack], app: AppState, at now: Instant
) -> SubscriptionStatus {
    let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
    let retryIsOver = line.retry != nil && state == .expired
    // Within a commitment the line renews whatever the customer's switch says, unless another cause has ended it. The
    // switch then shows in the commitment's own flag.
    let renews = (line.willAutoRenew || line.isCommitted) && line.lapse == nil && !retryIsOver
    var info = RenewalInfo(
        originalTransactionID: line.originalID, currentProductID: line.latest.productID, willAutoRenew: renews,
        renewalDate: line.boundary, recentSubscriptionStartDate: line.recentStart, environment: app.environment,
        signedDate: line.latest.signedDate)
    info.accountToken = line.latest.contents.fields.writtenAccountToken
    info.appTransactionID = record.appTransactionID
    info.priceIncreaseStatus = line.increase?.status ?? .noIncreasePending
    info.renewalBillingPlan = line.latest.billingPlan
    info.commitment = line.latest.commitment
    info.commitment?.willRenew = line.willAutoRenew && !retryIsOver
    switch state {
    case .inGracePeriod, .inBillingRetryPeriod:
        info.isInBillingRetry = true
        info.expirationReason = .billingError
        if state == .inGracePeriod { info.gracePeriodExpirationDate = line.retry?.graceUntil }
    case .expired:
        info.expirationReason = line.endReason
    default:
        break
    }
    for id in winBacks.map(\.offer.offer.id) where !info.eligibleWinBackOfferIDs.contains(id) {
        info.eligibleWinBackOfferIDs.append(id)
    }
    // Also in grace and billing retry: receipts that Apple publishes have `auto_renew_product_id` there.
    if let next = line.renewalProductID(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds) {
        info.autoRenewPreference = next
        info.renewalBillingPlan = line.nextBillingPlan
        if let product = app.catalogue.product(next), let subscription = product.subscription,
            let billing = nextBilling(of: line, product, subscription)
        {
            info.renewalBillingPlan = billing.plan
            let next = nextCharge(of: line, for: product, subscription)
            info.renewalPrice = Money(
                milliunits: next.milliunits, currency: line.latest.price?.currency ?? next.currency)
            info.offer = line.nextOffer?.offer.applied
        }
    }
    return SubscriptionStatus(
        state: state, transaction: verified(line.latest, app: app), renewalInfo: verified(info, app: app))
}

/// The status that counts: the highest entitling level of service, own before shared, then the later end. An unverified one
/// gives nothing, so it never counts.
func effectiveStatus(
    among statuses: [SubscriptionStatus], levels: [Int32]
) -> (index: Int?, reason: EffectiveReason) {
    func isOwn(_ status: SubscriptionStatus) -> Bool { status.transaction.value.ownership != .familyShared }
    func end(_ status: SubscriptionStatus) -> Instant { status.transaction.value.expirationDate ?? .distantFuture }

    func precedes(_ first: Int, _ second: Int) -> Bool {
        if levels[first] != levels[second] { return levels[first] < levels[second] }
        let (left, right) = (statuses[first], statuses[second])
        if isOwn(left) != isOwn(right) { return isOwn(left) }
        return end(left) > end(right)
    }
    let entitled = statuses.indices.filter { statuses[$0].entitles }
    guard let best = entitled.min(by: precedes) else { return (nil, .unspecified) }
    // The reason is the criterion by which the closest rival lost.
    let rivals = entitled.filter { $0 != best && levels[$0] == levels[best] }
    if entitled.count == 1 { return (best, .onlyEntitled) }
    if rivals.isEmpty { return (best, .highestLevel) }
    if rivals.contains(where: { isOwn(statuses[$0]) == isOwn(statuses[best]) }) { return (best, .latestExpiration) }
    return (best, .ownBeforeShared)
}
