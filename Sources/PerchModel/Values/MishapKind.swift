/// What goes wrong on purpose where a test store is the App Store of other backends.
public struct MishapKind: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// The names of the contract.
    public static let names = [
        "unspecified", "lose", "delay", "double", "reorder", "rateLimit", "error", "unavailable",
    ]
    /// A notification is never sent.
    public static let lose = Self(rawValue: 1)
    /// A notification is sent later.
    public static let delay = Self(rawValue: 2)
    /// A notification is sent twice.
    public static let double = Self(rawValue: 3)
    /// Notifications are sent in the reverse order.
    public static let reorder = Self(rawValue: 4)
    /// A request is answered 429.
    public static let rateLimit = Self(rawValue: 5)
    /// A request is answered 500.
    public static let error = Self(rawValue: 6)
    /// A request is answered 503.
    public static let unavailable = Self(rawValue: 7)

    /// Whether it concerns requests; otherwise notifications.
    package var isOfRequests: Bool { [.rateLimit, .error, .unavailable].contains(self) }
}
