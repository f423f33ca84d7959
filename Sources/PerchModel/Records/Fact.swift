package import PerchBase

/// A recorded event of an account. Facts are only appended; a record is their fold.
package struct Fact: Hashable, Sendable {
    /// When it took effect, on the app's clock.
    package var effective: Instant
    package var body: Body
    /// Nil for this store's own decisions, which nearly all facts are.
    private let provenance: Boxed<Provenance>?

    private struct Provenance: Hashable, Sendable {
        var source: FactSource
        var stamp: Instant?
    }

    package var source: FactSource { self.provenance?.value.source ?? .decision }
    /// The signer's time, which orders facts from outside. Nil for this store's own decisions, which are ordered by
    /// their commits.
    package var stamp: Instant? { self.provenance?.value.stamp }

    /// A fact that this store has decided itself.
    package init(_ body: Body, effective: Instant) {
        self.effective = effective
        self.body = body
        self.provenance = nil
    }

    package init(_ body: Body, effective: Instant, source: FactSource, stamp: Instant?) {
        self.effective = effective
        self.body = body
        self.provenance = source == .decision ? nil : Boxed(Provenance(source: source, stamp: stamp))
    }

    /// At most two references in size, because facts are copied more often than read. A purchase, the usual fact, has no
    /// object of its own.
    package enum Body: Hashable, Sendable {
        /// The account was opened. The ID is StoreKit's app transaction ID.
        indirect case opened(appTransactionID: String)
        /// A product was bought. `terms` for auto-renewable subscriptions only.
        case purchased(Transaction, terms: Boxed<LineTerms>?)
        /// A renewal attempt succeeded.
        indirect case renewed(Transaction, terms: LineTerms)
        /// A renewal attempt failed.
        indirect case renewalFailed(original: TransactionID, retry: BillingRetry)
        /// A renewal was not attempted: the line ends at its boundary.
        indirect case lapsed(original: TransactionID, reason: ExpirationReason)
        /// An upgrade left this transaction behind; or that upgrade was deleted, and `isUpgraded` is false again.
        indirect case upgradedFrom(Transaction)
        /// The customer switched renewal on or off. The fact has the product of the next period, and the billing plan
        /// of that order if the product changes. Switching off in a grace or retry period ends the line at once.
        indirect case autoRenewSet(
            original: TransactionID, isOn: Bool, preference: String, billingPlan: BillingPlanType = .unspecified)
        /// A transaction was refunded or revoked. `fallback` is the transaction that entitles instead, if there is one.
        indirect case revoked(Transaction, fallback: Transaction?)
        /// A subscription's period was cut short, for good.
        indirect case expiredEarly(Transaction)
        /// A forced renewal cut a subscription's period short: the next one begins.
        indirect case periodCut(Transaction)
        /// A transaction was delivered.
        indirect case finished(TransactionID)
        /// A refund was taken back.
        indirect case reinstated(Transaction)
        /// A higher price was requested or announced.
        indirect case priceRaised(original: TransactionID, PriceIncrease)
        /// The customer answered. Declining switches renewal off because of the price.
        indirect case priceAnswered(original: TransactionID, agrees: Bool)
        /// An offer applies from the next period.
        indirect case offerQueued(original: TransactionID, SubscriptionOffer)
        /// The end of the latest period moved later.
        indirect case extended(Transaction)
        /// A purchase waits for approval.
        indirect case purchaseHeld(PendingPurchase)
        /// A purchase no longer waits. If it was approved, the facts of the purchase follow in the same change.
        indirect case purchaseReleased(id: UInt64, isApproved: Bool)
        /// This account shares something with another.
        indirect case sharingBegan(FamilyShare)
        indirect case sharingEnded(original: TransactionID, member: AccountNumber)
        /// The current state of a line that another account shares with this one. `isNew`: its latest transaction is
        /// new.
        indirect case sharedLineSet(Line, isNew: Bool)
        /// Something was shared with this account after it was bought; the next sync delivers it.
        indirect case shareAwaitsSync(Transaction)
        /// The customer restored purchases: the facts that follow in the same change deliver what waited.
        case synced
        indirect case intentCreated(PurchaseIntent)
        indirect case intentEnded(id: UInt64)
        indirect case storefrontSet(String)
        indirect case chargesSet(fail: Bool?)
        case messagePosted
        /// Payments of the account were allowed or forbidden.
        case paymentsSet(isAllowed: Bool)
        indirect case appTransactionSet(AppTransactionTerms)
        /// The customer redeemed an offer of a code. The facts of the purchase stand in the same change.
        indirect case codeRedeemed(RedeemedOffer)
        /// The customer requested a refund of a transaction. If the store approved it, `revoked` follows.
        indirect case refundRequested(TransactionID)
        /// The store asked how a purchase was used, before it decides about a refund. The record stays.
        indirect case consumptionRequested(Transaction)
        /// The store declined a refund. The record stays.
        indirect case refundDeclined(Transaction)
        /// The developer gave a transaction another `appAccountToken`.
        indirect case accountTokenSet(Transaction)
        /// A transaction was deleted from a test store. The fact carries all that remains of the account, because a
        /// record does not have earlier transactions.
        indirect case deleted(TransactionID, remainder: Remainder)
        /// A test store deleted everything from the account.
        case cleared
        /// Something was reported about the account, and not decided by a test store.
        indirect case reported(ReportedFact)
    }

    package var reported: ReportedFact? { if case .reported(let fact) = self.body { fact } else { nil } }

    /// The line that this fact refers to without containing it: only a record with that line can fold the fact.
    package var line: TransactionID? {
        switch self.body {
        case .renewalFailed(let original, _), .lapsed(let original, _), .autoRenewSet(let original, _, _, _),
            .priceRaised(let original, _), .priceAnswered(let original, _), .offerQueued(let original, _):
            original
        case .expiredEarly(let transaction), .extended(let transaction): transaction.originalID
        default: nil
        }
    }

    /// Whether readers of an app's changes are told more of it than the statuses and entitlements that it changes.
    package var isOfChanges: Bool {
        if case .notified = self.reported { return true }
        return self.event?.transaction.productType == .consumable
    }

    /// Whether a read of an instant folds it. What an App Store app knows of its accounts and their owners holds at every instant.
    /// `earliest`: `earliestReports` of the account's facts.
    package func holds(at instant: Instant, isTestApp: Bool, earliest: [ReportedPurchase: ReportStamp]) -> Bool {
        switch self.body {
        case .opened where !isTestApp: true
        case .reported(let fact) where fact.isOfOwnership: true
        case .reported(.transaction(let report)): report.holds(at: instant, earliest: earliest)
        default: self.effective <= instant
        }
    }

    /// The cause of a value that this fact changes; unspecified if it changes none.
    package var cause: Cause {
        switch self.body {
        case .opened, .purchased, .upgradedFrom: .purchase
        case .renewed, .renewalFailed, .periodCut: .renewal
        case .autoRenewSet: .setting
        case .revoked: .refund
        case .lapsed, .expiredEarly: .expiry
        case .finished, .refundRequested, .consumptionRequested, .refundDeclined: .unspecified
        case .reinstated: .refund
        case .priceRaised, .priceAnswered, .storefrontSet, .chargesSet, .messagePosted, .paymentsSet,
            .appTransactionSet, .accountTokenSet:
            .setting
        case .codeRedeemed: .purchase
        case .offerQueued, .purchaseHeld, .purchaseReleased, .intentCreated, .intentEnded: .purchase
        case .extended: .renewal
        case .sharingBegan, .sharingEnded: .unspecified
        case .sharedLineSet(let line, let isNew):
            line.latest.revocation != nil ? .refund : !isNew || line.latest.reason == .renewal ? .renewal : .purchase
        case .shareAwaitsSync, .synced: .unspecified
        case .deleted, .cleared: .setting
        case .reported(let fact): fact.cause
        }
    }

    /// The event for subscribers of the account's transactions, if any.
    package var event: (transaction: Transaction, kind: TransactionEventKind)? {
        switch self.body {
        case .purchased(let transaction, _): (transaction, .purchased)
        case .renewed(let transaction, _): (transaction, .renewed)
        case .upgradedFrom(let transaction), .expiredEarly(let transaction), .periodCut(let transaction):
            (transaction, .changed)
        case .revoked(let transaction, _): (transaction, .revoked)
        case .reinstated(let transaction): (transaction, .reinstated)
        case .extended(let transaction), .accountTokenSet(let transaction): (transaction, .changed)
        case .sharedLineSet(let line, let isNew):
            if isNew {
                (line.latest, line.latest.reason == .renewal ? .renewed : .purchased)
            } else {
                (line.latest, line.latest.revocation == nil ? .changed : .revoked)
            }
        case .opened, .renewalFailed, .lapsed, .autoRenewSet, .finished, .priceRaised, .priceAnswered, .offerQueued,
            .purchaseHeld, .purchaseReleased, .sharingBegan, .sharingEnded, .shareAwaitsSync, .synced, .intentCreated,
            .intentEnded, .storefrontSet, .chargesSet, .messagePosted, .paymentsSet, .appTransactionSet, .codeRedeemed,
            .refundRequested, .consumptionRequested, .refundDeclined, .deleted, .cleared:
            nil
        case .reported(let fact): fact.event
        }
    }

    /// The change of the account's transaction rows, if any.
    package var rowWrite: TransactionWrite? {
        switch self.body {
        case .purchased(let transaction, _), .renewed(let transaction, _): .insert(transaction)
        case .upgradedFrom(let transaction), .expiredEarly(let transaction), .periodCut(let transaction),
            .revoked(let transaction, _):
            .update(transaction)
        case .finished(let id): .finish(id)
        case .reinstated(let transaction), .extended(let transaction), .accountTokenSet(let transaction):
            .update(transaction)
        case .sharedLineSet(let line, let isNew): isNew ? .insert(line.latest) : .update(line.latest)
        case .deleted(let id, _): .delete(id)
        case .cleared: .deleteAll
        case .opened, .renewalFailed, .lapsed, .autoRenewSet, .priceRaised, .priceAnswered, .offerQueued, .purchaseHeld,
            .purchaseReleased, .sharingBegan, .sharingEnded, .shareAwaitsSync, .synced, .intentCreated, .intentEnded,
            .storefrontSet, .chargesSet, .messagePosted, .paymentsSet, .appTransactionSet, .codeRedeemed,
            .refundRequested, .consumptionRequested, .refundDeclined:
            nil
        case .reported(let fact): fact.rowWrite
        }
    }
}

