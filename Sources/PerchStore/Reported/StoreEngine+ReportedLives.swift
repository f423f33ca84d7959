import PerchBase
import PerchModel

// Reports of an App Store app: each is folded into its original, whoever owns that.
extension StoreEngine {
    // MARK: Reports

    func fold(
        _ reports: [ReportedValue], _ source: FactSource, _ claimant: AccountKey?, _ work: inout ReportedWork
    ) throws(StorageError) {
        var originals: [TransactionID] = []
        var account: AccountNumber?
        for report in reports {
            guard let id = report.original else { continue }
            if !originals.contains(id) { originals.append(id) }
            // A claim of what nobody has decides before the report is folded: so the purchase is the account's from the first.
            if let claimant, account == nil { account = try self.open(claimant, &work) }
            try self.fold(report, of: id, source, claimant: account, &work)
        }
        if let account {
            for id in originals { try self.claim(id, forClaimant: account, &work) }
        }
        // Of a submission that names its account, the app waits to deliver what was bought.
        guard source == .submission, claimant != nil else { return }
        for case .transaction(let transaction, _) in reports { try self.noteSubmitted(transaction, &work) }
    }

    private func fold(
        _ report: ReportedValue, of id: TransactionID, _ source: FactSource, claimant: AccountNumber?,
        _ work: inout ReportedWork
    ) throws(StorageError) {
        let (found, state) = try self.original(id, &work)
        guard let stamp = report.stamp else { return }
        if found == nil {
            let erased = ItemKey.erased(id, app: work.app.number)
            if try self.storage.item(erased) != nil, !work.side.removedItems.contains(erased) {
                guard claimant != nil else {
                    work.outcome.erased += 1
                    return
                }
                work.side.removedItems.append(erased)
            }
        }
        var next = state
        let body: ReportedFact
        let effective: Instant
        switch report {
        case .transaction(let transaction, let content):
            guard let fact = state.fact(of: transaction, content: content) else {
                work.outcome.duplicates += 1
                return
            }
            (body, effective) = (.transaction(fact), min(transaction.purchaseDate, transaction.signedDate))
            self.noteGroup(of: transaction, work.app)
        case .renewal(let info, let renewalDate, let content):
            (body, effective) = (.renewal(info, renewalDate: renewalDate, content: content), info.signedDate)
        case .alias, .claim: return
        }
        let outcome = next.fold(report)
        switch outcome {
        case .duplicate:
            work.outcome.duplicates += 1
            return
        case .stale:
            let seen = ItemKey.seen(stamp, app: work.app.number, original: id)
            if try self.storage.item(seen) != nil || work.side.items.contains(where: { $0.key == seen }) {
                work.outcome.duplicates += 1
                return
            }
            work.side.items.append(StoredItem(seen, []))
            work.outcome.stale += 1
        case .news:
            work.outcome.news += 1
            if Self.saysMore(body, than: state) { work.outcome.changed += 1 }
            for alias in next.links.aliases.keys.sorted() where state.links.aliases[alias] == nil {
                work.side.items.append(StoredItem(.link(alias, app: work.app.number, original: id), []))
            }
            for order in next.orders where !state.orders.contains(order) {
                work.side.items.append(StoredItem(.order(order, app: work.app.number, original: id), []))
            }
        }
        let owner: AccountNumber
        if let found {
            owner = found
            try self.unarchive(state, of: found, &work)
        } else if let claimant, try self.isUnnamed(next, except: claimant, work) {
            owner = claimant
            let claim = AccountClaim(account: claimant, revision: work.revision)
            work.add(Fact(.reported(.claimed(id, claim)), effective: work.now), to: claimant)
        } else {
            owner = try self.owner(of: next, &work)
        }
        work.add(Fact(.reported(body), effective: effective, source: source, stamp: stamp.signed), to: owner)
        self.name(next, owner, &work, unless: found == nil ? nil : state)
        if found != nil { try self.settleOwner(of: id, &work) }
        try self.spread(try self.original(id, &work).state, since: state, &work)
    }

    /// Whether a report tells what a notification would have told: not a later signature alone, and not a token alone, which servers set and
    /// no notification tells.
    private static func saysMore(_ report: ReportedFact, than state: ReportedOriginal) -> Bool {
        guard case .transaction(let fact) = report else { return true }
        guard fact.kind == .changed, var known = state.registers[ReportedPeriod(of: fact.reported)]?.transaction,
            let shown = fact.shown
        else { return fact.kind != .unspecified }
        known.appAccountToken = shown.appAccountToken
        return known != shown
    }

