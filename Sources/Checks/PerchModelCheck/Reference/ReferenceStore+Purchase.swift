import PerchBase
import PerchModel

// Purchases: sections 10, 11 and 15 of the model.
extension ReferenceStore {
    /// Applies a successful order. Returns a mistake of the store, nil for none.
    mutating func buy(_ order: PurchaseOrder, _ account: Int) -> String? {
        self.accounts[account].intents.removeAll { $0.product == order.productID }
        self.boughtAt = order.date ?? self.now
        guard let product = self.shop.sold(order.productID) else {
            return "\(order.productID) is not sold, and was bought"
        }
        if let plan = product.subscription { return self.subscribe(order, product, plan, account) }
        let at = order.date ?? self.now
        if let ordered = order.offer {
            guard self.mayHave(ordered.type, ordered.id, of: product, account, at: at),
                let offer = product.codeOffers.first(where: {
                    $0.offer.id == ordered.id || $0.codes.contains { $0.code == ordered.id }
                })
            else { return "the account may not have the offer \(ordered.id), and bought with it" }
            var charged = self.charge(product, account, in: self.shop, from: at, serial: self.takeSerial())
            charged.quantity = order.quantity
            charged.price.milliunits = offer.offer.price.milliunits * Int64(order.quantity)
            charged.offer = offer.offer
            charged.token = order.appAccountToken.lowercased()
            self.accounts[account].transactions.append(charged)
            self.answered = (charged.serial, false)
            self.note(ordered, of: product, account, charged.serial)
            return nil
        }
        if product.type == .nonConsumable, let held = self.owned(product.id, account, isShared: false) {
            self.answered = (held.serial, true)
            return nil
        }
        var charged = self.charge(product, account, in: self.shop, from: at, serial: self.takeSerial())
        charged.quantity = order.quantity
        charged.price.milliunits *= Int64(order.quantity)
        charged.token = order.appAccountToken.lowercased()
        self.accounts[account].transactions.append(charged)
        self.answered = (charged.serial, false)
        return nil
    }

    /// A redeemed code counts for its account, and for all.
    private mutating func note(_ ordered: OrderedOffer, of product: CatalogueProduct, _ account: Int, _ serial: Int) {
        guard ordered.type == .code, let code = self.code(ordered.id, of: product) else { return }
        self.accounts[account].redeemed.append(
            ReferenceRedemption(
                product: product.id, offer: code.offer.offer.id, code: code.offer.codes.isEmpty ? "" : ordered.id,
                serial: serial))
    }

    /// The offer of an entered code, and the code if the offer lists some.
    func code(_ entered: String, of product: CatalogueProduct) -> (offer: CodeOffer, code: OfferCode?)? {
        for offer in product.codeOffers {
            if offer.codes.isEmpty, offer.offer.id == entered { return (offer, nil) }
            if let code = offer.codes.first(where: { $0.code == entered }) { return (offer, code) }
        }
        return nil
    }

    /// The newest lasting transaction without a refund.
    func owned(_ product: String, _ account: Int, isShared: Bool) -> ReferenceTransaction? {
        self.accounts[account].transactions.filter {
            $0.product == product && $0.isShared == isShared && $0.refund == nil && $0.type != .consumable
        }.max { isShared ? self.isNumbered($0, before: $1) : self.isOlder($0, than: $1) }
    }

    /// Of several members' shares, the one that reached the account last.
    func isNumbered(_ left: ReferenceTransaction, before right: ReferenceTransaction) -> Bool {
        self.numbers[left.serial] ?? .max < self.numbers[right.serial] ?? .max
    }

