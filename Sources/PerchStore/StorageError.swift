/// Why storage did not carry out a request.
package enum StorageError: Error, Equatable, CustomStringConvertible {
    /// No space. Nothing of the batch was written; a later batch may find space.
    case full(String)
    /// Another node has committed since this batch read the storage. Nothing of the batch was written.
    case superseded
    /// The storage cannot be reached. Nothing of the batch was written; a later request may reach it.
    case unreachable(String)
    /// The connection broke during a commit. Whether the batch was written is not known yet: `Storage.hasCommitted`.
    case unknown(String)
    /// Whether the batch is durable will never be known. Nothing more may be acknowledged.
    case failed(String)
    /// The storage no longer has changes that this node has shown: another server took over without them, or an earlier state was
    /// restored. Nothing more may be shown.
    case historyLost(String)
    /// Stored data does not match its checksum, or does not decode.
    case corrupt(String)
    /// A newer version has written the store.
    case newerSchema(found: Int, known: Int)
    /// A newer version has written a value of the store, in a form that this version does not know.
    case newerForm(String)
    /// An older version has written the store, and this version does not convert it.
    case olderSchema(found: Int, known: Int)

    /// Whether a later request may succeed, with nothing repaired meanwhile.
    package var isPassing: Bool {
        switch self {
        case .superseded, .unreachable, .unknown: true
        case .full, .failed, .historyLost, .corrupt, .newerSchema, .newerForm, .olderSchema: false
        }
    }

    package var description: String {
        switch self {
        case .full(let what):
            "the disk of the store is full: \(what); free some space, and writing resumes automatically"
        case .superseded: "another node has changed the store meanwhile; run the batch again"
        case .unreachable(let what): "the store cannot be reached: \(what); nothing was written, try again"
        case .unknown(let what): "the connection to the store broke during a commit: \(what)"
        case .failed(let what): "the store failed: \(what); Perch ends so that it can recover from disk"
        case .historyLost(let what):
            "the database has another history than this node: \(what); Perch ends, and begins anew with what is there"
        case .corrupt(let what): "the store is damaged: \(what); restore it from a backup"
        case .newerSchema(let found, let known):
            "the store has schema \(found), this version knows \(known): a newer Perch wrote it; run that version or a newer one, or "
                + "restore a backup from before the upgrade"
        case .newerForm(let what):
            "a newer Perch wrote into the store: \(what); run that version or a newer one, or restore a backup from before the upgrade"
        case .olderSchema(let found, let known):
            "the store has schema \(found), of a version in development, this one knows \(known) only; name another file for a new store"
        }
    }
}

extension StorageError {
    /// Bytes that do not decode are damaged, or a newer version wrote them. `what`: the value that they are.
    package init(_ fault: DecodingFault, in what: String) {
        if case .unknownVersion(let found, let known) = fault, found > known {
            self = .newerForm("\(what): \(fault)")
        } else {
            self = .corrupt("\(what): \(fault)")
        }
    }
}
