public import PerchBase
import PerchWire

/// The clock of a test app.
public struct AppClockState: Hashable, Sendable {
    /// What it shows.
    public var now: Instant
    /// Whether it stands still.
    public var isFrozen: Bool
    /// Time by which it is ahead of the wall clock.
    public var offset: Duration
    /// The length of periods: a value of `TimeRate`, possibly unknown to this version.
    public var timeRate: Int32

    /// Creates a clock state from its parts, for tests.
    public init(now: Instant, isFrozen: Bool, offset: Duration, timeRate: Int32) {
        self.now = now
        self.isFrozen = isFrozen
        self.offset = offset
        self.timeRate = timeRate
    }

    init(_ clock: ClockState) {
        self.init(
            now: clock.now, isFrozen: clock.isFrozen, offset: .milliseconds(clock.offsetMilliseconds),
            timeRate: clock.timeRate)
    }
}

/// A change to the clock of a test app. It never goes backwards.
public struct ClockMove: Hashable, Sendable {
    let change: PerchWire.ClockChange

    /// Stands still.
    public static let freeze = ClockMove(change: .freeze)
    /// Lets the clock run from its instant.
    public static let resume = ClockMove(change: .resume)

    /// Advances by a duration, in whole milliseconds.
    public static func advance(by duration: Duration) -> ClockMove {
        ClockMove(change: .advanceBy(milliseconds: duration.signedMilliseconds))
    }

    /// Advances to an instant of the app's clock.
    public static func advance(to instant: Instant) -> ClockMove {
        ClockMove(change: .advanceTo(instant))
    }

    /// Advances to the next instant at which something is due for this account.
    public static func advance(toNextBoundaryOf account: String) -> ClockMove {
        ClockMove(change: .advanceToBoundary(account: account))
    }
}

/// A clock that was moved.
public struct ClockChange: Hashable, Sendable {
    /// Position of the change, after everything due up to the new instant.
    public var position: Position
    /// The clock afterwards.
    public var clock: AppClockState
    /// Number of renewal attempts settled during the advance.
    public var settledCount: UInt64
    /// Number of attempts that renewed a subscription.
    public var renewedCount: UInt64
    /// Number of attempts whose charge failed.
    public var failedCount: UInt64

    /// Creates a clock change from its parts, for tests.
    public init(
        position: Position, clock: AppClockState, settledCount: UInt64, renewedCount: UInt64 = 0,
        failedCount: UInt64 = 0
    ) {
        self.position = position
        self.clock = clock
        self.settledCount = settledCount
        self.renewedCount = renewedCount
        self.failedCount = failedCount
    }
}
