import PerchBase

/// A name that the App Store or the app gives to a customer.
package enum AccountAlias: Hashable, Comparable, Sendable {
    /// The app's own UUID for its customer.
    case appAccountToken(String)
    /// Apple's number for one Apple Account in one app.
    case appTransactionID(String)
}

/// An account that an app's backend or an administrator named as the owner of an original transaction. Claims are decided by
/// the store's thread, so the last one in commit order holds.
package struct AccountClaim: Hashable, Comparable, Sendable {
    package var revision: UInt64
    package var account: AccountNumber

    package init(account: AccountNumber, revision: UInt64) {
        self.account = account
        self.revision = revision
    }

    package static func < (left: AccountClaim, right: AccountClaim) -> Bool {
        (left.revision, left.account) < (right.revision, right.account)
    }
}

/// Who owns an original transaction.
package enum ReportedOwner: Hashable, Sendable {
    case account(AccountNumber)
    /// No account that is known. Originals with the same name belong together; no client can name them.
    case unclaimed(UnclaimedName)
}

/// The name of an unclaimed account.
package enum UnclaimedName: Hashable, Comparable, Sendable {
    case alias(AccountAlias)
    case original(TransactionID)
}

/// The links of an original transaction to accounts: stamped facts, joined in any order.
package struct OriginalLinks: Hashable, Sendable {
    /// The greatest stamp under which each alias was reported.
    package private(set) var aliases: [AccountAlias: ReportStamp] = [:]
    package private(set) var claim: AccountClaim?

    package init() {}

    /// Restores what was stored.
    package init(aliases: [AccountAlias: ReportStamp], claim: AccountClaim?) {
        self.aliases = aliases
        self.claim = claim
    }

    package mutating func fold(_ alias: AccountAlias, stamp: ReportStamp) -> FoldOutcome {
        guard let known = self.aliases[alias] else {
            self.aliases[alias] = stamp
            return .news
        }
        if stamp == known { return .duplicate }
        guard stamp > known else { return .stale }
        self.aliases[alias] = stamp
        return .news
    }

    package mutating func fold(_ claim: AccountClaim) -> FoldOutcome {
        if claim == self.claim { return .duplicate }
        if let known = self.claim, claim < known { return .stale }
        self.claim = claim
        return .news
    }

    /// Aliases from the newest to the oldest. One report may carry both: then the app's own token comes first.
    package var newestFirst: [AccountAlias] {
        self.aliases.sorted { left, right in
            left.value == right.value ? left.key < right.key : left.value > right.value
        }.map(\.key)
    }

    /// The names that say which customer it is of. The app's own token names a customer; Apple's number an Apple Account, which several
    /// customers of the app may share, so it says something only where the app gave no token.
    package var customerNames: [AccountAlias] {
        let names = self.newestFirst
        let tokens = names.filter { if case .appAccountToken = $0 { true } else { false } }
        return tokens.isEmpty ? names : tokens
    }
}

extension ReportedOriginal {
    /// The owner: a claim decides, else the newest name of a known account, else another purchase of the same customer: of the nearest
    /// ones the one whose name was reported last. Else nobody.
    ///
    /// It depends on what is known, not on the order in which it became known. So it is asked again whenever a link, a claim or an
    /// account's name arrives. `linked`: the originals that carry a name.
    package func owner<Failure: Error>(
        account: (AccountAlias) throws(Failure) -> AccountNumber?,
        linked: (AccountAlias) throws(Failure) -> [ReportedOriginal]
    ) throws(Failure) -> ReportedOwner {
        if let account = try self.direct(account) { return .account(account) }
        let names = self.links.customerNames
        if let other = try ownerOfOthers(named: names, except: self.id, account: account, linked: linked) {
            return .account(other)
        }
        return .unclaimed(self.unclaimedName)
    }

    /// The account that the original itself names.
    package func direct<Failure: Error>(
        _ account: (AccountAlias) throws(Failure) -> AccountNumber?
    ) throws(Failure) -> AccountNumber? {
        if let claim = self.links.claim { return claim.account }
        for alias in self.links.newestFirst {
            if let account = try account(alias) { return account }
        }
        return nil
    }

    /// Apple's number holds together what one customer bought, also without the app's help.
    private var unclaimedName: UnclaimedName {
        let aliases = self.links.newestFirst
        let name = aliases.first { if case .appTransactionID = $0 { true } else { false } } ?? aliases.first
        return name.map { .alias($0) } ?? .original(self.id)
    }
}

/// The account of the purchases that carry one of the names, or names that these carry: of the nearest purchases the one whose name was
/// reported last. Nil: none of them is an account's. Of each name `Limits.linkedOriginalsMax` purchases are looked at.
package func ownerOfOthers<Failure: Error>(
    named names: [AccountAlias], except id: TransactionID, account: (AccountAlias) throws(Failure) -> AccountNumber?,
    linked: (AccountAlias) throws(Failure) -> [ReportedOriginal]
) throws(Failure) -> AccountNumber? {
    var seen: Set<TransactionID> = [id]
    var aliases: Set<AccountAlias> = []
    var near = names
    while !near.isEmpty, seen.count <= Limits.linkedOriginalsMax {
        var next: [AccountAlias] = []
        var best: (stamp: ReportStamp, id: TransactionID, account: AccountNumber)?
        for alias in near where aliases.insert(alias).inserted {
            for other in try linked(alias) where seen.insert(other.id).inserted {
                next += other.links.customerNames
                guard let account = try other.direct(account), let stamp = other.links.aliases[alias] else { continue }
                if best.map({ ($0.stamp, $0.id) < (stamp, other.id) }) ?? true { best = (stamp, other.id, account) }
            }
        }
        if let best { return best.account }
        near = next
    }
    return nil
}