    /// Whether no name of an original is that of another account, whose purchase it would be.
    private func isUnnamed(
        _ original: ReportedOriginal, except claimant: AccountNumber, _ work: ReportedWork
    ) throws(StorageError) -> Bool {
        for alias in original.links.newestFirst {
            if let account = try self.named(alias, work) { return account == claimant }
        }
        return true
    }

    /// The catalogue's group holds; that the App Store has another identifier for it is said once.
    private func noteGroup(of transaction: Transaction, _ app: AppState) {
        guard let group = app.catalogue.product(transaction.productID)?.subscription?.groupID,
            !transaction.subscriptionGroupID.isEmpty, group != transaction.subscriptionGroupID,
            self.counters.groupDifferences.count < Limits.groupDifferencesMax
        else { return }
        let difference = GroupDifference(
            bundleID: app.bundleID, catalogueGroup: group, reportedGroup: transaction.subscriptionGroupID)
        if !self.counters.groupDifferences.contains(difference) { self.counters.groupDifferences.append(difference) }
    }

    // MARK: What is submitted

    /// Puts a submitted transaction on the unfinished list of its account, the first time that it is submitted.
    private func noteSubmitted(_ transaction: Transaction, _ work: inout ReportedWork) throws(StorageError) {
        let (owner, state) = try self.original(transaction.originalID, &work)
        guard let owner, let register = state.registers[ReportedPeriod(of: transaction)],
            let id = register.ids.first
        else { return }
        let key = ItemKey.submitted(id, app: work.app.number, original: state.id)
        guard try self.storage.item(key) == nil, !work.side.items.contains(where: { $0.key == key }) else { return }
        work.side.items.append(StoredItem(key, []))
        work.add(
            Fact(.reported(.submitted(id)), effective: work.now, source: .submission, stamp: transaction.signedDate),
            to: owner)
    }

    // MARK: Notifications

    /// Notes a notification once in the account of its purchase, for readers of the app's changes.
    func note(
        _ noted: NotedNotification, about reports: [ReportedValue], _ work: inout ReportedWork
    ) throws(StorageError) {
        guard let id = reports.lazy.compactMap(\.original).first,
            let owner = try self.original(id, &work).owner
        else { return }
        let stamp = ReportStamp(signed: noted.notice.signed, content: Digest(of: Array(noted.notice.uuid.utf8)))
        let key = ItemKey.seen(stamp, app: work.app.number, original: id)
        guard try self.storage.item(key) == nil, !work.side.items.contains(where: { $0.key == key }) else { return }
        work.side.items.append(StoredItem(key, []))
        work.outcome.notices += 1
        work.add(
            Fact(
                .reported(.notified(noted.notice, reason: noted.consumptionReason)), effective: noted.notice.signed,
                source: .notification, stamp: noted.notice.signed), to: owner)
        if noted.notice.type == "CONSUMPTION_REQUEST" { try self.open(noted, about: id, &work) }
    }

    /// Names the IDs that a report brought.
    private func name(
        _ next: ReportedOriginal, _ account: AccountNumber, _ work: inout ReportedWork, unless before: ReportedOriginal?
    ) {
        guard let before else { return self.name(next, account, &work) }
        for (period, register) in next.registers where before.registers[period]?.ids != register.ids {
            for id in register.ids.dropFirst() { work.name(.otherTransaction(id, app: work.app.number), account) }
        }
    }
}

extension ReportedValue {
    /// The original transaction that a report of the App Store is about.
    var original: TransactionID? {
        switch self {
        case .transaction(let transaction, _): transaction.originalID
        case .renewal(let info, _, _): info.originalTransactionID
        case .alias, .claim: nil
        }
    }

    var stamp: ReportStamp? {
        switch self {
        case .transaction(let transaction, let content):
            ReportStamp(signed: transaction.signedDate, content: content)
        case .renewal(let info, _, let content): ReportStamp(signed: info.signedDate, content: content)
        case .alias, .claim: nil
        }
    }
}

extension ReportedOriginal {
    fileprivate mutating func fold(_ report: ReportedValue) -> FoldOutcome {
        guard let stamp = report.stamp else { return .duplicate }
        switch report {
        case .transaction(let transaction, _): return self.fold(transaction, stamp: stamp)
        case .renewal(let info, let renewalDate, _):
            return self.fold(info, renewalDate: renewalDate, stamp: stamp)
        case .alias, .claim: return .duplicate
        }
    }
}
