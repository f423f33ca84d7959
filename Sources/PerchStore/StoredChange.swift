package import PerchBase
package import PerchModel

/// One committed change, as storage writes it and as the feed returns it.
package struct StoredChange: Sendable {
    package var revision: UInt64
    package var committed: Instant
    /// The app whose accounts or state change; a change never touches two apps. 0: the store itself.
    package var appNumber: AppNumber
    /// In order; the index is the ordinal. The facts of one account are neighbours.
    package var facts: [StoredFact] = []
    /// The new records, with their due instants.
    package var records: [StoredRecord] = []
    package var aliases: [(key: AccountKey, account: AccountNumber)] = []
    package var app: StoredAppState?
    /// What changed of `app`.
    package var appCause = Cause.unspecified
    /// All images of a new catalogue of `app`; images that it does not name are deleted. Nil keeps the images.
    package var images: [ImageContent]?
    /// Tokens that are revoked from this revision on.
    package var revoked: [RevokedToken] = []
    /// The callers' keys of accounts that the change erases: copies of other nodes' readers have them. Only the feed has them, for some
    /// minutes.
    package var erasedKeys: [(key: AccountKey, account: AccountNumber)] = []
    /// Crossings that come and go with the records. An index of this storage, and no part of the feed.
    package var crossings: [CrossingMoves] = []
    /// What is written beside facts and records; nil for most.
    package var side: SideWrites?
    /// The answer to the key of the mutation.
    package var answer: Boxed<KeyedAnswer>?
    package var nextTransaction: TransactionID
    package var nextAccount: AccountNumber

    /// Empties the change; its lists keep their capacity.
    mutating func removeAll() {
        // One by one: the lists are short, and `removeAll` replaces the storage.
        while !self.facts.isEmpty { self.facts.removeLast() }
        while !self.records.isEmpty { self.records.removeLast() }
        if !self.aliases.isEmpty { self.aliases.removeAll(keepingCapacity: true) }
        // Most changes have none of these. Releasing nil costs 400 instructions in the runtime, so it is avoided.
        if self.app != nil { self.app = nil }
        if self.images != nil { self.images = nil }
        if !self.revoked.isEmpty { self.revoked = [] }
        if !self.erasedKeys.isEmpty { self.erasedKeys = [] }
        if !self.crossings.isEmpty { self.crossings = [] }
        if self.side != nil { self.side = nil }
        if self.answer != nil { self.answer = nil }
    }

    /// Takes over the empty lists of another change, with their capacity.
    mutating func takeRoom(of other: inout StoredChange) {
        swap(&self.facts, &other.facts)
        swap(&self.records, &other.records)
        swap(&self.aliases, &other.aliases)
    }
}

extension StoredChange {
    /// An empty change.
    package init(
        revision: UInt64, committed: Instant, app: AppNumber, nextTransaction: TransactionID, nextAccount: AccountNumber
    ) {
        self.init(
            revision: revision, committed: committed, appNumber: app, facts: [], nextTransaction: nextTransaction,
            nextAccount: nextAccount)
    }
}

/// A record, when its next attempt is due, and when it was due before.
package struct StoredRecord: Hashable, Sendable {
    package var record: AccountRecord
    package var due: Instant?
    package var previousDue: Instant?
    /// What entitles the account from now on; nil: the same as before, or the storage keeps no rows of it. No part of the feed.
    package var sources: [EntitlementSource]?

    package init(
        _ record: AccountRecord, due: Instant? = nil, previousDue: Instant? = nil, sources: [EntitlementSource]? = nil
    ) {
        self.record = record
        self.due = due
        self.previousDue = previousDue
        self.sources = sources
    }
}

/// A fact, its account, and the client that caused it.
package struct StoredFact: Hashable, Sendable {
    package var account: AccountNumber
    package var fact: Fact
    /// Empty for the store itself.
    package var origin: [UInt8]

    package init(account: AccountNumber, fact: Fact, origin: [UInt8]) {
        self.account = account
        self.fact = fact
        self.origin = origin
    }
}