/// The terms of a line that a purchase or renewal sets, beyond the transaction.
package struct LineTerms: Hashable, Sendable {
    package var preference: String
    /// The billing plan of an order that continues to wait.
    package var preferredBillingPlan: BillingPlanType = .unspecified
    package var anchorDay: Int64
    package var offerInForce: SubscriptionOffer?
    package var offerPeriodsLeft: Int32
    package var recentStart: Instant
    /// The offer that follows the offer of this period.
    package var queuedOffer: SubscriptionOffer?
    package var agreedPrice: Money?
    package var lastIncrease: Instant?
    /// The product's level of service.
    package var level: Int32 = 0

    package init(
        preference: String, anchorDay: Int64, offerInForce: SubscriptionOffer?, offerPeriodsLeft: Int32,
        recentStart: Instant
    ) {
        self.preference = preference
        self.anchorDay = anchorDay
        self.offerInForce = offerInForce
        self.offerPeriodsLeft = offerPeriodsLeft
        self.recentStart = recentStart
    }
}

/// A change of one transaction row.
package enum TransactionWrite: Hashable, Sendable {
    /// A new row, not finished.
    case insert(Transaction)
    /// The same row with other fields; its finished flag stays.
    case update(Transaction)
    case finish(TransactionID)
    case delete(TransactionID)
    case deleteAll
    /// Rows are removed, then others are added or replaced. Of apps whose purchases happen elsewhere.
    indirect case rewrite(remove: [TransactionID], add: [Transaction])
}

