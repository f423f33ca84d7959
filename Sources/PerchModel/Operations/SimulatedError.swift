/// A part of the store that can be made to fail: nine from StoreKit, and one of Perch's.
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
    /// Perch's own: StoreKit cannot make the loading of an entitlement fail.
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

    public static let unknown = Self(rawValue: 1)
    public static let userCancelled = Self(rawValue: 2)
    public static let networkError = Self(rawValue: 3)
    public static let systemError = Self(rawValue: 4)
    public static let notAvailableInStorefront = Self(rawValue: 5)
    public static let notEntitled = Self(rawValue: 6)
    public static let unsupported = Self(rawValue: 7)
    public static let invalidQuantity = Self(rawValue: 8)
    public static let productUnavailable = Self(rawValue: 9)
    public static let purchaseNotAllowed = Self(rawValue: 10)
    public static let ineligibleForOffer = Self(rawValue: 11)
    public static let invalidOfferIdentifier = Self(rawValue: 12)
    public static let invalidOfferPrice = Self(rawValue: 13)
    public static let invalidOfferSignature = Self(rawValue: 14)
    public static let missingOfferParameters = Self(rawValue: 15)
    public static let invalidSignature = Self(rawValue: 19)
    public static let duplicateRequest = Self(rawValue: 22)
    public static let failed = Self(rawValue: 23)

    /// Whether StoreKit can fail with this error there.
    public func isPossible(for api: StoreKitAPI) -> Bool {
        switch self.rawValue {
        case 1...7: api.isKnown && api != .verification
        case 8...15: api == .purchase
        case 16...21: api == .verification
        case 22...23: api == .refundRequest
        default: false
        }
    }

    /// The verification failure of values while this error is armed; nil for errors of another kind.
    public var verificationFailure: VerificationFailure? {
        let first: Int32 = 16
        guard (first..<first + 6).contains(self.rawValue) else { return nil }
        return VerificationFailure(rawValue: self.rawValue - first + 1)
    }
}

/// The armed errors, by the part of the store that they make fail. They stay until disarmed.
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
