import PerchBase
import PerchLoop
import PerchMetrics
import PerchStore
import PerchWire

/// The server's findings about itself, for `perch doctor`: each with a suggested action.
struct Findings {
    var samples: MetricSamples
    var store: StoreReport?
    var isStoreInMemory: Bool
    /// Path of the store; nil in memory.
    var storePath: String?
    /// Address of the database with the store, without a secret; nil for a file.
    var database: String?
    /// Bytes that are free there.
    var storeRoomBytes = Int.max
    var readiness: ReadyState
    /// Threads that did not answer in time; empty if all did.
    var awaited: String
    /// Address of HTTP; nil if it is off.
    var http: SocketAddress?
    var manager: ServiceManager
    var backups: Backups
    var uptimeMilliseconds: Int64
    /// By the machine's clock.
    var now: Instant
    /// Nil where TLS is off.
    var tls: TLSFinding?
    /// Faults of files that a restart would read.
    var fileFaults: [String] = []
    /// Apps take values of the App Store.
    var hasIntake = false
    /// Callers need credentials.
    var hasAuthenticator = false
    /// Other machines can reach the listener.
    var isRemote = false
    /// Asking the App Store for what it did not deliver.
    var reconciling = ReconcileFinding()
    /// Seconds since all threads answered the watchdog and the store committed for it.
    var sinceProof: Int64?

    var all: [Finding] {
        self.threads + [self.ready, self.access, self.descriptors, self.memory] + self.storage + self.sharedClock
            + self.nodes
            + self.backup
            + self.limits + self.appStore + self.reconciling.all + [
                self.files, self.secure, self.scraping, self.supervision,
            ] + self.log
    }

    private var threads: [Finding] {
        guard !self.awaited.isEmpty else { return [] }
        return [
            Finding(
                level: "problem", subject: "threads",
                message:
                    "\(self.awaited) did not answer within \(Limits.statusMilliseconds) ms; its figures are missing",
                remedy: "look at the disk and at the processor; if it goes on, restart the server")
        ]
    }

    private var ready: Finding {
        guard let reason = self.readiness.reason else {
            return Self.ok("readiness", "ready since \(self.readiness.since)")
        }
        return Finding(
            level: "problem", subject: "readiness", message: "not ready since \(self.readiness.since)", remedy: reason)
    }

    private var access: Finding {
        guard self.hasAuthenticator else {
            let everyone = "every client that reaches this server may do everything"
            guard self.isRemote else { return Self.ok("access", "\(everyone); it listens on loopback") }
            return Self.warning(
                "access", "\(everyone), and it can be reached from elsewhere",
                "ask callers for tokens: --token-keys, and `perch token --help`")
        }
        let refused = Int64(self.samples.value("perch_credentials_refused_total") ?? 0)
        return Self.ok("access", "callers have to show credentials; \(refused) were refused since the start")
    }

    private var descriptors: Finding {
        let limit = Int(self.samples.value("perch_descriptors_limit") ?? 0)
        let open = Int(self.samples.value("process_open_fds") ?? 0)
        let kept = Limits.descriptorsReserved + (self.http == nil ? 0 : Limits.httpConnectionsMax)
        let room = max(0, limit - kept)
        if limit < 4_096 {
            return Self.warning(
                "descriptors", "the process may have \(limit) descriptors, so about \(room) connections",
                "raise it: LimitNOFILE= in the unit, or ulimit -n")
        }
        if open > limit / 10 * 9 {
            return Self.warning(
                "descriptors", "\(open) of \(limit) descriptors are open",
                "raise LimitNOFILE= in the unit before there is no room for another connection")
        }
        return Self.ok("descriptors", "\(open) are open, and there is room for \(room) connections")
    }

    private var memory: Finding {
        func bytes(_ metric: String) -> Int { Int(self.samples.value(metric) ?? 0) }
        return Self.ok(
            "memory",
            "a connection takes \(bytes("perch_connection_bytes")) bytes, a watch of a view that others watch "
                + "\(bytes("perch_watch_bytes")), one of an account with a single watch \(bytes("perch_view_bytes")) more; "
                + "the loops hold \(bytes("perch_loop_memory_bytes")); the allocator is \(Allocator.name)")
    }

