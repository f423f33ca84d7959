// MARK: TLS

extension Limits {
    /// Bytes of a handshake that a server reads from one client. More close the connection as a failed handshake, which
    /// is counted. A ClientHello has less than 2 KiB, a chain of eight certificates less than 32 KiB.
    package static let tlsHandshakeBytesMax = 64 * 1024

    /// Bytes that a connection with TLS counts for in `handshakesBytesMax` until its peer is known, beside what it has sent
    /// of its handshake.
    package static let tlsHandshakeBytes = 40 * 1024

    /// Bytes of plaintext in one record: TLS's maximum. A connection buffers at most one such record of ciphertext
    /// after a partial write.
    package static let tlsRecordBytes = 16 * 1024

    /// Pending ciphertext, in bytes, above which a connection is not read: one record and its TLS overhead. More can
    /// only be answers to the peer's key updates.
    package static let tlsPendingBytesMax = 17 * 1024

    /// Bytes of a file with certificates, keys or authorities. A longer one is refused. All authorities of a Debian
    /// system have 220 KiB.
    package static let tlsFileBytesMax = 1024 * 1024

    /// Milliseconds that one key encrypts session tickets. The previous key is still accepted, so a client can resume a
    /// session for one to two such periods.
    ///
    /// A connected client gets a new ticket after each key change, so its ticket is valid whenever a server restarts.
    package static let tlsTicketKeyMilliseconds: Int64 = 6 * 3_600_000

    /// Bytes of a file with the ticket secret. At least 32 make it infeasible to guess.
    package static let tlsTicketSecretBytesMin = 32
    package static let tlsTicketSecretBytesMax = 4_096

    /// Milliseconds before its certificate expires at which a server starts to warn.
    package static let tlsCertificateWarningMilliseconds: Int64 = 21 * 86_400_000
}
