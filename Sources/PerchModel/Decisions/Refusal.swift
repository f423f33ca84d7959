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
        case recordLimit = "RECORD_LIMIT"
        case keyReused = "KEY_REUSED"
        case clockBackwards = "CLOCK_BACKWARDS"
        case advanceLimit = "ADVANCE_LIMIT"
        case storeFull = "STORE_FULL"
        case storeFailed = "STORE_FAILED"
        case appUnknown = "APP_UNKNOWN"
        case cursorTooOld = "CURSOR_TOO_OLD"
        case tokenFuture = "TOKEN_FUTURE"
    }

    package var reason: Reason
    /// For people: what happened, with the numbers, and what to do next. Never an account key.
    package var message: String

    package init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }
}
