import PerchBase
import PerchModel
import PerchStore

/// Invariants of a store at every moment. Each returns a sentence about a failure.
///
/// They follow the document of the model, not its code, and compute results in another way.
///
/// A value that accompanies a world. It checks an account when that or the app changed, and all accounts on request.
/// Facts are only appended, so a fold continues from its last position.
package struct ModelInvariants {
    let world: ModelWorld
    /// The state at the last full check. Reads of the past must still return it.
    private(set) var looks: [ModelSnapshot] = []
    private var folds = ModelWorld.accounts.map { _ in Fold() }
    private var seen: ModelSnapshot?

    package init(_ world: ModelWorld) { self.world = world }

    /// The state that follows from the facts of an account.
    fileprivate struct Fold {
        var record: AccountRecord?
        var factCount = 0
        /// Lines whose latest transaction was deleted, until the purchaser's next period.
        var takenOut: Set<TransactionID> = []
        /// All deleted transactions.
        var deleted: Set<TransactionID> = []
        /// The last price increase of each line's product.
        var raised: [TransactionID: Instant] = [:]
        /// The price increase of the next period, with its question and answer.
        var asked: [TransactionID: PriceIncrease] = [:]
        /// The agreed price of each line's product, which is now charged.
        var agreed: [TransactionID: Money] = [:]
        /// The redeemed offer of the next period, before it begins.
        var waiting: [TransactionID: SubscriptionOffer] = [:]
        /// All finished transactions.
        var finished: Set<TransactionID> = []
    }

    package mutating func breach(in snapshot: ModelSnapshot, looksAtAll: Bool) -> String? {
        defer { self.seen = snapshot }
        let app = snapshot.app
        let now = snapshot.now
        let isSameApp = self.seen?.app.revision == app.revision
        for account in ModelWorld.accounts.indices {
            guard let record = snapshot.records[account] else { continue }
            let isSame = isSameApp && self.seen?.records[account]?.revision == record.revision
            if isSame, !looksAtAll { continue }
            let rows = snapshot.rows[account]
            let found =
                self.rebuilt(record, account, anew: looksAtAll, now: now)
                ?? self.breach(in: record, rows, deleted: self.folds[account].deleted, app: app, now: now)
                ?? self.remembered(record, rows, self.folds[account])
                ?? (looksAtAll ? self.read(account, rows, finished: self.folds[account].finished) : nil)
            if let found { return "\(ModelWorld.accounts[account]): \(found)" }
        }
        if looksAtAll { self.looks.append(snapshot) }
        if !isSameApp, let found = self.sold(app) { return found }
        return self.shared(snapshot.records.compactMap { $0 }, app: app, now: now)
    }

    private func breach(
        in record: AccountRecord, _ rows: [TransactionRow], deleted: Set<TransactionID>, app: AppState, now: Instant
    ) -> String? {
        if let found = self.bounded(record) ?? self.agreesWithRows(record, rows) { return found }
        if let found = self.settled(record, now: now) ?? self.valid(record, app: app, now: now) { return found }
        if let found = self.entitled(record, rows, app: app, now: now) { return found }
        if let found = self.crossings(record, app: app, now: now) { return found }
        if let found = self.introduced(record, rows) ?? self.contiguous(record, rows, deleted) { return found }
        return self.offered(rows) ?? self.told(record, rows, app: app, now: now)
    }

    /// A record rebuilt from its facts equals the stored record.
    private mutating func rebuilt(_ record: AccountRecord, _ account: Int, anew: Bool, now: Instant) -> String? {
        var fold = anew ? Fold() : self.folds[account]
        let facts = self.world.storage.facts(of: record.account).dropFirst(fold.factCount)
        var folded = fold.record ?? AccountRecord(account: record.account, app: record.app)
        for fact in facts {
            fold.follow(fact, in: folded)
            folded.apply(fact)
            if fact.effective > now { return "a fact of \(fact.effective) is of the future" }
        }
        folded.revision = record.revision
        folded.committed = record.committed
        fold.factCount += facts.count
        fold.record = folded
        self.folds[account] = fold
        return folded == record ? nil : "the record is not the fold of its facts: \(folded) is not \(record)"
    }

    /// One own line for each group; every line, owned product and share once.
    private func bounded(_ record: AccountRecord) -> String? {
        for group in Set(record.lines.map(\.groupID)).sorted() {
            let own = record.lines.filter { $0.isOwn && $0.groupID == group }
            if own.count > 1 { return "\(own.count) own lines in \(group)" }
        }
        if Set(record.lines.map(\.originalID)).count != record.lines.count { return "two lines begin with one number" }
        let owned = record.owned.map {
            "\($0.productID)/\($0.ownership)" + ($0.ownership == .familyShared ? "/\($0.originalID)" : "")
        }
        if Set(owned).count != owned.count { return "a product is owned twice: \(owned)" }
        if record.owned.contains(where: { $0.revocation != nil }) { return "something revoked is owned" }
        if Set(record.pendingPurchases.map(\.id)).count != record.pendingPurchases.count {
            return "two purchases that wait have one number"
        }
        return nil
    }

    /// The record agrees with its rows, and has the latest of them.
    private func agreesWithRows(_ record: AccountRecord, _ rows: [TransactionRow]) -> String? {
        let transactions: [Transaction] = rows.map(\.transaction)
        var byID: [TransactionID: Transaction] = [:]
        for transaction in transactions {
            if byID.updateValue(transaction, forKey: transaction.id) != nil { return "two rows have one number" }
        }
        for line in record.lines {
            guard byID[line.latest.id] == line.latest else {
                return
                    "line \(line.originalID) holds \(line.latest), its row is \(String(describing: byID[line.latest.id]))"
            }
            let inLine: [Transaction] = transactions.filter { $0.originalID == line.originalID && !$0.isUpgraded }
            if let newest = inLine.max(by: { $0.id < $1.id }), newest.id != line.latest.id {
                return "line \(line.originalID) holds transaction \(line.latest.id), the newest is \(newest.id)"
            }
            if line.latest.isUpgraded { return "the latest of line \(line.originalID) was left behind" }
        }
        for row in transactions {
            if row.appTransactionID != record.appTransactionID { return "transaction \(row.id) is of another account" }
            // Only the purchaser sees the token of a purchase.
            if row.ownership != .purchased, !row.appAccountToken.isEmpty {
                return "transaction \(row.id) is shared with the purchaser's token"
            }
            if let first = byID[row.originalID], row.originalPurchaseDate != first.purchaseDate {
                return "transaction \(row.id) began at \(row.originalPurchaseDate), its line at \(first.purchaseDate)"
            }
        }
        for owned in record.owned where byID[owned.id] != owned {
            return "it owns \(owned), its row is \(String(describing: byID[owned.id]))"
        }
        for row in transactions where row.productType == .nonConsumable || row.productType == .nonRenewable {
            let isOwned = record.owned.contains { $0.productID == row.productID && $0.ownership == row.ownership }
            if row.revocation == nil, !isOwned {
                return "transaction \(row.id) of \(row.productID) was not refunded, and is not owned"
            }
        }
        return nil
    }

    /// The state that a line must remember, computed from its facts. Laws that read it from the record would not notice
    /// a record that forgot.
    private func remembered(_ record: AccountRecord, _ rows: [TransactionRow], _ fold: Fold) -> String? {
        for line in record.lines where line.isOwn {
            let id = line.originalID
            // Valid while the line has that product: a second increase needs consent.
            if let raised = fold.raised[id], line.lastIncrease != raised {
                return "line \(id) was raised at \(raised), and knows \(String(describing: line.lastIncrease))"
            }
            if let agreed = fold.agreed[id], line.agreedPrice != agreed {
                return "line \(id) costs \(agreed) by agreement, and knows \(String(describing: line.agreedPrice))"
            }
            if let offer = fold.waiting[id], line.queuedOffer != offer {
                return "offer \(offer.id) waits for line \(id), which knows \(String(describing: line.queuedOffer?.id))"
            }
        }
        return self.paid(record, rows)
    }

    /// The history that offers depend on follows from the existing rows, whatever was cut, refunded or deleted.
    private func paid(_ record: AccountRecord, _ rows: [TransactionRow]) -> String? {
        for group in ModelShop.groups {
            let own = rows.map(\.transaction).filter { $0.subscriptionGroupID == group && $0.ownership == .purchased }
            guard let history = record.histories.first(where: { $0.groupID == group }) else {
                if own.isEmpty { continue }
                return "nothing is remembered of the \(own.count) transactions in \(group)"
            }
            if own.isEmpty { return "something is remembered of \(group), where nothing is left" }
            if history.paidMilliseconds != Self.paidMilliseconds(own) {
                return "\(history.paidMilliseconds) ms are paid for in \(group), not \(Self.paidMilliseconds(own))"
            }
            // The wait is between redemptions. A renewal at the offer's price is not one.
            let redeemed = own.filter { $0.offer?.type == .winBack && $0.reason == .purchase }
            let wonBack = redeemed.map(\.purchaseDate).max()
            if history.lastWinBack != wonBack { return "won back at \(String(describing: history.lastWinBack))" }
        }
        return nil
    }

    /// Paid periods without refunds, each from its purchase to its end.
    static func paidMilliseconds(_ rows: [Transaction]) -> Int64 {
        var milliseconds: Int64 = 0
        for row in rows where row.revocation == nil && row.price?.milliunits != 0 {
            milliseconds += row.expirationDate?.milliseconds(since: row.purchaseDate) ?? 0
        }
        return milliseconds
    }

    /// Everything due is attempted, and the due index agrees.
    private func settled(_ record: AccountRecord, now: Instant) -> String? {
        if let due = record.attemptDue, due <= now { return "an attempt of \(due) is not settled at \(now)" }
        let entries = self.world.storage.due(self.world.app, through: .distantFuture, limit: .max)
            .filter { $0.account == record.account }
        let expected = record.attemptDue.map { [$0] } ?? []
        return entries.map(\.instant) == expected ? nil : "due are \(entries), the record says \(expected)"
    }

    /// The validity table of section 4, the derivation of section 5, and the fields of each state.
    private func valid(_ record: AccountRecord, app: AppState, now: Instant) -> String? {
        for group in ModelShop.groups {
            let statuses = subscriptionStatuses(of: record, inGroup: group, app: app, at: now).value
            for status in statuses.statuses {
                if let found = Self.fault(in: status, app: app, now: now) {
                    return "status of transaction \(status.transaction.value.id) in \(group): \(found)"
                }
            }
            let entitled = statuses.statuses.indices.filter {
                statuses.statuses[$0].state.isEntitled && simulatedVerification(app) == .verified
            }
            if let effective = statuses.effectiveIndex {
                guard entitled.contains(effective) else { return "the status that counts does not entitle" }
                let level = { (index: Int) in
                    app.catalogue.product(statuses.statuses[index].transaction.value.productID)?.subscription?.level
                        ?? 99
                }
                if let better = entitled.first(where: { level($0) < level(effective) }) {
                    return "status \(effective) counts, and \(better) has a higher level of service"
                }
            } else if !entitled.isEmpty {
                return "no status counts, and \(entitled.count) entitle"
            }
        }
        return nil
    }

    private static func fault(in status: SubscriptionStatus, app: AppState, now: Instant) -> String? {
        let transaction = status.transaction.value
        let info = status.renewalInfo.value
        guard let end = transaction.expirationDate else { return "it has no end" }
        if info.renewalDate != end { return "it renews at \(info.renewalDate) and ends at \(end)" }
        if info.currentProductID != transaction.productID { return "two products" }
        if info.originalTransactionID != transaction.originalID { return "two lines" }
        if info.recentSubscriptionStartDate > transaction.purchaseDate { return "its run begins after its last period" }
        if transaction.revocation != nil { return status.state == .revoked ? nil : "refunded, and \(status.state)" }
        let isPast = end <= now
        let grace = info.gracePeriodExpirationDate
        switch status.state {
        case .subscribed:
            if isPast, !info.willAutoRenew { return "subscribed, ended and not renewing" }
            if info.expirationReason != nil || info.isInBillingRetry || grace != nil { return "subscribed, and failed" }
        case .inGracePeriod:
            guard isPast, info.isInBillingRetry, info.expirationReason == .billingError, let grace, now < grace else {
                return "in grace, with \(info)"
            }
            if grace <= end { return "the grace period ends at \(grace), before the period" }
        case .inBillingRetryPeriod:
            guard isPast, info.isInBillingRetry, info.expirationReason == .billingError, grace == nil else {
                return "in retry, with \(info)"
            }
        case .expired:
            guard isPast, !info.isInBillingRetry, info.expirationReason != nil, grace == nil else {
                return "expired, with \(info)"
            }
            if info.willAutoRenew { return "expired, and will renew" }
            if info.autoRenewPreference != nil { return "expired, and has a preference" }
        default:
            return "not refunded, and \(status.state)"
        }
        if !info.willAutoRenew, info.commitment == nil, info.autoRenewPreference != nil || info.renewalPrice != nil {
            return "it will not renew, and for \(String(describing: info.renewalPrice))"
        }
        if info.renewalPrice != nil, info.autoRenewPreference == nil { return "a price for nothing" }
        if !info.eligibleWinBackOfferIDs.isEmpty, status.state != .expired { return "won back, and \(status.state)" }
        return nil
    }

    /// Entitlement and status agree for each product.
    private func entitled(
        _ record: AccountRecord, _ rows: [TransactionRow], app: AppState, now: Instant
    ) -> String? {
        for product in ModelShop.subscriptions {
            let group = ModelShop.group(of: product)
            let entitling = subscriptionStatuses(of: record, inGroup: group, app: app, at: now).value.statuses
                .filter { $0.state.isEntitled && $0.transaction.value.productID == product }
                .map(\.transaction.value)
            let found = currentEntitlement(of: record, toProduct: product, app: app, at: now).value?.value
            if entitling.isEmpty != (found == nil) {
                return
                    "\(product): \(entitling.count) statuses entitle, the entitlement is \(String(describing: found?.id))"
            }
            if let found, !entitling.contains(found) {
                return "\(product): entitled by \(found.id), which has no status"
            }
            if let found, found.ownership == .familyShared, entitling.contains(where: { $0.ownership == .purchased }) {
                return "\(product): what is shared went before what is owned"
            }
        }
        for product in ModelShop.others {
            let lasting = rows.map(\.transaction).filter {
                $0.productID == product && $0.revocation == nil && $0.productType != .consumable
            }
            let found = currentEntitlement(of: record, toProduct: product, app: app, at: now).value?.value
            if lasting.isEmpty != (found == nil) {
                return "\(product): \(lasting.count) rows entitle, the entitlement is \(String(describing: found?.id))"
            }
            if let found, found.productType == .nonRenewable,
                let newest = lasting.max(by: { ($0.purchaseDate, $0.id) < ($1.purchaseDate, $1.id) }), newest != found
            {
                return "\(product): entitled by \(found.id), the latest is \(newest.id)"
            }
        }
        return nil
    }

    /// A view changes at its next crossing and not before, at whatever time it is read.
    private func crossings(_ record: AccountRecord, app: AppState, now: Instant) -> String? {
        for group in ModelShop.groups {
            let view = { (instant: Instant) in
                subscriptionStatuses(of: record, inGroup: group, app: app, at: instant)
            }
            let here = view(now)
            let horizon = now.advanced(byMilliseconds: 800 * 86_400_000)
            let crossing = min(here.nextCrossing ?? horizon, horizon)
            let middle = now.advanced(byMilliseconds: crossing.milliseconds(since: now) / 2)
            for instant in [middle, crossing.advanced(byMilliseconds: -1)] where instant > now {
                if view(instant).value != here.value {
                    return "\(group) changes before \(crossing): at \(instant) it is not what it is at \(now)"
                }
            }
            if here.nextCrossing != nil, crossing < horizon, view(crossing).value == here.value {
                return "\(group) does not change at its crossing \(crossing)"
            }
        }
        return nil
    }

    /// An account uses an introductory offer once for each group.
    private func introduced(_ record: AccountRecord, _ rows: [TransactionRow]) -> String? {
        for group in ModelShop.groups {
            let used = rows.contains {
                $0.transaction.offer?.type == .introductory && $0.transaction.subscriptionGroupID == group
                    && $0.transaction.ownership == .purchased
            }
            if isEligibleForIntroductoryOffer(record, groupID: group) == used {
                return "\(group): an introductory offer was \(used ? "" : "not ")used, eligibility says otherwise"
            }
        }
        return nil
    }

    /// Periods of a line do not overlap, and end after they begin. A renewal is compared with the period before it. If
    /// that was deleted, an earlier one may have been refunded at the time, and the refund reversed since.
    private func contiguous(
        _ record: AccountRecord, _ rows: [TransactionRow], _ deleted: Set<TransactionID>
    ) -> String? {
        for line in record.lines where line.isOwn {
            let periods = rows.map(\.transaction).filter { $0.originalID == line.originalID }.sorted { $0.id < $1.id }
            for (before, after) in zip(periods, periods.dropFirst())
            where after.reason == .renewal && !before.isUpgraded && before.revocation == nil
                && !deleted.contains(where: { before.id < $0 && $0 < after.id })
            {
                if let end = before.expirationDate, after.purchaseDate < end {
                    return "transaction \(after.id) begins at \(after.purchaseDate), before \(before.id) ends at \(end)"
                }
            }
            for period in periods {
                guard let end = period.expirationDate, end >= period.purchaseDate else {
                    return "transaction \(period.id) ends before it begins"
                }
                if period.subscriptionGroupID != line.groupID { return "transaction \(period.id) is of another group" }
            }
        }
        return nil
    }

    /// A free trial and a gift cost nothing, everything else has a price.
    private func offered(_ rows: [TransactionRow]) -> String? {
        for row in rows.map(\.transaction) where row.ownership == .purchased {
            let isGift = row.productID == "coins" && row.offer?.id == "gifts"
            let isFree = row.offer?.paymentMode == .freeTrial || isGift
            if isFree != (row.price?.milliunits == 0) {
                return
                    "transaction \(row.id) with \(String(describing: row.offer)) costs \(String(describing: row.price))"
            }
        }
        return nil
    }

    /// A family member's copy equals the purchaser's shared line.
    private func shared(_ records: [AccountRecord], app: AppState, now: Instant) -> String? {
        var mirrored: Set<TransactionID> = []
        let takenOut = self.folds.reduce(into: Set()) { $0.formUnion($1.takenOut) }
        for purchaser in records {
            if Set(purchaser.shares.map(\.member)).count > 5 { return "it shares with more than five" }
            for share in purchaser.shares {
                mirrored.insert(share.memberOriginal)
                guard share.member != purchaser.account else { return "it shares with itself" }
                guard let member = records.first(where: { $0.account == share.member }) else {
                    return "it shares with nobody"
                }
                guard let source = purchaser.lines.first(where: { $0.originalID == share.original }) else { continue }
                let copy = member.lines.first { $0.originalID == share.memberOriginal }
                if let found = Self.fault(
                    in: copy, of: source, isTakenOut: takenOut.contains(share.memberOriginal), app)
                {
                    return "line \(share.memberOriginal), shared from \(share.original): \(found)"
                }
            }
        }
        for record in records {
            for line in record.lines where !line.isOwn && line.latest.revocation == nil {
                if mirrored.contains(line.originalID) { continue }
                // After a deletion the member may have an older period, which ended before the sharing.
                guard takenOut.contains(line.originalID),
                    !line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds).isEntitled
                else { return "line \(line.originalID) is shared by nobody" }
            }
            if record.lines.contains(where: { !$0.isOwn && $0.attemptDue != nil }) { return "a shared line is due" }
        }
        return nil
    }

    /// A member's line equals the purchaser's, unless a tester deleted the member's transaction (row 41). The rest, an
    /// older period or nothing, then decides until the purchaser's next period.
    private static func fault(in copy: Line?, of source: Line, isTakenOut: Bool, _ app: AppState) -> String? {
        guard let copy else { return isTakenOut ? nil : "the member has nothing of it" }
        if copy.isOwn { return "it is owned" }
        if isTakenOut {
            if copy.latest.purchaseDate > source.latest.purchaseDate { return "it is newer than what is shared" }
            return copy.latest.revocation == nil && copy.awaitsAttempt ? "it is to be renewed by nobody" : nil
        }
        // A change to a product that is not shareable ends the sharing.
        if app.catalogue.product(source.latest.productID)?.isFamilyShareable == false {
            return copy.latest.revocation == nil ? "it cannot be shared, and is" : nil
        }
        // A cancellation dated before the sharing reaches the member when the sharing begins.
        let isCancelled = source.lapse == .autoRenewDisabled && copy.lapse == source.lapse
        let isRetrySame =
            copy.retry == source.retry || isCancelled && copy.retry?.failedAt == source.retry?.failedAt
        let isSame =
            copy.latest.productID == source.latest.productID && copy.boundary == source.boundary
            && copy.latest.purchaseDate == source.latest.purchaseDate
            && (copy.latest.revocation == nil) == (source.latest.revocation == nil)
            && copy.willAutoRenew == source.willAutoRenew && isRetrySame
        return isSame ? nil : "\(copy) is not \(source)"
    }
}

