package import PerchBase

// Requests that a customer makes in StoreKit's sheets. A test store can make each of them fail.

/// A customer's refund request. The store approves it, unless the reason is other and the text says `REJECT`, as in
/// Apple's sandbox.
///
/// A second request for a transaction is a duplicate. `Transaction.RefundRequestError.duplicateRequest` names three
/// cases: the first request is pending, was approved or was denied. Perch decides a request at once, so none is
/// pending.
package func decideRefundRequest(
    of id: TransactionID, reason: RevocationReason, text: String, _ subject: OperationSubject, app: AppState,
    now: Instant
) throws(Refusal) -> OperationDecision {
    try refuseIfSimulated(.refundRequest, app: app)
    let row: Transaction
    switch try transaction(.transaction(id), subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): row = found
    }
    let wasRequested = subject.record.refundRequests.contains(id)
    guard !wasRequested, row.ownership != .purchased || row.revocation == nil else {
        let outcome =
            row.revocation.map { "it was refunded on \($0.date)" } ?? "the store has decided a refund request for it"
        throw Refusal(
            .storeKitDuplicateRequest, "no refund of transaction \(id) can be requested again: \(outcome)")
    }
    let isOther = reason == .other || reason == .unspecified
    var outcome = OperationOutcome([], transaction: row, wasHeld: true)
    if !isOther || text != "REJECT" {
        let refund = StoreOperation.refund(.transaction(id), reason: reason, share: .full)
        var numbers = TransactionNumbers(next: 0)
        switch try decide(refund, on: subject, app: app, now: now, numbers: &numbers) {
        case .needs(let need): return .needs(need)
        case .done(let refunded): outcome = refunded
        }
    }
    outcome.facts.insert(Fact(.refundRequested(id), effective: now), at: 0)
    return .done(outcome)
}

/// Redeems an offer code outside the app: the transaction arrives like one bought outside the app. It never waits for
/// approval, because redeeming a code is a decision.
///
/// `wasHeld` of the outcome: the code applies from the next period of the current subscription.
package func decideRedemption(
    ofCode code: String, productID: String, _ subject: OperationSubject, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> OperationDecision {
    try refuseIfSimulated(.offerCodeRedeem, app: app)
    let products = app.catalogue.products.filter { product in
        (productID.isEmpty || product.id == productID) && product.codeOffers.contains { $0.code(code) != nil }
    }
    guard let product = products.first else {
        let who = productID.isEmpty ? "no product of \(app.bundleID) has an" : "product \(productID) has no"
        throw Refusal(
            .purchaseInvalidOffer,
            "\(who) offer code \(code); enter one of the codes that an offer lists, or its reference name if it lists none"
        )
    }
    guard products.count == 1 else {
        throw Refusal(
            .purchaseMissingOfferParameters,
            "the offer code \(code) is one of \(products.map(\.id).joined(separator: ", ")); name the product")
    }
    var order = PurchaseOrder(productID: product.id, offer: OrderedOffer(type: .code, id: code))
    // A code belongs to the billing plan it was made for.
    order.billingPlan = product.codeOffers.first { $0.code(code) != nil }?.offer.billingPlan ?? .unspecified
    var tried = numbers
    let purchase = try decidePurchase(order, record: subject.record, app: app, now: now, numbers: &tried)
    if let need = try redemptionsNeeded(by: purchase, subject, app: app) { return .needs(need) }
    numbers = tried
    return .done(delivered(purchase, order, record: subject.record, now: now))
}

/// Switches renewal on or off, as the sheet of subscriptions does.
package func decideManagement(
    of productID: String, autoRenews: Bool, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    try refuseIfSimulated(.manageSubscriptions, app: app)
    return try decideAutoRenew(autoRenews, of: .product(productID), subject, app: app, now: now)
}
