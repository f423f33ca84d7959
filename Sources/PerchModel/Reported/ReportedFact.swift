package import PerchBase

/// What was reported about one account: by the App Store, or by who administers it, as a grant in a test app too.
package enum ReportedFact: Hashable, Sendable {
    /// A verified transaction.
    case transaction(ReportedTransaction)
    /// Verified renewal information. `renewalDate` is nil if the report did not have it.
    case renewal(RenewalInfo, renewalDate: Instant?, content: Digest)
    /// The app's backend or an administrator named this account as the owner of an original transaction.
    case claimed(TransactionID, AccountClaim)
    /// An original transaction came from another account, with everything known of it. What it was before is in the facts of that
    /// account.
    case gained(ReportedOriginal, from: AccountNumber)
    /// An original transaction went to another account. `rows` are its transactions as lists show them.
    case lost(TransactionID, rows: [TransactionID])
    /// The account was opened for originals whose owner is not known. No client can name it.
    case openedUnclaimed
    /// Another account's key names this account from now on.
    case merged
    /// An administrator granted a named entitlement. It replaces an earlier grant of that name.
    case granted(EntitlementGrant)
    case grantEnded(name: String)
    /// A name of the customer belongs to this account from now on. Facts of earlier versions do not say which.
    case named(AccountAlias?)
    /// A name of the customer belongs to this account no longer.
    case unnamed(AccountAlias)
    /// A notification was about the account. `reason`: Apple's word for why a customer wants a refund, where it asks about one.
    case notified(NotificationNotice, reason: String)
    /// A consumable left the record for the archive, with everything known of it.
    case archived(TransactionID)
    /// A consumable came back from the archive, because something was reported of it.
    case unarchived(ReportedOriginal)
    /// The app or its backend submitted a transaction for the first time: it waits to be finished.
    case submitted(TransactionID)
    /// The histories of all customers of the App Store whose purchases the account has were read to their ends.
    case historyRead(ReportedHistory)
    /// Everything that was known of the account is gone. It is the account's only fact.
    case erased
}

/// A reported transaction, and what it changes in the account's list.
package struct ReportedTransaction: Hashable, Sendable {
    /// As reported.
    package var reported: Transaction
    package var content: Digest
    /// The purchase as lists show it from now on: under its lowest ID. Nil if the list does not change. Where only its signature is newer,
    /// `kind` is unspecified: then nobody is told of it.
    package var shown: Transaction?
    /// Rows that `shown` replaces.
    package var replaces: [TransactionID]
    package var kind: TransactionEventKind

    package init(
        reported: Transaction, content: Digest, shown: Transaction?, replaces: [TransactionID] = [],
        kind: TransactionEventKind
    ) {
        self.reported = reported
        self.content = content
        self.shown = shown
        self.replaces = replaces
        self.kind = kind
    }

    package var stamp: ReportStamp { ReportStamp(signed: self.reported.signedDate, content: self.content) }

    package var purchase: ReportedPurchase {
        ReportedPurchase(original: self.reported.originalID, period: ReportedPeriod(of: self.reported))
    }

    /// Whether it says what the purchase was at an instant: what was signed by then does, and so does a refund by its date. Before
    /// that only the earliest report can say it.
    func holds(at instant: Instant, earliest: [ReportedPurchase: ReportStamp]) -> Bool {
        if self.reported.signedDate <= instant { return true }
        if let revocation = self.reported.revocation, revocation.date <= instant { return true }
        return earliest[self.purchase] == self.stamp
    }
}

/// What reports of one purchase have in common.
package struct ReportedPurchase: Hashable, Sendable {
    var original: TransactionID
    var period: ReportedPeriod
}

extension Sequence<Fact> {
    /// The stamp of the report of each purchase that was signed first.
    package var earliestReports: [ReportedPurchase: ReportStamp] {
        var stamps: [ReportedPurchase: ReportStamp] = [:]
        for case .reported(.transaction(let report)) in self.lazy.map(\.body) {
            stamps[report.purchase] = stamps[report.purchase].map { Swift.min($0, report.stamp) } ?? report.stamp
        }
        return stamps
    }
}

extension ReportedFact {
    /// Whether it says who owns something, rather than what happened: then it holds at every instant, also before it was reported.
    package var isOfOwnership: Bool {
        switch self {
        case .claimed, .gained, .lost, .openedUnclaimed, .merged, .named, .unnamed, .erased, .archived, .unarchived:
            true
        case .transaction, .renewal, .granted, .grantEnded, .notified, .submitted, .historyRead: false
        }
    }

    /// The original transaction that it is about.
    package var originalID: TransactionID? {
        switch self {
        case .transaction(let report): report.reported.originalID
        case .renewal(let info, _, _): info.originalTransactionID
        case .claimed(let id, _), .lost(let id, _), .archived(let id): id
        case .gained(let original, _), .unarchived(let original): original.id
        case .openedUnclaimed, .merged, .granted, .grantEnded, .named, .unnamed, .notified, .submitted, .historyRead,
            .erased:
            nil
        }
    }

    /// The original transaction that the account has from now on, if it did not have it before. One from the archive is no news.
    fileprivate var newOriginalID: TransactionID? {
        switch self {
        case .transaction, .renewal, .claimed, .gained: self.originalID
        default: nil
        }
    }

