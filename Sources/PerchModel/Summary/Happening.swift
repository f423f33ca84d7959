package import PerchBase

/// Something that happened to an account, as its facts say it. What comes later changes nothing of it.
package struct Happening: Hashable, Sendable {
    /// When, by the app's clock.
    package var at: Instant
    package var what: What
    /// The purchase or period that it is about; 0 for none.
    package var transactionID: TransactionID
    /// The revision of the fact, if somebody decided it; 0 for what time brought.
    package var revision: UInt64 = 0
    /// Who did it, where the audit trail knows.
    package var by = ""
    /// The other account of a move, a sharing or a merger, and its key; empty where it has none.
    package var other: AccountNumber?
    package var otherKey = ""

    init(_ what: What, at instant: Instant, _ transaction: TransactionID = 0, other: AccountNumber? = nil) {
        self.at = instant
        self.what = what
        self.transactionID = transaction
        self.other = other
    }

    /// Without what a customer is not shown: who did it, the words for the record, and the other account.
    package var forCustomer: Happening {
        var told = self
        (told.by, told.otherKey) = ("", "")
        if case .granted(var grant) = told.what {
            grant.reason = ""
            told.what = .granted(grant)
        }
        return told
    }

    package enum What: Hashable, Sendable {
        indirect case bought(Transaction)
        indirect case renewed(Transaction)
        /// A charge succeeded after one that had failed.
        indirect case recovered(Transaction)
        /// `accessUntil`: the end of the grace period; nil without one.
        case chargeFailed(product: String, accessUntil: Instant?)
        case accessEnded(product: String)
        case stoppedTrying(product: String)
        /// `reason`: nil where nobody said why.
        case ended(product: String, reason: ExpirationReason?, isUnreported: Bool)
        /// A tester ended the period.
        case cutShort(product: String)
        case renewalSwitched(product: String, isOn: Bool)
        case planChosen(product: String, next: String)
        indirect case refunded(Transaction)
        case unshared(product: String)
        case refundReversed(product: String)
        case refundRequested
        case refundDeclined(product: String)
        indirect case priceRaised(product: String, Money?, needsConsent: Bool)
        /// The price that was asked for; nil where it is not known.
        indirect case priceAnswered(product: String, Money?, agrees: Bool)
        indirect case extended(Transaction, milliseconds: Int64)
        case waits(product: String)
        case decided(isApproved: Bool)
        case sharingBegan(product: String)
        case sharingEnded(product: String)
        case chargesSet(fail: Bool?)
        case paymentsSet(isAllowed: Bool)
        case deleted
        case cleared
        indirect case granted(EntitlementGrant)
        case grantEnded(name: String)
        case grantOver(name: String)
        case cameFrom(product: String)
        case wentTo(product: String)
        case merged
    }
}

/// A fact of an account, and the revision that wrote it.
package struct HistoryFact {
    package var revision: UInt64
    package var fact: Fact

    package init(revision: UInt64, fact: Fact) {
        self.revision = revision
        self.fact = fact
    }
}

/// What happened to an account up to `now`, oldest first.
///
/// `facts`: all facts of the account, in the order of their revisions.
package func happenings(
    of account: AccountNumber, _ facts: some Sequence<HistoryFact>, app: AppState, at now: Instant
) -> [Happening] {
    var narrator = Narrator(AccountRecord(account: account, app: app.number), app)
    var revision: UInt64 = 0
    var group: [Fact] = []
    for each in facts {
        if each.revision != revision {
            narrator.tell(group, of: revision)
            (group, revision) = ([], each.revision)
        }
        group.append(each.fact)
    }
    narrator.tell(group, of: revision)
    narrator.pass(to: now)
    return narrator.told(until: now)
}

/// Folds facts, and says what each of them and the time between them changed.
private struct Narrator {
    private var record: AccountRecord
    private let app: AppState
    private var time = Instant.distantPast
    private var happenings: [Happening] = []

    init(_ record: AccountRecord, _ app: AppState) {
        self.record = record
        self.app = app
    }

    private var leeway: Int64 { self.app.renewalLeewayMilliseconds ?? 0 }

