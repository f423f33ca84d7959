package import PerchBase
package import PerchModel
package import PerchStore

/// Every committed change by revision. Tests compare each value with it.
package struct History {
    package private(set) var revision: UInt64
    package private(set) var commitTimes: [UInt64: Instant] = [:]
    /// Changes of several accounts at once.
    package private(set) var familyChangeCount = 0
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
        if change.accounts.count > 1 { self.familyChangeCount += 1 }
        for account in change.accounts {
            self.records[account.record.account, default: []].append(account.record)
            self.events[account.record.account, default: []].append(contentsOf: account.events)
        }
        if let app = change.app { self.apps[app.number, default: []].append(app) }
    }

    /// Appends the commits that a process made right before it died. No loop received them; the next process finds them.
    mutating func catchUp(with storage: any Storage) throws(StorageError) -> [Change] {
        guard let missed = try storage.changes(after: self.revision, limit: .max) else {
            throw .failed("the feed of changes does not reach back to revision \(self.revision)")
        }
        let changes = missed.map { Change($0) }
        for change in changes { self.append(change) }
        return changes
    }

    /// The differences between a store and the committed changes; empty if there are none.
    func differences(from storage: any Storage, _ names: [String]) throws(StorageError) -> [String] {
        var differences: [String] = []
        for revision in 1...self.revision where try storage.commitTime(of: revision) == nil {
            differences.append("revision \(revision) is not there")
        }
        for (revision, committed) in self.commitTimes where try storage.commitTime(of: revision) != committed {
            differences.append("revision \(revision) was committed at \(committed)")
        }
        for app in try storage.appStates() {
            let known = self.app(app.state.number, at: self.revision)
            if known.revision != app.state.revision || known.settings != app.state.settings
                || known.clock != app.state.clock || known.catalogue != app.state.catalogue
            {
                differences.append("app \(app.state.number) is that of \(app.state.revision), not of \(known.revision)")
            }
        }
        for name in names {
            let key = self.key(name)
            let account = try storage.account(key)
            guard account == self.account(key) else {
                differences.append("\(name) is account \(account ?? 0), not \(self.account(key) ?? 0)")
                continue
            }
            guard let account else { continue }
            if try storage.record(account) != self.record(key, at: self.revision) {
                differences.append("the record of \(name) is another")
            }
            let start = EventPlace(revision: 0, ordinal: 0)
            if try storage.events(of: account, after: start, limit: .max) != self.events(of: key) {
                differences.append("the events of \(name) are others")
            }
        }
        return differences.sorted()
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
