import Testing

@testable import PerchHTTP

@Suite struct `requests with bodies` {
    private let post = Array("POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello".utf8)

    @Test func `come in pieces of any size`() throws {
        for size in 1...self.post.count {
            var parser = HTTPMessageParser(limitBytes: 1_024)
            var found: [HTTPMessage] = []
            for start in stride(from: 0, to: self.post.count, by: size) {
                parser.append(self.post[start..<min(start + size, self.post.count)])
                if let message = try parser.next() { found.append(message) }
            }
            #expect(found.count == 1 && found[0].method == "POST" && found[0].target == "/a?b=c")
            #expect(found.first?.body == Array("hello".utf8) && found.first?.field("host") == "x")
            #expect(!parser.hasBytes)
        }
    }

    @Test func `follow each other`() throws {
        var parser = HTTPMessageParser(limitBytes: 1_024)
        parser.append(self.post + self.post + Array("GET / HTTP/1.0\r\n\r\nrest".utf8))
        #expect(try parser.next()?.body.count == 5)
        #expect(try parser.next()?.keepsAlive == true)
        #expect(try parser.next()?.keepsAlive == false)
        #expect(parser.rest == Array("rest".utf8))
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\n folded: x\r\n\r\n", "GET / HTTP/1.1\r\na : b\r\n\r\n",
        "GET / HTTP/1.1\r\na: b\u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n",
        "GET / HTTP/1.1\r\nx: \ry\r\n\r\n",
    ])
    func `are refused where two programs could read them differently`(_ text: String) {
        var parser = HTTPMessageParser(limitBytes: 512)
        parser.append(Array(text.utf8))
        #expect(throws: HTTPRefusal.self) { try parser.next() }
    }

    @Test func `have a limit for their head`() {
        var parser = HTTPMessageParser(limitBytes: 64)
        parser.append([UInt8](repeating: UInt8(ascii: "a"), count: 64))
        #expect(throws: HTTPRefusal.headTooLong) { try parser.next() }
    }
}
