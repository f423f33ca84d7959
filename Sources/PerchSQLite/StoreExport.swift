import PerchBase
import PerchModel
package import PerchStore

/// The tables of a stopped store, in columns of many rows, for another kind of storage. Holds the store's lock.
package final class StoreExport {
    /// One column of some rows.
    package enum Column: Sendable {
        case integers([Int64?])
        case blobs([[UInt8]])
    }

    /// The columns are named as in `StoreExport.rows`.
    package enum Table: String, CaseIterable, Sendable {
        /// revision, committed, app, next transaction, next account, detail
        case commits
        /// account, revision, ordinal, whether it is an event, blob
        case facts
        /// account, app, due, blob
        case accounts
        /// app, ID, account, purchase date, state, whether finishing spends it, product's checksum, revision and ordinal of its fact; or
        /// zeros and its own blob
        case transactions
        /// app, key, account
        case aliases
        /// app, instant, account
        case crossings
        /// app, effective, revision
        case apps
        /// app, effective, revision, revision of the catalogue, blob
        case appStates
        /// app, revision, blob
        case catalogues
        /// app, hash, blob
        case images
        /// app, key, kept, blob
        case answers
        /// ID, expires, blob
        case revocations
        /// kind, group, key, blob
        case items

        fileprivate var sql: String {
            switch self {
            case .commits:
                """
                SELECT revision, committed, coalesce(app, 0), coalesce(next_transaction, 0), coalesce(next_account, 0), blob
                FROM commits ORDER BY revision
                """
            case .facts:
                """
                SELECT e.account, -e.first, -e.second, e.mark, iif(e.second = 0, c.fact, f.blob)
                FROM accounts e LEFT JOIN commits c ON e.second = 0 AND c.revision = -e.first
                LEFT JOIN facts f ON e.second < 0 AND f.revision = -e.first AND f.ordinal = -e.second
                WHERE e.kind = \(EntryKind.fact.rawValue)
                """
            case .accounts:
                """
                SELECT e.account, NULL, d.instant, e.blob FROM accounts e LEFT JOIN temp.due_of d ON d.account = e.account
                WHERE e.kind = \(EntryKind.record.rawValue)
                """
            case .transactions:
                """
                SELECT t.app, t.id, t.account, t.purchase_date, t.state, t.spends, e.mark, coalesce(e.revision, 0),
                    coalesce(e.ordinal, 0), e.blob
                FROM transactions t JOIN accounts e ON e.account = t.account
                AND e.kind = \(EntryKind.unfinished.rawValue) - t.state AND e.first = t.purchase_date AND e.second = t.id
                """
            case .aliases: "SELECT app, key, account FROM aliases"
            case .crossings: "SELECT app, instant, account FROM crossings"
            case .apps: "SELECT app, effective, revision FROM apps"
            case .appStates: "SELECT app, effective, revision, catalogue_revision, blob FROM app_states"
            case .catalogues: "SELECT app, revision, blob FROM catalogues"
            case .images: "SELECT app, hash, blob FROM images"
            case .answers: "SELECT app, key, kept, blob FROM answers"
            case .revocations: "SELECT id, expires, blob FROM revocations"
            case .items: "SELECT kind, grp, key, blob FROM items"
            }
        }

        /// Whether each column is a blob.
        fileprivate var areBlobs: [Bool] {
            switch self {
            case .commits: [false, false, false, false, false, true]
            case .facts: [false, false, false, false, true]
            case .accounts: [false, false, false, true]
            case .transactions: Array(repeating: false, count: 9) + [true]
            case .aliases: [false, true, false]
            case .crossings, .apps: [false, false, false]
            case .appStates: [false, false, false, false, true]
            case .catalogues: [false, false, true]
            case .images: [false, true, true]
            case .answers: [false, true, false, true]
            case .revocations: [true, false, true]
            case .items: [false, true, true, true]
            }
        }

        fileprivate var count: String {
            switch self {
            case .facts: "SELECT count(*) FROM accounts WHERE kind = \(EntryKind.fact.rawValue)"
            case .accounts: "SELECT count(*) FROM accounts WHERE kind = \(EntryKind.record.rawValue)"
            case .appStates: "SELECT count(*) FROM app_states"
            default: "SELECT count(*) FROM \(self.rawValue)"
            }
        }
    }

    package let header: StoreHeader
    private let storage: SQLiteStorage

    /// Opens the store, and carries one of an earlier schema over to this one.
    package init(path: String) throws(StoreOpenError) {
        self.storage = try SQLiteStorage(path: path)
        self.header = self.storage.header()
        do throws(SQLiteError) {
            try self.storage.connection.execute(
                """
                CREATE TEMP TABLE due_of (account INTEGER PRIMARY KEY, instant INTEGER NOT NULL);
                INSERT INTO temp.due_of SELECT account, instant FROM due
                """)
        } catch {
            self.storage.close()
            throw .storage(path: path, error.storageError)
        }
    }

    package func close() { self.storage.close() }

    package func count(of table: Table) throws(StorageError) -> Int64 {
        do throws(SQLiteError) {
            return try self.storage.connection.number(table.count) ?? 0
        } catch {
            throw error.storageError
        }
    }

    /// Passes all rows of a table, `limit` at once.
    package func rows(
        of table: Table, limit: Int, _ body: ([Column]) throws(StorageError) -> Void
    ) throws(StorageError) {
        let statement: Statement
        do throws(SQLiteError) {
            statement = try Statement(table.sql, on: self.storage.connection)
        } catch {
            throw error.storageError
        }
        defer { statement.reset() }
        let areBlobs = table.areBlobs
        let empty = areBlobs.map { $0 ? Column.blobs([]) : Column.integers([]) }
        var columns = empty
        var count = 0
        while true {
            let hasRow: Bool
            do throws(SQLiteError) {
                hasRow = try statement.step()
            } catch {
                throw error.storageError
            }
            guard hasRow else { break }
            for place in columns.indices { self.append(statement, Int32(place), to: &columns[place]) }
            if table == .accounts { try self.completeRecord(&columns) }
            count += 1
            guard count == limit else { continue }
            try body(columns)
            columns = empty
            count = 0
        }
        if count > 0 { try body(columns) }
    }

    private func append(_ row: Statement, _ place: Int32, to column: inout Column) {
        switch column {
        case .integers(var values):
            column = .integers([])
            values.append(row.isNull(place) ? nil : row.int64(place))
            column = .integers(values)
        case .blobs(var values):
            column = .blobs([])
            values.append(row.bytes(place))
            column = .blobs(values)
        }
    }

    /// The app of the last record, which only the record itself names.
    private func completeRecord(_ columns: inout [Column]) throws(StorageError) {
        guard case .integers(let accounts) = columns[0], case .integers(var apps) = columns[1],
            case .blobs(let blobs) = columns[3], let account = accounts.last.flatMap({ $0 }), let blob = blobs.last
        else { preconditionFailure("a record has four columns") }
        let record = try SQLiteStorage.unsealing("a record") { () throws(DecodingFault) in
            try AccountRecord(unsealing: blob, of: UInt64(bitPattern: account))
        }
        apps[apps.count - 1] = Int64(record.app)
        columns[1] = .integers(apps)
    }
}
