import Glibc
import PerchBench
import PerchJSON
import PerchLoop
import PerchTesting
import Testing
import TestingThreads

/// Tests the whole program, from the shell to its exit code.
@Suite(.onOwnThreads) struct `perch bench as a program` {
    private static let hot = "\"$PERCH\" bench hot --watchers 4 --rate 50 --warmup 0s"

    /// A pipe to `head` must not change the exit code.
    @Test func `a bench with a closed output pipe still writes its page and checks its conditions`() throws {
        let directory = TemporaryDirectory()
        let page = directory.file("page.html")
        let line =
            "{ \(Self.hot) --duration 300ms -o ndjson --report '\(page)' --fail-if 'push_p50>1ns'; echo code $? >&2; } | true"
        let (said, _) = try Program.shell(line)
        #expect(said.contains("code 1\n"), "\(said)")
        #expect(TemporaryDirectory.read(page).count > 1_000)
    }

    @Test func `reports that its figures could not be written`() throws {
        let (said, code) = try Program.shell("\(Self.hot) --duration 300ms >/dev/full")
        #expect(code == 1)
        #expect(said.contains("standard output could not be written: No space left on device"), "\(said)")
    }

    /// Applies to each command: a truncated token file, for example, would be found too late.
    @Test(arguments: ["serve --show-config", "bench figures", "--help"])
    func `reports for any command that its output could not be written`(_ command: String) throws {
        let (said, code) = try Program.shell("\"$PERCH\" \(command) >/dev/full")
        #expect(code == 1)
        #expect(said.contains("No space left on device"), "\(said)")
    }

    @Test func `reports each second of its window, including the last one`() throws {
        let (said, code) = try Program.shell("\(Self.hot) --duration 1200ms -o ndjson 2>/dev/null")
        #expect(code == 0)
        let lines = try said.split(separator: "\n").map { try JSONReader.read(Array($0.utf8), limits: JSONLimits()) }
        func counted(_ stage: String) -> [Double] {
            lines.filter { $0["stage"]?.string == stage }.map { $0["interval"]?["deliveries"]?.double ?? -1 }
        }
        let told = counted("measuring")
        // Beside load two seconds may be told in one line.
        #expect((1...2).contains(told.count))
        let report = try #require(lines.last)
        #expect(report["targets"]?.array?[0]["figures"]?["deliveries"]?.double == told.reduce(0, +))
    }

    @Test func `leaves no files behind when its terminal closes`() throws {
        let directory = TemporaryDirectory()
        let child = try ChildProcess(
            path: Program.path,
            arguments: ["bench", "hot", "--watchers", "2", "--rate", "50", "--duration", "1h", "-o", "ndjson"],
            environment: ["TMPDIR": directory.path])
        var said: [UInt8] = []
        while !String(decoding: said, as: UTF8.self).contains("\"measuring\"") {
            child.waitForOutput(milliseconds: 300_000)
            said += try #require(child.read(), "\(String(decoding: said, as: UTF8.self))")
        }
        kill(child.number, SIGHUP)
        while child.read() != nil { child.waitForOutput(milliseconds: 300_000) }
        while child.hasEnded() == nil {}
        #expect(child.hasEnded() == 130)
        #expect(rmdir(directory.path) == 0, "\(directory.path) is not empty")
    }

    @Test(arguments: [
        ("--connect 127.0.0.1:1 --pid 4194303", "there is no such process"),
        ("--connect 127.0.0.1:1 --loops 2", "--loops is of a server that the bench starts itself"),
        ("--connect 127.0.0.1:1 --store /tmp", "--store is of a server that the bench starts itself"),
    ]) func `refuses options for another kind of server`(_ options: String, _ reason: String) throws {
        let (said, code) = try Program.shell("\(Self.hot) \(options)")
        #expect(code != 0)
        #expect(said.contains(reason), "\(said)")
    }
}
