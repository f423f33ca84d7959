/// A 128-bit digest of a longer value: of view keys and pushed values in resume tokens.
///
/// SipHash under a fixed key, so that it is equal after a restart and on each node: SipHash-2-4, and SipHash-1-3 for
/// pushed values. It is not a signature: a client that makes two of its values collide misleads only itself.
package struct Digest: BitwiseCopyable, Hashable, Sendable, CustomStringConvertible {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static let zero = Digest(high: 0, low: 0)

    package init(of bytes: borrowing RawSpan) { self.init(bytes, rounds: 2, last: 4) }

    package init(of bytes: [UInt8]) {
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

    package var description: String {
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
        if text.isEmpty { return self.mix(0, Self.lengths) }
        text.utf8Span.span.withUnsafeBytes { self.mix($0) }
    }

    private static var lengths: UInt64 { 0xa076_1d64_78bd_642f }

    /// Mixes bytes with their number. The last word overlaps the one before it.
    package mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        let count = bytes.count
        guard let base = bytes.baseAddress, count > 0 else { return self.mix(0, Self.lengths) }
        func word(_ offset: Int) -> UInt64 { base.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian }
        var offset = 0
        while offset + 16 < count {
            self.mix(word(offset), word(offset + 8))
            offset += 16
        }
        let (first, last): (UInt64, UInt64)
        if count - offset >= 8 {
            (first, last) = (word(offset), word(count - 8))
        } else if count >= 8 {
            (first, last) = (0, word(count - 8))
        } else if count >= 4 {
            func half(_ offset: Int) -> UInt64 {
                UInt64(base.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian)
            }
            (first, last) = (half(0), half(count - 4))
        } else {
            func byte(_ offset: Int) -> UInt64 { UInt64(base.load(fromByteOffset: offset, as: UInt8.self)) }
            (first, last) = (byte(0) | byte(count / 2) << 8, byte(count - 1))
        }
        self.mix(first ^ Self.lengths, last &+ UInt64(count) &* 0x9fb2_1c65_1e98_df25)
    }

    package var digest: Digest {
        var last = self
        last.mix(0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3)
        return Digest(high: last.high, low: last.low)
    }
}
