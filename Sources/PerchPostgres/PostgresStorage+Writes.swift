package import PerchBase
package import PerchModel
package import PerchStore

extension PostgresStorage {
    package func apply(_ change: StoredChange) throws(StorageError) {
        guard case .open(let base, var end, let isFenced) = self.batch else {
            if case .broken(let error) = self.batch { throw error }
            preconditionFailure("a write outside a batch")
        }
        guard change.revision > end.revision else {
            // Another node was first, and the engine has not read its changes.
            self.batch = .broken(.superseded)
            throw .superseded
        }
        let blob = change.sealed()
        end.follow(change.revision, blob, writer: self.node.id)
        self.writes.add(change, blob: blob, writer: self.node.id, mark: end.mark, epoch: self.currentHeader.epoch)
        self.known.follow(change)
        self.batch = .open(base: base, end: end, isFenced: isFenced)
        self.currentHeader.revision = change.revision
        self.currentHeader.nextTransaction = change.nextTransaction
        self.currentHeader.nextAccount = change.nextAccount
    }

    package func keep(_ answer: KeptAnswer, for key: MutationKey) throws(StorageError) {
        if case .broken(let error) = self.batch { throw error }
        self.writes.keep(answer, for: key)
        self.known.answers[key] = .some(answer)
    }

    package func forgetRevokedTokens(before instant: Instant) throws(StorageError) {
        if case .broken(let error) = self.batch { throw error }
        self.writes.add(Command(.forgetRevocations, [.integer(instant.milliseconds)]))
    }

    package func forgetCrossings(_ app: AppNumber, through entry: DueEntry) throws(StorageError) {
        if case .broken(let error) = self.batch { throw error }
        self.writes.add(
            Command(
                .forgetCrossings,
                [.integer(Int64(app)), .integer(entry.instant.milliseconds), .number(entry.account)]))
    }

    package func forgetAnswers(before instant: Instant) throws(StorageError) {
        if case .broken(let error) = self.batch { throw error }
        self.writes.add(Command(.forgetAnswers, [.integer(instant.milliseconds)]))
        self.known.answers = [:]
    }
}

/// The writes of a batch that wait for its next request: one command a table, each with the rows of all changes.
struct PendingWrites {
    private var commits = [[Int64?]](repeating: [], count: 7)
    private var details: [[UInt8]] = []
    private var feedRevisions: [Int64?] = []
    private var feed: [[UInt8]] = []
    private var feedWriters: [Int64?] = []
    private var facts = [[Int64?]](repeating: [], count: 4)
    private var factBlobs: [[UInt8]] = []
    private var records: [AccountNumber: Record] = [:]
    /// Nil: the name is gone.
    private var aliases: [AccountKey: AccountNumber?] = [:]
    private var answers: [MutationKey: (kept: Int64, blob: [UInt8])] = [:]
    private var revocations: [String: RevokedToken] = [:]
    private var transactions: [TransactionRun] = []
    /// Whether a crossing is there in the end.
    private var crossings: [Crossing: Bool] = [:]
    /// Everything that is rare, in order.
    private var others: [Command] = []

    /// The last record of an account in this batch.
    private struct Record {
        var app: AppNumber
        var blob: [UInt8]
        /// The new due instant, if the batch moves it.
        var due: Instant??
    }

    private struct Crossing: Hashable {
        var app: AppNumber
        var entry: DueEntry
    }

    /// Writes of transactions in order: neighbours of one kind are one command.
    private enum TransactionRun {
        case inserts([[Int64?]])
        case finishes(apps: [Int64?], ids: [Int64?])
        case one(Command)
    }

    var isEmpty: Bool {
        self.feed.isEmpty && self.answers.isEmpty && self.others.isEmpty
    }

    mutating func removeAll() {
        if self.isEmpty { return }
        self = PendingWrites()
    }

    mutating func add(_ command: Command) {
        // In order with the kept answers and revoked tokens before it.
        self.others += self.takeAnswers() + self.takeRevocations()
        self.others.append(command)
    }

