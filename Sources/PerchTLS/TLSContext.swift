internal import CPerchTLS
package import PerchBase

/// The shared TLS settings of many connections: certificates, keys, trusted authorities. A context never changes. New
/// files need a new context; existing connections keep the old one.
///
/// Sendable because nothing changes after `init`, and OpenSSL locks the parts that connections share. The seal at the
/// end of each `init` enforces this: changing a sealed context, or connecting with an unsealed one, ends the process.
package final class TLSContext: Sendable {
    // Safe for the reason given above.
    nonisolated(unsafe) let handle: OpaquePointer
    /// Outlives the context.
    private let tickets: TicketKeys?

    /// The settings of a server, as the bytes of its files.
    package struct ServerFiles: Sendable {
        /// The server's certificate and the intermediate certificates up to the root, in PEM.
        package var certificates: [UInt8]
        package var key: [UInt8]
        /// Authorities for client certificates; if empty, clients are not asked for certificates.
        package var clientAuthorities: [UInt8] = []
        /// Whether a client without a certificate is refused.
        package var requiresCertificates = false

        package init(certificates: [UInt8], key: [UInt8]) {
            self.certificates = certificates
            self.key = key
        }
    }

    /// The settings of a client.
    package struct ClientFiles: Sendable {
        /// Trusted authorities in PEM; nil for the system's.
        package var authorities: [UInt8]?
        /// The client's certificate and key, for a server that asks.
        package var certificates: [UInt8] = []
        package var key: [UInt8] = []

        package init() {}
    }

    package init(server files: ServerFiles, tickets: TicketKeys) throws(TLSError) {
        let handle = try Self.make(isServer: true)
        self.handle = handle
        self.tickets = tickets
        try Self.identify(handle, files.certificates, files.key)
        if !files.clientAuthorities.isEmpty {
            try Self.trust(handle, files.clientAuthorities)
            perch_tls_ask_for_certificate(handle, files.requiresCertificates ? 1 : 0)
        }
        // The rules for client certificates are part of the session scope, so that a session is resumed only under the
        // same rules. A client verified by an authority that is no longer trusted must be verified again.
        var rules = files.clientAuthorities
        rules.append(files.requiresCertificates ? 1 : 0)
        var scope = [UInt8](repeating: 0, count: 32)
        perch_tls_sha256(rules, rules.count, &scope)
        perch_tls_set_scope(handle, scope)
        perch_tls_set_session_lifetime(handle, Int(2 * Limits.tlsTicketKeyMilliseconds / 1_000))
        perch_tls_use_ticket_keys(handle, tickets.handle)
        perch_tls_context_seal(handle)
    }

    package init(client files: ClientFiles) throws(TLSError) {
        let handle = try Self.make(isServer: false)
        self.handle = handle
        self.tickets = nil
        if let authorities = files.authorities {
            try Self.trust(handle, authorities)
        } else if perch_tls_trust_system(handle) == 0 {
            throw TLSError(of: nil).prefixed("the authorities of this system cannot be read")
        }
        if !files.certificates.isEmpty { try Self.identify(handle, files.certificates, files.key) }
        perch_tls_context_seal(handle)
    }

    /// Loads a client's files: trusted authorities (nil for the system's), and a certificate for servers that ask.
    package convenience init(
        authorityPath: String?, certificatePath: String?, keyPath: String?
    ) throws(TLSError) {
        var files = ClientFiles()
        if let authorityPath { files.authorities = try TLSFile.read(authorityPath) }
        guard (certificatePath == nil) == (keyPath == nil) else {
            throw TLSError(.file, "a certificate and its key must be given together")
        }
        if let certificatePath, let keyPath {
            files.certificates = try TLSFile.read(certificatePath)
            files.key = try TLSFile.readSecret(keyPath)
        }
        do throws(TLSError) {
            try self.init(client: files)
        } catch {
            throw error.naming(certificate: certificatePath, key: keyPath, authorities: authorityPath)
        }
    }

    deinit { perch_tls_context_free(self.handle) }

    /// Initialises OpenSSL once, without its exit handler, because loops may still run when the process ends.
    private static let library: Void = perch_tls_initialise()

    /// Name and version of the library.
    package static var libraryVersion: String { String(cString: perch_tls_library_version()) }

    private static func make(isServer: Bool) throws(TLSError) -> OpaquePointer {
        _ = Self.library
        guard let handle = perch_tls_context_new(isServer ? 1 : 0) else {
            throw TLSError(of: nil).prefixed("OpenSSL cannot create a context")
        }
        return handle
    }

    private static func identify(_ handle: OpaquePointer, _ certificates: [UInt8], _ key: [UInt8]) throws(TLSError) {
        guard perch_tls_use_certificates(handle, certificates, certificates.count) == 1 else {
            throw TLSError(in: .certificate, "the certificate cannot be read: \(TLSError(of: nil)); expected PEM")
        }
        switch perch_tls_use_key(handle, key, key.count) {
        case 1: break
        case -1: throw TLSError(in: .key, "the key does not belong to the certificate")
        case -2:
            throw TLSError(
                in: .key, "the key is encrypted, and no password can be entered here; decrypt it with `openssl pkey`")
        default: throw TLSError(in: .key, "the key cannot be read: \(TLSError(of: nil)); expected PEM")
        }
    }

    private static func trust(_ handle: OpaquePointer, _ authorities: [UInt8]) throws(TLSError) {
        guard perch_tls_trust(handle, authorities, authorities.count) > 0 else {
            throw TLSError(
                in: .authorities, "no authority can be read: \(TLSError(of: nil)); expected certificates in PEM")
        }
    }

    /// The validity of the context's own certificate; nil if it has none.
    package var validity: (notBefore: Instant, notAfter: Instant)? {
        var (begin, end): (Int64, Int64) = (0, 0)
        guard perch_tls_own_validity(self.handle, &begin, &end) == 1 else { return nil }
        return (Instant(milliseconds: begin * 1_000), Instant(milliseconds: end * 1_000))
    }

    /// SHA-256 of the context's own certificate in hexadecimal; empty if it has none. It is public, so logs may contain
    /// it.
    package var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard perch_tls_own_fingerprint(self.handle, &digest) == 1 else { return "" }
        return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
