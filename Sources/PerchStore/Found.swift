package import PerchModel

// What is sought of customers, and what is found.

/// What names an account that is sought.
package enum AccountSought: Hashable, Sendable {
    /// Any transaction or original transaction of the account.
    case transaction(TransactionID)
    case alias(AccountAlias)
}

/// Everything of an account, with its first transactions, oldest first.
package struct ExportedAccount: Sendable {
    package var record: AccountRecord
    /// Keys that callers use.
    package var keys: [[UInt8]]
    /// Names of the customer that an administrator attached or a report brought.
    package var aliases: [AccountAlias]
    /// Hashes of e-mail addresses, in hexadecimal digits.
    package var emailHashes: [String]
    package var rows: [TransactionRow]
    package var hasMore: Bool
    /// Oldest first.
    package var notes: [CustomerNote]
}

/// What names customers that are sought.
package struct CustomersSought: Hashable, Sendable {
    /// The beginning of a key, or a whole name of another kind.
    package var text: String
    /// Empty for all.
    package var kinds: Set<CustomerNameKind>
    package var limit: Int

    package init(_ text: String, kinds: Set<CustomerNameKind> = [], limit: Int) {
        self.text = text
        self.kinds = kinds
        self.limit = limit
    }
}

/// A customer who was found.
package struct FoundName: Hashable, Sendable {
    /// The first key that callers use; empty for an unclaimed account.
    package var key: [UInt8]
    package var kind: CustomerNameKind
    /// The whole name that matched.
    package var name: String
    /// The purchase that the name leads to; nil for none.
    package var original: TransactionID?
}

/// A record with what explains it.
package struct AccountHistory: Sendable {
    package var record: AccountRecord?
    /// Newest first.
    package var rows: [Transaction] = []
    package var app: AppState
    /// Who granted each grant, as the audit trail names them; empty where they were not asked for.
    package var granters: [String: String] = [:]
    /// What happened, oldest first; empty where it was not asked for.
    package var happenings: [Happening] = []
    /// Older happenings were left out.
    package var isCut = false
}

/// An account that was found.
package struct FoundAccount: Hashable, Sendable {
    /// The key that callers use; empty for an unclaimed account.
    package var key: [UInt8]
    package var isUnclaimed: Bool
    package var record: AccountRecord

    package init(key: [UInt8], isUnclaimed: Bool, record: AccountRecord) {
        self.key = key
        self.isUnclaimed = isUnclaimed
        self.record = record
    }
}
