import PerchBase
import PerchModel
import PerchWire

/// The observed value of a field.
enum Observed: Hashable, Sendable {
    case text(String)
    case instant(Instant)
    case flag(Bool)
    case money(Money)
    case number(Int64)
    case offer(TransactionOffer)
    case id(TransactionID)
    case list([String])
    case period(Period)
    case none
}

/// One thing of those that an expectation looks at: a line, a transaction, a product, an event.
struct Sight: Sendable {
    var fields: [Field: Observed] = [:]
    /// Of a line of a status.
    var isShared = false
    var transaction: Transaction?
    /// For messages.
    var summary = ""
}

/// The observed data for an expectation.
struct Looked: Sendable {
    var sights: [Sight] = []
    /// Of the value, not of one of its parts.
    var fields: [Field: Observed] = [:]
    var isLoading = false
    var failure: Failure?
    /// Number of values pushed since the last step; nil for subjects without pushes.
    var pushes: Int?
    var effective: Int?
    var settings: [AppSettingChange] = []
    /// A summary of the observed state, for messages.
    var summary = ""
}

extension Observed {
    static func optional<Value>(_ value: Value?, _ make: (Value) -> Observed) -> Observed { value.map(make) ?? .none }

    static func text(nonEmpty text: String) -> Observed { text.isEmpty ? .none : .text(text) }

    static func name(_ value: some OpenEnumeration) -> Observed {
        value.rawValue == 0 ? .none : .text(value.description)
    }
}

extension Sight {
    init(_ transaction: Verified<Transaction>) {
        let value = transaction.value
        self.transaction = value
        self.isShared = value.ownership == .familyShared
        self.fields = [
            .transaction: .id(value.id), .original: .id(value.originalID), .product: .text(value.productID),
            .type: .name(value.productType), .group: .text(nonEmpty: value.subscriptionGroupID),
            .purchased: .instant(value.purchaseDate), .originallyPurchased: .instant(value.originalPurchaseDate),
            .expires: .optional(value.expirationDate) { .instant($0) }, .quantity: .number(Int64(value.quantity)),
            .upgraded: .flag(value.isUpgraded), .ownership: .name(value.ownership),
            .offer: .optional(value.offer) { .offer($0) },
            .revokedAt: .optional(value.revocation) { .instant($0.date) },
            .revocationReason: .optional(value.revocation) { .name($0.reason) },
            .revocationType: .optional(value.revocation) { .name($0.type) },
            .percentage: .optional(value.revocation) { .number(Int64($0.percentageMilli)) },
            .token: .text(nonEmpty: value.appAccountToken), .storefront: .text(value.storefront.countryCode),
            .environment: .name(value.environment), .transactionReason: .name(value.reason),
            .price: .optional(value.price) { .money($0) }, .billingPlan: .name(value.billingPlan),
            .verification: transaction.isVerified ? .none : .text(transaction.failure.description),
            .webOrderLineItem: .text(nonEmpty: value.webOrderLineItemID),
            .appTransaction: .text(nonEmpty: value.appTransactionID),
        ]
        if let commitment = value.commitment {
            self.fields[.billingPeriodNumber] = .number(Int64(commitment.billingPeriodNumber))
            self.fields[.totalBillingPeriods] = .number(Int64(commitment.totalBillingPeriods))
            self.fields[.commitmentUntil] = .instant(commitment.expirationDate)
            self.fields[.commitmentPrice] = .money(commitment.price)
            self.fields[.commitmentRenews] = .flag(commitment.willRenew)
        }
        self.summary = "transaction \(value.id) of \(value.productID)"
    }

    init(_ status: SubscriptionStatus, _ info: ValueInfo?) {
        self.init(status.transaction)
        let renewal = status.renewalInfo.value
        self.fields[.state] = .name(status.state)
        self.fields[.autoRenew] = .flag(renewal.willAutoRenew)
        self.fields[.preference] = .optional(renewal.autoRenewPreference) { .text(nonEmpty: $0) }
        self.fields[.expirationReason] = .optional(renewal.expirationReason) { .name($0) }
        self.fields[.retrying] = .flag(renewal.isInBillingRetry)
        self.fields[.graceUntil] = .optional(renewal.gracePeriodExpirationDate) { .instant($0) }
        self.fields[.priceIncrease] = .name(renewal.priceIncreaseStatus)
        self.fields[.renewalDate] = .instant(renewal.renewalDate)
        self.fields[.renewalPrice] = .optional(renewal.renewalPrice) { .money($0) }
        self.fields[.renewalOffer] = .optional(renewal.offer) { .offer($0) }
        let winBacks = renewal.eligibleWinBackOfferIDs
        self.fields[.winBacks] = winBacks.isEmpty ? Observed.none : .list(winBacks)
        self.fields[.runStart] = .instant(renewal.recentSubscriptionStartDate)
        self.fields[.renewalBillingPlan] = .name(renewal.renewalBillingPlan)
        // Whether a commitment continues is a property of the renewal; the transaction has the value at its purchase.
        if let commitment = renewal.commitment { self.fields[.commitmentRenews] = .flag(commitment.willRenew) }
        if !status.renewalInfo.isVerified, self.fields[.verification] == Observed.none {
            self.fields[.verification] = .text(status.renewalInfo.failure.description)
        }
        // The end of the retry period is no field of the value; its forecast says it.
        self.fields[.retryUntil] = Observed.none
        if let forecast = info?.forecast, forecast.kind == .retryEnd,
            forecast.originalTransactionID == renewal.originalTransactionID
        {
            self.fields[.retryUntil] = .instant(forecast.at)
        }
    }

