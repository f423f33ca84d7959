"""The reasons of errors, from the tables of proto/README.md.

Generated from proto/ by `make proto`. Do not edit: change the contract or proto/generator/python.py.
"""
# flake8: noqa


class Reason:
    """The names of `PerchError.reason`. A newer server may send others."""

    FRAME_TOO_LONG = "FRAME_TOO_LONG"
    """A header declares more than the limit.

    Send less; `Welcome.limits` says how much.
    """

    UNKNOWN_KIND = "UNKNOWN_KIND"
    """No such kind of frame.

    Fix the client, or use an older version of it.
    """

    RESERVED_FLAG = "RESERVED_FLAG"
    """A flag bit other than bit 0.

    Send 0 or 1.
    """

    STREAM_ZERO = "STREAM_ZERO"
    """CALL or CANCEL on stream 0.

    Name the call's stream.
    """

    STREAM_NOT_ZERO = "STREAM_NOT_ZERO"
    """HELLO, PING or PONG on a stream.

    Send it on 0.
    """

    HELLO_EXPECTED = "HELLO_EXPECTED"
    """Something else came before HELLO.

    Send HELLO first.
    """

    HELLO_REPEATED = "HELLO_REPEATED"
    """A second HELLO.

    Open a new connection for it.
    """

    HELLO_TIMEOUT = "HELLO_TIMEOUT"
    """No whole HELLO in time.

    Send it as soon as you are connected.
    """

    HELLO_INVALID = "HELLO_INVALID"
    """HELLO cannot be parsed, its text is not UTF-8 or has NUL, or `client_id` has over 32 bytes.

    Fix the client.
    """

    PROTOCOL_VERSION = "PROTOCOL_VERSION"
    """A version that this server does not speak.

    Use the one that is `expected`.
    """

    STREAM_LIVE = "STREAM_LIVE"
    """CALL on a number whose STATUS was not sent yet.

    Take another; wait for STATUS, not for your CANCEL.
    """

    KIND_NOT_FOR_CLIENTS = "KIND_NOT_FOR_CLIENTS"
    """A kind that only servers send.

    Fix the client.
    """

    PING_LENGTH = "PING_LENGTH"
    """PING or PONG without exactly eight bytes.

    Send eight.
    """

    CANCEL_NOT_EMPTY = "CANCEL_NOT_EMPTY"
    """CANCEL with a message.

    Send none.
    """

    CONNECTION_LIMIT = "CONNECTION_LIMIT"
    """Too many connections: of the process, of this address or of this identity.

    Close some, or retry later.
    """

    HANDSHAKE_LIMIT = "HANDSHAKE_LIMIT"
    """Too many connections wait for HELLO or valid credentials, and your address has most of them.

    Retry later; send HELLO at once.
    """

    WRITE_STALLED = "WRITE_STALLED"
    """You read nothing for too long while something waited.

    Read faster; come back with tokens.
    """

    PARTIAL_FRAMES_LIMIT = "PARTIAL_FRAMES_LIMIT"
    """The server holds too many unfinished frames, and your address has most of them.

    Send whole frames; retry later.
    """

    FRAME_TIMEOUT = "FRAME_TIMEOUT"
    """A frame was not complete in time.

    Send shorter frames; retry later.
    """

    HTTP_PROTOCOL = "HTTP_PROTOCOL"
    """A frame or a request breaks HTTP/2 or HTTP/1.1.

    Fix the client.
    """

    HTTP_FLOOD = "HTTP_FLOOD"
    """Too many frames came without data, or a header block had no end.

    Send fewer of them.
    """

    AGE_LIMIT = "AGE_LIMIT"
    """The stream has reached the age at which it moves to another server.

    Call again, with your resume token.
    """

    INFLATE_LIMIT = "INFLATE_LIMIT"
    """A message inflates past the frame limit.

    Send less.
    """

    INFLATE_RATIO = "INFLATE_RATIO"
    """A message inflates too far for its size.

    Send it plain.
    """

    INFLATE_CORRUPT = "INFLATE_CORRUPT"
    """Not one whole zlib stream.

    Fix the client.
    """

    COMPRESSION_NOT_OFFERED = "COMPRESSION_NOT_OFFERED"
    """Flag 1 before WELCOME, on a kind that is never compressed, or with an encoding outside of `Welcome.accepts`.

    Send it plain.
    """

    TLS_REQUIRED = "TLS_REQUIRED"
    """You speak plaintext where TLS is required.

    Speak TLS; replace credentials that you sent.
    """

    CERTIFICATE_EXPIRED = "CERTIFICATE_EXPIRED"
    """You resumed a TLS session whose certificate has expired since.

    Connect with a new certificate.
    """

    CONNECT_RATE = "CONNECT_RATE"
    """This address connects too often.

    Come back as DRAIN says.
    """

    CREDENTIALS_LIMIT = "CREDENTIALS_LIMIT"
    """Too many calls of this connection had refused credentials.

    Connect with valid ones.
    """

    SHUTTING_DOWN = "SHUTTING_DOWN"
    """The server stops. Also in STATUS.

    Come back as DRAIN says, with tokens.
    """

    CANCELLED = "CANCELLED"
    """You cancelled it. A mutation may have happened.

    Nothing, or repeat it with its idempotency key.
    """

    DEADLINE = "DEADLINE"
    """`timeout_ms` has passed. A mutation may have happened.

    Repeat it with its idempotency key.
    """

    ENCODING_UNKNOWN = "ENCODING_UNKNOWN"
    """A message encoding or codec that this server does not have.

    Use identity, deflate or gzip; proto or JSON.
    """

    ENVELOPE_INVALID = "ENVELOPE_INVALID"
    """The prefix of a message is wrong, or a call has not exactly one request.

    Fix the client.
    """

    TIMEOUT_MALFORMED = "TIMEOUT_MALFORMED"
    """A timeout that is not up to eight digits and a unit.

    Fix the client.
    """

    UNKNOWN_METHOD = "UNKNOWN_METHOD"
    """No such method here.

    Check the path; the server may be older.
    """

    MESSAGE_MALFORMED = "MESSAGE_MALFORMED"
    """The `Call`, or the request in it, cannot be parsed.

    Fix the client.
    """

    MESSAGE_TOO_DEEP = "MESSAGE_TOO_DEEP"
    """Nested too deeply. No message of today's contract can be.

    Fix the client.
    """

    MESSAGE_TOO_MANY_FIELDS = "MESSAGE_TOO_MANY_FIELDS"
    """Too many fields.

    Send each once.
    """

    MESSAGE_TOO_MANY_ITEMS = "MESSAGE_TOO_MANY_ITEMS"
    """Too many items in lists.

    Ask in several calls.
    """

    TEXT_HAS_NUL = "TEXT_HAS_NUL"
    """A text has a NUL.

    Leave it out.
    """

    CALLS_LIMIT = "CALLS_LIMIT"
    """Too many live calls on this connection.

    End some, or open another connection.
    """

    CALLS_BYTES_LIMIT = "CALLS_BYTES_LIMIT"
    """The open calls of all clients hold too much.

    End some, watch fewer products at once, or come back later.
    """

    REQUEST_TOO_LONG = "REQUEST_TOO_LONG"
    """The request is over the limit of its method.

    Ask for less at a time.
    """

    ACCOUNT_KEY = "ACCOUNT_KEY"
    """The account's key has not 1 to 255 bytes.

    Use another key.
    """

    FIELD_MISSING = "FIELD_MISSING"
    """A field that must be set is not, or one of several; the details name it.

    Set it.
    """

    FIELD_INVALID = "FIELD_INVALID"
    """A field has an impossible value; the details have `field`, `found` and `expected`.

    See its comment in the contract.
    """

    APP_AMBIGUOUS = "APP_AMBIGUOUS"
    """The request names no app, or only half, and there are several.

    Name bundle and environment.
    """

    APP_UNKNOWN = "APP_UNKNOWN"
    """No such app; `found` is the app named by the request or by its credentials.

    See `AdminService.ListApps`, or ask the operator.
    """

    ACCOUNT_UNKNOWN = "ACCOUNT_UNKNOWN"
    """The test store has no such account. Watches and reads of what is owned never say this: an unknown account owns nothing, and neither does any account in a group or of a product that the catalogue does not have (`info.not_in_catalog` says so).

    Buy something first.
    """

    TRANSACTION_UNKNOWN = "TRANSACTION_UNKNOWN"
    """No such transaction, or not of this account.

    Check the identifier.
    """

    PRODUCT_UNKNOWN = "PRODUCT_UNKNOWN"
    """A test store operation names a product that neither the catalogue nor the account has. (A purchase gets `PURCHASE_PRODUCT_UNAVAILABLE`.)

    Check the identifier.
    """

    IMAGE_UNKNOWN = "IMAGE_UNKNOWN"
    """The catalogue has no such image, or lacks its file.

    Use the `promotional_image_id` of a product with a `promotional_image_hash`.
    """

    NOT_A_TEST_APP = "NOT_A_TEST_APP"
    """Only `xcode` apps have purchases and test operations.

    Use a test app.
    """

    NO_TWIN = "NO_TWIN"
    """The server is the App Store of no backend, or delivers no notifications.

    Start it with `--twin-listen`; for notifications also with `--twin-notify`.
    """

    MISHAP_LIMIT = "MISHAP_LIMIT"
    """100 mishaps of an app wait.

    Let some happen first.
    """

    TOKEN_MALFORMED = "TOKEN_MALFORMED"
    """Not a token of ours, or damaged.

    Call without it.
    """

    TOKEN_OTHER_VIEW = "TOKEN_OTHER_VIEW"
    """A token of other parameters: app, account, group, products, locale, storefront; or a cursor of another account or app.

    Call without it.
    """

    TOKEN_OTHER_STORE = "TOKEN_OTHER_STORE"
    """A token, cursor or page token of another store or epoch, or an `at_least` of another epoch.

    Call without it.
    """

    TOKEN_FUTURE = "TOKEN_FUTURE"
    """A cursor of a revision that this store has not reached. For a token the server waits: `BEHIND`.

    Call without it.
    """

    BEHIND = "BEHIND"
    """The server did not reach `at_least`, or the token's position, before the deadline.

    Retry with more time.
    """

    CURSOR_TOO_OLD = "CURSOR_TOO_OLD"
    """The events after the cursor are no longer kept.

    Call without it, and read the history.
    """

    CURSOR_MALFORMED = "CURSOR_MALFORMED"
    """Not a cursor or page token of ours, or a page token of another list.

    Call without it.
    """

    KEY_REUSED = "KEY_REUSED"
    """The idempotency key was used for another request.

    Take a new key for each request.
    """

    ACCOUNT_SHARES = "ACCOUNT_SHARES"
    """An account is not erased while it shares purchases with family members.

    End the sharing: `TestStoreService.Operate`, `stop_sharing`.
    """

    RECORD_LIMIT = "RECORD_LIMIT"
    """The account has too many lines and products, grants or notes.

    Spread over accounts; revoke or delete some.
    """

    STORE_FULL = "STORE_FULL"
    """The disk is full; reads and streams continue.

    Retry: writes resume automatically.
    """

    STORE_UNREACHABLE = "STORE_UNREACHABLE"
    """The server cannot reach its storage; nothing was written. In DRAIN: for long, and other nodes of the store may reach it.

    Retry; after DRAIN on another node, with tokens.
    """

    STORE_FAILED = "STORE_FAILED"
    """The store failed; nothing was acknowledged.

    Retry with the idempotency key.
    """

    CATALOG_INVALID = "CATALOG_INVALID"
    """The catalogue file cannot be used; the message names line and column.

    Fix the file.
    """

    CATALOG_TOO_LONG = "CATALOG_TOO_LONG"
    """The catalogue file, with its images, is over the limit.

    Use `perch serve --catalog`, make the images smaller, or split the app.
    """

    BACKUP_RUNNING = "BACKUP_RUNNING"
    """A backup is under way; there is one at a time.

    Wait for its end.
    """

    RECONCILE_RUNNING = "RECONCILE_RUNNING"
    """`Reconcile` with other flags is under way for the app; the message says which, and since when.

    Wait for its end, or ask how far it is by its number.
    """

    BACKUP_FAILED = "BACKUP_FAILED"
    """No backup was made; the message says why.

    As it says.
    """

    CLOCK_BACKWARDS = "CLOCK_BACKWARDS"
    """The clock of an app only goes forward.

    Advance to later.
    """

    ADVANCE_LIMIT = "ADVANCE_LIMIT"
    """One advance would go too far, or settle too much.

    Advance in steps.
    """

    HISTORY_LIMIT = "HISTORY_LIMIT"
    """A read about the past would go through more than 16,384 facts of the account.

    Read the present, or list the transactions.
    """

    UNAUTHENTICATED = "UNAUTHENTICATED"
    """Neither HELLO nor the call had credentials.

    Send some.
    """

    CREDENTIALS_MALFORMED = "CREDENTIALS_MALFORMED"
    """Not `Bearer` and a token, a required claim is missing, or `exp` is too far ahead. Also in DRAIN, as the next five.

    Fix the issuer.
    """

    CREDENTIALS_UNTRUSTED = "CREDENTIALS_UNTRUSTED"
    """The server does not know the key, or the algorithm is not the key's.

    Sign with one of the server's keys.
    """

    CREDENTIALS_MISDIRECTED = "CREDENTIALS_MISDIRECTED"
    """`aud` or `iss` is not the one of this server.

    Use a token for this server.
    """

    CREDENTIALS_NOT_YET_VALID = "CREDENTIALS_NOT_YET_VALID"
    """`nbf` is more than a minute ahead.

    Check the clocks.
    """

    CREDENTIALS_EXPIRED = "CREDENTIALS_EXPIRED"
    """`exp`, or the end of the certificate, has passed. It ends streams too.

    Come back with new ones, and your resume tokens.
    """

    CREDENTIALS_REVOKED = "CREDENTIALS_REVOKED"
    """An administrator revoked the token, or the operator removed its key. It ends streams too.

    As above.
    """

    PERMISSION_DENIED = "PERMISSION_DENIED"
    """The identity lacks the scope, or is for another app or account; the details say which.

    Use another identity.
    """

    CALL_RATE = "CALL_RATE"
    """This identity makes too many calls.

    Retry after `retry_after_ms` of the details.
    """

    CREDENTIALS_RATE = "CREDENTIALS_RATE"
    """Many unknown tokens came at once over HTTP, and this one was not verified. Tokens that the server knows are not refused so.

    Retry after `retry_after_ms` of the details.
    """

    REVOCATION_LIMIT = "REVOCATION_LIMIT"
    """The store holds the largest number of revocations.

    Remove the key.
    """

    OWNED_BY_OTHER = "OWNED_BY_OTHER"
    """Another account has a submitted transaction, and the app's claim policy keeps it there. What the transaction says is kept. Or a name that is attached is the key of another account.

    Ask the customer, or let an administrator move it. Merge the accounts.
    """

    NOT_A_TOLD_APP = "NOT_A_TOLD_APP"
    """Perch itself is the store of this app, or the server has no settings of the App Store for it.

    Use a sandbox or production app, and name it in `--apple-apps`.
    """

    DEAD_LETTER_LIMIT = "DEAD_LETTER_LIMIT"
    """So many values wait as dead letters that no further one fits. Apple sends a notification again.

    Retry or drop the dead letters.
    """

    DEAD_LETTER_UNKNOWN = "DEAD_LETTER_UNKNOWN"
    """There is no such dead letter.

    List them: `perch dead-letters list`.
    """

    INTAKE_FULL = "INTAKE_FULL"
    """Too many values wait to be verified.

    Retry.
    """

    APPLE_MALFORMED = "APPLE_MALFORMED"
    """The value is no compact JWS with a JSON payload, or lacks a field.

    Send it as it came from Apple.
    """

    APPLE_TOO_LONG = "APPLE_TOO_LONG"
    """A signed value is over 64 KiB, or a notification over 128 KiB.

    Send it as it came from Apple.
    """

    APPLE_NO_CHAIN = "APPLE_NO_CHAIN"
    """The header has no certificates. Apple's library says VERIFICATION_FAILURE.

    Send a value that Apple signed.
    """

    APPLE_ALGORITHM = "APPLE_ALGORITHM"
    """The header's `alg` is not ES256. Apple's library says VERIFICATION_FAILURE.

    As above.
    """

    APPLE_CHAIN_LENGTH = "APPLE_CHAIN_LENGTH"
    """The header has not exactly three certificates. Apple's library says INVALID_CHAIN_LENGTH.

    As above.
    """

    APPLE_CERTIFICATE = "APPLE_CERTIFICATE"
    """A certificate cannot be read. Apple's library says INVALID_CERTIFICATE.

    As above.
    """

    APPLE_UNTRUSTED = "APPLE_UNTRUSTED"
    """The chain reaches no root that the app trusts. Apple's library says VERIFICATION_FAILURE.

    As above; a sandbox app can trust further roots.
    """

    APPLE_CERTIFICATE_TIME = "APPLE_CERTIFICATE_TIME"
    """A certificate was not valid when the value was signed. Apple's library says VERIFICATION_FAILURE.

    As above.
    """

    APPLE_NO_MARKER = "APPLE_NO_MARKER"
    """A certificate is not one of the App Store. Apple's library says VERIFICATION_FAILURE.

    As above.
    """

    APPLE_SIGNATURE = "APPLE_SIGNATURE"
    """The signature does not match. Apple's library says VERIFICATION_FAILURE.

    Send it unchanged.
    """

    APPLE_APP_IDENTIFIER = "APPLE_APP_IDENTIFIER"
    """The value is of another app. Apple's library says INVALID_APP_IDENTIFIER.

    Check `bundle_id` and `app_apple_id`.
    """

    APPLE_ENVIRONMENT = "APPLE_ENVIRONMENT"
    """The value is of another environment. Apple's library says INVALID_ENVIRONMENT.

    Name the right app.
    """

    APPLE_APP_UNKNOWN = "APPLE_APP_UNKNOWN"
    """The value is good, and no app of this server has its bundle ID and environment. It is kept as a dead letter.

    Add the app, then retry the dead letters.
    """

    PURCHASE_INVALID_QUANTITY = "PURCHASE_INVALID_QUANTITY"
    """A quantity over 10, or over 1 of what is not a consumable.

    Buy fewer.
    """

    PURCHASE_PRODUCT_UNAVAILABLE = "PURCHASE_PRODUCT_UNAVAILABLE"
    """The catalogue does not sell this product.

    Watch the products.
    """

    PURCHASE_NOT_ALLOWED = "PURCHASE_NOT_ALLOWED"
    """The account's charges fail, or it holds the product under another billing plan, or from a later date on. The message says which.

    Resolve the cause in the message.
    """

    PURCHASE_INELIGIBLE_FOR_OFFER = "PURCHASE_INELIGIBLE_FOR_OFFER"
    """The account may not have this offer.

    Buy without it.
    """

    PURCHASE_INVALID_OFFER = "PURCHASE_INVALID_OFFER"
    """No such offer on this product. Nothing was bought.

    Check the offer.
    """

    PURCHASE_INVALID_OFFER_PRICE = "PURCHASE_INVALID_OFFER_PRICE"
    """Only by a simulated error: the offer's price is not valid.

    Disarm it.
    """

    PURCHASE_INVALID_OFFER_SIGNATURE = "PURCHASE_INVALID_OFFER_SIGNATURE"
    """A signature was given that cannot be verified. Nothing was bought.

    Leave it out in a test store.
    """

    PURCHASE_MISSING_OFFER_PARAMETERS = "PURCHASE_MISSING_OFFER_PARAMETERS"
    """The offer has no type or identifier, or its code is one of several products.

    Name it in full.
    """

    PENDING_UNKNOWN = "PENDING_UNKNOWN"
    """No pending purchase has that number.

    See `TestStoreService.InspectAccount`.
    """

    PENDING_LIMIT = "PENDING_LIMIT"
    """Too many purchases of the account are pending.

    Approve or decline some.
    """

    INTENT_UNKNOWN = "INTENT_UNKNOWN"
    """No purchase intent has that number.

    See `TestStoreService.InspectAccount`.
    """

    INTENT_LIMIT = "INTENT_LIMIT"
    """The account has too many purchase intents.

    Buy or dismiss some.
    """

    REFUND_NOT_POSSIBLE = "REFUND_NOT_POSSIBLE"
    """The transaction is shared by a family member, or the refunded part is 0, or there is no refund to reverse.

    Refund the purchase of the member who shares it. Refunding a refunded transaction changes nothing.
    """

    NOT_A_SUBSCRIPTION = "NOT_A_SUBSCRIPTION"
    """The product does not renew.

    Name a subscription.
    """

    NOT_SUBSCRIBED = "NOT_SUBSCRIBED"
    """The account does not hold this product now.

    Buy it first.
    """

    NOT_IN_RETRY = "NOT_IN_RETRY"
    """No charge of this subscription is failing, or the store has given up.

    Buy it again if it has ended.
    """

    NOT_SHAREABLE = "NOT_SHAREABLE"
    """The product is not family shareable, or is shared with the account, or the account would share with itself.

    Share the account's own product with another account.
    """

    FAMILY_LIMIT = "FAMILY_LIMIT"
    """The account shares with five members already.

    Stop sharing with one.
    """

    NOT_SHARED = "NOT_SHARED"
    """There is no such sharing to end.

    Nothing.
    """

    PRICE_INCREASE_INVALID = "PRICE_INCREASE_INVALID"
    """The price is not higher, or the subscription is about to change.

    Ask for more, or later.
    """

    NO_PRICE_INCREASE = "NO_PRICE_INCREASE"
    """No higher price waits for an answer.

    Nothing.
    """

    EXTENSION_INVALID = "EXTENSION_INVALID"
    """The extension is not of 1 ms to 90 days.

    Send a length within the limit.
    """

    EXTENSION_INELIGIBLE = "EXTENSION_INELIGIBLE"
    """The subscription is in a free offer period, has no paid period, or had two extensions within 365 days.

    Extend it when the condition has passed.
    """

    STOREKIT_UNKNOWN = "STOREKIT_UNKNOWN"
    """The test store is armed to fail with `StoreKitError.unknown`.

    Disarm it.
    """

    STOREKIT_USER_CANCELLED = "STOREKIT_USER_CANCELLED"
    """The test store is armed to fail with `StoreKitError.userCancelled`.

    Disarm it.
    """

    STOREKIT_NETWORK_ERROR = "STOREKIT_NETWORK_ERROR"
    """The test store is armed to fail with `StoreKitError.networkError`.

    Disarm it.
    """

    STOREKIT_SYSTEM_ERROR = "STOREKIT_SYSTEM_ERROR"
    """The test store is armed to fail with `StoreKitError.systemError`.

    Disarm it.
    """

    STOREKIT_NOT_AVAILABLE_IN_STOREFRONT = "STOREKIT_NOT_AVAILABLE_IN_STOREFRONT"
    """The test store is armed to fail with `StoreKitError.notAvailableInStorefront`.

    Disarm it.
    """

    STOREKIT_NOT_ENTITLED = "STOREKIT_NOT_ENTITLED"
    """The test store is armed to fail with `StoreKitError.notEntitled`.

    Disarm it.
    """

    STOREKIT_UNSUPPORTED = "STOREKIT_UNSUPPORTED"
    """The test store is armed to fail with `StoreKitError.unsupported`.

    Disarm it.
    """

    STOREKIT_DUPLICATE_REQUEST = "STOREKIT_DUPLICATE_REQUEST"
    """The store already has a refund request for this transaction, or the test store is armed to fail with `RefundRequestError.duplicateRequest`.

    Check `revocation` of the transaction. Disarm the failure.
    """

    STOREKIT_FAILED = "STOREKIT_FAILED"
    """The test store is armed to fail with `RefundRequestError.failed`.

    Disarm it.
    """

    LEASE_WAIT = "LEASE_WAIT"
    """After a start, the app's clock is behind its lease. Of `Reconcile`: another node of this store asks the App Store, or none has begun.

    Retry in some seconds; `Reconcile` at the node that asks.
    """

    INTERNAL = "INTERNAL"
    """A bug of the server; its log has the details.

    Report it.
    """


