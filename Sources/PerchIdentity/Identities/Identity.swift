package import PerchBase

/// A verified caller, with its permissions and its end.
package struct Identity: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        /// The server has no authenticator: every caller may do everything.
        case everyone
        /// The caller sent no credentials. The table of permissions has nothing for it.
        case anonymous
        /// A token. `revocation` is the ID by which it is revoked.
        case token(key: TokenKey, revocation: String)
        case certificate(PeerCertificate)
    }

    package var source: Source
    /// Name for the log and quotas; never a secret.
    package var subject = ""
    package var issuer = ""
    package var audience: [String] = []
    package var apps: AppReach
    /// The scope; nil for no permission at all.
    package var scope: Scope?
    /// Whether it may submit what the App Store signed, beside its scope.
    package var ingests = false
    /// The only account that the identity is for; nil for every account of its apps.
    package var account: String?
    package var expires = Instant.distantFuture

    private init(_ source: Source, apps: AppReach, scope: Scope?) {
        self.source = source
        self.apps = apps
        self.scope = scope
        self.ingests = scope == .ingest
    }

    package static let everyone = Identity(.everyone, apps: .all, scope: .admin)
    package static let anonymous = Identity(.anonymous, apps: .apps([]), scope: nil)

    init(_ claims: TokenClaims, key: TokenKey, revocation: String) {
        self.init(.token(key: key, revocation: revocation), apps: claims.apps, scope: claims.scope)
        self.ingests = claims.ingests
        self.subject = claims.subject
        self.issuer = claims.issuer
        self.audience = claims.audience
        self.account = claims.account
        self.expires = claims.expires
    }

    init(_ certificate: PeerCertificate, _ entry: CertificateIdentities.Entry) {
        self.init(.certificate(certificate), apps: entry.apps, scope: entry.scope)
        self.ingests = entry.ingests
        self.subject = entry.subject
        self.account = entry.account
        self.expires = certificate.notAfter
    }

    /// The unit of quotas: the subject with all its tokens; without a subject, each token or certificate.
    package var principal: String {
        switch self.source {
        case .everyone: "everyone"
        case .anonymous: "anonymous"
        case .token(_, let revocation):
            self.subject.isEmpty
                ? "token \(revocation)" : "subject \(self.issuer.utf8.count) \(self.issuer)\(self.subject)"
        case .certificate(let certificate):
            self.subject.isEmpty ? "certificate \(Base64URL.encode(certificate.fingerprint))" : "mapped \(self.subject)"
        }
    }

    /// Subject and key for the log. Without secrets, and bounded.
    package var label: String {
        switch self.source {
        case .everyone: "everyone"
        case .anonymous: "anonymous"
        case .token(let key, _):
            (self.subject.isEmpty ? "a token without subject" : quoted(self.subject)) + " by \(key)"
        case .certificate: "\(quoted(self.subject)) by certificate"
        }
    }
}
