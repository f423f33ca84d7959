import Glibc
package import PerchBase
package import PerchModel

// The seam between the service and the store: requests, mutations and their decisions, answers.

/// A key that callers use for an account: an alias of its number. Compared bytewise.
package struct AccountKey: Hashable, Sendable {
    package let app: AppNumber
    /// 1 to 255 bytes of UTF-8 without NUL.
    package let bytes: [UInt8]
    /// The hash for the tables of this process. Computed once, because several tables use it.
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

    /// Whether an order names the account by this key.
    func isKey(of order: OrderAccount, app: AppNumber) -> Bool {
        guard self.hash == order.hash, self.app == app else { return false }
        return order.withBytes { named in
            self.bytes.withUnsafeBytes { own in
                guard own.count == named.count, let a = own.baseAddress, let b = named.baseAddress else { return false }
                return memcmp(a, b, own.count) == 0
            }
        }
    }
}

/// A stored transaction.
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

/// Selects transactions of an account. Oldest first, by purchase date, then number.
package struct TransactionQuery: Hashable, Sendable {
    /// The product; nil for all.
    package var productID: String?
    package var unfinishedOnly = false
    /// Whether finished consumables are included. Refunded ones always are.
    package var includesFinishedConsumables = false
    package var isNewestFirst = false
    /// The place after which the result begins.
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

/// A position in the sequence of events.
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

/// An event of a transaction, for subscribers of the account's transactions.
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

/// The subject of a mutation: its decision starts from the subject's record.
package enum Subject: Hashable, Sendable {
    /// An account by its key. A missing account is opened if `opens` is true; otherwise the mutation is refused.
    case account(AccountKey, opens: Bool)
    /// The account that owns a transaction.
    case owner(app: AppNumber, of: TransactionID)
    /// An account by its key, and one of its transactions.
    case transaction(AccountKey, TransactionID)
    /// The app itself.
    case app(AppNumber)

    /// The hash of the account's key; nil for a subject without a key.
    fileprivate var keyHash: UInt64? {
        switch self {
        case .account(let key, _), .transaction(let key, _): key.hash
        case .owner, .app: nil
        }
    }
}

/// The input of a decision.
package struct DecisionView: Sendable {
    private let stored: StoredAppState
    /// The app's clock.
    package let now: Instant
    /// The wall clock.
    package let wall: Instant
    /// The subject's record; an empty one for an account that is being opened. Nil for an app.
    package let record: AccountRecord?
    /// The transaction that names the subject.
    package let transaction: TransactionRow?
    /// The result of `need`; empty in the first round.
    package let fetched: [TransactionRow]
    /// The record of the mutation's other account; an empty one for an account that is being opened.
    package let member: AccountRecord?
    /// The results of `needRows`, by need. `rows` has them in the order of the needs.
    package var answers: [RowNeed: [Transaction]] = [:]
    package var rows: [Transaction] = []
    /// The results of needs for redemptions.
    package var redemptions: [OfferCodeName: UInt64] = [:]
    /// Allocates transaction numbers. They count only if the decision commits.
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
    /// The settings of the app's catalogue file.
    package var fileSettings: AppSettings { self.stored.fileSettings }

    /// The record of a subject that is an account. Traps for an app, which has none.
    package var accountRecord: AccountRecord {
        guard let record = self.record else { preconditionFailure("an app's decision asked for an account's record") }
        return record
    }
}

/// The result of a decision. A refusal is thrown.
package enum Decision: Sendable {
    /// Commits these facts of these accounts in one revision.
    case commit([AccountFacts], answer: MutationResult)
    /// Commits this change of the app in one revision.
    case commitApp(AppChange, answer: MutationResult)
    /// Writes nothing.
    case unchanged(answer: MutationResult)
    /// Needs these rows; the decision runs again with them.
    case need(TransactionQuery)
    /// Needs these rows too; the decision runs again with them and the rows of earlier needs.
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

/// A change of an app. A field that is nil keeps its value.
package struct AppChange: Sendable {
    package var catalogue: (catalogue: Catalogue, source: String)?
    /// The bytes of all images of the new catalogue; nil if the images stay the same.
    package var images: [ImageContent]?
    /// The settings of a catalogue file. They apply if they differ from those of the previous file.
    package var fileSettings: AppSettings?
    package var settings: AppSettings?
    package var clock: AppClock?

    package init() {}
}

/// The answer of a mutation. It is kept with the mutation's key, so a repeated call gets the same answer.
package enum MutationResult: Hashable, Sendable {
    case none
    /// A transaction, whether the customer already held it, and why its signature is invalid, if the app's settings say so.
    case transaction(Transaction, wasHeld: Bool, failure: VerificationFailure = .noFailure)
    /// A purchase that waits for approval or another action.
    case pending(id: UInt64)
    /// A purchase that the customer cancelled.
    case cancelled
    /// The number of a created object.
    case number(UInt64)
    /// What a change of an App Store app did.
    case reported(ReportedOutcome)
    /// The clock of a test app, and the number of renewals that were settled before the answer.
    indirect case clock(
        now: Instant, isFrozen: Bool, offsetMilliseconds: Int64, timeRate: TimeRate, settled: RenewalCount)
}

/// A requested change.
///
/// A single reference, because a mutation is passed on several times between its frame and its answer.
package struct Mutation: Sendable {
    package var subject: Subject { self.contents.fields.subject }
    /// The subject's app.
    var app: AppNumber {
        switch self.contents.fields.subject {
        case .account(let key, _), .transaction(let key, _): key.app
        case .owner(let app, _), .app(let app): app
        }
    }
    /// A second account that the decision reads, and may return facts for.
    package var other: AccountKey? { self.contents.fields.other }
    /// Whether a missing second account is opened; otherwise the mutation is refused.
    package var opensOther: Bool { self.contents.fields.opensOther }
    /// Whether the mutation is refused in apps whose store is not Perch.
    package var needsTestApp: Bool { self.contents.fields.needsTestApp }
    /// The idempotency key; empty for none.
    package var key: [UInt8] { self.contents.fields.key }
    /// A digest of the request, so that one key is not used for two requests.
    package var keyDigest: Digest { self.contents.fields.keyDigest }
    /// The `client_id` of the caller's connection.
    package var origin: [UInt8] {
        get { self.contents.fields.origin }
        set { self.change { $0.origin = newValue } }
    }
    /// Who asked for an administrative or test change; nil for a customer's. It is written with the change.
    package var audit: AuditEntry? {
        get { self.contents.fields.audit?.value }
        set { self.change { $0.audit = newValue.map { Boxed($0) } } }
    }
    fileprivate var keyHash: UInt64? { self.contents.fields.subject.keyHash }
    /// Whether the answer waits until everything due by the app's clock is settled and every loop has applied it.
    package var waitsForSettling: Bool {
        get { self.contents.fields.waitsForSettling }
        set { self.change { $0.waitsForSettling = newValue } }
    }

    /// Whether the mutation stops an app's clock, so that no thread may show a later instant than the one it is decided at.
    package var stopsClock: Bool {
        get { self.contents.fields.stopsClock }
        set { self.change { $0.stopsClock = newValue } }
    }

    private var contents: Contents

    package init(
        _ subject: Subject, needsTestApp: Bool,
        decide: @escaping @Sendable (inout DecisionView) throws(Refusal) -> Decision
    ) {
        self.contents = Contents(Fields(subject: subject, needsTestApp: needsTestApp, decider: .function(decide)))
    }

    init(reported request: ReportedRequest, app: AppNumber, origin: [UInt8]) {
        self.contents = Contents(
            Fields(subject: .app(app), needsTestApp: false, decider: .reported(request), origin: origin))
    }

    /// A mutation that makes a guest.
    package init(opening: GuestOpening) {
        self.contents = Contents(Fields(subject: .app(0), needsTestApp: false, decider: .opening(opening)))
    }

    /// The guest that the mutation makes; nil for any other mutation.
    var opening: GuestOpening? {
        guard case .opening(let opening) = self.contents.fields.decider else { return nil }
        return opening
    }

    /// The change of an App Store app; nil for any other mutation.
    var reported: ReportedRequest? {
        guard case .reported(let request) = self.contents.fields.decider else { return nil }
        return request
    }

    init(_ subject: Subject, other: AccountKey?, opensOther: Bool, _ operation: StoreOperation, origin: [UInt8]) {
        self.contents = Contents(
            Fields(
                subject: subject, other: other, opensOther: opensOther, needsTestApp: true,
                decider: .operation(operation), origin: origin))
    }

    /// The immutable contents of a mutation, shared by its copies on all threads.
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
        var audit: Boxed<AuditEntry>?
        var key: [UInt8] = []
        var keyDigest = Digest.zero
        var origin: [UInt8] = []
        var waitsForSettling = false
        var isRehearsal = false
        var stopsClock = false
    }

    private enum Decider: Sendable {
        /// The usual case. It avoids the allocation of a closure.
        case operation(StoreOperation)
        case function(@Sendable (inout DecisionView) throws(Refusal) -> Decision)
        /// Decided by the engine, because it reads as many accounts as its reports are about.
        indirect case reported(ReportedRequest)
        /// Decided by the engine, because there is no app yet.
        indirect case opening(GuestOpening)
    }

    /// The same mutation, of which only the outcome is wanted: nothing is written. Only of a change of an App Store app.
    package var rehearsed: Mutation {
        precondition(self.reported != nil, "only reports are rehearsed")
        var mutation = self
        mutation.change { $0.isRehearsal = true }
        return mutation
    }

    package var isRehearsal: Bool { self.contents.fields.isRehearsal }

    private mutating func change(_ body: (inout Fields) -> Void) {
        var fields = self.contents.fields
        body(&fields)
        self.contents = Contents(consume fields)
    }

    /// Decides the mutation. Pure: it may run several times, with more rows or in a batch that runs again.
    package func decide(_ view: inout DecisionView) throws(Refusal) -> Decision {
        switch self.contents.fields.decider {
        case .operation(let operation): try Decision(of: operation, &view)
        case .function(let decide): try decide(&view)
        case .reported, .opening: preconditionFailure("the engine decides changes of App Store apps, and of new ones")
        }
    }

    /// A mutation of the same subject with another decision.
    package func deciding(
        _ decide: @escaping @Sendable (inout DecisionView) throws(Refusal) -> Decision
    ) -> Mutation {
        var mutation = self
        mutation.change { $0.decider = .function(decide) }
        return mutation
    }

    /// Sets the caller's idempotency key, and the digest of the request.
    package mutating func repeatable(under key: [UInt8], of digest: Digest = .zero) {
        self.change {
            $0.key = key
            $0.keyDigest = digest
        }
    }
}

/// A request to the store.
package struct StoreRequest: Sendable {
    /// The loop that asks and receives the answer.
    package var loop: Int
    /// The loop's own number of the request; returned with the answer.
    package var ticket: UInt64
    package let body: Body

    package init(loop: Int, ticket: UInt64, _ body: Body) {
        self.loop = loop
        self.ticket = ticket
        switch body {
        case .order(let order):
            self.keyHash = order.account.hash
            self.isMutation = true
        case .mutate(let mutation):
            self.keyHash = mutation.keyHash
            self.isMutation = true
        default:
            self.keyHash = nil
            self.isMutation = false
        }
        self.body = body
    }

    /// A request with an order. The general way copies the order twice more, to look into the body.
    package init(loop: Int, ticket: UInt64, order: StoreOrder) {
        self.loop = loop
        self.ticket = ticket
        self.keyHash = order.account.hash
        self.isMutation = true
        self.body = .order(order)
    }

    /// The mutation; nil for other requests.
    @inline(__always)
    var mutation: Mutation? {
        guard case .mutate(let mutation) = self.body else { return nil }
        return mutation
    }

    /// The hash of the account key of a mutation; nil without one. Stored, because to look into the body copies it.
    let keyHash: UInt64?
    package let isMutation: Bool

    /// Small, because a tick has hundreds of requests, nearly all of them mutations. Rare cases are behind a reference.
    package enum Body: Sendable {
        case record(AccountKey)
        case recordOf(AccountNumber)
        /// The record and the state of its app in the past.
        indirect case recordAsKnown(AccountKey, KnownAs)
        /// The record and its newest rows; `KnownAs` nil: as known now. `withGranters`: also who granted each grant, for which the
        /// account's facts and the audit trail are read. `withHappenings`: the same for everything that happened.
        indirect case history(AccountKey, KnownAs?, withGranters: Bool = false, withHappenings: Bool = false)
        /// Keys of an app's accounts in bytewise order, after a key. An empty key starts at the beginning.
        indirect case keys(AppNumber, after: [UInt8], limit: Int)
        /// The same keys, each with its record. `once`: an account with several keys is in the list under its first key alone.
        indirect case accounts(AppNumber, after: [UInt8], limit: Int, once: Bool)
        indirect case transactions(AccountKey, TransactionQuery)
        /// Events after a place; nil: from now on, after the unfinished transactions.
        indirect case events(AccountKey, after: EventPlace?, limit: Int)
        /// The next changes of an app.
        indirect case changes(ChangesAsked)
        /// A slice of an app's accounts, with what entitles them.
        indirect case copySlice(CopyAsked)
        /// One item, or none.
        indirect case item(ItemKey)
        /// Items of some groups, one group after the other. `after` is a key of the first group.
        indirect case items(ItemKind, groups: [[UInt8]], after: [UInt8], limit: Int)
        /// The key of the account that a transaction or a name of a customer leads to.
        indirect case find(AppNumber, AccountSought)
        /// Customers by any name.
        indirect case customers(AppNumber, CustomersSought)
        /// The notes beside an account.
        indirect case notes(AccountKey)
        /// Everything of an account, with its first transactions.
        indirect case export(AccountKey, TransactionQuery)
        /// An image of an app's catalogue.
        indirect case image(AppNumber, ContentHash)
        case mutate(Mutation)
        /// A plain purchase.
        case order(StoreOrder)
        /// Revokes a token. Durable before it is answered.
        indirect case revoke(RevokedToken, audit: AuditEntry? = nil)
        /// Writes a line of the audit trail, for what changed no account and no app.
        indirect case note(AuditEntry)
        /// A code of the console. Only of a storage that several nodes share.
        indirect case code(CodeRequest)
        /// Subscriptions of an App Store app whose last known period ended after an entry and up to an instant.
        indirect case ended(AppNumber, after: DueEntry, through: Instant, limit: Int)
        /// Subscriptions of an App Store app whose renewal is awaited, or was and never came, of the accounts from a number on. The answer
        /// is `ended`, whose entry has the number of the account to go on from.
        /// `isWhole`: every subscription.
        indirect case awaited(AppNumber, from: AccountNumber, isWhole: Bool = false, limit: Int)
        /// Accounts of an App Store app from a number on, whose histories were not read since an instant: those with a claim, or all.
        indirect case unread(AppNumber, from: AccountNumber, since: Instant, isWhole: Bool, limit: Int)
        /// Reads no data: the loop gets what other nodes have committed before the answer.
        case look
        /// Reports that a loop has applied everything before a barrier.
        case barrierReached(UInt64)
    }
}

/// A point in the past: the facts known at a revision that had happened by an instant.
package struct KnownAs: Hashable, Sendable {
    /// 0: the newest revision.
    package var revision: UInt64
    /// On the app's clock; nil: no bound.
    package var instant: Instant?

    package init(revision: UInt64, instant: Instant?) {
        self.revision = revision
        self.instant = instant
    }
}

/// A token that was revoked before its end.
package struct RevokedToken: Hashable, Sendable {
    /// The token's `jti`, or a hash.
    package var id: String
    /// The token's own end. It need not be remembered after that.
    package var expires: Instant

    package init(id: String, expires: Instant) {
        self.id = id
        self.expires = expires
    }
}

/// An answer of the store. Small, because a tick has hundreds of them; rare cases are behind a reference.
package enum StoreAnswer: Sendable {
    indirect case record(AccountRecord?)
    indirect case recordAsKnown(AccountRecord?, AppState)
    indirect case history(AccountHistory)
    indirect case keys([[UInt8]], hasMore: Bool)
    /// `next`: the list goes on after this key, which need not be one of them.
    indirect case accounts([(key: [UInt8], record: AccountRecord)], next: [UInt8]?)
    indirect case transactions([TransactionRow], hasMore: Bool)
    /// Events, and the place from which to continue; `isComplete`: no more events are stored. Transactions
    /// from `nextTransaction` on are newer than this answer.
    indirect case events([AccountEvent], through: EventPlace, isComplete: Bool, nextTransaction: TransactionID)
    indirect case changes(ChangePage)
    indirect case copySlice(CopySlice)
    /// The bytes of an image; nil if the catalogue has changed and no longer has it.
    indirect case image([UInt8]?, ContentHash)
    indirect case items([StoredItem], hasMore: Bool)
    /// Nil: there is none. An unclaimed account has no key.
    indirect case found(FoundAccount?)
    indirect case customers([FoundName], hasMore: Bool)
    /// Oldest first.
    indirect case notes([CustomerNote])
    /// Nil: there is no such account.
    indirect case exported(ExportedAccount?)
    case mutated(MutationResult, Position)
    case revoked(wasRevoked: Bool)
    /// What a code waits with; nil: it was taken, or has ended. Empty: it is kept.
    indirect case code([UInt8]?)
    /// Subscriptions in the order of their ends, and the entry that the answer goes up to; `hasMore`: others may follow.
    indirect case ended([EndedSubscription], through: DueEntry, hasMore: Bool)
    /// `next`: the number of the account to go on from.
    indirect case unread([UnreadHistory], next: AccountNumber, hasMore: Bool)
    /// Everything that any node had committed when the question came is before this.
    case looked
    indirect case refused(Refusal)

    /// A placeholder in a list whose answer was moved out. Never sent.
    static var taken: StoreAnswer { .revoked(wasRevoked: false) }
}

/// A message from the store to a loop. All loops receive changes in the same order.
package enum StoreEvent: Sendable {
    case change(Change)
    case answer(ticket: UInt64, StoreAnswer)
    /// The loop reports back when it has applied and sent everything before this.
    case barrier(UInt64)
    /// The store can no longer acknowledge anything, and the process is about to end.
    case failed(String)

    /// A placeholder in a list whose event was moved out. Never sent.
    package static var taken: StoreEvent { .barrier(0) }
}
