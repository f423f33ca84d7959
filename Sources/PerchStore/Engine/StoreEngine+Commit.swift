package import PerchBase
import PerchMetrics
package import PerchModel

extension StoreEngine {
    /// What a batch would have to take back.
    private struct Before {
        var header: StoreHeader
        var apps: StoredApps
        var settlings: Int
    }

    /// Decides all mutations, commits once, answers all.
    func commitTogether(
        _ mutations: [StoreRequest], wall: Instant, machine: Instant, into outbox: inout Outbox
    ) {
        let renewsLease = self.header.lease.advanced(byMilliseconds: -Limits.leaseRenewalMilliseconds) <= machine
        guard renewsLease || !mutations.isEmpty else { return }
        var (answers, changes) = (self.spareAnswers, self.spareChanges)
        (self.spareAnswers, self.spareChanges) = ([], [])
        answers.reserveCapacity(mutations.count)
        changes.reserveCapacity(mutations.count)
        self.batch(&changes) { (changes: inout [Change]) throws(StorageError) in
            if renewsLease { try self.renewLease(machine) }
            if self.answersSwept.advanced(byMilliseconds: 3_600_000) < wall {
                self.answersSwept = wall
                try self.storage.forgetAnswers(
                    before: wall.advanced(byMilliseconds: -self.limits.answersKeptMilliseconds))
            }
            for place in mutations.indices {
                if place % Limits.prefetchedAtOnce == 0 { self.storage.prefetch(mutations, from: place) }
                guard let mutation = mutations[place].mutation else { continue }
                let (loop, ticket) = (mutations[place].loop, mutations[place].ticket)
                if let answer = try self.decide(mutation, loop: loop, ticket: ticket, wall: wall, changes: &changes) {
                    answers.append(Answered(loop: loop, ticket: ticket, answer: answer))
                }
            }
        } failed: { error in
            let refusal = self.isFull(error) ? Refusal(.storeFull, error.description) : self.failedRefusal
            answers = mutations.map { Answered(loop: $0.loop, ticket: $0.ticket, answer: .refused(refusal)) }
            self.deferred.removeAll()
        }
        self.counters.batchSizeMax = max(self.counters.batchSizeMax, UInt64(mutations.count))
        outbox.reserve(changes: changes.count, answers: answers.count)
        self.publish(changes, into: &outbox)
        for place in answers.indices {
            // Taken out: one that is handed out is copied, with all that it refers to.
            var answer = StoreAnswer.taken
            swap(&answer, &answers[place].answer)
            if case .refused = answer { self.counters.refusals += 1 }
            outbox.answer(loop: answers[place].loop, ticket: answers[place].ticket, answer)
        }
        answers.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        // Of a batch that was unusually long the room is not kept.
        if changes.capacity <= Limits.inboxCapacityKept { self.spareChanges = changes }
        if answers.capacity <= Limits.inboxCapacityKept { self.spareAnswers = answers }
    }

    func publish(_ changes: [Change], into outbox: inout Outbox) {
        for change in changes { outbox.broadcast(.change(change)) }
    }

    /// Runs `body` between `begin` and `commit`. If either fails, everything is as it was before, in memory too.
    func batch(
        _ changes: inout [Change], _ body: (inout [Change]) throws(StorageError) -> Void,
        failed: (StorageError) -> Void
    ) {
        let before = Before(header: self.header, apps: self.apps, settlings: self.settlings.count)
        do throws(StorageError) {
            try self.storage.begin()
            try body(&changes)
            let began = self.stopwatch?()
            try self.storage.commit()
            if let began, let ended = self.stopwatch?() {
                self.commitMicroseconds.record(ended &- began)
                self.firstCommit = self.firstCommit ?? ended
            }
            if !changes.isEmpty { self.batchChanges.record(UInt64(changes.count)) }
            self.wrote(changes.count)
            self.counters.batches += 1
            self.counters.changes += UInt64(changes.count)
        } catch {
            self.storage.rollback()
            for change in changes {
                for account in change.accounts { self.cache.remove(account.record.account) }
            }
            changes.removeAll()
            self.header = before.header
            self.apps = before.apps
            self.settlings.removeLast(self.settlings.count - before.settlings)
            self.fail(error)
            failed(error)
        }
    }

