package import PerchBase

/// Decides every renewal attempt of an account that is due at `boundary` or before, from the app state in force then.
///
/// Called for the earliest boundary first; a line that renewed has its next boundary later.
package func settleRenewals(
    of record: AccountRecord, app: AppState, at boundary: Instant, numbers: inout TransactionNumbers
) -> [Fact] {
    var facts: [Fact] = []
    for line in record.lines {
        guard let due = line.attemptDue, due <= boundary else { continue }
        facts.append(attemptRenewal(of: line, record: record, app: app, at: due, numbers: &numbers))
    }
    return facts
}

/// One attempt: a renewal, a failed charge, or the end.
private func attemptRenewal(
    of line: Line, record: AccountRecord, app: AppState, at instant: Instant, numbers: inout TransactionNumbers
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
    return renewal(of: line, product, subscription, record: record, app: app, at: instant, numbers: &numbers)
}

/// The next period of a line, beginning at `start`.
func renewal(
    of line: Line, _ product: CatalogueProduct, _ subscription: CatalogueSubscription, record: AccountRecord,
    app: AppState, at start: Instant, numbers: inout TransactionNumbers
) -> Fact {
    var transaction = line.latest
    transaction.id = numbers.take()
    transaction.productID = product.id
    transaction.purchaseDate = start
    transaction.signedDate = start
    transaction.reason = .renewal
    transaction.offer = nil
    transaction.revocation = nil
    transaction.isUpgraded = false
    transaction.storefront = Storefronts.storefront(app.settings.storefront)
    let keepsOffer = line.preference == line.latest.productID
    let terms = fill(
        &transaction, period: subscription.period, anchorDay: line.anchorDay,
        offer: keepsOffer ? line.offerInForce : nil, offerPeriodsLeft: keepsOffer ? line.offerPeriodsLeft : 0,
        price: product.price, preference: product.id, recentStart: line.recentStart, app: app)
    return Fact(.renewed(transaction, terms: terms), effective: start)
}