/// The rest of a record after transactions were deleted from it.
package struct Remainder: Hashable, Sendable {
    package var lines: [Line]
    package var owned: [Transaction]
    package var histories: [GroupHistory]

    package init(lines: [Line], owned: [Transaction], histories: [GroupHistory]) {
        self.lines = lines
        self.owned = owned
        self.histories = histories
    }
}

extension RecordFields {
    /// Folds one fact into the record: the only way a record changes.
    package mutating func apply(_ fact: Fact) {
        switch fact.body {
        case .opened(let appTransactionID):
            self.appTransactionID = appTransactionID

        case .purchased(let transaction, let terms):
            self.noteHistory(of: transaction)
            if let terms {
                self.begin(transaction, terms.value)
            } else if transaction.productType != .consumable {
                self.own(transaction)
            }

        case .renewed(let transaction, let terms): self.renew(transaction, terms)
        case .renewalFailed(let original, let retry): self.changeLine(original) { $0.retry = retry }
        case .lapsed(let original, let reason):
            self.changeLine(original) { line in
                line.lapse = reason
                line.willAutoRenew = false
            }
        case .upgradedFrom:
            // The next fact of the same change brings the line's next transaction.
            break

        case .periodCut(let transaction):
            // As above; in addition, the period became shorter than the one that was paid for.
            self.notePaid(transaction)

        case .autoRenewSet(let original, let isOn, let preference, let billingPlan):
            self.changeLine(original) { $0.setRenewal(isOn, to: preference, billed: billingPlan, at: fact.effective) }
        case .revoked(let transaction, let fallback): self.revoke(transaction, fallback: fallback)
        case .expiredEarly(let transaction): self.endEarly(transaction, at: fact.effective)
        case .finished(let id):
            if self.reported?.unfinished.contains(id) == true { self.reported?.unfinished.removeAll { $0 == id } }
        case .reinstated(let transaction): self.reinstate(transaction)

        case .priceRaised(let original, let increase): self.changeLine(original) { $0.raisePrice(increase) }
        case .priceAnswered(let original, let agrees): self.changeLine(original) { $0.answerPrice(agrees) }
        case .offerQueued(let original, let offer): self.changeLine(original) { $0.queuedOffer = offer }
        case .extended(let transaction):
            self.notePaid(transaction)
            self.changeLine(transaction.originalID) { $0.latest = transaction }
            self.noteExtension(of: transaction, at: fact.effective)

        case .purchaseHeld(let pending): self.pendingPurchases.append(pending)
        case .purchaseReleased(let id, _): self.pendingPurchases.removeAll { $0.id == id }

        case .sharingBegan(let share): self.shares.append(share)
        case .sharingEnded(let original, let member):
            self.shares.removeAll { $0.original == original && $0.member == member }
        case .sharedLineSet(let line, _):
            if let index = self.lineIndex(original: line.originalID) {
                self.lines[index] = line
            } else {
                self.lines.append(line)
            }
        case .shareAwaitsSync(let transaction): self.awaitingSync.append(transaction)
        case .synced: self.awaitingSync.removeAll()

        case .intentCreated(let intent): self.intents.append(intent)
        case .intentEnded(let id): self.intents.removeAll { $0.id == id }
        case .storefrontSet(let storefront): self.storefront = storefront
        case .chargesSet(let fail): self.chargesFail = fail
        case .messagePosted: self.messagePosted = fact.effective
        case .paymentsSet(let isAllowed): self.arePaymentsForbidden = !isAllowed
        case .appTransactionSet(let terms): self.appTransaction = terms == AppTransactionTerms() ? nil : terms
        case .codeRedeemed(let redeemed): self.redeemedOffers.append(redeemed)
        case .refundRequested(let id):
            self.refundRequests = (self.refundRequests + [id]).suffix(Limits.refundRequestsKept)

        case .consumptionRequested, .refundDeclined: break
        case .accountTokenSet(let transaction): self.replace(transaction)
        case .deleted(let id, let remainder): self.delete(id, leaving: remainder)
        case .cleared: self.clear()
        case .reported(let reported): self.apply(reported)
        }
    }

