import Glibc
import PerchBase
import PerchLoop
package import PerchMetrics
import Synchronization

/// The server's log: one line an event, on standard error. Any thread may write. In practice it is the control thread,
/// because a loop must never wait.
///
/// Writing never waits: a line that standard error does not accept at once is dropped and counted. Only errors wait a
/// moment, because they may be the last lines.
///
/// Sendable without a claim: the mutable state is behind `state`, or atomic.
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

    /// Chooses the format by settings and standard error: logfmt on a terminal, JSON elsewhere; with priorities for
    /// journald.
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

    /// Whether the lines are JSON for programs. The greeting is then an event too.
    package var isForPrograms: Bool { self.format == .json }

    private var level: LogLevel { self.isVerbose.load(ordering: .relaxed) ? .debug : self.settledLevel }

    /// Whether connections and calls are logged too. Any thread may read it.
    package var isDebug: Bool { self.level == .debug }

    /// Switches to `debug`, or back to the level of the settings; returns the new level.
    package func toggleDebug() -> LogLevel {
        self.isVerbose.store(!self.isVerbose.load(ordering: .relaxed), ordering: .relaxed)
        return self.level
    }

    package var linesDropped: UInt64 { self.dropped.load(ordering: .relaxed) }

    package func error(_ message: String, _ fields: LogField...) { self.write(.error, message, fields) }
    package func warning(_ message: String, _ fields: LogField...) { self.write(.warning, message, fields) }
    package func info(_ message: String, _ fields: LogField...) { self.write(.info, message, fields) }
    package func debug(_ message: String, _ fields: LogField...) { self.write(.debug, message, fields) }

    /// Logs a repeating event once in `Limits.logRepeatMilliseconds`, with the number of suppressed lines.
    package func repeated(_ level: LogLevel, _ message: String, _ fields: LogField...) {
        self.repeated(level, message, fields)
    }

    package func repeated(_ level: LogLevel, _ message: String, _ fields: [LogField]) {
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

/// The log's settings.
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