    mutating func keep(_ answer: KeptAnswer, for key: MutationKey) {
        self.answers[key] = (answer.kept.milliseconds, answer.sealed(to: key))
    }

    mutating func add(_ change: StoredChange, blob: [UInt8], writer: Int64, mark: UInt64, epoch: UInt32) {
        let revision = Int64(stored: change.revision)
        let row: [Int64] = [
            revision, change.committed.milliseconds, Int64(change.appNumber), Int64(bitPattern: mark), Int64(epoch),
            Int64(stored: change.nextTransaction), Int64(stored: change.nextAccount),
        ]
        for (column, value) in row.enumerated() { self.commits[column].append(value) }
        self.details.append(CommitDetail(of: change)?.sealed(revision: change.revision) ?? [])
        self.feedRevisions.append(revision)
        self.feed.append(blob)
        self.feedWriters.append(writer)
        for (ordinal, stored) in change.facts.enumerated() {
            let place = EventPlace(revision: change.revision, ordinal: UInt32(ordinal))
            let values = [Int64(stored: stored.account), revision, Int64(ordinal), stored.fact.event == nil ? 0 : 1]
            for (column, value) in values.enumerated() { self.facts[column].append(value) }
            self.factBlobs.append(stored.sealed(at: place))
            self.add(stored.fact.rowWrite, at: place, account: stored.account, app: change.appNumber)
        }
        for stored in change.records {
            let record = stored.record
            var entry = Record(app: record.app, blob: record.sealed(), due: self.records[record.account]?.due)
            if stored.due != stored.previousDue { entry.due = .some(stored.due) }
            self.records[record.account] = entry
        }
        for moves in change.crossings {
            for (instants, isThere) in [(moves.removed, false), (moves.added, true)] {
                for instant in instants {
                    let entry = DueEntry(instant: instant, account: moves.account)
                    self.crossings[Crossing(app: change.appNumber, entry: entry)] = isThere
                }
            }
        }
        for (key, account) in change.aliases { self.aliases[key] = account }
        if let side = change.side { self.add(side) }
        if let erasure = change.side?.erasure { self.erase(erasure, before: revision) }
        if let app = change.app { self.add(app) }
        if let app = change.app, let images = change.images { self.add(images, of: app.state.number) }
        for token in change.revoked { self.revocations[token.id] = token }
        if let keyed = change.answer?.value { self.keep(keyed.answer, for: keyed.key) }
    }

    private mutating func add(_ write: TransactionWrite?, at place: EventPlace, account: AccountNumber, app: AppNumber)
    {
        let app = Int64(app)
        switch write {
        case .insert(let transaction):
            let row: [Int64] = [
                app, Int64(stored: transaction.id), Int64(stored: account), transaction.purchaseDate.milliseconds,
                Self.spends(transaction), Self.mark(ofProduct: transaction.productID), Int64(stored: place.revision),
                Int64(place.ordinal),
            ]
            if case .inserts(var columns)? = self.transactions.last {
                self.transactions.removeLast()
                for (column, value) in row.enumerated() { columns[column].append(value) }
                self.transactions.append(.inserts(columns))
            } else {
                self.transactions.append(.inserts(row.map { [$0] }))
            }
        case .finish(let id):
            if case .finishes(var apps, var ids)? = self.transactions.last {
                self.transactions.removeLast()
                apps.append(app)
                ids.append(Int64(stored: id))
                self.transactions.append(.finishes(apps: apps, ids: ids))
            } else {
                self.transactions.append(.finishes(apps: [app], ids: [Int64(stored: id)]))
            }
        case .update(let transaction):
            self.transactions.append(
                .one(
                    Command(
                        .updateTransaction,
                        [
                            .integer(app), .integer(Int64(stored: transaction.id)),
                            .integer(transaction.purchaseDate.milliseconds), .integer(Self.spends(transaction)),
                            .integer(Self.mark(ofProduct: transaction.productID)),
                            .integer(Int64(stored: place.revision)),
                            .integer(Int64(place.ordinal)),
                        ])))
        case .delete(let id):
            self.transactions.append(
                .one(Command(.deleteTransaction, [.integer(app), .integer(Int64(stored: id))])))
        case .deleteAll:
            self.transactions.append(
                .one(Command(.deleteTransactions, [.integer(app), .integer(Int64(stored: account))])))
        case .rewrite(let remove, let add):
            for id in remove {
                let values: [Value] = [.integer(app), .integer(Int64(stored: id)), .number(account)]
                self.transactions.append(.one(Command(.deleteOwnTransaction, values)))
            }
            for transaction in add {
                self.transactions.append(
                    .one(
                        Command(
                            .putTransaction,
                            [
                                .integer(app), .integer(Int64(stored: transaction.id)), .number(account),
                                .integer(transaction.purchaseDate.milliseconds), .integer(Self.spends(transaction)),
                                .integer(Self.mark(ofProduct: transaction.productID)),
                                .bytes(transaction.sealed(account: account)),
                            ])))
            }
        case nil:
            break
        }
    }

