import PerchBase
import PerchModel
import PerchStore

/// The permitted and required changes of one event: the notes and rows of section 17, as laws about the state before
/// and after.
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
            guard case .operate(let account, let operation) = self.action, let why = self.wrongly(operation, account)
            else { return nil }
            return "refused (\(refusal.reason): \(refusal.message)), and \(why)"
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
        case .configure(let changes):
            return self.configured(changes)
        case .advance:
            return self.advanced()
        case .again:
            return self.after.revision == self.before.revision ? nil : "asking again changed something"
        }
    }

    func entitlements(_ account: Int, _ snapshot: ModelSnapshot) -> Set<String> {
        Set(
            (ModelShop.subscriptions + ModelShop.others).filter {
                currentEntitlement(
                    of: snapshot.records[account], toProduct: $0, app: snapshot.app, at: snapshot.now
                ).value != nil
            })
    }

    func state(_ line: Line?, _ snapshot: ModelSnapshot) -> RenewalState? {
        line.map { $0.state(at: snapshot.now, leewayMilliseconds: nil) }
    }

    /// Other accounts change only through sharing.
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

    /// The account's line that the target named before the event.
    func line(_ target: OperationTarget, _ account: Int, _ snapshot: ModelSnapshot) -> Line? {
        guard let record = snapshot.records[account] else { return nil }
        switch target {
        case .product(let product):
            return record.lines.first { $0.isOwn && $0.latest.productID == product }
        case .transaction(let id):
            guard let row = self.before.rows[account].first(where: { $0.transaction.id == id }) else { return nil }
            return record.lines.first { $0.originalID == row.transaction.originalID }
        }
    }

    func line(of transaction: Transaction, _ account: Int, _ snapshot: ModelSnapshot) -> Line? {
        snapshot.records[account]?.lines.first { $0.originalID == transaction.originalID }
    }

    func sameLine(_ line: Line, _ account: Int) -> Line? {
        self.after.records[account]?.lines.first { $0.originalID == line.originalID }
    }

    private func sameLineBefore(_ line: Line, _ account: Int) -> Line? {
        self.before.records[account]?.lines.first { $0.originalID == line.originalID }
    }

    /// What was set is kept.
    private func set(_ operation: StoreOperation, _ account: Int) -> String? {
        let record = self.after.records[account]
        switch operation {
        case .setCharges(let fail):
            return (record.map(\.chargesFail) ?? nil) == fail ? nil : "charges are not set"
        case .setPayments(let isAllowed):
            return (record?.arePaymentsForbidden ?? false) == !isAllowed
                ? nil : "payments are not \(isAllowed ? "allowed" : "forbidden")"
        case .setAppTransaction(let terms):
            let found = record?.appTransaction ?? AppTransactionTerms()
            return found == terms ? nil : "the app transaction says \(found)"
        default:
            return nil
        }
    }

    private func breach(of operation: StoreOperation, _ account: Int) -> String? {
        switch operation {
        case .buy(let order):
            return self.bought(order, account)
        case .declineRefund, .requestConsumption:
            return self.after.revision == self.before.revision ? nil : "it should change nothing"
        case .refund(_, let reason, let share):
            return self.refunded(reason, share, account)
        case .setAutoRenew(let target, let isOn):
            return self.switched(target, isOn, account)
        case .renew(let target), .resolveBilling(let target):
            return self.renewed(target, operation, account)
        case .expire(let target):
            guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
                return nil
            }
            if self.state(new, self.after)?.isEntitled == true { return "expired by hand, and entitled" }
            return new.willAutoRenew ? "expired by hand, and will renew" : nil
        case .raisePrice(let target, let milliunits, let needsConsent):
            return self.raised(target, milliunits, needsConsent, account)
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
        case .reverseRefund:
            return self.reinstated(account)
        case .setCharges, .setPayments, .setAppTransaction:
            return self.set(operation, account)
        case .clearTransactions:
            if !self.after.rows[account].isEmpty { return "cleared, and \(self.after.rows[account].count) rows" }
            if let record = self.after.records[account], record.entryCount + record.histories.count > 0 {
                return "cleared, and something waits, is shared or is remembered: \(record)"
            }
            return self.entitlements(account, self.after).isEmpty ? nil : "cleared, and entitled"
        case .deleteTransaction(let id):
            return self.deleted(id, account)
        case .stopSharing(let target, let member):
            if target == nil, member == nil, self.after.records[account]?.shares.isEmpty == false {
                return "all sharing ended, and there is some"
            }
            return nil
        case .decidePurchase(let id, let approves):
            if self.after.records[account]?.pendingPurchases.contains(where: { $0.id == id }) == true {
                return "it waits still"
            }
            guard approves else {
                return self.after.rows[account] == self.before.rows[account] ? nil : "declined, and rows changed"
            }
            let waiting = self.before.records[account]?.pendingPurchases.first { $0.id == id }
            return waiting.flatMap { self.bought($0.order, account, isApproved: true) }
        case .setStorefront(let storefront):
            return (self.after.records[account]?.storefront ?? "") == storefront ? nil : "the storefront is another"
        case .createIntent(let product, let offer):
            let intents = self.after.records[account]?.intents ?? []
            guard let last = intents.last, last.productID == product, last.offer == offer else {
                return "no intent to buy \(product) with \(String(describing: offer)) came: \(intents)"
            }
            return self.after.rows[account] == self.before.rows[account] ? nil : "an intent bought something"
        case .endIntent(let id):
            return self.after.records[account]?.intents.contains { $0.id == id } == true ? "the intent is there" : nil
        case .postMessage:
            let posted = self.after.records[account]?.messagePosted
            return posted == self.after.now ? nil : "a message was posted at \(String(describing: posted))"
        case .share:
            return nil
        }
    }

    /// The customer switched renewal on or off.
    private func switched(_ target: OperationTarget, _ isOn: Bool, _ account: Int) -> String? {
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
    }

    /// The store announced a higher price.
    private func raised(_ target: OperationTarget, _ milliunits: Int64, _ needsConsent: Bool?, _ account: Int)
        -> String?
    {
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
        if needsConsent == nil, let found = self.consented(increase, old) { return found }
        return new.latest == old.latest ? nil : "a price increase changed the transaction"
    }

    /// A tester deleted a transaction.
    private func deleted(_ id: TransactionID, _ account: Int) -> String? {
        // It changes no other row; a pending purchase has no row.
        let left = self.before.rows[account].filter { $0.transaction.id != id }
        let rows = self.after.rows[account]
        let isLeft =
            left.count == rows.count
            && zip(left, rows).allSatisfy { old, new in
                var old = old
                // The deletion of an upgrade restores the plan that it left behind.
                if old.transaction.id == new.transaction.id, !new.transaction.isUpgraded {
                    old.transaction.isUpgraded = false
                }
                return old == new
            }
        return isLeft ? nil : "a deletion of \(id) left other rows than those beside it"
    }

    /// Section 13: the increases that need consent. A second one within a year always does.
    private func consented(_ increase: PriceIncrease, _ old: Line) -> String? {
        guard self.before.app.settings.timeRate == .realTime,
            let product = self.before.app.catalogue.product(old.latest.productID), let plan = product.subscription
        else { return nil }
        let agreed = old.increase.flatMap { $0.status == .agreed ? $0.price : nil } ?? old.agreedPrice
        let held = (agreed ?? product.terms(billed: old.latest.billingPlan)?.price ?? product.price).milliunits
        let rise = increase.price.milliunits - held
        let isYearly = plan.period.unit == .year && old.latest.billingPlan != .monthly
        let isMuch = 2 * rise > held && rise > (isYearly ? 50_000 : 5_000)
        let isRepeated = old.lastIncrease.map {
            self.before.now < Self.end(of: Period(1, .year), from: $0, day: CivilTime($0).day)
        }
        let wanted: PriceIncreaseStatus = isMuch || isRepeated == true ? .pending : .agreed
        return increase.status == wanted
            ? nil
            : "from \(held) to \(increase.price) after \(String(describing: old.lastIncrease)): \(increase.status)"
    }

    private func refunded(_ reason: RevocationReason, _ share: RefundShare, _ account: Int) -> String? {
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
        case .prorated:
            guard let end = row.expirationDate else { return "a part of no period was refunded" }
            let length = end.milliseconds(since: row.purchaseDate)
            let left = min(length, end.milliseconds(since: self.after.now))
            let part = Double(left) / Double(length) * 100_000
            if abs(part - Double(revocation.percentageMilli)) > 1 {
                return "\(revocation.percentageMilli) refunded of \(left) ms of \(length)"
            }
        }
        if revocation.reason != reason { return "refunded because of \(revocation.reason)" }
        if revocation.type != (revocation.percentageMilli == 100_000 ? .refundFull : .refundProrated) {
            return "\(revocation.percentageMilli) refunded as \(revocation.type)"
        }
        let lost = self.entitlements(account, self.before).subtracting(self.entitlements(account, self.after))
        return lost.subtracting([row.productID]).isEmpty ? nil : "a refund of \(row.productID) took \(lost.sorted())"
    }

    /// A reversed refund leaves everything as if it had not happened, apart from the time that has passed. That time
    /// costs nothing, and the status follows from the dates (section 14, and the derivation of section 5).
    private func reinstated(_ account: Int) -> String? {
        let known = Dictionary(
            uniqueKeysWithValues: self.before.rows[account].map { ($0.transaction.id, $0.transaction) })
        let changed = self.after.rows[account].map(\.transaction).filter { known[$0.id] != $0 }
        guard changed.count == 1, let row = changed.first, var wanted = known[row.id], wanted.revocation != nil else {
            return "a refund was taken back, and transactions \(changed.map(\.id)) came or changed"
        }
        wanted.revocation = nil
        if row != wanted { return "a refund was taken back, and transaction \(row.id) is another than it was" }
        guard let line = self.after.records[account]?.lines.first(where: { $0.latest.id == row.id }),
            let end = row.expirationDate
        else { return nil }
        let now = self.after.now
        let old = self.sameLineBefore(line, account)
        let state: RenewalState =
            if now < end {
                .subscribed
            } else if let grace = old?.retry?.graceUntil, now < grace {
                .inGracePeriod
            } else if let until = old?.retry?.until, now < until {
                .inBillingRetryPeriod
            } else {
                .expired
            }
        return self.state(line, self.after) == state
            ? nil : "a refund was taken back, and \(String(describing: self.state(line, self.after))), not \(state)"
    }

    private func renewed(_ target: OperationTarget, _ operation: StoreOperation, _ account: Int) -> String? {
        guard let old = self.line(target, account, self.before), let new = self.sameLine(old, account) else {
            return nil
        }
        // At another time rate its period may have ended, and the next periods begun.
        let first = self.firstNew(of: old, account)
        guard let first else { return nil }
        if first.reason != .renewal { return "renewed, by a \(first.reason)" }
        if first.productID != old.nextPlan { return "renewed as \(first.productID), not \(old.nextPlan)" }
        if new.retry != nil, new.boundary > self.after.now { return "renewed, and still failing" }
        switch self.state(old, self.before) {
        case .inGracePeriod?:
            if first.purchaseDate != old.boundary { return "recovered in grace, from \(first.purchaseDate)" }
        case .inBillingRetryPeriod?:
            if first.purchaseDate != self.after.now { return "recovered in retry, from \(first.purchaseDate)" }
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

    /// The first new transaction of a line. Older transactions do not count, even if one is newer than the line's
    /// latest: after the deletion of an upgrade, the previous transaction remains.
    private func firstNew(of line: Line, _ account: Int) -> Transaction? {
        let known = Set(self.before.rows[account].map(\.transaction.id))
        return self.after.rows[account].map(\.transaction)
            .filter { $0.originalID == line.originalID && !known.contains($0.id) }.min { $0.id < $1.id }
    }

    private func aged(_ old: Line, _ new: Line, _ account: Int) -> String? {
        let isDue =
            old.goesOn && old.retry == nil && old.lapse == nil && old.latest.revocation == nil
            && old.boundary <= self.after.now
        let fails = self.before.records[account]?.chargesFail ?? self.before.app.settings.areRenewalBillingIssuesEnabled
        let isWithdrawn = self.before.app.catalogue.productOnSale(old.nextPlan) == nil
        if !isDue { return new == old ? nil : "nothing was due at \(old.boundary), and line \(old.originalID) changed" }
        // Checked before the price, because a withdrawn product does not renew even with consent.
        if isWithdrawn {
            return new.lapse == .productUnavailable ? nil : "withdrawn, and \(String(describing: new.lapse))"
        }
        // A price belongs to a plan, so a change of plan ends the question.
        let staysInPlan = old.staysInPlan
        if old.increase?.status == .pending, staysInPlan {
            return new.lapse == .didNotConsentToPriceIncrease
                ? nil : "not agreed to, and \(String(describing: new.lapse))"
        }
        let first = self.firstNew(of: old, account)
        if fails {
            guard first == nil, let retry = new.retry else { return "the charge fails, and it renewed" }
            if retry.failedAt != old.boundary { return "failed at \(retry.failedAt), not \(old.boundary)" }
            return self.retried(retry, old)
        }
        guard let first else { return "due at \(old.boundary), and not renewed: \(new)" }
        if first.purchaseDate != old.boundary { return "renewed from \(first.purchaseDate), not \(old.boundary)" }
        if first.productID != old.nextPlan { return "renewed as \(first.productID), not \(old.nextPlan)" }
        if first.originalPurchaseDate != old.latest.originalPurchaseDate { return "the line began again" }
        return self.renewedTerms(first, old, staysInPlan: staysInPlan, day: self.dayCounted(of: old, account))
    }

    /// Price, offer and end of a renewal.
    ///
    /// `day` is the day of the month from which the line counts: from its rows, otherwise from its record.
    private func renewedTerms(_ first: Transaction, _ old: Line, staysInPlan: Bool, day counted: Int64?) -> String? {
        guard let product = self.before.app.catalogue.product(first.productID),
            let terms = product.terms(billed: old.nextBilled)
        else { return "renewed as what is not sold" }
        if (first.billingPlan == .monthly) != (old.nextBilled == .monthly) {
            return "renewed billed \(first.billingPlan), not \(old.nextBilled)"
        }
        if let found = Self.fault(inCharge: first, after: staysInPlan ? old.latest : nil) { return found }
        let offer = old.nextDiscount
        if first.offer?.type != offer?.type || first.offer?.id != offer?.id {
            return "the offer is \(String(describing: first.offer)), not \(String(describing: offer?.id))"
        }
        let agreed = staysInPlan ? old.increase?.price ?? old.agreedPrice : nil
        let price = offer?.price ?? agreed ?? terms.price
        if first.price?.milliunits != price.milliunits {
            return "charged \(String(describing: first.price)), not \(price)"
        }
        guard self.before.app.settings.timeRate == .realTime, let end = first.expirationDate else { return nil }
        let length = offer.map { $0.paymentMode == .payAsYouGo ? terms.length : $0.period } ?? terms.length
        let begun = CivilTime(first.purchaseDate)
        let anchor = counted ?? old.anchorDay
        let isOnDay = begun.day == min(anchor, CivilTime.days(inMonth: begun.month, of: begun.year))
        let wanted = Self.end(of: length, from: first.purchaseDate, day: isOnDay ? anchor : begun.day)
        return end == wanted ? nil : "it lasts until \(end), not \(wanted)"
    }

    /// Grace and retry of section 12 of the model and section 7 of the format, for real time.
    private func retried(_ retry: BillingRetry, _ old: Line) -> String? {
        let settings = self.before.app.settings
        guard settings.timeRate == .realTime else { return nil }
        let day: Int64 = 86_400_000
        if old.owesCharges {
            let isSo = retry.until.milliseconds(since: retry.failedAt) == 90 * day && retry.graceUntil == nil
            return isSo ? nil : "within a commitment, and \(retry)"
        }
        if retry.until.milliseconds(since: retry.failedAt) != 60 * day { return "retry until \(retry.until)" }
        let wasFree = old.latest.price?.milliunits == 0
        let next = old.nextDiscount?.price ?? self.before.app.catalogue.product(old.nextPlan)?.price
        let isPaidToPaid = !wasFree && next?.milliunits != 0
        let hasGrace = settings.isGracePeriodEnabled && (settings.hasGracePeriodForAllRenewals || isPaidToPaid)
        guard hasGrace else {
            return retry.graceUntil == nil ? nil : "grace until \(String(describing: retry.graceUntil))"
        }
        guard let grace = retry.graceUntil else { return "no grace" }
        let isWeekly = old.latest.productID == "weekly"
        let days = isWeekly ? (settings.gracePeriodDays == 3 ? 3 : 6) : settings.gracePeriodDays
        return grace.milliseconds(since: retry.failedAt) == days * day ? nil : "grace until \(grace)"
    }
}
