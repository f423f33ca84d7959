import Glibc
import PerchBase
import PerchLoop
package import PerchMetrics
import Synchronization

/// The server's log: one line an event, on standard error. Any thread may write; in practice it is the control thread's,
/// because a loop of watchers waits for nothing.
///
/// A line is never waited for: what standard error does not take at once is dropped and counted. Errors alone wait a
/// moment, for they may be the last words.
///
/// Sendable without a claim: what changes is behind `state`, or atomic.
package final class Log: Sendable {
    private let descriptor: Int32
    private let format: LogFormat
    /// As the settings have it.
    private let settledLevel: LogLevel
    /// SIGUSR1 has turned `debug` on.
    private let isVerbose = Atomic<Bool>(false)
    private let hasPriority: Bool
    private let repeats = Mutex<RepeatedEvents>(RepeatedEvents())
    private let dropped = Atomic<UInt64>(0)

    /// Milliseconds that an error waits for standard error to take it.
    private static let errorWaitMilliseconds: Int32 = 100

    package init(descriptor: Int32 = 2, format: LogFormat, level: LogLevel, hasPriority: Bool) {
        self.descriptor = descriptor
        self.format = format
        self.settledLevel = level
        self.hasPriority = hasPriority
    }

    /// As the settings say, and standard error is: logfmt on a terminal, JSON elsewhere; with priorities where journald
    /// reads it.
    package convenience init(_ settings: LogSettings, _ supervision: Supervision, descriptor: Int32 = 2) {
        let format: LogFormat
        switch settings.format {
        case .logfmt: format = .logfmt
        case .json: format = .json
        case .automatic: format = isatty(descriptor) == 1 ? .logfmt : .json
        }
        self.init(
            descriptor: descriptor, format: format, level: settings.level,
            hasPriority: supervision.journalReads(descriptor))
    }

    /// Whether lines are for programs. Then what people are told at the start is an event too.
    package var isForPrograms: Bool { self.format == .json }

    private var level: LogLevel { self.isVerbose.load(ordering: .relaxed) ? .debug : self.settledLevel }

    /// Whether connections and calls are written, too. Any thread may ask, as often as it likes.
    package var isDebug: Bool { self.level == .debug }

    /// Turns `debug` on, or back to the level of the settings; returns the level from now on.
    package func toggleDebug() -> LogLevel {
        self.isVerbose.store(!self.isVerbose.load(ordering: .relaxed), ordering: .relaxed)
        return self.level
    }

    package var linesDropped: UInt64 { self.dropped.load(ordering: .relaxed) }

    package func error(_ message: String, _ fields: LogField...) { self.write(.error, message, fields) }
    package func warning(_ message: String, _ fields: LogField...) { self.write(.warning, message, fields) }
    package func info(_ message: String, _ fields: LogField...) { self.write(.info, message, fields) }
    package func debug(_ message: String, _ fields: LogField...) { self.write(.debug, message, fields) }

    /// What may happen over and over: told once in `Limits.logRepeatMilliseconds`, with the number that was left out.
    package func repeated(_ level: LogLevel, _ message: String, _ fields: LogField...) {
        guard level <= self.level else { return }
        let now = Clocks.monotonic()
        guard let suppressed = self.repeats.withLock({ $0.shouldLog(message, now: now) }) else { return }
        self.write(level, message, suppressed > 0 ? fields + [LogField("repeated", suppressed)] : fields)
    }

    package func write(_ level: LogLevel, _ message: String, _ fields: [LogField]) {
        guard level <= self.level else { return }
        let line = LogLine.bytes(
            self.format, level: level, message: message, fields: fields, at: Clocks.wall(),
            hasPriority: self.hasPriority)
        var poll = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        let wait = level == .error ? Self.errorWaitMilliseconds : 0
        guard Glibc.poll(&poll, 1, wait) == 1, poll.revents & Int16(POLLOUT) != 0 else {
            self.dropped.add(1, ordering: .relaxed)
            return
        }
        // At most PIPE_BUF bytes: a pipe takes all of them or none.
        let count = line.withUnsafeBytes { Glibc.write(self.descriptor, $0.baseAddress, $0.count) }
        if count != line.count { self.dropped.add(1, ordering: .relaxed) }
    }
}

/// What of the log an operator can set.
package struct LogSettings: Hashable, Sendable {
    package enum Format: String, Hashable, Sendable, CaseIterable {
        /// logfmt on a terminal, JSON elsewhere.
        case automatic = "auto"
        case logfmt
        case json
    }

    package var format = Format.automatic
    package var level = LogLevel.info

    package init() {}
}
