import PerchModel

/// Renewal attempts that were settled, and what became of them.
package struct RenewalCount: Hashable, Sendable {
    /// All attempts: renewed, failed, or ended because renewal was off.
    package var settled: UInt64 = 0
    package var renewed: UInt64 = 0
    /// The charge failed.
    package var failed: UInt64 = 0

    package init(settled: UInt64 = 0, renewed: UInt64 = 0, failed: UInt64 = 0) {
        self.settled = settled
        self.renewed = renewed
        self.failed = failed
    }

    mutating func count(_ attempts: [Fact]) {
        self.settled += UInt64(attempts.count)
        for attempt in attempts {
            switch attempt.body {
            case .renewed: self.renewed += 1
            case .renewalFailed: self.failed += 1
            default: break
            }
        }
    }

    static func += (sum: inout RenewalCount, other: RenewalCount) {
        sum.settled += other.settled
        sum.renewed += other.renewed
        sum.failed += other.failed
    }

    static func - (left: RenewalCount, right: RenewalCount) -> RenewalCount {
        RenewalCount(
            settled: left.settled - right.settled, renewed: left.renewed - right.renewed,
            failed: left.failed - right.failed)
    }

    static func + (left: RenewalCount, right: RenewalCount) -> RenewalCount {
        var sum = left
        sum += right
        return sum
    }
}
