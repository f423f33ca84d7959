import PerchCLI
import PerchClient
import Testing

@Suite struct `exit codes` {
    /// Every reason of the contract, sorted by a script's reaction.
    private static let expected: [ExitCode: [String]] = [
        .failure: [
            "HTTP_PROTOCOL", "ENCODING_UNKNOWN", "ENVELOPE_INVALID", "TIMEOUT_MALFORMED",
            "FRAME_TOO_LONG", "UNKNOWN_KIND", "RESERVED_FLAG", "STREAM_ZERO", "STREAM_NOT_ZERO", "HELLO_EXPECTED",
            "HELLO_REPEATED", "HELLO_INVALID", "PROTOCOL_VERSION", "STREAM_LIVE", "KIND_NOT_FOR_CLIENTS", "PING_LENGTH",
            "CANCEL_NOT_EMPTY", "INFLATE_LIMIT", "INFLATE_RATIO", "INFLATE_CORRUPT", "COMPRESSION_NOT_OFFERED",
            "CANCELLED", "UNKNOWN_METHOD", "MESSAGE_MALFORMED", "MESSAGE_TOO_DEEP", "MESSAGE_TOO_MANY_FIELDS",
            "MESSAGE_TOO_MANY_ITEMS", "CATALOG_INVALID", "INTERNAL",
        ],
        .usage: [
            "TEXT_NOT_UTF8", "TEXT_HAS_NUL", "ACCOUNT_KEY", "FIELD_MISSING", "FIELD_INVALID", "APP_AMBIGUOUS",
            "TOKEN_MALFORMED", "TOKEN_OTHER_VIEW", "CURSOR_MALFORMED", "PURCHASE_INVALID_QUANTITY",
            "PURCHASE_INVALID_OFFER", "PURCHASE_INVALID_OFFER_PRICE", "PURCHASE_INVALID_OFFER_SIGNATURE",
            "PURCHASE_MISSING_OFFER_PARAMETERS", "PRICE_INCREASE_INVALID", "EXTENSION_INVALID", "TLS_REQUIRED",
            "APPLE_MALFORMED",
        ],
        .notFound: [
            "APP_UNKNOWN", "ACCOUNT_UNKNOWN", "TRANSACTION_UNKNOWN", "PRODUCT_UNKNOWN", "IMAGE_UNKNOWN",
            "PENDING_UNKNOWN", "INTENT_UNKNOWN", "DEAD_LETTER_UNKNOWN", "APPLE_APP_UNKNOWN",
        ],
        .denied: [
            "UNAUTHENTICATED", "PERMISSION_DENIED", "CREDENTIALS_MALFORMED", "CREDENTIALS_UNTRUSTED",
            "CREDENTIALS_MISDIRECTED", "CREDENTIALS_NOT_YET_VALID", "CREDENTIALS_EXPIRED", "CREDENTIALS_REVOKED",
            "CREDENTIALS_LIMIT", "CERTIFICATE_EXPIRED", "APPLE_NO_CHAIN", "APPLE_ALGORITHM", "APPLE_CHAIN_LENGTH",
            "APPLE_CERTIFICATE", "APPLE_UNTRUSTED", "APPLE_CERTIFICATE_TIME", "APPLE_NO_MARKER", "APPLE_SIGNATURE",
            "APPLE_APP_IDENTIFIER", "APPLE_ENVIRONMENT",
        ],
        .unavailable: [
            "HELLO_TIMEOUT", "FRAME_TIMEOUT", "CONNECTION_LIMIT", "HANDSHAKE_LIMIT", "WRITE_STALLED",
            "PARTIAL_FRAMES_LIMIT",
            "CALLS_BYTES_LIMIT",
            "SHUTTING_DOWN", "DEADLINE", "BEHIND", "STORE_FULL", "STORE_FAILED", "STORE_UNREACHABLE",
            "LEASE_WAIT", "CONNECT_RATE",
            "CALL_RATE", "CREDENTIALS_RATE", "HTTP_FLOOD", "AGE_LIMIT", "INTAKE_FULL",
        ],
        .refused: [
            "CALLS_LIMIT", "REQUEST_TOO_LONG", "NOT_A_TEST_APP", "NO_TWIN", "MISHAP_LIMIT", "TOKEN_OTHER_STORE",
            "TOKEN_FUTURE", "CURSOR_TOO_OLD",
            "KEY_REUSED", "RECORD_LIMIT", "CATALOG_TOO_LONG", "CLOCK_BACKWARDS", "ADVANCE_LIMIT",
            "PURCHASE_PRODUCT_UNAVAILABLE", "PURCHASE_NOT_ALLOWED", "PURCHASE_INELIGIBLE_FOR_OFFER",
            "REFUND_NOT_POSSIBLE", "NOT_A_SUBSCRIPTION", "NOT_SUBSCRIBED", "NOT_IN_RETRY", "NOT_SHAREABLE",
            "FAMILY_LIMIT", "NOT_SHARED", "NO_PRICE_INCREASE", "EXTENSION_INELIGIBLE",
            "BACKUP_RUNNING", "RECONCILE_RUNNING", "BACKUP_FAILED",
            "PENDING_LIMIT", "INTENT_LIMIT", "HISTORY_LIMIT", "REVOCATION_LIMIT",
            "OWNED_BY_OTHER", "ACCOUNT_SHARES", "NOT_A_TOLD_APP", "DEAD_LETTER_LIMIT", "APPLE_TOO_LONG",
            "STOREKIT_UNKNOWN", "STOREKIT_USER_CANCELLED", "STOREKIT_NETWORK_ERROR", "STOREKIT_SYSTEM_ERROR",
            "STOREKIT_NOT_AVAILABLE_IN_STOREFRONT", "STOREKIT_NOT_ENTITLED", "STOREKIT_UNSUPPORTED",
            "STOREKIT_DUPLICATE_REQUEST", "STOREKIT_FAILED",
        ],
    ]

