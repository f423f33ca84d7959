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
/// Decided by `decide(_:on:…)` alone: the wire, the command line, scenarios and the model's own checks all speak this. One
/// reference: an order is one, and all else is behind one.
public enum StoreOperation: Hashable, Sendable {
    /// A purchase outside the app: every listener of the account's transactions hears of it.
    case buy(PurchaseOrder)
    indirect case refund(OperationTarget, reason: RevocationReason, share: RefundShare)
    indirect case reverseRefund(OperationTarget)
    /// The store says no to a refund. Nothing changes.
    indirect case declineRefund(OperationTarget)
    /// The store asks how a purchase was used. Nothing changes.
    indirect case requestConsumption(OperationTarget)
    /// Ends the period now and renews.
    indirect case renew(OperationTarget)
    /// Ends the period now, for good.
    indirect case expire(OperationTarget)
    /// Off in a grace or retry period ends the subscription.
    indirect case setAutoRenew(OperationTarget, isOn: Bool)
    /// The customer's means of payment works again: what is in grace or retry renews.
    indirect case resolveBilling(OperationTarget)
    /// Whether this account's charges fail; nil: as the app's setting says.
    indirect case setCharges(fail: Bool?)
    /// `needsConsent` nil: as the rule of section 13 says for this increase.
    indirect case raisePrice(OperationTarget, milliunits: Int64, needsConsent: Bool?)
    indirect case answerPriceIncrease(OperationTarget, agrees: Bool)
    /// The end of the period moves later.
    indirect case extendRenewal(OperationTarget, milliseconds: Int64)
    /// A member of the family gets what the account owns.
    indirect case share(OperationTarget, member: String)
    /// Nil target: all that is shared; nil member: with everybody.
    indirect case stopSharing(OperationTarget?, member: String?)
    /// Ends the wait of a purchase: asked to buy, interrupted, or in front of a dialog.
    indirect case decidePurchase(id: UInt64, approves: Bool)
    indirect case deleteTransaction(TransactionID)
    case clearTransactions
    /// A customer begins a purchase outside the app; nothing is bought.
    indirect case createIntent(productID: String, offer: OrderedOffer?)
    indirect case endIntent(id: UInt64)
    /// The account's own storefront, alpha-3; empty for the app's.
    indirect case setStorefront(String)
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
///
/// A value behind one reference: an order is handed from its frame through call, mutation and decision, and has six texts.
public struct PurchaseOrder: Hashable, Sendable {
    private var contents: Contents

    public var productID: String {
        get { self.contents.fields.productID }
        set { self.change { $0.productID = newValue } }
    }
    public var quantity: UInt32 {
        get { self.contents.fields.quantity }
        set { self.change { $0.quantity = newValue } }
    }
    /// Lower case; empty for none.
    public var appAccountToken: String {
        get { self.contents.fields.appAccountToken }
        set { self.change { $0.appAccountToken = newValue } }
    }
    public var offer: OrderedOffer? {
        get { self.contents.fields.offer }
        set { self.change { $0.offer = newValue } }
    }
    public var introductoryEligibility: IntroductoryEligibility {
        get { self.contents.fields.introductoryEligibility }
        set { self.change { $0.introductoryEligibility = newValue } }
    }
    /// The developer's signature of that; empty for none.
    public var introductoryEligibilitySignature: String {
        get { self.contents.fields.introductoryEligibilitySignature }
        set { self.change { $0.introductoryEligibilitySignature = newValue } }
    }
    public var billingPlan: BillingPlanType {
        get { self.contents.fields.billingPlan }
        set { self.change { $0.billingPlan = newValue } }
    }
    /// Bought at an instant in the past; nil: now. Test stores only.
    public var date: Instant? {
        get { self.contents.fields.date }
        set { self.change { $0.date = newValue } }
    }
    public var renewalBehaviour: RenewalBehaviour {
        get { self.contents.fields.renewalBehaviour }
        set { self.change { $0.renewalBehaviour = newValue } }
    }
    /// Waits for approval, whatever the app's setting.
    public var simulatesAskToBuy: Bool {
        get { self.contents.fields.simulatesAskToBuy }
        set { self.change { $0.simulatesAskToBuy = newValue } }
    }
    /// The storefront that the customer was shown; empty: not checked.
    public var seenStorefront: String {
        get { self.contents.fields.seenStorefront }
        set { self.change { $0.seenStorefront = newValue } }
    }
    /// Whether to buy although the storefront is another one by now.
    public var continuesInNewStorefront: Bool {
        get { self.contents.fields.continuesInNewStorefront }
        set { self.change { $0.continuesInNewStorefront = newValue } }
    }

    public init(
        productID: String, quantity: UInt32 = 1, appAccountToken: String = "", offer: OrderedOffer? = nil,
        introductoryEligibility: IntroductoryEligibility = .byHistory
    ) {
        self.contents = Contents(
            PurchaseOrderFields(
                productID: productID, quantity: quantity, appAccountToken: appAccountToken, offer: offer,
                introductoryEligibility: introductoryEligibility))
    }

    /// Changes several fields at the cost of one: each change of one makes the contents anew.
    package mutating func change<Failure: Error>(
        _ body: (inout PurchaseOrderFields) throws(Failure) -> Void
    ) throws(Failure) {
        var fields = self.contents.fields
        try body(&fields)
        self.contents = Contents(consume fields)
    }

    /// What an order says, once and for all: shared by its copies, on all threads.
    private final class Contents: Sendable {
        let fields: PurchaseOrderFields

        init(_ fields: consuming PurchaseOrderFields) { self.fields = fields }
    }

    public static func == (left: PurchaseOrder, right: PurchaseOrder) -> Bool {
        left.contents === right.contents || left.contents.fields == right.contents.fields
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(self.contents.fields) }
}

extension PurchaseOrder: CustomReflectable {
    /// Shows the fields, not where they are kept.
    public var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
}

/// The fields of a `PurchaseOrder`, which says what they mean.
package struct PurchaseOrderFields: Hashable, Sendable {
    package var productID: String
    package var quantity: UInt32
    package var appAccountToken: String
    package var offer: OrderedOffer?
    package var introductoryEligibility: IntroductoryEligibility
    package var introductoryEligibilitySignature = ""
    package var billingPlan: BillingPlanType = .unspecified
    package var date: Instant?
    package var renewalBehaviour: RenewalBehaviour = .unspecified
    package var simulatesAskToBuy = false
    package var seenStorefront = ""
    package var continuesInNewStorefront = false
}
