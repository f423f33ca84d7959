package import PerchBase

// Family sharing: a member's copy of a shared product follows the purchaser's line in the same revision.

/// An account's shares before and after some of its facts, in the order in which they began.
package func familyShares(of before: AccountRecord, after facts: [Fact]) -> [FamilyShare] {
    var shares = before.shares
    for fact in facts {
        if case .sharingBegan(let share) = fact.body { shares.append(share) }
    }
    return shares
}

/// The facts of a member that follow from a purchaser's facts.
///
/// A member's line is the purchaser's line with its own transaction IDs: same product, dates, retry, price and
/// switches. Apple does not document whose flags a shared line shows; only the purchaser's flags predict its future. So
/// each fact about the purchaser's line becomes a fact about the member's.
///
/// One exception: the member's line is revoked, with the family reason, when sharing ends, when the purchaser is
/// refunded, and when the purchaser moves to a product that cannot be shared. The share itself stays, and brings a new
/// transaction as soon as the purchaser again has something to share.
///
/// `began` is when the sharing began. Earlier purchases of the purchaser reach the member from then on.
///
/// `copiesBegan` is the start of the member's line of copies, if only the member's rows still show it. An upgrade
/// leaves a copy behind that no line has any more, and a tester may have deleted all others.
package func mirroredFacts(
    of facts: [Fact], purchaser: AccountRecord, share: FamilyShare, began: Instant = .distantPast,
    copiesBegan: Instant? = nil, member: AccountRecord, app: AppState, numbers: inout TransactionNumbers
) -> [Fact] {
    var mirror = FamilyMirror(
        purchaser: purchaser, share: share, began: began, copiesBegan: copiesBegan, member: member, app: app)
    for fact in facts { mirror.follow(fact, numbers: &numbers) }
    return mirror.facts
}

/// Whether facts of a purchaser begin a new period of a shared line.
package func beginsPeriod(_ facts: [Fact], of share: FamilyShare) -> Bool {
    facts.contains { fact in
        switch fact.body {
        case .purchased(let transaction, terms: _?), .renewed(let transaction, _):
            transaction.originalID == share.original
        default: false
        }
    }
}

/// A member's copy of a purchaser's line.
package func mirrored(
    _ line: Line, as share: FamilyShare, id: TransactionID, originalPurchaseDate: Instant?, of member: AccountRecord
) -> Line {
    var copy = line
    copy.latest = mirrored(
        line.latest, as: share, id: id, originalPurchaseDate: originalPurchaseDate, of: member)
    return copy
}

private func mirrored(
    _ transaction: Transaction, as share: FamilyShare, id: TransactionID, originalPurchaseDate: Instant?,
    of member: AccountRecord
) -> Transaction {
    var copy = transaction
    copy.id = id
    copy.originalID = share.memberOriginal
    copy.originalPurchaseDate = originalPurchaseDate ?? transaction.purchaseDate
    if !copy.webOrderLineItemID.isEmpty { copy.webOrderLineItemID = String(id) }
    copy.ownership = .familyShared
    copy.appTransactionID = member.appTransactionID
    // The token belongs to the purchaser, so the copy has none.
    copy.appAccountToken = ""
    return copy
}

private struct FamilyMirror {
    let share: FamilyShare
    let began: Instant
    let copiesBegan: Instant?
    let app: AppState
    private var purchaser: AccountRecord
    private var member: AccountRecord
    private(set) var facts: [Fact] = []
    /// The fact by which the purchaser's next period left this one: cut short, or upgraded from.
    private var leftBehind: Fact?
    /// The purchaser's latest transaction before the current fact.
    private var followed: Transaction?
    private var hasEnded = false

    init(
        purchaser: AccountRecord, share: FamilyShare, began: Instant, copiesBegan: Instant?, member: AccountRecord,
        app: AppState
    ) {
        self.purchaser = purchaser
        self.share = share
        self.began = began
        self.copiesBegan = copiesBegan
        self.member = member
        self.app = app
    }

