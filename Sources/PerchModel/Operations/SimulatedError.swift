/// A part of the store that can be made to fail: nine from StoreKit, and one of Perch's.
public struct StoreKitAPI: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
    public static let names = [
        "unspecified", "loadProducts", "purchase", "verification", "appStoreSync", "subscriptionStatus",
        "appTransaction", "manageSubscriptions", "refundRequest", "offerCodeRedeem", "currentEntitlement",
    ]
    /// ProductsTask and its read push a failure.
    public static let loadProducts = Self(rawValue: 1)
    /// Purchases fail.
    public static let purchase = Self(rawValue: 2)
    /// Values become unverified.
    public static let verification = Self(rawValue: 3)
    /// Sync fails.
    public static let appStoreSync = Self(rawValue: 4)
    /// SubscriptionStatusTask and its read push a failure.
    public static let subscriptionStatus = Self(rawValue: 5)
    /// GetAppTransaction fails.
    public static let appTransaction = Self(rawValue: 6)
    /// ManageSubscriptions fails.
    public static let manageSubscriptions = Self(rawValue: 7)
    /// RequestRefund fails.
    public static let refundRequest = Self(rawValue: 8)
    /// RedeemOfferCode fails.
    public static let offerCodeRedeem = Self(rawValue: 9)
    /// Perch's own: StoreKit cannot make the loading of an entitlement fail.
    public static let currentEntitlement = Self(rawValue: 10)
}

/// The error that a part of the store is made to fail with.
public struct SimulatedError: OpenEnumeration {
    /// The number in the contract.
    public let rawValue: Int32
    /// Creates a value from its number, which this version need not know.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// Names of the known values, by number.
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

    /// StoreKitError.unknown.
    public static let unknown = Self(rawValue: 1)
    /// StoreKitError.userCancelled.
    public static let userCancelled = Self(rawValue: 2)
    /// StoreKitError.networkError.
    public static let networkError = Self(rawValue: 3)
    /// StoreKitError.systemError.
    public static let systemError = Self(rawValue: 4)
    /// StoreKitError.notAvailableInStorefront.
    public static let notAvailableInStorefront = Self(rawValue: 5)
    /// StoreKitError.notEntitled.
    public static let notEntitled = Self(rawValue: 6)
    /// StoreKitError.unsupported.
    public static let unsupported = Self(rawValue: 7)
    /// PurchaseError.invalidQuantity.
    public static let invalidQuantity = Self(rawValue: 8)
    /// PurchaseError.productUnavailable.
    public static let productUnavailable = Self(rawValue: 9)
    /// PurchaseError.purchaseNotAllowed.
    public static let purchaseNotAllowed = Self(rawValue: 10)
    /// PurchaseError.ineligibleForOffer.
    public static let ineligibleForOffer = Self(rawValue: 11)
    /// PurchaseError.invalidOfferIdentifier.
    public static let invalidOfferIdentifier = Self(rawValue: 12)
    /// PurchaseError.invalidOfferPrice.
    public static let invalidOfferPrice = Self(rawValue: 13)
    /// PurchaseError.invalidOfferSignature.
    public static let invalidOfferSignature = Self(rawValue: 14)
    /// PurchaseError.missingOfferParameters.
    public static let missingOfferParameters = Self(rawValue: 15)
    /// VerificationError.invalidSignature.
    public static let invalidSignature = Self(rawValue: 19)
    /// RefundRequestError.duplicateRequest.
    public static let duplicateRequest = Self(rawValue: 22)
    /// RefundRequestError.failed.
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
    /// A part of the store, and the error that it fails with.
    public struct Entry: Hashable, Sendable {
        /// The part of the store that fails.
        public var api: StoreKitAPI
        /// The error that it fails with.
        public var error: SimulatedError

        /// Creates a value from its parts.
        public init(api: StoreKitAPI, error: SimulatedError) {
            self.api = api
            self.error = error
        }
    }

    /// By the number of the part, so that equal sets are equal lists.
    public private(set) var entries: [Entry] = []

    /// Creates a value from its parts.
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
