import Glibc
package import PerchBase
package import PerchModel

// The seam between the service and storage: what may be asked of a store, and what it answers.

/// A caller's key of an account: an alias of its number. Compared bytewise.
package struct AccountKey: Hashable, Sendable {
    package let app: AppNumber
    /// 1 to 255 bytes of UTF-8 without NUL.
    package let bytes: [UInt8]
    /// Under which tables of this process find it. Made once, with the key: several of them are asked.
    package let hash: UInt64

    package init(app: AppNumber, bytes: [UInt8]) {
        self.app = app
        self.bytes = bytes
        self.hash = KeyHash.hash(app: app, bytes.span.bytes)
    }

    package static func == (left: AccountKey, right: AccountKey) -> Bool {
        guard left.hash == right.hash, left.app == right.app, left.bytes.count == right.bytes.count else {
            return false
        }
        return left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in
                guard let a = left.baseAddress, let b = right.baseAddress else { return true }
                return memcmp(a, b, left.count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.hash) }
}

/// A transaction as it is stored.
package struct TransactionRow: Hashable, Sendable {
    package var account: AccountNumber
    package var transaction: Transaction
    package var isFinished: Bool

    package init(account: AccountNumber, transaction: Transaction, isFinished: Bool) {
        self.account = account
        self.transaction = transaction
        self.isFinished = isFinished
    }
}

/// Which transactions of an account are meant, and from where on. Oldest first, by purchase date, then number.
package struct TransactionQuery: Hashable, Sendable {
    /// Only of this product; nil for all.
    package var productID: String?
    package var unfinishedOnly = false
    /// Finished consumables are left out unless asked for, or refunded.
    package var includesFinishedConsumables = false
    package var isNewestFirst = false
    /// Everything after this place.
    package var after: Place?
    package var limit: Int

    package struct Place: Hashable, Sendable {
        package var purchaseDate: Instant
        package var id: TransactionID

        package init(purchaseDate: Instant, id: TransactionID) {
            self.purchaseDate = purchaseDate
            self.id = id
        }
    }

    package init(limit: Int) { self.limit = limit }

    package func includes(_ row: TransactionRow) -> Bool {
        if let productID = self.productID, row.transaction.productID != productID { return false }
        if self.unfinishedOnly { return !row.isFinished }
        let isSpent =
            row.isFinished && row.transaction.productType == .consumable && row.transaction.revocation == nil
        return self.includesFinishedConsumables || !isSpent
    }
}

/// Where in the sequence of events a reader stands.
package struct EventPlace: Hashable, Comparable, Sendable {
    package var revision: UInt64
    package var ordinal: UInt32

    package init(revision: UInt64, ordinal: UInt32) {
        self.revision = revision
        self.ordinal = ordinal
    }

    package static func < (left: EventPlace, right: EventPlace) -> Bool {
        (left.revision, left.ordinal) < (right.revision, right.ordinal)
    }
}

/// What happened to a transaction, as subscribers of an account's transactions are told.
package struct AccountEvent: Hashable, Sendable {
    package var place: EventPlace
    package var committed: Instant
    package var transaction: Transaction
    package var kind: TransactionEventKind
    /// The client whose call caused it; empty for the store itself.
    package var origin: [UInt8]

    package init(
        place: EventPlace, committed: Instant, transaction: Transaction, kind: TransactionEventKind, origin: [UInt8]
    ) {
        self.place = place
        self.committed = committed
        self.transaction = transaction
        self.kind = kind
        self.origin = origin
    }
}

/// What a mutation is about: the record that its decision starts from.
package enum Subject: Hashable, Sendable {
    /// An account by its key. Where there is none it is opened, if `opens`; else refused.
    case account(AccountKey, opens: Bool)
    /// The account that owns a transaction.
    case owner(app: AppNumber, of: TransactionID)
    /// An account by its key, and one of its transactions.
    case transaction(AccountKey, TransactionID)
    /// The app itself.
    case app(AppNumber)

    /// Of the account's key, where it is named by one.
    fileprivate var keyHash: UInt64? {
        switch self {
        case .account(let key, _), .transaction(let key, _): key.hash
        case .owner, .app: nil
        }
    }
}

