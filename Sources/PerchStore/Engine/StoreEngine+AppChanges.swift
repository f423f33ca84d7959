import PerchBase
import PerchModel

/// A page of an app's changes while it is read.
private struct ChangeDraft {
    var app: AppNumber
    var page: ChangePage
    var isForCopy: Bool
    /// Crossings that are read and not passed yet, in order.
    var crossings: ArraySlice<DueEntry> = []
    /// Storage has no more crossings up to the app's clock than these.
    var hasAllCrossings = false
    /// Facts that this page may still read.
    var factsLeft = Limits.changeFactsPerPage
    var bytes = 0

    /// The place after a revision, or after one of its accounts.
    mutating func pass(_ revision: UInt64, _ ordinal: UInt32 = ChangePlace.allAccounts, at instant: Instant) {
        let passed = DueEntry(instant: instant, account: ChangePlace.lastAccount)
        self.page.through = ChangePlace(
            revision: revision, ordinal: ordinal, crossing: max(self.page.through.crossing, passed))
    }

    var isFull: Bool {
        self.page.entries.count >= Limits.changesPerPage || self.bytes >= Limits.changePageBytes
    }
}

// The changes of an app: a merge of its commits with the index of crossings. Each page reads a bounded number of rows.
extension StoreEngine {
    /// Answers questions for changes, up to `Limits.changesPerTick` entries. True: some are left for the next tick.
    ///
    /// Last in a tick, so that a mutation waits for one such share at most. Equal questions of a tick share one page.
    func answerChanges(wall: Instant, machine: Instant, into outbox: inout Outbox) -> Bool {
        self.appChanges.heldUntil = nil
        if self.appChanges.asked.isEmpty { return false }
        if let sharing = self.storage.sharing, self.failure == nil {
            if sharing.sinceBeat > Limits.freshnessMilliseconds {
                self.refuseChanges(self.blindRefusal, into: &outbox)
                return false
            }
            // Changes of others that may still be lost are known here, and must not be shown.
            if !self.others.news.isEmpty {
                self.appChanges.heldUntil = machine.advanced(byMilliseconds: Limits.storageRetryMilliseconds)
                return false
            }
        }
        var held = self.answerAsked(wall: wall, into: &outbox)
        var rest = self.appChanges.asked
        if !held.isEmpty, self.failure == nil, self.passTime(wall: wall, machine: machine, into: &outbox) {
            self.appChanges.asked = held
            held = self.answerAsked(wall: wall, into: &outbox)
            rest = self.appChanges.asked + rest
        }
        self.appChanges.asked = held + rest
        if self.failure != nil { self.refuseChanges(self.failedRefusal, into: &outbox) }
        if !held.isEmpty {
            self.appChanges.heldUntil = machine.advanced(byMilliseconds: Limits.passedMilliseconds)
        }
        return !rest.isEmpty
    }

    /// Answers what is asked, and returns the questions that wait for time to pass for every node.
    private func answerAsked(wall: Instant, into outbox: inout Outbox) -> [StoreRequest] {
        let time: Instant
        do throws(StorageError) {
            time = try self.timeShown(wall)
        } catch {
            self.refuseChanges(self.refusal(ofRead: error), into: &outbox)
            return []
        }
        var held: [StoreRequest] = []
        var known: [ChangesAsked: ChangePage] = [:]
        var answered = 0
        var entries = 0
        for request in self.appChanges.asked {
            guard entries < Limits.changesPerTick, self.failure == nil else { break }
            guard case .changes(let asked) = request.body else { preconditionFailure("not a question for changes") }
            answered += 1
            self.counters.reads += 1
            if let page = known[asked] {
                if page.waitsForTime { held.append(request) } else { outbox.answer(request, .changes(page)) }
                continue
            }
            do throws(StorageError) {
                switch try self.changes(asked, wall: wall, through: time) {
                case .success(let page):
                    known[asked] = page
                    // An empty page has cost something too.
                    entries += max(page.entries.count, Limits.changesPerPage / 8)
                    self.counters.changesRead += UInt64(page.entries.count)
                    if page.waitsForTime { held.append(request) } else { outbox.answer(request, .changes(page)) }
                case .failure(let refusal):
                    outbox.answer(request, .refused(refusal))
                }
            } catch {
                outbox.answer(request, .refused(self.refusal(ofRead: error)))
            }
        }
        self.appChanges.asked.removeFirst(answered)
        return held
    }

