package import PerchBase
package import PerchModel

/// A walk over all accounts of a store that counts their subscriptions by state, some accounts a step.
///
/// It goes by account number, so an account with several keys is counted once, and one that is opened meanwhile is not. Each account
/// is counted as it is when the walk reaches it. A subscription that a member of the family only shares is not counted.
package struct SubscriptionCount: Sendable {
    /// The next account to count.
    private var next: AccountNumber = 0
    /// The account behind the last one.
    private let end: AccountNumber
    private var counts: [UInt64] = Array(repeating: 0, count: RenewalState.names.count)

    init(before end: AccountNumber) { self.end = end }

    package var isComplete: Bool { self.next >= self.end }

    /// Reported purchases of no account that is known.
    package private(set) var unclaimed: UInt64 = 0
    /// Reported subscriptions whose renewal was awaited for the app's leeway, and never reported.
    package private(set) var overdue: UInt64 = 0

    /// The number of each state.
    package var byState: [(state: RenewalState, count: UInt64)] {
        self.counts.enumerated().dropFirst().map { (RenewalState(rawValue: Int32($0)), $1) }
    }

    fileprivate mutating func step(_ storage: any Storage, _ apps: StoredApps, wall: Instant) throws(StorageError) {
        let page = try storage.records(
            from: self.next, before: self.end, limit: Limits.subscriptionCountAccountsPerStep)
        for record in page.records {
            guard let app = apps[record.app]?.state else { continue }
            self.add(record, app, now: app.clock.now(wall: wall))
        }
        self.next = page.next
    }

    private mutating func add(_ record: AccountRecord, _ app: AppState, now: Instant) {
        let holdings = holdings(of: record, in: app, at: now)
        self.unclaimed += UInt64(holdings.unclaimedCount)
        for line in holdings.ownLines {
            self.counts[Int(line.state.rawValue)] += 1
            if line.isOverdue { self.overdue += 1 }
        }
    }
}

extension StoreEngine {
    /// Whether a count can read now. A storage that is out of reach is not asked, because each question would wait for it.
    package var canCount: Bool {
        self.failure == nil && self.unresolved == nil && !self.isBlind && !self.isUnreachable
    }

    package func beginSubscriptionCount() -> SubscriptionCount { SubscriptionCount(before: self.header.nextAccount) }

    /// Counts some more accounts, past the cache of records.
    package func count(_ count: inout SubscriptionCount, wall: Instant) throws(StorageError) {
        try count.step(self.storage, self.apps, wall: wall)
    }
}
