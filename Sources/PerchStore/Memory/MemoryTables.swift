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
    /// In the order of revisions, then ordinals.
    private var facts = PagedLog<LoggedFact>()
    /// In the order of revisions.
    private var commits = PagedLog<Commit>()
    /// By app; sorted by instant, then account.
    private var due: [AppNumber: OrderedEntries] = [:]
    private var crossings: [AppNumber: OrderedEntries] = [:]
    private var answers = AnswerTable()
    private var revocations: [String: Instant] = [:]
    private var images: [AppNumber: [ContentHash: [UInt8]]] = [:]
    private(set) var items = ItemTable()
    /// Undoes the open batch, newest step first.
    private var undo: [Undo] = []
    /// The state before the open batch; nil outside a batch.
    private var before: Before?
    /// Whether the memory of the next mutations is being fetched: see `prefetch`.
    var isFetchedAhead = false

    /// Everything about an account that is found by its number. Its transactions are those that its facts have added.
    struct Account {
        var record: AccountRecord?
        /// Place of its newest fact in the log; negative for none.
        var newestFact = -1
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

    /// A fact in the log of all accounts. One log, because a list for each account would be copied whenever it grows.
    private struct LoggedFact {
        var fact: Fact
        var account: AccountNumber
        var origin: [UInt8]
        var revision: UInt64
        /// Place of the account's fact before this one; negative for none.
        var previous: Int
        var ordinal: UInt32

        var place: EventPlace { EventPlace(revision: self.revision, ordinal: self.ordinal) }
        var stored: StoredFact { StoredFact(account: self.account, fact: self.fact, origin: self.origin) }
    }

    /// The values that every batch changes.
    private struct Before {
        var header: StoreHeader
        var commitCount: Int
    }

    /// The previous value of each place that a batch changes. Plain values, because closures over key paths were a third of
    /// the cost of a change.
    private enum Undo {
        /// The newest fact of the log.
        case fact
        /// A plain purchase: its fact, its row, and the record before it.
        case purchase(AccountRecord?)
        case record(of: AccountNumber, AccountRecord?)
        case rowChanged(TransactionTable.Row)
        case rowDeleted(TransactionTable.Row)
        case rowAdded(AppNumber, TransactionID)
        case due(AppNumber, DueEntry, isAdded: Bool)
        case crossing(AppNumber, DueEntry, isAdded: Bool)
        case alias(AccountKey, AccountNumber?)
        case appState(AppNumber)
        case images(AppNumber, [ContentHash: [UInt8]]?)
        case answer(MutationKey, KeptAnswer?)
        case item(ItemKey, [UInt8]?)
        case aliasRemoved(AccountKey, AccountNumber)
        /// A fact of an erased account, and its place in the log.
        indirect case factErased(LoggedFact, at: Int)
        case newestFact(of: AccountNumber, Int)
        indirect case detail(Detail?, at: Int)
        case revocation(String, Instant?)
    }

    init(identity: StoreIdentity) {
        self.known = StoreHeader(
            identity: identity, epoch: 1, revision: 0, nextTransaction: 1, nextAccount: 1, lease: .distantPast)
    }

    deinit {
        self.facts.destroy()
        self.commits.destroy()
        self.rows.destroy()
        self.answers.destroy()
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
    func account(_ key: OrderAccount, app: AppNumber) -> AccountNumber? { self.aliases.account(key, app: app) }

    func key(of account: AccountNumber) -> [UInt8]? { self.aliases.key(of: account) }

    func keys(of app: AppNumber, after key: [UInt8], limit: Int) -> [[UInt8]] {
        self.aliases.keys(of: app, after: key, limit: limit)
    }

    func record(_ account: AccountNumber) -> AccountRecord? {
        guard account < self.accounts.count else { return nil }
        if !self.isFetchedAhead { self.prefetch(account) }
        return self.accounts[Int(account)].record
    }

    func transaction(_ app: AppNumber, _ id: TransactionID) -> TransactionRow? {
        self.rows[app, id]?.asTransactionRow
    }

    /// The facts of an account after a place, in order; none for an unknown account. Revision 0 has no facts.
    private func logged(
        of account: AccountNumber, after place: EventPlace = EventPlace(revision: 0, ordinal: 0)
    ) -> [LoggedFact] {
        self.indices(of: account, after: place).map { self.facts[$0] }
    }

    /// Where these facts are in the log, in order. A fact knows the one before it, so they are found from the newest one.
    private func indices(of account: AccountNumber, after place: EventPlace) -> [Int] {
        var indices: [Int] = []
        var index = account < self.accounts.count ? self.accounts[Int(account)].newestFact : -1
        while index >= 0, self.facts[index].place > place {
            indices.append(index)
            index = self.facts[index].previous
        }
        indices.reverse()
        return indices
    }

    /// The transactions of an account, in the order in which they were added.
    private func transactions(of account: AccountNumber) -> [TransactionRow] {
        guard account < self.accounts.count else { return [] }
        let app = self.accounts[Int(account)].app
        var seen: Set<TransactionID> = []
        var rows: [TransactionRow] = []
        for logged in self.logged(of: account) {
            let added: [TransactionID] =
                switch logged.fact.rowWrite {
                case .insert(let transaction): [transaction.id]
                case .rewrite(_, let transactions): transactions.map(\.id)
                default: []
                }
            for id in added where seen.insert(id).inserted {
                if let row = self.rows[app, id], row.account == account { rows.append(row.asTransactionRow) }
            }
        }
        return rows
    }

    func transactions(of account: AccountNumber, _ query: TransactionQuery) -> [TransactionRow] {
        var rows = self.transactions(of: account)
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
        var events: [AccountEvent] = []
        for index in self.indices(of: account, after: place) {
            if events.count == limit { break }
            let logged = self.facts[index]
            if let event = logged.fact.event, let committed = self.commitTime(of: logged.revision) {
                events.append(
                    AccountEvent(
                        place: logged.place, committed: committed, transaction: event.transaction, kind: event.kind,
                        origin: logged.origin))
            }
        }
        return events
    }

    func facts(of account: AccountNumber) -> [Fact] {
        self.logged(of: account).map(\.fact)
    }

    func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) -> [DatedFact] {
        self.logged(of: account, after: EventPlace(revision: first, ordinal: .max)).prefix(limit)
            .prefix { $0.revision <= revision }.map { DatedFact(revision: $0.revision, fact: $0.fact) }
    }

    func facts(ofRevision revision: UInt64) -> [StoredFact] {
        var place = self.facts.partitioningIndex { $0.revision >= revision }
        var found: [StoredFact] = []
        while place < self.facts.count, self.facts[place].revision == revision {
            // Account 0 has facts that were erased.
            if self.facts[place].account != 0 { found.append(self.facts[place].stored) }
            place += 1
        }
        return found
    }

    func commitTime(of revision: UInt64) -> Instant? {
        let index = self.commits.partitioningIndex { $0.revision >= revision }
        guard index < self.commits.count, self.commits[index].revision == revision else { return nil }
        return self.commits[index].committed
    }

    /// The rows of the commits after a revision, without their facts.
    func commitRows(after revision: UInt64, limit: Int) -> [CommitRow] {
        let first = self.commits.partitioningIndex { $0.revision > revision }
        var found: [CommitRow] = []
        for index in first..<min(self.commits.count, first + min(limit, self.commits.count)) {
            let commit = self.commits[index]
            found.append(
                CommitRow(
                    revision: commit.revision, committed: commit.committed, app: commit.app,
                    nextTransaction: commit.nextTransaction, nextAccount: commit.nextAccount,
                    detail: commit.detail?.value))
        }
        return found
    }

    func crossings(_ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int) -> [DueEntry] {
        self.crossings[app]?.entries(after: entry, through: instant, limit: limit) ?? []
    }

    func due(_ app: AppNumber, through instant: Instant, limit: Int) -> [DueEntry] {
        self.due[app]?.entries(through: instant, limit: limit) ?? []
    }

    func earliestDue(_ app: AppNumber) -> Instant? { self.due[app]?.first?.instant }

    func answer(to key: MutationKey) -> KeptAnswer? { self.answers[key] }

    func answers(keptAt instant: Instant) -> [KeyedAnswer] {
        self.answers.filter { $0.kept == instant }
    }

    mutating func begin() {
        precondition(self.before == nil, "a batch began inside a batch")
        self.before = Before(header: self.known, commitCount: self.commits.count)
    }

    mutating func apply(_ change: StoredChange) {
        self.follow(
            revision: change.revision, committed: change.committed, nextTransaction: change.nextTransaction,
            nextAccount: change.nextAccount, detail: CommitDetail(of: change).map(Detail.init), app: change.appNumber)
        if let erasure = change.side?.erasure { self.erase(erasure) }
        for ordinal in change.facts.indices {
            let account = change.facts[ordinal].account
            self.makeRoom(for: account, app: change.appNumber)
            self.log(
                change.facts[ordinal].fact, of: account, origin: change.facts[ordinal].origin,
                revision: change.revision, ordinal: UInt32(ordinal))
            self.undo.append(.fact)
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
        for moves in change.crossings {
            for instant in moves.removed { self.setCrossing(instant, moves.account, change.appNumber, isThere: false) }
            for instant in moves.added { self.setCrossing(instant, moves.account, change.appNumber, isThere: true) }
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
        if let side = change.side { self.write(side) }
        if let keyed = change.answer?.value { self.keep(keyed.answer, for: keyed.key) }
    }

    /// A plain purchase of an account that is there.
    mutating func apply(_ purchase: StoredPurchase) {
        self.follow(
            revision: purchase.revision, committed: purchase.committed, nextTransaction: purchase.nextTransaction,
            nextAccount: purchase.nextAccount, detail: nil, app: purchase.app)
        self.log(
            purchase.fact, of: purchase.account, origin: purchase.origin, revision: purchase.revision, ordinal: 0)
        self.rows.insert(
            TransactionTable.Row(
                account: purchase.account, transaction: purchase.transaction, app: purchase.app, isFinished: false),
            isOwn: true)
        let before = Self.exchange(&self.accounts[Int(purchase.account)].record, with: purchase.record)
        self.undo.append(.purchase(before))
        if let keyed = purchase.answer { self.keep(keyed.answer, for: keyed.key) }
    }

    private mutating func follow(
        revision: UInt64, committed: Instant, nextTransaction: TransactionID, nextAccount: AccountNumber,
        detail: Detail?, app: AppNumber
    ) {
        precondition(revision > self.known.revision, "revision \(revision) came after \(self.known.revision)")
        self.known.revision = revision
        self.known.nextTransaction = nextTransaction
        self.known.nextAccount = nextAccount
        self.commits.append(
            Commit(
                revision: revision, committed: committed, nextTransaction: nextTransaction, nextAccount: nextAccount,
                detail: detail, app: app))
    }

    private mutating func log(
        _ fact: Fact, of account: AccountNumber, origin: [UInt8], revision: UInt64, ordinal: UInt32
    ) {
        let previous = self.accounts[Int(account)].newestFact
        self.accounts[Int(account)].newestFact = self.facts.count
        self.facts.append(
            LoggedFact(
                fact: fact, account: account, origin: origin, revision: revision, previous: previous, ordinal: ordinal))
    }

    private mutating func unlog() -> LoggedFact {
        let logged = self.facts.removeLast()
        self.accounts[Int(logged.account)].newestFact = logged.previous
        return logged
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
            self.undo.append(.rowAdded(app, id))
        case .update(let transaction):
            self.changeRow(app, transaction.id) { $0.transaction = transaction }
        case .finish(let id):
            self.changeRow(app, id) { $0.isFinished = true }
        case .delete(let id):
            self.deleteRow(app, id)
        case .deleteAll:
            for row in self.transactions(of: account) { self.deleteRow(app, row.transaction.id) }
        case .rewrite(let remove, let add):
            self.rewrite(remove: remove, add: add, account: account, app: app)
        }
    }

    private mutating func write(_ side: SideWrites) {
        for item in side.items { self.undo.append(.item(item.key, self.items.set(item.key, item.value))) }
        for key in side.removedItems { self.undo.append(.item(key, self.items.set(key, nil))) }
        for key in side.removedAliases {
            guard let account = self.aliases[key] else { continue }
            self.undo.append(.aliasRemoved(key, account))
            self.aliases.remove(key)
        }
    }

    /// Empties the places of everything that the accounts have.
    private mutating func erase(_ erasure: Erasure) {
        for account in erasure.accounts where account < self.accounts.count {
            for row in self.transactions(of: account) {
                self.deleteRow(self.accounts[Int(account)].app, row.transaction.id)
            }
            for index in self.indices(of: account, after: EventPlace(revision: 0, ordinal: 0)) {
                self.undo.append(.factErased(self.facts[index], at: index))
                self.facts[index] = LoggedFact(
                    fact: Fact(.synced, effective: .distantPast), account: 0, origin: [],
                    revision: self.facts[index].revision, previous: -1, ordinal: self.facts[index].ordinal)
            }
            self.undo.append(.newestFact(of: account, self.accounts[Int(account)].newestFact))
            self.accounts[Int(account)].newestFact = -1
        }
        for key in erasure.answers {
            guard let answer = self.answers.update(key, nil) else { continue }
            self.undo.append(.answer(key, answer))
        }
        for edit in erasure.commits {
            let index = self.commits.partitioningIndex { $0.revision >= edit.revision }
            guard index < self.commits.count, self.commits[index].revision == edit.revision else { continue }
            self.undo.append(.detail(self.commits[index].detail, at: index))
            self.commits[index].detail = edit.detail.map(Detail.init)
        }
    }

    /// Rows of an App Store app: some are removed from the account, others are added to it, perhaps from another account.
    private mutating func rewrite(
        remove: [TransactionID], add: [Transaction], account: AccountNumber, app: AppNumber
    ) {
        for id in remove where self.rows[app, id]?.account == account { self.deleteRow(app, id) }
        for transaction in add {
            if var row = self.rows[app, transaction.id] {
                self.undo.append(.rowChanged(row))
                row.account = account
                row.transaction = transaction
                self.rows.replace(app, transaction.id, with: row)
            } else {
                self.rows.insert(
                    TransactionTable.Row(account: account, transaction: transaction, app: app, isFinished: false),
                    isOwn: false)
                self.undo.append(.rowAdded(app, transaction.id))
            }
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
        let isChanged =
            isDue ? self.due[app, default: OrderedEntries()].insert(entry) : self.due[app]?.remove(entry) ?? false
        precondition(isChanged, "account \(entry.account) is due twice, or is not due")
    }

    private mutating func setCrossing(_ instant: Instant, _ account: AccountNumber, _ app: AppNumber, isThere: Bool) {
        let entry = DueEntry(instant: instant, account: account)
        guard self.changeCrossing(entry, app, isThere: isThere) else { return }
        self.undo.append(.crossing(app, entry, isAdded: isThere))
    }

    /// False: there was nothing to change.
    private mutating func changeCrossing(_ entry: DueEntry, _ app: AppNumber, isThere: Bool) -> Bool {
        isThere
            ? self.crossings[app, default: OrderedEntries()].insert(entry) : self.crossings[app]?.remove(entry) ?? false
    }

    mutating func forgetCrossings(_ app: AppNumber, through entry: DueEntry) {
        for old in self.crossings[app]?.entries(upTo: entry) ?? [] {
            self.crossings[app]?.remove(old)
            self.undo.append(.crossing(app, old, isAdded: false))
        }
    }

    mutating func keep(_ answer: KeptAnswer, for key: MutationKey) {
        self.undo.append(.answer(key, self.answers.update(key, answer)))
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
        for old in self.answers.filter({ $0.kept < instant }) {
            self.undo.append(.answer(old.key, self.answers.update(old.key, nil)))
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
        while self.commits.count > before.commitCount { _ = self.commits.removeLast() }
        self.before = nil
        self.isFetchedAhead = false
    }

    private mutating func takeBack(_ step: Undo) {
        switch step {
        case .fact: _ = self.unlog()
        case .purchase(let record):
            let logged = self.unlog()
            self.accounts[Int(logged.account)].record = record
            guard case .purchased(let transaction, _) = logged.fact.body else { break }
            self.rows.replace(self.accounts[Int(logged.account)].app, transaction.id, with: nil)
        case .record(let account, let record): self.accounts[Int(account)].record = record
        case .rowChanged(let row): self.rows.replace(row.app, row.transaction.id, with: row)
        case .rowDeleted(let row):
            self.rows.insert(row, isOwn: row.transaction.id < self.known.nextTransaction)
        case .rowAdded(let app, let id): self.rows.replace(app, id, with: nil)
        case .due(let app, let entry, let isAdded): self.changeDue(entry, app, isDue: !isAdded)
        case .crossing(let app, let entry, let isAdded): _ = self.changeCrossing(entry, app, isThere: !isAdded)
        case .alias(let key, let account?): _ = self.aliases.update(key, account)
        case .alias(let key, nil): self.aliases.removeLast(key)
        case .appState(let app): self.states[app]?.removeLast()
        case .images(let app, let images): self.images[app] = images
        case .answer(let key, let answer): _ = self.answers.update(key, answer)
        case .item(let key, let value): self.items.set(key, value)
        case .aliasRemoved(let key, let account): _ = self.aliases.update(key, account)
        case .revocation(let id, let expires): self.revocations[id] = expires
        case .factErased(let logged, let index): self.facts[index] = logged
        case .newestFact(let account, let index): self.accounts[Int(account)].newestFact = index
        case .detail(let detail, let index): self.commits[index].detail = detail
        }
    }
}