    /// The cause of a value that this fact changes.
    var cause: Cause {
        switch self {
        case .transaction(let report):
            switch report.kind {
            case .unspecified: .unspecified
            case .renewed: .renewal
            case .revoked, .reinstated: .refund
            default: .purchase
            }
        case .renewal: .setting
        // To the account it is a purchase, or a restore: the order in which its owner became known makes no difference.
        case .gained: .purchase
        case .claimed, .lost, .openedUnclaimed, .merged, .granted, .grantEnded, .named, .unnamed, .erased: .setting
        case .notified, .archived, .unarchived, .submitted, .historyRead: .unspecified
        }
    }

    /// The event for subscribers of the account's transactions, if any.
    var event: (transaction: Transaction, kind: TransactionEventKind)? {
        switch self {
        case .transaction(let report):
            report.kind == .unspecified ? nil : report.shown.map { ($0, report.kind) }
        case .gained(let original, _):
            original.periods.last.map { ($0.transaction, Self.kind(ofNew: $0.transaction)) }
        case .renewal, .claimed, .lost, .openedUnclaimed, .merged, .granted, .grantEnded, .named, .unnamed, .notified,
            .archived, .unarchived, .submitted, .historyRead, .erased:
            nil
        }
    }

    /// The change of the account's transaction rows, if any.
    var rowWrite: TransactionWrite? {
        switch self {
        case .transaction(let report):
            report.shown.map { .rewrite(remove: report.replaces, add: [$0]) }
        case .gained(let original, _):
            .rewrite(remove: [], add: original.shownTransactions)
        case .lost(_, let rows): .rewrite(remove: rows, add: [])
        case .renewal, .claimed, .openedUnclaimed, .merged, .granted, .grantEnded, .named, .unnamed, .notified,
            .archived, .unarchived, .submitted, .historyRead, .erased:
            nil
        }
    }

    /// The event of a transaction that an account did not have before.
    fileprivate static func kind(ofNew transaction: Transaction) -> TransactionEventKind {
        if transaction.revocation != nil { return .revoked }
        return transaction.reason == .renewal ? .renewed : .purchased
    }
}

extension ReportedOriginal {
    /// All purchases as lists show them, also those that an upgrade left behind, by their IDs.
    package var shownTransactions: [Transaction] {
        self.registers.values.map(\.transaction).sorted { $0.id < $1.id }
    }

    /// The fact of a report: what folding it changes. Nil for an exact duplicate of the known report.
    package func fact(of transaction: Transaction, content: Digest) -> ReportedTransaction? {
        let stamp = ReportStamp(signed: transaction.signedDate, content: content)
        let before = self.registers[ReportedPeriod(of: transaction)]
        var after = self
        guard after.fold(transaction, stamp: stamp) != .duplicate else { return nil }
        let known = before?.transaction
        let shown = after.registers[ReportedPeriod(of: transaction)]?.transaction
        // Values are equal whenever they were signed, and lists show the newest signature.
        let isSame = shown == known
        let isSigned = isSame && shown?.signedDate != known?.signedDate
        var report = ReportedTransaction(
            reported: transaction, content: content, shown: isSame && !isSigned ? nil : shown,
            kind: isSame ? .unspecified : .changed)
        if let known, let shown, known.id != shown.id { report.replaces = [known.id] }
        switch (known, shown) {
        case (nil, let shown?):
            report.kind = ReportedFact.kind(ofNew: shown)
        case (let known?, let shown?) where known.revocation == nil && shown.revocation != nil:
            report.kind = .revoked
        case (let known?, let shown?) where known.revocation != nil && shown.revocation == nil:
            report.kind = .reinstated
        default: break
        }
        return report
    }
}

extension RecordFields {
    /// Folds what was reported.
    mutating func apply(_ fact: ReportedFact) {
        switch fact {
        case .granted(let grant):
            self.grants = self.grants.filter { $0.name != grant.name } + [grant]
            return
        case .grantEnded(let name):
            self.grants.removeAll { $0.name == name }
            return
        case .erased:
            self = RecordFields(account: self.account, app: self.app)
            return
        default: break
        }
        var reported = self.reported ?? ReportedRecord()
        // What another customer bought is in none of the histories that were read.
        if let id = fact.newOriginalID, reported.original(id) == nil { reported.history = nil }
        switch fact {
        case .transaction(let report):
            reported.change(report.reported.originalID) { _ = $0.fold(report.reported, stamp: report.stamp) }
        case .renewal(let info, let renewalDate, let content):
            let stamp = ReportStamp(signed: info.signedDate, content: content)
            reported.change(info.originalTransactionID) { _ = $0.fold(info, renewalDate: renewalDate, stamp: stamp) }
        case .claimed(let id, let claim):
            reported.change(id) { _ = $0.fold(claim) }
        case .gained(let original, _):
            reported.change(original.id) { _ = $0.fold(original) }
        case .lost(let id, _):
            reported.remove(id)
        case .openedUnclaimed:
            reported.isUnclaimed = true
        case .named(let name?):
            reported.names = reported.names.filter { $0 != name } + [name]
        case .unnamed(let name):
            reported.names.removeAll { $0 == name }
        case .archived(let id):
            reported.remove(id)
        case .unarchived(let original):
            reported.change(original.id) { _ = $0.fold(original) }
        case .submitted(let id):
            reported.unfinished = (reported.unfinished.filter { $0 != id } + [id]).suffix(Limits.reportedUnfinishedMax)
        case .historyRead(let history): reported.history = history
        case .merged, .granted, .grantEnded, .named(nil), .notified, .erased: break
        }
        self.reported = reported == ReportedRecord() ? nil : reported
    }
}