    init(_ product: Product) {
        let subscription = product.subscription
        self.fields = [
            .available: .flag(true), .product: .text(product.id), .name: .text(product.displayName),
            .details: .text(product.description), .displayPrice: .text(product.displayPrice),
            .price: .money(product.price), .currency: .text(product.price.currency),
            .storefront: .text(product.storefront.countryCode), .type: .name(product.type),
            .shareable: .flag(product.isFamilyShareable),
            .level: .optional(subscription) { .number(Int64($0.groupLevel)) },
            .period: .optional(subscription) { .period($0.period) },
            .group: .optional(subscription) { .text($0.groupID) },
            .groupName: .optional(subscription) { .text($0.groupDisplayName) },
            .introductoryOffer: .optional(subscription?.introductoryOffers.first) { offer in
                .offer(
                    TransactionOffer(
                        id: offer.id, type: offer.type, paymentMode: offer.paymentMode, period: offer.period))
            },
            .promotionalOffers: Self.offers(subscription?.promotionalOffers),
            .winBackOffers: Self.offers(subscription?.winBackOffers),
            .billingPlans: subscription.map { plans in
                plans.billingPlans.isEmpty
                    ? Observed.none : .list(plans.billingPlans.map { $0.type.description })
            } ?? Observed.none,
            .image: .text(nonEmpty: product.promotionalImageID),
        ]
        self.summary = "product \(product.id)"
    }

    private static func offers(_ offers: [SubscriptionOffer]?) -> Observed {
        guard let offers, !offers.isEmpty else { return Observed.none }
        return .list(offers.map(\.id))
    }

    init(unavailable id: String) {
        self.fields = [.available: .flag(false), .product: .text(id)]
        self.summary = "product \(id), which is unavailable"
    }

    init(_ message: StoreMessage) {
        self.fields = [
            .message: .name(message.reason), .since: .instant(message.since),
            .product: .text(nonEmpty: message.productID), .offerID: .text(nonEmpty: message.offerID),
            .original: .optional(message.originalTransactionID) { .id($0) },
        ]
        self.summary = "message \(message.reason)"
    }

    init(_ intent: PurchaseIntent) {
        self.fields = [
            .product: .text(intent.productID), .since: .instant(intent.since), .offer: Self.ordered(intent.offer),
        ]
        self.summary = "intent for \(intent.productID)"
    }

    init(_ pending: PendingPurchase) {
        self.fields = [
            .product: .text(pending.order.productID), .pendingReason: .name(pending.reason),
            .quantity: .number(Int64(max(1, pending.order.quantity))), .since: .instant(pending.since),
            .offer: Self.ordered(pending.order.offer),
        ]
        self.summary = "purchase of \(pending.order.productID), which waits (\(pending.reason))"
    }

    private static func ordered(_ offer: OrderedOffer?) -> Observed {
        .optional(offer) {
            .offer(TransactionOffer(id: $0.id, type: $0.type, paymentMode: .unspecified, period: nil))
        }
    }

    init(_ option: PlanOption) {
        self.fields = [
            .product: .text(option.product.id), .relation: .name(option.relation),
            .atRenewal: .flag(option.takesEffectAtRenewal), .preferred: .flag(option.isPreferred),
            .offer: .optional(option.offer) { .offer($0) }, .price: .money(option.product.price),
        ]
        self.summary = "plan \(option.product.id)"
    }

    init(_ eligibility: OfferEligibility) {
        self.fields = [
            .product: .text(eligibility.productID), .offerType: .name(eligibility.type),
            .offerID: .text(nonEmpty: eligibility.offerID), .eligible: .flag(eligibility.isEligible),
            .reason: .text(nonEmpty: eligibility.reason),
        ]
        self.summary = "\(eligibility.type) offer \(eligibility.offerID) of \(eligibility.productID)"
    }

    init(_ explanation: Explanation) {
        self.fields = [
            .rule: .text(explanation.rule), .entitled: .flag(explanation.isEntitled),
            .state: .name(explanation.state), .original: .optional(explanation.originalTransactionID) { .id($0) },
            .sentence: .text(explanation.message),
            .nextChange: .optional(explanation.nextChange) { .name($0.kind) },
            .nextChangeAt: .optional(explanation.nextChange) { .instant($0.at) },
        ]
        self.summary = "rule \(explanation.rule)"
    }
}

extension Looked {
    /// The cause of a value, and its forecast.
    mutating func add(_ info: ValueInfo) {
        self.fields[.cause] = .name(info.cause)
        self.fields[.nextChange] = .optional(info.forecast) { .name($0.kind) }
        self.fields[.nextChangeAt] = .optional(info.forecast) { .instant($0.at) }
    }
}