    /// The clock of the database against the one that this node goes on with.
    private var sharedClock: [Finding] {
        guard let sharing = self.store?.sharing, sharing.clockJumpMilliseconds != 0 else { return [] }
        return [
            Self.warning(
                "clock",
                "the database's clock has jumped by \(sharing.clockJumpMilliseconds) ms against this node's, the limit is "
                    + "\(Limits.clockToleranceMilliseconds) ms; no renewal is settled until they agree",
                "look at the time service of the database's machine; a node that starts again follows its clock at once"
            )
        ]
    }

    /// The nodes of a store that several share.
    private var nodes: [Finding] {
        guard let store = self.store, let sharing = store.sharing else { return [] }
        return sharing.nodes.map { node in
            let behind = store.census.revision - min(store.census.revision, node.appliedRevision)
            let own = node.id == sharing.ownID ? ", this one" : ""
            let text =
                "\(node.name)\(own), version \(node.version), applied revision \(node.appliedRevision) (\(behind) behind), "
                + "\(node.calls) calls"
            guard node.isGone else {
                let state = node.isDraining ? ", draining" : ""
                return Self.ok("node", "\(text)\(state), last heartbeat \(node.silentMilliseconds) ms ago")
            }
            if node.isDraining { return Self.ok("node", "\(node.name), version \(node.version), stopped") }
            return Self.warning(
                "node", "\(text), last heartbeat \(node.silentMilliseconds / 1_000) s ago",
                "look whether it runs and reaches the database; its row goes an hour after its last heartbeat")
        }
    }

    private var storage: [Finding] {
        if self.isStoreInMemory {
            return [
                Self.warning(
                    "store", "the store is in memory and ends with the process",
                    "give --store a directory to keep what is bought")
            ]
        }
        guard let store = self.store else { return [] }
        var findings: [Finding] = []
        if store.isWithoutRoom {
            findings.append(
                Finding(
                    level: "problem", subject: "store",
                    message: "the store has no room to write: writes are refused, reads and streams go on",
                    remedy:
                        "free at least \(Limits.storeRoomBytes >> 20) MiB on the store's disk; writing then goes on automatically"
                ))
        }
        if store.figures.checkpointsWithoutRoom > 0 {
            findings.append(
                Self.warning(
                    "store log",
                    "\(store.figures.checkpointsWithoutRoom) times there was no room to move the log of \(store.figures.logBytes) bytes into the store",
                    "free some space on the store's disk: the log grows until it finds none, and then writing is refused"
                ))
        }
        if let failed = store.failedCommit {
            findings.append(
                Self.warning(
                    "commits", "\(store.counters.failedBatches) group commits have failed, the last at \(failed)",
                    "look at the disk: `df`, `dmesg`; nothing was acknowledged that is not there"))
        }
        let p99 = Double(store.measures.commitMicroseconds.value(atQuantile: 0.99)) / 1_000
        if store.measures.commitMicroseconds.count >= 100,
            p99 >= Double(Limits.slowCommitMilliseconds)
        {
            findings.append(
                Self.warning(
                    "commits", "p99 of a commit is \(Int(p99)) ms",
                    "put the store on a faster disk: each purchase waits for one"))
        }
        if findings.isEmpty, let database = self.database {
            findings.append(Self.ok("store", "in the database at \(database), whose size PostgreSQL knows"))
        } else if findings.isEmpty {
            let place = self.storePath.map { " at \($0)" } ?? ""
            findings.append(
                Self.ok("store", "\(store.figures.fileBytes) bytes\(place), and a log of \(store.figures.logBytes)"))
        }
        return findings + self.room
    }

    /// Free space on the store's disk; left out if the caller may not see it.
    private var room: [Finding] {
        guard self.storeRoomBytes < .max else { return [] }
        let found = "\(self.storeRoomBytes >> 20) MiB are free where the store is"
        guard self.storeRoomBytes < Limits.storeRoomWantedBytes else { return [Self.ok("disk", found)] }
        return [
            Finding(
                level: "problem", subject: "disk", message: found,
                remedy: "make room: a full disk refuses purchases, until there is some again")
        ]
    }

