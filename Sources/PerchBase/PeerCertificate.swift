/// The contents of a verified client certificate. Its creator must have checked the chain, the dates, and that the peer
/// holds the private key.
package struct PeerCertificate: Hashable, Sendable {
    /// The subject's common name; empty if there is none.
    package var commonName: String
    /// The subject's alternative names as text: DNS names, mail addresses, URIs.
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
