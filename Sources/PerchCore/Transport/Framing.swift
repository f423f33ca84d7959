import PerchBase
import PerchWire

/// How a protocol puts messages into bytes. One planner serves all protocols (`planWrite`) and is compiled for each framing, so
/// that a message pays for no choice.
protocol Framing {
    /// The kinds of frames.
    associatedtype Kind: BitwiseCopyable

    /// Bytes that stand around a part of a message, at most.
    static var aroundBytesMax: Int { get }
    /// The longest part of a message that is one frame.
    static var partBytesMax: Int { get }
    /// Whether the peer's windows bound what it is sent.
    static var hasWindows: Bool { get }

    /// The kind of a pending output; that of an answer is every message's.
    static func kind(of unsent: Unsent.Role) -> Kind

    /// Writes what stands before `count` bytes, and returns its length. `ends`: the stream ends with them.
    static func open(
        _ kind: Kind, _ stream: UInt32, count: Int, ends: Bool, at place: UnsafeMutableRawPointer
    ) -> Int

    /// The same for what stands behind them.
    static func close(_ kind: Kind, count: Int, ends: Bool, at place: UnsafeMutableRawPointer) -> Int
}

/// perch/1: an address of four bytes, and the whole message.
enum Perch1Framing: Framing {
    static var aroundBytesMax: Int { 4 }
    static var partBytesMax: Int { .max }
    static var hasWindows: Bool { false }

    @inline(__always)
    static func kind(of unsent: Unsent.Role) -> FrameKind {
        switch unsent {
        case .answer: .message
        case .status: .status
        case .welcome: .welcome
        case .ping: .ping
        case .pong: .pong
        case .farewell, .head, .control: .drain
        }
    }

    @inline(__always)
    static func open(
        _ kind: FrameKind, _ stream: UInt32, count: Int, ends: Bool, at place: UnsafeMutableRawPointer
    ) -> Int {
        place.storeBytes(of: (UInt32(kind.rawValue) << 24 | stream).bigEndian, as: UInt32.self)
        return 4
    }

    @inline(__always)
    static func close(_ kind: FrameKind, count: Int, ends: Bool, at place: UnsafeMutableRawPointer) -> Int { 0 }
}

/// The kinds of frames of the HTTP family.
enum HTTPFrameKind {
    /// What needs nothing around it: a frame of the connection's own, a head of HTTP/1.1, a body of known length.
    case whole
    case head
    case data
}

extension Framing where Kind == HTTPFrameKind {
    @inline(__always)
    static func kind(of unsent: Unsent.Role) -> HTTPFrameKind {
        switch unsent {
        case .answer, .status: .data
        case .head: .head
        case .welcome, .ping, .pong, .farewell, .control: .whole
        }
    }
}

/// HTTP/2: nine bytes before HEADERS, and before each part of a message in DATA.
enum HTTP2Framing: Framing {
    typealias Kind = HTTPFrameKind

    static var aroundBytesMax: Int { HTTP2FrameHeader.byteCount }
    static var partBytesMax: Int { Limits.dataFrameBytesMax }
    static var hasWindows: Bool { true }

    @inline(__always)
    static func open(
        _ kind: HTTPFrameKind, _ stream: UInt32, count: Int, ends: Bool, at place: UnsafeMutableRawPointer
    ) -> Int {
        let end: HTTP2FrameHeader.Flags = ends ? .endStream : []
        switch kind {
        case .whole: return 0
        case .head: HTTP2FrameHeader.write(.headers, end.union(.endHeaders), stream, count, at: place)
        case .data: HTTP2FrameHeader.write(.data, end, stream, count, at: place)
        }
        return HTTP2FrameHeader.byteCount
    }

    @inline(__always)
    static func close(_ kind: HTTPFrameKind, count: Int, ends: Bool, at place: UnsafeMutableRawPointer) -> Int { 0 }
}

/// HTTP/1.1: each part of a message is a chunk, and an empty chunk ends the response.
enum HTTP1Framing: Framing {
    typealias Kind = HTTPFrameKind

    /// Four digits of a length, two line ends, and the last chunk.
    static var aroundBytesMax: Int { 16 }
    static var partBytesMax: Int { Limits.dataFrameBytesMax }
    static var hasWindows: Bool { false }

    static func open(
        _ kind: HTTPFrameKind, _ stream: UInt32, count: Int, ends: Bool, at place: UnsafeMutableRawPointer
    ) -> Int {
        kind == .data && count > 0 ? self.write(String(count, radix: 16) + "\r\n", at: place) : 0
    }

    static func close(_ kind: HTTPFrameKind, count: Int, ends: Bool, at place: UnsafeMutableRawPointer) -> Int {
        guard kind == .data else { return 0 }
        return self.write((count > 0 ? "\r\n" : "") + (ends ? "0\r\n\r\n" : ""), at: place)
    }

    private static func write(_ text: String, at place: UnsafeMutableRawPointer) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            if let base = bytes.baseAddress { place.copyMemory(from: base, byteCount: bytes.count) }
            return bytes.count
        }
    }
}
