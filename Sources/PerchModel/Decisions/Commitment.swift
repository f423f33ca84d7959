import PerchBase

// A yearly subscription that is paid monthly: a commitment of twelve charges.
//
// Each charge is a transaction with a period of one month. A customer who switches renewal off within the commitment
// pays until it ends. The line renews until then; only the commitment's own flag is off.

/// The plan of a commitment, if the product has one.
func monthlyPlan(of subscription: CatalogueSubscription) -> BillingPlan? {
    subscription.billingPlans.first { $0.type == .monthly && $0.chargeCount > 1 }
}

/// One period of a commitment: one month of a year.
func commitmentPeriod(of subscription: CatalogueSubscription) -> Period {
    let count = Int32(clamping: monthlyPlan(of: subscription)?.chargeCount ?? 12)
    let months = subscription.period.unit == .year ? subscription.period.value * 12 : subscription.period.value
    return Period(max(1, months / max(1, count)), .month)
}

/// The commitment state of a line's next period: the next number in the same commitment, or the first of a new one. Nil
/// if the line is not paid monthly.
///
/// `next` is that period, with its end.
func nextCommitment(
    of line: Line, _ next: Transaction, anchorDay: Int64, _ billing: BillingTerms, app: AppState
) -> Commitment? {
    guard var commitment = line.latest.commitment, line.isCommitted else {
        // The new commitment counts its months from a new anchor day, as its periods do.
        return billing.commitment(of: next, anchorDay: anchorDay, app: app)
    }
    commitment.billingPeriodNumber += 1
    // A recovered charge, a forced renewal and a moved boundary begin a new cycle, so the end is computed from the
    // current period. Without them, the computed end is the original one.
    let left = commitment.totalBillingPeriods - commitment.billingPeriodNumber
    commitment.expirationDate = billing.end(ofPeriods: left, after: next, anchorDay: anchorDay, app: app)
    return commitment
}
