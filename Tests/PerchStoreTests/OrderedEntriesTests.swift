import PerchBase
import PerchModel
import PerchTesting
import Testing

@testable import PerchStore

@Suite struct `entries by instant` {
    /// Few instants, so that many accounts share one, and enough entries for several pieces.
    @Test func `are those of a sorted list, whatever comes and goes`() {
        var random = SeededRandom(seed: 46)
        var entries = OrderedEntries()
        var expected: Set<DueEntry> = []
        for step in 0..<12_000 {
            let entry = DueEntry(
                instant: Instant(milliseconds: Int64(random.below(40))), account: AccountNumber(random.below(100)))
            // It grows to some 3,000 entries, and then shrinks to none.
            if random.below(4) < (step < 8_000 ? 3 : 1) {
                let (isNew, isExpected) = (entries.insert(entry), expected.insert(entry).inserted)
                #expect(isNew == isExpected)
            } else {
                let (wasThere, isExpected) = (entries.remove(entry), expected.remove(entry) != nil)
                #expect(wasThere == isExpected)
            }
            guard step % 200 == 0 else { continue }
            let sorted = expected.sorted()
            #expect(entries.first == sorted.first)
            let (through, limit) = (Instant(milliseconds: Int64(random.below(40))), random.below(400))
            #expect(
                entries.entries(through: through, limit: limit)
                    == Array(sorted.prefix { $0.instant <= through }.prefix(limit)))
            #expect(
                entries.entries(after: entry, through: through, limit: limit)
                    == Array(sorted.filter { $0 > entry && $0.instant <= through }.prefix(limit)))
            #expect(entries.entries(upTo: entry) == sorted.filter { $0 <= entry })
        }
        for entry in expected {
            let wasThere = entries.remove(entry)
            #expect(wasThere)
        }
        #expect(entries.first == nil && entries.entries(through: .distantFuture, limit: 1).isEmpty)
    }
}
