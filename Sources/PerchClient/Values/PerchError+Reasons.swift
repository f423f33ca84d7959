package import PerchWire

extension PerchError {
    /// Why an error happened, for programs: one word.
    ///
    /// The static members are the words that this version knows. A newer server may send others; they compare by their text.
    public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// The word, such as `APP_UNKNOWN`; empty where the error has none.
        public let rawValue: String

        /// Creates a reason from its word, which this version need not know.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Creates a reason from its word, which this version need not know.
        public init(stringLiteral word: String) { self.rawValue = word }

        /// The word.
        public var description: String { self.rawValue }
        /// Whether the error has no reason, so that only its code says something.
        public var isEmpty: Bool { self.rawValue.isEmpty }
        /// Whether a stream that ended for this reason can go on only from its beginning: its token or cursor is not one of
        /// this history, or too old for it. Read what matters, and start without it.
        public var needsFreshStart: Bool { ErrorReason(self)?.retry == .withoutToken }

        package init(_ reason: ErrorReason) { self.rawValue = reason.rawValue }
    }
}

extension ErrorReason {
    /// Nil for a word that is not of the contract's tables.
    package init?(_ reason: PerchError.Reason) { self.init(rawValue: reason.rawValue) }
}

extension PerchError.Reason {
    // MARK: What ends a connection

    /// A header declares more than the limit.
    public static let frameTooLong = Self(rawValue: "FRAME_TOO_LONG")
    /// No such kind of frame.
    public static let unknownKind = Self(rawValue: "UNKNOWN_KIND")
    /// A flag bit other than bit 0.
    public static let reservedFlag = Self(rawValue: "RESERVED_FLAG")
    /// CALL or CANCEL on stream 0.
    public static let streamZero = Self(rawValue: "STREAM_ZERO")
    /// HELLO, PING or PONG on a stream.
    public static let streamNotZero = Self(rawValue: "STREAM_NOT_ZERO")
    /// Something else came before HELLO.
    public static let helloExpected = Self(rawValue: "HELLO_EXPECTED")
    /// A second HELLO.
    public static let helloRepeated = Self(rawValue: "HELLO_REPEATED")
    /// No whole HELLO in time.
    public static let helloTimeout = Self(rawValue: "HELLO_TIMEOUT")
    /// HELLO cannot be parsed, its text is not UTF-8 or has NUL, or `client_id` has over 32 bytes.
    public static let helloInvalid = Self(rawValue: "HELLO_INVALID")
    /// A version that this server does not speak.
    public static let protocolVersion = Self(rawValue: "PROTOCOL_VERSION")
    /// CALL on a number whose STATUS was not sent yet.
    public static let streamLive = Self(rawValue: "STREAM_LIVE")
    /// A kind that only servers send.
    public static let kindNotForClients = Self(rawValue: "KIND_NOT_FOR_CLIENTS")
    /// PING or PONG without exactly eight bytes.
    public static let pingLength = Self(rawValue: "PING_LENGTH")
    /// CANCEL with a message.
    public static let cancelNotEmpty = Self(rawValue: "CANCEL_NOT_EMPTY")
    /// Too many connections: of the process, of this address or of this identity.
    public static let connectionLimit = Self(rawValue: "CONNECTION_LIMIT")
    /// Too many connections wait for HELLO or valid credentials, and your address has most of them.
    public static let handshakeLimit = Self(rawValue: "HANDSHAKE_LIMIT")
    /// You read nothing for too long while something waited.
    public static let writeStalled = Self(rawValue: "WRITE_STALLED")
    /// The server holds too many unfinished frames, and your address has most of them.
    public static let partialFramesLimit = Self(rawValue: "PARTIAL_FRAMES_LIMIT")
    /// A frame was not complete in time.
    public static let frameTimeout = Self(rawValue: "FRAME_TIMEOUT")
    /// A message inflates past the frame limit.
    public static let inflateLimit = Self(rawValue: "INFLATE_LIMIT")
    /// A message inflates too far for its size.
    public static let inflateRatio = Self(rawValue: "INFLATE_RATIO")
    /// Not one whole zlib stream.
    public static let inflateCorrupt = Self(rawValue: "INFLATE_CORRUPT")
    /// Flag 1 before WELCOME, on a kind that is never compressed, or with an encoding outside of `Welcome.accepts`.
    public static let compressionNotOffered = Self(rawValue: "COMPRESSION_NOT_OFFERED")
    /// The server stops. Also in STATUS.
    public static let shuttingDown = Self(rawValue: "SHUTTING_DOWN")
    /// You speak plaintext where TLS is required.
    public static let tlsRequired = Self(rawValue: "TLS_REQUIRED")
    /// You resumed a TLS session whose certificate has expired since.
    public static let certificateExpired = Self(rawValue: "CERTIFICATE_EXPIRED")
    /// This address connects too often.
    public static let connectRate = Self(rawValue: "CONNECT_RATE")
    /// Too many calls of this connection had refused credentials.
    public static let credentialsLimit = Self(rawValue: "CREDENTIALS_LIMIT")
    /// A frame or a request breaks HTTP/2 or HTTP/1.1.
    public static let httpProtocol = Self(rawValue: "HTTP_PROTOCOL")
    /// Too many frames came without data, or a header block had no end.
    public static let httpFlood = Self(rawValue: "HTTP_FLOOD")
    /// The stream has reached the age at which it moves to another server.
    public static let ageLimit = Self(rawValue: "AGE_LIMIT")

