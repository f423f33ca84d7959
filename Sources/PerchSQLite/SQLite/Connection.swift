import CPerchSQLite
import PerchStore

/// The one connection to a store's file. Owns its handle; belongs to the thread that opened it.
final class Connection {
    /// Nil once closed.
    private var handle: OpaquePointer?
    /// Not on a disk of a test.
    let isOnMachine: Bool
    /// Pages in the log after the latest commit; -1 before the first. C writes here.
    private let logPages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// Opens an existing file. Creates one only on a test's disk, where no other code can.
    ///
    /// `isFixed`: opens a file for reading only that does not change meanwhile. The file gets no lock and no log, and its
    /// directory need not be writable.
    init(path: String, on fileSystem: StoreFileSystem = .machine, isFixed: Bool = false) throws(SQLiteError) {
        self.logPages.initialize(to: -1)
        self.isOnMachine = fileSystem.base == nil
        let registered = perch_register_file_system(fileSystem.base, fileSystem.name)
        // All stored properties are initialised, so `deinit` runs if an error is thrown below.
        guard registered == SQLITE_OK else {
            throw SQLiteError(code: registered, message: "its file system could not be registered", doing: "open")
        }
        // NOMUTEX: one thread. EXRESCODE: every code says which file operation failed.
        var flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        if fileSystem.base != nil { flags |= SQLITE_OPEN_CREATE }
        var name = path
        if isFixed {
            flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
            name = Self.fixedName(path)
        }
        var handle: OpaquePointer?
        // Codes to expect: OK; CANTOPEN; NOMEM. Locks and contents are looked at with the first statement.
        let code = sqlite3_open_v2(name, &handle, flags, fileSystem.name)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            let systemError = handle.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(handle)
            throw SQLiteError(code: code, message: message, doing: "open", systemError: systemError)
        }
        self.handle = handle
        perch_count_log_pages(handle, self.logPages)
    }

    /// The URI of a file that does not change, with every special byte escaped.
    private static func fixedName(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes = Array("file:".utf8)
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self) + "?immutable=1"
    }

    deinit {
        // Still open only if opening the store failed half way. Its statements may be released after this.
        if let handle = self.handle { sqlite3_close_v2(handle) }
        self.logPages.deallocate()
    }

    /// Bytes of the log that a checkpoint would empty.
    var logBytes: Int { max(0, Int(self.logPages.pointee)) * Int(PERCH_PAGE_BYTES) }

    /// Pages written to the file, not to the log, since it was opened.
    var pagesWritten: Int64 {
        var count: Int64 = 0
        sqlite3_file_control(self.open, "main", PERCH_FCNTL_PAGES_WRITTEN, &count)
        return count
    }

    /// Whether SQLite is outside a transaction: after some errors it has rolled back by itself.
    var isAutocommit: Bool { sqlite3_get_autocommit(self.open) != 0 }

    /// Whether the file could be opened for reading only.
    var isReadOnly: Bool { sqlite3_db_readonly(self.open, "main") == 1 }

    /// Bytes at the end of each page that SQLite leaves alone.
    var reservedBytes: Int32 {
        get {
            var value: Int32 = -1
            sqlite3_file_control(self.open, "main", SQLITE_FCNTL_RESERVE_BYTES, &value)
            return value
        }
        set {
            var value = newValue
            sqlite3_file_control(self.open, "main", SQLITE_FCNTL_RESERVE_BYTES, &value)
        }
    }

    /// Runs statements that return no rows.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(self.open, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw self.error(code, doing: sql) }
    }

    /// Runs a pragma, or another statement of one number.
    func number(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try Statement(sql, on: self)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : nil
    }

    func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try Statement(sql, on: self)
        defer { statement.reset() }
        return try statement.step() ? statement.text(0) : nil
    }

    /// Moves the log's contents into the file, and syncs both. Returns the number of pages that the log held.
    ///
    /// Codes to expect: OK; FULL; IOERR of every kind. BUSY cannot happen: there is one connection, and it reads nothing now.
    @discardableResult
    func checkpoint() throws(SQLiteError) -> Int {
        var pages: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(self.open, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, nil)
        guard code == SQLITE_OK else { throw self.error(code, doing: "checkpoint") }
        self.logPages.pointee = 0
        return Int(max(0, pages))
    }

    /// Closes the connection. All statements must have been released. Moves the log into the file unless it is kept.
    func close(keepingLog: Bool) {
        guard let handle = self.handle else { return }
        self.handle = nil
        if keepingLog { _ = perch_keep_log_on_close(handle) }
        // Its failure to checkpoint is no loss: the log stays, and the next start reads it.
        let code = sqlite3_close(handle)
        precondition(code == SQLITE_OK, "a statement outlived its connection")
    }

    func prepare(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        var statement: OpaquePointer?
        // Codes to expect: OK; ERROR for our SQL, or a schema that is not ours; BUSY while another process holds the
        // file; CORRUPT, NOTADB and IOERR from reading the schema.
        let code = sqlite3_prepare_v3(self.open, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw self.error(code, doing: "prepare \(sql)") }
        return statement
    }

    func error(_ code: Int32, doing what: String) -> SQLiteError {
        SQLiteError(
            code: code, message: String(cString: sqlite3_errmsg(self.open)), doing: what,
            systemError: sqlite3_system_errno(self.open))
    }

    /// For the copying of pages, which takes two connections.
    var open: OpaquePointer {
        guard let handle = self.handle else { preconditionFailure("a store was used after it was closed") }
        return handle
    }
}
