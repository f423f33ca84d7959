import PerchBase
import PerchIdentity
import PerchMetrics
import PerchModel
import PerchServer

/// The row of `perch serve`: every setting of a server, once, for flags, environment, file and help.
enum ServeTable {
    static let serve: CommandSpec = {
        var serve = CommandSpec("serve", "Run a server.")
        serve.discussion = [
            "Without settings it listens on loopback only, without credentials. SIGTERM and SIGINT drain: every stream gets "
                + "a request to reconnect, and its client resumes with its token. SIGHUP reads the catalogue, the files of "
                + "TLS, the keys of tokens and the file of --apple-apps again, and pushes the changes.",
            "Under systemd it reports when it is ready, reloading or stopping, pings the watchdog while every loop and the "
                + "store work, and takes the listeners of .socket units: deploy/README.md.",
            "A setting is an option, a PERCH_ variable, or a line `name = value` in the file of --config. The first of "
                + "these that has it counts.",
        ]
        serve.action = .serve
        serve.options =
            Self.settings.map { $0.asSetting().heading(Self.heading(of: $0.name)) } + [
                OptionSpec("config", .text, "FILE", "Settings from a file.").inEnvironment().group(.general),
                OptionSpec(
                    flag: "show-config", "Print each setting with where its value comes from, and end."
                ).group(.general),
            ]
        serve.examples = [
            (
                "perch serve --catalog Shop.storekit --time-rate oneRenewalEveryMinute",
                "A test store that forgets, where each period lasts a minute."
            ),
            ("perch serve --store /var/lib/perch --show-config", "What would hold, and who says so."),
        ]
        return serve
    }()

    /// Each heading of the help, with the settings below it; a test requires that each setting is under one.
    static let headings: [(name: String, settings: Set<String>)] = [
        (
            "What is served",
            [
                "store", "catalog", "bundle-id", "environment", "add-app", "time-rate", "clock",
                "allow-mixed-environments",
            ]
        ),
        (
            "Where it listens",
            [
                "listen", "loops", "http", "allow-remote-http", "unready-when-full", "allow-plaintext",
                "allow-unauthenticated", "allow-origin", "allow-host", "console", "drain", "return-after",
                "with-parent",
            ]
        ),
        (
            "TLS",
            ["tls", "tls-certificate", "tls-key", "tls-client-certificates", "tls-client-ca", "tls-ticket-secret"]
        ),
        ("Who may call", ["token-keys", "token-audience", "token-issuer", "certificate-identities"]),
        (
            "The App Store",
            ["apple-apps", "apple-listen", "twin-listen", "twin-directory", "twin-notify", "pass-key-life"]
        ),
        ("Log", ["log-format", "log-level"]),
    ]

    static let limits = "Limits"

    private static func heading(of name: String) -> String {
        Self.headings.first { $0.settings.contains(name) }?.name ?? Self.limits
    }