    /// A field changed that no rule looks at.
    private mutating func replace(_ transaction: Transaction) {
        for index in self.lines.indices where self.lines[index].latest.id == transaction.id {
            self.lines[index].latest = transaction
        }
        for index in self.owned.indices where self.owned[index].id == transaction.id { self.owned[index] = transaction }
    }

    private mutating func renew(_ transaction: Transaction, _ terms: LineTerms) {
        self.noteHistory(of: transaction)
        // A forced renewal does not change the customer's own switch.
        let held = self.lineIndex(original: transaction.originalID).map { self.lines[$0] }
        self.begin(transaction, terms, willAutoRenew: held?.willAutoRenew ?? true)
    }

    private mutating func revoke(_ transaction: Transaction, fallback: Transaction?) {
        if let index = self.lines.firstIndex(where: { $0.latest.id == transaction.id }) {
            self.lines[index].latest = transaction
        }
        if let index = self.owned.firstIndex(where: { $0.id == transaction.id }) {
            if let fallback {
                self.owned[index] = fallback
            } else {
                self.owned.remove(at: index)
            }
        }
        var kept = transaction
        kept.revocation = nil
        self.changePaid(transaction, from: kept.paidMilliseconds)
    }

    private mutating func reinstate(_ transaction: Transaction) {
        if let index = self.lines.firstIndex(where: { $0.latest.id == transaction.id }) {
            self.lines[index].latest = transaction
        } else if transaction.productType == .nonConsumable || transaction.productType == .nonRenewable {
            self.ownAgain(transaction)
        }
        self.changePaid(transaction, from: 0)
    }

