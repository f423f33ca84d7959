/// A request with its body.
package struct HTTPMessage: Equatable, Sendable {
    package var method: String
    /// As it came: a path with its query, a whole address, or the host and port of CONNECT.
    package var target: String
    /// Names in lower case, in the order of the request.
    package var fields: [Field]
    package var body: [UInt8]
    package var keepsAlive: Bool

    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: String
    }

    /// The value of a field that may come once; nil where it is missing.
    package func field(_ name: String) -> String? { self.fields.first { $0.name == name }?.value }
}

/// Parses requests of HTTP/1.1 with bodies from a byte stream in pieces of any size. A value without socket or clock.
///
/// It takes what client libraries of an API send: any method, and a body with Content-Length. It refuses input that two parsers could
/// split into different requests, as `HTTPHeadParser` does, and chunked bodies.
package struct HTTPMessageParser: Sendable {
    private let limitBytes: Int
    private var bytes: [UInt8] = []
    /// The bytes up to which no end of a head was found.
    private var scanned = 0

    /// `limitBytes`: of a head and its body together.
    package init(limitBytes: Int) { self.limitBytes = limitBytes }

    /// Whether part of a request has arrived.
    package var hasBytes: Bool { !self.bytes.isEmpty }

    /// What came behind the last request.
    package var rest: [UInt8] { self.bytes }

    package mutating func append(_ bytes: some Sequence<UInt8>) { self.bytes.append(contentsOf: bytes) }

    /// Returns the next complete request; nil if more bytes are needed. After a refusal it must not be called again.
    package mutating func next() throws(HTTPRefusal) -> HTTPMessage? {
        guard let end = self.endOfHead() else {
            if self.bytes.count >= self.limitBytes { throw .headTooLong }
            return nil
        }
        guard end <= self.limitBytes else { throw .headTooLong }
        var message = try Self.head(self.bytes[..<end])
        let count = try Self.bodyCount(message)
        guard count <= self.limitBytes - end else {
            throw .badRequest("the request has more than \(self.limitBytes) bytes, the limit; send less")
        }
        guard self.bytes.count >= end + count else { return nil }
        message.body = Array(self.bytes[end..<(end + count)])
        self.bytes.removeFirst(end + count)
        self.scanned = 0
        return message
    }

    /// The place behind the empty line that ends a head.
    private mutating func endOfHead() -> Int? {
        var place = max(3, self.scanned)
        while place < self.bytes.count {
            if self.bytes[place] == UInt8(ascii: "\n"), self.bytes[place - 1] == UInt8(ascii: "\r"),
                self.bytes[place - 2] == UInt8(ascii: "\n"), self.bytes[place - 3] == UInt8(ascii: "\r")
            {
                return place + 1
            }
            place += 1
        }
        self.scanned = place
        return nil
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPMessage {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) else {
            throw .badRequest("the head contains control characters")
        }
        var lines = bytes.dropLast(4).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
        }
        guard lines.allSatisfy({ !$0.contains(UInt8(ascii: "\r")) }) else {
            throw .badRequest("a line of the head ends with a bare CR")
        }
        let words = lines.removeFirst().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }), words[0].utf8.allSatisfy({ Self.isToken($0) })
        else { throw .badRequest("a request must start with a line such as `GET /path HTTP/1.1`") }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { throw .versionNotSupported }
        var message = HTTPMessage(
            method: words[0], target: words[1], fields: [], body: [], keepsAlive: words[2] == "HTTP/1.1")
        for line in lines { message.fields.append(try Self.field(line)) }
        for options in message.fields where options.name == "connection" {
            for option in options.value.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }) {
                if option == "close" { message.keepsAlive = false }
                if option == "keep-alive" { message.keepsAlive = true }
            }
        }
        guard message.fields.filter({ $0.name == "host" }).count <= 1 else {
            throw .badRequest("the request has two Host fields")
        }
        return message
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPMessage.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy({ Self.isToken($0) })
        else { throw .badRequest("a line of the head is no field with a name and a colon") }
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        return HTTPMessage.Field(
            name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
            value: String(decoding: value, as: UTF8.self))
    }

    private static func bodyCount(_ message: HTTPMessage) throws(HTTPRefusal) -> Int {
        guard message.field("transfer-encoding") == nil else {
            throw .badRequest("the body is sent in chunks; send it with Content-Length")
        }
        let counts = message.fields.filter { $0.name == "content-length" }.map(\.value)
        guard let first = counts.first else { return 0 }
        guard counts.count == 1, first.utf8.count <= 9, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int(first)
        else { throw .badRequest("Content-Length is no number") }
        return count
    }

    /// RFC 9110's `tchar`.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
