package import PerchBase
package import PerchModel

/// The earliest due renewals of one app, maintained from the feed of changes.
///
/// A start must not read every account, so only the first `Limits.dueEntriesHeld` entries are in memory: all entries up to a
/// horizon. Storage has all of them, and settling reads them there, inside its batch.
package struct DueWindow {
    /// Sorted by instant, then account.
    package private(set) var entries: [DueEntry] = []
    /// The last entry that is certainly here. Nil: there are no others in storage.
    private var horizon: DueEntry?
    private var isLoaded = false

    package init() {}

    /// Whether the earliest entry must be read from storage first.
    package var needsEntries: Bool { !self.isLoaded || (self.entries.isEmpty && self.horizon != nil) }

    /// `found`: the first entries in storage, one more than fit if there are enough.
    package mutating func load(_ found: [DueEntry]) {
        self.isLoaded = true
        self.entries = Array(found.prefix(Limits.dueEntriesHeld))
        self.horizon = found.count > Limits.dueEntriesHeld ? self.entries.last : nil
    }

    /// An account's renewal moves from one instant to another.
    ///
    /// A window that was read while another node had committed already knows moves that the feed brings later. So a move
    /// may find its old entry gone, or its new entry present.
    package mutating func move(_ account: AccountNumber, from: Instant?, to: Instant?) {
        guard self.isLoaded else { return }
        if let from {
            let entry = DueEntry(instant: from, account: account)
            let index = self.place(of: entry)
            if index < self.entries.count, self.entries[index] == entry { self.entries.remove(at: index) }
        }
        guard let to else { return }
        let entry = DueEntry(instant: to, account: account)
        if let horizon = self.horizon, !Self.isOrdered(entry, horizon) { return }
        let index = self.place(of: entry)
        guard index == self.entries.count || self.entries[index] != entry else { return }
        self.entries.insert(entry, at: index)
        if self.entries.count > 2 * Limits.dueEntriesHeld {
            self.entries.removeLast(self.entries.count - Limits.dueEntriesHeld)
            self.horizon = self.entries.last
        }
    }

    private static func isOrdered(_ left: DueEntry, _ right: DueEntry) -> Bool {
        (left.instant, left.account) <= (right.instant, right.account)
    }

    private func place(of entry: DueEntry) -> Int {
        self.entries.partitioningIndex { Self.isOrdered(entry, $0) }
    }
}
