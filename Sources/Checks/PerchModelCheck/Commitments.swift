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
    /// Whether an ordered plan waits for the end of a commitment.
    var hasPlanBehindCommitment: Bool {
        self.owesCharges
            && (self.preference != self.latest.productID
                || (self.orderedBilled == .monthly) != (self.latest.billingPlan == .monthly))
    }
    /// The offer of the next period. An offer for another plan waits until after the commitment.
    var nextDiscount: SubscriptionOffer? {
        if self.staysInPlan, self.offerPeriodsLeft > 0 { return self.offerInForce }
        return self.hasPlanBehindCommitment ? nil : self.queuedOffer
    }
    var goesOn: Bool { (self.willAutoRenew || self.owesCharges) && self.lapse == nil }
}

extension CatalogueProduct {
    /// Price without an offer and length of one period with this billing plan.
    func terms(billed plan: BillingPlanType) -> (price: Money, length: Period)? {
        guard let subscription else { return nil }
        guard plan == .monthly, let monthly = subscription.billingPlans.first(where: { $0.type == .monthly }) else {
            return (self.price, subscription.period)
        }
        return (monthly.price, Period(1, .month))
    }
}

extension ModelLaws {
    /// Checks the position of a charge in its commitment. Nil if it is right.
    static func fault(inCharge row: Transaction, after old: Transaction?) -> String? {
        guard row.billingPlan == .monthly else {
            return row.commitment == nil ? nil : "billed \(row.billingPlan), and committed"
        }
        guard let commitment = row.commitment, commitment.totalBillingPeriods == 12 else {
            return "billed monthly, and not committed to twelve charges"
        }
        if let held = old?.commitment, held.billingPeriodNumber < 12 {
            let isNext = commitment.billingPeriodNumber == held.billingPeriodNumber + 1
            // It ends with the period of its last charge, and not before.
            let end = row.expirationDate ?? commitment.expirationDate
            let isLast = commitment.billingPeriodNumber == 12
            let endsWithIt = isLast ? commitment.expirationDate == end : commitment.expirationDate > end
            return isNext && endsWithIt ? nil : "\(commitment) follows \(held), in a period until \(end)"
        }
        return commitment.billingPeriodNumber == 1 ? nil : "a commitment begins with \(commitment)"
    }
}