    // MARK: Time

    /// The wall clock up to which readers are shown what time has caused.
    ///
    /// Alone it is this process's clock. Of several nodes it is what has passed for all: a commit that this node does not know yet is
    /// decided at it or later, so every crossing up to it has its place, and none moves.
    private func timeShown(_ wall: Instant) throws(StorageError) -> Instant {
        guard self.isShared else { return wall }
        // What time causes up to the newest commit stands before it.
        guard let passed = self.storage.passed, passed > self.newestCommit else { return self.newestCommit }
        return max(self.newestCommit, try self.storage.confirmedPassed())
    }

    /// Lets time pass for every node, at most once in `Limits.passedMilliseconds` of all nodes together. True: it did.
    private func passTime(wall: Instant, machine: Instant, into outbox: inout Outbox) -> Bool {
        guard self.unresolved == nil, !self.isBlind,
            machine.milliseconds(since: self.appChanges.raised) >= Limits.passedMilliseconds,
            wall.milliseconds(since: self.newestPassed) >= Limits.passedMilliseconds
        else { return false }
        self.appChanges.raised = machine
        let before = self.newestPassed
        var batch = self.takeBatch()
        let error = self.commit(&batch, of: []) { (batch: inout Batch) throws(StorageError) in
            // Another node may have been first.
            guard wall.milliseconds(since: self.newestPassed) >= Limits.passedMilliseconds else { return }
            let now = self.decisionTime(wall)
            self.counters.timesPassed += 1
            if try self.storage.raisePassed(to: now) { return }
            // Every version decides no earlier than the newest commit.
            var stored = self.nextChange(of: 0, wall: now, batch.header)
            try self.write(&stored, accounts: [], &batch)
        }
        self.publishNews(into: &outbox)
        self.send(&batch, error, to: [], into: &outbox)
        return error == nil && self.newestPassed > before
    }

    /// Refuses all questions for changes, and for slices of copies.
    func refuseChanges(_ refusal: Refusal, into outbox: inout Outbox) {
        for request in self.appChanges.asked + self.appChanges.slices { outbox.answer(request, .refused(refusal)) }
        self.appChanges.asked = []
        self.appChanges.slices = []
    }

    private func changes(
        _ asked: ChangesAsked, wall: Instant, through time: Instant
    ) throws(StorageError) -> Result<ChangePage, Refusal> {
        guard let app = self.apps[asked.app]?.state else { preconditionFailure("app \(asked.app) is gone") }
        let start: ChangePlace
        switch asked.start {
        case .now:
            start = ChangePlace(through: self.header.revision, at: app.clock.now(wall: time))
        case .oldest:
            start = try self.oldestPlace(of: app, wall: wall)
        case .after(let place):
            if let refusal = try self.refusal(ofCursorAt: place.revision, wall: wall) { return .failure(refusal) }
            start = place
        }
        var draft = ChangeDraft(
            app: asked.app, page: ChangePage(after: start, revision: self.header.revision),
            isForCopy: asked.isForCopy)
        guard try self.fill(&draft, now: app.clock.now(wall: time)) else {
            return .failure(
                Refusal(
                    .cursorTooOld,
                    "the cursor is of revision \(start.revision), and what followed was written by a version without this stream; begin without one",
                    found: Int64(clamping: start.revision)))
        }
        if self.isShared, let next = draft.page.nextCrossing, next <= app.clock.now(wall: wall) {
            // It is due by this node's clock, and has not passed for the others.
            draft.page.waitsForTime = draft.page.entries.isEmpty
            draft.page.isComplete = false
            draft.page.nextCrossing = nil
        }
        return .success(draft.page)
    }

