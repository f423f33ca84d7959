import PerchBase

// Transactions taken out of a test store.

/// Takes a transaction, or a purchase that waits, out of a test store, as if it had never been: eligibility for offers
/// comes back with it. A subscription falls back to the transaction before it.
func decideDeletion(
    of id: TransactionID, _ subject: OperationSubject, app: AppState, now: Instant
) throws(Refusal) -> OperationDecision {
    let record = subject.record
    if record.pendingPurchases.contains(where: { $0.id == id }) {
        return .done(OperationOutcome([Fact(.purchaseReleased(id: id, isApproved: false), effective: now)]))
    }
    let row: Transaction
    switch try transaction(.transaction(id), subject, app: app) {
    case .needs(let need): return .needs(need)
    case .found(let found): row = found
    }
    var remainder = Remainder(lines: record.lines, owned: record.owned, histories: record.histories)
    var ended: [FamilyShare] = []
    var restored: Transaction?
    if let index = record.lines.firstIndex(where: { $0.latest.id == id }) {
        var kind = RowKind()
        kind.originalID = row.originalID
        // A member's copy that was left behind stays so: the purchaser's next period brings the next copy.
        kind.isCurrent = row.ownership == .familyShared
        kind.except = id
        switch subject.newest(kind) {
        case .needs(let need): return .needs(need)
        case .found(var before):
            if before?.isUpgraded == true {
                // The upgrade from it never was.
                before?.isUpgraded = false
                before?.signedDate = now
                restored = before
            }
            if let before {
                remainder.lines[index] = line(record.lines[index], fallingBackTo: before, app: app, now: now)
            } else {
                remainder.lines.remove(at: index)
            }
        }
        ended = record.shares.filter { $0.original == row.originalID }
    }
    if let index = record.owned.firstIndex(where: { $0.id == id }), row.ownership == .familyShared {
        // What another member shares of it has a place of its own.
        remainder.owned.remove(at: index)
    } else if let index = record.owned.firstIndex(where: { $0.id == id }) {
        switch subject.newest(keptRow(like: row)) {
        case .needs(let need): return .needs(need)
        case .found(let before):
            if let before { remainder.owned[index] = before } else { remainder.owned.remove(at: index) }
        }
    }
    // What lasts is shared by itself, also while it is refunded: what is not there any more is shared with nobody.
    if row.productType != .autoRenewable { ended = record.shares.filter { $0.original == id } }
    if let index = record.histories.firstIndex(where: { $0.groupID == row.subscriptionGroupID }),
        row.ownership == .purchased
    {
        switch history(record.histories[index], without: row, subject) {
        case .needs(let need): return .needs(need)
        case .found(let history?): remainder.histories[index] = history
        case .found(nil): remainder.histories.remove(at: index)
        }
    }
    var facts = ends(of: ended, at: now) + [Fact(.deleted(id, remainder: remainder), effective: now)]
    if let restored { facts.append(Fact(.upgradedFrom(restored), effective: now)) }
    return .done(OperationOutcome(facts, transaction: row))
}

/// A line whose latest transaction is another one, before it. The store attempts nothing for a period that is over: it
/// would charge for a time that has passed.
private func line(_ held: Line, fallingBackTo latest: Transaction, app: AppState, now: Instant) -> Line {
    // A run that began with what was taken out is gone with it; where the one before it began, a record does not know.
    let recentStart = min(held.recentStart, latest.purchaseDate)
    var line = Line(latest: latest, preference: latest.productID, recentStart: recentStart)
    line.willAutoRenew = held.willAutoRenew && line.boundary > now
    // Why it ended is known of who had switched renewal off, and of nobody else.
    let wasSwitchedOff = !held.willAutoRenew && held.lapse ?? .autoRenewDisabled == .autoRenewDisabled
    if !wasSwitchedOff || line.isCommitted, line.boundary <= now { line.lapse = .unknown }
    if line.latest.productID == held.latest.productID {
        line.level = held.level
        line.agreedPrice = held.agreedPrice
        line.lastIncrease = held.lastIncrease
    } else {
        line.level = app.catalogue.product(latest.productID)?.subscription?.level ?? 0
    }
    return line
}

/// What offers ask of a group's past, when a transaction of it never was. Nil: there is none left, so the account is new to
/// the group again.
private func history(
    _ held: GroupHistory, without row: Transaction, _ subject: OperationSubject
) -> Found<GroupHistory?> {
    var history = held
    var kind = RowKind()
    kind.groupID = row.subscriptionGroupID
    kind.ownership = .purchased
    kind.except = row.id
    switch subject.newest(kind) {
    case .needs(let need): return .needs(need)
    case .found(nil): return .found(nil)
    case .found: break
    }
    if row.offer?.type == .introductory {
        kind.offerType = .introductory
        switch subject.newest(kind) {
        case .needs(let need): return .needs(need)
        case .found(let other): history.hadIntroductoryOffer = other != nil
        }
    }
    if row.redeemsWinBack {
        kind.offerType = .winBack
        kind.reason = .purchase
        switch subject.newest(kind) {
        case .needs(let need): return .needs(need)
        case .found(let other): history.lastWinBack = other?.purchaseDate
        }
    }
    history.changePaid(from: row.paidMilliseconds, to: 0)
    return .found(history)
}

/// Takes everything out of a test store's account. What it shares ends with it.
func decideClearing(_ subject: OperationSubject, app: AppState, now: Instant) throws(Refusal) -> OperationDecision {
    .done(OperationOutcome([Fact(.cleared, effective: now)]))
}
