import PerchBase
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

@Suite struct `a read as GET` {
    @Test func `answers fields by name`() {
        let answer = PlainClient().get("account=anna&groupId=plans")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains(#""success""#), "\(answer)")
    }

    // 16 KiB hold 8,000 names, and a tree of that depth was freed by recursion on a stack of 1 MiB.
    @Test(arguments: [32, 4_000, 7_900])
    func `is refused with a path of too many names`(count: Int) {
        let client = PlainClient()
        let answer = client.get([String](repeating: "a", count: count).joined(separator: ".") + "=1")
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        #expect(answer.contains("a path of \(count) names, the limit is 31"), "\(answer)")
        #expect(client.get("account=anna&groupId=plans").hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func `is refused with too many fields`() {
        let names = (0...Limits.queryFieldsMax).map { "a\($0)=1" }.joined(separator: "&")
        let answer = PlainClient().get(names)
        #expect(answer.contains("the query has \(Limits.queryFieldsMax + 1) fields, the limit is"), "\(answer)")
    }

    @Test(arguments: [
        ("connect-timeout-ms: soon", "timeout"), ("connect-timeout-ms: 0", "deadline"),
        ("perch-client-id: \(String(repeating: "x", count: 300))", "perch-client-id has 300 bytes"),
    ])
    func `is refused for the same heads as a POST`(field: String, text: String) {
        let answer = PlainClient().get("account=anna&groupId=plans", field + "\r\n")
        #expect(!answer.hasPrefix("HTTP/1.1 200") && answer.contains(text), "\(answer)")
    }
}

@Suite struct `a read as HEAD` {
    private static let path = "/perch.v1.EntitlementService/"

    private func head(_ client: PlainClient, _ target: String, _ fields: String = "") -> String {
        client.say("HEAD \(Self.path)\(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    }

    @Test(arguments: ["", "Accept-Encoding: gzip\r\n"])
    func `has the status of its GET and no body, and the connection goes on`(fields: String) {
        let client = PlainClient()
        let answer = self.head(client, "GetSubscriptionStatus?account=anna&groupId=plans", fields)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
        #expect(answer.contains("\r\ncontent-type: application/json\r\n"), "\(answer)")
        #expect(answer.split(separator: "\r\n\r\n").count == 1, "\(answer)")
        let next = client.get("account=anna&groupId=plans")
        #expect(next.hasPrefix("HTTP/1.1 200 OK\r\n") && next.contains(#""success""#), "\(next)")
    }

    @Test func `is refused without a body, and the connection goes on`() {
        let client = PlainClient()
        for (target, status) in [
            ("GetSubscriptionStatus?account=anna&group=plans", 400), ("NoSuchMethod", 404),
            ("SubscriptionStatusTask?account=anna", 405), ("GetSubscriptionStatus?token=x", 400),
        ] {
            let answer = self.head(client, target)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix("\r\n\r\n"), "\(target): \(answer)")
            #expect(answer.contains("\r\ncontent-length: "), "\(answer)")
        }
        let changing = client.say("HEAD /perch.v1.TransactionService/Purchase HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(changing.hasPrefix("HTTP/1.1 405 ") && changing.contains("\r\nallow: POST\r\n"), "\(changing)")
        #expect(client.get("account=anna&groupId=plans").hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func `is named among the methods of a server`() {
        let answer = PlainClient().say("PUT /console/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.contains("\r\nallow: GET, HEAD, POST\r\n"), "\(answer)")
    }
}

@Suite struct `a call in the wrong form` {
    @Test func `of a stream by GET is told to accept events`() {
        let answer = PlainClient().say(
            "GET /perch.v1.EntitlementService/SubscriptionStatusTask?account=anna HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 406 ") && answer.contains("Accept: text/event-stream"), "\(answer)")
    }

    @Test(arguments: [
        ("SubscriptionStatusTask", "json", "connect+json"),
        ("GetSubscriptionStatus", "connect+json", "application/json"),
    ])
    func `of Connect is told its content type`(method: String, type: String, expected: String) {
        let body = type == "json" ? "{}" : "\u{0}\u{0}\u{0}\u{0}\u{2}{}"
        let answer = PlainClient().say(
            "POST /perch.v1.EntitlementService/\(method) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/\(type)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 415 ") && answer.contains(expected), "\(answer)")
    }
}

@Suite struct `a form` {
    @Test(arguments: [
        ("GetSubscriptionStatus", "curl -H 'content-type: application/json' -d '{…}' localhost/perch.v1."),
        ("SubscriptionStatusTask", "curl -N -H 'accept: text/event-stream' 'localhost/perch.v1."),
    ])
    func `gets 415 with the right call`(method: String, expected: String) {
        let body = "account=anna&groupId=plans"
        let answer = PlainClient().say(
            "POST /perch.v1.EntitlementService/\(method) HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        #expect(answer.hasPrefix("HTTP/1.1 415 ") && answer.contains(expected), "\(answer)")
    }
}

@Suite struct `a client that asks before it sends a body` {
    private static let path = "/perch.v1.EntitlementService/GetSubscriptionStatus"
    private static let head =
        "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"

