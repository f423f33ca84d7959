import PerchBase
import PerchModel
package import PerchStore

/// Writes the rows of another store into a database that has none, in one transaction: after an interruption nothing is there.
package final class PostgresImport {
    private let main: Connection
    private let place: String
    private var end = PostgresStorage.LogEnd(revision: 0, mark: 0)
    private let header: StoreHeader
    private let epoch: UInt32

    /// A column of some rows, as `StoreExport` has it.
    package enum Column: Sendable {
        case integers([Int64?])
        case blobs([[UInt8]])

        fileprivate var value: Value {
            switch self {
            case .integers(let values): .integers(values)
            case .blobs(let values): .blobs(values)
            }
        }
    }

    /// The store will have the header's identity and counters, and the next epoch.
    package init(_ location: PostgresLocation, header: StoreHeader) throws(PostgresOpenError) {
        self.main = try PostgresStorage.connect(location)
        self.place = location.text
        self.header = header
        self.epoch = header.epoch + 1
        do throws(PostgresError) {
            let isThere = try self.main.run([.text("SELECT to_regclass('perch.store') IS NOT NULL", [])])[0].int64(0, 0)
            guard isThere == 0 else { throw PostgresOpenError.hasStore(place: location.text).carried }
            let hasSchema = try self.main.run([.text("SELECT to_regnamespace('perch') IS NOT NULL", [])])[0].int64(0, 0)
            var commands: [Command] = [
                .text("BEGIN", []), .text("SET LOCAL statement_timeout = 0", []),
                .text("SET LOCAL idle_in_transaction_session_timeout = 0", []),
            ]
            if hasSchema == 0 { commands.append(.text("CREATE SCHEMA perch", [])) }
            commands += Schema.statements.map { .text($0, []) }
            _ = try self.main.run(commands, within: Self.patience)
        } catch {
            if error.state == "42501" { throw .noRights(place: location.text, error.description) }
            throw PostgresStorage.openError(error, location.text)
        }
    }

    /// A million rows of an index are built while one command runs.
    private static let patience: Int64 = 3_600_000

    package func close() { self.main.close() }

    private func run(_ sql: String, _ values: [Value]) throws(StorageError) -> Rows {
        do throws(PostgresError) {
            return try self.main.run([.text(sql, values)], within: Self.patience)[0]
        } catch {
            throw error.storageError
        }
    }

    /// Writes rows of a table. The columns are those of `StoreExport.Table`, in its order.
    package func insert(_ table: String, _ columns: [Column]) throws(StorageError) {
        var columns = columns
        if table == "commits" { columns = self.marked(columns) }
        let target = Self.target(table)
        let parameters = columns.enumerated().map { place, column -> String in
            if case .blobs = column { return "$\(place + 1)::bytea[]" }
            return "$\(place + 1)::bigint[]"
        }
        _ = try self.run(
            "INSERT INTO \(target) SELECT * FROM unnest(\(parameters.joined(separator: ", ")))", columns.map(\.value))
    }

    private static func target(_ table: String) -> String { table == "appStates" ? "app_states" : table }

    /// Commits with the marks of a new chain, and the epoch.
    private func marked(_ columns: [Column]) -> [Column] {
        guard case .integers(let revisions) = columns[0], case .integers(let times) = columns[1],
            case .blobs(let details) = columns[5]
        else { preconditionFailure("commits have six columns") }
        var marks: [Int64?] = []
        for place in revisions.indices {
            let time = withUnsafeBytes(of: (times[place] ?? 0).bigEndian) { Array($0) }
            self.end.follow(UInt64(bitPattern: revisions[place] ?? 0), time + details[place], writer: 0)
            marks.append(Int64(bitPattern: self.end.mark))
        }
        let epochs = [Int64?](repeating: Int64(self.epoch), count: revisions.count)
        return [
            columns[0], columns[1], columns[2], .integers(marks), .integers(epochs), columns[3], columns[4], columns[5],
        ]
    }

    package func count(of table: String) throws(StorageError) -> Int64 {
        try self.run("SELECT count(*) FROM \(Self.target(table))", []).int64(0, 0)
    }

    /// Makes it a store, and commits.
    package func finish() throws(StorageError) {
        guard self.end.revision == self.header.revision else {
            throw .corrupt("its commits end at revision \(self.end.revision), its header is at \(self.header.revision)")
        }
        var identity: [UInt8] = []
        for half in [self.header.identity.high, self.header.identity.low] {
            withUnsafeBytes(of: half.bigEndian) { identity += Array($0) }
        }
        if self.end.revision > 0 {
            _ = try self.run(
                "UPDATE commits SET next_transaction = $1::bigint, next_account = $2::bigint WHERE revision = $3::bigint",
                [.number(self.header.nextTransaction), .number(self.header.nextAccount), .number(self.end.revision)])
        }
        _ = try self.run(
            "INSERT INTO store VALUES (1, $1::bytea, $2::bigint, $3::bigint, 0)",
            [.bytes(identity), .integer(Int64(self.epoch)), .integer(Schema.version)])
        // The clock must not run backwards: the lease of the file is one of a node that is gone.
        _ = try self.run(
            "INSERT INTO nodes VALUES (0, 'the store in a file', '', 0, 0, $1::bigint, $2::bigint, 0, 1)",
            [.number(self.end.revision), .integer(self.header.lease.milliseconds)])
        _ = try self.run("COMMIT", [])
        // Statistics for the planner. The store is complete without them.
        for table in Schema.tables { _ = try? self.run("ANALYZE \(table)", []) }
    }
}
