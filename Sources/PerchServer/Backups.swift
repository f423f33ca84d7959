import Glibc
import PerchBase
import PerchCore
import PerchLoop
import PerchMetrics
import PerchSQLite
import PerchStore
import PerchWire

/// The result of copying the store, reported by the store's thread.
enum CopyOutcome: Sendable {
    /// All pages are copied. Syncing the file and renaming it remain.
    case copied(revision: UInt64, longestStallMicroseconds: UInt64)
    /// The copy failed and its partial file was removed.
    case failed(String)
}

/// A copy on the store's thread: some pages after each tick.
struct CopyRun {
    let path: String
    private let copy: any StorageCopy
    private var longestStallMicroseconds: UInt64 = 0

    init(_ copy: any StorageCopy, path: String) {
        self.copy = copy
        self.path = path
    }

    /// Copies pages within the tick's budget. Nil: more pages remain.
    mutating func turn(revision: UInt64, stalls: inout Histogram) -> CopyOutcome? {
        let began = Clocks.microseconds()
        var isComplete = false
        do throws(StorageError) {
            repeat {
                isComplete = try self.copy.step()
            } while !isComplete && Clocks.microseconds() &- began < Limits.backupTurnMicroseconds
        } catch {
            return self.given(up: Self.text(error))
        }
        // Writes the rest from memory.
        if isComplete { self.copy.close() }
        let took = Clocks.microseconds() &- began
        stalls.record(took)
        self.longestStallMicroseconds = max(self.longestStallMicroseconds, took)
        guard isComplete else { return nil }
        return .copied(revision: revision, longestStallMicroseconds: self.longestStallMicroseconds)
    }

    /// Ends an incomplete copy.
    func given(up reason: String) -> CopyOutcome {
        self.copy.close()
        StoreBackup.discard(self.path)
        return .failed(reason)
    }

    /// The storage error's own text would blame the store, but the copy may be on another disk.
    private static func text(_ error: StorageError) -> String {
        switch error {
        case .full(let what): "there is no room for the copy: \(what); free some space there, or name another place"
        case .corrupt(let what): "the store is damaged, a copy would be as well: \(what); restore an earlier backup"
        case .failed(let what): "the copy failed: \(what); look at its disk, or name another place"
        case .superseded, .unreachable, .unknown, .historyLost, .newerSchema, .newerForm, .olderSchema:
            error.description
        }
    }
}