    private static let settings: [OptionSpec] = [
        OptionSpec(
            "listen", .listenAddress, "ADDRESS:PORT", default: "127.0.0.1:7447",
            "Where to listen; port 0 takes a free one. Anything but loopback needs TLS and "
                + "credentials, or the two --allow- options that do without."),
        OptionSpec(
            "allow-origin", .text, "ORIGINS",
            "Web pages that may call: origins such as https://app.example.com, between commas, or * for all."),
        OptionSpec(
            "allow-host", .text, "NAMES",
            "Names of this server, between commas, by which HTTP may call it without credentials, such as the name of its "
                + "container's service; * for all. Without it: localhost and addresses of loopback, and off loopback any address."
        ),
        OptionSpec(
            "console", .choice(ServerSettings.ConsoleSwitch.allCases.map(\.rawValue)), "MODE", default: "auto",
            "Whether browsers get the console at /console/: `auto` on loopback only. Elsewhere `on` needs credentials."),
        OptionSpec(
            "store", .text, "PATH", default: "memory",
            "Where the store lies: a directory, a file that ends in .db, a database of PostgreSQL that several servers may "
                + "share (postgres://USER@HOST/DATABASE, password in the file of PGPASSFILE), or `memory`, which forgets."
        ),
        OptionSpec(
            "catalog", .text, "PATH",
            "The app's catalogue: a .storekit file, or a bundle directory with Configuration.storekit in it. Not needed "
                + "where the store has an app already."),
        OptionSpec(
            "bundle-id", .bundleID, "ID", default: "com.example.app", "The bundle identifier of the catalogue's app."),
        OptionSpec(
            "environment", .environment, "NAME", default: "xcode",
            "The store behind the app; in `xcode`, Perch itself is the store."),
        OptionSpec(
            flag: "add-app",
            "Add the app of --bundle-id and --environment to a store that has others. Without it a name that the store does "
                + "not have is refused."),
        OptionSpec(
            "time-rate", .timeRate, "RATE",
            "How long a period lasts in a test app: a name or number of `perch store clock rate --help`; the catalogue's if "
                + "not given."),
        OptionSpec(
            "clock", .instant, "INSTANT",
            "Where the clock of a test app that is new stands still, such as 2026-01-31T10:00:00Z; it runs with this "
                + "machine's if not given. `perch store clock` moves it."),
        OptionSpec(
            "loops", .count(0...1_024), "N", default: "0", "Threads that hold connections; 0 for one a core."),
        OptionSpec(
            "record-cache-bytes", .bytes(0...(1 << 40)), "SIZE", default: byteCount(Int64(Limits.recordCacheBytesMax)),
            "Records of accounts that are kept in memory."),
        OptionSpec(
            "frame-bytes", .bytes(64 * 1024...64 * 1024 * 1024), "SIZE",
            default: byteCount(Int64(Limits.frameBytesMax)),
            "The longest message, compressed or not."),
        OptionSpec(
            "calls-per-connection", .count(1...16_777_215), "N", default: String(Limits.callsPerConnectionMax),
            "Live calls on one connection."),
        OptionSpec(
            "handshakes", .count(1...1_000_000), "N", default: String(Limits.handshakesMax),
            "Connections before WELCOME, or without valid credentials where they are needed."),
        OptionSpec(
            "handshakes-bytes", .bytes(1024 * 1024...(1 << 40)), "SIZE",
            default: byteCount(Int64(Limits.handshakesBytesMax)),
            "Memory of those connections: parts of frames, and TLS handshakes."),
        OptionSpec(
            "unidentified-frame-bytes", .bytes(16 * 1024...64 * 1024 * 1024), "SIZE",
            default: byteCount(Int64(Limits.unidentifiedFrameBytesMax)),
            "The longest message of a connection without valid credentials, where they are needed."),
        OptionSpec(
            "hello-timeout", .duration(1_000...3_600_000), "DURATION",
            default: exactly(milliseconds: Limits.helloTimeoutMilliseconds), "How long a HELLO may take to come."),
        OptionSpec(
            "first-byte-timeout", .duration(100...3_600_000), "DURATION",
            default: exactly(milliseconds: Limits.firstByteTimeoutMilliseconds),
            "How long its first byte may take, at most as long as all of it."),
        OptionSpec(
            "partial-frames-bytes", .bytes(64 * 1024...(1 << 40)), "SIZE",
            default: byteCount(Int64(Limits.partialFramesBytesMax)),
            "Incomplete frames of all connections."),
        OptionSpec(
            "frame-timeout", .duration(1_000...3_600_000), "DURATION",
            default: exactly(milliseconds: Limits.frameTimeoutMilliseconds),
            "How long a frame may take from its first byte to its last."),
        OptionSpec(
            "max-stream-age", .duration(0...31_536_000_000), "DURATION", default: "0",
            "Age, give or take a fifth, at which a stream of gRPC, Connect or SSE ends with UNAVAILABLE, so that its client "
                + "comes back with its token, perhaps to another server. 0: none."),
        OptionSpec(
            "max-connection-age", .duration(0...31_536_000_000), "DURATION", default: "0",
            "Age, give or take a fifth, from which a connection of HTTP takes no further calls. Those under way go on. 0: "
                + "none."),
        OptionSpec(
            "calls-bytes", .bytes(1024 * 1024...(1 << 40)), "SIZE", default: byteCount(Int64(Limits.callsBytesMax)),
            "Memory of the open calls of all connections: a watch has some 250 bytes."),
        OptionSpec(
            "connections-per-address", .count(1...1_000_000), "N", default: String(Limits.connectionsPerAddressMax),
            "Connections from one address (of IPv6: one network of 64 bits); loopback has no limit."),
        OptionSpec(
            "connections-per-identity", .count(1...1_000_000), "N", default: String(Limits.connectionsPerIdentityMax),
            "Connections of one identity."),
        OptionSpec(
            "connects-per-second", .count(0...1_000_000), "N", default: String(Limits.connectsPerAddress.perSecond),
            "New connections from one address, after as many at once as it may have; 0 for no limit."),
        OptionSpec(
            "calls-per-second", .count(0...1_000_000), "N", default: String(Limits.callsPerIdentity.perSecond),
            "Calls of one identity on one loop, after as many at once as a connection may have; 0 for no limit."),
        OptionSpec(
            "dying-connections", .count(1...1_000_000), "N", default: String(Limits.dyingConnectionsMax),
            "Closing connections that may still read why."),
        OptionSpec(
            "idempotency-keys", .duration(1_000...Limits.commandTimeoutMilliseconds), "DURATION",
            default: exactly(milliseconds: Limits.idempotencyKeyMilliseconds),
            "How long the answer to a client's key is kept."),
        OptionSpec(
            "cursor-time", .duration(1_000...Limits.commandTimeoutMilliseconds), "DURATION",
            default: exactly(milliseconds: Limits.cursorRetentionMilliseconds),
            "How long the cursor of a stream of transactions can be resumed, and longer until --cursor-revisions."),
        OptionSpec(
            "cursor-revisions", .count(1...1_000_000_000_000), "N",
            default: String(Limits.cursorRetentionRevisionsMin), "Revisions for which it can, however old."),
        OptionSpec(
            "backup-directory", .text, "PATH",
            "Let `perch backup` write below this directory of the server only. Without it an administrator names any file that "
                + "the server can make."),
        OptionSpec(
            "record-entries", .count(1...Int64(Limits.recordEntriesMax)), "N",
            default: String(Limits.recordEntriesMax),
            "Subscription lines, owned products, waiting purchases, intents and shares of one account."),
        OptionSpec(
            "write-stall", .duration(1_000...3_600_000), "DURATION",
            default: exactly(milliseconds: Limits.writeStallMilliseconds),
            "A reader that takes nothing for so long, while something waits, is closed."),
        OptionSpec(
            "linger", .duration(0...3_600_000), "DURATION", default: exactly(milliseconds: Limits.lingerMilliseconds),
            "How long a closing connection may still read why."),
        OptionSpec(
            "drain", .duration(0...3_600_000), "DURATION", default: "2s",
            "Time in which streams learn that the server stops."),
        OptionSpec(
            "return-after", .duration(0...3_600_000), "DURATION",
            default: exactly(milliseconds: Int64(Limits.drainReturnMilliseconds)),
            "When the clients of a stopping server may return: set it to the time from SIGTERM until the next process listens."
        ),
        OptionSpec(
            "http", .listenAddressOrSwitch, "ADDRESS:PORT", default: "off",
            "Where /metrics, /healthz, /readyz and /status are answered: an address, `on` for "
                + "\(ServerSettings.standardHTTP), or `off`. Anything but loopback needs --allow-remote-http."),
        OptionSpec(
            "log-format", .choice(LogSettings.Format.allCases.map(\.rawValue)), "NAME", default: "auto",
            "How events are written to standard error; `auto` is logfmt on a terminal, JSON elsewhere."),
        OptionSpec(
            "log-level", .choice(LogLevel.allCases.map(\.name)), "NAME", default: "info",
            "Writes events of this level and graver ones. `debug` has each connection and call; SIGUSR1 turns it on and off in a running server."
        ),
        OptionSpec(
            flag: "allow-remote-http",
            "Let every client that reaches the --http listener read the server's figures: they hold no account and no "
                + "secret."),
        OptionSpec(
            flag: "unready-when-full",
            "Answer no at /readyz while the store's disk is full. Without it the answer is yes, since reads and streams go "
                + "on."),
        OptionSpec(
            "tls", .choice(TLSSettings.Mode.allCases.map(\.rawValue)), "MODE",
            "Whether connections are encrypted: `required`, `allowed` beside plaintext on the same port, or `off`. "
                + "`required` where a certificate is given, else `off`."),
        OptionSpec(
            "tls-certificate", .text, "FILE",
            "The server's certificate in PEM, and behind it those that lead towards its root. Read again at SIGHUP."),
        OptionSpec("tls-key", .text, "FILE", "Its key in PEM, in a file that only its owner can read."),
        OptionSpec(
            "tls-client-certificates", .choice(TLSSettings.ClientCertificates.allCases.map(\.rawValue)), "MODE",
            default: "off", "Whether clients are asked for certificates, or refused without."),
        OptionSpec("tls-client-ca", .text, "FILE", "The authorities of clients' certificates, in PEM."),
        OptionSpec(
            "tls-ticket-secret", .text, "FILE",
            "At least \(Limits.tlsTicketSecretBytesMin) random bytes. With it, clients resume their TLS sessions after a "
                + "restart, and at other servers with the same secret."),
        OptionSpec(
            flag: "allow-plaintext",
            "Let every network on the way to a listener off loopback read its traffic, credentials included."),
        OptionSpec(
            flag: "allow-unauthenticated",
            "Let every client that reaches a listener off loopback do everything."),
        OptionSpec(
            "token-keys", .text, "PATH",
            "Ask callers for tokens, signed with one of these keys: a JWK, JWKS or PEM file, or a directory of them. Public "
                + "halves are enough; a file with a secret is refused where others can read it. Read again at SIGHUP, and "
                + "a token of a removed key gets CREDENTIALS_REVOKED."),
        OptionSpec(
            "token-audience", .text, "NAME", default: Authenticator.standardAudience,
            "The claim aud that tokens must have: the name of this server."),
        OptionSpec(
            "token-issuer", .text, "NAME",
            "The claim iss that tokens must have; any if not given."),
        OptionSpec(
            "token-life", .duration(Limits.tokenLifeMillisecondsRange), "DURATION", default: "400d",
            "How far in the future a token may end. One that ends later is refused. Revocations are kept at least this "
                + "long."),
        OptionSpec(
            "certificate-identities", .text, "FILE",
            "Identities of client certificates, as JSON: deploy/README.md. Read again at SIGHUP."),
        OptionSpec(
            "pass-key-life", .duration(Limits.passKeyMillisecondsRange), "DURATION", default: "90d",
            "How long a key signs passes. A start after it makes a new key, and shows the one before beside it."),
        OptionSpec(
            "apple-apps", .text, "FILE",
            "Sandbox and production apps that take signed values of the App Store, as JSON: deploy/README.md. Read again "
                + "at SIGHUP."),
        OptionSpec(
            "apple-listen", .listenAddressOrSwitch, "ADDRESS:PORT", default: "off",
            "Where to take notifications of the App Store, POST /apple/notifications, and nothing else: `on` for "
                + "\(ServerSettings.standardAppleListen), or `off`. It speaks TLS as --listen does; Apple needs HTTPS, of this "
                + "server or of a proxy before it."),
        OptionSpec(
            "twin-listen", .listenAddressOrSwitch, "ADDRESS:PORT", default: "off",
            "Where the test apps of this server stand in for the App Store, for backends that use Apple's libraries: `on` for "
                + "\(ServerSettings.standardTwinListen), or `off`. Loopback only; needs --twin-directory."),
        OptionSpec(
            "twin-directory", .text, "DIRECTORY",
            "The directory of that twin's authority, made at the first start, and of the files for backends: `perch twin "
                + "DIRECTORY`. With it, test apps sign by this authority instead of the store's."),
        OptionSpec(
            "twin-notify", .text, "URL",
            "Where that twin posts the notifications of the test apps, as the App Store does: https, or http on loopback. Without it "
                + "they stand in its history alone."),
        OptionSpec(
            flag: "with-parent",
            "End at once when the process that started this one ends, for servers that only a test knows of."),
        OptionSpec(flag: "allow-mixed-environments", "Let test apps and apps of the App Store share the listener."),
    ]
}
