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
package enum ToldOwner: Hashable, Sendable {
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

    /// The owner: a claim decides, else the newest alias of a known account, else nobody.
    ///
    /// It depends on what is known, not on the order in which it became known. So it is asked again whenever a link or an
    /// account's alias arrives.
    package func owner(
        ofOriginal id: TransactionID, account: (AccountAlias) -> AccountNumber?
    ) -> ToldOwner {
        if let claim = self.claim { return .account(claim.account) }
        let aliases = self.newestFirst
        for alias in aliases {
            if let account = account(alias) { return .account(account) }
        }
        // Apple's number holds together what one customer bought, also without the app's help.
        let name = aliases.first { if case .appTransactionID = $0 { true } else { false } } ?? aliases.first
        return .unclaimed(name.map { .alias($0) } ?? .original(id))
    }
}
