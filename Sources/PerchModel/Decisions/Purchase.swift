package import PerchBase

/// What a purchase comes to.
package struct PurchaseOutcome: Hashable, Sendable {
    package var facts: [Fact]
    /// The transaction that the customer now holds: new, or already held before.
    package var transaction: Transaction
    package var wasHeld: Bool
}

/// Allocates the IDs of new transactions. A value, so a discarded decision uses none.
package struct TransactionNumbers: Hashable, Sendable {
    package private(set) var next: TransactionID

    package init(next: TransactionID) { self.next = next }

    package mutating func take() -> TransactionID {
        defer { self.next += 1 }
        return self.next
    }
}

/// The highest quantity of a consumable in one purchase.
package let purchaseQuantityMax: UInt32 = 10

/// Decides a purchase of an account at `now`. Pure: the same input gives the same facts.
package func decidePurchase(
    _ order: PurchaseOrder, record: AccountRecord, app: AppState, now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> PurchaseOutcome {
    let product = try productForSale(order.productID, app: app)
    try refuseForbiddenPayment(record, app: app)
    let quantityMax = product.type == .consumable ? purchaseQuantityMax : 1
    guard (1...quantityMax).contains(order.quantity) else {
        throw Refusal(
            .purchaseInvalidQuantity,
            "quantity \(order.quantity) of \(order.productID); of a product that is \(product.type) "
                + (quantityMax == 1 ? "one is bought at a time" : "1 to \(quantityMax) are bought at a time"),
            field: "order.quantity", found: Int64(order.quantity), limit: Int64(quantityMax))
    }
    switch product.type {
    case .autoRenewable:
        return try decideSubscription(order, product, record: record, app: app, now: now, numbers: &numbers)
    case _ where order.billingPlan != .unspecified:
        throw Refusal(
            .purchaseInvalidOffer,
            "product \(product.id) is a \(product.type): it has no billing plans; buy it without")
    case .nonConsumable where order.offer == nil:
        if let held = record.owned(product.id) { return PurchaseOutcome(facts: [], transaction: held, wasHeld: true) }
    default:
        break
    }
    var chosen: ChosenOffer?
    if let ordered = order.offer {
        let rules = OfferRules(record: record, groupID: "", app: app, now: now)
        chosen = try chosenOffer(ordered, of: product, plan: .unspecified, rules: rules)
    }
    let unit = chosen?.offer.price ?? product.price
    guard let price = unit.multiplied(by: Int64(order.quantity)) else {
        throw Refusal(.purchaseInvalidQuantity, "the price of \(order.quantity) times \(unit) does not fit")
    }
    var transaction = newTransaction(
        of: product, order, charge: price, record: record, app: app, at: now, id: numbers.take())
    if let chosen { transaction.offer = chosen.offer.applied }
    try refuseFailingCharge(transaction, record: record, app: app, now: now)
    var facts = [Fact(.purchased(transaction, terms: nil), effective: now)]
    if let chosen { facts += chosen.redemption(of: product, for: transaction, at: now) }
    return PurchaseOutcome(facts: facts, transaction: transaction, wasHeld: false)
}

/// Refuses every purchase of an account whose payments are forbidden, as Screen Time does, before anything else is looked
/// at. Renewals go on.
private func refuseForbiddenPayment(_ record: AccountRecord, app: AppState) throws(Refusal) {
    guard app.isTestApp, record.arePaymentsForbidden else { return }
    throw Refusal(
        .purchaseNotAllowed,
        "payments of the account are forbidden; `perch store can-make-payments ACCOUNT on` allows them")
}

/// Refuses a purchase whose charge would fail. Charges fail if the account's are set to fail, or if the app's renewals
/// fail and one of the account's subscriptions is in grace or billing retry.
///
/// An Apple engineer states that a customer can buy no new subscription until the billing issue is resolved (Apple
/// Developer Forums, thread 826718). The app's setting concerns renewals only, so it fails no first purchase.
private func refuseFailingCharge(
    _ transaction: Transaction, record: AccountRecord, app: AppState, now: Instant
) throws(Refusal) {
    guard app.isTestApp, transaction.price?.milliunits ?? 0 > 0, chargesFail(record, app) else { return }
    let leeway = app.renewalLeewayMilliseconds
    let failing = record.lines.first { line in
        let state = line.state(at: now, leewayMilliseconds: leeway)
        return line.isOwn && (state == .inGracePeriod || state == .inBillingRetryPeriod)
    }
    guard failing != nil || record.chargesFail == true else { return }
    let cause = failing.map { "the charge for \($0.latest.productID) fails" } ?? "the account's charges fail"
    throw Refusal(
        .purchaseNotAllowed,
        "\(transaction.productID) cannot be charged, because \(cause); resolve the billing issue, or set charges to succeed"
    )
}

/// The product, or a refusal if it is not on sale.
func productForSale(_ id: String, app: AppState) throws(Refusal) -> CatalogueProduct {
    if let product = app.catalogue.productOnSale(id) { return product }
    throw Refusal(
        .purchaseProductUnavailable,
        app.catalogue.product(id) == nil
            ? "product \(id) is not in the catalogue of \(app.bundleID); `perch catalog show` lists what is"
            : "product \(id) is withdrawn from sale in \(app.bundleID); `perch store product \(id) --withdrawn off` sells it again"
    )
}

private func decideSubscription(
    _ order: PurchaseOrder, _ product: CatalogueProduct, record: AccountRecord, app: AppState, now: Instant,
    numbers: inout TransactionNumbers
) throws(Refusal) -> PurchaseOutcome {
    guard let subscription = product.subscription else {
        preconditionFailure("an auto-renewable product without a subscription passed the catalogue loader")
    }
    let rules = OfferRules(record: record, groupID: subscription.groupID, app: app, now: now)
    var held: BillingTerms?
    if order.billingPlan == .unspecified, !subscription.billingPlans.isEmpty,
        let plan = rules.heldBillingPlan(of: product)
    {
        // An order of the held product without a plan means the current plan, if the product still has it.
        held = billingTerms(of: product, subscription, plan: plan)
    }
    guard let billing = held ?? billingTerms(of: product, subscription, plan: order.billingPlan) else {
        throw Refusal(
            .fieldInvalid, "product \(product.id) has no billing plan \(order.billingPlan); buy it without one",
            field: "order.billing_plan")
    }
    try refuseSignature(order.introductoryEligibilitySignature, of: "the introductory eligibility")
    if let line = rules.line, now < line.latest.purchaseDate {
        throw Refusal(
            .purchaseNotAllowed,
            "the account has a period of group \(subscription.groupID) from \(line.latest.purchaseDate) on, so it cannot "
                + "have bought there at \(now); choose a later instant, or another account")
    }
    var chosen: ChosenOffer?
    if let ordered = order.offer {
        chosen = try chosenOffer(ordered, of: product, plan: billing.plan, rules: rules)
    }
    var outcome = try decideSubscription(
        order, product, subscription, billing, chosen, rules, record: record, app: app, now: now, numbers: &numbers)
    if let chosen, !outcome.facts.isEmpty {
        outcome.facts += chosen.redemption(of: product, for: outcome.transaction, at: now)
    }
    return outcome
}

/// The purchase of a subscription under known terms, with an offer that the account may have.
private func decideSubscription(
    _ order: PurchaseOrder, _ product: CatalogueProduct, _ subscription: CatalogueSubscription,
    _ billing: BillingTerms, _ chosen: ChosenOffer?, _ rules: OfferRules, record: AccountRecord, app: AppState,
    now: Instant, numbers: inout TransactionNumbers
) throws(Refusal) -> PurchaseOutcome {
    let period = NewPeriod(product: product, subscription: subscription, billing: billing, chosen: chosen, rules: rules)
    guard let line = rules.heldLine else {
        let outcome = period.begin(order, after: rules.line, record: record, app: app, now: now, numbers: &numbers)
        try refuseFailingCharge(outcome.transaction, record: record, app: app, now: now)
        return outcome
    }
    switch HeldPlan(line, app.catalogue).change(to: product) {
    case .none:
        // Buying a held product returns the held transaction and cancels a pending change of plan. Another billing plan
        // of it is such a change, and takes effect at the renewal. An offer applies from the next period, so there has to
        // be a next period.
        let switchesPlan =
            order.billingPlan != .unspecified && billing.plan.named != line.latest.billingPlan.named
        let plan = switchesPlan ? billing.plan : .unspecified
        var outcome = PurchaseOutcome(facts: [], transaction: line.latest, wasHeld: true)
        let isToCome = line.prefers(product.id, billed: plan)
        if !isToCome && line.willAutoRenew || switchesPlan || chosen != nil {
            outcome.facts = renewing(line, as: product.id, billed: plan, with: chosen?.offer, now: now)
        }
        return outcome
    case .atRenewal:
        return PurchaseOutcome(
            facts: renewing(line, as: product.id, billed: billing.plan, with: chosen?.offer, now: now),
            transaction: line.latest, wasHeld: true)
    case .now:
        var left = line.latest
        left.isUpgraded = true
        var outcome = period.begin(order, after: line, record: record, app: app, now: now, numbers: &numbers)
        try refuseFailingCharge(outcome.transaction, record: record, app: app, now: now)
        outcome.facts.insert(Fact(.upgradedFrom(left), effective: now), at: 0)
        return outcome
    }
}

/// Makes a line renew as a product, with the billing plan and offer of the order. Does nothing if the line already
/// renews so. `plan` is unspecified for the held product, which keeps its plan.
private func renewing(
    _ line: Line, as product: String, billed plan: BillingPlanType, with offer: SubscriptionOffer?, now: Instant
) -> [Fact] {
    var facts: [Fact] = []
    let isToCome = line.prefers(product, billed: plan)
    if !line.willAutoRenew || !isToCome {
        let on = Fact.Body.autoRenewSet(original: line.originalID, isOn: true, preference: product, billingPlan: plan)
        facts.append(Fact(on, effective: now))
    }
    if let offer, line.queuedOffer != offer || !isToCome {
        facts.append(Fact(.offerQueued(original: line.originalID, offer), effective: now))
    }
    return facts
}

/// When a change of plan takes effect.
package enum PlanChange: Hashable, Sendable {
    case none
    case now
    case atRenewal
}

/// The plan that an account holds in a group.
package struct HeldPlan {
    let productID: String
    /// The level of service and the period; nil if neither the catalogue nor the record has them.
    let terms: (level: Int32, period: Period?)?
    /// A commitment has further periods to charge.
    let isCommitted: Bool

    init(productID: String, isCommitted: Bool, _ catalogue: Catalogue, storedLevel: Int32 = 0) {
        self.productID = productID
        self.isCommitted = isCommitted
        if let held = catalogue.product(productID)?.subscription {
            self.terms = (held.level, held.period)
        } else {
            self.terms = storedLevel > 0 ? (storedLevel, nil) : nil
        }
    }

    /// Of a line, whose stored level counts if the catalogue no longer has the product.
    package init(_ line: Line, _ catalogue: Catalogue) {
        self.init(
            productID: line.latest.productID, isCommitted: line.isCommitted, catalogue, storedLevel: line.level)
    }

    /// An upgrade, or a crossgrade to the same period length, is immediate; every other change waits for the renewal.
    package func change(to product: CatalogueProduct) -> PlanChange {
        guard self.productID != product.id else { return .none }
        guard let target = product.subscription, let terms else {
            // The held plan is unknown, so there is no level to compare with. The customer keeps it until the renewal.
            return .atRenewal
        }
        if target.level < terms.level { return .now }
        // Within a commitment, a change to a lower or equal level waits for the end of the commitment; only an upgrade is
        // immediate.
        return target.level == terms.level && target.period == terms.period && !self.isCommitted ? .now : .atRenewal
    }

    func relation(to product: CatalogueProduct) -> PlanRelation {
        if self.productID == product.id { return .current }
        guard let target = product.subscription, let terms else { return .crossgrade }
        return target.level < terms.level ? .upgrade : target.level > terms.level ? .downgrade : .crossgrade
    }
}

/// A shorter lapse does not begin a new run of periods.
private let ignoredLapseMilliseconds: Int64 = 60 * 86_400_000

extension Line {
    /// Start of the run of periods that a period from `start` on belongs to: `start` itself if the lapse before it was
    /// too long. The store retries the charges of a commitment for 90 days, so a recovery can be that late.
    func recentStart(at start: Instant) -> Instant {
        start.milliseconds(since: self.serviceEnd) < ignoredLapseMilliseconds ? self.recentStart : start
    }
}

/// A new period that begins with a purchase: of a new line, or of a line that lapsed or changes its plan.
private struct NewPeriod {
    let product: CatalogueProduct
    let subscription: CatalogueSubscription
    let billing: BillingTerms
    let chosen: ChosenOffer?
    let rules: OfferRules

    func begin(
        _ order: PurchaseOrder, after line: Line?, record: AccountRecord, app: AppState, now: Instant,
        numbers: inout TransactionNumbers
    ) -> PurchaseOutcome {
        let (offer, queued) = self.offers(order)
        var transaction = newTransaction(
            of: self.product, order, record: record, app: app, at: now, id: numbers.take())
        if let line {
            transaction.originalID = line.originalID
            transaction.originalPurchaseDate = line.latest.originalPurchaseDate
        }
        var terms = fill(
            &transaction, period: self.billing.period, anchorDay: 0, offer: offer,
            offerPeriodsLeft: offer?.periodCount ?? 0, price: self.billing.price, preference: self.product.id,
            recentStart: line?.recentStart(at: now) ?? now, app: app)
        terms.queuedOffer = queued
        terms.level = self.subscription.level
        // A second increase of the same product within a year still needs consent.
        if let line, line.latest.productID == self.product.id { terms.lastIncrease = line.lastIncrease }
        transaction.billingPlan = self.billing.plan
        transaction.commitment = self.billing.commitment(of: transaction, anchorDay: terms.anchorDay, app: app)
        return PurchaseOutcome(
            facts: [Fact(.purchased(transaction, terms: Boxed(terms)), effective: now)], transaction: transaction,
            wasHeld: false)
    }

    /// The offer of this period, and the one queued after it. Offers do not combine: the requested offer replaces the
    /// introductory one, unless it is a code that may follow it.
    private func offers(_ order: PurchaseOrder) -> (now: SubscriptionOffer?, later: SubscriptionOffer?) {
        let isEligible =
            switch order.introductoryEligibility {
            case .allowed: true
            case .denied: false
            default: self.rules.introductory == .eligible
            }
        let introductory =
            isEligible ? self.subscription.introductoryOffers.first { belongs($0, to: self.billing.plan) } : nil
        guard let chosen else { return (introductory, nil) }
        return chosen.isStackable && introductory != nil ? (introductory, chosen.offer) : (chosen.offer, nil)
    }
}

/// True if no transaction of this account in the group ever carried an introductory offer.
package func isEligibleForIntroductoryOffer(_ record: AccountRecord?, groupID: String) -> Bool {
    record?.history(ofGroup: groupID)?.hadIntroductoryOffer != true
}

/// Fills in a subscription transaction's period, price and offer, and returns the terms of its line.
///
/// `offerPeriodsLeft` includes the period that begins now.
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
    let end = app.settings.timeRate.end(of: length, from: start, anchorDay: anchor)
    transaction.change {
        $0.expirationDate = end
        $0.price = priced(charge, in: $0.storefront, app: app)
        $0.webOrderLineItemID = String($0.id)
    }
    return LineTerms(
        preference: preference, anchorDay: length.isMonthly ? anchor : 0, offerInForce: offerInForce,
        offerPeriodsLeft: left, recentStart: recentStart)
}

