import PerchBase
import PerchSimulation
import PerchWire
import Testing

@testable import PerchCore

/// The rules of RFC 9113, and the limits that keep a connection from costing more than it pays.
@Suite struct HTTP2RulesTests {
    private typealias Kind = HTTP2FrameHeader.Kind

    private static func closed(_ client: HTTP2Client, _ code: HTTP2Error) -> Bool {
        client.settle()
        return client.goAways.last?.code == code.rawValue && client.hasEnded
    }

    @Test func `frames of any size come in any pieces`() {
        let client = HTTP2Client(World())
        let bytes =
            HTTP2FrameHeader.frame(
                .headers, flags: .endHeaders, stream: 1, HTTP2Client.head("/perch.v1.AdminService/ListApps"))
            + HTTP2FrameHeader.frame(.data, flags: .endStream, stream: 1, [0, 0, 0, 0, 0])
        for byte in bytes {
            client.socket.clientSends([byte])
            client.settle()
        }
        #expect(client.frames.contains { $0.header.stream == 1 && $0.header.flags.contains(.endStream) })
    }

    @Test func `padding and priority of HEADERS and DATA are skipped`() {
        let client = HTTP2Client(World())
        let head = HTTP2Client.head("/perch.v1.AdminService/ListApps")
        client.send(.headers, [.endHeaders, .padded, .priority], 1, [3, 0, 0, 0, 0, 16] + head + [0, 0, 0])
        client.send(.data, [.endStream, .padded], 1, [4, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        client.settle()
        #expect(client.goAways.isEmpty)
        #expect(client.frames.contains { $0.header.stream == 1 && $0.header.kind == .data })
    }

    @Test func `a header block may go on in CONTINUATION`() {
        let client = HTTP2Client(World())
        let head = HTTP2Client.head("/perch.v1.AdminService/ListApps")
        client.send(.headers, .endStream, 1, Array(head[..<10]))
        client.send(.continuation, [], 1, Array(head[10..<20]))
        client.send(.continuation, .endHeaders, 1, Array(head[20...]))
        client.settle()
        #expect(client.goAways.isEmpty)
        #expect(client.frames.contains { $0.header.stream == 1 })
    }

    @Test(
        arguments: [
            (HTTP2FrameHeader.Kind.data, UInt8(0), UInt32(0), [UInt8](), HTTP2Error.protocolError),
            (.data, 0, 9, [], .protocolError), (.headers, 4, 2, [], .protocolError),
            (.headers, 4, 0, [], .protocolError),
            (.settings, 0, 1, [], .protocolError), (.settings, 0, 0, [1], .frameSize),
            (.settings, 1, 0, [0], .frameSize),
            (.settings, 0, 0, [0, 2, 0, 0, 0, 2], .protocolError),
            (.settings, 0, 0, [0, 4, 128, 0, 0, 0], .flowControl),
            (.settings, 0, 0, [0, 5, 0, 0, 0, 1], .protocolError), (.ping, 0, 0, [1], .frameSize),
            (.ping, 0, 3, [0, 0, 0, 0, 0, 0, 0, 0], .protocolError),
            (.windowUpdate, 0, 0, [0, 0, 0, 0], .protocolError),
            (.windowUpdate, 0, 0, [0, 0, 0], .frameSize), (.windowUpdate, 0, 0, [127, 255, 255, 255], .flowControl),
            (.windowUpdate, 0, 7, [0, 0, 0, 1], .protocolError), (.reset, 0, 0, [0, 0, 0, 0], .protocolError),
            (.reset, 0, 5, [0, 0, 0, 0], .protocolError), (.reset, 0, 1, [0], .frameSize),
            (.pushPromise, 4, 1, [0, 0, 0, 2], .protocolError), (.continuation, 4, 1, [], .protocolError),
            (.goAway, 0, 0, [0], .frameSize), (.priority, 0, 0, [0, 0, 0, 0, 0], .protocolError),
            (.headers, 12, 1, [200, 0], .protocolError), (.headers, 4, 1, [0x80], .compression),
        ] as [(HTTP2FrameHeader.Kind, UInt8, UInt32, [UInt8], HTTP2Error)])
    func `a frame that breaks a rule closes the connection with its code`(
        _ kind: HTTP2FrameHeader.Kind, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8], _ code: HTTP2Error
    ) {
        let client = HTTP2Client(World())
        client.send(kind, HTTP2FrameHeader.Flags(rawValue: flags), stream, body)
        #expect(Self.closed(client, code), "\(client.goAways)")
    }

    @Test func `the first frame is SETTINGS`() {
        let client = HTTP2Client(World(), says: false)
        client.socket.clientSends(HTTP2.preface)
        client.send(.ping, [], 0, [UInt8](repeating: 0, count: 8))
        #expect(Self.closed(client, .protocolError))
    }

    @Test func `another frame within a header block closes`() {
        let client = HTTP2Client(World())
        client.send(.headers, .endStream, 1, [0x88])
        client.send(.ping, [], 0, [UInt8](repeating: 0, count: 8))
        #expect(Self.closed(client, .protocolError))
    }

    @Test(arguments: [
        [(":method", "POST"), (":path", "/x")], [(":method", "POST"), (":scheme", "http"), (":path", "")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), (":path", "/y")],
        [(":scheme", "http"), (":path", "/x"), ("a", "b"), (":method", "POST")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), ("connection", "close")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), ("te", "gzip")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), ("Upper", "x")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), ("a", "b\r\nc: d")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), (":status", "200")],
        [(":method", "POST"), (":scheme", "http"), (":path", "/x"), (":test", "x")],
        [(":scheme", "http"), (":path", "/x")], [(":method", "POST"), (":scheme", "http")],
        [(":method", "POST"), (":method", "POST"), (":scheme", "http"), (":path", "/x")],
        [(":method", "POST"), (":scheme", "http"), (":scheme", "http"), (":path", "/x")],
    ])
    func `a malformed request resets its stream only`(_ fields: [(String, String)]) {
        let client = HTTP2Client(World())
        var block = HeaderBlock()
        for (name, value) in fields { block.add(name, value) }
        client.send(.headers, [.endHeaders, .endStream], 1, block.bytes)
        client.settle()
        #expect(client.frames.contains { $0.header.kind == .reset && $0.body.last == 1 })
        #expect(client.goAways.isEmpty)
    }

    @Test func `too many header fields are refused with 431, and the connection goes on`() {
        let client = HTTP2Client(World())
        let long = String(repeating: "x", count: 15_000)
        let stream = client.open("/perch.v1.AdminService/ListApps", [("a", long), ("b", "c")])
        client.settle()
        #expect(client.goAways.isEmpty, "\(client.goAways)")
        #expect(client[stream].head[":status"] == "431" || client[stream].head.isEmpty)
        let next = client.call(.listApps)
        client.settle()
        #expect(client.code(next) == 0)
    }

    // MARK: Floods

    @Test func `resets of streams that were answered are free`() {
        let client = HTTP2Client(World())
        for _ in 0..<3 {
            let streams = (0..<300).map { _ in client.call(.status()) }
            client.window(0, 10_000_000)
            client.settle()
            for stream in streams { client.socket.clientSends(HTTP2.reset(stream, .cancel)) }
            client.settle()
        }
        #expect(client.goAways.isEmpty)
    }

    @Test(
        arguments: [
            (HTTP2FrameHeader.Kind.ping, [UInt8](repeating: 0, count: 8)), (.settings, []),
            (.priority, [0, 0, 0, 0, 0]), (.goAway, [UInt8](repeating: 0, count: 8)),
        ] as [(HTTP2FrameHeader.Kind, [UInt8])])
    func `frames without data are a hundred at once`(_ kind: HTTP2FrameHeader.Kind, _ body: [UInt8]) {
        let client = HTTP2Client(World())
        for _ in 0..<102 { client.send(kind, [], kind == .priority ? 1 : 0, body) }
        #expect(Self.closed(client, .enhanceYourCalm))
    }

    @Test func `frames without data are limited over time, although each is answered`() {
        let client = HTTP2Client(World())
        for _ in 0..<10 where client.goAways.isEmpty {
            for _ in 0..<40 { client.send(.ping, [], 0, [UInt8](repeating: 0, count: 8)) }
            client.settle()
        }
        #expect(Self.closed(client, .enhanceYourCalm))
    }

    @Test func `an answer with data starts the count of frames without data again`() {
        let client = HTTP2Client(World())
        for _ in 0..<10 {
            for _ in 0..<40 { client.send(.ping, [], 0, [UInt8](repeating: 0, count: 8)) }
            client.call(.listApps)
            client.settle()
        }
        #expect(client.goAways.isEmpty)
    }

    @Test func `CONTINUATION frames without end close`() {
        let client = HTTP2Client(World())
        client.send(.headers, [], 1, [0x88])
        for _ in 0...Limits.continuationsMax { client.send(.continuation, [], 1, []) }
        #expect(Self.closed(client, .enhanceYourCalm))
    }

    // 20 kB of metadata without Huffman's code closed the connection, and every watch on it.
    @Test(arguments: [20_000, 60_000, 900_000]) func `a header block of any length is 431 on its stream`(bytes: Int) {
        let client = HTTP2Client(World())
        let watch = client.call(.status())
        var block = HTTP2Client.head("/perch.v1.AdminService/ListApps")
        var rest = HeaderBlock()
        for index in 0..<bytes / 1_000 {
            rest.add("x-part-\(index)", String(repeating: "v", count: 1_000))
            // Also fields that the peer's table keeps.
            if index % 7 == 0 { block += [0x40, 1, 0x61, 2, 0x62, UInt8(ascii: "a") + UInt8(index % 26)] }
        }
        block += rest.bytes
        let stream: UInt32 = 3
        client.expect(.listApps, on: stream)
        for start in stride(from: 0, to: block.count, by: 16_384) {
            let part = Array(block[start..<min(start + 16_384, block.count)])
            let flags: HTTP2FrameHeader.Flags = start + 16_384 >= block.count ? .endHeaders : []
            client.send(
                start == 0 ? .headers : .continuation, start == 0 ? flags.union(.endStream) : flags, stream, part)
        }
        client.settle()
        #expect(client.goAways.isEmpty, "\(client.goAways)")
        let answer = client.frames.first { $0.header.stream == stream && $0.header.kind == .headers }
        #expect(answer?.body.contains(sequence: Array("431".utf8)) == true)
        #expect(client.world.loops[0].core.transport.http.blocks.isEmpty)
        // The table is the same on both sides: a field of it is the last that was added.
        client.send(
            .headers, [.endHeaders, .endStream], 5, HTTP2Client.head("/perch.v1.AdminService/ListApps") + [0xBE])
        client.settle()
        #expect(client.goAways.isEmpty && client[watch].messages.count == 2)
        #expect(client.world.loops[0].core.counters.httpHeadsTooLong == 1)
    }

    // libnghttp2 refuses strings over 64 KiB, which ended the connection and every watch on it.
    @Test(
        arguments: [
            (UInt8(0x40), false, 65_537), (0x40, true, 70_000), (0x00, false, 70_000), (0x10, true, 300_000),
            (0x41, false, 70_000), (0x7F, false, 70_000), (0x0F, false, 900_000), (0x04, false, 65_537),
        ])
    func `a field of any length is 431 on its stream`(kind: UInt8, isName: Bool, bytes: Int) {
        let client = HTTP2Client(World())
        let watch = client.call(.status())
        let kept: [UInt8] = [0x40, 1, 0x61, 2, 0x62, 0x63]
        let isIndexed = kind & (kind < 0x40 ? 0x0F : 0x3F) != 0
        let isAdded = kind & 0x40 != 0
        var block = HTTP2Client.head("/perch.v1.AdminService/ListApps") + kept + kept + [kind]
        // An index in two bytes: `accept-language`, or a field of the table where the prefix of four bits is full.
        if kind == 0x7F { block.append(0) }
        if kind == 0x0F { block.append(2) }
        if !isIndexed, !isName { block += [1, 0x61] }
        let place = block.count
        block += Self.integer(bytes) + [UInt8](repeating: 0x61, count: bytes)
        if isName { block += [1, 0x61] }
        let end = block.count
        if isAdded { block += kept }
        var stream: UInt32 = 3
        // Cut in frames of the greatest length, and within the length and behind the string.
        for cuts in [[], [place, place + 1, place + 2, end - 1, end]] {
            let places = Set([0, block.count] + stride(from: 16_000, to: block.count, by: 16_000) + cuts).sorted()
            for (start, stop) in zip(places, places.dropFirst()) {
                var flags: HTTP2FrameHeader.Flags = stop == block.count ? .endHeaders : []
                if start == 0 { flags.insert(.endStream) }
                client.send(start == 0 ? .headers : .continuation, flags, stream, Array(block[start..<stop]))
            }
            client.settle()
            #expect(client.goAways.isEmpty, "\(client.goAways)")
            let answer = client.frames.first { $0.header.stream == stream && $0.header.kind == .headers }
            #expect(answer?.body.contains(sequence: Array("431".utf8)) == true)
            // The table is the same on both sides: a field of it is the last that was added.
            client.expect(.listApps, on: stream + 2)
            client.send(
                .headers, .endHeaders, stream + 2, HTTP2Client.head("/perch.v1.AdminService/ListApps") + [0xBE])
            client.send(.data, .endStream, stream + 2, [0, 0, 0, 0, 0])
            client.settle()
            #expect(client.goAways.isEmpty && client.code(stream + 2) == 0)
            stream += 4
        }
        #expect(client[watch].messages.count == 2)
        #expect(client.world.loops[0].core.transport.http.blocks.isEmpty)
        guard isAdded else { return }
        // A field that is greater than the table has emptied it.
        client.send(
            .headers, [.endHeaders, .endStream], stream, HTTP2Client.head("/perch.v1.AdminService/ListApps") + [0xBF])
        #expect(Self.closed(client, .compression))
    }

    @Test func `a header block that ends within a long field closes`() {
        let client = HTTP2Client(World())
        client.send(.headers, [], 1, [0, 1, 0x61] + Self.integer(70_000))
        client.send(.continuation, .endHeaders, 1, [UInt8](repeating: 0x61, count: 10_000))
        #expect(Self.closed(client, .compression))
    }

    @Test func `a length without end closes`() {
        let client = HTTP2Client(World())
        client.send(.headers, [], 1, [0, 1, 0x61, 0x7F] + [UInt8](repeating: 0xFF, count: 20))
        #expect(Self.closed(client, .compression))
    }

    /// A length of HPACK, with a prefix of seven bits.
    private static func integer(_ value: Int) -> [UInt8] {
        var rest = value - 127
        var bytes: [UInt8] = [127]
        while rest > 127 {
            bytes.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    @Test func `fields in several frames mean the same as in one, wherever they are cut`() {
        let head = HTTP2Client.head("/perch.v1.AdminService/ListApps")
        for cut in 0..<head.count {
            let client = HTTP2Client(World())
            client.send(.headers, .endStream, 1, Array(head[..<cut]))
            client.send(.continuation, .endHeaders, 1, Array(head[cut...]))
            client.settle()
            #expect(client.goAways.isEmpty && client.frames.contains { $0.header.stream == 1 }, "cut at \(cut)")
        }
    }

    @Test func `a header bomb is refused at the limit of the list`() {
        let client = HTTP2Client(World())
        // One field of 4,000 bytes is kept in the table, and named three hundred times.
        var block: [UInt8] = [0x40, 1, 0x61, 0x7F, 0xA1, 0x1E]
        block += [UInt8](repeating: 0x62, count: 4_000)
        block += [UInt8](repeating: 0xBE, count: 300)
        client.send(.headers, [.endHeaders, .endStream], 1, block)
        client.settle()
        #expect(client.goAways.isEmpty)
        #expect(client.world.loops[0].core.tables.calls.count == 0)
        #expect(client.world.loops[0].core.connectionCount == 1)
    }

    @Test func `bytes beyond the window close with FLOW_CONTROL_ERROR`() {
        let client = HTTP2Client(World())
        let stream = client.open("/perch.v1.AdminService/LoadCatalog")
        // The window is given back as bytes come, so that only what comes at once can go beyond it.
        client.send(.data, [], stream, [0, 0, 16, 0, 0])
        for _ in 0..<20 { client.send(.data, [], stream, [UInt8](repeating: 0, count: 16_000)) }
        client.settle()
        #expect(client.goAways.isEmpty)
        let updates = client.frames.filter { $0.header.kind == .windowUpdate }
        #expect(updates.contains { $0.header.stream == 0 } && updates.contains { $0.header.stream == stream })
    }

    @Test func `window is given back for calls that were refused`() {
        let client = HTTP2Client(World())
        let stream = client.open("/nothing/AtAll")
        for _ in 0..<10 { client.send(.data, [], stream, [UInt8](repeating: 0, count: 16_000)) }
        client.settle()
        #expect(client.code(stream) == 12)
        let back = client.frames.filter { $0.header.kind == .windowUpdate && $0.header.stream == 0 }
        let bytes = back.reduce(0) { $0 + $1.body.reduce(0) { $0 << 8 | Int($1) } }
        #expect(bytes > 160_000 - Int(Limits.httpWindowReturnBytes))
    }

    @Test func `a peer that takes no answers is held to a bound`() {
        let client = HTTP2Client(World(), initialWindow: 0)
        let request = Request.getProducts(ProductsRequest(productIDs: (0..<700).map { "product-number-\($0)" }))
        for _ in 0..<12 {
            for _ in 0..<60 { client.call(request) }
            client.settle()
        }
        let unsent = client.world.loops[0].core.transport.http.connections[0].unsentBytes
        #expect(unsent < Limits.httpBlockedBytesMax + 100_000)
        let refused = client.streams.keys.filter { client.code($0) == 8 }
        #expect(unsent > Limits.httpBlockedBytesMax && !refused.isEmpty)
        // It is still read from: the windows come, and so do the answers.
        client.settings(initialWindow: 10_000_000)
        client.window(0, 100_000_000)
        client.settle()
        #expect(client.world.loops[0].core.transport.http.connections[0].unsentBytes == 0)
    }
}

/// What lies below calls: header fields, both ways.
@Suite struct HeaderFieldTests {
    @Test func `our blocks are decoded, and mean the same at any time`() throws {
        let inflater = try #require(HeaderInflater())
        defer { inflater.free() }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.headerListBytesMax, alignment: 8)
        defer { memory.deallocate() }
        var block = HeaderBlock(status: 200)
        block.add("content-type", "application/grpc")
        block.add("x", String(repeating: "y", count: 300))
        for _ in 0..<3 {
            let fields = try block.bytes.withUnsafeBytes { bytes throws(HeaderInflater.Fault) in
                try inflater.inflate(bytes, into: memory)
            }
            let found = fields.map { (String(decoding: $0.name, as: UTF8.self), $0.value.count) }
            #expect(found.map(\.0) == [":status", "content-type", "x"])
            #expect(found.map(\.1) == [3, 16, 300])
        }
    }

    @Test func `a table of the peer's is kept, and a broken block is known`() throws {
        let inflater = try #require(HeaderInflater())
        defer { inflater.free() }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.headerListBytesMax, alignment: 8)
        defer { memory.deallocate() }
        func names(_ block: [UInt8]) throws -> [String] {
            let fields = try block.withUnsafeBytes { bytes throws(HeaderInflater.Fault) in
                try inflater.inflate(bytes, into: memory)
            }
            return fields.map { String(decoding: $0.name, as: UTF8.self) }
        }
        #expect(try names([0x40, 1, 0x61, 1, 0x62]) == ["a"])
        #expect(try names([0xBE]) == ["a"])
        #expect(try names([]).isEmpty)
        #expect(throws: HeaderInflater.Fault.broken) { try names([0xFF, 0xFF, 0xFF, 0x7F]) }
    }

    @Test func `text of a status is percent-encoded`() {
        let text = GRPCStatusFields.percentEncoded("50 % für äß\n~".utf8)
        #expect(String(decoding: text, as: UTF8.self) == "50 %25 f%C3%BCr %C3%A4%C3%9F%0A~")
    }

    @Test func `headers and trailers stay small, however long the text is`() {
        let status = WireStatus(
            .fieldInvalid, String(repeating: "ü", count: 5_000), details: [.field(String(repeating: "f", count: 9_000))]
        )
        #expect(GRPCStatusFields(status).block.count < 8_192)
    }

    @Test func `binary metadata is padded or not`() {
        for text in ["AQID", "AQIDBA", "AQIDBA=="] {
            var head = RequestHead()
            Array("perch-client-id-bin".utf8).withUnsafeBytes { name in
                Array(text.utf8).withUnsafeBytes { head.take(http2: name, $0) }
            }
            #expect(head.malformed == nil)
            #expect(head.clientID == (text == "AQID" ? [1, 2, 3] : [1, 2, 3, 4]))
        }
    }
}

extension [UInt8] {
    func contains(sequence: [UInt8]) -> Bool {
        self.indices.contains { self[$0...].starts(with: sequence) }
    }
}
