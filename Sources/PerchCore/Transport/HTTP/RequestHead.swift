import PerchBase
import PerchJSON
import PerchWire

/// The protocol of a call over HTTP.
enum HTTPForm: UInt8 {
    case grpc
    case grpcWeb
    /// Connect, one message each way, without a prefix.
    case connectUnary
    case connectStream
    /// Server-sent events.
    case events
    /// A plain answer for people.
    case plain
}

/// How the messages of a call are compressed.
enum MessageEncoding: UInt8 {
    case identity
    /// gRPC's name for zlib (RFC 1950).
    case deflate
    case gzip
    case unknown
}

/// `grpc-timeout` and `connect-timeout-ms`.
enum CallTimeout: Equatable {
    case none
    case milliseconds(UInt64)
    case malformed
}

/// The header fields of a request that this server reads, from HPACK or from lines of HTTP/1.1.
struct RequestHead {
    enum Verb: UInt8 { case none, get, post, options, head, connect, other }

    struct Marks: OptionSet {
        let rawValue: UInt32
        static let hasScheme = Marks(rawValue: 1)
        static let hasRegularField = Marks(rawValue: 2)
        static let hasUnknownCodec = Marks(rawValue: 4)
        static let isJSON = Marks(rawValue: 8)
        static let acceptsDeflate = Marks(rawValue: 16)
        static let acceptsGzip = Marks(rawValue: 32)
        static let wantsGroups = Marks(rawValue: 64)
        static let hasTrailerSupport = Marks(rawValue: 128)
        static let acceptsEvents = Marks(rawValue: 256)
        static let hasContentType = Marks(rawValue: 512)
        static let isPreflight = Marks(rawValue: 1024)
        static let hasSuffix = Marks(rawValue: 2048)
        /// Of a whole body, in `accept-encoding`. The others are of messages.
        static let acceptsGzipBody = Marks(rawValue: 4096)
        static let acceptsDeflateBody = Marks(rawValue: 8192)
        /// The client sends its body only after `100 Continue`, or after a wait of its own, as curl does with long ones.
        static let expectsContinue = Marks(rawValue: 16384)
        static let hasUnknownExpectation = Marks(rawValue: 32768)
        /// `connect-protocol-version` is not 1.
        static let hasOtherConnectVersion = Marks(rawValue: 65536)
        /// HTTP/1.0: the response is not chunked, and ends with its connection.
        static let isOld = Marks(rawValue: 131072)
    }

    var verb = Verb.none
    var path: [UInt8] = []
    var authority: [UInt8] = []
    var origin: [UInt8] = []
    var form = HTTPForm.plain
    var marks: Marks = []
    var grpcTimeout = CallTimeout.none
    var connectTimeout = CallTimeout.none
    var encoding = MessageEncoding.identity
    /// `content-encoding`, of a unary Connect call.
    var contentEncoding = MessageEncoding.identity
    var contentLength: Int?
    var metadata: [Metadata] = []
    var clientID: [UInt8] = []
    var lastEventID: [UInt8] = []
    var knownTags: [UInt8] = []
    var heartbeatSeconds: UInt32 = 0
    /// The broken rule of HTTP/2 (RFC 9113, sections 8.1 to 8.3), if any: the stream is reset.
    var malformed: String?

    /// What an incomplete request keeps of its head: its form, its deadline and its metadata.
    var kept: RequestHead {
        var kept = self
        kept.path = []
        kept.authority = []
        kept.origin = []
        kept.lastEventID = []
        kept.knownTags = []
        return kept
    }