/// The day of the month from which a period that begins at `start` is counted. It is the line's anchor day if that day
/// leads to `start` in this month, else the day of `start`. A forced renewal or another time rate moves a boundary off
/// the anchor day.
func anchor(of start: Instant, kept anchorDay: Int64) -> Int64 {
    let time = CivilTime(start)
    return time.day == min(anchorDay, CivilTime.days(inMonth: time.month, of: time.year)) ? anchorDay : time.day
}

/// The transaction of a purchase. `charge` is its price, if it needs no further terms.
///
/// Sets all fields at once: changing fields one by one would copy the storage each time.
func newTransaction(
    of product: CatalogueProduct, _ order: PurchaseOrder, charge: Money? = nil, record: AccountRecord, app: AppState,
    at now: Instant, id: TransactionID
) -> Transaction {
    let storefront = storefront(of: record, app: app)
    return Transaction(
        TransactionFields(
            id: id, originalID: id, purchaseDate: now,
            sale: .shared(
                SaleFields(
                    productID: product.id, productType: product.type, environment: app.environment, reason: .purchase,
                    appBundleID: app.bundleID, subscriptionGroupID: product.subscription?.groupID ?? "",
                    storefront: storefront, price: charge.map { priced($0, in: storefront, app: app) }),
                with: record),
            hasAccountUUID: order.accountToken.uuid != nil, quantity: order.quantity, originalPurchaseDate: now,
            signedDate: now, accountUUID: order.accountToken.uuid ?? TransactionFields.noUUID,
            appTransactionID: record.appTransactionID))
}
