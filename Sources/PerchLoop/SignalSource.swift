internal import CPerchLinux
internal import Glibc

/// What an operator or the service manager asks of the process.
package enum StopSignal: Equatable, Sendable {
    /// SIGTERM: drain, then leave.
    case terminate
    /// SIGINT, Ctrl-C.
    case interrupt
    /// SIGHUP: read again what may have changed.
    case hangUp
}

/// Turns signals into events of one loop: signalfd instead of a handler, in which next to nothing is allowed.
///
/// A child process inherits the blocked signals; whoever starts one sets its mask anew.
package final class SignalSource {
    /// Readable while a signal waits.
    private let descriptor: Descriptor

    /// Call first thing in `main`, before any thread is started: threads inherit what is blocked, and one thread that
    /// does not block them would die of the signal, and the process with it.
    ///
    /// Also ignores SIGPIPE: a peer that is gone is an answer of `send`, not the end of the process.
    package static func block() {
        let result = perch_block_stop_signals()
        precondition(result == 0, "pthread_sigmask answered \(Errno(result))")
    }

    /// Whether whoever started this process wants it to go on regardless of that signal, as nohup does.
    package static func isIgnored(_ number: Int32) -> Bool { perch_is_ignored(number) }

    /// Traps if `block` was not called.
    package init(on poller: Poller, tag: UInt64) throws(SystemError) {
        precondition(perch_stop_signals_are_blocked(), "call SignalSource.block() before any thread is started")
        let number = try SystemCall.check("signalfd") { Int(perch_signalfd()) }
        self.descriptor = Descriptor(owning: Int32(number))
        try poller.watch(self.descriptor.number, tag: tag, for: .readable)
    }

    /// The next signal that waits; call until nil. Several of a kind may have become one.
    package func next() -> StopSignal? {
        let number = self.descriptor.number
        switch SystemCall.result("read of signalfd", { Int(perch_next_signal(number)) }) {
        case Int(SIGTERM): return .terminate
        case Int(SIGINT): return .interrupt
        case Int(SIGHUP): return .hangUp
        case -Int(EAGAIN): return nil
        case let other: fatalError("signalfd answered \(other), which was not asked for")
        }
    }
}
