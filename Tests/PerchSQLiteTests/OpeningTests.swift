import Glibc
import PerchBase
import PerchStore
import PerchTesting
import Testing
import TestingThreads

@testable import PerchSQLite

@Suite(.onOwnThreads) struct `Opening a store` {
    @Test func `a new store has an identity of its own, and keeps it`() throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(path: directory.file("a"))
        let header = storage.header()
        storage.close()
        #expect(try SQLiteStorage(path: directory.file("a")).header() == header)
        #expect(try SQLiteStorage(path: directory.file("b")).header().identity != header.identity)
    }

    @Test func `its files can be read by their owner only`() throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(path: directory.file("store"))
        try storage.begin()
        try storage.setLease(until: Instant(milliseconds: 1))
        try storage.commit()
        let names = TemporaryDirectory.names(in: directory.path)
        #expect(names == ["store", "store-wal"], "neither shared memory nor a journal")
        for name in names {
            var status = stat()
            #expect(stat(directory.file(name), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        storage.close()
        #expect(TemporaryDirectory.names(in: directory.path) == ["store"])
    }

    @Test func `a file that was created and then nothing is a new store`() throws {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write([], to: directory.file("store"))
        #expect(try SQLiteStorage(path: directory.file("store")).header().revision == 0)
    }

    /// The operator moves the file of a killed server aside while its unit restarts.
    @Test(arguments: [false, true])
    func `a log without its store is left alone, and everything in it is there once the store is back`(
        _ isEmpty: Bool
    ) throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let killed = directory.file("killed")
        try {
            let storage = try SQLiteStorage(path: path)
            try storage.begin()
            try storage.setLease(until: Instant(milliseconds: 7))
            try storage.commit()
            // As a kill leaves them: closing would put the log into the file.
            for suffix in ["", "-wal"] {
                TemporaryDirectory.write(TemporaryDirectory.read(path + suffix), to: killed + suffix)
            }
            storage.close()
        }()
        #expect(TemporaryDirectory.read(killed + "-wal").count > 0)
        rename(killed, directory.file("aside"))
        if isEmpty { TemporaryDirectory.write([], to: killed) }
        let error = StoreOpenError.logWithoutStore(path: killed)
        #expect(throws: error) { try SQLiteStorage(path: killed) }
        #expect(error.description.contains("\(killed)-wal") && error.description.contains("put the file back"))
        rename(directory.file("aside"), killed)
        #expect(try SQLiteStorage(path: killed).header().lease == Instant(milliseconds: 7))
    }

    @Test func `a log with nothing in it is no log`() throws {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write([], to: directory.file("store-wal"))
        #expect(try SQLiteStorage(path: directory.file("store")).header().revision == 0)
    }

    @Test func `a second opener in the same process is refused, and the first continues`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let storage = try SQLiteStorage(path: path)
        #expect(throws: StoreOpenError.inUse(path: path)) { try SQLiteStorage(path: path) }
        try storage.begin()
        try storage.setLease(until: Instant(milliseconds: 1))
        try storage.commit()
        #expect(throws: StoreOpenError.inUse(path: path)) { try SQLiteStorage(path: path) }
        storage.close()
        #expect(try SQLiteStorage(path: path).header().lease == Instant(milliseconds: 1))
    }

    @Test func `a second process is refused with the next step`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let storage = try SQLiteStorage(path: path)
        // A refusal in this process must not release the lock.
        #expect(throws: StoreOpenError.self) { try SQLiteStorage(path: path) }
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
            do throws(StoreOpenError) {
                _ = try SQLiteStorage(path: path)
            } catch {
                let text = "\(error)"
                exit(error == .inUse(path: path) && text.contains("ask the server") ? 42 : 2)
            }
        }
        storage.close()
    }

    @Test func `a store of a newer schema is refused with both numbers`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        try Self.change(path, "PRAGMA user_version = 9")
        let before = TemporaryDirectory.read(path)
        let error = StoreOpenError.storage(path: path, .newerSchema(found: 9, known: 7))
        #expect(throws: error) { try SQLiteStorage(path: path) }
        #expect(error.description.contains("schema 9") && error.description.contains("knows 7"))
        #expect(TemporaryDirectory.read(path) == before, "nothing was changed")
    }

    @Test func `a store of an older schema is refused with both numbers, and left alone`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        try Self.change(path, "PRAGMA user_version = 1")
        let before = TemporaryDirectory.read(path)
        let error = StoreOpenError.storage(path: path, .olderSchema(found: 1, known: 7))
        #expect(throws: error) { try SQLiteStorage(path: path) }
        #expect(error.description.contains("schema 1") && error.description.contains("knows 7"))
        #expect(TemporaryDirectory.read(path) == before, "nothing was changed")
    }

    @Test func `a store that lost its schema's number is refused as damaged`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        try Self.change(path, "PRAGMA user_version = 0")
        #expect { try SQLiteStorage(path: path) } throws: { Self.isDamage($0) }
    }

    @Test func `a store that lost a table is refused as damaged`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        try SQLiteStorage(path: path).close()
        try Self.change(path, "DROP TABLE due")
        #expect { try SQLiteStorage(path: path) } throws: { Self.isDamage($0) }
    }

    @Test(arguments: [nil, 77] as [Int32?])
    func `a database of another program is refused by its application's number, and left alone`(
        _ id: Int32?
    ) throws {
        let directory = TemporaryDirectory()
        let path = directory.file("other")
        TemporaryDirectory.write([], to: path)
        try Self.change(path, "CREATE TABLE theirs (a); PRAGMA application_id = \(id ?? 0)")
        let before = TemporaryDirectory.read(path)
        let error = StoreOpenError.foreign(path: path, applicationID: UInt32(id ?? 0))
        #expect(throws: error) { try SQLiteStorage(path: path) }
        #expect(error.description.contains("application \(id ?? 0)"))
        #expect(TemporaryDirectory.read(path) == before)
        #expect(TemporaryDirectory.names(in: directory.path) == ["other"])
    }

    @Test(arguments: [5, 5_000])
    func `a file that is no database is refused, and left alone`(_ count: Int) throws {
        let directory = TemporaryDirectory()
        let path = directory.file("notes")
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: count)
        TemporaryDirectory.write(text, to: path)
        #expect(throws: StoreOpenError.foreign(path: path, applicationID: nil)) { try SQLiteStorage(path: path) }
        #expect(TemporaryDirectory.read(path) == text)
    }

    @Test func `a directory that is missing, or stands where the file should, is named`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("none/store")
        let error = StoreOpenError.missingDirectory(path: path, directory: directory.file("none"))
        #expect(throws: error) { try SQLiteStorage(path: path) }
        #expect(error.description.contains(directory.file("none")))
        TemporaryDirectory.write([1], to: directory.file("file"))
        let inFile = StoreOpenError.notADirectory(path: directory.file("file/store"), directory: directory.file("file"))
        #expect(throws: inFile) { try SQLiteStorage(path: directory.file("file/store")) }
        #expect(inFile.description.contains("\(directory.file("file")) is no directory"))
        #expect(throws: StoreOpenError.notAFile(path: directory.path)) { try SQLiteStorage(path: directory.path) }
    }

    @Test(arguments: [false, true])
    func `a missing permission for the directory or the file is named`(_ exists: Bool) async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        if exists {
            try SQLiteStorage(path: path).close()
            chmod(path, 0o444)
        }
        chmod(directory.path, 0o555)
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
            // Root may write anywhere: become nobody.
            if geteuid() == 0 { precondition(setuid(65_534) == 0) }
            do throws(StoreOpenError) {
                _ = try SQLiteStorage(path: path)
            } catch {
                exit(error == .notPermitted(path: path) && "\(error)".contains("let this user write") ? 42 : 2)
            }
        }
        chmod(directory.path, 0o755)
    }

    @Test func `a use after closing is our bug`() async {
        await #expect(processExitsWith: .failure) {
            let directory = TemporaryDirectory()
            let storage = try SQLiteStorage(path: directory.file("store"))
            storage.close()
            _ = try storage.record(1)
        }
    }

    /// Changes a file behind the store's back, with its page checksums intact.
    private static func change(_ path: String, _ sql: String) throws {
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; \(sql)")
        connection.close(keepingLog: false)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard case StoreOpenError.storage(_, .corrupt) = error else { return false }
        return true
    }
}