    /// The oldest place whose cursor is not refused: see `refusal(ofCursorAt:wall:)`.
    private func oldestPlace(of app: AppState, wall: Instant) throws(StorageError) -> ChangePlace {
        let kept = self.limits.cursorRevisions
        var (low, revision) = (UInt64(0), self.header.revision > kept ? self.header.revision - kept : 0)
        // Commits of a version without this stream cannot be read. They stand before all others.
        let isReadable = try self.storage.commitRows(after: revision, limit: 1) != nil
        if !isReadable { (low, revision) = (revision + 1, self.header.revision) }
        // Times of commits do not decrease. Where nothing is known of one, the store is older than its log.
        while low < revision {
            let middle = low + (revision - low) / 2
            var isValid = try self.storage.commitRows(after: middle, limit: 1) != nil
            if isValid, isReadable {
                let committed = try self.storage.commitTime(of: max(middle, 1))
                isValid = committed.map { wall.milliseconds(since: $0) <= self.limits.cursorMilliseconds } ?? false
            }
            if isValid { revision = middle } else { low = middle + 1 }
        }
        guard revision > 0, let committed = try self.storage.commitTime(of: revision),
            let state = try self.state(of: app.number, before: revision)
        else { return ChangePlace(through: revision, at: .distantPast) }
        return ChangePlace(through: revision, at: state.clock.now(wall: committed))
    }

    /// The app as it was when a revision was decided; nil if there was no such app.
    private func state(of app: AppNumber, before revision: UInt64) throws(StorageError) -> AppState? {
        if let current = self.apps[app]?.state, current.revision < revision { return current }
        return revision == 0 ? nil : try self.storage.appState(app, at: revision - 1)?.state
    }

    /// Reads on from `draft.page.through`. False: the commits do not reach back so far.
    private func fill(_ draft: inout ChangeDraft, now: Instant) throws(StorageError) -> Bool {
        let start = draft.page.through
        // A place is a client's word, and before the first revision there is no account.
        let isWhole = start.ordinal == ChangePlace.allAccounts || start.revision == 0
        let after = isWhole ? start.revision : start.revision - 1
        guard let rows = try self.storage.commitRows(after: after, limit: Limits.changeRowsPerPage) else {
            return false
        }
        for row in rows {
            let state = try self.state(of: draft.app, before: row.revision)
            // The revision that made the app has the instant at which its clock began.
            var clocked = state
            if clocked == nil, row.app == draft.app {
                clocked = try self.state(of: draft.app, before: row.revision + 1)
            }
            let instant = clocked?.clock.now(wall: row.committed) ?? .distantPast
            guard try self.passCrossings(through: instant, now: now, &draft) else { return true }
            if row.app == draft.app {
                guard try self.pass(row, state, at: instant, &draft) else { return true }
            }
            draft.pass(row.revision, at: instant)
        }
        guard rows.count < Limits.changeRowsPerPage, try self.passCrossings(through: now, now: now, &draft) else {
            return true
        }
        draft.page.isComplete = true
        if draft.isForCopy { return true }
        let later = DueEntry(instant: now, account: ChangePlace.lastAccount)
        draft.page.nextCrossing =
            try self.storage.crossings(draft.app, after: later, through: .distantFuture, limit: 1).first?.instant
        return true
    }

    // MARK: Crossings

    /// Passes the crossings up to an instant. False: the page is full.
    private func passCrossings(
        through instant: Instant, now: Instant, _ draft: inout ChangeDraft
    ) throws(StorageError) -> Bool {
        // Entries of a copy have their ends: time changes none.
        if draft.isForCopy { return true }
        while true {
            if draft.crossings.isEmpty, !draft.hasAllCrossings {
                let found = try self.storage.crossings(
                    draft.app, after: draft.page.through.crossing, through: now, limit: Limits.changesPerPage)
                draft.crossings = found[...]
                draft.hasAllCrossings = found.count < Limits.changesPerPage
            }
            guard let crossing = draft.crossings.first, crossing.instant <= instant else { return true }
            guard !draft.isFull, try self.pass(crossing, &draft) else { return false }
            draft.crossings.removeFirst()
        }
    }

