import CPerchSQLite
import Glibc
package import PerchBase
import PerchModel
import PerchStore

/// The contents of a store's file, counted by reading all of it.
package struct StoreContents: Hashable, Sendable {
    package var identity = StoreIdentity(high: 0, low: 0)
    package var epoch: UInt32 = 0
    package var revision: UInt64 = 0
    package var schema: Int64 = 0
    package var pages = 0
    package var apps = 0
    package var accounts = 0
    package var facts = 0
    package var transactions = 0
}

extension SQLiteStorage {
    /// Reads a whole file that does not change meanwhile, and verifies it. Writes nothing.
    ///
    /// Checks the checksums of all pages, including unused ones, SQLite's tables and indexes, and the checksum of each blob under
    /// its key.
    static func inspect(_ path: String) throws(StoreOpenError) -> StoreContents {
        guard StoreFile.isThere(path) else { throw .system(path: path, doing: "opening it", errorNumber: ENOENT) }
        try StoreFile.requireRegular(path)
        // The owner and schema are checked first: a wrong one explains more than a wrong checksum.
        let storage = try SQLiteStorage(path: path, for: .inspection)
        defer { storage.close() }
        do throws(StorageError) {
            let pages = try Self.checkPages(of: path)
            var contents = try storage.contents()
            contents.pages = pages
            return contents
        } catch {
            throw .storage(path: path, error)
        }
    }

