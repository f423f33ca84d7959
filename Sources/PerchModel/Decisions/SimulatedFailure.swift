/// The failure that a part of the store was told to fail with; nil where none is armed.
///
/// Views have it as the reason and message of their state, calls as their refusal.
package func simulatedFailure(of api: StoreKitAPI, app: AppState) -> Refusal? {
    guard let error = app.settings.simulatedErrors[api] else { return nil }
    return Refusal(
        error.refusal,
        "\(api) fails with \(error) in \(app.bundleID), as the test store was told; `perch store fail \(api) off` "
            + "disarms it")
}

package func refuseIfSimulated(_ api: StoreKitAPI, app: AppState) throws(Refusal) {
    if let refusal = simulatedFailure(of: api, app: app) { throw refusal }
}

/// A value of a test store, or of one that believes its source, as readers get it: unverified where that is simulated.
package func verified<Value>(_ value: Value, app: AppState) -> Verified<Value> {
    Verified(value, failure: simulatedVerification(app))
}

/// The same of a transaction, which every change asks for twice: what is generic is not specialised for other modules.
package func verified(_ transaction: Transaction, app: AppState) -> Verified<Transaction> {
    Verified(transaction, failure: simulatedVerification(app))
}

private func simulatedVerification(_ app: AppState) -> VerificationFailure {
    let failure = app.settings.simulatedErrors.entries.isEmpty ? nil : app.settings.simulatedErrors[.verification]
    return failure?.verificationFailure ?? .verified
}

extension SimulatedError {
    /// StoreKit's word for it, as clients see it.
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