    private mutating func subscribe(
        _ order: PurchaseOrder, _ product: CatalogueProduct, _ plan: CatalogueSubscription, _ account: Int
    ) -> String? {
        let at = order.date ?? self.now
        let known = self.accounts[account]
        var offer: SubscriptionOffer?
        if let ordered = order.offer {
            if let found = self.fault(in: ordered, of: product, account, at: at) { return found }
            offer = self.offer(ordered, of: plan)
        }
        let place = known.ownLinePlace(in: plan.groupID)
        guard let place, let held = known.latest(of: known.lines[place]),
            known.state(of: known.lines[place], at: at).isEntitled, !self.isNow(product.id, plan, after: held)
        else {
            self.begin(order, product, account, at: at, place, offer)
            if let ordered = order.offer, let answered = self.answered {
                self.note(ordered, of: product, account, answered.serial)
            }
            return nil
        }
        self.answered = (held.serial, true)
        var line = known.lines[place]
        guard self.changes(line, held, order, of: plan) else { return nil }
        if let ordered = order.offer { self.note(ordered, of: product, account, held.serial) }
        let billed = self.billing(of: order, plan, after: held)
        if line.nextPlan != product.id || line.nextBilling != billed { line.waiting = nil }
        line.nextPlan = product.id
        line.nextBilling = billed
        line.willRenew = true
        line.ending = nil
        if let offer { line.waiting = offer }
        if order.renewalBehaviour == .cancelImmediately { line.switchOff(held, at: at) }
        self.accounts[account].lines[place] = line
        self.mirror(account, at: at)
        return nil
    }

    /// Whether an order changes the next period. Otherwise the held or pending transaction is returned.
    func changes(
        _ line: ReferenceLine, _ held: ReferenceTransaction, _ order: PurchaseOrder, of plan: CatalogueSubscription
    ) -> Bool {
        let offer = order.offer.flatMap { self.offer($0, of: plan) }
        let isSwitch = self.billing(of: order, plan, after: held) != held.billing
        if held.product == order.productID, offer == nil, !line.willRenew, !isSwitch { return false }
        if line.nextPlan != order.productID || line.nextBilling != self.billing(of: order, plan, after: held) {
            return true
        }
        return !line.willRenew || (offer != nil && offer != line.waiting)
    }

    /// The billing plan that an order asks for: as ordered, by default up front. A held plan continues.
    private func billing(
        of order: PurchaseOrder, _ plan: CatalogueSubscription, after held: ReferenceTransaction
    ) -> BillingPlanType {
        if held.product == order.productID, order.billingPlan == .unspecified { return held.billing }
        if plan.billingPlans.isEmpty { return .unspecified }
        return order.billingPlan == .monthly ? .monthly : .upFront
    }

    /// Whether a plan replaces the held one: an upgrade, or another plan of its level and length.
    func isNow(
        _ product: String, _ plan: CatalogueSubscription, after held: ReferenceTransaction
    ) -> Bool {
        guard let before = self.shop.plan(held.product) else { return true }
        if plan.level != before.level { return plan.level < before.level }
        if product == held.product || held.owesCharges { return false }
        return plan.period == before.period
    }

    private mutating func begin(
        _ order: PurchaseOrder, _ product: CatalogueProduct, _ account: Int, at: Instant, _ place: Int?,
        _ ordered: SubscriptionOffer?
    ) {
        guard let plan = product.subscription else { return }
        var (offer, waiting) = (ordered, SubscriptionOffer?.none)
        let code = order.offer?.type == .code ? self.code(order.offer?.id ?? "", of: product)?.offer : nil
        // A stackable code applies after an introductory offer that the account is eligible for.
        if ordered == nil || code?.isStackable == true, self.mayBeIntroduced(order, plan.groupID, account),
            let introduction = plan.introductoryOffers.first
        {
            (offer, waiting) = (introduction, ordered)
        }
        var charged = self.charge(
            product, account, in: self.shop, from: at, serial: self.takeSerial(), billed: order.billingPlan,
            offer: offer)
        charged.token = order.appAccountToken.lowercased()
        self.commit(&charged, after: nil, in: self.shop)
        self.answered = (charged.serial, false)
        var line = ReferenceLine(
            first: charged.serial, group: plan.groupID, nextPlan: product.id, nextBilling: charged.billing, runBegin: at
        )
        if let place {
            let old = self.accounts[account].lines[place]
            line = ReferenceLine(
                first: old.first, group: plan.groupID, nextPlan: product.id, nextBilling: charged.billing,
                runBegin: self.run(of: old, account, goingOnAt: at) ? old.runBegin : at)
            line.extensions = old.extensions
            if let left = self.accounts[account].latestPlace(of: old) {
                let held = self.accounts[account].transactions[left]
                charged.lineBegin = held.lineBegin
                if held.product == product.id { line.lastRaise = old.lastRaise }
                let isHeld = self.accounts[account].state(of: old, at: at).isEntitled
                self.accounts[account].transactions[left].isUpgraded = isHeld
            }
            charged.first = old.first
            self.accounts[account].lines[place] = line
        } else {
            self.accounts[account].lines.append(line)
        }
        let began = place ?? self.accounts[account].lines.count - 1
        self.accounts[account].lines[began].waiting = waiting
        if order.renewalBehaviour == .cancelImmediately { self.accounts[account].lines[began].willRenew = false }
        self.accounts[account].transactions.append(charged)
        self.mirror(account, at: at)
        // It is ordered now for a later date, so the current catalogue determines the following periods.
        if order.date != nil, order.renewalBehaviour != .cancelImmediately { self.settle(account, in: self.shop) }
    }

