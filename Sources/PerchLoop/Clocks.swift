internal import CPerchLinux
package import PerchBase

/// The two clocks of the machine. Cores are handed the time and never ask here.
package enum Clocks {
    /// What the calendar says. It may jump either way.
    package static func wall() -> Instant {
        Instant(milliseconds: perch_wall_milliseconds())
    }

    /// The clock that never jumps, in whole microseconds: for what is measured.
    package static func microseconds() -> UInt64 {
        UInt64(max(0, perch_boottime_nanoseconds() / 1_000))
    }

    /// What deadlines are kept in: CLOCK_BOOTTIME, which never jumps and, other than CLOCK_MONOTONIC, counts suspend.
    package static func monotonic() -> MonotonicTime {
        MonotonicTime(nanoseconds: perch_boottime_nanoseconds())
    }
}
