import PerchBase
import PerchModel

/// A change of a told app while it is decided: accounts as its facts leave them, and what is written beside them.
struct ToldWork {
    let app: AppState
    let now: Instant
    let revision: UInt64
    var outcome = ToldOutcome()
    /// Accounts in the order in which they were touched, each with its facts.
    private(set) var touched: [AccountFacts] = []
    /// Records before the change.
    private(set) var before: [AccountNumber: AccountRecord] = [:]
    /// Records as the facts so far leave them.
    private(set) var after: [AccountNumber: AccountRecord] = [:]
    /// Keys that name another account from now on; nil: none.
    private(set) var names: [AccountKey: AccountNumber?] = [:]
    /// In the order in which they were written.
    private(set) var writtenNames: [AccountKey] = []
    var side = SideWrites()
    var nextAccount: AccountNumber
    /// Why a claim was refused, although the reports are kept.
    var refusal: Refusal?

    init(app: AppState, now: Instant, header: StoreHeader) {
        self.app = app
        self.now = now
        self.revision = header.revision + 1
        self.nextAccount = header.nextAccount
    }

    mutating func show(_ record: AccountRecord) {
        self.before[record.account] = record
        self.after[record.account] = record
    }

    mutating func add(_ fact: Fact, to account: AccountNumber) {
        self.after[account]?.apply(fact)
        if let place = self.touched.firstIndex(where: { $0.account == account }) {
            self.touched[place].facts.append(fact)
        } else {
            self.touched.append(AccountFacts(account: account, facts: [fact]))
        }
    }

    mutating func name(_ key: AccountKey, _ account: AccountNumber?) {
        if self.names.updateValue(account, forKey: key) == nil { self.writtenNames.append(key) }
    }

    var isEmpty: Bool { self.touched.isEmpty && self.writtenNames.isEmpty && self.side == SideWrites() }
}

// Told apps: reports are folded into the account that owns their original. Several accounts change in one revision.
extension StoreEngine {
    /// Decides a change of a told app, and writes it.
    func decide(
        _ request: ToldRequest, of mutation: Mutation, app: StoredAppState, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        if case .erase(let key) = request { return try self.erase(key, of: mutation, app: app.state, call, &batch) }
        let now = app.state.clock.now(wall: call.wall)
        var work = ToldWork(app: app.state, now: now, header: batch.header)
        if let refusal = try self.carryOut(request, &work) { return .refused(refusal) }
        guard !work.isEmpty else {
            if let refusal = work.refusal { return .refused(refusal) }
            return try self.keep(
                .told(work.outcome), of: mutation, Participants(app: app, wall: call.wall), call, batch.header)
        }
        var stored = self.nextChange(
            of: app.state.number, wall: call.wall, nextTransaction: batch.header.nextTransaction, batch.header)
        stored.nextAccount = work.nextAccount
        var accounts: [AccountChange] = []
        for entry in work.touched {
            guard var record = work.before[entry.account] else { preconditionFailure("facts of an unread account") }
            let (entryCount, earlier) = (record.entryCount, record)
            let ordinal = UInt32(stored.facts.count)
            for fact in entry.facts {
                stored.facts.append(StoredFact(account: entry.account, fact: fact, origin: mutation.origin))
            }
            record.fold(entry.facts, revision: stored.revision, committed: stored.committed)
            guard record.entryCount <= max(entryCount, self.limits.recordEntriesMax) else {
                stored.removeAll()
                return .refused(self.tooLong(record))
            }
            stored.records.append(StoredRecord(record))
            if let moves = CrossingMoves(from: earlier, to: record, app: app.state, at: now) {
                stored.crossings.append(moves)
            }
            accounts.append(
                AccountChange(
                    record: record, cause: entry.facts.last { $0.cause != .unspecified }?.cause ?? .unspecified,
                    facts: entry.facts, ordinal: ordinal, origin: mutation.origin))
        }
        for key in work.writtenNames {
            if let account = work.names[key] ?? nil {
                stored.aliases.append((key, account))
            } else {
                work.side.removedAliases.append(key)
            }
        }
        if work.side != SideWrites() { stored.side = work.side }
        stored.note(mutation.audit)
        let position = Position(revision: stored.revision, asOf: now)
        if work.refusal == nil { Self.keep(.told(work.outcome), position, of: mutation, in: &stored) }
        try self.write(&stored, accounts: accounts, &batch)
        return work.refusal.map { .refused($0) } ?? .mutated(.told(work.outcome), position)
    }

