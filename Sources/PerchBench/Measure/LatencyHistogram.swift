/// A histogram of times in nanoseconds with three significant digits: 1,024 buckets to each doubling.
///
/// Up to 2,047 every value has its own bucket; above, a bucket's width is a thousandth of its values. Recording is one
/// addition. It grows with the values: 33,000 counters for an hour.
package struct LatencyHistogram: Hashable, Sendable {
    private static let bucketsPerDoubling = 1_024
    private var counts: [UInt64] = []
    package private(set) var count: UInt64 = 0
    package private(set) var sum: Double = 0
    package private(set) var max: Int64 = 0

    package init() {}

    /// Negative times, caused by clocks that disagree, count as 0.
    package mutating func record(_ nanoseconds: Int64, times: UInt64 = 1) {
        guard times > 0 else { return }
        let value = Swift.max(0, nanoseconds)
        let bucket = Self.bucket(of: value)
        if bucket >= self.counts.count { self.grow(to: bucket) }
        self.counts[bucket] += times
        self.count += times
        self.sum += Double(value) * Double(times)
        self.max = Swift.max(self.max, value)
    }

    /// Records the age of each moment in `window`, in one loop over plain memory.
    package mutating func record(since moments: borrowing Span<Int64>, in window: Range<Int64>, until now: Int64) {
        var (count, sum, largest): (UInt64, Double, Int64) = (0, 0, 0)
        for index in moments.indices where window.contains(moments[index]) {
            largest = Swift.max(largest, now - moments[index])
        }
        if Self.bucket(of: largest) >= self.counts.count { self.grow(to: Self.bucket(of: largest)) }
        var counts = self.counts.mutableSpan
        for index in moments.indices where window.contains(moments[index]) {
            let value = Swift.max(0, now - moments[index])
            counts[Self.bucket(of: value)] += 1
            count += 1
            sum += Double(value)
        }
        self.count += count
        self.sum += sum
        self.max = Swift.max(self.max, largest)
    }

    private mutating func grow(to bucket: Int) {
        // Grows in whole doublings, so that it rarely happens.
        let wanted = (bucket / Self.bucketsPerDoubling + 1) * Self.bucketsPerDoubling
        self.counts.append(contentsOf: repeatElement(0, count: wanted - self.counts.count))
    }

    package mutating func merge(_ other: LatencyHistogram) {
        if other.counts.count > self.counts.count {
            self.counts.append(contentsOf: repeatElement(0, count: other.counts.count - self.counts.count))
        }
        for (bucket, count) in other.counts.enumerated() { self.counts[bucket] += count }
        self.count += other.count
        self.sum += other.sum
        self.max = Swift.max(self.max, other.max)
    }

    /// Clears the counts and keeps the memory.
    package mutating func clear() {
        for bucket in self.counts.indices { self.counts[bucket] = 0 }
        (self.count, self.sum, self.max) = (0, 0, 0)
    }

    package var mean: Double { self.count == 0 ? 0 : self.sum / Double(self.count) }

    /// The upper end of the bucket of the given quantile; 0 without values.
    package func value(atQuantile quantile: Double) -> Int64 {
        guard self.count > 0 else { return 0 }
        let rank = Swift.min(self.count, Swift.max(1, UInt64((Double(self.count) * quantile).rounded(.up))))
        var seen: UInt64 = 0
        for (bucket, count) in self.counts.enumerated() where count > 0 {
            seen += count
            if seen >= rank { return Swift.min(Self.upperEnd(of: bucket), self.max) }
        }
        return self.max
    }

    private static func bucket(of value: Int64) -> Int {
        guard value >= Int64(2 * Self.bucketsPerDoubling) else { return Int(value) }
        let shift = 53 - value.leadingZeroBitCount
        return shift * Self.bucketsPerDoubling + Int(value >> Int64(shift))
    }

    private static func upperEnd(of bucket: Int) -> Int64 {
        guard bucket >= 2 * Self.bucketsPerDoubling else { return Int64(bucket) }
        let shift = bucket / Self.bucketsPerDoubling - 1
        let within = bucket - shift * Self.bucketsPerDoubling
        // The end of the very last bucket is the largest integer.
        return (Int64(within + 1) << Int64(shift)) &- 1
    }
}
