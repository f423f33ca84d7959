import PerchBase
import Testing

@Suite struct `Base64 text` {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the encoding is that of RFC 4648`(_ text: String, _ encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
    }

    @Test func `the encoding covers all 256 bytes`() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "=Zg=", "Z===", "Zm9v\n", "Zm 9", "Zm9-", "Zg==Zg=="])
    func `the strict reader refuses non-canonical text`(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zm8=", "Zm8", "Zm8"])
    func `the lenient reader accepts text with and without padding`(_ text: String) {
        #expect(Base64.decodeLenient(text) == Array("fo".utf8))
    }

    @Test func `the lenient reader accepts the URL-safe alphabet`() {
        #expect(Base64.decodeLenient("-_8") == [0xFB, 0xFF])
        #expect(Base64.decodeLenient("+/8=") == [0xFB, 0xFF])
    }

    @Test(arguments: ["Z", "Zg=", "Zg===", "Zh==", "=Zg=", "Zm9v\n", "Zm 9"])
    func `the lenient reader refuses broken text, too`(_ text: String) {
        #expect(Base64.decodeLenient(text) == nil)
    }
}

@Suite struct `Base64 of JOSE` {
    @Test func `decodes what it encodes, of every length`() {
        for count in 0..<64 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            #expect(Base64URL.decode(Array(Base64URL.encode(bytes).utf8)) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    }

    @Test(arguments: ["A", "AA=", "AB", "AAB", "A+", "A/", "A ", "AA\n", "AA.", "Zm9vA"])
    func `refuses what it would not have written`(_ text: String) {
        #expect(Base64URL.decode(Array(text.utf8)) == nil)
    }
}
