import PerchBase
import Testing

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
