import Glibc
import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing
import TestingThreads

@testable import PerchSQLite

/// A store whose revisions are easily told apart: revision N sets the alias `key-N` and the lease to N.
private final class NumberedStore {
    let storage: SQLiteStorage
    let path: String
    private(set) var revision: UInt64 = 0

    init(_ directory: TemporaryDirectory, _ name: String = "store") throws {
        self.path = directory.file(name)
        self.storage = try SQLiteStorage(path: self.path)
        self.revision = self.storage.header().revision
    }

    deinit { self.storage.close() }

    /// Begins a batch that opens some accounts in the next revision.
    func begin(accounts: Int = 1) throws {
        self.revision += 1
        let instant = Instant(milliseconds: Int64(self.revision))
        try self.storage.begin()
        var change = StoredChange(
            revision: self.revision, committed: instant, app: 1, nextTransaction: 1,
            nextAccount: self.revision * 1_000)
        for index in 0..<accounts {
            let account = self.revision * 1_000 + UInt64(index)
            var record = AccountRecord(account: account, app: 1)
            let opened = Fact(.opened(appTransactionID: "\(account)"), effective: instant)
            record.apply(opened)
            record.revision = self.revision
            record.committed = instant
            change.facts.append(StoredFact(account: account, fact: opened, origin: []))
            change.records.append(StoredRecord(record))
            change.aliases.append((AccountKey(app: 1, bytes: Array("key-\(account)".utf8)), account))
        }
        try self.storage.apply(change)
    }

    func write(accounts: Int = 1) throws {
        try self.begin(accounts: accounts)
        try self.storage.commit()
    }
}

@Suite(.onOwnThreads) struct `A backup` {
    @Test func `a backup holds the revision of its last step, whole, whatever is written meanwhile`() throws {
        let directory = TemporaryDirectory()
        let store = try NumberedStore(directory)
        for _ in 0..<10 { try store.write(accounts: 800) }
        let copy = try store.storage.beginCopy(at: directory.file("copy"))
        var steps = 0
        while try !copy.step(), steps < 1_000 {
            steps += 1
            try store.write(accounts: 5)
            if steps % 3 == 0 { try store.storage.checkpoint() }
        }
        let revision = store.storage.header().revision
        copy.close()
        #expect(steps > 5)
        try store.write()
        _ = try StoreBackup.complete(directory.file("copy"))

        let contents = try StoreRestore.verify(directory.file("copy"))
        #expect(contents.revision == revision)
        #expect(contents.identity == store.storage.header().identity)
        #expect(contents.accounts == contents.facts)
        #expect(contents.accounts == 8_000 + 5 * steps)
        #expect(TemporaryDirectory.names(in: directory.path) == ["copy", "store", "store-wal"])
    }

    @Test func `a backup holds what was rolled back after it went to the log no more than the store does`() throws {
        let directory = TemporaryDirectory()
        let store = try NumberedStore(directory)
        for _ in 0..<40 { try store.write(accounts: 50) }
        let copy = try store.storage.beginCopy(at: directory.file("copy"))
        _ = try copy.step()
        // More pages than are kept in memory, so that some are in the log, and in the copy, when they are taken back.
        try store.storage.connection.execute("PRAGMA cache_size = 10")
        try store.begin(accounts: 3_000)
        store.storage.rollback()
        var steps = 0
        while try !copy.step(), steps < 1_000 { steps += 1 }
        copy.close()
        _ = try StoreBackup.complete(directory.file("copy"))
        #expect(try StoreRestore.verify(directory.file("copy")).accounts == 40 * 50)
    }

    @Test func `a backup takes no file's place, and says so`() throws {
        let directory = TemporaryDirectory()
        let store = try NumberedStore(directory)
        TemporaryDirectory.write([1, 2, 3], to: directory.file("there"))
        let there = CopyFault(
            "\(directory.file("there")) is there already, and a backup takes no file's place; name another")
        #expect(throws: there) { try store.storage.beginCopy(at: directory.file("there")) }
        #expect(throws: CopyFault.self) { try store.storage.beginCopy(at: store.path) }
        #expect(throws: CopyFault.self) { try store.storage.beginCopy(at: directory.file("nowhere/copy")) }
        #expect(TemporaryDirectory.read(directory.file("there")) == [1, 2, 3])
        // One that appears while the copy is made.
        let copy = try store.storage.beginCopy(at: directory.file("late"))
        while try !copy.step() {}
        copy.close()
        TemporaryDirectory.write([4], to: directory.file("late"))
        #expect(throws: CopyFault.self) { try StoreBackup.complete(directory.file("late")) }
        #expect(TemporaryDirectory.read(directory.file("late")) == [4])
        #expect(TemporaryDirectory.names(in: directory.path) == ["late", "store", "store-wal", "there"])
    }

