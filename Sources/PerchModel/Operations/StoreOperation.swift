public import PerchBase

/// What an operation is about: a transaction, or what the account holds of a product.
public enum OperationTarget: Hashable, Sendable {
    /// Any transaction of a subscription line stands for the line, and so does its original number, even if the
    /// transaction of that number was deleted.
    case transaction(TransactionID)
    /// A subscription: the account's own line that holds the product now. Anything else: the account's newest own
    /// transaction of the product.
    case product(String)
}

/// How much of a price is given back.
public enum RefundShare: Hashable, Sendable {
    case full
    /// The unused part of the period, to the thousandth of a per cent.
    case prorated
    /// Thousandths of a per cent: 50000 is half.
    case part(milliPercent: UInt32)
}

/// One operation of a test store on one account: what a transaction manager and an `SKTestSession` do.
///
/// Decided by `decide(_:on:…)` alone: the wire, the command line, scenarios and the model's own checks all speak this.
public indirect enum StoreOperation: Hashable, Sendable {
    /// A purchase outside the app: every listener of the account's transactions hears of it.
    case buy(PurchaseOrder)
    case refund(OperationTarget, reason: RevocationReason, share: RefundShare)
    case reverseRefund(OperationTarget)
    /// The store says no to a refund. Nothing changes.
    case declineRefund(OperationTarget)
    /// The store asks how a purchase was used. Nothing changes.
    case requestConsumption(OperationTarget)
    /// Ends the period now and renews.
    case renew(OperationTarget)
    /// Ends the period now, for good.
    case expire(OperationTarget)
    /// Off in a grace or retry period ends the subscription.
    case setAutoRenew(OperationTarget, isOn: Bool)
    /// The customer's means of payment works again: what is in grace or retry renews.
    case resolveBilling(OperationTarget)
    /// Whether this account's charges fail; nil: as the app's setting says.
    case setCharges(fail: Bool?)
    /// `needsConsent` nil: as the rule of section 13 says for this increase.
    case raisePrice(OperationTarget, milliunits: Int64, needsConsent: Bool?)
    case answerPriceIncrease(OperationTarget, agrees: Bool)
    /// The end of the period moves later.
    case extendRenewal(OperationTarget, milliseconds: Int64)
    /// A member of the family gets what the account owns.
    case share(OperationTarget, member: String)
    /// Nil target: all that is shared; nil member: with everybody.
    case stopSharing(OperationTarget?, member: String?)
    /// Ends the wait of a purchase: asked to buy, interrupted, or in front of a dialog.
    case decidePurchase(id: UInt64, approves: Bool)
    case deleteTransaction(TransactionID)
    case clearTransactions
    /// A customer begins a purchase outside the app; nothing is bought.
    case createIntent(productID: String, offer: OrderedOffer?)
    case endIntent(id: UInt64)
    /// The account's own storefront, alpha-3; empty for the app's.
    case setStorefront(String)
    /// A message of the store without a reason of its own.
    case postMessage
}

/// The offer that a purchase asks for. Introductory offers apply by themselves.
public struct OrderedOffer: Hashable, Sendable {
    public var type: OfferType
    /// A code is known by its reference name.
    public var id: String
    /// The developer's signature; empty for none.
    public var signature: String

    public init(type: OfferType, id: String, signature: String = "") {
        self.type = type
        self.id = id
        self.signature = signature
    }
}

/// Whether a purchase may have the introductory offer, whatever the account's history.
public struct IntroductoryEligibility: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["byHistory", "allowed", "denied"]
    public static let byHistory = Self(rawValue: 0)
    public static let allowed = Self(rawValue: 1)
    public static let denied = Self(rawValue: 2)
}

/// What a purchase in the past is followed by.
public struct RenewalBehaviour: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "renewUntilNow", "cancelImmediately"]
    /// Every renewal that would have been made since then is.
    public static let renewUntilNow = Self(rawValue: 1)
    /// Renewal is off from the start.
    public static let cancelImmediately = Self(rawValue: 2)
}

/// What a customer wants to buy, and how.
public struct PurchaseOrder: Hashable, Sendable {
    public var productID: String
    public var quantity: UInt32
    /// Lower case; empty for none.
    public var appAccountToken: String
    public var offer: OrderedOffer?
    public var introductoryEligibility: IntroductoryEligibility = .byHistory
    /// The developer's signature of that; empty for none.
    public var introductoryEligibilitySignature = ""
    public var billingPlan: BillingPlanType = .unspecified
    /// Bought at an instant in the past; nil: now. Test stores only.
    public var date: Instant?
    public var renewalBehaviour: RenewalBehaviour = .unspecified
    /// Waits for approval, whatever the app's setting.
    public var simulatesAskToBuy = false
    /// The storefront that the customer was shown; empty: not checked.
    public var seenStorefront = ""
    /// Whether to buy although the storefront is another one by now.
    public var continuesInNewStorefront = false

    /// Inlinable: it is made where it is kept, not copied there.
    @inlinable
    public init(productID: String, quantity: UInt32 = 1, appAccountToken: String = "", offer: OrderedOffer? = nil) {
        self.productID = productID
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        self.offer = offer
    }
}