    /// Decides one mutation and applies what it comes to. Nil: it waits, its answer comes later.
    private func decide(
        _ mutation: Mutation, loop: Int, ticket: UInt64, wall: Instant, changes: inout [Change]
    ) throws(StorageError) -> StoreAnswer? {
        let appNumber = mutation.app
        guard let storedApp = self.apps[appNumber] else {
            return .refused(Refusal(.appUnknown, "this store has no app with number \(appNumber)"))
        }
        let app = storedApp.state
        if mutation.needsTestApp, !app.isTestApp {
            return .refused(
                Refusal(
                    .notATestApp,
                    "\(app.bundleID) is an app of the \(app.environment) store, which alone makes its transactions; use an xcode app to rehearse"
                ))
        }
        let mutationKey = MutationKey(app: appNumber, bytes: mutation.key)
        // To the millisecond, whenever what is older was swept: afterwards the key is new.
        let keptSince = wall.advanced(byMilliseconds: -self.limits.answersKeptMilliseconds)
        if !mutation.key.isEmpty, let kept = try self.storage.answer(to: mutationKey), kept.kept >= keptSince {
            guard kept.digest == mutation.keyDigest else {
                return .refused(
                    Refusal(
                        .keyReused,
                        "this idempotency key was used for another request not long ago; make a new key for each request"
                    ))
            }
            self.counters.replays += 1
            return .mutated(kept.result, kept.position)
        }

        let now = app.clock.now(wall: wall)
        var record: AccountRecord?
        var row: TransactionRow?
        var opened: [(key: AccountKey, record: AccountRecord)] = []
        switch mutation.subject {
        case .app:
            break
        case .account(let key, let opens):
            if let account = try self.storage.account(key) {
                record = try self.record(account)
            } else if opens {
                let fresh = self.freshRecord(app: appNumber, opened: 0)
                record = fresh
                opened.append((key, fresh))
            } else {
                return .refused(
                    Refusal(.accountUnknown, "there is no such account; a purchase opens one"))
            }
        case .owner(_, let id), .transaction(_, let id):
            row = try self.storage.transaction(id)
            if let found = row, let owner = try self.record(found.account), owner.app == appNumber { record = owner }
            if case .transaction(let key, _) = mutation.subject {
                guard let account = try self.storage.account(key) else {
                    return .refused(Refusal(.accountUnknown, "there is no such account; a purchase opens one"))
                }
                if row?.account != account { record = nil }
            }
            guard record != nil else {
                return .refused(
                    Refusal(
                        .transactionUnknown,
                        "there is no transaction \(id) here; `perch get history` lists what there is"))
            }
        }
        if let current = record {
            // What is due comes first: a decision sees a line with its attempts recorded.
            guard let settled = try self.settle(current, app: app, through: now, wall: wall, changes: &changes) else {
                self.deferred.append(StoreRequest(loop: loop, ticket: ticket, .mutate(mutation)))
                return nil
            }
            record = settled
            if let id = row?.transaction.id { row = try self.storage.transaction(id) }
        }
        var member: AccountRecord?
        if let key = mutation.other {
            if let account = try self.storage.account(key), let found = try self.record(account) {
                guard let settled = try self.settle(found, app: app, through: now, wall: wall, changes: &changes) else {
                    self.deferred.append(StoreRequest(loop: loop, ticket: ticket, .mutate(mutation)))
                    return nil
                }
                member = settled
                // Settling one account's renewals may have written to the other's shared lines.
                if let current = record, opened.isEmpty { record = try self.record(current.account) }
            } else if mutation.opensOther {
                let fresh = self.freshRecord(app: appNumber, opened: opened.count)
                member = fresh
                opened.append((key, fresh))
            } else {
                return .refused(
                    Refusal(.accountUnknown, "there is no such account to share with; sharing with it opens one"))
            }
        }

        var fetched: [TransactionRow] = []
        var answers: [RowNeed: [Transaction]] = [:]
        var rows: [Transaction] = []
        for _ in 0..<Limits.decisionRoundsMax {
            var view = DecisionView(
                app: storedApp, now: now, wall: wall, record: record, transaction: row, fetched: fetched,
                member: member, numbers: TransactionNumbers(next: self.header.nextTransaction))
            view.answers = answers
            view.rows = rows
            let decision: Decision
            do throws(Refusal) {
                decision = try mutation.decide(&view)
            } catch {
                return .refused(error)
            }
            switch decision {
            case .need(let query):
                guard let record else { preconditionFailure("a decision about an app asked for transactions") }
                fetched = try self.storage.transactions(of: record.account, query)
                continue
            case .needRows(let need):
                guard let record else { preconditionFailure("a decision about an app asked for transactions") }
                let found = try self.rows(need, of: record.account)
                answers[need] = found
                rows.append(contentsOf: found)
                continue
            case .unchanged(let answer):
                let position = Position(revision: self.header.revision, asOf: now)
                if !mutation.key.isEmpty {
                    // Kept too: what changed nothing now might change something when it is repeated later.
                    let kept = KeptAnswer(digest: mutation.keyDigest, result: answer, position: position, kept: wall)
                    try self.storage.keep(kept, for: mutationKey)
                }
                return .mutated(answer, position)
            case .commit(let accountFacts, let answer):
                return try self.apply(
                    accountFacts, of: mutation, answer: answer, mutationKey: mutationKey, app: app, now: now,
                    numbers: view.numbers, known: Known(subject: record, member: member), opened: opened, wall: wall,
                    changes: &changes)
            case .commitApp(let appChange, let answer):
                if let refusal = try self.refusalOfAdvance(appChange, app: app, wall: wall) { return .refused(refusal) }
                return try self.apply(
                    appChange, of: mutation, loop: loop, ticket: ticket, answer: answer, mutationKey: mutationKey,
                    app: app, now: now, wall: wall, changes: &changes)
            }
        }
        preconditionFailure("a decision asked for more \(Limits.decisionRoundsMax) times")
    }

