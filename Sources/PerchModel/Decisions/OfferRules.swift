import PerchBase

/// Whether an account may have an offer, with a code for programs.
package enum OfferRuling: String, Hashable, Sendable, CaseIterable {
    case eligible = "ELIGIBLE"
    case introductoryUsed = "INTRODUCTORY_USED"
    case neverSubscribed = "NEVER_SUBSCRIBED"
    case otherCategory = "OTHER_CATEGORY"
    case downgrade = "DOWNGRADE"
    case subscribed = "SUBSCRIBED"
    case inBillingRetry = "IN_BILLING_RETRY"
    case refunded = "REFUNDED"
    case subscribedByFamily = "SUBSCRIBED_BY_FAMILY"
    case nobody = "NOBODY"
    case paidTooShort = "PAID_TOO_SHORT"
    case tooEarly = "TOO_EARLY"
    case tooLate = "TOO_LATE"
    case redeemedLately = "REDEEMED_LATELY"
    case outsideDates = "OUTSIDE_DATES"
    case productWithdrawn = "PRODUCT_WITHDRAWN"
    case redeemed = "REDEEMED"
    case codeEnded = "CODE_ENDED"
    case codeUsedUp = "CODE_USED_UP"
    case owned = "OWNED"
    case notReported = "NOT_REPORTED"

    /// What is known of the account's permission.
    var eligibility: Eligibility {
        switch self {
        case .eligible: .eligible
        case .notReported: .unknown
        default: .ineligible
        }
    }

    var message: String {
        switch self {
        case .eligible: "the account may have it"
        case .introductoryUsed: "the account has had an introductory offer in this group"
        case .neverSubscribed: "the account never subscribed in this group"
        case .otherCategory: "the code is for others: see which of new, existing and expired it names"
        case .downgrade: "a code cannot be redeemed for a lower level of service than the account has"
        case .subscribed: "the account is subscribed in this group"
        case .inBillingRetry: "the store still tries to charge for the last period"
        case .refunded: "the last period was refunded, it did not end"
        case .subscribedByFamily: "a family member shares a subscription of this group with the account"
        case .nobody: "the offer has no rule, and its switch for tests is off"
        case .paidTooShort: "the account has not paid for enough months in this group"
        case .tooEarly: "the subscription has not ended long enough ago"
        case .tooLate: "the subscription ended too long ago"
        case .redeemedLately: "the account had a win-back offer in this group not long ago"
        case .outsideDates: "the offer has not begun, or is over"
        case .productWithdrawn: "the product is withdrawn from sale"
        case .notReported:
            "no report of the App Store says whether the account may have it; StoreKit on the device knows"
        case .redeemed: "the account has redeemed a code of this offer, and each account redeems one"
        case .codeEnded: "the code can no longer be redeemed"
        case .codeUsedUp: "the code has been redeemed as often as it can be"
        case .owned: "the account owns the product"
        }
    }
}

/// The category of an account for offer codes.
package enum AccountCategory: Hashable, Sendable {
    /// Never subscribed in the group.
    case new
    /// Subscribed now.
    case existing
    /// Was subscribed.
    case expired

    var eligibility: CodeOffer.Eligibility {
        switch self {
        case .new: .new
        case .existing: .existing
        case .expired: .expired
        }
    }
}

/// The interval in which an account may have a win-back offer: half-open; without an end if that is nil.
struct OfferWindow: Hashable, Sendable {
    var from: Instant
    var until: Instant?

    func contains(_ instant: Instant) -> Bool { self.from <= instant && self.until.map { instant < $0 } ?? true }
}

/// Eligibility for the offers of a group at an instant. Purchases, eligibility reads, renewal information and messages
/// use the same rules.
struct OfferRules {
    let record: AccountRecord?
    let groupID: String
    let app: AppState
    let now: Instant

    private var leeway: Int64? { self.app.renewalLeewayMilliseconds }

    /// The account's own line.
    var line: Line? {
        self.record.flatMap { record in record.ownLineIndex(inGroup: self.groupID).map { record.lines[$0] } }
    }

    /// The account's own line, if it entitles.
    var heldLine: Line? {
        self.line.flatMap { $0.state(at: self.now, leewayMilliseconds: self.leeway).isEntitled ? $0 : nil }
    }

    /// The billing plan of a product under which the account holds it.
    func heldBillingPlan(of product: CatalogueProduct) -> BillingPlanType? {
        self.heldLine.flatMap { $0.latest.productID == product.id ? $0.latest.billingPlan : nil }
    }

