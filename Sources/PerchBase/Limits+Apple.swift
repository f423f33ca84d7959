// MARK: Apple's signed values

extension Limits {
    /// Bytes of one signed value from Apple: a transaction, renewal information or an app transaction. A longer one is
    /// refused unread with APPLE_TOO_LONG. Apple's have about 6 KiB, of which the certificates are 4.4 KiB.
    package static let appleSignedBytesMax = 64 * 1024

    /// Bytes of a signed notification, which holds up to two signed values. A longer one is refused unread with
    /// APPLE_TOO_LONG. Apple's have about 20 KiB.
    package static let appleNotificationBytesMax = 128 * 1024

    /// Depth of the JSON of a signed value. A deeper one is refused with APPLE_MALFORMED. Apple's nest five deep.
    package static let appleDepthMax = 16

    /// Values of the JSON of a signed value. More are refused with APPLE_MALFORMED. A summary with every storefront has
    /// 200.
    package static let appleValuesMax = 8_192

    /// Bytes of one certificate. A longer one is refused with APPLE_CERTIFICATE. Apple's have about 1 KiB.
    package static let appleCertificateBytesMax = 8 * 1024

    /// Verified certificate chains that a verifier caches. The least recently used is evicted. Apple signs with one or
    /// two chains at a time; old values need those of earlier years.
    package static let appleChainsKeptMax = 32

    /// Roots that an app trusts besides Apple's. More are refused where they are configured.
    package static let appleRootsMax = 16

    /// Signed values that a signer caches, so that a value that is read again keeps its bytes. The oldest half is dropped
    /// when the cache is full. One has about 6 KiB.
    package static let appleSignaturesKeptMax = 4_096
}
