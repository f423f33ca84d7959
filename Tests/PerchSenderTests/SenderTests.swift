import Glibc
import PerchBase
import PerchLoop
import PerchSender
import PerchTesting
import Synchronization
import Testing
import TestingThreads

/// Requests over sockets of this machine.
@Suite(.onOwnThreads) struct `the sender` {
    private static let lane = SenderLane("tests", perThousandSeconds: 1_000_000, burst: 1_000)

    private static func request(_ url: String, attempts: Int = 1, timeout: Int64 = 120_000) -> SenderRequest {
        var request = SenderRequest(.get, url, lane: Self.lane)
        request.attemptsMax = attempts
        request.timeoutMilliseconds = timeout
        return request
    }

    private static func sender(
        _ rules: SenderRules, resolver: (@Sendable (String) -> [String])? = nil
    ) throws -> Sender {
        try Sender(try CurlNetwork(rules, resolver: resolver), seed: 1)
    }

    private static var loopback: SenderRules {
        var rules = SenderRules()
        rules.allowsLoopbackHTTP = true
        return rules
    }

    @Test func `an answer comes whole, with its status, type and Retry-After`() async throws {
        let server = try TestServer([
            TestServer.answer(
                "418 Teapot", "Content-Type: application/json\r\nRetry-After: 1764327600000\r\n", body: "{\"a\":1}")
        ])
        let sender = try Self.sender(Self.loopback)
        var request = Self.request("http://127.0.0.1:\(server.port)/inApps/v1/x?y=1")
        request.method = .put
        request.headers = ["Accept: application/json", "X-Test: one"]
        request.body = Array("{}".utf8)
        request.authorization = { "Bearer once" }
        let answer = try await sender.result(request).get()
        #expect(answer.status == 418)
        #expect(answer.contentType == "application/json")
        #expect(answer.retryAfter == "1764327600000")
        #expect(String(decoding: answer.body, as: UTF8.self) == "{\"a\":1}")
        let head = try #require(server.requests.first)
        #expect(head.hasPrefix("PUT /inApps/v1/x?y=1 HTTP/1.1\r\n"))
        #expect(head.contains("Authorization: Bearer once\r\n"))
        #expect(head.contains("Content-Length: 2\r\n"))
        #expect(!head.contains("Expect:"))
        sender.stop()
        server.stop()
    }

    @Test func `an endless body ends at the limit, and the thread goes on`() async throws {
        let server = try TestServer([.endless, TestServer.answer("200 OK", body: "fine")])
        let sender = try Self.sender(Self.loopback)
        var request = Self.request("http://127.0.0.1:\(server.port)/")
        request.answerBytesMax = 100_000
        let fault = await sender.fault(request)
        #expect(fault?.kind == .tooLong)
        let next = try await sender.result(Self.request("http://127.0.0.1:\(server.port)/")).get()
        #expect(String(decoding: next.body, as: UTF8.self) == "fine")
        sender.stop()
        server.stop()
    }

    @Test(arguments: [TestServer.Behaviour.silent, .stalls])
    func `a server that is slow costs the time limit, and the thread goes on`(
        _ behaviour: TestServer.Behaviour
    ) async throws {
        let slow = try TestServer([behaviour])
        let good = try TestServer([TestServer.answer("200 OK")])
        let sender = try Self.sender(Self.loopback)
        let fault = await sender.fault(Self.request("http://127.0.0.1:\(slow.port)/", timeout: 100))
        #expect(fault?.kind == .timeout)
        #expect(try await sender.result(Self.request("http://127.0.0.1:\(good.port)/")).get().status == 200)
        sender.stop()
        slow.stop()
        good.stop()
    }

    @Test func `an answer that breaks off is none`() async throws {
        let server = try TestServer([.breaksOff])
        let sender = try Self.sender(Self.loopback)
        #expect(await sender.fault(Self.request("http://127.0.0.1:\(server.port)/"))?.kind == .broken)
        sender.stop()
        server.stop()
    }

