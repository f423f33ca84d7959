package import PerchBase

/// What happened to an account in a subscription group, as far as offers ask for it.
package struct GroupHistory: Hashable, Sendable {
    package var groupID: String
    /// A transaction of this account carried an introductory offer.
    package var hadIntroductoryOffer = false
    /// The length of all periods that were paid for: the sum of `paidMilliseconds` of the account's transactions.
    package var paidMilliseconds: Int64 = 0
    /// When a win-back offer was last redeemed: the purchase, and no period after it that the offer still discounts.
    package var lastWinBack: Instant?

    package init(groupID: String) { self.groupID = groupID }

    /// A period that added `before` adds `after`. Periods that end at the end of time are longer than can be counted.
    mutating func changePaid(from before: Int64, to after: Int64) {
        let (sum, overflow) = max(0, max(0, self.paidMilliseconds) - before).addingReportingOverflow(after)
        self.paidMilliseconds = overflow ? .max : sum
    }
}

extension Transaction {
    /// What it adds to the time that its account has paid for in the group: its period as the transaction has it, unless it
    /// was free, is shared by somebody else, or was given back.
    ///
    /// No document says what a paid duration is of a period that was cut short or extended: it counts from its purchase to
    /// the end that it has now, so that a test store's list of transactions tells it. A refund, whole or in part, takes the
    /// period away, and a refund that is taken back returns it. What an upgrade left behind was charged for and is not
    /// revoked: it counts to the end that it still has.
    package var paidMilliseconds: Int64 {
        guard self.productType == .autoRenewable, self.ownership == .purchased, self.revocation == nil,
            let price = self.price, price.milliunits > 0, let end = self.expirationDate
        else { return 0 }
        return max(0, end.milliseconds(since: self.purchaseDate))
    }
}

extension Transaction {
    /// Whether a win-back offer was redeemed by it. Its renewals have the offer as long as it lasts, and redeem nothing.
    var redeemsWinBack: Bool { self.offer?.type == .winBack && self.reason == .purchase }
}

/// A renewal date that was extended. The App Store counts these in each window of 365 days.
package struct RenewalExtension: Hashable, Sendable {
    /// The line, by its original transaction.
    package var original: TransactionID
    package var instant: Instant

    package init(original: TransactionID, instant: Instant) {
        self.original = original
        self.instant = instant
    }
}

