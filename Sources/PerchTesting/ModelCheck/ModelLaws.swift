import PerchBase
import PerchModel
import PerchStore

/// What one event may change, and what it must: the notes and the rows of section 17, told of before and after.
package struct ModelLaws {
    let action: ModelAction
    let before: ModelSnapshot
    let after: ModelSnapshot
    let answer: ModelWorld.Answer

    package init(_ action: ModelAction, _ before: ModelSnapshot, _ after: ModelSnapshot, answer: ModelWorld.Answer) {
        self.action = action
        self.before = before
        self.after = after
        self.answer = answer
    }

    package func breach() -> String? {
        if case .refused(let refusal) = self.answer {
            if self.after.revision != self.before.revision {
                return "refused (\(refusal.reason)), and something changed"
            }
            if refusal.message.isEmpty { return "refused without a word" }
            return nil
        }
        switch self.answer {
        case .stuck: return "the store did not come to rest"
        case .differs(let first, let again): return "asked again, it answered \(again), not \(first)"
        default: break
        }
        switch self.action {
        case .operate(let account, let operation):
            return self.onlyTouches(account, operation) ?? self.breach(of: operation, account)
        case .finish(let account, let id):
            return self.finished(account, id)
        case .sync(let account):
            let lost = self.entitlements(account, self.before).subtracting(self.entitlements(account, self.after))
            return lost.isEmpty ? nil : "a sync lost \(lost.sorted())"
        case .configure:
            return self.after.records == self.before.records ? nil : "a setting changed a record"
        case .advance:
            return self.advanced()
        case .again:
            return self.after.revision == self.before.revision ? nil : "asking again changed something"
        }
    }

    private func entitlements(_ account: Int, _ snapshot: ModelSnapshot) -> Set<String> {
        Set(
            (ModelShop.subscriptions + ModelShop.others).filter {
                currentEntitlement(
                    of: snapshot.records[account], toProduct: $0, app: snapshot.app, at: snapshot.now
                ).value != nil
            })
    }

    private func state(_ line: Line?, _ snapshot: ModelSnapshot) -> RenewalState? {
        line.map { $0.state(at: snapshot.now, leewayMilliseconds: nil) }
    }

    /// Others change only by what is shared with them.
    private func onlyTouches(_ account: Int, _ operation: StoreOperation) -> String? {
        for other in ModelWorld.accounts.indices where other != account {
            guard self.before.records[other] != self.after.records[other] else { continue }
            let number = self.after.records[other]?.account
            let isShared =
                (self.before.records[account]?.shares ?? []).contains { $0.member == number }
                || (self.after.records[account]?.shares ?? []).contains { $0.member == number }
                || operation.member == ModelWorld.accounts[other]
            if !isShared { return "\(ModelWorld.accounts[other]) has nothing to do with it, and changed" }
            if self.before.records[other]?.lines.filter(\.isOwn) ?? []
                != self.after.records[other]?.lines.filter(\.isOwn)
            {
                return "an own line of \(ModelWorld.accounts[other]) changed"
            }
        }
        return nil
    }

    /// The account's line that the target stood for before.
    private func line(_ target: OperationTarget, _ account: Int, _ snapshot: ModelSnapshot) -> Line? {
        guard let record = snapshot.records[account] else { return nil }
        switch target {
        case .product(let product):
            return record.lines.first { $0.isOwn && $0.latest.productID == product }
        case .transaction(let id):
            guard let row = self.before.rows[account].first(where: { $0.transaction.id == id }) else { return nil }
            return record.lines.first { $0.originalID == row.transaction.originalID }
        }
    }

    private func sameLine(_ line: Line, _ account: Int) -> Line? {
        self.after.records[account]?.lines.first { $0.originalID == line.originalID }
    }

    private func breach(of operation: StoreOperation, _ account: Int) -> String? {
        switch operation {
        case .buy(let order):
            return self.bought(order, account)
        case .declineRefund, .requestConsumption:
            return self.after.revision == self.before.revision ? nil : "it should change nothing"
        case .refund(let target, _, let share):
            return self.refunded(target, share, account)
        case .setAutoRenew(let target, let isOn):
            guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
                return nil
            }
            if new.latest.commitment == nil, new.willAutoRenew != isOn { return "auto-renew is \(new.willAutoRenew)" }
            if new.latest != old.latest { return "switching renewal changed the transaction" }
            let failed = [.inGracePeriod, .inBillingRetryPeriod].contains(self.state(old, self.before))
            if !isOn, failed, new.latest.commitment == nil, self.state(new, self.after) != .expired {
                return "cancelled while the charge fails, and \(String(describing: self.state(new, self.after)))"
            }
            if isOn, !old.willAutoRenew, new.preference != new.latest.productID {
                return "renewal came back to another plan"
            }
            return nil
        case .renew(let target), .resolveBilling(let target):
            return self.renewed(target, operation, account)
        case .expire(let target):
            guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
                return nil
            }
            if self.state(new, self.after)?.isEntitled == true { return "expired by hand, and entitled" }
            return new.willAutoRenew ? "expired by hand, and will renew" : nil
        case .raisePrice(let target, let milliunits, let needsConsent):
            guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
                return nil
            }
            if self.before.revision == self.after.revision { return nil }
            guard let increase = new.increase, increase.price.milliunits == milliunits else {
                return "the increase is \(String(describing: new.increase))"
            }
            if needsConsent == true, increase.status != .pending { return "consent is needed, and \(increase.status)" }
            if needsConsent == false, increase.status != .agreed {
                return "no consent is needed, and \(increase.status)"
            }
            return new.latest == old.latest ? nil : "a price increase changed the transaction"
        case .answerPriceIncrease(let target, let agrees):
            guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
                return nil
            }
            if self.before.revision == self.after.revision { return nil }
            if agrees, new.increase?.status != .agreed { return "agreed, and \(String(describing: new.increase))" }
            if !agrees, new.willAutoRenew { return "the price was declined, and it renews" }
            return nil
        case .extendRenewal(let target, let milliseconds):
            guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
                return nil
            }
            if new.latest.id != old.latest.id { return "an extension made a transaction" }
            return new.boundary == old.boundary.advanced(byMilliseconds: milliseconds)
                ? nil : "extended from \(old.boundary) to \(new.boundary) by \(milliseconds)"
        case .reverseRefund(let target):
            guard case .transaction(let id) = target else { return nil }
            guard let row = self.after.rows[account].first(where: { $0.transaction.id == id }) else { return nil }
            return row.transaction.revocation == nil ? nil : "a refund was taken back, and is there"
        case .setCharges(let fail):
            return (self.after.records[account].map(\.chargesFail) ?? nil) == fail ? nil : "charges are not set"
        case .clearTransactions:
            if !self.after.rows[account].isEmpty { return "cleared, and \(self.after.rows[account].count) rows" }
            return self.entitlements(account, self.after).isEmpty ? nil : "cleared, and entitled"
        case .deleteTransaction(let id):
            return self.after.rows[account].contains { $0.transaction.id == id } ? "deleted, and there" : nil
        case .stopSharing(let target, let member):
            if target == nil, member == nil, self.after.records[account]?.shares.isEmpty == false {
                return "all sharing ended, and there is some"
            }
            return nil
        case .decidePurchase(let id, let approves):
            if self.after.records[account]?.pendingPurchases.contains(where: { $0.id == id }) == true {
                return "it waits still"
            }
            return approves || self.after.rows[account].count == self.before.rows[account].count
                ? nil : "declined, and bought"
        case .setStorefront(let storefront):
            return (self.after.records[account]?.storefront ?? "") == storefront ? nil : "the storefront is another"
        case .share, .createIntent, .endIntent, .postMessage:
            return nil
        }
    }

    private func bought(_ order: PurchaseOrder, _ account: Int) -> String? {
        guard case .done(let result, _) = self.answer else { return nil }
        guard case .transaction(let transaction, let wasHeld) = result else {
            return self.after.rows[account] == self.before.rows[account] ? nil : "not bought, and there are rows"
        }
        // One of the past may bring renewals until now with it.
        if wasHeld, order.date == nil {
            return self.after.rows[account].count == self.before.rows[account].count ? nil : "held, and bought"
        }
        guard order.date == nil else { return nil }
        if transaction.purchaseDate != self.after.now { return "bought at \(transaction.purchaseDate)" }
        if transaction.productID != order.productID { return "bought \(transaction.productID)" }
        guard let product = self.before.app.catalogue.product(order.productID) else { return "bought what is not sold" }
        guard let subscription = product.subscription else {
            return transaction.price?.milliunits == product.price.milliunits * Int64(order.quantity)
                ? nil : "\(order.quantity) for \(String(describing: transaction.price))"
        }
        let old = self.before.line(account, subscription.groupID)
        guard let new = self.after.line(account, subscription.groupID), new.latest.id == transaction.id else {
            return "bought, and the line holds something else"
        }
        if !new.willAutoRenew { return "bought, and will not renew" }
        if self.state(new, self.after) != .subscribed {
            return "bought, and \(String(describing: self.state(new, self.after)))"
        }
        if let old, transaction.originalID != old.originalID { return "the line has a new number" }
        if let old, self.state(old, self.before)?.isEntitled == true {
            let left = self.after.rows[account].first { $0.transaction.id == old.latest.id }
            if left?.transaction.isUpgraded != true { return "the plan changed, and nothing was left behind" }
            guard let held = self.before.app.catalogue.product(old.latest.productID)?.subscription else { return nil }
            if subscription.level > held.level { return "a downgrade took effect at once" }
            if subscription.level == held.level, subscription.period != held.period {
                return "a crossgrade of another length took effect at once"
            }
        }
        return self.priced(transaction, product, subscription)
    }

    /// The price and the length are the offer's, or the product's.
    private func priced(
        _ transaction: Transaction, _ product: CatalogueProduct, _ subscription: CatalogueSubscription
    ) -> String? {
        let offers =
            subscription.introductoryOffers + subscription.promotionalOffers + subscription.codeOffers.map(\.offer)
            + subscription.winBackOffers.map(\.offer)
        let rate = self.before.app.settings.timeRate
        guard let applied = transaction.offer else {
            let end = rate.end(
                of: subscription.period, from: transaction.purchaseDate,
                anchorDay: CivilTime(transaction.purchaseDate).day)
            if transaction.expirationDate != end {
                return "a period until \(String(describing: transaction.expirationDate)), not \(end)"
            }
            return transaction.price?.milliunits == product.price.milliunits
                ? nil : "costs \(String(describing: transaction.price)), not \(product.price)"
        }
        guard let offer = offers.first(where: { $0.type == applied.type && $0.id == applied.id }) else {
            return "an offer that is not there: \(applied)"
        }
        let length = offer.paymentMode == .payAsYouGo ? subscription.period : offer.period
        let end = rate.end(
            of: length, from: transaction.purchaseDate, anchorDay: CivilTime(transaction.purchaseDate).day)
        if transaction.expirationDate != end {
            return "an offer until \(String(describing: transaction.expirationDate)), not \(end)"
        }
        return transaction.price?.milliunits == offer.price.milliunits
            ? nil : "costs \(String(describing: transaction.price)), not \(offer.price)"
    }

    private func refunded(_ target: OperationTarget, _ share: RefundShare, _ account: Int) -> String? {
        guard self.after.revision != self.before.revision else { return nil }
        let changed = self.after.rows[account].filter { row in
            self.before.rows[account].contains {
                $0.transaction.id == row.transaction.id && $0.transaction != row.transaction
            }
        }
        guard changed.count == 1, let row = changed.first?.transaction, let revocation = row.revocation else {
            return "a refund changed \(changed.count) transactions"
        }
        if revocation.date != self.after.now { return "refunded at \(revocation.date)" }
        switch share {
        case .full: if revocation.percentageMilli != 100_000 { return "refunded \(revocation.percentageMilli)" }
        case .part(let part): if revocation.percentageMilli != part { return "refunded \(revocation.percentageMilli)" }
        case .prorated: if revocation.percentageMilli > 100_000 { return "refunded \(revocation.percentageMilli)" }
        }
        let lost = self.entitlements(account, self.before).subtracting(self.entitlements(account, self.after))
        return lost.subtracting([row.productID]).isEmpty ? nil : "a refund of \(row.productID) took \(lost.sorted())"
    }

    private func renewed(_ target: OperationTarget, _ operation: StoreOperation, _ account: Int) -> String? {
        guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
            return nil
        }
        if new.latest.id == old.latest.id { return nil }
        if new.latest.reason != .renewal { return "renewed, by a \(new.latest.reason)" }
        if new.latest.productID != old.preference { return "renewed as \(new.latest.productID), not \(old.preference)" }
        if new.retry != nil, new.boundary > self.after.now { return "renewed, and still failing" }
        switch self.state(old, self.before) {
        case .inGracePeriod?:
            if new.latest.purchaseDate != old.boundary { return "recovered in grace, from \(new.latest.purchaseDate)" }
        case .inBillingRetryPeriod?:
            if new.latest.purchaseDate != self.after.now {
                return "recovered in retry, from \(new.latest.purchaseDate)"
            }
        default:
            break
        }
        return nil
    }

    private func finished(_ account: Int, _ id: TransactionID) -> String? {
        if self.entitlements(account, self.before) != self.entitlements(account, self.after) {
            return "finishing changed an entitlement"
        }
        let row = self.after.rows[account].first { $0.transaction.id == id }
        return row?.isFinished == false ? "finished, and not finished" : nil
    }

    /// Time renews, fails and ends, and does nothing else.
    private func advanced() -> String? {
        for account in ModelWorld.accounts.indices {
            let known = Set(self.before.rows[account].map(\.transaction.id))
            for row in self.after.rows[account] where !known.contains(row.transaction.id) {
                let transaction = row.transaction
                if transaction.reason != .renewal {
                    return "time made transaction \(transaction.id), a \(transaction.reason)"
                }
                if transaction.purchaseDate > self.after.now {
                    return "transaction \(transaction.id) begins in the future"
                }
                if row.isFinished { return "transaction \(transaction.id) is finished from the start" }
            }
            for old in self.before.records[account]?.lines ?? [] where old.isOwn {
                guard let new = self.sameLine(old, account) else { return "time took a line" }
                if let found = self.aged(old, new, account) { return "\(ModelWorld.accounts[account]): \(found)" }
            }
        }
        return nil
    }

    private func aged(_ old: Line, _ new: Line, _ account: Int) -> String? {
        let isDue =
            old.willAutoRenew && old.retry == nil && old.lapse == nil && old.latest.revocation == nil
            && old.boundary <= self.after.now
        let fails = self.before.records[account]?.chargesFail ?? self.before.app.settings.areRenewalBillingIssuesEnabled
        let isWithdrawn = self.before.app.catalogue.productOnSale(old.preference) == nil
        if !isDue { return new == old ? nil : "nothing was due at \(old.boundary), and line \(old.originalID) changed" }
        // A price is that of a plan: who moves to another plan is not asked any more.
        let staysInPlan = old.preference == old.latest.productID
        if old.increase?.status == .pending, staysInPlan {
            return new.lapse == .didNotConsentToPriceIncrease
                ? nil : "not agreed to, and \(String(describing: new.lapse))"
        }
        if isWithdrawn {
            return new.lapse == .productUnavailable ? nil : "withdrawn, and \(String(describing: new.lapse))"
        }
        let first = self.after.rows[account].map(\.transaction)
            .filter { $0.originalID == old.originalID && $0.id > old.latest.id }.min { $0.id < $1.id }
        if fails {
            guard first == nil, let retry = new.retry else { return "the charge fails, and it renewed" }
            if retry.failedAt != old.boundary { return "failed at \(retry.failedAt), not \(old.boundary)" }
            return self.retried(retry, old)
        }
        guard let first else { return "due at \(old.boundary), and not renewed: \(new)" }
        if first.purchaseDate != old.boundary { return "renewed from \(first.purchaseDate), not \(old.boundary)" }
        if first.productID != old.preference { return "renewed as \(first.productID), not \(old.preference)" }
        if first.originalPurchaseDate != old.latest.originalPurchaseDate { return "the line began again" }
        if let increase = old.increase, staysInPlan, first.offer == nil,
            first.price?.milliunits != increase.price.milliunits
        {
            return "agreed to \(increase.price), charged \(String(describing: first.price))"
        }
        if old.offerPeriodsLeft > 0, old.preference == old.latest.productID, first.offer?.type != old.offerInForce?.type
        {
            return "\(old.offerPeriodsLeft) periods of the offer are left, and it is not applied"
        }
        return nil
    }

    /// Grace and retry as sections 12 of the model and 7 of the format have them, for real time.
    private func retried(_ retry: BillingRetry, _ old: Line) -> String? {
        let settings = self.before.app.settings
        guard settings.timeRate == .realTime, old.latest.commitment == nil else { return nil }
        let day: Int64 = 86_400_000
        if retry.until.milliseconds(since: retry.failedAt) != 60 * day { return "retry until \(retry.until)" }
        let wasFree = old.latest.price?.milliunits == 0
        let hasGrace = settings.isGracePeriodEnabled && (settings.hasGracePeriodForAllRenewals || !wasFree)
        guard hasGrace else {
            return retry.graceUntil == nil ? nil : "grace until \(String(describing: retry.graceUntil))"
        }
        guard let grace = retry.graceUntil else { return "no grace" }
        let isWeekly = old.latest.productID == "weekly"
        let days = isWeekly ? (settings.gracePeriodDays == 3 ? 3 : 6) : settings.gracePeriodDays
        return grace.milliseconds(since: retry.failedAt) == days * day ? nil : "grace until \(grace)"
    }
}
