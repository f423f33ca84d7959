/// A failure that a catalogue file chooses for one of StoreKit's calls: on or off.
package struct FileFailure: Hashable, Sendable {
    /// The nine calls that a file can make fail; raw values are Apple's names.
    package enum API: String, Hashable, Sendable, CaseIterable {
        case loadProducts = "Load Products"
        case purchase = "Purchase"
        case verification = "Verification"
        case appStoreSync = "App Store Sync"
        case subscriptionStatus = "Subscription Status"
        case appTransaction = "App Transaction"
        case manageSubscriptionsSheet = "Manage Subscriptions Sheet"
        case refundRequestSheet = "Refund Request Sheet"
        case offerCodeRedeemSheet = "Offer Code Redeem Sheet"
    }

    package var api: API
    /// Off with an error still chosen is common, and means no failure.
    package var isEnabled: Bool
    /// The file's own name of the error category: `generic`, `purchase`, `verification`, `refund request`; empty if none is
    /// chosen.
    package var type: String
    package var index: Int64?
    /// The error by its name in `FailureNames`; empty if none is chosen, or its number is unknown.
    package var errorName: String

    package init(api: API, isEnabled: Bool, type: String = "", index: Int64? = nil, errorName: String = "") {
        self.api = api
        self.isEnabled = isEnabled
        self.type = type
        self.index = index
        self.errorName = errorName
    }

    /// Whether calls fail because of it.
    package var isArmed: Bool { self.isEnabled && !self.errorName.isEmpty }
}

/// Which error a number in a file means. Apple documents no order: this is that of the cases in StoreKit's own
/// reference, and a file may write another one, as `"perch": {"errorNames": {"generic": ["unknown", …]}}` in its settings.
///
/// `legacy` is for the scalar `_storeKitError` of schema 2.0, in which 0 is no error.
package struct FailureNames: Hashable, Sendable {
    package private(set) var names: [String: [String]] = [
        "generic": Self.storeKitErrors,
        "purchase": [
            "invalidQuantity", "productUnavailable", "purchaseNotAllowed", "ineligibleForOffer",
            "invalidOfferIdentifier", "invalidOfferPrice", "invalidOfferSignature", "missingOfferParameters",
        ],
        "verification": [
            "invalidCertificateChain", "invalidDeviceVerification", "invalidEncoding", "invalidSignature",
            "missingRequiredProperties", "revokedCertificate",
        ],
        "refund request": ["duplicateRequest", "failed"],
        "legacy": [""] + Self.storeKitErrors,
    ]

    private static let storeKitErrors = [
        "unknown", "userCancelled", "networkError", "systemError", "notAvailableInStorefront", "notEntitled",
        "unsupported",
    ]

    package static let documented = FailureNames()

    /// Earlier names of types, which files of our own may have.
    private static let aliases = ["refund": "refund request"]

    package var types: [String] { self.names.keys.sorted() }

    /// Nil for an unknown number.
    package func name(_ type: String, _ index: Int64) -> String? {
        guard let names = self.names[Self.current(type)], index >= 0, index < names.count else { return nil }
        return names[Int(index)]
    }

    /// The name of a type as Xcode writes it.
    static func current(_ type: String) -> String { Self.aliases[type] ?? type }

    mutating func override(_ type: String, _ names: [String]) { self.names[Self.current(type)] = names }

    /// Every name that some number means: others cannot be armed, and so not be named.
    var known: Set<String> { Set(Self.documented.names.values.joined()) }
}
