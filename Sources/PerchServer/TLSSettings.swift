import PerchBase
import PerchTLS

/// The TLS settings of a listener.
package struct TLSSettings: Hashable, Sendable {
    /// The protocols that a connection may begin with.
    package enum Mode: String, Sendable, CaseIterable {
        /// Plaintext only.
        case off
        /// Both, distinguished by the first byte.
        case allowed
        /// TLS only; plaintext gets a refusal.
        case required
    }

    /// Whether the server asks clients for certificates.
    package enum ClientCertificates: String, Sendable, CaseIterable {
        case off
        /// The server asks; a client without one is accepted.
        case optional
        case required
    }

    package var mode = Mode.off
    /// The server's certificate and its intermediate certificates, in PEM.
    package var certificatePath: String?
    package var keyPath: String?
    /// The authorities of clients' certificates, in PEM.
    package var clientAuthorityPath: String?
    package var clientCertificates = ClientCertificates.off
    /// A secret from which the keys of session tickets are derived; nil: the keys end with the process.
    package var ticketSecretPath: String?

    package init() {}

    /// The given settings that need TLS, by their names.
    private var given: [String] {
        [
            self.certificatePath.map { _ in "--tls-certificate" }, self.keyPath.map { _ in "--tls-key" },
            self.clientAuthorityPath.map { _ in "--tls-client-ca" },
            self.clientCertificates == .off ? nil : "--tls-client-certificates",
            self.ticketSecretPath.map { _ in "--tls-ticket-secret" },
        ].compactMap { $0 }
    }

    /// The contradiction in the settings; nil if there is none.
    package var contradiction: String? {
        if self.mode == .off {
            guard self.certificatePath == nil, self.keyPath == nil, self.clientAuthorityPath == nil,
                self.clientCertificates == .off, self.ticketSecretPath == nil
            else {
                // A certificate turns TLS on, unless --tls off is given.
                let given = self.given.joined(separator: " and ")
                return self.certificatePath == nil
                    ? "\(given) needs TLS, and there is no certificate; give --tls-certificate and --tls-key too, or leave "
                        + "\(given) out"
                    : "--tls is off, and \(given) needs TLS; leave --tls off out, or the others"
            }
            return nil
        }
        if self.certificatePath == nil || self.keyPath == nil {
            let (certificate, key) = ("--tls-certificate", "--tls-key")
            guard
                let there = self.certificatePath.map({ _ in (certificate, key) })
                    ?? self.keyPath.map({ _ in (key, certificate) })
            else {
                return "--tls \(self.mode.rawValue) needs a certificate; give --tls-certificate and --tls-key "
                    + "(deploy/README.md says how to make them)"
            }
            return "\(there.0) is given without \(there.1); give both (deploy/README.md says how to make them)"
        }
        if (self.clientCertificates == .off) != (self.clientAuthorityPath == nil) {
            return self.clientAuthorityPath == nil
                ? "clients are asked for certificates (--tls-client-certificates) without an authority to verify them; give --tls-client-ca"
                : "--tls-client-ca is given, and --tls-client-certificates is off; say optional or required"
        }
        return nil
    }
}

/// The files of TLS: read at the start and again at SIGHUP. Owned by the control thread.
struct TLSKeeper {
    let settings: TLSSettings
    let tickets: TicketKeys
    /// What new handshakes use.
    private(set) var context: TLSContext
    /// Why the files of the last reload are not in use; nil if they are.
    private(set) var fault: String?

    init(_ settings: TLSSettings, wall: Instant) throws(ServerError) {
        self.settings = settings
        do throws(TLSError) {
            self.tickets = TicketKeys(secret: try Self.secret(settings.ticketSecretPath), wall: wall)
            self.context = try Self.load(settings, self.tickets)
        } catch {
            throw ServerError("TLS: \(error)")
        }
        if let reason = Self.expiry(self.context, settings, wall) { throw ServerError("TLS: \(reason)") }
    }

    /// Reads the files again. If they cannot be used, the previous ones stay, and the reason is returned.
    mutating func reload(wall: Instant) -> String? {
        do throws(TLSError) {
            let context = try Self.load(self.settings, self.tickets)
            self.fault = Self.expiry(context, self.settings, wall)
            if self.fault == nil { self.context = context }
        } catch {
            self.fault = error.description
        }
        return self.fault
    }

    /// The fault if the files were read now: a key that others can read by now, a half-written certificate.
    func faultNow() -> String? {
        do throws(TLSError) {
            _ = try Self.load(self.settings, self.tickets)
            return nil
        } catch {
            return error.description
        }
    }

    private static func load(_ settings: TLSSettings, _ tickets: TicketKeys) throws(TLSError) -> TLSContext {
        var files = TLSContext.ServerFiles(
            certificates: try TLSFile.read(settings.certificatePath ?? ""),
            key: try TLSFile.readSecret(settings.keyPath ?? ""))
        if settings.clientCertificates != .off {
            files.clientAuthorities = try TLSFile.read(settings.clientAuthorityPath ?? "")
            files.requiresCertificates = settings.clientCertificates == .required
        }
        do throws(TLSError) {
            return try TLSContext(server: files, tickets: tickets)
        } catch {
            throw error.naming(
                certificate: settings.certificatePath, key: settings.keyPath,
                authorities: settings.clientAuthorityPath)
        }
    }

    private static func secret(_ path: String?) throws(TLSError) -> [UInt8] {
        guard let path else { return [] }
        let secret = try TLSFile.readSecret(path)
        guard (Limits.tlsTicketSecretBytesMin...Limits.tlsTicketSecretBytesMax).contains(secret.count) else {
            throw TLSError(
                .file,
                "\(path) has \(secret.count) bytes, a secret has \(Limits.tlsTicketSecretBytesMin) to \(Limits.tlsTicketSecretBytesMax); make one with `openssl rand -out \(path) 64`"
            )
        }
        return secret
    }

    /// Refuses an expired certificate, because every client would.
    private static func expiry(_ context: TLSContext, _ settings: TLSSettings, _ wall: Instant) -> String? {
        guard let end = context.validity?.notAfter, end <= wall else { return nil }
        return "\(settings.certificatePath ?? ""): the certificate has ended at \(end); get a new one"
    }

    /// When the certificate in use ends.
    var certificateEnd: Instant { self.context.validity?.notAfter ?? .distantPast }
}

/// The TLS state of a loop.
struct TLSPort {
    var mode: TLSSettings.Mode
    /// Nil where TLS is off.
    var context: TLSContext?
    var tickets: TicketKeys?
    /// When the next failed handshake is logged; further failures are only counted.
    var nextFailureTold = MonotonicTime.zero

    static let off = TLSPort(mode: .off)
}

/// A loop's TLS counters.
struct TLSCounters: Sendable {
    /// Completed handshakes, including resumed ones.
    var handshakes: UInt64 = 0
    var resumed: UInt64 = 0
    /// By reason, as in the metrics.
    var failures: [String: UInt64] = [:]
    /// Connections that speak TLS now, including those in the handshake.
    var open = 0

    /// Reasons of failed handshakes beyond OpenSSL's own.
    static let ownReasons = ["off", "limit", "unfinished", "closed"]
    static let reasons =
        TLSError.Fault.allCases.filter { $0 != .file && $0 != .name }.map(\.rawValue) + Self.ownReasons
}
