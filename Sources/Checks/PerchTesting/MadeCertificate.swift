internal import CPerchCertificates

/// A certificate and its key, created by the test that needs it. The repository holds no key, and no certificate
/// expires in it.
package struct MadeCertificate: Sendable {
    /// PEM.
    package let certificate: [UInt8]
    package let key: [UInt8]

    /// Signed by `issuer`, or by itself. `names` has the form of OpenSSL's configuration: `DNS:localhost,IP:127.0.0.1`.
    package init(
        _ commonName: String, names: String? = nil, isAuthority: Bool = false, issuer: MadeCertificate? = nil,
        beginsInSeconds: Int64 = -3_600, endsInSeconds: Int64 = 86_400
    ) {
        var recipe = perch_certificate_recipe()
        recipe.begins = beginsInSeconds
        recipe.ends = endsInSeconds
        recipe.is_authority = isAuthority ? 1 : 0
        var certificate: UnsafeMutablePointer<CChar>?
        var key: UnsafeMutablePointer<CChar>?
        let isMade = Self.withText(commonName) { commonName in
            Self.withText(names) { names in
                Self.withText(issuer?.certificate) { issuerCertificate in
                    Self.withText(issuer?.key) { issuerKey in
                        recipe.common_name = commonName
                        recipe.alternative_names = names
                        recipe.issuer_certificate = issuerCertificate
                        recipe.issuer_key = issuerKey
                        return perch_certificate_make(&recipe, &certificate, &key)
                    }
                }
            }
        }
        guard isMade == 1, let certificate, let key else { preconditionFailure("no certificate for \(commonName)") }
        defer {
            perch_certificate_text_free(certificate)
            perch_certificate_text_free(key)
        }
        self.certificate = Array(String(cString: certificate).utf8)
        self.key = Array(String(cString: key).utf8)
    }

    /// An authority for tests.
    package static func authority(_ name: String = "Perch Test Authority") -> MadeCertificate {
        MadeCertificate(name, isAuthority: true)
    }

    /// A server certificate for loopback.
    package static func server(
        of issuer: MadeCertificate, names: String = "DNS:localhost,IP:127.0.0.1", endsInSeconds: Int64 = 86_400
    ) -> MadeCertificate {
        MadeCertificate("perch", names: names, issuer: issuer, endsInSeconds: endsInSeconds)
    }

    private static func withText<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        Self.withText(text.map { Array($0.utf8) }, body)
    }

    private static func withText<Result>(_ text: [UInt8]?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let text else { return body(nil) }
        return (text.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
