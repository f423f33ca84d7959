import CPerchPostgres
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
    /// Warnings of `side` before that.
    var beatWarnings = 0
    /// The machine's clock at that time.
    var beatWall: Int64 = 0
    /// The shortest recent round trip, in milliseconds; -1 before the first.
    var bestTrip: Int64 = -1
    /// When old rows are next deleted, by the monotonic clock.
    var nextSweep: Int64 = 0
    /// The database's clock less the machine's, in milliseconds.
    var clockOffset: Int64 = 0
}

/// The identity of the opened store.
struct Opened {
    var identity: StoreIdentity
    /// No table was there before.
    var isNew: Bool
}

extension PostgresStorage {
    /// Opens the store in a database, and creates its tables where there are none. Reads no account.
    package static func open(
        _ location: PostgresLocation, node: NodeIdentity
    ) throws(PostgresOpenError) -> PostgresStorage {
        let main = try Self.connect(location)
        let place = location.text
        var isNew = false
        var tries = 0
        while try Self.row(main, place) == nil {
            tries += 1
            guard tries <= 5 else { throw .foreign(place: place, "its tables could not be created") }
            isNew = try Self.create(main, place)
        }
        try Self.noteSystem(main, place)
        try Self.upgrade(main, place)
        guard let row = try Self.row(main, place) else { throw .foreign(place: place, "its row in store is missing") }
        guard row.schema <= Schema.version else {
            throw .storage(place: place, .newerSchema(found: Int(row.schema), known: Int(Schema.version)))
        }
        guard row.schema >= Schema.earliestVersion else {
            throw .storage(place: place, .olderSchema(found: Int(row.schema), known: Int(Schema.version)))
        }
        do throws(PostgresError) {
            try main.prepareAll()
            let side = try Self.connectSide(location)
            guard side.server == main.server else { throw Self.twoServers }
            return try Self.make(location, node, main, side, row, isNew: isNew)
        } catch {
            throw Self.openError(error, place)
        }
    }

    private static func make(
        _ location: PostgresLocation, _ node: NodeIdentity, _ main: Connection, _ side: Connection, _ row: Row,
        isNew: Bool
    ) throws(PostgresError) -> PostgresStorage {
        let results = try main.run([Command(.beginReading), Command(.head), Command(.nodes), Command(.commit)])
        let (head, nodes) = (results[1], results[2])
        // The clock may have been shown up to the lease of a node that is gone. Beside living nodes it is theirs.
        var lease = Instant.distantPast
        let isAlone = !(0..<nodes.count).contains { nodes.int64($0, 4) < Limits.nodeGoneMilliseconds }
        for place in 0..<nodes.count where isAlone { lease = max(lease, Instant(milliseconds: nodes.int64(place, 6))) }
        let isEmpty = head.isEmpty || head.isNull(0, 2)
        let header = StoreHeader(
            identity: row.identity, epoch: UInt32(truncatingIfNeeded: row.epoch),
            revision: isEmpty ? 0 : head.uint64(0, 2), nextTransaction: isEmpty ? 1 : head.uint64(0, 4),
            nextAccount: isEmpty ? 1 : head.uint64(0, 5), lease: lease)
        let end = LogEnd(revision: header.revision, mark: isEmpty ? 0 : head.uint64(0, 3))
        let storage = PostgresStorage(
            location, node: node, main: main, side: side, opened: Opened(identity: row.identity, isNew: isNew),
            header: header, end: end)
        storage.nodes = Self.nodes(nodes)
        storage.reach.bestTrip = -1
        storage.reach.clockOffset = head.isEmpty ? 0 : head.int64(0, 8) - Self.wall()
        try storage.join()
        return storage
    }

    // MARK: Connections

    /// The first host that writes.
    static func connect(_ location: PostgresLocation) throws(PostgresOpenError) -> Connection {
        let attempts: [(host: String, parameters: [(keyword: String, value: String)])]
        do throws(PostgresError) {
            attempts = try location.attempts()
        } catch {
            throw .unreachable(place: location.text, error.description)
        }
        var failures: [PostgresOpenError] = []
        for attempt in attempts {
            do throws(PostgresOpenError) {
                return try Self.connect(attempt.host, attempt.parameters)
            } catch {
                failures.append(error)
            }
        }
        // A standby says less than the reason of a primary that is down; a refusal says most.
        let rank = { (error: PostgresOpenError) -> Int in
            switch error {
            case .readOnly: 0
            case .unreachable: 1
            default: 2
            }
        }
        throw failures.max { rank($0) < rank($1) } ?? .unreachable(place: location.text, "no host is named")
    }

    private static func connect(
        _ host: String, _ parameters: [(keyword: String, value: String)]
    ) throws(PostgresOpenError) -> Connection {
        do throws(PostgresError) {
            let deadline = Monotonic.milliseconds() + Limits.databaseConnectMilliseconds
            let connection = try Connection(parameters, deadline: deadline)
            let rows = try connection.run([
                .text(
                    """
                    SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', pg_backend_pid(),
                        current_setting('fsync') = 'on', current_setting('server_version_num')::int, pg_postmaster_start_time()::text
                    """, [])
            ])[0]
            if rows.int64(0, 1) != Int64(connection.backendPID) { throw PostgresOpenError.pooler(place: host).carried }
            if rows.int64(0, 0) != 0 { throw PostgresOpenError.readOnly(place: host).carried }
            if rows.int64(0, 2) == 0 { throw PostgresOpenError.losesCommits(place: host, setting: "fsync=off").carried }
            if rows.int64(0, 3) < 130_000 {
                throw PostgresOpenError.oldServer(place: host, version: Int(rows.int64(0, 3))).carried
            }
            connection.server = rows.text(0, 4)
            return connection
        } catch {
            throw Self.openError(error, host)
        }
    }

