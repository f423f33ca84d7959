package import PerchBase

/// Decides every renewal attempt of an account that is due at `boundary` or before, from the app state in force then.
///
/// Oldest first. A line that renewed has its next boundary later, so the caller asks again: with `record.attemptDue`,
/// each time, every attempt is decided from the app state of its own instant.
package func settleRenewals(
    of record: AccountRecord, app: AppState, at boundary: Instant, numbers: inout TransactionNumbers
) -> [Fact] {
    var facts: [Fact] = []
    for (due, index) in attempts(of: record, through: boundary) {
        facts.append(attemptRenewal(of: record.lines[index], record: record, app: app, at: due, numbers: &numbers))
    }
    return facts
}

/// The lines with an attempt due, oldest first, and in the order in which they began where that is the same.
private func attempts(of record: AccountRecord, through boundary: Instant) -> [(due: Instant, index: Int)] {
    record.lines.indices
        .compactMap { index in
            record.lines[index].attemptDue.flatMap { $0 <= boundary ? (due: $0, index: index) : nil }
        }
        .sorted { ($0.due, $0.index) < ($1.due, $1.index) }
}

/// What the attempt at a line's boundary comes to if nothing happens until then, as the attempt itself decides it. Whether the
/// charges of somebody who shares fail is in his record; of what is shared a renewal is expected.
package func foreseenAttempt(of line: Line, in record: AccountRecord, app: AppState) -> RenewalState {
    switch foreseenFact(of: line, in: record, app: app) {
    case .lapsed?: .expired
    case .renewalFailed(_, let retry)?: retry.graceUntil == nil ? .inBillingRetryPeriod : .inGracePeriod
    default: .subscribed
    }
}

/// What the attempt at a line's boundary writes, where that is known before; nil where a renewal is expected.
private func foreseenFact(of line: Line, in record: AccountRecord, app: AppState) -> Fact.Body? {
    if let reason = line.foreseenLapse(in: app.catalogue) { return .lapsed(original: line.originalID, reason: reason) }
    guard app.isTestApp, line.isOwn, chargesFail(record, app), let product = app.catalogue.product(line.nextProductID),
        let subscription = product.subscription
    else { return nil }
    let retry = billingRetry(of: line, product, subscription, app: app, at: line.boundary)
    return .renewalFailed(original: line.originalID, retry: retry)
}

/// A record as a read of the future sees it: each line whose end or failed charge is foreseen has it from its boundary on.
///
/// A renewal is left out: its transaction has no number before it is charged, so the line awaits it at its boundary.
package func foreseen(_ record: AccountRecord, app: AppState, at instant: Instant) -> AccountRecord {
    var foreseen = record
    for line in record.lines where line.awaitsAttempt && line.boundary <= instant {
        guard let body = foreseenFact(of: line, in: record, app: app) else { continue }
        foreseen.apply(Fact(body, effective: line.boundary))
    }
    return foreseen
}

/// Whether charges of the account fail: its own switch, else the app's setting for renewals.
func chargesFail(_ record: AccountRecord, _ app: AppState) -> Bool {
    record.chargesFail ?? app.settings.areRenewalBillingIssuesEnabled
}

/// One attempt: a renewal, a failed charge, or the end.
private func attemptRenewal(
    of line: Line, record: AccountRecord, app: AppState, at instant: Instant, numbers: inout TransactionNumbers
) -> Fact {
    if let reason = line.foreseenLapse(in: app.catalogue) {
        return Fact(.lapsed(original: line.originalID, reason: reason), effective: instant)
    }
    guard let product = app.catalogue.product(line.nextProductID), let subscription = product.subscription else {
        preconditionFailure("a line renews into a product that is not sold")
    }
    if chargesFail(record, app) {
        let retry = billingRetry(of: line, product, subscription, app: app, at: instant)
        return Fact(.renewalFailed(original: line.originalID, retry: retry), effective: instant)
    }
    return renewal(
        of: line, product, subscription, record: record, app: app, from: instant, at: instant, numbers: &numbers)
}

