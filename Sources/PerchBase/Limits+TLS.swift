// MARK: TLS

extension Limits {
    /// Bytes of a handshake that a server reads from one client; then the connection is closed, and counted as a failed
    /// handshake. A ClientHello has less than 2 KiB, a chain of eight certificates less than 32 KiB.
    package static let tlsHandshakeBytesMax = 64 * 1024

    /// Bytes of plaintext in one record: the most that TLS allows. What a connection holds back in ciphertext, because
    /// the kernel took a part only, is one such record.
    package static let tlsRecordBytes = 16 * 1024

    /// Bytes of ciphertext that wait for the kernel beyond which a connection is not read from: a record, and what TLS
    /// adds to it. More can only be answers to the peer's own requests for new keys.
    package static let tlsPendingBytesMax = 17 * 1024

    /// Bytes of a file with certificates, keys or authorities; a longer one is refused. All authorities of a Debian
    /// system have 220 KiB.
    package static let tlsFileBytesMax = 1024 * 1024

    /// Milliseconds for which tickets are made with one key. Those of the key before are still taken; so a client can
    /// resume a session for this long at least, and for twice as long at most.
    ///
    /// Clients that stay connected get a new ticket after each change of keys: whenever a server restarts, theirs holds.
    package static let tlsTicketKeyMilliseconds: Int64 = 6 * 3_600_000

    /// Bytes of a file with the secret of tickets: at least 32, so that nobody guesses it.
    package static let tlsTicketSecretBytesMin = 32
    package static let tlsTicketSecretBytesMax = 4_096

    /// Milliseconds before the end of its certificate at which a server begins to warn.
    package static let tlsCertificateWarningMilliseconds: Int64 = 21 * 86_400_000
}
