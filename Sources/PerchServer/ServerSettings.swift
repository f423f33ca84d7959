package import PerchBase
import PerchCore
import PerchIdentity
package import PerchModel
package import PerchStore

/// Everything that an operator can set. The defaults serve a test store on loopback.
package struct ServerSettings: Sendable {
    /// `HOST:PORT`; port 0 takes a free one and says which.
    package var listen = "127.0.0.1:7447"
    /// Where the store lies.
    package var store = StoreLocation.memory
    /// The apps that this server serves, each with its catalogue.
    package var apps: [AppSettings] = []
    /// Which app of the store is meant, as far as it was said, where no catalogue is given; nil where nothing was.
    package var statedApp: (bundleID: String?, environment: AppEnvironment?)?
    /// Loops, each a thread with its own listener; 0 for one a core.
    package var loops = 0
    package var recordCacheBytesMax = Limits.recordCacheBytesMax
    package var frameBytesMax = Limits.frameBytesMax
    package var callsPerConnectionMax = Limits.callsPerConnectionMax
    package var writeStallMilliseconds = Limits.writeStallMilliseconds
    package var lingerMilliseconds = Limits.lingerMilliseconds
    /// Streams are told within this after SIGTERM, and closed.
    package var drainMilliseconds: Int64 = 2_000
    package var tls = TLSSettings()
    /// The operator has written out that a listener off loopback may do without TLS.
    package var isPlaintextAllowed = false
    /// How callers show who they are.
    package var authentication = AuthenticationSettings()
    package var hasAuthenticator: Bool { self.authentication.isOn }
    package var handshakesMax = Limits.handshakesMax
    package var handshakesBytesMax = Limits.handshakesBytesMax
    package var helloTimeoutMilliseconds = Limits.helloTimeoutMilliseconds
    package var firstByteTimeoutMilliseconds = Limits.firstByteTimeoutMilliseconds
    package var partialFramesBytesMax = Limits.partialFramesBytesMax
    package var unidentifiedFrameBytesMax = Limits.unidentifiedFrameBytesMax
    package var frameTimeoutMilliseconds = Limits.frameTimeoutMilliseconds
    package var callsBytesMax = Limits.callsBytesMax
    package var dyingConnectionsMax = Limits.dyingConnectionsMax
    package var connectionsPerAddressMax = Limits.connectionsPerAddressMax
    package var connectionsPerIdentityMax = Limits.connectionsPerIdentityMax
    package var connectsPerAddress = Limits.connectsPerAddress
    package var callsPerIdentity = Limits.callsPerIdentity
    package var storeLimits = StoreLimits()
    /// The operator has written out that a listener off loopback may do without credentials.
    package var isUnauthenticatedAllowed = false
    /// The operator has written out that test apps and production apps may share this listener.
    package var isMixingEnvironmentsAllowed = false
    /// `HOST:PORT` where /metrics, /healthz, /readyz and /status are answered; nil for nowhere.
    package var http: String?
    /// The operator has written out that the HTTP listener may be reached from elsewhere.
    package var isRemoteHTTPAllowed = false
    package var log = LogSettings()
    /// What the service manager says in the environment.
    package var supervision = Supervision()
    package var version = "0.1.0"
    /// A store that has apps may get one more.
    package var isAddingApp = false
    /// `/readyz` says yes while the disk is full: reads and streams go on.
    package var isReadyWithoutRoom = true
    /// Names in the environment that begin like settings and are links to services.
    package var ignoredVariables: [String] = []
    /// The server ends with the thread that started its process: nobody else knows of it.
    package var endsWithParent = false

    /// Where HTTP is answered when the operator says no more than that it is.
    package static let standardHTTP = "127.0.0.1:7448"

    package init() {}

    /// Nobody is let in whose certificate was not verified.
    package var requiresClientCertificates: Bool {
        self.tls.clientCertificates == .required && self.tls.mode == .required
    }

    package enum StoreLocation: Hashable, Sendable {
        /// Forgets when the process ends.
        case memory
        /// One SQLite file.
        case file(path: String)

        /// Of the file, where there is one.
        package var path: String? {
            if case .file(let path) = self { path } else { nil }
        }
    }

    /// One app and where its catalogue comes from.
    package struct AppSettings: Sendable {
        package var bundleID: String
        package var environment: AppEnvironment
        /// A `.storekit` file, or a bundle directory with `Configuration.storekit` in it. Read at start and at SIGHUP.
        package var catalogPath: String
        /// Instead of the file's; nil for the file's.
        package var timeRate: TimeRate?
        /// Where the clock of a test app that is new stands still; nil: it runs with the wall's.
        package var clock: Instant?

        package init(
            bundleID: String, environment: AppEnvironment = .xcode, catalogPath: String, timeRate: TimeRate? = nil,
            clock: Instant? = nil
        ) {
            self.bundleID = bundleID
            self.environment = environment
            self.catalogPath = catalogPath
            self.timeRate = timeRate
            self.clock = clock
        }
    }
}

