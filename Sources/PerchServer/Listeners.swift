import PerchBase
import PerchLoop
import PerchMetrics
import PerchModel

/// The listeners of a server: by its settings, or opened by the service manager.
struct Listeners {
    private let address: SocketAddress
    private let httpAddress: SocketAddress?
    private let appleAddress: SocketAddress?
    private let twinAddress: SocketAddress?
    private let inherited: InheritedListener?
    private let inheritedHTTP: InheritedListener?

    /// The name of the HTTP listener in `FileDescriptorName=` of its unit. Any other name is the main listener's.
    static let httpName = "http"

    init(_ settings: ServerSettings, log: Log) throws(ServerError) {
        var main: [InheritedListener] = []
        var http: [InheritedListener] = []
        for listener in settings.supervision.listeners {
            do throws(InheritedFault) {
                let taken = try InheritedListener(listener.number, name: listener.name)
                if listener.name == Self.httpName { http.append(taken) } else { main.append(taken) }
            } catch {
                throw ServerError("\(error)")
            }
        }
        guard main.count <= 1, http.count <= 1 else {
            let names = (main + http).map(\.name).joined(separator: ", ")
            throw .settings(
                "the service manager has opened \(main.count + http.count) sockets (\(names)), and there is use for one, and one with FileDescriptorName=\(Self.httpName); take the others out of the .socket units"
            )
        }
        self.inherited = main.first
        self.inheritedHTTP = http.first
        if let main = main.first {
            self.address = main.address
            log.info(
                "the listener is the service manager's; --listen is not looked at",
                LogField("address", "\(main.address)"))
        } else {
            self.address = try Self.parse(settings.listen, option: "--listen")
        }
        if let http = http.first {
            self.httpAddress = http.address
        } else if let text = settings.http {
            self.httpAddress = try Self.parse(text, option: "--http")
        } else {
            self.httpAddress = nil
        }
        self.appleAddress = try settings.appleListen.map { (text) throws(ServerError) in
            try Self.parse(text, option: "--apple-listen")
        }
        self.twinAddress = try settings.twinListen.map { (text) throws(ServerError) in
            try Self.parse(text, option: "--twin-listen")
        }
        try self.check(settings)
    }

    /// Refuses settings that would let in callers by accident.
    private func check(_ settings: ServerSettings) throws(ServerError) {
        if let contradiction = settings.contradiction { throw .settings(contradiction) }
        guard self.address.isLoopback || settings.tls.mode == .required || settings.isPlaintextAllowed else {
            throw .settings(
                "\(self.address) can be reached from other machines, and its plaintext can be read on the way; give --tls-certificate and --tls-key, listen on 127.0.0.1, or write out --allow-plaintext"
            )
        }
        let knowsCallers = settings.hasAuthenticator || settings.requiresClientCertificates
        guard self.address.isLoopback || knowsCallers || settings.isUnauthenticatedAllowed else {
            throw .settings(
                "\(self.address) can be reached from other machines, and callers need no credentials; give --token-keys, or --tls-client-ca and --tls-client-certificates required, listen on 127.0.0.1, or write out --allow-unauthenticated"
            )
        }
        guard self.address.isLoopback || settings.console != .on || knowsCallers else {
            throw .settings(
                "--console on: \(self.address) can be reached from other machines, and the console needs credentials there; give --token-keys, or listen on 127.0.0.1"
            )
        }
        if let http = self.httpAddress, !http.isLoopback, !settings.isRemoteHTTPAllowed {
            throw .settings(
                "--http: \(http) can be reached from other machines, and every caller can read the server's figures; listen on 127.0.0.1, or write out --allow-remote-http"
            )
        }
        if let apple = self.appleAddress {
            guard apple.isLoopback || settings.tls.mode == .required || settings.isPlaintextAllowed else {
                throw .settings(
                    "--apple-listen: \(apple) can be reached from other machines, and Apple posts to HTTPS only; give --tls-certificate and --tls-key, listen on 127.0.0.1 behind a proxy, or write out --allow-plaintext"
                )
            }
            guard apple.port == 0 || (apple != self.address && apple != self.httpAddress) else {
                throw .settings("--apple-listen and another listener are both \(apple); give each its own port")
            }
        }
        if let twin = self.twinAddress, !twin.isLoopback {
            throw .settings(
                "--twin-listen: \(twin) can be reached from other machines, and the twin passes for Apple; listen on 127.0.0.1"
            )
        }
        if let http = self.httpAddress, http.port != 0, http == self.address {
            throw .settings("--http and --listen are both \(http); give each its own port")
        }
    }

