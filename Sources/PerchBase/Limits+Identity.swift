// MARK: Credentials

extension Limits {
    /// Bytes of a token. A longer one is CREDENTIALS_MALFORMED, before it is looked at. HELLO has room for 16 KiB.
    package static let tokenBytesMax = 8 * 1024

    /// Levels of a token's JSON; then CREDENTIALS_MALFORMED. Its claims are flat, others may bring an object along.
    package static let tokenDepthMax = 8

    /// Values of a token's header or payload; then CREDENTIALS_MALFORMED.
    package static let tokenValuesMax = 256

    /// Bytes of one claim; then CREDENTIALS_MALFORMED.
    package static let tokenClaimBytesMax = 255

    /// Entries of a claim that is a list: `aud`, `app`. Then CREDENTIALS_MALFORMED.
    package static let tokenListMax = 32

    /// Bytes of a key's name, `kid`; then CREDENTIALS_MALFORMED, or the file is refused.
    package static let tokenKeyIDBytesMax = 128

    /// Bytes of the secret of HS256, at least (RFC 7518, section 3.2); a file with a shorter one is refused.
    package static let tokenSecretBytesMin = 32

    /// Keys of a server. More are refused at start: a rotation has two or three.
    package static let tokenKeysMax = 64

    /// Bytes of a file with keys. A longer one is refused.
    package static let tokenKeyFileBytesMax = 256 * 1024

    /// Files of the directory with keys that are looked at. A directory with more is refused.
    package static let tokenKeyFilesMax = 1_024

    /// Milliseconds that a token may begin in the future (`nbf`): clocks differ. Its end is exact.
    package static let tokenSkewMilliseconds: Int64 = 60_000

    /// Entries of the file that says whom certificates stand for. One with more is refused.
    package static let certificateIdentitiesMax = 16_384

    /// Bytes of that file. A longer one is refused.
    package static let certificateIdentitiesBytesMax = 4 * 1024 * 1024

    /// Verified identities that a loop keeps while nobody uses them, so that who comes back is not verified again. Those
    /// that were not used for longest go.
    package static let identitiesKeptMax = 4_096

    /// Bytes of what a token is revoked by: its `jti`, or a hash.
    package static let revocationIDBytesMax = 128

    /// Revoked tokens that a store remembers. One more is refused with REVOCATION_LIMIT: who has to revoke so many
    /// takes their key away.
    package static let revocationsMax = 100_000

    /// Milliseconds that a connection whose credentials have ended may take for what it is owed; then it is closed. One that
    /// has taken all goes after a fifth to two fifths of it, spread so that those of one token do not go at once.
    package static let endedIdentityMilliseconds: Int64 = 5_000

    /// Credentials of calls that were not taken, on one connection. With one more it is closed with CREDENTIALS_LIMIT:
    /// each costs a signature's verification.
    package static let credentialFailuresMax = 64
}

// MARK: How often

extension Limits {
    /// New connections from one address in a second, loopback excepted, and at once. One more is refused with
    /// CONNECT_RATE and told when to come back. All that one address may hold can come back at once.
    package static let connectsPerAddress = RateLimit(perSecond: 256, burst: connectionsPerAddressMax)

    /// Calls of one identity in a second on one loop, and at once. One more is refused with CALL_RATE, and told after how
    /// long to try. A client that comes back opens all the watches of a connection at once.
    ///
    /// Each loop counts on its own, since no lock belongs on the way of a call. Without an authenticator nobody is counted.
    package static let callsPerIdentity = RateLimit(perSecond: 8_192, burst: callsPerConnectionMax)

    /// Addresses that are remembered. Those that hold no connection and were quiet are forgotten; of the ones that do not
    /// fit, connections are counted still and their rate is not.
    package static let addressesTrackedMax = 65_536
}
