import Testing

@testable import PerchBase

@Suite("A suggestion") struct SuggestionTests {
    @Test(arguments: [
        ("listne", "listen"), ("lsiten", "listen"), ("LISTEN", "listen"), ("list", "listen"), ("drian", "drain"),
    ])
    func `the nearest word is suggested`(_ word: String, _ meant: String) {
        #expect(nearest(to: word, in: ["store", "listen", "drain", "linger"]) == meant)
    }

    @Test func `of two equally near words, the one with the same beginning is suggested`() {
        #expect(nearest(to: "of", in: ["on", "off"]) == "off")
        #expect(nearest(to: "of", in: ["off", "on"]) == "off")
    }

    @Test(arguments: ["", "x", "password", "frobnicate", "heartbeat"])
    func `a word without a near candidate gets no suggestion`(_ word: String) {
        #expect(nearest(to: word, in: ["store", "listen", "drain", "linger"]) == nil)
    }

    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "ba", 1),
    ])
    func `a swap of neighbours counts as one mistake`(_ left: String, _ right: String, _ distance: Int) {
        #expect(editDistance(Array(left.unicodeScalars), Array(right.unicodeScalars)) == distance)
        #expect(editDistance(Array(right.unicodeScalars), Array(left.unicodeScalars)) == distance)
    }

    @Test func `the letter filter skips only candidates that would not be suggested`() {
        var random = SplitMix64(seed: 5)
        var suggested = 0
        for _ in 0..<2_000 {
            let words = (0..<8).map { _ in Self.word(&random) }
            let word = Bool.random(using: &random) ? Self.word(&random) : Self.mistaken(words[0], &random)
            let wanted = letters(of: word)
            var best: (word: String, distance: Int)?
            for candidate in words {
                guard let distance = distance(from: wanted, to: candidate) else { continue }
                let isBeginning = best.map { begins($0.word, with: wanted) < begins(candidate, with: wanted) } ?? true
                guard distance < best?.distance ?? .max || distance == best?.distance && isBeginning else { continue }
                best = (candidate, distance)
            }
            #expect(nearest(to: word, in: words) == best?.word, "\(word) in \(words)")
            suggested += best == nil ? 0 : 1
        }
        #expect((500..<1_900).contains(suggested), "\(suggested) of 2,000 words had a suggestion")
    }

    private static func word(_ random: inout SplitMix64) -> String {
        let letters = ["a", "b", "c", "B", "Z", "-", "_", "0", "@", "`", "\u{e9}", "\u{212a}", "k", "\u{130}"]
        let count = Int.random(in: 0...9, using: &random)
        return (0..<count).map { _ in letters.randomElement(using: &random) ?? "" }.joined()
    }

    private static func mistaken(_ word: String, _ random: inout SplitMix64) -> String {
        var letters = Array(word)
        for _ in 0..<Int.random(in: 0...3, using: &random) where !letters.isEmpty {
            let place = Int.random(in: 0..<letters.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: letters.remove(at: place)
            case 1: letters.insert("x", at: place)
            case 2: letters[place] = "y"
            default: letters.swapAt(place, letters.count - 1)
            }
        }
        return String(letters)
    }
}
