import PerchBase
import PerchModel
import PerchStore

/// Compares the store with the reference after every event, and is the one place that defines a difference.
///
/// It leaves out:
///
/// - numbers and signing dates that the store assigns, and account and order numbers;
/// - reasons of refusals, and refusals of intents, messages, restores, finishing and settings;
/// - lists as of an instant, and the past of purchases in the past that have renewed since: laws check them;
/// - messages and crossings of views: laws check them from the statuses; forecasts: `ForesightTests` does;
/// - the memory of shared lines: the purchaser's memory and all reads of the member are compared;
/// - offers of a monthly plan: the shop has none.
package struct ReferenceComparison {
    var reference: ReferenceStore
    /// For repeated reads of earlier instants only.
    let world: ModelWorld
    /// States at earlier instants, oldest first.
    var looks: [ReferenceLook] = []
    var events = 0
    /// The inputs of an account's views at the last comparison.
    private var seen: [Int: Sources] = [:]

    private struct Sources: Equatable {
        var record: UInt64
        var app: UInt64
        var now: Instant
    }

    package init(_ world: ModelWorld) {
        self.world = world
        self.reference = ReferenceStore(
            world.state.catalogue, accounts: ModelWorld.accounts.count, at: world.now)
    }

    /// Applies the event to the reference. Returns the difference, nil for none.
    package mutating func breach(
        of action: ModelAction, answer: ModelWorld.Answer, in snapshot: ModelSnapshot
    ) -> String? {
        if let found = self.reference.live(action, answer: answer) { return "reference: \(found)" }
        if self.reference.now != snapshot.now { return "reference: it is \(self.reference.now), not \(snapshot.now)" }
        if let found = self.fault(inApp: snapshot.app) { return "reference: \(found)" }
        for account in ModelWorld.accounts.indices {
            if let found = self.fault(in: snapshot, account) {
                return "reference: \(ModelWorld.accounts[account]): \(found)"
            }
        }
        let found = self.fault(in: answer) ?? self.faultInPast(action, answer: answer)
        return found.map { "reference: \($0)" }
    }

    /// Settings, and the edited fields of products. Billing up front costs the price of the product.
    private func fault(inApp app: AppState) -> String? {
        let shop = self.reference.shop
        if let fault = self.differs("the settings", shop.settings, app.settings) { return fault }
        for found in app.catalogue.products {
            guard let wanted = shop.products[found.id] else { return "\(found.id) is sold, and nobody knows it" }
            if let fault = self.differs("the price of \(found.id)", wanted.price.milliunits, found.price.milliunits)
                ?? self.differs("withdrawn \(found.id)", wanted.isWithdrawn, found.isWithdrawn)
                ?? self.differs("shareable \(found.id)", wanted.isFamilyShareable, found.isFamilyShareable)
            {
                return fault
            }
        }
        return nil
    }

    private mutating func fault(in snapshot: ModelSnapshot, _ account: Int) -> String? {
        let rows = snapshot.rows[account]
        if let found = self.named(rows, account) { return found }
        for row in rows {
            guard let serial = self.reference.serials[row.transaction.id],
                let wanted = self.reference.accounts[account].transaction(serial)
            else { return "transaction \(row.transaction.id), \(row.transaction.productID), should not be there" }
            if let found = self.fault(in: row, wanted) {
                return "transaction \(row.transaction.id), \(row.transaction.productID): \(found)"
            }
        }
        if rows.count != self.reference.accounts[account].transactions.count {
            return "\(rows.count) transactions, not \(self.reference.accounts[account].transactions.count)"
        }
        guard let record = snapshot.records[account] else { return nil }
        if let found = self.fault(inStatusesOf: record, account, snapshot) ?? self.fault(inMemoryOf: record, account) {
            return found
        }
        // Entitlements and offers are expensive and follow from statuses and transactions, so each combination is
        // compared once.
        let sources = Sources(record: record.revision, app: snapshot.app.revision, now: snapshot.now)
        if self.seen[account] == sources { return nil }
        self.seen[account] = sources
        return self.fault(inEntitlementsOf: record, account, snapshot)
            ?? self.fault(inOffersOf: record, account, snapshot)
    }

    /// Assigns the numbers of new transactions to the expected ones, in the order of both.
    private mutating func named(_ rows: [TransactionRow], _ account: Int) -> String? {
        let new = rows.map(\.transaction).filter { self.reference.serials[$0.id] == nil }.sorted { $0.id < $1.id }
        for transaction in new {
            let isShared = transaction.ownership == .familyShared
            let fitting = self.reference.accounts[account].transactions.filter {
                self.reference.numbers[$0.serial] == nil && $0.product == transaction.productID
                    && $0.isShared == isShared
            }
            // Of two in one event, each belongs to its own line.
            let begun = fitting.filter { $0.begin == transaction.purchaseDate }
            let inLine = begun.first { self.reference.numbers[$0.first] == transaction.originalID }
            guard let wanted = inLine ?? begun.first ?? fitting.first else {
                return "transaction \(transaction.id) came, \(transaction.productID) from "
                    + "\(transaction.purchaseDate) on, and should not have"
            }
            self.reference.name(wanted.serial, transaction.id)
        }
        guard
            let missing = self.reference.accounts[account].transactions.first(where: {
                self.reference.numbers[$0.serial] == nil
            })
        else { return nil }
        return "\(missing.product) from \(missing.begin) on is missing"
    }

    private func differs<Value: Equatable>(_ what: String, _ wanted: Value, _ found: Value) -> String? {
        wanted == found ? nil : "\(what) should be \(wanted), and is \(found)"
    }

    private func fault(in row: TransactionRow, _ wanted: ReferenceTransaction) -> String? {
        let found = row.transaction
        // What is paid once has no period.
        let offer = wanted.offer.map {
            TransactionOffer(
                id: $0.id, type: $0.type, paymentMode: $0.paymentMode,
                period: wanted.type == .autoRenewable ? $0.period : nil)
        }
        if let fault = self.differs("the product", wanted.product, found.productID)
            ?? self.differs("the type", wanted.type, found.productType)
            ?? self.differs("the group", wanted.group, found.subscriptionGroupID)
            ?? self.differs("the first of its line", self.reference.numbers[wanted.first], found.originalID)
            ?? self.differs("the purchase", wanted.begin, found.purchaseDate)
            ?? self.differs("the first purchase", wanted.lineBegin, found.originalPurchaseDate)
            ?? self.differs("the end", wanted.end, found.expirationDate)
        {
            return fault
        }
        if let fault = self.differs("the price", wanted.price, found.price)
            ?? self.differs("the offer", offer, found.offer)
            ?? self.differs("the reason", wanted.reason, found.reason)
            ?? self.differs("the refund", wanted.refund, found.revocation)
            ?? self.differs("left by an upgrade", wanted.isUpgraded, found.isUpgraded)
            ?? self.differs("shared", wanted.isShared, found.ownership == .familyShared)
        {
            return fault
        }
        return self.differs("the quantity", wanted.quantity, found.quantity)
            ?? self.differs("the token", wanted.token, found.appAccountToken)
            ?? self.differs("the storefront", wanted.storefront, found.storefront)
            ?? self.differs("finished", wanted.isFinished, row.isFinished)
            ?? self.differs("the billing plan", wanted.billing, found.billingPlan)
            ?? self.differs("the commitment", wanted.commitment, found.commitment)
    }

    // MARK: Views

    private func fault(inStatusesOf record: AccountRecord, _ account: Int, _ snapshot: ModelSnapshot) -> String? {
        for group in ModelShop.groups {
            let viewed = subscriptionStatuses(of: record, inGroup: group, app: snapshot.app, at: snapshot.now).value
            let wanted = self.reference.statuses(account, in: group)
            if let found = self.fault(in: viewed.statuses, wanted, group) { return found }
            if let found = self.differs(
                "what counts in \(group)", self.reference.effective(wanted), viewed.effectiveIndex)
            {
                return found
            }
        }
        return nil
    }

    func fault(in viewed: [SubscriptionStatus], _ wanted: [ReferenceStatus], _ group: String) -> String? {
        if let found = self.differs("lines in \(group)", wanted.count, viewed.count) { return found }
        for (wanted, found) in zip(wanted, viewed) {
            if let fault = self.fault(in: found, wanted) {
                return "line \(found.renewalInfo.value.originalTransactionID), \(wanted.state): \(fault)"
            }
        }
        return nil
    }

    private func fault(in found: SubscriptionStatus, _ wanted: ReferenceStatus) -> String? {
        let info = found.renewalInfo.value
        if let fault = self.differs("the state", wanted.state, found.state)
            ?? self.differs("the latest", self.reference.numbers[wanted.latest.serial], found.transaction.value.id)
            ?? self.differs("the line", self.reference.numbers[wanted.line.first], info.originalTransactionID)
            ?? self.differs("the reason of its end", wanted.reason, info.expirationReason)
            ?? self.differs("the end of grace", wanted.graceEnd, info.gracePeriodExpirationDate)
            ?? self.differs(
                "trying again", [.inGracePeriod, .inBillingRetryPeriod].contains(wanted.state), info.isInBillingRetry)
            ?? self.differs("the renewal", wanted.willRenew, info.willAutoRenew)
            ?? self.differs("the plan", wanted.latest.product, info.currentProductID)
            ?? self.differs("the next plan", wanted.preference, info.autoRenewPreference)
        {
            return fault
        }
        return self.differs("the next price", wanted.price, info.renewalPrice)
            ?? self.differs("the next offer", wanted.offer?.id, info.offer?.id)
            ?? self.differs("the next offer's type", wanted.offer?.type, info.offer?.type)
            ?? self.differs("the price increase", wanted.increase, info.priceIncreaseStatus)
            ?? self.differs("the win-back offers", wanted.winBacks, info.eligibleWinBackOfferIDs)
            ?? self.differs("the renewal date", wanted.latest.end, info.renewalDate)
            ?? self.differs("the begin of the run", wanted.line.runBegin, info.recentSubscriptionStartDate)
            ?? self.differs("the next billing plan", wanted.billing, info.renewalBillingPlan)
            ?? self.differs("the commitment", wanted.commitment, info.commitment)
    }

    private func fault(inEntitlementsOf record: AccountRecord, _ account: Int, _ snapshot: ModelSnapshot) -> String? {
        for product in ModelShop.subscriptions + ModelShop.others {
            let found = currentEntitlement(
                of: record, toProduct: product, app: snapshot.app, at: snapshot.now
            ).value?.value.id
            let wanted = self.reference.entitlement(account, to: product).flatMap { self.reference.numbers[$0.serial] }
            if let fault = self.differs("the entitlement to \(product)", wanted, found) { return fault }
        }
        return nil
    }

    private func fault(inOffersOf record: AccountRecord, _ account: Int, _ snapshot: ModelSnapshot) -> String? {
        for group in ModelShop.groups {
            let told = offerEligibility(
                of: record, inGroup: group, product: "", app: snapshot.app, at: snapshot.now)
            let isNew = !self.reference.hadIntroduction(group, account)
            if let fault = self.differs("introduced in \(group)", isNew, told.isEligibleForIntroductory) {
                return fault
            }
            for offer in told.offers {
                guard let product = self.reference.shop.products[offer.productID] else { continue }
                let wanted = self.reference.mayHave(
                    offer.type, offer.offerID, of: product, account, at: snapshot.now, isNamed: true)
                if let fault = self.differs(
                    "who may have \(offer.type) \(offer.offerID) of \(product.id)", wanted, offer.isEligible)
                {
                    return fault
                }
            }
        }
        return nil
    }

    /// The record of an own line shows a wrong memory before its consequences appear.
    private func fault(inMemoryOf record: AccountRecord, _ account: Int) -> String? {
        let known = self.reference.accounts[account]
        for line in known.lines where !line.isShared {
            guard let number = self.reference.numbers[line.first], let index = record.lineIndex(original: number),
                let latest = known.latest(of: line)
            else { return "the record has no line \(String(describing: self.reference.numbers[line.first]))" }
            let held = record.lines[index]
            let left = latest.offer.map { $0.periodCount - latest.offerPeriod } ?? 0
            if let fault = self.differs("periods left of the offer", left, held.offerPeriodsLeft)
                ?? self.differs("the offer that waits", line.waiting, held.queuedOffer)
                ?? self.differs(
                    "the billing plan that waits",
                    line.nextPlan == latest.product && line.nextBilling == latest.billing
                        ? .unspecified : line.nextBilling,
                    held.preferredBillingPlan)
                ?? self.differs(
                    "the price that was agreed to", line.agreedPrice?.milliunits, held.agreedPrice?.milliunits)
                ?? self.differs("the last increase", line.lastRaise, held.lastIncrease)
                ?? self.differs("the charge that failed", line.failure?.at, held.retry?.failedAt)
                ?? self.differs("the end of grace", line.failure?.graceEnd, held.retry?.graceUntil)
                ?? self.differs("the end of trying again", line.failure?.retryEnd, held.retry?.until)
            {
                return "line \(number): \(fault)"
            }
        }
        let waiting = self.reference.shares.count { $0.member == account && $0.waits }
        return self.differs("purchases that wait", known.pending.map(\.number), record.pendingPurchases.map(\.id))
            ?? self.differs("intents", known.intents.map(\.number), record.intents.map(\.id))
            ?? self.differs("the storefront", known.storefront, record.storefront)
            ?? self.differs("charges that fail", known.chargesFail, record.chargesFail)
            ?? self.differs("forbidden payments", known.paymentsAreForbidden, record.arePaymentsForbidden)
            ?? self.differs("the app transaction", known.appTransaction, record.appTransaction ?? AppTransactionTerms())
            ?? self.differs("redeemed offers", known.redeemed.map(\.offer), record.redeemedOffers.map(\.offerID))
            ?? self.differs("what waits for a sync", waiting, record.awaitingSync.count)
            ?? self.differs(
                "shares", self.reference.shares.count { $0.purchaser == account }, record.shares.count)
    }

    /// The transaction in the answer.
    private func fault(in answer: ModelWorld.Answer) -> String? {
        guard let wanted = self.reference.answered, case .done(.transaction(let found, let wasHeld, _), _) = answer
        else {
            return nil
        }
        return self.differs("the answer", self.reference.numbers[wanted.serial], found.id)
            ?? self.differs("held", wanted.wasHeld, wasHeld)
    }
}
