import PerchBase

/// Decides a purchase that an app or a tester orders: it succeeds, waits for approval, or is cancelled.
///
/// Refusals and products already held are returned at once, without waiting.
func decideOrder(
    _ order: PurchaseOrder, _ subject: OperationSubject, app: AppState, now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    if app.settings.simulatedErrors[.purchase] == .userCancelled {
        var outcome = OperationOutcome()
        outcome.isCancelled = true
        return .done(outcome)
    }
    try refuseIfSimulated(.purchase, app: app)
    try check(order, now: now)
    var outcome = OperationOutcome()
    let record = subject.record
    if !order.seenStorefront.isEmpty, !order.continuesInNewStorefront,
        order.seenStorefront != storefront(of: record, app: app).countryCode
    {
        // The app was asked whether to continue in another storefront, with other prices, and declined.
        outcome.isCancelled = true
        return .done(outcome)
    }
    var tried = numbers
    let purchase = try decidePurchase(dated: order, record: record, app: app, now: now, numbers: &tried)
    if let need = try redemptionsNeeded(by: purchase, subject, app: app) { return .needs(need) }
    guard let reason = waitingReason(order, app: app), !purchase.wasHeld || !purchase.facts.isEmpty else {
        numbers = tried
        return .done(delivered(purchase, order, record: record, now: now))
    }
    guard record.pendingPurchases.count < Limits.pendingPurchasesMax else {
        throw Refusal(
            .pendingLimit,
            "the account has \(record.pendingPurchases.count) pending purchases, the limit is "
                + "\(Limits.pendingPurchasesMax); approve or decline some",
            found: Int64(record.pendingPurchases.count), limit: Int64(Limits.pendingPurchasesMax))
    }
    var order = order
    if order.isByApp { order.isByApp = false }
    let pending = PendingPurchase(id: numbers.take(), reason: reason, order: order, since: now)
    outcome.facts = [Fact(.purchaseHeld(pending), effective: now)]
    outcome.number = pending.id
    return .done(outcome)
}

/// Ends the wait of a purchase. An approved one is decided now, with current prices and eligibility.
func decidePending(
    _ id: UInt64, approves: Bool, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    let record = subject.record
    guard let pending = record.pendingPurchases.first(where: { $0.id == id }) else {
        throw Refusal(
            .pendingUnknown,
            "no purchase \(id) of the account waits; `perch store inspect ACCOUNT` lists those that do")
    }
    var outcome = OperationOutcome()
    if approves {
        var tried = numbers
        let purchase = try decidePurchase(dated: pending.order, record: record, app: app, now: now, numbers: &tried)
        if let need = try redemptionsNeeded(by: purchase, subject, app: app) { return .needs(need) }
        numbers = tried
        outcome = delivered(purchase, pending.order, record: record, now: now)
    }
    outcome.facts.insert(Fact(.purchaseReleased(id: id, isApproved: approves), effective: now), at: 0)
    return .done(outcome)
}

/// Why a purchase waits, if it does: the first reason that applies. Only a purchase of the app itself has dialogs, because
/// nobody sits before one that a tester makes; `SKTestSession.buyProduct` shows none.
private func waitingReason(_ order: PurchaseOrder, app: AppState) -> PendingReason? {
    if order.simulatesAskToBuy || app.settings.isAskToBuyEnabled { return .askToBuy }
    if app.settings.areBillingIssuesEnabled { return .interrupted }
    return order.isByApp && app.settings.asksBeforePurchases ? .dialog : nil
}

/// How often the code of a purchase was redeemed, if that has to be known and is not; a refusal if the code is used up.
func redemptionsNeeded(
    by purchase: PurchaseOutcome, _ subject: OperationSubject, app: AppState
) throws(Refusal) -> RowNeed? {
    for case .codeRedeemed(let redeemed) in purchase.facts.map(\.body) where !redeemed.code.isEmpty {
        let offer = app.catalogue.product(redeemed.productID)?.codeOffers.first { $0.offer.id == redeemed.offerID }
        guard let limit = offer?.code(redeemed.code)?.redemptionLimit, limit > 0 else { continue }
        let name = OfferCodeName(productID: redeemed.productID, code: redeemed.code)
        guard let count = subject.redemptions[name] else { return .redemptions(name) }
        guard count < UInt64(limit) else {
            let ruling = OfferRuling.codeUsedUp
            throw Refusal(
                .purchaseIneligibleForOffer,
                "the code \(redeemed.code) of \(redeemed.productID): \(ruling.message) (\(ruling.rawValue)), \(count) of "
                    + "\(limit) times; enter another, or buy without", found: Int64(clamping: count),
                limit: Int64(limit))
        }
    }
    return nil
}

