import CPerchPostgres
import Glibc
import PerchBase
import PerchModel
import PerchStore

/// Attempts to reach the database.
struct Reach {
    /// The monotonic clock before which nothing is tried again.
    var notBefore: Int64 = 0
    var failure: PostgresError?
    /// When the last heartbeat that was stored had been sent.
    var lastBeat: Int64 = 0
    /// Connections for heartbeats so far.
    var sideNumber = 0
    /// When the next heartbeat is due, by the monotonic clock.
    var nextBeat: Int64 = 0
    /// When the heartbeat under way was sent.
    var beatSent: Int64?
    /// Whether it asks for the right to send to other servers; until when this node has that right, by the monotonic clock.
    var beatWantsToSend = false
    var sendsUntil: Int64 = 0
    /// Warnings of `side` before that.
    var beatWarnings = 0
    /// When old rows are next deleted, by the monotonic clock.
    var nextSweep: Int64 = 0
    var schema = Schema.version
    var time = PostgresStorage.PassedTime()
    /// As the file on this machine has it.
    var remembered: ShownPlace?
    /// The greatest timeline of a server that this node has used.
    var timeline: Int64 = 0
    /// Why the last attempt to reach a server, or to have a commit confirmed, failed.
    var obstacle = ReachObstacle.refusal
    var clock = FollowedClock(database: 0, sent: 0, received: 0)
}

/// The identity of the opened store.
struct Opened {
    var identity: StoreIdentity
    /// No table was there before.
    var isNew: Bool
    /// This start has given the tables of the version before what they lacked.
    var hasGrown: Bool
    /// The revision that this machine's nodes have shown, and that the log lacks: the epoch rose at this start.
    var lostRevision: UInt64?
    /// The file with the newest revision that this node has shown; nil: it remembers nothing.
    var memory: String?
    /// The store's time less the database's clock, in milliseconds.
    var shift: Int64 = 0
}

extension PostgresStorage {
    /// Opens the store in a database, and creates its tables where there are none. Reads no account.
    ///
    /// `shift`: the store's time less the database's clock, in milliseconds, for a store whose time is not that of the world.
    package static func open(
        _ location: PostgresLocation, node: NodeIdentity, memory directory: String? = nil, shift: Int64 = 0
    ) throws(PostgresOpenError) -> PostgresStorage {
        let main = try Self.connect(location, memory: directory)
        let place = location.text
        var isNew = false
        var tries = 0
        while try Self.row(main, place) == nil {
            tries += 1
            guard tries <= 5 else { throw .foreign(place: place, "its tables could not be created") }
            isNew = try Self.create(main, place)
        }
        let hasGrown = try Self.upgrade(main, place)
        try Self.noteSystem(main, place)
        let noticed = try Self.noticeRestore(main, place, memory: directory)
        guard let row = try Self.row(main, place) else { throw .foreign(place: place, "its row in store is missing") }
        guard row.schema <= Schema.version else {
            throw .storage(place: place, .newerSchema(found: Int(row.schema), known: Int(Schema.version)))
        }
        guard row.schema >= Schema.earliestVersion else {
            throw .storage(place: place, .olderSchema(found: Int(row.schema), known: Int(Schema.version)))
        }
        do throws(PostgresError) {
            try main.prepareAll()
            try Self.finishUpgrade(main, shift)
            let side = try Self.connectSide(location, beside: main)
            guard side.server == main.server else { throw Self.twoServers }
            let opened = Opened(
                identity: row.identity, isNew: isNew, hasGrown: hasGrown, lostRevision: noticed,
                memory: directory.map { ShownPlace.path(in: $0, row.identity) }, shift: shift)
            return try Self.make(location, node, main, side, row, opened)
        } catch {
            throw Self.openError(error, place)
        }
    }

