package import PerchTLS
package import PerchWire

/// How one gets in at a server that is there already.
package struct BenchAccess: Sendable {
    package var app = AppReference()
    /// As `Hello.authorization`; empty for none.
    package var authorization = ""
    /// Nil for plaintext.
    package var tls: (context: TLSContext, name: TLSServerName)?

    package init() {}
}