    /// Passes one crossing. False: the page may not read more facts.
    private func pass(_ crossing: DueEntry, _ draft: inout ChangeDraft) throws(StorageError) -> Bool {
        let revision = draft.page.through.revision
        let known = try self.record(crossing.account)
        let record: AccountRecord
        if let known, known.revision <= revision {
            record = known
        } else if let past = try self.past(crossing.account, draft.app, through: revision, &draft) {
            record = past
        } else {
            return false
        }
        draft.page.through.crossing = crossing
        guard let app = try self.state(of: draft.app, before: revision + 1),
            record.crosses(at: crossing.instant, leewayMilliseconds: app.renewalLeewayMilliseconds),
            let key = try self.storage.key(of: crossing.account)
        else { return true }
        self.add(
            ChangeEntry(
                place: draft.page.through,
                account: ChangedAccount(key: key, before: record, after: record, app: app, isCrossing: true),
                cause: .expiry, position: Position(revision: revision, asOf: crossing.instant),
                committed: record.committed, origin: []), to: &draft)
        return true
    }

    // MARK: Commits

    /// Passes a commit of the app, or the rest of one. False: the page is full.
    private func pass(
        _ row: CommitRow, _ state: AppState?, at instant: Instant, _ draft: inout ChangeDraft
    ) throws(StorageError) -> Bool {
        let facts = try self.storage.facts(ofRevision: row.revision)
        guard !facts.isEmpty else { return try self.passApp(row, at: instant, &draft) }
        guard let state else {
            throw .corrupt("revision \(row.revision) has facts of app \(row.app), which was not there")
        }
        let start = draft.page.through
        // Accounts of this revision that an earlier page has brought.
        let passed =
            start.revision == row.revision && start.ordinal != ChangePlace.allAccounts ? Int(start.ordinal) + 1 : 0
        var ordinal = 0
        var rest = facts[...]
        while let account = rest.first?.account {
            let own = rest.prefix { $0.account == account }
            rest = rest.dropFirst(own.count)
            defer { ordinal += 1 }
            guard ordinal >= passed else { continue }
            guard !draft.isFull else { return false }
            guard let before = try self.past(account, draft.app, through: row.revision - 1, &draft) else {
                return false
            }
            var after = before
            after.fold(own.map(\.fact), revision: row.revision, committed: row.committed)
            self.appChanges.pastRecords.insert(after)
            draft.factsLeft -= own.count
            draft.pass(row.revision, UInt32(ordinal), at: instant)
            guard let first = own.first else { continue }
            var changed = ChangedAccount(key: [], before: before, after: after, app: state, isCrossing: false)
            if draft.isForCopy {
                guard try self.name(&changed, by: own.map(\.fact), in: row) else { continue }
            } else if let key = try self.storage.key(of: account) {
                changed.key = key
            } else {
                continue
            }
            self.add(
                ChangeEntry(
                    place: draft.page.through, account: changed,
                    cause: own.last { $0.fact.cause != .unspecified }?.fact.cause ?? .unspecified,
                    position: Position(revision: row.revision, asOf: instant), committed: row.committed,
                    origin: first.origin, facts: own.map(\.fact)), to: &draft)
        }
        return true
    }

