import CPerchLinux
import PerchBase
import PerchLoop
import Testing

@Suite(.timeLimit(.minutes(1))) struct `children, processors and precise timers` {
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

    /// A server of a bench is told to stop by SIGTERM, which the one who started it may have blocked for itself.
    @Test func `a child has no signal blocked, whatever its parent has`() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block()
            let child = try ChildProcess(
                path: "/bin/sh", arguments: ["-c", "echo up; while :; do :; done"], environment: [:])
            child.waitForOutput(milliseconds: 10_000)
            precondition(child.hasEnded() == nil)
            child.terminate()
            child.waitForOutput(milliseconds: 10_000)
            while let more = child.read() {
                if more.isEmpty { child.waitForOutput(milliseconds: 10_000) }
            }
            child.kill()
            precondition(child.hasEnded() == 128 + 15)
        }
    }

    @Test func `a program that is not there ends with 127`() throws {
        let child = try ChildProcess(path: "/nowhere/at/all", arguments: [], environment: [:])
        #expect(Self.said(child) == "")
        child.kill()
        #expect(child.hasEnded() == 127)
    }

    @Test func `who lets go of a child ends it`() throws {
        var child: ChildProcess? = try Self.shell("echo up; while :; do :; done")
        child?.waitForOutput(milliseconds: patienceMilliseconds)
        let number = try #require(child?.number)
        child = nil
        // It was waited for as well: nobody of that number is ours any more.
        #expect(kill(number, 0) == -1)
    }

    @Test func `a child keeps to the processor that it is given`() throws {
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

    @Test func `a thread that is pinned may run nowhere else`() throws {
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

    @Test func `a precise timer wakes not before its instant, and once`() throws {
        let poller = try Poller()
        let timer = try PreciseTimer(on: poller, tag: 9)
        let instant = Clocks.monotonic().advanced(byNanoseconds: 300_000)
        timer.set(instant)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        #expect(Clocks.monotonic() >= instant)
        #expect(poller[0] == Readiness(tag: 9, readable: true, writable: false, hungUp: false))
        timer.clear()
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
        // One that is over wakes at once; nil takes it back.
        timer.set(instant)
        #expect(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1)
        timer.set(nil)
        #expect(poller.wait(timeoutMilliseconds: 0) == 0)
    }
}
