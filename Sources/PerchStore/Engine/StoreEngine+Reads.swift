import PerchBase
import PerchModel

// Reads: answered from committed data, never from the batch of the same tick.
extension StoreEngine {
    func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        if !self.cachesRecords { return try self.storage.record(account) }
        if let cached = self.cache.record(account) { return cached }
        guard let record = try self.storage.record(account) else { return nil }
        self.cache.insert(record)
        return record
    }

    func read(_ body: StoreRequest.Body, wall: Instant) -> StoreAnswer {
        self.counters.reads += 1
        do throws(StorageError) {
            switch body {
            case .record(let key):
                guard let account = try self.account(of: key) else { return .record(nil) }
                return .record(try self.record(account))
            case .recordOf(let account):
                return .record(try self.record(account))
            case .recordAsKnown(let key, let known):
                return try self.recordAsKnown(key, known)
            case .history(let key, let known, let withGranters, let withHappenings):
                let history = try self.history(key, known)
                guard case .history(var found) = history else { return history }
                if withGranters { found.granters = try self.granters(of: found.record) }
                if withHappenings { try self.addHappenings(to: &found, known, withAuthors: withGranters, wall: wall) }
                return .history(found)
            case .keys(let app, let after, let limit):
                let after = after.isEmpty ? AccountKey.beforeNamed : after
                var keys = try self.storage.keys(of: app, after: after, limit: limit + 1)
                let hasMore = keys.count > limit
                if hasMore { keys.removeLast() }
                return .keys(keys, hasMore: hasMore)
            case .accounts(let app, let after, let limit, let once):
                return try self.accounts(of: app, after: after, limit: limit, once: once)
            case .transactions(let key, let query):
                guard let account = try self.account(of: key) else { return .transactions([], hasMore: false) }
                if query.unfinishedOnly, self.apps[key.app]?.state.isTestApp == false {
                    return try self.unfinished(of: account, key.app, query)
                }
                var query = query
                query.limit += 1
                var rows = try self.storage.transactions(of: account, query)
                let hasMore = rows.count == query.limit
                if hasMore { rows.removeLast() }
                return .transactions(rows, hasMore: hasMore)
            case .events(let key, let place, let limit):
                return try self.events(key, after: place, limit: limit, wall: wall)
            case .image(let app, let hash):
                return .image(try self.storage.image(app, hash), hash)
            case .item(let key):
                return .items(try self.storage.item(key).map { [$0] } ?? [], hasMore: false)
            case .items(let kind, let groups, var after, let limit):
                var items: [StoredItem] = []
                for group in groups where items.count <= limit {
                    items += try self.listItems(kind, group: group, after: after, limit: limit + 1 - items.count)
                    after = []
                }
                let hasMore = items.count > limit
                if hasMore { items.removeLast() }
                if kind == .audit {
                    items = try items.map { item throws(StorageError) in try self.withAccountKey(item) }
                }
                return .items(items, hasMore: hasMore)
            case .find(let app, let sought):
                return .found(try self.find(sought, app))
            case .customers(let app, let sought):
                return try self.customers(sought, app)
            case .notes(let key):
                guard let account = try self.account(of: key) else { return .notes([]) }
                return .notes(try self.notes(of: account, key.app))
            case .export(let key, let query):
                return .exported(try self.export(key, query))
            case .copySlice(let asked):
                return try self.copySlice(asked, wall: wall)
            case .ended(let app, let after, let through, let limit):
                return try self.ended(app, after: after, through: through, limit: limit, wall: wall)
            case .awaited(let app, let account, let isWhole, let limit):
                return try self.awaited(app, from: account, isWhole: isWhole, limit: limit, wall: wall)
            case .unread(let app, let account, let instant, let isWhole, let limit):
                return try self.unread(app, from: account, since: instant, isWhole: isWhole, limit: limit)
            case .look:
                return self.others.isCutOff ? .refused(self.blindRefusal) : .looked
            case .mutate, .order, .revoke, .note, .code, .barrierReached, .changes:
                preconditionFailure("not a read")
            }
        } catch {
            return .refused(self.refusal(ofRead: error))
        }
    }

    /// A line of the audit trail with the present key of its account.
    private func withAccountKey(_ item: StoredItem) throws(StorageError) -> StoredItem {
        guard var entry = AuditEntry(item), entry.account != 0, let key = try self.storage.key(of: entry.account) else {
            return item
        }
        entry.accountKey = String(decoding: key, as: UTF8.self)
        return entry.item(revision: AuditEntry.revision(of: item.key))
    }

    /// Of an app whose purchases happen elsewhere, only what was submitted for the account is known to wait: the App Store does not say
    /// what a device has finished. Oldest first.
    private func unfinished(
        of account: AccountNumber, _ app: AppNumber, _ query: TransactionQuery
    ) throws(StorageError) -> StoreAnswer {
        var rows: [TransactionRow] = []
        for id in try self.record(account)?.reported?.unfinished ?? [] {
            guard let row = try self.storage.transaction(app, id), row.account == account, !row.isFinished else {
                continue
            }
            if let after = query.after,
                (row.transaction.purchaseDate, row.transaction.id) <= (after.purchaseDate, after.id)
            {
                continue
            }
            rows.append(row)
        }
        rows.sort {
            ($0.transaction.purchaseDate, $0.transaction.id) < ($1.transaction.purchaseDate, $1.transaction.id)
        }
        return .transactions(Array(rows.prefix(query.limit)), hasMore: rows.count > query.limit)
    }

    /// Accounts with their records. A list goes over all accounts, so it leaves the records that are in use in the cache.
    private func accounts(
        of app: AppNumber, after: [UInt8], limit: Int, once: Bool
    ) throws(StorageError) -> StoreAnswer {
        var keys = try self.storage.keys(of: app, after: after, limit: limit + 1)
        let hasMore = keys.count > limit
        if hasMore { keys.removeLast() }
        var accounts: [(key: [UInt8], record: AccountRecord)] = []
        accounts.reserveCapacity(keys.count)
        for key in keys {
            guard let account = try self.storage.account(AccountKey(app: app, bytes: key)) else { continue }
            // An unclaimed account has no key that callers use.
            if once, let first = try self.storage.key(of: account), first != key { continue }
            if self.cachesRecords, let record = self.cache.record(account) {
                accounts.append((key, record))
            } else if let record = try self.storage.record(account) {
                accounts.append((key, record))
            }
        }
        return .accounts(accounts, next: hasMore ? keys.last : nil)
    }

    /// The account that has what is sought now. An account that only had it is not it.
    private func find(_ sought: AccountSought, _ app: AppNumber) throws(StorageError) -> FoundAccount? {
        var account: AccountNumber?
        switch sought {
        case .transaction(let id):
            account = try self.storage.transaction(app, id)?.account
            for key in [AccountKey.original(id, app: app), .otherTransaction(id, app: app)] where account == nil {
                account = try self.storage.account(key)
            }
        case .alias(let alias):
            if case .appAccountToken(let token) = alias {
                account = try self.account(of: .token(token, app: app))
            } else {
                account = try self.storage.account(.attached(alias, app: app))
            }
            if account == nil { account = try self.owner(ofPurchasesOf: alias, app) }
        }
        guard let account, let record = try self.record(account) else { return nil }
        let isUnclaimed = record.reported?.isUnclaimed ?? false
        let key = isUnclaimed ? nil : try self.storage.key(of: account)
        return FoundAccount(key: key ?? [], isUnclaimed: isUnclaimed, record: record)
    }

    /// Of the purchases that carry a name which is no account's, the owner of the one whose name was reported last; a known account
    /// before none.
    private func owner(ofPurchasesOf alias: AccountAlias, _ app: AppNumber) throws(StorageError) -> AccountNumber? {
        var best: (isKnown: Int, stamp: ReportStamp, account: AccountNumber)?
        for id in try self.originals(inGroup: ItemKey.linkGroup(alias, app: app)) {
            guard let account = try self.storage.account(.original(id, app: app)),
                let reported = try self.record(account)?.reported,
                let stamp = reported.original(id)?.links.aliases[alias]
            else { continue }
            let isKnown = reported.isUnclaimed ? 0 : 1
            if best.map({ ($0.isKnown, $0.stamp) < (isKnown, stamp) }) ?? true { best = (isKnown, stamp, account) }
        }
        return best?.account
    }

    /// A read that failed. Storage that cannot be reached is asked again by the next read.
    func refusal(ofRead error: StorageError) -> Refusal {
        switch error {
        case .unreachable, .unknown, .superseded: return Refusal(.storeUnreachable, Self.isOutOfReach)
        case .full, .failed, .historyLost, .corrupt, .newerSchema, .newerForm, .olderSchema:
            self.fail(error)
            return Refusal(.storeFailed, error.description)
        }
    }

    /// The record and the app at a point in the past: folds the facts up to a revision and an instant, and returns the app
    /// as it was then.
    private func recordAsKnown(_ key: AccountKey, _ known: KnownAs) throws(StorageError) -> StoreAnswer {
        let (found, refusal) = try self.past(key, known)
        guard let found else { return .refused(refusal) }
        return .recordAsKnown(found.record, found.app)
    }

    /// A record with its newest rows, which include past periods.
    private func history(_ key: AccountKey, _ known: KnownAs?) throws(StorageError) -> StoreAnswer {
        if let known {
            let (found, refusal) = try self.past(key, known)
            guard let found else { return .refused(refusal) }
            let rows = found.rows.values.sorted { ($0.purchaseDate, $0.id) > ($1.purchaseDate, $1.id) }
            return .history(
                AccountHistory(
                    record: found.record, rows: Array(rows.prefix(Limits.pageSizeMax)), app: found.app))
        }
        guard let app = self.apps[key.app]?.state else { preconditionFailure("app \(key.app) is gone") }
        guard let account = try self.account(of: key) else { return .history(AccountHistory(app: app)) }
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.isNewestFirst = true
        query.includesFinishedConsumables = true
        let rows = try self.storage.transactions(of: account, query).map(\.transaction)
        return .history(AccountHistory(record: try self.record(account), rows: rows, app: app))
    }

    /// Who granted what an account was granted: the line of the audit trail at the revision of the grant. Accounts with more facts than
    /// a read may go through have no granters.
    private func granters(of record: AccountRecord?) throws(StorageError) -> [String: String] {
        guard let record, !record.grants.isEmpty else { return [:] }
        let facts = try self.storage.facts(
            of: record.account, after: 0, through: .max >> 1, limit: self.factsPerReadMax + 1)
        guard facts.count <= self.factsPerReadMax else { return [:] }
        var granters: [String: String] = [:]
        for dated in facts {
            guard case .granted(let grant) = dated.fact.reported, record.grants.contains(grant) else { continue }
            let item = try self.storage.item(AuditEntry.key(ofRevision: dated.revision))
            // After a merger the revision is that of the merger.
            guard let entry = item.flatMap({ AuditEntry($0) }), entry.method.hasSuffix("/GrantEntitlement") else {
                continue
            }
            granters[grant.name] = entry.author
        }
        return granters
    }

    private struct Past {
        var record: AccountRecord?
        var rows: [TransactionID: Transaction] = [:]
        var app: AppState
    }

    private func past(_ key: AccountKey, _ known: KnownAs) throws(StorageError) -> (Past?, Refusal) {
        let revision = known.revision == 0 ? self.header.revision : known.revision
        guard revision <= self.header.revision else {
            return (
                nil,
                Refusal(
                    .fieldInvalid,
                    "as_of.known_at_revision is \(revision), the store is at \(self.header.revision); ask for what was known",
                    field: "as_of.known_at_revision", found: Int64(clamping: revision),
                    limit: Int64(clamping: self.header.revision))
            )
        }
        var stored = try self.storage.appState(key.app, at: revision)
        if let instant = known.instant, let then = try self.storage.appState(key.app, inForceAt: instant),
            then.state.revision <= revision
        {
            stored = then
        }
        guard let app = stored?.state else {
            return (
                nil,
                Refusal(
                    .fieldInvalid, "at as_of.known_at_revision \(revision) there was no such app; ask for later",
                    field: "as_of.known_at_revision", found: Int64(clamping: revision))
            )
        }
        var past = Past(app: app)
        guard let account = try self.account(of: key) else { return (past, self.failedRefusal) }
        guard
            let facts = try self.facts(
                of: account, through: revision, limit: self.factsPerReadMax, isTestApp: app.isTestApp)
        else {
            return (
                nil,
                Refusal(
                    .historyLimit,
                    "a read about the past would go through more than \(self.factsPerReadMax) facts of this account; ask for now, or list its transactions"
                )
            )
        }
        let earliest = known.instant == nil || app.isTestApp ? [:] : facts.map(\.fact).earliestReports
        for dated in facts {
            if let instant = known.instant,
                !dated.fact.holds(at: instant, isTestApp: app.isTestApp, earliest: earliest)
            {
                continue
            }
            var record = past.record ?? AccountRecord(account: account, app: key.app)
            // A purchaser's change in the past may be older than the line of a member.
            if let line = dated.fact.line, record.lineIndex(original: line) == nil { continue }
            record.apply(dated.fact)
            record.revision = dated.revision
            past.record = record
            switch dated.fact.rowWrite {
            case .insert(let transaction), .update(let transaction): past.rows[transaction.id] = transaction
            case .delete(let id): past.rows[id] = nil
            case .deleteAll: past.rows.removeAll()
            case .rewrite(let remove, let add):
                for id in remove { past.rows[id] = nil }
                for transaction in add { past.rows[transaction.id] = transaction }
            case .finish, nil: break
            }
        }
        // What came from another account came with everything known of it.
        if let instant = known.instant, !app.isTestApp {
            past.rows = past.rows.filter { $0.value.purchaseDate <= instant }
        }
        if let last = past.record?.revision {
            past.record?.committed = try self.storage.commitTime(of: last) ?? app.committed
        }
        return (past, self.failedRefusal)
    }

    /// The facts of an account. An original that came from another account is replaced by the facts that the other had of it, since
    /// they say what it was at each instant. Nil if there are more than the limit.
    private func facts(
        of account: AccountNumber, through revision: UInt64, limit: Int, isTestApp: Bool
    ) throws(StorageError) -> [DatedFact]? {
        guard limit > 0 else { return nil }
        let known = try self.storage.facts(of: account, after: 0, through: revision, limit: limit + 1)
        if isTestApp || known.count > limit { return known.count > limit ? nil : known }
        var facts: [DatedFact] = []
        for dated in known {
            var came: ArraySlice<DatedFact> = []
            if case .reported(.gained(let original, let source)) = dated.fact.body {
                guard
                    let all = try self.facts(
                        of: source, through: dated.revision, limit: limit - facts.count, isTestApp: false)
                else { return nil }
                came = all.filter { $0.fact.reported?.originalID == original.id }[...]
                // Facts of the very change in which it left may follow.
                came = came.prefix { fact in
                    if case .lost = fact.fact.reported { fact.revision < dated.revision } else { true }
                }
            }
            if came.isEmpty {
                facts.append(dated)
            } else {
                facts += came.map { DatedFact(revision: dated.revision, fact: $0.fact) }
            }
            guard facts.count <= limit else { return nil }
        }
        return facts
    }

    private func events(
        _ key: AccountKey, after place: EventPlace?, limit: Int, wall: Instant
    ) throws(StorageError) -> StoreAnswer {
        let newest = EventPlace(revision: self.header.revision, ordinal: .max)
        guard let place else {
            return .events([], through: newest, isComplete: true, nextTransaction: self.header.nextTransaction)
        }
        if let refusal = try self.refusal(ofCursorAt: place.revision, wall: wall) { return .refused(refusal) }
        guard let account = try self.account(of: key) else {
            return .events([], through: newest, isComplete: true, nextTransaction: self.header.nextTransaction)
        }
        let events = try self.storage.events(of: account, after: place, limit: limit)
        let isComplete = events.count < limit
        let through = isComplete ? newest : events[events.count - 1].place
        return .events(
            events, through: through, isComplete: isComplete, nextTransaction: self.header.nextTransaction)
    }

    /// The refusal of a cursor that another node may have given out for a revision that this node could not hear of.
    func refusal(ofCursorAhead revision: UInt64) -> Refusal? {
        guard self.others.isCutOff, revision > self.header.revision else { return nil }
        let error = StorageError.unreachable(
            "the cursor is of revision \(revision), this node knows \(self.header.revision)")
        return Refusal(.storeUnreachable, error.description)
    }

    /// The refusal of a cursor of the future, or of one that is too old.
    func refusal(ofCursorAt revision: UInt64, wall: Instant) throws(StorageError) -> Refusal? {
        if let refusal = self.refusal(ofCursorAhead: revision) { return refusal }
        guard revision <= self.header.revision else {
            return Refusal(
                .tokenFuture,
                "the cursor is of revision \(revision), the store is at \(self.header.revision); begin without one",
                found: Int64(clamping: revision), limit: Int64(clamping: self.header.revision))
        }
        let behind = self.header.revision - revision
        guard behind > self.limits.cursorRevisions,
            let committed = try self.storage.commitTime(of: revision),
            wall.milliseconds(since: committed) > self.limits.cursorMilliseconds
        else { return nil }
        return Refusal(
            .cursorTooOld,
            "the cursor is \(behind) revisions and more than \(self.limits.cursorMilliseconds / 3_600_000) h old, the limit is \(self.limits.cursorRevisions); list the transactions and begin without a cursor",
            found: Int64(clamping: behind), limit: Int64(clamping: self.limits.cursorRevisions))
    }
}
