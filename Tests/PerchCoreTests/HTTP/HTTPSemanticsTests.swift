import PerchBase
import PerchModel
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// RFC 9110 and RFC 9112, case by case.
@Suite struct `a response` {
    private var date: Regex<(Substring, Substring)> {
        #/\r\ndate: (Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d GMT\r\n/#
    }

    @Test func `has a date, whatever it says`() {
        let world = World()
        for answer in [
            PlainClient(world).get("account=anna&groupId=plans"), PlainClient(world).get("account=&groupId=plans"),
            PlainClient(world).say("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            PlainClient(world).say("nothing at all\r\n\r\n".uppercased()),
            PlainClient(world).events("EntitlementService/SubscriptionStatusTask", "account=anna&groupId=plans"),
        ] { #expect(answer.firstMatch(of: self.date) != nil, "\(answer)") }
    }

    @Test func `has the date of its second, on HTTP/2 as well`() {
        let world = World()
        let client = HTTP2Client(world)
        func date() -> String? {
            let stream = client.call(.listApps)
            client.settle()
            return client[stream].head["date"]
        }
        let first = date()
        #expect(first == world.now.wall.httpDate && first?.hasSuffix(" GMT") == true)
        world.advance(5_000)
        #expect(date() == world.now.wall.httpDate && date() != first)
        world.checkInvariants()
    }

    @Test func `of 204 has no content and says nothing about one`() {
        var setup = World.Setup()
        setup.core.origins = ["https://app.example.com"]
        let answer = PlainClient(World(setup)).say(
            "OPTIONS /perch.v1.EntitlementService/GetProducts HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example.com\r\n"
                + "Access-Control-Request-Method: POST\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 204 ") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
        #expect(!answer.contains("content-length") && !answer.contains("content-type:") && !answer.contains("chunked"))
        #expect(answer.contains("traceparent") && answer.contains("tracestate"))
    }

    @Test func `of 401 says how to authenticate`() {
        let answer = PlainClient(Gate.world()).get("account=anna&groupId=plans")
        #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.contains("\r\nwww-authenticate: Bearer\r\n"), "\(answer)")
        #expect(answer.contains("\r\nperch-reason: UNAUTHENTICATED\r\n"), "\(answer)")
    }
}

@Suite struct `a request of HTTP/1.0` {
    private static let path = "/perch.v1.EntitlementService/GetSubscriptionStatus?account=anna&groupId=plans"

    // As nginx sends it where nothing else is set.
    @Test(arguments: ["Host: localhost\r\nConnection: close\r\n", "", "Host: localhost\r\nConnection: keep-alive\r\n"])
    func `is answered without chunks, and its connection ends`(fields: String) {
        let client = PlainClient()
        let answer = client.say("GET \(Self.path) HTTP/1.0\r\n\(fields)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("\r\nconnection: close\r\n"), "\(answer)")
        #expect(!answer.contains("transfer-encoding") && answer.hasSuffix("}"), "\(answer)")
        #expect(client.isClosed)
    }

    @Test func `may have a body, and gets errors`() {
        let body = #"{"account":"anna","groupId":"plans"}"#
        let head =
            "POST /perch.v1.EntitlementService/GetSubscriptionStatus HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        let answer = PlainClient().say("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains(#""success""#), "\(answer)")
        let refused = PlainClient().say("\(head)Content-Length: 2\r\n\r\n{}")
        #expect(refused.hasPrefix("HTTP/1.1 400") && refused.contains("ACCOUNT_KEY"), "\(refused)")
        let chunked = PlainClient().say("\(head)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(chunked.hasPrefix("HTTP/1.1 400"), "\(chunked)")
        // HTTP/1.0 does not know the expectation.
        let waiting = PlainClient().say("\(head)Expect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
        #expect(waiting.isEmpty, "\(waiting)")
    }

    @Test func `may be a stream`() throws {
        let world = World()
        let client = PlainClient(world)
        let answer = client.say(
            "GET /perch.v1.EntitlementService/SubscriptionStatusTask?account=anna&groupId=plans HTTP/1.0\r\n"
                + "Host: localhost\r\nAccept: Text/Event-Stream\r\n\r\n")
        #expect(answer.contains("\r\nx-accel-buffering: no\r\n") && answer.contains("\r\n\r\ndata: {"), "\(answer)")
        try world.buy("gold", from: world.welcomedClient())
        let push = client.hear()
        #expect(push.hasPrefix("id: ") && push.contains("RENEWAL_STATE_SUBSCRIBED"), "\(push)")
    }

    @Test func `of a minor version to come is one of HTTP/1.1, and of another major version is refused`() {
        #expect(PlainClient().say("GET \(Self.path) HTTP/1.7\r\nHost: localhost\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(PlainClient().say("GET \(Self.path) HTTP/3.0\r\nHost: localhost\r\n\r\n").hasPrefix("HTTP/1.1 505"))
        #expect(PlainClient().say("GET \(Self.path) HTTP/1.12\r\nHost: localhost\r\n\r\n").hasPrefix("HTTP/1.1 505"))
        #expect(PlainClient().say("GET \(Self.path) http/1.1\r\nHost: localhost\r\n\r\n").hasPrefix("HTTP/1.1 400"))
    }
}

@Suite struct `a request with a body` {
    private static let path = "/perch.v1.EntitlementService/GetSubscriptionStatus"
    private static let body = #"{"account":"anna","groupId":"plans"}"#

    @Test func `that is a GET is answered as without it`() {
        let client = PlainClient()
        for method in ["GET", "HEAD"] {
            for _ in 0..<2 {
                let answer = client.say(
                    "\(method) \(Self.path)?account=anna&groupId=plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
                )
                #expect(answer.hasPrefix("HTTP/1.1 200 OK"), "\(answer)")
            }
        }
        let http2 = HTTP2Client(World())
        http2.block(
            [
                (":method", "GET"), (":scheme", "http"), (":path", Self.path + "?account=anna&groupId=plans"),
                (":authority", "localhost"),
            ], [], on: 1)
        http2.send(.data, .endStream, 1, Array("hello".utf8))
        http2.settle()
        #expect(http2[1].head[":status"] == "200" && http2.goAways.isEmpty)
    }

    @Test(arguments: ["", "X-Checksum: 12\r\n", "A: b\r\nC: d\r\n"])
    func `in chunks may have trailers, and names of codings have no case`(trailers: String) {
        let client = PlainClient()
        let head =
            "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: Application/JSON; charset=utf-8\r\n"
            + "Transfer-Encoding: Chunked\r\n\r\n"
        let text = head + "24;name=\"value\"\r\n\(Self.body)\r\n0\r\n\(trailers)\r\n"
        for step in [text.utf8.count, 1] {
            var answer = ""
            for start in stride(from: 0, to: text.utf8.count, by: step) {
                answer += client.say(String(text.dropFirst(start).prefix(step)))
            }
            #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains(#""success""#), "\(answer)")
        }
    }

    @Test(arguments: [
        ("24;a\rb\r\n", "400"), ("24;a\u{0}\r\n", "400"), ("24 x\r\n", "400"), ("0\r\nX Y: 1\r\n\r\n", "400"),
        ("0\r\n folded\r\n\r\n", "400"), ("0\r\nX: \u{1}\r\n\r\n", "400"),
        ("0\r\n" + String(repeating: "A: b\r\n", count: 5_000), "431"),
    ])
    func `in chunks that two parsers could read differently is refused`(chunk: String, status: String) {
        let answer = PlainClient().say(
            "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunk)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("connection: close"), "\(answer)")
    }

    @Test func `in an unknown transfer coding is refused`() {
        let answer = PlainClient().say(
            "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
    }

    @Test(arguments: ["GZIP", "X-Gzip", "gzip"]) func `compressed as its field says is read`(coding: String) throws {
        let codec = MessageCodec()
        let plain = Array(("{\"account\":\"anna\",\"groupId\":\"plans\"}" + String(repeating: " ", count: 2_000)).utf8)
        let gzip = try #require(plain.withUnsafeBytes { codec.gzipped($0) })
        let client = PlainClient()
        client.socket.clientSends(
            Array(
                "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: \(coding)\r\nContent-Length: \(gzip.count - 5)\r\n\r\n"
                    .utf8) + gzip[5...])
        #expect(client.hear().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func `follows empty lines`() {
        let client = PlainClient()
        #expect(client.get("account=anna&groupId=plans").hasPrefix("HTTP/1.1 200"))
        _ = client.say("\r\n\r\n")
        #expect(client.get("account=anna&groupId=plans").hasPrefix("HTTP/1.1 200"))
    }

    @Test func `by an absolute target is for the host that this names`() {
        let client = PlainClient()
        let answer = client.say(
            "GET HTTP://localhost\(Self.path)?account=anna&groupId=plans HTTP/1.1\r\nHost: other.example.com\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        var setup = World.Setup()
        setup.core.hosts = HostRule(.loopback)
        let foreign = PlainClient(World(setup)).say(
            "GET http://other.example.com\(Self.path)?account=anna&groupId=plans HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(foreign.hasPrefix("HTTP/1.1 421"), "\(foreign)")
    }

    @Test func `for the server itself or a tunnel is not allowed`() {
        for line in ["OPTIONS * HTTP/1.1", "CONNECT example.com:443 HTTP/1.1"] {
            let answer = PlainClient().say("\(line)\r\nHost: localhost\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.contains("\r\nallow: "), "\(answer)")
        }
    }
}

@Suite struct `a protocol that ALPN chose` {
    private func said(_ chosen: String, _ bytes: [UInt8]) -> (text: String, isClosed: Bool) {
        let client = PlainClient()
        client.world.settle()
        client.world.loops[0].core.negotiated(0, chosen)
        client.socket.clientSends(bytes)
        return (client.hear(), client.isClosed)
    }

    @Test func `is spoken`() {
        let get = Array("GET /console/ HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        #expect(self.said("http/1.1", get).text.hasPrefix("HTTP/1.1 404"))
        let preface = HTTP2.preface + HTTP2FrameHeader.frame(.settings, [])
        #expect(!self.said("h2", preface).isClosed)
    }

    @Test func `is not another one`() {
        let get = Array("GET /console/ HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        let http2 = self.said("h2", get)
        #expect(http2.isClosed && http2.text.contains("TLS chose h2 by ALPN") && !http2.text.contains("HTTP/1.1 "))
        let http1 = self.said("http/1.1", HTTP2.preface)
        #expect(http1.isClosed && http1.text.hasPrefix("HTTP/1.1 400 ") && http1.text.contains("HTTP_PROTOCOL"))
        let hello = self.said("http/1.1", [1, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(hello.isClosed && hello.text.hasPrefix("HTTP/1.1 400 "), "\(hello)")
        let perch = self.said("perch/1", get)
        #expect(perch.isClosed && perch.text.contains("HTTP_PROTOCOL") && !perch.text.hasPrefix("HTTP"))
    }
}

extension String {
    func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let found = rest.firstRange(of: text) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
