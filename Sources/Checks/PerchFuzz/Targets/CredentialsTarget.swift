import PerchBase
import PerchIdentity
import PerchModel

/// Callers' credentials: tokens, keys, and the file of certificates. With an odd first byte, the rest is the payload of
/// a token that is signed here, because a fuzzer's own bytes never pass the signature check.
final class CredentialsTarget: FuzzTarget {
    static let name = "credentials"
    static let reaches = ["PerchIdentity"]

    private static let now = Instant(milliseconds: 1_767_225_600_000)

    /// Known, so that inputs mean the same in each run. It signs nothing else.
    private static let key = TokenKey(id: "fuzz", material: .secret([UInt8](repeating: 0x5A, count: 32)))

    private let authenticator: Authenticator = {
        do {
            return try Authenticator(keys: [CredentialsTarget.key])
        } catch {
            fatalError("fuzz: one key is one key: \(error)")
        }
    }()

    private static let claims =
        #"{"aud":"perch","exp":1767229200,"app":"com.example.app","environment":"xcode","scope":"read"}"#

    static func seeds() -> [[UInt8]] {
        var full = TokenClaims(
            expires: Self.now.advanced(byMilliseconds: 1_000),
            apps: .apps([AppName(bundleID: "a", environment: .xcode), AppName(bundleID: "b", environment: .xcode)]),
            scope: .admin)
        full.audience = ["perch", "other"]
        full.notBefore = Self.now
        full.issued = Self.now
        full.account = "anna"
        full.subject = "s"
        full.issuer = "i"
        full.id = "j"
        let token = (try? full.signed(by: Self.key)) ?? ""
        let certificates = #"{"identities":[{"name":"a","app":"*","scope":"read"}]}"#
        return [
            [0] + Array(token.utf8), [1] + Array(Self.claims.utf8), [2] + Self.key.jwk, [4] + Array(certificates.utf8),
        ]
    }

    func run(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return false }
        let rest = Array(bytes.dropFirst())
        switch first {
        case 0: return self.judge(rest)
        case 2:
            let keys = (try? TokenKey.read(rest, name: "file")) ?? []
            for key in keys {
                hold((try? TokenKey.read(key.jwk, name: "again")) == [key], "a key that we wrote is read as another")
            }
            return !keys.isEmpty
        case 4: return (try? CertificateIdentities(reading: rest)) != nil
        default:
            let signed = Base64URL.encode(Array(#"{"alg":"HS256","kid":"fuzz"}"#.utf8)) + "." + Base64URL.encode(rest)
            guard let token = TokenClaims.signing(signed, by: Self.key) else { return false }
            return self.judge(Array(token.utf8))
        }
    }

    private func judge(_ token: [UInt8]) -> Bool {
        do throws(CredentialFault) {
            let identity = try self.authenticator.identity(ofToken: token, now: Self.now)
            hold(identity.scope != nil, "an identity without a scope was let in")
            hold(identity.expires > Self.now, "an identity that has ended was let in")
            hold(identity.audience.contains("perch"), "an identity with another audience was accepted")
            return true
        } catch {
            let text = String(decoding: token, as: UTF8.self)
            hold(text.utf8.count < 16 || !error.description.contains(text), "a refusal shows the token")
            return false
        }
    }
}
