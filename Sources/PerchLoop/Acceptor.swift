internal import CPerchLinux
internal import Glibc
package import PerchBase
internal import Synchronization

/// How many connections the process may have, shared by the acceptors of all loops.
///
/// Sendable without a claim: one atomic number.
package final class ConnectionBudget: Sendable {
    package let limit: Int
    private let taken = Atomic<Int>(0)

    package init(limit: Int) {
        precondition(limit > 0, "a limit of \(limit) connections would refuse everybody")
        self.limit = limit
    }

    /// Descriptors of the process less those reserved for other things, and `others` besides.
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

/// Takes connections from one listener, and refuses in an orderly way when there is no room. The loop's thread.
///
/// It holds a spare descriptor. When the process has none left (EMFILE, ENFILE), it closes the spare, accepts with the
/// one that freed, says farewell, closes, and takes the spare back: otherwise the connection would stay in the backlog
/// and the listener readable for ever, which is a busy loop. The same at the budget's limit, without the spare. After a
/// refusal it rests for `Limits.acceptPauseMilliseconds`, or until `connectionClosed` tells of room.
package final class Acceptor {
    package struct Counters: Equatable, Sendable {
        package var accepted: UInt64 = 0
        /// Closed because the process or the machine had no descriptor.
        package var refusedForDescriptors: UInt64 = 0
        /// Closed because the budget was used up.
        package var refusedForLimit: UInt64 = 0
        /// Gone before they were accepted, or forbidden by a firewall.
        package var lost: UInt64 = 0
        /// How often the listener rested.
        package var pauses: UInt64 = 0

        package init() {}
    }

    package private(set) var counters = Counters()

    /// Where it listens, with the port that was given for port 0.
    package let address: SocketAddress

    private let poller: Poller
    private let tag: UInt64
    private let budget: ConnectionBudget
    private let farewell: [UInt8]
    /// -1 once closed.
    private var listener: Int32
    /// -1 while it could not be taken back.
    private var spare: Int32
    private var restsUntil: MonotonicTime?

    /// `farewell` is what a refused connection is sent, in one send, before it is closed; the peer reads it unless its
    /// own words cross it in the last moment.
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

    /// When the listener is readable. Hands over each connection, non-blocking, whose owner closes it and then calls
    /// `connectionClosed`; at most `Limits.acceptsPerTurn`, the rest comes with the next turn.
    package func ready(now: MonotonicTime, _ opened: (Int32, SocketAddress) -> Void) {
        guard self.listener >= 0, self.restsUntil == nil else { return }
        if self.accept(atMost: Limits.acceptsPerTurn, opened) == .mustRest { self.rest(from: now) }
    }

    /// In each turn of the driver: ends a rest that is over. Returns when it wants to be called next.
    package func turn(now: MonotonicTime) -> MonotonicTime? {
        if let restsUntil = self.restsUntil, restsUntil <= now { self.resume() }
        return self.restsUntil
    }

    /// A connection that came from here was closed: there is room.
    package func connectionClosed() {
        self.budget.giveBack()
        self.descriptorFreed()
    }

    /// Something else gave a descriptor back.
    package func descriptorFreed() {
        if self.restsUntil != nil { self.resume() }
    }

    /// Stops listening. Hands over what already waits, because closing a listener with SO_REUSEPORT resets its backlog;
    /// what the kernel completes between the last accept and the close is lost, and its client tries again.
    package func close(_ opened: (Int32, SocketAddress) -> Void) {
        guard self.listener >= 0 else { return }
        // Bounded, because under a flood the backlog need never be empty.
        _ = self.accept(atMost: Limits.listenBacklog, opened)
        self.leave()
    }

    /// Stops listening, and leaves what waits to whoever else holds the listener: the service manager that opened it, and
    /// through it the next process.
    package func leave() {
        guard self.listener >= 0 else { return }
        // The others' descriptors keep it in the poller unless it is taken out.
        self.poller.forget(self.listener)
        Descriptor.close(self.listener)
        self.listener = -1
        self.restsUntil = nil
        if self.spare >= 0 { Descriptor.close(self.spare) }
        self.spare = -1
    }

    private enum Outcome { case done, mustRest }

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
                    outcome = .mustRest
                }
                continue
            }
            switch Self.meaning(of: Int32(-result), on: self.address) {
            case .nobodyWaits:
                return outcome
            case .noDescriptor:
                // Linux looks for a descriptor first: this is answered even if nobody waits.
                switch self.refuseWithSpare() {
                case .refused: outcome = .mustRest
                case .nobodyWaits: return outcome
                case .cannot: return .mustRest
                }
            case .noMemory:
                return .mustRest
            case .thatOneIsGone:
                self.counters.lost += 1
            }
        }
        return outcome
    }

    private enum Refusal { case refused, nobodyWaits, cannot }

    private func refuseWithSpare() -> Refusal {
        guard self.spare >= 0 else { return .cannot }
        Descriptor.close(self.spare)
        var peer = perch_address()
        let result = SystemCall.result("accept4") { Int(perch_accept(self.listener, &peer)) }
        if result >= 0 {
            self.refuse(Int32(result))
            self.counters.refusedForDescriptors += 1
        }
        // Another thread may have been faster. Then there is no spare until `resume` finds one.
        self.spare = perch_open_null()
        guard result < 0 else { return self.spare >= 0 ? .refused : .cannot }
        switch Self.meaning(of: Int32(-result), on: self.address) {
        case .nobodyWaits: return .nobodyWaits
        case .noDescriptor, .noMemory: return .cannot
        case .thatOneIsGone:
            self.counters.lost += 1
            return .refused
        }
    }

    private enum Meaning { case nobodyWaits, noDescriptor, noMemory, thatOneIsGone }

    private static func meaning(of code: Int32, on address: SocketAddress) -> Meaning {
        switch code {
        case EAGAIN: .nobodyWaits
        case EMFILE, ENFILE: .noDescriptor
        case ENOBUFS, ENOMEM: .noMemory
        // Errors of that connection, which accept(2) says to treat as if it had never come.
        case ECONNABORTED, EPERM, EPROTO, ENOPROTOOPT, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ENONET,
            EOPNOTSUPP, ETIMEDOUT, ECONNRESET:
            .thatOneIsGone
        default: fatalError("accept4 on \(address) answered \(Errno(code)), which is no answer of a listener")
        }
    }

    private func refuse(_ fd: Int32) {
        if !self.farewell.isEmpty {
            // To close with unread input would reset the connection before the farewell is read.
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { _ = Sockets.receive(fd, into: $0) }
            self.farewell.withUnsafeBytes { _ = Sockets.send(fd, $0) }
            Sockets.shutdownWriting(fd)
        }
        Descriptor.close(fd)
    }

    private func rest(from now: MonotonicTime) {
        self.counters.pauses += 1
        self.restsUntil = now.advanced(byMilliseconds: Int64(Limits.acceptPauseMilliseconds))
        self.poller.change(self.listener, tag: self.tag, to: [])
    }

    private func resume() {
        self.restsUntil = nil
        if self.spare < 0 { self.spare = perch_open_null() }
        self.poller.change(self.listener, tag: self.tag, to: .readable)
    }
}
