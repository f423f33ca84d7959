internal import CPerchLinux
internal import Glibc

/// A signal from an operator or the service manager.
package enum StopSignal: Equatable, Sendable {
    /// SIGTERM: drain, then exit.
    case terminate
    /// SIGINT, Ctrl-C.
    case interrupt
    /// SIGHUP: reload settings.
    case hangUp
    /// SIGUSR1: log more, or as before.
    case user1
}

/// Turns signals into events of one loop. It uses signalfd, because a signal handler may do next to nothing.
///
/// A child process inherits the blocked signals, so its starter must set the child's mask.
package final class SignalSource {
    /// Readable while a signal is pending.
    private let descriptor: Descriptor

    /// Blocks the signals. Call it in `main` before any thread starts: threads inherit the mask, and an unblocked
    /// thread would let the signal kill the process.
    ///
    /// Also ignores SIGPIPE, because `send` reports a closed peer as an error.
    package static func block() {
        let result = perch_block_stop_signals()
        precondition(result == 0, "pthread_sigmask failed with \(Errno(result))")
    }

    /// Ends the process by its signal if it was told to stop before anything listens for that. `farewell` comes first.
    package static func endIfStopped(_ farewell: () -> Void) {
        guard perch_stop_waits() else { return }
        farewell()
        perch_unblock_stop_signals()
    }

    /// Whether this process was started with the signal ignored, as nohup does.
    package static func isIgnored(_ number: Int32) -> Bool { perch_is_ignored(number) }

    /// Traps unless `block` was called.
    package init(on poller: Poller, tag: UInt64) throws(SystemError) {
        precondition(perch_stop_signals_are_blocked(), "call SignalSource.block() before any thread is started")
        let number = try SystemCall.check("signalfd") { Int(perch_signalfd()) }
        self.descriptor = Descriptor(owning: Int32(number))
        try poller.watch(self.descriptor.number, tag: tag, for: .readable)
    }

    /// Returns the next pending signal; call it until it returns nil. Several signals of a kind may have merged into
    /// one.
    package func next() -> StopSignal? {
        let number = self.descriptor.number
        switch SystemCall.result("read of signalfd", { Int(perch_next_signal(number)) }) {
        case Int(SIGTERM): return .terminate
        case Int(SIGINT): return .interrupt
        case Int(SIGHUP): return .hangUp
        case Int(SIGUSR1): return .user1
        case -Int(EAGAIN): return nil
        case let other: fatalError("signalfd returned \(other), which is not a blocked signal")
        }
    }
}
