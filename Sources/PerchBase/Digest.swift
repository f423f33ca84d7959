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
        let key0: UInt64 = 0x7065_7263_6820_7631
        let key1: UInt64 = 0x6f77_6e73_2077_6861
        var state = State(
            v0: 0x736f_6d65_7073_6575 ^ key0,
            v1: 0x646f_7261_6e64_6f6d ^ key1 ^ 0xee,
            v2: 0x6c79_6765_6e65_7261 ^ key0,
            v3: 0x7465_6462_7974_6573 ^ key1
        )
        let count = bytes.byteCount
        var offset = 0
        while count - offset >= 8 {
            state.absorb(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian)
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: count) << 56
        var shift: UInt64 = 0
        while offset < count {
            last |= UInt64(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)) << shift
            shift += 8
            offset += 1
        }
        state.absorb(last)
        state.v2 ^= 0xee
        for _ in 0..<4 { state.round() }
        self.low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
        state.v1 ^= 0xdd
        for _ in 0..<4 { state.round() }
        self.high = state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    }

    public init(of bytes: [UInt8]) {
        self.init(of: bytes.span.bytes)
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        mutating func absorb(_ word: UInt64) {
            self.v3 ^= word
            self.round()
            self.round()
            self.v0 ^= word
        }

        mutating func round() {
            self.v0 = self.v0 &+ self.v1
            self.v1 = (self.v1 << 13 | self.v1 >> 51) ^ self.v0
            self.v0 = self.v0 << 32 | self.v0 >> 32
            self.v2 = self.v2 &+ self.v3
            self.v3 = (self.v3 << 16 | self.v3 >> 48) ^ self.v2
            self.v0 = self.v0 &+ self.v3
            self.v3 = (self.v3 << 21 | self.v3 >> 43) ^ self.v0
            self.v2 = self.v2 &+ self.v1
            self.v1 = (self.v1 << 17 | self.v1 >> 47) ^ self.v2
            self.v2 = self.v2 << 32 | self.v2 >> 32
        }
    }

    public var description: String {
        func hex(_ value: UInt64) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        return hex(self.high) + hex(self.low)
    }
}