    private mutating func endEarly(_ transaction: Transaction, at instant: Instant) {
        self.notePaid(transaction)
        self.changeLine(transaction.originalID) { line in
            line.latest = transaction
            line.willAutoRenew = false
            line.endRetry(at: instant)
            // For good: a commitment ends too.
            line.lapse = line.lapse ?? .autoRenewDisabled
        }
    }

    private mutating func delete(_ id: TransactionID, leaving remainder: Remainder) {
        self.lines = remainder.lines
        self.owned = remainder.owned
        self.histories = remainder.histories
        let left = Set(remainder.lines.map(\.originalID))
        self.extensions.removeAll { !left.contains($0.original) }
        self.refundRequests.removeAll { $0 == id }
        if !self.redeemedOffers.isEmpty { self.redeemedOffers.removeAll { $0.transactionID == id } }
    }

    private mutating func clear() {
        self.lines.removeAll()
        self.owned.removeAll()
        self.histories.removeAll()
        self.pendingPurchases.removeAll()
        self.intents.removeAll()
        self.shares.removeAll()
        self.awaitingSync.removeAll()
        self.messagePosted = nil
        self.extensions.removeAll()
        self.refundRequests.removeAll()
        self.redeemedOffers.removeAll()
    }

    /// Keeps the line's last extensions, up to the limit. A family member's copy has none.
    private mutating func noteExtension(of transaction: Transaction, at instant: Instant) {
        guard transaction.ownership == .purchased else { return }
        let original = transaction.originalID
        self.extensions.append(RenewalExtension(original: original, instant: instant))
        if self.extensions.count(where: { $0.original == original }) > Limits.renewalExtensionsMax,
            let oldest = self.extensions.firstIndex(where: { $0.original == original })
        {
            self.extensions.remove(at: oldest)
        }
    }

    /// Notes in the account's history in the group what offers depend on.
    private mutating func noteHistory(of transaction: Transaction) {
        guard transaction.productType == .autoRenewable, transaction.ownership == .purchased else { return }
        let group = transaction.subscriptionGroupID
        let index = self.histories.firstIndex { $0.groupID == group } ?? self.histories.endIndex
        if index == self.histories.endIndex { self.histories.append(GroupHistory(groupID: group)) }
        if transaction.offer?.type == .introductory { self.histories[index].hadIntroductoryOffer = true }
        if transaction.redeemsWinBack { self.histories[index].lastWinBack = transaction.purchaseDate }
        self.changePaid(transaction, from: 0)
    }

    /// Updates the paid time, because the line's latest transaction gets another end. Called before the fact is folded.
    private mutating func notePaid(_ transaction: Transaction) {
        let held = self.lines.first { $0.latest.id == transaction.id }
        self.changePaid(transaction, from: held?.latest.paidMilliseconds ?? 0)
    }

