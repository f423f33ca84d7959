package import PerchBase
package import PerchModel

/// What the store's own thread asks of durable storage. Synchronous; one thread; one batch at a time.
///
/// Reads between `begin` and `commit` see what the batch has applied. After `rollback`, or after a `commit` that threw,
/// nothing of the batch is there. `commit` returns when the batch would survive a loss of power.
package protocol Storage: AnyObject {
    /// What is known of the store without reading an account.
    func header() throws(StorageError) -> StoreHeader
    /// The newest state of each app.
    func appStates() throws(StorageError) -> [StoredAppState]
    /// The state of an app that was in force at an instant of its clock.
    func appState(_ app: AppNumber, inForceAt instant: Instant) throws(StorageError) -> StoredAppState?

    /// An image of an app's newest catalogue.
    func image(_ app: AppNumber, _ hash: ContentHash) throws(StorageError) -> [UInt8]?
    /// The newest state of an app up to a revision.
    func appState(_ app: AppNumber, at revision: UInt64) throws(StorageError) -> StoredAppState?

    func account(_ key: AccountKey) throws(StorageError) -> AccountNumber?
    /// Keys of an app's accounts in bytewise order, those after one; empty for the beginning.
    func keys(of app: AppNumber, after key: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]]
    func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord?
    func transaction(_ id: TransactionID) throws(StorageError) -> TransactionRow?
    func transactions(of account: AccountNumber, _ query: TransactionQuery) throws(StorageError) -> [TransactionRow]
    func events(of account: AccountNumber, after place: EventPlace, limit: Int) throws(StorageError) -> [AccountEvent]
    func facts(of account: AccountNumber) throws(StorageError) -> [Fact]
    /// The facts up to a revision, oldest first, each with the revision that wrote it; the first of them where there are
    /// more than the limit.
    func facts(of account: AccountNumber, through revision: UInt64, limit: Int) throws(StorageError) -> [DatedFact]
    /// When a revision was committed; nil where it is not stored.
    func commitTime(of revision: UInt64) throws(StorageError) -> Instant?
    /// What is due, by instant, then account.
    func due(_ app: AppNumber, through instant: Instant, limit: Int) throws(StorageError) -> [DueEntry]
    func earliestDue(_ app: AppNumber) throws(StorageError) -> Instant?
    func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer?
    /// Tokens that were taken back and are not forgotten.
    func revokedTokens() throws(StorageError) -> [RevokedToken]

    /// The mutations from a place on are decided next: what they look at may be fetched ahead. A hint.
    func prefetch(_ requests: [StoreRequest], from start: Int)

    func begin() throws(StorageError)
    func apply(_ change: StoredChange) throws(StorageError)
    /// Keeps the answer to a key that changed nothing, and so has no revision.
    func keep(_ answer: KeptAnswer, for key: MutationKey) throws(StorageError)
    func setLease(until instant: Instant) throws(StorageError)
    /// Takes a token back, or says anew when it would have ended.
    func revoke(_ revocation: RevokedToken) throws(StorageError)
    /// Forgets tokens that would have ended before an instant.
    func forgetRevokedTokens(before instant: Instant) throws(StorageError)
    /// Forgets the answers that were kept before an instant.
    func forgetAnswers(before instant: Instant) throws(StorageError)
    func commit() throws(StorageError)
    func rollback()
    func close()
    /// Begins a copy in a new file at a path, where nothing may be yet.
    func beginCopy(at path: String) throws(CopyFault) -> any StorageCopy

    /// What the storage takes up on its medium, and how it fares there. Asks the medium for nothing that may wait.
    var figures: StorageFigures { get }
    /// Whether the medium has room for some ordinary batches.
    var hasRoom: Bool { get }
    /// Whether it holds every record as a value, so that a cache before it would only be a second look.
    var holdsRecords: Bool { get }
}

extension Storage {
    /// Storage without a medium.
    package var figures: StorageFigures { StorageFigures() }
    package var hasRoom: Bool { true }
    package func prefetch(_ requests: [StoreRequest], from start: Int) {}
    package var holdsRecords: Bool { false }
}

/// What storage takes up on its medium.
package struct StorageFigures: Hashable, Sendable {
    package var fileBytes: Int64 = 0
    /// Of the write-ahead log's file.
    package var logBytes: Int64 = 0
    package var checkpoints: UInt64 = 0
    /// Pages that they wrote: of one that changed often since the checkpoint before, only the last.
    package var checkpointPages: UInt64 = 0
    /// Checkpoints that found no room. The log grows instead, until it finds none.
    package var checkpointsWithoutRoom: UInt64 = 0

    package init() {}
}

/// Why storage did not do as it was asked.
package enum StorageError: Error, Equatable, CustomStringConvertible {
    /// No room. Nothing of the batch was written; try again when there is room.
    case full(String)
    /// Whether the batch is durable is not known. Nothing more may be acknowledged.
    case failed(String)
    /// What was read does not bear its checksum, or does not decode.
    case corrupt(String)
    /// The file was written by a newer version.
    case newerSchema(found: Int, known: Int)
    /// The file was written by an older version, whose stores this one does not carry over.
    case olderSchema(found: Int, known: Int)

    package var description: String {
        switch self {
        case .full(let what): "no room in the store: \(what); free some space, writing goes on by itself then"
        case .failed(let what): "the store failed: \(what); Perch ends so that it can recover from disk"
        case .corrupt(let what): "the store is damaged: \(what); restore it from a backup"
        case .newerSchema(let found, let known):
            "the store has schema \(found), this version knows \(known); run the version that wrote it, or a newer one"
        case .olderSchema(let found, let known):
            "the store has schema \(found), of a version in development, this one knows \(known) only; name another file, and begin anew there"
        }
    }
}

