import PerchBase
public import PerchModel
import PerchWire

/// An app: a bundle identifier with one environment.
public struct AppIdentifier: Hashable, Sendable {
    /// Bundle identifier of the app.
    public var bundleID: String
    /// May be unspecified if the bundle identifier has exactly one.
    public var environment: AppEnvironment

    /// Creates an app identifier.
    public init(bundleID: String, environment: AppEnvironment = .unspecified) {
        self.bundleID = bundleID
        self.environment = environment
    }
}

/// How a client behaves.
public struct PerchClientOptions: Sendable {
    /// The credentials, in the form of the HTTP header `authorization`. They are never logged, and `print` does not show them.
    public enum Authorization: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        case none
        case value(String)
        /// The first line of a file, which is read for each connection, so that credentials can be replaced while the client
        /// runs. A line without a space is a token, and stands for `Bearer` and the token.
        case file(path: String)

        /// The kind of credentials, without the secret.
        public var description: String {
            switch self {
            case .none: "none"
            case .value: "value(not shown)"
            case .file(let path): "file(path: \"\(path)\")"
            }
        }

        /// The kind of credentials, without the secret.
        public var debugDescription: String { self.description }
        /// An empty mirror, so that `dump` does not print the secret.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The encryption of the connection, and the identification of the server.
    public struct TLS: Sendable {
        /// The authorities that may sign the server's certificate.
        public enum Trust: Sendable {
            /// The authorities that this system trusts.
            case system
            /// The authorities in a PEM file, which is read for each connection.
            case file(path: String)

            /// Nil for the system's.
            package var path: String? {
                switch self {
                case .system: nil
                case .file(let path): path
                }
            }
        }

        /// The authorities that the server's certificate is checked against.
        public var trust = Trust.system
        /// The name that the server's certificate must have; nil for that of the address.
        public var serverName: String?
        /// The client's certificate in PEM, for a server that asks for one. It is read for each connection.
        public var certificatePath: String?
        /// The key of the certificate. Only the owner of the file may have permission to read it.
        public var keyPath: String?

        /// Creates TLS settings without a client certificate.
        public init(trust: Trust = .system) { self.trust = trust }
    }

    /// Nil for a connection in plaintext.
    public var tls: TLS?
    /// Name and version of the program, for the operator of the server.
    public var name = "perch-swift/1"
    /// The credentials of the client.
    public var authorization = Authorization.none
    /// Requested time between heartbeats, 10 to 600 s. After two and a half of them without a byte, 25 s by default, the client
    /// takes the network for dead and reconnects.
    public var heartbeat = Duration.seconds(10)
    /// Whether the server may compress its messages.
    public var acceptsCompression = true
    /// Maximum time from the first attempt to connect to the server's WELCOME.
    public var connectTimeout = Duration.seconds(10)
    /// Timeout of calls without their own.
    public var callTimeout = Duration.seconds(30)
    /// Whether values of test apps come with their signed form, as the App Store signs it. They are much longer then.
    public var includesJWS = false
    /// The first pause before connecting again is random, up to this; the second up to twice this, and so on.
    public var reconnectBase = Duration.seconds(1)
    /// Upper bound of all pauses.
    public var reconnectCap = Duration.seconds(60)
    /// What a state stream shows while there is no connection.
    public enum WhileDisconnected: Hashable, Sendable {
        /// What it has: `loading`, or the last value. `disconnectedSince` says how old that is.
        case keep
        /// A failure, with the last value, once there has been no connection for this time. The next value ends it.
        case failure(after: Duration)
    }

    /// What a state stream shows while there is no connection.
    public var whileDisconnected = WhileDisconnected.keep
    /// Sees calls and connections: for logs, metrics and traces.
    public var observer: (any PerchClientObserver)?
    /// Whether a call waits, until its timeout, for a server that cannot be reached. If not, it fails at once with
    /// `CONNECT_FAILED`. A call that was sent before the connection broke waits in either case.
    public var waitsForServer = false

    /// Creates the default options.
    public init() {}

    /// Refuses options that cannot be sent unchanged: in C protobuf a text ends at a NUL.
    func check() throws(PerchError) {
        func refuse(_ message: String) -> PerchError {
            PerchError(code: .invalidArgument, reason: .fieldInvalid, message: message)
        }
        if self.name.utf8.contains(0) { throw refuse("the client's name has a NUL; leave it out") }
        if case .value(let text) = self.authorization, text.utf8.contains(0) {
            throw refuse("the credentials have a NUL; leave it out")
        }
        if let name = self.tls?.serverName, name.isEmpty {
            throw refuse("the name of the server's certificate is empty; leave it out for that of the address")
        }
    }

    var heartbeatSeconds: UInt32 {
        let seconds = UInt32(clamping: self.heartbeat.components.seconds)
        return min(max(seconds, Limits.heartbeatSecondsMin), Limits.heartbeatSecondsMax)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, at least 0, saturated to a deadline's range.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return .max / 4 }
        return min(product.addingReportingOverflow(rest).partialValue, .max / 4)
    }
}

extension Duration {
    /// Whole milliseconds towards zero, with sign, saturated: the server checks them.
    var signedMilliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds > 0 ? .max : .min }
        let (sum, carried) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carried ? (seconds > 0 ? .max : .min) : sum
    }
}

extension AppReference {
    init(_ app: AppIdentifier?) {
        self.init(bundleID: app?.bundleID ?? "", environment: app?.environment ?? .unspecified)
    }
}
