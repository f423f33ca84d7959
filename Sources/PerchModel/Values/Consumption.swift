/// What an app delivered of a purchase whose customer wants a refund.
public struct ConsumptionDelivery: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number in the contract.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "delivered", "qualityIssue", "wrongItem", "serverOutage", "other",
    ]
    /// It works.
    public static let delivered = Self(rawValue: 1)
    /// Not delivered: it was of bad quality.
    public static let qualityIssue = Self(rawValue: 2)
    /// Not delivered: it was something else.
    public static let wrongItem = Self(rawValue: 3)
    /// Not delivered: the app's server was out of order.
    public static let serverOutage = Self(rawValue: 4)
    /// Not delivered for another reason.
    public static let other = Self(rawValue: 5)
}

/// What an app would decide about a refund.
public struct RefundPreference: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number in the contract.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "decline", "grantFull", "grantProrated"]
    /// No refund.
    public static let decline = Self(rawValue: 1)
    /// All of it.
    public static let grantFull = Self(rawValue: 2)
    /// What was not consumed.
    public static let grantProrated = Self(rawValue: 3)
}

/// What became of a question of the App Store about a purchase.
public struct ConsumptionState: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number in the contract.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "open", "answered", "sent", "refused"]
    /// It waits for an answer.
    public static let open = Self(rawValue: 1)
    /// It is answered, and the App Store does not have the answer yet.
    public static let answered = Self(rawValue: 2)
    /// The App Store took the answer.
    public static let sent = Self(rawValue: 3)
    /// The App Store refused the answer.
    public static let refused = Self(rawValue: 4)
}

/// An app's answer to a question of the App Store about a purchase whose customer wants a refund.
public struct ConsumptionAnswer: Hashable, Sendable {
    /// The customer agrees that the App Store gets these data. Without it the App Store takes no answer.
    public var hasConsent: Bool
    /// There was a free sample, or a trial.
    public var hasSample: Bool
    /// What was delivered.
    public var delivery: ConsumptionDelivery
    /// How much was consumed, in thousandths of a per cent.
    public var consumedMilli: UInt32
    /// What the app would decide.
    public var preference: RefundPreference

    /// Creates an answer from its parts.
    public init(
        hasConsent: Bool, hasSample: Bool = false, delivery: ConsumptionDelivery, consumedMilli: UInt32 = 0,
        preference: RefundPreference = .unspecified
    ) {
        self.hasConsent = hasConsent
        self.hasSample = hasSample
        self.delivery = delivery
        self.consumedMilli = consumedMilli
        self.preference = preference
    }
}
