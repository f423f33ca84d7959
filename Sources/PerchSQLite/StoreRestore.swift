import Glibc
package import PerchBase
import PerchStore

/// Why a backup was not restored. The target path is unchanged.
package enum StoreRestoreError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be opened, is damaged, or is of another version.
    case unusable(StoreOpenError)
    /// A log lies beside it.
    case hasLog(path: String)
    /// The target path already exists.
    case exists(path: String)
    /// A server is using the store at the target path.
    case inUse(path: String)
    /// The store cannot be written.
    case failed(path: String, what: String)

    package var description: String {
        switch self {
        case .unusable(.storage(let path, .corrupt(let what))):
            "\(path) is damaged: \(what); take another backup"
        case .unusable(.notAFile(let path)):
            "\(path) is no regular file; name the file that perch backup has made"
        case .unusable(let error):
            "\(error)"
        case .hasLog(let path):
            "\(path)-wal lies beside \(path): it is a store in use, or one that was not stopped; make a backup with perch "
                + "backup, or start and stop perch serve on it first"
        case .exists(let path):
            "\(path) is there already; name another place, or put the backup in its place with --force"
        case .inUse(let path):
            "\(path) is held by a server; stop it first"
        case .failed(let path, let what):
            "\(path) was not restored: \(what)"
        }
    }
}

/// A store that was made of a backup.
package struct RestoredStore: Hashable, Sendable {
    package var contents: StoreContents
    package var revocations: CarriedRevocations
}

/// The tokens that were revoked after a backup was made, and would be valid again with it.
package enum CarriedRevocations: Hashable, Sendable {
    /// No store was replaced, so none are known.
    case unknown
    /// The number of tokens that the replaced store had revoked and the backup had not. The restored store revokes them too.
    case carried(Int)
    /// The replaced store could not be read.
    case unreadable(String)
}

