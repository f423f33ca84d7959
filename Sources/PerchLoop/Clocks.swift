internal import CPerchLinux
package import PerchBase

/// The machine's two clocks. Cores get the time as an argument and never call this.
package enum Clocks {
    /// The wall clock. It may jump in either direction.
    package static func wall() -> Instant {
        Instant(milliseconds: perch_wall_milliseconds())
    }

    /// The monotonic clock in whole microseconds, for measurements.
    package static func microseconds() -> UInt64 {
        UInt64(max(0, perch_boottime_nanoseconds() / 1_000))
    }

    /// The clock for deadlines: CLOCK_BOOTTIME, which never jumps and counts suspend, unlike CLOCK_MONOTONIC.
    package static func monotonic() -> MonotonicTime {
        MonotonicTime(nanoseconds: perch_boottime_nanoseconds())
    }
}