    /// The record of an account that is being opened, as the next one, or so many after it.
    private func freshRecord(app: AppNumber, opened count: Int) -> AccountRecord {
        let number = self.header.nextAccount + AccountNumber(count)
        var fresh = AccountRecord(account: number, app: app)
        fresh.appTransactionID = String(7_000_000_000_000 + number)
        return fresh
    }

    /// The rows of an account that a decision needs.
    private func rows(_ need: RowNeed, of account: AccountNumber) throws(StorageError) -> [Transaction] {
        var query = TransactionQuery(limit: Limits.pageSizeMax)
        query.isNewestFirst = true
        query.includesFinishedConsumables = true
        switch need {
        case .transaction(let id):
            guard let row = try self.storage.transaction(id), row.account == account else { return [] }
            return [row.transaction]
        case .product(let id):
            query.productID = id
            return try self.storage.transactions(of: account, query).map(\.transaction)
        case .all:
            return try self.storage.transactions(of: account, query).map(\.transaction)
        case .newest(let kind):
            // Page by page: an account may have any number of rows, and what is looked for is near as a rule.
            query.productID = kind.productID
            query.limit = Limits.rowsPerLook
            while true {
                let page = try self.storage.transactions(of: account, query)
                if let row = page.first(where: { kind.includes($0.transaction) }) { return [row.transaction] }
                guard page.count == query.limit, let last = page.last else { return [] }
                query.after = TransactionQuery.Place(
                    purchaseDate: last.transaction.purchaseDate, id: last.transaction.id)
            }
        }
    }

    /// Attempts every renewal of one account that is due. Nil: there are too many for one batch, come back.
    private func settle(
        _ record: AccountRecord, app: AppState, through now: Instant, wall: Instant, changes: inout [Change]
    ) throws(StorageError) -> AccountRecord? {
        var record = record
        var attempts = 0
        while app.isTestApp, let due = record.attemptDue, due <= now {
            guard attempts < Limits.attemptsBeforeMutationMax else { return nil }
            attempts += 1
            record = try self.attempt(record, at: due, wall: wall, changes: &changes)
        }
        return record
    }

    /// Attempts the renewals of an account that are due at one instant: one revision.
    func attempt(
        _ record: AccountRecord, at due: Instant, wall: Instant, changes: inout [Change]
    ) throws(StorageError) -> AccountRecord {
        guard let current = self.apps[record.app] else {
            preconditionFailure("a record of app \(record.app), which is not")
        }
        var inForce = current.state
        if current.state.effective > due, let earlier = try self.storage.appState(record.app, inForceAt: due) {
            inForce = earlier.state
        }
        var numbers = TransactionNumbers(next: self.header.nextTransaction)
        let facts = settleRenewals(of: record, app: inForce, at: due, numbers: &numbers)
        precondition(!facts.isEmpty, "account \(record.account) is due at \(due), but nothing came of it")
        self.counters.attemptsSettled += UInt64(facts.count)
        let known = Known(subject: record)
        let family = try self.withFamily(
            [AccountFacts(account: record.account, facts: facts)], known: known, app: inForce, now: due,
            numbers: &numbers)
        var stored = self.nextChange(wall: wall, nextTransaction: numbers.next)
        let change = try self.apply(
            family, to: &stored, known: known, origin: [], isTestApp: current.state.isTestApp)
        try self.write(&stored, accounts: change, changes: &changes)
        return change[0].record
    }

