/// Why the store refuses to do something. Each is one row of the error table that clients see.
package struct Refusal: Error, Hashable, Sendable {
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case accountUnknown = "ACCOUNT_UNKNOWN"
        case transactionUnknown = "TRANSACTION_UNKNOWN"
        case productUnknown = "PRODUCT_UNKNOWN"
        case notATestApp = "NOT_A_TEST_APP"
        case purchaseInvalidQuantity = "PURCHASE_INVALID_QUANTITY"
        case purchaseProductUnavailable = "PURCHASE_PRODUCT_UNAVAILABLE"
        case purchaseNotAllowed = "PURCHASE_NOT_ALLOWED"
        case purchaseIneligibleForOffer = "PURCHASE_INELIGIBLE_FOR_OFFER"
        case purchaseInvalidOffer = "PURCHASE_INVALID_OFFER"
        case purchaseInvalidOfferPrice = "PURCHASE_INVALID_OFFER_PRICE"
        case purchaseInvalidOfferSignature = "PURCHASE_INVALID_OFFER_SIGNATURE"
        case purchaseMissingOfferParameters = "PURCHASE_MISSING_OFFER_PARAMETERS"
        case pendingUnknown = "PENDING_UNKNOWN"
        case pendingLimit = "PENDING_LIMIT"
        case intentUnknown = "INTENT_UNKNOWN"
        case intentLimit = "INTENT_LIMIT"
        case fieldInvalid = "FIELD_INVALID"
        case refundNotPossible = "REFUND_NOT_POSSIBLE"
        case notASubscription = "NOT_A_SUBSCRIPTION"
        case notSubscribed = "NOT_SUBSCRIBED"
        case notInRetry = "NOT_IN_RETRY"
        case notShareable = "NOT_SHAREABLE"
        case familyLimit = "FAMILY_LIMIT"
        case notShared = "NOT_SHARED"
        case priceIncreaseInvalid = "PRICE_INCREASE_INVALID"
        case noPriceIncrease = "NO_PRICE_INCREASE"
        case extensionInvalid = "EXTENSION_INVALID"
        case extensionIneligible = "EXTENSION_INELIGIBLE"
        case recordLimit = "RECORD_LIMIT"
        case keyReused = "KEY_REUSED"
        case clockBackwards = "CLOCK_BACKWARDS"
        case advanceLimit = "ADVANCE_LIMIT"
        case historyLimit = "HISTORY_LIMIT"
        case storeFull = "STORE_FULL"
        case storeFailed = "STORE_FAILED"
        case storeUnreachable = "STORE_UNREACHABLE"
        case appUnknown = "APP_UNKNOWN"
        case cursorTooOld = "CURSOR_TOO_OLD"
        case tokenFuture = "TOKEN_FUTURE"
        case revocationLimit = "REVOCATION_LIMIT"
        case ownedByOther = "OWNED_BY_OTHER"
        case itemLimit = "DEAD_LETTER_LIMIT"
        case itemUnknown = "DEAD_LETTER_UNKNOWN"
        case notToldApp = "NOT_A_TOLD_APP"
        case accountShares = "ACCOUNT_SHARES"
        // StoreKit's errors, armed in a test store.
        case storeKitUnknown = "STOREKIT_UNKNOWN"
        case storeKitUserCancelled = "STOREKIT_USER_CANCELLED"
        case storeKitNetworkError = "STOREKIT_NETWORK_ERROR"
        case storeKitSystemError = "STOREKIT_SYSTEM_ERROR"
        case storeKitNotAvailableInStorefront = "STOREKIT_NOT_AVAILABLE_IN_STOREFRONT"
        case storeKitNotEntitled = "STOREKIT_NOT_ENTITLED"
        case storeKitUnsupported = "STOREKIT_UNSUPPORTED"
        case storeKitDuplicateRequest = "STOREKIT_DUPLICATE_REQUEST"
        case storeKitFailed = "STOREKIT_FAILED"

        /// Whether the same request gets the same refusal: the column `Retry` of the contract says no.
        package var isFinal: Bool {
            switch self {
            case .storeFull, .storeFailed, .storeUnreachable, .itemLimit, .cursorTooOld, .tokenFuture: false
            default: true
            }
        }
    }

    package var reason: Reason
    /// A text for users: what happened, with the numbers, and the next step. Never contains an account key.
    package var message: String

    /// The invalid field of the request, as a path of the contract; empty for none.
    package var field: String
    /// The value found and its limit, if the refusal is about a number.
    package var found: Int64?
    package var limit: Int64?

    package init(_ reason: Reason, _ message: String, field: String = "", found: Int64? = nil, limit: Int64? = nil) {
        assert(reason != .fieldInvalid || !field.isEmpty, "a field is refused without its name: \(message)")
        self.reason = reason
        self.message = message
        (self.field, self.found, self.limit) = (field, found, limit)
    }
}
