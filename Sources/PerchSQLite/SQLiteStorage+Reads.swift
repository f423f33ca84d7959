package import PerchBase
package import PerchModel
package import PerchStore

extension SQLiteStorage {
    package func appStates() throws(StorageError) -> [StoredAppState] {
        var newest: [(app: AppNumber, effective: Instant)] = []
        try self.run(.apps, []) { (row) throws(StorageError) in
            newest.append((AppNumber(truncatingIfNeeded: row.int64(0)), Instant(milliseconds: row.int64(1))))
            return true
        }
        return try newest.map { (app, effective) throws(StorageError) in
            guard let state = try self.appState(app, inForceAt: effective) else {
                throw .corrupt("app \(app) has no state")
            }
            return state
        }
    }

    package func appState(_ app: AppNumber, inForceAt instant: Instant) throws(StorageError) -> StoredAppState? {
        try self.appState(app, .appStateInForce, [.integer(Int64(app)), .integer(instant.milliseconds)])
    }

    package func appState(_ app: AppNumber, at revision: UInt64) throws(StorageError) -> StoredAppState? {
        try self.appState(app, .appStateAt, [.integer(Int64(app)), .number(revision)])
    }

    private func appState(
        _ app: AppNumber, _ query: Query, _ values: [Statement.Value]
    ) throws(StorageError) -> StoredAppState? {
        let found = try self.first(query, values) { (row) throws(StorageError) in
            (revision: row.uint64(0), catalogueRevision: row.uint64(1), blob: row.bytes(2))
        }
        guard let found else { return nil }
        let catalogue = try self.catalogue(of: app, revision: found.catalogueRevision)
        return try Self.unsealing("a state of app \(app)") { () throws(DecodingFault) in
            try StoredAppState.unsealed(
                found.blob, app: app, revision: found.revision,
                catalogueRevision: found.catalogueRevision, catalogue: catalogue)
        }
    }

    private func catalogue(of app: AppNumber, revision: UInt64) throws(StorageError) -> Catalogue {
        if let latest = self.latestCatalogue, latest.app == app, latest.revision == revision {
            return latest.catalogue
        }
        let blob = try self.first(.catalogue, [.integer(Int64(app)), .number(revision)]) { $0.bytes(0) }
        guard let blob else { throw .corrupt("app \(app) has no catalogue of revision \(revision)") }
        let catalogue = try Self.unsealing("a catalogue of app \(app)") { () throws(DecodingFault) in
            try Catalogue.unsealed(blob, app: app, revision: revision)
        }
        self.latestCatalogue = (app, revision, catalogue)
        return catalogue
    }

    package func image(_ app: AppNumber, _ hash: ContentHash) throws(StorageError) -> [UInt8]? {
        try self.first(.image, [.integer(Int64(app)), .bytes(hash.bytes)]) { (row) throws(StorageError) in
            try Self.unsealing("an image of app \(app)") { () throws(DecodingFault) in
                try ImageContent.unsealed(row.bytes(0), app: app, hash: hash)
            }
        }
    }

    package func account(_ key: AccountKey) throws(StorageError) -> AccountNumber? {
        try self.first(.accountOfAlias, [.integer(Int64(key.app)), .bytes(key.bytes)]) { $0.uint64(0) }
    }

    package func key(of account: AccountNumber) throws(StorageError) -> [UInt8]? {
        try self.first(.keyOfAccount, [.number(account)]) { $0.bytes(0) }
    }

    package func names(of account: AccountNumber) throws(StorageError) -> [AccountKey] {
        var names: [AccountKey] = []
        try self.run(.namesOfAccount, [.number(account)]) { (row) throws(StorageError) in
            names.append(AccountKey(app: AppNumber(clamping: row.int64(0)), bytes: row.bytes(1)))
            return true
        }
        return names
    }

    /// In one pass over the index, where the accounts ascend and stand close together.
    package func names(of accounts: [AccountNumber]) throws(StorageError) -> [[AccountKey]] {
        guard let first = accounts.first, let last = accounts.last, first <= last,
            last - first <= 4 * AccountNumber(accounts.count)
        else { return try accounts.map { account throws(StorageError) in try self.names(of: account) } }
        var names = [[AccountKey]](repeating: [], count: accounts.count)
        var place = 0
        try self.run(.namesOfAccounts, [.number(first), .number(last)]) { (row) throws(StorageError) in
            let account = row.uint64(0)
            while accounts[place] < account { place += 1 }
            guard accounts[place] == account else { return true }
            names[place].append(AccountKey(app: AppNumber(clamping: row.int64(1)), bytes: row.bytes(2)))
            return true
        }
        return names
    }

