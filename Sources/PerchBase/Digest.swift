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

/// Mixes words into a digest at a quarter of SipHash's cost, for values that are digested with every change.
///
/// Each word is folded by a full multiplication (as wyhash does) into both halves. Only the value's token contains it. A
/// collision costs no more than not sending a value that differs, to the client that has arranged it.
package struct DigestMixer {
    private var high: UInt64 = 0x6f77_6e73_2077_6861
    private var low: UInt64 = 0x7065_7263_6820_7632

    package init() {}

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inline(__always)
    package mutating func mix(_ first: UInt64, _ second: UInt64) {
        let (high, low) = (self.high, self.low)
        self.high = Self.fold(high ^ first, low ^ 0x9e37_79b9_7f4a_7c15 ^ second) &+ first
        self.low = Self.fold(low &+ second, high ^ 0xd1b5_4a32_d192_ed03 &+ first) ^ second.byteSwapped
    }

    /// Mixes a text with its length.
    package mutating func mix(_ text: String) {
        let utf8 = text.utf8Span.span
        utf8.withUnsafeBytes { bytes in
            self.mix(UInt64(bytes.count), 0xa076_1d64_78bd_642f)
            var offset = 0
            while offset < bytes.count {
                var word: UInt64 = 0
                if bytes.count - offset >= 8 {
                    word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
                } else {
                    for place in offset..<bytes.count { word = word << 8 | UInt64(bytes[place]) }
                }
                self.mix(word, UInt64(offset))
                offset += 8
            }
        }
    }

    package var digest: Digest {
        var last = self
        last.mix(0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3)
        return Digest(high: last.high, low: last.low)
    }
}
