public import PerchBase

/// The target of an operation: a transaction, or the account's holding of a product.
public enum OperationTarget: Hashable, Sendable {
    /// Any transaction of a subscription line stands for the line. So does the line's original ID, even after that
    /// transaction was deleted.
    case transaction(TransactionID)
    /// For a subscription: the account's own line that now holds the product. Otherwise: the account's newest own
    /// transaction of the product.
    case product(String)
}

/// The share of a price that is refunded.
public enum RefundShare: Hashable, Sendable {
    case full
    /// The unused part of the period, to the thousandth of a per cent.
    case prorated
    /// Thousandths of a per cent: 50000 is half.
    case part(milliPercent: UInt32)
}

/// One operation of a test store on one account: the operations of Xcode's transaction manager and of `SKTestSession`.
///
/// Only `decide(_:on:…)` decides it. The wire, the command line, scenarios and model checks share this type. Each case
/// is one reference in size: an order is one itself, all other payloads are indirect.
public enum StoreOperation: Hashable, Sendable {
    /// A purchase outside the app: every listener of the account's transactions receives it.
    case buy(PurchaseOrder)
    indirect case refund(OperationTarget, reason: RevocationReason, share: RefundShare)
    indirect case reverseRefund(OperationTarget)
    /// The store declines a refund. Nothing changes.
    indirect case declineRefund(OperationTarget)
    /// The store asks for consumption data. Nothing changes.
    indirect case requestConsumption(OperationTarget)
    /// Ends the period now and renews.
    indirect case renew(OperationTarget)
    /// Ends the period now, for good.
    indirect case expire(OperationTarget)
    /// Switching off in a grace or retry period ends the subscription.
    indirect case setAutoRenew(OperationTarget, isOn: Bool)
    /// The customer's payment works again: lines in grace or retry renew.
    indirect case resolveBilling(OperationTarget)
    /// Whether this account's charges fail; nil: the app's setting decides.
    indirect case setCharges(fail: Bool?)
    /// `needsConsent` nil: the store's rule for this increase decides.
    indirect case raisePrice(OperationTarget, milliunits: Int64, needsConsent: Bool?)
    indirect case answerPriceIncrease(OperationTarget, agrees: Bool)
    /// The end of the period moves later.
    indirect case extendRenewal(OperationTarget, milliseconds: Int64)
    /// A member of the family gets what the account owns.
    indirect case share(OperationTarget, member: String)
    /// Nil target: all shared products; nil member: all members.
    indirect case stopSharing(OperationTarget?, member: String?)
    /// Ends the wait of a purchase: ask to buy, interrupted, or an open dialog.
    indirect case decidePurchase(id: UInt64, approves: Bool)
    indirect case deleteTransaction(TransactionID)
    case clearTransactions
    /// A customer begins a purchase outside the app; nothing is bought.
    indirect case createIntent(productID: String, offer: OrderedOffer?)
    indirect case endIntent(id: UInt64)
    /// The account's own storefront, alpha-3; empty for the app's.
    indirect case setStorefront(String)
    /// A store message without a cause in the account.
    case postMessage
    /// Whether the account may make payments at all, as Screen Time decides it.
    indirect case setPayments(isAllowed: Bool)
    /// The record of the account's first use of the app.
    indirect case setAppTransaction(AppTransactionTerms)
}

/// The offer that a purchase asks for. Introductory offers apply automatically.
public struct OrderedOffer: Hashable, Sendable {
    /// The kind.
    public var type: OfferType
    /// Of a code: the offer's reference name, or one of its codes.
    public var id: String
    /// The developer's signature; empty for none.
    public var signature: String

    /// Creates a value from its parts.
    public init(type: OfferType, id: String, signature: String = "") {
        self.type = type
        self.id = id
        self.signature = signature
    }
}

/// Whether a purchase may have the introductory offer, regardless of the account's history.
public struct IntroductoryEligibility: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["byHistory", "allowed", "denied"]
    /// The history of the account decides.
    public static let byHistory = Self(rawValue: 0)
    /// Allowed.
    public static let allowed = Self(rawValue: 1)
    /// Denied.
    public static let denied = Self(rawValue: 2)
}

/// Renewals that follow a purchase in the past.
public struct RenewalBehaviour: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "renewUntilNow", "cancelImmediately"]
    /// Every renewal due since then is made.
    public static let renewUntilNow = Self(rawValue: 1)
    /// Renewal is off from the start.
    public static let cancelImmediately = Self(rawValue: 2)
}

/// A customer's order of a product, with its options.
///
/// A value behind one reference, because an order has six texts and passes from its frame through call, mutation and
/// decision.
public struct PurchaseOrder: Hashable, Sendable {
    private var contents: Contents

