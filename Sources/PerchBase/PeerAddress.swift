/// Where a peer comes from, as far as quotas look: an IPv4 address, or the first half of an IPv6 one.
///
/// Whoever has one address of an IPv6 network has all of its last 64 bits, so those tell nobody apart.
package struct PeerAddress: BitwiseCopyable, Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Of the 128 bits of an address; IPv4 as `::ffff:a.b.c.d`.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = high == 0 && low >> 32 == 0xFFFF ? low : 0
    }
}
