import Glibc
import PerchBase
import PerchMetrics
import Testing

@testable import PerchServer

@Suite struct `the log of a server` {
    /// Both ends of a pipe, closed at the end.
    private final class Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            (self.reading, self.writing) = (ends[0], ends[1])
            _ = fcntl(self.reading, F_SETFL, O_NONBLOCK)
        }

        deinit {
            close(self.reading)
            close(self.writing)
        }

        func text() -> String {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let count = read(self.reading, &buffer, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
        }
    }

    @Test func `the log is JSON if standard error is no terminal, unless a setting overrides that`() throws {
        let pipe = try Pipe()
        var settings = LogSettings()
        #expect(Log(settings, Supervision(), descriptor: pipe.writing).isForPrograms)
        settings.format = .logfmt
        #expect(!Log(settings, Supervision(), descriptor: pipe.writing).isForPrograms)
        settings.format = .json
        #expect(Log(settings, Supervision(), descriptor: pipe.writing).isForPrograms)
    }

    @Test func `the log of a server begins its lines with a priority only where journald reads them`() throws {
        let pipe = try Pipe()
        var status = stat()
        try #require(fstat(pipe.writing, &status) == 0)
        var supervision = Supervision()
        supervision.journalStream = "\(status.st_dev):\(status.st_ino)"
        Log(LogSettings(), supervision, descriptor: pipe.writing).warning("x")
        Log(LogSettings(), Supervision(), descriptor: pipe.writing).warning("x")
        let lines = pipe.text().split(separator: "\n")
        #expect(lines.map { $0.prefix(4) } == ["<4>{", "{\"ti"])
    }

    @Test func `the log of a server goes to debug and back while the server runs`() throws {
        let pipe = try Pipe()
        let log = Log(descriptor: pipe.writing, format: .logfmt, level: .warning, hasPriority: false)
        #expect(!log.isDebug)
        #expect(log.toggleDebug() == .debug && log.isDebug)
        log.debug("a")
        #expect(log.toggleDebug() == .warning && !log.isDebug)
        log.debug("b")
        #expect(pipe.text().split(separator: "\n").count == 1)
    }

    @Test func `the log leaves out lines below its level`() throws {
        let pipe = try Pipe()
        let log = Log(descriptor: pipe.writing, format: .logfmt, level: .warning, hasPriority: false)
        log.debug("a")
        log.info("b")
        log.warning("c")
        log.error("d")
        #expect(pipe.text().split(separator: "\n").map { $0.suffix(9) } == ["message=c", "message=d"])
    }

    @Test func `the log repeats a warning at intervals, with a count`() throws {
        let pipe = try Pipe()
        let log = Log(descriptor: pipe.writing, format: .logfmt, level: .info, hasPriority: false)
        for _ in 0..<100 { log.repeated(.warning, "again") }
        log.repeated(.debug, "hidden")
        #expect(pipe.text().split(separator: "\n").count == 1)
    }

    @Test func `the log never waits: lines that are not accepted are dropped and counted`() throws {
        let pipe = try Pipe()
        let log = Log(descriptor: pipe.writing, format: .logfmt, level: .info, hasPriority: false)
        let long = LogField("v", String(repeating: "a", count: 1_000))
        for _ in 0..<200 { log.info("x", long) }
        #expect(log.linesDropped > 0)
        let lines = pipe.text().split(separator: "\n")
        #expect(UInt64(lines.count) + log.linesDropped == 200)
        #expect(lines.allSatisfy { $0.hasSuffix("aaa") && $0.hasPrefix("time=") })
    }
}
