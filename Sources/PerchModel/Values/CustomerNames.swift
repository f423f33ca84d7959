public import PerchBase

/// A kind of name by which customers are found.
public struct CustomerNameKind: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number in the contract.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "account", "alias", "emailHash", "transaction", "originalTransaction", "order",
        "appAccountToken", "appTransaction",
    ]
    /// The caller's key of the account.
    public static let account = Self(rawValue: 1)
    /// Another key that leads to the account.
    public static let alias = Self(rawValue: 2)
    /// The SHA-256 of an e-mail address.
    public static let emailHash = Self(rawValue: 3)
    /// A transaction.
    public static let transaction = Self(rawValue: 4)
    /// The first transaction of a subscription, or a purchase.
    public static let originalTransaction = Self(rawValue: 5)
    /// The order of a purchase or of a renewal.
    public static let order = Self(rawValue: 6)
    /// The app's own UUID for its customer.
    public static let appAccountToken = Self(rawValue: 7)
    /// Apple's number of the customer in an app.
    public static let appTransaction = Self(rawValue: 8)
}

/// A note beside a customer.
public struct CustomerNote: Hashable, Sendable {
    /// Unique in the store.
    public var id: UInt64
    /// By the wall clock.
    public var at: Instant
    /// Subject of the credentials that wrote it.
    public var author: String
    /// The text.
    public var text: String

    /// Creates a value from its parts.
    public init(id: UInt64, at: Instant, author: String, text: String) {
        self.id = id
        self.at = at
        self.author = author
        self.text = text
    }
}
