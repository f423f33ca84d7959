/// The exit codes of `perch`. Part of the contract: numbers never change their meaning.
package enum ExitCode: Int32, Error, Hashable, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case notFound = 3
    case denied = 4
    case unavailable = 5
    case refused = 6
    case interrupted = 130

    package var meaning: String {
        switch self {
        case .success: "It was done."
        case .failure:
            "It failed: a file that cannot be used, a problem found by doctor, a --fail-if of bench that holds, or a fault of ours."
        case .usage:
            "The command line is wrong: an unknown option, or an impossible value. The same command fails again."
        case .notFound: "The app, account, product or transaction does not exist."
        case .denied: "No credentials, or not sufficient ones."
        case .unavailable: "The server cannot be reached, stops, is full, or did not answer in time. Try again later."
        case .refused: "The store refuses: the product is not held, the clock would run backwards, a limit is reached."
        case .interrupted: "It was interrupted, by Ctrl-C or by SIGTERM."
        }
    }

    /// The exit code for the gRPC code and the reason of a call or a connection. Unknown reasons follow their code.
    package init(code: Int32, reason: String) {
        switch reason {
        // INVALID_ARGUMENT that the command line did not cause: a defect of this program, or a wrong file.
        case "UNKNOWN_KIND", "RESERVED_FLAG", "STREAM_ZERO", "STREAM_NOT_ZERO", "HELLO_INVALID", "KIND_NOT_FOR_CLIENTS",
            "PING_LENGTH", "CANCEL_NOT_EMPTY", "INFLATE_CORRUPT", "COMPRESSION_NOT_OFFERED", "MESSAGE_MALFORMED",
            "MESSAGE_TOO_DEEP", "MESSAGE_TOO_MANY_FIELDS", "MESSAGE_TOO_MANY_ITEMS", "CATALOG_INVALID":
            self = .failure
        // FAILED_PRECONDITION between two incompatible programs.
        case "HELLO_EXPECTED", "HELLO_REPEATED", "STREAM_LIVE", "PROTOCOL_VERSION":
            self = .failure
        // FAILED_PRECONDITION of the command line.
        case "TLS_REQUIRED":
            self = .usage
        // FAILED_PRECONDITION and RESOURCE_EXHAUSTED that pass with time.
        case "BEHIND", "CONNECTION_LIMIT", "HANDSHAKE_LIMIT", "PARTIAL_FRAMES_LIMIT", "WRITE_STALLED", "STORE_FULL",
            "CONNECT_RATE", "CALL_RATE", "CREDENTIALS_RATE", "CALLS_BYTES_LIMIT", "HTTP_FLOOD":
            self = .unavailable
        // RESOURCE_EXHAUSTED that the request itself causes.
        case "FRAME_TOO_LONG", "INFLATE_LIMIT", "INFLATE_RATIO":
            self = .failure
        // RESOURCE_EXHAUSTED after too many wrong credentials.
        case "CREDENTIALS_LIMIT":
            self = .denied
        default:
            self = Self.byCode(code)
        }
    }

    private static func byCode(_ code: Int32) -> ExitCode {
        switch code {
        case 0: .success
        case 3: .usage
        case 4, 14: .unavailable
        case 5: .notFound
        case 6, 8, 9, 10, 11: .refused
        case 7, 16: .denied
        default: .failure
        }
    }
}