    private static func make(
        _ location: PostgresLocation, _ node: NodeIdentity, _ main: Connection, _ side: Connection, _ row: Row,
        _ opened: Opened
    ) throws(PostgresError) -> PostgresStorage {
        let sent = Monotonic.milliseconds()
        let results = try main.run([Command(.beginReading), Command(.head), Command(.nodes), Command(.commit)])
        let received = Monotonic.milliseconds()
        let (head, nodes) = (results[1], results[2])
        // The clock may have been shown up to the lease of a node that is gone. Beside living nodes it is theirs.
        var lease = Instant.distantPast
        let isAlone = !(0..<nodes.count).contains { nodes.int64($0, 4) < Limits.nodeGoneMilliseconds }
        for place in 0..<nodes.count where isAlone { lease = max(lease, Instant(milliseconds: nodes.int64(place, 6))) }
        let isEmpty = head.isEmpty || head.isNull(0, 2)
        let header = StoreHeader(
            identity: row.identity, epoch: UInt32(truncatingIfNeeded: row.epoch),
            revision: isEmpty ? 0 : head.uint64(0, 2), nextTransaction: head.isEmpty ? 1 : head.uint64(0, 4),
            nextAccount: head.isEmpty ? 1 : head.uint64(0, 5), lease: lease)
        let end = LogEnd(revision: header.revision, mark: isEmpty ? 0 : head.uint64(0, 3))
        let storage = PostgresStorage(
            location, node: node, main: main, side: side, opened: opened, header: header, end: end)
        storage.nodes = Self.nodes(nodes)
        storage.reach.timeline = main.timeline
        if !head.isEmpty {
            storage.reach.clock = FollowedClock(
                database: head.int64(0, 8) + opened.shift, sent: sent, received: received)
            storage.schema = head.int64(0, 1)
            storage.time.read = (Instant(milliseconds: head.int64(0, 9)), header.revision)
        }
        try storage.join()
        return storage
    }

    // MARK: Connections

    static func connect(
        _ host: String, _ parameters: [(keyword: String, value: String)], within milliseconds: Int64,
        patience: Int64
    ) throws(PostgresOpenError) -> Connection {
        do throws(PostgresError) {
            let connection = try Connection(parameters, within: milliseconds, patience: patience)
            let rows = try connection.run([
                .text(
                    """
                    SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', pg_backend_pid(),
                        current_setting('fsync') = 'on', current_setting('server_version_num')::int, pg_postmaster_start_time()::text,
                        CASE WHEN pg_is_in_recovery() THEN 0
                            ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
                        current_setting('synchronous_standby_names') <> ''
                    """, [])
            ])[0]
            if rows.int64(0, 1) != Int64(connection.backendPID) { throw PostgresOpenError.pooler(place: host).carried }
            if rows.int64(0, 0) != 0 { throw PostgresOpenError.readOnly(place: host).carried }
            if rows.int64(0, 2) == 0 { throw PostgresOpenError.losesCommits(place: host, setting: "fsync=off").carried }
            if rows.int64(0, 3) < 130_000 {
                throw PostgresOpenError.oldServer(place: host, version: Int(rows.int64(0, 3))).carried
            }
            connection.server = rows.text(0, 4)
            connection.host = host
            connection.timeline = rows.int64(0, 5)
            connection.needsStandby = rows.int64(0, 6) != 0
            return connection
        } catch {
            throw Self.openError(error, host)
        }
    }

    /// Beside a connection for batches, to the same host.
    private static func connectSide(
        _ location: PostgresLocation, beside main: Connection
    ) throws(PostgresError) -> Connection {
        guard let attempt = try location.attempts().first(where: { $0.host == main.host }) else {
            throw .lost("\(main.host) has no address any more")
        }
        let side: Connection
        do throws(PostgresOpenError) {
            side = try Self.connect(
                attempt.host, attempt.parameters, within: Limits.databaseConnectMilliseconds,
                patience: location.patience)
        } catch {
            throw .lost(error.description)
        }
        try side.prepareAll()
        _ = try side.run([.text("LISTEN perch", [])])
        return side
    }

    /// The connection for batches and reads, made again where it was lost.
    func connected() throws(PostgresError) -> Connection {
        if let main = self.main, main.isOpen { return main }
        let now = Monotonic.milliseconds()
        if now < self.reach.notBefore, let failure = self.reach.failure { throw failure }
        do throws(PostgresError) {
            let main = try self.reconnect()
            self.main = main
            if let side = self.side, side.server != main.server { self.dropSide(Self.twoServers) }
            // A server that took over without a standby's confirmation may lack it, though it lacks no commit.
            if let passed = self.passed {
                main.post([Command(.setPassed, [.integer(passed.milliseconds)])])
            }
            self.figures.reconnects += 1
            self.reach.failure = nil
            return main
        } catch {
            self.figures.lastLoss = error.description
            self.reach.failure = error
            self.reach.notBefore = Monotonic.milliseconds() + Limits.storageRetryMilliseconds
            throw error
        }
    }

    /// The log is not the one that this node has applied.
    func lostHistory(_ what: String) -> StorageError {
        // Raises the epoch where it is not the one that this node has shown either.
        if let main = self.main { try? self.verify(main) }
        return .historyLost(what)
    }

    // MARK: Heartbeats