/// Where backups may lie.
enum BackupPlace {
    /// Whether a path leads to a new file below a directory, whatever links its own directories are.
    static func isBelow(_ directory: String, _ path: String) -> Bool {
        guard let slash = path.lastIndex(of: "/"), let root = self.resolved(directory),
            let parent = self.resolved(String(path[..<slash]) + "/")
        else { return false }
        let name = path[path.index(after: slash)...]
        guard !name.isEmpty, name != ".", name != ".." else { return false }
        return parent == root || parent.hasPrefix(root.hasSuffix("/") ? root : root + "/")
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The control thread's state of backups: the running one, and the last finished one.
struct Backups {
    struct Running {
        var path: String
        /// Who asked, and is answered.
        var loop: Int
        var ticket: UInt64
        var started: MonotonicTime
        var startedWall: Instant
        /// Its line of the audit trail.
        var audit: AuditEntry?
        var outcome: (revision: UInt64, longestStallMicroseconds: UInt64)?
    }

    struct Last {
        var path: String
        var revision: UInt64
        var finished: Instant
        var bytes: Int64
        var seconds: Double
    }

    private(set) var running: Running?
    private(set) var last: Last?
    private(set) var completed: UInt64 = 0
    private(set) var failed: UInt64 = 0

    mutating func begin(_ running: Running) {
        precondition(self.running == nil, "two backups at a time")
        self.running = running
    }

    /// All pages are copied; the file can be completed.
    mutating func copied(revision: UInt64, longestStallMicroseconds: UInt64) {
        self.running?.outcome = (revision, longestStallMicroseconds)
    }

    /// The file is complete. Returns the caller and the answer.
    mutating func finish(bytes: Int64, now: MonotonicTime, wall: Instant) -> (Running, BackupSummary) {
        guard let running = self.running, let outcome = running.outcome else {
            preconditionFailure("a backup was finished that was not copied")
        }
        self.running = nil
        self.completed += 1
        let milliseconds = now.milliseconds(since: running.started)
        self.last = Last(
            path: running.path, revision: outcome.revision, finished: wall, bytes: bytes,
            seconds: Double(milliseconds) / 1_000)
        let summary = BackupSummary(
            revision: outcome.revision, byteCount: UInt64(max(0, bytes)), durationMilliseconds: UInt64(milliseconds),
            longestStallMicroseconds: outcome.longestStallMicroseconds)
        return (running, summary)
    }

    /// Returns the caller, who gets an error.
    mutating func fail() -> Running? {
        defer { self.running = nil }
        self.failed += 1
        return self.running
    }
}

extension ControlLoop {
    func backUp(to path: String, loop: Int, ticket: UInt64, audit: AuditEntry? = nil) {
        if let running = self.backups.running {
            self.refuse(
                loop, ticket, .backupRunning,
                "a backup to \(running.path) began at \(running.startedWall); wait for its end")
            return
        }
        if let directory = self.parts.settings.backupDirectory, !BackupPlace.isBelow(directory, path) {
            self.refuse(
                loop, ticket, .backupFailed,
                "\(path) is not below \(directory), where this server makes its backups (--backup-directory); name a file there, in a directory that exists"
            )
            return
        }
        var running = Backups.Running(
            path: path, loop: loop, ticket: ticket, started: Clocks.monotonic(), startedWall: Clocks.wall())
        running.audit = audit
        self.backups.begin(running)
        self.parts.log.info("a backup begins", LogField("file", path))
        self.parts.questions.post(.copy(path: path))
    }

    /// The store's thread has finished its part. A separate thread waits for the disk, because this one answers probes.
    func copied(_ outcome: CopyOutcome) {
        switch outcome {
        case .copied(let revision, let stall):
            guard let running = self.backups.running else { return }
            self.backups.copied(revision: revision, longestStallMicroseconds: stall)
            let (path, inbox) = (running.path, self.parts.inbox)
            do throws(SystemError) {
                try LoopThread.startDetached(name: "perch-backup") {
                    do throws(CopyFault) {
                        inbox.post(.backupNamed(.success(try StoreBackup.complete(path))))
                    } catch {
                        inbox.post(.backupNamed(.failure(error)))
                    }
                }
            } catch {
                StoreBackup.discard(path)
                self.named(.failure(CopyFault("no thread could be started for it: \(error)")))
            }
        case .failed(let reason):
            self.named(.failure(CopyFault(reason)))
        }
    }

    func named(_ result: Result<Int64, CopyFault>) {
        switch result {
        case .success(let bytes):
            let (asker, summary) = self.backups.finish(
                bytes: bytes, now: Clocks.monotonic(), wall: Clocks.wall())
            if let audit = asker.audit { self.note(audit) }
            self.parts.log.info(
                "a backup is complete", LogField("file", asker.path), LogField("revision", summary.revision),
                LogField("bytes", bytes), LogField("took_ms", summary.durationMilliseconds),
                LogField("longest_stall_us", summary.longestStallMicroseconds))
            self.parts.loops[asker.loop].post(.control(ticket: asker.ticket, .response(.backup(summary))))
        case .failure(let fault):
            guard let asker = self.backups.fail() else { return }
            self.parts.log.error("a backup failed: \(fault)", LogField("file", asker.path))
            self.refuse(asker.loop, asker.ticket, .backupFailed, fault.description)
        }
    }

    private func refuse(_ loop: Int, _ ticket: UInt64, _ reason: ErrorReason, _ message: String) {
        self.parts.loops[loop].post(.control(ticket: ticket, .refused(reason, message, [])))
    }
}
