import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

/// Schema 4, as commit 4e48b89 made its tables.
enum EarlierSchema {
    /// Gives a current store the tables of schema 4. Data that schema 4 did not store is lost.
    static func restore(in connection: Connection) throws {
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
        #expect(try storeTranscript(of: storage, keys: Self.keys) == Self.answers())
        #expect(try storage.findings() == [])
        storage.close()
        let again = try SQLiteStorage(path: self.path)
        #expect(again.convertedSchema == nil)
        #expect(try storeTranscript(of: again, keys: Self.keys) == Self.answers())
        again.close()
        #expect(try SQLiteStorage.inspect(self.path).schema == 5)
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
        #expect(try storeTranscript(of: storage, keys: Self.keys).prefix(others) == answers.prefix(others))
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
        #expect(try storeTranscript(of: storage, keys: Self.keys).dropFirst() == Self.answers().dropFirst())
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
