import PerchBase
import PerchHTTP
import Testing

@Suite struct `the head of a request` {
    private func parse(_ text: String) -> Result<HTTPRequest?, HTTPRefusal> {
        var parser = HTTPHeadParser()
        parser.append(text.utf8)
        return Result { () throws(HTTPRefusal) in try parser.next() }
    }

    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", HTTPRequest(path: "/metrics")),
        ("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", HTTPRequest(method: .head, path: "/")),
        ("GET /a?b=c#d HTTP/1.1\r\nhost:x\r\n\r\n", HTTPRequest(path: "/a")),
        ("GET http://x:1/a HTTP/1.1\r\nHost: x\r\n\r\n", HTTPRequest(path: "/a")),
        ("GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", HTTPRequest(path: "/")),
        ("GET / HTTP/1.0\r\n\r\n", HTTPRequest(path: "/", keepsAlive: false)),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", HTTPRequest(path: "/")),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: TE, close\r\n\r\n", HTTPRequest(path: "/", keepsAlive: false)),
        ("GET / HTTP/1.7\r\nHost: x\r\nContent-Length: 0\r\n\r\n", HTTPRequest(path: "/")),
        ("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", HTTPRequest(path: "/")),
        ("GET / HTTP/1.1\nHost: x\n\n", HTTPRequest(path: "/")),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \u{FC}\t\r\n\r\n", HTTPRequest(path: "/")),
    ])
    func `the head of a request is parsed`(_ text: String, _ request: HTTPRequest) {
        #expect(self.parse(text) == .success(request))
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\n", "GET", "", "GET / HTTP/1.1\r\nHost: x\r\n\r",
    ])
    func `the head of a request is incomplete until its last line`(_ text: String) {
        #expect(self.parse(text) == .success(nil))
    }

    @Test(
        arguments: [
            ("POST /metrics HTTP/1.1\r\n", .methodNotAllowed), ("get / HTTP/1.1\r\n", .methodNotAllowed),
            ("PRI * HTTP/2.0\r\n", .versionNotSupported), ("GET / HTTP/2.0\r\n", .versionNotSupported),
            ("GET / HTTP/0.9\r\n", .versionNotSupported),
        ] as [(String, HTTPRefusal)])
    func `an unsupported request line is refused at once`(_ text: String, _ refusal: HTTPRefusal) {
        #expect(self.parse(text) == .failure(refusal))
    }

    @Test(arguments: [
        "GET /\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", " GET / HTTP/1.1\r\n", "GET metrics HTTP/1.1\r\n",
        "GET * HTTP/1.1\r\n", "GET / HTTP/11\r\n", "GET / http/1.1\r\n", "GET / HTTP/1.x\r\n", "GET\t/ HTTP/1.1\r\n",
        "GET /\u{FC} HTTP/1.1\r\n", "GET /\u{1} HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "\r\n\r\n", "\u{16}\u{3}\u{1}\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nName : v\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n: v\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nA: \u{0}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
    ])
    func `that two parsers could read differently is refused`(_ text: String) {
        guard case .failure(.badRequest(let why)) = self.parse(text) else {
            Issue.record("\(text.debugDescription) gave \(self.parse(text))")
            return
        }
        #expect(!why.isEmpty)
    }

    @Test func `the head of a request may arrive in any pieces, followed by the next one`() throws {
        let text = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\nHEAD /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        for size in [1, 2, 3, 7, text.utf8.count] {
            var parser = HTTPHeadParser()
            var found: [HTTPRequest] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                parser.append(rest.prefix(size))
                rest = rest.dropFirst(size)
                while let request = try parser.next() { found.append(request) }
            }
            #expect(
                found == [HTTPRequest(path: "/metrics"), HTTPRequest(method: .head, path: "/b", keepsAlive: false)])
            #expect(!parser.hasBytes)
        }
    }

    /// The parser's results for bytes in pieces of a given size, until it needs more or refuses.
    private func outcomes(_ bytes: [UInt8], piece: Int) -> [Result<HTTPRequest, HTTPRefusal>] {
        var parser = HTTPHeadParser(limitBytes: 64)
        var outcomes: [Result<HTTPRequest, HTTPRefusal>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            parser.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            do throws(HTTPRefusal) {
                while let request = try parser.next() { outcomes.append(.success(request)) }
            } catch {
                return outcomes + [.failure(error)]
            }
        }
        return outcomes
    }

    @Test func `the head of a request gives the same result whole and byte by byte, whichever byte is damaged`() {
        let head = Array("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)
        var refused = 0
        for index in head.indices {
            for byte: UInt8 in [0, 9, 10, 13, 32, 34, 58, 65, 127, 128, 255, head[index] ^ 0x20] {
                var damaged = head
                damaged[index] = byte
                // A second request after the head shows where the parser ends the first.
                let whole = self.outcomes(damaged + head, piece: .max)
                #expect(self.outcomes(damaged + head, piece: 1) == whole, "byte \(index) is \(byte)")
                if case .failure? = whole.last { refused += 1 }
            }
        }
        #expect(refused > head.count * 4)
    }

    /// A complete head of the given length.
    private func head(_ bytes: Int) -> [UInt8] {
        let start = "GET / HTTP/1.1\r\nHost: x\r\nX: "
        let filling = String(repeating: "a", count: bytes - start.utf8.count - 4)
        return Array((start + filling + "\r\n\r\n").utf8)
    }

    @Test func `the head of a request is accepted one byte below and at its limit, and refused one above`() throws {
        for length in [Limits.httpHeadBytesMax - 1, Limits.httpHeadBytesMax] {
            var parser = HTTPHeadParser()
            parser.append(self.head(length))
            #expect(try parser.next() == HTTPRequest(path: "/"))
        }
        var parser = HTTPHeadParser()
        parser.append(self.head(Limits.httpHeadBytesMax + 1))
        #expect(throws: HTTPRefusal.headTooLong) { try parser.next() }
    }

    @Test func `a head without an end is refused at its limit, not after it`() throws {
        var parser = HTTPHeadParser()
        parser.append(Array("GET / HTTP/1.1\r\n".utf8) + Array(repeating: UInt8(ascii: "a"), count: 8_000))
        #expect(try parser.next() == nil)
        parser.append(Array(repeating: UInt8(ascii: "a"), count: Limits.httpHeadBytesMax - 8_016))
        #expect(throws: HTTPRefusal.headTooLong) { try parser.next() }
    }
}

@Suite struct `a listener of loopback` {
    private func next(_ head: String) throws(HTTPRefusal) -> HTTPRequest? {
        var parser = HTTPHeadParser(hosts: HostRule(.loopback, names: ["monitor"]))
        parser.append(Array(head.utf8))
        return try parser.next()
    }

    @Test(arguments: [
        "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer x\r\nOrigin: http://localhost\r\n\r\n",
        "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /metrics HTTP/1.0\r\nHost: evil.example\r\n\r\n",
    ])
    func `answers no page of a foreign name`(head: String) {
        #expect {
            try self.next(head)
        } throws: { error in
            guard case HTTPRefusal.misdirected(let text) = error else { return false }
            return text.contains("--allow-host evil.example")
        }
    }

    @Test(arguments: ["localhost:7448", "127.0.0.1", "[::1]:7448", "monitor:7448"])
    func `answers its own names`(host: String) throws {
        #expect(try self.next("GET /metrics HTTP/1.1\r\nHost: \(host)\r\n\r\n")?.path == "/metrics")
        #expect(try self.next("GET /metrics HTTP/1.0\r\n\r\n")?.path == "/metrics")
    }
}
