/// A peer's address for quotas: a whole IPv4 address, or the first 64 bits of an IPv6 address.
///
/// The owner of an IPv6 network can use any value of the last 64 bits, so those do not separate clients.
package struct PeerAddress: BitwiseCopyable, Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Takes the 128 bits of an address; IPv4 as `::ffff:a.b.c.d`.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = high == 0 && low >> 32 == 0xFFFF ? low : 0
    }

    /// An IPv4 address, or the network of an IPv6 address; empty for this machine.
    package var text: String {
        if self == PeerAddress(high: 0, low: 0xFFFF_7F00_0001) { return "" }
        if self.high == 0 {
            return stride(from: 24, through: 0, by: -8).map { "\(self.low >> UInt64($0) & 0xFF)" }.joined(
                separator: ".")
        }
        return stride(from: 48, through: 0, by: -16).map { String(self.high >> UInt64($0) & 0xFFFF, radix: 16) }
            .joined(separator: ":") + "::/64"
    }
}
