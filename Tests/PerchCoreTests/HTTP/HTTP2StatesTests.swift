import PerchBase
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// The cases of h2spec that concern streams and messages, by RFC 9113.
@Suite struct HTTP2StatesTests {
    private static let fields = [
        (":method", "POST"), (":scheme", "http"), (":path", "/perch.v1.AdminService/ListApps"),
        (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers"),
    ]
    private static let message: [UInt8] = [0, 0, 0, 0, 0]

    private func closed(_ client: HTTP2Client, _ code: HTTP2Error) -> Bool {
        client.settle()
        return client.goAways.last?.code == code.rawValue && client.hasEnded
    }

    private func reset(_ client: HTTP2Client, _ stream: UInt32, _ code: HTTP2Error) -> Bool {
        client.settle()
        let resets = client.frames.filter { $0.header.kind == .reset && $0.header.stream == stream }
        return client.goAways.isEmpty && resets.contains { $0.body.last == UInt8(code.rawValue) }
    }

    // 5.1.1
    @Test func `a stream below an open one is a fault of the connection`() {
        let client = HTTP2Client(World())
        client.block(Self.fields, on: 5)
        client.block(Self.fields, on: 3)
        #expect(self.closed(client, .protocolError))
        #expect(client.goAways.last?.text.contains("only rise") == true)
    }

    @Test func `a number that was left out is never opened, however many there are`() {
        let client = HTTP2Client(World())
        for stream in stride(from: UInt32(5), to: 600, by: 4) { client.block(Self.fields, on: stream) }
        client.settle()
        #expect(client.goAways.isEmpty)
        client.block(Self.fields, on: 595)
        #expect(self.closed(client, .protocolError))
    }

    // 5.1, closed
    @Test func `HEADERS on a stream that both sides have ended close the connection`() {
        let client = HTTP2Client(World())
        client.block(Self.fields, [], on: 1)
        client.send(.data, .endStream, 1, Self.message)
        client.settle()
        client.block(Self.fields, on: 1)
        #expect(self.closed(client, .streamClosed))
    }

    @Test func `DATA on a stream that both sides have ended close the connection`() {
        let client = HTTP2Client(World())
        client.block(Self.fields, [], on: 1)
        client.send(.data, .endStream, 1, Self.message)
        client.settle()
        client.send(.data, .endStream, 1, Self.message)
        #expect(self.closed(client, .streamClosed))
    }

    @Test func `frames behind the peer's own RST_STREAM are a fault of the stream`() {
        let client = HTTP2Client(World())
        client.block(Self.fields, [], on: 1)
        client.socket.clientSends(HTTP2.reset(1, .cancel))
        client.send(.data, .endStream, 1, Self.message)
        #expect(self.reset(client, 1, .streamClosed))
        let other = HTTP2Client(World())
        other.block(Self.fields, [], on: 1)
        other.socket.clientSends(HTTP2.reset(1, .cancel))
        other.block(Self.fields, on: 1)
        #expect(self.reset(other, 1, .streamClosed))
    }

    @Test func `frames behind a reset of the server's are a race, and ignored`() {
        let client = HTTP2Client(World())
        // Refused with trailers and RST_STREAM, while its body is on its way.
        let stream = client.open("/nothing/AtAll")
        client.settle()
        #expect(client[stream].resetCode == 0)
        client.send(.data, [], stream, Self.message)
        client.block([("x-checksum", "1")], on: stream)
        client.settle()
        let next = client.call(.listApps)
        client.settle()
        #expect(client.goAways.isEmpty && client.code(next) == 0)
        #expect(client.frames.count { $0.header.kind == .reset } == 1)
    }

    @Test func `frames of streams that ended long ago are refused without an end of the connection`() {
        let client = HTTP2Client(World())
        let first = client.open("/nothing/AtAll")
        client.settle()
        for _ in 0..<Limits.earlyEndsKept + 10 {
            _ = client.open("/nothing/AtAll")
            client.settle()
        }
        client.send(.data, .endStream, first, Self.message)
        #expect(self.reset(client, first, .streamClosed))
    }

    // 5.1, half-closed (remote)
    @Test func `DATA and HEADERS behind END_STREAM are a fault of the stream`() {
        let client = HTTP2Client(World())
        let watch = client.call(.status())
        client.settle()
        client.send(.data, .endStream, watch, Self.message)
        #expect(self.reset(client, watch, .streamClosed))
        let other = client.call(.status())
        client.settle()
        client.block([("x", "y")], on: other)
        #expect(self.reset(client, other, .streamClosed))
    }

    // 6.3
    @Test func `PRIORITY of a wrong length is a fault of its stream`() {
        let client = HTTP2Client(World())
        let watch = client.call(.status())
        client.settle()
        client.send(.priority, [], watch, [0, 0, 0, 0])
        #expect(self.reset(client, watch, .frameSize))
        #expect(client.world.loops[0].core.tables.calls.count == 0)
    }

    // 8.1.1
    @Test(arguments: [
        ("3", [5], true), ("9", [5], true), ("9", [5, 5], false), ("0", [5], false), ("8", [5, 0], true),
    ])
    func `a body unlike its content-length resets the stream`(length: String, parts: [Int], ends: Bool) {
        let client = HTTP2Client(World())
        client.block(Self.fields + [("content-length", length)], [], on: 1)
        for (index, part) in parts.enumerated() {
            client.send(
                .data, ends && index == parts.count - 1 ? .endStream : [], 1, [UInt8](repeating: 0, count: part))
        }
        #expect(self.reset(client, 1, .protocolError))
        #expect(client.world.loops[0].core.transport.http.lengths.isEmpty)
    }

    @Test func `a content-length without a body resets, and one that fits is served`() {
        let client = HTTP2Client(World())
        client.block(Self.fields + [("content-length", "5")], on: 1)
        #expect(self.reset(client, 1, .protocolError))
        client.block(Self.fields + [("content-length", "5")], [], on: 3)
        client.send(.data, [.padded], 3, [2, 0, 0, 0, 0, 0])
        client.send(.data, .endStream, 3, [0, 0])
        client.settle()
        #expect(client[3].hasEnded && client.goAways.isEmpty)
        client.block(Self.fields + [("content-length", "5")], [], on: 5)
        client.send(.data, [], 5, [0, 0])
        client.block([("x", "y")], on: 5)
        #expect(self.reset(client, 5, .protocolError))
    }

    // 8.1, 8.2
    @Test(arguments: [
        [(":path", "/x")], [(":status", "200")], [("Upper", "x")], [("connection", "close")], [("x", "a\r\nb")],
        [("x", " y")], [("", "x")],
    ])
    func `bad trailers reset the stream`(_ trailers: [(String, String)]) {
        let client = HTTP2Client(World())
        client.block(Self.fields, [], on: 1)
        client.send(.data, [], 1, Self.message)
        client.block(trailers, on: 1)
        #expect(self.reset(client, 1, .protocolError))
    }

    @Test func `trailers end a request`() {
        let client = HTTP2Client(World())
        client.block(Self.fields, [], on: 1)
        client.send(.data, [], 1, Self.message)
        client.block([("x-checksum", "1")], on: 1)
        client.settle()
        #expect(client[1].hasEnded && client.goAways.isEmpty && client[1].resetCode == nil)
    }

    @Test(arguments: [
        ("x", " y"), ("x", "y\t"), ("te", "gzip"), ("transfer-encoding", "chunked"), ("proxy-connection", "x"),
    ])
    func `a bad field of a request resets its stream`(_ field: (String, String)) {
        let client = HTTP2Client(World())
        client.block(Self.fields + [field], on: 1)
        #expect(self.reset(client, 1, .protocolError))
    }

    @Test(arguments: ["x", "nothing/AtAll", "http://localhost/x"])
    func `a path that does not begin with a slash resets its stream`(path: String) {
        let client = HTTP2Client(World())
        client.block([(":method", "POST"), (":scheme", "http"), (":path", path)], on: 1)
        #expect(self.reset(client, 1, .protocolError))
    }

    @Test func `CONNECT is not allowed`() {
        let client = HTTP2Client(World())
        client.block([(":method", "CONNECT"), (":authority", "localhost:443")], on: 1)
        client.block([(":method", "CONNECT"), (":authority", "localhost:443"), (":path", "/")], on: 3)
        client.settle()
        #expect(client[1].head[":status"] == "405" && client[3].resetCode == 1 && client.goAways.isEmpty)
    }

    // RFC 9110, 10.1.1
    @Test func `a client that asks before it sends a body is told to go on`() {
        let client = HTTP2Client(World())
        client.block(Self.fields + [("expect", "100-Continue")], [], on: 1)
        client.settle()
        let answers = client.frames.filter { $0.header.stream == 1 }
        #expect(answers.count == 1 && answers[0].header.kind == .headers)
        #expect(!answers[0].header.flags.contains(.endStream) && client[1].head[":status"] == "100")
        client.send(.data, .endStream, 1, Self.message)
        client.settle()
        #expect(client[1].hasEnded)
        client.block(Self.fields + [("expect", "tea")], [], on: 3)
        client.send(.data, .endStream, 3, Self.message)
        client.settle()
        #expect(client[3].head[":status"] == "417")
    }
}
