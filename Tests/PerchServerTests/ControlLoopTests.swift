import PerchBase
import PerchCore
import PerchLoop
import PerchMetrics
import PerchStore
import PerchWire
import Synchronization
import Testing
import TestingThreads

@testable import PerchServer

/// A control loop without a loop: two loops and a store that answer when the test says so.
private final class SteppedControl {
    let control: ControlLoop
    let manager: NotifyReceiver
    private let loop: EventLoop
    private let inbox: Inbox<ControlEvent>
    private let loops: [Inbox<LoopEvent>]
    private let questions: Inbox<StoreQuestion>
    private(set) var now = Clocks.monotonic()

    /// On a thread whose signals are blocked.
    init(watchdogMicroseconds: Int64?, isReadyWithoutRoom: Bool = true) throws {
        self.manager = try NotifyReceiver("@perch-control-\(UInt64.random(in: 0 ... .max))")
        self.loop = try EventLoop(name: "control-test")
        let other = try WakeUp()
        self.inbox = Inbox(wake: other)
        self.loops = [Inbox(wake: other), Inbox(wake: other)]
        self.questions = Inbox(wake: other)
        var settings = ServerSettings()
        settings.supervision.notifySocket = self.manager.name
        settings.supervision.watchdogMicroseconds = watchdogMicroseconds
        settings.isReadyWithoutRoom = isReadyWithoutRoom
        let log = Log(descriptor: -1, format: .json, level: .error, hasPriority: false)
        self.control = ControlLoop(
            ControlLoop.Parts(
                loop: self.loop, settings: settings, inbox: self.inbox, loops: self.loops,
                store: Inbox(wake: other), questions: self.questions,
                signals: try SignalSource(on: self.loop.poller, tag: ControlLoop.signalTag), apps: [],
                identity: StoreIdentity(high: 1, low: 2), epoch: 1, address: .loopback(port: 1),
                manager: ServiceManager(settings.supervision, log: log), log: log))
        // Not before the control loop's own beginning.
        self.now = Clocks.monotonic()
    }

    func pass(milliseconds: Int64) {
        self.now = self.now.advanced(byMilliseconds: milliseconds)
        _ = self.control.turn(now: self.now)
    }

    /// The time passes that a question has. Its deadline counts from the machine's clock, which may have gone on meanwhile.
    func passQuestion(milliseconds: Int64) {
        self.now = max(self.now, Clocks.monotonic())
        self.pass(milliseconds: milliseconds)
    }

    /// The questions to each loop and to the store since the last call.
    func asked() -> (loops: [[UInt64]], store: [(number: UInt64, proves: Bool)]) {
        let loops = self.loops.map { inbox in
            var events: [LoopEvent] = []
            inbox.take(into: &events)
            return events.compactMap { if case .report(let number) = $0 { number } else { nil } }
        }
        var questions: [StoreQuestion] = []
        self.questions.take(into: &questions)
        return (
            loops,
            questions.compactMap {
                if case .report(let number, let proves) = $0 { (number, proves) } else { nil }
            }
        )
    }

    func answer(_ number: UInt64, loop: Int) {
        self.inbox.post(.report(number: number, SampleReports.loop(), loop: loop))
        _ = self.control.turn(now: self.now)
    }

    func answer(_ number: UInt64, store: StoreReport) {
        self.inbox.post(.storeReport(number: number, store))
        _ = self.control.turn(now: self.now)
    }

    /// Polls the sockets of the HTTP listener once.
    func serve() {
        let count = self.loop.poller.wait(timeoutMilliseconds: 100)
        for index in 0..<count {
            let event = self.loop.poller[index]
            guard event.tag != EventLoop.reservedTag else { continue }
            self.control.ready(
                tag: event.tag, readable: event.readable, writable: event.writable, hungUp: event.hungUp)
        }
    }

    /// A call of `GetServerStatus` comes through a loop.
    func callForStatus(loop: Int) {
        self.inbox.post(.request(loop: loop, ticket: 5, .serverStatus))
        _ = self.control.turn(now: self.now)
    }

    /// The status that a loop was given.
    func status(loop: Int) -> ServerStatus? {
        var events: [LoopEvent] = []
        self.loops[loop].take(into: &events)
        for case .control(let ticket, .response(.getServerStatus(let status))) in events where ticket == 5 {
            return status
        }
        return nil
    }

    func pings() -> Int { self.manager.received().filter { $0 == "WATCHDOG=1" }.count }
}

