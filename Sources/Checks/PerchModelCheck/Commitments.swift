import PerchModel

// Commitments: a year paid by the month. It has twelve charges, whatever the customer's switch says.
extension Line {
    /// Whether further charges of a commitment follow.
    var owesCharges: Bool {
        self.latest.commitment.map { $0.billingPeriodNumber < $0.totalBillingPeriods } ?? false
    }

    /// The product of the next period. Within a commitment it stays the same.
    var nextPlan: String { self.owesCharges ? self.latest.productID : self.preference }
    /// The ordered billing plan: without one, that of the held product, or up front for another.
    private var orderedBilled: BillingPlanType {
        let isHeld = self.preference == self.latest.productID
        return isHeld && self.preferredBillingPlan == .unspecified ? self.latest.billingPlan : self.preferredBillingPlan
    }
    /// The billing plan of the next period. Within a commitment it stays the same.
    var nextBilled: BillingPlanType { self.owesCharges ? self.latest.billingPlan : self.orderedBilled }
    /// Whether the next period is one of the held product, billed in the same way.
    var staysInPlan: Bool {
        self.nextPlan == self.latest.productID && (self.nextBilled == .monthly) == (self.latest.billingPlan == .monthly)
    }
    var goesOn: Bool { (self.willAutoRenew || self.owesCharges) && self.lapse == nil }
}
