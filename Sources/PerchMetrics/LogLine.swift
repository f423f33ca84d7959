package import PerchBase

/// The severity of a log line.
package enum LogLevel: Int, Comparable, Sendable, CaseIterable {
    /// Something failed, and an operator should act.
    case error
    /// Something was refused, or will fail soon.
    case warning
    /// Normal events of a running server.
    case info
    /// Individual steps, for troubleshooting.
    case debug

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    package var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .info: "info"
        case .debug: "debug"
        }
    }

    package init?(named name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The severity number of syslog and journald.
    package var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}

/// A field of a log event, beside its message. Must not contain an account's key or a credential.
package struct LogField: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case integer(Int64)
    }

    package let name: String
    package let value: Value

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = .text(value)
    }

    package init(_ name: String, _ value: some BinaryInteger) {
        self.name = name
        self.value = .integer(Int64(clamping: value))
    }
}

/// The format of log lines.
package enum LogFormat: Sendable {
    /// `key=value` pairs, for terminals and grep.
    case logfmt
    /// One JSON object a line, for programs.
    case json
}

/// Formats one event as one line of at most `Limits.logLineBytes`, its newline included.
///
/// A value that is too long is cut and ends in `…`. Fields that do not fit are left out, and `cut` gives their number.
/// Terminal escapes and line breaks are escaped, as in JSON.
package enum LogLine {
    package static func bytes(
        _ format: LogFormat, level: LogLevel, message: String, fields: [LogField], at time: Instant,
        hasPriority: Bool
    ) -> [UInt8] {
        var writer = Writer(format: format)
        if hasPriority { writer.text = "<\(level.priority)>" }
        writer.begin()
        writer.add(LogField("time", "\(time)"))
        writer.add(LogField("level", level.name))
        writer.add(LogField("message", message))
        var cut = 0
        for field in fields {
            let before = writer
            writer.add(field)
            if writer.text.utf8.count > Limits.logLineBytes - Self.reservedBytes {
                writer = before
                cut += 1
            }
        }
        if cut > 0 { writer.add(LogField("cut", cut)) }
        return Array((writer.finish() + "\n").utf8)
    }

    /// Space for `cut`, the closing brace and the newline.
    private static let reservedBytes = 32

    private struct Writer {
        let format: LogFormat
        var text = ""
        private var isFirst = true

        init(format: LogFormat) { self.format = format }

        mutating func begin() {
            if self.format == .json { self.text += "{" }
        }

        mutating func add(_ field: LogField) {
            switch self.format {
            case .logfmt:
                if !self.isFirst { self.text += " " }
                self.text += "\(field.name)="
            case .json:
                if !self.isFirst { self.text += "," }
                self.text += "\"\(field.name)\":"
            }
            self.isFirst = false
            switch field.value {
            case .integer(let value):
                self.text += String(value)
            case .text(let value):
                let isBare = self.format == .logfmt && LogLine.isBare(value)
                self.text += isBare ? value : LogLine.quoted(value)
            }
        }

        consuming func finish() -> String {
            if self.format == .json { self.text += "}" }
            return self.text
        }
    }

    /// Whether logfmt accepts a value without quotes.
    private static func isBare(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= Limits.logValueBytes
            && text.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" && $0 != "=" && $0 != "\\"
            }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            let piece = Self.escaped(scalar)
            guard result.utf8.count + piece.utf8.count <= Limits.logValueBytes else { return result + "…\"" }
            result += piece
        }
        return result + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            guard Self.isControl(scalar) else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// Whether a scalar controls the terminal, the line or the direction of text.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// Suppresses repetitions of an event for a while, and counts them. A value without a clock.
///
/// Keys are event names in the code, so there are few.
package struct RepeatedEvents: Sendable {
    private struct Event: Sendable {
        var loggedAt: MonotonicTime
        var suppressed: UInt64
    }

    private var events: [String: Event] = [:]

    package init() {}

    /// Returns the number of suppressed events if this one is to be logged; nil if it is suppressed.
    package mutating func shouldLog(_ key: String, now: MonotonicTime) -> UInt64? {
        guard let event = self.events[key] else {
            self.events[key] = Event(loggedAt: now, suppressed: 0)
            return 0
        }
        guard now.milliseconds(since: event.loggedAt) >= Limits.logRepeatMilliseconds else {
            self.events[key]?.suppressed += 1
            return nil
        }
        self.events[key] = Event(loggedAt: now, suppressed: 0)
        return event.suppressed
    }
}