    /// Bytes of its fields.
    var heldBytes: Int {
        self.path.count + self.authority.count + self.origin.count + self.lastEventID.count + self.knownTags.count
            + self.clientID.count + self.metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.count }
    }

    /// The caller's deadline, by the protocol of the call; by the other one where that has none.
    var timeout: CallTimeout {
        let isGRPC = self.form == .grpc || self.form == .grpcWeb
        let own = isGRPC ? self.grpcTimeout : self.connectTimeout
        return own == .none ? (isGRPC ? self.connectTimeout : self.grpcTimeout) : own
    }

    private mutating func fail(_ what: String) { if self.malformed == nil { self.malformed = what } }

    /// The broken rule of a regular field of HTTP/2 (RFC 9113, section 8.2), in a head or in trailers; nil: none.
    static func fault(of name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> String? {
        guard !name.isEmpty else { return "a field has no name" }
        for byte in value where byte == 0 || byte == 10 || byte == 13 {
            return "the value of a field has a line end or NUL"
        }
        if let first = value.first, let last = value.last, first == 32 || first == 9 || last == 32 || last == 9 {
            return "the value of a field begins or ends with white space"
        }
        for byte in name where !Self.isFieldNameByte(byte) {
            return "the name of a field has a byte that names do not have"
        }
        if Self.isHop(name) { return "a field is about the connection, which HTTP/2 does not have" }
        return nil
    }

    /// The broken rule of a field in trailers.
    static func faultInTrailers(of name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> String? {
        name.first == UInt8(ascii: ":") ? "a pseudo field stands in trailers" : self.fault(of: name, value)
    }

    /// Takes one field of an HTTP/2 request, pseudo fields included.
    mutating func take(http2 name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.first == UInt8(ascii: ":") {
            for byte in value where byte <= 32 || byte == 127 {
                return self.fail("the value of a pseudo field has white space or control characters")
            }
            if self.marks.contains(.hasRegularField) { return self.fail("a pseudo field follows a regular one") }
            return self.takePseudo(name, value)
        }
        self.marks.insert(.hasRegularField)
        if let fault = Self.fault(of: name, value) { return self.fail(fault) }
        if equal(name, "te"), !equalFolded(value, "trailers") { return self.fail("te is not trailers") }
        self.take(name, value)
    }

    private mutating func takePseudo(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if equal(name, ":method") {
            guard self.verb == .none else { return self.fail(":method comes twice") }
            self.takeVerb(value)
        } else if equal(name, ":path") {
            guard self.path.isEmpty, !value.isEmpty else { return self.fail(":path is empty or comes twice") }
            self.path = Array(value)
        } else if equal(name, ":scheme") {
            guard !self.marks.contains(.hasScheme) else { return self.fail(":scheme comes twice") }
            self.marks.insert(.hasScheme)
        } else if equal(name, ":authority") {
            guard self.authority.isEmpty else { return self.fail(":authority comes twice") }
            self.authority = Array(value)
        } else {
            self.fail("a pseudo field has a name that requests do not have")
        }
    }

    mutating func takeVerb(_ value: UnsafeRawBufferPointer) {
        if equal(value, "POST") {
            self.verb = .post
        } else if equal(value, "GET") {
            self.verb = .get
        } else if equal(value, "OPTIONS") {
            self.verb = .options
        } else if equal(value, "HEAD") {
            self.verb = .head
        } else if equal(value, "CONNECT") {
            self.verb = .connect
        } else {
            self.verb = .other
        }
    }

    /// All fields of an HTTP/2 request are here.
    mutating func finishHTTP2() {
        guard self.malformed == nil else { return }
        if self.verb == .connect {
            // Answered with 405; it has an authority alone.
            if self.authority.isEmpty || !self.path.isEmpty || self.marks.contains(.hasScheme) {
                self.fail("CONNECT has :authority, and neither :scheme nor :path")
            }
            return
        }
        if let first = self.path.first, first != UInt8(ascii: "/"), self.path != [UInt8(ascii: "*")] {
            self.fail(":path does not begin with a slash")
        }
        if self.verb == .none || self.path.isEmpty || !self.marks.contains(.hasScheme) {
            self.fail(":method, :scheme and :path are needed")
        }
    }

    /// Takes one regular field; its name is in lower case.
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch name.count {
        case 2:
            if equal(name, "te") { self.marks.insert(.hasTrailerSupport) }
        case 4:
            if equal(name, "host"), self.authority.isEmpty { self.authority = Array(value) }
        case 6:
            if equal(name, "origin") { self.origin = Array(value) }
            if equal(name, "accept") { self.takeAccept(value) }
            if equal(name, "expect") { self.takeExpectation(value) }
        case 12:
            if equal(name, "content-type") { self.takeContentType(value) }
            if equal(name, "grpc-timeout") { self.grpcTimeout = Self.grpcTimeout(value) }
            if equal(name, "perch-groups") { if equal(value, "1") { self.marks.insert(.wantsGroups) } }
        case 13:
            if equal(name, "grpc-encoding") { self.encoding = Self.encoding(value) }
            if equal(name, "authorization") {
                self.metadata.append(Metadata(key: "authorization", value: Array(value)))
            }
            if equal(name, "last-event-id") { self.lastEventID = Array(value) }
            if equal(name, "if-none-match") { self.knownTags = Array(value) }
        case 14:
            if equal(name, "content-length") { self.takeLength(value) }
        case 15:
            if equal(name, "perch-client-id") { self.clientID = Array(value) }
            if equal(name, "accept-encoding") { self.takeAcceptedBody(value) }
            if equal(name, "perch-heartbeat") {
                if let seconds = Self.number(value), seconds <= 86_400 { self.heartbeatSeconds = UInt32(seconds) }
            }
        case 16:
            if equal(name, "content-encoding") { self.contentEncoding = Self.encoding(value) }
        case 18:
            if equal(name, "connect-timeout-ms") {
                // At most ten digits.
                self.connectTimeout =
                    value.count <= 10 ? Self.number(value).map { .milliseconds($0) } ?? .malformed : .malformed
            }
        case 19:
            if equal(name, "perch-client-id-bin") {
                // Several values may stand in one field, between commas: the first is taken.
                let text = String(decoding: Self.items(value).first ?? value, as: UTF8.self)
                guard let id = Base64.decodeLenient(text) else { return self.fail("perch-client-id-bin is not base64") }
                self.clientID = id
            }
        case 20:
            if equal(name, "grpc-accept-encoding") { self.takeAccepted(value) }
        case 23:
            if equal(name, "connect-accept-encoding") { self.takeAccepted(value) }
        case 24:
            if equal(name, "connect-content-encoding") { self.encoding = Self.encoding(value) }
            if equal(name, "connect-protocol-version"), !equal(value, "1") {
                self.marks.insert(.hasOtherConnectVersion)
            }
        case 29:
            if equal(name, "access-control-request-method") { self.marks.insert(.isPreflight) }
        default: break
        }
    }

    // MARK: Values

    private mutating func takeLength(_ value: UnsafeRawBufferPointer) {
        guard let length = Self.number(value), length <= 1 << 40 else {
            return self.fail("content-length is no number")
        }
        if let known = self.contentLength, known != Int(length) {
            return self.fail("content-length comes twice and differs")
        }
        self.contentLength = Int(length)
    }

    private mutating func takeExpectation(_ value: UnsafeRawBufferPointer) {
        self.marks.insert(equalFolded(value, "100-continue") ? .expectsContinue : .hasUnknownExpectation)
    }

    private mutating func takeAccept(_ value: UnsafeRawBufferPointer) {
        for item in Self.items(value) where equalFolded(Self.beforeParameters(item), "text/event-stream") {
            self.marks.insert(.acceptsEvents)
        }
    }

    private mutating func takeAccepted(_ value: UnsafeRawBufferPointer) {
        for item in Self.items(value) {
            switch Self.encoding(item) {
            case .deflate: self.marks.insert(.acceptsDeflate)
            case .gzip: self.marks.insert(.acceptsGzip)
            case .identity, .unknown: break
            }
        }
    }

    /// A quality of 0 refuses an encoding, others are all the same.
    private mutating func takeAcceptedBody(_ value: UnsafeRawBufferPointer) {
        for item in Self.items(value) {
            let name = Self.beforeParameters(item)
            let rest = String(decoding: item.dropFirst(name.count), as: UTF8.self).lowercased()
            let parameter = rest.filter { $0 != " " && $0 != ";" }
            if ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains(parameter) { continue }
            switch Self.encoding(name) {
            case .gzip: self.marks.insert(.acceptsGzipBody)
            case .deflate: self.marks.insert(.acceptsDeflateBody)
            case .identity, .unknown: break
            }
        }
    }

    private mutating func takeContentType(_ value: UnsafeRawBufferPointer) {
        if self.marks.contains(.hasContentType) { return self.fail("content-type comes twice") }
        self.marks.insert(.hasContentType)
        let type = String(decoding: Self.beforeParameters(value), as: UTF8.self).lowercased()
        func codec(_ prefix: String) -> Substring? {
            guard type.hasPrefix(prefix) else { return nil }
            let rest = type.dropFirst(prefix.count)
            if rest.isEmpty { return "proto" }
            guard rest.first == "+" else { return nil }
            self.marks.insert(.hasSuffix)
            return rest.dropFirst()
        }
        var name: Substring = "proto"
        if let found = codec("application/grpc-web") {
            (self.form, name) = (.grpcWeb, found)
        } else if let found = codec("application/grpc") {
            (self.form, name) = (.grpc, found)
        } else if type.hasPrefix("application/connect+"), let found = codec("application/connect") {
            (self.form, name) = (.connectStream, found)
        } else if type == "application/proto" || type == "application/json" {
            (self.form, name) = (.connectUnary, type.dropFirst("application/".count))
        } else {
            return
        }
        switch name {
        case "proto": break
        case "json": self.marks.insert(.isJSON)
        default: self.marks.insert(.hasUnknownCodec)
        }
    }

    /// Names of codings have no case, and `x-gzip` is an old name (RFC 9110, section 8.4.1).
    static func encoding(_ value: UnsafeRawBufferPointer) -> MessageEncoding {
        if equalFolded(value, "identity") { return .identity }
        if equalFolded(value, "deflate") { return .deflate }
        return equalFolded(value, "gzip") || equalFolded(value, "x-gzip") ? .gzip : .unknown
    }

    /// One to eight digits and a unit. Parts of a millisecond are rounded up.
    static func grpcTimeout(_ value: UnsafeRawBufferPointer) -> CallTimeout {
        guard (2...9).contains(value.count), let unit = value.last,
            let number = self.number(UnsafeRawBufferPointer(rebasing: value[..<(value.count - 1)]))
        else { return .malformed }
        switch unit {
        case UInt8(ascii: "H"): return .milliseconds(number * 3_600_000)
        case UInt8(ascii: "M"): return .milliseconds(number * 60_000)
        case UInt8(ascii: "S"): return .milliseconds(number * 1_000)
        case UInt8(ascii: "m"): return .milliseconds(number)
        case UInt8(ascii: "u"): return .milliseconds((number + 999) / 1_000)
        case UInt8(ascii: "n"): return .milliseconds((number + 999_999) / 1_000_000)
        default: return .malformed
        }
    }

    /// Digits only, at most 18.
    static func number(_ value: UnsafeRawBufferPointer) -> UInt64? {
        guard (1...18).contains(value.count) else { return nil }
        var number: UInt64 = 0
        for byte in value {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return number
    }

    /// The items of a list with commas, without white space around them.
    static func items(_ value: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        value.split(separator: UInt8(ascii: ",")).map { self.trimmed(UnsafeRawBufferPointer(rebasing: $0)) }
    }

    static func trimmed(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var (start, end) = (0, value.count)
        while start < end, value[start] == 32 || value[start] == 9 { start += 1 }
        while end > start, value[end - 1] == 32 || value[end - 1] == 9 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: value[start..<end])
    }

    private static func beforeParameters(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let end = value.firstIndex(of: UInt8(ascii: ";")) ?? value.count
        return self.trimmed(UnsafeRawBufferPointer(rebasing: value[..<end]))
    }

    /// RFC 9110's `tchar` without capitals, which HTTP/2 does not have.
    static func isFieldNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: "!#$%&'*+.^_`|~".utf8.contains(byte)
        }
    }

    private static func isHop(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 7: equal(name, "upgrade")
        case 10: equal(name, "connection") || equal(name, "keep-alive")
        case 16: equal(name, "proxy-connection")
        case 17: equal(name, "transfer-encoding")
        default: false
        }
    }
}

/// Whether bytes are this text, which is in lower case, in any case.
@inline(__always)
func equalFolded(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count {
        let byte = bytes[index]
        guard (65...90).contains(byte) ? byte + 32 == text.utf8Start[index] : byte == text.utf8Start[index] else {
            return false
        }
    }
    return true
}

/// Whether bytes are this text.
@inline(__always)
func equal(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count where bytes[index] != text.utf8Start[index] { return false }
    return true
}
