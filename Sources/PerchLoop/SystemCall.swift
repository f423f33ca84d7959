internal import Glibc

/// Wraps every system call: retries after a signal, and traps on errors that are always bugs in Perch.
package enum SystemCall {
    /// Returns the result of `call`, or the negative error number. `call` must return -1 and set errno on failure.
    ///
    /// Traps on EBADF, ENOTSOCK and EFAULT. A closed descriptor may already be another client's connection, so
    /// continuing could send data to the wrong customer.
    @inline(__always)
    package static func result(_ name: StaticString, _ call: () -> Int) -> Int {
        while true {
            let value = call()
            if value >= 0 { return value }
            let code = Glibc.errno
            if code == EINTR { continue }
            if code == EBADF || code == EFAULT || code == ENOTSOCK { Self.trap(name, code) }
            return -Int(code)
        }
    }

    /// Returns the result of `call`; throws every error except interruptions and bugs in Perch.
    @inline(__always)
    package static func check(
        _ name: StaticString, about subject: @autoclosure () -> String = "", _ call: () -> Int
    ) throws(SystemError) -> Int {
        let value = Self.result(name, call)
        guard value < 0 else { return value }
        throw SystemError(call: "\(name)", subject: subject(), errno: Errno(Int32(-value)))
    }

    @inline(never)
    private static func trap(_ name: StaticString, _ code: Int32) -> Never {
        fatalError("\(name) failed with \(Errno(code)): a descriptor or a buffer was used after it was closed or freed")
    }
}

/// A Linux error number with its description.
package struct Errno: Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    package init(_ code: Int32) {
        self.code = code
    }

    package static let connectionReset = Errno(ECONNRESET)
    package static let connectionRefused = Errno(ECONNREFUSED)
    package static let brokenPipe = Errno(EPIPE)
    package static let timedOut = Errno(ETIMEDOUT)
    package static let addressInUse = Errno(EADDRINUSE)
    package static let processDescriptorsExhausted = Errno(EMFILE)
    package static let systemDescriptorsExhausted = Errno(ENFILE)

    /// `Connection refused (errno 111)`.
    package var description: String {
        "\(String(cString: strerror(self.code))) (errno \(self.code))"
    }
}

/// A system call that failed for a reason outside this program.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let call: String
    /// The subject of the call, such as an address. May be empty.
    package let subject: String
    package let errno: Errno

    package init(call: String, subject: String = "", errno: Errno) {
        self.call = call
        self.subject = subject
        self.errno = errno
    }

    /// The call, its subject, the error, and the next step.
    package var description: String {
        let subject = self.subject.isEmpty ? "" : " \(self.subject)"
        return "\(self.call)\(subject): \(self.errno); \(self.advice)"
    }

    private var advice: String {
        switch self.errno.code {
        case EADDRINUSE: "another process has this address: stop it, or choose another address or port"
        case EADDRNOTAVAIL: "this machine has no such address, or no local port is left: choose another address"
        case EACCES, EPERM: "not allowed: a port below 1024 needs CAP_NET_BIND_SERVICE, so choose a higher one"
        case EAFNOSUPPORT: "this address family is switched off here: for IPv4 only, write 0.0.0.0 or 127.0.0.1"
        case ECONNREFUSED: "no process listens there: check that the server runs, and check the port"
        case EHOSTUNREACH, ENETUNREACH, ETIMEDOUT: "no route to that address: check the address and the network"
        case EMFILE: "this process has no descriptors left: raise its limit (ulimit -n, LimitNOFILE)"
        case ENFILE: "this machine has no descriptors left: raise fs.file-max"
        case ENOSPC: "too many watched descriptors for this user: raise fs.epoll.max_user_watches"
        case ENOMEM, ENOBUFS: "the kernel is out of memory: lower the number of connections"
        case EAGAIN: "the limit of threads or memory is reached: raise it (ulimit -u, TasksMax)"
        default: "see errno(3)"
        }
    }
}
