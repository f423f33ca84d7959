import PerchSimulation
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

extension StorageError {
    /// Whether the interrupted commit may be on disk.
    fileprivate var isUncertain: Bool {
        if case .full = self { false } else { true }
    }
}

@Suite struct `A disk that fails` {
    /// One session of a store, on a disk that fails at one of its operations.
    private struct Session {
        let disk = FaultyDisk(seed: 3)
        var script = StorageScript(seed: 4)
        var acknowledged = StorageScript(seed: 4)
        /// A batch whose commit failed in a way that leaves it open whether it is there.
        var unknown: StorageScript?
        var failure: StorageError?
        var fulls = 0
        var openError: StoreOpenError?

        /// Opens, writes, checkpoints, writes again, closes. Nothing is acknowledged after a failure.
        mutating func run() throws {
            let storage: SQLiteStorage
            do {
                storage = try self.disk.open()
            } catch {
                self.openError = error
                return
            }
            defer { storage.close() }
            for batch in 0..<4 {
                self.write(to: storage)
                guard batch == 1 else { continue }
                do throws(StorageError) { try storage.checkpoint() } catch { self.note(error) }
            }
        }

        private mutating func write(to storage: SQLiteStorage) {
            var next = self.acknowledged
            var isInCommit = false
            do throws(StorageError) {
                try storage.begin()
                for _ in 0..<2 { try storage.apply(next.change()) }
                isInCommit = true
                try storage.commit()
                #expect(self.failure == nil, "acknowledged after \(self.failure.map(\.description) ?? "")")
                self.acknowledged = next
            } catch {
                storage.rollback()
                if isInCommit, self.failure == nil, error.isUncertain { self.unknown = next }
                self.note(error)
                #expect(storage.header().revision == self.acknowledged.revision)
            }
        }

        private mutating func note(_ error: StorageError) {
            if case .full = error { self.fulls += 1 } else { self.failure = self.failure ?? error }
        }
    }

    @Test(arguments: FaultyDisk.Fault.allCases)
    func `at any operation of a session leaves what was acknowledged, and nothing by half`(
        _ fault: FaultyDisk.Fault
    ) throws {
        var whole = Session()
        try whole.run()
        #expect(whole.failure == nil && whole.fulls == 0 && whole.openError == nil)
        #expect(whole.acknowledged.revision == 8)
        let operations = whole.disk.operations
        let references = try (0...8).map { try Self.reference(revisions: $0) }
        var (failures, fulls, refusals) = (0, 0, 0)
        for ahead in 0..<operations {
            // The operation fails once or from then on; afterwards the process or the machine restarts.
            var session = Session()
            session.disk.fail(ahead: ahead, fault, stays: ahead / 2 % 2 == 0)
            try session.run()
            failures += session.failure == nil ? 0 : 1
            fulls += session.fulls == 0 ? 0 : 1
            refusals += session.openError == nil ? 0 : 1
            session.disk.killProcess()
            session.disk.start(after: ahead % 2 == 0 ? .process : .power)

            let storage = try session.disk.open()
            defer { storage.close() }
            var script = session.acknowledged
            if let unknown = session.unknown, storage.header().revision == unknown.revision { script = unknown }
            #expect(storage.header().revision == script.revision, "operation \(ahead) of \(operations)")
            #expect(try storage.findings() == [], "operation \(ahead) of \(operations)")
            let isWhole = try storage.transcript(of: script) == references[Int(script.revision)]
            #expect(isWhole, "operation \(ahead) of \(operations)")
            try storage.begin()
            try storage.apply(script.change())
            try storage.commit()
        }
        // Each kind of fault was met by something.
        switch fault {
        case .full, .shortWrite: #expect(fulls > operations / 4)
        case .device: #expect(failures > operations / 4 && refusals > 0)
        }
    }

    private static func reference(revisions: Int) throws -> [String] {
        let storage = MemoryStorage(identity: World.identity)
        var script = StorageScript(seed: 4)
        storage.begin()
        for _ in 0..<revisions { storage.apply(script.change()) }
        try storage.commit()
        return try storage.transcript(of: script)
    }

    @Test func `after a full disk has space again, writing continues in the same process`() throws {
        let disk = FaultyDisk(seed: 5)
        let storage = try disk.open()
        var script = StorageScript(seed: 6)
        try storage.begin()
        for _ in 0..<10 { try storage.apply(script.change()) }
        try storage.commit()
        let before = try storage.transcript(of: script)
        for _ in 0..<5 {
            disk.room = disk.bytes
            var next = script
            try storage.begin()
            for _ in 0..<10 { try storage.apply(next.change()) }
            let error = #expect(throws: StorageError.self) { try storage.commit() }
            guard case .full = error else {
                Issue.record("not for want of room: \(String(describing: error))")
                return
            }
            #expect(try storage.transcript(of: script) == before, "reads go on")
        }
        disk.room = nil
        try storage.begin()
        for _ in 0..<10 { try storage.apply(script.change()) }
        try storage.commit()
        #expect(storage.header().revision == 20)
        storage.close()
    }

    @Test(arguments: [4, 5] as [Int64])
    func `a full disk during a conversion leaves the store unchanged, and it opens when there is space`(
        _ schema: Int64
    ) throws {
        let disk = FaultyDisk(seed: 9)
        let made = try disk.open()
        var script = StorageScript(seed: 10, isTold: false)
        try made.begin()
        for _ in 0..<40 { try made.apply(script.change()) }
        try made.commit()
        // A conversion computes the crossings anew, and the rows of commits of schema 4 lack an app.
        func kept(_ lines: [String]) -> [String] {
            lines.filter { !$0.hasPrefix("crossings") && !(schema == 4 && $0.hasPrefix("rows after")) }
        }
        let before = kept(try made.transcript(of: script))
        try EarlierSchema.restore5(in: made)
        if schema == 4 { try EarlierSchema.restore4(in: made.connection) }
        made.close()
        disk.room = disk.bytes
        #expect(throws: StoreOpenError.noRoom(path: made.path)) { try disk.open() }
        disk.room = nil
        let storage = try disk.open()
        #expect(storage.convertedSchema == schema)
        #expect(kept(try storage.transcript(of: script)) == before)
        storage.close()
    }

    @Test func `in a sync is the last thing that a store does`() throws {
        let disk = FaultyDisk(seed: 7)
        let storage = try disk.open()
        var script = StorageScript(seed: 8)
        try storage.begin()
        for _ in 0..<5 { try storage.apply(script.change()) }
        disk.failNextSync()
        let error = try #require(#expect(throws: StorageError.self) { try storage.commit() })
        guard case .failed = error else {
            Issue.record("not a failure: \(error)")
            return
        }
        let syncs = disk.syncs
        for _ in 0..<3 { #expect(throws: error) { try storage.begin() } }
        storage.close()
        #expect(disk.syncs == syncs, "what a second sync says of the first one's pages is not to be trusted")
    }
}
