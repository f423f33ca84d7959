import PerchBase
import PerchModel
import PerchSimulation
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

/// Tables of earlier schemas, as the commits that wrote them made them.
enum EarlierSchema {
    /// Gives a current store the tables of schema 5, of commit 653efb7. Its statements no longer fit.
    static func restore5(in storage: SQLiteStorage) throws {
        try storage.connection.execute(
            """
            BEGIN IMMEDIATE;
            CREATE TABLE records (account INTEGER PRIMARY KEY, blob BLOB NOT NULL);
            INSERT INTO records SELECT account, blob FROM accounts WHERE kind = 0;
            ALTER TABLE transactions RENAME TO places;
            CREATE TABLE transactions (
                app INTEGER NOT NULL, id INTEGER NOT NULL, account INTEGER NOT NULL, purchase_date INTEGER NOT NULL,
                state INTEGER NOT NULL, spends INTEGER NOT NULL, product INTEGER NOT NULL, blob BLOB NOT NULL,
                PRIMARY KEY (app, id)) WITHOUT ROWID;
            CREATE INDEX transactions_by_date ON transactions (account, purchase_date, id, state, product);
            CREATE INDEX transactions_unfinished ON transactions (account, purchase_date, id, product) WHERE state = 0;
            """)
        try Self.restoreTransactions(in: storage)
        try storage.connection.execute(
            """
            DROP TABLE places;
            CREATE TABLE old_facts (
                revision INTEGER NOT NULL, ordinal INTEGER NOT NULL, account INTEGER NOT NULL,
                is_event INTEGER NOT NULL, blob BLOB NOT NULL, PRIMARY KEY (revision, ordinal)) WITHOUT ROWID;
            INSERT INTO old_facts
            SELECT f.revision, f.ordinal, f.account, e.mark, f.blob FROM (
                SELECT revision, 0 AS ordinal, account, fact AS blob FROM commits WHERE fact IS NOT NULL
                UNION ALL SELECT revision, ordinal, account, blob FROM facts) f
            JOIN accounts e ON e.account = f.account AND e.kind = 1 AND e.first = -f.revision AND e.second = -f.ordinal;
            DROP TABLE facts;
            ALTER TABLE old_facts RENAME TO facts;
            CREATE INDEX facts_by_account ON facts (account, revision, ordinal, is_event);
            CREATE TABLE old_commits (
                revision INTEGER PRIMARY KEY, committed INTEGER NOT NULL, app INTEGER, next_transaction INTEGER,
                next_account INTEGER, blob BLOB);
            INSERT INTO old_commits SELECT revision, committed, app, next_transaction, next_account, blob FROM commits;
            DROP TABLE commits;
            ALTER TABLE old_commits RENAME TO commits;
            DROP TABLE accounts;
            DROP TABLE crossings;
            DROP INDEX aliases_by_account;
            DROP TABLE items;
            DROP TABLE sources;
            PRAGMA user_version = 5;
            COMMIT
            """)
    }

    /// In schema 5 every transaction has a blob of its own.
    private static func restoreTransactions(in storage: SQLiteStorage) throws {
        let connection = storage.connection
        let rows = try Statement(Query.everyTransaction, on: connection)
        let place = try Statement("SELECT app, spends FROM places WHERE id = ?1 AND account = ?2", on: connection)
        let insert = try Statement("INSERT INTO transactions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", on: connection)
        defer { rows.reset() }
        while try rows.step() {
            let account = rows.uint64(7)
            let transaction = try SQLiteStorage.row(rows, account: account).transaction
            try place.bind([.stored(transaction.id), .stored(account)])
            #expect(try place.step())
            try insert.bind([
                .integer(place.int64(0)), .stored(transaction.id), .stored(account),
                .integer(transaction.purchaseDate.milliseconds),
                .integer(EntryKind.unfinished.rawValue - rows.int64(2)), .integer(place.int64(1)),
                .integer(SQLiteStorage.mark(ofProduct: transaction.productID)),
                .bytes(transaction.sealed(account: account)),
            ])
            place.reset()
            _ = try insert.step()
            insert.reset()
        }
    }

