package import PerchBase

/// Refunds a transaction. Refunding a refunded transaction changes nothing.
///
/// `others` are the account's other transactions of that product, for a product without an end. One of them entitles
/// again when the latest is refunded, unless it is refunded too.
package func decideRefund(
    of transaction: Transaction, reason: RevocationReason, share: RefundShare = .full, others: [Transaction],
    now: Instant
) throws(Refusal) -> (facts: [Fact], transaction: Transaction) {
    guard transaction.ownership == .purchased else {
        throw Refusal(
            .refundNotPossible,
            "transaction \(transaction.id) is \(transaction.ownership); refund the purchase of the member who shares it"
        )
    }
    if transaction.revocation != nil { return ([], transaction) }
    var revoked = transaction
    revoked.revocation = try revocation(of: transaction, reason: reason, share: share, now: now)
    revoked.signedDate = now
    let fallback =
        transaction.productType == .nonRenewable || transaction.productType == .nonConsumable
        ? others.filter { $0.id != transaction.id && $0.revocation == nil && $0.productID == transaction.productID }
            .filter { $0.ownership == transaction.ownership }
            .max { ($0.purchaseDate, $0.id) < ($1.purchaseDate, $1.id) }
        : nil
    return ([Fact(.revoked(revoked, fallback: fallback), effective: now)], revoked)
}

/// The refunded share. The transaction no longer entitles, even after a partial refund.
private func revocation(
    of transaction: Transaction, reason: RevocationReason, share: RefundShare, now: Instant
) throws(Refusal) -> Revocation {
    let whole: UInt32 = 100_000
    var part = whole
    switch share {
    case .full:
        break
    case .part(let milliPercent):
        guard (1...whole).contains(milliPercent) else {
            throw Refusal(
                .refundNotPossible,
                "a refund is of 1 to \(whole) thousandths of a per cent, not of \(milliPercent); 50000 is half")
        }
        part = milliPercent
    case .prorated:
        guard let end = transaction.expirationDate else {
            throw Refusal(
                .refundNotPossible,
                "transaction \(transaction.id) has no period to refund the rest of; refund it in full or a part of it")
        }
        let length = end.milliseconds(since: transaction.purchaseDate)
        let unused = min(length, end.milliseconds(since: now))
        guard length > 0, unused > 0 else {
            throw Refusal(
                .refundNotPossible,
                "nothing is left of the period of transaction \(transaction.id), which ended at \(end); refund it in full or a part of it"
            )
        }
        part = UInt32(clamping: length.dividingFullWidth(Int64(whole).multipliedFullWidth(by: unused)).quotient)
    }
    return Revocation(
        date: now, reason: reason, type: part == whole ? .refundFull : .refundProrated, percentageMilli: part)
}

/// Switches renewal on or off for the line that a transaction belongs to.
///
/// In a grace or retry period, switching renewal off ends the subscription at once.
package func decideAutoRenew(
    _ isOn: Bool, line: Line, app: AppState, now: Instant
) throws(Refusal) -> [Fact] {
    let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
    // After a refund, the App Store or the customer may still switch renewal off. It matters if the refund is reversed.
    let isRefunded = state == .revoked && (now < line.boundary || !isOn)
    guard state != .expired, state != .revoked || isRefunded else {
        throw Refusal(
            .notSubscribed,
            "the subscription to \(line.latest.productID) is \(state); buy it again, there is nothing to renew")
    }
    guard line.willAutoRenew != isOn else { return [] }
    return [
        Fact(
            .autoRenewSet(original: line.originalID, isOn: isOn, preference: line.latest.productID), effective: now)
    ]
}

/// Ends the current period of a line now, for good. In a grace period the period has already ended and stays as it was.
package func decideExpiry(of line: Line, app: AppState, now: Instant) throws(Refusal) -> [Fact] {
    try requireEntitled(line, app: app, now: now)
    var ended = line.latest
    ended.expirationDate = min(line.boundary, now)
    ended.signedDate = now
    return [Fact(.expiredEarly(ended), effective: now)]
}

/// Ends the current period of a line now and renews it: the next one begins now, and its months count from now.
///
/// In a grace period it is the charge that recovers: the next period begins at the end of the last one. The customer's
/// renewal switch stays unchanged.
package func decideForcedRenewal(
    of line: Line, record: AccountRecord, app: AppState, now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> (facts: [Fact], transaction: Transaction) {
    try requireEntitled(line, app: app, now: now)
    let (product, subscription) = try renewingProduct(of: line, app: app)
    guard line.foreseenLapse(in: app.catalogue) == nil else {
        throw Refusal(
            .priceIncreaseInvalid,
            "a higher price of \(line.latest.productID) waits for the customer; answer it before the renewal")
    }
    let isCut = now < line.boundary
    var renewing = line
    if isCut { renewing.anchorDay = 0 }
    let fact = renewal(
        of: renewing, product, subscription, record: record, app: app, from: min(now, line.boundary), at: now,
        numbers: &numbers)
    guard case .renewed(let transaction, _) = fact.body else {
        preconditionFailure("a forced renewal did not renew")
    }
    guard isCut else { return ([fact], transaction) }
    var ended = line.latest
    ended.expirationDate = now
    ended.signedDate = now
    return ([Fact(.periodCut(ended), effective: now), fact], transaction)
}

func requireEntitled(_ line: Line, app: AppState, now: Instant) throws(Refusal) {
    let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
    guard state.isEntitled else {
        // A failing charge has to be resolved; a new purchase would begin a new line.
        let remedy =
            state == .inBillingRetryPeriod
            ? "resolve its billing issue instead, with resolve_billing" : "buy it first, then try again"
        throw Refusal(.notSubscribed, "the subscription to \(line.latest.productID) is \(state); \(remedy)")
    }
}

/// The product of a line's next period, if it is still sold under the billing plan of that period.
func renewingProduct(
    of line: Line, app: AppState
) throws(Refusal) -> (CatalogueProduct, CatalogueSubscription) {
    guard let product = app.catalogue.productOnSale(line.nextProductID), let subscription = product.subscription else {
        throw Refusal(
            .productUnknown,
            "product \(line.nextProductID) is no longer sold in \(app.bundleID), so it cannot renew")
    }
    guard nextBilling(of: line, product, subscription) != nil else {
        throw Refusal(
            .productUnknown,
            "product \(product.id) is no longer sold under the billing plan \(line.nextBillingPlan) in \(app.bundleID), "
                + "so it cannot renew; load a catalogue that has the plan")
    }
    return (product, subscription)
}
