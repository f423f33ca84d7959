import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `keys in order` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `pages are those of a sorted list, with keys added and taken back`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (list, ordered) = ([[UInt8]](), OrderedKeys())
        for step in 0..<2_000 {
            let key = (0..<Int(1 + random.next() % 4)).map { _ in UInt8(random.next() % 40) }
            guard !list.contains(key) else { continue }
            list.append(key)
            let keys = list
            ordered.insert(Int32(keys.count - 1), key) { keys[Int($0)] }
            if step % 3 == 0 {
                ordered.remove(key) { keys[Int($0)] }
                list.removeLast()
            }
        }
        let (keys, sorted) = (list, list.sorted { $0.lexicographicallyPrecedes($1) })
        for after in [[], [0], [7, 7], [39, 39, 39, 39], sorted[500], sorted[sorted.count - 1]] as [[UInt8]] {
            var page: [[UInt8]] = []
            ordered.forEach(after: after, in: { keys[Int($0)] }) {
                page.append(keys[Int($0)])
                return page.count < 700
            }
            #expect(page == Array(sorted.filter { after.lexicographicallyPrecedes($0) }.prefix(700)))
        }
    }

    /// Counting the subscriptions of a store in memory sorted all keys for every 32 accounts: with a million, it served nobody else.
    @Test func `a page looks at few keys, however many there are`() {
        let keys = (0..<20_000).map { Array("account-\($0)".utf8) }
        var ordered = OrderedKeys()
        for (number, key) in keys.enumerated() { ordered.insert(Int32(number), key) { keys[Int($0)] } }
        var (looked, found) = (0, 0)
        ordered.forEach(
            after: Array("account-5".utf8),
            in: { index in
                looked += 1
                return keys[Int(index)]
            }
        ) { _ in
            found += 1
            return found < 32
        }
        #expect(found == 32)
        #expect(looked < 40)
    }
}
