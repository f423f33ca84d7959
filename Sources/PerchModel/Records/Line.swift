package import PerchBase

/// The retry periods after a failed charge.
package struct BillingRetry: Hashable, Sendable {
    package var failedAt: Instant
    /// The store stops trying here.
    package var until: Instant
    /// The customer stays entitled until here; nil without a grace period.
    package var graceUntil: Instant?

    package init(failedAt: Instant, until: Instant, graceUntil: Instant?) {
        self.failedAt = failedAt
        self.until = until
        self.graceUntil = graceUntil
    }
}

/// A higher price that the customer of a line was notified of.
package struct PriceIncrease: Hashable, Sendable {
    package var price: Money
    /// When it was asked for or announced.
    package var asked: Instant
    /// Pending or agreed.
    package var status: PriceIncreaseStatus

    package init(price: Money, asked: Instant, status: PriceIncreaseStatus) {
        self.price = price
        self.asked = asked
        self.status = status
    }
}

/// One subscription line of an account in a group: its own, or one that a family member shares with it.
///
/// Stores known data only. `state(at:leewayMilliseconds:)` computes its meaning at an instant.
package struct Line: Hashable, Sendable {
    /// The line's latest transaction; never one that an upgrade left behind.
    package var latest: Transaction
    package var willAutoRenew = true
    /// The product of the next period.
    package var preference: String
    /// The billing plan of the order for the next period. Unspecified: up front for another product than the current one;
    /// the current plan for the current product.
    package var preferredBillingPlan: BillingPlanType = .unspecified
    /// The day of the month from which monthly periods are counted; 0 if the last period was not in months.
    package var anchorDay: Int64 = 0
    /// A pay-as-you-go offer in force, and its number of further periods.
    package var offerInForce: SubscriptionOffer?
    package var offerPeriodsLeft: Int32 = 0
    package var retry: BillingRetry?
    /// Why the line ended, if the cause was not the customer's switch alone; also set if the customer switched off
    /// while a charge failed.
    package var lapse: ExpirationReason?
    /// The increase that the next period brings, if the customer agrees.
    package var increase: PriceIncrease?
    /// When the price of this line was last raised: a second time within a year needs consent.
    package var lastIncrease: Instant?
    /// The price of a period that this customer agreed to; nil: the catalogue's.
    package var agreedPrice: Money?
    /// A promotional offer or code that was redeemed during a period: it applies from the next one.
    package var queuedOffer: SubscriptionOffer?
    /// The product's level of service at its purchase or last renewal; 0 if unknown.
    package var level: Int32 = 0
    /// Start of the current run of periods.
    package var recentStart: Instant

    package init(latest: Transaction, preference: String, recentStart: Instant) {
        self.latest = latest
        self.preference = preference
        self.recentStart = recentStart
    }

    package var groupID: String { self.latest.subscriptionGroupID }
    package var originalID: TransactionID { self.latest.originalID }
    package var isOwn: Bool { self.latest.ownership != .familyShared }

    /// End of the latest period.
    package var boundary: Instant { self.latest.expirationDate ?? .distantFuture }

    /// Whether a commitment has further periods to charge: they renew whatever the customer's switch says.
    package var isCommitted: Bool {
        guard let commitment = self.latest.commitment else { return false }
        return commitment.billingPeriodNumber < commitment.totalBillingPeriods
    }

    /// The product of the next period: within a commitment the same, else the customer's preference.
    package var nextProductID: String { self.isCommitted ? self.latest.productID : self.preference }

    /// The billing plan of the next period: the current plan, or the plan ordered with the next product.
    package var nextBillingPlan: BillingPlanType {
        self.isCommitted ? self.latest.billingPlan : self.billingPlan(of: self.preference, self.preferredBillingPlan)
    }

    /// The billing plan that an order of a product means: none named is the current plan of the current product.
    func billingPlan(of product: String, _ ordered: BillingPlanType) -> BillingPlanType {
        ordered == .unspecified && product == self.latest.productID ? self.latest.billingPlan : ordered
    }

    /// Whether the next period is one of the current product under the current billing plan: its offer and the prices that
    /// the customer agreed to go on.
    package var keepsPlan: Bool {
        self.nextProductID == self.latest.productID && self.nextBillingPlan.named == self.latest.billingPlan.named
    }

    /// The product of the next charge, if one is due: the line renews, and its period runs or the store still retries
    /// the last charge. Statuses and plan options both report it.
    package func renewalProductID(at now: Instant, leewayMilliseconds: Int64?) -> String? {
        guard self.willAutoRenew || self.isCommitted, self.lapse == nil else { return nil }
        let state = self.state(at: now, leewayMilliseconds: leewayMilliseconds)
        return state == .expired || state == .revoked ? nil : self.nextProductID
    }

    /// Whether an attempt to renew is due at the boundary and not recorded yet.
    package var awaitsAttempt: Bool {
        (self.willAutoRenew || self.isCommitted) && self.retry == nil && self.lapse == nil
            && self.latest.revocation == nil
    }

    /// When the store has to attempt a renewal; nil if it has none to attempt. A shared line renews with its
    /// purchaser's.
    package var attemptDue: Instant? {
        self.awaitsAttempt && self.isOwn && self.boundary < .distantFuture ? self.boundary : nil
    }

    /// The offer in force, if it also covers the next period. A change of plan ends it.
    var offerGoingOn: SubscriptionOffer? {
        self.offerPeriodsLeft > 0 && self.keepsPlan ? self.offerInForce : nil
    }

    /// The offer of the next period, and its number of periods from then on. The offer in force comes first, then the
    /// offer redeemed for the next product, once that begins. A commitment may come before it.
    var nextOffer: (offer: SubscriptionOffer, periods: Int32)? {
        if let offer = self.offerGoingOn { return (offer, self.offerPeriodsLeft) }
        // Behind a commitment, an offer waits with the order that it belongs to.
        guard !self.isCommitted || self.prefers(self.latest.productID, billed: self.latest.billingPlan) else {
            return nil
        }
        return self.queuedOffer.map { (offer: $0, periods: max($0.periodCount, 1)) }
    }

    /// Why the line will end at its boundary although renewal is on: known in advance, and equal to the result of the
    /// attempt.
    ///
    /// A billing plan that left the catalogue counts like a product that left it: the store never charges in another
    /// way than the customer ordered.
    package func foreseenLapse(in catalogue: Catalogue) -> ExpirationReason? {
        guard let product = catalogue.productOnSale(self.nextProductID), let subscription = product.subscription,
            nextBilling(of: self, product, subscription) != nil
        else { return .productUnavailable }
        // An increase of this product does not concern the price of another product or plan.
        if self.increase?.status == .pending, self.keepsPlan {
            return .didNotConsentToPriceIncrease
        }
        return nil
    }

    /// Ends the rest of grace and retry, because the customer or a tester ended the line at `instant`.
    ///
    /// The failed charge stays recorded: the grace period so far is service, from which runs of periods and win-back
    /// offers count. The store did not give up, so `lapse` records why the line ended.
    mutating func endRetry(at instant: Instant) {
        guard var retry = self.retry else { return }
        // A purchase in the past may switch renewal off before the charge that failed later.
        let end = max(instant, retry.failedAt)
        retry.until = min(retry.until, end)
        retry.graceUntil = retry.graceUntil.map { min($0, end) }
        self.retry = retry
        self.lapse = .autoRenewDisabled
    }

    /// Why the line ended, once it has.
    var endReason: ExpirationReason {
        if self.retry != nil, self.lapse != .autoRenewDisabled { return .billingError }
        return self.lapse ?? (self.willAutoRenew ? .unknown : .autoRenewDisabled)
    }

    /// The end of the last entitlement by this line, if nothing happened since.
    var serviceEnd: Instant {
        let served = max(self.boundary, self.retry?.graceUntil ?? self.boundary)
        return min(served, self.latest.revocation?.date ?? served)
    }

    /// The line's state at `now`, by the first rule that applies. Boundaries are half-open.
    ///
    /// A renewing line whose attempt is not recorded yet stays subscribed at its boundary for `leewayMilliseconds`
    /// (nil: without limit). So readers see no gap between a period's end and the notification of the next one.
    package func state(at now: Instant, leewayMilliseconds: Int64?) -> RenewalState {
        if let revocation = self.latest.revocation, revocation.date <= now { return .revoked }
        if now < self.boundary { return .subscribed }
        if self.awaitsAttempt {
            guard let leeway = leewayMilliseconds else { return .subscribed }
            if now < self.boundary.advanced(byMilliseconds: leeway) { return .subscribed }
        }
        if let retry = self.retry {
            if let grace = retry.graceUntil, now < grace { return .inGracePeriod }
            if now < retry.until { return .inBillingRetryPeriod }
        }
        return .expired
    }

    /// The next instant after `now` at which `state` changes if nothing happens, and the state then.
    package func nextCrossing(after now: Instant, leewayMilliseconds: Int64?) -> Forecast? {
        var next: (at: Instant, kind: ForecastKind)?
        func consider(_ instant: Instant?, _ kind: ForecastKind) {
            guard let instant, instant > now, instant < .distantFuture else { return }
            if next.map({ instant < $0.at }) ?? true { next = (instant, kind) }
        }
        if self.awaitsAttempt {
            consider(leewayMilliseconds.map { self.boundary.advanced(byMilliseconds: $0) }, .expiry)
        } else {
            consider(self.boundary, .expiry)
        }
        consider(self.retry?.graceUntil, .graceEnd)
        consider(self.retry?.until, .retryEnd)
        consider(self.latest.revocation?.date, .expiry)
        guard let next else { return nil }
        let before = self.state(at: now, leewayMilliseconds: leewayMilliseconds)
        let state = self.state(at: next.at, leewayMilliseconds: leewayMilliseconds)
        if state == before { return self.nextCrossing(after: next.at, leewayMilliseconds: leewayMilliseconds) }
        return Forecast(at: next.at, kind: next.kind, originalTransactionID: self.originalID, state: state)
    }

    /// Whether `state` changes at an instant.
    func crosses(at instant: Instant, leewayMilliseconds leeway: Int64?) -> Bool {
        let before = instant.advanced(byMilliseconds: -1)
        return self.state(at: before, leewayMilliseconds: leeway) != self.state(at: instant, leewayMilliseconds: leeway)
    }

    /// The forecast for readers: the renewal attempt with its expected result (`foreseenAttempt`), else the next
    /// crossing.
    package func forecast(
        after now: Instant, leewayMilliseconds: Int64?, attempt: @autoclosure () -> RenewalState = .subscribed
    ) -> Forecast? {
        if self.awaitsAttempt, self.boundary > now, self.boundary < .distantFuture {
            let state = attempt()
            return Forecast(
                at: self.boundary, kind: state == .expired ? .expiry : .renewal, originalTransactionID: self.originalID,
                state: state)
        }
        return self.nextCrossing(after: now, leewayMilliseconds: leewayMilliseconds)
    }
}
