import PerchBase
import PerchWire
import Testing

private func bytes(of header: FrameHeader) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: FrameHeader.byteCount)
    bytes.withUnsafeMutableBytes { header.write(into: $0) }
    return bytes
}

private func read(_ bytes: [UInt8], limit: Int = Limits.frameBytesMax) throws(FrameError) -> FrameHeader? {
    try FrameHeader.read(from: bytes.span.bytes, lengthLimit: limit)
}

@Suite struct `frames` {
    @Test func `a header is its kind, its stream and gRPC's own prefix, big endian`() throws {
        let header = FrameHeader(kind: .message, stream: 0x01_0203, isCompressed: true, length: 0x04_0506)
        let expected: [UInt8] = [4, 1, 2, 3, 1, 0, 4, 5, 6]
        #expect(bytes(of: header) == expected)
        #expect(try read(expected) == header)
    }

    @Test(arguments: FrameKind.allCases)
    func `every kind comes back as it was written, at the ends of its fields`(_ kind: FrameKind) throws {
        for stream in [0, 1, FrameHeader.streamMax] {
            for length in [0, 1, Limits.frameBytesMax] {
                for isCompressed in [false, true] {
                    let header = FrameHeader(kind: kind, stream: stream, isCompressed: isCompressed, length: length)
                    #expect(try read(bytes(of: header)) == header)
                }
            }
        }
    }

    @Test func `a header that is cut anywhere is waited for, not refused`() throws {
        for kind in FrameKind.allCases {
            let whole = bytes(of: FrameHeader(kind: kind, stream: 7, isCompressed: false, length: 12))
            for cut in 0..<whole.count { #expect(try read(Array(whole[..<cut])) == nil) }
        }
    }

    @Test func `an unknown kind is refused from its first byte`() {
        for kind in UInt8.min...UInt8.max where FrameKind(rawValue: kind) == nil {
            #expect(throws: FrameError.unknownKind(kind)) { try read([kind]) }
            #expect(throws: FrameError.unknownKind(kind)) { try read([kind, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) }
        }
    }

    @Test(arguments: 1...7)
    func `each reserved flag bit is refused, alone and beside the one for compression`(_ bit: Int) {
        let flag = UInt8(1) << UInt8(bit)
        #expect(throws: FrameError.reservedFlag(flag)) { try read([3, 0, 0, 1, flag, 0, 0, 0, 0]) }
        #expect(throws: FrameError.reservedFlag(flag | 1)) { try read([3, 0, 0, 1, flag | 1, 0, 0, 0, 0]) }
    }

    @Test func `a length one over the limit is refused from the header alone, and the limit itself is not`() throws {
        #expect(try read([3, 0, 0, 1, 0, 0, 0, 4, 0], limit: 1_024)?.length == 1_024)
        #expect(throws: FrameError.tooLong(kind: .call, declaredBytes: 1_025, limitBytes: 1_024)) {
            try read([3, 0, 0, 1, 0, 0, 0, 4, 1], limit: 1_024)
        }
        #expect(throws: FrameError.tooLong(kind: .call, declaredBytes: 0xFFFF_FFFF, limitBytes: 1_024)) {
            try read([3, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF], limit: 1_024)
        }
    }

    @Test func `a refusal names both numbers`() {
        let error = FrameError.tooLong(kind: .call, declaredBytes: 1_025, limitBytes: 1_024)
        #expect(error.description.contains("1025") && error.description.contains("1024"))
    }
}

@Suite struct `frames out of a stream of bytes` {
    private static let frames = [
        Frame(header: FrameHeader(kind: .ping, length: 8), payload: Array("12345678".utf8)),
        Frame(header: FrameHeader(kind: .cancel, stream: 7, length: 0), payload: []),
        Frame(header: FrameHeader(kind: .message, stream: 9, isCompressed: true, length: 3), payload: [1, 2, 3]),
    ]
    private static let stream = Self.frames.flatMap { bytes(of: $0.header) + $0.payload }

    private func all(_ decoder: inout FrameDecoder) throws -> [Frame] {
        var frames: [Frame] = []
        while let frame = try decoder.next() { frames.append(frame) }
        return frames
    }

    @Test func `a stream cut anywhere gives the same whole frames`() throws {
        for cut in 0...Self.stream.count {
            var decoder = FrameDecoder()
            decoder.append(Array(Self.stream[..<cut]))
            let before = try self.all(&decoder)
            #expect(before == Array(Self.frames.prefix(before.count)))
            decoder.append(Array(Self.stream[cut...]))
            #expect(try before + self.all(&decoder) == Self.frames)
            #expect(decoder.bufferedByteCount == 0)
        }
    }

    @Test func `bytes that come one at a time make the same frames`() throws {
        var decoder = FrameDecoder()
        var frames: [Frame] = []
        for byte in Self.stream {
            decoder.append([byte])
            frames += try self.all(&decoder)
            #expect(decoder.bufferedByteCount < FrameHeader.byteCount + 8)
        }
        #expect(frames == Self.frames)
    }

    @Test func `a bad header is refused before its payload is buffered, and for ever`() throws {
        var decoder = FrameDecoder(lengthLimit: 1_024)
        decoder.append(bytes(of: Self.frames[0].header) + Self.frames[0].payload + [3, 0, 0, 1, 0, 0, 0, 4, 1])
        #expect(try decoder.next() == Self.frames[0])
        let error = FrameError.tooLong(kind: .call, declaredBytes: 1_025, limitBytes: 1_024)
        #expect(throws: error) { try decoder.next() }
        decoder.append(Self.stream)
        #expect(throws: error) { try decoder.next() }
    }
}