    @Test func `a backup that was left unfinished starts again`() throws {
        let directory = TemporaryDirectory()
        let store = try NumberedStore(directory)
        try store.write(accounts: 300)
        let left = try store.storage.beginCopy(at: directory.file("copy"))
        _ = try left.step()
        left.close()
        let copy = try store.storage.beginCopy(at: directory.file("copy"))
        while try !copy.step() {}
        copy.close()
        _ = try StoreBackup.complete(directory.file("copy"))
        #expect(try StoreRestore.verify(directory.file("copy")).accounts == 300)
    }

    @Test func `a backup of a damaged store is refused`() throws {
        let directory = TemporaryDirectory()
        do {
            let store = try NumberedStore(directory)
            try store.write(accounts: 500)
            store.storage.close()
        }
        var bytes = TemporaryDirectory.read(directory.file("store"))
        bytes[bytes.count - 2_000] ^= 1
        TemporaryDirectory.write(bytes, to: directory.file("store"))
        let storage = try SQLiteStorage(path: directory.file("store"))
        defer { storage.close() }
        let copy = try storage.beginCopy(at: directory.file("copy"))
        defer { copy.close() }
        #expect {
            while try !copy.step() {}
        } throws: { error in
            if case StorageError.corrupt = error { true } else { false }
        }
    }
}

@Suite(.onOwnThreads) struct `Restoring` {
    private let directory = TemporaryDirectory()
    private let now = Instant(milliseconds: 1_800_000_000_000)

    /// A backup of some accounts; its store continues and gets more.
    private func backup(_ name: String = "backup") throws -> NumberedStore {
        let store = try NumberedStore(self.directory)
        try store.write(accounts: 200)
        let copy = try store.storage.beginCopy(at: self.directory.file(name))
        while try !copy.step() {}
        copy.close()
        _ = try StoreBackup.complete(self.directory.file(name))
        try store.write(accounts: 100)
        return store
    }

    @Test func `a restore begins an epoch that no restore before had`() throws {
        let header = try self.backup().storage.header()
        let path = self.directory.file("restored")
        let contents = try StoreRestore.restore(
            self.directory.file("backup"), to: path, replaces: false, now: self.now
        ).contents
        #expect(contents.epoch != header.epoch)
        let restored = try SQLiteStorage(path: path)
        defer { restored.close() }
        #expect(restored.header().epoch == contents.epoch)
        #expect(restored.header().identity == header.identity)
        #expect(restored.header().revision == 1)
        // At the same moment, elsewhere and in the place of the first.
        var epochs: Set = [header.epoch, contents.epoch]
        for number in 0..<20 {
            let again = try StoreRestore.restore(
                self.directory.file("backup"), to: self.directory.file("again-\(number % 2)"), replaces: true,
                now: self.now)
            #expect(epochs.insert(again.contents.epoch).inserted)
        }
        // A backup of the restored store, on a machine whose clock is wrong.
        let copy = try restored.beginCopy(at: self.directory.file("second"))
        while try !copy.step() {}
        copy.close()
        _ = try StoreBackup.complete(self.directory.file("second"))
        let third = try StoreRestore.restore(
            self.directory.file("second"), to: self.directory.file("third"), replaces: false,
            now: Instant(milliseconds: 0)
        ).contents
        #expect(epochs.insert(third.epoch).inserted)
    }