    /// Keeps or drops an item.
    func decideItem(
        _ request: ToldRequest, of mutation: Mutation, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        var side = SideWrites()
        switch request {
        case .keep(let item, let limit):
            if try self.storage.item(item.key) == nil {
                let count = try self.storage.itemCount(item.key.kind, group: item.key.group)
                guard count < limit else {
                    return .refused(
                        Refusal(
                            .itemLimit, "\(count) of them are kept, the limit is \(limit); retry or drop some",
                            found: Int64(count), limit: Int64(limit)))
                }
            }
            side.items.append(item)
        case .drop(let key):
            guard try self.storage.item(key) != nil else {
                return .refused(Refusal(.itemUnknown, "there is no such dead letter; it may have been taken meanwhile"))
            }
            side.removedItems.append(key)
        case .reports, .attach, .detach, .claim, .merge, .erase: preconditionFailure("a change of an app")
        }
        var stored = self.nextChange(
            of: 0, wall: call.wall, nextTransaction: batch.header.nextTransaction, batch.header)
        stored.side = side
        stored.note(mutation.audit)
        let position = Position(revision: stored.revision, asOf: call.wall)
        try self.write(&stored, accounts: [], &batch)
        return .mutated(.told(ToldOutcome()), position)
    }

    private func carryOut(_ request: ToldRequest, _ work: inout ToldWork) throws(StorageError) -> Refusal? {
        switch request {
        case .keep, .drop: preconditionFailure("an item is of the store itself")
        case .erase: preconditionFailure("an account is erased by a change of its own")
        case .reports(let reports, let source, let claimant, let names, let item):
            try self.fold(reports, source, claimant, &work)
            if let claimant, !names.isEmpty {
                let account = try self.open(claimant, &work)
                for name in names { try self.attach(name, to: account, &work) }
            }
            if let item, try self.storage.item(item) != nil { work.side.removedItems.append(item) }
        case .attach(let alias, let key):
            try self.attach(alias, to: try self.open(key, &work), &work)
        case .detach(let alias):
            guard try self.account(.attached(alias, app: work.app.number), work) != nil else {
                return Refusal(.accountUnknown, "no account has this alias")
            }
            work.name(.attached(alias, app: work.app.number), nil)
            try self.resolve(linkedWith: alias, &work)
        case .claim(let id, let key):
            guard try self.account(.original(id, app: work.app.number), work) != nil else {
                return Refusal(
                    .transactionUnknown,
                    "no report named the original transaction \(id); submit one of its transactions first")
            }
            let account = try self.open(key, &work)
            try self.claim(id, for: account, &work)
        case .merge(let key, let other):
            return try self.merge(key, into: other, &work)
        }
        return nil
    }

    // MARK: Accounts

    private func account(_ key: AccountKey, _ work: ToldWork) throws(StorageError) -> AccountNumber? {
        if let known = work.names[key] { return known }
        return try self.storage.account(key)
    }

    /// The record of an account as the change leaves it.
    private func record(
        _ account: AccountNumber, _ work: inout ToldWork
    ) throws(StorageError) -> AccountRecord {
        if let record = work.after[account] { return record }
        guard let record = try self.record(account) else {
            preconditionFailure("account \(account) is named, and has no record")
        }
        work.show(record)
        return record
    }

    private func original(_ id: TransactionID, _ work: inout ToldWork) throws(StorageError) -> (
        owner: AccountNumber?, state: ToldOriginal
    ) {
        guard let owner = try self.account(.original(id, app: work.app.number), work) else {
            return (nil, ToldOriginal(id: id))
        }
        let record = try self.record(owner, &work)
        return (owner, record.told?.original(id) ?? ToldOriginal(id: id))
    }

    /// The account of a key that callers use; it is opened if there is none.
    private func open(_ key: AccountKey, _ work: inout ToldWork) throws(StorageError) -> AccountNumber {
        if let account = try self.account(key, work) {
            _ = try self.record(account, &work)
            return account
        }
        let account = self.openAccount(key, &work)
        // Originals may have waited for a customer with this very token, in whatever case the key is written.
        if let token = String(validating: key.bytes, as: UTF8.self), WrittenAccountToken(token).uuid != nil {
            let alias = AccountAlias.appAccountToken(WrittenAccountToken(token).text)
            if try self.named(alias, work) == nil { work.name(.attached(alias, app: work.app.number), account) }
            try self.resolve(linkedWith: alias, &work)
        }
        return account
    }