    mutating func follow(_ fact: Fact, numbers: inout TransactionNumbers) {
        let before = self.purchaserLine
        self.followed = before?.latest
        self.purchaser.apply(fact)
        guard !self.hasEnded else { return }
        let now = max(fact.effective, self.began)
        let original = self.share.original
        switch fact.body {
        case .sharingBegan(let share) where share == self.share:
            self.begin(at: now)
        case .sharingEnded(original, self.share.member):
            self.end(at: now)
        case .cleared:
            self.end(at: now)

        case .upgradedFrom(let transaction), .periodCut(let transaction):
            if transaction.originalID == original, transaction.id == before?.latest.id { self.leftBehind = fact }
        case .purchased(let transaction, _) where transaction.originalID == original:
            self.beginPeriod(at: now, numbers: &numbers)
        case .renewed(let transaction, _) where transaction.originalID == original:
            self.beginPeriod(at: now, numbers: &numbers)

        case .renewalFailed(original, let retry):
            self.add(at: now) { .renewalFailed(original: $0.originalID, retry: retry) }
        case .lapsed(original, let reason):
            self.add(at: now) { .lapsed(original: $0.originalID, reason: reason) }
        case .autoRenewSet(original, let isOn, let preference, let plan):
            // After a refund too: a revoked copy whose renewal is off does not say that it renews.
            self.add(at: now, includingRevoked: true) {
                .autoRenewSet(original: $0.originalID, isOn: isOn, preference: preference, billingPlan: plan)
            }
        case .priceRaised(original, let increase):
            self.add(at: now) { .priceRaised(original: $0.originalID, increase) }
        case .priceAnswered(original, let agrees):
            self.add(at: now) { .priceAnswered(original: $0.originalID, agrees: agrees) }
        case .offerQueued(original, let offer):
            self.add(at: now) { .offerQueued(original: $0.originalID, offer) }

        case .expiredEarly(let transaction) where transaction.id == before?.latest.id:
            self.add(at: now) { .expiredEarly(Self.ending($0.latest, as: transaction)) }
        case .extended(let transaction) where transaction.id == before?.latest.id:
            self.add(at: now) { .extended(Self.ending($0.latest, as: transaction)) }
        case .revoked(let transaction, _) where transaction.originalID == original:
            if let before {
                // An older copy, left after a tester deleted the newer one, was not refunded.
                let isFollowed = self.memberLine.map { Self.isCopy($0.latest, of: before.latest) } ?? false
                if transaction.id == before.latest.id, isFollowed { self.revoke(at: now) }
            } else {
                self.revoke(at: now)
            }
        case .reinstated(let transaction) where transaction.originalID == original:
            self.reinstate(transaction, at: now)
        default:
            break
        }
    }

    private var purchaserLine: Line? {
        self.purchaser.lineIndex(original: self.share.original).map { self.purchaser.lines[$0] }
    }

    /// The purchaser's transaction of a non-consumable.
    private var purchaserOwned: Transaction? {
        self.purchaser.owned.first { $0.id == self.share.original }
    }

    private var memberLine: Line? {
        self.member.lineIndex(original: self.share.memberOriginal).map { self.member.lines[$0] }
    }

    private mutating func append(_ body: Fact.Body, at now: Instant) {
        let fact = Fact(body, effective: now)
        self.member.apply(fact)
        self.facts.append(fact)
    }

    /// Appends a fact about the member's line, if the line follows the purchaser's. A revoked line follows only with
    /// `includingRevoked`. A line whose latest transaction was deleted from a test store does not follow: it returns with
    /// the purchaser's next period.
    private mutating func add(at now: Instant, includingRevoked: Bool = false, _ body: (Line) -> Fact.Body) {
        guard let line = self.memberLine, includingRevoked || line.latest.revocation == nil,
            let followed = self.followed,
            Self.isCopy(line.latest, of: followed)
        else { return }
        self.append(body(line), at: now)
    }

    /// Whether a member's transaction is the copy of `transaction`, the purchaser's latest, and not of an older one.
    ///
    /// Under a frozen clock many periods begin at one instant, so dates do not distinguish them. A copy's ID lies
    /// between its original's and the purchaser's next one. Renewals of one change are numbered before their copies,
    /// but they begin at different instants.
    private static func isCopy(_ copy: Transaction, of transaction: Transaction) -> Bool {
        copy.id > transaction.id && copy.purchaseDate == transaction.purchaseDate
            && copy.productID == transaction.productID
    }

    private static func ending(_ copy: Transaction, as transaction: Transaction) -> Transaction {
        var copy = copy
        copy.expirationDate = transaction.expirationDate
        copy.commitment = transaction.commitment
        copy.signedDate = transaction.signedDate
        return copy
    }

    /// A subscription reaches the member at once. So does a non-consumable that was shared when it was bought; a later
    /// share reaches the member at the next restore.
    private mutating func begin(at now: Instant) {
        if let line = self.purchaserLine {
            let copy = mirrored(
                line, as: self.share, id: self.share.memberOriginal, originalPurchaseDate: nil, of: self.member)
            self.append(.sharedLineSet(copy, isNew: true), at: now)
        } else if let owned = self.purchaserOwned {
            let copy = mirrored(
                owned, as: self.share, id: self.share.memberOriginal, originalPurchaseDate: nil, of: self.member)
            let isAtPurchase = owned.purchaseDate == now
            self.append(isAtPurchase ? .purchased(copy, terms: nil) : .shareAwaitsSync(copy), at: now)
        }
    }

