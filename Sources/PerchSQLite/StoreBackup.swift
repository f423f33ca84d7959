import CPerchSQLite
import Glibc
import PerchBase
package import PerchStore

/// Copies of a store that serves. A copy is written as `.partial`, and gets its name when it is complete.
package enum StoreBackup {
    /// The path of an incomplete copy.
    package static func partialPath(_ path: String) -> String { path + ".partial" }

    /// Syncs a complete copy, gives it its name and returns its size. Waits for the disk, so not for the store's thread.
    package static func complete(_ path: String) throws(CopyFault) -> Int64 {
        let partial = Self.partialPath(path)
        do throws(StoreOpenError) {
            try StoreFile.syncContent(of: partial)
            // A backup never replaces a file, not even one that was created meanwhile.
            guard !StoreFile.isThere(path) else { throw .system(path: path, doing: "naming it", errorNumber: EEXIST) }
            guard rename(partial, path) == 0 else {
                throw .system(path: path, doing: "naming it", errorNumber: errno)
            }
            try StoreFile.syncDirectory(of: path)
        } catch {
            Self.discard(path)
            throw CopyFault("the copy was not finished: \(error)")
        }
        return StoreFile.bytes(at: path)
    }

    /// Removes an incomplete copy.
    package static func discard(_ path: String) {
        unlink(Self.partialPath(path))
    }

    /// Creates the file of a copy.
    fileprivate static func makePartial(_ path: String) throws(StoreOpenError) -> Connection {
        guard !StoreFile.isThere(path) else { throw .system(path: path, doing: "creating it", errorNumber: EEXIST) }
        // An earlier attempt may have left a file, if its server ended.
        Self.discard(path)
        let partial = Self.partialPath(path)
        try StoreFile.create(at: partial)
        do throws(SQLiteError) {
            let target = try Connection(path: partial)
            target.reservedBytes = PERCH_PAGE_RESERVED_BYTES
            // No journal and no syncs, because an incomplete copy is deleted. The first page is written first: it says that pages
            // end with a checksum.
            try target.execute(
                """
                PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = \(PERCH_PAGE_BYTES); PRAGMA mmap_size = 0;
                PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
                PRAGMA cache_size = -\(Limits.backupCacheBytes / 1024);
                BEGIN IMMEDIATE; PRAGMA user_version = \(Schema.version); COMMIT
                """)
            return target
        } catch {
            Self.discard(path)
            throw SQLiteStorage.openError(error, path: partial)
        }
    }
}

extension SQLiteStorage {
    package func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy {
        let target: Connection
        do throws(StoreOpenError) {
            target = try StoreBackup.makePartial(path)
        } catch .system(_, _, EEXIST) {
            throw CopyFault("\(path) is there already, and a backup takes no file's place; name another")
        } catch {
            throw CopyFault("\(error)")
        }
        do throws(SQLiteError) {
            let pages = try PageCopy(of: self.connection, into: target)
            return SQLiteCopy(pages, into: target)
        } catch {
            target.close(keepingLog: false)
            StoreBackup.discard(path)
            throw CopyFault(error.description)
        }
    }
}

/// A copy of a store's file.
private final class SQLiteCopy: StorageCopy {
    private let pages: PageCopy
    private let target: Connection
    private var isClosed = false

    init(_ pages: PageCopy, into target: Connection) {
        self.pages = pages
        self.target = target
    }

    deinit { self.close() }

    func step() throws(StorageError) -> Bool {
        do throws(SQLiteError) {
            return try self.pages.step(pages: Int32(Limits.backupPagesPerStep))
        } catch {
            throw error.storageError
        }
    }

    var copiedBytes: Int64 { Int64(self.pages.copiedPages) * Int64(PERCH_PAGE_BYTES) }

    func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        self.pages.finish()
        self.target.close(keepingLog: false)
    }
}
