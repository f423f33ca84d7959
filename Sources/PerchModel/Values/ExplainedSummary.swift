public import PerchBase

/// A change that time alone brings, for people.
public struct ExpectedChange: Hashable, Sendable {
    /// When it changes, by the app's clock.
    public var at: Instant
    /// What changes, without its instant and without a full stop.
    public var message: String
    /// Unspecified for the end of a grant.
    public var kind: ForecastKind
    /// The first transaction of the line; 0 for the end of a grant.
    public var originalTransactionID: TransactionID
    /// The grant that ends; empty for a line.
    public var grant: String

    /// Creates a value from its parts.
    public init(
        at: Instant, message: String, kind: ForecastKind, originalTransactionID: TransactionID = 0, grant: String = ""
    ) {
        self.at = at
        self.message = message
        self.kind = kind
        self.originalTransactionID = originalTransactionID
        self.grant = grant
    }
}

/// An entitlement that an administrator granted, with who did and why.
public struct ExplainedGrant: Hashable, Sendable {
    /// The entitlement.
    public var name: String
    /// Subject of the credentials that granted it; empty where it is not known, or not shown to the caller.
    public var grantedBy: String
    /// As it was given; empty where it is not shown to the caller.
    public var reason: String
    /// When it was granted.
    public var since: Instant
    /// Nil: it has no end.
    public var until: Instant?
    /// What the app calls this kind of the entitlement; empty for none.
    public var tier: String
    /// When, by whom and why, for people.
    public var message: String

    /// Creates a value from its parts.
    public init(
        name: String, grantedBy: String, reason: String, since: Instant, until: Instant?, tier: String, message: String
    ) {
        self.name = name
        self.grantedBy = grantedBy
        self.reason = reason
        self.since = since
        self.until = until
        self.tier = tier
        self.message = message
    }
}

/// What kind of thing happened to an account.
public struct HistoryKind: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "purchase", "renewal", "failure", "end", "refund", "setting", "extension", "price", "grant",
        "move", "sharing",
    ]
    /// Something was bought, or a purchase waited.
    public static let purchase = Self(rawValue: 1)
    /// A subscription renewed.
    public static let renewal = Self(rawValue: 2)
    /// A charge failed.
    public static let failure = Self(rawValue: 3)
    /// Access, a subscription or a grant ended.
    public static let end = Self(rawValue: 4)
    /// A refund, asked for, made, declined or taken back.
    public static let refund = Self(rawValue: 5)
    /// The customer or a tester changed how things go on.
    public static let setting = Self(rawValue: 6)
    /// A period was made longer.
    public static let `extension` = Self(rawValue: 7)
    /// A higher price, and the answer to it.
    public static let price = Self(rawValue: 8)
    /// An administrator's grant.
    public static let grant = Self(rawValue: 9)
    /// A purchase went from one account to another.
    public static let move = Self(rawValue: 10)
    /// Sharing within a family.
    public static let sharing = Self(rawValue: 11)
}

/// Something that happened to an account, for people. What comes later changes nothing of it.
public struct HistoryEntry: Hashable, Sendable {
    /// When, by the app's clock.
    public var at: Instant
    /// What happened and who did it, without its instant and without a full stop.
    public var message: String
    /// For programs.
    public var kind: HistoryKind
    /// The purchase or period that it is about; 0 for none.
    public var transactionID: TransactionID
    /// Subject of the credentials that did it; empty where it is not known, or not shown to the caller.
    public var by: String
    /// The key of the other account of a move or a sharing; empty for none.
    public var account: String

    /// Creates a value from its parts.
    public init(
        at: Instant, message: String, kind: HistoryKind, transactionID: TransactionID = 0, by: String = "",
        account: String = ""
    ) {
        self.at = at
        self.message = message
        self.kind = kind
        self.transactionID = transactionID
        self.by = by
        self.account = account
    }
}

/// An event that an answer may suppose.
public struct SupposedEvent: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number in the contract.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "chargeFails", "refund", "planChange", "priceAgreed", "priceNotAgreed", "cancelled",
    ]
    /// The next charge fails. It is tried now.
    public static let chargeFails = Self(rawValue: 1)
    /// The purchase, or the present period, is refunded now.
    public static let refund = Self(rawValue: 2)
    /// The customer changes the plan to a product now.
    public static let planChange = Self(rawValue: 3)
    /// The price rises, and the customer agrees.
    public static let priceAgreed = Self(rawValue: 4)
    /// The price rises, and the customer does not agree.
    public static let priceNotAgreed = Self(rawValue: 5)
    /// The customer switches renewal off now.
    public static let cancelled = Self(rawValue: 6)
}

/// An event that has not happened.
public struct Supposition: Hashable, Sendable {
    /// The event.
    public var event: SupposedEvent
    /// Of a change of plan: the product that the customer changes to; empty for other events.
    public var productID: String
    /// The first transaction of the subscription, or the purchase; 0: the one that counts.
    public var originalTransactionID: TransactionID
    /// The new price in thousandths of the currency's unit; 0: a tenth more.
    public var priceMilliunits: Int64

    /// Creates a value from its parts.
    public init(
        event: SupposedEvent, productID: String = "", originalTransactionID: TransactionID = 0,
        priceMilliunits: Int64 = 0
    ) {
        self.event = event
        self.productID = productID
        self.originalTransactionID = originalTransactionID
        self.priceMilliunits = priceMilliunits
    }
}

/// What would be after an event that has not happened.
public struct SupposedOutcome: Hashable, Sendable {
    /// What the account would have, in sentences that can be read to the customer.
    public var summary: String
    /// Whether the account would be entitled.
    public var isEntitled: Bool
    /// The next changes that time alone would bring, soonest first.
    public var changes: [ExpectedChange]

    /// Creates a value from its parts.
    public init(summary: String, isEntitled: Bool, changes: [ExpectedChange]) {
        self.summary = summary
        self.isEntitled = isEntitled
        self.changes = changes
    }
}
