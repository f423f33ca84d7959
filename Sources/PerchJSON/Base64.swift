/// Bytes as text and back, by RFC 4648.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The standard alphabet (section 4), padded, as protobuf's JSON has it.
    @inlinable
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Self.letters(of: Array(bytes), isPadded: true), as: UTF8.self)
    }

    /// The same as letters. Of one type of bytes: a loop over any collection is not specialised for callers in other modules, and cost a
    /// refused call of gRPC 400,000 instructions.
    package static func letters(of bytes: [UInt8], isPadded: Bool) -> [UInt8] {
        let alphabet = Self.alphabet
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var word: UInt32 = 0
        var bits = 0
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(word >> UInt32(bits)) & 63])
            }
        }
        if bits > 0 { text.append(alphabet[Int(word << UInt32(6 - bits)) & 63]) }
        while isPadded, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// Reads what `encode` writes. It returns nil for other letters, missing padding, and bits that carry nothing.
    package static func decode(_ text: String) -> [UInt8]? {
        text.utf8.count % 4 == 0 ? Self.bytes(of: text, isStrict: true) : nil
    }

    /// Reads the standard and the URL-safe alphabet, padded or not: protobuf's JSON demands that readers accept them all.
    package static func decodeLenient(_ text: String) -> [UInt8]? { Self.bytes(of: text, isStrict: false) }

    private static func bytes(of text: String, isStrict: Bool) -> [UInt8]? {
        var letters = Array(text.utf8)[...]
        let isPadded = letters.count % 4 == 0
        if isPadded, letters.last == UInt8(ascii: "=") { letters.removeLast() }
        if isPadded, letters.last == UInt8(ascii: "="), letters.count % 4 == 3 { letters.removeLast() }
        guard letters.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count / 4 * 3 + 2)
        var word: UInt32 = 0
        var bits = 0
        for letter in letters {
            guard let value = Self.value(of: letter, isStrict: isStrict) else { return nil }
            word = word << 6 | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
        }
        guard word & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of letter: UInt8, isStrict: Bool) -> UInt32? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        case UInt8(ascii: "-"): isStrict ? nil : 62
        case UInt8(ascii: "_"): isStrict ? nil : 63
        default: nil
        }
    }
}