/// What the views of an account need from its facts: current, bounded, rebuilt from the facts by `apply`.
///
/// Transactions and the unfinished list are rows beside it. A value behind one reference: a record goes from the store's
/// thread to every loop, and through a dozen hands on the way, and has ten lists and texts.
package struct AccountRecord: Hashable, Sendable {
    private var contents: Contents

    package init(account: AccountNumber, app: AppNumber) {
        self.contents = Contents(RecordFields(account: account, app: app))
    }

    package var account: AccountNumber { self.contents.fields.account }
    package var app: AppNumber { self.contents.fields.app }
    /// The revision that last changed this record; 0 before the first.
    package var revision: UInt64 {
        get { self.contents.fields.revision }
        set { self.change { $0.revision = newValue } }
    }
    /// When that revision was committed, by the wall clock.
    package var committed: Instant {
        get { self.contents.fields.committed }
        set { self.change { $0.committed = newValue } }
    }
    /// One for each account and app.
    package var appTransactionID: String {
        get { self.contents.fields.appTransactionID }
        set { self.change { $0.appTransactionID = newValue } }
    }
    /// Own lines and shared ones, in the order in which they began.
    package var lines: [Line] {
        get { self.contents.fields.lines }
        set { self.change { $0.lines = newValue } }
    }
    /// The latest transaction, not revoked, of each non-consumable and non-renewing product; of what is shared, one for
    /// each member who shares it.
    package var owned: [Transaction] {
        get { self.contents.fields.owned }
        set { self.change { $0.owned = newValue } }
    }
    /// In the order in which the groups were first bought in.
    package var histories: [GroupHistory] {
        get { self.contents.fields.histories }
        set { self.change { $0.histories = newValue } }
    }
    /// Purchases that wait for somebody, oldest first.
    package var pendingPurchases: [PendingPurchase] {
        get { self.contents.fields.pendingPurchases }
        set { self.change { $0.pendingPurchases = newValue } }
    }
    /// Purchases that were begun outside the app, oldest first.
    package var intents: [PurchaseIntent] {
        get { self.contents.fields.intents }
        set { self.change { $0.intents = newValue } }
    }
    /// What this account shares with others, in the order in which that began.
    package var shares: [FamilyShare] {
        get { self.contents.fields.shares }
        set { self.change { $0.shares = newValue } }
    }
    /// Shared with this account after it was bought: it comes with the next `Sync`.
    package var awaitingSync: [Transaction] {
        get { self.contents.fields.awaitingSync }
        set { self.change { $0.awaitingSync = newValue } }
    }
    /// Alpha-3; empty for the app's.
    package var storefront: String {
        get { self.contents.fields.storefront }
        set { self.change { $0.storefront = newValue } }
    }
    /// Whether this account's charges fail; nil: as the app's setting says.
    package var chargesFail: Bool? {
        get { self.contents.fields.chargesFail }
        set { self.change { $0.chargesFail = newValue } }
    }
    /// When a message without a reason of its own was last posted.
    package var messagePosted: Instant? {
        get { self.contents.fields.messagePosted }
        set { self.change { $0.messagePosted = newValue } }
    }

    /// Renewal extensions of own lines, oldest first: of each line the last `Limits.renewalExtensionsMax`.
    package var extensions: [RenewalExtension] {
        get { self.contents.fields.extensions }
        set { self.change { $0.extensions = newValue } }
    }
    /// Transactions whose refund the customer requested, oldest first: the last `Limits.refundRequestsKept`.
    package var refundRequests: [TransactionID] {
        get { self.contents.fields.refundRequests }
        set { self.change { $0.refundRequests = newValue } }
    }

    /// Changes several fields at the cost of one: each change of one makes the contents anew.
    package mutating func change<Failure: Error>(
        _ body: (inout RecordFields) throws(Failure) -> Void
    ) throws(Failure) {
        var fields = self.contents.fields
        try body(&fields)
        self.contents = Contents(consume fields)
    }

    /// Folds one fact into the record.
    package mutating func apply(_ fact: Fact) {
        self.change { $0.apply(fact) }
    }

    /// Folds all facts of a revision, at the cost of one.
    package mutating func fold(_ facts: [Fact], revision: UInt64, committed: Instant) {
        var fields = self.contents.fields
        // By place: a fact that is handed out is counted.
        for place in facts.indices { fields.apply(facts[place]) }
        fields.revision = revision
        fields.committed = committed
        self.contents = Contents(consume fields)
    }

    /// What a record says, once and for all: shared by its copies, on all threads.
    private final class Contents: Sendable {
        let fields: RecordFields

        init(_ fields: consuming RecordFields) { self.fields = fields }
    }

    package static func == (left: AccountRecord, right: AccountRecord) -> Bool {
        left.contents === right.contents || left.contents.fields == right.contents.fields
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.contents.fields)
    }
}

extension AccountRecord {
    /// Lines, owned products and what waits: what the record limit counts.
    package var entryCount: Int { self.contents.fields.entryCount }

    package func history(ofGroup group: String) -> GroupHistory? {
        self.histories.first { $0.groupID == group }
    }

    /// When the store next has to attempt a renewal for this account.
    package var attemptDue: Instant? {
        if self.contents.fields.lines.isEmpty { return nil }
        return self.lines.lazy.compactMap(\.attemptDue).min()
    }

    package func ownLineIndex(inGroup group: String) -> Int? {
        self.lines.firstIndex { $0.isOwn && $0.groupID == group }
    }

    package func lineIndex(original id: TransactionID) -> Int? {
        self.lines.firstIndex { $0.originalID == id }
    }
}

extension AccountRecord: CustomReflectable {
    /// Shows the fields, not where they are kept.
    package var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
}

extension AccountRecord {
    /// The record that is kept at a place will be decided about: its fields.
    package static func prefetch(at place: UnsafePointer<AccountRecord?>) {
        Prefetch.object(at: place, Prefetch.headerBytes + MemoryLayout<RecordFields>.size)
    }

