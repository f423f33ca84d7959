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
        facts.append(attemptRenewal(of: record.lines[index], app: app, at: due, numbers: &numbers))
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

/// One attempt: a renewal, a failed charge, or the end.
private func attemptRenewal(
    of line: Line, app: AppState, at instant: Instant, numbers: inout TransactionNumbers
) -> Fact {
    guard let product = app.catalogue.product(line.preference), let subscription = product.subscription else {
        return Fact(.lapsed(original: line.originalID, reason: .productUnavailable), effective: instant)
    }
    if app.settings.areRenewalBillingIssuesEnabled {
        let rate = app.settings.timeRate
        let period = app.catalogue.product(line.latest.productID)?.subscription?.period ?? subscription.period
        let grace = rate.graceMilliseconds(for: period, days: app.settings.gracePeriodDays)
        let retry = BillingRetry(
            failedAt: instant, until: instant.advanced(byMilliseconds: rate.retryMilliseconds),
            graceUntil: app.settings.isGracePeriodEnabled ? instant.advanced(byMilliseconds: grace) : nil)
        return Fact(.renewalFailed(original: line.originalID, retry: retry), effective: instant)
    }
    return renewal(of: line, product, subscription, app: app, from: instant, at: instant, numbers: &numbers)
}

/// The next period of a line, beginning at `start`, charged at `now`: later than `start` where a charge recovers.
func renewal(
    of line: Line, _ product: CatalogueProduct, _ subscription: CatalogueSubscription, app: AppState,
    from start: Instant, at now: Instant, numbers: inout TransactionNumbers
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
    transaction.storefront = Storefronts.storefront(app.settings.storefront)
    let offer = line.nextOffer
    let terms = fill(
        &transaction, period: subscription.period, anchorDay: line.anchorDay, offer: offer,
        offerPeriodsLeft: offer == nil ? 0 : line.offerPeriodsLeft, price: product.price, preference: product.id,
        recentStart: line.recentStart, app: app)
    return Fact(.renewed(transaction, terms: terms), effective: now)
}
