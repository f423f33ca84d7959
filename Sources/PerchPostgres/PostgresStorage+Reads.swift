package import PerchBase
package import PerchModel
package import PerchStore

extension PostgresStorage {
    package func appStates() throws(StorageError) -> [StoredAppState] {
        let rows = try self.read(.apps, [])
        var states: [StoredAppState] = []
        for row in 0..<rows.count {
            let app = AppNumber(truncatingIfNeeded: rows.int64(row, 0))
            let effective = Instant(milliseconds: rows.int64(row, 1))
            guard let state = try self.appState(app, inForceAt: effective) else {
                throw .corrupt("app \(app) has no state")
            }
            states.append(state)
        }
        return states
    }

    package func appState(_ app: AppNumber, inForceAt instant: Instant) throws(StorageError) -> StoredAppState? {
        try self.appState(app, .appStateInForce, .integer(instant.milliseconds))
    }

    package func appState(_ app: AppNumber, at revision: UInt64) throws(StorageError) -> StoredAppState? {
        try self.appState(app, .appStateAt, .number(revision))
    }

    private func appState(_ app: AppNumber, _ query: Query, _ bound: Value) throws(StorageError) -> StoredAppState? {
        let rows = try self.read(query, [.integer(Int64(app)), bound])
        if rows.isEmpty { return nil }
        let (revision, catalogueRevision) = (rows.uint64(0, 0), rows.uint64(0, 1))
        let catalogue = try self.catalogue(of: app, revision: catalogueRevision)
        return try Self.unsealing("a state of app \(app)") { () throws(DecodingFault) in
            try StoredAppState.unsealed(
                rows.bytes(0, 2), app: app, revision: revision, catalogueRevision: catalogueRevision,
                catalogue: catalogue)
        }
    }

    func catalogue(of app: AppNumber, revision: UInt64) throws(StorageError) -> Catalogue {
        if let latest = self.latestCatalogue, latest.app == app, latest.revision == revision { return latest.catalogue }
        let rows = try self.read(.catalogue, [.integer(Int64(app)), .number(revision)])
        guard !rows.isEmpty else { throw .corrupt("app \(app) has no catalogue of revision \(revision)") }
        let catalogue = try Self.unsealing("a catalogue of app \(app)") { () throws(DecodingFault) in
            try Catalogue.unsealed(rows.bytes(0, 0), app: app, revision: revision)
        }
        self.latestCatalogue = (app, revision, catalogue)
        return catalogue
    }

    package func image(_ app: AppNumber, _ hash: ContentHash) throws(StorageError) -> [UInt8]? {
        let rows = try self.read(.image, [.integer(Int64(app)), .bytes(hash.bytes)])
        if rows.isEmpty { return nil }
        return try Self.unsealing("an image of app \(app)") { () throws(DecodingFault) in
            try ImageContent.unsealed(rows.bytes(0, 0), app: app, hash: hash)
        }
    }

    package func account(_ key: AccountKey) throws(StorageError) -> AccountNumber? {
        if let known = self.known.accounts[key] { return known }
        let rows = try self.read(.planKeys, [.integers([Int64(key.app)]), .blobs([key.bytes])])
        return rows.isEmpty ? nil : rows.uint64(0, 1)
    }

