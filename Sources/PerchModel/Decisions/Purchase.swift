package import PerchBase

/// What a purchase comes to.
package struct PurchaseOutcome: Hashable, Sendable {
    package var facts: [Fact]
    /// The transaction that the customer holds now: new, or the one held before.
    package var transaction: Transaction
    package var wasHeld: Bool
}

/// Gives out the numbers of new transactions. A value: a decision that is thrown away has used none.
package struct TransactionNumbers: Hashable, Sendable {
    package private(set) var next: TransactionID

    package init(next: TransactionID) { self.next = next }

    package mutating func take() -> TransactionID {
        defer { self.next += 1 }
        return self.next
    }
}

/// The most that one purchase may buy of a consumable.
package let purchaseQuantityMax: UInt32 = 10

/// Decides a purchase of an account at `now`. Pure: the same input, the same facts.
package func decidePurchase(
    _ order: PurchaseOrder, record: AccountRecord, app: AppState, now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> PurchaseOutcome {
    guard let product = app.catalogue.product(order.productID) else {
        throw Refusal(
            .purchaseProductUnavailable,
            "product \(order.productID) is not in the catalogue of \(app.bundleID); `perch catalog show` lists what is")
    }
    let quantityMax = product.type == .consumable ? purchaseQuantityMax : 1
    guard (1...quantityMax).contains(order.quantity) else {
        throw Refusal(
            .purchaseInvalidQuantity,
            "quantity \(order.quantity) of \(order.productID); a \(product.type) may be bought 1 to \(quantityMax) at a time"
        )
    }
    switch product.type {
    case .autoRenewable:
        return try decideSubscription(order, product, record: record, app: app, now: now, numbers: &numbers)
    case .nonConsumable:
        if let held = record.owned.first(where: { $0.productID == product.id && $0.ownership == .purchased }) {
            return PurchaseOutcome(facts: [], transaction: held, wasHeld: true)
        }
    default:
        break
    }
    guard let price = product.price.multiplied(by: Int64(order.quantity)) else {
        throw Refusal(.purchaseInvalidQuantity, "the price of \(order.quantity) times \(product.price) does not fit")
    }
    var transaction = newTransaction(of: product, order, record: record, app: app, at: now, id: numbers.take())
    transaction.quantity = order.quantity
    transaction.price = priced(price, app)
    return PurchaseOutcome(
        facts: [Fact(.purchased(transaction, terms: nil), effective: now)], transaction: transaction, wasHeld: false)
}

private func decideSubscription(
    _ order: PurchaseOrder, _ product: CatalogueProduct, record: AccountRecord, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> PurchaseOutcome {
    guard let subscription = product.subscription else {
        preconditionFailure("an auto-renewable product without a subscription passed the catalogue loader")
    }
    guard let index = record.ownLineIndex(inGroup: subscription.groupID) else {
        return begin(product, subscription, order, after: nil, record: record, app: app, now: now, numbers: &numbers)
    }
    let line = record.lines[index]
    guard line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds).isEntitled else {
        return begin(product, subscription, order, after: line, record: record, app: app, now: now, numbers: &numbers)
    }
    switch planChange(from: line, to: product, catalogue: app.catalogue) {
    case .none:
        // Buying what is held returns it; a pending change to another plan is taken back by that.
        var facts: [Fact] = []
        if line.willAutoRenew, line.preference != product.id {
            facts.append(
                Fact(.autoRenewSet(original: line.originalID, isOn: true, preference: product.id), effective: now))
        }
        return PurchaseOutcome(facts: facts, transaction: line.latest, wasHeld: true)
    case .atRenewal:
        var facts: [Fact] = []
        if !line.willAutoRenew || line.preference != product.id {
            facts.append(
                Fact(.autoRenewSet(original: line.originalID, isOn: true, preference: product.id), effective: now))
        }
        return PurchaseOutcome(facts: facts, transaction: line.latest, wasHeld: true)
    case .now:
        var left = line.latest
        left.isUpgraded = true
        var outcome = begin(
            product, subscription, order, after: line, record: record, app: app, now: now, numbers: &numbers)
        outcome.facts.insert(Fact(.upgradedFrom(left), effective: now), at: 0)
        return outcome
    }
}

/// When a change of plan takes effect.
package enum PlanChange: Hashable, Sendable {
    case none
    case now
    case atRenewal
}

/// An upgrade, or a crossgrade to the same length of period, is now; every other change waits for the renewal.
package func planChange(from line: Line, to product: CatalogueProduct, catalogue: Catalogue) -> PlanChange {
    guard line.latest.productID != product.id else { return .none }
    guard let target = product.subscription else { return .atRenewal }
    // Within a commitment a lower or equal level waits for its end; only what costs more is taken at once.
    let held = catalogue.product(line.latest.productID)?.subscription
    let level = held?.level ?? line.level
    // Without any level to compare with, nothing is taken away.
    if level == 0 { return .atRenewal }
    if target.level < level { return .now }
    return target.level == level && target.period == held?.period && !line.isCommitted ? .now : .atRenewal
}

/// A lapse shorter than this does not begin a new run of periods.
private let ignoredLapseMilliseconds: Int64 = 60 * 86_400_000

/// A new period that begins with a purchase: of a new line, or of one that lapsed or changes its plan.
private func begin(
    _ product: CatalogueProduct, _ subscription: CatalogueSubscription, _ order: PurchaseOrder, after line: Line?,
    record: AccountRecord, app: AppState, now: Instant, numbers: inout TransactionNumbers
) -> PurchaseOutcome {
    let isEligible = isEligibleForIntroductoryOffer(record, groupID: subscription.groupID)
    let offer = isEligible ? subscription.introductoryOffers.first { $0.billingPlan != .monthly } : nil
    var transaction = newTransaction(of: product, order, record: record, app: app, at: now, id: numbers.take())
    if let line {
        transaction.originalID = line.originalID
        transaction.originalPurchaseDate = line.latest.originalPurchaseDate
    }
    var recentStart = now
    if let line, now.milliseconds(since: line.serviceEnd) < ignoredLapseMilliseconds {
        recentStart = line.recentStart
    }
    var period = subscription.period
    var price = product.price
    if order.billingPlan == .monthly, let plan = monthlyPlan(of: subscription) {
        transaction.billingPlan = .monthly
        transaction.commitment = firstCommitment(of: plan, subscription, app: app, from: now, anchorDay: 0)
        period = commitmentPeriod(of: subscription)
        price = plan.price
    }
    var terms = fill(
        &transaction, period: period, anchorDay: 0, offer: offer, offerPeriodsLeft: offer?.periodCount ?? 0,
        price: price, preference: product.id, recentStart: recentStart, app: app)
    terms.level = subscription.level
    if let line, line.latest.productID == product.id { terms.lastIncrease = line.lastIncrease }
    return PurchaseOutcome(
        facts: [Fact(.purchased(transaction, terms: terms), effective: now)], transaction: transaction, wasHeld: false)
}

/// No transaction of the group, of any product of this account, ever carried an introductory offer.
package func isEligibleForIntroductoryOffer(_ record: AccountRecord?, groupID: String) -> Bool {
    guard let record else { return true }
    return record.history(ofGroup: groupID)?.hadIntroductoryOffer != true
}

/// Gives a subscription transaction its period, price and offer, and says what follows for its line.
///
/// `offerPeriodsLeft` counts the period that begins now.
func fill(
    _ transaction: inout Transaction, period: Period, anchorDay: Int64, offer: SubscriptionOffer?,
    offerPeriodsLeft: Int32, price: Money, preference: String, recentStart: Instant, app: AppState
) -> LineTerms {
    var length = period
    var charge = price
    var offerInForce: SubscriptionOffer?
    var left: Int32 = 0
    if let offer, offerPeriodsLeft > 0 {
        transaction.offer = offer.applied
        charge = offer.price
        if offer.paymentMode == .payAsYouGo {
            left = offerPeriodsLeft - 1
            if left > 0 { offerInForce = offer }
        } else {
            length = offer.period
        }
    }
    let start = transaction.purchaseDate
    let anchor = anchor(of: start, kept: anchorDay)
    transaction.expirationDate = app.settings.timeRate.end(of: length, from: start, anchorDay: anchor)
    transaction.price = priced(charge, app)
    transaction.webOrderLineItemID = String(transaction.id)
    return LineTerms(
        preference: preference, anchorDay: length.isMonthly ? anchor : 0, offerInForce: offerInForce,
        offerPeriodsLeft: left, recentStart: recentStart)
}

/// The day of the month that a period beginning at `start` is counted from: the line's, where `start` is the day that
/// it comes to in this month, else the day of `start`. A forced renewal or another time rate moves a boundary off it.
private func anchor(of start: Instant, kept anchorDay: Int64) -> Int64 {
    let time = CivilTime(start)
    return time.day == min(anchorDay, CivilTime.days(inMonth: time.month, of: time.year)) ? anchorDay : time.day
}

/// A price in the currency of the app's storefront.
func priced(_ money: Money, _ app: AppState) -> Money {
    Money(milliunits: money.milliunits, currency: Storefronts.currency(of: app.settings.storefront))
}

func newTransaction(
    of product: CatalogueProduct, _ order: PurchaseOrder, record: AccountRecord, app: AppState, at now: Instant,
    id: TransactionID
) -> Transaction {
    var transaction = Transaction(
        id: id, originalID: id, appBundleID: app.bundleID, productID: product.id, productType: product.type,
        purchaseDate: now, originalPurchaseDate: now, environment: app.environment,
        storefront: Storefronts.storefront(app.settings.storefront), reason: .purchase, signedDate: now)
    transaction.appTransactionID = record.appTransactionID
    transaction.appAccountToken = order.appAccountToken
    transaction.subscriptionGroupID = product.subscription?.groupID ?? ""
    return transaction
}
