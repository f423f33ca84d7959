import CPerchSQLite

/// A prepared statement. Owns its handle, which is finalised once, before its connection closes.
final class Statement {
    private let handle: OpaquePointer
    private unowned let connection: Connection
    private let sql: String

    init(_ sql: String, on connection: Connection) throws(SQLiteError) {
        self.handle = try connection.prepare(sql)
        self.connection = connection
        self.sql = sql
    }

    deinit { sqlite3_finalize(self.handle) }  // Its code repeats the last step's failure, thrown then.

    /// A value for a placeholder, in order.
    enum Value {
        case null
        case integer(Int64)
        case bytes([UInt8])
    }

    /// Codes to expect: OK; NOMEM and TOOBIG for bytes; RANGE and MISUSE, which are our bugs.
    func bind(_ values: [Value]) throws(SQLiteError) {
        var index: Int32 = 1
        for value in values {
            let code =
                switch value {
                case .null: sqlite3_bind_null(self.handle, index)
                case .integer(let number): sqlite3_bind_int64(self.handle, index, number)
                case .bytes(let bytes):
                    bytes.withUnsafeBytes {
                        perch_bind_bytes(self.handle, index, $0.baseAddress, Int32(clamping: $0.count))
                    }
                }
            precondition(code != SQLITE_RANGE && code != SQLITE_MISUSE, "a value too many for: \(self.sql)")
            guard code == SQLITE_OK else { throw self.connection.error(code, doing: self.sql) }
            index += 1
        }
    }

    /// Runs to the next row. False: there are no more rows.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(self.handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw self.connection.error(code, doing: self.sql)
        }
    }

    /// Makes the statement ready to run again, and releases its row. Its code repeats the last step's failure, which was thrown then.
    func reset() { sqlite3_reset(self.handle) }

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(self.handle, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.handle, column) == SQLITE_NULL }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(self.handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(self.handle, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ column: Int32) -> String {
        String(decoding: self.bytes(column), as: UTF8.self)
    }
}
