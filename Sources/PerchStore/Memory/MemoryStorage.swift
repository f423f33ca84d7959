package import PerchBase
package import PerchModel

/// Storage that forgets when the process ends: for development (`--store memory`), for the simulator and for tests.
///
/// Passes the same contract suite as every other storage. Owned by one thread.
package final class MemoryStorage: Storage {
    private var state: State
    /// Undoes the batch under way, newest first; nil outside a batch.
    private var undo: [(inout State) -> Void]?
    /// For tests: the next commit throws this and undoes its batch.
    package var nextCommitFailure: StorageError?
    /// For tests: what is answered to whoever asks for room.
    package var hasRoom = true

    private struct State {
        var header: StoreHeader
        var appStates: [AppNumber: [StoredAppState]] = [:]
        var aliases: [AccountKey: AccountNumber] = [:]
        var records: [AccountNumber: AccountRecord] = [:]
        var rows: [TransactionID: TransactionRow] = [:]
        var rowsOfAccount: [AccountNumber: [TransactionID]] = [:]
        var factsOfAccount: [AccountNumber: [PlacedFact]] = [:]
        var commitTimes: [UInt64: Instant] = [:]
        /// By app; sorted by instant, then account.
        var due: [AppNumber: [DueEntry]] = [:]
        var answers: [MutationKey: KeptAnswer] = [:]
        var revocations: [String: Instant] = [:]
        var images: [AppNumber: [ContentHash: [UInt8]]] = [:]
    }

    private struct PlacedFact {
        var place: EventPlace
        var committed: Instant
        var stored: StoredFact
    }

    package init(identity: StoreIdentity) {
        self.state = State(
            header: StoreHeader(
                identity: identity, epoch: 1, revision: 0, nextTransaction: 1, nextAccount: 1,
                lease: .distantPast))
    }

    package func header() -> StoreHeader { self.state.header }

    package func appStates() -> [StoredAppState] {
        self.state.appStates.keys.sorted().compactMap { self.state.appStates[$0]?.last }
    }

    package func appState(_ app: AppNumber, inForceAt instant: Instant) -> StoredAppState? {
        self.state.appStates[app]?.last { $0.state.effective <= instant }
    }

    package func image(_ app: AppNumber, _ hash: ContentHash) -> [UInt8]? { self.state.images[app]?[hash] }
    package func appState(_ app: AppNumber, at revision: UInt64) -> StoredAppState? {
        self.state.appStates[app]?.last { $0.state.revision <= revision }
    }

    package func account(_ key: AccountKey) -> AccountNumber? { self.state.aliases[key] }

    package func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        let keys = self.state.aliases.keys.lazy.filter { $0.app == app && key.lexicographicallyPrecedes($0.bytes) }
        return Array(keys.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }.prefix(limit))
    }

    package func record(_ account: AccountNumber) -> AccountRecord? { self.state.records[account] }
    package func transaction(_ id: TransactionID) -> TransactionRow? { self.state.rows[id] }

    package func transactions(of account: AccountNumber, _ query: TransactionQuery) -> [TransactionRow] {
        var rows = (self.state.rowsOfAccount[account] ?? []).compactMap { self.state.rows[$0] }
        rows.sort {
            ($0.transaction.purchaseDate, $0.transaction.id) < ($1.transaction.purchaseDate, $1.transaction.id)
        }
        if query.isNewestFirst { rows.reverse() }
        if let after = query.after {
            let place = (after.purchaseDate, after.id)
            rows.removeAll {
                let own = ($0.transaction.purchaseDate, $0.transaction.id)
                return query.isNewestFirst ? own >= place : own <= place
            }
        }
        return Array(rows.filter(query.includes).prefix(query.limit))
    }

    package func events(of account: AccountNumber, after place: EventPlace, limit: Int) -> [AccountEvent] {
        let facts = self.state.factsOfAccount[account] ?? []
        var events: [AccountEvent] = []
        var index = facts.partitioningIndex { $0.place > place }
        while index < facts.count, events.count < limit {
            let placed = facts[index]
            if let event = placed.stored.fact.event {
                events.append(
                    AccountEvent(
                        place: placed.place, committed: placed.committed, transaction: event.transaction,
                        kind: event.kind, origin: placed.stored.origin))
            }
            index += 1
        }
        return events
    }

    package func facts(of account: AccountNumber) -> [Fact] {
        (self.state.factsOfAccount[account] ?? []).map(\.stored.fact)
    }

    package func facts(of account: AccountNumber, through revision: UInt64, limit: Int) -> [DatedFact] {
        (self.state.factsOfAccount[account] ?? []).prefix(limit).prefix { $0.place.revision <= revision }
            .map { DatedFact(revision: $0.place.revision, fact: $0.stored.fact) }
    }

    package func commitTime(of revision: UInt64) -> Instant? { self.state.commitTimes[revision] }

    package func due(_ app: AppNumber, through instant: Instant, limit: Int) -> [DueEntry] {
        Array((self.state.due[app] ?? []).prefix { $0.instant <= instant }.prefix(limit))
    }

    package func earliestDue(_ app: AppNumber) -> Instant? { self.state.due[app]?.first?.instant }

    package func answer(to key: MutationKey) -> KeptAnswer? { self.state.answers[key] }

    package func begin() {
        precondition(self.undo == nil, "a batch began inside a batch")
        self.undo = []
    }

    package func apply(_ change: StoredChange) {
        self.change(\.header) { header in
            header.revision = change.revision
            header.nextTransaction = change.nextTransaction
            header.nextAccount = change.nextAccount
        }
        self.change(\.commitTimes[change.revision]) { $0 = change.committed }
        for (ordinal, stored) in change.facts.enumerated() {
            let place = EventPlace(revision: change.revision, ordinal: UInt32(ordinal))
            let placed = PlacedFact(place: place, committed: change.committed, stored: stored)
            self.state.factsOfAccount[stored.account, default: []].append(placed)
            self.undo?.append { $0.factsOfAccount[stored.account]?.removeLast() }
            self.write(stored.fact.rowWrite, account: stored.account)
        }
        for (record, due, previousDue) in change.records {
            self.change(\.records[record.account]) { $0 = record }
            self.moveDue(of: record.account, app: record.app, from: previousDue, to: due)
        }
        for (key, account) in change.aliases {
            self.change(\.aliases[key]) { $0 = account }
        }
        if let app = change.app {
            self.state.appStates[app.state.number, default: []].append(app)
            self.undo?.append { $0.appStates[app.state.number]?.removeLast() }
            if let images = change.images {
                let contents = Dictionary(images.map { ($0.hash, $0.bytes) }) { first, _ in first }
                self.change(\.images[app.state.number]) { $0 = contents }
            }
        }
        if let (key, answer) = change.answer {
            self.change(\.answers[key]) { $0 = answer }
        }
    }

    private func write(_ write: TransactionWrite?, account: AccountNumber) {
        switch write {
        case .insert(let transaction):
            let row = TransactionRow(account: account, transaction: transaction, isFinished: false)
            self.change(\.rows[transaction.id]) { $0 = row }
            self.state.rowsOfAccount[account, default: []].append(transaction.id)
            self.undo?.append { $0.rowsOfAccount[account]?.removeLast() }
        case .update(let transaction):
            self.change(\.rows[transaction.id]) { $0?.transaction = transaction }
        case .finish(let id):
            self.change(\.rows[id]) { $0?.isFinished = true }
        case .delete(let id):
            self.change(\.rows[id]) { $0 = nil }
            self.change(\.rowsOfAccount[account]) { $0?.removeAll { $0 == id } }
        case .deleteAll:
            for id in self.state.rowsOfAccount[account] ?? [] { self.change(\.rows[id]) { $0 = nil } }
            self.change(\.rowsOfAccount[account]) { $0 = nil }
        case nil:
            break
        }
    }

    private func moveDue(of account: AccountNumber, app: AppNumber, from old: Instant?, to new: Instant?) {
        guard old != new else { return }
        func entryIndex(_ entries: [DueEntry], _ entry: DueEntry) -> Int {
            entries.partitioningIndex { ($0.instant, $0.account) >= (entry.instant, entry.account) }
        }
        func remove(_ entry: DueEntry, _ state: inout State) {
            let index = entryIndex(state.due[app, default: []], entry)
            state.due[app]?.remove(at: index)
        }
        func insert(_ entry: DueEntry, _ state: inout State) {
            let index = entryIndex(state.due[app, default: []], entry)
            state.due[app]?.insert(entry, at: index)
        }
        if let old {
            let entry = DueEntry(instant: old, account: account)
            remove(entry, &self.state)
            self.undo?.append { insert(entry, &$0) }
        }
        if let new {
            let entry = DueEntry(instant: new, account: account)
            if self.state.due[app] == nil { self.state.due[app] = [] }
            insert(entry, &self.state)
            self.undo?.append { remove(entry, &$0) }
        }
    }

    private func change<Value>(_ path: WritableKeyPath<State, Value>, _ body: (inout Value) -> Void) {
        let before = self.state[keyPath: path]
        body(&self.state[keyPath: path])
        self.undo?.append { $0[keyPath: path] = before }
    }

    package func keep(_ answer: KeptAnswer, for key: MutationKey) {
        self.change(\.answers[key]) { $0 = answer }
    }

    package func revokedTokens() -> [RevokedToken] {
        self.state.revocations.map { RevokedToken(id: $0.key, expires: $0.value) }.sorted { $0.id < $1.id }
    }

    package func revoke(_ revocation: RevokedToken) {
        self.change(\.revocations[revocation.id]) { $0 = revocation.expires }
    }

    package func forgetRevokedTokens(before instant: Instant) {
        for (id, expires) in self.state.revocations where expires < instant {
            self.change(\.revocations[id]) { $0 = nil }
        }
    }

    package func setLease(until instant: Instant) {
        self.change(\.header) { $0.lease = instant }
    }

    package func forgetAnswers(before instant: Instant) {
        for (key, answer) in self.state.answers where answer.kept < instant {
            self.change(\.answers[key]) { $0 = nil }
        }
    }

    package func commit() throws(StorageError) {
        precondition(self.undo != nil, "a commit outside a batch")
        if let failure = self.nextCommitFailure {
            self.nextCommitFailure = nil
            self.rollback()
            throw failure
        }
        self.undo = nil
    }

    package func rollback() {
        for step in (self.undo ?? []).reversed() { step(&self.state) }
        self.undo = nil
    }

    package func close() {}
}

extension Array {
    /// The first index whose element satisfies `belongs`, of an array in which those that do come last.
    func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
