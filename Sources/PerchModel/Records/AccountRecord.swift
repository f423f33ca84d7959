package import PerchBase

/// An account's history in a subscription group, as far as offers depend on it.
package struct GroupHistory: Hashable, Sendable {
    package var groupID: String
    /// True if a transaction of this account carried an introductory offer.
    package var hadIntroductoryOffer = false
    /// Total length of all paid periods: the sum of `paidMilliseconds` of the account's transactions.
    package var paidMilliseconds: Int64 = 0
    /// Instant of the last purchase with a win-back offer. Later periods that the offer still discounts do not count.
    package var lastWinBack: Instant?

    package init(groupID: String) { self.groupID = groupID }

    /// Replaces a period's contribution `before` with `after`. Saturates, because a period without end is too long to sum.
    mutating func changePaid(from before: Int64, to after: Int64) {
        let (sum, overflow) = max(0, max(0, self.paidMilliseconds) - before).addingReportingOverflow(after)
        self.paidMilliseconds = overflow ? .max : sum
    }
}

extension Transaction {
    /// The paid time that this transaction contributes to its account's history in the group: its period, unless it was
    /// free, shared by another account, or refunded.
    ///
    /// Apple does not define the paid duration of a period that was cut short or extended. Here it counts from its
    /// purchase to its current end, so a test store's list of transactions shows it. A refund, whole or in part,
    /// removes the period; a reversal restores it. A period that an upgrade left behind was charged for and not
    /// revoked, so it counts to its remaining end.
    package var paidMilliseconds: Int64 {
        guard self.productType == .autoRenewable, self.ownership == .purchased, self.revocation == nil,
            let price = self.price, price.milliunits > 0, let end = self.expirationDate
        else { return 0 }
        return max(0, end.milliseconds(since: self.purchaseDate))
    }
}

extension Transaction {
    /// Whether this transaction redeemed a win-back offer. Its renewals keep the offer's price and redeem nothing.
    var redeemsWinBack: Bool { self.offer?.type == .winBack && self.reason == .purchase }
}

/// An extension of a renewal date. The App Store limits their number in each window of 365 days.
package struct RenewalExtension: Hashable, Sendable {
    /// The line, by its original transaction.
    package var original: TransactionID
    package var instant: Instant

    package init(original: TransactionID, instant: Instant) {
        self.original = original
        self.instant = instant
    }
}

