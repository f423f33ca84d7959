/// A 128-bit digest of a longer value: of view keys and pushed values in resume tokens.
///
/// SipHash under a fixed key, so that it is equal after a restart and on each node: SipHash-2-4, and SipHash-1-3 for
/// pushed values. It is not a signature: a client that makes two of its values collide misleads only itself.
public struct Digest: BitwiseCopyable, Hashable, Sendable, CustomStringConvertible {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public static let zero = Digest(high: 0, low: 0)

    public init(of bytes: borrowing RawSpan) { self.init(bytes, rounds: 2, last: 4) }

    public init(of bytes: [UInt8]) {
        self.init(of: bytes.span.bytes)
    }

    /// The digest of a pushed value. It uses half of the rounds, like `Hasher`, because it is computed for each change.
    ///
    /// Only the value's token contains it. A collision costs no more than sending a value a second time.
    package init(ofValue bytes: borrowing RawSpan) { self.init(bytes, rounds: 1, last: 3) }

    @inline(__always)
    private init(_ bytes: borrowing RawSpan, rounds: Int, last: Int) {
        var state = SipState(0x7065_7263_6820_7631, 0x6f77_6e73_2077_6861)
        state.v1 ^= 0xee
        state.absorb(bytes, rounds: rounds)
        state.v2 ^= 0xee
        state.rounds(last)
        self.low = state.folded
        state.v1 ^= 0xdd
        state.rounds(last)
        self.high = state.folded
    }

    public var description: String {
        func hex(_ value: UInt64) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return hex(self.high) + hex(self.low)
    }
}