    /// A run of periods continues over a lapse of less than 60 days.
    func run(of line: ReferenceLine, _ account: Int, goingOnAt instant: Instant) -> Bool {
        guard let end = self.accounts[account].serviceEnd(of: line) else { return false }
        return instant < end.advanced(byMilliseconds: 60 * ReferenceCalendar.day)
    }

    /// The number of this charge in a year of twelve. `old` is the previous charge of the same plan.
    func commit(
        _ charged: inout ReferenceTransaction, after old: ReferenceTransaction?, in shop: ReferenceShop
    ) {
        guard charged.billing == .monthly,
            let plan = shop.plan(charged.product)?.billingPlans.first(where: { $0.type == .monthly })
        else { return }
        if let old, old.owesCharges, var commitment = old.commitment {
            commitment.billingPeriodNumber += 1
            // The commitment may have ended in another way, so this charge follows the remaining ones.
            commitment.expirationDate = charged.end ?? commitment.expirationDate
            for _ in commitment.billingPeriodNumber..<commitment.totalBillingPeriods {
                commitment.expirationDate = shop.rate.end(
                    of: Period(1, .month), from: commitment.expirationDate,
                    countedFrom: charged.countedFrom ?? ReferenceCalendar.date(of: commitment.expirationDate).day)
            }
            charged.commitment = commitment
            return
        }
        let day = charged.countedFrom ?? ReferenceCalendar.date(of: charged.begin).day
        var price = plan.commitmentPrice
        price.currency = charged.price.currency
        // It ends with its last month. If all periods have one length, a year is not twelve of them.
        var end = charged.begin
        for _ in 0..<plan.chargeCount { end = shop.rate.end(of: Period(1, .month), from: end, countedFrom: day) }
        charged.commitment = Commitment(
            billingPeriodNumber: 1, totalBillingPeriods: plan.chargeCount, expirationDate: end, price: price,
            willRenew: true)
    }

    // MARK: Offers

    func hadIntroduction(_ group: String, _ account: Int) -> Bool {
        for bought in self.accounts[account].transactions where !bought.isShared && bought.group == group {
            if bought.offerType == .introductory { return true }
        }
        return false
    }

    /// The account's own purchases in a group, without deleted ones.
    func own(_ group: String, _ account: Int) -> [ReferenceTransaction] {
        self.accounts[account].transactions.filter { !$0.isShared && $0.group == group }
    }

    private func mayBeIntroduced(_ order: PurchaseOrder, _ group: String, _ account: Int) -> Bool {
        switch order.introductoryEligibility {
        case .allowed: true
        case .denied: false
        default: !self.hadIntroduction(group, account)
        }
    }

    func offer(_ ordered: OrderedOffer, of plan: CatalogueSubscription) -> SubscriptionOffer? {
        switch ordered.type {
        case .promotional: plan.promotionalOffers.first { $0.id == ordered.id }
        case .code:
            plan.codeOffers.first { offer in
                offer.codes.isEmpty ? offer.offer.id == ordered.id : offer.codes.contains { $0.code == ordered.id }
            }?.offer
        case .winBack: plan.winBackOffers.first { $0.offer.id == ordered.id }?.offer
        default: nil
        }
    }

    /// Why the account was not eligible for that offer; nil if it was.
    private func fault(
        in ordered: OrderedOffer, of product: CatalogueProduct, _ account: Int, at: Instant
    ) -> String? {
        guard let plan = product.subscription, self.offer(ordered, of: plan) != nil else {
            return "\(product.id) has no \(ordered.type) offer \(ordered.id), and it was bought with it"
        }
        return self.mayHave(ordered.type, ordered.id, of: product, account, at: at)
            ? nil : "the account may not have the \(ordered.type) offer \(ordered.id), and bought with it"
    }

