package import PerchBase

/// A verified report, or a decision about accounts.
package enum ReportedValue: Hashable, Sendable {
    case transaction(Transaction, content: Digest)
    /// `renewalDate` is nil if the report did not have it.
    case renewal(RenewalInfo, renewalDate: Instant?, content: Digest)
    /// An alias of an account, attached or moved by the revision.
    case alias(AccountAlias, AccountClaim)
    /// An original transaction claimed for an account.
    case claim(original: TransactionID, AccountClaim)
}

/// All that was reported to an app: the join of its reports.
package struct ReportedBook: Hashable, Sendable {
    package private(set) var originals: [TransactionID: ReportedOriginal] = [:]
    /// The account that each alias names.
    package private(set) var aliases: [AccountAlias: AccountClaim] = [:]

    package init() {}

    package mutating func fold(_ report: ReportedValue) -> FoldOutcome {
        switch report {
        case .transaction(let transaction, let content):
            let stamp = ReportStamp(signed: transaction.signedDate, content: content)
            return self.originals[transaction.originalID, default: ReportedOriginal(id: transaction.originalID)]
                .fold(transaction, stamp: stamp)
        case .renewal(let info, let renewalDate, let content):
            let stamp = ReportStamp(signed: info.signedDate, content: content)
            return self.originals[
                info.originalTransactionID, default: ReportedOriginal(id: info.originalTransactionID)
            ].fold(info, renewalDate: renewalDate, stamp: stamp)
        case .alias(let alias, let claim):
            if self.aliases[alias] == claim { return .duplicate }
            if let known = self.aliases[alias], claim < known { return .stale }
            self.aliases[alias] = claim
            return .news
        case .claim(let original, let claim):
            return self.originals[original, default: ReportedOriginal(id: original)].fold(claim)
        }
    }

    package func owner(of original: ReportedOriginal) -> ReportedOwner {
        original.owner(account: { self.aliases[$0]?.account }) { alias in
            self.originals.values.filter { $0.links.aliases[alias] != nil }
        }
    }

    /// What each owner has, in the order of lists: by original purchase date, then by original ID.
    package var records: [ReportedOwner: ReportedRecord] {
        var records: [ReportedOwner: ReportedRecord] = [:]
        for original in self.originals.values {
            records[self.owner(of: original), default: ReportedRecord()].add(original)
        }
        return records
    }

    /// The original transaction that any transaction ID belongs to.
    package func original(ofTransaction id: TransactionID) -> TransactionID? {
        if let original = self.originals[id], !original.registers.isEmpty { return id }
        return self.originals.values.first { original in
            original.registers.values.contains { $0.ids.contains(id) }
        }?.id
    }
}

/// How far the App Store's histories of an account's customers were read: to their ends, at an instant.
package struct ReportedHistory: Hashable, Sendable {
    /// The history of one customer of the App Store.
    package struct Place: Hashable, Sendable {
        /// One of the customer's originals, by which it is asked for.
        package var original: TransactionID
        /// Apple's token, after which the next reading begins.
        package var revision: String

        package init(original: TransactionID, revision: String) {
            self.original = original
            self.revision = revision
        }
    }

    package var read: Instant
    package var places: [Place]

    package init(read: Instant, places: [Place]) {
        self.read = read
        self.places = places
    }
}

/// What one account of an App Store app has.
package struct ReportedRecord: Hashable, Sendable {
    /// By original purchase date, then by original ID.
    package private(set) var originals: [ReportedOriginal] = []
    /// Whether the account was opened for originals whose owner is not known.
    package var isUnclaimed = false
    /// Names of the customer that were attached to the account, the newest last.
    package var names: [AccountAlias] = []
    /// Submitted transactions that wait to be finished, the newest last; at most `Limits.reportedUnfinishedMax`.
    package var unfinished: [TransactionID] = []
    /// Nil: the App Store's history was never read to its end since the account got its last original.
    package var history: ReportedHistory?

    package init() {}

    /// Apple's number of the customer in the app: the one attached last, else the one that was reported last. Empty: none was.
    package var appTransactionID: String {
        for case .appTransactionID(let id) in self.names.reversed() { return id }
        var newest: (stamp: ReportStamp, id: String)?
        for original in self.originals {
            for case (.appTransactionID(let id), let stamp) in original.links.aliases {
                if newest.map({ ($0.stamp, $0.id) < (stamp, id) }) ?? true { newest = (stamp, id) }
            }
        }
        return newest?.id ?? ""
    }

    /// The finished consumables that the record keeps no longer: all but the newest `Limits.reportedConsumablesMax`.
    package var archivable: [ReportedOriginal] {
        let consumables = self.originals.filter(\.isConsumable)
        guard consumables.count > Limits.reportedConsumablesMax else { return [] }
        func date(_ original: ReportedOriginal) -> Instant {
            original.registers.values.map(\.reported.purchaseDate).max() ?? .distantPast
        }
        let oldestFirst = consumables.map { (date: date($0), original: $0) }
            .sorted { ($0.date, $0.original.id) < ($1.date, $1.original.id) }
        return oldestFirst.prefix(consumables.count - Limits.reportedConsumablesMax).map(\.original)
    }

    package func original(_ id: TransactionID) -> ReportedOriginal? { self.originals.first { $0.id == id } }

    /// Number of purchases, for the record limit.
    package var entryCount: Int { self.originals.reduce(0) { $0 + max(1, $1.registers.count) } }

    /// Changes an original, or a new one.
    package mutating func change(_ id: TransactionID, _ body: (inout ReportedOriginal) -> Void) {
        var original = self.remove(id) ?? ReportedOriginal(id: id)
        body(&original)
        self.add(original)
    }

    @discardableResult
    package mutating func remove(_ id: TransactionID) -> ReportedOriginal? {
        guard let place = self.originals.firstIndex(where: { $0.id == id }) else { return nil }
        return self.originals.remove(at: place)
    }

    package mutating func add(_ original: ReportedOriginal) {
        let place = self.originals.firstIndex { Self.precedes(original, $0) } ?? self.originals.endIndex
        self.originals.insert(original, at: place)
    }

    private static func precedes(_ left: ReportedOriginal, _ right: ReportedOriginal) -> Bool {
        let (one, other) = (left.originalPurchaseDate, right.originalPurchaseDate)
        return one == other ? left.id < right.id : one < other
    }

    /// Without what no view from `now` on needs.
    package func trimmed(at now: Instant) -> ReportedRecord {
        var trimmed = self
        trimmed.originals = self.originals.map { $0.trimmed(at: now) }
        return trimmed
    }
}
