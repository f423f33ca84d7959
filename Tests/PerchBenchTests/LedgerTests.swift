import PerchBase
import PerchBench
import Testing

/// The result of a value.
private struct Outcome: Equatable {
    var intended: [Int64]
    var arrived: Int64

    init(_ intended: [Int64], arrived: Int64) { (self.intended, self.arrived) = (intended, arrived) }

    init(_ intended: borrowing Span<Int64>, _ arrived: Int64) {
        self.init(intended.indices.map { intended[$0] }, arrived: arrived)
    }
}

extension Ledger {
    @discardableResult
    fileprivate mutating func answered(_ index: Int32, revision: UInt64) -> [Outcome] {
        var all: [Outcome] = []
        self.answered(index, revision: revision) { all.append(Outcome($0, $1)) }
        return all
    }

    @discardableResult
    fileprivate mutating func value(_ watch: Int32, revision: UInt64, asOf: Int64, at arrived: Int64) -> Outcome? {
        var told: Outcome?
        self.value(watch, revision: revision, asOf: asOf, at: arrived) { told = Outcome($0, $1) }
        return told
    }
}

/// Tests single frames with their expected results.
@Suite struct `a ledger of changes and values` {
    /// Two watches of one key, both at its first change, which has revision 10.
    private static func begun() -> Ledger {
        var ledger = Ledger(keys: 1)
        let seed = ledger.begin(key: 0, intended: 0)
        ledger.answered(seed, revision: 10)
        ledger.addWatch(key: 0)
        ledger.addWatch(key: 0)
        for watch in Int32(0)..<2 { #expect(ledger.value(watch, revision: 10, asOf: 0, at: 1) == nil) }
        return ledger
    }

    private static func settled(_ ledger: Ledger) -> Ledger.Counts {
        var ledger = ledger
        ledger.settle { _ in true }
        return ledger.counts
    }

    @Test func `counts a value, and counts its change as converged once all have seen it`() {
        var ledger = Self.begun()
        let change = ledger.begin(key: 0, intended: 100)
        ledger.answered(change, revision: 11)
        let reached = ledger.value(0, revision: 11, asOf: 0, at: 150)
        #expect(reached == Outcome([100], arrived: 150))
        #expect(!ledger.isConverged(change))
        #expect(ledger.value(1, revision: 11, asOf: 0, at: 160) != nil)
        #expect(ledger.isConverged(change))
        #expect(ledger.convergedNow == 1)
        let counts = Self.settled(ledger)
        #expect((counts.deliveries, counts.converged, counts.conflated, counts.gaps) == (2, 1, 0, 0))
    }

    @Test func `a ledger of changes and values keeps a value that precedes its answer, with its own time`() {
        var ledger = Self.begun()
        let change = ledger.begin(key: 0, intended: 100)
        #expect(ledger.value(0, revision: 11, asOf: 0, at: 150) == nil)
        #expect(ledger.value(1, revision: 11, asOf: 0, at: 151) == nil)
        let reached = ledger.answered(change, revision: 11)
        #expect(Set(reached.map(\.arrived)) == [150, 151])
        #expect(reached.allSatisfy { $0.intended == [100] })
        #expect(Self.settled(ledger).foreign == 0)
    }

    @Test func `a ledger of changes and values counts skipped changes, each with the time since its planned start`() {
        var ledger = Self.begun()
        let changes = (1...3).map { ledger.begin(key: 0, intended: Int64($0) * 100) }
        for (index, change) in changes.enumerated() { ledger.answered(change, revision: 11 + UInt64(index)) }
        let reached = ledger.value(0, revision: 13, asOf: 0, at: 400)
        #expect(reached == Outcome([100, 200, 300], arrived: 400))
        #expect(ledger.counts.conflated == 2)
        ledger.value(1, revision: 13, asOf: 0, at: 400)
        #expect(changes.allSatisfy { ledger.isConverged($0) })
        #expect(Self.settled(ledger).gaps == 0)
    }

    @Test func `a ledger of changes and values counts a watch that never received the last change as a gap`() {
        var ledger = Self.begun()
        let changes = (1...2).map { ledger.begin(key: 0, intended: Int64($0)) }
        ledger.answered(changes[0], revision: 11)
        ledger.answered(changes[1], revision: 12)
        ledger.value(0, revision: 12, asOf: 0, at: 3)
        ledger.value(1, revision: 11, asOf: 0, at: 3)
        #expect(Self.settled(ledger).gaps == 1)
        // A closed connection has no gap.
        ledger.settle { $0 == 0 }
        #expect(ledger.counts.gaps == 0)
    }

    @Test func `a ledger of changes and values does not count unanswered or refused changes as missed`() {
        var ledger = Self.begun()
        let refused = ledger.begin(key: 0, intended: 1)
        ledger.failed(refused)
        #expect(ledger.isConverged(refused))
        _ = ledger.begin(key: 0, intended: 2)
        #expect(Self.settled(ledger).gaps == 0)
    }

    @Test func `a ledger of changes and values counts a refused change neither as skipped nor as delivered`() {
        var ledger = Self.begun()
        let refused = ledger.begin(key: 0, intended: 1)
        let change = ledger.begin(key: 0, intended: 2)
        ledger.failed(refused)
        ledger.answered(change, revision: 11)
        #expect(ledger.value(0, revision: 11, asOf: 0, at: 3) == Outcome([2], arrived: 3))
        #expect(ledger.counts.conflated == 0)
    }

    @Test func `a ledger of changes and values counts a change that was delivered and then refused as delivered`() {
        var ledger = Self.begun()
        let change = ledger.begin(key: 0, intended: 1)
        ledger.answered(change, revision: 11)
        ledger.failed(change)
        #expect(ledger.value(0, revision: 11, asOf: 0, at: 3) == Outcome([1], arrived: 3))
        #expect((ledger.counts.deliveries, ledger.counts.conflated, ledger.counts.converged) == (1, 0, 0))
    }

    @Test func `a ledger of changes and values does not wait for a watch whose connection is lost`() {
        var ledger = Self.begun()
        let changes = (1...2).map { ledger.begin(key: 0, intended: Int64($0)) }
        for (index, change) in changes.enumerated() { ledger.answered(change, revision: 11 + UInt64(index)) }
        ledger.value(0, revision: 11, asOf: 0, at: 3)
        ledger.leave(1)
        ledger.leave(1)
        #expect(ledger.isConverged(changes[0]) && !ledger.isConverged(changes[1]))
        #expect(ledger.convergedNow == 1)
        let later = ledger.begin(key: 0, intended: 4)
        ledger.answered(later, revision: 13)
        #expect(ledger.value(1, revision: 13, asOf: 0, at: 5) == nil)
        #expect(ledger.value(0, revision: 13, asOf: 0, at: 5) != nil)
        #expect(changes.allSatisfy { ledger.isConverged($0) } && ledger.isConverged(later))
        #expect(ledger.counts.converged == 3)
    }

    @Test func `a ledger of changes and values knows how many watches never received each change`() {
        var ledger = Self.begun()
        ledger.addWatch(key: 0)
        ledger.value(2, revision: 10, asOf: 0, at: 1)
        let changes = (1...4).map { ledger.begin(key: 0, intended: Int64($0) * 100) }
        ledger.answered(changes[0], revision: 11)
        ledger.answered(changes[1], revision: 12)
        ledger.failed(changes[2])
        ledger.value(0, revision: 12, asOf: 0, at: 3)
        ledger.value(1, revision: 11, asOf: 0, at: 3)
        func missed(_ isOpen: (Int) -> Bool) -> [Int64: UInt64] {
            var missed: [Int64: UInt64] = [:]
            ledger.eachMissed(isOpen: isOpen) { missed[$0] = $1 }
            return missed
        }
        // Watch 2 has seen none of them. The last change has no answer, and no watch received it.
        #expect(missed { _ in true } == [100: 1, 200: 2, 400: 3])
        #expect(missed { $0 == 0 } == [400: 1])
    }

    @Test func `counts a repeated position as a duplicate, an older one as a reordering`() {
        var ledger = Self.begun()
        let change = ledger.begin(key: 0, intended: 1)
        ledger.answered(change, revision: 11)
        #expect(ledger.value(0, revision: 11, asOf: 5, at: 2) != nil)
        #expect(ledger.value(0, revision: 11, asOf: 5, at: 3) == nil)
        #expect(ledger.counts.duplicates == 1)
        #expect(ledger.value(0, revision: 10, asOf: 9, at: 4) == nil)
        #expect(ledger.counts.reorderings == 1)
        // Later values are compared with the last one, as a client would.
        #expect(ledger.value(0, revision: 10, asOf: 8, at: 5) == nil)
        #expect(ledger.counts.reorderings == 2)
    }

    @Test func `a ledger of changes and values counts a later instant of the same revision as neither`() {
        var ledger = Self.begun()
        #expect(ledger.value(0, revision: 10, asOf: 1, at: 2) == nil)
        #expect((ledger.counts.duplicates, ledger.counts.reorderings, ledger.counts.deliveries) == (0, 0, 0))
    }

    @Test func `a ledger of changes and values counts a change by another client as foreign`() {
        var ledger = Self.begun()
        #expect(ledger.value(0, revision: 11, asOf: 0, at: 2) == nil)
        #expect(Self.settled(ledger).foreign == 1)
        #expect(Self.settled(ledger).deliveries == 0)
    }

    @Test func `a ledger of changes and values takes the first value of a watch as its starting point`() {
        var ledger = Ledger(keys: 1)
        ledger.addWatch(key: 0)
        // Its revision precedes the bench.
        #expect(ledger.value(0, revision: 3, asOf: 0, at: 1) == nil)
        let change = ledger.begin(key: 0, intended: 5)
        ledger.answered(change, revision: 4)
        #expect(ledger.value(0, revision: 4, asOf: 0, at: 9) == Outcome([5], arrived: 9))
        let counts = Self.settled(ledger)
        #expect((counts.deliveries, counts.conflated, counts.foreign, counts.gaps) == (1, 0, 0, 0))
    }

    @Test func `a ledger of changes and values checks resumed watches that were unchanged`() {
        var ledger = Self.begun()
        ledger.unchanged(0)
        #expect(Self.settled(ledger).gaps == 0)
        let change = ledger.begin(key: 0, intended: 5)
        ledger.answered(change, revision: 11)
        ledger.unchanged(0)
        ledger.value(1, revision: 11, asOf: 0, at: 9)
        #expect(Self.settled(ledger).gaps == 1)
    }

    /// Compares with a simple model: a list for each watch.
    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func `a ledger of changes and values agrees with plain lists on random histories`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let (keys, watches) = (3, 7)
        var ledger = Ledger(keys: keys)
        for watch in 0..<watches { ledger.addWatch(key: watch % keys) }
        var revision: UInt64 = 1
        for key in 0..<keys {
            ledger.answered(ledger.begin(key: key, intended: 0), revision: revision)
            revision += 1
        }
        for watch in 0..<watches { ledger.value(Int32(watch), revision: UInt64(watch % keys + 1), asOf: 0, at: 0) }
        var history = (0..<keys).map { [UInt64($0 + 1)] }
        var seen = (0..<watches).map { UInt64($0 % keys + 1) }
        var (deliveries, conflated): (UInt64, UInt64) = (0, 0)
        for step in 0..<2_000 {
            if random.below(3) == 0 {
                let key = random.below(keys)
                let change = ledger.begin(key: key, intended: Int64(step))
                history[key].append(revision)
                // Sometimes a watch receives the value before the answer.
                if random.below(2) == 0 {
                    let early = key + keys * random.below(2)
                    let missed = UInt64(history[key].filter { $0 > seen[early] }.count)
                    #expect(ledger.value(Int32(early), revision: revision, asOf: 0, at: Int64(step)) == nil)
                    seen[early] = revision
                    (deliveries, conflated) = (deliveries + 1, conflated + missed - 1)
                }
                ledger.answered(change, revision: revision)
                revision += 1
            } else {
                let watch = random.below(watches)
                guard let newest = history[watch % keys].last, newest > seen[watch] else { continue }
                let missed = UInt64(history[watch % keys].filter { $0 > seen[watch] }.count)
                #expect(ledger.value(Int32(watch), revision: newest, asOf: 0, at: Int64(step)) != nil, "seed \(seed)")
                seen[watch] = newest
                (deliveries, conflated) = (deliveries + 1, conflated + missed - 1)
            }
        }
        let behind = UInt64((0..<watches).filter { seen[$0] < history[$0 % keys].last ?? 0 }.count)
        let counts = Self.settled(ledger)
        #expect(counts.deliveries == deliveries, "seed \(seed)")
        #expect(counts.conflated == conflated, "seed \(seed)")
        #expect(counts.gaps == behind, "seed \(seed)")
        #expect(counts.duplicates + counts.reorderings + counts.foreign == 0, "seed \(seed)")
    }
}
