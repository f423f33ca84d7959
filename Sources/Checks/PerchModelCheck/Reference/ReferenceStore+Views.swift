import PerchBase
import PerchModel

/// The expected status of a line: sections 4 and 5 of the model.
struct ReferenceStatus {
    var line: ReferenceLine
    var latest: ReferenceTransaction
    var state: RenewalState
    var willRenew = false
    /// The next product; nil if there is none.
    var preference: String?
    /// The billing plan of the next period, or of the held one.
    var billing: BillingPlanType
    var price: Money?
    var offer: SubscriptionOffer?
    var reason: ExpirationReason?
    var graceEnd: Instant?
    var increase = PriceIncreaseStatus.noIncreasePending
    var winBacks: [String] = []
    /// Position of the latest period in its commitment, and whether the customer continues.
    var commitment: Commitment?
}

extension ReferenceStore {
    /// Own lines first, in the order of their beginning.
    func statuses(_ account: Int, in group: String) -> [ReferenceStatus] {
        let lines = self.accounts[account].lines.filter { $0.group == group }
        return (lines.filter { !$0.isShared } + lines.filter(\.isShared)).compactMap { self.status(of: $0, account) }
    }

    private func status(of line: ReferenceLine, _ account: Int) -> ReferenceStatus? {
        let known = self.accounts[account]
        guard let latest = known.latest(of: line) else { return nil }
        var status = ReferenceStatus(
            line: line, latest: latest, state: known.state(of: line, at: self.now), billing: latest.billing)
        if let raise = line.raise { status.increase = raise.isAgreed ? .agreed : .pending }
        switch status.state {
        case .inGracePeriod, .inBillingRetryPeriod:
            status.reason = .billingError
            if status.state == .inGracePeriod { status.graceEnd = line.failure?.graceEnd }
        case .expired:
            let isInVain = line.failure != nil && line.ending != .autoRenewDisabled
            status.reason = isInVain ? .billingError : line.ending ?? .autoRenewDisabled
            status.winBacks = self.winBacks(of: line, account, at: self.now)
        default:
            break
        }
        let isGivenUp = status.state == .expired && line.failure != nil
        status.willRenew = (line.willRenew || latest.owesCharges) && line.ending == nil && !isGivenUp
        status.commitment = latest.commitment
        status.commitment?.willRenew = line.willRenew && !isGivenUp
        // The next charge is known while the last one fails.
        guard status.willRenew, status.state != .revoked else { return status }
        let next = known.nextPlan(of: line)
        status.preference = next
        let isSame = known.staysInPlan(line)
        if !isSame { status.billing = known.nextBilling(of: line) }
        // An offer for another plan waits for that, also behind a commitment.
        status.offer = isSame && latest.hasOfferLeft ? latest.offer : known.redeemed(for: line)
        status.price = self.nextPrice(of: line, latest, next, isSame: isSame, billed: status.billing, status.offer)
        return status
    }

    private func nextPrice(
        of line: ReferenceLine, _ latest: ReferenceTransaction, _ next: String, isSame: Bool, billed: BillingPlanType,
        _ offer: SubscriptionOffer?
    ) -> Money? {
        guard let product = self.shop.products[next] else { return nil }
        // A change of storefront shows at the next charge, and not before (row 39 of section 17).
        var price = Money(milliunits: product.price.milliunits, currency: latest.price.currency)
        if isSame {
            let agreed = line.raise.flatMap { $0.isAgreed ? $0.price : nil } ?? line.agreedPrice
            price.milliunits = (agreed ?? self.usualPrice(of: latest) ?? price).milliunits
        } else if billed == .monthly,
            let monthly = product.subscription?.billingPlans.first(where: { $0.type == .monthly })
        {
            price.milliunits = monthly.price.milliunits
        }
        if let offer { price.milliunits = offer.paymentMode == .freeTrial ? 0 : offer.price.milliunits }
        return price
    }

    /// The effective status: the highest level, then own before shared, then the later end.
    func effective(_ statuses: [ReferenceStatus]) -> Int? {
        let level = { (place: Int) in self.shop.plan(statuses[place].latest.product)?.level ?? .max }
        // What is not verified gives nothing.
        if self.shop.settings.simulatedErrors[.verification] != nil { return nil }
        return statuses.indices.filter { statuses[$0].state.isEntitled }.min { left, right in
            if level(left) != level(right) { return level(left) < level(right) }
            if statuses[left].line.isShared != statuses[right].line.isShared { return !statuses[left].line.isShared }
            return statuses[left].latest.end ?? .distantFuture > statuses[right].latest.end ?? .distantFuture
        }
    }

    /// The transaction that entitles an account to a product (section 6): own before shared, then the later end, then
    /// the latest to arrive.
    func entitlement(_ account: Int, to product: String) -> ReferenceTransaction? {
        guard self.shop.plan(product) != nil else {
            return self.owned(product, account, isShared: false) ?? self.owned(product, account, isShared: true)
        }
        let known = self.accounts[account]
        let entitling = known.lines.compactMap { line -> ReferenceTransaction? in
            guard let latest = known.latest(of: line), latest.product == product else { return nil }
            return known.state(of: line, at: self.now).isEntitled ? latest : nil
        }
        return entitling.first { !$0.isShared }
            ?? entitling.max { left, right in
                left.end == right.end
                    ? self.isNumbered(left, before: right) : left.end ?? .distantFuture < right.end ?? .distantFuture
            }
    }
}
