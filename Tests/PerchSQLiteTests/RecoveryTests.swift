import Glibc
import PerchBase
import PerchModel
import PerchStore
import PerchTesting
import Testing
import TestingThreads

@testable import PerchSQLite

@Suite(.onOwnThreads) struct `A store that was not closed` {
    /// Batches written to a store, and after each what it answers and copies of its files.
    private struct Life {
        var transcripts: [UInt64: [String]] = [:]
        var scripts: [UInt64: StorageScript] = [:]
        var copies: [(revision: UInt64, file: [UInt8], log: [UInt8])] = []
    }

    private static func live(seed: UInt64, batches: Int, checkpointing: Bool = false) throws -> Life {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let storage = try SQLiteStorage(path: path)
        var life = Life()
        var script = StorageScript(seed: seed)
        life.transcripts[0] = try storage.transcript(of: script)
        life.scripts[0] = script
        for batch in 0..<batches {
            try storage.begin()
            for _ in 0...script.random.below(6) { try storage.apply(script.change()) }
            try storage.commit()
            if checkpointing, batch % 5 == 4 { try storage.connection.checkpoint() }
            life.transcripts[script.revision] = try storage.transcript(of: script)
            life.scripts[script.revision] = script
            life.copies.append(
                (
                    script.revision, TemporaryDirectory.read(path), TemporaryDirectory.read("\(path)-wal")
                ))
        }
        return life
    }

    /// The answers of a store with these files.
    private static func open(_ file: [UInt8], log: [UInt8]?, _ scripts: [UInt64: StorageScript]) throws -> (
        revision: UInt64, transcript: [String]
    ) {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write(file, to: directory.file("store"))
        if let log { TemporaryDirectory.write(log, to: directory.file("store-wal")) }
        let storage = try SQLiteStorage(path: directory.file("store"))
        defer { storage.close() }
        let revision = storage.header().revision
        let script = try #require(scripts[revision], "revision \(revision) was never committed")
        return (revision, try storage.transcript(of: script))
    }

    @Test(arguments: [false, true])
    func `a store that was not closed has all that was committed, wherever its process was lost`(_ checkpointing: Bool)
        throws
    {
        let life = try Self.live(seed: 3, batches: 20, checkpointing: checkpointing)
        for copy in life.copies {
            let found = try Self.open(copy.file, log: copy.log, life.scripts)
            #expect(found.revision == copy.revision)
            #expect(found.transcript == life.transcripts[copy.revision])
        }
    }

    @Test func `a store that was not closed has whole batches only, wherever its log was torn`() throws {
        let life = try Self.live(seed: 4, batches: 20)
        let copy = try #require(life.copies.last)
        var random = SeededRandom(seed: 40)
        var revisions: Set<UInt64> = []
        for _ in 0..<40 {
            let count = random.below(copy.log.count + 1)
            var log = Array(copy.log.prefix(count))
            if random.bool() { log += random.bytes(upTo: 9_000) }
            // The schema itself is a transaction of the log: before it there is a new store, with another identity.
            let directory = TemporaryDirectory()
            TemporaryDirectory.write(copy.file, to: directory.file("store"))
            TemporaryDirectory.write(log, to: directory.file("store-wal"))
            let storage = try SQLiteStorage(path: directory.file("store"))
            let revision = storage.header().revision
            let script = try #require(life.scripts[revision], "revision \(revision) was never committed whole")
            if revision > 0 { #expect(try storage.transcript(of: script) == life.transcripts[revision]) }
            revisions.insert(revision)
            storage.close()
        }
        #expect(revisions.count > 5, "the tears hit \(revisions.count) batches")
    }

    @Test func `a store that was not closed does not take garbage behind its log for anything`() throws {
        let life = try Self.live(seed: 5, batches: 6)
        let copy = try #require(life.copies.last)
        var random = SeededRandom(seed: 50)
        for count in [1, 24, 4_120, 20_000] {
            let garbage = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let found = try Self.open(copy.file, log: copy.log + garbage, life.scripts)
            #expect(found.revision == copy.revision)
            #expect(found.transcript == life.transcripts[copy.revision])
        }
    }
}

@Suite(.onOwnThreads) struct `A store's file` {
    @Test func `answers the same when it is opened again`() throws {
        let directory = TemporaryDirectory()
        var script = StorageScript(seed: 6)
        var before: [String] = []
        for _ in 0..<6 {
            let storage = try SQLiteStorage(path: directory.file("store"))
            let found = try storage.transcript(of: script)
            #expect(before == [] || found == before)
            try storage.begin()
            for _ in 0..<10 { try storage.apply(script.change()) }
            try storage.commit()
            before = try storage.transcript(of: script)
            storage.close()
        }
    }