    package func keys(of app: AppNumber, after key: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        guard limit > 0 else { return keys }
        try self.run(.keysOfApp, [.integer(Int64(app)), .bytes(key)]) { (row) throws(StorageError) in
            keys.append(row.bytes(0))
            return keys.count < limit
        }
        return keys
    }

    package func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord? {
        try self.first(.record, [.number(account)]) { (row) throws(StorageError) in
            try Self.unsealing("a record") { () throws(DecodingFault) in
                try AccountRecord(unsealing: row.bytes(0), of: account)
            }
        }
    }

    /// Numbers have gaps: those of a restored store begin far behind the ones before.
    package func records(
        from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber) {
        var records: [AccountRecord] = []
        var next = account
        for _ in 0..<limit {
            let found = try self.first(.nextAccount, [.number(next)]) { (row) throws(StorageError) in
                row.uint64(0)
            }
            guard let found, found < end else { return (records, end) }
            if let record = try self.record(found) { records.append(record) }
            next = found + 1
        }
        return (records, next)
    }

    package func transaction(_ app: AppNumber, _ id: TransactionID) throws(StorageError) -> TransactionRow? {
        guard let place = try self.place(of: id, app: app) else { return nil }
        let row = try self.first(.transaction, place.key) { (row) throws(StorageError) in
            try Self.row(row, account: place.account)
        }
        guard let row else { throw .corrupt("transaction \(id) of app \(app) is not where its account has it") }
        return row
    }

    /// Where a transaction stands among its account's rows.
    struct TransactionPlace {
        var id: TransactionID
        var account: AccountNumber
        var purchaseDate: Instant
        /// As in `Schema`: 0 unfinished, 1 finished, 2 spent.
        var state: Int64
        var spends: Bool

        /// The kind of its row in `accounts`.
        var kind: Int64 { EntryKind.unfinished.rawValue - self.state }
        /// The key of that row.
        var key: [Statement.Value] {
            [
                .stored(self.account), .integer(self.kind), .integer(self.purchaseDate.milliseconds),
                .stored(self.id),
            ]
        }
    }

    func place(of id: TransactionID, app: AppNumber) throws(StorageError) -> TransactionPlace? {
        try self.first(.place, [.integer(Int64(app)), .number(id)]) { row in
            TransactionPlace(
                id: id, account: row.uint64(0), purchaseDate: Instant(milliseconds: row.int64(1)),
                state: row.int64(2), spends: row.int64(3) != 0)
        }
    }

    package func transactions(
        of account: AccountNumber, _ query: TransactionQuery
    ) throws(StorageError) -> [TransactionRow] {
        // Without a place the comparison starts before, or after, all rows.
        let edge: (Int64, Int64) = query.isNewestFirst ? (.max, .max) : (.min, -1)
        let place = query.after.map { ($0.purchaseDate.milliseconds, Int64(clamping: $0.id)) } ?? edge
        let values: [Statement.Value] = [
            .number(account), .integer(place.0), .integer(place.1),
            query.productID.map { .integer(Self.mark(ofProduct: $0)) } ?? .null,
        ]
        let statement: Query =
            if query.unfinishedOnly {
                query.isNewestFirst ? .unfinishedNewestFirst : .unfinishedOldestFirst
            } else if query.includesFinishedConsumables {
                query.isNewestFirst ? .allNewestFirst : .allOldestFirst
            } else {
                query.isNewestFirst ? .listedNewestFirst : .listedOldestFirst
            }
        var rows: [TransactionRow] = []
        guard query.limit > 0 else { return rows }
        try self.run(statement, values) { (row) throws(StorageError) in
            let found = try Self.row(row, account: account)
            // The statement's own filter may let another product through whose mark is the same.
            if query.includes(found) { rows.append(found) }
            return rows.count < query.limit
        }
        return rows
    }

    /// A row of `Query.entries`.
    static func row(_ row: Statement, account: AccountNumber) throws(StorageError) -> TransactionRow {
        let id = row.uint64(1)
        let isFinished = row.int64(2) != EntryKind.unfinished.rawValue
        guard row.isNull(6) else {
            return try Self.row(id: id, account: account, isFinished: isFinished, blob: row.bytes(6))
        }
        let place = EventPlace(revision: row.uint64(3), ordinal: UInt32(truncatingIfNeeded: row.int64(4)))
        let fact = try Self.fact(at: place, account: account, blob: row.bytes(5)).fact
        switch fact.rowWrite {
        case .insert(let transaction) where transaction.id == id, .update(let transaction) where transaction.id == id:
            return TransactionRow(account: account, transaction: transaction, isFinished: isFinished)
        default:
            throw .corrupt("transaction \(id) is not in the fact at \(place.revision)/\(place.ordinal)")
        }
    }