    /// Registers this node, by a commit that is a barrier too: a store is not opened on changes that a failover would take back.
    func join() throws(PostgresError) {
        let values: [Value] = [
            .integer(self.node.id), .text(self.node.name), .text(self.node.version), .number(self.applied.revision),
            .integer(Instant.distantPast.milliseconds),
        ]
        if let side = self.side { try self.confirm(Command(.insertNode, values), behind: self.applied, on: side) }
    }

    /// A commit that is confirmed as every other, of a log that has `end`: what was read up to there survives a failover.
    func barrier(behind end: LogEnd) throws(StorageError) {
        do throws(PostgresError) {
            let side = try self.connectedSide()
            try self.confirm(Command(.touch, [.integer(self.node.id)]), behind: end, on: side)
            self.reach.beatSent = nil
        } catch {
            self.dropSide(error)
            throw error.storageError
        }
    }

    private func confirm(_ write: Command, behind end: LogEnd, on side: Connection) throws(PostgresError) {
        let (sent, warnings) = (Monotonic.milliseconds(), side.warnings)
        let rows: [Rows]
        do throws(PostgresError) {
            rows = try side.run([write, Command(.markOf, [.number(end.revision)])])
        } catch {
            self.unconfirmed(on: side)
            throw error
        }
        guard side.warnings == warnings else { throw .lost(side.lastWarning) }
        guard end.revision == 0 || !rows[1].isEmpty && rows[1].uint64(0, 0) == end.mark else {
            // The connection that has read `end` may be one to a server that is no longer the primary.
            let error = PostgresError.lost("its log has another revision \(end.revision)")
            self.dropMain(error)
            throw error
        }
        self.reach.lastBeat = max(self.reach.lastBeat, sent)
    }

    func connectedSide() throws(PostgresError) -> Connection {
        if let side = self.side, side.isOpen { return side }
        // The same checks, and the same pause after a failure.
        let main = try self.connected()
        let side: Connection
        do throws(PostgresError) {
            side = try Self.connectSide(self.location, beside: main)
        } catch {
            self.reach.obstacle = error.message.contains(PostgresError.silence) ? .silence : .refusal
            throw error
        }
        guard side.server == main.server else {
            side.close()
            self.dropMain(Self.twoServers)
            throw Self.twoServers
        }
        self.side = side
        self.reach.sideNumber += 1
        self.reach.beatSent = nil
        try self.join()
        return side
    }

    /// After a failover the old primary may go on for a while. A heartbeat of the one says nothing about what is read from the other.
    private static let twoServers = PostgresError.lost("its two connections reached different servers")

    func dropSide(_ error: PostgresError) {
        self.side?.close()
        self.side = nil
        self.reach.beatSent = nil
        self.figures.lastLoss = error.description
    }

    func beatArrived(_ sent: Int64) {
        self.reach.lastBeat = max(self.reach.lastBeat, sent)
        self.reach.beatSent = nil
    }

    /// A session that answered before has not confirmed a commit in time.
    func unconfirmed(on side: Connection) {
        if side.needsStandby { self.reach.obstacle = .noStandby }
    }

    // MARK: Tables

    private struct Row {
        var identity: StoreIdentity
        var epoch: Int64
        var schema: Int64
    }

