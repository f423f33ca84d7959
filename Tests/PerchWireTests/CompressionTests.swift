import PerchBase
import Testing

@testable import PerchWire

private func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var samples = Samples(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: samples.next()) }
}

private func deflated(_ bytes: [UInt8]) throws -> [UInt8] {
    let codec = MessageCodec()
    return try bytes.withUnsafeBytes { [UInt8](try #require(codec.compressed($0)).message) }
}

private func inflated(
    _ bytes: [UInt8], by codec: MessageCodec = MessageCodec(), limit: Int = Limits.frameBytesMax
) throws(InflateError) -> [UInt8] {
    [UInt8](try codec.inflate(bytes.span.bytes, limit: limit))
}

@Suite struct `compression` {
    @Test func `a message goes compressed from 1 KiB on, and not one byte before`() throws {
        let codec = MessageCodec()
        func body(_ count: Int) throws -> MessageCodec.Encoded? {
            // Two bytes of tag and length of two bytes before the text.
            let status = Status(message: String(repeating: "a", count: count - 3))
            #expect(try codec.encode(status).message.count == count)
            return codec.compressed()
        }
        #expect(try body(Limits.compressBytesMin - 1) == nil)
        let encoded = try #require(try body(Limits.compressBytesMin))
        #expect(encoded.prefixed[0] == 1)
        #expect(encoded.message.count < 100)
        let inflated = try codec.inflate(encoded.message.bytes)
        #expect(try codec.decodeStatus(inflated.bytes).message.utf8.count == Limits.compressBytesMin - 3)
    }

    @Test func `a message that would not shrink stays plain`() throws {
        let codec = MessageCodec()
        _ = try codec.encode(Request.checkCatalog(CheckCatalogRequest(file: noise(5_000))))
        #expect(codec.compressed() == nil)
    }

    @Test func `the plain form stays valid beside the compressed one`() throws {
        let codec = MessageCodec()
        let plain = try codec.encode(Status(message: String(repeating: "abc", count: 1_000)))
        let before = [UInt8](plain.frame(.status, stream: 3))
        let compressed = try #require(codec.compressed())
        #expect([UInt8](plain.frame(.status, stream: 3)) == before)
        let header = try #require(try FrameHeader.read(from: compressed.frame(.status, stream: 3).bytes))
        #expect(header == FrameHeader(kind: .status, stream: 3, isCompressed: true, length: compressed.message.count))
        #expect([UInt8](try codec.inflate(compressed.message.bytes)) == [UInt8](plain.message))
    }

    @Test(arguments: [0, 1, 4_095, 4_096, 4_097, 70_000, 1_000_000])
    func `a compressed message inflates to the original`(_ count: Int) throws {
        let bytes = [UInt8](repeating: 0x61, count: 1_200) + noise(count / 2) + [UInt8](repeating: 0, count: count / 2)
        let codec = MessageCodec()
        #expect(try inflated(deflated(bytes), by: codec) == bytes)
    }

    @Test func `inflating stops at the limit, and the limit itself is read`() throws {
        let codec = MessageCodec()
        let bytes = (0..<10).flatMap { noise(500, seed: $0) + [UInt8](repeating: 0, count: 4_500) }
        let compressed = try deflated(bytes)
        #expect(try inflated(compressed, by: codec, limit: bytes.count) == bytes)
        #expect(throws: InflateError.tooLong(limitBytes: bytes.count - 1)) {
            try inflated(compressed, by: codec, limit: bytes.count - 1)
        }
    }

    @Test func `a bomb is refused by its ratio long before it is large`() throws {
        let codec = MessageCodec()
        let bomb = try deflated([UInt8](repeating: 0, count: 3_000_000))
        #expect(
            throws: InflateError.ratio(
                compressedBytes: bomb.count, limitBytes: bomb.count * Limits.inflateRatioMax)
        ) { try inflated(bomb, by: codec) }
        // Up to 64 KiB the ratio does not count.
        let small = try deflated([UInt8](repeating: 0, count: Limits.inflateRatioFreeBytes))
        #expect(small.count * Limits.inflateRatioMax < Limits.inflateRatioFreeBytes)
        #expect(try inflated(small, by: codec).count == Limits.inflateRatioFreeBytes)
        let over = try deflated([UInt8](repeating: 0, count: Limits.inflateRatioFreeBytes + 1))
        #expect(
            throws: InflateError.ratio(compressedBytes: over.count, limitBytes: Limits.inflateRatioFreeBytes)
        ) { try inflated(over, by: codec) }
    }

    @Test func `a stream cut at any byte is refused, and so is one with a byte behind it`() throws {
        let codec = MessageCodec()
        let bytes = [UInt8](repeating: 0x61, count: 2_000) + noise(300)
        let compressed = try deflated(bytes)
        for cut in 0..<compressed.count {
            #expect(throws: InflateError.truncated(compressedBytes: cut)) {
                try inflated(Array(compressed[..<cut]), by: codec)
            }
        }
        #expect(throws: InflateError.trailingBytes(1)) { try inflated(compressed + [0], by: codec) }
        #expect(throws: InflateError.trailingBytes(compressed.count)) {
            try inflated(compressed + compressed, by: codec)
        }
    }

    @Test func `invalid zlib data is refused, and the next message is read`() throws {
        let codec = MessageCodec()
        let bytes = [UInt8](repeating: 0x61, count: 2_000)
        let compressed = try deflated(bytes)
        var damaged = compressed
        damaged[damaged.count - 1] ^= 1
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let dictionary: [UInt8] = [0x78, 0xBB, 0, 0, 0, 1, 3, 0, 0, 0, 0, 1]
        for bad in [damaged, gzip, dictionary, Array("/perch.v1".utf8)] {
            do {
                _ = try inflated(bad, by: codec)
                Issue.record("was read")
            } catch {
                guard case .corrupt = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
            #expect(try inflated(compressed, by: codec) == bytes)
        }
    }
}