    private mutating func end(at now: Instant) {
        self.hasEnded = true
        let id = self.share.memberOriginal
        if self.member.awaitingSync.contains(where: { $0.id == id }) {
            self.setAwaiting(self.member.awaitingSync.filter { $0.id != id }, at: now)
        } else {
            self.revoke(at: now)
        }
    }

    /// Replaces the list of transactions that wait for a restore.
    private mutating func setAwaiting(_ transactions: [Transaction], at now: Instant) {
        self.append(.synced, at: now)
        for transaction in transactions { self.append(.shareAwaitsSync(transaction), at: now) }
    }

    private mutating func beginPeriod(at now: Instant, numbers: inout TransactionNumbers) {
        let left = self.leftBehind
        self.leftBehind = nil
        guard let line = self.purchaserLine else { return }
        guard self.app.catalogue.product(line.latest.productID)?.isFamilyShareable ?? true else {
            return self.revoke(at: now)
        }
        let held = self.memberLine
        // An older copy, left after a tester deleted the newer one, is not the one left behind now.
        if let held, held.latest.revocation == nil, let followed, Self.isCopy(held.latest, of: followed) {
            switch left?.body {
            case .upgradedFrom:
                var copy = held.latest
                copy.isUpgraded = true
                self.append(.upgradedFrom(copy), at: now)
            case .periodCut(let transaction):
                self.append(.periodCut(Self.ending(held.latest, as: transaction)), at: now)
            default:
                break
            }
        }
        let copy = mirrored(
            line, as: self.share, id: numbers.take(),
            originalPurchaseDate: held?.latest.originalPurchaseDate ?? self.copiesBegan, of: self.member)
        self.append(.sharedLineSet(copy, isNew: true), at: now)
    }

    private mutating func revoke(at now: Instant) {
        let revocation = Revocation(date: now, reason: .other, type: .familyRevoke)
        func revoked(_ transaction: Transaction) -> Transaction {
            var transaction = transaction
            transaction.revocation = revocation
            transaction.signedDate = now
            return transaction
        }
        let id = self.share.memberOriginal
        if let line = self.memberLine {
            if line.latest.revocation == nil {
                self.append(.revoked(revoked(line.latest), fallback: nil), at: now)
            }
        } else if let owned = self.member.owned.first(where: { $0.id == id }) {
            self.append(.revoked(revoked(owned), fallback: nil), at: now)
        } else if self.member.awaitingSync.contains(where: { $0.id == id && $0.revocation == nil }) {
            self.setAwaiting(self.member.awaitingSync.map { $0.id == id ? revoked($0) : $0 }, at: now)
        }
    }

    /// The purchaser's refund was reversed.
    private mutating func reinstate(_ transaction: Transaction, at now: Instant) {
        let id = self.share.memberOriginal
        if let line = self.purchaserLine {
            guard line.latest.id == transaction.id, let held = self.memberLine, held.latest.revocation != nil,
                Self.isCopy(held.latest, of: transaction)
            else { return }
            var copy = held.latest
            copy.revocation = nil
            copy.signedDate = now
            self.append(.reinstated(copy), at: now)
            let isSameNext = held.prefers(line.preference, billed: line.preferredBillingPlan)
            if held.willAutoRenew != line.willAutoRenew || !isSameNext {
                // The purchaser switched renewal while the transaction was refunded.
                self.add(at: now) {
                    .autoRenewSet(
                        original: $0.originalID, isOn: line.willAutoRenew, preference: line.preference,
                        billingPlan: line.preferredBillingPlan)
                }
            }
        } else if self.member.awaitingSync.contains(where: { $0.id == id }) {
            let waiting = self.member.awaitingSync.map { waiting in
                var waiting = waiting
                if waiting.id == id { waiting.revocation = nil }
                return waiting
            }
            self.setAwaiting(waiting, at: now)
        } else if !self.member.owned.contains(where: { $0.id == id }) {
            let copy = mirrored(transaction, as: self.share, id: id, originalPurchaseDate: nil, of: self.member)
            self.append(.reinstated(copy), at: now)
        }
    }
}

/// Delivers shared transactions that waited for the customer to restore purchases. The account keeps everything it has.
/// Transactions that were refunded to the purchaser in the meantime continue to wait.
package func decideSync(_ record: AccountRecord, now: Instant) -> [Fact] {
    let delivered = record.awaitingSync.filter { $0.revocation == nil }
    guard !delivered.isEmpty else { return [] }
    var facts = [Fact(.synced, effective: now)]
    for transaction in record.awaitingSync where transaction.revocation != nil {
        facts.append(Fact(.shareAwaitsSync(transaction), effective: now))
    }
    for transaction in delivered { facts.append(Fact(.purchased(transaction, terms: nil), effective: now)) }
    return facts
}
