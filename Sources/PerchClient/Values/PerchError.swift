import PerchWire

/// The only error type of this library.
///
/// `reason` is for programs: a word of the contract's tables, or one of the client's own. `message` and
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
    public var reason: Reason
    /// A text for users: what happened, with the numbers, and the next step.
    public var message: String
    /// The numbers of the message, for programs.
    public var details: [String: String]
    /// Whether the outcome of a mutation is unknown, because its answer was lost.
    public var mayHaveHappened: Bool

    /// Creates an error from its parts.
    public init(
        code: Code, reason: Reason, message: String, details: [String: String] = [:], mayHaveHappened: Bool = false
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
        if let reason = ErrorReason(self.reason) { return reason.retry.passesWithTime }
        switch StatusCode(rawValue: self.code.rawValue) {
        case .unavailable, .internal, .unknown, .resourceExhausted, .aborted, .deadlineExceeded:
            return ![.tlsFailed, .tlsIncompatible, .protocolBreach].contains(self.reason)
        default: return false
        }
    }

    /// Whether a stream that ended with this error can go on only from its beginning, because its token or cursor is not one of
    /// this history, or too old for it. Read what matters, and start without it.
    public var needsFreshStart: Bool { self.reason.needsFreshStart }
}

extension PerchError {
    init(_ status: Status) {
        self.init(
            code: Code(rawValue: status.code), reason: Reason(rawValue: status.reason), message: status.message,
            details: Self.dictionary(status.details))
    }

    init(_ drain: Drain) {
        // A reason that this version does not know has no code here.
        let code = ErrorReason(rawValue: drain.reason).map { Code(rawValue: $0.code.rawValue) } ?? .unavailable
        self.init(
            code: code, reason: Reason(rawValue: drain.reason), message: drain.message,
            details: Self.dictionary(drain.details))
    }

    init(_ status: WireStatus) {
        self.init(status.status)
    }

    static func breach(_ message: String) -> PerchError {
        PerchError(
            code: .internal, reason: .protocolBreach,
            message: "\(message); is the address that of a Perch server, and is the client as new as the server?")
    }

    static let clientClosed = PerchError(
        code: .cancelled, reason: .closed, message: "the client was closed; make another one")

    static let cancelledHere = PerchError(
        code: .cancelled, reason: .cancelled, message: "the task that asked was cancelled")

    private static func dictionary(_ details: [StatusDetail]) -> [String: String] {
        Dictionary(details.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
