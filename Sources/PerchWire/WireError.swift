import PerchBase
package import PerchModel

/// gRPC's status codes.
package enum StatusCode: Int32, Hashable, Sendable, CaseIterable {
    case ok = 0
    case cancelled = 1
    case unknown = 2
    case invalidArgument = 3
    case deadlineExceeded = 4
    case notFound = 5
    case alreadyExists = 6
    case permissionDenied = 7
    case resourceExhausted = 8
    case failedPrecondition = 9
    case aborted = 10
    case outOfRange = 11
    case unimplemented = 12
    case `internal` = 13
    case unavailable = 14
    case dataLoss = 15
    case unauthenticated = 16
}

/// Every error that a client can see, in one table. The names are part of the contract; each has one gRPC code.
package enum ErrorReason: String, Hashable, Sendable, CaseIterable {
    // What ends a connection.
    case frameTooLong = "FRAME_TOO_LONG"
    case unknownKind = "UNKNOWN_KIND"
    case reservedFlag = "RESERVED_FLAG"
    case streamZero = "STREAM_ZERO"
    case streamNotZero = "STREAM_NOT_ZERO"
    case helloExpected = "HELLO_EXPECTED"
    case helloRepeated = "HELLO_REPEATED"
    case helloTimeout = "HELLO_TIMEOUT"
    case helloInvalid = "HELLO_INVALID"
    case protocolVersion = "PROTOCOL_VERSION"
    case streamLive = "STREAM_LIVE"
    case kindNotForClients = "KIND_NOT_FOR_CLIENTS"
    case pingLength = "PING_LENGTH"
    case cancelNotEmpty = "CANCEL_NOT_EMPTY"
    case connectionLimit = "CONNECTION_LIMIT"
    case handshakeLimit = "HANDSHAKE_LIMIT"
    case writeStalled = "WRITE_STALLED"
    case partialFramesLimit = "PARTIAL_FRAMES_LIMIT"
    case frameTimeout = "FRAME_TIMEOUT"
    case inflateLimit = "INFLATE_LIMIT"
    case inflateRatio = "INFLATE_RATIO"
    case inflateCorrupt = "INFLATE_CORRUPT"
    case compressionNotOffered = "COMPRESSION_NOT_OFFERED"
    case shuttingDown = "SHUTTING_DOWN"
    case tlsRequired = "TLS_REQUIRED"
    case certificateExpired = "CERTIFICATE_EXPIRED"
    case connectRate = "CONNECT_RATE"
    case credentialsLimit = "CREDENTIALS_LIMIT"
    case httpProtocol = "HTTP_PROTOCOL"
    case httpFlood = "HTTP_FLOOD"
    case ageLimit = "AGE_LIMIT"

    // What ends a call.
    case cancelled = "CANCELLED"
    case deadline = "DEADLINE"
    case encodingUnknown = "ENCODING_UNKNOWN"
    case envelopeInvalid = "ENVELOPE_INVALID"
    case timeoutMalformed = "TIMEOUT_MALFORMED"
    case unknownMethod = "UNKNOWN_METHOD"
    case messageMalformed = "MESSAGE_MALFORMED"
    case messageTooDeep = "MESSAGE_TOO_DEEP"
    case messageTooManyFields = "MESSAGE_TOO_MANY_FIELDS"
    case messageTooManyItems = "MESSAGE_TOO_MANY_ITEMS"
    case textNotUTF8 = "TEXT_NOT_UTF8"
    case textHasNUL = "TEXT_HAS_NUL"
    case callsLimit = "CALLS_LIMIT"
    case callsBytesLimit = "CALLS_BYTES_LIMIT"
    case requestTooLong = "REQUEST_TOO_LONG"
    case accountKey = "ACCOUNT_KEY"
    case fieldMissing = "FIELD_MISSING"
    case fieldInvalid = "FIELD_INVALID"
    case appAmbiguous = "APP_AMBIGUOUS"
    case appUnknown = "APP_UNKNOWN"
    case accountUnknown = "ACCOUNT_UNKNOWN"
    case transactionUnknown = "TRANSACTION_UNKNOWN"
    case productUnknown = "PRODUCT_UNKNOWN"
    case imageUnknown = "IMAGE_UNKNOWN"
    case notATestApp = "NOT_A_TEST_APP"
    case noTwin = "NO_TWIN"
    case mishapLimit = "MISHAP_LIMIT"
    case tokenMalformed = "TOKEN_MALFORMED"
    case tokenOtherView = "TOKEN_OTHER_VIEW"
    case tokenOtherStore = "TOKEN_OTHER_STORE"
    case tokenFuture = "TOKEN_FUTURE"
    case behind = "BEHIND"
    case cursorTooOld = "CURSOR_TOO_OLD"
    case cursorMalformed = "CURSOR_MALFORMED"
    case keyReused = "KEY_REUSED"
    case recordLimit = "RECORD_LIMIT"
    case storeFull = "STORE_FULL"
    case storeFailed = "STORE_FAILED"
    case storeUnreachable = "STORE_UNREACHABLE"
    case catalogInvalid = "CATALOG_INVALID"
    case catalogTooLong = "CATALOG_TOO_LONG"
    case clockBackwards = "CLOCK_BACKWARDS"
    case advanceLimit = "ADVANCE_LIMIT"
    case historyLimit = "HISTORY_LIMIT"
    case unauthenticated = "UNAUTHENTICATED"
    case permissionDenied = "PERMISSION_DENIED"
    case credentialsMalformed = "CREDENTIALS_MALFORMED"
    case credentialsUntrusted = "CREDENTIALS_UNTRUSTED"
    case credentialsMisdirected = "CREDENTIALS_MISDIRECTED"
    case credentialsNotYetValid = "CREDENTIALS_NOT_YET_VALID"
    case credentialsExpired = "CREDENTIALS_EXPIRED"
    case credentialsRevoked = "CREDENTIALS_REVOKED"
    case revocationLimit = "REVOCATION_LIMIT"
    case ownedByOther = "OWNED_BY_OTHER"
    case notToldApp = "NOT_A_TOLD_APP"
    case accountShares = "ACCOUNT_SHARES"
    case deadLetterLimit = "DEAD_LETTER_LIMIT"
    case deadLetterUnknown = "DEAD_LETTER_UNKNOWN"
    case intakeFull = "INTAKE_FULL"
    case appleMalformed = "APPLE_MALFORMED"
    case appleTooLong = "APPLE_TOO_LONG"
    case appleNoChain = "APPLE_NO_CHAIN"
    case appleAlgorithm = "APPLE_ALGORITHM"
    case appleChainLength = "APPLE_CHAIN_LENGTH"
    case appleCertificate = "APPLE_CERTIFICATE"
    case appleUntrusted = "APPLE_UNTRUSTED"
    case appleCertificateTime = "APPLE_CERTIFICATE_TIME"
    case appleNoMarker = "APPLE_NO_MARKER"
    case appleSignature = "APPLE_SIGNATURE"
    case appleAppIdentifier = "APPLE_APP_IDENTIFIER"
    case appleEnvironment = "APPLE_ENVIRONMENT"
    case appleAppUnknown = "APPLE_APP_UNKNOWN"
    case callRate = "CALL_RATE"
    case credentialsRate = "CREDENTIALS_RATE"
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
    case storeKitUnknown = "STOREKIT_UNKNOWN"
    case storeKitUserCancelled = "STOREKIT_USER_CANCELLED"
    case storeKitNetworkError = "STOREKIT_NETWORK_ERROR"
    case storeKitSystemError = "STOREKIT_SYSTEM_ERROR"
    case storeKitNotAvailableInStorefront = "STOREKIT_NOT_AVAILABLE_IN_STOREFRONT"
    case storeKitNotEntitled = "STOREKIT_NOT_ENTITLED"
    case storeKitUnsupported = "STOREKIT_UNSUPPORTED"
    case storeKitDuplicateRequest = "STOREKIT_DUPLICATE_REQUEST"
    case storeKitFailed = "STOREKIT_FAILED"
    case backupRunning = "BACKUP_RUNNING"
    case reconcileRunning = "RECONCILE_RUNNING"
    case backupFailed = "BACKUP_FAILED"
    case leaseWait = "LEASE_WAIT"
    case `internal` = "INTERNAL"

    package var code: StatusCode {
        switch self {
        case .cancelled:
            .cancelled
        case .unknownKind, .reservedFlag, .streamZero, .streamNotZero, .helloInvalid, .kindNotForClients, .pingLength,
            .cancelNotEmpty, .inflateCorrupt, .compressionNotOffered, .messageMalformed, .messageTooDeep,
            .messageTooManyFields, .messageTooManyItems, .textNotUTF8, .textHasNUL, .accountKey, .fieldMissing,
            .fieldInvalid, .appAmbiguous, .tokenMalformed, .tokenOtherView, .cursorMalformed, .catalogInvalid,
            .purchaseInvalidQuantity, .purchaseInvalidOffer, .purchaseInvalidOfferPrice,
            .purchaseInvalidOfferSignature, .purchaseMissingOfferParameters, .priceIncreaseInvalid, .extensionInvalid,
            .appleMalformed:
            .invalidArgument
        case .helloTimeout, .frameTimeout, .deadline:
            .deadlineExceeded
        case .appUnknown, .accountUnknown, .transactionUnknown, .productUnknown, .imageUnknown, .pendingUnknown,
            .intentUnknown, .deadLetterUnknown, .appleAppUnknown:
            .notFound
        case .permissionDenied, .appleNoChain, .appleAlgorithm, .appleChainLength, .appleCertificate, .appleUntrusted,
            .appleCertificateTime, .appleNoMarker, .appleSignature, .appleAppIdentifier, .appleEnvironment:
            .permissionDenied
        case .frameTooLong, .connectionLimit, .handshakeLimit, .writeStalled, .partialFramesLimit, .inflateLimit,
            .inflateRatio, .callsLimit, .callsBytesLimit, .requestTooLong, .recordLimit, .storeFull, .catalogTooLong,
            .advanceLimit,
            .familyLimit, .pendingLimit, .intentLimit, .historyLimit, .connectRate, .callRate, .credentialsRate,
            .credentialsLimit,
            .revocationLimit, .httpFlood, .deadLetterLimit, .appleTooLong, .mishapLimit:
            .resourceExhausted
        case .helloExpected, .helloRepeated, .protocolVersion, .streamLive, .notATestApp, .noTwin, .tokenOtherStore,
            .tokenFuture, .behind, .keyReused, .clockBackwards, .purchaseProductUnavailable, .purchaseNotAllowed,
            .purchaseIneligibleForOffer, .refundNotPossible, .notASubscription, .notSubscribed, .notInRetry,
            .notShareable, .notShared, .noPriceIncrease, .extensionIneligible, .storeKitUnknown,
            .storeKitUserCancelled, .storeKitNetworkError, .storeKitSystemError, .storeKitNotAvailableInStorefront,
            .storeKitNotEntitled, .storeKitUnsupported, .storeKitDuplicateRequest, .storeKitFailed, .backupRunning,
            .reconcileRunning,
            .backupFailed, .tlsRequired, .ownedByOther, .notToldApp, .accountShares:
            .failedPrecondition
        case .cursorTooOld:
            .outOfRange
        case .unknownMethod, .encodingUnknown:
            .unimplemented
        case .internal, .httpProtocol, .envelopeInvalid, .timeoutMalformed:
            .internal
        case .shuttingDown, .storeFailed, .storeUnreachable, .leaseWait, .ageLimit, .intakeFull:
            .unavailable
        case .unauthenticated, .certificateExpired, .credentialsMalformed, .credentialsUntrusted,
            .credentialsMisdirected, .credentialsNotYetValid, .credentialsExpired, .credentialsRevoked:
            .unauthenticated
        }
    }
}