    /// What was given out after the backup may be in receipts, in logs, and at the App Store's side of a backend.
    @Test func `numbers after a restore begin above all that the backup and the replaced store gave out`() throws {
        let store = try self.backup()
        let unit = UInt64(1) << 40
        func header(_ name: String) throws -> StoreHeader {
            let storage = try SQLiteStorage(path: self.directory.file(name))
            defer { storage.close() }
            return storage.header()
        }
        func restore(to name: String) throws -> StoreHeader {
            _ = try StoreRestore.restore(
                self.directory.file("backup"), to: self.directory.file(name), replaces: true, now: self.now)
            return try header(name)
        }
        var last: UInt64 = 0
        for _ in 0..<5 {
            let begun = try restore(to: "restored")
            #expect(begun.nextTransaction == begun.nextAccount)
            #expect(begun.nextTransaction % unit == 0 && begun.nextTransaction > last, "\(begun)")
            last = begun.nextTransaction
        }
        // Of a lost disk nothing is known: the epoch, which is random, chooses.
        let found = Set(try (0..<20).map { try restore(to: "elsewhere-\($0)").nextTransaction })
        #expect(found.count > 10 && found.allSatisfy { $0 >= unit && $0 <= 1024 * unit })
        // A snapshot of the disk, put back by hand.
        store.storage.close()
        let before = try header("store")
        let epoch = try StoreRestore.declare(store.path)
        let declared = try header("store")
        #expect(declared.epoch == epoch && epoch != before.epoch)
        #expect(declared.revision == before.revision && declared.nextTransaction >= unit)
        let server = try SQLiteStorage(path: store.path)
        defer { server.close() }
        let error = #expect(throws: StoreRestoreError.self) { try StoreRestore.declare(store.path) }
        #expect(error?.description.contains("stop it first") == true)
    }

    private static let firstNumbers: [(epoch: UInt32, given: UInt64, multiple: UInt64)] = [
        (.max, 0, 1024), (0x8000_0000, 0, 1), (0x8000_0000, 5, 6), (0x8000_0007, 5, 13),
        (.max, 0x7F_FFFE, 0x7F_FFFF),
    ]

    @Test(arguments: Self.firstNumbers)
    func `the first number of an epoch is a multiple of 2^40 that fits`(
        _ epoch: UInt32, _ given: UInt64, _ multiple: UInt64
    ) {
        let header = StoreHeader(
            identity: StoreIdentity(high: 1, low: 2), epoch: 1, revision: 1, nextTransaction: given << 40 + 1,
            nextAccount: 1, lease: .distantPast)
        #expect(StoreRestore.firstNumber(of: epoch, after: [header]) == multiple << 40)
    }

    @Test func `a restore leaves the backup unchanged`() throws {
        _ = try self.backup()
        let before = TemporaryDirectory.read(self.directory.file("backup"))
        _ = try StoreRestore.verify(self.directory.file("backup"))
        _ = try StoreRestore.restore(
            self.directory.file("backup"), to: self.directory.file("restored"), replaces: false, now: self.now)
        #expect(TemporaryDirectory.read(self.directory.file("backup")) == before)
        #expect(TemporaryDirectory.names(in: self.directory.path) == ["backup", "restored", "store"])
    }

