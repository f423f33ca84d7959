/// A point on a clock that never jumps and counts suspend: nanoseconds of CLOCK_BOOTTIME, or of a test's clock.
///
/// Used for deadlines. It has no relation to the date, and is meaningless on another machine or after a restart. All
/// arithmetic saturates: a deadline past the end of time never fires.
package struct MonotonicTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static let zero = MonotonicTime(nanoseconds: 0)
    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package func advanced(byNanoseconds delta: Int64) -> MonotonicTime {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(delta)
        return MonotonicTime(nanoseconds: overflow ? (delta > 0 ? .max : .min) : sum)
    }

    package func advanced(byMilliseconds delta: Int64) -> MonotonicTime {
        let (product, overflow) = delta.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return MonotonicTime(nanoseconds: delta > 0 ? .max : .min) }
        return self.advanced(byNanoseconds: product)
    }

    package func advanced(bySeconds delta: Int64) -> MonotonicTime {
        let (product, overflow) = delta.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return MonotonicTime(nanoseconds: delta > 0 ? .max : .min) }
        return self.advanced(byNanoseconds: product)
    }

    package func nanoseconds(since other: MonotonicTime) -> Int64 {
        let (difference, overflow) = self.nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return overflow ? (self > other ? .max : .min) : difference
    }

    /// Whole milliseconds from `other` to `self`, towards zero.
    package func milliseconds(since other: MonotonicTime) -> Int64 {
        self.nanoseconds(since: other) / 1_000_000
    }

    /// Whole seconds since the clock started, rounded down: the unit of `TimerWheel`.
    package var wholeSeconds: Int64 {
        let (quotient, remainder) = self.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    package var description: String { "\(self.nanoseconds) ns" }
}
