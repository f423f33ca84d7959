package import PerchBase
package import PerchModel

// What a copy of an app's entitlements is made of: a walk over the accounts in slices, and then the changes since it began.

/// The names by which clients know an account.
package struct AccountNames: Hashable, Sendable {
    /// The key that callers use, the first in bytewise order if it has several.
    package var key: [UInt8]
    /// The callers' other keys, in bytewise order.
    package var otherKeys: [[UInt8]] = []
    /// Names of the customer that were attached to the account, and are no key of it.
    package var attached: [[UInt8]] = []

    /// Nil: no caller has a key of the account.
    package init?(_ names: [AccountKey]) {
        // As nearly all.
        if names.count == 1, !names[0].isInternal {
            self.key = names[0].bytes
            return
        }
        var keys = names.lazy.filter { !$0.isInternal }.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        guard !keys.isEmpty else { return nil }
        self.key = keys.removeFirst()
        self.otherKeys = keys
        let attached = names.compactMap(\.attachedAlias).map { alias in
            switch alias {
            case .appAccountToken(let text), .appTransactionID(let text): Array(text.utf8)
            }
        }
        self.attached = Set(attached).subtracting(keys + [self.key]).sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// The callers' keys of the accounts that were erased last, at most `Limits.erasedKeysKept`.
package struct ErasedKeys {
    private var keys: [AccountNumber: [AccountKey]] = [:]
    /// Oldest first.
    private var order: [AccountNumber] = []

    package init() {}

    package subscript(_ account: AccountNumber) -> [AccountKey]? { self.keys[account] }

    /// `keys` is empty for an account that no caller could name.
    /// A node of the version before says no keys, and then nobody knows what copies have to take out.
    package mutating func add(erasedBy change: StoredChange, isOwn: Bool) {
        for stored in change.facts where stored.fact.reported == .erased {
            let keys = change.erasedKeys.filter { $0.account == stored.account }.map(\.key)
            if isOwn || !keys.isEmpty { self.add(stored.account, keys) }
        }
    }

    package mutating func add(_ account: AccountNumber, _ keys: [AccountKey]) {
        guard self.keys.updateValue(keys, forKey: account) == nil else { return }
        self.order.append(account)
        if self.order.count > Limits.erasedKeysKept { self.keys[self.order.removeFirst()] = nil }
    }
}

/// An account that something entitles.
package struct CopyRow: Sendable {
    package var names: AccountNames
    package var sources: [EntitlementSource]
}

/// Asks for a slice of an app's accounts.
package struct CopyAsked: Hashable, Sendable {
    package var app: AppNumber
    /// The first account that the slice looks at.
    package var from: AccountNumber

    package init(app: AppNumber, from: AccountNumber) {
        self.app = app
        self.from = from
    }
}

/// A slice of an app's accounts, by number.
package struct CopySlice: Sendable {
    package var rows: [CopyRow]
    /// The account at which the next slice begins; nil: this is the last.
    package var next: AccountNumber?
    /// The app's clock: sources that ended before are not in it.
    package var now: Instant
    /// The store's revision when it was read.
    package var revision: UInt64
}

extension StoreEngine {
    /// Answers the oldest question for a slice, and those that ask for the same one. Last in a tick, so that mutations wait for one slice,
    /// however many copies are read. True: others wait for the next tick.
    func answerSlice(wall: Instant, into outbox: inout Outbox) -> Bool {
        guard let first = self.appChanges.slices.first, case .copySlice(let asked) = first.body else { return false }
        let answer = self.read(first.body, wall: wall)
        self.appChanges.slices.removeAll { request in
            guard case .copySlice(asked) = request.body else { return false }
            outbox.answer(request, answer)
            return true
        }
        return !self.appChanges.slices.isEmpty
    }

    /// Reads a slice. It looks at a bounded number of accounts, so that changes wait for one slice at most.
    func copySlice(_ asked: CopyAsked, wall: Instant) throws(StorageError) -> StoreAnswer {
        guard let app = self.apps[asked.app]?.state else { preconditionFailure("app \(asked.app) is gone") }
        let now = app.clock.now(wall: wall)
        let end = self.header.nextAccount
        let page = try self.sources(of: asked, before: end, after: now)
        let names = try self.storage.names(of: page.rows.map(\.account))
        var rows: [CopyRow] = []
        for (index, row) in page.rows.enumerated() {
            if let names = AccountNames(names[index]) { rows.append(CopyRow(names: names, sources: row.sources)) }
        }
        let next = page.next
        return .copySlice(
            CopySlice(rows: rows, next: next < end ? next : nil, now: now, revision: self.header.revision))
    }

    /// Reads the rows of sources, or the records where the storage has no such rows.
    private func sources(
        of asked: CopyAsked, before end: AccountNumber, after now: Instant
    ) throws(StorageError) -> SourcesPage {
        let kept = try self.storage.sources(
            of: asked.app, from: asked.from, before: end, limit: Limits.copyRowsPerSlice)
        if let kept {
            var page = kept
            // Rows are not written when time ends a source.
            page.rows.removeAll { row in !row.sources.contains { now < $0.end } }
            return page
        }
        let (records, next) = try self.storage.records(
            of: asked.app, from: asked.from, before: end, limit: Limits.copyAccountsPerSlice)
        var page = SourcesPage(next: next)
        for record in records {
            let sources = record.entitlementSources(after: now)
            if !sources.isEmpty { page.rows.append((record.account, sources)) }
        }
        return page
    }

    // MARK: Rows of sources

    /// What a change writes into the row of an account; nil: nothing.
    func sources(from before: AccountRecord, to after: AccountRecord, at now: Instant) -> [EntitlementSource]? {
        guard self.storage.keepsSources else { return nil }
        let sources = after.entitlementSources(after: now)
        return sources == before.entitlementSources(after: now) ? nil : sources
    }

    /// Writes rows that a version without them has not written, some accounts at a time. Returns when to go on, by the machine's clock;
    /// nil: every account has its row. Meanwhile copies read the records.
    func fillSources(machine: Instant) -> Instant? {
        guard let due = self.appChanges.sourcesFill, self.failure == nil, self.unresolved == nil else { return nil }
        if self.isWithoutRoom { return machine.advanced(byMilliseconds: 1_000) }
        guard due <= machine else { return due }
        var batch = self.takeBatch()
        var lacksMore = true
        let error = self.commit(&batch, of: []) { (_: inout Batch) throws(StorageError) in
            try self.storage.fillSources(limit: Limits.sourcesFilledAtOnce)
            lacksMore = try self.storage.lacksSources()
        }
        if error == nil { self.give(back: batch) }
        let next = machine.advanced(byMilliseconds: Limits.sourcesFillPauseMilliseconds)
        self.appChanges.sourcesFill = lacksMore ? next : nil
        return self.appChanges.sourcesFill
    }
}