/// How long the store tries again, and how long the customer stays entitled meanwhile. Settled when the charge fails:
/// no later setting changes it.
private func billingRetry(
    of line: Line, _ product: CatalogueProduct, _ next: CatalogueSubscription, app: AppState, at instant: Instant
) -> BillingRetry {
    let rate = app.settings.timeRate
    if line.isCommitted {
        // 90 days instead of 60, and no grace period.
        let until = instant.advanced(byMilliseconds: rate.retryMilliseconds / 2 * 3)
        return BillingRetry(failedAt: instant, until: until, graceUntil: nil)
    }
    let until = instant.advanced(byMilliseconds: rate.retryMilliseconds)
    let wasPaid = (line.latest.price?.milliunits ?? 0) > 0
    let isPaid = nextCharge(of: line, for: product, next).milliunits > 0
    guard app.settings.isGracePeriodEnabled, app.settings.hasGracePeriodForAllRenewals || wasPaid && isPaid else {
        return BillingRetry(failedAt: instant, until: until, graceUntil: nil)
    }
    let period = app.catalogue.product(line.latest.productID)?.subscription?.period ?? next.period
    let grace = instant.advanced(
        byMilliseconds: rate.graceMilliseconds(for: period, days: app.settings.gracePeriodDays))
    // Never longer than the period, which is nowhere documented: a charge that recovers inside the grace period keeps
    // the cycle, and the period it pays for must not be over by then.
    let periodEnd = rate.end(of: period, from: instant, anchorDay: anchor(of: instant, kept: line.anchorDay))
    return BillingRetry(failedAt: instant, until: until, graceUntil: min(grace, periodEnd))
}

/// The next period of a line, beginning at `start`, charged at `now`: later than `start` where a charge recovers.
func renewal(
    of line: Line, _ product: CatalogueProduct, _ subscription: CatalogueSubscription, record: AccountRecord,
    app: AppState, from start: Instant, at now: Instant, numbers: inout TransactionNumbers
) -> Fact {
    var transaction = line.latest
    transaction.id = numbers.take()
    transaction.productID = product.id
    transaction.purchaseDate = start
    transaction.signedDate = now
    transaction.reason = .renewal
    transaction.offer = nil
    transaction.revocation = nil
    transaction.isUpgraded = false
    transaction.storefront = storefront(of: record, app: app)
    let next = line.nextOffer
    guard let billing = nextBilling(of: line, product, subscription) else {
        preconditionFailure("a line renews under a billing plan that is not sold")
    }
    transaction.billingPlan = billing.plan
    var terms = fill(
        &transaction, period: billing.period, anchorDay: line.anchorDay, offer: next?.offer,
        offerPeriodsLeft: next?.periods ?? 0, price: standardPrice(of: line, for: product, subscription),
        preference: line.isCommitted ? line.preference : product.id, recentStart: line.recentStart(at: start), app: app)
    transaction.commitment = nextCommitment(of: line, transaction, anchorDay: terms.anchorDay, billing, app: app)
    // As it was when this was charged; renewal info says what holds now.
    transaction.commitment?.willRenew = line.willAutoRenew
    terms.level = subscription.level
    // What waits for the end of a commitment goes on waiting, as it was ordered.
    if line.isCommitted { terms.preferredBillingPlan = line.preferredBillingPlan }
    if product.id == line.latest.productID {
        terms.agreedPrice = line.increase?.status == .agreed ? line.increase?.price : line.agreedPrice
        terms.lastIncrease = line.lastIncrease
    }
    // Behind an offer that goes on it waits, also where it is the same one once more; and behind a commitment, with the
    // order of another product.
    let waits = line.offerGoingOn != nil || product.id != line.preference
    if waits { terms.queuedOffer = line.queuedOffer }
    return Fact(.renewed(transaction, terms: terms), effective: now)
}

/// What a line's next period costs, with the offer that it has then.
func nextCharge(of line: Line, for product: CatalogueProduct, _ subscription: CatalogueSubscription) -> Money {
    line.nextOffer?.offer.price ?? standardPrice(of: line, for: product, subscription)
}

/// What a line's next period costs without an offer: the price that the customer agreed to, else the catalogue's for
/// the billing plan that it has then.
func standardPrice(of line: Line, for product: CatalogueProduct, _ subscription: CatalogueSubscription) -> Money {
    if product.id == line.latest.productID {
        if let increase = line.increase, increase.status == .agreed { return increase.price }
        if let agreed = line.agreedPrice { return agreed }
    }
    return nextBilling(of: line, product, subscription)?.price ?? product.price
}
