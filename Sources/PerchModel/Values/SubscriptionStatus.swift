public import PerchBase

/// The store's plan for the end of a subscription's period.
public struct RenewalInfo: Sendable {
    /// The first transaction of the line.
    public var originalTransactionID: TransactionID
    /// The product held now.
    public var currentProductID: String
    /// Whether it renews.
    public var willAutoRenew: Bool
    /// The product of the next period; nil if the line will not renew.
    public var autoRenewPreference: String?
    /// Nil while it is active.
    public var expirationReason: ExpirationReason?
    /// True while the store retries a charge, including the grace period.
    public var isInBillingRetry = false
    /// Set only inside a grace period.
    public var gracePeriodExpirationDate: Instant?
    /// Whether a price increase waits for the customer's consent.
    public var priceIncreaseStatus: PriceIncreaseStatus = .noIncreasePending
    /// End of the most recent period; may be in the past.
    public var renewalDate: Instant
    /// The next charge with any offer applied; nil if the line will not renew.
    public var renewalPrice: Money?
    /// The offer that applies to the next period.
    public var offer: TransactionOffer?
    /// Best first.
    public var eligibleWinBackOfferIDs: [String] = []
    /// Start of the current run of periods; lapses under 60 days are ignored.
    public var recentSubscriptionStartDate: Instant
    /// The app's UUID for its customer; empty for none.
    public var appAccountToken: String {
        get { self.accountToken.text }
        set { self.accountToken = WrittenAccountToken(newValue) }
    }
    package var accountToken = WrittenAccountToken()
    /// Unique for each account and app.
    public var appTransactionID = ""
    /// Which store.
    public var environment: AppEnvironment
    /// Not part of equality.
    public var signedDate: Instant
    /// The billing plan of the next period, if the product has several.
    public var renewalBillingPlan: BillingPlanType = .unspecified
    /// Present on a commitment.
    public var commitment: Commitment?
    /// No renewal information was reported: whether the line renews is unknown, and `willAutoRenew` is a guess.
    public var isUnreported = false

    /// Creates a value from its parts.
    public init(
        originalTransactionID: TransactionID, currentProductID: String, willAutoRenew: Bool, renewalDate: Instant,
        recentSubscriptionStartDate: Instant, environment: AppEnvironment, signedDate: Instant
    ) {
        self.originalTransactionID = originalTransactionID
        self.currentProductID = currentProductID
        self.willAutoRenew = willAutoRenew
        self.renewalDate = renewalDate
        self.recentSubscriptionStartDate = recentSubscriptionStartDate
        self.environment = environment
        self.signedDate = signedDate
    }
}

extension RenewalInfo: Hashable {
    /// Whether both have the same value, however it was signed.
    public static func == (left: RenewalInfo, right: RenewalInfo) -> Bool {
        left.originalTransactionID == right.originalTransactionID && left.currentProductID == right.currentProductID
            && left.willAutoRenew == right.willAutoRenew && left.autoRenewPreference == right.autoRenewPreference
            && left.expirationReason == right.expirationReason && left.isInBillingRetry == right.isInBillingRetry
            && left.gracePeriodExpirationDate == right.gracePeriodExpirationDate
            && left.priceIncreaseStatus == right.priceIncreaseStatus && left.renewalDate == right.renewalDate
            && left.renewalPrice == right.renewalPrice && left.offer == right.offer
            && left.eligibleWinBackOfferIDs == right.eligibleWinBackOfferIDs
            && left.recentSubscriptionStartDate == right.recentSubscriptionStartDate
            && left.accountToken == right.accountToken && left.appTransactionID == right.appTransactionID
            && left.environment == right.environment && left.renewalBillingPlan == right.renewalBillingPlan
            && left.commitment == right.commitment && left.isUnreported == right.isUnreported
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.originalTransactionID)
        hasher.combine(self.renewalDate)
    }
}

/// The state of one subscription line: the account's own, or one shared with it.
public struct SubscriptionStatus: Hashable, Sendable {
    /// The state.
    public var state: RenewalState
    /// The line's latest transaction.
    public var transaction: Verified<Transaction>
    /// What happens next.
    public var renewalInfo: Verified<RenewalInfo>

    /// Creates a value from its parts.
    public init(state: RenewalState, transaction: Verified<Transaction>, renewalInfo: Verified<RenewalInfo>) {
        self.state = state
        self.transaction = transaction
        self.renewalInfo = renewalInfo
    }
}

extension SubscriptionStatus {
    /// Whether both of its parts are trusted.
    public var isVerified: Bool { self.transaction.isVerified && self.renewalInfo.isVerified }

    /// Whether it gives the customer anything: its state entitles, and both of its parts are trusted.
    public var entitles: Bool { self.state.isEntitled && self.isVerified }
}

/// The status that counts in one of several groups.
public struct GroupEffective: Hashable, Sendable {
    /// The group.
    public var groupID: String
    /// Its place among the statuses.
    public var index: UInt32
    /// Why that one.
    public var reason: EffectiveReason

    /// Creates a value from its parts.
    public init(groupID: String, index: UInt32, reason: EffectiveReason) {
        self.groupID = groupID
        self.index = index
        self.reason = reason
    }
}

/// All lines of an account in a subscription group, or in all groups, and which one counts.
public struct SubscriptionStatuses: Hashable, Sendable {
    /// One for each line; empty if the account never subscribed in this group. `effective` says which one counts.
    public var statuses: [SubscriptionStatus]
    /// Index of the entitling status with the highest level of service; nil if none entitles, or of all groups. An
    /// unverified status never counts.
    public var effectiveIndex: Int?
    /// Why that one.
    public var effectiveReason: EffectiveReason
    /// Of all groups: the status that counts in each group in which one entitles, by group ID.
    public var effectiveInGroups: [GroupEffective] = []

    /// Creates a value from its parts.
    public init(
        statuses: [SubscriptionStatus], effectiveIndex: Int? = nil, effectiveReason: EffectiveReason = .unspecified
    ) {
        self.statuses = statuses
        self.effectiveIndex = effectiveIndex
        self.effectiveReason = effectiveReason
    }

    /// The status that counts; nil of all groups.
    public var effective: SubscriptionStatus? { self.status(at: self.effectiveIndex) }

    /// The status that counts in a group; nil if none entitles there.
    public func effective(inGroup groupID: String) -> SubscriptionStatus? {
        let found =
            self.status(at: self.effectiveInGroups.first { $0.groupID == groupID }.map { Int($0.index) })
            ?? self.effective
        return found?.transaction.value.subscriptionGroupID == groupID ? found : nil
    }

    private func status(at index: Int?) -> SubscriptionStatus? {
        guard let index, self.statuses.indices.contains(index) else { return nil }
        return self.statuses[index]
    }
}

/// When a value will change if nothing happens, and its state then.
public struct Forecast: Hashable, Sendable {
    /// The instant on the app's clock.
    public var at: Instant
    /// What happens then.
    public var kind: ForecastKind
    /// The line that changes.
    public var originalTransactionID: TransactionID
    /// The state of that line from then on.
    public var state: RenewalState

    /// Creates a value from its parts.
    public init(at: Instant, kind: ForecastKind, originalTransactionID: TransactionID, state: RenewalState) {
        self.at = at
        self.kind = kind
        self.originalTransactionID = originalTransactionID
        self.state = state
    }
}
