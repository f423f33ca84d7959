public import PerchBase

/// What a purchase waits for.
public struct PendingReason: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "askToBuy", "interrupted", "dialog"]
    /// Somebody else's approval.
    public static let askToBuy = Self(rawValue: 1)
    /// An issue that the customer has to resolve.
    public static let interrupted = Self(rawValue: 2)
    /// The customer's own decision.
    public static let dialog = Self(rawValue: 3)
}

/// A purchase that waits for approval. If approved, its transaction arrives as an event; if declined, no event follows.
public struct PendingPurchase: Hashable, Sendable {
    /// Unique in the store, from the same sequence as transaction IDs.
    public var id: UInt64
    /// For what it waits.
    public var reason: PendingReason
    /// The order.
    public var order: PurchaseOrder
    /// Instant of its creation.
    public var since: Instant

    /// Creates a value from its parts.
    public init(id: UInt64, reason: PendingReason, order: PurchaseOrder, since: Instant) {
        self.id = id
        self.reason = reason
        self.order = order
        self.since = since
    }
}

/// A purchase that a customer began outside the app. Nothing is bought until the app buys it.
public struct PurchaseIntent: Hashable, Sendable {
    /// Unique in the store, from the same sequence as transaction IDs.
    public var id: UInt64
    /// The product.
    public var productID: String
    /// With an offer; nil for none.
    public var offer: OrderedOffer?
    /// Instant of its creation.
    public var since: Instant

    /// Creates a value from its parts.
    public init(id: UInt64, productID: String, offer: OrderedOffer?, since: Instant) {
        self.id = id
        self.productID = productID
        self.offer = offer
        self.since = since
    }
}

/// Why the store has a message for a customer.
public struct MessageReason: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "billingIssue", "priceIncreaseConsent", "generic", "winBackOffer"]
    /// A charge failed. Repeated while the store retries.
    public static let billingIssue = Self(rawValue: 1)
    /// A price increase waits for an answer.
    public static let priceIncreaseConsent = Self(rawValue: 2)
    /// Something else.
    public static let generic = Self(rawValue: 3)
    /// A win-back offer is available.
    public static let winBackOffer = Self(rawValue: 4)
}

/// A message of the store that a customer sees once, while it is valid.
///
/// Equal messages are one message: a reminder of the same issue has a later `since`.
public struct StoreMessage: Hashable, Sendable {
    /// Why.
    public var reason: MessageReason
    /// Instant from which the message is shown.
    public var since: Instant
    /// The line it is about; nil for none.
    public var originalTransactionID: TransactionID?
    /// Empty for none.
    public var productID: String
    /// Of a win-back offer; otherwise empty.
    public var offerID: String
    /// Of a price increase: the new price of a period.
    public var price: Money?

    /// Creates a value from its parts.
    public init(
        reason: MessageReason, since: Instant, originalTransactionID: TransactionID? = nil, productID: String = "",
        offerID: String = "", price: Money? = nil
    ) {
        self.reason = reason
        self.since = since
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.offerID = offerID
        self.price = price
    }
}
