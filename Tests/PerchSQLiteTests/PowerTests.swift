import Glibc
import PerchSimulation
import PerchStore
import PerchTesting
import Testing

@testable import PerchSQLite

/// Stores on a disk that forgets what was not synced. `make power CUTS=n` cuts more often than this.
@Suite struct `A store that loses power` {
    /// `PERCH_CUTS` of them; each run of 25 has its own seed.
    private static let cuts = getenv("PERCH_CUTS").flatMap { Int(String(cString: $0)) } ?? 100

    @Test func `a store that loses power has every acknowledged batch whole, wherever in whatever operation it came`() {
        let report = PowerCuts.run(cuts: Self.cuts, seed: 1)
        #expect(report.breaches == [])
        #expect(report.cuts == Self.cuts)
        // A store to which nothing is written loses nothing.
        #expect(report.batches > Self.cuts / 2)
        #expect(report.unansweredKept > 0)
        #expect(report.unansweredLost > 0)
    }

    /// Commits five revisions, and is killed in the sync of three more; the disk and the script up to both.
    private static func killedInItsSync() throws -> (disk: FaultyDisk, script: StorageScript) {
        let disk = FaultyDisk(seed: 1)
        var script = StorageScript(seed: 1)
        let storage = try disk.open()
        try storage.begin()
        for _ in 0..<5 { try storage.apply(script.change()) }
        try storage.commit()
        try storage.begin()
        for _ in 0..<3 { try storage.apply(script.change()) }
        disk.killProcess(syncsAhead: 0)
        #expect(throws: StorageError.self) { try storage.commit() }
        storage.close()
        disk.start(after: .process)
        return (disk, script)
    }

    @Test func `a store that loses power keeps what it showed after its process was killed in a sync`() throws {
        for _ in 0..<8 {
            let (disk, script) = try Self.killedInItsSync()
            let shown = try disk.open()
            #expect(shown.header().revision == 8, "what was written is there as long as the machine is")
            let before = try shown.transcript(of: script)
            disk.killProcess()
            shown.close()
            disk.start(after: .power)
            let storage = try disk.open()
            #expect(try storage.transcript(of: script) == before)
            storage.close()
        }
    }

    @Test func `a store that loses power keeps what it showed after a sync failed, which no later sync tries again`()
        throws
    {
        for seed in 1...UInt64(16) {
            let disk = FaultyDisk(seed: seed)
            var script = StorageScript(seed: 2)
            let failing = try disk.open()
            try failing.begin()
            for _ in 0..<5 { try failing.apply(script.change()) }
            try failing.commit()
            try failing.begin()
            for _ in 0..<3 { try failing.apply(script.change()) }
            disk.failNextSync()
            #expect(throws: StorageError.self) { try failing.commit() }
            failing.close()
            disk.start(after: .process)

            let shown = try disk.open()
            let revision = shown.header().revision
            let before = try shown.transcript(of: script)
            disk.killProcess()
            shown.close()
            disk.start(after: .power)
            let storage = try disk.open()
            #expect(storage.header().revision == revision)
            let isAsBefore = try storage.transcript(of: script) == before
            #expect(isAsBefore)
            storage.close()
        }
    }

    @Test func `a store that loses power opens without room for its log, and keeps what it shows`() throws {
        let (disk, script) = try Self.killedInItsSync()
        disk.room = disk.bytes
        let shown = try disk.open()
        let before = try shown.transcript(of: script)
        disk.killProcess()
        shown.close()
        disk.start(after: .power)
        let storage = try disk.open()
        #expect(try storage.transcript(of: script) == before)
        storage.close()
    }
}