/// What a decision sees.
package struct DecisionView: Sendable {
    private let stored: StoredAppState
    /// The app's clock.
    package let now: Instant
    /// The wall clock.
    package let wall: Instant
    /// The subject's record; a fresh one for an account that is being opened. Nil when the subject is an app.
    package let record: AccountRecord?
    /// The transaction that the subject was named by.
    package let transaction: TransactionRow?
    /// What `need` asked for; empty the first time.
    package let fetched: [TransactionRow]
    /// The record of the mutation's other account; a fresh one for an account that is being opened.
    package let member: AccountRecord?
    /// What `needRows` asked for, each need with its rows, oldest need first in `rows`.
    package var answers: [RowNeed: [Transaction]] = [:]
    package var rows: [Transaction] = []
    /// Gives out transaction numbers; what a decision that does not commit has taken is not used.
    package var numbers: TransactionNumbers

    package init(
        app: StoredAppState, now: Instant, wall: Instant, record: AccountRecord?, transaction: TransactionRow?,
        fetched: [TransactionRow], member: AccountRecord? = nil, numbers: TransactionNumbers
    ) {
        self.stored = app
        self.now = now
        self.wall = wall
        self.record = record
        self.transaction = transaction
        self.fetched = fetched
        self.member = member
        self.numbers = numbers
    }

    package var app: AppState { self.stored.state }
    /// The settings that the app's catalogue file began with.
    package var fileSettings: AppSettings { self.stored.fileSettings }

    /// The record of a subject that is an account. An app has none: asking for it is our bug.
    package var accountRecord: AccountRecord {
        guard let record = self.record else { preconditionFailure("an app's decision asked for an account's record") }
        return record
    }
}

/// What a decision comes to. A refusal is thrown.
package enum Decision: Sendable {
    /// These facts, for these accounts, in one revision.
    case commit([AccountFacts], answer: MutationResult)
    /// This change of the app, in one revision.
    case commitApp(AppChange, answer: MutationResult)
    /// Nothing to write.
    case unchanged(answer: MutationResult)
    /// Run again with these.
    case need(TransactionQuery)
    /// Run again with these, beside those that were asked for before.
    case needRows(RowNeed)
}

/// Facts of one account, in order.
package struct AccountFacts: Hashable, Sendable {
    package var account: AccountNumber
    package var facts: [Fact]

    package init(account: AccountNumber, facts: [Fact]) {
        self.account = account
        self.facts = facts
    }
}

/// A change of an app. What is nil stays.
package struct AppChange: Sendable {
    package var catalogue: (catalogue: Catalogue, source: String)?
    /// The bytes of every image that the new catalogue names; nil where they are those of the one before.
    package var images: [ImageContent]?
    /// The settings that a catalogue file begins with; applied where they differ from those of the file before.
    package var fileSettings: AppSettings?
    package var settings: AppSettings?
    package var clock: AppClock?

    package init() {}
}

/// The answer of a mutation, kept with its key so that repeating it gives the same.
package enum MutationResult: Hashable, Sendable {
    case none
    /// A transaction; whether the customer held it before.
    case transaction(Transaction, wasHeld: Bool)
    /// A purchase that waits for somebody.
    case pending(id: UInt64)
    /// A purchase that the customer did not want after all.
    case cancelled
    /// The number of what was made.
    case number(UInt64)
    /// The clock of a test app; attempts settled on the way.
    indirect case clock(
        now: Instant, isFrozen: Bool, offsetMilliseconds: Int64, timeRate: TimeRate, settledCount: UInt64)
}

