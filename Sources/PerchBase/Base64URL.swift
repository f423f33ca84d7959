/// Base64 as JOSE uses it: the URL alphabet, unpadded (RFC 4648, section 5).
package enum Base64URL {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let none: UInt8 = 0xFF

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: Self.none, count: 256)
        for (value, letter) in Self.letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        let letters = Self.letters
        var word: UInt32 = 0
        var bits = 0
        for byte in Array(bytes) {
            word = word << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(letters[Int(word >> UInt32(bits)) & 63])
            }
        }
        if bits > 0 { text.append(letters[Int(word << UInt32(6 - bits)) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text. Nil for every text that `encode` does not write: other letters, padding, a surplus letter, spare bits.
    ///
    /// So a value has one form, and a token cannot be rewritten into a second one.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        Self.decode(Array(text).span.bytes)
    }

    package static func decode(_ text: RawSpan) -> [UInt8]? {
        let count = text.byteCount
        guard count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 4 * 3 + 2)
        let values = Self.values.span
        var word: UInt32 = 0
        var bits = 0
        for offset in 0..<count {
            let value = values[Int(text.unsafeLoad(fromByteOffset: offset, as: UInt8.self))]
            guard value != Self.none else { return nil }
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
