import Glibc
import PerchBase
import PerchLoop
import PerchMetrics
import PerchStore
import PerchTesting
import PerchWire
import Testing

@testable import PerchServer

@Suite struct `the record of backups` {
    private func findings(
        _ backups: Backups, uptimeDays: Int64, now: Instant, isStoreInMemory: Bool = false, database: String? = nil,
        about subjects: Set<String> = ["backup"]
    ) -> [String] {
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        return Findings(
            samples: SampleReports.samples(), store: SampleReports.store(), isStoreInMemory: isStoreInMemory,
            database: database, readiness: ReadyState(since: now), awaited: "", http: nil,
            manager: ServiceManager(ServerSettings().supervision, log: log), backups: backups,
            uptimeMilliseconds: uptimeDays * 86_400_000, now: now, sinceProof: nil
        ).all.filter { subjects.contains($0.subject) }.map { "\($0.level): \($0.message)" }
    }

    @Test func `a database has its size and its backups elsewhere`() {
        let url = "postgres://perch@db/perch"
        let found = self.findings(
            Backups(), uptimeDays: 9, now: Instant(milliseconds: 0), database: url, about: ["store", "backup"])
        #expect(found.count == 2 && found.allSatisfy { $0.hasPrefix("ok: ") })
        #expect(found[0].contains(url) && !found[0].contains(" bytes"))
        #expect(found[1].contains("pg_basebackup") && !found[1].contains("none"))
    }

    private func running(_ path: String, at started: MonotonicTime) -> Backups.Running {
        Backups.Running(path: path, loop: 1, ticket: 9, started: started, startedWall: Instant(milliseconds: 0))
    }

    @Test func `the doctor reports the last backup, and advises one after seven days`() {
        let day: Int64 = 86_400_000
        let made = Instant(milliseconds: 1_000 * day)
        var backups = Backups()
        #expect(self.findings(backups, uptimeDays: 6, now: made).first?.hasPrefix("ok: none") == true)
        #expect(self.findings(backups, uptimeDays: 7, now: made).first?.hasPrefix("warning: none") == true)
        #expect(self.findings(backups, uptimeDays: 7, now: made, isStoreInMemory: true).isEmpty)
        backups.begin(self.running("/b/one.db", at: Clocks.monotonic()))
        #expect(self.findings(backups, uptimeDays: 7, now: made).first?.contains("/b/one.db is being made") == true)
        backups.copied(revision: 12, longestStallMicroseconds: 3)
        _ = backups.finish(bytes: 8_192, now: Clocks.monotonic(), wall: made)
        let fresh = self.findings(backups, uptimeDays: 7, now: made.advanced(byMilliseconds: 7 * day - 1))
        #expect(fresh.first?.hasPrefix("ok: the last is of") == true)
        #expect(fresh.first?.contains("revision 12, 8192 bytes at /b/one.db") == true)
        let old = self.findings(backups, uptimeDays: 7, now: made.advanced(byMilliseconds: 7 * day))
        #expect(old.first?.hasPrefix("warning: ") == true)
    }

    @Test func `the record of backups is counted, and answered to who asked`() throws {
        var backups = Backups()
        let began = Clocks.monotonic()
        backups.begin(self.running("/b/one.db", at: began))
        backups.copied(revision: 12, longestStallMicroseconds: 2_500)
        let (asker, summary) = backups.finish(
            bytes: 4_096, now: began.advanced(byMilliseconds: 1_500), wall: Instant(milliseconds: 5))
        #expect(asker.loop == 1 && asker.ticket == 9)
        #expect(summary.revision == 12 && summary.byteCount == 4_096)
        #expect(summary.durationMilliseconds == 1_500 && summary.longestStallMicroseconds == 2_500)
        #expect(backups.last?.seconds == 1.5)
        backups.begin(self.running("/b/two.db", at: began))
        #expect(backups.fail()?.path == "/b/two.db")
        #expect(backups.running == nil)
        #expect(backups.completed == 1 && backups.failed == 1)
        #expect(backups.last?.path == "/b/one.db")
    }
}

@Suite struct `the directory of backups` {
    @Test func `takes new files below it, and none that a link leads elsewhere`() throws {
        let directory = TemporaryDirectory()
        let root = "\(directory.path)/backups"
        for path in [root, "\(root)/daily", "\(directory.path)/backups-2"] { #expect(mkdir(path, 0o700) == 0) }
        #expect(symlink("\(directory.path)/backups-2", "\(root)/away") == 0)
        for path in ["a.db", "daily/a.db", "daily/../a.db", "./a.db"] {
            #expect(BackupPlace.isBelow(root, "\(root)/\(path)"), "\(path)")
        }
        for path in [
            "\(root)/../a.db", "\(root)/away/a.db", "\(directory.path)/backups-2/a.db", "\(root)/missing/a.db", "/a.db",
            "\(root)/..", "\(root)/", root,
        ] { #expect(!BackupPlace.isBelow(root, path), "\(path)") }
    }
}