    /// Then, when they are there, what it owns: the first bytes of it.
    package static func prefetchOwned(at place: UnsafePointer<AccountRecord?>) {
        guard let owned = Self.ownedPlace(of: place) else { return }
        Prefetch.object(at: owned, 2 * Prefetch.headerBytes + MemoryLayout<Transaction>.stride)
    }

    /// Then the first of that.
    package static func prefetchFirstOwned(at place: UnsafePointer<AccountRecord?>) {
        guard let owned = Self.ownedPlace(of: place)?.load(as: UnsafeRawPointer?.self),
            owned.load(fromByteOffset: Prefetch.headerBytes, as: Int.self) > 0
        else { return }
        // Where `TransactionFields` has what is asked first.
        Prefetch.object(at: owned + 2 * Prefetch.headerBytes, 128)
    }

    private static func ownedPlace(of place: UnsafePointer<AccountRecord?>) -> UnsafeRawPointer? {
        precondition(MemoryLayout<AccountRecord?>.size == MemoryLayout<Int>.size, "a record is one reference")
        guard let contents = UnsafeRawPointer(place).load(as: UnsafeRawPointer?.self),
            let offset = MemoryLayout<RecordFields>.offset(of: \.owned)
        else { return nil }
        return contents + (Prefetch.headerBytes + offset)
    }
}

/// The fields of an `AccountRecord`, which says what they mean, and how facts are folded into them. What few accounts have
/// is in a box.
package struct RecordFields: Hashable, Sendable {
    package let account: AccountNumber
    package var revision: UInt64 = 0
    package var committed = Instant(milliseconds: 0)
    package var appTransactionID = ""
    package var lines: [Line] = []
    package var owned: [Transaction] = []
    package var histories: [GroupHistory] = []
    private var rare: Boxed<RareFields>?
    package let app: AppNumber

    init(account: AccountNumber, app: AppNumber) {
        self.account = account
        self.app = app
    }

    package var pendingPurchases: [PendingPurchase] {
        get { self.rare?.value.pendingPurchases ?? [] }
        set { self.rare.change { $0.pendingPurchases = newValue } }
    }
    package var intents: [PurchaseIntent] {
        get { self.rare?.value.intents ?? [] }
        set { self.rare.change { $0.intents = newValue } }
    }
    package var shares: [FamilyShare] {
        get { self.rare?.value.shares ?? [] }
        set { self.rare.change { $0.shares = newValue } }
    }
    package var awaitingSync: [Transaction] {
        get { self.rare?.value.awaitingSync ?? [] }
        set { self.rare.change { $0.awaitingSync = newValue } }
    }
    package var storefront: String {
        get { self.rare?.value.storefront ?? "" }
        set { self.rare.change { $0.storefront = newValue } }
    }
    package var chargesFail: Bool? {
        get { self.rare?.value.chargesFail }
        set { self.rare.change { $0.chargesFail = newValue } }
    }
    package var messagePosted: Instant? {
        get { self.rare?.value.messagePosted }
        set { self.rare.change { $0.messagePosted = newValue } }
    }

    package var extensions: [RenewalExtension] {
        get { self.rare?.value.extensions ?? [] }
        set { self.rare.change { $0.extensions = newValue } }
    }
    package var refundRequests: [TransactionID] {
        get { self.rare?.value.refundRequests ?? [] }
        set { self.rare.change { $0.refundRequests = newValue } }
    }

    private struct RareFields: Rare {
        var pendingPurchases: [PendingPurchase] = []
        var intents: [PurchaseIntent] = []
        var shares: [FamilyShare] = []
        var awaitingSync: [Transaction] = []
        var storefront = ""
        var chargesFail: Bool?
        var messagePosted: Instant?
        var extensions: [RenewalExtension] = []
        var refundRequests: [TransactionID] = []
    }

    /// Lines, owned products and what waits.
    var entryCount: Int {
        var count = self.lines.count + self.owned.count
        if let rare = self.rare {
            count += rare.value.pendingPurchases.count + rare.value.intents.count + rare.value.shares.count
            count += rare.value.awaitingSync.count
        }
        return count
    }

    func lineIndex(original id: TransactionID) -> Int? {
        self.lines.firstIndex { $0.originalID == id }
    }
}