    // MARK: What ends a call

    /// You cancelled it. A mutation may have happened.
    public static let cancelled = Self(rawValue: "CANCELLED")
    /// `timeout_ms` has passed. A mutation may have happened.
    public static let deadline = Self(rawValue: "DEADLINE")
    /// A message encoding or codec that this server does not have.
    public static let encodingUnknown = Self(rawValue: "ENCODING_UNKNOWN")
    /// The prefix of a message is wrong, or a call has not exactly one request.
    public static let envelopeInvalid = Self(rawValue: "ENVELOPE_INVALID")
    /// A timeout that is not up to eight digits and a unit.
    public static let timeoutMalformed = Self(rawValue: "TIMEOUT_MALFORMED")
    /// No such method here.
    public static let unknownMethod = Self(rawValue: "UNKNOWN_METHOD")
    /// The `Call`, or the request in it, cannot be parsed.
    public static let messageMalformed = Self(rawValue: "MESSAGE_MALFORMED")
    /// Nested too deeply. No message of today's contract can be.
    public static let messageTooDeep = Self(rawValue: "MESSAGE_TOO_DEEP")
    /// Too many fields.
    public static let messageTooManyFields = Self(rawValue: "MESSAGE_TOO_MANY_FIELDS")
    /// Too many items in lists.
    public static let messageTooManyItems = Self(rawValue: "MESSAGE_TOO_MANY_ITEMS")
    /// A text is not UTF-8.
    public static let textNotUTF8 = Self(rawValue: "TEXT_NOT_UTF8")
    /// A text has a NUL.
    public static let textHasNUL = Self(rawValue: "TEXT_HAS_NUL")
    /// Too many live calls on this connection.
    public static let callsLimit = Self(rawValue: "CALLS_LIMIT")
    /// The open calls of all clients hold too much.
    public static let callsBytesLimit = Self(rawValue: "CALLS_BYTES_LIMIT")
    /// The request is over the limit of its method.
    public static let requestTooLong = Self(rawValue: "REQUEST_TOO_LONG")
    /// The account's key has not 1 to 255 bytes.
    public static let accountKey = Self(rawValue: "ACCOUNT_KEY")
    /// A field that must be set is not, or one of several; the details name it.
    public static let fieldMissing = Self(rawValue: "FIELD_MISSING")
    /// A field has an impossible value; the details have `field`, `found` and `expected`.
    public static let fieldInvalid = Self(rawValue: "FIELD_INVALID")
    /// The request names no app, or only half, and there are several.
    public static let appAmbiguous = Self(rawValue: "APP_AMBIGUOUS")
    /// No such app; `found` is the app named by the request or by its credentials.
    public static let appUnknown = Self(rawValue: "APP_UNKNOWN")
    /// The test store has no such account. Watches and reads of what is owned never say this: an unknown account
    /// owns nothing, and neither does any account in a group or of a product that the catalogue does not have
    /// (`info.not_in_catalog` says so).
    public static let accountUnknown = Self(rawValue: "ACCOUNT_UNKNOWN")
    /// No such transaction, or not of this account.
    public static let transactionUnknown = Self(rawValue: "TRANSACTION_UNKNOWN")
    /// A test store operation names a product that neither the catalogue nor the account has. (A purchase gets
    /// `PURCHASE_PRODUCT_UNAVAILABLE`.).
    public static let productUnknown = Self(rawValue: "PRODUCT_UNKNOWN")
    /// The catalogue has no such image, or lacks its file.
    public static let imageUnknown = Self(rawValue: "IMAGE_UNKNOWN")
    /// Only `xcode` apps have purchases and test operations.
    public static let notATestApp = Self(rawValue: "NOT_A_TEST_APP")
    /// Not a token of ours, or damaged.
    public static let tokenMalformed = Self(rawValue: "TOKEN_MALFORMED")
    /// A token of other parameters: app, account, group, products, locale, storefront; or a cursor of another
    /// account or app.
    public static let tokenOtherView = Self(rawValue: "TOKEN_OTHER_VIEW")
    /// A token, cursor or page token of another store or epoch, or an `at_least` of another epoch.
    public static let tokenOtherStore = Self(rawValue: "TOKEN_OTHER_STORE")
    /// A cursor of a revision that this store has not reached. For a token the server waits: `BEHIND`.
    public static let tokenFuture = Self(rawValue: "TOKEN_FUTURE")
    /// The server did not reach `at_least`, or the token's position, before the deadline.
    public static let behind = Self(rawValue: "BEHIND")
    /// The events after the cursor are no longer kept.
    public static let cursorTooOld = Self(rawValue: "CURSOR_TOO_OLD")
    /// Not a cursor or page token of ours, or a page token of another list.
    public static let cursorMalformed = Self(rawValue: "CURSOR_MALFORMED")
    /// The idempotency key was used for another request.
    public static let keyReused = Self(rawValue: "KEY_REUSED")
    /// The account has too many lines and products.
    public static let recordLimit = Self(rawValue: "RECORD_LIMIT")
    /// The disk is full; reads and streams continue.
    public static let storeFull = Self(rawValue: "STORE_FULL")
    /// The store failed; nothing was acknowledged.
    public static let storeFailed = Self(rawValue: "STORE_FAILED")
    /// The server cannot reach its storage; nothing was written. In DRAIN: for long, and other nodes of the store
    /// may reach it.
    public static let storeUnreachable = Self(rawValue: "STORE_UNREACHABLE")
    /// The catalogue file cannot be used; the message names line and column.
    public static let catalogInvalid = Self(rawValue: "CATALOG_INVALID")
    /// The catalogue file, with its images, is over the limit.
    public static let catalogTooLong = Self(rawValue: "CATALOG_TOO_LONG")
    /// The clock of an app only goes forward.
    public static let clockBackwards = Self(rawValue: "CLOCK_BACKWARDS")
    /// One advance would go too far, or settle too much.
    public static let advanceLimit = Self(rawValue: "ADVANCE_LIMIT")
    /// A read about the past would go through more than 16,384 facts of the account.
    public static let historyLimit = Self(rawValue: "HISTORY_LIMIT")
    /// Neither HELLO nor the call had credentials.
    public static let unauthenticated = Self(rawValue: "UNAUTHENTICATED")
    /// The identity lacks the scope, or is for another app or account; the details say which.
    public static let permissionDenied = Self(rawValue: "PERMISSION_DENIED")
    /// Not `Bearer` and a token, a required claim is missing, or `exp` is too far ahead. Also in DRAIN, as the next
    /// five.
    public static let credentialsMalformed = Self(rawValue: "CREDENTIALS_MALFORMED")
    /// The server does not know the key, or the algorithm is not the key's.
    public static let credentialsUntrusted = Self(rawValue: "CREDENTIALS_UNTRUSTED")
    /// `aud` or `iss` is not the one of this server.
    public static let credentialsMisdirected = Self(rawValue: "CREDENTIALS_MISDIRECTED")
    /// `nbf` is more than a minute ahead.
    public static let credentialsNotYetValid = Self(rawValue: "CREDENTIALS_NOT_YET_VALID")
    /// `exp`, or the end of the certificate, has passed. It ends streams too.
    public static let credentialsExpired = Self(rawValue: "CREDENTIALS_EXPIRED")
    /// An administrator revoked the token, or the operator removed its key. It ends streams too.
    public static let credentialsRevoked = Self(rawValue: "CREDENTIALS_REVOKED")
    /// The store holds the largest number of revocations.
    public static let revocationLimit = Self(rawValue: "REVOCATION_LIMIT")
    /// Another account has a submitted transaction, and the app's claim policy keeps it there. What the transaction
    /// says is kept. Or a name that is attached is the key of another account.
    public static let ownedByOther = Self(rawValue: "OWNED_BY_OTHER")
    /// Perch itself is the store of this app, or the server has no settings of the App Store for it.
    public static let notToldApp = Self(rawValue: "NOT_A_TOLD_APP")
    /// The server is the App Store of no backend, or delivers no notifications.
    public static let noTwin = Self(rawValue: "NO_TWIN")
    /// 100 mishaps of an app wait.
    public static let mishapLimit = Self(rawValue: "MISHAP_LIMIT")
    /// An account is not erased while it shares purchases with family members.
    public static let accountShares = Self(rawValue: "ACCOUNT_SHARES")
    /// So many values wait as dead letters that no further one fits. Apple sends a notification again.
    public static let deadLetterLimit = Self(rawValue: "DEAD_LETTER_LIMIT")
    /// There is no such dead letter.
    public static let deadLetterUnknown = Self(rawValue: "DEAD_LETTER_UNKNOWN")
    /// Too many values wait to be verified.
    public static let intakeFull = Self(rawValue: "INTAKE_FULL")
    /// The value is no compact JWS with a JSON payload, or lacks a field.
    public static let appleMalformed = Self(rawValue: "APPLE_MALFORMED")
    /// A signed value is over 64 KiB, or a notification over 128 KiB.
    public static let appleTooLong = Self(rawValue: "APPLE_TOO_LONG")
    /// The header has no certificates. Apple's library says VERIFICATION_FAILURE.
    public static let appleNoChain = Self(rawValue: "APPLE_NO_CHAIN")
    /// The header's `alg` is not ES256. Apple's library says VERIFICATION_FAILURE.
    public static let appleAlgorithm = Self(rawValue: "APPLE_ALGORITHM")
    /// The header has not exactly three certificates. Apple's library says INVALID_CHAIN_LENGTH.
    public static let appleChainLength = Self(rawValue: "APPLE_CHAIN_LENGTH")
    /// A certificate cannot be read. Apple's library says INVALID_CERTIFICATE.
    public static let appleCertificate = Self(rawValue: "APPLE_CERTIFICATE")
    /// The chain reaches no root that the app trusts. Apple's library says VERIFICATION_FAILURE.
    public static let appleUntrusted = Self(rawValue: "APPLE_UNTRUSTED")
    /// A certificate was not valid when the value was signed. Apple's library says VERIFICATION_FAILURE.
    public static let appleCertificateTime = Self(rawValue: "APPLE_CERTIFICATE_TIME")
    /// A certificate is not one of the App Store. Apple's library says VERIFICATION_FAILURE.
    public static let appleNoMarker = Self(rawValue: "APPLE_NO_MARKER")
    /// The signature does not match. Apple's library says VERIFICATION_FAILURE.
    public static let appleSignature = Self(rawValue: "APPLE_SIGNATURE")
    /// The value is of another app. Apple's library says INVALID_APP_IDENTIFIER.
    public static let appleAppIdentifier = Self(rawValue: "APPLE_APP_IDENTIFIER")
    /// The value is of another environment. Apple's library says INVALID_ENVIRONMENT.
    public static let appleEnvironment = Self(rawValue: "APPLE_ENVIRONMENT")
    /// The value is good, and no app of this server has its bundle ID and environment. It is kept as a dead letter.
    public static let appleAppUnknown = Self(rawValue: "APPLE_APP_UNKNOWN")
    /// This identity makes too many calls.
    public static let callRate = Self(rawValue: "CALL_RATE")
    /// Many unknown tokens came at once over HTTP, and this one was not verified. Tokens that the server knows are
    /// not refused so.
    public static let credentialsRate = Self(rawValue: "CREDENTIALS_RATE")
    /// A quantity over 10, or over 1 of what is not a consumable.
    public static let purchaseInvalidQuantity = Self(rawValue: "PURCHASE_INVALID_QUANTITY")
    /// The catalogue does not sell this product.
    public static let purchaseProductUnavailable = Self(rawValue: "PURCHASE_PRODUCT_UNAVAILABLE")
    /// The account's charges fail, or it holds the product under another billing plan, or from a later date on. The
    /// message says which.
    public static let purchaseNotAllowed = Self(rawValue: "PURCHASE_NOT_ALLOWED")
    /// The account may not have this offer.
    public static let purchaseIneligibleForOffer = Self(rawValue: "PURCHASE_INELIGIBLE_FOR_OFFER")
    /// No such offer on this product. Nothing was bought.
    public static let purchaseInvalidOffer = Self(rawValue: "PURCHASE_INVALID_OFFER")
    /// Only by a simulated error: the offer's price is not valid.
    public static let purchaseInvalidOfferPrice = Self(rawValue: "PURCHASE_INVALID_OFFER_PRICE")
    /// A signature was given that cannot be verified. Nothing was bought.
    public static let purchaseInvalidOfferSignature = Self(rawValue: "PURCHASE_INVALID_OFFER_SIGNATURE")
    /// The offer has no type or identifier, or its code is one of several products.
    public static let purchaseMissingOfferParameters = Self(rawValue: "PURCHASE_MISSING_OFFER_PARAMETERS")
    /// No pending purchase has that number.
    public static let pendingUnknown = Self(rawValue: "PENDING_UNKNOWN")
    /// Too many purchases of the account are pending.
    public static let pendingLimit = Self(rawValue: "PENDING_LIMIT")
    /// No purchase intent has that number.
    public static let intentUnknown = Self(rawValue: "INTENT_UNKNOWN")
    /// The account has too many purchase intents.
    public static let intentLimit = Self(rawValue: "INTENT_LIMIT")
    /// The transaction is shared by a family member, or the refunded part is 0, or there is no refund to reverse.
    public static let refundNotPossible = Self(rawValue: "REFUND_NOT_POSSIBLE")
    /// The product does not renew.
    public static let notASubscription = Self(rawValue: "NOT_A_SUBSCRIPTION")
    /// The account does not hold this product now.
    public static let notSubscribed = Self(rawValue: "NOT_SUBSCRIBED")
    /// No charge of this subscription is failing, or the store has given up.
    public static let notInRetry = Self(rawValue: "NOT_IN_RETRY")
    /// The product is not family shareable, or is shared with the account, or the account would share with itself.
    public static let notShareable = Self(rawValue: "NOT_SHAREABLE")
    /// The account shares with five members already.
    public static let familyLimit = Self(rawValue: "FAMILY_LIMIT")
    /// There is no such sharing to end.
    public static let notShared = Self(rawValue: "NOT_SHARED")
    /// The price is not higher, or the subscription is about to change.
    public static let priceIncreaseInvalid = Self(rawValue: "PRICE_INCREASE_INVALID")
    /// No higher price waits for an answer.
    public static let noPriceIncrease = Self(rawValue: "NO_PRICE_INCREASE")
    /// The extension is not of 1 ms to 90 days.
    public static let extensionInvalid = Self(rawValue: "EXTENSION_INVALID")
    /// The subscription is in a free offer period, has no paid period, or had two extensions within 365 days.
    public static let extensionIneligible = Self(rawValue: "EXTENSION_INELIGIBLE")
    /// The test store is armed to fail with `StoreKitError.unknown`.
    public static let storeKitUnknown = Self(rawValue: "STOREKIT_UNKNOWN")
    /// The test store is armed to fail with `StoreKitError.userCancelled`.
    public static let storeKitUserCancelled = Self(rawValue: "STOREKIT_USER_CANCELLED")
    /// The test store is armed to fail with `StoreKitError.networkError`.
    public static let storeKitNetworkError = Self(rawValue: "STOREKIT_NETWORK_ERROR")
    /// The test store is armed to fail with `StoreKitError.systemError`.
    public static let storeKitSystemError = Self(rawValue: "STOREKIT_SYSTEM_ERROR")
    /// The test store is armed to fail with `StoreKitError.notAvailableInStorefront`.
    public static let storeKitNotAvailableInStorefront = Self(rawValue: "STOREKIT_NOT_AVAILABLE_IN_STOREFRONT")
    /// The test store is armed to fail with `StoreKitError.notEntitled`.
    public static let storeKitNotEntitled = Self(rawValue: "STOREKIT_NOT_ENTITLED")
    /// The test store is armed to fail with `StoreKitError.unsupported`.
    public static let storeKitUnsupported = Self(rawValue: "STOREKIT_UNSUPPORTED")
    /// The store already has a refund request for this transaction, or the test store is armed to fail with
    /// `RefundRequestError.duplicateRequest`.
    public static let storeKitDuplicateRequest = Self(rawValue: "STOREKIT_DUPLICATE_REQUEST")
    /// The test store is armed to fail with `RefundRequestError.failed`.
    public static let storeKitFailed = Self(rawValue: "STOREKIT_FAILED")
    /// A backup is under way; there is one at a time.
    public static let backupRunning = Self(rawValue: "BACKUP_RUNNING")
    /// A run of `Reconcile` with other flags is under way; the message says which and since when.
    public static let reconcileRunning = Self(rawValue: "RECONCILE_RUNNING")
    /// No backup was made; the message says why.
    public static let backupFailed = Self(rawValue: "BACKUP_FAILED")
    /// After a start, the app's clock is behind its lease.
    public static let leaseWait = Self(rawValue: "LEASE_WAIT")
    /// A bug of the server; its log has the details.
    public static let `internal` = Self(rawValue: "INTERNAL")

