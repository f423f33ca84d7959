internal import CPerchLinux
internal import Glibc

/// Ends a loop's sleep from any thread.
///
/// Sendable without `@unchecked`: its state is a number that never changes.
package final class WakeUp: Sendable {
    /// Readable from the first signal until `clear`.
    package let number: Int32

    package init() throws(SystemError) {
        self.number = Int32(try SystemCall.check("eventfd") { Int(perch_eventfd()) })
    }

    deinit { Descriptor.close(self.number) }

    /// Wakes the loop with one system call; callers signal once for a batch. Any thread may call it.
    package func signal() {
        var one: UInt64 = 1
        // EAGAIN would mean 2^64 - 2 uncleared signals; the loop is awake then.
        _ = SystemCall.result("write to eventfd") { write(self.number, &one, 8) }
    }

    /// Clears all signals and returns their number. Only the loop's thread may call it.
    @discardableResult
    package func clear() -> UInt64 {
        var signals: UInt64 = 0
        let result = SystemCall.result("read of eventfd") { read(self.number, &signals, 8) }
        return result == 8 ? signals : 0
    }
}