    @Test func `a store with any flipped bit is refused, or the flip is harmless`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        var script = StorageScript(seed: 7)
        let storage = try SQLiteStorage(path: path)
        try storage.begin()
        for _ in 0..<60 { try storage.apply(script.change()) }
        try storage.commit()
        let before = try storage.transcript(of: script)
        storage.close()
        let file = TemporaryDirectory.read(path)
        var random = SeededRandom(seed: 70)
        var refused = 0
        let flips = 300
        for index in 0..<flips {
            // The first hundred hit the file's own header.
            let bit = random.below(index < 100 ? 800 : file.count * 8)
            var flipped = file
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            TemporaryDirectory.write(flipped, to: path)
            do {
                let storage = try SQLiteStorage(path: path)
                defer { storage.close() }
                #expect(try storage.transcript(of: script) == before, "bit \(bit) of byte \(bit / 8)")
            } catch StorageError.corrupt {
                refused += 1
            } catch StoreOpenError.storage(_, .corrupt), StoreOpenError.foreign {
                refused += 1
            }
            unlink("\(path)-wal")
        }
        // The transcript reads every page but those of images, of rows for copies, and of two indexes by age: 5 of 33.
        #expect(refused >= 100 + (flips - 100) * 3 / 4, "\(refused) of \(flips) refused")
    }

    @Test func `a store with two exchanged pages is refused`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        var script = StorageScript(seed: 8)
        let storage = try SQLiteStorage(path: path)
        try storage.begin()
        for _ in 0..<60 { try storage.apply(script.change()) }
        try storage.commit()
        storage.close()
        var file = TemporaryDirectory.read(path)
        let last = file.count - 4_096
        let (first, second) = (Array(file[4_096..<8_192]), Array(file[last...]))
        file.replaceSubrange(4_096..<8_192, with: second)
        file.replaceSubrange(last..., with: first)
        TemporaryDirectory.write(file, to: path)
        #expect(throws: (any Error).self) {
            let storage = try SQLiteStorage(path: path)
            _ = try storage.transcript(of: script)
        }
    }

    @Test func `a store's file has a log that stays bounded`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        let storage = try SQLiteStorage(path: path)
        // Bypasses the seam, because a debug build seals this amount of bytes too slowly.
        try storage.connection.execute("CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB)")
        let fillerBytes = 512 * 1024
        var longest = 0
        // Bounded, should the log never be moved.
        for _ in 0..<700 where storage.figures.checkpoints < 3 {
            try storage.begin()
            try storage.connection.execute("REPLACE INTO filler VALUES (1, randomblob(\(fillerBytes)))")
            try storage.commit()
            longest = max(longest, Int(storage.figures.logBytes))
        }
        #expect(storage.figures.checkpoints == 3)
        #expect(longest > Limits.storeLogBytes / 2, "it was never near its limit: \(longest) bytes")
        #expect(longest < Limits.storeLogBytes + 4 * fillerBytes, "\(longest) bytes")
        // The same pages change again and again, so a checkpoint has far fewer than the log.
        #expect(storage.figures.checkpointPages < 3 * 1_024)
    }

    @Test func `that may not grow refuses writes and answers reads, until it may`() throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(path: directory.file("store"))
        var script = StorageScript(seed: 9)
        try storage.begin()
        for _ in 0..<30 { try storage.apply(script.change()) }
        try storage.commit()
        let before = try storage.transcript(of: script)
        try storage.limitPages(to: 1)
        for _ in 0..<3 {
            var next = script
            try storage.begin()
            let refusal = #expect(throws: StorageError.self) {
                for _ in 0..<100 { try storage.apply(next.change()) }
            }
            guard case .full = refusal else {
                Issue.record("not for want of room: \(String(describing: refusal))")
                return
            }
            #expect(throws: StorageError.self, "a batch that lost a change cannot be committed") {
                try storage.commit()
            }
            storage.rollback()
            #expect(try storage.transcript(of: script) == before)
        }
        try storage.limitPages(to: SQLiteStorage.pagesMax)
        try storage.begin()
        for _ in 0..<100 { try storage.apply(script.change()) }
        try storage.commit()
        #expect(storage.header().revision == 130)
    }

    @Test func `a store with a failed commit writes nothing more, and recovers from disk`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("store")
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
            let storage = try SQLiteStorage(path: path)
            var script = StorageScript(seed: 10)
            try storage.begin()
            for _ in 0..<5 { try storage.apply(script.change()) }
            try storage.commit()
            // A log that may not grow is an error of the disk, not a full one.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
            precondition(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            try storage.begin()
            for _ in 0..<50 { try storage.apply(script.change()) }
            do throws(StorageError) {
                try storage.commit()
                exit(2)
            } catch {
                guard case .failed = error else { exit(3) }
            }
            guard storage.header().revision == 5, try storage.commitTime(of: 6) == nil else { exit(4) }
            do throws(StorageError) {
                try storage.begin()
                exit(5)
            } catch {
                guard case .failed = error else { exit(6) }
            }
            exit(42)
        }
        let storage = try SQLiteStorage(path: path)
        #expect(storage.header().revision == 5)
        #expect(try storage.commitTime(of: 5) != nil)
    }
}