    /// Facts of accounts, and after them what they come to for the members of their families, in the same revision.
    ///
    /// The one place where sharing spreads: no decision has to think of it. An account that shares nothing costs a look
    /// at an empty list.
    private func withFamily(
        _ accountFacts: [AccountFacts], known: Known, app: AppState, now: Instant, numbers: inout TransactionNumbers
    ) throws(StorageError) -> [AccountFacts] {
        if let subject = known.subject, accountFacts.count == 1, accountFacts[0].account == subject.account,
            familyShares(of: subject, after: accountFacts[0].facts).isEmpty
        {
            // As nearly all do: nothing to go through again.
            return accountFacts
        }
        var result = accountFacts
        for entry in accountFacts {
            let before = try self.record(entry.account, known)
            for share in familyShares(of: before, after: entry.facts) {
                var member = try self.record(share.member, known)
                let index = result.firstIndex { $0.account == share.member }
                if let index { for fact in result[index].facts { member.apply(fact) } }
                let isDated = entry.facts.contains { $0.effective < now }
                let mirrored = mirroredFacts(
                    of: entry.facts, purchaser: before, share: share,
                    began: isDated ? try self.began(share, of: entry.account) : .distantPast,
                    copiesBegan: try self.copiesBegan(share, member, before: entry.facts), member: member, app: app,
                    numbers: &numbers)
                let facts = try self.withoutDeleted(mirrored)
                if facts.isEmpty { continue }
                if let index {
                    result[index].facts += facts
                } else {
                    result.append(AccountFacts(account: share.member, facts: facts))
                }
            }
        }
        return result
    }

    /// When an account began to share. Only what a test store bought into the past has to know; where it is too long ago
    /// to be looked for, nothing that is read about the past goes back to it either.
    private func began(_ share: FamilyShare, of account: AccountNumber) throws(StorageError) -> Instant {
        let facts = try self.storage.facts(of: account, through: self.header.revision, limit: self.factsPerReadMax)
        return facts.last { $0.fact.body == .sharingBegan(share) }?.fact.effective ?? .distantPast
    }

    /// When the copies of what is shared began that a member still has of a line, where a period is to begin and his record
    /// has the line no longer: a tester took out all but what an upgrade had left behind, and only the rows know.
    private func copiesBegan(
        _ share: FamilyShare, _ member: AccountRecord, before facts: [Fact]
    ) throws(StorageError) -> Instant? {
        guard member.lineIndex(original: share.memberOriginal) == nil, beginsPeriod(facts, of: share) else {
            return nil
        }
        var kind = RowKind()
        kind.originalID = share.memberOriginal
        return try self.rows(.newest(kind), of: member.account).first?.originalPurchaseDate
    }

    /// What a member has taken out of his test store does not come back when a refund is taken back: a record forgets what
    /// was revoked, so only the rows know whether it is still there.
    private func withoutDeleted(_ facts: [Fact]) throws(StorageError) -> [Fact] {
        var kept: [Fact] = []
        for fact in facts {
            if case .reinstated(let transaction) = fact.body, try self.storage.transaction(transaction.id) == nil {
                continue
            }
            kept.append(fact)
        }
        return kept
    }

    /// The records of the accounts that a mutation names, as its decision saw them: they are not looked up again.
    private struct Known {
        var subject: AccountRecord?
        var member: AccountRecord?

        subscript(account: AccountNumber) -> AccountRecord? {
            if let subject = self.subject, subject.account == account { return subject }
            if let member = self.member, member.account == account { return member }
            return nil
        }
    }

    /// The record of an account that facts are about: it is there, or it is being opened.
    private func record(_ account: AccountNumber, _ known: Known) throws(StorageError) -> AccountRecord {
        if let record = known[account] { return record }
        guard let record = try self.record(account) else {
            preconditionFailure("facts for account \(account), which is not")
        }
        return record
    }