    @Test(arguments: ["http://10.0.0.1/", "https://169.254.169.254/latest", "file:///etc/passwd"])
    func `a redirect is an answer and is not followed`(_ target: String) async throws {
        let server = try TestServer([TestServer.answer("302 Found", "Location: \(target)\r\n")])
        let sender = try Self.sender(Self.loopback)
        let answer = try await sender.result(Self.request("http://127.0.0.1:\(server.port)/")).get()
        #expect(answer.status == 302)
        #expect(server.requests.count == 1)
        sender.stop()
        server.stop()
    }

    @Test(arguments: [
        "127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "[::1]", "[fd00::1]", "[::ffff:10.0.0.1]",
    ])
    func `https to an address that is not public is refused before it is connected`(_ address: String) async throws {
        let server = try TestServer([TestServer.answer("200 OK")])
        let sender = try Self.sender(SenderRules())
        let fault = await sender.fault(Self.request("https://\(address):\(server.port)/"))
        #expect(fault?.kind == .privateAddress, "\(fault?.message ?? "none")")
        #expect(server.requests.isEmpty)
        sender.stop()
        server.stop()
    }

    @Test func `a name whose answer changes is checked each time that it is connected to`() async throws {
        let server = try TestServer([TestServer.answer("200 OK")])
        let asked = Mutex(0)
        // Loopback at first; then the address that a cloud keeps its secrets at.
        let sender = try Self.sender(Self.loopback) { _ in
            asked.withLock { asked in
                asked += 1
                return asked == 1 ? ["127.0.0.1"] : ["169.254.169.254"]
            }
        }
        let request = Self.request("http://store.example:\(server.port)/")
        #expect(try await sender.result(request).get().status == 200)
        let fault = await sender.fault(request)
        #expect(fault?.kind == .privateAddress, "\(fault?.message ?? "none")")
        #expect(fault?.message.contains("169.254.169.254") == true)
        #expect(asked.withLock { $0 } == 2)
        #expect(server.requests.count == 1)
        sender.stop()
        server.stop()
    }

    @Test func `of several addresses those that are private are left out`() async throws {
        let server = try TestServer([TestServer.answer("200 OK")])
        let sender = try Self.sender(Self.loopback) { _ in ["10.0.0.1", "127.0.0.1"] }
        let request = Self.request("http://store.example:\(server.port)/")
        #expect(try await sender.result(request).get().status == 200)
        sender.stop()
        server.stop()
    }

    @Test(arguments: ["http://127.0.0.1/", "ftp://example.com/", "file:///etc/passwd", "example.com"])
    func `another scheme than https is refused`(_ url: String) async throws {
        let sender = try Self.sender(SenderRules())
        #expect(await sender.fault(Self.request(url))?.kind == .url)
        sender.stop()
    }

    @Test func `a header with a line break is refused`() async throws {
        let sender = try Self.sender(Self.loopback)
        var request = Self.request("http://127.0.0.1:1/")
        request.headers = ["X-Test: one\r\nHost: other"]
        #expect(await sender.fault(request)?.kind == .url)
        sender.stop()
    }

    @Test func `a broken chain is refused, a good one is not, and the thread goes on`() async throws {
        let authority = MadeCertificate.authority()
        let directory = TemporaryDirectory()
        TemporaryDirectory.write(authority.certificate, to: directory.file("roots.pem"))
        let good = try TestServer([TestServer.answer("200 OK")], tls: .server(of: authority))
        let strange = try TestServer([TestServer.answer("200 OK")], tls: .server(of: .authority("Another")))
        let misnamed = try TestServer(
            [TestServer.answer("200 OK")], tls: .server(of: authority, names: "DNS:elsewhere.example"))
        let expired = try TestServer(
            [TestServer.answer("200 OK")], tls: .server(of: authority, endsInSeconds: -60))
        var rules = SenderRules()
        rules.allowsPrivateAddresses = true
        rules.authoritiesPath = directory.file("roots.pem")
        let sender = try Self.sender(rules)
        for server in [strange, misnamed, expired] {
            let fault = await sender.fault(Self.request("https://127.0.0.1:\(server.port)/"))
            #expect(fault?.kind == .certificate, "\(fault?.message ?? "none")")
            #expect(server.requests.isEmpty)
        }
        #expect(try await sender.result(Self.request("https://127.0.0.1:\(good.port)/")).get().status == 200)
        sender.stop()
        for server in [good, strange, misnamed, expired] { server.stop() }
    }

