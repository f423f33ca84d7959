internal import CPerchLinux
internal import Glibc
package import PerchBase
internal import Synchronization

/// The number of connections that the process may have, shared by the acceptors of all loops.
///
/// Sendable without `@unchecked`: its state is one atomic number.
package final class ConnectionBudget: Sendable {
    package let limit: Int
    private let taken = Atomic<Int>(0)

    package init(limit: Int) {
        precondition(limit > 0, "a limit of \(limit) connections would refuse every client")
        self.limit = limit
    }

    /// The process's descriptor limit, minus `Limits.descriptorsReserved` and `others`.
    package static func ofProcess(keeping others: Int = 0) -> ConnectionBudget {
        ConnectionBudget(limit: max(1, DescriptorLimit.current - Limits.descriptorsReserved - others))
    }

    package var count: Int { self.taken.load(ordering: .relaxed) }

    func take() -> Bool {
        let (_, count) = self.taken.add(1, ordering: .relaxed)
        guard count > self.limit else { return true }
        self.taken.subtract(1, ordering: .relaxed)
        return false
    }

    func giveBack() {
        let (_, count) = self.taken.subtract(1, ordering: .relaxed)
        precondition(count >= 0, "more connections ended than were accepted")
    }
}

/// Accepts connections from one listener and refuses them cleanly at a limit. Runs on the loop's thread.
///
/// It holds a spare descriptor. When the process has none left (EMFILE, ENFILE), it closes the spare, accepts with the
/// freed one, sends the farewell, closes, and reopens the spare. Otherwise the connection would stay in the backlog and
/// keep the listener readable, which is a busy loop.
///
/// At the budget's limit it refuses the same way without the spare. After a refusal it pauses for
/// `Limits.acceptPauseMilliseconds`, or until `connectionClosed` reports free capacity.
package final class Acceptor {
    package struct Counters: Equatable, Sendable {
        package var accepted: UInt64 = 0
        /// Closed because the process or the machine had no free descriptor.
        package var refusedForDescriptors: UInt64 = 0
        /// Closed because the connection budget was exhausted.
        package var refusedForLimit: UInt64 = 0
        /// Closed by the peer before accept, or rejected by a firewall.
        package var lost: UInt64 = 0
        /// Number of times the listener paused.
        package var pauses: UInt64 = 0

        package init() {}
    }

    package private(set) var counters = Counters()

    /// The listening address, with the real port instead of port 0.
    package let address: SocketAddress

    private let poller: Poller
    private let tag: UInt64
    private let budget: ConnectionBudget
    private let farewell: [UInt8]
    /// -1 once closed.
    private var listener: Int32
    /// -1 while reopening it fails.
    private var spare: Int32
    private var pausedUntil: MonotonicTime?

    /// Starts to accept on `listener`. Each refused connection receives `farewell` in one send before it is closed. The
    /// peer reads it unless it sends data at the last moment.
    package init(
        _ listener: consuming Descriptor, tag: UInt64, on poller: Poller, budget: ConnectionBudget,
        farewell: [UInt8] = []
    ) throws(SystemError) {
        self.address = Sockets.localAddress(listener.number)
        self.poller = poller
        self.tag = tag
        self.budget = budget
        self.farewell = farewell
        let spare = Descriptor(owning: Int32(try SystemCall.check("open /dev/null") { Int(perch_open_null()) }))
        try poller.watch(listener.number, tag: tag, for: .readable)
        self.spare = spare.release()
        self.listener = listener.release()
    }

    deinit {
        if self.listener >= 0 { Descriptor.close(self.listener) }
        if self.spare >= 0 { Descriptor.close(self.spare) }
    }

    /// Accepts connections when the listener is readable: at most `Limits.acceptsPerTurn`, the rest in the next
    /// iteration. `opened` receives each non-blocking connection; its owner must close it and then call
    /// `connectionClosed`.
    package func ready(now: MonotonicTime, _ opened: (Int32, SocketAddress) -> Void) {
        guard self.listener >= 0, self.pausedUntil == nil else { return }
        if self.accept(atMost: Limits.acceptsPerTurn, opened) == .mustPause { self.pause(from: now) }
    }

    /// Ends an expired pause. The driver calls it in each iteration. Returns the time of the next call it needs.
    package func turn(now: MonotonicTime) -> MonotonicTime? {
        if let pausedUntil = self.pausedUntil, pausedUntil <= now { self.resume() }
        return self.pausedUntil
    }

    /// Reports that a connection of this acceptor was closed, which frees capacity.
    package func connectionClosed() {
        self.budget.giveBack()
        self.descriptorFreed()
    }

    /// Reports that another descriptor of the process was closed.
    package func descriptorFreed() {
        if self.pausedUntil != nil { self.resume() }
    }

    /// Stops listening. First accepts the backlog, because closing a listener with SO_REUSEPORT resets it. A connection
    /// that the kernel completes between the last accept and the close is lost; its client retries.
    package func close(_ opened: (Int32, SocketAddress) -> Void) {
        guard self.listener >= 0 else { return }
        // Bounded, because the backlog may never become empty under a flood.
        _ = self.accept(atMost: Limits.listenBacklog, opened)
        self.leave()
    }

    /// Stops listening and leaves the backlog to other holders of the listener: the service manager that opened it, and
    /// through it the next process.
    package func leave() {
        guard self.listener >= 0 else { return }
        // The other holders' descriptors would keep the listener in the poller.
        self.poller.forget(self.listener)
        Descriptor.close(self.listener)
        self.listener = -1
        self.pausedUntil = nil
        if self.spare >= 0 { Descriptor.close(self.spare) }
        self.spare = -1
    }

    private enum Outcome { case done, mustPause }

    private func accept(atMost limit: Int, _ opened: (Int32, SocketAddress) -> Void) -> Outcome {
        var outcome = Outcome.done
        for _ in 0..<limit {
            var peer = perch_address()
            let result = SystemCall.result("accept4") { Int(perch_accept(self.listener, &peer)) }
            if result >= 0 {
                let fd = Int32(result)
                if self.budget.take() {
                    self.counters.accepted += 1
                    opened(fd, SocketAddress(peer))
                } else {
                    self.refuse(fd)
                    self.counters.refusedForLimit += 1
                    outcome = .mustPause
                }
                continue
            }
            switch Self.meaning(of: Int32(-result), on: self.address) {
            case .backlogIsEmpty:
                return outcome
            case .noDescriptor:
                // Linux allocates the descriptor first, so it returns this error even with an empty backlog.
                switch self.refuseWithSpare() {
                case .refused: outcome = .mustPause
                case .backlogIsEmpty: return outcome
                case .cannot: return .mustPause
                }
            case .noMemory:
                return .mustPause
            case .connectionIsGone:
                self.counters.lost += 1
            }
        }
        return outcome
    }

    private enum Refusal { case refused, backlogIsEmpty, cannot }

    private func refuseWithSpare() -> Refusal {
        guard self.spare >= 0 else { return .cannot }
        Descriptor.close(self.spare)
        var peer = perch_address()
        let result = SystemCall.result("accept4") { Int(perch_accept(self.listener, &peer)) }
        if result >= 0 {
            self.refuse(Int32(result))
            self.counters.refusedForDescriptors += 1
        }
        // Another thread may have taken the descriptor. Then `resume` tries again to open the spare.
        self.spare = perch_open_null()
        guard result < 0 else { return self.spare >= 0 ? .refused : .cannot }
        switch Self.meaning(of: Int32(-result), on: self.address) {
        case .backlogIsEmpty: return .backlogIsEmpty
        case .noDescriptor, .noMemory: return .cannot
        case .connectionIsGone:
            self.counters.lost += 1
            return .refused
        }
    }

    private enum Meaning { case backlogIsEmpty, noDescriptor, noMemory, connectionIsGone }

    private static func meaning(of code: Int32, on address: SocketAddress) -> Meaning {
        switch code {
        case EAGAIN: .backlogIsEmpty
        case EMFILE, ENFILE: .noDescriptor
        case ENOBUFS, ENOMEM: .noMemory
        // Errors of the single connection, which accept(2) says to treat as transient.
        case ECONNABORTED, EPERM, EPROTO, ENOPROTOOPT, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ENONET,
            EOPNOTSUPP, ETIMEDOUT, ECONNRESET:
            .connectionIsGone
        default: fatalError("accept4 on \(address) failed with \(Errno(code)), which a listener never returns")
        }
    }

    private func refuse(_ fd: Int32) {
        if !self.farewell.isEmpty {
            // Closing with unread input would reset the connection before the peer reads the farewell.
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { _ = Sockets.receive(fd, into: $0) }
            self.farewell.withUnsafeBytes { _ = Sockets.send(fd, $0) }
            Sockets.shutdownWriting(fd)
        }
        Descriptor.close(fd)
    }

    private func pause(from now: MonotonicTime) {
        self.counters.pauses += 1
        self.pausedUntil = now.advanced(byMilliseconds: Int64(Limits.acceptPauseMilliseconds))
        self.poller.change(self.listener, tag: self.tag, to: [])
    }

    private func resume() {
        self.pausedUntil = nil
        if self.spare < 0 { self.spare = perch_open_null() }
        self.poller.change(self.listener, tag: self.tag, to: .readable)
    }
}
