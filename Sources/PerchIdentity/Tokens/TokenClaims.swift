package import PerchBase
import PerchJSON
import PerchModel

/// The claims of a token. The names are those of RFC 7519, and four of Perch: `app`, `environment`,
/// `scope`, `account`.
package struct TokenClaims: Hashable, Sendable {
    /// `iss`; empty for none.
    package var issuer = ""
    /// `sub`: the holder, for logs and quotas; empty for none.
    package var subject = ""
    /// `aud`.
    package var audience: [String] = []
    /// `exp`: the end of the token. Every token has one.
    package var expires: Instant
    /// `nbf`.
    package var notBefore: Instant?
    /// `iat`.
    package var issued: Instant?
    /// `jti`: the ID by which the token is revoked; empty for none.
    package var id = ""
    /// `app` and `environment`.
    package var apps: AppReach
    /// `scope`.
    package var scope: Scope
    /// Whether `scope` names `ingest`, which stands beside the ladder.
    package var ingests = false
    /// `account`: the only account that the token is for; nil for all accounts of its apps.
    package var account: String?

    package init(expires: Instant, apps: AppReach, scope: Scope) {
        self.expires = expires
        self.apps = apps
        self.scope = scope
        self.ingests = scope == .ingest
    }

    /// `scope` as it stands in the token.
    package var scopes: String {
        self.ingests && self.scope != .ingest ? "\(self.scope.name) \(Scope.ingest.name)" : self.scope.name
    }

    /// Reads the claims of a token without checking its signature.
    package init(of token: CompactToken) throws(CredentialFault) {
        let payload = token.payload
        func text(_ member: String, limit: Int = Limits.tokenClaimBytesMax) throws(CredentialFault) -> String? {
            guard let value = payload[member] else { return nil }
            guard let text = value.string, !text.isEmpty, text.utf8.count <= limit else {
                throw .malformed("its \(member) is no text of 1 to \(limit) bytes")
            }
            return text
        }
        func texts(_ member: String) throws(CredentialFault) -> [String] {
            guard let value = payload[member] else { return [] }
            if value.string != nil { return try text(member).map { [$0] } ?? [] }
            guard let list = value.array, list.count <= Limits.tokenListMax else {
                throw .malformed("its \(member) is neither a text nor a list of up to \(Limits.tokenListMax)")
            }
            var result: [String] = []
            for entry in list {
                guard let text = entry.string, !text.isEmpty, text.utf8.count <= Limits.tokenClaimBytesMax else {
                    throw .malformed("its \(member) holds what is no text of 1 to \(Limits.tokenClaimBytesMax) bytes")
                }
                result.append(text)
            }
            return result
        }
        func instant(_ member: String) throws(CredentialFault) -> Instant? {
            guard let value = payload[member] else { return nil }
            // Seconds, with or without a fraction, up to the year 9999.
            guard let seconds = value.double, seconds >= 0, seconds < 253_402_300_800 else {
                throw .malformed("its \(member) is no number of seconds since 1970; milliseconds are too many")
            }
            return Instant(milliseconds: Int64(seconds * 1_000))
        }
        guard let expires = try instant("exp") else {
            throw .malformed("it has no exp; every token needs an end")
        }
        let names = try texts("app")
        guard !names.isEmpty else { throw .malformed("it has no app; name one, or * for every app of the server") }
        let environment = try text("environment")
        guard let scopes = try text("scope") else {
            throw .malformed("it has no scope; name one of \(Scope.names)")
        }
        // Issuers write several words, some of them for other services. The highest scope of Perch counts: it includes
        // the rest.
        guard let (scope, ingests) = Scope.several(named: scopes, allowsOthers: true) else {
            throw .malformed("its scope \(quoted(scopes)) names none of \(Scope.names)")
        }
        self.init(expires: expires, apps: try AppReach(names, environment: environment), scope: scope)
        self.ingests = ingests
        self.issuer = try text("iss") ?? ""
        self.subject = try text("sub") ?? ""
        self.audience = try texts("aud")
        self.notBefore = try instant("nbf")
        self.issued = try instant("iat")
        self.id = try text("jti", limit: Limits.revocationIDBytesMax) ?? ""
        if let account = try text("account", limit: Limits.accountKeyBytesMax) {
            guard !account.utf8.contains(0) else { throw .malformed("its account holds a NUL") }
            self.account = account
        }
    }

    /// Signs these claims.
    package func signed(by key: TokenKey) throws(KeyFault) -> String {
        func seconds(_ instant: Instant) -> Int64 { instant.milliseconds / 1_000 }
        var writer = JSONWriter()
        writer.beginObject()
        if !self.issuer.isEmpty { writer.member("iss", self.issuer) }
        if !self.subject.isEmpty { writer.member("sub", self.subject) }
        if self.audience.count == 1 {
            writer.member("aud", self.audience[0])
        } else if !self.audience.isEmpty {
            writer.key("aud")
            writer.beginArray()
            for name in self.audience { writer.string(name) }
            writer.endArray()
        }
        if let issued = self.issued { writer.member("iat", seconds(issued)) }
        if let notBefore = self.notBefore { writer.member("nbf", seconds(notBefore)) }
        writer.member("exp", seconds(self.expires))
        if !self.id.isEmpty { writer.member("jti", self.id) }
        switch self.apps {
        case .all:
            writer.member("app", "*")
        case .apps(let apps):
            if apps.count == 1 {
                writer.member("app", apps[0].bundleID)
            } else {
                writer.key("app")
                writer.beginArray()
                for app in apps { writer.string(app.bundleID) }
                writer.endArray()
            }
            if let first = apps.first { writer.member("environment", first.environment.description) }
        }
        writer.member("scope", self.scopes)
        if let account = self.account { writer.member("account", account) }
        writer.endObject()
        let payload: [UInt8]
        do throws(JSONOverflow) {
            payload = try writer.finish()
        } catch {
            preconditionFailure("claims are bounded")
        }
        let token = try CompactToken.signing(payload, by: key)
        guard token.utf8.count <= Limits.tokenBytesMax else {
            throw KeyFault(
                "the token has \(token.utf8.count) bytes, the limit is \(Limits.tokenBytesMax); name fewer apps")
        }
        return token
    }

    /// Signs the text of a header and payload. For the fuzzer, which makes payloads that no claims produce.
    package static func signing(_ text: String, by key: TokenKey) -> String? {
        Signatures.sign(Array(text.utf8), by: key).map { text + "." + Base64URL.encode($0) }
    }

    /// A random ID for a new token; nil if the machine has no randomness.
    package static func newID() -> String? { Signatures.random(16).map { Base64URL.encode($0) } }
}
