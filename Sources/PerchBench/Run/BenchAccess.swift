package import PerchTLS
package import PerchWire

/// The access data for a running server.
package struct BenchAccess: Sendable {
    package var app = AppReference()
    /// The value of `Hello.authorization`; empty for none.
    package var authorization = ""
    /// Nil for plaintext.
    package var tls: (context: TLSContext, name: TLSServerName)?

    package init() {}
}
