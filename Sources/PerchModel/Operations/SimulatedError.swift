/// A part of the store that can be made to fail: StoreKit's nine, and one of ours.
public struct StoreKitAPI: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified", "loadProducts", "purchase", "verification", "appStoreSync", "subscriptionStatus",
        "appTransaction", "manageSubscriptions", "refundRequest", "offerCodeRedeem", "currentEntitlement",
    ]
    public static let loadProducts = Self(rawValue: 1)
    public static let purchase = Self(rawValue: 2)
    public static let verification = Self(rawValue: 3)
    public static let appStoreSync = Self(rawValue: 4)
    public static let subscriptionStatus = Self(rawValue: 5)
    public static let appTransaction = Self(rawValue: 6)
    public static let manageSubscriptions = Self(rawValue: 7)
    public static let refundRequest = Self(rawValue: 8)
    public static let offerCodeRedeem = Self(rawValue: 9)
    /// StoreKit cannot make an entitlement fail to load; we can.
    public static let currentEntitlement = Self(rawValue: 10)
}

/// The error that a part of the store is made to fail with.
public struct SimulatedError: OpenEnumeration {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let names = [
        "unspecified",
        // StoreKitError
        "unknown", "userCancelled", "networkError", "systemError", "notAvailableInStorefront", "notEntitled",
        "unsupported",
        // Product.PurchaseError
        "invalidQuantity", "productUnavailable", "purchaseNotAllowed", "ineligibleForOffer", "invalidOfferIdentifier",
        "invalidOfferPrice", "invalidOfferSignature", "missingOfferParameters",
        // VerificationResult.VerificationError
        "invalidCertificateChain", "invalidDeviceVerification", "invalidEncoding", "invalidSignature",
        "missingRequiredProperties", "revokedCertificate",
        // Transaction.RefundRequestError
        "duplicateRequest", "failed",
    ]

    /// What a value's signature is then said to suffer from; nil where the error is of another kind.
    public var verificationFailure: VerificationFailure? {
        let first: Int32 = 16
        guard (first..<first + 6).contains(self.rawValue) else { return nil }
        return VerificationFailure(rawValue: self.rawValue - first + 1)
    }
}

/// Errors that are armed, by the part of the store that they make fail. They stay until they are disarmed.
public struct SimulatedErrors: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var api: StoreKitAPI
        public var error: SimulatedError

        public init(api: StoreKitAPI, error: SimulatedError) {
            self.api = api
            self.error = error
        }
    }

    /// By the number of the part, so that equal sets are equal lists.
    public private(set) var entries: [Entry] = []

    public init() {}

    /// Nil disarms.
    public subscript(api: StoreKitAPI) -> SimulatedError? {
        get { self.entries.first { $0.api == api }?.error }
        set {
            self.entries.removeAll { $0.api == api }
            guard let newValue else { return }
            let index = self.entries.firstIndex { $0.api.rawValue > api.rawValue } ?? self.entries.endIndex
            self.entries.insert(Entry(api: api, error: newValue), at: index)
        }
    }
}