    package func keys(of app: AppNumber, after key: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]] {
        guard limit > 0 else { return [] }
        let rows = try self.read(.keysOfApp, [.integer(Int64(app)), .bytes(key), .integer(Int64(limit))])
        return (0..<rows.count).map { rows.bytes($0, 0) }
    }

    package func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        if let known = self.known.records[account] { return known }
        let rows = try self.read(.planRecords, [.integers([Int64(clamping: account)])])
        return rows.isEmpty ? nil : try Self.record(rows.bytes(0, 1), of: account)
    }

    package func records(
        from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber) {
        let rows = try self.read(
            .recordsFrom,
            [.number(account), .number(end), .integer(Int64(limit))])
        var records: [AccountRecord] = []
        for row in 0..<rows.count { records.append(try Self.record(rows.bytes(row, 1), of: rows.uint64(row, 0))) }
        return (records, rows.count < limit ? end : rows.uint64(rows.count - 1, 0) + 1)
    }

    static func record(_ blob: [UInt8], of account: AccountNumber) throws(StorageError) -> AccountRecord {
        try Self.unsealing("the record of account \(account)") { () throws(DecodingFault) in
            try AccountRecord(unsealing: blob, of: account)
        }
    }

    package func transaction(_ app: AppNumber, _ id: TransactionID) throws(StorageError) -> TransactionRow? {
        let name = ReadPlan.TransactionName(app: app, id: id)
        if let known = self.known.transactions[name] { return known }
        let rows = try self.read(.planTransactions, [.integers([Int64(app)]), .integers([Int64(clamping: id)])])
        return rows.isEmpty ? nil : try Self.transaction(name, rows, 0)
    }

    /// A row of `Query.planTransactions`.
    static func transaction(
        _ name: ReadPlan.TransactionName, _ rows: Rows, _ row: Int
    ) throws(StorageError) -> TransactionRow {
        let place = EventPlace(revision: rows.uint64(row, 4), ordinal: UInt32(truncatingIfNeeded: rows.int64(row, 5)))
        return try Self.row(
            name.id, account: rows.uint64(row, 1), isFinished: rows.int64(row, 3) != 0, at: place,
            fact: rows.isNull(row, 6) ? nil : rows.bytes(row, 6), own: rows.bytes(row, 7))
    }

    private static func row(
        _ id: TransactionID, account: AccountNumber, isFinished: Bool, at place: EventPlace, fact blob: [UInt8]?,
        own: [UInt8]
    ) throws(StorageError) -> TransactionRow {
        guard own.isEmpty else {
            let transaction = try Self.unsealing("transaction \(id)") { () throws(DecodingFault) in
                try Transaction(unsealing: own, id: id, account: account)
            }
            return TransactionRow(account: account, transaction: transaction, isFinished: isFinished)
        }
        guard let blob else { throw .corrupt("transaction \(id) names a fact that is missing") }
        let fact = try Self.fact(at: place, account: account, blob: blob).fact
        switch fact.rowWrite {
        case .insert(let transaction) where transaction.id == id, .update(let transaction) where transaction.id == id:
            return TransactionRow(account: account, transaction: transaction, isFinished: isFinished)
        default:
            throw .corrupt("transaction \(id) is not in the fact at \(place.revision)/\(place.ordinal)")
        }
    }

    package func transactions(
        of account: AccountNumber, _ query: TransactionQuery
    ) throws(StorageError) -> [TransactionRow] {
        var rows: [TransactionRow] = []
        guard query.limit > 0 else { return rows }
        // Without a place the comparison starts before, or after, all rows.
        var edge: (Int64, Int64) = query.isNewestFirst ? (.max, .max) : (.min, -1)
        if let after = query.after { edge = (after.purchaseDate.milliseconds, Int64(clamping: after.id)) }
        let statement: Query =
            if query.unfinishedOnly {
                query.isNewestFirst ? .unfinishedNewestFirst : .unfinishedOldestFirst
            } else if query.includesFinishedConsumables {
                query.isNewestFirst ? .allNewestFirst : .allOldestFirst
            } else {
                query.isNewestFirst ? .listedNewestFirst : .listedOldestFirst
            }
        let product = query.productID.map { Value.integer(PendingWrites.mark(ofProduct: $0)) } ?? .null
        while true {
            let wanted = query.limit - rows.count
            let found = try self.read(
                statement, [.number(account), .integer(edge.0), .integer(edge.1), product, .integer(Int64(wanted))])
            for row in 0..<found.count {
                let place = EventPlace(
                    revision: found.uint64(row, 3), ordinal: UInt32(truncatingIfNeeded: found.int64(row, 4)))
                let next = try Self.row(
                    found.uint64(row, 1), account: account, isFinished: found.int64(row, 2) != 0, at: place,
                    fact: found.isNull(row, 5) ? nil : found.bytes(row, 5), own: found.bytes(row, 6))
                // The statement's own filter may let another product through whose mark is the same.
                if query.includes(next) { rows.append(next) }
                edge = (found.int64(row, 0), found.int64(row, 1))
            }
            if found.count < wanted || rows.count == query.limit { return rows }
        }
    }

    package func events(
        of account: AccountNumber, after place: EventPlace, limit: Int
    ) throws(StorageError) -> [AccountEvent] {
        guard limit > 0 else { return [] }
        let rows = try self.read(
            .eventsOfAccount,
            [.number(account), .number(place.revision), .integer(Int64(place.ordinal)), .integer(Int64(limit))])
        var events: [AccountEvent] = []
        for row in 0..<rows.count {
            let place = EventPlace(
                revision: rows.uint64(row, 0), ordinal: UInt32(truncatingIfNeeded: rows.int64(row, 1)))
            let stored = try Self.fact(at: place, account: account, blob: rows.bytes(row, 3))
            guard let event = stored.fact.event else {
                throw .corrupt("the fact at \(place.revision)/\(place.ordinal) is filed as an event, and is none")
            }
            events.append(
                AccountEvent(
                    place: place, committed: Instant(milliseconds: rows.int64(row, 2)), transaction: event.transaction,
                    kind: event.kind, origin: stored.origin))
        }
        return events
    }

    package func facts(of account: AccountNumber) throws(StorageError) -> [Fact] {
        try Self.facts(try self.read(.factsOfAccount, [.number(account)]), of: account).map(\.fact)
    }

    package func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) throws(StorageError) -> [DatedFact] {
        let bound: [Value] = [.number(account), .number(first), .number(revision), .integer(Int64(limit))]
        return try Self.facts(try self.read(.factsThrough, bound), of: account)
    }

    package func facts(ofRevision revision: UInt64) throws(StorageError) -> [StoredFact] {
        if let known = self.known.facts[revision] { return known }
        return try self.facts(after: revision - min(revision, 1), through: revision)[revision] ?? []
    }

    /// The facts of revisions, each list in order.
    private func facts(after first: UInt64, through last: UInt64) throws(StorageError) -> [UInt64: [StoredFact]] {
        let rows = try self.read(.factsOfRevisions, [.number(first), .number(last)])
        var facts: [UInt64: [StoredFact]] = [:]
        for row in 0..<rows.count {
            let place = EventPlace(
                revision: rows.uint64(row, 0), ordinal: UInt32(truncatingIfNeeded: rows.int64(row, 1)))
            facts[place.revision, default: []].append(
                try Self.fact(at: place, account: rows.uint64(row, 3), blob: rows.bytes(row, 2)))
        }
        return facts
    }

    /// No further than the engine has applied: what other nodes have committed since is for the next tick. The facts of the rows
    /// come with them.
    package func commitRows(after revision: UInt64, limit: Int) throws(StorageError) -> [CommitRow]? {
        guard limit > 0 else { return [] }
        let bound: [Value] = [.number(revision), .number(self.currentHeader.revision), .integer(Int64(limit))]
        let rows = try self.read(.commitsAfter, bound)
        var commits: [CommitRow] = []
        for row in 0..<rows.count {
            let own = rows.uint64(row, 0)
            let blob = rows.bytes(row, 5)
            var detail: CommitDetail?
            if !blob.isEmpty {
                detail = try Self.unsealing("the commit of revision \(own)") { () throws(DecodingFault) in
                    try CommitDetail(unsealing: blob, revision: own)
                }
            }
            commits.append(
                CommitRow(
                    revision: own, committed: Instant(milliseconds: rows.int64(row, 1)),
                    app: AppNumber(truncatingIfNeeded: rows.int64(row, 2)), nextTransaction: rows.uint64(row, 3),
                    nextAccount: rows.uint64(row, 4), detail: detail))
        }
        guard let last = commits.last?.revision else { return commits }
        var facts = try self.facts(after: revision, through: last)
        for commit in commits where facts[commit.revision] == nil { facts[commit.revision] = [] }
        self.known.facts = facts
        return commits
    }

    package func key(of account: AccountNumber) throws(StorageError) -> [UInt8]? {
        let rows = try self.read(.keyOfAccount, [.number(account)])
        return rows.isEmpty ? nil : rows.bytes(0, 0)
    }

    package func names(of account: AccountNumber) throws(StorageError) -> [AccountKey] {
        let rows = try self.read(.namesOfAccount, [.number(account)])
        return (0..<rows.count).map {
            AccountKey(app: AppNumber(clamping: rows.int64($0, 0)), bytes: rows.bytes($0, 1))
        }
    }

    package func names(of accounts: [AccountNumber]) throws(StorageError) -> [[AccountKey]] {
        if accounts.isEmpty { return [] }
        let rows = try self.read(.namesOfAccounts, [.integers(accounts.map { Int64(clamping: $0) })])
        var names: [AccountNumber: [AccountKey]] = [:]
        for row in 0..<rows.count {
            let key = AccountKey(app: AppNumber(clamping: rows.int64(row, 1)), bytes: rows.bytes(row, 2))
            names[rows.uint64(row, 0), default: []].append(key)
        }
        return accounts.map { names[$0] ?? [] }
    }

    package func answers(keptAt instant: Instant) throws(StorageError) -> [KeyedAnswer] {
        let rows = try self.read(.answersKeptAt, [.integer(instant.milliseconds)])
        var answers: [KeyedAnswer] = []
        for row in 0..<rows.count {
            let key = MutationKey(app: AppNumber(clamping: rows.int64(row, 0)), bytes: rows.bytes(row, 1))
            answers.append(KeyedAnswer(key: key, answer: try Self.answer(rows.bytes(row, 2), to: key)))
        }
        return answers
    }

    package func crossings(
        _ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int
    ) throws(StorageError) -> [DueEntry] {
        guard limit > 0 else { return [] }
        let rows = try self.read(
            .crossingsAfter,
            [
                .integer(Int64(app)), .integer(entry.instant.milliseconds), .number(entry.account),
                .integer(instant.milliseconds), .integer(Int64(limit)),
            ])
        return (0..<rows.count).map {
            DueEntry(instant: Instant(milliseconds: rows.int64($0, 0)), account: rows.uint64($0, 1))
        }
    }

    private static func facts(_ rows: Rows, of account: AccountNumber) throws(StorageError) -> [DatedFact] {
        var facts: [DatedFact] = []
        for row in 0..<rows.count {
            let place = EventPlace(
                revision: rows.uint64(row, 0), ordinal: UInt32(truncatingIfNeeded: rows.int64(row, 1)))
            let stored = try Self.fact(at: place, account: account, blob: rows.bytes(row, 2))
            facts.append(DatedFact(revision: place.revision, fact: stored.fact))
        }
        return facts
    }

    static func fact(at place: EventPlace, account: AccountNumber, blob: [UInt8]) throws(StorageError) -> StoredFact {
        try Self.unsealing("the fact at \(place.revision)/\(place.ordinal)") { () throws(DecodingFault) in
            try StoredFact(unsealing: blob, at: place, account: account)
        }
    }

    package func commitTime(of revision: UInt64) throws(StorageError) -> Instant? {
        let rows = try self.read(.commitTime, [.number(revision)])
        return rows.isEmpty ? nil : Instant(milliseconds: rows.int64(0, 0))
    }

    package func due(_ app: AppNumber, through instant: Instant, limit: Int) throws(StorageError) -> [DueEntry] {
        guard limit > 0 else { return [] }
        let rows = try self.read(
            .dueThrough, [.integer(Int64(app)), .integer(instant.milliseconds), .integer(Int64(limit))])
        return (0..<rows.count).map {
            DueEntry(instant: Instant(milliseconds: rows.int64($0, 0)), account: rows.uint64($0, 1))
        }
    }

    package func earliestDue(_ app: AppNumber) throws(StorageError) -> Instant? {
        let rows = try self.read(.earliestDue, [.integer(Int64(app))])
        return rows.isEmpty ? nil : Instant(milliseconds: rows.int64(0, 0))
    }

    package func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer? {
        if let known = self.known.answers[key] { return known }
        let rows = try self.read(.planAnswers, [.integers([Int64(key.app)]), .blobs([key.bytes])])
        return rows.isEmpty ? nil : try Self.answer(rows.bytes(0, 1), to: key)
    }

    static func answer(_ blob: [UInt8], to key: MutationKey) throws(StorageError) -> KeptAnswer {
        try Self.unsealing("an answer") { () throws(DecodingFault) in try KeptAnswer(unsealing: blob, to: key) }
    }

    package func revokedTokens() throws(StorageError) -> [RevokedToken] {
        let rows = try self.read(.revocations, [])
        var tokens: [RevokedToken] = []
        for row in 0..<rows.count {
            let id = rows.bytes(row, 0)
            tokens.append(
                try Self.unsealing("a revocation") { () throws(DecodingFault) in
                    try RevokedToken(unsealing: rows.bytes(row, 1), id: id)
                })
        }
        return tokens
    }

    /// Opens a blob. A blob that does not open is damaged or newer; the message says which.
    static func unsealing<Result>(
        _ what: String, _ open: () throws(DecodingFault) -> Result
    ) throws(StorageError) -> Result {
        do throws(DecodingFault) {
            return try open()
        } catch {
            throw StorageError(error, in: what)
        }
    }
}
