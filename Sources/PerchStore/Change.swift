package import PerchBase
package import PerchModel

/// An account that a change touched.
package struct AccountChange: Sendable {
    package var record: AccountRecord
    package var cause: Cause
    /// The facts, in order; the first one has `ordinal` in its revision.
    package var facts: [Fact]
    package var ordinal: UInt32
    /// The client whose call caused it; empty for the store itself.
    package var origin: [UInt8]
    /// The change makes the record longer than it may be. Such a change is refused.
    var isOverLimit = false

    /// The events for subscribers of the account's transactions. Computed only for subscribers, which are rare. The
    /// record belongs to this change, so it has the revision and the commit time.
    package var events: [AccountEvent] {
        var events: [AccountEvent] = []
        for (index, fact) in self.facts.enumerated() {
            guard let event = fact.event else { continue }
            events.append(
                AccountEvent(
                    place: EventPlace(revision: self.record.revision, ordinal: self.ordinal + UInt32(index)),
                    committed: self.record.committed, transaction: event.transaction, kind: event.kind,
                    origin: self.origin))
        }
        return events
    }
}

/// One committed change, as every loop receives it.
package final class Change: Sendable {
    package let revision: UInt64
    package let committed: Instant
    package let accounts: [AccountChange]
    /// Keys that name an account from now on.
    package let aliases: [(key: AccountKey, account: AccountNumber)]
    /// The new state of an app, and the changed part.
    package let app: AppState?
    package let appCause: Cause
    /// Tokens that are revoked from now on.
    package let revoked: [RevokedToken]

    /// Of this node's own change; `accounts` are those of its records.
    init(_ stored: borrowing StoredChange, accounts: [AccountChange]) {
        self.revision = stored.revision
        self.committed = stored.committed
        self.accounts = accounts
        self.aliases = stored.aliases
        self.app = stored.app?.state
        self.appCause = stored.appCause
        self.revoked = stored.revoked
    }

    /// Of a change that the feed has brought.
    package convenience init(_ stored: StoredChange) {
        var accounts: [AccountChange] = []
        for place in stored.records.indices {
            let record = stored.records[place].record
            guard let first = stored.facts.firstIndex(where: { $0.account == record.account }) else {
                preconditionFailure("revision \(stored.revision) changes account \(record.account) without facts")
            }
            let facts = stored.facts[first...].prefix { $0.account == record.account }.map(\.fact)
            accounts.append(
                AccountChange(
                    record: record, cause: facts[facts.count - 1].cause, facts: facts, ordinal: UInt32(first),
                    origin: stored.facts[first].origin))
        }
        self.init(stored, accounts: accounts)
    }
}