    @Test(arguments: [false, true]) func `is told to go on, once, and then answered`(isChunked: Bool) {
        let client = PlainClient()
        let body = #"{"account":"anna","groupId":"plans"}"#
        let length = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.utf8.count)"
        #expect(client.say("\(Self.head)\(length)\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        let sent = isChunked ? PlainClient.chunk(body) + "0\r\n\r\n" : body
        #expect(client.say(String(sent.prefix(10))).isEmpty)
        let answer = client.say(String(sent.dropFirst(10)))
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains(#""success""#), "\(answer)")
        // The next request on the connection asks again.
        #expect(client.say("\(Self.head)\(length)\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test func `is refused at once if the body is too long`() {
        let answer = PlainClient().say("\(Self.head)Content-Length: 900000\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
    }

    @Test func `is refused for another expectation`() {
        let answer = PlainClient().say(
            "POST \(Self.path) HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n{}")
        #expect(answer.hasPrefix("HTTP/1.1 417 "), "\(answer)")
    }
}

@Suite struct `a first request` {
    /// Its limit was that of a connection without credentials, although the server asks for none.
    @Test func `may have the length of any other where no credentials are needed`() {
        let ids = (0..<4_000).map { #""product-\#($0)""# }.joined(separator: ",")
        let body = #"{"productIds":[\#(ids)]}"#
        #expect(body.utf8.count > Limits.unidentifiedFrameBytesMax && body.utf8.count < Limits.requestBytesMax)
        let answer = PlainClient().say(
            "POST /perch.v1.EntitlementService/GetProducts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer.prefix(300))")
    }
}

@Suite struct `a unary answer of Connect` {
    private static let ids = (0..<400).map { #""product-\#($0)""# }.joined(separator: ",")

    private static func answer(accepting: String, ids: String = Self.ids) -> String {
        let body = #"{"productIds":[\#(ids)]}"#
        return PlainClient().say(
            "POST /perch.v1.EntitlementService/GetProducts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Accept-Encoding: \(accepting)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test(arguments: [("gzip", "gzip"), ("deflate", "deflate"), ("deflate, gzip, br", "gzip")])
    func `is compressed as its client accepts`(accepting: String, expected: String) {
        let answer = Self.answer(accepting: accepting)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("content-encoding: \(expected)\r\n"))
        #expect(!answer.contains("product-399") && answer.utf8.count < 4_000, "\(answer.utf8.count)")
    }

    @Test(arguments: ["identity", "br", ""]) func `is plain for others`(accepting: String) {
        let answer = Self.answer(accepting: accepting)
        #expect(!answer.contains("content-encoding") && answer.contains("product-399"))
    }

    @Test func `is plain if it is short`() {
        let answer = Self.answer(accepting: "gzip", ids: #""x""#)
        #expect(!answer.contains("content-encoding") && answer.contains("unavailableIds"))
    }
}

@Suite struct `a catalogue in JSON` {
    @Test func `may be as long as a request`() throws {
        let text = String(repeating: "A", count: 3_000_000)
        let bytes = try MessageCodec.requestBytes(.loadCatalog, ofJSON: Array(#"{"file":"\#(text)"}"#.utf8))
        #expect(bytes.count > 2_250_000 && bytes.count < 2_250_020)
    }
}

@Suite struct `health over Connect` {
    @Test(arguments: [
        ("", "200 OK", #"{"status":"SERVING"}"#), ("{}", "200 OK", #"{"status":"SERVING"}"#),
        (#"{"service":"perch.v1.EntitlementService"}"#, "200 OK", #"{"status":"SERVING"}"#),
        (#"{"service":"nothing"}"#, "404 ", "not_found"), (#"{"service":1}"#, "400 ", "MESSAGE_MALFORMED"),
        (#"{"servic":"x"}"#, "400 ", "MESSAGE_MALFORMED"), ("{", "400 ", "MESSAGE_MALFORMED"),
    ])
    func `speaks JSON`(body: String, status: String, text: String) {
        let answer = PlainClient().say(
            "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
        #expect(answer.contains(text) || text == "MESSAGE_MALFORMED", "\(answer)")
    }
}

@Suite struct `a body in chunks` {
    private static let head =
        "POST /perch.v1.EntitlementService/GetSubscriptionStatus HTTP/1.1\r\nHost: localhost\r\n"
        + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `is read however it is cut, and the next request follows`() {
        let parts = [#"{"account":"#, #""anna","#, #""groupId":"plans"}"#].map { PlainClient.chunk($0) }
        let text = Self.head + parts.joined() + "0\r\n\r\n"
        for step in [1, 2, 7, 50, text.utf8.count] {
            let client = PlainClient()
            let bytes = Array(text.utf8)
            for _ in 0..<2 {
                var answer = ""
                for start in stride(from: 0, to: bytes.count, by: step) {
                    let part = bytes[start..<min(start + step, bytes.count)]
                    answer += client.say(String(decoding: part, as: UTF8.self))
                }
                #expect(answer.hasPrefix("HTTP/1.1 200 OK") && answer.contains("success"), "\(step): \(answer)")
            }
        }
    }

    @Test func `of two requests at once is not mixed up`() {
        let one = Self.head + PlainClient.chunk(#"{"account":"anna","groupId":"plans"}"#) + "0\r\n\r\n"
        let answer = PlainClient().say(one + one)
        #expect(answer.components(of: "HTTP/1.1 200 OK") == 2, "\(answer)")
    }

    @Test(arguments: ["zz\r\n", "5\r\nhelloX\r\n", "5\nhello\r\n", "fffffff\r\n", "123456789\r\n"])
    func `is refused when it is broken or too long`(chunk: String) {
        let answer = PlainClient().say(Self.head + chunk)
        #expect(answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
        #expect(answer.contains("connection: close"), "\(answer)")
    }
}

@Suite struct `a peer that is refused before it says what it speaks` {
    private func refused(_ first: String) -> String {
        let client = PlainClient()
        client.world.settle()
        let bytes = Array(first.utf8)
        client.world.loops[0].core.refuse(
            0, WireStatus(.tlsRequired, "this port takes TLS only"), first: bytes.span.bytes)
        client.world.turn()
        return client.say("")
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
    func `is answered in HTTP if it begins so`(first: String) {
        let answer = self.refused(first)
        #expect(answer.hasPrefix("HTTP/1.1 ") && answer.contains("this port takes TLS only"), "\(answer)")
    }

    @Test func `gets a DRAIN otherwise`() {
        let answer = self.refused("\u{0}\u{0}\u{0}\u{1}")
        #expect(!answer.contains("HTTP") && answer.contains("TLS_REQUIRED"), "\(answer)")
    }
}

@Suite struct `several watches over HTTP/1.1` {
    /// The messages of a Connect stream among the chunks of a response.
    private func messages(_ heard: String) -> [String] {
        heard.split(separator: "\r\n").filter { $0.contains("{") }.map { String($0.drop { $0 != "{" }) }
    }

    @Test func `are one stream of JSON, with a bookmark behind the values of a change`() throws {
        let world = World()
        let client = PlainClient(world)
        let json =
            #"{"watches":[{"subscriptionStatusTask":{"account":"anna","groupId":"plans"}},"#
            + #"{"entitlementsTask":{"account":"anna"}},{"productsTask":{"productIds":["gold"]}}]}"#
        let front: [UInt8] = [0, 0, 0, UInt8(json.utf8.count >> 8), UInt8(json.utf8.count & 255)]
        let body = front + Array(json.utf8)
        let head =
            "POST /perch.v1.WatchService/Watch HTTP/1.1\r\nHost: localhost\r\nPerch-Groups: 1\r\n"
            + "Content-Type: application/connect+json\r\nContent-Length: \(body.count)\r\n\r\n"
        client.socket.clientSends(Array(head.utf8) + body)
        let first = self.messages(client.say(""))
        #expect(first.contains { $0.hasPrefix(#"{"subscriptionStatusTask":"#) }, "\(first)")
        #expect(first.contains { $0.hasPrefix(#"{"watch":1,"entitlementsTask":"#) }, "\(first)")
        #expect(first.contains { $0.hasPrefix(#"{"watch":2,"productsTask":"#) }, "\(first)")
        try world.buy("gold", from: world.welcomedClient())
        let news = self.messages(client.say(""))
        #expect(news.first?.contains("RENEWAL_STATE_SUBSCRIBED") == true, "\(news)")
        #expect(news.last?.hasPrefix(#"{"bookmark":{"#) == true, "\(news)")
        #expect(news.count(where: { $0.contains("bookmark") }) == 1, "\(news)")
        #expect(!news.contains { $0.contains("productsTask") }, "\(news)")
        client.socket.reset()
        world.checkNothingIsLeft()
    }
}
