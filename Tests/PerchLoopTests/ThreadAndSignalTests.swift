import CPerchLinux
import PerchBase
import PerchLoop
import Synchronization
import Testing
import TestingThreads

@Suite(.onOwnThreads) struct `threads, signals, clocks and descriptors` {
    @Test func `a loop thread has its name and its stack`() throws {
        let seen = Inbox<(name: String, stackBytes: Int)>(wake: try WakeUp())
        let thread = try LoopThread(name: "fifteen-letters", stackBytes: 24 * 1024 * 1024) {
            var name = [CChar](repeating: 0, count: 16)
            pthread_getname_np(pthread_self(), &name, name.count)
            var attributes = pthread_attr_t()
            pthread_getattr_np(pthread_self(), &attributes)
            var stackBytes = 0
            pthread_attr_getstacksize(&attributes, &stackBytes)
            pthread_attr_destroy(&attributes)
            seen.post((name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }, stackBytes))
        }
        thread.join()
        var facts: [(name: String, stackBytes: Int)] = []
        seen.take(into: &facts)
        #expect(facts.first?.name == "fifteen-letters")
        #expect(facts.first?.stackBytes == 24 * 1024 * 1024)
    }

    @Test func `a name that Linux would refuse traps`() async {
        await #expect(processExitsWith: .failure) { try LoopThread(name: "sixteen--letters") {}.join() }
    }

    @Test func `a thread that is never joined traps`() async {
        await #expect(processExitsWith: .failure) { _ = try LoopThread(name: "forgotten") {} }
    }

    @Test func `signals become poller events, and a broken pipe raises none`() async {
        await #expect(processExitsWith: .success) {
            SignalSource.block()
            let poller = try Poller()
            let signals = try SignalSource(on: poller, tag: 3)
            precondition(signals.next() == nil)
            for (number, expected) in [(SIGTERM, StopSignal.terminate), (SIGINT, .interrupt), (SIGHUP, .hangUp)] {
                raise(number)
                precondition(poller.wait(timeoutMilliseconds: patienceMilliseconds) == 1 && poller[0].tag == 3)
                precondition(signals.next() == expected)
                precondition(signals.next() == nil && poller.wait(timeoutMilliseconds: 0) == 0)
            }
            raise(SIGPIPE)
        }
    }

    @Test func `signals that were not blocked first trap`() async {
        await #expect(processExitsWith: .failure) {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            _ = try SignalSource(on: Poller(), tag: 0)
        }
    }

    @Test func `the monotonic clock never runs backwards and the wall clock shows this century`() {
        var last = Clocks.monotonic()
        for _ in 0..<10_000 {
            let now = Clocks.monotonic()
            #expect(now >= last)
            last = now
        }
        #expect(last > .zero)
        let wall = CivilTime(Clocks.wall()).year
        #expect((2_025..<2_100).contains(wall))
    }

    @Test func `the descriptor limit can be raised to the hard limit`() async {
        await #expect(processExitsWith: .success) {
            precondition(perch_set_descriptor_limit(100, 300) == 0)
            precondition(DescriptorLimit.current == 100)
            precondition(ConnectionBudget.ofProcess().limit == 100 - Limits.descriptorsReserved)
            precondition(DescriptorLimit.raise() == 300)
        }
    }

    @Test func `a descriptor that was released stays open`() throws {
        let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        let number = listener.release()
        #expect(Sockets.localAddress(number).port > 0)
        Sockets.close(number)
    }
}