    /// A transaction with a blob of its own, as schema 5 wrote all of them.
    static func row(
        id: TransactionID, account: AccountNumber, isFinished: Bool, blob: [UInt8]
    ) throws(StorageError) -> TransactionRow {
        let transaction = try Self.unsealing("transaction \(id)") { () throws(DecodingFault) in
            try Transaction(unsealing: blob, id: id, account: account)
        }
        return TransactionRow(account: account, transaction: transaction, isFinished: isFinished)
    }

    /// The checksum of a product's identifier in an index: see `Schema`.
    static func mark(ofProduct id: String) -> Int64 { Int64(CRC32C.checksum(Array(id.utf8))) }

    package func events(
        of account: AccountNumber, after place: EventPlace, limit: Int
    ) throws(StorageError) -> [AccountEvent] {
        var events: [AccountEvent] = []
        guard limit > 0 else { return events }
        let values: [Statement.Value] = [
            .number(account), .integer(-Int64(clamping: place.revision)), .integer(-Int64(place.ordinal)),
        ]
        try self.run(.eventsOfAccount, values) { (row) throws(StorageError) in
            let place = EventPlace(revision: row.uint64(0), ordinal: UInt32(truncatingIfNeeded: row.int64(1)))
            let stored = try Self.fact(at: place, account: account, blob: row.bytes(3))
            guard let event = stored.fact.event else {
                throw .corrupt("the fact at \(place.revision)/\(place.ordinal) is filed as an event, and is none")
            }
            events.append(
                AccountEvent(
                    place: place, committed: Instant(milliseconds: row.int64(2)), transaction: event.transaction,
                    kind: event.kind, origin: stored.origin))
            return events.count < limit
        }
        return events
    }

    package func facts(of account: AccountNumber) throws(StorageError) -> [Fact] {
        var facts: [Fact] = []
        try self.run(.factsOfAccount, [.number(account)]) { (row) throws(StorageError) in
            let place = EventPlace(revision: row.uint64(0), ordinal: UInt32(truncatingIfNeeded: row.int64(1)))
            facts.append(try Self.fact(at: place, account: account, blob: row.bytes(2)).fact)
            return true
        }
        return facts
    }

