internal import CPerchLinux
internal import Glibc
package import PerchBase

/// Ends a loop's sleep at an instant, accurate to some tens of microseconds. epoll's own timeout counts whole
/// milliseconds.
///
/// Costs a descriptor, and a system call for each instant that is set. Used for load that follows a schedule.
package final class PreciseTimer {
    private let descriptor: Descriptor
    private var instant: MonotonicTime?

    /// Registers the timer; the poller reports its expiry under `tag`.
    package init(on poller: Poller, tag: UInt64) throws(SystemError) {
        let number = try SystemCall.check("timerfd_create") { Int(perch_timerfd()) }
        self.descriptor = Descriptor(owning: Int32(number))
        try poller.watch(self.descriptor.number, tag: tag, for: .readable)
    }

    /// Sets the wake-up time. A past instant wakes at once; nil disarms. Calls the kernel only for a change.
    package func set(_ instant: MonotonicTime?) {
        guard instant != self.instant else { return }
        self.instant = instant
        // 0 would disarm the timer, so earlier instants are set to the first nanosecond.
        let nanoseconds = instant.map { max(1, $0.nanoseconds) } ?? 0
        let result = SystemCall.result("timerfd_settime") {
            Int(perch_timerfd_set(self.descriptor.number, nanoseconds))
        }
        precondition(result == 0, "timerfd_settime answered \(Errno(Int32(-result)))")
    }

    /// Clears an expiry; it must be called for each one, because the timer stays readable otherwise. The next `set`
    /// calls the kernel again.
    package func clear() {
        var count: UInt64 = 0
        // EAGAIN is a race with a `set` in the same iteration.
        _ = SystemCall.result("read of timerfd") { read(self.descriptor.number, &count, 8) }
        self.instant = nil
    }
}