# Whether the same request may succeed later: YES, NO, with new CREDENTIALS, or without its TOKEN.
RETRY = {
    "FRAME_TOO_LONG": "NO",
    "UNKNOWN_KIND": "NO",
    "RESERVED_FLAG": "NO",
    "STREAM_ZERO": "NO",
    "STREAM_NOT_ZERO": "NO",
    "HELLO_EXPECTED": "NO",
    "HELLO_REPEATED": "NO",
    "HELLO_TIMEOUT": "YES",
    "HELLO_INVALID": "NO",
    "PROTOCOL_VERSION": "NO",
    "STREAM_LIVE": "NO",
    "KIND_NOT_FOR_CLIENTS": "NO",
    "PING_LENGTH": "NO",
    "CANCEL_NOT_EMPTY": "NO",
    "CONNECTION_LIMIT": "YES",
    "HANDSHAKE_LIMIT": "YES",
    "WRITE_STALLED": "YES",
    "PARTIAL_FRAMES_LIMIT": "YES",
    "FRAME_TIMEOUT": "YES",
    "HTTP_PROTOCOL": "NO",
    "HTTP_FLOOD": "YES",
    "AGE_LIMIT": "YES",
    "INFLATE_LIMIT": "NO",
    "INFLATE_RATIO": "NO",
    "INFLATE_CORRUPT": "NO",
    "COMPRESSION_NOT_OFFERED": "NO",
    "TLS_REQUIRED": "NO",
    "CERTIFICATE_EXPIRED": "CREDENTIALS",
    "CONNECT_RATE": "YES",
    "CREDENTIALS_LIMIT": "CREDENTIALS",
    "SHUTTING_DOWN": "YES",
    "CANCELLED": "NO",
    "DEADLINE": "YES",
    "ENCODING_UNKNOWN": "NO",
    "ENVELOPE_INVALID": "NO",
    "TIMEOUT_MALFORMED": "NO",
    "UNKNOWN_METHOD": "NO",
    "MESSAGE_MALFORMED": "NO",
    "MESSAGE_TOO_DEEP": "NO",
    "MESSAGE_TOO_MANY_FIELDS": "NO",
    "MESSAGE_TOO_MANY_ITEMS": "NO",
    "TEXT_HAS_NUL": "NO",
    "CALLS_LIMIT": "YES",
    "CALLS_BYTES_LIMIT": "YES",
    "REQUEST_TOO_LONG": "NO",
    "ACCOUNT_KEY": "NO",
    "FIELD_MISSING": "NO",
    "FIELD_INVALID": "NO",
    "APP_AMBIGUOUS": "NO",
    "APP_UNKNOWN": "NO",
    "ACCOUNT_UNKNOWN": "NO",
    "TRANSACTION_UNKNOWN": "NO",
    "PRODUCT_UNKNOWN": "NO",
    "IMAGE_UNKNOWN": "NO",
    "NOT_A_TEST_APP": "NO",
    "NO_TWIN": "NO",
    "MISHAP_LIMIT": "YES",
    "TOKEN_MALFORMED": "TOKEN",
    "TOKEN_OTHER_VIEW": "TOKEN",
    "TOKEN_OTHER_STORE": "TOKEN",
    "TOKEN_FUTURE": "TOKEN",
    "BEHIND": "YES",
    "CURSOR_TOO_OLD": "TOKEN",
    "CURSOR_MALFORMED": "TOKEN",
    "KEY_REUSED": "NO",
    "ACCOUNT_SHARES": "NO",
    "RECORD_LIMIT": "NO",
    "STORE_FULL": "YES",
    "STORE_UNREACHABLE": "YES",
    "STORE_FAILED": "YES",
    "CATALOG_INVALID": "NO",
    "CATALOG_TOO_LONG": "NO",
    "BACKUP_RUNNING": "YES",
    "RECONCILE_RUNNING": "YES",
    "BACKUP_FAILED": "NO",
    "CLOCK_BACKWARDS": "NO",
    "ADVANCE_LIMIT": "NO",
    "HISTORY_LIMIT": "NO",
    "UNAUTHENTICATED": "CREDENTIALS",
    "CREDENTIALS_MALFORMED": "CREDENTIALS",
    "CREDENTIALS_UNTRUSTED": "CREDENTIALS",
    "CREDENTIALS_MISDIRECTED": "CREDENTIALS",
    "CREDENTIALS_NOT_YET_VALID": "YES",
    "CREDENTIALS_EXPIRED": "CREDENTIALS",
    "CREDENTIALS_REVOKED": "CREDENTIALS",
    "PERMISSION_DENIED": "NO",
    "CALL_RATE": "YES",
    "CREDENTIALS_RATE": "YES",
    "REVOCATION_LIMIT": "NO",
    "OWNED_BY_OTHER": "NO",
    "NOT_A_TOLD_APP": "NO",
    "DEAD_LETTER_LIMIT": "YES",
    "DEAD_LETTER_UNKNOWN": "NO",
    "INTAKE_FULL": "YES",
    "APPLE_MALFORMED": "NO",
    "APPLE_TOO_LONG": "NO",
    "APPLE_NO_CHAIN": "NO",
    "APPLE_ALGORITHM": "NO",
    "APPLE_CHAIN_LENGTH": "NO",
    "APPLE_CERTIFICATE": "NO",
    "APPLE_UNTRUSTED": "NO",
    "APPLE_CERTIFICATE_TIME": "NO",
    "APPLE_NO_MARKER": "NO",
    "APPLE_SIGNATURE": "NO",
    "APPLE_APP_IDENTIFIER": "NO",
    "APPLE_ENVIRONMENT": "NO",
    "APPLE_APP_UNKNOWN": "NO",
    "PURCHASE_INVALID_QUANTITY": "NO",
    "PURCHASE_PRODUCT_UNAVAILABLE": "NO",
    "PURCHASE_NOT_ALLOWED": "NO",
    "PURCHASE_INELIGIBLE_FOR_OFFER": "NO",
    "PURCHASE_INVALID_OFFER": "NO",
    "PURCHASE_INVALID_OFFER_PRICE": "NO",
    "PURCHASE_INVALID_OFFER_SIGNATURE": "NO",
    "PURCHASE_MISSING_OFFER_PARAMETERS": "NO",
    "PENDING_UNKNOWN": "NO",
    "PENDING_LIMIT": "NO",
    "INTENT_UNKNOWN": "NO",
    "INTENT_LIMIT": "NO",
    "REFUND_NOT_POSSIBLE": "NO",
    "NOT_A_SUBSCRIPTION": "NO",
    "NOT_SUBSCRIBED": "NO",
    "NOT_IN_RETRY": "NO",
    "NOT_SHAREABLE": "NO",
    "FAMILY_LIMIT": "NO",
    "NOT_SHARED": "NO",
    "PRICE_INCREASE_INVALID": "NO",
    "NO_PRICE_INCREASE": "NO",
    "EXTENSION_INVALID": "NO",
    "EXTENSION_INELIGIBLE": "NO",
    "STOREKIT_UNKNOWN": "NO",
    "STOREKIT_USER_CANCELLED": "NO",
    "STOREKIT_NETWORK_ERROR": "NO",
    "STOREKIT_SYSTEM_ERROR": "NO",
    "STOREKIT_NOT_AVAILABLE_IN_STOREFRONT": "NO",
    "STOREKIT_NOT_ENTITLED": "NO",
    "STOREKIT_UNSUPPORTED": "NO",
    "STOREKIT_DUPLICATE_REQUEST": "NO",
    "STOREKIT_FAILED": "NO",
    "LEASE_WAIT": "YES",
    "INTERNAL": "YES",
}