    /// The rows of the tables in `proto/README.md`: `REASON` and code.
    private static let printed: [String: Int32] = {
        var rows: [String: Int32] = [:]
        for line in Repository.text("proto/README.md").split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.split(separator: " ") }
            guard cells.count == 5, cells[0].count == 1, cells[1].count == 2, let code = Int32(cells[1][0]) else {
                continue
            }
            rows[String(cells[0][0].filter { $0 != "`" })] = code
        }
        return rows
    }()

    @Test func `each reason of the contract has the one that was decided for it`() {
        #expect(Self.printed.count > 60)
        var seen: Set<String> = []
        for (code, reasons) in Self.expected {
            for reason in reasons {
                #expect(seen.insert(reason).inserted, "\(reason) stands twice")
                guard let number = Self.printed[reason] else {
                    Issue.record("\(reason) is no reason of the contract")
                    continue
                }
                #expect(ExitCode(code: number, reason: reason) == code, "\(reason)")
            }
        }
        #expect(seen == Set(Self.printed.keys), "a reason of the contract has no exit code here")
    }

    @Test func `a reason of a newer server is judged by its code`() {
        let codes: [(Int32, ExitCode)] = [
            (1, .failure), (2, .failure), (3, .usage), (4, .unavailable), (5, .notFound), (6, .refused), (7, .denied),
            (8, .refused), (9, .refused), (10, .refused), (11, .refused), (12, .failure), (13, .failure),
            (14, .unavailable), (15, .failure), (16, .denied), (17, .failure), (-1, .failure),
        ]
        for (number, code) in codes { #expect(ExitCode(code: number, reason: "NEWER") == code, "\(number)") }
    }

    @Test func `the client's own reasons have exit codes too`() {
        func code(_ code: PerchError.Code, _ reason: PerchError.Reason) -> ExitCode {
            ExitCode(PerchError(code: code, reason: reason, message: ""))
        }
        #expect(code(.unavailable, .connectFailed) == .unavailable)
        #expect(code(.unavailable, .connectionLost) == .unavailable)
        #expect(code(.invalidArgument, .addressInvalid) == .usage)
        #expect(code(.unavailable, .authorizationUnreadable) == .denied)
    }

    @Test func `numbers are those that are documented`() {
        #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 130])
    }
}