    /// The category by the account's own subscriptions: shared ones do not count.
    var category: AccountCategory {
        if self.heldLine != nil { return .existing }
        return self.line == nil && self.record?.history(ofGroup: self.groupID) == nil ? .new : .expired
    }

    /// No transaction of the group, of any product of this account, ever carried an introductory offer.
    var introductory: OfferRuling {
        isEligibleForIntroductoryOffer(self.record, groupID: self.groupID) ? .eligible : .introductoryUsed
    }

    /// Accounts that have or had a subscription in the group are eligible; the developer chooses among them.
    var promotional: OfferRuling { self.category == .new ? .neverSubscribed : .eligible }

    /// `entered`: the code that the customer entered; nil for any of the offer.
    func ruling(on code: CodeOffer, of product: CatalogueProduct, entered: OfferCode? = nil) -> OfferRuling {
        let hasRedeemed = self.record?.redeemedOffers.contains {
            $0.productID == product.id && $0.offerID == code.offer.id
        }
        if hasRedeemed == true { return .redeemed }
        let codes = entered.map { [$0] } ?? code.codes
        if !codes.isEmpty, codes.allSatisfy({ $0.until.map { $0 <= self.now } ?? false }) { return .codeEnded }
        guard product.type == .autoRenewable else {
            return product.type == .nonConsumable && self.record?.owned(product.id) != nil ? .owned : .eligible
        }
        guard code.eligibility.contains(self.category.eligibility) else { return .otherCategory }
        if let line = self.heldLine, HeldPlan(line, self.app.catalogue).relation(to: product) == .downgrade {
            return .downgrade
        }
        return .eligible
    }

    func ruling(on offer: WinBackOffer) -> OfferRuling {
        let lapse: Lapse
        switch self.lapse {
        case .not(let ruling): return ruling
        case .lapsed(let found): lapse = found
        }
        if offer.isEligible { return .eligible }
        guard let rule = offer.rule else { return .nobody }
        guard self.hasPaid(for: rule) else { return .paidTooShort }
        let rate = self.app.settings.timeRate
        if self.now < rate.end(ofMonths: rule.lapsedMonthsMin, from: lapse.servedUntil) { return .tooEarly }
        if self.now >= rate.end(ofMonths: rule.lapsedMonthsMax, from: lapse.servedUntil) { return .tooLate }
        if let next = self.nextRedemption(by: rule), self.now < next { return .redeemedLately }
        if rule.from.map({ self.now < $0 }) ?? false || rule.until.map({ self.now >= $0 }) ?? false {
            return .outsideDates
        }
        return .eligible
    }

    // MARK: Win-back

    private struct Lapse {
        /// The subscription was lost here.
        var since: Instant
        /// The last instant of service: the months since then count.
        var servedUntil: Instant
    }

    private enum LapseState {
        case lapsed(Lapse)
        case not(OfferRuling)
    }

    /// Whether the account's own subscription was lost: it ended, will not renew, and no family member shares another
    /// with the account.
    ///
    /// Xcode's switch skips all other criteria, but not this one: an account that still has the subscription, its own
    /// or a shared one, has not lost it.
    private var lapse: LapseState {
        guard let record, let line else { return .not(.neverSubscribed) }
        switch line.state(at: self.now, leewayMilliseconds: self.leeway) {
        case .expired: break
        case .inGracePeriod, .inBillingRetryPeriod: return .not(.inBillingRetry)
        case .revoked: return .not(.refunded)
        default: return .not(.subscribed)
        }
        // Outside a test store, a renewal without attempt or notification may still be reported.
        if line.awaitsAttempt { return .not(.subscribed) }
        var since = line.retry?.until ?? line.boundary
        for other in record.lines where other.groupID == self.groupID && other.originalID != line.originalID {
            if other.state(at: self.now, leewayMilliseconds: self.leeway).isEntitled {
                return .not(.subscribedByFamily)
            }
            if other.serviceEnd <= self.now { since = max(since, other.serviceEnd) }
        }
        return .lapsed(Lapse(since: since, servedUntil: line.serviceEnd))
    }

    private func hasPaid(for rule: WinBackRule) -> Bool {
        let paid = self.record?.history(ofGroup: self.groupID)?.paidMilliseconds ?? 0
        return paid >= self.app.settings.timeRate.paidMilliseconds(ofMonths: rule.paidMonthsMin)
    }

    private func nextRedemption(by rule: WinBackRule) -> Instant? {
        self.record?.history(ofGroup: self.groupID)?.lastWinBack.map {
            self.app.settings.timeRate.end(ofMonths: rule.waitMonths, from: $0)
        }
    }

