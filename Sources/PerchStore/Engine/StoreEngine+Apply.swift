import PerchBase
import PerchModel

// One change: facts become records, crossings and rows here, and a change is written here, for storage and the feed. Purchases,
// reports, erasures, changes of apps and tokens are inputs of it.
extension StoreEngine {
    /// Attempts every due renewal of one account. Nil: there are too many for one batch.
    func settle(
        _ record: AccountRecord, app: AppState, through now: Instant, wall: Instant, _ batch: inout Batch
    ) throws(StorageError) -> AccountRecord? {
        var record = record
        var attempts = 0
        while app.isTestApp, let due = record.attemptDue, due <= now {
            guard attempts < Limits.attemptsBeforeMutationMax else { return nil }
            attempts += 1
            record = try self.attempt(record, at: due, wall: wall, &batch)
        }
        return record
    }

    /// Attempts the renewals of an account that are due at one instant, in one revision.
    func attempt(
        _ record: AccountRecord, at due: Instant, wall: Instant, _ batch: inout Batch
    ) throws(StorageError) -> AccountRecord {
        guard let current = batch.apps[record.app] else {
            preconditionFailure("a record of app \(record.app), which is not")
        }
        var inForce = current.state
        if current.state.effective > due, let earlier = try self.storage.appState(record.app, inForceAt: due) {
            inForce = earlier.state
        }
        var numbers = TransactionNumbers(next: batch.header.nextTransaction)
        let facts = settleRenewals(of: record, app: inForce, at: due, numbers: &numbers)
        precondition(!facts.isEmpty, "account \(record.account) is due at \(due), but nothing came of it")
        batch.attemptsSettled.count(facts)
        let known = Known(subject: record)
        let family = try self.withFamily(
            [AccountFacts(account: record.account, facts: facts)], known: known, app: inForce, now: due,
            numbers: &numbers, batch.header)
        var stored = self.nextChange(of: record.app, wall: wall, batch.header)
        stored.nextTransaction = numbers.next
        let change = try self.fold(family, into: &stored, known: known, origin: [], app: current.state)
        try self.write(&stored, accounts: change, &batch)
        return change[0].record
    }

    /// An empty change with the next revision. `app`: 0 for the store itself.
    func nextChange(of app: AppNumber, wall: Instant, _ header: StoreHeader) -> StoredChange {
        var next = StoredChange(
            revision: header.revision + 1, committed: wall, app: app, nextTransaction: header.nextTransaction,
            nextAccount: header.nextAccount)
        next.takeRoom(of: &self.reused.draft)
        return next
    }

    /// Folds facts into the records of their accounts, and adds both to a change, with the rows that follow from them.
    func fold(
        _ accountFacts: [AccountFacts], into stored: inout StoredChange, known: Known, origin: [UInt8], app: AppState
    ) throws(StorageError) -> [AccountChange] {
        let isTestApp = app.isTestApp
        var result: [AccountChange] = []
        result.reserveCapacity(accountFacts.count)
        for place in accountFacts.indices {
            let account = accountFacts[place].account
            var record = try self.record(account, known)
            let previousDue = isTestApp && record.revision > 0 ? record.attemptDue : nil
            let entryCount = record.entryCount
            let before = record
            let ordinal = UInt32(stored.facts.count)
            for index in accountFacts[place].facts.indices {
                stored.facts.append(
                    StoredFact(account: account, fact: accountFacts[place].facts[index], origin: origin))
            }
            record.fold(accountFacts[place].facts, revision: stored.revision, committed: stored.committed)
            if before.hasRareFields || record.hasRareFields { try self.count(from: before, to: record, into: &stored) }
            if app.settings.finishesAtAppStore { self.queueFinishes(accountFacts[place].facts, of: app, into: &stored) }
            let now = app.clock.now(wall: stored.committed)
            if let moves = CrossingMoves(from: before, to: record, app: app, at: now) {
                stored.crossings.append(moves)
            }
            stored.records.append(
                StoredRecord(
                    record, due: isTestApp ? record.attemptDue : nil, previousDue: previousDue,
                    sources: self.sources(from: before, to: record, at: now)))
            let entryCountAfter = record.entryCount
            result.append(
                AccountChange(
                    record: record, facts: accountFacts[place].facts, ordinal: ordinal, origin: origin,
                    isOverLimit: entryCountAfter > self.limits.recordEntriesMax && entryCountAfter > entryCount))
        }
        return result
    }

    /// Hands a change to storage and to the feed, and empties it for the next one.
    func write(
        _ stored: inout StoredChange, accounts: [AccountChange], _ batch: inout Batch
    ) throws(StorageError) {
        try self.storage.apply(stored)
        batch.header.follow(stored)
        if self.cachesRecords {
            for account in accounts { self.cache.insert(account.record) }
        }
        for place in stored.records.indices where stored.records[place].due != stored.records[place].previousDue {
            let record = stored.records[place].record
            batch.dueMoves.append(
                Batch.DueMove(
                    app: record.app, account: record.account, from: stored.records[place].previousDue,
                    to: stored.records[place].due))
        }
        for place in stored.facts.indices { batch.milestones.count(stored.facts[place].fact) }
        batch.changes.append(Change(stored, accounts: accounts))
        stored.removeAll()
        swap(&stored, &self.reused.draft)
    }