    private mutating func add(_ side: SideWrites) {
        for item in side.items {
            self.others.append(Command(.setItem, PostgresStorage.values(item.key) + [.bytes(item.sealed())]))
        }
        for key in side.removedItems { self.others.append(Command(.removeItem, PostgresStorage.values(key))) }
        for key in side.removedAliases { self.aliases[key] = .some(nil) }
    }

    /// What the change itself writes of the accounts stays: its facts are later.
    private mutating func erase(_ erasure: Erasure, before revision: Int64) {
        for account in erasure.accounts {
            self.add(Command(.eraseFacts, [.number(account), .integer(revision)]))
            self.add(Command(.eraseTransactions, [.number(account)]))
        }
        for key in erasure.answers {
            self.add(Command(.deleteAnswer, [.integer(Int64(key.app)), .bytes(key.bytes)]))
        }
        for edit in erasure.commits {
            let detail = edit.detail?.sealed(revision: edit.revision) ?? []
            self.add(Command(.setDetail, [.number(edit.revision), .bytes(detail)]))
        }
    }

    /// Whether the transaction is no longer listed once it is finished: see `TransactionQuery.includes`.
    private static func spends(_ transaction: Transaction) -> Int64 {
        transaction.productType == .consumable && transaction.revocation == nil ? 1 : 0
    }

    /// The checksum of a product's identifier: see `Schema`.
    static func mark(ofProduct id: String) -> Int64 { Int64(CRC32C.checksum(Array(id.utf8))) }

    private mutating func add(_ app: StoredAppState) {
        let state = app.state
        let (number, revision) = (
            Value.integer(Int64(state.number)), Value.integer(Int64(stored: state.catalogueRevision))
        )
        // A state with an earlier catalogue finds it stored.
        let catalogue = state.catalogue.sealed(app: state.number, revision: state.catalogueRevision)
        let effective = Value.integer(state.effective.milliseconds)
        let own = Value.integer(Int64(stored: state.revision))
        self.others += [
            Command(.insertCatalogue, [number, revision, .bytes(catalogue)]),
            Command(.insertAppState, [number, effective, own, revision, .bytes(app.sealed())]),
            Command(.setApp, [number, effective, own]),
        ]
    }

    private mutating func add(_ images: [ImageContent], of app: AppNumber) {
        let number = Value.integer(Int64(app))
        self.others.append(Command(.deleteImages, [number, .blobs(images.map(\.hash.bytes))]))
        for image in images {
            self.others.append(
                Command(.insertImage, [number, .bytes(image.hash.bytes), .bytes(image.sealed(app: app))]))
        }
    }

    // MARK: Commands

