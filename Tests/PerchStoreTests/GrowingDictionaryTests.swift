import Testing

@testable import PerchStore

@Suite struct GrowingDictionaryTests {
    private func key(_ text: String) -> MutationKey { MutationKey(app: 1, bytes: Array(text.utf8)) }

    @Test func `It holds what a dictionary holds, after any changes`() {
        var random = SystemRandomNumberGenerator()
        var table = GrowingDictionary<MutationKey, Int>()
        var expected: [MutationKey: Int] = [:]
        for step in 0..<20_000 {
            let key = self.key("order-\(Int.random(in: 0..<5_000, using: &random))")
            if step % 3 == 0 {
                #expect(table.removeValue(forKey: key) == expected.removeValue(forKey: key))
            } else {
                #expect(table.updateValue(step, forKey: key) == expected.updateValue(step, forKey: key))
            }
        }
        #expect(table.count == expected.count)
        for number in 0..<5_000 {
            let key = self.key("order-\(number)")
            if table[key] != expected[key] { Issue.record("key \(number)") }
        }
        var all: [MutationKey: Int] = [:]
        table.forEach { all[$0] = $1 }
        #expect(all == expected)
    }

    /// What one insertion moves is one piece, whatever the keys have in common.
    @Test(arguments: ["%", "order-%-attempt1", "user:%:renewal:0001", "00000000-0000-0000-0000-%", "%-of-today"])
    func `No piece grows with the number of entries`(_ form: String) {
        var table = GrowingDictionary<MutationKey, Int>()
        var largest = 0
        for number in 0..<30_000 {
            let digits = String(number)
            let padded = String(repeating: "0", count: 12 - digits.count) + digits
            let parts = form.split(separator: "%", omittingEmptySubsequences: false)
            _ = table.updateValue(number, forKey: self.key(parts[0] + padded + parts[1]))
            if number % 1_000 == 0 { largest = max(largest, table.largestPiece) }
        }
        #expect(largest < 1_024)
    }
}
