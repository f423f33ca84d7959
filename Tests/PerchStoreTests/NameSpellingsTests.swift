import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `Spellings of a name` {
    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test func `the least one from a key on`() {
        let clara = NameSpellings("Clara")
        func least(_ key: String) -> String? { self.text(clara.least(from: Array(key.utf8))) }
        #expect(self.text(clara.first) == "CLARA")
        #expect(least("") == "CLARA")
        #expect(least("Alice") == "CLARA")
        #expect(least("CLARA-2") == "CLARA")
        #expect(least("Clar") == "ClarA")
        #expect(least("Clarissa") == "cLARA")
        #expect(least("clara") == "clara")
        #expect(least("clarissa") == nil)
        #expect(least("dora") == nil)
        // A letter of two bytes, a digit, and one whose capital is two letters.
        #expect(self.text(NameSpellings("ä1ß").first) == "Ä1ß")
    }

    @Test func `each key that is one of them is met, in order, whatever lies between`() {
        var random = SeededRandom(seed: 7)
        let letters = Array("aAbB-")
        for _ in 0..<300 {
            func word(_ length: Int) -> String {
                String((0..<length).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
            }
            let keys = Set((0..<40).map { _ in word(Int.random(in: 1...5, using: &random)) })
                .map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
            let sought = word(Int.random(in: 1...3, using: &random))
            let spellings = NameSpellings(sought)
            var met: [String] = []
            var place = NameSpellings.place(before: spellings.first)
            while let key = keys.first(where: { place.lexicographicallyPrecedes($0) }),
                let spelling = spellings.least(from: key)
            {
                let isMet = key.starts(with: spelling)
                if isMet { met.append(String(decoding: key, as: UTF8.self)) }
                place = isMet ? key : NameSpellings.place(before: spelling)
            }
            let expected = keys.map { String(decoding: $0, as: UTF8.self) }
                .filter { $0.lowercased().hasPrefix(sought.lowercased()) }
            #expect(met == expected, "\(sought)")
        }
    }
}
