/// A field of a transaction on which a decision rests.
public struct ExplainedFact: Hashable, Sendable {
    /// The transaction.
    public var transactionID: TransactionID
    /// The field's name in the contract, such as `expiration_date_ms`.
    public var field: String
    /// For people.
    public var value: String

    /// Creates a value from its parts.
    public init(transactionID: TransactionID, field: String, value: String) {
        self.transactionID = transactionID
        self.field = field
        self.value = value
    }
}

/// Why one line or owned product is in its state.
public struct Explanation: Hashable, Sendable {
    /// For programs: one word.
    public var rule: String
    /// The rule and its facts, as a sentence.
    public var message: String
    /// The first transaction of the line; nil without a line.
    public var originalTransactionID: TransactionID?
    /// Unspecified without a line.
    public var state: RenewalState
    /// Whether this one entitles.
    public var isEntitled: Bool
    /// What decided.
    public var facts: [ExplainedFact]
    /// The next change that happens automatically; nil for none.
    public var nextChange: Forecast?
    /// That, for people.
    public var nextMessage: String

    /// Creates a value from its parts.
    public init(
        rule: String, message: String, originalTransactionID: TransactionID? = nil, state: RenewalState = .unspecified,
        isEntitled: Bool = false, facts: [ExplainedFact] = [], nextChange: Forecast? = nil, nextMessage: String = ""
    ) {
        self.rule = rule
        self.message = message
        self.originalTransactionID = originalTransactionID
        self.state = state
        self.isEntitled = isEntitled
        self.facts = facts
        self.nextChange = nextChange
        self.nextMessage = nextMessage
    }
}

/// Why an account is entitled, or not.
public struct Explanations: Hashable, Sendable {
    /// The answer in one sentence.
    public var message: String
    /// Whether the account is entitled.
    public var isEntitled: Bool
    /// One for each grant, line or transaction considered; the one that counts is first.
    public var explanations: [Explanation]
    /// What the account has, in sentences that can be read to the customer.
    public var summary: String
    /// The next changes that time alone brings, soonest first.
    public var changes: [ExpectedChange]
    /// What administrators granted. Only of a question about everything.
    public var grants: [ExplainedGrant]
    /// What would be after a supposed event; nil without one.
    public var supposed: SupposedOutcome?
    /// What happened, newest first, where it was asked for.
    public var history: [HistoryEntry]
    /// Older entries of the history were left out.
    public var historyIsCut: Bool

    /// Creates a value from its parts.
    public init(
        message: String, isEntitled: Bool, explanations: [Explanation], summary: String = "",
        changes: [ExpectedChange] = [], grants: [ExplainedGrant] = [], supposed: SupposedOutcome? = nil,
        history: [HistoryEntry] = [], historyIsCut: Bool = false
    ) {
        self.message = message
        self.isEntitled = isEntitled
        self.explanations = explanations
        self.summary = summary
        self.changes = changes
        self.grants = grants
        self.supposed = supposed
        self.history = history
        self.historyIsCut = historyIsCut
    }
}