/// Whether a client may retry without an operator's help. The raw value is the text of the column `Retry` in
/// `proto/README.md`.
package enum Retry: String, Hashable, Sendable, CaseIterable {
    /// The same request, or the same connection, gets the same answer.
    case no
    /// It may succeed later. The wait grows with each attempt.
    case yes
    /// It may succeed after the time in the detail `retry_after_ms`.
    case whenTold = "yes, after `retry_after_ms`"
    /// It may succeed after the time in DRAIN.
    case whenDrainSays = "yes, after `reconnect_after_ms`"
    /// Other credentials may be accepted. The same ones are not.
    case newCredentials = "with new credentials"
    /// The call succeeds without its resume token, cursor or page token.
    case withoutToken = "without the token"

    /// Whether the same attempt may succeed later without intervention.
    package var passesWithTime: Bool {
        switch self {
        case .yes, .whenTold, .whenDrainSays: true
        case .no, .newCredentials, .withoutToken: false
        }
    }
}

extension ErrorReason {
    /// Whether and when a client tries again: the column `Retry` of the contract.
    package var retry: Retry {
        switch self {
        case .helloTimeout, .frameTimeout, .connectionLimit, .handshakeLimit, .writeStalled, .partialFramesLimit,
            .deadline, .callsLimit, .callsBytesLimit, .behind, .storeFull, .storeFailed, .storeUnreachable,
            .backupRunning, .reconcileRunning, .mishapLimit,
            .credentialsNotYetValid, .leaseWait, .internal, .httpFlood, .ageLimit, .intakeFull, .deadLetterLimit:
            .yes
        case .callRate, .credentialsRate:
            .whenTold
        case .connectRate, .shuttingDown:
            .whenDrainSays
        case .certificateExpired, .credentialsLimit, .unauthenticated, .credentialsMalformed, .credentialsUntrusted,
            .credentialsMisdirected, .credentialsExpired, .credentialsRevoked:
            .newCredentials
        case .tokenMalformed, .tokenOtherView, .tokenOtherStore, .tokenFuture, .cursorTooOld, .cursorMalformed:
            .withoutToken
        case .httpProtocol, .encodingUnknown, .envelopeInvalid, .timeoutMalformed, .frameTooLong, .unknownKind,
            .reservedFlag, .streamZero, .streamNotZero, .helloExpected, .helloRepeated,
            .helloInvalid, .protocolVersion, .streamLive, .kindNotForClients, .pingLength, .cancelNotEmpty,
            .inflateLimit, .inflateRatio, .inflateCorrupt, .compressionNotOffered, .tlsRequired, .cancelled,
            .unknownMethod, .messageMalformed, .messageTooDeep, .messageTooManyFields, .messageTooManyItems,
            .textNotUTF8, .textHasNUL, .requestTooLong, .accountKey, .fieldMissing, .fieldInvalid, .appAmbiguous,
            .appUnknown, .accountUnknown, .transactionUnknown, .productUnknown, .imageUnknown, .notATestApp, .noTwin,
            .keyReused,
            .recordLimit, .catalogInvalid, .catalogTooLong, .clockBackwards, .advanceLimit, .historyLimit,
            .permissionDenied, .revocationLimit, .purchaseInvalidQuantity, .purchaseProductUnavailable,
            .purchaseNotAllowed, .purchaseIneligibleForOffer, .purchaseInvalidOffer, .purchaseInvalidOfferPrice,
            .purchaseInvalidOfferSignature, .purchaseMissingOfferParameters, .pendingUnknown, .pendingLimit,
            .intentUnknown, .intentLimit, .refundNotPossible, .notASubscription, .notSubscribed, .notInRetry,
            .notShareable, .familyLimit, .notShared, .priceIncreaseInvalid, .noPriceIncrease, .extensionInvalid,
            .extensionIneligible,
            .storeKitUnknown, .storeKitUserCancelled, .storeKitNetworkError, .storeKitSystemError,
            .storeKitNotAvailableInStorefront, .storeKitNotEntitled, .storeKitUnsupported, .storeKitDuplicateRequest,
            .storeKitFailed, .backupFailed, .ownedByOther, .notToldApp, .accountShares, .deadLetterUnknown,
            .appleMalformed, .appleTooLong, .appleNoChain, .appleAlgorithm, .appleChainLength, .appleCertificate,
            .appleUntrusted, .appleCertificateTime, .appleNoMarker, .appleSignature, .appleAppIdentifier,
            .appleEnvironment, .appleAppUnknown:
            .no
        }
    }