/// What is known of a store without reading an account.
package struct StoreHeader: Hashable, Sendable {
    package var identity: StoreIdentity
    /// Which life of the store: another after each restore from a backup, and never a smaller one. Two restores of one
    /// backup differ as well, or the tokens of the first would fit what became of the second.
    package var epoch: UInt32
    package var revision: UInt64
    package var nextTransaction: TransactionID
    package var nextAccount: AccountNumber
    /// No clock may show less than this: it may have been shown before.
    package var lease: Instant

    package init(
        identity: StoreIdentity, epoch: UInt32, revision: UInt64, nextTransaction: TransactionID,
        nextAccount: AccountNumber, lease: Instant
    ) {
        self.identity = identity
        self.epoch = epoch
        self.revision = revision
        self.nextTransaction = nextTransaction
        self.nextAccount = nextAccount
        self.lease = lease
    }

    /// A change was written.
    mutating func follow(_ change: StoredChange) {
        self.revision = change.revision
        self.nextTransaction = change.nextTransaction
        self.nextAccount = change.nextAccount
    }
}

/// An app's state, and the settings that its catalogue file began with. Immutable: every mutation looks at one.
package final class StoredAppState: Sendable {
    package let state: AppState
    package let fileSettings: AppSettings

    package init(state: AppState, fileSettings: AppSettings) {
        self.state = state
        self.fileSettings = fileSettings
    }
}

/// An account whose renewal has to be attempted at an instant.
package struct DueEntry: Hashable, Sendable {
    package var instant: Instant
    package var account: AccountNumber

    package init(instant: Instant, account: AccountNumber) {
        self.instant = instant
        self.account = account
    }
}

/// A client's key of a mutation, within an app.
package struct MutationKey: Hashable, Sendable {
    package var app: AppNumber
    package var bytes: [UInt8]

    package init(app: AppNumber, bytes: [UInt8]) {
        self.app = app
        self.bytes = bytes
    }
}

/// The answer that a key was given.
package struct KeptAnswer: Hashable, Sendable {
    package var digest: Digest
    package var result: MutationResult
    package var position: Position
    /// By the wall clock.
    package var kept: Instant

    package init(digest: Digest, result: MutationResult, position: Position, kept: Instant) {
        self.digest = digest
        self.result = result
        self.position = position
        self.kept = kept
    }
}

/// An answer, and the key that is given it from now on.
package struct KeyedAnswer: Hashable, Sendable {
    package let key: MutationKey
    package let answer: KeptAnswer

    package init(key: MutationKey, answer: KeptAnswer) {
        self.key = key
        self.answer = answer
    }
}

/// A fact, and the revision that wrote it down.
package struct DatedFact: Hashable, Sendable {
    package var revision: UInt64
    package var fact: Fact

    package init(revision: UInt64, fact: Fact) {
        self.revision = revision
        self.fact = fact
    }
}

/// One revision, as it is written.
package struct StoredChange: Sendable {
    package var revision: UInt64
    package var committed: Instant
    /// In order; the index is the ordinal.
    package var facts: [StoredFact] = []
    /// The new records, with their due instants.
    package var records: [StoredRecord] = []
    package var aliases: [(key: AccountKey, account: AccountNumber)] = []
    package var app: StoredAppState?
    /// The images of a new catalogue of `app`: all of them, and no other ones stay. Nil with the catalogue before.
    package var images: [ImageContent]?
    /// What the key of its mutation is answered from now on.
    package var answer: Boxed<KeyedAnswer>?
    package var nextTransaction: TransactionID
    package var nextAccount: AccountNumber

    /// Nothing, with the room that the lists had.
    mutating func removeAll() {
        // One by one: they are few, and to remove all at once is to replace them by nothing.
        while !self.facts.isEmpty { self.facts.removeLast() }
        while !self.records.isEmpty { self.records.removeLast() }
        if !self.aliases.isEmpty { self.aliases.removeAll(keepingCapacity: true) }
        // Most have none of these, and letting go of nothing asks the runtime how that is done: 400 instructions.
        if self.app != nil { self.app = nil }
        if self.images != nil { self.images = nil }
        if self.answer != nil { self.answer = nil }
    }

    /// Goes on with the lists of another, which are empty, instead of its own.
    mutating func takeRoom(of other: inout StoredChange) {
        swap(&self.facts, &other.facts)
        swap(&self.records, &other.records)
        swap(&self.aliases, &other.aliases)
    }
}

extension StoredChange {
    /// One that changes nothing yet.
    package init(revision: UInt64, committed: Instant, nextTransaction: TransactionID, nextAccount: AccountNumber) {
        self.init(
            revision: revision, committed: committed, facts: [], nextTransaction: nextTransaction,
            nextAccount: nextAccount)
    }
}

/// A record, when its next attempt is due, and when it was due before.
package struct StoredRecord: Sendable {
    package var record: AccountRecord
    package var due: Instant?
    package var previousDue: Instant?

    package init(_ record: AccountRecord, due: Instant? = nil, previousDue: Instant? = nil) {
        self.record = record
        self.due = due
        self.previousDue = previousDue
    }
}

/// A fact and whose it is.
package struct StoredFact: Hashable, Sendable {
    package var account: AccountNumber
    package var fact: Fact
    package var origin: [UInt8]

    package init(account: AccountNumber, fact: Fact, origin: [UInt8]) {
        self.account = account
        self.fact = fact
        self.origin = origin
    }
}
