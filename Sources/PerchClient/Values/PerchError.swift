import PerchWire

/// The only error type of this library.
///
/// `reason` is for programs: a reason code of `proto/README.md`, or one of the client's own below. `message` and
/// `description` are for users and safe to log: they contain no account, token or credential.
public struct PerchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A status code of gRPC: the kind of an error.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The number of gRPC.
        public let rawValue: Int32
        /// Creates a code from its number, which this version need not know.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The caller cancelled the call.
        public static let cancelled = Code(.cancelled)
        /// The outcome is unknown.
        public static let unknown = Code(.unknown)
        /// The request is wrong, whatever the state of the server.
        public static let invalidArgument = Code(.invalidArgument)
        /// The time of the call has passed.
        public static let deadlineExceeded = Code(.deadlineExceeded)
        /// The app, account, product or transaction does not exist.
        public static let notFound = Code(.notFound)
        /// The thing to be created exists.
        public static let alreadyExists = Code(.alreadyExists)
        /// The credentials do not permit the call.
        public static let permissionDenied = Code(.permissionDenied)
        /// A limit is reached.
        public static let resourceExhausted = Code(.resourceExhausted)
        /// The current state does not permit the call.
        public static let failedPrecondition = Code(.failedPrecondition)
        /// The call was aborted and may be repeated.
        public static let aborted = Code(.aborted)
        /// The requested position is no longer kept.
        public static let outOfRange = Code(.outOfRange)
        /// The server, or this client, does not know the method or its answer.
        public static let unimplemented = Code(.unimplemented)
        /// A bug of the server or a breach of the protocol.
        public static let `internal` = Code(.internal)
        /// The server cannot be reached now.
        public static let unavailable = Code(.unavailable)
        /// Data is lost.
        public static let dataLoss = Code(.dataLoss)
        /// The credentials are missing or refused.
        public static let unauthenticated = Code(.unauthenticated)

        private init(_ code: StatusCode) { self.rawValue = code.rawValue }

        /// `unavailable`; a number that this version does not know, as `code 42`.
        public var description: String {
            StatusCode(rawValue: self.rawValue).map { "\($0)" } ?? "code \(self.rawValue)"
        }
    }

    /// What kind of error.
    public var code: Code
    /// For programs: one word.
    public var reason: String
    /// A text for users: what happened, with the numbers, and the next step.
    public var message: String
    /// The numbers of the message, for programs.
    public var details: [String: String]
    /// Whether the outcome of a mutation is unknown, because its answer was lost.
    public var mayHaveHappened: Bool

    /// Creates an error from its parts.
    public init(
        code: Code, reason: String, message: String, details: [String: String] = [:], mayHaveHappened: Bool = false
    ) {
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.mayHaveHappened = mayHaveHappened
    }

    /// `unavailable CONNECT_FAILED: connect to 127.0.0.1:7447 answered Connection refused (errno 111); …`.
    public var description: String {
        let word = self.reason.isEmpty ? "" : " \(self.reason)"
        let text = self.message.isEmpty ? "" : ": \(self.message)"
        let doubt = self.mayHaveHappened ? " (what was asked for may have happened)" : ""
        return "\(self.code)\(word)\(text)\(doubt)"
    }
}

extension PerchError {
    /// Whether the same call, or the same connection, may succeed later without a person's help.
    ///
    /// False means: it fails again until the request, a setting, a file or the credentials change. The column `Retry`
    /// of the contract's table decides; for a reason that this version does not know, the gRPC code does.
    public var isTransient: Bool {
        if let reason = ErrorReason(rawValue: self.reason) { return reason.retry.passesWithTime }
        switch StatusCode(rawValue: self.code.rawValue) {
        case .unavailable, .internal, .unknown, .resourceExhausted, .aborted, .deadlineExceeded:
            return self.reason != Self.tlsFailed
        default: return false
        }
    }

    /// Whether an attempt to connect may succeed later. A peer that is no Perch server will not become one.
    var passesWithTime: Bool { self.isTransient && self.reason != Self.protocolBreach }
}

// MARK: The client's own reasons

extension PerchError {
    /// The address is not one that can be connected to.
    public static let addressInvalid = "ADDRESS_INVALID"
    /// The file with the credentials cannot be read.
    public static let authorizationUnreadable = "AUTHORIZATION_UNREADABLE"
    /// No connection could be made.
    public static let connectFailed = "CONNECT_FAILED"
    /// The files of TLS cannot be read or do not belong together.
    public static let tlsFiles = "TLS_FILES"
    /// The server's certificate is invalid, or belongs to another server.
    public static let tlsUntrusted = "TLS_UNTRUSTED"
    /// The server refuses this client's certificate, or requires one.
    public static let tlsRefused = "TLS_REFUSED"
    /// The peer does not speak TLS.
    public static let tlsFailed = "TLS_FAILED"
    /// The connection ended without a reason.
    public static let connectionLost = "CONNECTION_LOST"
    /// The server sent nothing for two and a half heartbeats.
    public static let connectionSilent = "CONNECTION_SILENT"
    /// The server did not answer HELLO in time.
    public static let welcomeTimeout = "WELCOME_TIMEOUT"
    /// The server violated perch/1.
    public static let protocolBreach = "PROTOCOL_BREACH"
    /// A mutation that must not be repeated was pending when the connection ended.
    public static let outcomeUnknown = "OUTCOME_UNKNOWN"
    /// The server answered with something that only a newer client can read.
    public static let newerServer = "NEWER_SERVER"
    /// The client was closed.
    public static let closed = "CLOSED"
    /// The process could not start the thread that clients run on.
    public static let loopFailed = "LOOP_FAILED"
}

extension PerchError {
    init(_ status: Status) {
        self.init(
            code: Code(rawValue: status.code), reason: status.reason, message: status.message,
            details: Self.dictionary(status.details))
    }

    init(_ drain: Drain) {
        // A reason that this version does not know has no code here.
        let code = ErrorReason(rawValue: drain.reason).map { Code(rawValue: $0.code.rawValue) } ?? .unavailable
        self.init(
            code: code, reason: drain.reason, message: drain.message, details: Self.dictionary(drain.details))
    }

    init(_ status: WireStatus) {
        self.init(status.status)
    }

    static func breach(_ message: String) -> PerchError {
        PerchError(
            code: .internal, reason: Self.protocolBreach,
            message: "\(message); the connection was closed, and will be opened again")
    }

    static let clientClosed = PerchError(
        code: .cancelled, reason: Self.closed, message: "the client was closed; make another one")

    static let cancelledHere = PerchError(
        code: .cancelled, reason: ErrorReason.cancelled.rawValue, message: "the task that asked was cancelled")

    private static func dictionary(_ details: [StatusDetail]) -> [String: String] {
        Dictionary(details.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
