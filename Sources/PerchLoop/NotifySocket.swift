internal import CPerchLinux
internal import Glibc

/// Reports the service's state to a service manager: systemd's `NOTIFY_SOCKET`, without its library.
///
/// https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
package final class NotifySocket: Sendable {
    /// An absolute path, or `@` and the name of an abstract socket.
    package let path: String
    private let number: Int32

    /// Nil unless `path` is an absolute path or an abstract name, for example for a `vsock:` address.
    package init?(path: String) {
        guard path.hasPrefix("/") || path.hasPrefix("@"), path.utf8.count > 1 else { return nil }
        let result = SystemCall.result("socket") { Int(perch_datagram_socket()) }
        guard result >= 0 else { return nil }
        self.path = path
        self.number = Int32(result)
    }

    deinit { Descriptor.close(self.number) }

    /// Reports that settings are being reloaded, until the next `READY=1`. The manager expects a CLOCK_MONOTONIC
    /// timestamp.
    package func sendReloading() {
        let microseconds = perch_clock_nanoseconds(CLOCK_MONOTONIC) / 1_000
        self.send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }

    /// Sends one datagram of lines such as `READY=1`. Returns false on failure; callers may ignore that, because the
    /// service must run without its manager too.
    @discardableResult
    package func send(_ lines: [String]) -> Bool {
        let message = Array(lines.joined(separator: "\n").utf8)
        let path = Array(self.path.utf8CString.dropLast())
        let result = SystemCall.result("sendto") {
            path.withUnsafeBufferPointer { name in
                message.withUnsafeBytes {
                    perch_send_datagram(self.number, name.baseAddress, name.count, $0.baseAddress, $0.count)
                }
            }
        }
        return result == message.count
    }
}
