import CPerchSQLite
import PerchBase
import PerchModel
import PerchStore

extension SQLiteStorage {
    /// Takes the file's lock, checks that this version knows the store, and creates the tables of a new one.
    static func prepareFile(
        _ connection: Connection, path: String, for use: Use, identity: StoreIdentity?
    ) throws(SQLiteError) {
        if connection.isReadOnly, use != .inspection {
            throw SQLiteError(code: SQLITE_READONLY, message: "it opens for reading only", doing: "open")
        }
        // Before the first read: these settings apply to a new file, and rule out shared memory.
        connection.reservedBytes = PERCH_PAGE_RESERVED_BYTES
        try connection.execute(
            """
            PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = \(PERCH_PAGE_BYTES); PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            PRAGMA cache_size = -\(Limits.storePageCacheBytes / 1024); PRAGMA secure_delete = ON;
            """)
        let isNew = try Self.isNew(connection, path: path)
        guard connection.reservedBytes == PERCH_PAGE_RESERVED_BYTES else {
            throw Self.damaged("its header reserves \(connection.reservedBytes) bytes a page, a store of Perch 4")
        }
        switch use {
        case .service: try Self.useLog(connection)
        case .generation:
            try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        case .inspection:
            guard !isNew else { throw Self.damaged("there is nothing in it") }
        }
        if isNew { try Self.create(connection, identity: identity ?? StoreFile.newIdentity()) }
    }

    /// Switches to a write-ahead log, with every commit synced.
    private static func useLog(_ connection: Connection) throws(SQLiteError) {
        try connection.execute(
            "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = \(Limits.storeLogBytes)")
        let mode = try connection.text("PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw SQLiteError(code: SQLITE_IOERR, message: "journal mode is \(mode ?? "none")", doing: "open")
        }
    }

