import PerchModel

// A year that is paid by the month: twelve charges, whatever the customer's switch says meanwhile.
extension Line {
    /// Further charges of a commitment are to come.
    var owesCharges: Bool {
        self.latest.commitment.map { $0.billingPeriodNumber < $0.totalBillingPeriods } ?? false
    }

    /// The product of the next period: within a commitment the same.
    var nextPlan: String { self.owesCharges ? self.latest.productID : self.preference }
    /// How the next period is billed: as the last one, or as it was ordered.
    var nextBilled: BillingPlanType {
        self.nextPlan == self.latest.productID ? self.latest.billingPlan : self.preferredBillingPlan
    }
    /// The offer of the next period. One that was redeemed for another plan waits for that, also behind a commitment.
    var nextDiscount: SubscriptionOffer? {
        if self.nextPlan == self.latest.productID, self.offerPeriodsLeft > 0 { return self.offerInForce }
        return self.nextPlan == self.preference ? self.queuedOffer : nil
    }
    var goesOn: Bool { (self.willAutoRenew || self.owesCharges) && self.lapse == nil }
}

extension CatalogueProduct {
    /// What one period costs without an offer, and how long it is, of what is billed that way.
    func terms(billed plan: BillingPlanType) -> (price: Money, length: Period)? {
        guard let subscription else { return nil }
        guard plan == .monthly, let monthly = subscription.billingPlans.first(where: { $0.type == .monthly }) else {
            return (self.price, subscription.period)
        }
        return (monthly.price, Period(1, .month))
    }
}

extension ModelLaws {
    /// Where in a commitment a charge stands that follows another, or begins one. Nil: as it should.
    static func fault(inCharge row: Transaction, after old: Transaction?) -> String? {
        guard row.billingPlan == .monthly else {
            return row.commitment == nil ? nil : "billed \(row.billingPlan), and committed"
        }
        guard let commitment = row.commitment, commitment.totalBillingPeriods == 12 else {
            return "billed monthly, and not committed to twelve charges"
        }
        if let held = old?.commitment, held.billingPeriodNumber < 12 {
            let isNext = commitment.billingPeriodNumber == held.billingPeriodNumber + 1
            // It ends with its last charge's period, and not before.
            let end = row.expirationDate ?? commitment.expirationDate
            let isLast = commitment.billingPeriodNumber == 12
            let endsWithIt = isLast ? commitment.expirationDate == end : commitment.expirationDate > end
            return isNext && endsWithIt ? nil : "\(commitment) follows \(held), in a period until \(end)"
        }
        return commitment.billingPeriodNumber == 1 ? nil : "a commitment begins with \(commitment)"
    }
}
