import CPerchSQLite
import PerchStore

/// An error of SQLite, before it is mapped to an error of the store.
struct SQLiteError: Error {
    /// The extended code.
    var code: Int32
    var message: String
    /// The statement or operation that failed. Values are bound, so none are in it.
    var doing: String
    /// The errno behind it; 0 for none.
    var systemError: Int32 = 0

    var isBusy: Bool { self.code & 0xFF == SQLITE_BUSY || self.code & 0xFF == SQLITE_LOCKED }
    var isNotADatabase: Bool { self.code & 0xFF == SQLITE_NOTADB }
    /// Our SQL does not fit the schema that is there.
    var isSchemaMismatch: Bool { self.code & 0xFF == SQLITE_ERROR }

    /// The storage error for this code while the store is at work.
    var storageError: StorageError {
        switch self.code {
        case SQLITE_IOERR | (32 << 8), SQLITE_IOERR | (33 << 8):
            // IOERR_DATA, IOERR_CORRUPTFS: a page, or the file system, does not bear its checksum.
            return .corrupt("a page does not bear its checksum, read to: \(self.brief)")
        default:
            break
        }
        switch self.code & 0xFF {
        case SQLITE_FULL: return .full(self.description)
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(self.description)
        // IOERR, NOMEM, READONLY, CANTOPEN, TOOBIG, and ERROR, CONSTRAINT, MISUSE, RANGE, which would be our bug: none
        // of them leaves a store that may acknowledge anything.
        default: return .failed(self.description)
        }
    }

    var description: String {
        let system = self.systemError == 0 ? "" : ", errno \(self.systemError)"
        return "SQLite says \"\(self.message)\" (code \(self.code)\(system)) to: \(self.brief)"
    }

    /// The beginning of the statement that failed, short enough for a message.
    private var brief: String {
        let words = self.doing.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.count > 100 ? words.prefix(100) + "…" : words
    }
}
