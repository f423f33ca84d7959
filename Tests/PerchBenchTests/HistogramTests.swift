import PerchBase
import PerchBench
import PerchTesting
import Testing

@Suite struct `a histogram of times` {
    @Test func `a histogram of times is exact below two microseconds`() {
        var histogram = LatencyHistogram()
        for value in Int64(0)..<2_048 { histogram.record(value) }
        for value in stride(from: Int64(0), to: 2_048, by: 7) {
            #expect(histogram.value(atQuantile: Double(value + 1) / 2_048) == value)
        }
        #expect(histogram.value(atQuantile: 0) == 0)
        #expect(histogram.max == 2_047)
        #expect(histogram.count == 2_048)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a histogram of times agrees with sorted values to three digits at every percentile`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var histogram = LatencyHistogram()
        // Over eleven decades, with most values near the beginning, like real latencies.
        let values = (0..<20_000).map { _ in Int64(random.next() >> (24 + random.next() % 38)) }
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for quantile in [0.0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1] {
            let rank = max(1, Int((Double(sorted.count) * quantile).rounded(.up)))
            let exact = sorted[rank - 1]
            let found = histogram.value(atQuantile: quantile)
            #expect(found >= exact, "seed \(seed), \(quantile)")
            #expect(Double(found) <= Double(exact) * 1.001, "seed \(seed), \(quantile): \(found) for \(exact)")
        }
        #expect(histogram.value(atQuantile: 1) == sorted.last)
        #expect(histogram.mean == values.reduce(0) { $0 + Double($1) } / Double(values.count))
    }

    @Test func `merged from two halves equals that of the whole`() {
        var random = SplitMix64(seed: 7)
        var (whole, left, right) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for _ in 0..<1_000 {
            let value = Int64(random.next() >> 30)
            whole.record(value)
            if random.below(2) == 0 { left.record(value) } else { right.record(value) }
        }
        left.merge(right)
        for quantile in [0.1, 0.5, 0.99, 1] {
            #expect(left.value(atQuantile: quantile) == whole.value(atQuantile: quantile))
        }
        #expect((left.count, left.max) == (whole.count, whole.max))
    }

    @Test func `recording many ages at once equals single recordings, without moments outside the window`() {
        var random = SplitMix64(seed: 8)
        let end: Int64 = 1 << 30
        let moments: [Int64] = (0..<1_000).map { _ in Int64(random.next() >> 34) } + [-5, end, end - 1]
        var (one, all) = (LatencyHistogram(), LatencyHistogram())
        // Some of them are in the future, as if two clocks disagreed.
        let now = end / 2
        for moment in moments where moment >= 0 && moment < end { one.record(now - moment) }
        all.record(since: moments.span, in: 0..<end, until: now)
        #expect(all == one)
        all.record(since: [Int64]().span, in: 0..<1, until: now)
        #expect(all == one)
    }

    @Test func `a histogram of times is empty without values and after it was cleared`() {
        var histogram = LatencyHistogram()
        #expect(histogram.value(atQuantile: 0.5) == 0)
        histogram.record(5_000_000, times: 3)
        #expect(histogram.count == 3)
        histogram.clear()
        #expect(histogram.count == 0)
        #expect(histogram.max == 0)
        #expect(histogram.value(atQuantile: 0.99) == 0)
        #expect(histogram.mean == 0)
    }

    @Test func `a histogram of times accepts the longest time, and no negative one`() {
        var histogram = LatencyHistogram()
        histogram.record(.max)
        histogram.record(-5)
        #expect(histogram.value(atQuantile: 1) == .max)
        #expect(histogram.value(atQuantile: 0.5) == 0)
    }
}
