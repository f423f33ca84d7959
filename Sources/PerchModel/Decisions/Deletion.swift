import PerchBase

// Deletes transactions from a test store.

/// Deletes a transaction or a pending purchase from a test store, as if it had never existed: eligibility for offers
/// returns with it. A subscription falls back to the transaction before it.
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
        // A member's copy that an upgrade left behind stays left behind: the purchaser's next period brings the next
        // copy.
        kind.isCurrent = row.ownership == .familyShared
        kind.except = id
        switch subject.newest(kind) {
        case .needs(let need): return .needs(need)
        case .found(var before):
            if before?.isUpgraded == true {
                // The upgrade from this transaction was deleted with it.
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
        // Another member's share of the product has its own entry.
        remainder.owned.remove(at: index)
    } else if let index = record.owned.firstIndex(where: { $0.id == id }) {
        switch subject.newest(keptRow(like: row)) {
        case .needs(let need): return .needs(need)
        case .found(let before):
            if let before { remainder.owned[index] = before } else { remainder.owned.remove(at: index) }
        }
    }
    // Non-consumables stay shared while refunded, so only their deletion ends the share.
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

/// A line after its latest transaction was deleted: `latest` is the one before. The store attempts no renewal of a
/// period that has ended, because that would charge for past time.
private func line(_ held: Line, fallingBackTo latest: Transaction, app: AppState, now: Instant) -> Line {
    // A run of periods that began with the deleted transaction is gone; the record does not know where the run before
    // it began.
    let recentStart = min(held.recentStart, latest.purchaseDate)
    var line = Line(latest: latest, preference: latest.productID, recentStart: recentStart)
    line.willAutoRenew = held.willAutoRenew && line.boundary > now
    // Only for a line whose renewal the customer had switched off is the reason of its end known.
    let wasSwitchedOff = !held.willAutoRenew && held.lapse ?? .autoRenewDisabled == .autoRenewDisabled
    if !wasSwitchedOff || line.isCommitted, line.boundary <= now { line.lapse = .unknown }
    let period = latest.offer?.period ?? app.catalogue.product(latest.productID)?.subscription?.period
    if period?.isMonthly == true { line.anchorDay = CivilTime(latest.purchaseDate).day }
    if line.latest.productID == held.latest.productID {
        line.level = held.level
        line.agreedPrice = held.agreedPrice
        line.lastIncrease = held.lastIncrease
    } else {
        line.level = app.catalogue.product(latest.productID)?.subscription?.level ?? 0
    }
    return line
}

/// The group's history without a deleted transaction. Nil: no transaction is left, so the account is new to the group
/// again.
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

/// Deletes everything from a test store's account, and ends what it shares.
func decideClearing(_ subject: OperationSubject, app: AppState, now: Instant) throws(Refusal) -> OperationDecision {
    .done(OperationOutcome([Fact(.cleared, effective: now)]))
}
