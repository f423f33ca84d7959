import CPerchSQLite
import PerchStore

/// Copies the pages of one connection's file into another file, some at a time.
///
/// When the source's connection changes a page that was copied already, SQLite writes the change to the copy too. It does so for
/// changes of the same connection, and this store has only one. A rolled-back batch makes SQLite restart the copy, because
/// some of the batch may be in it.
final class PageCopy {
    private let source: Connection
    private let target: Connection
    private var handle: OpaquePointer?

    init(of source: Connection, into target: Connection) throws(SQLiteError) {
        self.source = source
        self.target = target
        // Nil: the target says why.
        guard let handle = sqlite3_backup_init(target.open, "main", source.open, "main") else {
            throw target.error(sqlite3_errcode(target.open), doing: "begin a copy")
        }
        self.handle = handle
    }

    deinit { self.finish() }

    /// Copies some pages. True: the copy is complete. Codes to expect: OK; DONE; FULL and IOERR of either file. BUSY and LOCKED
    /// cannot happen: no other connection has the files, and no batch is open.
    func step(pages: Int32) throws(SQLiteError) -> Bool {
        guard let handle = self.handle else { preconditionFailure("a copy was used after its end") }
        switch sqlite3_backup_step(handle, pages) {
        case SQLITE_OK: return false
        case SQLITE_DONE: return true
        case let code: throw self.target.error(code, doing: "copy")
        }
    }

    var copiedPages: Int {
        guard let handle = self.handle else { return 0 }
        return Int(sqlite3_backup_pagecount(handle) - sqlite3_backup_remaining(handle))
    }

    /// Releases both connections. Its code repeats the last step's failure, which was thrown then.
    func finish() {
        if let handle = self.handle { sqlite3_backup_finish(handle) }
        self.handle = nil
    }
}