/// Runs on a new thread with the stop signals blocked, as in a server; returns its errors and failures.
private func onServerThread(_ body: @escaping @Sendable () throws -> [String]) throws -> [String] {
    final class Box: Sendable {
        let value = Mutex<Result<[String], any Error>>(.success(["it did not run"]))
    }
    let box = Box()
    let thread = try LoopThread(name: "server-test") {
        SignalSource.block()
        let outcome = Result { try body() }
        box.value.withLock { $0 = outcome }
    }
    thread.join()
    return try box.value.withLock { $0 }.get()
}

/// Collects failed expectations outside of the test's own task.
private struct Faults {
    private(set) var all: [String] = []

    mutating func expect(_ holds: Bool, _ what: String) {
        if !holds { self.all.append(what) }
    }
}

@Suite(.onOwnThreads) struct `the control loop` {
    @Test func `the watchdog is notified only after every loop and a committing store have answered`() throws {
        let faults = try onServerThread {
            var faults = Faults()
            let stepped = try SteppedControl(watchdogMicroseconds: 20_000_000)
            stepped.pass(milliseconds: 0)
            var asked = stepped.asked()
            faults.expect(asked.loops.allSatisfy { $0.count == 1 }, "each loop is asked once: \(asked.loops)")
            faults.expect(asked.store.map(\.proves) == [true], "the store is to commit")
            guard let number = asked.store.first?.number else { return faults.all + ["nothing was asked"] }
            stepped.answer(number, loop: 0)
            stepped.answer(number, store: SampleReports.store())
            faults.expect(stepped.pings() == 0, "loop 1 has not answered")
            stepped.answer(number, loop: 1)
            faults.expect(stepped.pings() == 1, "all have answered")

            // At half of the manager's interval, also with a full disk: a restart would not help.
            stepped.pass(milliseconds: 9_999)
            faults.expect(stepped.asked().store.filter(\.proves).isEmpty, "it is not time yet")
            stepped.pass(milliseconds: 1)
            asked = stepped.asked()
            guard let second = asked.store.first(where: \.proves)?.number else { return faults.all + ["no second"] }
            for loop in 0..<2 { stepped.answer(second, loop: loop) }
            faults.expect(stepped.pings() == 0, "the store has not answered")
            stepped.answer(second, store: SampleReports.store(isWithoutRoom: true))
            faults.expect(stepped.pings() == 1, "a full store still works")

            // One that fails does not.
            stepped.pass(milliseconds: 10_000)
            guard let third = stepped.asked().store.first(where: \.proves)?.number else {
                return faults.all + ["no third"]
            }
            for loop in 0..<2 { stepped.answer(third, loop: loop) }
            stepped.answer(third, store: SampleReports.store(failure: "the store failed"))
            faults.expect(stepped.pings() == 0, "a failed store does not work")

            // A loop hangs: its late answer is dropped.
            stepped.pass(milliseconds: 10_000)
            guard let fourth = stepped.asked().store.first(where: \.proves)?.number else {
                return faults.all + ["no fourth"]
            }
            stepped.answer(fourth, loop: 0)
            stepped.answer(fourth, store: SampleReports.store())
            stepped.pass(milliseconds: 10_000)
            stepped.answer(fourth, loop: 1)
            faults.expect(stepped.pings() == 0, "loop 1 was late")
            return faults.all
        }
        #expect(faults == [])
    }

    @Test func `no thread is asked without a watchdog`() throws {
        let faults = try onServerThread {
            var faults = Faults()
            let stepped = try SteppedControl(watchdogMicroseconds: nil)
            stepped.pass(milliseconds: 0)
            stepped.pass(milliseconds: 5_000)
            faults.expect(stepped.asked().store.isEmpty, "nothing is asked")
            stepped.pass(milliseconds: Limits.attentionMilliseconds)
            faults.expect(stepped.asked().store.map(\.proves) == [false], "the log looks, without a commit")
            return faults.all
        }
        #expect(faults == [])
    }

