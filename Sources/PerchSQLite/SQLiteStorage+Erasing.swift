import PerchModel
import PerchStore

// Erasing: everything of an account leaves the file.
extension SQLiteStorage {
    /// Deletes the rows of some accounts. SQLite overwrites what it frees: see `prepareFile`.
    func erase(_ erasure: Erasure, of app: AppNumber) throws(StorageError) {
        for account in erasure.accounts {
            try self.write(.deletePlaces, [.integer(Int64(app)), .stored(account)])
            try self.write(.eraseFirstFacts, [.stored(account)])
            try self.write(.eraseFacts, [.stored(account)])
            try self.write(.eraseEntries, [.stored(account)])
            // Also a row whose sources have all ended, which no change would touch.
            try self.write(.deleteSources, [.integer(Int64(app)), .stored(account)])
        }
        for key in erasure.answers {
            try self.write(.deleteAnswer, [.integer(Int64(key.app)), .bytes(key.bytes)])
        }
        for edit in erasure.commits {
            let detail = edit.detail.map { Statement.Value.bytes($0.sealed(revision: edit.revision)) }
            try self.write(.setDetail, [.stored(edit.revision), detail ?? .null])
        }
    }
}
