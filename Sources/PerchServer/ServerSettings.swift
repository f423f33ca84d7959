package import PerchBase
import PerchCore
import PerchIdentity
package import PerchModel
import PerchPostgres
package import PerchStore

/// All settings of an operator. The defaults serve a test store on loopback.
package struct ServerSettings: Sendable {
    /// `HOST:PORT`; port 0 takes a free one, which the greeting names.
    package var listen = "127.0.0.1:7447"
    /// Where the store lies.
    package var store = StoreLocation.memory
    /// The apps that this server serves, each with its catalogue.
    package var apps: [AppSettings] = []
    /// The app of the store that the settings name, without a catalogue; nil if they name none.
    package var statedApp: (bundleID: String?, environment: AppEnvironment?)?
    /// Number of loops, each a thread with its own listener; 0 for one a core.
    package var loops = 0
    package var recordCacheBytesMax = Limits.recordCacheBytesMax
    package var frameBytesMax = Limits.frameBytesMax
    package var callsPerConnectionMax = Limits.callsPerConnectionMax
    package var writeStallMilliseconds = Limits.writeStallMilliseconds
    package var lingerMilliseconds = Limits.lingerMilliseconds
    /// Maximum time after SIGTERM in which streams get their status.
    package var drainMilliseconds: Int64 = 2_000
    /// When clients may return after that: the time from SIGTERM until the next process listens.
    package var returnAfterMilliseconds = Int64(Limits.drainReturnMilliseconds)
    package var tls = TLSSettings()
    /// The operator explicitly allows a listener off loopback without TLS.
    package var isPlaintextAllowed = false
    /// How callers authenticate.
    package var authentication = AuthenticationSettings()
    package var hasAuthenticator: Bool { self.authentication.isOn }
    package var handshakesMax = Limits.handshakesMax
    package var handshakesBytesMax = Limits.handshakesBytesMax
    package var helloTimeoutMilliseconds = Limits.helloTimeoutMilliseconds
    package var firstByteTimeoutMilliseconds = Limits.firstByteTimeoutMilliseconds
    package var partialFramesBytesMax = Limits.partialFramesBytesMax
    package var unidentifiedFrameBytesMax = Limits.unidentifiedFrameBytesMax
    package var frameTimeoutMilliseconds = Limits.frameTimeoutMilliseconds
    /// Of streams and connections of the HTTP family; 0: none.
    package var streamAgeMilliseconds: Int64 = 0
    package var connectionAgeMilliseconds: Int64 = 0
    /// Origins of pages that may call; `*` for all.
    package var origins: [String] = []
    /// Names by which clients of HTTP may call a listener without credentials; `*` for all.
    package var hosts: [String] = []
    /// The directory below which `Backup` writes; nil: anywhere.
    package var backupDirectory: String?
    /// Whether the port serves the console.
    package var console = ConsoleSwitch.auto
    package var callsBytesMax = Limits.callsBytesMax
    package var dyingConnectionsMax = Limits.dyingConnectionsMax
    package var connectionsPerAddressMax = Limits.connectionsPerAddressMax
    package var connectionsPerIdentityMax = Limits.connectionsPerIdentityMax
    package var connectsPerAddress = Limits.connectsPerAddress
    package var callsPerIdentity = Limits.callsPerIdentity
    package var storeLimits = StoreLimits()
    /// The operator explicitly allows a listener off loopback without credentials.
    package var isUnauthenticatedAllowed = false
    /// The operator explicitly allows test apps and production apps on one listener.
    package var isMixingEnvironmentsAllowed = false
    /// `HOST:PORT` of /metrics, /healthz, /readyz and /status; nil for off.
    package var http: String?
    /// The file of apps that take values of the App Store; nil for none.
    package var appleAppsPath: String?
    /// How long a key signs passes.
    package var passKeyMilliseconds = Limits.passKeyMilliseconds
    /// `HOST:PORT` of `POST /apple/notifications`; nil for off.
    package var appleListen: String?
    /// `HOST:PORT` of the twin of the App Store; nil for off.
    package var twinListen: String?
    /// The directory with the twin's authority and the files for backends; nil for none.
    package var twinDirectory: String?
    /// Where the twin posts notifications; nil for nowhere.
    package var twinNotify: String?
    /// The operator explicitly allows the HTTP listener off loopback.
    package var isRemoteHTTPAllowed = false
    package var log = LogSettings()
    /// The service manager's data in the environment.
    package var supervision = Supervision()
    package var version = "0.1.0"
    /// Allows another app in a store that has apps.
    package var isAddingApp = false
    /// `/readyz` answers yes while the disk is full, because reads and streams continue.
    package var isReadyWithoutRoom = true
    /// Environment variables that look like settings but are Kubernetes service links.
    package var ignoredVariables: [String] = []
    /// The server ends with the thread that started its process, because no other program knows of it.
    package var endsWithParent = false

    /// The address of `--http on`.
    package static let standardHTTP = "127.0.0.1:7448"
    /// The address of `--apple-listen on`.
    package static let standardAppleListen = "127.0.0.1:7449"
    /// The address of `--twin-listen on`.
    package static let standardTwinListen = "127.0.0.1:7450"

    package init() {}

    /// Every client needs a verified certificate.
    package var requiresClientCertificates: Bool {
        self.tls.clientCertificates == .required && self.tls.mode == .required
    }

    /// Whether browsers get the console.
    package enum ConsoleSwitch: String, CaseIterable, Sendable {
        /// On a listener of loopback.
        case auto
        case on
        case off
    }

    package enum StoreLocation: Hashable, Sendable {
        /// Forgets when the process ends.
        case memory
        /// One SQLite file.
        case file(path: String)
        /// A database of PostgreSQL, by its URL without a password.
        case database(url: String)

        /// The place that a setting names.
        package init(_ setting: String) {
            if setting == "memory" {
                self = .memory
            } else if PostgresLocation.isDatabase(setting) {
                self = .database(url: setting)
            } else {
                self = .file(path: setting)
            }
        }

        /// For programs.
        var kind: String {
            switch self {
            case .memory: "memory"
            case .file: "file"
            case .database: "postgres"
            }
        }

        /// Address of the database; nil in memory, and for a file.
        var database: String? {
            if case .database(let url) = self { url } else { nil }
        }

        /// Path of the file; nil in memory, and on a database server.
        package var path: String? {
            if case .file(let path) = self { path } else { nil }
        }
    }

    /// One app and the path of its catalogue.
    package struct AppSettings: Sendable {
        package var bundleID: String
        package var environment: AppEnvironment
        /// A `.storekit` file, or a bundle directory with `Configuration.storekit` in it. Read at start and at SIGHUP.
        package var catalogPath: String
        /// Replaces the file's time rate; nil keeps it.
        package var timeRate: TimeRate?
        /// The instant at which a new test app's clock is frozen; nil: it follows the wall clock.
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

/// Why a server did not start, or ended: a text for operators with the next step.
package struct ServerError: Error, CustomStringConvertible {
    package var description: String
    /// The settings themselves are wrong, whatever else changes.
    package var isOfSettings = false

    package init(_ description: String) { self.description = description }

    static func settings(_ description: String) -> ServerError {
        var error = ServerError(description)
        error.isOfSettings = true
        return error
    }
}

extension ServerSettings {
    /// Why these settings contradict each other, without reading a file or socket; nil if they do not.
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
                "--token-issuer, --token-audience and --token-life restrict tokens, and without --token-keys no caller is asked for "
                + "one; give the keys, or leave them out"
        }
        if let name = self.hosts.first(where: { $0 != "*" && HostRule.host(of: Array($0.utf8)) == nil }) {
            return
                "--allow-host takes names such as perch.example.com, between commas, and \(name) is none; pages of other sites are "
                + "for --allow-origin"
        }
        if let directory = self.backupDirectory, !directory.hasPrefix("/") {
            return
                "--backup-directory \(directory) is not absolute; give the whole path, such as /var/lib/perch/backups"
        }
        if self.appleListen != nil, self.appleAppsPath == nil {
            return "--apple-listen takes notifications, and no app is named for them; give --apple-apps"
        }
        if (self.twinListen == nil) != (self.twinDirectory == nil) {
            return
                "the twin of the App Store needs an address, and a directory for its authority and for the files of backends; give "
                + "both --twin-listen and --twin-directory"
        }
        if let address = self.twinNotify {
            guard self.twinListen != nil else {
                return "--twin-notify posts notifications of the twin, and there is none; give --twin-listen too"
            }
            guard address.hasPrefix("https://") || address.hasPrefix("http://") else {
                return
                    "--twin-notify takes an address such as http://127.0.0.1:8080/notifications, and \(address) is none"
            }
            // A name is looked up when something is posted.
            let host = address.dropFirst("http://".count).prefix { $0 != "/" && $0 != ":" }
            if address.hasPrefix("http://"), host.allSatisfy({ $0.isNumber || $0 == "." }), !host.hasPrefix("127.") {
                return "--twin-notify posts http on loopback only, and \(host) is elsewhere; give an https address"
            }
        }
        if self.twinListen != nil, case .database = self.store {
            return
                "the twin of the App Store signs with an authority of its own, and the nodes of a database share one; give --store a file "
                + "or memory, or leave --twin-listen out"
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
    /// The limits for each of `loops` loops in a process with at most `connections` connections.
    ///
    /// The kernel spreads connections evenly over the listeners, so each loop has its share of the process's limits.
    /// Unauthenticated peers may take at most half of the connections, and closing connections a quarter.
    init(_ settings: ServerSettings, loops: Int, connections: Int = .max, passKey: TokenKey? = nil) {
        func part(_ all: Int) -> Int { max(1, all / loops + (all % loops == 0 ? 0 : 1)) }
        self.init()
        self.passKey = passKey
        self.serverVersion = settings.version
        self.frameBytesMax = settings.frameBytesMax
        self.callsPerConnectionMax = settings.callsPerConnectionMax
        self.writeStallMilliseconds = settings.writeStallMilliseconds
        self.lingerMilliseconds = settings.lingerMilliseconds
        self.drainMilliseconds = settings.drainMilliseconds
        self.returnAfterMilliseconds = UInt32(clamping: settings.returnAfterMilliseconds)
        self.handshakesMax = part(min(settings.handshakesMax, connections / 2))
        self.handshakesBytesMax = part(settings.handshakesBytesMax)
        self.helloTimeoutMilliseconds = settings.helloTimeoutMilliseconds
        self.firstByteTimeoutMilliseconds = settings.firstByteTimeoutMilliseconds
        let longestFrame = settings.frameBytesMax + Limits.readBytes
        self.partialFramesBytesMax = max(
            part(settings.partialFramesBytesMax), min(longestFrame, settings.partialFramesBytesMax))
        self.unidentifiedFrameBytesMax = settings.unidentifiedFrameBytesMax
        self.frameTimeoutMilliseconds = settings.frameTimeoutMilliseconds
        self.streamAgeMilliseconds = settings.streamAgeMilliseconds
        self.connectionAgeMilliseconds = settings.connectionAgeMilliseconds
        self.origins = settings.origins
        self.callsBytesMax = settings.callsBytesMax
        self.dyingConnectionsMax = part(min(settings.dyingConnectionsMax, connections / 4))
        self.connectionsPerAddressMax = settings.connectionsPerAddressMax
        self.connectionsPerIdentityMax = settings.connectionsPerIdentityMax
        self.connectsPerAddress = settings.connectsPerAddress
        self.callsPerIdentity = settings.callsPerIdentity
    }
}
