import PerchBase
import PerchJSON

/// The root certificates that a verifier trusts, in DER.
///
/// A production app trusts Apple's root alone. A sandbox app may trust further roots: that of another Perch, or of a test.
package struct TrustedRoots: Hashable, Sendable {
    package let certificates: [[UInt8]]

    private init(_ certificates: [[UInt8]]) { self.certificates = certificates }

    /// Apple Root CA - G3, published at https://www.apple.com/certificateauthority/. © Apple Inc. Its SHA-256 fingerprint
    /// is 63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179.
    package static let apple: TrustedRoots = {
        let text =
            """
            MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQL\
            DB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMTQwNDMw\
            MTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBSb290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRp\
            ZmljYXRpb24gQXV0aG9yaXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49AgEGBSuBBAAiA2IA\
            BJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtfTjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqX\
            l5dvMVztK517IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySrMA8GA1UdEwEB/wQFMAMBAf8w\
            DgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gAMGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWT\
            xnS4at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM6BgD56KyKA==
            """
        guard let certificate = Base64.decode(text) else { preconditionFailure("Apple's root is Base64") }
        return TrustedRoots([certificate])
    }()

    /// Apple's root and further ones, in DER.
    package static func sandbox(further: [[UInt8]]) throws(RootFault) -> TrustedRoots {
        guard further.count <= Limits.appleRootsMax else { throw .tooMany(further.count) }
        for (index, root) in further.enumerated() {
            guard root.count <= Limits.appleCertificateBytesMax, Certificates.isRoot(root) else {
                throw .notRoot(index: index)
            }
        }
        return TrustedRoots(Self.apple.certificates + further)
    }
}

/// Why a configured root is refused.
package enum RootFault: Error, Hashable, Sendable, CustomStringConvertible {
    case tooMany(Int)
    /// Not one self-signed certificate in DER.
    case notRoot(index: Int)

    package var description: String {
        switch self {
        case .tooMany(let count): "\(count) further roots, the limit is \(Limits.appleRootsMax)"
        case .notRoot(let index): "further root \(index + 1) is not one self-signed certificate in DER"
        }
    }
}
