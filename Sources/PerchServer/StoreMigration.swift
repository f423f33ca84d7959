import PerchBase
import PerchPostgres
import PerchSQLite
package import PerchStore

/// Copies a stopped store in a file to a database: the same identity and revisions, and the next epoch.
package enum StoreMigration {
    /// `progress` receives a table's name, the rows copied, and their number. `patience` is that of `PostgresLocation`. Returns the header
    /// of the new store.
    package static func run(
        from setting: String, to url: String, patience: Int64 = 1,
        progress: (String, Int64, Int64) -> Void = { _, _, _ in }
    ) throws(ServerError) -> StoreHeader {
        let path = StorePath.path(for: setting)
        guard !StoreFile.isVacant(path) || StoreFile.hasLogAlone(path) else {
            throw ServerError("there is no store at \(path); name its directory, or a file that ends in .db")
        }
        let source: StoreExport
        do throws(StoreOpenError) {
            source = try StoreExport(path: path)
        } catch {
            throw ServerError("\(error)")
        }
        defer { source.close() }
        let target: PostgresImport
        do throws(PostgresOpenError) {
            var location = try PostgresLocation(url)
            location.patience = patience
            target = try PostgresImport(location, header: source.header)
        } catch {
            throw ServerError("\(error)")
        }
        defer { target.close() }
        do throws(StorageError) {
            for table in StoreExport.Table.allCases { try Self.copy(table, from: source, to: target, progress) }
            try target.finish()
        } catch {
            throw ServerError("nothing was written to \(url): \(error)")
        }
        var header = source.header
        header.epoch += 1
        return header
    }

    /// Declares a restore that no server can notice. Returns the new epoch.
    package static func declareRestored(_ store: String) throws(ServerError) -> UInt32 {
        do {
            switch ServerSettings.StoreLocation(store) {
            case .database(let url): return try PostgresStorage.declareRestored(try PostgresLocation(url))
            case .memory, .file:
                let path = StorePath.path(for: store)
                guard !StoreFile.isVacant(path) || StoreFile.hasLogAlone(path) else {
                    throw ServerError("there is no store at \(path); name its directory, or a file that ends in .db")
                }
                return try StoreRestore.declare(path)
            }
        } catch {
            throw error as? ServerError ?? ServerError("\(error)")
        }
    }

    private static func copy(
        _ table: StoreExport.Table, from source: StoreExport, to target: PostgresImport,
        _ progress: (String, Int64, Int64) -> Void
    ) throws(StorageError) {
        let count = try source.count(of: table)
        var done: Int64 = 0
        try source.rows(of: table, limit: Limits.migratedRowsAtOnce) { (columns) throws(StorageError) in
            try target.insert(
                table.rawValue,
                columns.map { column in
                    switch column {
                    case .integers(let values): .integers(values)
                    case .blobs(let values): .blobs(values)
                    }
                })
            if case .integers(let first)? = columns.last(where: { if case .integers = $0 { true } else { false } }) {
                done += Int64(first.count)
            }
            progress(table.rawValue, done, count)
        }
        let found = try target.count(of: table.rawValue)
        guard done == count, found == count else {
            throw .corrupt("\(table.rawValue) has \(count) rows, \(done) were read and \(found) are in the database")
        }
    }
}