/// A completed purchase: it ends the intents to buy that product.
func delivered(
    _ purchase: PurchaseOutcome, _ order: PurchaseOrder, record: AccountRecord, now: Instant
) -> OperationOutcome {
    var outcome = OperationOutcome()
    outcome.facts = purchase.facts
    for intent in record.intents where intent.productID == order.productID {
        outcome.facts.append(Fact(.intentEnded(id: intent.id), effective: now))
    }
    outcome.transaction = purchase.transaction
    outcome.wasHeld = purchase.wasHeld
    return outcome
}

/// Refuses orders that can never become a purchase.
private func check(_ order: PurchaseOrder, now: Instant) throws(Refusal) {
    guard order.accountToken.other.isEmpty else {
        throw Refusal(
            .fieldInvalid,
            "the app account token is not a UUID such as 7e3fb204-2db1-4bbb-9a33-bf4c3b1b6b0d; send one, or none",
            field: "order.app_account_token")
    }
    if let date = order.date, date > now {
        throw Refusal(
            .fieldInvalid, "the purchase date \(date) is after now, \(now); buy now, or into the past",
            field: "order.purchase_date_ms", found: date.milliseconds, limit: now.milliseconds)
    }
    if let date = order.date, date.milliseconds < Limits.readableMilliseconds.lowerBound {
        throw Refusal(
            .fieldInvalid, "the purchase date is before 1970, of which nothing can be read; buy later",
            field: "order.purchase_date_ms", found: date.milliseconds)
    }
    if !order.seenStorefront.isEmpty { try checkCountry(order.seenStorefront, field: "order.seen_storefront") }
}

/// A purchase at its own date, followed by every renewal until now, or by the end of renewing. In a test app the store
/// itself charges, so renewals follow by default. They use the current settings, as the purchase does: the account had
/// not bought when earlier settings were in force.
///
/// A product held at that date can answer a purchase in the past. A change that would take effect at the end of the
/// period held then is refused if that end has passed: its outcome is known, and a store does not charge for past time.
private func decidePurchase(
    dated order: PurchaseOrder, record: AccountRecord, app: AppState, now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> PurchaseOutcome {
    let date = order.date ?? now
    var outcome = try decidePurchase(order, record: record, app: app, now: date, numbers: &numbers)
    guard !outcome.facts.isEmpty, outcome.transaction.productType == .autoRenewable else { return outcome }
    if outcome.wasHeld, let line = endedLine(outcome.transaction, record: record, app: app, now: now) {
        throw Refusal(
            .purchaseNotAllowed,
            "\(line.latest.productID), which the account held at \(date), ended at \(line.boundary), so nothing can be "
                + "bought any more that would have begun then; choose a later instant, or none")
    }
    if order.renewalBehaviour == .cancelImmediately {
        let off = Fact.Body.autoRenewSet(
            original: outcome.transaction.originalID, isOn: false, preference: outcome.transaction.productID)
        outcome.facts.append(Fact(off, effective: date))
        return outcome
    }
    // A purchase without a date, the usual case, has no renewals due yet.
    guard order.date != nil, !outcome.wasHeld,
        order.renewalBehaviour == .renewUntilNow || (order.renewalBehaviour == .unspecified && app.isTestApp)
    else { return outcome }
    outcome.facts += try renewals(
        after: outcome.facts, of: order, record: record, app: app, from: date, until: now, numbers: &numbers)
    return outcome
}

/// Every renewal from a purchase in the past until now; a refusal if there are too many for one call.
private func renewals(
    after purchase: [Fact], of order: PurchaseOrder, record: AccountRecord, app: AppState, from date: Instant,
    until now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> [Fact] {
    var after = record
    for fact in purchase { after.apply(fact) }
    var facts: [Fact] = []
    while let due = after.attemptDue, due <= now {
        let renewals = settleRenewals(of: after, app: app, at: due, numbers: &numbers)
        for fact in renewals { after.apply(fact) }
        facts += renewals
        guard facts.count <= Limits.renewalsPerPurchaseMax else {
            throw Refusal(
                .advanceLimit,
                "from \(date) until \(now) \(order.productID) would renew more than \(Limits.renewalsPerPurchaseMax) "
                    + "times at the time rate \(app.settings.timeRate); choose a later date",
                field: "order.purchase_date_ms", limit: Int64(Limits.renewalsPerPurchaseMax))
        }
    }
    return facts
}

/// The line of a transaction, if it no longer entitles.
private func endedLine(_ transaction: Transaction, record: AccountRecord, app: AppState, now: Instant) -> Line? {
    guard let index = record.lineIndex(original: transaction.originalID) else { return nil }
    let line = record.lines[index]
    return line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds).isEntitled ? nil : line
}
