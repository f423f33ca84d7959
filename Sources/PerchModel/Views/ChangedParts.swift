package import PerchBase

/// The groups and products of an account that a change may have given other statuses or entitlements. Only these need to be
/// computed before and after it.
package struct ChangedParts: Hashable, Sendable {
    package private(set) var groups: [String] = []
    package private(set) var products: [String] = []

    /// Of facts: what differs between two records.
    package init(from before: AccountRecord, to after: AccountRecord, catalogue: Catalogue) {
        Self.differing(before.lines, after.lines, by: \.originalID) { line in
            self.add(line)
        }
        Self.differing(before.owned, after.owned, by: \.id) { transaction in
            self.add(product: transaction.productID)
        }
        Self.differing(before.reported?.originals ?? [], after.reported?.originals ?? [], by: \.id) {
            self.add($0, catalogue)
        }
        // Offers to win a customer back depend on the history, and stand in the statuses.
        Self.differing(before.histories, after.histories, by: \.groupID) { history in
            if after.lines.contains(where: { $0.groupID == history.groupID }) { self.add(group: history.groupID) }
        }
        if before.appTransactionID != after.appTransactionID {
            for line in after.lines { self.add(group: line.groupID) }
        }
    }

    /// Of time: the lines that change their state at an instant.
    package init(
        of record: AccountRecord, crossingAt instant: Instant, leewayMilliseconds leeway: Int64?, catalogue: Catalogue
    ) {
        for line in record.lines where line.crosses(at: instant, leewayMilliseconds: leeway) { self.add(line) }
        for original in record.reported?.originals ?? []
        where original.changes(at: instant, leewayMilliseconds: leeway ?? 0) {
            self.add(original, catalogue)
        }
    }

    /// Each of its reports may have shown it in another group, or under another product.
    private mutating func add(_ original: ReportedOriginal, _ catalogue: Catalogue) {
        for register in original.registers.values.sorted(by: TransactionRegister.precedes) {
            let group = catalogue.groupID(of: register.reported)
            if original.isSubscription, !group.isEmpty { self.add(group: group) }
            self.add(product: register.reported.productID)
        }
    }

    private mutating func add(_ line: Line) {
        self.add(group: line.groupID)
        self.add(product: line.latest.productID)
    }

    private mutating func add(group: String) {
        if !self.groups.contains(group) { self.groups.append(group) }
    }

    private mutating func add(product: String) {
        if !self.products.contains(product) { self.products.append(product) }
    }

    /// The elements of two lists without an equal one in the other: those of before first.
    private static func differing<Element: Equatable, Key: Hashable>(
        _ before: [Element], _ after: [Element], by key: (Element) -> Key, _ body: (Element) -> Void
    ) {
        if before == after { return }
        let old = Dictionary(before.map { (key($0), $0) }) { first, _ in first }
        let new = Dictionary(after.map { (key($0), $0) }) { first, _ in first }
        for element in before where new[key(element)] != element { body(element) }
        for element in after where old[key(element)] != element { body(element) }
    }
}
