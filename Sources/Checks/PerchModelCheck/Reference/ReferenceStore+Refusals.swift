import PerchBase
import PerchModel
import PerchStore

// Refusals of the store. They change nothing, so they are predicted before the event.
extension ReferenceStore {
    /// Whether an event succeeds; nil if the reference does not predict it.
    func isDone(_ action: ModelAction) -> Bool? {
        guard case .operate(let account, let operation) = action else { return nil }
        switch operation {
        case .buy(let order): return self.isDone(order, account)
        case .setCharges, .setStorefront, .setPayments, .setAppTransaction: return true
        case .createIntent, .postMessage: return nil
        case .endIntent(let number): return self.accounts[account].intents.contains { $0.number == number }
        case .clearTransactions: return self.accounts[account].isOpen
        case .decidePurchase(let number, let approves):
            let waiting = self.accounts[account].pending.first { $0.number == number }
            guard let waiting else { return false }
            if approves, self.mayBeTooMany(waiting.order) { return nil }
            return !approves || self.mayBuy(waiting.order, account)
        case .deleteTransaction(let number):
            let waits = self.accounts[account].pending.contains { $0.number == number }
            return waits || self.place(of: .transaction(number), account) != nil
        case .share(let target, let member): return self.mayShare(target, with: member, account)
        case .stopSharing(let target, let member): return self.mayStopSharing(target, with: member, account)
        case .declineRefund(let target), .requestConsumption(let target): return self.place(of: target, account) != nil
        case .refund(let target, _, let share): return self.mayRefund(target, share, account)
        case .reverseRefund(let target):
            guard let place = self.place(of: target, account) else { return false }
            let refunded = self.accounts[account].transactions[place]
            return !refunded.isShared && refunded.refund != nil
        default: return self.isDone(onLine: operation, account)
        }
    }

    /// An operation on a line needs an own line in the right state.
    private func isDone(onLine operation: StoreOperation, _ account: Int) -> Bool? {
        guard let target = operation.target else { return nil }
        guard let place = self.linePlace(of: target, account) else { return false }
        let known = self.accounts[account]
        let line = known.lines[place]
        guard let held = known.latest(of: line) else { return false }
        let state = known.state(of: line, at: self.now)
        let next = known.nextPlan(of: line)
        let isFailing = state == .inGracePeriod || state == .inBillingRetryPeriod
        switch operation {
        case .setAutoRenew(_, let isOn):
            let isRefunded = state == .revoked && (!isOn || held.end.map { self.now < $0 } ?? true)
            return state == .subscribed || isFailing || isRefunded
        case .expire: return state.isEntitled
        case .renew:
            let isAsked = line.raise.map { !$0.isAgreed } ?? false
            return state.isEntitled && self.shop.sold(next) != nil && !(isAsked && known.staysInPlan(line))
        case .resolveBilling: return isFailing && self.shop.sold(next) != nil
        case .extendRenewal(_, let milliseconds):
            return state == .subscribed && milliseconds > 0 && self.mayExtend(line, held, account)
        case .raisePrice(_, let milliunits, _):
            guard let usual = self.usualPrice(of: held) else { return false }
            let agreed = line.raise.flatMap { $0.isAgreed ? $0.price : nil } ?? line.agreedPrice
            return state == .subscribed && line.willRenew && !held.owesCharges && self.shop.sold(next) != nil
                && known.staysInPlan(line)
                && milliunits > (agreed ?? usual).milliunits
        case .answerPriceIncrease(_, let agrees):
            guard let raise = line.raise else { return false }
            return state.isEntitled && (agrees || !raise.isAgreed)
        default: return nil
        }
    }

    /// Section 14: twice in 365 days, in no free offer period, and only where a period was paid for.
    private func mayExtend(_ line: ReferenceLine, _ held: ReferenceTransaction, _ account: Int) -> Bool {
        let isTrial = held.offer?.paymentMode == .freeTrial
        let isPaid = held.price.milliunits > 0 || self.own(line.group, account).contains { $0.paidMilliseconds > 0 }
        let year = { (start: Instant) in
            self.shop.rate.end(of: Period(365, .day), from: start, countedFrom: 1)
        }
        let recent = line.extensions.filter { self.now < year($0) }
        return !isTrial && isPaid && recent.count < 2
    }

