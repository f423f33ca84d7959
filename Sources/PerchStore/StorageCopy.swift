/// A copy of a store that is made a few pages at a time, while the store is written to. Belongs to the store's thread.
///
/// What is committed while the copy is made is in it: it is complete at the revision of its last step, whole batches only.
package protocol StorageCopy: AnyObject {
    /// Copies some more, outside a batch. True: all is there, and nothing that is committed from now on.
    ///
    /// Codes for the copy's own medium: a full disk is `full`, a damaged page of the store is `corrupt`.
    func step() throws(StorageError) -> Bool
    /// Ends the copy; what is not complete is of no use. May be called often.
    func close()
    /// Bytes that it has by now.
    var copiedBytes: Int64 { get }
}

/// Why a copy cannot begin, or was not finished. The store is as it was.
package struct CopyFault: Error, Equatable, CustomStringConvertible {
    /// What happened and what to do about it.
    package var description: String

    package init(_ description: String) { self.description = description }
}

extension Storage {
    /// Storage without a medium.
    package func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy {
        throw CopyFault("the store is in memory, there is no file to copy; give perch serve --store a directory")
    }
}

extension StoreEngine {
    /// Begins to copy the store into a new file. Its steps are taken between runs of the engine, never within one.
    package func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy {
        if let failure = self.failure { throw CopyFault("nothing is copied of a store that failed: \(failure)") }
        return try self.storage.beginCopy(at: path)
    }
}
