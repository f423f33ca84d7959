/// Bytes as text and back, by RFC 4648.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The standard alphabet (section 4), padded, as protobuf's JSON has it.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var rest = bytes[...]
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            var word: UInt32 = 0
            for byte in group { word = word << 8 | UInt32(byte) }
            word <<= UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let letter = Self.alphabet[Int(word >> UInt32(18 - 6 * index)) & 63]
                text.append(index <= group.count ? letter : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
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
