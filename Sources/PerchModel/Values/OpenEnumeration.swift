/// An enumeration that can grow elsewhere: StoreKit adds cases, and newer peers send unknown numbers.
///
/// An unknown number is shown, stored and forwarded, and never mistaken for a known one. The numbers are those of
/// `proto/perch/v1`.
public protocol OpenEnumeration: BitwiseCopyable, Hashable, Sendable, CustomStringConvertible {
    /// Creates a value from its number, which this version need not know.
    init(rawValue: Int32)
    /// The number in the contract.
    var rawValue: Int32 { get }
    /// Names of the known values, by number; index 0 is "unspecified".
    static var names: [String] { get }
}

extension OpenEnumeration {
    /// The number 0: nothing is said.
    public static var unspecified: Self { Self(rawValue: 0) }

    /// True also for 0, which means unspecified.
    @inlinable
    package var isKnownOrUnspecified: Bool { self.rawValue == 0 || self.isKnown }

    /// True for the numbers this version has a name for.
    public var isKnown: Bool { self.rawValue > 0 && Int(self.rawValue) < Self.names.count }

    /// The name of the value, or `unknown(42)` for a number that this version does not know.
    public var description: String {
        Self.names.indices.contains(Int(self.rawValue)) ? Self.names[Int(self.rawValue)] : "unknown(\(self.rawValue))"
    }

    /// The value of that name, if there is one.
    public init?(named name: some StringProtocol) {
        guard let index = Self.names.firstIndex(where: { $0 == name }), index > 0 else { return nil }
        self.init(rawValue: Int32(index))
    }
}

/// The store behind an app.
public struct AppEnvironment: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "production", "sandbox", "xcode"]
    /// The App Store.
    public static let production = Self(rawValue: 1)
    /// Apple's sandbox.
    public static let sandbox = Self(rawValue: 2)
    /// A test app: Perch itself is its store.
    public static let xcode = Self(rawValue: 3)
}

/// The four types of in-app purchase.
public struct ProductType: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "consumable", "nonConsumable", "autoRenewable", "nonRenewable"]
    /// Used up; never an entitlement.
    public static let consumable = Self(rawValue: 1)
    /// Bought once, owned until refunded.
    public static let nonConsumable = Self(rawValue: 2)
    /// A subscription that renews automatically.
    public static let autoRenewable = Self(rawValue: 3)
    /// A subscription whose end the store does not know.
    public static let nonRenewable = Self(rawValue: 4)
}

/// What kind of offer.
public struct OfferType: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "introductory", "promotional", "code", "winBack"]
    /// For customers who are new to a subscription group.
    public static let introductory = Self(rawValue: 1)
    /// For existing and former subscribers, chosen by the developer.
    public static let promotional = Self(rawValue: 2)
    /// Redeemed by a code.
    public static let code = Self(rawValue: 3)
    /// For former subscribers.
    public static let winBack = Self(rawValue: 4)
}

/// How an offer is paid.
public struct PaymentMode: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "freeTrial", "payAsYouGo", "payUpFront", "oneTime"]
    /// Nothing is paid for the offer's period.
    public static let freeTrial = Self(rawValue: 1)
    /// A reduced price each billing period.
    public static let payAsYouGo = Self(rawValue: 2)
    /// A reduced price once, for the offer's period.
    public static let payUpFront = Self(rawValue: 3)
    /// A one-time purchase with an offer code.
    public static let oneTime = Self(rawValue: 4)
}

/// How a yearly subscription is billed.
public struct BillingPlanType: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "upFront", "monthly"]
    /// The whole price at once.
    public static let upFront = Self(rawValue: 1)
    /// Monthly, with a commitment of twelve months.
    public static let monthly = Self(rawValue: 2)
}

/// How an account came to own something.
public struct OwnershipType: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "purchased", "familyShared", "assigned"]
    /// Bought by this account.
    public static let purchased = Self(rawValue: 1)
    /// Shared by a member of the family.
    public static let familyShared = Self(rawValue: 2)
    /// Assigned by an organisation.
    public static let assigned = Self(rawValue: 3)
}

/// Why a transaction exists.
public struct TransactionReason: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "purchase", "renewal"]
    /// A customer bought.
    public static let purchase = Self(rawValue: 1)
    /// The store renewed.
    public static let renewal = Self(rawValue: 2)
}

/// Why a transaction was revoked.
public struct RevocationReason: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "other", "developerIssue"]
    /// Another reason, such as a purchase by accident (0 in StoreKit).
    public static let other = Self(rawValue: 1)
    /// An issue with the app (1 in StoreKit).
    public static let developerIssue = Self(rawValue: 2)
}

/// How much was taken back.
public struct RevocationType: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "refundFull", "refundProrated", "familyRevoke"]
    /// The full price was refunded.
    public static let refundFull = Self(rawValue: 1)
    /// A part of the price was refunded.
    public static let refundProrated = Self(rawValue: 2)
    /// Family sharing ended.
    public static let familyRevoke = Self(rawValue: 3)
}

/// The five states of a subscription line.
public struct RenewalState: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "subscribed", "expired", "inBillingRetryPeriod", "inGracePeriod", "revoked",
    ]
    /// Entitled: the period lasts.
    public static let subscribed = Self(rawValue: 1)
    /// Not entitled: it ended.
    public static let expired = Self(rawValue: 2)
    /// Not entitled: the store tries to charge again.
    public static let inBillingRetryPeriod = Self(rawValue: 3)
    /// Entitled although the charge failed.
    public static let inGracePeriod = Self(rawValue: 4)
    /// Not entitled: refunded, or no longer shared.
    public static let revoked = Self(rawValue: 5)

    /// Whether a customer in this state may use the subscription.
    public var isEntitled: Bool { self == .subscribed || self == .inGracePeriod }
}

