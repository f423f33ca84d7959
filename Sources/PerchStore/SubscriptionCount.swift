package import PerchBase
package import PerchModel

/// A walk over all accounts of a store that counts their subscriptions by state, some accounts a step.
///
/// Each account is counted as it is when the walk reaches it. A subscription that a member of the family only shares is
/// not counted.
package struct SubscriptionCount: Sendable {
    private var apps: [AppNumber]
    /// The last account that was counted of the first app.
    private var key = AccountKey.beforeUnclaimed
    private var counts: [UInt64] = Array(repeating: 0, count: RenewalState.names.count)

    init(of apps: [AppNumber]) { self.apps = apps }

    package var isComplete: Bool { self.apps.isEmpty }

    /// Reported purchases of no account that is known.
    package private(set) var unclaimed: UInt64 = 0
    /// Reported subscriptions whose renewal was awaited for the app's leeway, and never reported.
    package private(set) var overdue: UInt64 = 0

    /// The number of each state.
    package var byState: [(state: RenewalState, count: UInt64)] {
        self.counts.enumerated().dropFirst().map { (RenewalState(rawValue: Int32($0)), $1) }
    }

    fileprivate mutating func step(_ storage: any Storage, _ apps: StoredApps, wall: Instant) throws(StorageError) {
        guard let number = self.apps.first, let app = apps[number]?.state else {
            self.apps = Array(self.apps.dropFirst())
            return
        }
        let limit = Limits.subscriptionCountAccountsPerStep
        let keys = try storage.keys(of: number, after: self.key, limit: limit)
        let now = app.clock.now(wall: wall)
        for key in keys {
            guard let account = try storage.account(AccountKey(app: number, bytes: key)),
                let record = try storage.record(account)
            else { continue }
            for line in record.lines where line.isOwn {
                let state = line.state(at: now, leewayMilliseconds: app.renewalLeewayMilliseconds)
                self.counts[Int(state.rawValue)] += 1
            }
            if let told = record.told, told.isUnclaimed { self.unclaimed += UInt64(told.originals.count) }
            for line in record.told?.originals ?? [] where line.isSubscription {
                let leeway = app.renewalLeewayMilliseconds ?? 0
                guard let standing = line.standing(at: now, leewayMilliseconds: leeway),
                    standing.transaction.ownership != .familyShared
                else { continue }
                self.counts[Int(standing.state.rawValue)] += 1
                if standing.isOverdue { self.overdue += 1 }
            }
        }
        if let last = keys.last, keys.count == limit {
            self.key = last
        } else {
            self.apps.removeFirst()
            self.key = AccountKey.beforeUnclaimed
        }
    }
}

extension StoreEngine {
    /// Begins a count; nil where each account would be a request over the network.
    package func beginSubscriptionCount() -> SubscriptionCount? {
        self.isShared ? nil : SubscriptionCount(of: self.apps.states.map(\.number))
    }

    /// Counts some more accounts, past the cache of records.
    package func count(_ count: inout SubscriptionCount, wall: Instant) throws(StorageError) {
        try count.step(self.storage, self.apps, wall: wall)
    }
}
