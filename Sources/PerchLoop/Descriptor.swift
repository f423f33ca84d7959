internal import CPerchLinux
internal import Glibc

/// A file descriptor with one owner: it cannot be copied and is closed exactly once.
///
/// Used for listeners, pollers and similar. Tables of connections hold plain numbers, taken by `release`, and close
/// them with `Sockets.close`.
package struct Descriptor: ~Copyable {
    package let number: Int32

    /// Takes ownership of `number`. No other code may close it.
    package init(owning number: Int32) {
        precondition(number >= 0, "\(number) is not a descriptor")
        self.number = number
    }

    deinit { Self.close(self.number) }

    /// Returns the number and passes the duty to close it to the caller.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// Closes without a retry on EINTR: Linux has already closed it, and another thread may own the number. Other
    /// errors report lost disk data, and no descriptor here belongs to a file on disk. EBADF is a bug in Perch, and
    /// traps.
    static func close(_ number: Int32) {
        let result = Glibc.close(number)
        precondition(result == 0 || errno != EBADF, "descriptor \(number) was closed twice")
    }
}

/// The process's limit of file descriptors.
package enum DescriptorLimit {
    package static var current: Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        let result = perch_descriptor_limit(&soft, &hard)
        precondition(result == 0, "getrlimit refused RLIMIT_NOFILE")
        return Int(clamping: soft)
    }

    /// Raises the soft limit to the hard limit, which needs no privilege, and returns the new limit.
    @discardableResult
    package static func raise() -> Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        let result = perch_descriptor_limit(&soft, &hard)
        precondition(result == 0, "getrlimit refused RLIMIT_NOFILE")
        // Refused only if the hard limit exceeds fs.nr_open; then the soft limit is unchanged.
        if soft < hard { _ = perch_set_descriptor_limit(hard, hard) }
        return Self.current
    }
}