    @Test func `a stop ends what is under way, and later requests at once`() async throws {
        let server = try TestServer([.silent])
        let sender = try Self.sender(Self.loopback)
        async let waiting = sender.fault(Self.request("http://127.0.0.1:\(server.port)/"))
        while server.requests.isEmpty { await Task.yield() }
        sender.stop()
        #expect(await waiting?.kind == .stopped)
        #expect(await sender.fault(Self.request("http://127.0.0.1:\(server.port)/"))?.kind == .stopped)
        server.stop()
    }

    @Test func `an attempt that failed goes again, with another authorization`() async throws {
        let server = try TestServer([TestServer.answer("500 Oops"), TestServer.answer("200 OK")])
        let sender = try Self.sender(Self.loopback)
        let made = Mutex(0)
        var request = Self.request("http://127.0.0.1:\(server.port)/", attempts: 2)
        request.authorization = {
            made.withLock { made in
                made += 1; return "Bearer \(made)"
            }
        }
        #expect(try await sender.result(request).get().status == 200)
        #expect(server.requests.map { $0.contains("Bearer 1") } == [true, false])
        #expect(sender.figures.retries == 1)
        sender.stop()
        server.stop()
    }

    @Test func `what waits ends at once when nobody wants it any more`() async throws {
        let server = try TestServer([.silent])
        let sender = try Self.sender(Self.loopback)
        let isWanted = Mutex(true)
        // One in a thousand seconds: the first is under way, the second one waits.
        var request = Self.request("http://127.0.0.1:\(server.port)/")
        request.lane = SenderLane("slow", perThousandSeconds: 1)
        request.isWanted = { isWanted.withLock { $0 } }
        async let first = sender.fault(request)
        while server.requests.isEmpty { await Task.yield() }
        async let second = sender.fault(request)
        while sender.figures.waiting < 2 { await Task.yield() }
        isWanted.withLock { $0 = false }
        sender.endUnwanted()
        #expect(await second?.message == "the request was taken back before it was sent")
        #expect(server.requests.count == 1)
        sender.stop()
        #expect(await first?.kind == .stopped)
        sender.endUnwanted()
        server.stop()
    }

    /// A thread that has handed over a request may be late with its wake.
    @Test func `a network is not woken once it is closed`() throws {
        for round in 1...200 {
            let network = ClosableNetwork()
            let sender = try Sender(network, seed: UInt64(round))
            let thread = try LoopThread(name: "sends") {
                for _ in 0..<20 {
                    sender.send(Self.request("https://example.com/")) { _ in }
                    sender.endUnwanted()
                }
            }
            sender.stop()
            thread.join()
            #expect(network.wokenClosed == 0, "round \(round)")
        }
    }
}

/// A network that nothing comes from, and that knows whether it was closed.
private final class ClosableNetwork: SenderNetwork {
    private struct State {
        var isClosed = false
        var isWoken = false
        var wokenClosed = 0
    }

    private let state = Mutex(State())

    var wokenClosed: Int { self.state.withLock { $0.wokenClosed } }

    func begin(_ request: SenderRequest, number: UInt64, authorization: String?) -> SenderFault? { nil }
    func advance() -> [(number: UInt64, result: SenderResult)] { [] }

    func wait(milliseconds: Int32) {
        while !self.state.withLock({ state in
            defer { state.isWoken = false }
            return state.isWoken
        }) { sched_yield() }
    }

    func wake() {
        self.state.withLock { state in
            state.isWoken = true
            if state.isClosed { state.wokenClosed += 1 }
        }
    }

    func close() { self.state.withLock { $0.isClosed = true } }
}

extension Sender {
    func result(_ request: SenderRequest) async -> SenderResult {
        await withCheckedContinuation { continuation in self.send(request) { continuation.resume(returning: $0) } }
    }

    func fault(_ request: SenderRequest) async -> SenderFault? {
        guard case .failure(let fault) = await self.result(request) else { return nil }
        return fault
    }
}
