import PerchBase
import PerchModel

/// A transaction as the reference expects it.
struct ReferenceTransaction {
    /// The reference's own number, in the order of all accounts.
    let serial: Int
    /// The first of its line, or itself.
    var first: Int
    var product: String
    var type: ProductType
    /// Empty for products without subscription.
    var group = ""
    var begin: Instant
    var lineBegin: Instant
    var end: Instant?
    var reason = TransactionReason.purchase
    var price: Money
    /// The offer of the purchase, and the number of this period in it, from 1.
    var offer: SubscriptionOffer?
    var offerPeriod: Int32 = 0
    var quantity: UInt32 = 1
    var token = ""
    var storefront: Storefront
    var isUpgraded = false
    var isShared = false
    /// For a shared one, the purchaser's transaction.
    var copyOf: Int?
    var refund: Revocation?
    var isFinished = false
    var billing = BillingPlanType.unspecified
    var commitment: Commitment?
    /// The day of the month from which this period counts; nil without calendar months.
    var countedFrom: Int64?

    /// Whether charges of a commitment follow it.
    var owesCharges: Bool {
        self.commitment.map { $0.billingPeriodNumber < $0.totalBillingPeriods } ?? false
    }

    /// Unspecified if there is none.
    var offerType: OfferType {
        guard let offer = self.offer else { return .unspecified }
        return offer.type
    }

    /// Whether its offer discounts the next period too.
    var hasOfferLeft: Bool {
        self.offer.map { self.offerPeriod < $0.periodCount } ?? false
    }

    /// Its contribution to the paid time.
    var paidMilliseconds: Int64 {
        guard let end, self.refund == nil, !self.isShared, self.price.milliunits > 0 else { return 0 }
        return max(0, end.milliseconds(since: self.begin))
    }
}

/// A failed charge.
struct ReferenceFailure: Equatable {
    var at: Instant
    var graceEnd: Instant?
    var retryEnd: Instant
}

/// A subscription line: its state beside its transactions.
struct ReferenceLine {
    /// Its first transaction.
    let first: Int
    let group: String
    var isShared = false
    /// The customer's own switch.
    var willRenew = true
    /// The next product, if there is one.
    var nextPlan: String
    /// The billing plan of the next period.
    var nextBilling: BillingPlanType
    var failure: ReferenceFailure?
    /// The reason for its end, other than the customer's switch.
    var ending: ExpirationReason?
    /// A higher price, asked for or announced.
    var raise: (price: Money, isAgreed: Bool)?
    /// The last price increase of this product.
    var lastRaise: Instant?
    /// The price that the customer agreed to.
    var agreedPrice: Money?
    /// The redeemed offer of the next period.
    var waiting: SubscriptionOffer?
    var runBegin: Instant
    /// The instants of its renewal extensions, oldest first.
    var extensions: [Instant] = []

    /// It ends with its period for another reason than the customer's switch, which changes too.
    mutating func end(_ reason: ExpirationReason) {
        self.ending = reason
        self.willRenew = false
    }

    /// The customer switches renewal off. During a failed charge that ends the line, except in a commitment.
    mutating func switchOff(_ held: ReferenceTransaction, at instant: Instant) {
        self.goBack(to: held)
        self.willRenew = false
        if !held.owesCharges { self.endFailure(at: instant) }
    }

    /// The line was ended: no more retries, and no more grace.
    mutating func endFailure(at instant: Instant) {
        guard let failure = self.failure else { return }
        let end = max(failure.at, instant)
        self.failure?.retryEnd = min(failure.retryEnd, end)
        if let grace = failure.graceEnd { self.failure?.graceEnd = min(grace, end) }
        self.ending = .autoRenewDisabled
    }

    /// The customer switches renewal on, with the held plan.
    mutating func switchOn(_ held: ReferenceTransaction) {
        guard !self.willRenew else { return }
        self.goBack(to: held)
        self.willRenew = true
        self.ending = nil
    }

    /// The held plan continues: an ordered plan and a redeemed offer are dropped.
    private mutating func goBack(to held: ReferenceTransaction) {
        let isSame = self.nextPlan == held.product && (self.nextBilling == .monthly) == (held.billing == .monthly)
        if !isSame { self.waiting = nil }
        self.nextPlan = held.product
        self.nextBilling = held.billing
    }
}

/// A redeemed offer of a code.
struct ReferenceRedemption {
    var product: String
    var offer: String
    /// What was entered; empty for the offer's name.
    var code: String
    var serial: Int
}

/// A pending purchase.
struct ReferencePending {
    var number: UInt64
    var order: PurchaseOrder
}

/// A share between a purchaser and a member of the family.
struct ReferenceShare {
    var purchaser: Int
    /// First transaction of the purchaser's line, or the transaction of a one-time purchase.
    var first: Int
    var member: Int
    /// The same, for the member.
    var memberFirst: Int?
    let began: Instant
    /// The purchaser's last transaction that reached the member.
    var copied: Int?
    /// Whether it waits for the member's sync.
    var waits = false
}

/// The reference's state of an account.
struct ReferenceAccount {
    /// True after an operation that needs an account, or after another account shared with it.
    var isOpen = false
    /// In the order of their creation, without deleted ones.
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
    /// As Screen Time forbids them.
    var paymentsAreForbidden = false
    var appTransaction = AppTransactionTerms()
    /// Offers of codes, each with the serial of the transaction that it gave, or that was held then.
    var redeemed: [ReferenceRedemption] = []

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

    /// The customer's last instant of paid service or grace; at the latest the refund.
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

    /// How that period is billed: within a commitment as the last one.
    func nextBilling(of line: ReferenceLine) -> BillingPlanType {
        if let latest = self.latest(of: line), latest.owesCharges { return latest.billing }
        return line.nextBilling
    }

    /// Whether it is one of the held product, billed as the held period.
    func staysInPlan(_ line: ReferenceLine) -> Bool {
        guard let latest = self.latest(of: line) else { return false }
        return self.nextPlan(of: line) == latest.product
            && (self.nextBilling(of: line) == .monthly) == (latest.billing == .monthly)
    }

    /// The redeemed offer of that period: with an ordered plan it waits behind a commitment.
    func redeemed(for line: ReferenceLine) -> SubscriptionOffer? {
        let isAsOrdered =
            self.nextPlan(of: line) == line.nextPlan
            && (self.nextBilling(of: line) == .monthly) == (line.nextBilling == .monthly)
        return isAsOrdered ? line.waiting : nil
    }

    /// Whether the end of its period is one at which the store charges.
    func renews(_ line: ReferenceLine) -> Bool {
        guard let latest = self.latest(of: line), latest.refund == nil else { return false }
        return (line.willRenew || latest.owesCharges) && line.failure == nil && line.ending == nil
    }
}