/// Asks for a change.
///
/// One reference: an order is handed on several times between its frame and its answer, and has nine of them inside.
package struct Mutation: Sendable {
    package var subject: Subject { self.contents.fields.subject }
    /// The app that the subject is, or is of.
    var app: AppNumber {
        switch self.contents.fields.subject {
        case .account(let key, _), .transaction(let key, _): key.app
        case .owner(let app, _), .app(let app): app
        }
    }
    /// A second account that the decision sees, and may return facts of.
    package var other: AccountKey? { self.contents.fields.other }
    /// Whether that one is opened where there is none; else refused.
    package var opensOther: Bool { self.contents.fields.opensOther }
    /// Refused in apps of which Perch is not the store.
    package var needsTestApp: Bool { self.contents.fields.needsTestApp }
    /// Makes the call safe to repeat; empty for none.
    package var key: [UInt8] { self.contents.fields.key }
    /// What the call asks for, so that a key is not used for two things.
    package var keyDigest: Digest { self.contents.fields.keyDigest }
    /// Who asks: the `client_id` of the connection.
    package var origin: [UInt8] {
        get { self.contents.fields.origin }
        set { self.change { $0.origin = newValue } }
    }
    fileprivate var keyHash: UInt64? { self.contents.fields.subject.keyHash }
    /// Answer only when all that is due by the app's clock is settled, and every loop has applied it.
    package var waitsForSettling: Bool {
        get { self.contents.fields.waitsForSettling }
        set { self.change { $0.waitsForSettling = newValue } }
    }

    private var contents: Contents

    package init(
        _ subject: Subject, needsTestApp: Bool,
        decide: @escaping @Sendable (inout DecisionView) throws(Refusal) -> Decision
    ) {
        self.contents = Contents(Fields(subject: subject, needsTestApp: needsTestApp, decider: .function(decide)))
    }

    init(_ subject: Subject, other: AccountKey?, opensOther: Bool, _ operation: StoreOperation, origin: [UInt8]) {
        self.contents = Contents(
            Fields(
                subject: subject, other: other, opensOther: opensOther, needsTestApp: true,
                decider: .operation(operation), origin: origin))
    }

    /// What a mutation says, once and for all: shared by its copies, on all threads.
    private final class Contents: Sendable {
        let fields: Fields

        init(_ fields: consuming Fields) { self.fields = fields }
    }

    private struct Fields: Sendable {
        var subject: Subject
        var other: AccountKey?
        var opensOther = false
        var needsTestApp: Bool
        var decider: Decider
        var key: [UInt8] = []
        var keyDigest = Digest.zero
        var origin: [UInt8] = []
        var waitsForSettling = false
    }

    private enum Decider: Sendable {
        /// What most mutations are; without a closure, which would be one more box.
        case operation(StoreOperation)
        case function(@Sendable (inout DecisionView) throws(Refusal) -> Decision)
    }

    private mutating func change(_ body: (inout Fields) -> Void) {
        var fields = self.contents.fields
        body(&fields)
        self.contents = Contents(consume fields)
    }

    /// What it comes to. Pure and repeatable: it may be run several times, with what it needs or after a failed batch.
    package func decide(_ view: inout DecisionView) throws(Refusal) -> Decision {
        switch self.contents.fields.decider {
        case .operation(let operation): try Decision(of: operation, &view)
        case .function(let decide): try decide(&view)
        }
    }

    /// The same about the same subject, decided otherwise.
    package func deciding(
        _ decide: @escaping @Sendable (inout DecisionView) throws(Refusal) -> Decision
    ) -> Mutation {
        var mutation = self
        mutation.change { $0.decider = .function(decide) }
        return mutation
    }

    /// Under a key of the caller's, behind which stands what he asks for.
    package mutating func repeatable(under key: [UInt8], of digest: Digest = .zero) {
        self.change {
            $0.key = key
            $0.keyDigest = digest
        }
    }
}

