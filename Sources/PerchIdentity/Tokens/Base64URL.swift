/// Base64 as JOSE uses it: the URL alphabet, unpadded (RFC 4648, section 5).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in Self.alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var word: UInt32 = 0
        var bits = 0
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(Self.alphabet[Int(word >> UInt32(bits)) & 63])
            }
        }
        if bits > 0 { text.append(Self.alphabet[Int(word << UInt32(6 - bits)) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text. Nil for every text that `encode` does not write: other letters, padding, a surplus letter, spare bits.
    ///
    /// So a value has one form, and a token cannot be rewritten into a second one.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var word: UInt32 = 0
        var bits = 0
        for letter in text {
            let value = Self.values[Int(letter)]
            guard value != 0xFF else { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        guard word & (1 << UInt32(bits) - 1) == 0 else { return nil }
        return bytes
    }
}
