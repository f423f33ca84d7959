/// Sixteen bytes that stand for a longer value: view keys and pushed values in resume tokens.
///
/// SipHash-2-4 with 128 bits of output under a fixed key, so that it is the same after a restart and on each node.
/// It is not a signature: who makes two values of his own collide misleads only himself.
public struct Digest: BitwiseCopyable, Hashable, Sendable, CustomStringConvertible {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public static let zero = Digest(high: 0, low: 0)

    public init(of bytes: borrowing RawSpan) {
        var state = SipState(0x7065_7263_6820_7631, 0x6f77_6e73_2077_6861)
        state.v1 ^= 0xee
        state.absorb(bytes, rounds: 2)
        state.v2 ^= 0xee
        state.rounds(4)
        self.low = state.folded
        state.v1 ^= 0xdd
        state.rounds(4)
        self.high = state.folded
    }

    public init(of bytes: [UInt8]) {
        self.init(of: bytes.span.bytes)
    }

    public var description: String {
        func hex(_ value: UInt64) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return hex(self.high) + hex(self.low)
    }
}
