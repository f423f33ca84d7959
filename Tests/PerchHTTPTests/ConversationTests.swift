import PerchBase
import Testing

@testable import PerchHTTP

@Suite struct `a conversation over HTTP` {
    private let wall = Instant(milliseconds: 784_111_777_000)
    private let request = Array("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

    /// A time that the test controls.
    private func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000).advanced(byMilliseconds: milliseconds)
    }

    private func text(_ conversation: HTTPConversation) -> String {
        String(decoding: conversation.output, as: UTF8.self)
    }

    @Test func `answers with a complete HTTP response`() {
        var one = HTTPConversation(now: self.at(0))
        #expect(one.received(self.request, now: self.at(1), wall: self.wall) == .ask(HTTPRequest(path: "/metrics")))
        #expect(!one.reads)
        #expect(one.answer(HTTPResponse(.ok, "ok"), now: self.at(2), wall: self.wall) == .write(.ok))
        #expect(
            self.text(one)
                == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: keep-alive\r\n\r\nok\n"
        )
        #expect(one.wrote(one.output.count, now: self.at(3), wall: self.wall) == .wait)
        #expect(one.reads)
    }

    @Test func `answers HEAD with the length and without the body`() {
        var one = HTTPConversation(now: self.at(0))
        _ = one.received(Array("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n".utf8), now: self.at(1), wall: self.wall)
        _ = one.answer(HTTPResponse(.ok, "ok"), now: self.at(2), wall: self.wall)
        #expect(self.text(one).contains("Content-Length: 3\r\n"))
        #expect(self.text(one).hasSuffix("\r\n\r\n"))
    }

    @Test func `answers pipelined requests in order`() {
        var one = HTTPConversation(now: self.at(0))
        let second = Array("GET /b HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        #expect(
            one.received(self.request + second, now: self.at(0), wall: self.wall)
                == .ask(HTTPRequest(path: "/metrics")))
        _ = one.answer(HTTPResponse(.ok, "1"), now: self.at(0), wall: self.wall)
        #expect(one.wrote(3, now: self.at(0), wall: self.wall) == .wait)
        #expect(one.writes)
        #expect(
            one.wrote(one.output.count, now: self.at(0), wall: self.wall) == .ask(HTTPRequest(path: "/b")))
    }

    @Test func `that must end is shut down, drained for a while, and closed`() {
        var one = HTTPConversation(now: self.at(0))
        _ = one.received(Array("GET / HTTP/1.0\r\n\r\n".utf8), now: self.at(0), wall: self.wall)
        _ = one.answer(HTTPResponse(.ok, "ok"), now: self.at(0), wall: self.wall)
        #expect(self.text(one).contains("Connection: close\r\n"))
        #expect(one.wrote(one.output.count, now: self.at(10), wall: self.wall) == .shutDownWriting)
        #expect(one.reads)
        #expect(one.received(self.request, now: self.at(11), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(1_009), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(1_010), wall: self.wall) == .close)
    }

    @Test(arguments: [
        ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", HTTPResponse.Status.methodNotAllowed, "only GET and HEAD"),
        ("GET /\r\n", .badRequest, "HTTP/1.1"), ("PRI * HTTP/2.0\r\n\r\n", .versionNotSupported, "HTTP/1.1"),
        ("GET / HTTP/1.1\r\n" + String(repeating: "a", count: 9_000), .headTooLong, "8192 bytes"),
    ])
    func `a conversation over HTTP refuses with a status and a next step, and ends`(
        _ text: String, _ status: HTTPResponse.Status, _ told: String
    ) {
        var one = HTTPConversation(now: self.at(0))
        #expect(one.received(Array(text.utf8), now: self.at(0), wall: self.wall) == .write(status))
        #expect(self.text(one).hasPrefix("HTTP/1.1 \(status.rawValue) "))
        #expect(self.text(one).contains(told))
        #expect(self.text(one).contains("Connection: close\r\n"))
        #expect(self.text(one).contains("Allow: GET, HEAD\r\n") == (status == .methodNotAllowed))
        #expect(one.wrote(one.output.count, now: self.at(0), wall: self.wall) == .shutDownWriting)
    }

    @Test func `a conversation over HTTP waits five seconds for a head, even if it keeps arriving slowly`() {
        var one = HTTPConversation(now: self.at(0))
        for (index, byte) in self.request.prefix(20).enumerated() {
            #expect(one.received([byte], now: self.at(Int64(index) * 249), wall: self.wall) == .wait)
        }
        #expect(one.timePassed(now: self.at(4_999), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(5_000), wall: self.wall) == .write(.requestTimeout))
    }

    @Test func `a connection without a request is closed silently`() {
        var one = HTTPConversation(now: self.at(0))
        #expect(one.timePassed(now: self.at(4_999), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(5_000), wall: self.wall) == .close)
    }

    @Test func `a conversation over HTTP may be idle between requests, and then has five seconds again`() {
        var one = HTTPConversation(now: self.at(0))
        _ = one.received(self.request, now: self.at(0), wall: self.wall)
        _ = one.answer(HTTPResponse(.ok, "ok"), now: self.at(0), wall: self.wall)
        _ = one.wrote(one.output.count, now: self.at(0), wall: self.wall)
        #expect(one.timePassed(now: self.at(89_999), wall: self.wall) == .wait)
        var other = one
        #expect(other.timePassed(now: self.at(90_000), wall: self.wall) == .close)
        #expect(one.received([UInt8(ascii: "G")], now: self.at(60_000), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(65_000), wall: self.wall) == .write(.requestTimeout))
    }

    @Test func `a connection to a client that reads nothing is closed`() {
        var one = HTTPConversation(now: self.at(0))
        _ = one.received(self.request, now: self.at(0), wall: self.wall)
        // The deadline covers only the peer, not the preparation of the answer.
        #expect(one.timePassed(now: self.at(60_000), wall: self.wall) == .wait)
        _ = one.answer(HTTPResponse(.ok, "ok"), now: self.at(60_000), wall: self.wall)
        #expect(one.wrote(1, now: self.at(64_000), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(68_999), wall: self.wall) == .wait)
        #expect(one.timePassed(now: self.at(69_000), wall: self.wall) == .close)
    }

    @Test func `a half-closed connection is answered first`() {
        var one = HTTPConversation(now: self.at(0))
        _ = one.received(self.request, now: self.at(0), wall: self.wall)
        #expect(one.peerEnded() == .wait)
        #expect(one.answer(HTTPResponse(.ok, "ok"), now: self.at(1), wall: self.wall) == .write(.ok))
        #expect(one.wrote(one.output.count, now: self.at(1), wall: self.wall) == .shutDownWriting)
        #expect(one.peerEnded() == .close)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_795_291_199_999, "Sat, 21 Nov 2026 19:59:59 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)])
    func `a conversation over HTTP dates its answers as RFC 9110 requires`(_ milliseconds: Int64, _ date: String) {
        #expect(Instant(milliseconds: milliseconds).httpDate == date)
    }
}