    @Test func `a restore replaces a store only on request, and keeps the old one`() throws {
        let store = try self.backup()
        let (backup, path) = (self.directory.file("backup"), store.path)
        #expect(throws: StoreRestoreError.exists(path: path)) {
            try StoreRestore.restore(backup, to: path, replaces: false, now: self.now)
        }
        store.storage.close()
        _ = try StoreRestore.restore(backup, to: path, replaces: true, now: self.now)
        #expect(try StoreRestore.verify(path).accounts == 200)
        #expect(try StoreRestore.verify(StoreRestore.replacedPath(path)).accounts == 300)
    }

    /// A restore brings data back, and never makes a revoked token valid again.
    @Test func `a restore keeps the revocations of the replaced store`() throws {
        let store = try self.backup()
        let later = self.now.advanced(byMilliseconds: 60_000)
        try store.storage.begin()
        for (id, expires) in [("since", later), ("over", self.now), ("for ever", .distantFuture)] {
            try store.storage.revoke(RevokedToken(id: id, expires: expires))
        }
        try store.storage.commit()
        store.storage.close()
        func restore() throws -> CarriedRevocations {
            try StoreRestore.restore(
                self.directory.file("backup"), to: store.path, replaces: true, now: self.now
            ).revocations
        }
        #expect(try restore() == .carried(2))
        func takenBack() throws -> [String] {
            let storage = try SQLiteStorage(path: store.path)
            defer { storage.close() }
            return try storage.revokedTokens().map(\.id)
        }
        #expect(try takenBack() == ["for ever", "since"])
        #expect(try restore() == .carried(2), "the backup still has none of them")
        #expect(try takenBack() == ["for ever", "since"])

        TemporaryDirectory.write(Array("this is no store".utf8), to: store.path)
        guard case .unreadable = try restore() else {
            Issue.record("nothing was said of a store that cannot be read")
            return
        }
        #expect(try takenBack() == [])
        let fresh = try StoreRestore.restore(
            self.directory.file("backup"), to: self.directory.file("fresh"), replaces: false, now: self.now)
        #expect(fresh.revocations == .unknown)
    }

    /// The service's user owns its directory and nothing else; root restores, and the service has to open it.
    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `by root gives the store to whom its directory belongs`() throws {
        _ = try self.backup()
        let home = self.directory.file("home")
        #expect(mkdir(home, 0o700) == 0 && chown(home, 61_184, 61_185) == 0)
        _ = try StoreRestore.restore(
            self.directory.file("backup"), to: "\(home)/perch.db", replaces: false, now: self.now)
        var status = stat()
        #expect(stat("\(home)/perch.db", &status) == 0)
        #expect(status.st_uid == 61_184 && status.st_gid == 61_185 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `a restore does not touch a store in use`() async throws {
        _ = try self.backup()
        let (backup, path) = (self.directory.file("backup"), self.directory.file("held"))
        let storage = try SQLiteStorage(path: path)
        await #expect(processExitsWith: .exitCode(42)) { [backup = backup as String, path = path as String] in
            do throws(StoreRestoreError) {
                _ = try StoreRestore.restore(backup, to: path, replaces: true, now: Instant(milliseconds: 0))
            } catch {
                exit(error == .inUse(path: path) ? 42 : 2)
            }
        }
        storage.close()
    }

    @Test func `a restore refuses a backup with one flipped bit, wherever it is, and writes nothing`() throws {
        _ = try self.backup()
        let whole = TemporaryDirectory.read(self.directory.file("backup"))
        var random = SeededRandom(seed: 5)
        for _ in 0..<30 {
            var bytes = whole
            let at = Int.random(in: 0..<bytes.count, using: &random)
            bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            TemporaryDirectory.write(bytes, to: self.directory.file("flipped"))
            #expect(throws: StoreRestoreError.self, "byte \(at)") {
                try StoreRestore.restore(
                    self.directory.file("flipped"), to: self.directory.file("restored"), replaces: false, now: self.now)
            }
        }
        #expect(TemporaryDirectory.names(in: self.directory.path) == ["backup", "flipped", "store"])
    }

    @Test(arguments: [1, 100, 4_096, 4_097, 40_960]) func `a restore refuses a truncated backup`(_ missing: Int) throws
    {
        _ = try self.backup()
        let whole = TemporaryDirectory.read(self.directory.file("backup"))
        TemporaryDirectory.write(Array(whole.dropLast(missing)), to: self.directory.file("short"))
        #expect(throws: StoreRestoreError.self) { try StoreRestore.verify(self.directory.file("short")) }
    }

    @Test func `a restore refuses a file that is no store, a newer one, and an unclosed one`() throws {
        TemporaryDirectory.write(Array("not a store".utf8), to: self.directory.file("text"))
        TemporaryDirectory.write([], to: self.directory.file("empty"))
        for name in ["text", "empty", "missing"] {
            #expect(throws: StoreRestoreError.self, "\(name)") { try StoreRestore.verify(self.directory.file(name)) }
        }
        let store = try self.backup()
        #expect(throws: StoreRestoreError.hasLog(path: store.path)) { try StoreRestore.verify(store.path) }
        store.storage.close()
        let storage = try SQLiteStorage(path: store.path)
        try storage.connection.execute("PRAGMA user_version = 9")
        storage.close()
        let newer = StoreRestoreError.unusable(.storage(path: store.path, .newerSchema(found: 9, known: 7)))
        #expect(throws: newer) { try StoreRestore.verify(store.path) }
        #expect(newer.description.contains("schema 9") && newer.description.contains("knows 7"))
    }

    /// A row whose pages are intact, as if it had been written by something else.
    @Test(arguments: [
        "accounts SET account = account + 7000000 WHERE kind = 0 AND account = 1007",
        "commits SET account = account + 1 WHERE account = 1000",
        "facts SET account = account + 1 WHERE account = 1007",
    ])
    func `a restore refuses a row under another key`(_ change: String) throws {
        let store = try self.backup()
        try store.storage.connection.execute("UPDATE \(change)")
        store.storage.close()
        #expect {
            try StoreRestore.verify(store.path)
        } throws: { error in
            "\(error)".contains("is damaged")
        }
    }
}
