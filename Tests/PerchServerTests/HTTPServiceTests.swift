import PerchBase
import PerchHTTP
import PerchLoop
import Testing
import TestingThreads

@testable import PerchServer

/// Steps an HTTP service by hand, on the thread of its test: no loop runs, so nothing happens behind the test's back.
private final class SteppedService: LoopDriver {
    let loop: EventLoop
    private(set) var service: HTTPService!
    private(set) var questions: [HTTPService.Question] = []

    init() throws {
        self.loop = try EventLoop(name: "http-test")
        let listener = try Sockets.listen(on: .loopback(port: 0), reusePort: false)
        self.service = try HTTPService(listener, on: self.loop, wall: { Instant(milliseconds: 0) }) {
            [unowned self] in self.questions.append($0)
        }
    }

    func takeQuestions() -> [HTTPService.Question] {
        defer { self.questions = [] }
        return self.questions
    }

    func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        self.service.ready(tag: tag, readable: readable, writable: writable, hungUp: hungUp)
    }

    func turn(now: MonotonicTime) -> MonotonicTime? { self.service.turn(now: now) }

    /// Delivers ready events until `holds`. Fails instead of hanging.
    func run(until holds: () -> Bool) throws {
        let poller = self.loop.poller
        var quietTurns = 0
        while !holds() {
            // Bytes that are still on their way to a client are no event here.
            let count = poller.wait(timeoutMilliseconds: 20)
            quietTurns = count > 0 ? 0 : quietTurns + 1
            try #require(quietTurns < 15_000, "nothing came within 300 s")
            for index in 0..<count {
                let event = poller[index]
                guard event.tag != EventLoop.reservedTag else { continue }
                self.ready(
                    tag: event.tag, readable: event.readable, writable: event.writable, hungUp: event.hungUp)
            }
        }
    }
}

@Suite(.onOwnThreads) struct `the HTTP listener` {
    @Test func `the listener forwards a question, and answers later`() throws {
        let stepped = try SteppedService()
        let client = try HTTPClient(stepped.service.address)
        client.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        try stepped.run { !stepped.questions.isEmpty }
        let question = try #require(stepped.takeQuestions().first)
        #expect(question.request == HTTPRequest(path: "/metrics"))
        #expect(!client.read())
        stepped.service.answer(question.connection, HTTPResponse(.ok, "figures"))
        try client.readAll(until: "figures\n")
        #expect(client.received.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(stepped.service.counters.responses == [200: 1])

        // The connection is kept.
        client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
        try stepped.run { !stepped.questions.isEmpty }
        #expect(stepped.takeQuestions().first?.connection == question.connection)
    }

    @Test func `sends a page that the kernel does not take at once in pieces`() throws {
        let stepped = try SteppedService()
        let client = try HTTPClient(stepped.service.address)
        client.send("GET / HTTP/1.0\r\n\r\n")
        try stepped.run { !stepped.questions.isEmpty }
        let body = String(repeating: "a", count: 4 << 20)
        stepped.service.answer(stepped.questions[0].connection, HTTPResponse(.ok, body + "the end"))
        try stepped.run {
            while client.read(), !client.hasEnded {}
            return client.received.hasSuffix("the end\n")
        }
        #expect(client.received.utf8.count > body.utf8.count)
    }

    @Test func `an answer to who has gone is dropped`() throws {
        let stepped = try SteppedService()
        var client: HTTPClient? = try HTTPClient(stepped.service.address)
        client?.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        try stepped.run { !stepped.questions.isEmpty }
        client = nil
        let connection = stepped.questions[0].connection
        stepped.service.answer(connection, HTTPResponse(.ok, "x"))
        try stepped.run { stepped.service.connectionCount == 0 }
        stepped.service.answer(connection, HTTPResponse(.ok, "x"))
        #expect(stepped.service.counters.responses == [200: 1])
    }

    @Test func `the HTTP listener refuses so that the peer can read why, though it still sends`() throws {
        let stepped = try SteppedService()
        let client = try HTTPClient(stepped.service.address)
        client.send(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "a", count: 20_000))
        try stepped.run { stepped.service.counters.responses[405] == 1 }
        client.send(String(repeating: "a", count: 1_000))
        try client.readAll(until: "nothing can be changed over HTTP\n")
        #expect(client.received.contains("Allow: GET, HEAD"))
    }

    @Test func `a full listener answers a newcomer and closes the oldest connection that asks nothing`() throws {
        let stepped = try SteppedService()
        let busy = try HTTPClient(stepped.service.address)
        busy.send("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n")
        try stepped.run { !stepped.questions.isEmpty }
        var clients: [HTTPClient] = []
        for _ in 1..<Limits.httpConnectionsMax { clients.append(try HTTPClient(stepped.service.address)) }
        try stepped.run { stepped.service.connectionCount == Limits.httpConnectionsMax }
        #expect(stepped.service.counters.closedForPlace == 0)
        let newcomer = try HTTPClient(stepped.service.address)
        newcomer.send("GET /new HTTP/1.1\r\nHost: x\r\n\r\n")
        try stepped.run { stepped.questions.count == 2 }
        #expect(stepped.takeQuestions().map(\.request.path) == ["/busy", "/new"])
        try clients[0].readAll(until: "come back in a moment\n")
        #expect(clients[0].received.hasPrefix("HTTP/1.1 503 "))
        #expect(stepped.service.counters.closedForPlace == 1)
        #expect(stepped.service.connectionCount == Limits.httpConnectionsMax)
    }

    @Test func `the HTTP listener closes whose time is over`() throws {
        let stepped = try SteppedService()
        let client = try HTTPClient(stepped.service.address)
        client.send("GET / HT")
        try stepped.run { stepped.service.connectionCount == 1 }
        let deadline = try #require(stepped.service.turn(now: .zero))
        #expect(stepped.service.turn(now: deadline.advanced(byMilliseconds: -1)) == deadline)
        _ = stepped.service.turn(now: deadline)
        #expect(stepped.service.counters.closedForTime == 1)
        // The request had begun, or was unread: the connection closes silently.
        #expect(stepped.service.connectionCount == 0 || stepped.service.counters.responses == [408: 1])
    }
}