    /// When the account may have an offer if nothing happens; nil if never.
    private func window(of offer: WinBackOffer, after lapse: Lapse) -> OfferWindow? {
        if offer.isEligible { return OfferWindow(from: lapse.since, until: nil) }
        guard let rule = offer.rule, self.hasPaid(for: rule) else { return nil }
        let rate = self.app.settings.timeRate
        let bounds: [Instant?] = [
            lapse.since, rate.end(ofMonths: rule.lapsedMonthsMin, from: lapse.servedUntil),
            self.nextRedemption(by: rule),
            rule.from,
        ]
        let end = rate.end(ofMonths: rule.lapsedMonthsMax, from: lapse.servedUntil)
        let window = OfferWindow(
            from: bounds.compactMap { $0 }.max() ?? lapse.since, until: min(end, rule.until ?? end))
        return window.until.map { window.from < $0 } ?? true ? window : nil
    }

    struct WinBack: Hashable {
        var product: CatalogueProduct
        var offer: WinBackOffer
        var window: OfferWindow
    }

    /// The win-back offers of the group that the account may have now, best first, and the next instant at which that
    /// changes automatically. Any product of the group on sale can win a customer back.
    var winBacks: (eligible: [WinBack], nextChange: Instant?) {
        // Most accounts are subscribed: they need no catalogue lookup.
        guard case .lapsed(let lapse) = self.lapse else { return ([], nil) }
        var eligible: [WinBack] = []
        var nextChange: Instant?
        for product in self.app.catalogue.products where !product.isWithdrawn {
            guard let subscription = product.subscription, subscription.groupID == self.groupID else { continue }
            for offer in subscription.winBackOffers {
                guard let window = self.window(of: offer, after: lapse) else { continue }
                if window.contains(self.now) {
                    eligible.append(WinBack(product: product, offer: offer, window: window))
                }
                for edge in [window.from, window.until] {
                    guard let edge, edge > self.now, edge < .distantFuture else { continue }
                    nextChange = min(nextChange ?? edge, edge)
                }
            }
        }
        return (eligible.sorted { Self.isBetter(($0.product, $0.offer), ($1.product, $1.offer)) }, nextChange)
    }

    /// Priority first, then the larger total discount, then the identifier. Apple does not publish its own ranking.
    static func isBetter(
        _ left: (product: CatalogueProduct, offer: WinBackOffer),
        _ right: (product: CatalogueProduct, offer: WinBackOffer)
    ) -> Bool {
        if left.offer.isHighPriority != right.offer.isHighPriority { return left.offer.isHighPriority }
        let leftDiscount = Self.discount(of: left.offer.offer, left.product)
        let rightDiscount = Self.discount(of: right.offer.offer, right.product)
        if leftDiscount != rightDiscount { return leftDiscount > rightDiscount }
        return (left.offer.offer.id, left.product.id) < (right.offer.offer.id, right.product.id)
    }

    /// The customer's savings over the whole offer, in milliunits. For ranking, months of 30 days are precise enough.
    private static func discount(of offer: SubscriptionOffer, _ product: CatalogueProduct) -> Int64 {
        guard let subscription = product.subscription else { return 0 }
        let billing = billingTerms(of: product, subscription, plan: offer.billingPlan)
        let price = billing?.price.milliunits ?? product.price.milliunits
        if offer.paymentMode == .payAsYouGo {
            return saturated(price - offer.price.milliunits, times: Int64(offer.periodCount))
        }
        let periodDays = max((billing?.period ?? subscription.period).dayCount, 1)
        return saturated(price, times: offer.period.dayCount) / periodDays - offer.price.milliunits
    }

    private static func saturated(_ value: Int64, times count: Int64) -> Int64 {
        let (product, overflow) = value.multipliedReportingOverflow(by: count)
        return overflow ? (value > 0 ? .max / 2 : .min / 2) : product
    }
}

extension Period {
    /// Length in days, for comparison only: a month has 30 days, a year twelve months.
    fileprivate var dayCount: Int64 {
        switch self.unit {
        case .week: Int64(self.value) * 7
        case .month: Int64(self.value) * 30
        case .year: Int64(self.value) * 360
        default: Int64(self.value)
        }
    }
}

/// An offer that a purchase asked for and is eligible for.
struct ChosenOffer: Hashable, Sendable {
    var offer: SubscriptionOffer
    /// The introductory offer comes first, if the account may have it.
    var isStackable: Bool
    /// Of an offer of a code: what the customer entered.
    var code: OfferCode?

