import CPerchSQLite

/// The system's SQLite library.
package enum SQLiteLibrary {
    /// The version of the loaded library, such as `3.40.1`. It may differ from that of the headers.
    package static var version: String { String(cString: sqlite3_libversion()) }
}
