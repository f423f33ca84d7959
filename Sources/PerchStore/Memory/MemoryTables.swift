import PerchBase
import PerchModel

/// The tables of a store in memory, with the undo list of the open batch.
///
/// One value that cannot be copied. So reads between its methods need no checks for exclusive access, and retain no tables.
struct MemoryTables: ~Copyable {
    private var known: StoreHeader
    private var states: [AppNumber: [StoredAppState]] = [:]
    private(set) var aliases = AliasTable()
    /// By number. Numbers have no gaps, so a lookup is an index.
    private(set) var accounts: [Account] = []
    private var rows = TransactionTable()
    /// In the order of revisions.
    private var commits: [Commit] = []
    /// By app; sorted by instant, then account.
    private var due: [AppNumber: [DueEntry]] = [:]
    private var answers: [MutationKey: KeptAnswer] = [:]
    private var revocations: [String: Instant] = [:]
    private var images: [AppNumber: [ContentHash: [UInt8]]] = [:]
    /// Undoes the open batch, newest step first.
    private var undo: [Undo] = []
    /// The state before the open batch; nil outside a batch.
    private var before: Before?
    /// Whether the memory of the next mutations is being fetched: see `prefetch`.
    var isFetchedAhead = false

    /// Everything of an account in one place.
    struct Account {
        var record: AccountRecord?
        var rows: [TransactionID] = []
        var facts: [PlacedFact] = []
        var app: AppNumber = 0
    }

    private struct Commit {
        var revision: UInt64
        var committed: Instant
        var nextTransaction: TransactionID
        var nextAccount: AccountNumber
        /// Nil for most.
        var detail: Detail?
        var app: AppNumber
    }

    private final class Detail {
        let value: CommitDetail

        init(_ value: CommitDetail) { self.value = value }
    }

    struct PlacedFact {
        var place: EventPlace
        var committed: Instant
        var stored: StoredFact
    }

    /// The values that every batch changes.
    private struct Before {
        var header: StoreHeader
        var commitCount: Int
    }

    /// The previous value of each place that a batch changes. Plain values, because closures over key paths were a third of
    /// the cost of a change.
    private enum Undo {
        case fact(of: AccountNumber)
        case record(of: AccountNumber, AccountRecord?)
        case rowChanged(TransactionTable.Row)
        case rowDeleted(TransactionTable.Row)
        case rowAdded(AppNumber, TransactionID, to: AccountNumber)
        case rows(of: AccountNumber, [TransactionID])
        case due(AppNumber, DueEntry, isAdded: Bool)
        case alias(AccountKey, AccountNumber?)
        case appState(AppNumber)
        case images(AppNumber, [ContentHash: [UInt8]]?)
        case answer(MutationKey, KeptAnswer?)
        case revocation(String, Instant?)
    }

    init(identity: StoreIdentity) {
        self.known = StoreHeader(
            identity: identity, epoch: 1, revision: 0, nextTransaction: 1, nextAccount: 1, lease: .distantPast)
    }

    func header() -> StoreHeader { self.known }

    func appStates() -> [StoredAppState] {
        self.states.keys.sorted().compactMap { self.states[$0]?.last }
    }

    func appState(_ app: AppNumber, inForceAt instant: Instant) -> StoredAppState? {
        self.states[app]?.last { $0.state.effective <= instant }
    }

    func image(_ app: AppNumber, _ hash: ContentHash) -> [UInt8]? { self.images[app]?[hash] }
    func appState(_ app: AppNumber, at revision: UInt64) -> StoredAppState? {
        self.states[app]?.last { $0.state.revision <= revision }
    }

    func account(_ key: AccountKey) -> AccountNumber? { self.aliases[key] }