    static func identity(_ bytes: [UInt8]) -> StoreIdentity? {
        guard bytes.count == 16 else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return StoreIdentity(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    /// The row of `store`; nil where there is no such table.
    private static func row(_ main: Connection, _ place: String) throws(PostgresOpenError) -> Row? {
        do throws(PostgresError) {
            let isThere = try main.run([.text("SELECT to_regclass('perch.store') IS NOT NULL", [])])[0]
            if isThere.int64(0, 0) == 0 { return nil }
            let rows = try main.run([.text("SELECT identity, epoch, schema FROM perch.store", [])])[0]
            guard rows.count == 1, let identity = Self.identity(rows.bytes(0, 0)) else {
                throw PostgresOpenError.foreign(place: place, "its table store has \(rows.count) rows").carried
            }
            return Row(identity: identity, epoch: rows.int64(0, 1), schema: rows.int64(0, 2))
        } catch {
            if error.state.hasPrefix("42") && error.state != "42501" {
                throw .foreign(place: place, error.description)
            }
            throw Self.openError(error, place)
        }
    }

    /// Creates the tables. False: another node was first.
    private static func create(_ main: Connection, _ place: String) throws(PostgresOpenError) -> Bool {
        var random = SystemRandomNumberGenerator()
        let identity = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        do throws(PostgresError) {
            let hasSchema = try main.run([.text("SELECT to_regnamespace('perch') IS NOT NULL", [])])[0].int64(0, 0) != 0
            var commands = [Command.text("BEGIN", [])]
            if !hasSchema { commands.append(.text("CREATE SCHEMA perch", [])) }
            commands += Schema.statements.map { .text($0, []) }
            commands.append(
                .text(
                    "INSERT INTO store VALUES (1, $1::bytea, 1, $2::bigint, 0)",
                    [.bytes(identity), .integer(Schema.version)]))
            commands.append(.text("COMMIT", []))
            _ = try main.run(commands, within: 10 * Limits.databaseAnswerMilliseconds)
            return true
        } catch {
            main.post([.text("ROLLBACK", [])])
            // Duplicate schema, table or key: the other node commits first.
            if ["42P06", "42P07", "23505", "42710"].contains(error.state) { return false }
            if error.state == "42501" || error.state == "3F000" {
                throw .noRights(place: place, error.description)
            }
            throw Self.openError(error, place)
        }
    }

    /// Brings tables of an earlier version up to this one. True: they have grown.
    private static func upgrade(_ main: Connection, _ place: String) throws(PostgresOpenError) -> Bool {
        do throws(PostgresError) {
            let rows = try main.run([
                .text("BEGIN", []), .text("SELECT schema FROM store WHERE id = 1 FOR UPDATE", []),
            ])
            let found = rows[1].isEmpty ? Schema.version : rows[1].int64(0, 0)
            let steps = Schema.upgrades.filter { $0.version > found && found >= Schema.earliestVersion }
            var commands = steps.map { Command.text($0.statement, []) }
            if !steps.isEmpty {
                commands.append(.text("UPDATE store SET schema = $1::bigint", [.integer(Schema.versionBeside)]))
            }
            commands.append(.text("COMMIT", []))
            _ = try main.run(commands, within: 10 * Limits.databaseAnswerMilliseconds)
            guard found <= Schema.version else { return false }
            return try Self.grow(main, place)
        } catch {
            main.post([.text("ROLLBACK", [])])
            throw Self.openError(error, place)
        }
    }

    /// Adds the columns and tables that the version before lacks, while its nodes go on. Each takes an instant, once no session is at work on the
    /// table; writers wait meanwhile, at most `Limits.databaseGrowthMilliseconds` for each try.
    private static func grow(_ main: Connection, _ place: String) throws(PostgresError) -> Bool {
        let found = try main.run([
            .text(
                """
                SELECT count(*) + (to_regclass('perch.console_codes') IS NOT NULL)::int
                    + (to_regclass('perch.sender') IS NOT NULL)::int
                FROM pg_attribute WHERE NOT attisdropped AND (
                    attrelid = to_regclass('perch.store') AND attname IN ('passed', 'first_id')
                    OR attrelid = to_regclass('perch.nodes') AND attname = 'schema')
                """, [])
        ])[0].int64(0, 0)
        if found == Int64(Schema.growth.count) { return false }
        for statement in Schema.growth {
            var tries = 1
            while true {
                do throws(PostgresError) {
                    _ = try main.run([
                        .text("BEGIN", []),
                        .text("SET LOCAL lock_timeout = \(Limits.databaseGrowthMilliseconds)", []),
                        .text(statement, []), .text("COMMIT", []),
                    ])
                    break
                } catch {
                    _ = try main.run([.text("ROLLBACK", [])])
                    guard error.state == "55P03" || error.state == "40P01" else { throw error }
                    guard tries < Limits.databaseGrowthTriesMax else {
                        let what =
                            "its tables could not be changed in \(tries) tries, because another session uses them, as a dump does; "
                            + "wait for its end and start again"
                        throw PostgresOpenError.storage(place: place, .unreachable(what)).carried
                    }
                    tries += 1
                    // The writers that waited go first.
                    usleep(UInt32(Limits.databaseGrowthMilliseconds) * 1_000)
                }
            }
        }
        return true
    }

    /// A node at work keeps the lock for an instant: the next heartbeat tries again.
    private static func finishUpgrade(_ main: Connection, _ shift: Int64) throws(PostgresError) {
        do throws(PostgresError) {
            _ = try main.run([Command(.finishUpgrade, [.integer(shift)])])
        } catch {
            guard error.state == "55P03" else { throw error }
        }
    }

    /// Compares the log with what the nodes of this machine have shown. Returns the revision that it lacks: an earlier state of the
    /// database was restored, even into the same server, and the epoch has risen.
    private static func noticeRestore(
        _ main: Connection, _ place: String, memory directory: String?
    ) throws(PostgresOpenError) -> UInt64? {
        guard let shown = try Self.lacking(main, place, memory: directory) else { return nil }
        do throws(PostgresError) {
            _ = try main.run([
                .text(
                    "UPDATE store SET epoch = $1::bigint WHERE id = 1 AND epoch < $1::bigint",
                    [.integer(Int64(shown.epoch))])
            ])
            try Self.raiseEpoch(main, from: Int64(shown.epoch))
            return shown.revision
        } catch {
            throw Self.openError(error, place)
        }
    }

    /// What the nodes of this machine have shown of the store behind a connection, where its log lacks that.
    static func lacking(
        _ main: Connection, _ place: String, memory directory: String?
    ) throws(PostgresOpenError) -> ShownPlace? {
        guard let directory, let row = try Self.row(main, place),
            let shown = ShownPlace(path: ShownPlace.path(in: directory, row.identity)), shown.epoch >= row.epoch
        else { return nil }
        do throws(PostgresError) {
            let mark = try main.run([
                .text("SELECT mark FROM perch.commits WHERE revision = $1::bigint", [.number(shown.revision)])
            ])[0]
            let isThere = shown.revision == 0 || !mark.isEmpty && mark.uint64(0, 0) == shown.mark
            return shown.epoch == row.epoch && isThere ? nil : shown
        } catch {
            throw Self.openError(error, place)
        }
    }

    /// Declares that an earlier state of the database was restored: the epoch rises, so that tokens and cursors of what is lost are
    /// refused, and numbers begin anew above all that were given out. Returns the epoch.
    package static func declareRestored(_ location: PostgresLocation) throws(PostgresOpenError) -> UInt32 {
        let main = try Self.connect(location)
        defer { main.close() }
        guard try Self.row(main, location.text) != nil else {
            throw .foreign(place: location.text, "it has no store; restore one first")
        }
        _ = try Self.upgrade(main, location.text)
        guard let row = try Self.row(main, location.text) else {
            throw .foreign(place: location.text, "its row in store is missing")
        }
        do throws(PostgresError) {
            try main.prepareAll()
            try Self.raiseEpoch(main, from: row.epoch)
        } catch {
            throw Self.openError(error, location.text)
        }
        return UInt32(truncatingIfNeeded: row.epoch + 1)
    }

    /// Notes the database cluster. A store in another one was restored from a dump, so that its epoch rises.
    private static func noteSystem(_ main: Connection, _ place: String) throws(PostgresOpenError) {
        do throws(PostgresError) {
            let system = try main.run([.text("SELECT system_identifier FROM pg_control_system()", [])])[0].int64(0, 0)
            _ = try main.run([
                .text(
                    """
                    UPDATE store SET \(Schema.raisedEpoch) WHERE id = 1 AND system NOT IN (0, $1::bigint)
                    """, [.integer(system)]),
                .text("UPDATE store SET system = $1::bigint WHERE id = 1 AND system <> $1::bigint", [.integer(system)]),
            ])
        } catch {
            // A managed service may not say which cluster it is.
            if error.state == "42501" { return }
            throw Self.openError(error, place)
        }
    }

    /// What libpq says of settings with which no attempt succeeds. All else may pass, such as a name that does not resolve yet.
    private static let settingFaults = [
        "definition of service", "service file", "invalid connection option", "value: \"", "invalid integer value",
        "does not support SSL", "does not support GSSAPI", "root certificate", "certificate verify failed",
        "does not match host name", "certificate file", "private key file", "verified SSL connection",
        "channel binding", "authentication method requirement",
    ]

    static func openError(_ error: PostgresError, _ place: String) -> PostgresOpenError {
        if let carried = error.carried { return carried }
        let text = error.message
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if error.state == "42501" { return .noRights(place: place, error.description) }
        guard error.isLost else { return .storage(place: place, error.storageError) }
        if says("unsupported startup parameter") { return .pooler(place: place) }
        if says("database \"") && says("does not exist") { return .noDatabase(place: place, text) }
        if Self.settingFaults.contains(where: text.contains) { return .setting(place: place, text) }
        if says("password", "pg_hba.conf", "role \"", "authentication") { return .notAdmitted(place: place, text) }
        return .unreachable(place: place, text)
    }
}

extension PostgresError {
    static let otherStore = "PERCH1"
    static let otherHistory = "PERCH2"
    /// Of a host that says nothing, not even no.
    static let silence = "did not answer in time"
    /// Of a server that says nothing on a machine that does.
    static let stillness = "said nothing in time, although its machine took the connection"
}