    @Test func `a status leaves out a hanging thread, and names it`() throws {
        let faults = try onServerThread {
            var faults = Faults()
            let stepped = try SteppedControl(watchdogMicroseconds: nil)
            stepped.callForStatus(loop: 1)
            let asked = stepped.asked()
            guard let number = asked.store.first?.number else { return ["nothing was asked"] }
            stepped.answer(number, loop: 0)
            stepped.answer(number, store: SampleReports.store())
            faults.expect(stepped.status(loop: 1) == nil, "loop 1 has not answered")
            stepped.passQuestion(milliseconds: Limits.statusMilliseconds)
            let status = stepped.status(loop: 1)
            let finding = status?.findings.first
            faults.expect(finding?.subject == "threads", "the finding: \(String(describing: finding))")
            faults.expect(
                finding?.message.hasPrefix("loop 1 did not answer") == true, "who: \(String(describing: finding))")
            faults.expect(status?.revision == 7, "what is known is told")
            faults.expect(stepped.control.desk.count == 0, "the question is over")
            return faults.all
        }
        #expect(faults == [])
    }

    @Test(arguments: [
        ("/healthz", "loop 1 did not answer within 1000 ms"), ("/readyz", "the store did not answer within 1000 ms"),
        ("/metrics", "loop 1 and the store did not answer within 1000 ms"),
        ("/status", "\"unanswered\": \"loop 1 and the store\""),
    ])
    func `the control loop says over HTTP who did not answer in time`(_ path: String, _ told: String) throws {
        let faults = try onServerThread {
            var faults = Faults()
            let stepped = try SteppedControl(watchdogMicroseconds: nil)
            let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
            let address = try stepped.control.listenForHTTP(listener)
            let client = try HTTPClient(address)
            client.send("GET \(path) HTTP/1.0\r\n\r\n")
            var asked = stepped.asked()
            for _ in 0..<1_000 where asked.loops[0].isEmpty && asked.store.isEmpty {
                stepped.serve()
                asked = stepped.asked()
            }
            guard let number = asked.loops[0].first ?? asked.store.first?.number else {
                return ["nothing was asked for \(path)"]
            }
            faults.expect(asked.loops[0].isEmpty == (path == "/readyz"), "loops are asked: \(asked.loops)")
            faults.expect(asked.store.isEmpty == (path == "/healthz"), "the store is asked")
            if path != "/readyz" { stepped.answer(number, loop: 0) }
            stepped.passQuestion(milliseconds: Limits.probeMilliseconds)
            for _ in 0..<1_000 where !client.hasEnded {
                stepped.serve()
                while client.read(), !client.hasEnded {}
            }
            faults.expect(client.received.hasPrefix("HTTP/1.1 503 "), "503: \(client.received.prefix(40))")
            faults.expect(client.received.contains(told), client.received)
            stepped.callForStatus(loop: 0)
            stepped.passQuestion(milliseconds: Limits.statusMilliseconds)
            let late = stepped.status(loop: 0)?.metrics.first { $0.name == "perch_http_late_total" }
            faults.expect(late?.value == 1, "it is counted: \(late?.value ?? -1)")
            return faults.all
        }
        #expect(faults == [])
    }

    @Test func `the control loop stays ready while the disk is full, and notifies systemd`() throws {
        let faults = try onServerThread {
            var faults = Faults()
            let stepped = try SteppedControl(watchdogMicroseconds: nil)
            stepped.control.pretend(.storeRoom(isThere: false))
            _ = stepped.control.turn(now: stepped.now)
            faults.expect(stepped.control.readiness.reason == nil, "reads and streams go on")
            faults.expect(
                stepped.manager.received().contains { $0.contains("disk of the store is full") },
                "systemd is notified")
            return faults.all
        }
        #expect(faults == [])
    }

    @Test func `the control loop is not ready while the disk is full, if the operator asked for that`() throws {
        let faults = try onServerThread {
            var faults = Faults()
            let stepped = try SteppedControl(watchdogMicroseconds: nil, isReadyWithoutRoom: false)
            let before = stepped.control.readiness
            stepped.control.pretend(.storeRoom(isThere: false))
            _ = stepped.control.turn(now: stepped.now)
            faults.expect(
                before.reason == nil && stepped.control.readiness.reason?.contains("disk of the store is full") == true,
                "full")
            faults.expect(
                stepped.manager.received().contains { $0.contains("disk of the store is full") },
                "systemd is notified")
            stepped.control.pretend(.storeRoom(isThere: true))
            _ = stepped.control.turn(now: stepped.now)
            faults.expect(stepped.control.readiness.reason == nil, "space again")
            return faults.all
        }
        #expect(faults == [])
    }
}

extension ControlLoop {
    /// Something came from another thread.
    fileprivate func pretend(_ event: ControlEvent) { self.parts.inbox.post(event) }
}
