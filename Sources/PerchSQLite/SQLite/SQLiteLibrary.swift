import CPerchSQLite

/// The library of the system that the store is kept with.
package enum SQLiteLibrary {
    /// Of what is loaded, not of what was compiled against: `3.40.1`.
    package static var version: String { String(cString: sqlite3_libversion()) }
}
