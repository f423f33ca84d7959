/// What a verified client certificate says of the peer. Whoever makes one has checked the chain, the dates and that the
/// peer holds the key.
package struct PeerCertificate: Hashable, Sendable {
    /// The subject's common name; empty for none.
    package var commonName: String
    /// The subject's alternative names: DNS names, mail addresses, URIs, as text.
    package var names: [String]
    /// SHA-256 of the certificate's DER form: 32 bytes.
    package var fingerprint: [UInt8]
    /// The last instant at which it is valid.
    package var notAfter: Instant

    package init(commonName: String, names: [String], fingerprint: [UInt8], notAfter: Instant) {
        self.commonName = commonName
        self.names = names
        self.fingerprint = fingerprint
        self.notAfter = notAfter
    }
}