    /// The fact that a code of a product was redeemed; nil for another offer. `transaction`: what the customer then holds.
    func redemption(of product: CatalogueProduct, for transaction: Transaction, at now: Instant) -> [Fact] {
        guard let code = self.code else { return [] }
        let redeemed = RedeemedOffer(
            productID: product.id, offerID: self.offer.id, code: code.code, transactionID: transaction.id)
        return [Fact(.codeRedeemed(redeemed), effective: now)]
    }
}

extension AccountRecord {
    /// The account's own purchase of a product without an end.
    func owned(_ productID: String) -> Transaction? {
        self.owned.first { $0.productID == productID && $0.ownership == .purchased }
    }
}

/// The offer that a purchase asks for. An ineligible offer is refused: the purchase never continues at the full price.
func chosenOffer(
    _ ordered: OrderedOffer, of product: CatalogueProduct, plan: BillingPlanType, rules: OfferRules
) throws(Refusal) -> ChosenOffer {
    try checkParameters(ordered)
    let found = try offers(ordered, of: product)
    guard let candidate = found.first(where: { belongs($0.chosen.offer, to: plan) }) else {
        throw Refusal(
            .purchaseInvalidOffer,
            "the \(ordered.type) offer \(ordered.id) of \(product.id) is one of another billing plan; buy with that plan"
        )
    }
    let ruling: OfferRuling =
        switch candidate.kind {
        case .promotional: rules.promotional
        case .code(let code): rules.ruling(on: code, of: product, entered: candidate.chosen.code)
        case .winBack(let offer): rules.ruling(on: offer)
        }
    guard ruling == .eligible else {
        throw Refusal(
            .purchaseIneligibleForOffer,
            "the \(ordered.type) offer \(ordered.id) of \(product.id): \(ruling.message) (\(ruling.rawValue)); buy without it"
        )
    }
    return candidate.chosen
}

/// Checks an offer as far as that is possible without an account.
func checkParameters(_ ordered: OrderedOffer) throws(Refusal) {
    guard ordered.type != .unspecified, !ordered.id.isEmpty else {
        throw Refusal(
            .purchaseMissingOfferParameters,
            "an offer is named by its type and its identifier; one of a code by the code, or by its reference name if it lists none"
        )
    }
    try refuseSignature(ordered.signature, of: "the \(ordered.type) offer \(ordered.id)")
}

/// Perch does not verify signatures yet, so every signature is refused. A test store accepts orders without one.
func refuseSignature(_ signature: String, of what: String) throws(Refusal) {
    guard signature.isEmpty else {
        throw Refusal(
            .purchaseInvalidOfferSignature,
            "the signature of \(what) cannot be verified here, so nothing was bought; a test store needs none")
    }
}

private enum OfferKind {
    case promotional
    case code(CodeOffer)
    case winBack(WinBackOffer)
}

/// The offers of a product with that type and identifier: at most one for each billing plan.
private func offers(
    _ ordered: OrderedOffer, of product: CatalogueProduct
) throws(Refusal) -> [(chosen: ChosenOffer, kind: OfferKind)] {
    var found: [(chosen: ChosenOffer, kind: OfferKind)] = []
    let subscription = product.subscription
    switch ordered.type {
    case .promotional:
        for offer in subscription?.promotionalOffers ?? [] where offer.id == ordered.id {
            found.append((ChosenOffer(offer: offer, isStackable: false), .promotional))
        }
    case .code:
        for offer in product.codeOffers {
            guard let code = offer.code(ordered.id) else { continue }
            found.append((ChosenOffer(offer: offer.offer, isStackable: offer.isStackable, code: code), .code(offer)))
        }
    case .winBack:
        for winBack in subscription?.winBackOffers ?? [] where winBack.offer.id == ordered.id {
            found.append((ChosenOffer(offer: winBack.offer, isStackable: false), .winBack(winBack)))
        }
    case .introductory:
        throw Refusal(
            .purchaseInvalidOffer, "introductory offers apply automatically; leave the offer out of the purchase")
    default:
        break
    }
    if found.isEmpty {
        throw Refusal(
            .purchaseInvalidOffer,
            "product \(product.id) has no \(ordered.type) offer \(ordered.id); `perch get products` lists what it has")
    }
    return found
}

/// Refuses an offer that the product does not have, for any account.
func requireOffer(_ ordered: OrderedOffer, of product: CatalogueProduct) throws(Refusal) {
    try checkParameters(ordered)
    _ = try offers(ordered, of: product)
}