    private func openAccount(_ key: AccountKey, _ work: inout ToldWork) -> AccountNumber {
        let account = work.nextAccount
        work.nextAccount += 1
        work.show(AccountRecord(account: account, app: work.app.number))
        work.name(key, account)
        work.add(Fact(.opened(appTransactionID: ""), effective: work.now), to: account)
        return account
    }

    private func attach(
        _ alias: AccountAlias, to account: AccountNumber, _ work: inout ToldWork
    ) throws(StorageError) {
        guard try self.account(.attached(alias, app: work.app.number), work) != account else { return }
        work.name(.attached(alias, app: work.app.number), account)
        // So that the revision is one of the account's: whoever erases it finds the name there.
        work.add(Fact(.told(.named), effective: work.now), to: account)
        try self.resolve(linkedWith: alias, &work)
    }

    /// The account that an alias names, if it is one that callers know.
    private func named(_ alias: AccountAlias, _ work: ToldWork) throws(StorageError) -> AccountNumber? {
        if let account = try self.account(.attached(alias, app: work.app.number), work) { return account }
        guard case .appAccountToken(let token) = alias else { return nil }
        return try self.account(.token(token, app: work.app.number), work)
    }

    // MARK: Ownership

    /// The account that owns an original, by all that is known of it. Opens an unclaimed account where no known one does.
    private func owner(of original: ToldOriginal, _ work: inout ToldWork) throws(StorageError) -> AccountNumber {
        var known: [AccountAlias: AccountNumber] = [:]
        if original.links.claim == nil {
            for alias in original.links.newestFirst {
                if let account = try self.named(alias, work) {
                    known[alias] = account
                    break
                }
            }
        }
        switch original.links.owner(ofOriginal: original.id, account: { known[$0] }) {
        case .account(let account):
            _ = try self.record(account, &work)
            return account
        case .unclaimed(let name):
            let key = AccountKey.unclaimed(name, app: work.app.number)
            if let account = try self.account(key, work) {
                _ = try self.record(account, &work)
                return account
            }
            let account = self.openAccount(key, &work)
            work.add(Fact(.told(.openedUnclaimed), effective: work.now), to: account)
            return account
        }
    }

    /// Gives an original to the account that owns it now. Both accounts change in this revision.
    private func settleOwner(of id: TransactionID, _ work: inout ToldWork) throws(StorageError) {
        let (found, state) = try self.original(id, &work)
        guard let current = found else { return }
        let owner = try self.owner(of: state, &work)
        guard owner != current else { return }
        let rows = state.shownTransactions.map(\.id)
        work.add(Fact(.told(.lost(id, rows: rows)), effective: work.now), to: current)
        work.add(Fact(.told(.gained(state, from: current)), effective: work.now), to: owner)
        self.name(state, owner, &work)
        work.outcome.moved += 1
    }

    /// Every ID of an original leads to its account.
    private func name(_ original: ToldOriginal, _ account: AccountNumber, _ work: inout ToldWork) {
        let app = work.app.number
        work.name(.original(original.id, app: app), account)
        for register in original.registers.values.sorted(by: TransactionRegister.precedes) {
            for id in register.ids.dropFirst() { work.name(.otherTransaction(id, app: app), account) }
        }
    }

    private func resolve(linkedWith alias: AccountAlias, _ work: inout ToldWork) throws(StorageError) {
        let group = ItemKey.linkGroup(alias, app: work.app.number)
        var originals: [TransactionID] = []
        var after: [UInt8] = []
        while true {
            let page = try self.storage.items(.link, group: group, after: after, limit: Limits.pageSizeMax)
            originals += page.map(\.key.linkedOriginal)
            guard page.count == Limits.pageSizeMax, let last = page.last else { break }
            after = last.key.key
        }
        for item in work.side.items where item.key.kind == .link && item.key.group == group {
            let id = item.key.linkedOriginal
            if !originals.contains(id) { originals.append(id) }
        }
        for id in originals { try self.settleOwner(of: id, &work) }
    }

    private func claim(
        _ id: TransactionID, for account: AccountNumber, _ work: inout ToldWork
    ) throws(StorageError) {
        let (owner, state) = try self.original(id, &work)
        guard let owner, state.links.claim?.account != account else { return }
        let claim = AccountClaim(account: account, revision: work.revision)
        work.add(Fact(.told(.claimed(id, claim)), effective: work.now), to: owner)
        try self.settleOwner(of: id, &work)
    }

