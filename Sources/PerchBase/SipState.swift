/// SipHash's intermediate state: four words.
struct SipState {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64

    init(_ key0: UInt64, _ key1: UInt64) {
        self.v0 = 0x736f_6d65_7073_6575 ^ key0
        self.v1 = 0x646f_7261_6e64_6f6d ^ key1
        self.v2 = 0x6c79_6765_6e65_7261 ^ key0
        self.v3 = 0x7465_6462_7974_6573 ^ key1
    }

    @inline(__always)
    mutating func absorb(_ word: UInt64, rounds: Int) {
        self.v3 ^= word
        self.rounds(rounds)
        self.v0 ^= word
    }

    /// Absorbs the last bytes and the total length. `before` is the number of bytes absorbed earlier, a multiple of
    /// eight.
    @inline(__always)
    mutating func absorb(_ bytes: borrowing RawSpan, before: Int = 0, rounds: Int) {
        let count = bytes.byteCount
        var offset = 0
        while count - offset >= 8 {
            self.absorb(
                bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian, rounds: rounds)
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: before + count) << 56
        if offset < count, count >= 8 {
            // Load the last eight bytes and shift out those that were already absorbed.
            let tail = bytes.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self).littleEndian
            last |= tail >> UInt64(8 * (8 - (count - offset)))
            offset = count
        }
        var shift: UInt64 = 0
        while offset < count {
            last |= UInt64(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)) << shift
            shift += 8
            offset += 1
        }
        self.absorb(last, rounds: rounds)
    }

    @inline(__always)
    mutating func rounds(_ count: Int) {
        for _ in 0..<count { self.round() }
    }

    var folded: UInt64 { self.v0 ^ self.v1 ^ self.v2 ^ self.v3 }

    @inline(__always)
    private mutating func round() {
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