    /// Section 15: eligibility for offers.
    ///
    /// `isNamed`: a code's offer is meant by its name, whatever its codes are; else a code was entered.
    func mayHave(
        _ type: OfferType, _ id: String, of product: CatalogueProduct, _ account: Int, at now: Instant,
        isNamed: Bool = false
    ) -> Bool {
        let known = self.accounts[account]
        let code =
            isNamed ? product.codeOffers.first { $0.offer.id == id }.map { ($0, nil) } : self.code(id, of: product)
        return self.mayHave(type, id, code: code, of: product, known, account, at: now)
    }

    private func mayHave(
        _ type: OfferType, _ id: String, code: (offer: CodeOffer, code: OfferCode?)?, of product: CatalogueProduct,
        _ known: ReferenceAccount, _ account: Int, at now: Instant
    ) -> Bool {
        if type == .code {
            // Once for each account and offer, and as often as the code can be redeemed by all.
            guard let code else { return false }
            let isRedeemed = known.redeemed.contains { $0.product == product.id && $0.offer == code.offer.offer.id }
            let count = self.accounts.flatMap(\.redeemed).count { $0.product == product.id && $0.code == id }
            if isRedeemed || code.code?.until.map({ $0 <= now }) ?? false { return false }
            if let limit = code.code?.redemptionLimit, limit > 0, count >= Int(limit) { return false }
            guard product.type == .autoRenewable else {
                return product.type != .nonConsumable || self.owned(product.id, account, isShared: false) == nil
            }
        }
        guard let plan = product.subscription, !product.isWithdrawn else { return false }
        let own = known.ownLinePlace(in: plan.groupID).map { known.lines[$0] }
        let isHeld = own.map { known.state(of: $0, at: now).isEntitled } ?? false
        switch type {
        case .introductory:
            return !self.hadIntroduction(plan.groupID, account)
        case .promotional:
            return !self.own(plan.groupID, account).isEmpty
        case .code:
            guard let code = code?.offer else { return false }
            if self.own(plan.groupID, account).isEmpty { return code.eligibility.contains(.new) }
            guard isHeld, let own, let held = known.latest(of: own) else { return code.eligibility.contains(.expired) }
            let level = self.shop.plan(held.product)?.level ?? plan.level
            return code.eligibility.contains(.existing) && plan.level <= level
        case .winBack:
            return own.map { self.winBacks(of: $0, account, at: now).contains(id) } ?? false
        default:
            return false
        }
    }

    /// The win-back offers for the customer of an ended line, best first.
    func winBacks(of line: ReferenceLine, _ account: Int, at now: Instant) -> [String] {
        let known = self.accounts[account]
        guard !line.isShared, known.state(of: line, at: now) == .expired, let lost = known.serviceEnd(of: line) else {
            return []
        }
        if known.lines.contains(where: { $0.group == line.group && known.state(of: $0, at: now).isEntitled }) {
            return []
        }
        let own = self.own(line.group, account)
        let paid = own.reduce(0) { $0 + $1.paidMilliseconds }
        let redeemed = own.filter { $0.offerType == .winBack && $0.reason == .purchase }.map(\.begin).max()
        let rate = self.shop.rate
        var found: [(id: String, isHigh: Bool, saved: Int64)] = []
        for product in self.shop.products.values where product.subscription?.groupID == line.group {
            guard let plan = product.subscription, !product.isWithdrawn else { continue }
            for winBack in plan.winBackOffers {
                if !winBack.isEligible {
                    guard let rule = winBack.rule else { continue }
                    var begin = rate.months(rule.lapsedMonthsMin, after: lost)
                    if let redeemed { begin = max(begin, rate.months(rule.waitMonths, after: redeemed)) }
                    begin = max(begin, rule.from ?? begin)
                    let last = rate.months(rule.lapsedMonthsMax, after: lost)
                    let end = min(last, rule.until ?? last)
                    if now < begin || now >= end || paid < rate.paid(forMonths: rule.paidMonthsMin) { continue }
                }
                let offer = winBack.offer
                let usual = product.price.milliunits * Int64(offer.periodCount)
                let saved = usual - offer.price.milliunits * Int64(offer.periodCount)
                found.append((offer.id, winBack.isHighPriority, saved))
            }
        }
        found.sort { left, right in
            if left.isHigh != right.isHigh { return left.isHigh }
            return left.saved == right.saved ? left.id < right.id : left.saved > right.saved
        }
        return found.map(\.id)
    }
}