    /// The claim of an app's backend. The policy of the app decides where another account has the original.
    private func claim(
        _ id: TransactionID, forClaimant account: AccountNumber, _ work: inout ToldWork
    ) throws(StorageError) {
        let (owner, state) = try self.original(id, &work)
        guard let owner, owner != account else { return }
        let isUnclaimed = try self.record(owner, &work).told?.isUnclaimed ?? false
        let policy = work.app.settings.claimPolicy
        if !isUnclaimed, policy != .transfer {
            let leeway = work.app.renewalLeewayMilliseconds ?? 0
            let entitles = !state.entitling(at: work.now, leewayMilliseconds: leeway).isEmpty
            var namesAnother = false
            for alias in state.links.newestFirst where !namesAnother {
                if let named = try self.named(alias, work) { namesAnother = named != owner && named != account }
            }
            if policy == .keep || entitles || namesAnother {
                work.refusal = Refusal(
                    .ownedByOther,
                    "the original transaction \(id) belongs to another account, and this app's claims are \(policy); an administrator can move it"
                )
                return
            }
        }
        try self.claim(id, for: account, &work)
    }

    private func merge(
        _ key: AccountKey, into other: AccountKey, _ work: inout ToldWork
    ) throws(StorageError) -> Refusal? {
        guard let source = try self.account(key, work) else {
            return Refusal(.accountUnknown, "there is no account to merge from")
        }
        let target = try self.open(other, &work)
        guard source != target else { return nil }
        let record = try self.record(source, &work)
        for original in record.told?.originals ?? [] { try self.claim(original.id, for: target, &work) }
        work.name(key, target)
        // Watchers of the merged key see the target's record from this change on.
        work.add(Fact(.told(.merged), effective: work.now), to: target)
        return nil
    }

    // MARK: Reports

    private func fold(
        _ reports: [ToldReport], _ source: FactSource, _ claimant: AccountKey?, _ work: inout ToldWork
    ) throws(StorageError) {
        var originals: [TransactionID] = []
        for report in reports {
            guard let id = report.original else { continue }
            if !originals.contains(id) { originals.append(id) }
            try self.fold(report, of: id, source, isClaimed: claimant != nil, &work)
        }
        guard let claimant, !originals.isEmpty else { return }
        let account = try self.open(claimant, &work)
        for id in originals { try self.claim(id, forClaimant: account, &work) }
    }

    private func fold(
        _ report: ToldReport, of id: TransactionID, _ source: FactSource, isClaimed: Bool, _ work: inout ToldWork
    ) throws(StorageError) {
        let (found, state) = try self.original(id, &work)
        guard let stamp = report.stamp else { return }
        if found == nil {
            let erased = ItemKey.erased(id, app: work.app.number)
            if try self.storage.item(erased) != nil, !work.side.removedItems.contains(erased) {
                guard isClaimed else {
                    work.outcome.erased += 1
                    return
                }
                work.side.removedItems.append(erased)
            }
        }
        var next = state
        let body: ToldFact
        let effective: Instant
        switch report {
        case .transaction(let transaction, let content):
            guard let fact = state.fact(of: transaction, content: content) else {
                work.outcome.duplicates += 1
                return
            }
            (body, effective) = (.transaction(fact), min(transaction.purchaseDate, transaction.signedDate))
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
            for alias in next.links.aliases.keys.sorted() where state.links.aliases[alias] == nil {
                work.side.items.append(StoredItem(.link(alias, app: work.app.number, original: id), []))
            }
        }
        let owner: AccountNumber
        if let found { owner = found } else { owner = try self.owner(of: next, &work) }
        work.add(Fact(.told(body), effective: effective, source: source, stamp: stamp.signed), to: owner)
        self.name(next, owner, &work, unless: found == nil ? nil : state)
        if found != nil { try self.settleOwner(of: id, &work) }
    }

    /// Names the IDs that a report brought.
    private func name(
        _ next: ToldOriginal, _ account: AccountNumber, _ work: inout ToldWork, unless before: ToldOriginal?
    ) {
        guard let before else { return self.name(next, account, &work) }
        for (period, register) in next.registers where before.registers[period]?.ids != register.ids {
            for id in register.ids.dropFirst() { work.name(.otherTransaction(id, app: work.app.number), account) }
        }
    }
}

extension ToldReport {
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

extension ToldOriginal {
    fileprivate mutating func fold(_ report: ToldReport) -> FoldOutcome {
        guard let stamp = report.stamp else { return .duplicate }
        switch report {
        case .transaction(let transaction, _): return self.fold(transaction, stamp: stamp)
        case .renewal(let info, let renewalDate, _):
            return self.fold(info, renewalDate: renewalDate, stamp: stamp)
        case .alias, .claim: return .duplicate
        }
    }
}