    /// By time. What was reported late stands where it happened.
    func told(until now: Instant) -> [Happening] {
        self.happenings.enumerated().filter { $0.element.at <= now && !self.wasMistaken($0.element) }
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// A subscription seemed to have ended only because the report of its next period came late.
    private func wasMistaken(_ told: Happening) -> Bool {
        guard case .ended(_, nil, isUnreported: true) = told.what,
            let line = self.record.reported?.originals.first(where: {
                $0.registers.values.contains { $0.ids.contains(told.transactionID) }
            })
        else { return false }
        return line.periods.contains {
            $0.reported.purchaseDate <= told.at && told.at < $0.reported.expirationDate ?? .distantPast
        }
    }

    private mutating func add(
        _ what: Happening.What, _ at: Instant, _ transaction: TransactionID = 0, other: AccountNumber? = nil
    ) {
        self.happenings.append(Happening(what, at: at, transaction, other: other))
    }

    // MARK: Time

    /// What time alone changed up to an instant.
    mutating func pass(to instant: Instant) {
        guard instant > self.time else { return }
        let from = self.time
        self.time = instant
        guard from > .distantPast else { return }
        for line in self.record.lines {
            var last = from
            while let next = line.nextCrossing(after: last, leewayMilliseconds: nil), next.at <= instant {
                last = next.at
                self.tell(next.kind, of: line, at: next.at)
            }
        }
        for original in self.record.reported?.originals ?? [] where original.isSubscription {
            var last = from
            while let next = original.nextCrossing(after: last, leewayMilliseconds: self.leeway), next <= instant {
                let before = original.standing(at: next.advanced(byMilliseconds: -1), leewayMilliseconds: self.leeway)
                last = next
                self.tell(original, from: before, at: next)
            }
        }
        for grant in self.record.grants {
            guard let until = grant.until, from < until, until <= instant else { continue }
            self.add(.grantOver(name: grant.name), until)
        }
    }

    private mutating func tell(_ kind: ForecastKind, of line: Line, at instant: Instant) {
        let (product, id) = (line.latest.productID, line.latest.id)
        switch kind {
        case .graceEnd: self.add(.accessEnded(product: product), instant, id)
        case .retryEnd: self.add(.stoppedTrying(product: product), instant, id)
        default:
            // A refund has its own fact.
            guard line.latest.revocation?.date != instant, line.retry == nil else { return }
            self.add(.ended(product: product, reason: line.endReason, isUnreported: false), instant, id)
        }
    }

    /// A reported line came from one standing to another, by time or by news.
    private mutating func tell(_ original: ReportedOriginal, from before: ReportedStanding?, at instant: Instant) {
        guard let after = original.standing(at: instant, leewayMilliseconds: self.leeway), after.state != before?.state
        else { return }
        let (product, id) = (after.transaction.productID, after.transaction.id)
        let info = original.renewal?.info
        switch after.state {
        case .inGracePeriod:
            self.add(
                .chargeFailed(product: product, accessUntil: info?.gracePeriodExpirationDate),
                after.transaction.expirationDate ?? instant, id)
        case .inBillingRetryPeriod where before?.state == .inGracePeriod:
            self.add(.accessEnded(product: product), original.serviceEnd(at: instant) ?? instant, id)
        case .inBillingRetryPeriod:
            self.add(.chargeFailed(product: product, accessUntil: nil), after.transaction.expirationDate ?? instant, id)
        case .expired where before?.state == .inBillingRetryPeriod:
            self.add(.stoppedTrying(product: product), instant, id)
        case .expired:
            let isUnreported = info?.expirationReason == nil && (info.map { $0.willAutoRenew } ?? true)
            let reason = info?.expirationReason ?? (isUnreported ? nil : .autoRenewDisabled)
            self.add(
                .ended(product: product, reason: reason, isUnreported: isUnreported),
                min(instant, original.serviceEnd(at: instant) ?? instant), id)
        default: break
        }
    }

    // MARK: Facts

    /// The facts of one revision.
    mutating func tell(_ facts: [Fact], of revision: UInt64) {
        var isReported = false
        for fact in facts {
            if case .reported = fact.body { isReported = true }
        }
        if isReported {
            // One notification has a transaction and its renewal information, so only their sum is a standing.
            let instant = facts.map { $0.stamp ?? $0.effective }.max() ?? self.time
            self.pass(to: instant)
            let timed = self.happenings.count
            let before = self.record.reported?.originals ?? []
            for fact in facts { self.tellAndFold(fact) }
            for original in self.record.reported?.originals ?? [] where original.isSubscription {
                let old = before.first { $0.id == original.id }
                guard old != original else { continue }
                self.tell(
                    original, from: old?.standing(at: self.time, leewayMilliseconds: self.leeway), at: self.time)
            }
            self.mark(from: timed, revision)
        } else {
            for fact in facts {
                self.pass(to: fact.effective)
                let timed = self.happenings.count
                self.tellAndFold(fact)
                self.mark(from: timed, revision)
            }
        }
    }

    /// A purchase that came with a move was made by the other account, and not by the one that moved it.
    private mutating func mark(from first: Int, _ revision: UInt64) {
        for place in first..<self.happenings.count where self.happenings[place].what.isChosen {
            let happening = self.happenings[place]
            let cameWithMove = happening.other != nil && happening.what.isPurchase
            if !cameWithMove { self.happenings[place].revision = revision }
        }
    }

    private mutating func tellAndFold(_ fact: Fact) {
        if case .reported(let reported) = fact.body {
            self.tell(reported, fact)
        } else {
            self.tell(fact)
        }
        self.record.apply(fact)
    }

    private func line(_ original: TransactionID) -> Line? { self.record.lines.first { $0.originalID == original } }

    /// A fact of a test app, before it is folded.
    private mutating func tell(_ fact: Fact) {
        let at = fact.effective
        switch fact.body {
        case .purchased(let transaction, _): self.add(.bought(transaction), at, transaction.id)
        case .renewed(let transaction, _):
            let isLate = self.line(transaction.originalID)?.retry != nil
            self.add(isLate ? .recovered(transaction) : .renewed(transaction), at, transaction.id)
        case .sharedLineSet(let line, let isNew): self.tell(shared: line, isNew: isNew, at)
        case .revoked(let transaction, _): self.tell(revoked: transaction, at)
        case .reinstated(let transaction):
            self.add(.refundReversed(product: transaction.productID), at, transaction.id)
        case .refundRequested(let id): self.add(.refundRequested, at, id)
        case .refundDeclined(let transaction):
            self.add(.refundDeclined(product: transaction.productID), at, transaction.id)
        case .expiredEarly(let transaction): self.add(.cutShort(product: transaction.productID), at, transaction.id)
        case .extended(let transaction):
            let end = self.line(transaction.originalID)?.latest.expirationDate ?? at
            let longer = transaction.expirationDate?.milliseconds(since: end) ?? 0
            self.add(.extended(transaction, milliseconds: longer), at, transaction.id)
        case .purchaseHeld(let pending): self.add(.waits(product: pending.order.productID), at)
        case .purchaseReleased(_, let isApproved): self.add(.decided(isApproved: isApproved), at)
        case .sharingBegan(let share):
            self.add(.sharingBegan(product: self.product(share.original)), at, share.original, other: share.member)
        case .sharingEnded(let original, let member):
            self.add(.sharingEnded(product: self.product(original)), at, original, other: member)
        case .chargesSet(let fail): self.add(.chargesSet(fail: fail), at)
        case .paymentsSet(let isAllowed): self.add(.paymentsSet(isAllowed: isAllowed), at)
        case .deleted(let id, _): self.add(.deleted, at, id)
        case .cleared: self.add(.cleared, at)
        default: self.tell(ofRenewal: fact)
        }
    }

    /// A fact about the renewals of a line, before it is folded.
    private mutating func tell(ofRenewal fact: Fact) {
        guard let original = fact.line, let line = self.line(original) else { return }
        let (at, id, product) = (fact.effective, line.latest.id, line.latest.productID)
        switch fact.body {
        case .renewalFailed(_, let retry):
            self.add(.chargeFailed(product: product, accessUntil: retry.graceUntil), at, id)
        case .lapsed(_, let reason): self.add(.ended(product: product, reason: reason, isUnreported: false), at, id)
        case .autoRenewSet(_, let isOn, let preference, _):
            if isOn != line.willAutoRenew { self.add(.renewalSwitched(product: product, isOn: isOn), at, id) }
            if isOn, preference != line.preference {
                self.add(.planChosen(product: product, next: preference), at, id)
            }
            let state = line.state(at: at, leewayMilliseconds: nil)
            if !isOn, !line.isCommitted, state == .inGracePeriod || state == .inBillingRetryPeriod {
                self.add(.ended(product: product, reason: .autoRenewDisabled, isUnreported: false), at, id)
            }
        case .priceRaised(_, let increase):
            let needsConsent = increase.status == .pending
            self.add(.priceRaised(product: product, increase.price, needsConsent: needsConsent), at, id)
        case .priceAnswered(_, let agrees):
            self.add(.priceAnswered(product: product, line.increase?.price, agrees: agrees), at, id)
        default: break
        }
    }

    private mutating func tell(shared line: Line, isNew: Bool, _ at: Instant) {
        let latest = line.latest
        if isNew {
            let isRenewal = latest.reason == .renewal && self.line(line.originalID) != nil
            self.add(isRenewal ? .renewed(latest) : .bought(latest), at, latest.id)
        } else if latest.revocation != nil, self.line(line.originalID)?.latest.revocation == nil {
            self.tell(revoked: latest, at)
        }
    }

    private mutating func tell(revoked transaction: Transaction, _ at: Instant) {
        let isUnshared = transaction.revocation?.type == .familyRevoke
        self.add(isUnshared ? .unshared(product: transaction.productID) : .refunded(transaction), at, transaction.id)
    }

    private func product(_ original: TransactionID) -> String {
        self.line(original)?.latest.productID ?? self.record.owned.first { $0.originalID == original }?.productID ?? ""
    }

    // MARK: Reports

    private mutating func tell(_ reported: ReportedFact, _ fact: Fact) {
        switch reported {
        case .transaction(let report): self.tell(report)
        case .renewal(let info, _, _): self.tell(info)
        case .gained(let original, let from):
            for register in original.registers.values.sorted(by: TransactionRegister.precedes) {
                self.tell(purchase: register.transaction, other: from)
            }
            let name = original.periods.last?.transaction.productID ?? ""
            self.add(.cameFrom(product: name), fact.effective, original.id, other: from)
        case .lost(let id, _):
            let name = self.record.reported?.original(id)?.periods.last?.transaction.productID ?? ""
            self.add(.wentTo(product: name), fact.effective, id)
        case .granted(let grant): self.add(.granted(grant), fact.effective)
        case .grantEnded(let name): self.add(.grantEnded(name: name), fact.effective)
        case .merged: self.add(.merged, fact.effective)
        case .claimed, .openedUnclaimed, .named, .unnamed, .notified, .archived, .unarchived, .submitted, .historyRead,
            .erased:
            break
        }
    }

    private mutating func tell(_ report: ReportedTransaction) {
        guard let shown = report.shown else { return }
        let known = self.record.reported?.original(shown.originalID)?.registers[ReportedPeriod(of: report.reported)]
        switch report.kind {
        case .purchased, .renewed: self.tell(purchase: shown)
        case .revoked:
            if known == nil {
                self.tell(purchase: shown)
            } else {
                self.tell(revoked: shown, shown.revocation?.date ?? shown.signedDate)
            }
        case .reinstated: self.add(.refundReversed(product: shown.productID), shown.signedDate, shown.id)
        default:
            guard let before = known?.reported.expirationDate, let after = shown.expirationDate, before < after else {
                return
            }
            self.add(.extended(shown, milliseconds: after.milliseconds(since: before)), shown.signedDate, shown.id)
        }
    }

    /// A purchase or period that the account did not have.
    private mutating func tell(purchase: Transaction, other: AccountNumber? = nil) {
        let isFailing = self.record.reported?.original(purchase.originalID)?.renewal?.info.isInBillingRetry ?? false
        let what: Happening.What =
            purchase.reason == .renewal ? isFailing ? .recovered(purchase) : .renewed(purchase) : .bought(purchase)
        self.add(what, purchase.purchaseDate, purchase.id, other: other)
        if let revocation = purchase.revocation { self.tell(revoked: purchase, revocation.date) }
    }

    /// What renewal information says that the one before did not.
    private mutating func tell(_ info: RenewalInfo) {
        guard let line = self.record.reported?.original(info.originalTransactionID), let known = line.renewal?.info,
            known.signedDate < info.signedDate
        else { return }
        let product = line.head(at: info.signedDate)?.productID ?? info.currentProductID
        let id = line.head(at: info.signedDate)?.id ?? line.id
        let at = info.signedDate
        if known.willAutoRenew != info.willAutoRenew, info.expirationReason == nil || info.willAutoRenew {
            self.add(.renewalSwitched(product: product, isOn: info.willAutoRenew), at, id)
        }
        if let next = info.autoRenewPreference, let before = known.autoRenewPreference, next != before, next != product
        {
            self.add(.planChosen(product: product, next: next), at, id)
        }
        guard known.priceIncreaseStatus != info.priceIncreaseStatus else { return }
        switch info.priceIncreaseStatus {
        // Which price the App Store reports until the customer has answered, it does not say.
        case .pending: self.add(.priceRaised(product: product, nil, needsConsent: true), at, id)
        case .agreed where known.priceIncreaseStatus == .pending:
            self.add(.priceAnswered(product: product, info.renewalPrice, agrees: true), at, id)
        case .agreed: self.add(.priceRaised(product: product, info.renewalPrice, needsConsent: false), at, id)
        default: break
        }
    }
}

extension Happening.What {
    /// Whether somebody may have decided it; the audit trail is asked who.
    fileprivate var isChosen: Bool {
        switch self {
        case .chargeFailed, .accessEnded, .stoppedTrying, .ended, .grantOver: false
        default: true
        }
    }

    fileprivate var isPurchase: Bool {
        switch self {
        case .bought, .renewed, .recovered, .refunded, .unshared: true
        default: false
        }
    }
}
