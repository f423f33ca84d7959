/// A SHA-256 hash of a content (FIPS 180-4): collision resistant.
///
/// Identifies images, because clients cache them by this hash. Values and tokens use the shorter and faster `Digest`.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Nil for anything but 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    package static let byteCount = 32

    package init(of content: [UInt8]) {
        var state = SHA256()
        var offset = 0
        while content.count - offset >= 64 {
            state.absorb(content, at: offset)
            offset += 64
        }
        // The padding: the remaining bytes, a one bit, zeros, and the length in bits.
        var last = Array(content[offset...])
        last.append(0x80)
        while last.count % 64 != 56 { last.append(0) }
        let bits = UInt64(content.count) << 3
        for shift in stride(from: 56, through: 0, by: -8) { last.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        for start in stride(from: 0, to: last.count, by: 64) { state.absorb(last, at: start) }
        self.bytes = state.words.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    /// In hexadecimal digits.
    package var description: String {
        self.bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

/// SHA-256's state between blocks. It is not optimised, because a catalogue's images are read only a few times a day.
private struct SHA256 {
    private(set) var words: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var schedule = [UInt32](repeating: 0, count: 64)

    /// Processes the block of 64 bytes at `start`.
    mutating func absorb(_ content: [UInt8], at start: Int) {
        func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
        for index in 0..<16 {
            let place = start + index * 4
            self.schedule[index] =
                UInt32(content[place]) << 24 | UInt32(content[place + 1]) << 16 | UInt32(content[place + 2]) << 8
                | UInt32(content[place + 3])
        }
        for index in 16..<64 {
            let near = self.schedule[index - 2]
            let far = self.schedule[index - 15]
            let small1 = rotated(near, 17) ^ rotated(near, 19) ^ near >> 10
            let small0 = rotated(far, 7) ^ rotated(far, 18) ^ far >> 3
            self.schedule[index] = self.schedule[index - 16] &+ small0 &+ self.schedule[index - 7] &+ small1
        }
        var (a, b, c, d) = (self.words[0], self.words[1], self.words[2], self.words[3])
        var (e, f, g, h) = (self.words[4], self.words[5], self.words[6], self.words[7])
        for index in 0..<64 {
            let big1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let first = h &+ big1 &+ (e & f ^ ~e & g) &+ Self.constants[index] &+ self.schedule[index]
            let big0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let second = big0 &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { self.words[index] &+= word }
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
