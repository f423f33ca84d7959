/// Bytes as text and back: standard alphabet, padded (RFC 4648, section 4), as protobuf's JSON has them.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for index in 0..<3 { word = word << 8 | UInt32(index < group.count ? group[start + index] : 0) }
            for index in 0..<4 {
                let letter = Self.alphabet[Int(word >> UInt32(18 - 6 * index)) & 63]
                text.append(index <= group.count ? letter : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for whatever `encode` does not write: other letters, missing padding, bits that carry nothing.
    static func decode(_ text: String) -> [UInt8]? {
        let letters = Array(text.utf8)
        guard letters.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: letters.count, by: 4) {
            var word: UInt32 = 0
            var padding = 0
            for index in start..<start + 4 {
                if letters[index] == UInt8(ascii: "="), start + 4 == letters.count, index >= start + 2 {
                    padding += 1
                    word <<= 6
                } else {
                    guard padding == 0, let value = Self.alphabet.firstIndex(of: letters[index]) else { return nil }
                    word = word << 6 | UInt32(value)
                }
            }
            let group = [
                UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 8),
                UInt8(truncatingIfNeeded: word),
            ]
            guard group.suffix(padding).allSatisfy({ $0 == 0 }) else { return nil }
            bytes += group.dropLast(padding)
        }
        return bytes
    }
}
