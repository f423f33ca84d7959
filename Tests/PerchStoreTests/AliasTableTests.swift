import PerchBase
import PerchModel
import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `the table of keys` {
    private static func key(_ number: Int, app: AppNumber = 1) -> AccountKey {
        AccountKey(app: app, bytes: Array("user-\(number)".utf8))
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `the table of keys holds what a dictionary would, through growing and being undone`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = AliasTable()
        var expected: [AccountKey: AccountNumber] = [:]
        // The keys that have a place, oldest first. A removed key has account 0.
        var order: [AccountKey] = []
        for step in 1...4_000 {
            let key = Self.key(random.below(3_000), app: AppNumber(1 + random.below(2)))
            switch random.below(8) {
            case 0, 1:
                guard let last = order.popLast() else { continue }
                table.removeLast(last)
                expected[last] = nil
            case 2:
                table.remove(key)
                if expected[key] != nil { expected[key] = 0 }
            default:
                let account = AccountNumber(step)
                let before = expected.updateValue(account, forKey: key)
                #expect(table.update(key, account) == before)
                if before == nil { order.append(key) }
            }
        }
        #expect(table.count == expected.count && expected.count > 500)
        #expect(expected.values.contains(0), "some keys were removed")
        expected = expected.filter { $0.value != 0 }
        for number in 0..<3_000 {
            for app: AppNumber in 1...2 {
                let key = Self.key(number, app: app)
                #expect(table[key] == expected[key])
            }
        }
        let ofSecond = expected.keys.filter { $0.app == 2 }.map(\.bytes)
        let inOrder = ofSecond.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(table.keys(of: 2, after: [], limit: .max) == inOrder)
        #expect(table.keys(of: 2, after: inOrder[9], limit: 3) == Array(inOrder[10..<13]))
        #expect(table.keys(of: 2, after: [], limit: 0) == [])
        #expect(table.keys(of: 3, after: [], limit: 9) == [])
    }

    @Test func `the likely entry is the existing one, and missing keys have none`() {
        var table = AliasTable()
        #expect(table.likely(Self.key(1).hash) == nil)
        for number in 0..<1_000 { _ = table.update(Self.key(number), AccountNumber(number)) }
        var found = 0
        for number in 0..<1_000 {
            let hash = Self.key(number).hash
            table.prefetch(hash)
            table.prefetchAlias(hash)
            // A key that is not at its home place is not prefetched.
            if let account = table.likely(hash) {
                #expect(account == AccountNumber(number))
                found += 1
            }
        }
        #expect(found > 600, "most stand where they are looked for")
    }
}
