package import PerchBase
import PerchJSON

/// The host by which a caller came.
package enum TwinHost: Hashable, Sendable {
    /// `api.storekit.apple.com`: the App Store has no sandbox data there.
    case production
    case sandbox
    /// No host of Apple's network: the address of the listener, or the one that Apple's libraries use in the environment
    /// LocalTesting.
    case local

    /// The host of a CONNECT request; nil for a name that is none of Apple's.
    package init?(named name: String) {
        switch name.lowercased() {
        case "api.storekit.apple.com", "api.storekit.itunes.apple.com": self = .production
        case "api.storekit-sandbox.apple.com", "api.storekit-sandbox.itunes.apple.com": self = .sandbox
        case "local-testing-base-url": self = .local
        default: return nil
        }
    }
}

/// A request of the App Store Server API.
package struct TwinRequest: Sendable {
    package var method: String
    /// Without the query, percent-encoding removed.
    package var path: String
    /// In the order of the request, percent-encoding removed.
    package var query: [Field] = []
    /// The Authorization field; nil without one.
    package var authorization: String?
    package var body: [UInt8] = []
    package var host: TwinHost

    package struct Field: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(method: String, path: String, host: TwinHost) {
        self.method = method
        self.path = path
        self.host = host
    }

    /// All values of a field of the query.
    func values(_ name: String) -> [String] { self.query.filter { $0.name == name }.map(\.value) }

    /// The value of a field that may stand once in the query.
    func value(_ name: String) -> String? { self.values(name).last }

    /// The body, which must be a JSON object.
    func fields() throws(TwinError) -> JSONValue {
        guard let value = try? JSONReader.read(self.body), value.members != nil else { throw .badRequest }
        return value
    }
}

/// An answer of the App Store Server API.
package struct TwinResponse: Hashable, Sendable {
    package var status: Int
    /// JSON; empty where the App Store sends no body.
    package var body: [UInt8] = []
    /// Of a refusal for its rate.
    package var retryAfter: Instant?
    /// Why it was refused, for the log of the twin. The App Store does not say.
    package var reason = ""

    package init(status: Int) { self.status = status }

    /// A JSON object.
    init(status: Int = 200, _ body: (inout JSONWriter) -> Void) {
        self.status = status
        var writer = JSONWriter()
        writer.beginObject()
        body(&writer)
        writer.endObject()
        do throws(JSONOverflow) {
            self.body = try writer.finish()
        } catch {
            self = TwinResponse(TwinError.general)
        }
    }

    init(_ error: TwinError) {
        self.init(status: error.code / 10_000) { writer in
            writer.member("errorCode", error.code)
            writer.member("errorMessage", error.message)
        }
    }
}