/// Asks something of the store.
package struct StoreRequest: Sendable {
    /// The loop that asks and is answered.
    package var loop: Int
    /// The asker's own number; comes back with the answer.
    package var ticket: UInt64
    package var body: Body

    package init(loop: Int, ticket: UInt64, _ body: Body) {
        self.loop = loop
        self.ticket = ticket
        self.body = body
    }

    /// What it asks to be changed, where it does.
    @inline(__always)
    var mutation: Mutation? {
        guard case .mutate(let mutation) = self.body else { return nil }
        return mutation
    }

    /// Of the key of the account that a mutation is about, where it is named by one.
    var keyHash: UInt64? { self.mutation?.keyHash }

    /// Small: a turn has hundreds of them, nearly all of which are mutations. What is asked seldom is behind a reference.
    package enum Body: Sendable {
        case record(AccountKey)
        case recordOf(AccountNumber)
        /// The record as it was, and the state of its app then.
        indirect case recordAsKnown(AccountKey, KnownAs)
        /// The record and the newest rows beside it; nil: as they are known now.
        indirect case history(AccountKey, KnownAs?)
        /// Keys of an app's accounts in bytewise order, after one; empty for the beginning.
        indirect case keys(AppNumber, after: [UInt8], limit: Int)
        indirect case transactions(AccountKey, TransactionQuery)
        /// Events after a place, or nil for "from now on, with what is unfinished first".
        indirect case events(AccountKey, after: EventPlace?, limit: Int)
        /// An image of an app's catalogue.
        indirect case image(AppNumber, ContentHash)
        case mutate(Mutation)
        /// A token is taken back: durable before it is answered.
        indirect case revoke(RevokedToken)
        /// A loop has applied everything up to a barrier.
        case barrierReached(UInt64)
    }
}

/// A past that a read is about: what was known at a revision, and of that what had happened by an instant.
package struct KnownAs: Hashable, Sendable {
    /// 0: the newest.
    package var revision: UInt64
    /// On the app's clock; nil: all of it.
    package var instant: Instant?

    package init(revision: UInt64, instant: Instant?) {
        self.revision = revision
        self.instant = instant
    }
}

/// A token that was revoked before its end.
package struct RevokedToken: Hashable, Sendable {
    /// Its `jti`, or a hash.
    package var id: String
    /// When it would have ended by itself: from then on nobody has to remember.
    package var expires: Instant

    package init(id: String, expires: Instant) {
        self.id = id
        self.expires = expires
    }
}

/// What the store answers. As small as what it answers by the thousand; all else is behind a reference.
package enum StoreAnswer: Sendable {
    indirect case record(AccountRecord?)
    indirect case recordAsKnown(AccountRecord?, AppState)
    /// Rows newest first.
    indirect case history(AccountRecord?, [Transaction], AppState)
    indirect case keys([[UInt8]], hasMore: Bool)
    indirect case transactions([TransactionRow], hasMore: Bool)
    /// Events, and the place from which to go on; `isComplete`: nothing more is stored up to this answer. Transactions
    /// from `nextTransaction` on are newer than this answer.
    indirect case events([AccountEvent], through: EventPlace, isComplete: Bool, nextTransaction: TransactionID)
    /// The bytes of an image; nil where the catalogue has changed and it is gone.
    indirect case image([UInt8]?, ContentHash)
    case mutated(MutationResult, Position)
    case revoked(wasRevoked: Bool)
    indirect case refused(Refusal)

    /// What is left in a list where an answer was taken out of it. Nobody is given it.
    static var taken: StoreAnswer { .revoked(wasRevoked: false) }
}

/// What travels from the store to a loop, in one order.
package enum StoreEvent: Sendable {
    case change(Change)
    case answer(ticket: UInt64, StoreAnswer)
    /// Say so when everything before this is applied and said.
    case barrier(UInt64)
    /// The store can acknowledge nothing any more; the process is about to end.
    case failed(String)

    /// What is left in a list where an event was taken out of it. Nobody is told.
    package static var taken: StoreEvent { .barrier(0) }
}
