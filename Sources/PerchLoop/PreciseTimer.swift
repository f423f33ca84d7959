internal import CPerchLinux
internal import Glibc
package import PerchBase

/// Ends a loop's sleep at an instant, to some tens of microseconds. epoll's own timeout counts whole milliseconds.
///
/// Costs a system call for each instant that is set, and a descriptor: for load that keeps to a schedule.
package final class PreciseTimer {
    private let descriptor: Descriptor
    private var instant: MonotonicTime?

    /// The poller tells its expiry under `tag`.
    package init(on poller: Poller, tag: UInt64) throws(SystemError) {
        let number = try SystemCall.check("timerfd_create") { Int(perch_timerfd()) }
        self.descriptor = Descriptor(owning: Int32(number))
        try poller.watch(self.descriptor.number, tag: tag, for: .readable)
    }

    /// When to wake; one that is over wakes at once, nil never. Asks the kernel only for a change.
    package func set(_ instant: MonotonicTime?) {
        guard instant != self.instant else { return }
        self.instant = instant
        // 0 would mean never, so what lies at the beginning of time or before is set to its first nanosecond.
        let nanoseconds = instant.map { max(1, $0.nanoseconds) } ?? 0
        let result = SystemCall.result("timerfd_settime") {
            Int(perch_timerfd_set(self.descriptor.number, nanoseconds))
        }
        precondition(result == 0, "timerfd_settime answered \(Errno(Int32(-result)))")
    }

    /// To be called when it was told: it stays readable otherwise. The next `set` is asked for again.
    package func clear() {
        var count: UInt64 = 0
        // EAGAIN is a race with a `set` of the same turn.
        _ = SystemCall.result("read of timerfd") { read(self.descriptor.number, &count, 8) }
        self.instant = nil
    }
}
