package import PerchBase
package import PerchModel

/// Durable storage for decisions: the data that they read and write. Belongs to the store's thread.
///
/// All calls are synchronous, and one batch is open at a time. Reads between `begin` and `commit` see the batch's own
/// writes. After `rollback`, or a `commit` that threw, nothing of the batch is stored. `commit` returns when the batch
/// would survive a loss of power. `StoreMaintenance` covers the medium itself: copies, space, figures.
package protocol Storage: AnyObject {
    /// The store's identity, counters and lease. Reads no account.
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
    /// The same by the key of an order.
    func account(_ key: OrderAccount, app: AppNumber) throws(StorageError) -> AccountNumber?
    /// The key of an account that callers use, the first in bytewise order if it has several; nil for an unclaimed one.
    func key(of account: AccountNumber) throws(StorageError) -> [UInt8]?
    /// All keys that lead to an account, the store's own too.
    func names(of account: AccountNumber) throws(StorageError) -> [AccountKey]
    /// The same of several accounts by ascending number, in their order.
    func names(of accounts: [AccountNumber]) throws(StorageError) -> [[AccountKey]]
    /// Keys of an app's accounts in bytewise order, those after one; empty for the beginning.
    func keys(of app: AppNumber, after key: [UInt8], limit: Int) throws(StorageError) -> [[UInt8]]
    func record(_ account: AccountNumber) throws(StorageError) -> AccountRecord?
    /// Records of accounts by ascending number, from one on and before another, for a walk over all accounts. `next` is where the walk
    /// goes on: `end` once it is over. A call looks at no more than `limit` accounts.
    func records(
        from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber)
    /// The same walk over the accounts of one app, which may be a guest.
    func records(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber)
    func transaction(_ app: AppNumber, _ id: TransactionID) throws(StorageError) -> TransactionRow?
    func transactions(of account: AccountNumber, _ query: TransactionQuery) throws(StorageError) -> [TransactionRow]
    func events(of account: AccountNumber, after place: EventPlace, limit: Int) throws(StorageError) -> [AccountEvent]
    func facts(of account: AccountNumber) throws(StorageError) -> [Fact]
    /// The facts after one revision and up to another, oldest first, each with the revision that wrote it; the first of
    /// them where there are more than the limit.
    func facts(
        of account: AccountNumber, after first: UInt64, through revision: UInt64, limit: Int
    ) throws(StorageError) -> [DatedFact]
    /// The facts of a revision, in order. Those of one account are neighbours.
    func facts(ofRevision revision: UInt64) throws(StorageError) -> [StoredFact]
    /// When a revision was committed; nil if that is not stored.
    func commitTime(of revision: UInt64) throws(StorageError) -> Instant?
    /// The due accounts, by instant, then account.
    func due(_ app: AppNumber, through instant: Instant, limit: Int) throws(StorageError) -> [DueEntry]
    func earliestDue(_ app: AppNumber) throws(StorageError) -> Instant?
    /// The crossings after an entry and up to an instant, by instant, then account. Those of the past stay until
    /// `forgetCrossings`.
    func crossings(
        _ app: AppNumber, after entry: DueEntry, through instant: Instant, limit: Int
    ) throws(StorageError) -> [DueEntry]
    func answer(to key: MutationKey) throws(StorageError) -> KeptAnswer?
    /// The answers that were kept at an instant.
    func answers(keptAt instant: Instant) throws(StorageError) -> [KeyedAnswer]
    /// Revoked tokens that are not forgotten yet.
    func revokedTokens() throws(StorageError) -> [RevokedToken]

    /// A value that no record and no fact holds; nil if there is none.
    func item(_ key: ItemKey) throws(StorageError) -> StoredItem?
    /// Items of a group, in bytewise order of their keys, those after one; empty for the beginning. An item with an empty key
    /// is not listed.
    func items(_ kind: ItemKind, group: [UInt8], after key: [UInt8], limit: Int) throws(StorageError) -> [StoredItem]
    func itemCount(_ kind: ItemKind, group: [UInt8]) throws(StorageError) -> Int

    /// The committed changes after a revision, oldest first, at most `limit` of them: the feed of changes.
    ///
    /// Kept answers, images and the payload of catalogues are not part of it. Nil where the feed does not reach back so far;
    /// a node that needs more starts again from the stored records.
    func changes(after revision: UInt64, limit: Int) throws(StorageError) -> [StoredChange]?
    /// The rows of the commits after a revision, oldest first, without their facts. Nil where the feed does not reach back
    /// so far.
    func commitRows(after revision: UInt64, limit: Int) throws(StorageError) -> [CommitRow]?
    /// Whether others write to this storage too. Then the engine reads `changes(after:limit:)` before it reads or decides.
    var isShared: Bool { get }
    /// After `commit` threw `unknown`: whether the batch whose last change had this revision is stored for good.
    ///
    /// Another node may have written a change with the same revision. That is not this batch: the answer is false.
    func hasCommitted(_ revision: UInt64) throws(StorageError) -> Bool

    /// Reads in one request what a tick needs: the first reads of all its requests, and the records of `accounts`.
    ///
    /// The engine calls it once for the requests of a tick, and once before it settles renewals. Storage behind a network
    /// keeps the result, and serves the point reads of the same tick from it. A local store needs nothing here: it reads
    /// when it is asked.
    func prefetch(_ requests: [StoreRequest], accounts: [AccountNumber]) throws(StorageError)
    /// The reads of a tick are over. Storage behind a network held one state of the data for them.
    func endReads()
    /// Returns once every change that `changes(after:limit:)` has returned would survive the loss of the storage's server. Until
    /// then no loop is sent such a change.
    func seal() throws(StorageError)
    /// Loads the memory of the next `Limits.prefetchedAtOnce` mutations into the CPU's cache. A hint.
    func warm(_ requests: [StoreRequest], from start: Int)

    /// Of several nodes: an instant that has passed for all of them, as it was read with the newest change of the feed. No batch of
    /// any node is decided before it. Nil: this process alone decides.
    var passed: Instant? { get }
    /// Returns `passed`, once it would survive the loss of the storage's server: readers are shown what time caused up to it.
    func confirmedPassed() throws(StorageError) -> Instant
    /// In a batch: the storage's clock, read under the lock. Nil: it has none, or it does not agree with this node's.
    var batchClock: Instant? { get }
    /// Whether a final refusal is kept with the key of its mutation: another node may still have an earlier attempt, and must not carry it out
    /// after the caller was told that it is refused. False also while nodes of the version before are at work, which cannot read it.
    var keepsRefusals: Bool { get }
    /// Raises `passed` with the open batch. False: nodes of the version before are at work, which only know commits.
    func raisePassed(to instant: Instant) throws(StorageError) -> Bool

    /// Whether a row of what entitles an account is kept for each that has something. Others derive it from the record.
    var keepsSources: Bool { get }
    /// Those rows of an app by ascending account number, from one on and before another. Nil: some are missing, or none are kept.
    func sources(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> SourcesPage?
    /// Whether a version without these rows has written accounts that have none yet.
    func lacksSources() throws(StorageError) -> Bool
    /// Writes the rows of the next accounts that lack them, with the open batch.
    func fillSources(limit: Int) throws(StorageError)

    func begin() throws(StorageError)
    func apply(_ change: StoredChange) throws(StorageError)
    /// The same of a plain purchase.
    func apply(_ purchase: StoredPurchase) throws(StorageError)
    /// Keeps the answer to a key that changed nothing, and so has no revision.
    func keep(_ answer: KeptAnswer, for key: MutationKey) throws(StorageError)
    func setLease(until instant: Instant) throws(StorageError)
    /// Forgets revoked tokens that would have ended before an instant.
    func forgetRevokedTokens(before instant: Instant) throws(StorageError)
    /// Forgets the answers that were kept before an instant.
    func forgetAnswers(before instant: Instant) throws(StorageError)
    /// Forgets the crossings of an app up to an entry.
    func forgetCrossings(_ app: AppNumber, through entry: DueEntry) throws(StorageError)
    func commit() throws(StorageError)
    func rollback()
    func close()

    /// Whether every record is in memory as a value. The engine then keeps no cache.
    var holdsRecords: Bool { get }
    /// What nodes that share this storage know of each other; nil where one process has it alone.
    var sharing: (any StoreSharing)? { get }
    /// The medium under this storage; nil where this process does not manage it, as in memory or on a database server.
    var maintenance: (any StoreMaintenance)? { get }
}

extension Storage {
    /// Of a store whose account numbers have no gaps, and whose reads are local.
    package func records(
        from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber) {
        let next = account < end ? account + min(end - account, AccountNumber(limit)) : end
        var records: [AccountRecord] = []
        for number in account..<max(account, next) {
            if let record = try self.record(number) { records.append(record) }
        }
        return (records, next)
    }
    package func records(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> (records: [AccountRecord], next: AccountNumber) {
        let page = try self.records(from: account, before: end, limit: limit)
        return (page.records.filter { $0.app == app }, page.next)
    }
    package func names(of accounts: [AccountNumber]) throws(StorageError) -> [[AccountKey]] {
        try accounts.map { account throws(StorageError) in try self.names(of: account) }
    }
    package func prefetch(_ requests: [StoreRequest], accounts: [AccountNumber]) throws(StorageError) {}
    package func warm(_ requests: [StoreRequest], from start: Int) {}
    package func endReads() {}
    package func seal() throws(StorageError) {}
    package func account(_ key: OrderAccount, app: AppNumber) throws(StorageError) -> AccountNumber? {
        try self.account(key.key(app: app))
    }
    package func apply(_ purchase: StoredPurchase) throws(StorageError) { try self.apply(StoredChange(purchase)) }
    package var isShared: Bool { false }
    package var passed: Instant? { nil }
    package func confirmedPassed() throws(StorageError) -> Instant { self.passed ?? .distantPast }
    package var batchClock: Instant? { nil }
    package var keepsRefusals: Bool { false }
    package func raisePassed(to instant: Instant) throws(StorageError) -> Bool { false }
    package func hasCommitted(_ revision: UInt64) throws(StorageError) -> Bool {
        try self.commitTime(of: revision) != nil
    }
    package var keepsSources: Bool { false }
    package func sources(
        of app: AppNumber, from account: AccountNumber, before end: AccountNumber, limit: Int
    ) throws(StorageError) -> SourcesPage? { nil }
    package func lacksSources() throws(StorageError) -> Bool { false }
    package func fillSources(limit: Int) throws(StorageError) {}
    package var holdsRecords: Bool { false }
    package var maintenance: (any StoreMaintenance)? { nil }
    package var sharing: (any StoreSharing)? { nil }
}
/// What entitles some accounts of an app.
package struct SourcesPage: Sendable {
    package var rows: [(account: AccountNumber, sources: [EntitlementSource])] = []
    /// The account at which the walk goes on: its end, once it is over.
    package var next: AccountNumber

    package init(next: AccountNumber) { self.next = next }
}

/// The identity, counters and lease of a store.
package struct StoreHeader: Hashable, Sendable {
    package var identity: StoreIdentity
    /// Changes with each restore from a backup. Two restores of one backup differ too, so that tokens of one do not fit the
    /// other.
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

/// An account and an instant of its app's clock: a renewal that has to be attempted then, or a crossing.
package struct DueEntry: Hashable, Comparable, Sendable {
    package var instant: Instant
    package var account: AccountNumber

    package init(instant: Instant, account: AccountNumber) {
        self.instant = instant
        self.account = account
    }

    package static func < (left: DueEntry, right: DueEntry) -> Bool {
        (left.instant, left.account) < (right.instant, right.account)
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

    /// The bytes at once: an array hashes them one by one, which was 800 instructions.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.app)
        self.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// The answer that a key was given.
package struct KeptAnswer: Hashable, Sendable {
    package var digest: Digest
    package var result: MutationResult
    /// The mutation was refused, and has no result. See `Storage.keepsRefusals`.
    package var refusal: Refusal?
    package var position: Position
    /// By the wall clock.
    package var kept: Instant

    package init(
        digest: Digest, result: MutationResult, refusal: Refusal? = nil, position: Position, kept: Instant
    ) {
        self.digest = digest
        self.result = result
        self.refusal = refusal
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
