import PerchBase

/// Length and price of a subscription period under one billing plan.
struct BillingTerms: Hashable, Sendable {
    /// Unspecified if the product has only one plan.
    var plan: BillingPlanType
    /// From one charge to the next.
    var period: Period
    /// One charge.
    var price: Money
    /// Number of charges in a commitment; 1 without a commitment.
    var chargeCount: UInt32
    var commitmentPrice: Money

    /// The commitment's state at its first charge; nil without a commitment.
    ///
    /// The first period is number 1 of the commitment, with or without an offer: Apple does not document how a trial
    /// counts.
    ///
    /// `anchorDay` is the day of the month of its periods; 0 if the first period is not in months.
    func commitment(of first: Transaction, anchorDay: Int64, app: AppState) -> Commitment? {
        guard self.chargeCount > 1 else { return nil }
        let end = self.end(ofPeriods: self.chargeCount - 1, after: first, anchorDay: anchorDay, app: app)
        return Commitment(
            billingPeriodNumber: 1, totalBillingPeriods: self.chargeCount, expirationDate: end,
            price: priced(self.commitmentPrice, in: first.storefront, app: app), willRenew: true)
    }

    /// The end of a commitment with `count` more periods after `period`. Counted period by period, because at some time
    /// rates a year is as long as a month.
    ///
    /// `anchorDay` is the day of the month of its periods; 0 if this period is not in months.
    func end(ofPeriods count: UInt32, after period: Transaction, anchorDay: Int64, app: AppState) -> Instant {
        var end = period.expirationDate ?? .distantFuture
        let anchorDay = anchorDay == 0 ? CivilTime(end).day : anchorDay
        for _ in 0..<count { end = app.settings.timeRate.end(of: self.period, from: end, anchorDay: anchorDay) }
        return end
    }
}

/// The terms of a product's plan; nil if the product lacks that plan. Unspecified means up front, or the only plan.
func billingTerms(
    of product: CatalogueProduct, _ subscription: CatalogueSubscription, plan: BillingPlanType
) -> BillingTerms? {
    if subscription.billingPlans.isEmpty {
        guard plan == .unspecified || plan == .upFront else { return nil }
        return BillingTerms(
            plan: .unspecified, period: subscription.period, price: product.price, chargeCount: 1,
            commitmentPrice: product.price)
    }
    let wanted = plan == .unspecified ? .upFront : plan
    guard
        let found = subscription.billingPlans.first(where: { $0.type == wanted })
            ?? (plan == .unspecified ? subscription.billingPlans.first : nil)
    else { return nil }
    return BillingTerms(
        plan: found.type, period: subscription.period.divided(by: found.chargeCount), price: found.price,
        chargeCount: max(found.chargeCount, 1), commitmentPrice: found.commitmentPrice)
}

/// The terms of a line's next period, which is one of `product`: under the current billing plan, or the plan ordered
/// with a pending change. Nil if the product no longer has the plan.
func nextBilling(
    of line: Line, _ product: CatalogueProduct, _ subscription: CatalogueSubscription
) -> BillingTerms? {
    billingTerms(of: product, subscription, plan: line.nextBillingPlan.named)
}

extension BillingPlanType {
    /// The plan, or up front if none is named.
    var named: BillingPlanType { self == .unspecified ? .upFront : self }
}

extension Line {
    /// Whether a product under a billing plan is already what the line renews to, commitments aside.
    func prefers(_ product: String, billed plan: BillingPlanType) -> Bool {
        self.preference == product
            && self.billingPlan(of: product, self.preferredBillingPlan).named
                == self.billingPlan(of: product, plan).named
    }
}

/// Whether an offer belongs to a plan. An offer that names no plan belongs to the up-front plan.
func belongs(_ offer: SubscriptionOffer, to plan: BillingPlanType) -> Bool {
    (offer.billingPlan == .monthly) == (plan == .monthly)
}

extension Period {
    /// One of `count` equal parts of this period; the period itself if its months cannot be divided.
    fileprivate func divided(by count: UInt32) -> Period {
        let months = self.unit == .year ? Int64(self.value) * 12 : self.unit == .month ? Int64(self.value) : 0
        guard count > 1, months > 0, months % Int64(count) == 0 else { return self }
        return Period(Int32(months / Int64(count)), .month)
    }
}

/// The storefront in which an account buys: its own, or the app's.
package func storefront(of record: AccountRecord?, app: AppState) -> Storefront {
    let own = record?.storefront ?? ""
    return own.isEmpty ? app.storefront : Storefronts.storefront(own)
}

/// A price in the currency of a storefront. The catalogue has one number for all storefronts, so the number stays.
func priced(_ money: Money, in storefront: Storefront, app: AppState) -> Money {
    Money(milliunits: money.milliunits, currency: app.currency(of: storefront))
}
