/// An enumeration that can grow elsewhere: StoreKit adds cases, and newer peers send unknown numbers.
///
/// An unknown number is shown, stored and forwarded, and never mistaken for a known one. The numbers are those of
/// `proto/perch/v1`.
public protocol OpenEnumeration: BitwiseCopyable, Hashable, Sendable, CustomStringConvertible {
    init(rawValue: Int32)
    var rawValue: Int32 { get }
    /// Names of the known values, by number; index 0 is "unspecified".
    static var names: [String] { get }
}

extension OpenEnumeration {
    public static var unspecified: Self { Self(rawValue: 0) }

    /// True also for 0, which means unspecified.
    @inlinable
    package var isKnownOrUnspecified: Bool { self.rawValue == 0 || self.isKnown }

    /// True for the numbers this version has a name for.
    public var isKnown: Bool { self.rawValue > 0 && Int(self.rawValue) < Self.names.count }

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
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "production", "sandbox", "xcode"]
    public static let production = Self(rawValue: 1)
    public static let sandbox = Self(rawValue: 2)
    /// A test app: Perch itself is its store.
    public static let xcode = Self(rawValue: 3)
}

/// The four types of in-app purchase.
public struct ProductType: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "consumable", "nonConsumable", "autoRenewable", "nonRenewable"]
    public static let consumable = Self(rawValue: 1)
    public static let nonConsumable = Self(rawValue: 2)
    public static let autoRenewable = Self(rawValue: 3)
    public static let nonRenewable = Self(rawValue: 4)
}

/// What kind of offer.
public struct OfferType: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "introductory", "promotional", "code", "winBack"]
    public static let introductory = Self(rawValue: 1)
    public static let promotional = Self(rawValue: 2)
    public static let code = Self(rawValue: 3)
    public static let winBack = Self(rawValue: 4)
}

/// How an offer is paid.
public struct PaymentMode: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "freeTrial", "payAsYouGo", "payUpFront", "oneTime"]
    public static let freeTrial = Self(rawValue: 1)
    public static let payAsYouGo = Self(rawValue: 2)
    public static let payUpFront = Self(rawValue: 3)
    public static let oneTime = Self(rawValue: 4)
}

/// How a yearly subscription is billed.
public struct BillingPlanType: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "upFront", "monthly"]
    public static let upFront = Self(rawValue: 1)
    public static let monthly = Self(rawValue: 2)
}

/// How an account came to own something.
public struct OwnershipType: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "purchased", "familyShared", "assigned"]
    public static let purchased = Self(rawValue: 1)
    public static let familyShared = Self(rawValue: 2)
    public static let assigned = Self(rawValue: 3)
}

/// Why a transaction exists.
public struct TransactionReason: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "purchase", "renewal"]
    public static let purchase = Self(rawValue: 1)
    public static let renewal = Self(rawValue: 2)
}

/// Why a transaction was revoked.
public struct RevocationReason: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "other", "developerIssue"]
    public static let other = Self(rawValue: 1)
    public static let developerIssue = Self(rawValue: 2)
}

/// How much was taken back.
public struct RevocationType: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "refundFull", "refundProrated", "familyRevoke"]
    public static let refundFull = Self(rawValue: 1)
    public static let refundProrated = Self(rawValue: 2)
    public static let familyRevoke = Self(rawValue: 3)
}

/// The five states of a subscription line.
public struct RenewalState: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified", "subscribed", "expired", "inBillingRetryPeriod", "inGracePeriod", "revoked",
    ]
    public static let subscribed = Self(rawValue: 1)
    public static let expired = Self(rawValue: 2)
    public static let inBillingRetryPeriod = Self(rawValue: 3)
    public static let inGracePeriod = Self(rawValue: 4)
    public static let revoked = Self(rawValue: 5)

    /// Whether a customer in this state may use the subscription.
    public var isEntitled: Bool { self == .subscribed || self == .inGracePeriod }
}

/// Why a subscription ended.
public struct ExpirationReason: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified", "autoRenewDisabled", "billingError", "didNotConsentToPriceIncrease", "productUnavailable",
        "unknown",
    ]
    public static let autoRenewDisabled = Self(rawValue: 1)
    public static let billingError = Self(rawValue: 2)
    public static let didNotConsentToPriceIncrease = Self(rawValue: 3)
    public static let productUnavailable = Self(rawValue: 4)
    public static let unknown = Self(rawValue: 5)
}

/// Whether a price increase waits for the customer's consent.
public struct PriceIncreaseStatus: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["noIncreasePending", "pending", "agreed"]
    public static let noIncreasePending = Self(rawValue: 0)
    public static let pending = Self(rawValue: 1)
    public static let agreed = Self(rawValue: 2)
}

/// Why a signed value is not trusted; `verified` if it is.
public struct VerificationFailure: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "verified", "invalidCertificateChain", "invalidDeviceVerification", "invalidEncoding", "invalidSignature",
        "missingRequiredProperties", "revokedCertificate",
    ]
    public static let verified = Self(rawValue: 0)
}

/// What is known of a permission. The App Store does not say everything about a customer.
public struct Eligibility: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "unknown", "eligible", "ineligible"]
    /// No report says it, so neither yes nor no is true.
    public static let unknown = Self(rawValue: 1)
    public static let eligible = Self(rawValue: 2)
    public static let ineligible = Self(rawValue: 3)

    /// Of a store that knows everything of its customers.
    package init(_ isEligible: Bool) { self = isEligible ? .eligible : .ineligible }
}

/// What led to a value.
public struct Cause: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified", "snapshot", "purchase", "renewal", "refund", "expiry", "catalog", "clock", "setting",
    ]
    public static let snapshot = Self(rawValue: 1)
    public static let purchase = Self(rawValue: 2)
    public static let renewal = Self(rawValue: 3)
    public static let refund = Self(rawValue: 4)
    public static let expiry = Self(rawValue: 5)
    public static let catalog = Self(rawValue: 6)
    public static let clock = Self(rawValue: 7)
    public static let setting = Self(rawValue: 8)
}

/// Why a status is the one that counts.
public struct EffectiveReason: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified", "onlyEntitled", "highestLevel", "ownBeforeShared", "latestExpiration",
    ]
    public static let onlyEntitled = Self(rawValue: 1)
    public static let highestLevel = Self(rawValue: 2)
    public static let ownBeforeShared = Self(rawValue: 3)
    public static let latestExpiration = Self(rawValue: 4)
}

/// Changes of a subscription line that happen automatically.
public struct ForecastKind: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = ["unspecified", "renewal", "expiry", "graceEnd", "retryEnd", "offerWindow", "message"]
    public static let renewal = Self(rawValue: 1)
    public static let expiry = Self(rawValue: 2)
    public static let graceEnd = Self(rawValue: 3)
    public static let retryEnd = Self(rawValue: 4)
    /// A win-back offer becomes available to the account, or stops being so.
    public static let offerWindow = Self(rawValue: 5)
    /// A message of the store appears or disappears.
    public static let message = Self(rawValue: 6)
}

/// What happened to a transaction.
public struct TransactionEventKind: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified", "unfinished", "purchased", "renewed", "revoked", "reinstated", "changed",
    ]
    public static let unfinished = Self(rawValue: 1)
    public static let purchased = Self(rawValue: 2)
    public static let renewed = Self(rawValue: 3)
    public static let revoked = Self(rawValue: 4)
    public static let reinstated = Self(rawValue: 5)
    public static let changed = Self(rawValue: 6)
}