    func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        let keys = self.aliases.keys(of: app).filter { key.lexicographicallyPrecedes($0) }
        return Array(keys.sorted { $0.lexicographicallyPrecedes($1) }.prefix(limit))
    }

    func record(_ account: AccountNumber) -> AccountRecord? {
        guard account < self.accounts.count else { return nil }
        if !self.isFetchedAhead { self.prefetch(account) }
        return self.accounts[Int(account)].record
    }

    func transaction(_ app: AppNumber, _ id: TransactionID) -> TransactionRow? {
        self.rows[app, id]?.asTransactionRow
    }

    /// The facts of an account; empty for an unknown one.
    private func placedFacts(of account: AccountNumber) -> [PlacedFact] {
        account < self.accounts.count ? self.accounts[Int(account)].facts : []
    }

    func transactions(of account: AccountNumber, _ query: TransactionQuery) -> [TransactionRow] {
        guard account < self.accounts.count else { return [] }
        let app = self.accounts[Int(account)].app
        var rows = self.accounts[Int(account)].rows.compactMap { self.transaction(app, $0) }
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

    func events(of account: AccountNumber, after place: EventPlace, limit: Int) -> [AccountEvent] {
        let facts = self.placedFacts(of: account)
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

    func facts(of account: AccountNumber) -> [Fact] {
        self.placedFacts(of: account).map(\.stored.fact)
    }

    func facts(of account: AccountNumber, through revision: UInt64, limit: Int) -> [DatedFact] {
        self.placedFacts(of: account).prefix(limit).prefix { $0.place.revision <= revision }
            .map { DatedFact(revision: $0.place.revision, fact: $0.stored.fact) }
    }

    func commitTime(of revision: UInt64) -> Instant? {
        let index = self.commits.partitioningIndex { $0.revision >= revision }
        guard index < self.commits.count, self.commits[index].revision == revision else { return nil }
        return self.commits[index].committed
    }

    /// The rows of the commits after a revision, and their facts.
    ///
    /// Facts are kept by account, so this goes through all accounts. Nothing but a test reads the feed of a store in memory.
    func commits(after revision: UInt64, limit: Int) -> [(row: CommitRow, facts: [StoredFact])] {
        let first = self.commits.partitioningIndex { $0.revision > revision }
        let found = self.commits[first...].prefix(limit)
        guard let last = found.last?.revision else { return [] }
        var placed: [PlacedFact] = []
        for account in self.accounts {
            let from = account.facts.partitioningIndex { $0.place.revision > revision }
            placed.append(contentsOf: account.facts[from...].prefix { $0.place.revision <= last })
        }
        placed.sort { $0.place < $1.place }
        var facts = placed[...]
        return found.map { commit in
            let own = facts.prefix { $0.place.revision == commit.revision }
            facts = facts.dropFirst(own.count)
            let row = CommitRow(
                revision: commit.revision, committed: commit.committed, app: commit.app,
                nextTransaction: commit.nextTransaction, nextAccount: commit.nextAccount,
                detail: commit.detail?.value)
            return (row, own.map(\.stored))
        }
    }

    func due(_ app: AppNumber, through instant: Instant, limit: Int) -> [DueEntry] {
        Array((self.due[app] ?? []).prefix { $0.instant <= instant }.prefix(limit))
    }

    func earliestDue(_ app: AppNumber) -> Instant? { self.due[app]?.first?.instant }

    func answer(to key: MutationKey) -> KeptAnswer? { self.answers[key] }

    mutating func begin() {
        precondition(self.before == nil, "a batch began inside a batch")
        self.before = Before(header: self.known, commitCount: self.commits.count)
    }

    mutating func apply(_ change: StoredChange) {
        precondition(
            change.revision > self.commits.last?.revision ?? 0,
            "revision \(change.revision) came after \(self.commits.last?.revision ?? 0)")
        self.known.follow(change)
        self.commits.append(
            Commit(
                revision: change.revision, committed: change.committed, nextTransaction: change.nextTransaction,
                nextAccount: change.nextAccount, detail: CommitDetail(of: change).map(Detail.init),
                app: change.appNumber))
        for ordinal in change.facts.indices {
            let account = change.facts[ordinal].account
            let place = EventPlace(revision: change.revision, ordinal: UInt32(ordinal))
            self.makeRoom(for: account, app: change.appNumber)
            self.accounts[Int(account)].facts.append(
                PlacedFact(place: place, committed: change.committed, stored: change.facts[ordinal]))
            self.undo.append(.fact(of: account))
            if let write = change.facts[ordinal].fact.rowWrite {
                self.write(write, account: account, app: change.appNumber)
            }
        }
        for place in change.records.indices {
            let account = change.records[place].record.account
            self.makeRoom(for: account, app: change.appNumber)
            let before = Self.exchange(&self.accounts[Int(account)].record, with: change.records[place].record)
            self.undo.append(.record(of: account, before))
            let (due, previousDue) = (change.records[place].due, change.records[place].previousDue)
            if due != previousDue {
                self.moveDue(of: account, app: change.records[place].record.app, from: previousDue, to: due)
            }
        }
        for (key, account) in change.aliases {
            self.undo.append(.alias(key, self.aliases.update(key, account)))
        }
        if let app = change.app {
            self.states[app.state.number, default: []].append(app)
            self.undo.append(.appState(app.state.number))
            if let images = change.images {
                let contents = Dictionary(images.map { ($0.hash, $0.bytes) }) { first, _ in first }
                self.undo.append(.images(app.state.number, self.images.updateValue(contents, forKey: app.state.number)))
            }
        }
        for token in change.revoked { self.revoke(token) }
        if let keyed = change.answer?.value { self.keep(keyed.answer, for: keyed.key) }
    }

    private mutating func makeRoom(for account: AccountNumber, app: AppNumber) {
        while self.accounts.count <= account { self.accounts.append(Account()) }
        self.accounts[Int(account)].app = app
    }

    private static func exchange<Value>(_ place: inout Value, with value: Value) -> Value {
        let before = place
        place = value
        return before
    }

    private mutating func write(_ write: TransactionWrite, account: AccountNumber, app: AppNumber) {
        switch write {
        case .insert(let transaction):
            let id = transaction.id
            self.rows.insert(
                TransactionTable.Row(account: account, transaction: transaction, app: app, isFinished: false),
                isOwn: id < self.known.nextTransaction)
            self.accounts[Int(account)].rows.append(id)
            self.undo.append(.rowAdded(app, id, to: account))
        case .update(let transaction):
            self.changeRow(app, transaction.id) { $0.transaction = transaction }
        case .finish(let id):
            self.changeRow(app, id) { $0.isFinished = true }
        case .delete(let id):
            self.deleteRow(app, id)
            self.undo.append(.rows(of: account, self.accounts[Int(account)].rows))
            self.accounts[Int(account)].rows.removeAll { $0 == id }
        case .deleteAll:
            let ids = self.accounts[Int(account)].rows
            for id in ids { self.deleteRow(app, id) }
            self.undo.append(.rows(of: account, ids))
            self.accounts[Int(account)].rows.removeAll()
        }
    }

    /// Does nothing if the row does not exist.
    private mutating func changeRow(
        _ app: AppNumber, _ id: TransactionID, _ change: (inout TransactionTable.Row) -> Void
    ) {
        guard var row = self.rows[app, id] else { return }
        self.undo.append(.rowChanged(row))
        change(&row)
        self.rows.replace(app, id, with: row)
    }

    private mutating func deleteRow(_ app: AppNumber, _ id: TransactionID) {
        guard let row = self.rows[app, id] else { return }
        self.undo.append(.rowDeleted(row))
        self.rows.replace(app, id, with: nil)
    }

    private mutating func moveDue(of account: AccountNumber, app: AppNumber, from old: Instant?, to new: Instant?) {
        if let old { self.setDue(DueEntry(instant: old, account: account), app, isDue: false) }
        if let new { self.setDue(DueEntry(instant: new, account: account), app, isDue: true) }
    }

    private mutating func setDue(_ entry: DueEntry, _ app: AppNumber, isDue: Bool) {
        self.changeDue(entry, app, isDue: isDue)
        self.undo.append(.due(app, entry, isAdded: isDue))
    }

    private mutating func changeDue(_ entry: DueEntry, _ app: AppNumber, isDue: Bool) {
        let index = self.due[app, default: []].partitioningIndex {
            ($0.instant, $0.account) >= (entry.instant, entry.account)
        }
        if isDue { self.due[app, default: []].insert(entry, at: index) } else { self.due[app]?.remove(at: index) }
    }

    mutating func keep(_ answer: KeptAnswer, for key: MutationKey) {
        self.undo.append(.answer(key, self.answers.updateValue(answer, forKey: key)))
    }

    func revokedTokens() -> [RevokedToken] {
        self.revocations.map { RevokedToken(id: $0.key, expires: $0.value) }.sorted { $0.id < $1.id }
    }

    private mutating func revoke(_ revocation: RevokedToken) {
        self.undo.append(
            .revocation(revocation.id, self.revocations.updateValue(revocation.expires, forKey: revocation.id)))
    }

    mutating func forgetRevokedTokens(before instant: Instant) {
        for (id, expires) in self.revocations where expires < instant {
            self.undo.append(.revocation(id, expires))
            self.revocations[id] = nil
        }
    }

    mutating func setLease(until instant: Instant) {
        precondition(self.before != nil, "a lease outside a batch")
        self.known.lease = instant
    }

    mutating func forgetAnswers(before instant: Instant) {
        for (key, answer) in self.answers where answer.kept < instant {
            self.undo.append(.answer(key, answer))
            self.answers[key] = nil
        }
    }

    mutating func commit() {
        precondition(self.before != nil, "a commit outside a batch")
        self.undo.removeAll(keepingCapacity: true)
        self.before = nil
        self.isFetchedAhead = false
    }

    mutating func rollback() {
        while let step = self.undo.popLast() { self.takeBack(step) }
        guard let before = self.before else { return }
        self.known = before.header
        self.commits.removeLast(self.commits.count - before.commitCount)
        self.before = nil
        self.isFetchedAhead = false
    }

    private mutating func takeBack(_ step: Undo) {
        switch step {
        case .fact(let account): self.accounts[Int(account)].facts.removeLast()
        case .record(let account, let record): self.accounts[Int(account)].record = record
        case .rowChanged(let row): self.rows.replace(row.app, row.transaction.id, with: row)
        case .rowDeleted(let row):
            self.rows.insert(row, isOwn: row.transaction.id < self.known.nextTransaction)
        case .rowAdded(let app, let id, let account):
            self.rows.replace(app, id, with: nil)
            self.accounts[Int(account)].rows.removeLast()
        case .rows(let account, let ids): self.accounts[Int(account)].rows = ids
        case .due(let app, let entry, let isAdded): self.changeDue(entry, app, isDue: !isAdded)
        case .alias(let key, let account?): _ = self.aliases.update(key, account)
        case .alias(let key, nil): self.aliases.removeLast(key)
        case .appState(let app): self.states[app]?.removeLast()
        case .images(let app, let images): self.images[app] = images
        case .answer(let key, let answer): self.answers[key] = answer
        case .revocation(let id, let expires): self.revocations[id] = expires
        }
    }
}

extension Array {
    /// The first index whose element satisfies `belongs`. All elements that do must come last.
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
