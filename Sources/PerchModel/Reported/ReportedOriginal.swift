package import PerchBase

/// All that is known of an original transaction of an app whose facts are reported: a subscription line, or a purchase.
///
/// It is the join of its reports. Two that were given the same reports are equal, whatever the order and however often.
package struct ReportedOriginal: Hashable, Sendable {
    package let id: TransactionID
    package private(set) var registers: [ReportedPeriod: TransactionRegister] = [:]
    package private(set) var renewal: RenewalRegister?
    package private(set) var links = OriginalLinks()

    package init(id: TransactionID) { self.id = id }

    /// Restores what was stored.
    package init(
        id: TransactionID, registers: [ReportedPeriod: TransactionRegister], renewal: RenewalRegister?,
        links: OriginalLinks
    ) {
        self.id = id
        self.registers = registers
        self.renewal = renewal
        self.links = links
    }

    // MARK: Folding

    package mutating func fold(_ transaction: Transaction, stamp: ReportStamp) -> FoldOutcome {
        precondition(transaction.originalID == self.id, "a transaction of another original")
        let links = self.link(transaction.appAccountToken, transaction.appTransactionID, stamp)
        let register = TransactionRegister(transaction, stamp: stamp)
        let period = ReportedPeriod(of: transaction)
        let outcome = self.registers[period]?.fold(register) ?? .news
        if self.registers[period] == nil { self.registers[period] = register }
        return links == .news ? .news : outcome
    }

    package mutating func fold(_ info: RenewalInfo, renewalDate: Instant?, stamp: ReportStamp) -> FoldOutcome {
        precondition(info.originalTransactionID == self.id, "renewal information of another original")
        let links = self.link(info.appAccountToken, info.appTransactionID, stamp)
        let register = RenewalRegister(info, renewalDate: renewalDate, stamp: stamp)
        let outcome = self.renewal?.fold(register) ?? .news
        if self.renewal == nil { self.renewal = register }
        return links == .news ? .news : outcome
    }

    package mutating func fold(_ claim: AccountClaim) -> FoldOutcome { self.links.fold(claim) }

    private mutating func link(_ token: String, _ appTransactionID: String, _ stamp: ReportStamp) -> FoldOutcome {
        var outcome: FoldOutcome = .duplicate
        // Apple's is a UUID. Another text is kept in its transaction, and names no customer.
        if AccountToken(token) != nil, self.links.fold(.appAccountToken(token), stamp: stamp) == .news {
            outcome = .news
        }
        if !appTransactionID.isEmpty,
            self.links.fold(.appTransactionID(appTransactionID), stamp: stamp) == .news
        {
            outcome = .news
        }
        return outcome
    }

    /// Joins what another value knows of the same original.
    package mutating func fold(_ other: ReportedOriginal) -> FoldOutcome {
        precondition(other.id == self.id, "another original")
        let before = self
        for (period, register) in other.registers {
            if self.registers[period]?.fold(register) == nil { self.registers[period] = register }
        }
        if let renewal = other.renewal, self.renewal?.fold(renewal) == nil { self.renewal = renewal }
        for (alias, stamp) in other.links.aliases { _ = self.links.fold(alias, stamp: stamp) }
        if let claim = other.links.claim { _ = self.links.fold(claim) }
        return self == before ? .duplicate : .news
    }

    // MARK: What it is

    /// Periods in order, without those that an upgrade left behind.
    package var periods: [TransactionRegister] {
        self.registers.values.filter { !$0.reported.isUpgraded }.sorted(by: TransactionRegister.precedes)
    }

    /// Periods as they were at an instant: until an upgrade begins, nothing has left behind what it replaces.
    func periods(at now: Instant) -> [TransactionRegister] {
        let periods = self.periods
        guard periods.count < self.registers.count, let next = periods.first(where: { $0.reported.purchaseDate > now })
        else {
            return periods
        }
        let replaced = self.registers.values.filter {
            $0.reported.isUpgraded && $0.reported.purchaseDate <= now
                && next.reported.purchaseDate < $0.reported.expirationDate ?? .distantFuture
        }
        return (periods + replaced).sorted(by: TransactionRegister.precedes)
    }

    /// Whether it is a subscription; a line may begin with any report.
    package var isSubscription: Bool {
        self.renewal != nil || self.registers.values.contains { $0.reported.productType == .autoRenewable }
    }

    /// Whether only consumables were reported of it: they entitle to nothing.
    package var isConsumable: Bool {
        self.renewal == nil && !self.registers.isEmpty
            && self.registers.values.allSatisfy { $0.reported.productType == .consumable }
    }

    /// The orders of its purchases, as reported.
    package var orders: Set<String> {
        Set(self.registers.values.map(\.reported.webOrderLineItemID).filter { !$0.isEmpty })
    }

    /// When the line began, as its reports say; lists are sorted by it.
    package var originalPurchaseDate: Instant {
        self.registers.values.map(\.reported.originalPurchaseDate).min() ?? .distantFuture
    }

    /// The latest period that has begun. A renewal arrives up to a day before its period begins.
    package func head(at now: Instant) -> Transaction? {
        self.periods(at: now).last { $0.reported.purchaseDate <= now }?.transaction
    }

    /// Without the periods that no view from `now` on needs. Bounded: the head, and what has not begun yet.
    package func trimmed(at now: Instant) -> ReportedOriginal {
        let head = self.periods(at: now).last { $0.reported.purchaseDate <= now }
        var trimmed = self
        // The date is that of the earliest report, so its register stays.
        let first = self.registers.min { left, right in
            let (one, other) = (left.value.reported.originalPurchaseDate, right.value.reported.originalPurchaseDate)
            return one == other ? left.key < right.key : one < other
        }?.key
        trimmed.registers = self.registers.filter { key, register in
            register == head || register.reported.purchaseDate > now || key == first
        }
        return trimmed
    }
}

extension ReportedOriginal: CustomReflectable {
    /// In a fixed order, because a dictionary has none.
    package var customMirror: Mirror {
        let aliases = self.links.aliases.sorted { $0.key < $1.key }
        return Mirror(
            self,
            children: [
                "id": self.id, "periods": self.registers.keys.sorted(),
                "registers": self.registers.sorted { $0.key < $1.key }.map(\.value), "renewal": self.renewal as Any,
                "aliases": aliases.map(\.key), "stamps": aliases.map(\.value), "claim": self.links.claim as Any,
            ])
    }
}
