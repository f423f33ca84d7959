internal import CPerchLinux
internal import Glibc

/// A descriptor with one owner: it cannot be copied, and is closed exactly once.
///
/// For listeners, pollers and the like. Tables of connections hold plain numbers instead, taken by `release`, and
/// close them by `Sockets.close`.
package struct Descriptor: ~Copyable {
    package let number: Int32

    /// Takes over `number`, which nobody else closes from now on.
    package init(owning number: Int32) {
        precondition(number >= 0, "\(number) is not a descriptor")
        self.number = number
    }

    deinit { Self.close(self.number) }

    /// Gives the number away, and with it the duty to close it.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// Not retried on EINTR: Linux has closed it then, and the number may already be another's. Other errors tell of
    /// data lost on the way to a disk; no descriptor here leads to one. EBADF is our bug, and traps.
    static func close(_ number: Int32) {
        let result = Glibc.close(number)
        precondition(result == 0 || errno != EBADF, "descriptor \(number) was closed twice")
    }
}

/// How many descriptors this process may have.
package enum DescriptorLimit {
    package static var current: Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        let result = perch_descriptor_limit(&soft, &hard)
        precondition(result == 0, "getrlimit refused RLIMIT_NOFILE")
        return Int(clamping: soft)
    }

    /// Raises the soft limit to the hard one, which needs no privilege, and says how many descriptors that makes.
    @discardableResult
    package static func raise() -> Int {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        let result = perch_descriptor_limit(&soft, &hard)
        precondition(result == 0, "getrlimit refused RLIMIT_NOFILE")
        // Refused only where the hard limit exceeds fs.nr_open; the soft limit then stays as it was.
        if soft < hard { _ = perch_set_descriptor_limit(hard, hard) }
        return Self.current
    }
}