/// Why a subscription ended.
public struct ExpirationReason: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "autoRenewDisabled", "billingError", "didNotConsentToPriceIncrease", "productUnavailable",
        "unknown",
    ]
    /// The customer switched renewal off.
    public static let autoRenewDisabled = Self(rawValue: 1)
    /// The charge failed.
    public static let billingError = Self(rawValue: 2)
    /// The customer did not agree to a higher price.
    public static let didNotConsentToPriceIncrease = Self(rawValue: 3)
    /// The product was withdrawn.
    public static let productUnavailable = Self(rawValue: 4)
    /// Another reason.
    public static let unknown = Self(rawValue: 5)
}

/// Whether a price increase waits for the customer's consent.
public struct PriceIncreaseStatus: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["noIncreasePending", "pending", "agreed"]
    /// No increase is pending.
    public static let noIncreasePending = Self(rawValue: 0)
    /// Asked, not answered (0 in StoreKit).
    public static let pending = Self(rawValue: 1)
    /// Agreed, or informed if no consent is needed (1 in StoreKit).
    public static let agreed = Self(rawValue: 2)
}

/// Why a signed value is not trusted.
public struct VerificationFailure: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "noFailure", "invalidCertificateChain", "invalidDeviceVerification", "invalidEncoding", "invalidSignature",
        "missingRequiredProperties", "revokedCertificate",
    ]
    /// It is trusted.
    public static let noFailure = Self(rawValue: 0)
    /// The certificate chain is not valid.
    public static let invalidCertificateChain = Self(rawValue: 1)
    /// The device verification does not match.
    public static let invalidDeviceVerification = Self(rawValue: 2)
    /// The bytes could not be read.
    public static let invalidEncoding = Self(rawValue: 3)
    /// The signature does not fit.
    public static let invalidSignature = Self(rawValue: 4)
    /// A required property is missing.
    public static let missingRequiredProperties = Self(rawValue: 5)
    /// A certificate was revoked.
    public static let revokedCertificate = Self(rawValue: 6)
}

/// What is known of a permission. The App Store does not say everything about a customer.
public struct Eligibility: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "unknown", "eligible", "ineligible"]
    /// No report says it, so neither yes nor no is true.
    public static let unknown = Self(rawValue: 1)
    /// Yes.
    public static let eligible = Self(rawValue: 2)
    /// No.
    public static let ineligible = Self(rawValue: 3)

    /// Of a store that knows everything of its customers.
    package init(_ isEligible: Bool) { self = isEligible ? .eligible : .ineligible }
}

/// What led to a value.
public struct Cause: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "snapshot", "purchase", "renewal", "refund", "expiry", "catalog", "clock", "setting",
    ]
    /// The first value of a call.
    public static let snapshot = Self(rawValue: 1)
    /// A purchase, a restore or a grant.
    public static let purchase = Self(rawValue: 2)
    /// A renewal attempt, succeeded or failed.
    public static let renewal = Self(rawValue: 3)
    /// A refund, a revocation or their reversal.
    public static let refund = Self(rawValue: 4)
    /// Time: an expiry, the end of a grace or retry period, an offer window.
    public static let expiry = Self(rawValue: 5)
    /// The catalogue.
    public static let catalog = Self(rawValue: 6)
    /// The app's clock was moved.
    public static let clock = Self(rawValue: 7)
    /// A setting of the app or of the account: auto-renew, plan, storefront, time rate.
    public static let setting = Self(rawValue: 8)
}

/// Why a status is the one that counts.
public struct EffectiveReason: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "onlyEntitled", "highestLevel", "ownBeforeShared", "latestExpiration",
    ]
    /// It is the only line that entitles.
    public static let onlyEntitled = Self(rawValue: 1)
    /// It has the highest level of service.
    public static let highestLevel = Self(rawValue: 2)
    /// Own before shared, at the same level.
    public static let ownBeforeShared = Self(rawValue: 3)
    /// It ends later, at the same level.
    public static let latestExpiration = Self(rawValue: 4)
}

/// Changes of a subscription line that happen automatically.
public struct ForecastKind: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = ["unspecified", "renewal", "expiry", "graceEnd", "retryEnd", "offerWindow", "message"]
    /// The period ends and the store tries to renew it. `state` is the expected result: a test store knows which
    /// charges are set to fail.
    public static let renewal = Self(rawValue: 1)
    /// The period ends for good.
    public static let expiry = Self(rawValue: 2)
    /// The grace period ends.
    public static let graceEnd = Self(rawValue: 3)
    /// The store stops trying to charge.
    public static let retryEnd = Self(rawValue: 4)
    /// A win-back offer becomes available to the account, or stops being so.
    public static let offerWindow = Self(rawValue: 5)
    /// A message of the store appears or disappears.
    public static let message = Self(rawValue: 6)
}

/// What happened to a transaction.
public struct TransactionEventKind: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "unfinished", "purchased", "renewed", "revoked", "reinstated", "changed",
    ]
    /// The transaction was unfinished when this call began.
    public static let unfinished = Self(rawValue: 1)
    /// It was bought.
    public static let purchased = Self(rawValue: 2)
    /// It renewed a subscription.
    public static let renewed = Self(rawValue: 3)
    /// It was refunded or revoked.
    public static let revoked = Self(rawValue: 4)
    /// A refund was reversed.
    public static let reinstated = Self(rawValue: 5)
    /// Another field changed: an upgrade left it behind, or its period was cut short or extended.
    public static let changed = Self(rawValue: 6)
}
