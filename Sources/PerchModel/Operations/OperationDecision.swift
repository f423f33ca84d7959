/// The account that an operation is about, and what else the decision was given to see.
package struct OperationSubject: Sendable {
    package var record: AccountRecord
    /// Rows that the decision asked for; nil the first time.
    package var rows: [Transaction]?
    /// The other account of the operation: the family member it names; one that is being opened where there was none.
    package var member: AccountRecord?

    package init(record: AccountRecord, rows: [Transaction]? = nil, member: AccountRecord? = nil) {
        self.record = record
        self.rows = rows
        self.member = member
    }
}

/// Rows of the account that a decision needs to see.
package enum RowNeed: Hashable, Sendable {
    case transaction(TransactionID)
    /// The newest ones of a product, at most `Limits.pageSizeMax`.
    case product(String)
    /// The newest ones of any product, at most `Limits.pageSizeMax`.
    case all
}

/// What an operation comes to. A refusal is thrown.
package enum OperationDecision: Hashable, Sendable {
    /// Decide again with these rows.
    case needs(RowNeed)
    case done(OperationOutcome)
}

/// Facts, and what the caller is told.
package struct OperationOutcome: Hashable, Sendable {
    package var facts: [Fact] = []
    /// Facts of the other account.
    package var memberFacts: [Fact] = []
    /// What the operation made or changed.
    package var transaction: Transaction?
    /// The transaction was held before.
    package var wasHeld = false
    /// A purchase that waits, or an intent, by its number.
    package var number: UInt64?
    /// The customer did not want it after all.
    package var isCancelled = false

    package init() {}
}
