import PerchBase
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

private let text = String(repeating: "perch ", count: 20_000)

@Suite struct `a file for browsers` {
    /// A server with a page, a large file and an old path, and one connection to it.
    private struct Site {
        let client = PlainClient(World(Self.setup))

        static var setup: World.Setup {
            var files = ServedFiles()
            files.files["/console/"] = .init(contentType: "text/html", bytes: Array("<p>".utf8), tag: "\"a1\"")
            files.files["/console/~1/big.js"] = .init(
                contentType: "text/javascript", bytes: Array(text.utf8), tag: "\"b2\"",
                isImmutable: true)
            files.files["/console/~1/big.js"]?.gzip = [31, 139, 8]
            files.moved["/"] = "/console/"
            var setup = World.Setup()
            setup.core.files = files
            return setup
        }

        func get(_ path: String, _ fields: String = "", host: String = "localhost") -> String {
            self.say("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
        }

        func say(_ request: String) -> String { self.client.say(request) }
    }

    @Test func `waits for its window once for all streams, and within the bound of a connection`() {
        let client = HTTP2Client(World(Site.setup), initialWindow: 0)
        func payloadBytes() -> Int { client.world.loops[0].core.tables.payloads.bytes }
        client.get("/console/~1/big.js")
        client.settle()
        let first = payloadBytes()
        for _ in 0..<20 {
            for _ in 0..<20 { client.get("/console/~1/big.js") }
            client.settle()
        }
        let unsent = client.world.loops[0].core.transport.http.connections[0].unsentBytes
        #expect(unsent > Limits.httpBlockedBytesMax && unsent < Limits.httpBlockedBytesMax + 3 * text.utf8.count)
        // The file is there once: each stream adds a head.
        #expect(payloadBytes() - first < 400 * 2_000, "\(payloadBytes()) bytes after \(first)")
        #expect(client.streams.values.contains { $0.head[":status"] == "429" })
    }

    @Test func `comes with its type, its tag and the policy of the page`() {
        let answer = Site().get("/console/")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n<p>"), "\(answer)")
        for field in [
            "content-type: text/html", "etag: \"a1\"", "cache-control: no-cache", "x-content-type-options: nosniff",
            "content-security-policy: default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ] {
            #expect(answer.contains("\r\n" + field + "\r\n"), "\(field) is not in \(answer)")
        }
    }

    @Test func `is not sent to a browser that has it`() {
        let site = Site()
        let answer = site.get("/console/", "If-None-Match: \"x\", W/\"a1\"\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 304 Not Modified\r\n") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
        #expect(!answer.contains("content-length"), "\(answer)")
        #expect(site.get("/console/", "If-None-Match: \"other\"\r\n").hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test func `is kept for ever where its path names its content, and comes whole`() {
        let answer = Site().get("/console/~1/big.js")
        #expect(answer.contains("cache-control: public, max-age=31536000, immutable"), "\(answer.prefix(600))")
        #expect(answer.hasSuffix("\r\n\r\n" + text))
    }

    @Test(arguments: [("gzip, br", true), ("br;q=1, gzip;q=0.5", true), ("gzip;q=0", false), ("identity", false)])
    func `is compressed for a browser that accepts it`(accepted: String, isCompressed: Bool) {
        let answer = Site().get("/console/~1/big.js", "Accept-Encoding: \(accepted)\r\n")
        #expect(answer.contains("\r\ncontent-encoding: gzip\r\n") == isCompressed, "\(answer.prefix(600))")
        #expect(answer.contains("\r\nvary: accept-encoding\r\n"))
    }

    @Test func `is found at its path alone, and a connection goes on after it`() {
        let site = Site()
        for path in ["/console/x", "/console/../console/", "/console/%7e1/big.js", "/console", "/console/~1/"] {
            #expect(site.get(path).hasPrefix("HTTP/1.1 404 "), "\(path)")
        }
        let moved = site.get("/")
        #expect(moved.hasPrefix("HTTP/1.1 302 ") && moved.contains("\r\nlocation: /console/\r\n"), "\(moved)")
        #expect(site.get("/console/?x=1").hasPrefix("HTTP/1.1 200 OK"))
        let posted = site.say("POST /console/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        #expect(posted.hasPrefix("HTTP/1.1 415"), "\(posted)")
    }

    @Test(arguments: ["/console/", "/console/~1/big.js", "/console/x", "/"])
    func `has the head of its GET as the answer to HEAD`(path: String) throws {
        let site = Site()
        let got = site.get(path)
        let end = try #require(got.firstRange(of: "\r\n\r\n")).upperBound
        #expect(site.say("HEAD \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") == got[..<end])
        #expect(got[..<end].contains("\r\ncontent-length: \(got[end...].utf8.count)\r\n"))
        // The next answer begins where the head ended.
        #expect(site.get(path) == got)
    }

    @Test func `has heads for HEAD under the rules of GET`() {
        let site = Site()
        let known = site.say("HEAD /console/ HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"a1\"\r\n\r\n")
        #expect(known.hasPrefix("HTTP/1.1 304 ") && known.hasSuffix("\r\n\r\n"), "\(known)")
        let packed = site.say("HEAD /console/~1/big.js HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n")
        #expect(packed.contains("\r\ncontent-encoding: gzip\r\n") && packed.contains("\r\ncontent-length: 3\r\n"))
        let foreign = site.say("HEAD /console/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        #expect(foreign.hasPrefix("HTTP/1.1 421 ") && foreign.hasSuffix("\r\n\r\n"), "\(foreign)")
    }

    @Test func `is not given to a page of another site, nor under another name of this machine`() {
        #expect(Site().get("/console/", host: "evil.example").hasPrefix("HTTP/1.1 421 "))
        #expect(Site().get("/console/", "Origin: http://evil.example\r\n").hasPrefix("HTTP/1.1 403 "))
    }

    @Test func `is not there where the console is off`() {
        let world = World()
        let socket = SimulatedSocket(number: 9_100)
        world.loops[0].backlog.append(socket)
        socket.clientSends(Array("GET /console/ HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        _ = socket.deliverToServer()
        world.settle()
        #expect(String(decoding: socket.deliverToClient(), as: UTF8.self).hasPrefix("HTTP/1.1 404 "))
    }
}
