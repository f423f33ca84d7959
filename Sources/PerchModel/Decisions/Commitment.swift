import PerchBase

// A yearly subscription that is paid by the month: a commitment of twelve charges.
//
// Each charge is a transaction with a month of its own. A customer who switches renewal off within the commitment goes
// on paying until it ends: his line renews until then, and only the commitment itself says that it will not.

/// The plan of a commitment, where the product has one.
func monthlyPlan(of subscription: CatalogueSubscription) -> BillingPlan? {
    subscription.billingPlans.first { $0.type == .monthly && $0.chargeCount > 1 }
}

/// One period of a commitment: a month, for a year has twelve.
func commitmentPeriod(of subscription: CatalogueSubscription) -> Period {
    let count = Int32(clamping: monthlyPlan(of: subscription)?.chargeCount ?? 12)
    let months = subscription.period.unit == .year ? subscription.period.value * 12 : subscription.period.value
    return Period(max(1, months / max(1, count)), .month)
}

/// Where in a commitment the next period of a line stands: further in the same one, or the first of the next one. Nil:
/// the line is not paid by the month, or not any longer.
func nextCommitment(
    of line: Line, _ product: CatalogueProduct, _ subscription: CatalogueSubscription, app: AppState,
    storefront: Storefront, from start: Instant
) -> Commitment? {
    guard var commitment = line.latest.commitment, product.id == line.latest.productID else { return nil }
    if line.isCommitted {
        commitment.billingPeriodNumber += 1
        return commitment
    }
    guard let terms = billingTerms(of: product, subscription, plan: .monthly) else { return nil }
    // The months of the commitment are counted as those of its periods are: anew, where a boundary was moved.
    let anchorDay = anchor(of: start, kept: line.anchorDay)
    let end = app.settings.timeRate.end(of: terms.period, from: start, anchorDay: anchorDay)
    return terms.commitment(
        firstPeriodEnd: end, anchorDay: anchorDay, app: app, storefront: storefront)
}
