package import PerchBase
package import PerchModel

/// An account that a change touched.
package struct AccountChange: Sendable {
    package var record: AccountRecord
    /// The facts, in order; the first one has `ordinal` in its revision.
    package var facts: [Fact]
    package var ordinal: UInt32
    /// The client whose call caused it; empty for the store itself.
    package var origin: [UInt8]
    /// The change makes the record longer than it may be. Such a change is refused.
    var isOverLimit = false

    /// The cause of its last fact. A report that changes no value has none.
    package var cause: Cause {
        self.facts.last { $0.reported == nil || $0.cause != .unspecified }?.cause ?? .unspecified
    }

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
///
/// Most changes touch one account, and most of those are a plain purchase. So the first account's parts stand in the
/// change itself, and a purchase has no list of facts.
package final class Change: Sendable {
    package let revision: UInt64
    package let committed: Instant
    /// The first account that the change touches; nil for none.
    package let record: AccountRecord?
    package let cause: Cause
    /// What the first account's events are made of.
    private let happening: Happening
    /// The accounts after the first one.
    package let others: [AccountChange]
    /// Keys that name an account from now on.
    package let aliases: [(key: AccountKey, account: AccountNumber)]
    /// The new state of an app, and what of it changed.
    package let app: AppState?
    package let appCause: Cause
    /// Tokens that are revoked from now on.
    package let revoked: [RevokedToken]

    private enum Happening: Sendable {
        /// A plain purchase, for the client with this ID.
        case purchase(Transaction, effective: Instant, origin: [UInt8])
        indirect case facts([Fact], ordinal: UInt32, origin: [UInt8])
    }

    /// Of this node's own change; `accounts` are those of its records.
    init(_ stored: borrowing StoredChange, accounts: [AccountChange]) {
        self.revision = stored.revision
        self.committed = stored.committed
        self.record = accounts.first?.record
        self.cause = accounts.first?.cause ?? .unspecified
        self.happening = .facts(
            accounts.first?.facts ?? [], ordinal: accounts.first?.ordinal ?? 0, origin: accounts.first?.origin ?? [])
        self.others = accounts.count > 1 ? Array(accounts.dropFirst()) : []
        self.aliases = stored.aliases
        self.app = stored.app?.state
        self.appCause = stored.appCause
        self.revoked = stored.revoked
    }

    /// Of a plain purchase.
    @inline(__always)
    init(_ purchase: StoredPurchase) {
        self.revision = purchase.revision
        self.committed = purchase.committed
        self.record = purchase.record
        self.cause = .purchase
        self.happening = .purchase(
            purchase.transaction, effective: purchase.effective, origin: purchase.origin)
        self.others = []
        self.aliases = []
        self.app = nil
        self.appCause = .unspecified
        self.revoked = []
    }

    /// The accounts that the change touches, in order.
    package var accounts: [AccountChange] { (self.first.map { [$0] } ?? []) + self.others }

    /// The change of the first account; nil for none.
    package var first: AccountChange? {
        guard let record = self.record else { return nil }
        switch self.happening {
        case .purchase(let transaction, let effective, let origin):
            return AccountChange(
                record: record, facts: [Fact(.purchased(transaction, terms: nil), effective: effective)], ordinal: 0,
                origin: origin)
        case .facts(let facts, let ordinal, let origin):
            return AccountChange(record: record, facts: facts, ordinal: ordinal, origin: origin)
        }
    }

    /// The names of customers that the change takes from accounts, as callers write them.
    package var unnamed: [AccountKey] {
        guard case .facts(let facts, _, _) = self.happening, let app = self.record?.app else { return [] }
        var names: [AccountKey] = []
        func add(_ facts: [Fact]) {
            for fact in facts {
                guard case .unnamed(let alias)? = fact.reported else { continue }
                if let text = AccountKey.attached(alias, app: app).attachedText { names.append(text) }
            }
        }
        add(facts)
        for other in self.others { add(other.facts) }
        return names
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
                    record: record, facts: facts, ordinal: UInt32(first), origin: stored.facts[first].origin))
        }
        self.init(stored, accounts: accounts)
    }
}