    /// The numbers in a final DRAIN: the client stays away for `after` milliseconds, plus a random part of `jitter`.
    ///
    /// A client that obeys these two numbers reconnects rarely if reconnecting is useless. `endsAcceptedCredentials`:
    /// the connection was welcomed and its credentials end now, so a client with new ones should reconnect at once.
    package func drainPause(endsAcceptedCredentials: Bool = false) -> (after: UInt32, jitter: UInt32) {
        switch self {
        case .shuttingDown:
            return (Limits.drainReturnMilliseconds, Limits.drainJitterMilliseconds)
        case .connectionLimit, .handshakeLimit, .partialFramesLimit:
            return (Limits.drainWhenFullMilliseconds, 4 * Limits.drainWhenFullMilliseconds)
        case .credentialsExpired, .credentialsRevoked, .certificateExpired:
            if endsAcceptedCredentials { return (0, Limits.drainShortJitterMilliseconds) }
        default:
            break
        }
        switch self.retry {
        case .no, .newCredentials, .withoutToken:
            return (Limits.drainFinalMilliseconds, Limits.drainFinalMilliseconds)
        case .yes, .whenTold, .whenDrainSays:
            return (0, Limits.drainShortJitterMilliseconds)
        }
    }
}

/// How a call or a connection ends: the contents of a STATUS or a DRAIN.
package struct WireStatus: Hashable, Sendable {
    package var code: StatusCode
    /// Nil with OK.
    package var reason: ErrorReason?
    /// A text for users: what happened, with the numbers, and the next step. Safe to log.
    package var message: String
    /// The message's numbers, for programs.
    package var details: [StatusDetail]

    package static let ok = WireStatus()

    private init() {
        self.code = .ok
        self.message = ""
        self.details = []
    }

    /// The end of a call of gRPC's own services, which know no reason of ours.
    package init(code: StatusCode, _ message: String) {
        self.code = code
        self.message = message
        self.details = []
    }

    package init(_ reason: ErrorReason, _ message: String, details: [StatusDetail] = []) {
        self.code = reason.code
        self.reason = reason
        self.message = message
        self.details = details
    }

    /// The message of a STATUS.
    package var status: Status {
        Status(
            code: self.code.rawValue, message: self.message, reason: self.reason?.rawValue ?? "", details: self.details)
    }

    /// The message of a DRAIN.
    package func drain(
        isFinal: Bool = true, reconnectAfterMilliseconds: UInt32 = 0, jitterMilliseconds: UInt32 = 0
    ) -> Drain {
        Drain(
            reason: self.reason?.rawValue ?? "", message: self.message,
            reconnectAfterMilliseconds: reconnectAfterMilliseconds, jitterMilliseconds: jitterMilliseconds,
            isFinal: isFinal, details: self.details)
    }

    /// The state of a stream that currently has no value.
    package var failure: Failure { Failure(reason: self.reason?.rawValue ?? "", message: self.message) }
}