    /// Backups made by this process: a store does not know of its copies.
    private var backup: [Finding] {
        guard !self.isStoreInMemory else { return [] }
        if self.database != nil {
            return [Self.ok("backup", "PostgreSQL's own tools make it, such as pg_basebackup: deploy/postgres.md")]
        }
        let remedy = "perch backup FILE makes one while the server goes on"
        let ageMax = Limits.backupAgeDays * 86_400_000
        if let running = self.backups.running {
            return [Self.ok("backup", "one to \(running.path) is being made since \(running.startedWall)")]
        }
        guard let last = self.backups.last else {
            let message = "none was made since the server started"
            return [
                self.uptimeMilliseconds < ageMax
                    ? Self.ok("backup", message)
                    : Self.warning("backup", "\(message), \(self.uptimeMilliseconds / 86_400_000) days ago", remedy)
            ]
        }
        let message = "the last is of \(last.finished), revision \(last.revision), \(last.bytes) bytes at \(last.path)"
        return [
            self.now.milliseconds(since: last.finished) < ageMax
                ? Self.ok("backup", message) : Self.warning("backup", message, remedy)
        ]
    }

    private var limits: [Finding] {
        let reached = LimitCounter.series.compactMap { metric, labels -> String? in
            guard !Attention.isOrdinary(metric), let count = self.samples.value(metric, labels: labels), count > 0
            else { return nil }
            return "\(labels.isEmpty ? metric : "\(metric){\(labels)}") \(Int64(count))"
        }
        guard !reached.isEmpty else { return [Self.ok("limits", "none was reached since the start")] }
        return [
            Self.warning(
                "limits", "reached since the start: \(reached.joined(separator: ", "))",
                "deploy/README.md says what each metric means, proto/README.md what each reason does and what a client can do"
            )
        ]
    }

    /// Notifications of the App Store that were not taken, by answer, and purchases that need somebody.
    private var appStore: [Finding] {
        guard self.hasIntake else { return [] }
        var findings: [Finding] = []
        let refused = self.samples.samples.filter {
            $0.name == "perch_apple_notifications_refused_total" && $0.value > 0
        }
        if refused.isEmpty {
            findings.append(Self.ok("App Store", "no notification was refused since the start"))
        } else {
            let answers = refused.map { "{\($0.labels)} \(Int64($0.value))" }.joined(separator: ", ")
            findings.append(
                Self.warning(
                    "App Store", "notifications were refused since the start: \(answers)",
                    "the log says why. What was answered 503 comes again or waits in `perch dead-letters list`; what was answered 4xx may "
                        + "never come again: fix its cause, and ask the App Store for its notification history"))
        }
        let stray = self.samples.samples.filter { $0.name == "perch_apple_stray_requests_total" }.reduce(0) {
            $0 + $1.value
        }
        if stray > 0 {
            findings.append(
                Self.ok(
                    "App Store",
                    "\(Int64(stray)) requests on the port of notifications were none, as of scanners; Apple's URL ends in /apple/notifications"
                ))
        }
        let unclaimed = Int64(self.samples.value("perch_unclaimed_purchases") ?? 0)
        if unclaimed > 0 {
            findings.append(
                Self.warning(
                    "App Store",
                    counted(unclaimed, "purchase belongs", "purchases belong") + " to no account that is known",
                    "`perch account unclaimed` lists them; let the app send appAccountToken, or attach their customers: `perch account attach`"
                ))
        }
        let overdue = Int64(self.samples.value("perch_overdue_subscriptions") ?? 0)
        if overdue > 0 {
            findings.append(
                Self.warning(
                    "App Store",
                    counted(
                        overdue, "subscription is over because its renewal was",
                        "subscriptions are over because their renewals were")
                        + " never reported",
                    "`perch account unclaimed` lists them; look whether notifications arrive, and submit what the App Store has"
                ))
        }
        for difference in self.store?.groupDifferences ?? [] {
            findings.append(
                Self.warning(
                    "App Store", difference.description,
                    "the catalogue's group holds; give the catalogue Apple's identifier to have one name for it"))
        }
        return findings
    }