    /// Gives a changed account its names. False: no caller knows it.
    private func name(
        _ changed: inout ChangedAccount, by facts: [Fact], in row: CommitRow
    ) throws(StorageError) -> Bool {
        let account = changed.after.account
        changed.isErased = facts.contains { $0.reported == .erased }
        // Only names that clients know: each reported purchase brings internal ones.
        changed.hasOtherNames =
            row.detail?.aliases.contains {
                $0.account == account && (!$0.key.isInternal || $0.key.attachedAlias != nil)
            } ?? false
            || facts.contains { if case .unnamed = $0.reported { true } else { false } }
        if changed.isErased {
            guard let known = self.appChanges.erasedKeys[account] else { return true }
            changed.names = AccountNames(known)
        } else {
            changed.names = AccountNames(try self.storage.names(of: account))
        }
        changed.key = changed.names?.key ?? []
        return changed.names != nil
    }

    private func passApp(_ row: CommitRow, at instant: Instant, _ draft: inout ChangeDraft) throws(StorageError) -> Bool
    {
        guard let cause = row.detail?.appCause, cause != .unspecified else { return true }
        guard !draft.isFull else { return false }
        draft.pass(row.revision, at: instant)
        self.add(
            ChangeEntry(
                place: draft.page.through, account: nil, cause: cause,
                position: Position(revision: row.revision, asOf: instant), committed: row.committed, origin: []),
            to: &draft)
        return true
    }

    private func add(_ entry: ChangeEntry, to draft: inout ChangeDraft) {
        draft.page.entries.append(entry)
        if let account = entry.account { draft.bytes += RecordCache.estimatedBytes(account.after) }
    }

    // MARK: The past

    /// An account's record as it was after a revision. Nil: the page may not read more facts, and a later page goes on from
    /// where this one has come.
    private func past(
        _ account: AccountNumber, _ app: AppNumber, through revision: UInt64, _ draft: inout ChangeDraft
    ) throws(StorageError) -> AccountRecord? {
        var record = AccountRecord(account: account, app: app)
        if let known = self.appChanges.pastRecords.record(account), known.revision <= revision { record = known }
        while true {
            guard draft.factsLeft > 0 else {
                self.appChanges.pastRecords.insert(record)
                return nil
            }
            var limit = draft.factsLeft + 1
            var facts = try self.storage.facts(of: account, after: record.revision, through: revision, limit: limit)
            var isAll = facts.count < limit
            // A revision is folded as a whole.
            while !isAll, facts[0].revision == facts[facts.count - 1].revision {
                limit *= 2
                facts = try self.storage.facts(of: account, after: record.revision, through: revision, limit: limit)
                isAll = facts.count < limit
            }
            if !isAll, let last = facts.last?.revision { facts.removeAll { $0.revision == last } }
            draft.factsLeft -= facts.count
            var rest = facts[...]
            while let next = rest.first?.revision {
                let own = rest.prefix { $0.revision == next }
                rest = rest.dropFirst(own.count)
                let committed = rest.isEmpty ? try self.storage.commitTime(of: next) : nil
                record.fold(own.map(\.fact), revision: next, committed: committed ?? record.committed)
            }
            if isAll { return record }
        }
    }

    /// Forgets crossings that no valid cursor stands before, a bounded number at once. True: there may be more.
    func forgetCrossings(_ wall: Instant) throws(StorageError) -> Bool {
        let revision = self.header.revision
        guard revision > self.limits.cursorRevisions else { return false }
        let last = revision - self.limits.cursorRevisions
        guard let committed = try self.storage.commitTime(of: last),
            wall.milliseconds(since: committed) > self.limits.cursorMilliseconds
        else { return false }
        var hasMore = false
        for app in self.apps.numbers {
            guard let state = try self.state(of: app, before: last) else { continue }
            let bound = state.clock.now(wall: committed).advanced(byMilliseconds: -1)
            let oldest = DueEntry(instant: .distantPast, account: 0)
            let found = try self.storage.crossings(
                app, after: oldest, through: bound, limit: Limits.crossingsForgottenAtOnce)
            if let end = found.last { try self.storage.forgetCrossings(app, through: end) }
            if found.count == Limits.crossingsForgottenAtOnce { hasMore = true }
        }
        return hasMore
    }
}
