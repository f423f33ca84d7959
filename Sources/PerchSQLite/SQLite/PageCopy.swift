import CPerchSQLite
import PerchStore

/// The pages of one connection's file on their way into another's, some at a time.
///
/// What the source's connection writes meanwhile goes into the copy as well, of pages that were copied already: SQLite
/// does that by itself for changes of the same connection, and ours is the only one. A batch that is rolled back
/// makes SQLite begin the copy again: it may have written some of it there.
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

    /// True: all is copied. Codes to expect: OK; DONE; FULL and IOERR of either file. BUSY and LOCKED cannot be: nobody
    /// else has the files, and no batch is under way.
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

    /// Lets go of both connections. Its code repeats the last step's failure, thrown then.
    func finish() {
        if let handle = self.handle { sqlite3_backup_finish(handle) }
        self.handle = nil
    }
}
