import PerchBase

/// The kinds of frames. The numbers are on the wire.
package enum FrameKind: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
    case hello = 1
    case welcome = 2
    case call = 3
    case message = 4
    case status = 5
    case cancel = 6
    case beat = 7
    case ping = 8
    case pong = 9
    case drain = 10

    /// The contract's name, with the number.
    package var named: String { "\(self)".uppercased() + " (kind \(self.rawValue))" }
}

/// Why a byte stream is no longer a stream of frames. The connection must be closed.
package enum FrameError: Error, Equatable, Sendable, CustomStringConvertible {
    case unknownKind(UInt8)
    case reservedFlag(UInt8)
    case tooLong(kind: FrameKind, declaredBytes: Int, limitBytes: Int)

    package var description: String {
        switch self {
        case .unknownKind(let kind):
            "frame kind \(kind) is unknown here, kinds go from 1 to \(FrameKind.allCases.count); the peer may be newer, or speak something else, such as HTTP"
        case .reservedFlag(let flags):
            "frame flags 0x\(String(flags, radix: 16)) have reserved bits, only bit 0 has a meaning; the peer may be newer"
        case .tooLong(let kind, let declared, let limit):
            "a frame \(kind.named) declares \(declared) bytes, the limit is \(limit); send less at a time"
        }
    }
}

/// The nine bytes before a payload: four of address, then the prefix of gRPC's Length-Prefixed-Message.
///
///      kind  stream        flag  length
///     +----+--+--+--+     +----+--+--+--+--+
///     | u8 |  u24   |     | u8 |    u32    |   big endian; flag bit 0: compressed
///     +----+--+--+--+     +----+--+--+--+--+
package struct FrameHeader: Hashable, Sendable {
    package static let byteCount = 9
    package static let addressByteCount = 4
    package static let prefixByteCount = 5
    /// The highest stream number; 0 is the connection itself.
    package static let streamMax: UInt32 = 0xFF_FFFF

    package var kind: FrameKind
    package var stream: UInt32
    package var isCompressed: Bool
    /// Bytes of the payload.
    package var length: Int

    package init(kind: FrameKind, stream: UInt32 = 0, isCompressed: Bool = false, length: Int) {
        precondition(stream <= Self.streamMax, "stream \(stream) does not fit into 24 bits")
        self.kind = kind
        self.stream = stream
        self.isCompressed = isCompressed
        self.length = length
    }

    /// The header at `offset`; nil if its nine bytes are incomplete. Refuses a header before the payload arrives, and
    /// an unknown kind at its first byte.
    package static func read(
        from bytes: borrowing RawSpan, at offset: Int = 0, lengthLimit: Int = Limits.frameBytesMax
    ) throws(FrameError) -> FrameHeader? {
        guard offset < bytes.byteCount else { return nil }
        let kindByte = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
        guard let kind = FrameKind(rawValue: kindByte) else { throw .unknownKind(kindByte) }
        guard bytes.byteCount - offset >= Self.byteCount else { return nil }
        let address = UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
        let flags = bytes.unsafeLoadUnaligned(fromByteOffset: offset + 4, as: UInt8.self)
        let length = Int(UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 5, as: UInt32.self)))
        guard flags & 0xFE == 0 else { throw .reservedFlag(flags) }
        guard length <= lengthLimit else {
            throw .tooLong(kind: kind, declaredBytes: length, limitBytes: lengthLimit)
        }
        return FrameHeader(kind: kind, stream: address & Self.streamMax, isCompressed: flags & 1 == 1, length: length)
    }

    /// Writes all nine bytes.
    package func write(into memory: UnsafeMutableRawBufferPointer) {
        Self.writeAddress(self.kind, self.stream, into: memory)
        Self.writePrefix(isCompressed: self.isCompressed, length: self.length, into: memory)
    }

    /// Writes the first four bytes: the only difference between the receivers of one pushed value.
    @inline(__always)
    package static func writeAddress(_ kind: FrameKind, _ stream: UInt32, into memory: UnsafeMutableRawBufferPointer) {
        let address = UInt32(kind.rawValue) << 24 | (stream & Self.streamMax)
        memory.storeBytes(of: address.bigEndian, as: UInt32.self)
    }

    /// Writes the five bytes after the address.
    package static func writePrefix(isCompressed: Bool, length: Int, into memory: UnsafeMutableRawBufferPointer) {
        memory[4] = isCompressed ? 1 : 0
        memory.storeBytes(of: UInt32(length).bigEndian, toByteOffset: 5, as: UInt32.self)
    }
}