    private static func parse(_ text: String, option: String) throws(ServerError) -> SocketAddress {
        do throws(SocketAddressFault) {
            return try SocketAddress(parsing: text)
        } catch {
            throw .settings("\(option) \(text): \(error)")
        }
    }

    /// Whether browsers get the console here.
    func servesConsole(_ settings: ServerSettings) -> Bool {
        settings.console == .on || settings.console == .auto && self.address.isLoopback
    }

    /// The names by which clients of HTTP may call the main listener. Credentials make any name good.
    func hosts(_ settings: ServerSettings) -> HostRule {
        if settings.hasAuthenticator || settings.requiresClientCertificates { return HostRule(.any) }
        return HostRule(self.address.isLoopback ? .loopback : .addresses, names: Self.names(settings))
    }

    /// Those of `--http`. Off loopback the operator lets every client read it.
    func httpHosts(_ settings: ServerSettings) -> HostRule {
        HostRule(self.httpAddress?.isLoopback == false ? .any : .loopback, names: Self.names(settings))
    }

    /// A page of an allowed origin may be one of this server, by the name of that origin.
    private static func names(_ settings: ServerSettings) -> [String] {
        settings.hosts + settings.origins.map { $0.split(separator: "/").last.map { String($0) } ?? $0 }
    }

    var isHTTPOn: Bool { self.httpAddress != nil }
    /// The service manager owns the main listener: its backlog outlives this process.
    var isInherited: Bool { self.inherited != nil }

    var isAppleOn: Bool { self.appleAddress != nil }

    /// The listener of Apple's notifications.
    func openApple() throws(SystemError) -> Descriptor {
        guard let address = self.appleAddress else { preconditionFailure("--apple-listen is off") }
        return try Self.naming("--apple-listen") { () throws(SystemError) in
            try Sockets.listen(on: address, reusePort: false)
        }
    }

    var isTwinOn: Bool { self.twinAddress != nil }

    /// The listener of the twin.
    func openTwin() throws(SystemError) -> Descriptor {
        guard let address = self.twinAddress else { preconditionFailure("--twin-listen is off") }
        return try Self.naming("--twin-listen") { () throws(SystemError) in
            try Sockets.listen(on: address, reusePort: false)
        }
    }

    /// Opens the listeners of the loops, one after another.
    func open(loops: Int) throws(SystemError) -> LoopListeners {
        if self.inherited == nil {
            try Self.naming("--listen") { () throws(SystemError) in try Self.requireFree(self.address) }
        }
        return LoopListeners(address: self.address, inherited: self.inherited, loops: loops)
    }

    func openHTTP() throws(SystemError) -> Descriptor {
        if let inherited = self.inheritedHTTP { return try inherited.duplicate() }
        guard let address = self.httpAddress else { preconditionFailure("HTTP is off") }
        return try Self.naming("--http") { () throws(SystemError) in try Sockets.listen(on: address, reusePort: false) }
    }

    /// Names the setting in the error of a default port.
    private static func naming<Value: ~Copyable>(
        _ option: String, _ body: () throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw SystemError(call: error.call, subject: "\(error.subject) (\(option))", errno: error.errno)
        }
    }

    /// Loops share their port by SO_REUSEPORT, so a second server with another store could share it too. Binding once
    /// without SO_REUSEPORT detects that.
    private static func requireFree(_ address: SocketAddress) throws(SystemError) {
        guard address.port != 0 else { return }
        _ = try Sockets.listen(on: address, reusePort: false)
    }
}

/// Gives each loop its listener: a new one on the same address, or a duplicate of the inherited descriptor.
struct LoopListeners {
    /// With the assigned port instead of 0, once the first loop has its listener.
    private(set) var address: SocketAddress
    let inherited: InheritedListener?
    let loops: Int

    mutating func next() throws(SystemError) -> Descriptor {
        if let inherited = self.inherited { return try inherited.duplicate() }
        let listener = try Sockets.listen(on: self.address, reusePort: self.loops > 1)
        self.address = Sockets.localAddress(listener.number)
        return listener
    }
}