    private static func connectSide(_ location: PostgresLocation) throws(PostgresError) -> Connection {
        let side: Connection
        do throws(PostgresOpenError) {
            side = try Self.connect(location)
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
            let main: Connection
            do throws(PostgresOpenError) {
                main = try Self.connect(self.location)
            } catch {
                throw .lost(error.description)
            }
            try main.prepareAll()
            try self.verify(main)
            self.main = main
            if let side = self.side, side.server != main.server { self.dropSide(Self.twoServers) }
            self.figures.reconnects += 1
            self.reach.failure = nil
            return main
        } catch {
            self.reach.failure = error
            self.reach.notBefore = Monotonic.milliseconds() + Limits.storageRetryMilliseconds
            throw error
        }
    }

    /// Whether the database behind a new connection has the history that this node has shown.
    private func verify(_ main: Connection) throws(PostgresError) {
        let results = try main.run([
            .text("SELECT identity, epoch FROM store WHERE id = 1", []),
            Command(.markOf, [.number(self.applied.revision)]),
        ])
        guard !results[0].isEmpty, Self.identity(results[0].bytes(0, 0)) == self.opened.identity else {
            throw PostgresError(state: PostgresError.otherStore, message: "it is another store")
        }
        guard results[0].int64(0, 1) == Int64(self.currentHeader.epoch) else {
            throw PostgresError(
                state: PostgresError.otherHistory,
                message: "its epoch is \(results[0].int64(0, 1)), this node began with \(self.currentHeader.epoch)")
        }
        if self.applied.revision == 0 { return }
        guard !results[1].isEmpty, results[1].uint64(0, 0) == self.applied.mark else {
            let shown = try main.run([Command(.markOf, [.number(self.shown.revision)])])[0]
            if self.shown.revision == 0 || !shown.isEmpty && shown.uint64(0, 0) == self.shown.mark {
                throw PostgresError(
                    state: PostgresError.otherHistory,
                    message:
                        "it lacks revision \(self.applied.revision), which this node has read and nobody was shown")
            }
            try self.raiseEpoch(main)
            throw PostgresError(
                state: PostgresError.otherHistory,
                message: "it lacks revision \(self.applied.revision), which this node has shown")
        }
    }

    /// Makes the tokens of the lost history invalid, once for all nodes that miss it.
    private func raiseEpoch(_ main: Connection) throws(PostgresError) {
        _ = try main.run([
            Command(.begin), Command(.lock),
            .text(
                "UPDATE store SET epoch = epoch + 1 WHERE id = 1 AND epoch = $1::bigint",
                [.integer(Int64(self.currentHeader.epoch))]),
            Command(.commit),
        ])
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
        let rows = try side.run([write, Command(.markOf, [.number(end.revision)])])
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
        let side = try Self.connectSide(self.location)
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

    // MARK: Tables

    private struct Row {
        var identity: StoreIdentity
        var epoch: Int64
        var schema: Int64
    }

    private static func identity(_ bytes: [UInt8]) -> StoreIdentity? {
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

    /// Brings tables of an earlier version up to this one, under the store's lock: the next node finds that it is done.
    private static func upgrade(_ main: Connection, _ place: String) throws(PostgresOpenError) {
        do throws(PostgresError) {
            let rows = try main.run([
                .text("BEGIN", []), .text("SELECT schema FROM store WHERE id = 1 FOR UPDATE", []),
            ])
            let found = rows[1].isEmpty ? Schema.version : rows[1].int64(0, 0)
            let steps = Schema.upgrades.filter { $0.version > found && found >= Schema.earliestVersion }
            var commands = steps.map { Command.text($0.statement, []) }
            if !steps.isEmpty {
                commands.append(.text("UPDATE store SET schema = $1::bigint", [.integer(Schema.version)]))
            }
            commands.append(.text("COMMIT", []))
            _ = try main.run(commands, within: 10 * Limits.databaseAnswerMilliseconds)
        } catch {
            main.post([.text("ROLLBACK", [])])
            throw Self.openError(error, place)
        }
    }

    /// Notes the database cluster. A store in another one was restored from a dump, so that its epoch rises.
    private static func noteSystem(_ main: Connection, _ place: String) throws(PostgresOpenError) {
        do throws(PostgresError) {
            let system = try main.run([.text("SELECT system_identifier FROM pg_control_system()", [])])[0].int64(0, 0)
            _ = try main.run([
                .text(
                    """
                    UPDATE store SET system = $1::bigint, epoch = epoch + CASE WHEN system = 0 THEN 0 ELSE 1 END
                    WHERE id = 1 AND system <> $1::bigint
                    """, [.integer(system)])
            ])
        } catch {
            // A managed service may not say which cluster it is.
            if error.state == "42501" { return }
            throw Self.openError(error, place)
        }
    }

    static func openError(_ error: PostgresError, _ place: String) -> PostgresOpenError {
        if let carried = error.carried { return carried }
        let text = error.message
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if error.state == "42501" { return .noRights(place: place, error.description) }
        guard error.isLost else { return .storage(place: place, error.storageError) }
        if says("unsupported startup parameter") { return .pooler(place: place) }
        if says("database \"") && says("does not exist") { return .noDatabase(place: place, text) }
        if says("password", "pg_hba.conf", "role \"", "authentication") { return .notAdmitted(place: place, text) }
        return .unreachable(place: place, text)
    }
}

extension PostgresError {
    static let otherStore = "PERCH1"
    static let otherHistory = "PERCH2"
}