// MARK: From the errors of the layers

extension WireStatus {
    package init(_ error: FrameError) {
        switch error {
        case .unknownKind(let kind):
            self.init(.unknownKind, error.description, details: [.found(kind)])
        case .reservedFlag(let flags):
            self.init(.reservedFlag, error.description, details: [.found(flags)])
        case .tooLong(_, let declared, let limit):
            self.init(.frameTooLong, error.description, details: [.found(declared), .limit(limit)])
        }
    }

    package init(_ error: MessageError) {
        let text = error.description
        switch error {
        case .malformed(let field, let byte, _):
            self.init(.messageMalformed, text, details: [.field(field), .atByte(byte)])
        case .tooDeep(let field, let limit):
            self.init(.messageTooDeep, text, details: [.field(field), .limit(limit)])
        case .tooManyFields(let message, let limit):
            self.init(.messageTooManyFields, text, details: [.field(message), .limit(limit)])
        case .tooManyItems(let field, let count, let limit):
            self.init(.messageTooManyItems, text, details: [.field(field), .found(count), .limit(limit)])
        case .notUTF8(let field, let byte):
            self.init(.textNotUTF8, text, details: [.field(field), .atByte(byte)])
        case .hasNUL(let field, let byte):
            self.init(.textHasNUL, text, details: [.field(field), .atByte(byte)])
        case .missing(let field):
            self.init(.fieldMissing, text, details: [.field(field)])
        case .invalid(let field, let found, let expected):
            self.init(
                .fieldInvalid, text,
                details: [
                    .field(field), StatusDetail(key: "found", value: found),
                    StatusDetail(key: "expected", value: expected),
                ])
        case .tooLong(let message, let bytes, let limit):
            self.init(.frameTooLong, text, details: [.field(message), .found(bytes), .limit(limit)])
        case .tooMuchMemory(let message, let limit):
            self.init(.messageTooManyItems, text, details: [.field(message), .limit(limit)])
        }
    }

