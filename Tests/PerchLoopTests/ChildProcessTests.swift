import CPerchLinux
import PerchBase
import PerchLoop
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `children, processors and precise timers` {
    private static func said(_ child: ChildProcess) -> String {
        var bytes: [UInt8] = []
        while let more = child.read() {
            bytes += more
            if more.isEmpty { child.waitForOutput(milliseconds: patienceMilliseconds) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func shell(_ script: String, environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(path: "/bin/sh", arguments: ["-c", script], environment: environment)
    }

    @Test func `a child has its arguments and its environment, and both its outputs are read`() throws {
        let child = try Self.shell("echo $WORD; echo error >&2; exit 3", environment: ["WORD": "hello"])
        #expect(Self.said(child) == "hello\nerror\n")
        child.kill()
        #expect(child.hasEnded() == 3)
    }

    /// A bench stops its server with SIGTERM, which the bench itself may have blocked.
    @Test func `a child has no signal blocked, whatever its parent has`() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block()
            let child = try ChildProcess(
                path: "/bin/sh", arguments: ["-c", "echo up; while :; do :; done"], environment: [:])
            child.waitForOutput(milliseconds: 300_000)
            precondition(child.hasEnded() == nil)
            child.terminate()
            child.waitForOutput(milliseconds: 300_000)
            while let more = child.read() {
                if more.isEmpty { child.waitForOutput(milliseconds: 300_000) }
            }
            child.kill()
            precondition(child.hasEnded() == 128 + 15)
        }
    }

    @Test func `a missing program ends with 127`() throws {
        let child = try ChildProcess(path: "/nowhere/at/all", arguments: [], environment: [:])
        #expect(Self.said(child) == "")
        child.kill()
        #expect(child.hasEnded() == 127)
    }

    @Test func `releasing a child process kills it`() throws {
        var child: ChildProcess? = try Self.shell("echo up; while :; do :; done")
        child?.waitForOutput(milliseconds: patienceMilliseconds)
        let number = try #require(child?.number)
        child = nil
        // The child was reaped as well: no child has that number.
        #expect(kill(number, 0) == -1)
    }

    @Test func `a child runs on its given processor`() throws {
        let processor = try #require(Processors.allowed().last)
        let child = try ChildProcess(
            path: "/bin/sh",
            arguments: [
                "-c",
                "while read line; do case $line in Cpus_allowed_list*) echo $line; esac; done < /proc/self/status",
            ],
            environment: [:], processors: [processor])
        #expect(Self.said(child).split(whereSeparator: \.isWhitespace).last.map { String($0) } == "\(processor)")
    }

    @Test func `a pinned thread runs only on its processor`() throws {
        let found = Inbox<[Int]>(wake: try WakeUp())
        let processor = try #require(Processors.allowed().last)
        let thread = try LoopThread(name: "pinned") {
            do { try Processors.pin(to: processor) } catch {}
            found.post(Processors.allowed())
        }
        thread.join()
        var facts: [[Int]] = []
        found.take(into: &facts)
        #expect(facts == [[processor]])
        #expect(throws: SystemError.self) { try Processors.pin(to: 1_000_000) }
    }

    @Test func `a precise timer wakes once, not before its instant`() throws {
        let poller = try Poller()
        let timer = try PreciseTimer(on: poller, tag: 9)
        let instant = Clocks.monotonic().advanced(byNanoseconds: 300_000)
        timer.set(instant)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        #expect(Clocks.monotonic() >= instant)
        #expect(poller[0] == Readiness(tag: 9, readable: true, writable: false, hungUp: false))
        timer.clear()
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
        // A past instant wakes at once; nil disarms.
        timer.set(instant)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        timer.set(nil)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
    }
}