    /// Each table's rows, in an order of keys that is the same on every node.
    var commands: [Command] {
        var copy = self
        var commands: [Command] = []
        if !copy.commits[0].isEmpty {
            commands.append(Command(.insertCommits, copy.commits.map { .integers($0) } + [.blobs(copy.details)]))
            commands.append(
                Command(.insertFeed, [.integers(copy.feedRevisions), .blobs(copy.feed), .integers(copy.feedWriters)]))
        }
        if !copy.factBlobs.isEmpty {
            commands.append(Command(.insertFacts, copy.facts.map { .integers($0) } + [.blobs(copy.factBlobs)]))
        }
        commands += copy.recordCommands
        if !copy.aliases.isEmpty {
            let named = copy.aliases.compactMap { key, account in account.map { (key: key, account: $0) } }
            commands.append(
                Command(
                    .setAliases,
                    [
                        .integers(named.map { Int64($0.key.app) }), .blobs(named.map(\.key.bytes)),
                        .integers(named.map { Int64(stored: $0.account) }),
                    ]))
            let gone = copy.aliases.compactMap { key, account in account == nil ? key : nil }
            if !gone.isEmpty {
                commands.append(
                    Command(.removeAliases, [.integers(gone.map { Int64($0.app) }), .blobs(gone.map(\.bytes))]))
            }
        }
        for run in copy.transactions {
            switch run {
            case .inserts(let columns): commands.append(Command(.insertTransactions, columns.map { .integers($0) }))
            case .finishes(let apps, let ids):
                commands.append(Command(.finishTransactions, [.integers(apps), .integers(ids)]))
            case .one(let command): commands.append(command)
            }
        }
        commands += copy.crossingCommands
        return commands + copy.others + copy.takeAnswers() + copy.takeRevocations()
    }

    private var crossingCommands: [Command] {
        guard !self.crossings.isEmpty else { return [] }
        func columns(_ isThere: Bool) -> [Value] {
            let own = self.crossings.filter { $0.value == isThere }.map(\.key)
            return [
                .integers(own.map { Int64($0.app) }), .integers(own.map(\.entry.instant.milliseconds)),
                .integers(own.map { Int64(stored: $0.entry.account) }),
            ]
        }
        return [Command(.deleteCrossings, columns(false)), Command(.insertCrossings, columns(true))]
    }

    private var recordCommands: [Command] {
        var commands: [Command] = []
        let sorted = self.records.sorted { $0.key < $1.key }
        func columns(_ rows: [(key: AccountNumber, value: Record)]) -> [Value] {
            [
                .integers(rows.map { Int64(stored: $0.key) }), .integers(rows.map { Int64($0.value.app) }),
                .blobs(rows.map(\.value.blob)),
            ]
        }
        let staying = sorted.filter { $0.value.due == nil }
        if !staying.isEmpty { commands.append(Command(.setRecords, columns(staying))) }
        let moving = sorted.filter { $0.value.due != nil }
        if !moving.isEmpty {
            let due = moving.map { row -> Int64? in
                guard case .some(.some(let instant)) = row.value.due else { return nil }
                return instant.milliseconds
            }
            commands.append(Command(.setDueRecords, columns(moving) + [.integers(due)]))
        }
        return commands
    }

    private mutating func takeAnswers() -> [Command] {
        guard !self.answers.isEmpty else { return [] }
        let rows = self.answers.map { $0 }
        self.answers = [:]
        return [
            Command(
                .setAnswers,
                [
                    .integers(rows.map { Int64($0.key.app) }), .blobs(rows.map(\.key.bytes)),
                    .integers(rows.map(\.value.kept)), .blobs(rows.map(\.value.blob)),
                ])
        ]
    }

    private mutating func takeRevocations() -> [Command] {
        guard !self.revocations.isEmpty else { return [] }
        let tokens = Array(self.revocations.values)
        self.revocations = [:]
        return [
            Command(
                .setRevocations,
                [
                    .blobs(tokens.map { Array($0.id.utf8) }), .integers(tokens.map(\.expires.milliseconds)),
                    .blobs(tokens.map { $0.sealed() }),
                ])
        ]
    }
}