    package init(_ error: InflateError) {
        let text = error.description
        switch error {
        // Inflating stops at the limit, so only the limit plus one is known.
        case .tooLong(let limit): self.init(.inflateLimit, text, details: [.found(limit + 1), .limit(limit)])
        case .ratio(let compressed, let limit):
            self.init(.inflateRatio, text, details: [.found(compressed), .limit(limit)])
        case .truncated(let compressed): self.init(.inflateCorrupt, text, details: [.found(compressed)])
        case .trailingBytes(let count): self.init(.inflateCorrupt, text, details: [.found(count)])
        case .corrupt(let byte): self.init(.inflateCorrupt, text, details: [.atByte(byte)])
        case .noMemory: self.init(.inflateLimit, text)
        }
    }

    package init(_ error: TokenError) {
        self.init(error.reason, error.description)
    }

    /// Converts the model's refusal. A test checks that the table has all of the model's reasons.
    package init(_ refusal: Refusal) {
        guard let reason = ErrorReason(rawValue: refusal.reason.rawValue) else {
            preconditionFailure("the model refuses with \(refusal.reason.rawValue), which the table does not have")
        }
        var details: [StatusDetail] = []
        if !refusal.field.isEmpty { details.append(.field(refusal.field)) }
        if let found = refusal.found { details.append(.found(found)) }
        if let limit = refusal.limit { details.append(.limit(limit)) }
        switch reason {
        case .recordLimit: details.append(.setting("record-entries"))
        case .cursorTooOld: details.append(.setting("cursor-revisions"))
        default: break
        }
        self.init(reason, refusal.message, details: details)
    }
}

extension StatusDetail {
    package static func field(_ name: String) -> Self { Self(key: "field", value: name) }
    package static func found(_ number: some BinaryInteger) -> Self { Self(key: "found", value: String(number)) }
    package static func limit(_ number: some BinaryInteger) -> Self { Self(key: "limit", value: String(number)) }
    package static func atByte(_ offset: Int) -> Self { Self(key: "at_byte", value: String(offset)) }
    /// The setting that changes a limit.
    package static func setting(_ name: String) -> Self { Self(key: "setting", value: name) }
}
