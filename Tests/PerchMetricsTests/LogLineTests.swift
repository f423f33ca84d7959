import PerchBase
import PerchMetrics
import Testing

@Suite struct `a line of the log` {
    private let time = Instant(milliseconds: 1_800_000_000_123)

    private func line(
        _ format: LogFormat, _ message: String, _ fields: [LogField] = [], level: LogLevel = .info,
        hasPriority: Bool = false
    ) -> String {
        String(
            decoding: LogLine.bytes(
                format, level: level, message: message, fields: fields, at: self.time, hasPriority: hasPriority),
            as: UTF8.self)
    }

    @Test func `in logfmt has keys and values`() {
        let line = self.line(.logfmt, "a limit was reached", [LogField("count", 3), LogField("series", "plain")])
        #expect(
            line == "time=2027-01-15T08:00:00.123Z level=info message=\"a limit was reached\" count=3 series=plain\n")
    }

    @Test func `in JSON is one object`() {
        let line = self.line(.json, "stopped", [LogField("count", -3), LogField("a", "b c")], level: .warning)
        #expect(
            line
                == "{\"time\":\"2027-01-15T08:00:00.123Z\",\"level\":\"warning\",\"message\":\"stopped\",\"count\":-3,\"a\":\"b c\"}\n"
        )
    }

    @Test(arguments: [(.error, "<3>"), (.warning, "<4>"), (.info, "<6>"), (.debug, "<7>")] as [(LogLevel, String)])
    func `a line of the log starts with its priority for journald`(_ level: LogLevel, _ prefix: String) {
        #expect(self.line(.json, "x", level: level, hasPriority: true).hasPrefix(prefix + "{"))
        #expect(self.line(.logfmt, "x", level: level, hasPriority: true).hasPrefix(prefix + "time="))
    }

    @Test(arguments: [
        ("a\nb", #""a\nb""#), ("a\"b", #""a\"b""#), ("a\\b", #""a\\b""#), ("", "\"\""), ("a=b", "\"a=b\""),
        ("\u{1B}[31m", #""\u001b[31m""#), ("\u{9B}31m", #""\u009b31m""#), ("a\u{202E}b", #""a\u202eb""#),
        ("a\u{2028}b", #""a\u2028b""#), ("\0", #""\u0000""#), ("\t\r", #""\t\r""#), ("ü", "\"ü\""),
    ])
    func `a line of the log escapes terminal controls, quotes and line ends`(_ value: String, _ shown: String) {
        #expect(self.line(.logfmt, "x", [LogField("v", value)]).hasSuffix(" v=\(shown)\n"))
        #expect(self.line(.json, "x", [LogField("v", value)]).hasSuffix(",\"v\":\(shown)}\n"))
    }

    @Test(arguments: [LogFormat.logfmt, .json])
    func `a line of the log is never longer than its limit, whatever its fields`(_ format: LogFormat) {
        let long = String(repeating: "\u{1}", count: 5_000)
        for count in [1, 2, 3, 4, 5, 50] {
            let fields = (0..<count).map { LogField("field\($0)", long) }
            let bytes = LogLine.bytes(
                format, level: .error, message: long, fields: fields, at: self.time, hasPriority: true)
            #expect(bytes.count <= Limits.logLineBytes)
            #expect(bytes.last == UInt8(ascii: "\n"))
            #expect(bytes.filter { $0 == UInt8(ascii: "\n") }.count == 1)
            if count == 50 { #expect(String(decoding: bytes, as: UTF8.self).contains("cut")) }
            if format == .json { #expect(bytes.dropLast().last == UInt8(ascii: "}")) }
        }
    }

    @Test func `a line of the log cuts a long value between characters`() {
        let line = self.line(.logfmt, "x", [LogField("v", String(repeating: "ü", count: 2_000))])
        #expect(line.hasSuffix("ü…\"\n"))
        #expect(!line.unicodeScalars.contains("\u{FFFD}"))
    }

    @Test func `a line of a repeated event is suppressed for a while, and counted`() {
        var repeats = RepeatedEvents()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(repeats.shouldLog("a", now: now) == 0)
        #expect(repeats.shouldLog("b", now: now) == 0)
        now = now.advanced(byMilliseconds: Limits.logRepeatMilliseconds - 1)
        #expect(repeats.shouldLog("a", now: now) == nil)
        #expect(repeats.shouldLog("a", now: now) == nil)
        now = now.advanced(byMilliseconds: 1)
        #expect(repeats.shouldLog("a", now: now) == 2)
        #expect(repeats.shouldLog("a", now: now) == nil)
    }
}
