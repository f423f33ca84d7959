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

/// Where in a commitment the next period of a line stands: further in the same one, or the first of another one. Nil: it
/// is not paid by the month.
///
/// `next`: that period, with its end.
func nextCommitment(
    of line: Line, _ next: Transaction, anchorDay: Int64, _ billing: BillingTerms, app: AppState
) -> Commitment? {
    guard var commitment = line.latest.commitment, line.isCommitted else {
        // Its months are counted as those of its periods are: anew, where a boundary was moved.
        return billing.commitment(of: next, anchorDay: anchorDay, app: app)
    }
    commitment.billingPeriodNumber += 1
    // A charge that recovered, a renewal that was forced and a boundary that was moved begin a new cycle, and the last
    // period is one of that. Where nothing did, it ends where it was to end.
    let left = commitment.totalBillingPeriods - commitment.billingPeriodNumber
    commitment.expirationDate = billing.end(ofPeriods: left, after: next, anchorDay: anchorDay, app: app)
    return commitment
}
