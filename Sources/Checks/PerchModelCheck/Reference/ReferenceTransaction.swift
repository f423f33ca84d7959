import PerchBase
import PerchModel

/// A transaction as the reference expects it.
struct ReferenceTransaction {
    /// The reference's own number of it: in the order in which they come, of all accounts.
    let serial: Int
    /// The first of its line, or itself.
    var first: Int
    var product: String
    var type: ProductType
    /// Empty where it is no subscription.
    var group = ""
    var begin: Instant
    var lineBegin: Instant
    var end: Instant?
    var reason = TransactionReason.purchase
    var price: Money
    /// The offer that it was bought with, and the how-manieth of its periods this is: 1 for the first.
    var offer: SubscriptionOffer?
    var offerPeriod: Int32 = 0
    var quantity: UInt32 = 1
    var token = ""
    var storefront: Storefront
    var isUpgraded = false
    var isShared = false
    /// Of what is shared: the purchaser's transaction that it is a copy of.
    var copyOf: Int?
    var refund: Revocation?
    var isFinished = false
    var billing = BillingPlanType.unspecified
    var commitment: Commitment?
    /// The day of the month that the months of this period were counted from; nil where it is not of calendar months.
    var countedFrom: Int64?

    /// Charges of a commitment are to follow it.
    var owesCharges: Bool {
        self.commitment.map { $0.billingPeriodNumber < $0.totalBillingPeriods } ?? false
    }

    /// Unspecified where there is none.
    var offerType: OfferType {
        guard let offer = self.offer else { return .unspecified }
        return offer.type
    }

    /// Its offer discounts the next period as well.
    var hasOfferLeft: Bool {
        self.offer.map { self.offerPeriod < $0.periodCount } ?? false
    }

    /// What it adds to the time that was paid for.
    var paidMilliseconds: Int64 {
        guard let end, self.refund == nil, !self.isShared, self.price.milliunits > 0 else { return 0 }
        return max(0, end.milliseconds(since: self.begin))
    }
}

/// A charge that failed.
struct ReferenceFailure: Equatable {
    var at: Instant
    var graceEnd: Instant?
    var retryEnd: Instant
}

/// A subscription line: what was said about it, beside its transactions.
struct ReferenceLine {
    /// Its first transaction.
    let first: Int
    let group: String
    var isShared = false
    /// The customer's own switch.
    var willRenew = true
    /// What comes after this period, if anything does.
    var nextPlan: String
    /// How that is billed.
    var nextBilling: BillingPlanType
    var failure: ReferenceFailure?
    /// Why it is over, or will be, where it is not the customer's switch.
    var ending: ExpirationReason?
    /// A higher price that was asked for or announced.
    var raise: (price: Money, isAgreed: Bool)?
    /// When the price of this product was raised last.
    var lastRaise: Instant?
    /// The price that the customer pays because he agreed to it.
    var agreedPrice: Money?
    /// What was redeemed for the next period.
    var waiting: SubscriptionOffer?
    var runBegin: Instant
    /// When its renewal date was extended, oldest first.
    var extensions: [Instant] = []

    /// It is over at the end of its period, for another reason than the customer's switch, which goes with it.
    mutating func end(_ reason: ExpirationReason) {
        self.ending = reason
        self.willRenew = false
    }

    /// The customer switches renewal off. While a charge fails that is the end, but for a commitment.
    mutating func switchOff(_ held: ReferenceTransaction, at instant: Instant) {
        self.goBack(to: held)
        self.willRenew = false
        if !held.owesCharges { self.endFailure(at: instant) }
    }

    /// The charge that fails is tried no longer, and what is left of grace is lost: somebody has ended the line.
    mutating func endFailure(at instant: Instant) {
        guard let failure = self.failure else { return }
        let end = max(failure.at, instant)
        self.failure?.retryEnd = min(failure.retryEnd, end)
        if let grace = failure.graceEnd { self.failure?.graceEnd = min(grace, end) }
        self.ending = .autoRenewDisabled
    }