    private func mayRefund(_ target: OperationTarget, _ share: RefundShare, _ account: Int) -> Bool {
        guard let place = self.place(of: target, account) else { return false }
        let refunded = self.accounts[account].transactions[place]
        if refunded.isShared { return false }
        guard refunded.refund == nil, share == .prorated else { return true }
        return refunded.end.map { refunded.begin < $0 && self.now < $0 } ?? false
    }

    // MARK: Purchases

    /// An approval comes before the purchase. A purchase outside the app has no dialog.
    private func isAsked(_ order: PurchaseOrder) -> Bool {
        let settings = self.shop.settings
        let hasDialog = order.isByApp && settings.asksBeforePurchases
        return order.simulatesAskToBuy || settings.isAskToBuyEnabled || settings.areBillingIssuesEnabled || hasDialog
    }

    /// The customer cancelled, or the storefront differs from the one whose prices they saw.
    private func isCancelled(_ order: PurchaseOrder, _ account: Int) -> Bool {
        if self.shop.settings.simulatedErrors[.purchase] == .userCancelled { return true }
        let storefront = self.storefront(of: account, in: self.shop).countryCode
        return !order.continuesInNewStorefront && !["", storefront].contains(order.seenStorefront)
    }

    /// Whether a purchase waits, is cancelled, or is answered. An order of something held that changes nothing is
    /// answered without approval.
    func fault(in result: MutationResult, of order: PurchaseOrder, _ account: Int) -> String? {
        let isCancelled = self.isCancelled(order, account)
        if (result == .cancelled) != isCancelled { return "it should \(isCancelled ? "" : "not ")be given up" }
        var after = self
        guard !isCancelled, after.buy(order, account) == nil, let answered = after.answered else { return nil }
        var isChanged = true
        if answered.wasHeld {
            let known = self.accounts[account]
            let plan = self.shop.plan(order.productID)
            isChanged = false
            if let plan, let place = known.ownLinePlace(in: plan.groupID),
                let held = known.latest(of: known.lines[place])
            {
                isChanged = self.changes(known.lines[place], held, order, of: plan)
            }
        }
        let waits = self.isAsked(order) && isChanged
        if case .pending = result { return waits ? nil : "it waits, and there is nothing to decide" }
        return waits ? "it succeeded, but should wait for approval" : nil
    }

    private func isDone(_ order: PurchaseOrder, _ account: Int) -> Bool? {
        if let error = self.shop.settings.simulatedErrors[.purchase] { return error == .userCancelled }
        if self.isCancelled(order, account) { return true }
        // Whether the limit of pending purchases applies depends on whether it is held.
        if self.isAsked(order), self.accounts[account].pending.count >= Limits.pendingPurchasesMax { return nil }
        return self.mayBeTooMany(order) ? nil : self.mayBuy(order, account)
    }

    /// At another rate a purchase in the past may have more renewals than the limit.
    private func mayBeTooMany(_ order: PurchaseOrder) -> Bool {
        order.date != nil && order.renewalBehaviour != .cancelImmediately && !self.shop.rate.isReal
    }

    /// Section 12: no charge succeeds for an account whose charges are set to fail, nor while one of its charges fails
    /// by the app's setting.
    private func isCharged(_ order: PurchaseOrder, _ account: Int) -> Bool {
        let known = self.accounts[account]
        let at = order.date ?? self.now
        let isFailing = known.lines.contains {
            !$0.isShared && [.inGracePeriod, .inBillingRetryPeriod].contains(known.state(of: $0, at: at))
        }
        let fails = known.chargesFail ?? (isFailing && self.shop.settings.areRenewalBillingIssuesEnabled)
        guard fails else { return true }
        var after = self
        // Later renewals of a purchase in the past do not matter: only the purchase itself has to be charged.
        var first = order
        first.renewalBehaviour = .cancelImmediately
        guard after.buy(first, account) == nil, let answered = after.answered, !answered.wasHeld else { return true }
        return after.accounts[account].transaction(answered.serial)?.price.milliunits == 0
    }