    /// Gives a store of schema 5 the tables of schema 4, of commit 4e48b89. Data that schema 4 did not store is lost.
    static func restore4(in connection: Connection) throws {
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            CREATE TABLE old (
                id INTEGER PRIMARY KEY NOT NULL, account INTEGER NOT NULL, purchase_date INTEGER NOT NULL,
                state INTEGER NOT NULL, spends INTEGER NOT NULL, product INTEGER NOT NULL, blob BLOB NOT NULL)
                WITHOUT ROWID;
            INSERT INTO old SELECT id, account, purchase_date, state, spends, product, blob FROM transactions;
            DROP TABLE transactions;
            ALTER TABLE old RENAME TO transactions;
            CREATE INDEX transactions_by_date ON transactions (account, purchase_date, id, state, product);
            CREATE INDEX transactions_unfinished ON transactions (account, purchase_date, id, product) WHERE state = 0;
            CREATE TABLE old (revision INTEGER PRIMARY KEY, committed INTEGER NOT NULL);
            INSERT INTO old SELECT revision, committed FROM commits;
            DROP TABLE commits;
            ALTER TABLE old RENAME TO commits;
            PRAGMA user_version = 4;
            COMMIT
            """)
    }
}

@Suite struct `A store of schema 4` {
    private static let keys = ["buy-1", "set-1", "other"]
    private let directory = TemporaryDirectory()
    private var path: String { self.directory.file("store") }

    private static func fixture(_ name: String) throws -> [UInt8] {
        let folder = #filePath.prefix { _ in true }.split(separator: "/").dropLast().joined(separator: "/")
        let bytes = TemporaryDirectory.read("/\(folder)/Fixtures/\(name)")
        try #require(!bytes.isEmpty)
        return bytes
    }

    private static func answers() throws -> [String] {
        String(decoding: try Self.fixture("schema-4.answers.txt"), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    init() throws { TemporaryDirectory.write(try Self.fixture("schema-4.db"), to: self.directory.file("store")) }

    @Test func `a store of schema 4 is converted when it opens, and answers every read as before`() throws {
        let storage = try SQLiteStorage(path: self.path)
        #expect(storage.convertedSchema == 4)
        expectEqual(try storeTranscript(of: storage, keys: Self.keys), try Self.answers())
        #expect(try storage.findings() == [])
        storage.close()
        let again = try SQLiteStorage(path: self.path)
        #expect(again.convertedSchema == nil)
        expectEqual(try storeTranscript(of: again, keys: Self.keys), try Self.answers())
        again.close()
        #expect(try SQLiteStorage.inspect(self.path).schema == Schema.version)
    }

    @Test func `a converted store has the crossings of its records that are to come, and the keys of its accounts`()
        throws
    {
        let storage = try SQLiteStorage(path: self.path)
        for app in try storage.appStates().map(\.state) {
            var expected: [DueEntry] = []
            for key in try storage.keys(of: app.number, after: [], limit: 1_000) {
                let account = try #require(try storage.account(AccountKey(app: app.number, bytes: key)))
                #expect(
                    try storage.key(of: account).map { try storage.account(AccountKey(app: app.number, bytes: $0)) }
                        == account)
                let record = try #require(try storage.record(account))
                let instants = record.crossings(
                    after: app.clock.now(wall: record.committed),
                    leewayMilliseconds: app.renewalLeewayMilliseconds)
                expected += instants.map { DueEntry(instant: $0, account: account) }
            }
            let first = DueEntry(instant: .distantPast, account: 0)
            let found = try storage.crossings(app.number, after: first, through: .distantFuture, limit: 1_000)
            #expect(found == Array(Set(expected)).sorted())
        }
        storage.close()
    }

    /// Its own commits do not say which app they changed. A reader from the oldest place begins behind them.
    @Test func `a converted store tells changes from its first commit of this version on`() throws {
        let storage = try SQLiteStorage(path: self.path)
        let engine = try StoreEngine(storage: storage, loops: 1, cacheBytesMax: 1 << 20)
        let newest = engine.header.revision
        let wall = try #require(try storage.commitTime(of: newest)).advanced(byMilliseconds: 1_000)
        func page(after start: ChangesAsked.Start) throws -> ChangePage {
            var outbox = StoreEngine.Outbox(loops: 1)
            _ = engine.run(
                [StoreRequest(loop: 0, ticket: 1, .changes(ChangesAsked(app: 1, start: start)))], wall: wall,
                into: &outbox)
            for case .answer(1, let answer) in outbox.events[0] {
                if case .changes(let page) = answer { return page }
                if case .refused(let refusal) = answer { throw refusal }
            }
            preconditionFailure("no answer")
        }
        let oldest = try page(after: .oldest)
        #expect(oldest.from.revision == newest && oldest.entries.isEmpty && oldest.isComplete)
        #expect(throws: Refusal.self) { _ = try page(after: .after(ChangePlace(through: newest - 1, at: wall))) }
        var outbox = StoreEngine.Outbox(loops: 1)
        let freeze = Mutation(.app(1), needsTestApp: true) { view throws(Refusal) in
            var change = AppChange()
            change.clock = .frozen(at: view.now)
            return .commitApp(change, answer: .none)
        }
        _ = engine.run([StoreRequest(loop: 0, ticket: 2, .mutate(freeze))], wall: wall, into: &outbox)
        #expect(engine.header.revision == newest + 1)
        #expect(try page(after: .oldest).through.revision == newest + 1)
        storage.close()
    }

    /// Schema 3 has the same tables; only the forms of its blobs may be older.
    @Test func `a store of schema 3 is converted too`() throws {
        let connection = try Connection(path: self.path)
        try connection.execute(
            "PRAGMA locking_mode = EXCLUSIVE; UPDATE records SET blob = X'\(EarlierForm.recordInForm1)' WHERE account = 7; PRAGMA user_version = 3"
        )
        connection.close(keepingLog: false)
        let storage = try SQLiteStorage(path: self.path)
        #expect(storage.convertedSchema == 3)
        #expect(try storage.record(7) == EarlierForm.record)
        let isOfAccount7 = { (line: String) in line.contains("zoe") }
        let answers = try Self.answers()
        let others = try #require(answers.firstIndex(where: isOfAccount7))
        expectEqual(
            Array(try storeTranscript(of: storage, keys: Self.keys).prefix(others)), Array(answers.prefix(others)))
        storage.close()
    }

    @Test func `a store of schema 4 is inspected and restored as a backup, and stays as it is`() throws {
        let before = TemporaryDirectory.read(self.path)
        let contents = try StoreRestore.verify(self.path)
        #expect(contents.schema == 4)
        #expect([contents.apps, contents.accounts, contents.transactions] == [2, 7, 17])
        let target = self.directory.file("restored")
        _ = try StoreRestore.restore(self.path, to: target, replaces: false, now: Instant(milliseconds: 0))
        #expect(TemporaryDirectory.read(self.path) == before)
        let storage = try SQLiteStorage(path: target)
        #expect(storage.header().epoch != 1)
        expectEqual(
            Array(try storeTranscript(of: storage, keys: Self.keys).dropFirst()),
            Array(try Self.answers().dropFirst()))
        storage.close()
    }

    @Test func `a converted store continues, and its feed begins there`() throws {
        let storage = try SQLiteStorage(path: self.path)
        defer { storage.close() }
        let header = storage.header()
        let app = try #require(try storage.appState(1, at: header.revision))
        let account = try #require(try storage.account(AccountKey(app: 1, bytes: Array("anna".utf8))))
        let before = try #require(try storage.record(account))
        var change = StoredChange(
            revision: header.revision + 1, committed: app.state.committed, app: 1,
            nextTransaction: header.nextTransaction, nextAccount: header.nextAccount)
        let fact = Fact(
            .storefrontSet("DEU"), effective: app.state.committed, source: .grant, stamp: Instant(milliseconds: 5))
        var record = before
        record.fold([fact], revision: change.revision, committed: change.committed)
        change.facts = [StoredFact(account: account, fact: fact, origin: [1])]
        change.records = [StoredRecord(record, due: record.attemptDue, previousDue: before.attemptDue)]
        try storage.begin()
        try storage.apply(change)
        try storage.commit()
        let feed = try #require(try storage.changes(after: header.revision, limit: 10))
        #expect(feed.map(\.revision) == [change.revision])
        #expect(feed[0].records == change.records, "the record is the fold of its facts, of both forms")
        #expect(feed[0].facts == change.facts)
        #expect(try storage.changes(after: header.revision - 1, limit: 10) == nil)
        #expect(try storage.facts(of: account).last == fact)
    }

    @Test func `a store with a transaction without account is refused as damaged, and unchanged`() throws {
        let connection = try Connection(path: self.path)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; DELETE FROM records WHERE account = 1")
        connection.close(keepingLog: false)
        let before = TemporaryDirectory.read(self.path)
        #expect {
            try SQLiteStorage(path: self.path)
        } throws: { error in
            guard case .storage(_, .corrupt(let what))? = error as? StoreOpenError else { return false }
            return what.contains("are of accounts without a record")
        }
        #expect(TemporaryDirectory.read(self.path) == before)
        #expect(try SQLiteStorage.inspect(self.path).schema == 4)
    }
}

@Suite struct `A store of schema 5` {
    private let directory = TemporaryDirectory()
    private var path: String { self.directory.file("store") }

    /// A store that a script wrote, once as it is and once with the tables of schema 5.
    private func made(seed: UInt64, changes: Int) throws -> (script: StorageScript, transcript: [String]) {
        let storage = try SQLiteStorage(path: self.path)
        var script = StorageScript(seed: seed, isTold: false)
        for _ in 0..<changes / 10 {
            try storage.begin()
            for _ in 0..<10 { try storage.apply(script.change()) }
            try storage.commit()
        }
        let transcript = try storage.transcript(of: script)
        try EarlierSchema.restore5(in: storage)
        storage.close()
        return (script, transcript)
    }

    /// A transcript without the crossings: a conversion computes them from the records, and the script invents them.
    private func withoutCrossings(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("crossings") } }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a store of schema 5 is converted when it opens, and answers and writes as before`(_ seed: UInt64) throws {
        var (script, transcript) = try self.made(seed: seed, changes: 200)
        #expect(try SQLiteStorage.inspect(self.path).schema == 5)
        let storage = try SQLiteStorage(path: self.path)
        #expect(storage.convertedSchema == 5)
        let reopened = self.withoutCrossings(try storage.transcript(of: script))
        expectEqual(reopened, self.withoutCrossings(transcript))
        let memory = MemoryStorage(identity: World.identity)
        var again = StorageScript(seed: seed, isTold: false)
        memory.begin()
        for _ in 0..<200 { memory.apply(again.change()) }
        for _ in 0..<20 {
            try storage.begin()
            for _ in 0..<10 {
                try storage.apply(script.change())
                memory.apply(again.change())
            }
            try storage.commit()
        }
        try memory.commit()
        // The identities differ.
        let converted = self.withoutCrossings(try storage.transcript(of: script))
        let original = self.withoutCrossings(try memory.transcript(of: again))
        #expect(converted.dropFirst() == original.dropFirst())
        #expect(try storage.findings() == [])
        storage.close()
        let contents = try SQLiteStorage.inspect(self.path)
        #expect(contents.schema == Schema.version && contents.facts > 200)
    }

    /// What SQLite keeps for an index, the store keeps itself.
    @Test(arguments: [
        "DELETE FROM accounts WHERE kind = 1 AND first = (SELECT min(first) FROM accounts WHERE kind = 1)",
        "INSERT INTO accounts SELECT account, 1, first - 100000, 0, 0, NULL, NULL, NULL FROM accounts WHERE kind = 1 LIMIT 1",
        "DELETE FROM transactions WHERE id IN (SELECT max(id) FROM transactions)",
        "UPDATE transactions SET purchase_date = purchase_date + 1 WHERE id IN (SELECT max(id) FROM transactions)",
        "UPDATE transactions SET state = 1 - (state > 0) WHERE id IN (SELECT max(id) FROM transactions)",
    ])
    func `an inspection finds a row without the row beside it`(_ damage: String) throws {
        let storage = try SQLiteStorage(path: self.path)
        var script = StorageScript(seed: 3)
        try storage.begin()
        for _ in 0..<100 { try storage.apply(script.change()) }
        try storage.commit()
        storage.close()
        _ = try SQLiteStorage.inspect(self.path)
        let connection = try Connection(path: self.path)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; \(damage)")
        connection.close(keepingLog: false)
        #expect {
            try SQLiteStorage.inspect(self.path)
        } throws: { error in
            guard case .storage(_, .corrupt)? = error as? StoreOpenError else { return false }
            return true
        }
    }
}
