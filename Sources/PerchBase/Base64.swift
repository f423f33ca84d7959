/// Bytes as text and back, by RFC 4648: the standard alphabet (section 4).
package enum Base64 {
    private static let standard = Base64Alphabet("+/")
    private static let lenient = Base64Alphabet("+/", reading: "-_")

    /// Padded, as protobuf's JSON has it.
    @inlinable
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Self.letters(of: Array(bytes), isPadded: true), as: UTF8.self)
    }

    package static func letters(of bytes: [UInt8], isPadded: Bool) -> [UInt8] {
        var letters = Self.standard.letters(of: bytes)
        while isPadded, letters.count % 4 != 0 { letters.append(UInt8(ascii: "=")) }
        return letters
    }

    /// Decodes what `encode` writes. Nil for other letters, missing padding, and bits that carry nothing.
    package static func decode(_ text: String) -> [UInt8]? {
        text.utf8.count % 4 == 0 ? Self.bytes(of: text, Self.standard) : nil
    }

    /// Decodes the standard and the URL-safe alphabet, padded or not: protobuf's JSON demands that readers accept them all.
    package static func decodeLenient(_ text: String) -> [UInt8]? { Self.bytes(of: text, Self.lenient) }

    private static func bytes(of text: String, _ alphabet: Base64Alphabet) -> [UInt8]? {
        var letters = Array(text.utf8)
        if letters.count % 4 == 0, letters.last == UInt8(ascii: "=") {
            letters.removeLast()
            if letters.last == UInt8(ascii: "=") { letters.removeLast() }
        }
        return alphabet.bytes(of: letters.span.bytes)
    }
}

/// Base64 as JOSE uses it: the URL-safe alphabet, unpadded (RFC 4648, section 5).
package enum Base64URL {
    private static let alphabet = Base64Alphabet("-_")

    @inlinable
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Self.letters(of: Array(bytes)), as: UTF8.self)
    }

    package static func letters(of bytes: [UInt8]) -> [UInt8] { Self.alphabet.letters(of: bytes) }

    /// Decodes a text. Nil for every text that `encode` does not write: other letters, padding, a surplus letter, spare bits.
    ///
    /// So a value has one form, and a token cannot be rewritten into a second one.
    @inlinable
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { Self.decode(Array(text).span.bytes) }

    package static func decode(_ text: RawSpan) -> [UInt8]? { Self.alphabet.bytes(of: text) }
}

/// The letters of one alphabet by value, and their values by letter.
///
/// Both loops are over one type of bytes: a loop over any collection is not specialised for callers in other modules, where it cost a
/// refused call of gRPC 400,000 instructions.
private struct Base64Alphabet: Sendable {
    private let letters: [UInt8]
    private let values: [UInt8]

    private static let none: UInt8 = 0xFF

    /// The alphabet whose last two letters are these. It also reads `others` in their place.
    init(_ last: String, reading others: String = "") {
        let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        self.letters = Array((common + last).utf8)
        var values = [UInt8](repeating: Self.none, count: 256)
        for text in [common + last, common + others] {
            for (value, letter) in text.utf8.enumerated() { values[Int(letter)] = UInt8(value) }
        }
        self.values = values
    }

    /// Unpadded.
    func letters(of bytes: [UInt8]) -> [UInt8] {
        let alphabet = self.letters.span
        var letters: [UInt8] = []
        letters.reserveCapacity((bytes.count + 2) / 3 * 4)
        var word: UInt32 = 0
        var bits = 0
        for byte in bytes {
            word = word << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                letters.append(alphabet[Int(word >> UInt32(bits)) & 63])
            }
        }
        if bits > 0 { letters.append(alphabet[Int(word << UInt32(6 - bits)) & 63]) }
        return letters
    }

    /// Nil for other letters, a surplus letter, and bits that carry nothing.
    func bytes(of text: RawSpan) -> [UInt8]? {
        let count = text.byteCount
        guard count % 4 != 1 else { return nil }
        let values = self.values.span
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 4 * 3 + 2)
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