/// An error of the App Store Server API. Its code begins with the status of HTTP.
package struct TwinError: Error, Hashable, Sendable {
    package let code: Int
    package let message: String

    private init(_ code: Int, _ message: String) {
        self.code = code
        self.message = message
    }

    static let badRequest = TwinError(4_000_000, "Bad request.")
    static let invalidRevision = TwinError(4_000_005, "Invalid request revision.")
    static let invalidTransactionID = TwinError(4_000_006, "Invalid transaction id.")
    static let invalidOriginalID = TwinError(4_000_008, "Invalid original transaction id.")
    static let invalidExtendByDays = TwinError(4_000_009, "Invalid extend by days value.")
    static let invalidExtendReason = TwinError(4_000_010, "Invalid extend reason code.")
    static let invalidRequestID = TwinError(4_000_011, "Invalid request identifier.")
    static let startTooFar = TwinError(4_000_012, "Start date is too far in the past.")
    static let startAfterEnd = TwinError(4_000_013, "Invalid date range: the start date is after the end date.")
    static let invalidPaginationToken = TwinError(4_000_014, "Invalid pagination token.")
    static let invalidStart = TwinError(4_000_015, "Invalid start date.")
    static let invalidEnd = TwinError(4_000_016, "Invalid end date.")
    static let expiredPaginationToken = TwinError(4_000_017, "The pagination token has expired.")
    static let invalidNotificationType = TwinError(4_000_018, "Invalid notification type or subtype.")
    static let severalFilters = TwinError(4_000_019, "Supply only one of transaction id and notification type.")
    static let invalidTestToken = TwinError(4_000_020, "Invalid test notification token.")
    static let invalidSort = TwinError(4_000_021, "Invalid sort.")
    static let invalidProductType = TwinError(4_000_022, "Invalid product type.")
    static let invalidProductID = TwinError(4_000_023, "Invalid product id.")
    static let invalidGroupID = TwinError(4_000_024, "Invalid subscription group identifier.")
    static let invalidOwnership = TwinError(4_000_026, "Invalid in-app ownership type.")
    static let noCountries = TwinError(4_000_027, "The list of storefront country codes is empty.")
    static let invalidCountry = TwinError(4_000_028, "Invalid storefront country code.")
    static let invalidRevoked = TwinError(4_000_030, "Invalid revoked value.")
    static let invalidStatus = TwinError(4_000_031, "Invalid status.")
    static let invalidConsent = TwinError(4_000_035, "Invalid customer consented value.")
    static let invalidDelivery = TwinError(4_000_036, "Invalid delivery status.")
    static let invalidSample = TwinError(4_000_041, "Invalid sample content provided value.")
    static let notConsumable = TwinError(4_000_043, "Invalid request: the transaction is not a consumable.")
    static let otherType = TwinError(4_000_047, "Invalid request: the type of the transaction is not supported.")
    static let appTransactionID = TwinError(4_000_048, "Invalid request: an app transaction id is not supported.")
    static let invalidImage = TwinError(4_000_161, "The image is invalid.")
    static let headerTooLong = TwinError(4_000_162, "The header text is too long.")
    static let bodyTooLong = TwinError(4_000_163, "The body text is too long.")
    static let invalidLocale = TwinError(4_000_164, "The locale is invalid.")
    static let altTextTooLong = TwinError(4_000_175, "The alternative text is too long.")
    static let invalidAccountToken = TwinError(4_000_183, "Invalid request: the app account token is not a UUID.")
    static let familyTransaction = TwinError(
        4_000_185, "Invalid request: a transaction through Family Sharing is not supported.")
    static let notOriginalID = TwinError(
        4_000_187, "Invalid request: the transaction id is not an original transaction id.")
    static let invalidPerformanceTest = TwinError(4_000_211, "The request for a performance test is invalid.")
    static let invalidTestID = TwinError(4_000_212, "The request id is invalid.")
    static let performanceTestRuns = TwinError(4_000_213, "A performance test is still running.")
    static let invalidRealtimeURL = TwinError(4_000_215, "The URL is invalid.")
    static let invalidImageSize = TwinError(4_000_216, "The image size is invalid.")
    static let tooManyBulletPoints = TwinError(4_000_218, "There are too many bullet points.")
    static let bulletPointTooLong = TwinError(4_000_219, "The text of a bullet point is too long.")
    static let aboveImageWithoutImage = TwinError(4_000_224, "A header above the image requires an image.")
    static let extensionIneligible = TwinError(
        4_030_004, "Forbidden: the subscription is not eligible for an extension.")
    static let extensionLimit = TwinError(
        4_030_005, "Forbidden: the subscription has its maximum number of extensions.")
    static let extensionOfFamily = TwinError(
        4_030_007, "Forbidden: a subscription through Family Sharing cannot be extended.")
    static let tooManyImages = TwinError(4_030_014, "The maximum number of images is reached.")
    static let tooManyMessages = TwinError(4_030_016, "The maximum number of messages is reached.")
    static let messageNotApproved = TwinError(4_030_017, "The message is not approved.")
    static let imageNotApproved = TwinError(4_030_018, "The image is not approved.")
    static let imageInUse = TwinError(4_030_019, "The image is in use.")
    static let noPassingTest = TwinError(4_030_026, "A performance test must pass before.")
    static let originalNotFound = TwinError(4_040_005, "Original transaction id not found.")
    static let noTestURL = TwinError(4_040_007, "No App Store Server Notification URL was found for this app.")
    static let testNotFound = TwinError(4_040_008, "Either the test notification token is expired or it was not found.")
    static let requestNotFound = TwinError(4_040_009, "The request identifier was not found for this product.")
    static let transactionNotFound = TwinError(4_040_010, "Transaction id not found.")
    static let imageNotFound = TwinError(4_040_014, "The image was not found.")
    static let messageNotFound = TwinError(4_040_015, "The message was not found.")
    static let performanceTestNotFound = TwinError(4_040_018, "The performance test was not found.")
    static let defaultNotFound = TwinError(4_040_020, "No default message is configured.")
    static let noRealtimeURL = TwinError(4_040_021, "No realtime URL is configured.")
    static let imageExists = TwinError(4_090_000, "The image identifier exists already.")
    static let messageExists = TwinError(4_090_001, "The message identifier exists already.")
    static let noAppTransaction = TwinError(4_040_019, "No app transaction exists for this customer.")
    static let rateLimit = TwinError(4_290_000, "Rate limit exceeded.")
    static let general = TwinError(5_000_000, "An unknown error occurred.")
    static let generalRetryable = TwinError(5_000_001, "An unknown error occurred. Try again.")
}
