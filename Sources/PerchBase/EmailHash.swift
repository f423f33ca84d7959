/// The hash by which a customer's e-mail address is known.
package enum EmailHash {
    /// Of an address, which is trimmed and written in lower case, or of the hash itself in hexadecimal digits; nil for any other text.
    package static func hash(of text: String) -> ContentHash? {
        if let known = Self.hash(hexadecimal: text) { return known }
        let address = text.split(whereSeparator: \.isWhitespace).joined().lowercased()
        guard address.contains("@") else { return nil }
        return ContentHash(of: Array(address.utf8))
    }

    /// Of 64 hexadecimal digits; nil for any other text.
    package static func hash(hexadecimal text: String) -> ContentHash? {
        let digits = text.utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard digits.count == text.utf8.count, digits.count == ContentHash.byteCount * 2 else { return nil }
        return ContentHash(bytes: stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
