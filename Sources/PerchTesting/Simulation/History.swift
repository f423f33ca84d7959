package import PerchBase
package import PerchModel
package import PerchStore

/// Everything that the store committed, by revision: what any value can be held against.
package struct History {
    package private(set) var revision: UInt64
    package private(set) var commitTimes: [UInt64: Instant] = [:]
    private var apps: [AppNumber: [AppState]] = [:]
    private var records: [AccountNumber: [AccountRecord]] = [:]
    private var aliases: [AccountKey: AccountNumber] = [:]
    private var events: [AccountNumber: [AccountEvent]] = [:]

    package init(revision: UInt64, apps: [AppState]) {
        self.revision = revision
        for app in apps { self.apps[app.number] = [app] }
    }

    /// The store committed one more change. Trapped: a hole.
    package mutating func append(_ change: Change) {
        precondition(
            change.revision == self.revision + 1, "revision \(change.revision) was committed after \(self.revision)")
        self.revision = change.revision
        self.commitTimes[change.revision] = change.committed
        for (key, account) in change.aliases { self.aliases[key] = account }
        for account in change.accounts {
            self.records[account.record.account, default: []].append(account.record)
            self.events[account.record.account, default: []].append(contentsOf: account.events)
        }
        if let app = change.app { self.apps[app.number, default: []].append(app) }
    }

    package func account(_ key: AccountKey) -> AccountNumber? { self.aliases[key] }

    package func record(_ key: AccountKey, at revision: UInt64) -> AccountRecord? {
        guard let account = self.aliases[key] else { return nil }
        return self.records[account]?.last { $0.revision <= revision }
    }

    package func app(_ number: AppNumber, at revision: UInt64) -> AppState {
        guard let states = self.apps[number], let state = states.last(where: { $0.revision <= revision }) else {
            preconditionFailure("there was no app \(number) at revision \(revision)")
        }
        return state
    }

    package func events(of key: AccountKey) -> [AccountEvent] {
        self.aliases[key].flatMap { self.events[$0] } ?? []
    }
}
