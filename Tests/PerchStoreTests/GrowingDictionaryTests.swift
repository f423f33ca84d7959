import Testing

@testable import PerchStore

extension Int: Spread {
    var spread: Int { self &* 0x9E37_79B9 &>> 8 }
}

@Suite struct GrowingDictionaryTests {
    @Test func `It holds what a dictionary holds, after any changes`() {
        var random = SystemRandomNumberGenerator()
        var table = GrowingDictionary<Int, Int>()
        var expected: [Int: Int] = [:]
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<5_000, using: &random)
            if step % 3 == 0 {
                #expect(table.removeValue(forKey: key) == expected.removeValue(forKey: key))
            } else {
                #expect(table.updateValue(step, forKey: key) == expected.updateValue(step, forKey: key))
            }
        }
        #expect(table.count == expected.count)
        for key in 0..<5_000 where table[key] != expected[key] { Issue.record("key \(key)") }
        var all: [Int: Int] = [:]
        table.forEach { all[$0] = $1 }
        #expect(all == expected)
    }

    /// What one insertion moves is one piece.
    @Test func `No piece grows with the number of entries`() {
        var table = GrowingDictionary<Int, Int>()
        var largest = 0
        for key in 0..<100_000 {
            table[key] = key
            if key % 1_000 == 0 { largest = max(largest, table.largestPiece) }
        }
        #expect(largest < 1_024)
    }
}
