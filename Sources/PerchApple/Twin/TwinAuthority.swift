package import PerchBase
import PerchJSON

/// The authority of a twin of the App Store: it keeps the keys of its root and intermediate, because its responder signs OCSP
/// answers with them, and because the certificates name the responder's address and are issued again when that changes.
///
/// The root signs two chains: that of signed values, in Apple's profile, and the TLS certificate with Apple's host names. One
/// root therefore makes an unchanged client library believe both.
package struct TwinAuthority: Sendable {
    private let root: Certificates.Issued
    private let intermediate: Certificates.Issued
    private let leaf: Certificates.Issued
    private let server: Certificates.Issued
    /// The private key of callers, which stands for the `.p8` file of App Store Connect.
    private let caller: [UInt8]
    /// Address of the responder in the certificates.
    package let responder: String

    /// The hosts of Apple that the TLS certificate names. The first is that of Apple's libraries in the environment LocalTesting.
    package static let hosts = [
        "local-testing-base-url", "api.storekit-sandbox.apple.com", "api.storekit.apple.com",
        "api.storekit-sandbox.itunes.apple.com", "api.storekit.itunes.apple.com",
    ]

    /// How long an OCSP answer is valid.
    private static let answerSeconds: Int64 = 12 * 3_600

    /// Makes a new authority.
    package static func make(responder: String) throws(AuthorityFault) -> TwinAuthority {
        let recipe = CertificateRecipe(commonName: "Perch Twin Root", isAuthority: true, isP384: true)
        // The certificate of a caller's key is not used: App Store Connect gives out the key alone.
        guard let root = Certificates.issue(recipe),
            let caller = Certificates.issue(CertificateRecipe(commonName: "Perch Twin Caller"))
        else { throw .noRandomness }
        return try Self.issue(under: root, caller: caller.key, responder: responder)
    }

    /// The same root and the same key of callers, with certificates that name this responder.
    package func moved(to responder: String) throws(AuthorityFault) -> TwinAuthority {
        responder == self.responder
            ? self : try Self.issue(under: self.root, caller: self.caller, responder: responder)
    }

    private static func issue(
        under root: Certificates.Issued, caller: [UInt8], responder: String
    ) throws(AuthorityFault) -> TwinAuthority {
        guard
            let intermediate = Certificates.issue(
                CertificateRecipe(
                    commonName: "Perch Twin Authority", marker: AppleMarkers.intermediate, issuer: root,
                    isAuthority: true, pathLength: 0, isP384: true, responder: responder)),
            let leaf = Certificates.issue(
                CertificateRecipe(
                    commonName: "Perch Twin Signing", marker: AppleMarkers.leaf, issuer: intermediate,
                    responder: responder)),
            let server = Certificates.issue(
                CertificateRecipe(
                    commonName: Self.hosts[1], issuer: root,
                    names: Self.hosts.map { "DNS:\($0)" }.joined(separator: ",")))
        else { throw .noRandomness }
        return TwinAuthority(
            root: root, intermediate: intermediate, leaf: leaf, server: server, caller: caller, responder: responder)
    }

    // MARK: The file

    /// The bytes of the file that keeps it, which is a secret: each part after its length.
    package var stored: [UInt8] {
        let pairs = [self.root, self.intermediate, self.leaf, self.server].flatMap { [$0.certificate, $0.key] }
        return (pairs + [self.caller, Array(self.responder.utf8)]).flatMap { part in
            [UInt8(truncatingIfNeeded: part.count >> 8), UInt8(truncatingIfNeeded: part.count)] + part
        }
    }

    package init(stored: [UInt8]) throws(AuthorityFault) {
        var parts: [[UInt8]] = []
        var rest = stored[...]
        while rest.count >= 2 {
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            guard rest.count >= 2 + count else { throw .damaged }
            parts.append(Array(rest.dropFirst(2).prefix(count)))
            rest = rest.dropFirst(2 + count)
        }
        guard parts.count == 10, rest.isEmpty else { throw .damaged }
        let pairs = (0..<4).map { Certificates.Issued(certificate: parts[$0 * 2], key: parts[$0 * 2 + 1]) }
        self.init(
            root: pairs[0], intermediate: pairs[1], leaf: pairs[2], server: pairs[3], caller: parts[8],
            responder: String(decoding: parts[9], as: UTF8.self))
        guard Certificates.Key(pkcs8: self.caller) != nil else { throw .noKey }
        _ = try self.values
    }

    private init(
        root: Certificates.Issued, intermediate: Certificates.Issued, leaf: Certificates.Issued,
        server: Certificates.Issued, caller: [UInt8], responder: String
    ) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
        self.server = server
        self.caller = caller
        self.responder = responder
    }

    // MARK: What others get

    /// The authority that signs values.
    package var values: AppleAuthority {
        get throws(AuthorityFault) {
            try AppleAuthority(
                root: self.root.certificate, intermediate: self.intermediate.certificate, leaf: self.leaf.certificate,
                leafKey: self.leaf.key)
        }
    }

    /// The root, in PEM and in DER.
    package var rootPEM: String { pem(self.root.certificate, "CERTIFICATE") }
    package var rootDER: [UInt8] { self.root.certificate }

    /// The TLS certificate and its key, in PEM.
    package var serverPEM: (certificate: [UInt8], key: [UInt8]) {
        (Array(pem(self.server.certificate, "CERTIFICATE").utf8), Array(pem(self.server.key, "PRIVATE KEY").utf8))
    }

    /// The key of callers, as the `.p8` file of App Store Connect has it.
    package var callerPEM: String { pem(self.caller, "PRIVATE KEY") }

    /// Ten letters and digits, as App Store Connect names a key. They follow from the key.
    package var keyID: String {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String(ContentHash(of: Array("kid".utf8) + self.caller).bytes.prefix(10).map { letters[Int($0) % 32] })
    }

    /// The UUID of the team that the key belongs to. It follows from the key.
    package var issuerID: String {
        UUIDText.of(ContentHash(of: Array("iss".utf8) + self.caller).bytes)
    }

    /// Checks the tokens of callers. Used on the thread that made it.
    package var callers: CallerTokens? {
        Certificates.Key(pkcs8: self.caller).map { CallerTokens(key: $0, keyID: self.keyID, issuerID: self.issuerID) }
    }

    /// The answer to an OCSP request about the chain of signed values; nil if it is about other certificates, or none.
    package func answer(ocsp request: [UInt8], at wall: Instant) -> [UInt8]? {
        Certificates.answer(
            request,
            [
                Certificates.Vouched(certificate: self.leaf.certificate, issuer: self.intermediate),
                Certificates.Vouched(certificate: self.intermediate.certificate, issuer: self.root),
            ], seconds: wall.milliseconds / 1_000, validSeconds: Self.answerSeconds)
    }
}

/// UUIDs that follow from a hash.
package enum UUIDText {
    /// The first 16 bytes as a UUID of version 8 (RFC 9562), in lower case.
    package static func of(_ hash: [UInt8]) -> String {
        var bytes = Array(hash.prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
        return groups.joined(separator: "-")
    }
}
