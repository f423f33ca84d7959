import PerchBase
import PerchWire

/// The head of an HTTP/2 frame (RFC 9113, section 4.1).
struct HTTP2FrameHeader: Equatable {
    static let byteCount = 9

    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case priority = 2
        case reset = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    struct Flags: OptionSet, Equatable {
        let rawValue: UInt8
        /// Of DATA and HEADERS.
        static let endStream = Flags(rawValue: 1)
        /// Of SETTINGS and PING.
        static let ack = Flags(rawValue: 1)
        static let endHeaders = Flags(rawValue: 4)
        static let padded = Flags(rawValue: 8)
        static let priority = Flags(rawValue: 32)
    }

    var length: Int
    /// Nil where there is no such kind: the frame is ignored.
    var kind: Kind?
    var flags: Flags
    var stream: UInt32

    init(_ kind: Kind, flags: Flags = [], stream: UInt32, length: Int) {
        (self.kind, self.flags, self.stream, self.length) = (kind, flags, stream, length)
    }

    /// Nil while it is not complete.
    init?(from bytes: borrowing RawSpan, at offset: Int) {
        guard offset + Self.byteCount <= bytes.byteCount else { return nil }
        let (head, stream) = bytes.withUnsafeBytes { buffer in
            (
                UInt32(bigEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)),
                UInt32(bigEndian: buffer.loadUnaligned(fromByteOffset: offset + 5, as: UInt32.self))
            )
        }
        self.length = Int(head >> 8)
        self.kind = Kind(rawValue: UInt8(truncatingIfNeeded: head))
        self.flags = Flags(rawValue: bytes.unsafeLoad(fromByteOffset: offset + 4, as: UInt8.self))
        // The highest bit is reserved, and ignored.
        self.stream = stream & 0x7FFF_FFFF
    }

    /// Nine bytes at `place`.
    @inline(__always)
    static func write(
        _ kind: Kind, _ flags: Flags, _ stream: UInt32, _ length: Int, at place: UnsafeMutableRawPointer
    ) {
        place.storeBytes(of: (UInt32(length) << 8 | UInt32(kind.rawValue)).bigEndian, as: UInt32.self)
        place.storeBytes(of: flags.rawValue, toByteOffset: 4, as: UInt8.self)
        place.storeBytes(of: stream.bigEndian, toByteOffset: 5, as: UInt32.self)
    }

    /// A whole frame.
    static func frame(
        _ kind: Kind, flags: Flags = [], stream: UInt32 = 0, _ body: some Collection<UInt8>
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        bytes.withUnsafeMutableBytes {
            Self.write(kind, flags, stream, body.count, at: $0.baseAddress.unsafelyUnwrapped)
        }
        bytes.append(contentsOf: body)
        return bytes
    }
}

/// The codes of RST_STREAM and GOAWAY (RFC 9113, section 7).
enum HTTP2Error: UInt32 {
    case noError = 0
    case protocolError = 1
    case internalError = 2
    case flowControl = 3
    case streamClosed = 5
    case frameSize = 6
    case refusedStream = 7
    case cancel = 8
    case compression = 9
    case enhanceYourCalm = 11
}

/// What breaks a connection: GOAWAY with this code and text, then close.
struct HTTP2Fault: Error {
    var code: HTTP2Error
    var text: String

    init(_ code: HTTP2Error, _ text: String) { (self.code, self.text) = (code, text) }
}

enum HTTP2 {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// The window of a connection, and of each stream, that SETTINGS do not change.
    static let windowDefault: Int32 = 65_535
    static let windowMax: Int64 = 0x7FFF_FFFF

    /// What this server says first. The windows stay at their defaults: a request is short, and what comes is given back at
    /// once.
    static func settings(streamsMax: Int) -> [UInt8] {
        var body: [UInt8] = []
        func add(_ id: UInt16, _ value: UInt32) {
            withUnsafeBytes(of: id.bigEndian) { body.append(contentsOf: $0) }
            withUnsafeBytes(of: value.bigEndian) { body.append(contentsOf: $0) }
        }
        add(3, UInt32(clamping: streamsMax))
        add(6, UInt32(Limits.headerListBytesMax))
        return HTTP2FrameHeader.frame(.settings, body)
    }

    static func goAway(_ last: UInt32, _ code: HTTP2Error, _ text: String) -> [UInt8] {
        var body: [UInt8] = []
        withUnsafeBytes(of: last.bigEndian) { body.append(contentsOf: $0) }
        withUnsafeBytes(of: code.rawValue.bigEndian) { body.append(contentsOf: $0) }
        body.append(contentsOf: text.utf8.prefix(Limits.statusTextBytesMax))
        return HTTP2FrameHeader.frame(.goAway, body)
    }

    static func reset(_ stream: UInt32, _ code: HTTP2Error) -> [UInt8] {
        withUnsafeBytes(of: code.rawValue.bigEndian) { HTTP2FrameHeader.frame(.reset, stream: stream, Array($0)) }
    }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        withUnsafeBytes(of: increment.bigEndian) { HTTP2FrameHeader.frame(.windowUpdate, stream: stream, Array($0)) }
    }
}
