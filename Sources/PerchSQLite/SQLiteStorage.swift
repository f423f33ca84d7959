package import PerchBase
import PerchModel
package import PerchStore

/// Durable storage in one file, by the system's SQLite.
///
/// One connection holds the file exclusively, and belongs to the store's thread. `commit` returns after the sync. A batch that
/// finds the log too long checkpoints it before it begins. See Design.md.
package final class SQLiteStorage: Storage, StoreMaintenance {
    let path: String
    let connection: Connection
    /// By `Query.rawValue`, each prepared when the store opens; empty once closed. An inspected file may have an earlier
    /// schema, so its statements are prepared when they are first used.
    private var statements: [Statement?]
    /// As the open batch has it.
    var currentHeader: StoreHeader
    private var committedHeader: StoreHeader
    private var batch = Batch.none
    /// Why writing is no longer possible.
    private var failure: StorageError?
    /// The most recently read catalogue: settling a backlog reads the states of one app again and again.
    var latestCatalogue: (app: AppNumber, revision: UInt64, catalogue: Catalogue)?
    /// Checkpoints that found no space. The log grows instead.
    package private(set) var checkpointsWithoutRoom: Int
    /// Whether no row of `sources` is missing. False until a copy has looked.
    var hasAllSources = false
    private var checkpoints: UInt64 = 0
    private var checkpointPages: UInt64 = 0
    /// The file's schema before it was opened, if it was converted.
    package let convertedSchema: Int64?
    /// The schema that this version writes.
    package static var schemaVersion: Int64 { Schema.version }

    private enum Batch {
        case none
        case open
        /// A write failed. SQLite may have rolled back already, so the batch can only be rolled back.
        case broken(StorageError)
    }

    /// The purpose for which a store is opened.
    enum Use {
        case service
        /// Fills a new file, without a log and without syncs. A failure deletes the file.
        case generation
        /// Reads a whole file that does not change meanwhile. Writes nothing.
        case inspection
    }

    /// Opens the store at a path, creating it if it is missing. Reads no account.
    package convenience init(path: String) throws(StoreOpenError) {
        try self.init(path: path, for: .service)
    }

    /// Opens or creates a store on a test's file system, with a given identity. For tests of faulty disks, and for simulations
    /// that must be repeatable.
    package convenience init(
        path: String, on fileSystem: StoreFileSystem, identity: StoreIdentity
    ) throws(StoreOpenError) {
        try self.init(path: path, for: .service, on: fileSystem, identity: identity)
    }

    init(
        path: String, for use: Use, on fileSystem: StoreFileSystem = .machine, identity: StoreIdentity? = nil
    ) throws(StoreOpenError) {
        let isFixed = use == .inspection
        if fileSystem.base == nil, !isFixed {
            try StoreFile.requireNoLogAlone(at: path)
            try StoreFile.create(at: path)
        }
        do throws(SQLiteError) {
            let connection = try Connection(path: path, on: fileSystem, isFixed: isFixed)
            try Self.prepareFile(connection, path: path, for: use, identity: identity)
            let hasRoom = isFixed ? true : try Self.makeDurable(connection)
            self.checkpointsWithoutRoom = hasRoom ? 0 : 1
            self.convertedSchema = isFixed ? nil : try Self.convert(connection)
            let statements = try Query.allCases.map { (query) throws(SQLiteError) in
                isFixed ? nil : try Statement(query.sql, on: connection)
            }
            let statement = try Statement(Query.header.sql, on: connection)
            defer { statement.reset() }
            let blob = try statement.step() ? statement.bytes(0) : []
            self.path = path
            self.connection = connection
            self.statements = statements
            self.currentHeader = try Self.header(blob)
            self.committedHeader = self.currentHeader
        } catch {
            throw Self.openError(error, path: path)
        }
    }

    deinit { self.close() }

    // MARK: A batch

    package func header() -> StoreHeader { self.currentHeader }

    package func begin() throws(StorageError) {
        guard case .none = self.batch else { preconditionFailure("a batch began inside a batch") }
        if let failure = self.failure { throw failure }
        try self.checkpointIfLong()
        do throws(StorageError) {
            try self.run(.begin, [])
        } catch {
            throw self.remember(error)
        }
        self.batch = .open
    }

    package func commit() throws(StorageError) {
        self.requireBatch()
        do throws(StorageError) {
            if case .broken(let error) = self.batch { throw error }
            if self.currentHeader != self.committedHeader {
                try self.run(.setHeader, [.bytes(self.currentHeader.sealed())])
            }
            try self.run(.commit, [])
        } catch {
            self.rollback()
            throw self.remember(error)
        }
        self.committedHeader = self.currentHeader
        self.batch = .none
    }

    package func rollback() {
        if case .none = self.batch { return }
        self.batch = .none
        self.currentHeader = self.committedHeader
        self.latestCatalogue = nil
        guard !self.connection.isAutocommit else { return }
        do throws(StorageError) {
            try self.run(.rollback, [])
        } catch {
            self.failure = self.failure ?? .failed("a rollback failed: \(error)")
        }
    }

    package func close() {
        self.rollback()
        self.statements = []
        self.connection.close(keepingLog: self.failure != nil)
    }

    /// The most pages that SQLite allows a file to have: 16 TiB.
    package static let pagesMax = 4_294_967_294

    /// Limits the file to a number of pages of 4 KiB. A write that needs more fails as on a full disk.
    package func limitPages(to count: Int) throws(StorageError) {
        do throws(SQLiteError) {
            _ = try self.connection.number("PRAGMA max_page_count = \(count)")
        } catch {
            throw error.storageError
        }
    }

    /// Moves the log into the file now. Must be called outside a batch.
    package func checkpoint() throws(StorageError) {
        do throws(SQLiteError) {
            try self.connection.checkpoint()
        } catch {
            throw self.remember(error.storageError)
        }
    }

    /// The findings of SQLite's integrity check of the whole file; empty if there are none.
    package func findings() throws(StorageError) -> [String] {
        do throws(SQLiteError) {
            let found = try self.connection.text("PRAGMA integrity_check(1)") ?? "nothing was answered"
            return found == "ok" ? [] : [found]
        } catch {
            throw error.storageError
        }
    }

    /// Runs a write of the batch. A failure breaks the batch, because SQLite may have undone it already.
    func write(_ query: Query, _ values: [Statement.Value]) throws(StorageError) {
        self.requireBatch()
        if case .broken(let error) = self.batch { throw error }
        do throws(StorageError) {
            try self.run(query, values)
        } catch {
            self.batch = .broken(self.remember(error))
            throw error
        }
    }

    func requireBatch() {
        if case .none = self.batch { preconditionFailure("a write outside a batch") }
    }

    /// Checkpoints a long log. The batch before has its answers already, so only the next one waits.
    private func checkpointIfLong() throws(StorageError) {
        guard self.connection.logBytes >= Limits.storeLogBytes else { return }
        do throws(SQLiteError) {
            let before = self.connection.pagesWritten
            try self.connection.checkpoint()
            let pages = Int(self.connection.pagesWritten - before)
            self.checkpoints += 1
            self.checkpointPages += UInt64(pages)
        } catch {
            let meaning = error.storageError
            if case .full = meaning {
                self.checkpointsWithoutRoom += 1
            } else {
                throw self.remember(meaning)
            }
        }
    }

    /// Remembers a failure of the disk. Nothing may be written after it, because a second fsync says nothing about the pages of
    /// the first.
    private func remember(_ error: StorageError) -> StorageError {
        if case .failed = error { self.failure = error }
        return error
    }

    package var maintenance: (any StoreMaintenance)? { self }

    package var hasRoom: Bool {
        self.connection.isOnMachine ? StoreFile.roomBytes(at: self.path) >= Limits.storeRoomBytes : true
    }

    package var figures: StorageFigures {
        var figures = StorageFigures()
        figures.fileBytes = StoreFile.bytes(at: self.path)
        figures.logBytes = StoreFile.bytes(at: self.path + "-wal")
        figures.checkpoints = self.checkpoints
        figures.checkpointPages = self.checkpointPages
        figures.checkpointsWithoutRoom = UInt64(self.checkpointsWithoutRoom)
        return figures
    }

    // MARK: Statements

    /// Runs a statement, and passes each row to `row` until that returns false.
    func run(
        _ query: Query, _ values: [Statement.Value],
        row: (Statement) throws(StorageError) -> Bool = { (_) throws(StorageError) in true }
    ) throws(StorageError) {
        precondition(!self.statements.isEmpty, "a store was used after it was closed")
        let statement = try self.statement(query)
        defer { statement.reset() }
        do throws(SQLiteError) {
            try statement.bind(values)
        } catch {
            throw error.storageError
        }
        while true {
            let hasRow: Bool
            do throws(SQLiteError) {
                hasRow = try statement.step()
            } catch {
                throw error.storageError
            }
            guard hasRow, try row(statement) else { return }
        }
    }

    private func statement(_ query: Query) throws(StorageError) -> Statement {
        if let statement = self.statements[query.rawValue] { return statement }
        do throws(SQLiteError) {
            let statement = try Statement(query.sql, on: self.connection)
            self.statements[query.rawValue] = statement
            return statement
        } catch {
            throw error.storageError
        }
    }

    /// The row of a statement that returns at most one.
    func first<Value>(
        _ query: Query, _ values: [Statement.Value], _ read: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        var value: Value?
        try self.run(query, values) { (statement) throws(StorageError) in
            value = try read(statement)
            return false
        }
        return value
    }
}
