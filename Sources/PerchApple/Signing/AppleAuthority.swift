import PerchBase
import PerchJSON

/// What a certificate is to say.
struct CertificateRecipe {
    var commonName: String
    var organisation = "Perch"
    /// Seconds since the Unix epoch.
    var begins = Int64(0)
    /// The last second of the year 9999.
    var ends = Int64(253_402_300_799)
    var marker: String?
    var issuer: Certificates.Issued?
    var isAuthority = false
    var pathLength: Int?
    var isP384 = false
    var lacksIdentifiers = false
    /// Address of the OCSP responder.
    var responder: String?
    /// Names of a TLS server, as OpenSSL writes them.
    var names: String?
}

/// Object identifiers of the extensions with which Apple marks certificates of the App Store.
enum AppleMarkers {
    static let leaf = "1.2.840.113635.100.6.11.1"
    static let intermediate = "1.2.840.113635.100.6.2.1"
}

/// The private authority of a store: it signs values of test apps as Apple signs those of the sandbox.
///
/// Its certificates have the profile of Apple's: P-384 root and intermediate, P-256 leaf, markers, key identifiers. They are
/// valid from 1970 to 9999, because test clocks may show any date. The keys of root and intermediate are dropped as soon as
/// the leaf is issued, so the leaf's key is the only secret.
package struct AppleAuthority: Sendable {
    /// Certificates in DER.
    package let root: [UInt8]
    package let intermediate: [UInt8]
    package let leaf: [UInt8]
    /// The leaf's private key: PKCS #8 in DER.
    package let leafKey: [UInt8]

    package init(root: [UInt8], intermediate: [UInt8], leaf: [UInt8], leafKey: [UInt8]) throws(AuthorityFault) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
        self.leafKey = leafKey
        guard let key = Certificates.Key(pkcs8: leafKey) else { throw .noKey }
        do throws(VerificationFault) {
            let chain = try Certificates.check(leaf: leaf, intermediate: intermediate, roots: [root], seconds: 0)
            let probe = Array("perch".utf8)
            guard let signature = key.sign(probe), chain.key.verifies(signature, over: probe) else {
                throw VerificationFault.signature
            }
        } catch {
            throw .chain(error)
        }
    }

    /// The bytes in which a store keeps it: each part after its length.
    package var stored: [UInt8] {
        [self.root, self.intermediate, self.leaf, self.leafKey].flatMap { part in
            [UInt8(truncatingIfNeeded: part.count >> 8), UInt8(truncatingIfNeeded: part.count)] + part
        }
    }

    package init(stored: [UInt8]) throws(AuthorityFault) {
        var parts: [[UInt8]] = []
        var rest = stored[...]
        while rest.count >= 2 {
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            parts.append(Array(rest.dropFirst(2).prefix(count)))
            rest = rest.dropFirst(2 + count)
        }
        guard parts.count == 4, rest.isEmpty else { throw .damaged }
        try self.init(root: parts[0], intermediate: parts[1], leaf: parts[2], leafKey: parts[3])
    }

    /// Makes a new authority.
    package static func make() throws(AuthorityFault) -> AppleAuthority {
        guard
            let root = Certificates.issue(
                CertificateRecipe(commonName: "Perch Test Store Root", isAuthority: true, isP384: true)),
            let intermediate = Certificates.issue(
                CertificateRecipe(
                    commonName: "Perch Test Store Authority", marker: AppleMarkers.intermediate, issuer: root,
                    isAuthority: true, pathLength: 0, isP384: true)),
            let leaf = Certificates.issue(
                CertificateRecipe(
                    commonName: "Perch Test Store Signing", marker: AppleMarkers.leaf, issuer: intermediate))
        else { throw .noRandomness }
        return try AppleAuthority(
            root: root.certificate, intermediate: intermediate.certificate, leaf: leaf.certificate, leafKey: leaf.key)
    }

    /// SHA-256 of the root, as certificate tools print it.
    package var rootFingerprint: String {
        ContentHash(of: self.root).bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }

    /// The root in PEM.
    package var rootPEM: String { pem(self.root, "CERTIFICATE") }
}

/// DER as PEM (RFC 7468).
func pem(_ bytes: [UInt8], _ label: String) -> String {
    var lines = ["-----BEGIN \(label)-----"]
    var rest = Base64.encode(bytes)[...]
    while !rest.isEmpty {
        lines.append(String(rest.prefix(64)))
        rest = rest.dropFirst(64)
    }
    return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
}

/// Why there is no authority.
package enum AuthorityFault: Error, Hashable, Sendable, CustomStringConvertible {
    case noRandomness
    /// The key is no P-256 key in PKCS #8.
    case noKey
    /// The stored bytes are not those of an authority.
    case damaged
    /// The certificates are no chain, or the key is not the leaf's.
    case chain(VerificationFault)

    package var description: String {
        switch self {
        case .noRandomness: "the machine has no randomness to make keys"
        case .noKey: "the authority's key is no P-256 key in PKCS #8"
        case .damaged: "the stored authority is damaged"
        case .chain(let fault): "the authority's certificates are no chain: \(fault)"
        }
    }
}
