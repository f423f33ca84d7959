/// A point in time: milliseconds since the Unix epoch, UTC.
///
/// Wall clocks and app clocks both use it; each stored instant documents its clock.
public struct Instant: BitwiseCopyable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Milliseconds since the Unix epoch, without leap seconds.
    public var milliseconds: Int64

    /// Creates an instant from milliseconds since the Unix epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Later than every other instant.
    public static let distantFuture = Instant(milliseconds: .max)
    /// Earlier than every other instant.
    public static let distantPast = Instant(milliseconds: .min)

    /// Whether the left instant is earlier.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Saturates instead of overflowing: an instant past the end of time is the end of time.
    public func advanced(byMilliseconds delta: Int64) -> Instant {
        let (sum, overflow) = self.milliseconds.addingReportingOverflow(delta)
        guard overflow else { return Instant(milliseconds: sum) }
        return delta > 0 ? .distantFuture : .distantPast
    }

    /// The milliseconds from `other` to `self`, saturating.
    public func milliseconds(since other: Instant) -> Int64 {
        let (difference, overflow) = self.milliseconds.subtractingReportingOverflow(other.milliseconds)
        guard overflow else { return difference }
        return self > other ? .max : .min
    }

    public var description: String {
        switch self {
        case .distantFuture: "the end of time"
        case .distantPast: "the beginning of time"
        default: CivilTime(self).description
        }
    }
}

/// A value's place in history: the revision that last changed its data, then the app-clock instant for which it was
/// computed. Compared in that order.
public struct Position: BitwiseCopyable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Number of the change: it rises by one with each commit of the store.
    public var revision: UInt64
    /// Instant of the app's clock.
    public var asOf: Instant
    /// The epoch of the store, which changes with a restore; 0: not given. A server refuses an `atLeast` of another epoch.
    public var epoch: UInt32

    /// Creates a position from its parts.
    public init(revision: UInt64, asOf: Instant, epoch: UInt32 = 0) {
        self.revision = revision
        self.asOf = asOf
        self.epoch = epoch
    }

    /// The order within one epoch.
    public static func < (left: Position, right: Position) -> Bool {
        (left.revision, left.asOf, left.epoch) < (right.revision, right.asOf, right.epoch)
    }

    public var description: String { "\(self.revision)@\(self.asOf)" }
}
