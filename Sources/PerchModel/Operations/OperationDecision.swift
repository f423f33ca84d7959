/// The account of an operation, and the other data given to the decision.
package struct OperationSubject: Sendable {
    package var record: AccountRecord
    /// Rows that the decision asked for; nil the first time.
    package var rows: [Transaction]?
    /// The other account of the operation: the family member it names, opened if it did not exist.
    package var member: AccountRecord?
    /// The rows found for each need; empty if there are none.
    package var answers: [RowNeed: [Transaction]]
    /// How often codes were redeemed, by all accounts together, as far as the decision asked.
    package var redemptions: [OfferCodeName: UInt64]

    package init(
        record: AccountRecord, rows: [Transaction]? = nil, member: AccountRecord? = nil,
        answers: [RowNeed: [Transaction]] = [:], redemptions: [OfferCodeName: UInt64] = [:]
    ) {
        self.record = record
        self.rows = rows
        self.member = member
        self.answers = answers
        self.redemptions = redemptions
    }

    /// The rows of a need, or a request to fetch them.
    func rows(_ need: RowNeed) -> Found<[Transaction]> {
        self.answers[need].map { .found($0) } ?? .needs(need)
    }

    /// The newest row of a kind, or a request to fetch it.
    func newest(_ kind: RowKind) -> Found<Transaction?> {
        self.answers[.newest(kind)].map { .found($0.first) } ?? .needs(.newest(kind))
    }
}

/// The result of a lookup: found, or still to be fetched.
enum Found<Value> {
    case needs(RowNeed)
    case found(Value)
}

/// A code of an offer, as the store counts its redemptions.
package struct OfferCodeName: Hashable, Sendable {
    package var productID: String
    package var code: String

    package init(productID: String, code: String) {
        self.productID = productID
        self.code = code
    }
}

/// Rows of the account that a decision needs to see.
package enum RowNeed: Hashable, Sendable {
    case transaction(TransactionID)
    /// The newest ones of a product, at most `Limits.pageSizeMax`.
    case product(String)
    /// The newest ones of any product, at most `Limits.pageSizeMax`.
    case all
    /// The newest one of a kind, however many rows the account has.
    case newest(RowKind)
    /// No row, but how often a code was redeemed, by all accounts together.
    case redemptions(OfferCodeName)
}

/// A kind of row. Nil and false fields match any row.
package struct RowKind: Hashable, Sendable {
    package var productID: String?
    package var originalID: TransactionID?
    package var groupID: String?
    package var ownership: OwnershipType?
    package var offerType: OfferType?
    package var reason: TransactionReason?
    /// Excludes transactions that an upgrade left behind.
    package var isCurrent = false
    /// Excludes refunded and revoked transactions.
    package var isKept = false
    /// Leaves out this one.
    package var except: TransactionID?

    package init() {}

    package func includes(_ row: Transaction) -> Bool {
        if let productID = self.productID, row.productID != productID { return false }
        if let originalID = self.originalID, row.originalID != originalID { return false }
        if let groupID = self.groupID, row.subscriptionGroupID != groupID { return false }
        if let ownership = self.ownership, row.ownership != ownership { return false }
        if let offerType = self.offerType, row.offer?.type != offerType { return false }
        if let reason = self.reason, row.reason != reason { return false }
        if self.isCurrent, row.isUpgraded { return false }
        if self.isKept, row.revocation != nil { return false }
        return row.id != self.except
    }
}

/// The result of an operation. Refusals are thrown.
package enum OperationDecision: Hashable, Sendable {
    /// Decide again with these rows.
    case needs(RowNeed)
    case done(OperationOutcome)
}

/// Facts, and the answer to the caller.
package struct OperationOutcome: Hashable, Sendable {
    package var facts: [Fact] = []
    /// Facts of the other account.
    package var memberFacts: [Fact] = []
    /// The transaction that the operation made or changed.
    package var transaction: Transaction?
    /// The transaction was held before.
    package var wasHeld = false
    /// The ID of a pending purchase or an intent.
    package var number: UInt64?
    /// The customer cancelled the purchase.
    package var isCancelled = false

    package init() {}

    init(_ facts: [Fact], transaction: Transaction? = nil, wasHeld: Bool = false) {
        self.facts = facts
        self.transaction = transaction
        self.wasHeld = wasHeld
    }
}