/// Why a server does not start, or ended: for people, with what to do next.
package struct ServerError: Error, CustomStringConvertible {
    package var description: String
    /// With these settings it cannot start, whatever else changes.
    package var isOfSettings = false

    package init(_ description: String) { self.description = description }

    static func settings(_ description: String) -> ServerError {
        var error = ServerError(description)
        error.isOfSettings = true
        return error
    }
}

extension ServerSettings {
    /// Why these settings cannot hold together, as far as that is seen without a file or a socket; nil if they can.
    package var contradiction: String? {
        if let contradiction = self.tls.contradiction { return contradiction }
        if self.authentication.certificateIdentitiesPath != nil, self.tls.clientCertificates == .off {
            return
                "--certificate-identities says whom certificates of clients stand for, and no client is asked for one; give "
                + "--tls-client-certificates optional or required, and --tls-client-ca"
        }
        if self.authentication.tokenKeysPath == nil,
            self.authentication.issuer != nil || self.authentication.audience != Authenticator.standardAudience
                || self.authentication.tokenLifeMilliseconds != Limits.tokenLifeMilliseconds
        {
            return
                "--token-issuer, --token-audience and --token-life say which tokens are taken, and without --token-keys nobody is asked for "
                + "one; give the keys, or leave them out"
        }
        if let app = self.apps.first(where: { $0.clock != nil && $0.environment != .xcode }) {
            return
                "--clock is for test apps, and \(app.bundleID) is an app of \(app.environment), whose clock is the wall's; "
                + "leave it out"
        }
        return nil
    }
}

extension CoreSettings {
    /// For each of so many loops of a process that may have so many connections.
    ///
    /// The kernel spreads connections evenly over the listeners, so each loop has its part of what is bounded for all. Peers
    /// that are not known yet have half of the connections at most, and closing connections a quarter.
    init(_ settings: ServerSettings, loops: Int, connections: Int = .max) {
        func part(_ all: Int) -> Int { max(1, all / loops + (all % loops == 0 ? 0 : 1)) }
        self.init()
        self.serverVersion = settings.version
        self.frameBytesMax = settings.frameBytesMax
        self.callsPerConnectionMax = settings.callsPerConnectionMax
        self.writeStallMilliseconds = settings.writeStallMilliseconds
        self.lingerMilliseconds = settings.lingerMilliseconds
        self.drainMilliseconds = settings.drainMilliseconds
        self.handshakesMax = part(min(settings.handshakesMax, connections / 2))
        self.handshakesBytesMax = part(settings.handshakesBytesMax)
        self.helloTimeoutMilliseconds = settings.helloTimeoutMilliseconds
        self.firstByteTimeoutMilliseconds = settings.firstByteTimeoutMilliseconds
        let longestFrame = settings.frameBytesMax + Limits.readBytes
        self.partialFramesBytesMax = max(
            part(settings.partialFramesBytesMax), min(longestFrame, settings.partialFramesBytesMax))
        self.unidentifiedFrameBytesMax = settings.unidentifiedFrameBytesMax
        self.frameTimeoutMilliseconds = settings.frameTimeoutMilliseconds
        self.callsBytesMax = settings.callsBytesMax
        self.dyingConnectionsMax = part(min(settings.dyingConnectionsMax, connections / 4))
        self.connectionsPerAddressMax = settings.connectionsPerAddressMax
        self.connectionsPerIdentityMax = settings.connectionsPerIdentityMax
        self.connectsPerAddress = settings.connectsPerAddress
        self.callsPerIdentity = settings.callsPerIdentity
    }
}
