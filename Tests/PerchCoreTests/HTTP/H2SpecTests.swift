import PerchBase
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// The cases of h2spec that stand nowhere else, by the sections of RFC 9113 and RFC 7541. Those of RFC 7540's priorities are gone:
/// a stream that depends on itself is none of a server's business any more.
struct H2SpecCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable, Sendable {
        /// GOAWAY with one of these codes, or the end of the connection.
        case connection([HTTP2Error])
        case stream([HTTP2Error])
        /// The call on this stream is answered, and nothing is closed.
        case answered(UInt32)
        case acknowledged
    }

    var name: String
    var outcome: Outcome
    var run: @Sendable (HTTP2Client) -> Void

    init(_ name: String, _ outcome: Outcome, _ run: @escaping @Sendable (HTTP2Client) -> Void) {
        (self.name, self.outcome, self.run) = (name, outcome, run)
    }

    var testDescription: String { self.name }

    static let head = HTTP2Client.head("/perch.v1.AdminService/ListApps")
    static let message: [UInt8] = [0, 0, 0, 0, 0]

    static func settings(_ id: UInt16, _ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: id.bigEndian) { Array($0) } + withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    /// A whole call.
    static func call(_ client: HTTP2Client, _ stream: UInt32) {
        client.block([], [], on: stream, raw: Self.head)
        client.send(.data, .endStream, stream, Self.message)
    }

    /// A frame of a kind that the enumeration does not have.
    static func unknown(_ client: HTTP2Client, _ stream: UInt32) {
        client.socket.clientSends([0, 0, 8, 0x16, 0xFF] + withUnsafeBytes(of: stream.bigEndian) { Array($0) })
        client.socket.clientSends([UInt8](repeating: 0, count: 8))
    }

    static let frames: [H2SpecCase] = [
        H2SpecCase("4.1: a frame of an unknown type is ignored", .acknowledged) { client in
            Self.unknown(client, 0)
            client.send(.ping, [], 0, Self.message + [0, 0, 0])
        },
        H2SpecCase("4.1: undefined flags are ignored", .acknowledged) { client in
            client.send(.ping, HTTP2FrameHeader.Flags(rawValue: 0x16), 0, Self.message + [0, 0, 0])
        },
        H2SpecCase("4.1: the reserved bit is ignored", .acknowledged) { client in
            client.send(.ping, [], 0x8000_0000, Self.message + [0, 0, 0])
        },
        H2SpecCase("4.2: a frame of 2^14 bytes is taken", .answered(1)) { client in
            client.block([], [], on: 1, raw: Self.head)
            // Padding fills the frame.
            client.send(
                .data, [.endStream, .padded], 1, [255] + Self.message + [UInt8](repeating: 0, count: 255))
        },
        H2SpecCase("4.2: DATA over the limit", .connection([.frameSize])) { client in
            client.block([], [], on: 1, raw: Self.head)
            client.send(.data, .endStream, 1, [UInt8](repeating: 0, count: 16_385))
        },
        H2SpecCase("4.2: HEADERS over the limit", .connection([.frameSize])) { client in
            client.send(.headers, [.endHeaders, .endStream], 1, [UInt8](repeating: 0x88, count: 16_385))
        },
        H2SpecCase("4.3: PRIORITY within a header block", .connection([.protocolError])) { client in
            client.send(.headers, .endStream, 1, Self.head)
            client.send(.priority, [], 1, [0, 0, 0, 0, 255])
        },
        H2SpecCase("4.3, 6.2: HEADERS of another stream within a header block", .connection([.protocolError])) {
            client in
            client.send(.headers, .endStream, 1, Self.head)
            client.send(.headers, [.endHeaders, .endStream], 3, Self.head)
        },
        H2SpecCase("5.1: WINDOW_UPDATE on an idle stream", .connection([.protocolError])) { client in
            client.window(1, 100)
        },
        H2SpecCase("5.1: CONTINUATION on a half-closed stream", .connection([.protocolError])) { client in
            client.send(.headers, [.endHeaders, .endStream], 1, Self.head)
            client.send(.continuation, .endHeaders, 1, Self.head)
        },
        H2SpecCase("5.1: CONTINUATION behind RST_STREAM", .connection([.protocolError])) { client in
            client.send(.headers, .endHeaders, 1, Self.head)
            client.socket.clientSends(HTTP2.reset(1, .cancel))
            client.send(.continuation, .endHeaders, 1, Self.head)
        },
        H2SpecCase("5.1: WINDOW_UPDATE and RST_STREAM on a closed stream", .answered(3)) { client in
            Self.call(client, 1)
            client.settle()
            client.window(1, 100)
            client.socket.clientSends(HTTP2.reset(1, .cancel))
            Self.call(client, 3)
        },
        H2SpecCase("5.5: an unknown frame within a header block", .connection([.protocolError])) { client in
            client.send(.headers, .endStream, 1, Self.head)
            Self.unknown(client, 0)
        },
        H2SpecCase("6.1: padding longer than DATA", .connection([.protocolError])) { client in
            client.block([], [], on: 1, raw: Self.head)
            client.send(.data, [.endStream, .padded], 1, [6, 0, 0, 0, 0, 0])
        },
        H2SpecCase("6.5.2: an unknown setting is ignored", .acknowledged) { client in
            client.send(.settings, [], 0, Self.settings(0xFF, 1))
            client.send(.ping, [], 0, Self.message + [0, 0, 0])
        },
        H2SpecCase("6.5.2: MAX_FRAME_SIZE over its maximum", .connection([.protocolError])) { client in
            client.send(.settings, [], 0, Self.settings(5, 1 << 24))
        },
        H2SpecCase("6.5.3: the last of several values counts", .answered(1)) { client in
            client.send(.settings, [], 0, Self.settings(4, 0) + Self.settings(4, 1 << 16))
            Self.call(client, 1)
        },
        H2SpecCase("6.7: a PING that answers is not answered", .answered(1)) { client in
            client.send(.ping, .ack, 0, Self.message + [0, 0, 0])
            Self.call(client, 1)
        },
        H2SpecCase("6.8: GOAWAY on a stream", .connection([.protocolError])) { client in
            client.send(.goAway, [], 1, [UInt8](repeating: 0, count: 8))
        },
        H2SpecCase("6.9.2: windows that a setting makes negative open again", .answered(1)) { client in
            client.send(.settings, [], 0, Self.settings(4, 3))
            Self.call(client, 1)
            client.settle()
            client.send(.settings, [], 0, Self.settings(4, 2))
            client.send(.settings, [], 0, Self.settings(4, 1 << 16))
        },
        H2SpecCase("6.9: WINDOW_UPDATE of a stream by nothing", .stream([.protocolError])) { client in
            client.block([], [], on: 1, raw: Self.head)
            client.window(1, 0)
        },
        H2SpecCase("6.9.1: a stream's window over 2^31-1", .stream([.flowControl])) { client in
            client.block([], [], on: 1, raw: Self.head)
            client.window(1, 0x7FFF_FFFF)
        },
        H2SpecCase("6.10: several CONTINUATION frames", .answered(1)) { client in
            client.send(.headers, [], 1, Array(Self.head[..<9]))
            client.send(.continuation, [], 1, Array(Self.head[9..<17]))
            client.send(.continuation, [], 1, [])
            client.send(.continuation, .endHeaders, 1, Array(Self.head[17...]))
            client.expect(.listApps, on: 1)
            client.send(.data, .endStream, 1, Self.message)
        },
        H2SpecCase("6.10: CONTINUATION of stream 0", .connection([.protocolError])) { client in
            client.send(.headers, .endStream, 1, Self.head)
            client.send(.continuation, .endHeaders, 0, Self.head)
        },
        H2SpecCase("6.10: CONTINUATION behind DATA", .connection([.protocolError])) { client in
            client.block([], [], on: 1, raw: Self.head)
            client.send(.data, [], 1, Self.message)
            client.send(.continuation, .endHeaders, 1, Self.head)
        },
        H2SpecCase("8.1: a second head without END_STREAM", .stream([.protocolError])) { client in
            client.block([], [], on: 1, raw: Self.head)
            client.block([("x", "y")], [], on: 1)
        },
        H2SpecCase("8.4: PUSH_PROMISE of a client", .connection([.protocolError])) { client in
            client.send(.pushPromise, .endHeaders, 1, [0, 0, 0, 2] + Self.head)
        },
        H2SpecCase("HPACK 2.3.3: an index beyond both tables", .connection([.compression])) { client in
            client.send(.headers, [.endHeaders, .endStream], 1, Self.head + [0xC6])
        },
        H2SpecCase("HPACK 4.2: a table size at the end of a block", .connection([.compression])) { client in
            client.send(.headers, [.endHeaders, .endStream], 1, Self.head + [0x20])
        },
        H2SpecCase("HPACK 5.2: Huffman padding over seven bits", .connection([.compression])) { client in
            client.send(
                .headers, [.endHeaders, .endStream], 1,
                Self.head + [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x84, 0x49, 0x50, 0x9F, 0xFF])
        },
        H2SpecCase("HPACK 5.2: Huffman padding with zeros", .connection([.compression])) { client in
            client.send(
                .headers, [.endHeaders, .endStream], 1,
                Self.head + [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x83, 0x49, 0x50, 0x90])
        },
        H2SpecCase("HPACK 5.2: the end of Huffman's code within a text", .connection([.compression])) { client in
            client.send(
                .headers, [.endHeaders, .endStream], 1,
                Self.head + [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x87, 0x49, 0x51, 0xFF, 0xFF, 0xFF, 0xFA, 0x7F])
        },
        H2SpecCase("HPACK 6.1: index 0", .connection([.compression])) { client in
            client.send(.headers, [.endHeaders, .endStream], 1, Self.head + [0x80])
        },
        H2SpecCase("HPACK 6.3: a table larger than the setting", .connection([.compression])) { client in
            client.send(.headers, [.endHeaders, .endStream], 1, [0x3F, 0xE1, 0x1F, 0x01] + Self.head)
        },
        H2SpecCase("HPACK: a table that shrinks and grows within the setting", .answered(1)) { client in
            client.block([], [], on: 1, raw: [0x20, 0x3F, 0xE1, 0x1F] + Self.head)
            client.send(.data, .endStream, 1, Self.message)
        },
    ]
}

