package import PerchBase

/// Which transactions of an original transaction are reports of one purchase.
package enum ReportedPeriod: Hashable, Comparable, Sendable {
    /// A period of a subscription, by its web order line item ID.
    case period(String)
    /// A transaction of its own: a consumable, or a period without a web order line item ID.
    case transaction(TransactionID)
    /// The purchase itself, under whatever ID: restores of a non-consumable bring new IDs.
    case purchase

    package init(of transaction: Transaction) {
        switch transaction.productType {
        case .autoRenewable:
            // Xcode gives all periods the line item ID "0".
            let id = transaction.environment == .xcode ? "" : transaction.webOrderLineItemID
            self = id.isEmpty ? .transaction(transaction.id) : .period(id)
        case .consumable: self = .transaction(transaction.id)
        default: self = .purchase
        }
    }
}

/// What is known of one purchase: the report with the greatest stamp.
///
/// A refund that is missing under a greater stamp was reversed: Apple reports a reversal in no other way.
package struct TransactionRegister: Hashable, Sendable {
    /// As reported, under the ID of that report.
    package private(set) var reported: Transaction
    package private(set) var stamp: ReportStamp
    /// Every transaction ID under which this purchase was reported, ascending.
    package private(set) var ids: [TransactionID]

    package init(_ transaction: Transaction, stamp: ReportStamp) {
        self.init(transaction, stamp: stamp, ids: [transaction.id])
    }

    /// Restores what was stored.
    package init(_ transaction: Transaction, stamp: ReportStamp, ids: [TransactionID]) {
        self.reported = transaction
        self.stamp = stamp
        self.ids = ids
    }

    /// The transaction under its lowest ID: the one that stays when a restore brings another.
    package var transaction: Transaction {
        guard let id = self.ids.first, id != self.reported.id else { return self.reported }
        var shown = self.reported
        shown.id = id
        return shown
    }

    /// Joins what another register knows of the same purchase.
    package mutating func fold(_ other: TransactionRegister) -> FoldOutcome {
        var outcome: FoldOutcome = other.stamp == self.stamp ? .duplicate : .stale
        for id in other.ids where !self.ids.contains(id) {
            self.ids.insert(id, at: self.ids.firstIndex { $0 > id } ?? self.ids.endIndex)
            outcome = .news
        }
        if other.stamp > self.stamp {
            self.reported = other.reported
            self.stamp = other.stamp
            outcome = .news
        }
        return outcome
    }

    /// Order of periods: by begin, then by end, then by ID. The last one that has begun is the head of its line.
    package static func precedes(_ left: TransactionRegister, _ right: TransactionRegister) -> Bool {
        let (left, right) = (left.transaction, right.transaction)
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        let leftEnd = left.expirationDate ?? .distantFuture
        let rightEnd = right.expirationDate ?? .distantFuture
        return leftEnd == rightEnd ? left.id < right.id : leftEnd < rightEnd
    }
}

/// Renewal information as reported: an App Store app derives nothing of it from the catalogue.
package struct RenewalRegister: Hashable, Sendable {
    package private(set) var info: RenewalInfo
    /// End of the period that the information is about; nil if the report did not say.
    package private(set) var renewalDate: Instant?
    package private(set) var stamp: ReportStamp

    package init(_ info: RenewalInfo, renewalDate: Instant?, stamp: ReportStamp) {
        self.info = info
        self.renewalDate = renewalDate
        self.stamp = stamp
    }

    package mutating func fold(_ other: RenewalRegister) -> FoldOutcome {
        if other.stamp == self.stamp { return .duplicate }
        guard other.stamp > self.stamp else { return .stale }
        self = other
        return .news
    }
}