    /// What to buy.
    public var productID: String {
        get { self.contents.fields.productID }
        set { self.change { $0.productID = newValue } }
    }
    /// Quantity, for consumables; 0 means 1.
    public var quantity: UInt32 {
        get { self.contents.fields.quantity }
        set { self.change { $0.quantity = newValue } }
    }
    /// Lower case; empty for none.
    public var appAccountToken: String {
        get { self.contents.fields.accountToken.text }
        set { self.change { $0.accountToken = WrittenAccountToken(newValue) } }
    }
    package var accountToken: WrittenAccountToken { self.contents.fields.accountToken }
    /// An offer to buy with; nil for none. Products other than subscriptions have offers of codes only.
    public var offer: OrderedOffer? {
        get { self.contents.fields.offer }
        set { self.change { $0.offer = newValue } }
    }
    /// Overrides the account's eligibility for the introductory offer.
    public var introductoryEligibility: IntroductoryEligibility {
        get { self.contents.fields.introductoryEligibility }
        set { self.change { $0.introductoryEligibility = newValue } }
    }
    /// The developer's signature of that; empty for none.
    public var introductoryEligibilitySignature: String {
        get { self.contents.fields.introductoryEligibilitySignature }
        set { self.change { $0.introductoryEligibilitySignature = newValue } }
    }
    /// The billing plan, if the product has several.
    public var billingPlan: BillingPlanType {
        get { self.contents.fields.billingPlan }
        set { self.change { $0.billingPlan = newValue } }
    }
    /// The instant of a purchase in the past; nil: now. Test stores only.
    public var date: Instant? {
        get { self.contents.fields.date }
        set { self.change { $0.date = newValue } }
    }
    /// The renewals that follow a purchase in the past.
    public var renewalBehaviour: RenewalBehaviour {
        get { self.contents.fields.renewalBehaviour }
        set { self.change { $0.renewalBehaviour = newValue } }
    }
    /// Waits for approval, whatever the app's setting is.
    public var simulatesAskToBuy: Bool {
        get { self.contents.fields.simulatesAskToBuy }
        set { self.change { $0.simulatesAskToBuy = newValue } }
    }
    /// The storefront that the app showed to the customer; empty: not checked.
    public var seenStorefront: String {
        get { self.contents.fields.seenStorefront }
        set { self.change { $0.seenStorefront = newValue } }
    }
    /// Whether the app itself orders, so that the system's dialogs ask its customer. No part of the contract.
    package var isByApp: Bool {
        get { self.contents.fields.isByApp }
        set { self.change { $0.isByApp = newValue } }
    }
    /// Whether to buy even if the storefront has changed.
    public var continuesInNewStorefront: Bool {
        get { self.contents.fields.continuesInNewStorefront }
        set { self.change { $0.continuesInNewStorefront = newValue } }
    }

    /// Creates a value from its parts.
    public init(
        productID: String, quantity: UInt32 = 1, appAccountToken: String = "", offer: OrderedOffer? = nil,
        introductoryEligibility: IntroductoryEligibility = .byHistory
    ) {
        self.contents = Contents(
            PurchaseOrderFields(
                productID: productID, quantity: quantity, accountToken: WrittenAccountToken(appAccountToken),
                offer: offer,
                introductoryEligibility: introductoryEligibility))
    }

    /// An order without an offer, for now.
    package init(productID: String, quantity: UInt32, accountToken: WrittenAccountToken) {
        self.contents = Contents(
            PurchaseOrderFields(
                productID: productID, quantity: quantity, accountToken: accountToken,
                introductoryEligibility: .byHistory))
    }

    /// Changes several fields with one copy; changing them one by one would copy the contents each time.
    package mutating func change<Failure: Error>(
        _ body: (inout PurchaseOrderFields) throws(Failure) -> Void
    ) throws(Failure) {
        var fields = self.contents.fields
        try body(&fields)
        self.contents = Contents(consume fields)
    }

    /// The immutable contents of an order, shared by its copies on all threads.
    private final class Contents: Sendable {
        let fields: PurchaseOrderFields

        init(_ fields: consuming PurchaseOrderFields) { self.fields = fields }
    }

    /// Whether both are equal.
    public static func == (left: PurchaseOrder, right: PurchaseOrder) -> Bool {
        left.contents === right.contents || left.contents.fields == right.contents.fields
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.contents.fields) }
}

extension PurchaseOrder: CustomReflectable {
    /// Shows the fields, without the storage behind them.
    public var customMirror: Mirror { Mirror(reflecting: self.contents.fields) }
}

/// The fields of a `PurchaseOrder`, which documents them.
package struct PurchaseOrderFields: Hashable, Sendable {
    package var productID: String
    package var quantity: UInt32
    package var accountToken: WrittenAccountToken
    package var offer: OrderedOffer?
    package var introductoryEligibility: IntroductoryEligibility
    package var introductoryEligibilitySignature = ""
    package var billingPlan: BillingPlanType = .unspecified
    package var date: Instant?
    package var renewalBehaviour: RenewalBehaviour = .unspecified
    package var simulatesAskToBuy = false
    package var seenStorefront = ""
    package var continuesInNewStorefront = false
    package var isByApp = false
}
