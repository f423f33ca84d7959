import PerchBase
import PerchModel
import PerchWire

/// The protocol that a generator speaks with a Perch server.
package enum BenchTransport: String, CaseIterable, Sendable {
    case perch, grpc

    /// Whether the generator can make the workload's requests. On gRPC no request may exceed a window.
    package func isAble(_ workload: Workload) -> Bool {
        switch (self, workload) {
        case (.perch, _): true
        case (.grpc, .hot), (.grpc, .keyed), (.grpc, .mux), (.grpc, .storm), (.grpc, .resume), (.grpc, .idle),
            (.grpc, .buy):
            true
        case (.grpc, _): false
        }
    }
}

/// Writes whole calls in a transport.
struct CallWire {
    let transport: BenchTransport
    private let accepts: String
    private let authorization: String

    init(_ transport: BenchTransport, authorization: String, acceptsZlib: Bool) {
        self.transport = transport
        self.authorization = authorization
        self.accepts = acceptsZlib ? "deflate" : "identity"
    }

    /// A call on stream 1, and the place of its second frame: 0 on perch/1, where a call is one frame.
    func call(_ request: Request, _ codec: MessageCodec) throws(MessageError) -> (bytes: [UInt8], second: Int) {
        switch self.transport {
        case .perch: return (Array(try codec.encodeCall(request).frame(.call, stream: 1)), 0)
        case .grpc:
            let head = self.head(of: request.method.path)
            let message = Array(try codec.encode(request).prefixed)
            let first = GRPCFrames.frame(.headers, flags: GRPCFrames.endHeaders, stream: 1, head)
            return (first + GRPCFrames.frame(.data, flags: GRPCFrames.endStream, stream: 1, message), first.count)
        }
    }

    /// Writes the stream number into a copy of a call.
    @inline(__always)
    func write(stream: UInt32, second: Int, into call: UnsafeMutableRawBufferPointer) {
        guard self.transport == .grpc else { return FrameHeader.writeAddress(.call, stream, into: call) }
        call.storeBytes(of: stream.bigEndian, toByteOffset: GRPCFrames.streamOffset, as: UInt32.self)
        call.storeBytes(of: stream.bigEndian, toByteOffset: second + GRPCFrames.streamOffset, as: UInt32.self)
    }

    /// The header block of a call. It uses no table, so it is the same for every call of a method.
    private func head(of path: String) -> [UInt8] {
        var block: [UInt8] = [0x83, 0x86]  // :method POST, :scheme http
        func add(_ name: [UInt8], _ value: String) {
            // Clients of gRPC send no value over 126 bytes but tokens.
            block += name
            var rest = value.utf8.count
            if rest < 127 {
                block.append(UInt8(rest))
            } else {
                block.append(127)
                rest -= 127
                while rest >= 128 {
                    block.append(UInt8(rest & 0x7F) | 0x80)
                    rest >>= 7
                }
                block.append(UInt8(rest))
            }
            block += Array(value.utf8)
        }
        func name(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + Array(text.utf8) }
        add([4], path)
        add([1], "localhost")
        add([0x0F, 0x10], "application/grpc")
        add(name("te"), "trailers")
        add(name("user-agent"), "perch-bench")
        add(name("grpc-accept-encoding"), self.accepts)
        add(name("perch-heartbeat"), "\(Limits.heartbeatSecondsMax)")
        if !self.authorization.isEmpty { add(name("authorization"), self.authorization) }
        return block
    }
}

/// Frames of HTTP/2 as a client of gRPC sends and reads them.
enum GRPCFrames {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case reset = 3
        case settings = 4
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
    }

    static let headerBytes = 9
    static let streamOffset = 5
    /// Of DATA and HEADERS.
    static let endStream: UInt8 = 1
    static let ack: UInt8 = 1
    static let endHeaders: UInt8 = 4
    static let padded: UInt8 = 8
    /// The window of a connection and of each stream. This client changes neither.
    static let window: Int32 = 65_535
    /// Bytes after which grpc-go gives window back, on a stream and on the connection.
    static let returnBytes = Self.window / 4
    static let frameBytesMax = 16_384

    /// The first bytes of a client: its preface, and SETTINGS without server push.
    static let opening: [UInt8] =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(.settings, stream: 0, [0, 2, 0, 0, 0, 0])

    static func frame(_ kind: Kind, flags: UInt8 = 0, stream: UInt32, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: (UInt32(body.count) << 8 | UInt32(kind.rawValue)).bigEndian) {
            bytes.append(contentsOf: $0)
        }
        bytes.append(flags)
        withUnsafeBytes(of: stream.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes + body
    }

    static func windowUpdate(_ stream: UInt32, _ count: Int32) -> [UInt8] {
        withUnsafeBytes(of: count.bigEndian) { Self.frame(.windowUpdate, stream: stream, Array($0)) }
    }

    /// A header field that Perch writes into trailers: literal, and not Huffman-coded. Nil if it has none of that name.
    static func field(_ name: String, of block: UnsafeRawBufferPointer) -> String? {
        let wanted = [0, UInt8(name.utf8.count)] + Array(name.utf8)
        guard block.count > wanted.count else { return nil }
        for start in 0..<(block.count - wanted.count)
        where UnsafeRawBufferPointer(rebasing: block[start..<start + wanted.count]).elementsEqual(wanted) {
            guard let (place, count) = Self.length(block, at: start + wanted.count) else { return nil }
            return String(decoding: UnsafeRawBufferPointer(rebasing: block[place..<place + count]), as: UTF8.self)
        }
        return nil
    }

    /// A length of HPACK (RFC 7541, section 5.1), and where its text begins.
    private static func length(_ block: UnsafeRawBufferPointer, at start: Int) -> (place: Int, count: Int)? {
        guard start < block.count, block[start] < 128 else { return nil }
        var (place, count) = (start + 1, Int(block[start]))
        if count == 127 {
            var shift = 0
            while place < block.count, shift < 28 {
                count += Int(block[place] & 0x7F) << shift
                shift += 7
                place += 1
                if block[place - 1] < 128 { break }
            }
        }
        return place + count <= block.count ? (place, count) : nil
    }
}
