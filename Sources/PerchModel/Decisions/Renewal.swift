package import PerchBase

/// Decides every renewal attempt of an account that is due at `boundary` or before, from the app state in force then.
///
/// Oldest first. A renewed line has a later boundary, so the caller repeats the call with each `record.attemptDue`.
/// Every attempt is then decided from the app state of its instant.
package func settleRenewals(
    of record: AccountRecord, app: AppState, at boundary: Instant, numbers: inout TransactionNumbers
) -> [Fact] {
    var facts: [Fact] = []
    for (due, index) in attempts(of: record, through: boundary) {
        facts.append(attemptRenewal(of: record.lines[index], record: record, app: app, at: due, numbers: &numbers))
    }
    return facts
}

/// The lines with an attempt due, oldest first; lines due at the same instant in the order in which they began.
private func attempts(of record: AccountRecord, through boundary: Instant) -> [(due: Instant, index: Int)] {
    record.lines.indices
        .compactMap { index in
            record.lines[index].attemptDue.flatMap { $0 <= boundary ? (due: $0, index: index) : nil }
        }
        .sorted { ($0.due, $0.index) < ($1.due, $1.index) }
}

/// The expected result of the attempt at a line's boundary, computed as the attempt itself decides it. The charges of a
/// sharing purchaser depend on that account's record, so a shared line is expected to renew.
package func foreseenAttempt(of line: Line, in record: AccountRecord, app: AppState) -> RenewalState {
    switch foreseenFact(of: line, in: record, app: app) {
    case .lapsed?: .expired
    case .renewalFailed(_, let retry)?: retry.graceUntil == nil ? .inBillingRetryPeriod : .inGracePeriod
    default: .subscribed
    }
}

/// The fact that the attempt at a line's boundary will write, if it is known in advance; nil if a renewal is expected.
private func foreseenFact(of line: Line, in record: AccountRecord, app: AppState) -> Fact.Body? {
    if let reason = line.foreseenLapse(in: app.catalogue) { return .lapsed(original: line.originalID, reason: reason) }
    guard app.isTestApp, line.isOwn, chargesFail(record, app), let product = app.catalogue.product(line.nextProductID),
        let subscription = product.subscription
    else { return nil }
    let retry = billingRetry(of: line, product, subscription, app: app, at: line.boundary)
    return .renewalFailed(original: line.originalID, retry: retry)
}

/// A record as a read of the future sees it: each line whose end or failed charge is foreseen has it from its boundary
/// on.
///
/// Renewals are left out: a renewal's transaction has no ID before it is charged, so the line waits for it at its
/// boundary.
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

/// How long the store retries, and how long the customer stays entitled meanwhile. Fixed when the charge fails: later
/// settings do not change it.
func billingRetry(
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
    // Never longer than the period, although Apple does not document this limit. A charge that recovers inside the
    // grace period keeps the cycle, and the period it pays for must not have ended by then.
    let periodEnd = rate.end(of: period, from: instant, anchorDay: anchor(of: instant, kept: line.anchorDay))
    return BillingRetry(failedAt: instant, until: until, graceUntil: min(grace, periodEnd))
}

/// The next period of a line. It begins at `start` and is charged at `now`, which is later than `start` if a charge
/// recovers.
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
    // The flag at the time of the charge; renewal info has the current one.
    transaction.commitment?.willRenew = line.willAutoRenew
    terms.level = subscription.level
    // A change that waits for the end of a commitment continues to wait, as ordered.
    if line.isCommitted { terms.preferredBillingPlan = line.preferredBillingPlan }
    if line.keepsPlan {
        terms.agreedPrice = line.increase?.status == .agreed ? line.increase?.price : line.agreedPrice
    }
    if product.id == line.latest.productID {
        terms.lastIncrease = line.lastIncrease
    }
    // It waits behind an offer that continues, even the same one; and behind a commitment, with the order of another
    // product or plan.
    let waits =
        line.offerGoingOn != nil
        || line.isCommitted && !line.prefers(product.id, billed: line.latest.billingPlan)
    if waits { terms.queuedOffer = line.queuedOffer }
    return Fact(.renewed(transaction, terms: terms), effective: now)
}

/// The price of a line's next period, with the offer that applies then.
func nextCharge(of line: Line, for product: CatalogueProduct, _ subscription: CatalogueSubscription) -> Money {
    line.nextOffer?.offer.price ?? standardPrice(of: line, for: product, subscription)
}

/// The price of a line's next period without an offer: the price that the customer agreed to, else the catalogue's for
/// the billing plan of that period.
func standardPrice(of line: Line, for product: CatalogueProduct, _ subscription: CatalogueSubscription) -> Money {
    if line.keepsPlan, product.id == line.latest.productID {
        if let increase = line.increase, increase.status == .agreed { return increase.price }
        if let agreed = line.agreedPrice { return agreed }
    }
    return nextBilling(of: line, product, subscription)?.price ?? product.price
}
