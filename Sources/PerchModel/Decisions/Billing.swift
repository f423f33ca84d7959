import PerchBase

/// What a period of a subscription lasts and costs under one of its billing plans.
struct BillingTerms: Hashable, Sendable {
    /// Unspecified where the product has no plans to choose from.
    var plan: BillingPlanType
    /// From one charge to the next.
    var period: Period
    /// One charge.
    var price: Money
    /// Charges in a commitment; 1 without one.
    var chargeCount: UInt32
    var commitmentPrice: Money

    /// Where the first charge of a commitment stands; nil without one.
    ///
    /// The first period is the first of the commitment, with an offer or without: Apple does not say how a trial counts.
    ///
    /// `anchorDay`: of its periods; 0 where the first is not of months.
    func commitment(of first: Transaction, anchorDay: Int64, app: AppState) -> Commitment? {
        guard self.chargeCount > 1 else { return nil }
        let end = self.end(ofPeriods: self.chargeCount - 1, after: first, anchorDay: anchorDay, app: app)
        return Commitment(
            billingPeriodNumber: 1, totalBillingPeriods: self.chargeCount, expirationDate: end,
            price: priced(self.commitmentPrice, in: first.storefront, app: app), willRenew: true)
    }

    /// When a commitment ends that has `count` periods more after one: with the last of them. Counted one by one, because
    /// at some time rates a year is as long as a month.
    ///
    /// `anchorDay`: of its periods; 0 where this one is not of months.
    func end(ofPeriods count: UInt32, after period: Transaction, anchorDay: Int64, app: AppState) -> Instant {
        var end = period.expirationDate ?? .distantFuture
        let anchorDay = anchorDay == 0 ? CivilTime(end).day : anchorDay
        for _ in 0..<count { end = app.settings.timeRate.end(of: self.period, from: end, anchorDay: anchorDay) }
        return end
    }
}

/// The terms of a plan of a product; nil where it has no such plan. Unspecified: up front, or the only one there is.
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

/// The terms of a line's next period, which is one of `product`: those of the billing plan that is held, or that was
/// ordered with what comes next. Nil where the product has no such plan any more.
func nextBilling(
    of line: Line, _ product: CatalogueProduct, _ subscription: CatalogueSubscription
) -> BillingTerms? {
    billingTerms(of: product, subscription, plan: line.nextBillingPlan.named)
}

extension BillingPlanType {
    /// Where nothing else is named it is up front.
    fileprivate var named: BillingPlanType { self == .unspecified ? .upFront : self }
}

extension Line {
    /// Whether a product under a billing plan is what comes next already, once no commitment is in its way.
    func prefers(_ product: String, billed plan: BillingPlanType) -> Bool {
        self.preference == product && self.preferredBillingPlan.named == plan.named
    }
}

/// Whether an offer is one of a plan. What names none is for those who pay up front.
func belongs(_ offer: SubscriptionOffer, to plan: BillingPlanType) -> Bool {
    (offer.billingPlan == .monthly) == (plan == .monthly)
}

extension Period {
    /// The part of this period from one of `count` charges to the next; itself where months cannot be divided so.
    fileprivate func divided(by count: UInt32) -> Period {
        let months = self.unit == .year ? Int64(self.value) * 12 : self.unit == .month ? Int64(self.value) : 0
        guard count > 1, months > 0, months % Int64(count) == 0 else { return self }
        return Period(Int32(months / Int64(count)), .month)
    }
}

/// The storefront that an account buys in: its own, or the app's.
package func storefront(of record: AccountRecord?, app: AppState) -> Storefront {
    let own = record?.storefront ?? ""
    return own.isEmpty ? app.storefront : Storefronts.storefront(own)
}

/// A price in the currency of a storefront. The catalogue has one price for all: the number stays.
func priced(_ money: Money, in storefront: Storefront, app: AppState) -> Money {
    Money(milliunits: money.milliunits, currency: app.currency(of: storefront))
}
