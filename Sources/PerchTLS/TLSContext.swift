internal import CPerchTLS
package import PerchBase

/// What many connections have in common: certificates, keys, whom to trust. It does not change; who has new files makes a
/// new one, and connections that began with the old one keep it.
///
/// Sendable because: nothing is changed after it was made, and OpenSSL counts and locks what connections share of it. The
/// trap that stands with this is the seal at the end of each `init`: what changes a sealed context ends the process, and so
/// does a connection of one without a seal.
package final class TLSContext: Sendable {
    // Because: see above.
    nonisolated(unsafe) let handle: OpaquePointer
    /// They outlive the context.
    private let tickets: TicketKeys?

    /// What a server is made of, as the bytes of its files.
    package struct ServerFiles: Sendable {
        /// Its certificate, and those that lead from it towards the root, in PEM.
        package var certificates: [UInt8]
        package var key: [UInt8]
        /// Whom to trust when clients show certificates; empty where they are not asked.
        package var clientAuthorities: [UInt8] = []
        /// A client without a certificate is refused.
        package var requiresCertificates = false

        package init(certificates: [UInt8], key: [UInt8]) {
            self.certificates = certificates
            self.key = key
        }
    }

    /// What a client is made of.
    package struct ClientFiles: Sendable {
        /// Whom to trust, in PEM; nil for those that this system trusts.
        package var authorities: [UInt8]?
        /// What to show a server that asks, and the key of it.
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
        // A session that began under other rules for clients is not resumed: whoever was verified by authorities that
        // are no longer trusted is verified anew.
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
            throw TLSError(of: nil).said("the authorities of this system cannot be read")
        }
        if !files.certificates.isEmpty { try Self.identify(handle, files.certificates, files.key) }
        perch_tls_context_seal(handle)
    }

    /// A client's, of files: whom to trust (nil for those that this system trusts), and what to show a server that asks.
    package convenience init(
        authorityPath: String?, certificatePath: String?, keyPath: String?
    ) throws(TLSError) {
        var files = ClientFiles()
        if let authorityPath { files.authorities = try TLSFile.read(authorityPath) }
        guard (certificatePath == nil) == (keyPath == nil) else {
            throw TLSError(.file, "a certificate and its key are given together, or neither")
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

    /// Lets OpenSSL begin, once, without its handler for the end of the process: loops may still be at work then.
    private static let library: Void = perch_tls_initialise()

    /// Name and version of the library.
    package static var libraryVersion: String { String(cString: perch_tls_library_version()) }

    private static func make(isServer: Bool) throws(TLSError) -> OpaquePointer {
        _ = Self.library
        guard let handle = perch_tls_context_new(isServer ? 1 : 0) else {
            throw TLSError(of: nil).said("OpenSSL makes no context")
        }
        return handle
    }

    private static func identify(_ handle: OpaquePointer, _ certificates: [UInt8], _ key: [UInt8]) throws(TLSError) {
        guard perch_tls_use_certificates(handle, certificates, certificates.count) == 1 else {
            throw TLSError(in: .certificate, "the certificate cannot be read: \(TLSError(of: nil)); PEM is wanted")
        }
        switch perch_tls_use_key(handle, key, key.count) {
        case 1: break
        case -1: throw TLSError(in: .key, "the key is not that of the certificate")
        case -2:
            throw TLSError(
                in: .key, "the key is encrypted, and nobody is asked for a password; decrypt it with `openssl pkey`")
        default: throw TLSError(in: .key, "the key cannot be read: \(TLSError(of: nil)); PEM is wanted")
        }
    }

    private static func trust(_ handle: OpaquePointer, _ authorities: [UInt8]) throws(TLSError) {
        guard perch_tls_trust(handle, authorities, authorities.count) > 0 else {
            throw TLSError(
                in: .authorities, "no authority can be read: \(TLSError(of: nil)); certificates in PEM are wanted")
        }
    }

    /// When the context's own certificate begins and ends; nil where it has none.
    package var validity: (notBefore: Instant, notAfter: Instant)? {
        var (begin, end): (Int64, Int64) = (0, 0)
        guard perch_tls_own_validity(self.handle, &begin, &end) == 1 else { return nil }
        return (Instant(milliseconds: begin * 1_000), Instant(milliseconds: end * 1_000))
    }

    /// SHA-256 of the context's own certificate, in hexadecimal; empty where it has none. For logs: it is public.
    package var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard perch_tls_own_fingerprint(self.handle, &digest) == 1 else { return "" }
        return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