    /// Writes a plain purchase: one account, one fact, one new transaction. It moves no crossing and no due instant.
    @inline(__always)
    func write(_ purchase: StoredPurchase, _ batch: inout Batch) throws(StorageError) {
        try self.storage.apply(purchase)
        batch.header.revision = purchase.revision
        batch.header.nextTransaction = purchase.nextTransaction
        batch.milestones.purchases += 1
        if self.cachesRecords { self.cache.insert(purchase.record) }
        batch.changes.append(Change(purchase))
    }

    /// Writes the change of a mutation. `account`: the one that the line of the audit trail is about. `keeps`: a repeated call gets
    /// the same answer.
    func write(
        _ stored: inout StoredChange, accounts: [AccountChange] = [], answer: MutationResult, of mutation: Mutation,
        asOf now: Instant, about account: AccountNumber? = nil, keeps: Bool = true, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        for account in accounts where account.isOverLimit {
            stored.removeAll()
            return .refused(self.tooLong(account.record))
        }
        let position = Position(revision: stored.revision, asOf: now)
        if keeps, !mutation.key.isEmpty {
            let kept = KeptAnswer(
                digest: mutation.keyDigest, result: answer, position: position, kept: stored.committed)
            let key = MutationKey(app: stored.appNumber, bytes: mutation.key)
            stored.answer = Boxed(KeyedAnswer(key: key, answer: kept))
        }
        stored.note(mutation.audit, account)
        try self.write(&stored, accounts: accounts, &batch)
        return .mutated(answer, position)
    }

    /// Writes the facts that a decision came to, with those of the family.
    func apply(
        _ accountFacts: [AccountFacts], answer: MutationResult, of mutation: Mutation, _ people: Participants,
        numbers: TransactionNumbers, _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer {
        let (app, now) = (people.app.state, people.now)
        let known = Known(subject: people.record, member: people.member)
        var numbers = numbers
        var accountFacts = try self.withFamily(
            accountFacts, known: known, app: app, now: now, numbers: &numbers, batch.header)
        var stored = self.nextChange(of: app.number, wall: call.wall, batch.header)
        stored.nextTransaction = numbers.next
        for (key, fresh) in people.opened {
            stored.nextAccount = fresh.account + 1
            stored.aliases.append((key, fresh.account))
            let fact = Fact(.opened(appTransactionID: fresh.appTransactionID), effective: now)
            if let index = accountFacts.firstIndex(where: { $0.account == fresh.account }) {
                accountFacts[index].facts.insert(fact, at: 0)
            } else {
                accountFacts.insert(AccountFacts(account: fresh.account, facts: [fact]), at: 0)
            }
        }
        let accounts = try self.fold(accountFacts, into: &stored, known: known, origin: mutation.origin, app: app)
        return try self.write(
            &stored, accounts: accounts, answer: answer, of: mutation, asOf: now, about: people.record?.account, &batch)
    }

    func tooLong(_ record: AccountRecord) -> Refusal {
        Refusal(
            .recordLimit,
            "the account would hold \(record.entryCount) subscription lines, owned products, purchases that wait, intents and shares, the limit is \(self.limits.recordEntriesMax)",
            found: Int64(record.entryCount), limit: Int64(self.limits.recordEntriesMax))
    }

    // MARK: Apps

    /// Writes a change of an app. Nil: the call waits until everything due by the new clock is settled.
    func apply(
        _ appChange: AppChange, answer: MutationResult, of mutation: Mutation, _ people: Participants,
        _ call: Call, _ batch: inout Batch
    ) throws(StorageError) -> StoreAnswer? {
        let current = people.app
        let number = current.state.number
        var stored = self.nextChange(of: number, wall: call.wall, batch.header)
        let next = Self.next(
            current, appChange, revision: stored.revision, effective: people.now, committed: call.wall)
        stored.app = next
        stored.appCause = appChange.catalogue != nil ? .catalog : appChange.clock != nil ? .clock : .setting
        if appChange.catalogue != nil { stored.images = appChange.images }
        let after = next.state.clock.now(wall: call.wall)
        let answered = try self.write(&stored, answer: answer, of: mutation, asOf: after, &batch)
        batch.apps[number] = next
        guard mutation.waitsForSettling else { return answered }
        batch.settlings.append(
            Batch.Settling(
                app: number, target: after, loop: call.loop, ticket: call.ticket,
                attemptsBefore: self.counters.attemptsSettled + batch.attemptsSettled, stopsClock: mutation.stopsClock))
        return nil
    }

    private static func next(
        _ current: StoredAppState, _ change: AppChange, revision: UInt64, effective: Instant, committed: Instant
    ) -> StoredAppState {
        let state = current.state
        // A new file's settings count if they differ from the old file's; settings changed by hand stay otherwise.
        var settings = state.settings
        if let file = change.fileSettings, file != current.fileSettings {
            settings = file
            // No catalogue file has these.
            settings.leewayMilliseconds = state.settings.leewayMilliseconds
            settings.claimPolicy = state.settings.claimPolicy
            settings.finishesAtAppStore = state.settings.finishesAtAppStore
            settings.setsTokensAtAppStore = state.settings.setsTokensAtAppStore
        }
        if let given = change.settings { settings = given }
        let next = AppState(
            number: state.number, bundleID: state.bundleID, environment: state.environment, revision: revision,
            effective: effective, committed: committed, catalogue: change.catalogue?.catalogue ?? state.catalogue,
            catalogueRevision: change.catalogue == nil ? state.catalogueRevision : revision,
            catalogueSource: change.catalogue?.source ?? state.catalogueSource, settings: settings,
            clock: change.clock ?? state.clock)
        return StoredAppState(state: next, fileSettings: change.fileSettings ?? current.fileSettings)
    }
}