    /// He switches it on: with the plan that he has.
    mutating func switchOn(_ held: ReferenceTransaction) {
        guard !self.willRenew else { return }
        self.goBack(to: held)
        self.willRenew = true
        self.ending = nil
    }

    /// What is held comes next as well: an order of another plan waits no longer, nor what was redeemed for it.
    private mutating func goBack(to held: ReferenceTransaction) {
        if self.nextPlan != held.product { self.waiting = nil }
        self.nextPlan = held.product
        self.nextBilling = held.billing
    }
}

/// A purchase that waits for somebody.
struct ReferencePending {
    var number: UInt64
    var order: PurchaseOrder
}

/// Something that is shared, from who bought it to who is of his family.
struct ReferenceShare {
    var purchaser: Int
    /// First transaction of the purchaser's line, or his transaction of what does not renew.
    var first: Int
    var member: Int
    /// The same, as the member has it.
    var memberFirst: Int?
    let began: Instant
    /// The purchaser's transaction that reached the member last.
    var copied: Int?
    /// It waits for the member's sync.
    var waits = false
}

/// What the reference knows of an account.
struct ReferenceAccount {
    /// Somebody asked for something that needs an account, or shared with it.
    var isOpen = false
    /// In the order in which they came; what was deleted is gone.
    var transactions: [ReferenceTransaction] = []
    /// Own and shared, in the order in which they began.
    var lines: [ReferenceLine] = []
    var pending: [ReferencePending] = []
    /// Purchases that were begun outside the app.
    var intents: [(number: UInt64, product: String)] = []
    /// Empty for the app's.
    var storefront = ""
    /// Nil: as the app's setting says.
    var chargesFail: Bool?

    func place(of serial: Int) -> Int? { self.transactions.lastIndex { $0.serial == serial } }

    func transaction(_ serial: Int) -> ReferenceTransaction? {
        self.place(of: serial).map { self.transactions[$0] }
    }

    /// The newest of a line that no upgrade has left behind, in the order in which they came.
    func latestPlace(of line: ReferenceLine) -> Int? {
        self.transactions.lastIndex { $0.first == line.first && !$0.isUpgraded }
    }

    func latest(of line: ReferenceLine) -> ReferenceTransaction? {
        self.latestPlace(of: line).map { self.transactions[$0] }
    }

    func linePlace(of first: Int) -> Int? { self.lines.firstIndex { $0.first == first } }

    func ownLinePlace(in group: String) -> Int? {
        self.lines.firstIndex { !$0.isShared && $0.group == group }
    }

    /// The state of a line at an instant: the derivation of section 5. In a test app all that is due was attempted.
    func state(of line: ReferenceLine, at now: Instant) -> RenewalState {
        guard let latest = self.latest(of: line), let end = latest.end else { return .unspecified }
        if let refund = latest.refund, refund.date <= now { return .revoked }
        if now < end { return .subscribed }
        if let failure = line.failure {
            if let grace = failure.graceEnd, now < grace { return .inGracePeriod }
            if now < failure.retryEnd { return .inBillingRetryPeriod }
        }
        return .expired
    }

    /// When the customer last had what he paid for, or a grace period; at the latest when it was refunded.
    func serviceEnd(of line: ReferenceLine) -> Instant? {
        guard let latest = self.latest(of: line), let end = latest.end else { return nil }
        let served = max(end, line.failure?.graceEnd ?? end)
        return min(served, latest.refund?.date ?? served)
    }

    /// The product of a line's next period: within a commitment the same.
    func nextPlan(of line: ReferenceLine) -> String {
        if let latest = self.latest(of: line), latest.owesCharges { return latest.product }
        return line.nextPlan
    }

    /// Whether the end of its period is one at which the store charges.
    func renews(_ line: ReferenceLine) -> Bool {
        guard let latest = self.latest(of: line), latest.refund == nil else { return false }
        return (line.willRenew || latest.owesCharges) && line.failure == nil && line.ending == nil
    }
}