    private func mayBuy(_ order: PurchaseOrder, _ account: Int) -> Bool {
        self.mayOrder(order, account) && self.isCharged(order, account)
    }

    private func mayOrder(_ order: PurchaseOrder, _ account: Int) -> Bool {
        guard let product = self.shop.sold(order.productID), !self.accounts[account].paymentsAreForbidden else {
            return false
        }
        let quantityMax: UInt32 = product.type == .consumable ? 10 : 1
        guard (1...quantityMax).contains(order.quantity) else { return false }
        guard let plan = product.subscription else {
            guard let ordered = order.offer else { return order.billingPlan == .unspecified }
            let at = order.date ?? self.now
            return order.billingPlan == .unspecified
                && self.mayHave(ordered.type, ordered.id, of: product, account, at: at)
        }
        if order.billingPlan == .monthly, !plan.billingPlans.contains(where: { $0.type == .monthly }) { return false }
        let known = self.accounts[account]
        let at = order.date ?? self.now
        if let ordered = order.offer {
            guard let offer = self.offer(ordered, of: plan),
                (offer.billingPlan == .monthly) == self.isMonthly(order, of: plan, known, at: at),
                self.mayHave(ordered.type, ordered.id, of: product, account, at: at)
            else { return false }
        }
        guard let place = known.ownLinePlace(in: plan.groupID), let held = known.latest(of: known.lines[place]) else {
            return true
        }
        // A later period excludes an earlier purchase.
        if at < held.begin { return false }
        let line = known.lines[place]
        guard known.state(of: line, at: at).isEntitled, !self.isNow(product.id, plan, after: held) else { return true }
        if !self.changes(line, held, order, of: plan) { return true }
        // An offer for the end of the period is unavailable once that end has passed.
        return known.state(of: line, at: self.now).isEntitled
    }

    /// Whether an order is billed monthly. Without a plan it means the held plan.
    private func isMonthly(
        _ order: PurchaseOrder, of plan: CatalogueSubscription, _ known: ReferenceAccount, at instant: Instant
    ) -> Bool {
        guard order.billingPlan == .unspecified, let place = known.ownLinePlace(in: plan.groupID),
            known.state(of: known.lines[place], at: instant).isEntitled,
            let held = known.latest(of: known.lines[place]), held.product == order.productID
        else { return order.billingPlan == .monthly }
        return held.billing == .monthly
    }

    // MARK: Family

    private func mayShare(_ target: OperationTarget, with name: String, _ account: Int) -> Bool {
        guard let place = self.place(of: target, account), name != ModelWorld.accounts[account] else { return false }
        let known = self.accounts[account]
        let shared = known.transactions[place]
        let isShareable = { (product: String) in self.shop.products[product]?.isFamilyShareable == true }
        if shared.isShared || !isShareable(shared.product) { return false }
        if shared.type == .nonConsumable {
            return self.owned(shared.product, account, isShared: false)?.serial == shared.serial
        }
        guard let line = known.linePlace(of: shared.first).map({ known.lines[$0] }), let latest = known.latest(of: line)
        else { return false }
        return isShareable(latest.product) && known.state(of: line, at: self.now).isEntitled
    }

    private func mayStopSharing(_ target: OperationTarget?, with name: String?, _ account: Int) -> Bool {
        var first: Int?
        if let target {
            guard let place = self.place(of: target, account) else { return false }
            first = self.accounts[account].transactions[place].first
        }
        let member = name.flatMap { ModelWorld.accounts.firstIndex(of: $0) }
        return self.shares.contains {
            $0.purchaser == account && (first == nil || $0.first == first) && (name == nil || $0.member == member)
        }
    }
}

extension StoreOperation {
    /// The line of the event; nil if there is none.
    fileprivate var target: OperationTarget? {
        switch self {
        case .renew(let target), .expire(let target), .setAutoRenew(let target, _), .resolveBilling(let target),
            .raisePrice(let target, _, _), .answerPriceIncrease(let target, _), .extendRenewal(let target, _):
            target
        default: nil
        }
    }
}