@Suite struct H2SpecTests {
    @Test(arguments: H2SpecCase.frames)
    func `a case of h2spec`(_ one: H2SpecCase) {
        let client = HTTP2Client(World())
        let before = client.frames.count
        one.run(client)
        client.settle()
        let frames = client.frames[before...]
        switch one.outcome {
        case .connection(let codes):
            #expect(
                codes.map(\.rawValue).contains(client.goAways.last?.code ?? 99) && client.hasEnded, "\(client.goAways)")
        case .stream(let codes):
            let resets = frames.filter { $0.header.kind == .reset }.map { UInt32($0.body.last ?? 99) }
            #expect(resets.contains { codes.map(\.rawValue).contains($0) } && client.goAways.isEmpty, "\(resets)")
        case .answered(let stream):
            #expect(client[stream].hasEnded && client[stream].head[":status"] == "200", "\(client.goAways)")
            #expect(client.goAways.isEmpty && !frames.contains { $0.header.kind == .ping })
        case .acknowledged:
            #expect(frames.contains { $0.header.kind == .ping && $0.header.flags.contains(.ack) }, "\(client.goAways)")
        }
    }

    @Test(arguments: ["INVALID CONNECTION PREFACE\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"])
    func `another preface closes the connection`(preface: String) {
        let client = HTTP2Client(World(), says: false)
        client.socket.clientSends(Array(preface.utf8))
        client.settle()
        #expect(client.hasEnded)
    }
}