extension ModelInvariants.Fold {
    /// Records deletions from a shared line, and what undoes them. `record` is the one before the fact.
    fileprivate mutating func follow(_ fact: Fact, in record: AccountRecord) {
        switch fact.body {
        case .deleted(let id, _):
            self.deleted.insert(id)
            self.forgetTerms()
            for line in record.lines where !line.isOwn && line.latest.id == id { self.takenOut.insert(line.originalID) }
        case .cleared:
            self.takenOut.formUnion(record.lines.filter { !$0.isOwn }.map(\.originalID))
            self.forgetTerms()
        case .finished(let id):
            self.finished.insert(id)
        case .priceRaised(let original, let increase):
            self.raised[original] = increase.asked
            self.asked[original] = increase
        case .priceAnswered(let original, let agrees):
            self.asked[original]?.status = agrees ? .agreed : .pending
        case .offerQueued(let original, let offer):
            self.waiting[original] = offer
        case .autoRenewSet(let original, _, let preference, let billingPlan):
            // It was redeemed for the period that was next at that time.
            let held = record.lines.first { $0.originalID == original }
            let meant = preference == held?.latest.productID && billingPlan == held?.latest.billingPlan
            let isSame =
                held?.preference == preference && held?.preferredBillingPlan == (meant ? .unspecified : billingPlan)
            if !isSame { self.waiting[original] = nil }
        case .purchased(let transaction, _):
            let id = transaction.originalID
            let held = record.lines.first { $0.originalID == id }
            if held?.latest.productID != transaction.productID { self.raised[id] = nil }
            (self.asked[id], self.agreed[id], self.waiting[id]) = (nil, nil, nil)
        case .renewed(let transaction, _):
            let id = transaction.originalID
            let held = record.lines.first { $0.originalID == id }
            let isOfSamePlan = held?.staysInPlan ?? false
            if held?.latest.productID != transaction.productID { self.raised[id] = nil }
            if !isOfSamePlan { self.agreed[id] = nil }
            if isOfSamePlan, let asked = self.asked[id], asked.status == .agreed { self.agreed[id] = asked.price }
            self.asked[id] = nil
            // It waits behind a running offer and behind a commitment; otherwise its first period begins.
            let goesOn = isOfSamePlan && held.map { $0.offerPeriodsLeft > 0 } ?? false
            let isBehind = held?.hasPlanBehindCommitment ?? false
            if !goesOn, !isBehind { self.waiting[id] = nil }
        case .sharedLineSet(let line, isNew: true):
            self.takenOut.remove(line.originalID)
        default:
            break
        }
    }
}

extension ModelInvariants.Fold {
    /// After a deletion the remaining transactions determine the terms of the line.
    fileprivate mutating func forgetTerms() {
        self.raised.removeAll()
        self.asked.removeAll()
        self.agreed.removeAll()
        self.waiting.removeAll()
    }
}
