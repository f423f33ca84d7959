// MARK: Credentials

extension Limits {
    /// Bytes of a token. A longer one fails with CREDENTIALS_MALFORMED unread. HELLO has space for 16 KiB.
    package static let tokenBytesMax = 8 * 1024

    /// Depth of a token's JSON. A deeper one fails with CREDENTIALS_MALFORMED. Perch's claims are flat; foreign claims
    /// may contain an object.
    package static let tokenDepthMax = 8

    /// Values of a token's header or payload. More fail with CREDENTIALS_MALFORMED.
    package static let tokenValuesMax = 256

    /// Bytes of one claim. A longer one fails with CREDENTIALS_MALFORMED.
    package static let tokenClaimBytesMax = 255

    /// Entries of a list claim (`aud`, `app`). More fail with CREDENTIALS_MALFORMED.
    package static let tokenListMax = 32

    /// Bytes of a key's name (`kid`). A longer one fails with CREDENTIALS_MALFORMED in a token, and refuses a key file.
    package static let tokenKeyIDBytesMax = 128

    /// Smallest HS256 secret, in bytes (RFC 7518, section 3.2). A file with a shorter one is refused.
    package static let tokenSecretBytesMin = 32

    /// Keys of a server. More are refused at start; a rotation needs two or three.
    package static let tokenKeysMax = 64

    /// IDs of tokens that a server remembers to have seen, 16 bytes each. Beyond it every ID counts as seen.
    package static let seenTokensMax = 100_000

    /// Bytes of a key file. A longer one is refused.
    package static let tokenKeyFileBytesMax = 256 * 1024

    /// Files of the key directory. A directory with more is refused.
    package static let tokenKeyFilesMax = 1_024

    /// Milliseconds of clock skew allowed for a token's start (`nbf`). Its end is exact.
    package static let tokenSkewMilliseconds: Int64 = 60_000

    /// Milliseconds that an accepted token may still live: 400 days. One that ends later is CREDENTIALS_MALFORMED. A revocation
    /// is kept at least this long. Setting: `token-life`.
    package static let tokenLifeMilliseconds: Int64 = 400 * 86_400_000

    /// Longest and shortest value of the setting `token-life`.
    package static let tokenLifeMillisecondsRange: ClosedRange<Int64> = 60_000...3_650 * 86_400_000

    /// Entries of the file that maps certificates to identities. A file with more is refused.
    package static let certificateIdentitiesMax = 16_384

    /// Bytes of the file that maps certificates to identities. A longer one is refused.
    package static let certificateIdentitiesBytesMax = 4 * 1024 * 1024

    /// Verified identities without a connection that a loop caches, so that a returning client needs no new
    /// verification. The least recently used are evicted.
    package static let identitiesKeptMax = 4_096

    /// Bytes of the name under which a token is revoked: its `jti`, or a hash.
    package static let revocationIDBytesMax = 128

    /// Revoked tokens that a store keeps. One more fails with REVOCATION_LIMIT: with more revocations an operator should
    /// remove the key instead.
    package static let revocationsMax = 100_000

    /// Milliseconds that a connection with ended credentials has for its pending output before it is closed.
    ///
    /// A connection without pending output closes after one to two fifths of it. The spread keeps connections of one
    /// token from closing together.
    package static let endedIdentityMilliseconds: Int64 = 5_000

    /// Unknown tokens that a loop verifies in an iteration, beside the first one of each connection. One more on HTTP is refused
    /// with CREDENTIALS_RATE. A token takes some 60 us.
    package static let verificationsPerTurn = 8

    /// First tokens of connections that a loop verifies in an iteration. Further connections wait for the next one.
    @inlinable package static var firstVerificationsPerTurn: Int { 16 }

    /// Refused tokens that a loop remembers, so that one that comes again is not verified again.
    package static let refusedTokensKept = 4_096

    /// Rejected call credentials on one connection. One more closes it with CREDENTIALS_LIMIT, because each costs a
    /// signature verification.
    package static let credentialFailuresMax = 64
}

// MARK: Rates

extension Limits {
    /// New connections from one address, per second and as a burst; loopback is exempt. One more is refused with
    /// CONNECT_RATE and a retry delay. The burst covers all connections that one address may hold.
    package static let connectsPerAddress = RateLimit(perSecond: 256, burst: connectionsPerAddressMax)

    /// Calls of one identity on one loop, per second and as a burst. One more fails with CALL_RATE and a retry delay.
    /// The burst covers a reconnecting client that reopens all watches of a connection.
    ///
    /// Each loop counts separately, because a lock per call would be too expensive. Without an authenticator calls are
    /// not limited.
    package static let callsPerIdentity = RateLimit(perSecond: 8_192, burst: callsPerConnectionMax)

    /// Addresses whose connection rate is tracked. Quiet addresses without a connection are forgotten first. Addresses
    /// beyond the limit have their connections counted but not their rate.
    package static let addressesTrackedMax = 65_536

    /// Tokens that wait for their browsers, of the whole server; further ones replace the oldest.
    package static let consoleCodesKept = 64

    /// How long each of them waits.
    package static let consoleCodeMilliseconds: Int64 = 60_000
}
