package import PerchStore

/// Why a file could not be opened as a store. Nothing was changed in it.
package enum StoreOpenError: Error, Equatable, CustomStringConvertible {
    case inUse(path: String)
    case missingDirectory(path: String, directory: String)
    /// The file's directory is not a directory.
    case notADirectory(path: String, directory: String)
    case notPermitted(path: String)
    /// The directory is there, and its file system has no place for new files, as /proc.
    case takesNoFiles(path: String, directory: String)
    case notAFile(path: String)
    /// There is a store's log without the store. SQLite would delete it.
    case logWithoutStore(path: String)
    /// A database of another program, or no database at all.
    case foreign(path: String, applicationID: UInt32?)
    /// No space to create or convert the store.
    case noRoom(path: String)
    case system(path: String, doing: String, errorNumber: Int32)
    case storage(path: String, StorageError)

    package var description: String {
        switch self {
        case .inUse(let path):
            "\(path) is held by another process; ask the server that has it, or stop it first"
        case .missingDirectory(let path, let directory):
            "\(path) cannot be created: there is no directory \(directory); make it, or name another place"
        case .notADirectory(let path, let directory):
            "\(path) cannot be created: \(directory) is no directory; name one, or a file that ends in .db"
        case .takesNoFiles(let path, let directory):
            "\(path) cannot be created: the file system of \(directory) takes no new files; name a directory on a disk, "
                + "such as /var/lib/perch"
        case .notPermitted(let path):
            "\(path) cannot be written; let this user write the file and its directory, or name another place"
        case .notAFile(let path):
            "\(path) is no regular file; name a file, or a place for a new one"
        case .logWithoutStore(let path):
            "\(path)-wal lies there with changes that were acknowledged, and \(path) is missing or empty; put the file back "
                + "beside its log, or move the log away to begin a new store"
        case .foreign(let path, nil):
            "\(path) is no store of Perch, and no database; name another file, Perch will not write over this one"
        case .foreign(let path, let id?):
            "\(path) is a database of another program (application \(id), a store of Perch has \(Schema.applicationID)); "
                + "name another file, Perch will not write over this one"
        case .noRoom(let path):
            "there is no room for a new store at \(path); free some space, or name another place"
        case .system(let path, _, 2):
            "there is no file \(path); is that its name?"
        case .system(let path, let what, let number):
            "\(path): \(what) failed with errno \(number)"
        case .storage(let path, let error):
            "\(path): \(error)"
        }
    }
}
