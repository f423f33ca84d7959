import PerchBase
import Testing

@Suite struct `a mixed digest` {
    private static func digest(_ bytes: [UInt8]) -> Digest {
        var mixer = DigestMixer()
        bytes.withUnsafeBytes { mixer.mix($0) }
        return mixer.digest
    }

    @Test func `differs for each length and for each changed bit`() {
        var seen: Set<Digest> = []
        var count = 0
        for length in 0...70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            for changed in -1..<length * 8 {
                var other = bytes
                if changed >= 0 { other[changed / 8] ^= 1 << UInt8(changed % 8) }
                seen.insert(Self.digest(other))
                count += 1
            }
            if length > 0 { seen.insert(Self.digest([UInt8](repeating: 0, count: length))) }
            count += length > 0 ? 1 : 0
        }
        #expect(seen.count == count)
    }

    @Test func `of a text is that of its bytes, and texts do not run into each other`() {
        for text in ["", "a", "abcdefg", "abcdefgh", "abcdefghijklmnopqrstuvwxyz", "é日本語"] {
            var mixer = DigestMixer()
            mixer.mix(text)
            #expect(mixer.digest == Self.digest(Array(text.utf8)))
        }
        func pair(_ first: String, _ second: String) -> Digest {
            var mixer = DigestMixer()
            mixer.mix(first)
            mixer.mix(second)
            return mixer.digest
        }
        #expect(pair("ab", "c") != pair("a", "bc"))
        #expect(pair("", "a") != pair("a", ""))
        #expect(pair("12345678", "") != pair("", "12345678"))
    }
}