    private func nextChange(wall: Instant, nextTransaction: TransactionID) -> StoredChange {
        let header = self.header
        var next = StoredChange(
            revision: header.revision + 1, committed: wall, nextTransaction: nextTransaction,
            nextAccount: header.nextAccount)
        next.takeRoom(of: &self.draft)
        return next
    }

    /// Folds facts into records and notes all of it in `stored`.
    private func apply(
        _ accountFacts: [AccountFacts], to stored: inout StoredChange, known: Known, origin: [UInt8], isTestApp: Bool
    ) throws(StorageError) -> [AccountChange] {
        var result: [AccountChange] = []
        result.reserveCapacity(accountFacts.count)
        for place in accountFacts.indices {
            let account = accountFacts[place].account
            var record = try self.record(account, known)
            let previousDue = isTestApp && record.revision > 0 ? record.attemptDue : nil
            let entryCount = record.entryCount
            let ordinal = UInt32(stored.facts.count)
            for index in accountFacts[place].facts.indices {
                stored.facts.append(
                    StoredFact(account: account, fact: accountFacts[place].facts[index], origin: origin))
            }
            record.fold(accountFacts[place].facts, revision: stored.revision, committed: stored.committed)
            stored.records.append(
                StoredRecord(record, due: isTestApp ? record.attemptDue : nil, previousDue: previousDue))
            let entryCountAfter = record.entryCount
            result.append(
                AccountChange(
                    record: record, cause: accountFacts[place].facts.last?.cause ?? .unspecified,
                    facts: accountFacts[place].facts, ordinal: ordinal, origin: origin,
                    isOverLimit: entryCountAfter > self.limits.recordEntriesMax && entryCountAfter > entryCount))
        }
        return result
    }

    /// Hands a change to the storage, and empties it for the next one.
    private func write(
        _ stored: inout StoredChange, accounts: [AccountChange], app: StoredAppState? = nil,
        appCause: Cause = .unspecified, changes: inout [Change]
    ) throws(StorageError) {
        try self.storage.apply(stored)
        self.header.follow(stored)
        if self.cachesRecords {
            for account in accounts { self.cache.insert(account.record) }
        }
        changes.append(
            Change(
                revision: stored.revision, committed: stored.committed, accounts: accounts, aliases: stored.aliases,
                app: app?.state, appCause: appCause))
        stored.removeAll()
        swap(&stored, &self.draft)
    }

    private func apply(
        _ accountFacts: [AccountFacts], of mutation: Mutation, answer: MutationResult, mutationKey: MutationKey,
        app: AppState, now: Instant, numbers: TransactionNumbers, known: Known,
        opened: [(key: AccountKey, record: AccountRecord)], wall: Instant, changes: inout [Change]
    ) throws(StorageError) -> StoreAnswer {
        var numbers = numbers
        var accountFacts = try self.withFamily(accountFacts, known: known, app: app, now: now, numbers: &numbers)
        var stored = self.nextChange(wall: wall, nextTransaction: numbers.next)
        for (key, fresh) in opened {
            stored.nextAccount = fresh.account + 1
            stored.aliases.append((key, fresh.account))
            let fact = Fact(.opened(appTransactionID: fresh.appTransactionID), effective: now)
            if let index = accountFacts.firstIndex(where: { $0.account == fresh.account }) {
                accountFacts[index].facts.insert(fact, at: 0)
            } else {
                accountFacts.insert(AccountFacts(account: fresh.account, facts: [fact]), at: 0)
            }
        }
        let accounts = try self.apply(
            accountFacts, to: &stored, known: known, origin: mutation.origin, isTestApp: app.isTestApp)
        for account in accounts where account.isOverLimit {
            return .refused(
                Refusal(
                    .recordLimit,
                    "the account would hold \(account.record.entryCount) subscription lines, owned products, purchases that wait, intents and shares, the limit is \(self.limits.recordEntriesMax)",
                    found: Int64(account.record.entryCount), limit: Int64(self.limits.recordEntriesMax)))
        }
        let position = Position(revision: stored.revision, asOf: now)
        self.keep(answer, position, of: mutation, mutationKey, in: &stored)
        try self.write(&stored, accounts: accounts, changes: &changes)
        return .mutated(answer, position)
    }

    private func keep(
        _ answer: MutationResult, _ position: Position, of mutation: Mutation, _ key: MutationKey,
        in stored: inout StoredChange
    ) {
        guard !mutation.key.isEmpty else { return }
        let kept = KeptAnswer(
            digest: mutation.keyDigest, result: answer, position: position, kept: stored.committed)
        stored.answer = Boxed(KeyedAnswer(key: key, answer: kept))
    }

