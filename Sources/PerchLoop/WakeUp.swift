internal import CPerchLinux
internal import Glibc

/// Ends the sleep of a loop from any thread.
///
/// Sendable without a claim: a number that never changes; the kernel does the rest.
package final class WakeUp: Sendable {
    /// Readable from the first signal until `clear`.
    package let number: Int32

    package init() throws(SystemError) {
        self.number = Int32(try SystemCall.check("eventfd") { Int(perch_eventfd()) })
    }

    deinit { Descriptor.close(self.number) }

    /// Any thread. One system call; callers signal once for a batch.
    package func signal() {
        var one: UInt64 = 1
        // EAGAIN would mean 2^64 - 2 signals that nobody cleared: the loop is awake then.
        _ = SystemCall.result("write to eventfd") { write(self.number, &one, 8) }
    }

    /// The loop's thread. Takes all signals so far, and says how many they were.
    @discardableResult
    package func clear() -> UInt64 {
        var signals: UInt64 = 0
        let result = SystemCall.result("read of eventfd") { read(self.number, &signals, 8) }
        return result == 8 ? signals : 0
    }
}
