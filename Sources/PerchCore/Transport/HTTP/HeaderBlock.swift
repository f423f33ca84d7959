import PerchBase
import PerchJSON
import PerchWire

/// Header fields of responses as HPACK, written without a table: each field is an index into the static table, or literal.
/// Such a block means the same on every connection and at any time, so one is made once and shared.
struct HeaderBlock {
    private(set) var bytes: [UInt8] = []

    /// `:status`, always the first.
    init(status: Int) {
        if let index = [200: 8, 204: 9, 206: 10, 304: 11, 400: 12, 404: 13, 500: 14][status] {
            self.bytes.append(0x80 | UInt8(index))
        } else {
            self.bytes.append(8)
            self.add(text: Array(String(status).utf8))
        }
    }

    /// Trailers.
    init() {}

    /// A field that is not kept in the peer's table. The name is in lower case.
    mutating func add(_ name: String, _ value: some Collection<UInt8>) {
        if let index = Self.staticNames[name] {
            self.bytes.append(contentsOf: [0x0F, index - 15])
        } else {
            self.bytes.append(0)
            self.add(text: Array(name.utf8))
        }
        self.add(text: value)
    }

    /// Indexes of the static table, for the names of most responses.
    private static let staticNames: [String: UInt8] = [
        "allow": 22, "cache-control": 24, "content-length": 28, "content-type": 31, "date": 33, "retry-after": 53,
        "vary": 59,
    ]

    mutating func add(_ name: String, _ value: String) { self.add(name, value.utf8) }

    /// Text without Huffman's code, behind its length.
    private mutating func add(text: some Collection<UInt8>) {
        if text.count < 127 {
            self.bytes.append(UInt8(text.count))
        } else {
            self.bytes.append(127)
            var rest = text.count - 127
            while rest >= 128 {
                self.bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            self.bytes.append(UInt8(rest))
        }
        self.bytes.append(contentsOf: text)
    }
}

/// The end of a gRPC call, as fields: what trailers carry on HTTP/2, and a frame of gRPC-Web.
struct GRPCStatusFields {
    var code: StatusCode
    var message: [UInt8]
    /// Base64 of `google.rpc.Status`; empty for none.
    var details: [UInt8] = []
    /// With UNIMPLEMENTED for a message encoding: what is taken.
    var acceptedEncodings = ""
    /// The reason as it is, for who reads no details.
    var reason = ""
    /// When a retry may succeed, as gRPC's retries read it (gRFC A6).
    var retryAfterMilliseconds: UInt64?

    /// Headers and trailers stay under 8 KiB, because clients refuse more: text and details are bounded.
    init(_ status: WireStatus) {
        self.code = status.code
        let text = status.message.utf8.prefix(Limits.statusTextBytesMax)
        self.message = Self.percentEncoded(text)
        if status.code != .ok {
            let details = status.richStatus(textBytesMax: Limits.statusTextBytesMax)
            if details.count <= Limits.statusDetailsBytesMax {
                self.details = Base64.letters(of: details, isPadded: false)
            }
        }
        self.reason = status.reason?.rawValue ?? ""
        self.retryAfterMilliseconds = status.retryAfterMilliseconds
        if status.reason == .encodingUnknown { self.acceptedEncodings = Self.encodings }
    }

    static let encodings = "identity,deflate,gzip"

    /// UTF-8 with `%XX` for everything but printable ASCII, and for `%`.
    static func percentEncoded(_ text: some Collection<UInt8>) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text {
            if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                bytes.append(contentsOf: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]])
            }
        }
        return bytes
    }

    var fields: [(name: String, value: [UInt8])] {
        var fields: [(name: String, value: [UInt8])] = [("grpc-status", Array(String(self.code.rawValue).utf8))]
        if !self.message.isEmpty { fields.append(("grpc-message", self.message)) }
        if !self.details.isEmpty { fields.append(("grpc-status-details-bin", self.details)) }
        if !self.reason.isEmpty { fields.append(("perch-reason", Array(self.reason.utf8))) }
        if let wait = self.retryAfterMilliseconds {
            fields.append(("grpc-retry-pushback-ms", Array(String(wait).utf8)))
        }
        if !self.acceptedEncodings.isEmpty {
            fields.append(("grpc-accept-encoding", Array(self.acceptedEncodings.utf8)))
        }
        return fields
    }

    var block: [UInt8] {
        var block = HeaderBlock()
        for field in self.fields { block.add(field.name, field.value) }
        return block.bytes
    }
}

extension Base64 {
    /// As binary metadata and Connect's JSON carry it: without padding.
    static func unpadded(_ bytes: [UInt8]) -> String {
        String(decoding: Self.letters(of: bytes, isPadded: false), as: UTF8.self)
    }
}