    package func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) throws(StorageError) -> [DatedFact] {
        var facts: [DatedFact] = []
        let bound: [Statement.Value] = [
            .number(account), .number(first), .number(revision), .integer(Int64(limit)),
        ]
        try self.run(.factsThrough, bound) { (row) throws(StorageError) in
            let place = EventPlace(revision: row.uint64(0), ordinal: UInt32(truncatingIfNeeded: row.int64(1)))
            let stored = try Self.fact(at: place, account: account, blob: row.bytes(2))
            facts.append(DatedFact(revision: place.revision, fact: stored.fact))
            return true
        }
        return facts
    }

    static func fact(
        at place: EventPlace, account: AccountNumber, blob: [UInt8]
    ) throws(StorageError) -> StoredFact {
        try Self.unsealing("the fact at \(place.revision)/\(place.ordinal)") { () throws(DecodingFault) in
            try StoredFact(unsealing: blob, at: place, account: account)
        }
    }

    package func commitTime(of revision: UInt64) throws(StorageError) -> Instant? {
        try self.first(.commitTime, [.number(revision)]) { Instant(milliseconds: $0.int64(0)) }
    }

    package func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]? {
        guard let rows = try self.commitRows(after: revision, limit: limit) else { return nil }
        return try rows.map { (row) throws(StorageError) in
            try self.change(row, facts: try self.facts(ofRevision: row.revision))
        }
    }

    package func commitRows(after revision: UInt64, limit: Int) throws(StorageError) -> [CommitRow]? {
        var rows: [CommitRow] = []
        var isWhole = true
        try self.run(.commitsAfter, [.number(revision), .integer(Int64(limit))]) { (row) throws(StorageError) in
            // A commit row of an earlier schema has no app cause.
            guard !row.isNull(2) else {
                isWhole = false
                return false
            }
            rows.append(try Self.commit(row))
            return true
        }
        return isWhole ? rows : nil
    }

    private static func commit(_ row: Statement) throws(StorageError) -> CommitRow {
        let revision = row.uint64(0)
        var detail: CommitDetail?
        if !row.isNull(5) { detail = try Self.detail(row.bytes(5), of: revision) }
        return CommitRow(
            revision: revision, committed: Instant(milliseconds: row.int64(1)),
            app: AppNumber(truncatingIfNeeded: row.int64(2)), nextTransaction: row.uint64(3),
            nextAccount: row.uint64(4), detail: detail)
    }

    static func detail(_ blob: [UInt8], of revision: UInt64) throws(StorageError) -> CommitDetail {
        try Self.unsealing("the commit of revision \(revision)") { () throws(DecodingFault) in
            try CommitDetail(unsealing: blob, revision: revision)
        }
    }

    package func facts(ofRevision revision: UInt64) throws(StorageError) -> [StoredFact] {
        let first = try self.first(.firstFact, [.number(revision)]) { (row) throws(StorageError) in
            try Self.fact(
                at: EventPlace(revision: revision, ordinal: 0), account: row.uint64(0), blob: row.bytes(1))
        }
        guard let first else { return [] }
        var facts = [first]
        try self.run(.factsOfRevision, [.number(revision)]) { (row) throws(StorageError) in
            let place = EventPlace(revision: revision, ordinal: UInt32(truncatingIfNeeded: row.int64(0)))
            facts.append(try Self.fact(at: place, account: row.uint64(1), blob: row.bytes(2)))
            return true
        }
        return facts
    }

    package func due(
        _ app: AppNumber, through instant: Instant, limit: Int
    ) throws(StorageError) -> [DueEntry] {
        var entries: [DueEntry] = []
        guard limit > 0 else { return entries }
        try self.run(
            .dueThrough, [.integer(Int64(app)), .integer(instant.milliseconds)]
        ) { (row) throws(StorageError) in
            entries.append(DueEntry(instant: Instant(milliseconds: row.int64(0)), account: row.uint64(1)))
            return entries.count < limit
        }
        return entries
    }

    package func crossings(
        _ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int
    ) throws(StorageError) -> [DueEntry] {
        var entries: [DueEntry] = []
        guard limit > 0 else { return entries }
        let bound: [Statement.Value] = [
            .integer(Int64(app)), .integer(entry.instant.milliseconds), .number(entry.account),
            .integer(instant.milliseconds),
        ]
        try self.run(.crossingsAfter, bound) { (row) throws(StorageError) in
            entries.append(DueEntry(instant: Instant(milliseconds: row.int64(0)), account: row.uint64(1)))
            return entries.count < limit
        }
        return entries
    }

    package func earliestDue(_ app: AppNumber) throws(StorageError) -> Instant? {
        try self.first(.earliestDue, [.integer(Int64(app))]) { Instant(milliseconds: $0.int64(0)) }
    }

    package func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer? {
        try self.first(.answer, [.integer(Int64(key.app)), .bytes(key.bytes)]) { (row) throws(StorageError) in
            try Self.unsealing("an answer") { () throws(DecodingFault) in
                try KeptAnswer(unsealing: row.bytes(0), to: key)
            }
        }
    }

    package func answers(keptAt instant: Instant) throws(StorageError) -> [KeyedAnswer] {
        var answers: [KeyedAnswer] = []
        try self.run(.answersKeptAt, [.integer(instant.milliseconds)]) { (row) throws(StorageError) in
            let key = MutationKey(app: AppNumber(clamping: row.int64(0)), bytes: row.bytes(1))
            let answer = try Self.unsealing("an answer") { () throws(DecodingFault) in
                try KeptAnswer(unsealing: row.bytes(2), to: key)
            }
            answers.append(KeyedAnswer(key: key, answer: answer))
            return true
        }
        return answers
    }

    package func revokedTokens() throws(StorageError) -> [RevokedToken] {
        var revocations: [RevokedToken] = []
        try self.run(.revocations, [.bytes([])]) { (row) throws(StorageError) in
            let id = row.bytes(0)
            revocations.append(
                try Self.unsealing("a revocation") { () throws(DecodingFault) in
                    try RevokedToken(unsealing: row.bytes(1), id: id)
                })
            return true
        }
        return revocations
    }

    /// Opens a blob. A blob that does not open is damaged or newer; the message says which.
    static func unsealing<Value>(
        _ what: String, _ open: () throws(DecodingFault) -> Value
    ) throws(StorageError) -> Value {
        do throws(DecodingFault) {
            return try open()
        } catch {
            throw StorageError(error, in: what)
        }
    }
}

extension Statement {
    func uint64(_ column: Int32) -> UInt64 { UInt64(bitPattern: self.int64(column)) }
}

extension Statement.Value {
    /// A number to search for. Numbers from 2^63 on are never stored (see `stored`), and compare as 2^63-1.
    static func number(_ value: UInt64) -> Self { .integer(Int64(clamping: value)) }

    /// A number to store. Traps from 2^63-1 on: no counter of the store comes near.
    static func stored(_ value: UInt64) -> Self {
        precondition(value < UInt64(Int64.max), "number \(value) cannot be stored, the greatest is 2^63-2")
        return .integer(Int64(value))
    }
}