    /// Makes the contents of a log durable before they are read. False: there is no space for it.
    ///
    /// A process that was killed during a sync leaves a batch that reads as committed but would not survive a loss of power. A
    /// process that ended after a failed sync leaves a batch that no later sync of the log writes. So the contents of the log move
    /// into the file, which is synced. Then the log restarts with a header that makes its old pages void: otherwise old pages
    /// on the disk could replace newer ones in the file.
    static func makeDurable(_ connection: Connection) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            guard try connection.checkpoint() > 0 else { return true }
            // The smallest possible write: the value that is stored already.
            let schema = try Self.schema(of: connection)
            try connection.execute("BEGIN IMMEDIATE; PRAGMA user_version = \(schema); COMMIT")
            return true
        } catch {
            guard case .full = error.storageError else { throw error }
            if !connection.isAutocommit { try connection.execute("ROLLBACK") }
            return false
        }
    }

    /// Carries a store of an earlier schema over to this one, in one transaction. Returns its schema; nil where it has this
    /// one already.
    ///
    /// Blobs keep their form, which this version reads, until they are written again.
    static func convert(_ connection: Connection) throws(SQLiteError) -> Int64? {
        let schema = try Self.schema(of: connection)
        guard schema < Schema.version else { return nil }
        do throws(SQLiteError) {
            try connection.execute("BEGIN IMMEDIATE")
            if schema < 5 { try Self.convertTo5(connection) }
            if schema < 6 {
                for statement in Schema.conversionTo6 { try connection.execute(statement) }
                try Self.fillCrossings(connection)
            }
            for statement in Schema.conversionTo7 { try connection.execute(statement) }
            try connection.execute("PRAGMA user_version = \(Schema.version); COMMIT")
        } catch {
            if !connection.isAutocommit { try connection.execute("ROLLBACK") }
            throw error
        }
        return schema
    }

    /// Brings the app into the key of transactions. It is read from each account's record: schema 4 has no other place for it
    /// that is always there.
    private static func convertTo5(_ connection: Connection) throws(SQLiteError) {
        try connection.execute("CREATE TEMP TABLE account_apps (account INTEGER PRIMARY KEY, app INTEGER NOT NULL)")
        try Self.fillAccountApps(connection)
        for statement in Schema.conversionTo5 { try connection.execute(statement) }
        let count = try connection.number("SELECT count(*) FROM transactions") ?? 0
        let converted = try connection.number("SELECT count(*) FROM transactions_of_apps") ?? 0
        guard count == converted else {
            throw Self.damaged("\(count - converted) of \(count) transactions are of accounts without a record")
        }
        for statement in Schema.conversionTo5End { try connection.execute(statement) }
        try connection.execute("DROP TABLE temp.account_apps")
    }

    /// The crossings that are still to come, from the records. Readers of an app's changes begin after the conversion, so
    /// those of the past are of no use.
    private static func fillCrossings(_ connection: Connection) throws(SQLiteError) {
        let apps = try Self.newestApps(connection)
        let records = try Statement(Query.everyRecord, on: connection)
        let insert = try Statement(Query.insertCrossing.sql, on: connection)
        defer { records.reset() }
        while try records.step() {
            let record = try Self.record(records.uint64(0), records.bytes(1))
            guard let app = apps[record.app] else { continue }
            // No earlier than the clock at the record's last change, whatever moved the clock since.
            let since = app.clock.now(wall: record.committed)
            for instant in record.crossings(after: since, leewayMilliseconds: app.renewalLeewayMilliseconds) {
                try insert.bind([
                    .integer(Int64(record.app)), .integer(instant.milliseconds), .stored(record.account),
                ])
                _ = try insert.step()
                insert.reset()
            }
        }
    }

    /// The newest state of each app, without its catalogue.
    private static func newestApps(_ connection: Connection) throws(SQLiteError) -> [AppNumber: AppState] {
        let states = try Statement(
            """
            SELECT a.app, s.revision, s.catalogue_revision, s.blob FROM apps a JOIN app_states s
            ON s.app = a.app AND s.effective = a.effective AND s.revision = a.revision
            """, on: connection)
        defer { states.reset() }
        var apps: [AppNumber: AppState] = [:]
        while try states.step() {
            let number = AppNumber(truncatingIfNeeded: states.int64(0))
            do throws(DecodingFault) {
                apps[number] =
                    try StoredAppState.unsealed(
                        states.bytes(3), app: number, revision: states.uint64(1), catalogueRevision: states.uint64(2),
                        catalogue: .empty
                    ).state
            } catch {
                throw Self.damaged("the state of app \(number): \(error)")
            }
        }
        return apps
    }

    private static func record(_ account: AccountNumber, _ blob: [UInt8]) throws(SQLiteError) -> AccountRecord {
        do throws(DecodingFault) {
            return try AccountRecord(unsealing: blob, of: account)
        } catch {
            throw Self.damaged("the record of account \(account): \(error)")
        }
    }

    private static func fillAccountApps(_ connection: Connection) throws(SQLiteError) {
        let records = try Statement("SELECT account, blob FROM records", on: connection)
        let insert = try Statement("INSERT INTO account_apps VALUES (?1, ?2)", on: connection)
        defer { records.reset() }
        while try records.step() {
            let record = try Self.record(records.uint64(0), records.bytes(1))
            try insert.bind([.stored(record.account), .integer(Int64(record.app))])
            _ = try insert.step()
            insert.reset()
        }
    }

    /// The schema number in the file.
    static func schema(of connection: Connection) throws(SQLiteError) -> Int64 {
        try connection.number("PRAGMA user_version") ?? 0
    }

    /// Switches a generated store to normal service.
    func beginService() throws(StorageError) {
        do throws(SQLiteError) {
            try Self.useLog(self.connection)
        } catch {
            throw error.storageError
        }
    }

    /// Whether the file is empty. Throws unless it is a store with a schema that this version knows.
    private static func isNew(_ connection: Connection, path: String) throws(SQLiteError) -> Bool {
        // The first statement that reads, so the one that meets another process's lock.
        let applicationID = try connection.number("PRAGMA application_id") ?? 0
        let version = try Self.schema(of: connection)
        if applicationID == 0, version == 0,
            try connection.number("SELECT count(*) FROM sqlite_schema") == 0
        {
            return true
        }
        guard applicationID == Schema.applicationID else {
            throw SQLiteError(
                code: Self.foreignCode, message: String(UInt32(truncatingIfNeeded: applicationID)), doing: "open")
        }
        guard version <= Schema.version else {
            throw SQLiteError(code: Self.newerCode, message: String(version), doing: "open")
        }
        guard version >= Schema.earliestVersion else {
            guard version > 0 else {
                throw Self.damaged("it has schema \(version), the first of Perch was 1")
            }
            throw SQLiteError(code: Self.olderCode, message: String(version), doing: "open")
        }
        return false
    }

    private static func create(_ connection: Connection, identity: StoreIdentity) throws(SQLiteError) {
        let header = StoreHeader(
            identity: identity, epoch: 1, revision: 0, nextTransaction: 1, nextAccount: 1,
            lease: .distantPast)
        try connection.execute("BEGIN IMMEDIATE")
        for statement in Schema.statements { try connection.execute(statement) }
        try connection.execute(
            "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.version)")
        let insert = try Statement(Query.setHeader.sql, on: connection)
        try insert.bind([.bytes(header.sealed())])
        _ = try insert.step()
        insert.reset()
        try connection.execute("COMMIT")
    }

    static func header(_ blob: [UInt8]) throws(SQLiteError) -> StoreHeader {
        do throws(DecodingFault) {
            return try StoreHeader(unsealing: blob)
        } catch {
            throw Self.damaged("its header: \(error)")
        }
    }

    // Perch's own codes. SQLite's are positive.
    private static let foreignCode: Int32 = -1
    private static let newerCode: Int32 = -2
    private static let olderCode: Int32 = -3

    private static func damaged(_ what: String) -> SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: what, doing: "open")
    }

    /// Maps a failure to open. BUSY can happen only here, because an open store holds the lock.
    static func openError(_ error: SQLiteError, path: String) -> StoreOpenError {
        if error.code == Self.foreignCode { return .foreign(path: path, applicationID: UInt32(error.message)) }
        if error.code == Self.newerCode {
            return .storage(
                path: path, .newerSchema(found: Int(error.message) ?? 0, known: Int(Schema.version)))
        }
        if error.code == Self.olderCode {
            return .storage(
                path: path, .olderSchema(found: Int(error.message) ?? 0, known: Int(Schema.version)))
        }
        if error.isBusy { return .inUse(path: path) }
        if error.isNotADatabase { return .foreign(path: path, applicationID: nil) }
        if error.isSchemaMismatch {
            return .storage(path: path, .corrupt("its tables are not those of its schema: \(error.message)"))
        }
        switch error.code & 0xFF {
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: return .notPermitted(path: path)
        case SQLITE_FULL: return .noRoom(path: path)
        default: return .storage(path: path, error.storageError)
        }
    }
}
