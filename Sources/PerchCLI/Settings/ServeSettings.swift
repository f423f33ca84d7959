import PerchBase
import PerchMetrics
import PerchModel
package import PerchServer
import PerchStore

extension ServerSettings {
    /// The settings of `perch serve` as the server takes them.
    package init(_ settings: Settings, version: String) {
        self.init()
        func number(_ name: String) -> Int { Int(settings.number(name) ?? 0) }
        self.listen = settings.text("listen") ?? self.listen
        if let store = settings.text("store") { self.store = StoreLocation(store) }
        if let catalog = settings.text("catalog") {
            self.apps = [
                AppSettings(
                    bundleID: settings.text("bundle-id") ?? "",
                    environment: settings.text("environment").flatMap { AppEnvironment(named: $0) } ?? .xcode,
                    catalogPath: catalog, timeRate: settings.text("time-rate").flatMap { TimeRate(named: $0) },
                    clock: settings.number("clock").map { Instant(milliseconds: $0) })
            ]
        } else if settings.isGiven("bundle-id") || settings.isGiven("environment") {
            self.statedApp = (
                bundleID: settings.isGiven("bundle-id") ? settings.text("bundle-id") : nil,
                environment: settings.isGiven("environment")
                    ? settings.text("environment").flatMap { AppEnvironment(named: $0) } : nil
            )
        }
        self.loops = number("loops")
        self.recordCacheBytesMax = number("record-cache-bytes")
        self.frameBytesMax = number("frame-bytes")
        self.callsPerConnectionMax = number("calls-per-connection")
        self.writeStallMilliseconds = settings.number("write-stall") ?? self.writeStallMilliseconds
        self.lingerMilliseconds = settings.number("linger") ?? self.lingerMilliseconds
        self.drainMilliseconds = settings.number("drain") ?? self.drainMilliseconds
        self.returnAfterMilliseconds = settings.number("return-after") ?? self.returnAfterMilliseconds
        self.tls = TLSSettings(settings)
        self.isPlaintextAllowed = settings.flag("allow-plaintext")
        self.authentication = AuthenticationSettings(settings)
        self.handshakesMax = number("handshakes")
        self.handshakesBytesMax = number("handshakes-bytes")
        self.unidentifiedFrameBytesMax = number("unidentified-frame-bytes")
        self.streamAgeMilliseconds = settings.number("max-stream-age") ?? self.streamAgeMilliseconds
        self.connectionAgeMilliseconds = settings.number("max-connection-age") ?? self.connectionAgeMilliseconds
        self.origins = settings.text("allow-origin").map { $0.split(separator: ",").map { String($0) } } ?? []
        self.hosts = settings.text("allow-host").map { $0.split(separator: ",").map { String($0) } } ?? []
        self.backupDirectory = settings.text("backup-directory")
        self.console = settings.text("console").flatMap { ConsoleSwitch(rawValue: $0) } ?? .auto
        self.frameTimeoutMilliseconds = settings.number("frame-timeout") ?? self.frameTimeoutMilliseconds
        self.helloTimeoutMilliseconds = settings.number("hello-timeout") ?? self.helloTimeoutMilliseconds
        self.firstByteTimeoutMilliseconds = min(
            settings.number("first-byte-timeout") ?? self.firstByteTimeoutMilliseconds, self.helloTimeoutMilliseconds)
        self.partialFramesBytesMax = number("partial-frames-bytes")
        self.callsBytesMax = number("calls-bytes")
        self.dyingConnectionsMax = number("dying-connections")
        self.connectionsPerAddressMax = number("connections-per-address")
        self.connectionsPerIdentityMax = number("connections-per-identity")
        self.connectsPerAddress = RateLimit(
            perSecond: number("connects-per-second"), burst: self.connectionsPerAddressMax)
        self.callsPerIdentity = RateLimit(perSecond: number("calls-per-second"), burst: self.callsPerConnectionMax)
        self.storeLimits.answersKeptMilliseconds =
            settings.number("idempotency-keys") ?? self.storeLimits.answersKeptMilliseconds
        self.storeLimits.cursorMilliseconds = settings.number("cursor-time") ?? self.storeLimits.cursorMilliseconds
        self.storeLimits.cursorRevisions = UInt64(number("cursor-revisions"))
        self.storeLimits.recordEntriesMax = number("record-entries")
        self.isUnauthenticatedAllowed = settings.flag("allow-unauthenticated")
        self.isMixingEnvironmentsAllowed = settings.flag("allow-mixed-environments")
        self.endsWithParent = settings.flag("with-parent")
        self.http = settings.listener("http", standard: Self.standardHTTP)
        self.isRemoteHTTPAllowed = settings.flag("allow-remote-http")
        self.appleAppsPath = settings.text("apple-apps")
        self.passKeyMilliseconds = settings.number("pass-key-life") ?? self.passKeyMilliseconds
        self.appleListen = settings.listener("apple-listen", standard: Self.standardAppleListen)
        self.twinListen = settings.listener("twin-listen", standard: Self.standardTwinListen)
        self.twinDirectory = settings.text("twin-directory")
        self.twinNotify = settings.text("twin-notify")
        self.log.format = settings.text("log-format").flatMap { LogSettings.Format(rawValue: $0) } ?? self.log.format
        self.log.level = settings.text("log-level").flatMap { LogLevel(named: $0) } ?? self.log.level
        self.version = version
        self.ignoredVariables = settings.ignoredVariables
        self.isAddingApp = settings.flag("add-app")
        self.isReadyWithoutRoom = !settings.flag("unready-when-full")
    }
}

extension Settings {
    /// Whether it is given, even with its default value.
    fileprivate func isGiven(_ name: String) -> Bool {
        self.entry(name).map { $0.origin != .standard } ?? false
    }

    /// The address of a listener that may be switched off; nil: it is.
    fileprivate func listener(_ name: String, standard: String) -> String? {
        switch self.text(name) {
        case "off", nil: nil
        case "on": standard
        case let address?: address
        }
    }

    /// Settings of a catalogue's app that have no effect without a catalogue: the apps of the store keep theirs.
    var unused: String? {
        guard self.text("catalog") == nil, let first = ["time-rate", "clock"].first(where: self.isGiven),
            let origin = self.entry(first)?.origin
        else { return nil }
        return
            "--\(first) (\(origin)) is of the app of a catalogue, and there is no --catalog: the apps of the store keep "
            + "theirs; give the catalogue too, or leave it out"
    }
}

extension TLSSettings {
    fileprivate init(_ settings: Settings) {
        self.init()
        self.certificatePath = settings.text("tls-certificate")
        self.keyPath = settings.text("tls-key")
        self.clientAuthorityPath = settings.text("tls-client-ca")
        self.ticketSecretPath = settings.text("tls-ticket-secret")
        self.clientCertificates =
            settings.text("tls-client-certificates").flatMap { ClientCertificates(rawValue: $0) } ?? .off
        // A certificate turns TLS on for all connections, unless --tls says otherwise.
        self.mode =
            settings.text("tls").flatMap { Mode(rawValue: $0) } ?? (self.certificatePath == nil ? .off : .required)
    }
}

extension AuthenticationSettings {
    fileprivate init(_ settings: Settings) {
        self.init()
        self.tokenKeysPath = settings.text("token-keys")
        self.audience = settings.text("token-audience") ?? self.audience
        self.issuer = settings.text("token-issuer")
        self.tokenLifeMilliseconds = settings.number("token-life") ?? self.tokenLifeMilliseconds
        self.certificateIdentitiesPath = settings.text("certificate-identities")
    }
}
