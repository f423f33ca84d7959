public import PerchBase

/// A notification of the App Store that was about an account, for readers of an app's changes. Nothing of it is folded.
public struct NotificationNotice: Hashable, Sendable {
    /// Apple's type, such as `DID_RENEW`; types of newer versions too.
    public var type: String
    /// Apple's subtype; empty for none.
    public var subtype: String
    /// The same in each retry.
    public var uuid: String
    /// When the App Store signed it.
    public var signed: Instant
    /// The transaction inside; 0 for none.
    public var transactionID: TransactionID

    /// Creates a value from its parts.
    public init(type: String, subtype: String, uuid: String, signed: Instant, transactionID: TransactionID) {
        self.type = type
        self.subtype = subtype
        self.uuid = uuid
        self.signed = signed
        self.transactionID = transactionID
    }
}

/// The App Store asks the app about a purchase that its customer wants refunded.
public struct ConsumptionRequest: Hashable, Sendable {
    /// The purchase.
    public var transactionID: TransactionID
    /// Apple's word for the customer's reason; empty where Apple gave none.
    public var reason: String
    /// Until when Apple takes an answer.
    public var deadline: Instant

    /// Creates a value from its parts.
    public init(transactionID: TransactionID, reason: String, deadline: Instant) {
        self.transactionID = transactionID
        self.reason = reason
        self.deadline = deadline
    }
}