/// The data about an account that views need: current, bounded, rebuilt from the facts by `apply`.
///
/// Transactions and the unfinished list are rows outside the record. A value behind one reference, because a record has
/// ten lists and texts and passes from the store's thread to every loop.
package struct AccountRecord: Hashable, Sendable {
    private var contents: Contents

    package init(account: AccountNumber, app: AppNumber) {
        self.contents = Contents(RecordFields(account: account, app: app))
    }

    package var account: AccountNumber { self.contents.fields.account }
    package var app: AppNumber { self.contents.fields.app }
    /// The last revision that changed this record; 0 before the first.
    package var revision: UInt64 {
        get { self.contents.fields.revision }
        set { self.change { $0.revision = newValue } }
    }
    /// When that revision was committed, by the wall clock.
    package var committed: Instant {
        get { self.contents.fields.committed }
        set { self.change { $0.committed = newValue } }
    }
    /// Unique for each account and app.
    package var appTransactionID: String {
        get { self.contents.fields.appTransactionID }
        set { self.change { $0.appTransactionID = newValue } }
    }
    /// Own lines and shared ones, in the order in which they began.
    package var lines: [Line] {
        get { self.contents.fields.lines }
        set { self.change { $0.lines = newValue } }
    }
    /// The latest unrevoked transaction of each non-consumable and non-renewing product; of shared products, one for
    /// each sharing member.
    package var owned: [Transaction] {
        get { self.contents.fields.owned }
        set { self.change { $0.owned = newValue } }
    }
    /// In the order of the first purchase in each group.
    package var histories: [GroupHistory] {
        get { self.contents.fields.histories }
        set { self.change { $0.histories = newValue } }
    }
    /// Pending purchases, oldest first.
    package var pendingPurchases: [PendingPurchase] {
        get { self.contents.fields.pendingPurchases }
        set { self.change { $0.pendingPurchases = newValue } }
    }
    /// Purchases that the customer began outside the app, oldest first.
    package var intents: [PurchaseIntent] {
        get { self.contents.fields.intents }
        set { self.change { $0.intents = newValue } }
    }
    /// The account's shares with family members, in the order in which they began.
    package var shares: [FamilyShare] {
        get { self.contents.fields.shares }
        set { self.change { $0.shares = newValue } }
    }
    /// Transactions shared with this account after they were bought: the next `Sync` delivers them.
    package var awaitingSync: [Transaction] {
        get { self.contents.fields.awaitingSync }
        set { self.change { $0.awaitingSync = newValue } }
    }
    /// Alpha-3; empty for the app's.
    package var storefront: String {
        get { self.contents.fields.storefront }
        set { self.change { $0.storefront = newValue } }
    }
    /// Whether this account's charges fail; nil: the app's setting decides.
    package var chargesFail: Bool? {
        get { self.contents.fields.chargesFail }
        set { self.change { $0.chargesFail = newValue } }
    }
    /// Whether the account may make no payments at all, as Screen Time decides it.
    package var arePaymentsForbidden: Bool {
        get { self.contents.fields.arePaymentsForbidden }
        set { self.change { $0.arePaymentsForbidden = newValue } }
    }
    /// What the account's app transaction says; nil for what that of every test app says.
    package var appTransaction: AppTransactionTerms? {
        get { self.contents.fields.appTransaction }
        set { self.change { $0.appTransaction = newValue } }
    }
    /// The offers of codes that the account has redeemed, oldest first.
    package var redeemedOffers: [RedeemedOffer] {
        get { self.contents.fields.redeemedOffers }
        set { self.change { $0.redeemedOffers = newValue } }
    }
    /// When a message without a cause in the account was last posted.
    package var messagePosted: Instant? {
        get { self.contents.fields.messagePosted }
        set { self.change { $0.messagePosted = newValue } }
    }

    /// Renewal extensions of own lines, oldest first; at most `Limits.renewalExtensionsMax` for each line.
    package var extensions: [RenewalExtension] {
        get { self.contents.fields.extensions }
        set { self.change { $0.extensions = newValue } }
    }
    /// Transactions whose refund the customer requested, oldest first; at most `Limits.refundRequestsKept`.
    package var refundRequests: [TransactionID] {
        get { self.contents.fields.refundRequests }
        set { self.change { $0.refundRequests = newValue } }
    }

    /// Grants of named entitlements, oldest first.
    package var grants: [EntitlementGrant] {
        get { self.contents.fields.grants }
        set { self.change { $0.grants = newValue } }
    }

    /// What was reported of purchases that happen elsewhere; nil in a test app.
    package var reported: ReportedRecord? {
        get { self.contents.fields.reported }
        set { self.change { $0.reported = newValue } }
    }

    /// Changes several fields with one copy; changing them one by one would copy the contents each time.
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

    /// Folds all facts of a revision with one copy of the record.
    package mutating func fold(_ facts: [Fact], revision: UInt64, committed: Instant) {
        var fields = self.contents.fields
        // By index, because iterating would retain and release each fact.
        for place in facts.indices { fields.apply(facts[place]) }
        fields.revision = revision
        fields.committed = committed
        self.contents = Contents(consume fields)
    }

    /// The immutable contents of a record, shared by its copies on all threads.
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
    /// The subscription groups in which the account has a line, each once.
    package func groupIDs(in catalogue: Catalogue) -> [String] {
        let reported = self.reported?.originals.filter { $0.isSubscription }.map { $0.groupID(in: catalogue) } ?? []
        return (self.lines.map { $0.groupID } + reported).reduce(into: []) { groups, group in
            if !groups.contains(group) { groups.append(group) }
        }
    }

    /// Whether the account has anything beside lines, owned products and histories.
    package var hasRareFields: Bool { self.contents.fields.rare != nil }

    /// The record after a purchase without terms: what `fold` makes of that one fact.
    package mutating func buy(_ transaction: Transaction, revision: UInt64, committed: Instant) {
        var fields = self.contents.fields
        if transaction.contents.fields.sale.fields.productType != .consumable { fields.own(transaction) }
        fields.revision = revision
        fields.committed = committed
        self.contents = Contents(consume fields)
    }

    /// Whether an attempt to renew is due.
    package func isDue(by now: Instant) -> Bool {
        if self.contents.fields.lines.isEmpty { return false }
        return self.attemptDue.map { $0 <= now } ?? false
    }

    /// Number of lines, owned products, pending entries and redeemed offers, for the record limit.
    package var entryCount: Int { self.contents.fields.entryCount }

    package func history(ofGroup group: String) -> GroupHistory? {
        self.histories.first { $0.groupID == group }
    }

    /// When the store next has to attempt a renewal for this account.
    package var attemptDue: Instant? {
        if self.contents.fields.lines.isEmpty { return nil }
        return self.lines.lazy.compactMap(\.attemptDue).min()
    }

    package var hasNoLines: Bool {
        self.contents.fields.lines.isEmpty && self.contents.fields.rare?.value.reported == nil
    }

    /// The instants after `now` at which a line changes its state if nothing happens, in order.
    package func crossings(after now: Instant, leewayMilliseconds leeway: Int64?) -> [Instant] {
        var instants: [Instant] = []
        for line in self.lines {
            var next = line.nextCrossing(after: now, leewayMilliseconds: leeway)
            while let crossing = next {
                instants.append(crossing.at)
                next = line.nextCrossing(after: crossing.at, leewayMilliseconds: leeway)
            }
        }
        for original in self.reported?.originals ?? [] {
            var next = original.nextChange(after: now, leewayMilliseconds: leeway ?? 0)
            while let instant = next {
                instants.append(instant)
                next = original.nextChange(after: instant, leewayMilliseconds: leeway ?? 0)
            }
        }
        guard instants.count > 1 else { return instants }
        return Set(instants).sorted()
    }

    /// Whether a line changes its state at an instant.
    package func crosses(at instant: Instant, leewayMilliseconds leeway: Int64?) -> Bool {
        self.lines.contains { $0.crosses(at: instant, leewayMilliseconds: leeway) }
            || self.reported?.originals.contains { $0.changes(at: instant, leewayMilliseconds: leeway ?? 0) } ?? false
    }

    package func ownLineIndex(inGroup group: String) -> Int? {
        self.lines.firstIndex { $0.isOwn && $0.groupID == group }
    }

    package func lineIndex(original id: TransactionID) -> Int? {
        self.lines.firstIndex { $0.originalID == id }
    }
}

