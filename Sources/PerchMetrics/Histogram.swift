/// A log-linear histogram with 16 buckets to each doubling, so percentiles are accurate to about 6 %.
///
/// A plain value owned by one thread: recording is two additions without a lock. Other threads ask the owner for a
/// copy.
package struct Histogram: Hashable, Sendable {
    private static let bucketsPerDoubling = 16
    private var buckets: [UInt64] = []
    package private(set) var count: UInt64 = 0
    package private(set) var sum: Double = 0
    package private(set) var max: UInt64 = 0

    package init() {}

    package mutating func record(_ value: UInt64) {
        let bucket = Self.bucket(of: value)
        if bucket >= self.buckets.count {
            self.buckets.append(contentsOf: repeatElement(0, count: bucket + 1 - self.buckets.count))
        }
        self.buckets[bucket] += 1
        self.count += 1
        self.sum += Double(value)
        self.max = Swift.max(self.max, value)
    }

    package mutating func merge(_ other: Histogram) {
        if other.buckets.count > self.buckets.count {
            self.buckets.append(contentsOf: repeatElement(0, count: other.buckets.count - self.buckets.count))
        }
        for (bucket, count) in other.buckets.enumerated() { self.buckets[bucket] += count }
        self.count += other.count
        self.sum += other.sum
        self.max = Swift.max(self.max, other.max)
    }

    /// The upper end of the bucket of the given quantile; 0 without values.
    package func value(atQuantile quantile: Double) -> UInt64 {
        guard self.count > 0 else { return 0 }
        let rank = Swift.max(1, UInt64((Double(self.count) * quantile).rounded(.up)))
        var seen: UInt64 = 0
        for (bucket, count) in self.buckets.enumerated() {
            seen += count
            if seen >= rank { return Swift.min(Self.upperEnd(of: bucket), self.max) }
        }
        return self.max
    }

    /// The number of values below a power of two. Exact, because no bucket crosses one.
    package func count(belowPowerOfTwo exponent: Int) -> UInt64 {
        let end = Swift.min(Self.bucket(of: 1 << UInt64(exponent)), self.buckets.count)
        return self.buckets[..<end].reduce(0, +)
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= UInt64(Self.bucketsPerDoubling) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let within = Int(truncatingIfNeeded: value >> UInt64(exponent - 4)) & (Self.bucketsPerDoubling - 1)
        return (exponent - 3) * Self.bucketsPerDoubling + within
    }

    private static func upperEnd(of bucket: Int) -> UInt64 {
        guard bucket >= Self.bucketsPerDoubling else { return UInt64(bucket) }
        let exponent = bucket / Self.bucketsPerDoubling + 3
        let within = UInt64(bucket % Self.bucketsPerDoubling)
        return (1 << UInt64(exponent)) + ((within + 1) << UInt64(exponent - 4)) - 1
    }
}