    private var secure: Finding {
        guard let tls = self.tls else {
            return Self.ok("tls", "off; --tls-certificate and --tls-key turn it on")
        }
        let mode = "\(tls.mode), the certificate ends at \(tls.certificateEnd)"
        if tls.left <= 0 {
            return Finding(
                level: "problem", subject: "tls", message: "\(mode), which is past: clients refuse it",
                remedy: "put a new one in its place, and send SIGHUP")
        }
        if let fault = tls.fault {
            return Self.warning(
                "tls", "\(mode), and its files cannot be used the next time: \(fault)",
                "fix them before the next restart; then send SIGHUP")
        }
        if tls.left < Limits.tlsCertificateWarningMilliseconds {
            return Self.warning(
                "tls", "\(mode), in \(tls.left / 86_400_000) days", "put a new one in its place, and send SIGHUP")
        }
        if tls.mode == .allowed, !tls.isLoopback {
            return Self.warning(
                "tls", "\(mode); plaintext is taken too, from elsewhere",
                "give --tls required when all clients speak TLS")
        }
        return Self.ok("tls", mode)
    }

    private var files: Finding {
        guard !self.fileFaults.isEmpty else {
            return Self.ok("files", "those that SIGHUP and a restart read can be used")
        }
        return Self.warning(
            "files", "cannot be used the next time: \(self.fileFaults.joined(separator: "; "))",
            "fix them before the next restart; then send SIGHUP")
    }

    private var scraping: Finding {
        guard let http = self.http else {
            return Self.ok("http", "off; --http on answers /metrics, /healthz, /readyz and /status")
        }
        return Self.ok("http", "/metrics, /healthz, /readyz and /status at http://\(http)")
    }

    private var supervision: Finding {
        guard self.manager.isThere else { return Self.ok("watchdog", "none asked to be told") }
        guard let interval = self.manager.watchdogInterval else {
            return Self.warning(
                "watchdog", "the service manager gets start and stop notifications, and no watchdog pings",
                "give the unit WatchdogSec=30: a server that hangs is started again then")
        }
        guard let sinceProof = self.sinceProof else {
            return Self.warning(
                "watchdog", "it keeps a watchdog, and nothing was proven to work yet",
                "ask again in \(interval / 1_000_000_000 + 1) s; if this stays, look at the log")
        }
        return Self.ok(
            "watchdog",
            "it keeps a watchdog: every loop answered and the store committed \(sinceProof) s ago")
    }

    private var log: [Finding] {
        let dropped = Int64(self.samples.value("perch_log_lines_dropped_total") ?? 0)
        guard dropped > 0 else { return [] }
        return [
            Self.warning(
                "log", "\(dropped) lines were dropped, because standard error took nothing",
                "look at what reads it; no request waits for the log")
        ]
    }

    private static func ok(_ subject: String, _ message: String) -> Finding {
        Finding(level: "ok", subject: subject, message: message, remedy: "")
    }

    private static func warning(_ subject: String, _ message: String, _ remedy: String) -> Finding {
        Finding(level: "warning", subject: subject, message: message, remedy: remedy)
    }
}

/// The TLS state for the findings.
struct TLSFinding {
    var mode: TLSSettings.Mode
    var certificateEnd: Instant
    /// Milliseconds until then.
    var left: Int64
    /// The fault of the files, if they were read now, or at the last reload.
    var fault: String?
    var isLoopback: Bool

    init(_ keeper: TLSKeeper, isLoopback: Bool, wall: Instant) {
        self.mode = keeper.settings.mode
        self.certificateEnd = keeper.certificateEnd
        self.left = keeper.certificateEnd.milliseconds(since: wall)
        self.fault = keeper.fault ?? keeper.faultNow()
        self.isLoopback = isLoopback
    }
}
