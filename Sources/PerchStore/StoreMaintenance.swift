/// The medium of a store that this process manages itself, such as a file. No decision depends on it.
package protocol StoreMaintenance: AnyObject {
    /// Begins a copy in a new file. The path must not exist yet.
    func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy
    /// Moves the log into the file now. Must be called outside a batch.
    func checkpoint() throws(StorageError)
    /// Sizes and counters of the medium. Reading them never waits for the disk.
    var figures: StorageFigures { get }
    /// Whether the medium has space for several ordinary batches.
    var hasRoom: Bool { get }
}

/// Sizes and counters of a store's medium.
package struct StorageFigures: Hashable, Sendable {
    package var fileBytes: Int64 = 0
    /// Size of the write-ahead log's file.
    package var logBytes: Int64 = 0
    package var checkpoints: UInt64 = 0
    /// Pages written by checkpoints. A page that changed several times since the last checkpoint counts once.
    package var checkpointPages: UInt64 = 0
    /// Checkpoints that found no space. The log grows instead.
    package var checkpointsWithoutRoom: UInt64 = 0

    package init() {}
}

/// A copy of a store, made a few pages at a time while the store goes on writing. Belongs to the store's thread.
///
/// The copy contains every batch committed before its last step, whole batches only.
package protocol StorageCopy: AnyObject {
    /// Copies some more pages, outside a batch. True: the copy is complete, and later commits are not in it.
    ///
    /// Errors concern the copy's own medium: a full disk is `full`, a damaged page of the store is `corrupt`.
    func step() throws(StorageError) -> Bool
    /// Ends the copy, and may be called several times. An incomplete copy is of no use.
    func close()
    var copiedBytes: Int64 { get }
}

/// Why a copy did not begin or was not finished. The store is unchanged.
package struct CopyFault: Error, Equatable, CustomStringConvertible {
    /// What happened, and the next step, as a text.
    package var description: String

    package init(_ description: String) { self.description = description }
}

extension StoreEngine {
    /// Begins a copy of the store in a new file. Its steps run between runs of the engine.
    package func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy {
        if let failure = self.failure { throw CopyFault("nothing is copied of a store that failed: \(failure)") }
        if self.sharing != nil {
            throw CopyFault(
                "the store is in a database: copy it with PostgreSQL's own tools, pg_basebackup or pg_dump --schema=perch"
            )
        }
        guard let maintenance = self.storage.maintenance else {
            throw CopyFault("the store is in memory, there is no file to copy; give perch serve --store a directory")
        }
        return try maintenance.beginCopy(at: path)
    }

    package var figures: StorageFigures { self.storage.maintenance?.figures ?? StorageFigures() }
    var hasRoom: Bool { self.storage.maintenance?.hasRoom ?? true }
}