    // MARK: The client's own reasons

    /// The address is not one that can be connected to.
    public static let addressInvalid = Self(rawValue: "ADDRESS_INVALID")
    /// The file with the credentials cannot be read.
    public static let authorizationUnreadable = Self(rawValue: "AUTHORIZATION_UNREADABLE")
    /// No connection could be made.
    public static let connectFailed = Self(rawValue: "CONNECT_FAILED")
    /// The files of TLS cannot be read or do not belong together.
    public static let tlsFiles = Self(rawValue: "TLS_FILES")
    /// The server's certificate is of no trusted authority, or for another use.
    public static let tlsUntrusted = Self(rawValue: "TLS_UNTRUSTED")
    /// The server's certificate is valid, and has another name than the server was asked for.
    public static let tlsWrongName = Self(rawValue: "TLS_WRONG_NAME")
    /// The server's certificate has expired, or is not valid yet by this machine's clock.
    public static let tlsExpired = Self(rawValue: "TLS_EXPIRED")
    /// The server refuses this client's certificate, or requires one.
    public static let tlsRefused = Self(rawValue: "TLS_REFUSED")
    /// The peer does not speak TLS.
    public static let tlsFailed = Self(rawValue: "TLS_FAILED")
    /// The server and this client have no version or cipher of TLS in common.
    public static let tlsIncompatible = Self(rawValue: "TLS_INCOMPATIBLE")
    /// The connection ended without a reason.
    public static let connectionLost = Self(rawValue: "CONNECTION_LOST")
    /// The server sent nothing for two and a half heartbeats.
    public static let connectionSilent = Self(rawValue: "CONNECTION_SILENT")
    /// The server did not answer HELLO in time.
    public static let welcomeTimeout = Self(rawValue: "WELCOME_TIMEOUT")
    /// The peer does not speak perch/1 as this client knows it. Final: the next attempt would meet the same peer.
    public static let protocolBreach = Self(rawValue: "PROTOCOL_BREACH")
    /// A mutation that must not be repeated was pending when the connection ended.
    public static let outcomeUnknown = Self(rawValue: "OUTCOME_UNKNOWN")
    /// The server answered with something that only a newer client can read.
    public static let newerServer = Self(rawValue: "NEWER_SERVER")
    /// The client was closed.
    public static let closed = Self(rawValue: "CLOSED")
    /// The process could not start the thread that clients run on.
    public static let loopFailed = Self(rawValue: "LOOP_FAILED")

    // MARK: Reasons of a copy

    /// The copy is not complete yet.
    public static let copyNotReady = Self(rawValue: "COPY_NOT_READY")
    /// The copy is older than its `StaleCopy` allows.
    public static let copyStale = Self(rawValue: "COPY_STALE")
    /// The app has no entitlement of this name.
    public static let entitlementUnknown = Self(rawValue: "ENTITLEMENT_UNKNOWN")
    /// The copy has another shard than that of the account.
    public static let otherShard = Self(rawValue: "OTHER_SHARD")

    // MARK: Reasons of a value that is missing while its stream stays open

    /// The server could not load the value; it tries again.
    public static let loadFailed = Self(rawValue: "LOAD_FAILED")
}
