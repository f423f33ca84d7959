internal import CPerchLinux
internal import Glibc
internal import PerchBase

/// One ready descriptor.
package struct Readiness: Equatable, Sendable {
    /// The tag under which the caller registered it.
    package var tag: UInt64
    package var readable: Bool
    package var writable: Bool
    /// Both directions are closed, by an error or regularly. It is always reported, repeatedly until the descriptor is
    /// closed.
    package var hungUp: Bool

    package init(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        self.tag = tag
        self.readable = readable
        self.writable = writable
        self.hungUp = hungUp
    }
}

/// A set of descriptors with the events to wait for: level-triggered epoll.
///
/// Belongs to one thread. Tags have no meaning here. They need a generation, because an event that was already read
/// from the kernel is still reported after its descriptor was closed.
package final class Poller {
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let readable = Interest(rawValue: 1)
        package static let writable = Interest(rawValue: 2)
    }

    private let descriptor: Descriptor
    private let events: UnsafeMutablePointer<epoll_event>
    private var count = 0

    package init() throws(SystemError) {
        let number = try SystemCall.check("epoll_create1") { Int(epoll_create1(Int32(EPOLL_CLOEXEC))) }
        self.descriptor = Descriptor(owning: Int32(number))
        self.events = .allocate(capacity: Limits.eventsPerTurn)
    }

    deinit { self.events.deallocate() }

    /// Registers a descriptor. Throws if the kernel's limit is reached.
    package func watch(_ fd: Int32, tag: UInt64, for interest: Interest) throws(SystemError) {
        _ = try SystemCall.check("epoll_ctl") { self.control(EPOLL_CTL_ADD, fd, tag, interest) }
    }

    /// Changes the interest of a descriptor. It is one system call, so callers should remember the interest and call
    /// only for a change.
    package func change(_ fd: Int32, tag: UInt64, to interest: Interest) {
        let result = SystemCall.result("epoll_ctl") { self.control(EPOLL_CTL_MOD, fd, tag, interest) }
        precondition(result == 0, "descriptor \(fd) is not watched: \(Errno(Int32(-result)))")
    }

    /// Removes a descriptor that stays open; closing a descriptor removes it automatically.
    package func forget(_ fd: Int32) {
        let result = SystemCall.result("epoll_ctl") { self.control(EPOLL_CTL_DEL, fd, 0, []) }
        precondition(result == 0, "descriptor \(fd) is not watched: \(Errno(Int32(-result)))")
    }

    /// Waits until a descriptor is ready or the time is over. Returns the number of ready ones, at most
    /// `Limits.eventsPerTurn`. The subscript reads them until the next wait. -1 waits without a timeout.
    package func wait(timeoutMilliseconds: Int) -> Int {
        let timeout = Int32(clamping: timeoutMilliseconds)
        let result = Int(epoll_wait(self.descriptor.number, self.events, Int32(Limits.eventsPerTurn), timeout))
        if result < 0 {
            // A signal ends the wait early. There is no retry: the caller reads the clock again.
            precondition(errno == EINTR, "epoll_wait failed with \(Errno(errno))")
        }
        self.count = max(0, result)
        return self.count
    }

    package subscript(index: Int) -> Readiness {
        precondition(index >= 0 && index < self.count, "event \(index) of \(self.count)")
        let ready = perch_ready_at(self.events, Int32(truncatingIfNeeded: index))
        return Readiness(
            tag: ready.tag, readable: ready.readable, writable: ready.writable, hungUp: ready.hung_up)
    }

    private func control(_ operation: Int32, _ fd: Int32, _ tag: UInt64, _ interest: Interest) -> Int {
        Int(
            perch_epoll_control(
                self.descriptor.number, operation, fd, tag, interest.contains(.readable),
                interest.contains(.writable)))
    }
}