/// Makes a store of a backup.
package enum StoreRestore {
    /// Verifies a backup and returns its contents. Writes nothing.
    package static func verify(_ backup: String) throws(StoreRestoreError) -> StoreContents {
        guard !StoreFile.isThere(backup + "-wal") else { throw .hasLog(path: backup) }
        do throws(StoreOpenError) {
            return try SQLiteStorage.inspect(backup)
        } catch {
            throw .unusable(error)
        }
    }

    /// The path to which the replaced store is moved.
    package static func replacedPath(_ path: String) -> String { path + ".replaced" }

    /// Verifies a backup, and puts a copy of it at a path with a new epoch, so that earlier tokens and cursors are refused. The
    /// backup does not change.
    ///
    /// `replaces`: an existing store is moved to `replacedPath`, and its revoked tokens stay revoked; otherwise an existing store
    /// is an error. The restored store belongs to the owner of the directory.
    package static func restore(
        _ backup: String, to path: String, replaces: Bool, now: Instant
    ) throws(StoreRestoreError) -> RestoredStore {
        let hasOld = StoreFile.isThere(path)
        guard replaces || !hasOld else { throw .exists(path: path) }
        if hasOld, StoreFile.isLocked(path) { throw .inUse(path: path) }
        var contents = try Self.verify(backup)
        let partial = StoreBackup.partialPath(path)
        StoreBackup.discard(path)
        let revocations: CarriedRevocations
        do {
            try StoreFile.copy(backup, to: partial)
            let replaced = hasOld ? Self.replaced(at: path, now: now) : nil
            let begun = try Self.beginEpoch(partial, taking: replaced?.tokens ?? [], after: replaced?.header)
            contents.epoch = begun.epoch
            revocations = replaced.map { $0.failure.map { .unreadable($0) } ?? .carried(begun.taken) } ?? .unknown
            try StoreFile.handOver(partial)
            try StoreFile.syncContent(of: partial)
            if hasOld { try Self.moveAside(path) }
            // SQLite would use a leftover log with the new file.
            guard !StoreFile.isThere(path + "-wal") else { throw StoreRestoreError.exists(path: path + "-wal") }
            guard rename(partial, path) == 0 else {
                throw StoreOpenError.system(path: path, doing: "naming it", errorNumber: errno)
            }
            try StoreFile.syncDirectory(of: path)
        } catch {
            StoreBackup.discard(path)
            unlink(partial + "-wal")
            if let error = error as? StoreRestoreError { throw error }
            throw .failed(path: path, what: "\(error)")
        }
        return RestoredStore(contents: contents, revocations: revocations)
    }

    /// Declares that an earlier file was put in the place of a stopped store without `restore`, as by a copy or a snapshot of the disk:
    /// begins the next epoch, which it returns.
    package static func declare(_ path: String) throws(StoreRestoreError) -> UInt32 {
        do {
            return try Self.beginEpoch(path, taking: [], after: nil).epoch
        } catch {
            if let error = error as? StoreOpenError { throw .unusable(error) }
            throw .failed(path: path, what: "\(error)")
        }
    }

    /// The header and the unexpired revoked tokens of a store that is about to be replaced, or why they cannot be read. The
    /// store may be damaged.
    private static func replaced(
        at path: String, now: Instant
    ) -> (tokens: [RevokedToken], header: StoreHeader?, failure: String?) {
        do throws(StoreOpenError) {
            let storage = try SQLiteStorage(path: path)
            defer { storage.close() }
            do throws(StorageError) {
                return (try storage.revokedTokens().filter { $0.expires > now }, storage.header(), nil)
            } catch {
                return ([], storage.header(), "\(error)")
            }
        } catch {
            return ([], nil, "\(error)")
        }
    }

    /// Begins the store's next epoch. `tokens` are revocations to keep; those missing in the backup are counted.
    ///
    /// The epoch is random: no clock and no counter distinguishes two independent restores of one backup, and cursors
    /// of one would fit the other. It is drawn from the upper half, which counted epochs never reached; two draws
    /// collide once in two thousand million times.
    private static func beginEpoch(
        _ path: String, taking tokens: [RevokedToken], after replaced: StoreHeader?
    ) throws -> (epoch: UInt32, taken: Int) {
        let storage = try SQLiteStorage(path: path)
        defer { storage.close() }
        let headers = [storage.header(), replaced].compactMap { $0 }
        var epoch: UInt32
        repeat {
            epoch = .random(in: UInt32.max / 2 + 1...UInt32.max)
        } while headers.contains { $0.epoch == epoch }
        let known = Set(try storage.revokedTokens().map(\.id))
        try storage.begin()
        storage.beginEpoch(epoch, numbersFrom: Self.firstNumber(of: epoch, after: headers))
        for token in tokens { try storage.revoke(token) }
        try storage.commit()
        return (epoch, tokens.count { !known.contains($0.id) })
    }

    /// Numbers of transactions and accounts begin at a multiple of 2^40 above those that the headers know. What was given out after the
    /// backup is unknown where the replaced store is lost, also what an earlier restore of the same backup gave out. So the epoch,
    /// which is random, chooses one of the next 1,024 multiples.
    static func firstNumber(of epoch: UInt32, after headers: [StoreHeader]) -> UInt64 {
        let given = headers.map { max($0.nextTransaction, $0.nextAccount) }.max() ?? 0
        let (last, largest) = (given >> 40, UInt64(1) << 23 - 1)
        return min(last + 1 + UInt64(epoch % 1024), max(last + 1, largest)) << 40
    }

    /// The log goes first: a file without its log is an older store, a log without its file would be another's.
    private static func moveAside(_ path: String) throws {
        let aside = Self.replacedPath(path)
        for suffix in ["-wal", ""] {
            unlink(aside + suffix)
            guard StoreFile.isThere(path + suffix) else { continue }
            guard rename(path + suffix, aside + suffix) == 0 else {
                throw StoreOpenError.system(path: path, doing: "moving it aside", errorNumber: errno)
            }
        }
    }
}