extension AccountRecord: CustomReflectable {
    /// Shows the fields, without the storage behind them.
    package var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
}

extension AccountRecord {
    /// Prefetches the fields of the record at a place, before a decision reads them.
    package static func prefetch(at place: UnsafePointer<AccountRecord?>) {
        Prefetch.object(at: place, Prefetch.headerBytes + MemoryLayout<RecordFields>.size)
    }

    /// Prefetches the record's list of owned transactions, once the record's fields are in the cache.
    package static func prefetchOwned(at place: UnsafePointer<AccountRecord?>) {
        guard let owned = Self.ownedPlace(of: place) else { return }
        Prefetch.object(at: owned, 2 * Prefetch.headerBytes + MemoryLayout<Transaction>.stride)
    }

    /// Prefetches the fields of the first owned transaction, once the list itself is in the cache.
    package static func prefetchFirstOwned(at place: UnsafePointer<AccountRecord?>) {
        guard let owned = Self.ownedPlace(of: place)?.load(as: UnsafeRawPointer?.self),
            owned.load(fromByteOffset: Prefetch.headerBytes, as: Int.self) > 0
        else { return }
        // The first fields of `TransactionFields` are those that are read first.
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

/// The fields of an `AccountRecord`, which documents them, and the folding of facts. A box holds the fields that few
/// accounts have.
package struct RecordFields: Hashable, Sendable {
    package let account: AccountNumber
    package var revision: UInt64 = 0
    package var committed = Instant(milliseconds: 0)
    package var appTransactionID = ""
    package var lines: [Line] = []
    package var owned: [Transaction] = []
    package var histories: [GroupHistory] = []
    fileprivate var rare: Boxed<RareFields>?
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
    package var arePaymentsForbidden: Bool {
        get { self.rare?.value.arePaymentsForbidden ?? false }
        set { self.rare.change { $0.arePaymentsForbidden = newValue } }
    }
    package var appTransaction: AppTransactionTerms? {
        get { self.rare?.value.appTransaction }
        set { self.rare.change { $0.appTransaction = newValue } }
    }
    package var redeemedOffers: [RedeemedOffer] {
        get { self.rare?.value.redeemedOffers ?? [] }
        set { self.rare.change { $0.redeemedOffers = newValue } }
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

    package var grants: [EntitlementGrant] {
        get { self.rare?.value.grants ?? [] }
        set { self.rare.change { $0.grants = newValue } }
    }
    package var reported: ReportedRecord? {
        get { self.rare?.value.reported }
        set { self.rare.change { $0.reported = newValue } }
    }

    fileprivate struct RareFields: Rare {
        var pendingPurchases: [PendingPurchase] = []
        var intents: [PurchaseIntent] = []
        var shares: [FamilyShare] = []
        var awaitingSync: [Transaction] = []
        var storefront = ""
        var chargesFail: Bool?
        var arePaymentsForbidden = false
        var appTransaction: AppTransactionTerms?
        var redeemedOffers: [RedeemedOffer] = []
        var messagePosted: Instant?
        var extensions: [RenewalExtension] = []
        var refundRequests: [TransactionID] = []
        var reported: ReportedRecord?
        var grants: [EntitlementGrant] = []
    }

    /// Number of lines, owned products and pending entries.
    var entryCount: Int {
        var count = self.lines.count + self.owned.count
        if let rare = self.rare {
            count += rare.value.pendingPurchases.count + rare.value.intents.count + rare.value.shares.count
            count += rare.value.awaitingSync.count + (rare.value.reported?.entryCount ?? 0)
            count += rare.value.redeemedOffers.count
        }
        return count
    }

    func lineIndex(original id: TransactionID) -> Int? {
        self.lines.firstIndex { $0.originalID == id }
    }
}