    /// Replaces a transaction's contribution to the paid time with its current one.
    private mutating func changePaid(_ transaction: Transaction, from before: Int64) {
        guard transaction.ownership == .purchased,
            let index = self.histories.firstIndex(where: { $0.groupID == transaction.subscriptionGroupID })
        else { return }
        self.histories[index].changePaid(from: before, to: transaction.paidMilliseconds)
    }

    /// An owned transaction whose refund was reversed counts again, unless a later one does.
    private mutating func ownAgain(_ transaction: Transaction) {
        guard let index = self.ownedIndex(like: transaction) else { return self.owned.append(transaction) }
        let held = self.owned[index]
        if (held.purchaseDate, held.id) < (transaction.purchaseDate, transaction.id) { self.owned[index] = transaction }
    }

    /// Begins a period: of a new line, or the next one of an existing line.
    private mutating func begin(_ transaction: Transaction, _ terms: LineTerms, willAutoRenew: Bool = true) {
        var line = Line(latest: transaction, preference: terms.preference, recentStart: terms.recentStart)
        line.willAutoRenew = willAutoRenew
        line.preferredBillingPlan = terms.preferredBillingPlan
        line.anchorDay = terms.anchorDay
        line.offerInForce = terms.offerInForce
        line.offerPeriodsLeft = terms.offerPeriodsLeft
        line.queuedOffer = terms.queuedOffer
        line.agreedPrice = terms.agreedPrice
        line.lastIncrease = terms.lastIncrease
        line.level = terms.level
        if let index = self.lineIndex(original: transaction.originalID) {
            self.lines[index] = line
        } else {
            self.lines.append(line)
        }
    }

    /// The index of a transaction in `owned`. A bought product has one entry; a shared product has one for each sharing
    /// member, because each can stop sharing separately.
    private func ownedIndex(like transaction: Transaction) -> Int? {
        self.owned.firstIndex {
            $0.productID == transaction.productID && $0.ownership == transaction.ownership
                && ($0.ownership != .familyShared || $0.originalID == transaction.originalID)
        }
    }

    mutating func own(_ transaction: Transaction) {
        // Usually it is bought again, and all that is owned.
        if self.owned.count == 1, self.owned[0].contents.fields.sale === transaction.contents.fields.sale,
            self.owned[0].ownership == transaction.ownership, transaction.ownership == .purchased,
            transaction.purchaseDate >= self.owned[0].purchaseDate
        {
            self.owned = [transaction]
            return
        }
        guard let index = self.ownedIndex(like: transaction) else { return self.owned.append(transaction) }
        // A purchase in the past does not replace a later one.
        if transaction.purchaseDate >= self.owned[index].purchaseDate { self.owned[index] = transaction }
    }

    /// A fact names a line that its own decision has seen, so a missing line is a bug in Perch.
    private mutating func changeLine(_ original: TransactionID, _ change: (inout Line) -> Void) {
        guard let index = self.lineIndex(original: original) else {
            preconditionFailure("a fact names line \(original), which account \(self.account) does not have")
        }
        change(&self.lines[index])
    }
}

extension Line {
    fileprivate mutating func setRenewal(
        _ isOn: Bool, to preference: String, billed billingPlan: BillingPlanType, at instant: Instant
    ) {
        self.willAutoRenew = isOn
        // A queued offer was redeemed for the product that was to come then.
        if !self.prefers(preference, billed: billingPlan) { self.queuedOffer = nil }
        self.preference = preference
        self.preferredBillingPlan = billingPlan
        // A commitment continues to be charged. Switching renewal on clears the reason of a declined price.
        if !isOn, !self.isCommitted { self.endRetry(at: instant) }
        if isOn { self.lapse = nil }
    }

    fileprivate mutating func raisePrice(_ increase: PriceIncrease) {
        // An increase that the customer agreed to stays agreed, whatever happens to the next one.
        if let agreed = self.increase, agreed.status == .agreed { self.agreedPrice = agreed.price }
        self.increase = increase
        self.lastIncrease = increase.asked
    }

    fileprivate mutating func answerPrice(_ agrees: Bool) {
        self.increase?.status = agrees ? .agreed : .pending
        self.lapse = nil
        if !agrees {
            self.willAutoRenew = false
            self.lapse = .didNotConsentToPriceIncrease
        }
    }
}
