package import PerchBase

/// Verifies credentials: their signature, their audience and their end. A value; the caller passes the time.
package struct Authenticator: Hashable, Sendable {
    /// Keys by `kid`.
    package private(set) var keys: [String: TokenKey] = [:]
    /// `aud` that a token must contain.
    package var audience = Authenticator.standardAudience
    /// `iss` that a token must have; nil for any, because the keys decide who may sign.
    package var issuer: String?
    /// Milliseconds from now to the latest accepted `exp`. The server keeps revocations at least this long.
    package var lifeMilliseconds = Limits.tokenLifeMilliseconds
    package var certificates = CertificateIdentities()

    package static let standardAudience = "perch"

    package init() {}

    package init(keys: [TokenKey]) throws(KeyFault) {
        guard keys.count <= Limits.tokenKeysMax else {
            throw KeyFault("there are \(keys.count) keys, the limit is \(Limits.tokenKeysMax)")
        }
        for key in keys {
            if let other = self.keys.updateValue(key, forKey: key.id), !other.verifiesSame(as: key) {
                throw KeyFault("two keys have the kid \(quoted(key.id)); tokens name a key by it")
            }
        }
    }

    /// The identity of an `authorization` value: `Bearer` and a token.
    package func identity(ofAuthorization text: String, now: Instant) throws(CredentialFault) -> Identity {
        let bytes = Array(text.utf8)
        guard let space = bytes.firstIndex(of: UInt8(ascii: " ")),
            String(decoding: bytes[..<space], as: UTF8.self).lowercased() == "bearer"
        else {
            throw .malformed("it does not begin with Bearer and a space")
        }
        return try self.identity(ofToken: bytes[(space + 1)...], now: now)
    }

    /// The identity of a token. The signature is checked before the claims are read.
    package func identity(ofToken bytes: some Collection<UInt8>, now: Instant) throws(CredentialFault) -> Identity {
        let token = try CompactToken(bytes)
        let key = try self.key(of: token)
        // The key decides the algorithm, so a token with HS256 is never checked with a public key as its secret.
        guard token.algorithm == key.algorithm.rawValue else {
            throw .untrusted("it says alg \(quoted(token.algorithm)), and \(key) signs with its own only")
        }
        guard Signatures.verify(token.signature, over: token.signed, by: key) else {
            throw .untrusted("its signature is not that of \(key)")
        }
        let claims = try TokenClaims(of: token)
        let identity = Identity(claims, key: key, revocation: Self.revocationID(of: token, claims))
        try self.checkDirection(identity)
        if let notBefore = claims.notBefore,
            notBefore > now.advanced(byMilliseconds: Limits.tokenSkewMilliseconds)
        {
            throw .notYetValid(from: notBefore)
        }
        guard now < claims.expires else { throw .expired(at: claims.expires) }
        guard claims.expires.milliseconds(since: now) <= self.lifeMilliseconds else {
            throw .livesTooLong(until: claims.expires, from: now, limitMilliseconds: self.lifeMilliseconds)
        }
        return identity
    }

    private func key(of token: CompactToken) throws(CredentialFault) -> TokenKey {
        if let id = token.keyID {
            guard let key = self.keys[id] else {
                throw .untrusted(
                    "no key here has its kid \(quoted(id)); give the server the key that it was signed with")
            }
            return key
        }
        guard self.keys.count == 1, let only = self.keys.values.first else {
            throw .untrusted("it names no key (kid), and this server has \(self.keys.count)")
        }
        return only
    }

    private func checkDirection(_ identity: Identity) throws(CredentialFault) {
        guard identity.audience.contains(self.audience) else {
            let found =
                identity.audience.isEmpty ? "missing" : identity.audience.map { quoted($0) }.joined(separator: ", ")
            throw .misdirected("its aud is \(found), this server is \(quoted(self.audience))")
        }
        if let issuer = self.issuer, identity.issuer != issuer {
            throw .misdirected("its iss is \(quoted(identity.issuer)), this server takes those of \(quoted(issuer))")
        }
    }

    /// Whether an identity that was accepted before is still accepted after keys or names have changed.
    package func stillTrusts(_ identity: Identity) -> Bool {
        switch identity.source {
        case .everyone, .anonymous:
            return true
        case .token(let key, _):
            guard let known = self.keys[key.id], known.verifiesSame(as: key) else { return false }
            return (try? self.checkDirection(identity)) != nil
        case .certificate(let certificate):
            return self.certificates.identity(of: certificate) == identity
        }
    }

    /// The ID by which a token is revoked: its `jti`, or the hash of its signed bytes. The signature is left out, because a
    /// second valid ECDSA signature can be made from a first.
    package static func revocationID(of token: CompactToken, _ claims: TokenClaims) -> String {
        claims.id.isEmpty ? "sha256:" + Base64URL.encode(ContentHash(of: token.signed).bytes) : claims.id
    }
}
