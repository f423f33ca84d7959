package import PerchBase

/// Why credentials are not taken. Safe to log: it names keys, instants and claims, and never holds the token.
package enum CredentialFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no token that could be judged.
    case malformed(String)
    /// It is not looked at.
    case tooLong(bytes: Int, limit: Int)
    /// Whoever signed it is not known here, or did not sign this.
    case untrusted(String)
    /// It is for somebody else, or by somebody else.
    case misdirected(String)
    case notYetValid(from: Instant)
    /// Its `exp` is farther in the future than this server accepts.
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

    /// `400 days`; a shorter time in milliseconds.
    private static func days(_ milliseconds: Int64) -> String {
        milliseconds % 86_400_000 == 0 ? "\(milliseconds / 86_400_000) days" : "\(milliseconds) ms"
    }
}