    // MARK: Apps

    private func apply(
        _ appChange: AppChange, of mutation: Mutation, loop: Int, ticket: UInt64, answer: MutationResult,
        mutationKey: MutationKey, app: AppState, now: Instant, wall: Instant, changes: inout [Change]
    ) throws(StorageError) -> StoreAnswer? {
        guard let current = self.apps[app.number] else { preconditionFailure("app \(app.number) is gone") }
        var stored = self.nextChange(wall: wall, nextTransaction: self.header.nextTransaction)
        let next = Self.next(current, appChange, revision: stored.revision, effective: now, committed: wall)
        stored.app = next
        if appChange.catalogue != nil { stored.images = appChange.images }
        let after = next.state.clock.now(wall: wall)
        let position = Position(revision: stored.revision, asOf: after)
        self.keep(answer, position, of: mutation, mutationKey, in: &stored)
        let cause: Cause =
            appChange.catalogue != nil ? .catalog : appChange.clock != nil ? .clock : .setting
        try self.write(&stored, accounts: [], app: next, appCause: cause, changes: &changes)
        self.apps[app.number] = next
        guard mutation.waitsForSettling else { return .mutated(answer, position) }
        self.settlings.append(
            Settling(
                app: app.number, target: after, loop: loop, ticket: ticket,
                attemptsBefore: self.counters.attemptsSettled))
        return nil
    }

    private static func next(
        _ current: StoredAppState, _ change: AppChange, revision: UInt64, effective: Instant, committed: Instant
    ) -> StoredAppState {
        let state = current.state
        // A new file's settings count where they differ from the old file's: what was set by hand since then stays.
        var settings = state.settings
        if let file = change.fileSettings, file != current.fileSettings { settings = file }
        if let given = change.settings { settings = given }
        let next = AppState(
            number: state.number, bundleID: state.bundleID, environment: state.environment, revision: revision,
            effective: effective, committed: committed, catalogue: change.catalogue?.catalogue ?? state.catalogue,
            catalogueRevision: change.catalogue == nil ? state.catalogueRevision : revision,
            catalogueSource: change.catalogue?.source ?? state.catalogueSource, settings: settings,
            clock: change.clock ?? state.clock)
        return StoredAppState(state: next, fileSettings: change.fileSettings ?? current.fileSettings)
    }

    /// A mutation before there is any loop. For the start of a server; not on the way of a request.
    ///
    /// False where there is no room for it: then all is as it was, and can be served.
    package func mutateAtStart(_ mutation: Mutation, wall: Instant, machine: Instant) throws(StorageError) -> Bool {
        var outbox = Outbox(loops: 1)
        _ = self.run(
            [StoreRequest(loop: 0, ticket: 0, .mutate(mutation))], wall: wall, machine: machine, into: &outbox)
        if let failure = self.failure { throw failure }
        for case .answer(_, .refused(let refusal)) in outbox.events[0] {
            guard refusal.reason == .storeFull else { throw .failed(refusal.message) }
            return false
        }
        return true
    }

    /// Makes an app if the store does not have it yet. For the start of a server; not on the way of a request.
    package func openApp(
        _ bundleID: String, _ environment: AppEnvironment, catalogue: Catalogue, images: [ImageContent] = [],
        source: String, fileSettings: AppSettings, clock: AppClock = .running(offsetMilliseconds: 0), wall: Instant
    ) throws(StorageError) -> AppNumber {
        if let app = self.app(bundleID, environment) { return app.number }
        let number = self.apps.next
        var changes: [Change] = []
        var failure: StorageError?
        self.batch(&changes) { (changes: inout [Change]) throws(StorageError) in
            var stored = self.nextChange(wall: wall, nextTransaction: self.header.nextTransaction)
            let state = AppState(
                number: number, bundleID: bundleID, environment: environment, revision: stored.revision,
                effective: .distantPast, committed: wall, catalogue: catalogue, catalogueRevision: stored.revision,
                catalogueSource: source, settings: fileSettings, clock: clock)
            let app = StoredAppState(state: state, fileSettings: fileSettings)
            stored.app = app
            stored.images = images
            try self.write(&stored, accounts: [], app: app, appCause: .catalog, changes: &changes)
            self.apps[number] = app
        } failed: {
            failure = $0
        }
        if let failure { throw failure }
        return number
    }
}
