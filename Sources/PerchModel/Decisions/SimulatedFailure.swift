/// The failure armed for a part of the store; nil if none is.
///
/// Views report it as the reason and message of their state, calls as their refusal.
package func simulatedFailure(of api: StoreKitAPI, app: AppState) -> Refusal? {
    if app.settings.simulatedErrors.entries.isEmpty { return nil }
    guard let error = app.settings.simulatedErrors[api] else { return nil }
    return Refusal(
        error.refusal,
        "\(api) is set to fail with \(error) in \(app.bundleID); `perch store fail \(api) off` "
            + "disarms it")
}

package func refuseIfSimulated(_ api: StoreKitAPI, app: AppState) throws(Refusal) {
    if let refusal = simulatedFailure(of: api, app: app) { throw refusal }
}

/// A value of a test store, or of a store that trusts its source, for readers: unverified if a verification failure is
/// armed.
package func verified<Value>(_ value: Value, app: AppState) -> Verified<Value> {
    Verified(value, failure: simulatedVerification(app))
}

/// `verified` for transactions. Not generic, because generic functions are not specialised for other modules, and every
/// change calls it twice.
package func verified(_ transaction: Transaction, app: AppState) -> Verified<Transaction> {
    Verified(transaction, failure: simulatedVerification(app))
}

/// The verification failure that is armed in an app.
package func simulatedVerification(_ app: AppState) -> VerificationFailure {
    let failure = app.settings.simulatedErrors.entries.isEmpty ? nil : app.settings.simulatedErrors[.verification]
    return failure?.verificationFailure ?? .noFailure
}

extension SimulatedError {
    /// The reason code that clients see for a StoreKit error.
    var refusal: Refusal.Reason {
        switch self {
        case .userCancelled: .storeKitUserCancelled
        case .networkError: .storeKitNetworkError
        case .systemError: .storeKitSystemError
        case .notAvailableInStorefront: .storeKitNotAvailableInStorefront
        case .notEntitled: .storeKitNotEntitled
        case .unsupported: .storeKitUnsupported
        case .invalidQuantity: .purchaseInvalidQuantity
        case .productUnavailable: .purchaseProductUnavailable
        case .purchaseNotAllowed: .purchaseNotAllowed
        case .ineligibleForOffer: .purchaseIneligibleForOffer
        case .invalidOfferIdentifier: .purchaseInvalidOffer
        case .invalidOfferPrice: .purchaseInvalidOfferPrice
        case .invalidOfferSignature: .purchaseInvalidOfferSignature
        case .missingOfferParameters: .purchaseMissingOfferParameters
        case .duplicateRequest: .storeKitDuplicateRequest
        case .failed: .storeKitFailed
        default: .storeKitUnknown
        }
    }
}
