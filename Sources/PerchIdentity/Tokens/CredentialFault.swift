package import PerchBase

/// The reason why credentials are refused. Safe to log: it has keys, instants and claims, never the token.
package enum CredentialFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is no token, or a required claim is missing.
    case malformed(String)
    /// The token exceeds the limit and was not parsed.
    case tooLong(bytes: Int, limit: Int)
    /// The server does not know the key, or the signature does not match.
    case untrusted(String)
    /// `aud` or `iss` is not the one of this server.
    case misdirected(String)
    case notYetValid(from: Instant)
    /// `exp` is farther in the future than this server accepts.
    case livesTooLong(until: Instant, from: Instant, limitMilliseconds: Int64)
    case expired(at: Instant)
    case revoked(String)

    package var description: String {
        switch self {
        case .malformed(let what): "the token cannot be read: \(what)"
        case .tooLong(let bytes, let limit):
            "the token has \(bytes) bytes, the limit is \(limit); name fewer apps in it"
        case .untrusted(let what): "the token is not trusted: \(what)"
        case .misdirected(let what): "the token is not for this server: \(what)"
        case .notYetValid(let instant): "the token is valid from \(instant) on; come back then, or look at the clocks"
        case .livesTooLong(let instant, let now, let limit):
            "the token lives too long: its exp is \(instant), \(instant.milliseconds(since: now) / 86_400_000) days ahead, and this server accepts \(Self.days(limit)) at most (token-life); sign one that ends sooner"
        case .expired(let instant): "the credentials ended at \(instant); come back with new ones"
        case .revoked(let what): "the credentials were revoked: \(what); come back with new ones"
        }
    }

    /// Whole days as `400 days`, any other time in milliseconds.
    private static func days(_ milliseconds: Int64) -> String {
        milliseconds % 86_400_000 == 0 ? "\(milliseconds / 86_400_000) days" : "\(milliseconds) ms"
    }
}
