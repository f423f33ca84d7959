import PerchBase
import PerchIdentity
import PerchModel

/// Makes tokens as others would: with whatever header and payload a test wants.
enum Forge {
    static let now = Instant(milliseconds: 1_767_225_600_000)

    static let keys: [SignatureAlgorithm: TokenKey] = {
        var keys: [SignatureAlgorithm: TokenKey] = [:]
        for algorithm in SignatureAlgorithm.allCases {
            guard let key = TokenKey.generate(algorithm, id: "key-\(algorithm.rawValue)") else {
                preconditionFailure("this machine has no randomness")
            }
            keys[algorithm] = key
        }
        return keys
    }()

    static func key(_ algorithm: SignatureAlgorithm) -> TokenKey {
        guard let key = Self.keys[algorithm] else { preconditionFailure("every algorithm has a key") }
        return key
    }

    /// The public halves, and the shared secret.
    static let authenticator: Authenticator = {
        let keys = SignatureAlgorithm.allCases.map { Self.key($0).publicHalf ?? Self.key($0) }
        guard let authenticator = try? Authenticator(keys: keys) else { preconditionFailure("three keys are three") }
        return authenticator
    }()

    static func claims(_ change: (inout TokenClaims) -> Void = { _ in }) -> TokenClaims {
        var claims = TokenClaims(
            expires: Self.now.advanced(byMilliseconds: 60_000),
            apps: .apps([AppName(bundleID: "com.example.shop", environment: .xcode)]), scope: .write)
        claims.subject = "backend"
        claims.issuer = "tests"
        claims.audience = ["perch"]
        claims.id = "token-1"
        change(&claims)
        return claims
    }

    static func token(_ algorithm: SignatureAlgorithm = .es256, _ change: (inout TokenClaims) -> Void = { _ in })
        -> String
    {
        do throws(KeyFault) {
            return try Self.claims(change).signed(by: Self.key(algorithm))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Three parts as they are given, the first two encoded.
    static func token(header: String, payload: String, signature: [UInt8]) -> String {
        [Array(header.utf8), Array(payload.utf8), signature].map { Base64URL.encode($0) }.joined(separator: ".")
    }

    static func judge(_ token: String, by authenticator: Authenticator = Self.authenticator, at now: Instant = Self.now)
        -> Result<Identity, CredentialFault>
    {
        do throws(CredentialFault) {
            return .success(try authenticator.identity(ofAuthorization: "Bearer " + token, now: now))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == Identity, Failure == CredentialFault {
    /// `malformed`, `untrusted`, …, or `taken` for an accepted token.
    var word: String {
        switch self {
        case .success: "taken"
        case .failure(.malformed), .failure(.tooLong): "malformed"
        case .failure(.untrusted): "untrusted"
        case .failure(.misdirected): "misdirected"
        case .failure(.notYetValid): "notYetValid"
        case .failure(.expired): "expired"
        case .failure(.livesTooLong): "livesTooLong"
        case .failure(.revoked): "revoked"
        }
    }
}
