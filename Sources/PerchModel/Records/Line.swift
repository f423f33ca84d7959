package import PerchBase

/// What became of a charge that failed.
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

/// A higher price that a line's customer was told of.
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
/// It holds what is known. What that means at an instant is computed: see `state(at:leewayMilliseconds:)`.
package struct Line: Hashable, Sendable {
    /// The line's latest transaction; never one that an upgrade left behind.
    package var latest: Transaction
    package var willAutoRenew = true
    /// The product of the next period.
    package var preference: String
    /// The billing plan that it was ordered with, where it is another product than the one that is held. Unspecified:
    /// up front, or nothing waits.
    package var preferredBillingPlan: BillingPlanType = .unspecified
    /// The day of the month that periods of months are counted from; 0 where the last period was not of months.
    package var anchorDay: Int64 = 0
    /// A pay-as-you-go offer in force, and how many further periods it has.
    package var offerInForce: SubscriptionOffer?
    package var offerPeriodsLeft: Int32 = 0
    package var retry: BillingRetry?
    /// Why the line ended, where something other than the customer's own switch ended it, or that while a charge failed.
    package var lapse: ExpirationReason?
    /// The increase that the next period brings, if the customer agrees.
    package var increase: PriceIncrease?
    /// When the price of this line was last raised: a second time within a year needs consent.
    package var lastIncrease: Instant?
    /// The price of a period that this customer agreed to; nil: the catalogue's.
    package var agreedPrice: Money?
    /// A promotional offer or a code that was redeemed during a period: it applies from the next one.
    package var queuedOffer: SubscriptionOffer?
    /// The product's level of service when it was bought or renewed; 0 where it was not known.
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

    /// Whether a commitment has further periods to charge for: they renew, whatever the customer's own switch says.
    package var isCommitted: Bool {
        guard let commitment = self.latest.commitment else { return false }
        return commitment.billingPeriodNumber < commitment.totalBillingPeriods
    }

    /// The product of the next period: within a commitment the same, else what the customer prefers.
    package var nextProductID: String { self.isCommitted ? self.latest.productID : self.preference }

    /// The billing plan of the next period: that of what is held, or the one that was ordered with what comes then.
    package var nextBillingPlan: BillingPlanType {
        self.nextProductID == self.latest.productID ? self.latest.billingPlan : self.preferredBillingPlan
    }

    /// The product of the next charge, where one is to come: the line renews, and its period runs or the store still
    /// retries the last charge. Statuses and plan options report the same one.
    package func renewalProductID(at now: Instant, leewayMilliseconds: Int64?) -> String? {
        guard self.willAutoRenew || self.isCommitted, self.lapse == nil else { return nil }
        let state = self.state(at: now, leewayMilliseconds: leewayMilliseconds)
        return state == .expired || state == .revoked ? nil : self.nextProductID
    }

    /// Whether an attempt to renew belongs to the boundary and is not recorded yet.
    package var awaitsAttempt: Bool {
        (self.willAutoRenew || self.isCommitted) && self.retry == nil && self.lapse == nil
            && self.latest.revocation == nil
    }

    /// When the store has to attempt a renewal; nil when there is nothing to attempt. A shared line renews with its
    /// purchaser's.
    package var attemptDue: Instant? {
        self.awaitsAttempt && self.isOwn && self.boundary < .distantFuture ? self.boundary : nil
    }

    /// The offer in force, where it has the next period as well: unless the plan changes then.
    var offerGoingOn: SubscriptionOffer? {
        self.offerPeriodsLeft > 0 && self.nextProductID == self.latest.productID ? self.offerInForce : nil
    }

    /// The offer of the next period, and how many periods it has from then on: the one in force; after it the one that
    /// was redeemed meanwhile, once what it was redeemed for comes. A commitment may be before that.
    var nextOffer: (offer: SubscriptionOffer, periods: Int32)? {
        if let offer = self.offerGoingOn { return (offer, self.offerPeriodsLeft) }
        guard self.nextProductID == self.preference else { return nil }
        return self.queuedOffer.map { (offer: $0, periods: max($0.periodCount, 1)) }
    }

    /// Why the line will end at its boundary although it renews: known ahead, and the same answer when it comes to it.
    ///
    /// A billing plan that the catalogue has no longer is as a product that it has no longer: nobody is charged in
    /// another way than the one that he ordered.
    package func foreseenLapse(in catalogue: Catalogue) -> ExpirationReason? {
        guard let product = catalogue.productOnSale(self.nextProductID), let subscription = product.subscription,
            nextBilling(of: self, product, subscription) != nil
        else { return .productUnavailable }
        // Another product has a price of its own.
        if self.increase?.status == .pending, self.nextProductID == self.latest.productID {
            return .didNotConsentToPriceIncrease
        }
        return nil
    }

    /// Ends what is left of grace and retry, because the customer or a tester ended the line at `instant`.
    ///
    /// The charge that failed stays written down with what it came to: the grace that the customer has had is service, which
    /// runs of periods and win-back offers count from. It was not in vain that the store tried, so `lapse` says why it ended.
    mutating func endRetry(at instant: Instant) {
        guard var retry = self.retry else { return }
        // A purchase into the past may take renewal back before the charge that then failed.
        let end = max(instant, retry.failedAt)
        retry.until = min(retry.until, end)
        retry.graceUntil = retry.graceUntil.map { min($0, end) }
        self.retry = retry
        self.lapse = .autoRenewDisabled
    }

    /// Why the line is over, once it is.
    var endReason: ExpirationReason {
        if self.retry != nil, self.lapse != .autoRenewDisabled { return .billingError }
        return self.lapse ?? (self.willAutoRenew ? .unknown : .autoRenewDisabled)
    }

    /// When the customer was last entitled by this line, if nothing happened since.
    var serviceEnd: Instant {
        let served = max(self.boundary, self.retry?.graceUntil ?? self.boundary)
        return min(served, self.latest.revocation?.date ?? served)
    }

    /// The line's state at `now`: the first rule that applies. Boundaries are half-open.
    ///
    /// A line that renews and whose attempt is not recorded yet stays at its boundary, subscribed, for
    /// `leewayMilliseconds` (nil: without end), so that nobody sees a gap between a period's end and the news of the
    /// next one.
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

    /// The next instant after `now` at which `state` changes if nothing happens, and what it is then.
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

    /// What a reader is told to expect: where the store will attempt a renewal, what comes of it as far as that is known
    /// ahead (`foreseenAttempt`), else the next crossing.
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