    /// Verifies all pages, and returns their number.
    private static func checkPages(of path: String) throws(StorageError) -> Int {
        let pageBytes = Int(PERCH_PAGE_BYTES)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("it cannot be read, errno \(errno)") }
        defer { Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: Limits.storeCopyBytes)
        var number = 0
        while true {
            let count = try Self.fill(&buffer, from: descriptor, at: number * pageBytes)
            guard count % pageBytes == 0 else {
                throw .corrupt("it ends within page \(number + count / pageBytes + 1); it was not copied whole")
            }
            let broken = buffer.withUnsafeBufferPointer { bytes in
                (0..<count / pageBytes).first {
                    perch_page_is_intact(bytes.baseAddress! + $0 * pageBytes, Int64(number + $0)) == 0
                }
            }
            if let broken { throw .corrupt("page \(number + broken + 1) does not bear its checksum") }
            number += count / pageBytes
            if count < buffer.count { return number }
        }
    }

    /// Reads until the buffer is full or the file ends.
    private static func fill(
        _ buffer: inout [UInt8], from descriptor: Int32, at offset: Int
    ) throws(StorageError) -> Int {
        var count = 0
        while count < buffer.count {
            let wanted = buffer.count - count
            let got = buffer.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + count, wanted, off_t(offset + count))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .failed("it cannot be read, errno \(errno)") }
            if got == 0 { break }
            count += got
        }
        return count
    }

    private func contents() throws(StorageError) -> StoreContents {
        if let finding = try self.findings().first { throw .corrupt(finding) }
        let header = self.header()
        var contents = StoreContents()
        contents.identity = header.identity
        contents.epoch = header.epoch
        contents.revision = header.revision
        try self.each("PRAGMA user_version") { (row) throws(StorageError) in contents.schema = row.int64(0) }
        try self.checkApps(&contents)
        if contents.schema >= 6 {
            try self.checkAccounts(&contents)
        } else {
            try self.checkEarlierAccounts(&contents)
        }
        if contents.schema >= 7 { try self.checkSources() }
        try self.each("SELECT app, key, blob FROM answers") { (row) throws(StorageError) in
            let key = MutationKey(app: AppNumber(truncatingIfNeeded: row.int64(0)), bytes: row.bytes(1))
            let blob = row.bytes(2)
            _ = try Self.unsealing("an answer") { () throws(DecodingFault) in try KeptAnswer(unsealing: blob, to: key) }
        }
        if contents.schema >= 5 {
            try self.each("SELECT revision, blob FROM commits WHERE blob IS NOT NULL") { (row) throws(StorageError) in
                _ = try Self.detail(row.bytes(1), of: row.uint64(0))
            }
        }
        return contents
    }

    private func checkAccounts(_ contents: inout StoreContents) throws(StorageError) {
        let newest = contents.revision
        try self.each("SELECT account, blob FROM accounts WHERE kind = 0") { (row) throws(StorageError) in
            contents.accounts += 1
            try Self.checkRecord(row, newest: newest)
        }
        try self.each(Query.everyTransaction) { (row) throws(StorageError) in
            contents.transactions += 1
            _ = try Self.row(row, account: row.uint64(7))
        }
        let facts = """
            SELECT revision, 0, account, fact FROM commits WHERE fact IS NOT NULL
            UNION ALL SELECT revision, ordinal, account, blob FROM facts
            """
        try self.each(facts) { (row) throws(StorageError) in
            contents.facts += 1
            try Self.checkFact(row, newest: newest)
        }
        // What SQLite keeps for an index, the store keeps itself for these rows.
        for (what, sql) in Query.strays {
            try self.each(sql) { (row) throws(StorageError) in
                let count = row.int64(0)
                guard count == 0 else { throw .corrupt("\(count) \(what)") }
            }
        }
    }

    private func checkSources() throws(StorageError) {
        try self.each("SELECT app, account, blob FROM sources WHERE app > 0") { (row) throws(StorageError) in
            let (app, account, blob) = (AppNumber(truncatingIfNeeded: row.int64(0)), row.uint64(1), row.bytes(2))
            _ = try Self.unsealing("what entitles account \(account)") { () throws(DecodingFault) in
                try SourcesRow.unsealed(blob, of: account, app: app)
            }
        }
        let strays = """
            SELECT count(*) FROM sources s LEFT JOIN accounts e ON e.account = s.account AND e.kind = 0 AND e.first = 0
            AND e.second = 0 WHERE s.app > 0 AND e.account IS NULL
            """
        try self.each(strays) { (row) throws(StorageError) in
            let count = row.int64(0)
            guard count == 0 else { throw .corrupt("\(count) accounts without a record are entitled to something") }
        }
    }

    /// The tables of schema 3 to 5.
    private func checkEarlierAccounts(_ contents: inout StoreContents) throws(StorageError) {
        let newest = contents.revision
        try self.each("SELECT account, blob FROM records") { (row) throws(StorageError) in
            contents.accounts += 1
            try Self.checkRecord(row, newest: newest)
        }
        try self.each("SELECT id, account, state, blob FROM transactions") { (row) throws(StorageError) in
            contents.transactions += 1
            _ = try Self.row(
                id: row.uint64(0), account: row.uint64(1), isFinished: row.int64(2) != 0, blob: row.bytes(3))
        }
        try self.each("SELECT revision, ordinal, account, blob FROM facts") { (row) throws(StorageError) in
            contents.facts += 1
            try Self.checkFact(row, newest: newest)
        }
    }

    private static func checkRecord(_ row: Statement, newest: UInt64) throws(StorageError) {
        let (account, blob) = (row.uint64(0), row.bytes(1))
        let record = try Self.unsealing("the record of account \(account)") { () throws(DecodingFault) in
            try AccountRecord(unsealing: blob, of: account)
        }
        guard record.revision <= newest else {
            throw .corrupt(
                "the record of account \(account) is of revision \(record.revision), the store is at \(newest)")
        }
    }

    private static func checkFact(_ row: Statement, newest: UInt64) throws(StorageError) {
        let place = EventPlace(revision: row.uint64(0), ordinal: UInt32(truncatingIfNeeded: row.int64(1)))
        guard place.revision <= newest else {
            throw .corrupt("there is a fact of revision \(place.revision), the store is at \(newest)")
        }
        _ = try Self.fact(at: place, account: row.uint64(2), blob: row.bytes(3))
    }

    /// Every state of each app, with its catalogue, and the images.
    private func checkApps(_ contents: inout StoreContents) throws(StorageError) {
        contents.apps = try self.appStates().count
        var states: [(app: AppNumber, revision: UInt64)] = []
        try self.each("SELECT app, revision FROM app_states") { (row) throws(StorageError) in
            states.append((AppNumber(truncatingIfNeeded: row.int64(0)), row.uint64(1)))
        }
        for (app, revision) in states { _ = try self.appState(app, at: revision) }
        try self.each("SELECT app, hash, blob FROM images") { (row) throws(StorageError) in
            let app = AppNumber(truncatingIfNeeded: row.int64(0))
            guard let hash = ContentHash(bytes: row.bytes(1)) else {
                throw .corrupt("an image of app \(app) stands under a hash that is none")
            }
            let blob = row.bytes(2)
            _ = try Self.unsealing("an image of app \(app)") { () throws(DecodingFault) in
                try ImageContent.unsealed(blob, app: app, hash: hash)
            }
        }
    }

    /// Reads a whole table. Such statements are not in `Query`, where each searches an index.
    private func each(_ sql: String, _ row: (Statement) throws(StorageError) -> Void) throws(StorageError) {
        let statement: Statement
        do throws(SQLiteError) {
            statement = try Statement(sql, on: self.connection)
        } catch {
            throw error.storageError
        }
        defer { statement.reset() }
        while true {
            do throws(SQLiteError) {
                guard try statement.step() else { return }
            } catch {
                throw error.storageError
            }
            try row(statement)
        }
    }
}
