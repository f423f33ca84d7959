package import PerchBase

/// Parses the heads of HTTP/1.1 requests from a byte stream in pieces of any size. A value without socket or clock.
///
/// It accepts the requests of scrapers and browsers and refuses the rest: a head longer than `Limits.httpHeadBytesMax`,
/// methods other than GET and HEAD, and any body. RFC 9112 allows a bare LF as line end and one empty line before a
/// request, so it accepts both. It refuses input that two parsers could split into different requests: a folded field,
/// white space before a colon, two `Host` fields, a bare CR.
package struct HTTPHeadParser: Sendable {
    private let limitBytes: Int
    private let hosts: HostRule
    private var bytes: [UInt8] = []
    /// Start of the unfinished line, and the position up to which it was scanned.
    private var lineStart = 0
    private var scanned = 0
    private var lines: [Range<Int>] = []

    package init(limitBytes: Int = Limits.httpHeadBytesMax, hosts: HostRule = HostRule(.any)) {
        self.limitBytes = limitBytes
        self.hosts = hosts
    }

    /// Whether part of a request has arrived.
    package var hasBytes: Bool { !self.bytes.isEmpty }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        self.bytes.append(contentsOf: bytes)
    }

    /// Returns the next complete request; nil if more bytes are needed. After a refusal it must not be called again.
    package mutating func next() throws(HTTPRefusal) -> HTTPRequest? {
        while self.scanned < self.bytes.count {
            guard self.scanned < self.limitBytes else { throw .headTooLong }
            let byte = self.bytes[self.scanned]
            self.scanned += 1
            guard byte == UInt8(ascii: "\n") else { continue }
            var end = self.scanned - 1
            if end > self.lineStart, self.bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            let line = self.lineStart..<end
            self.lineStart = self.scanned
            if line.isEmpty {
                if self.lines.isEmpty {
                    // An old client may send one line end too many after its last request.
                    guard self.scanned <= 2 else { throw .badRequest("two empty lines precede the request") }
                    continue
                }
                let request = try self.request()
                self.bytes.removeFirst(self.scanned)
                (self.lineStart, self.scanned, self.lines) = (0, 0, [])
                return request
            }
            // Check the request line early, before the rest of a refused request arrives.
            if self.lines.isEmpty { _ = try self.requestLine(line) }
            self.lines.append(line)
        }
        if self.bytes.count >= self.limitBytes { throw .headTooLong }
        return nil
    }

    // MARK: The request line

    private struct RequestLine {
        var method: HTTPRequest.Method
        var path: String
        /// Of an absolute target: it stands for the Host field.
        var authority: String?
        /// The 1 of HTTP/1.1, or the 0 of HTTP/1.0.
        var minorVersion: UInt8
    }

    private func requestLine(_ range: Range<Int>) throws(HTTPRefusal) -> RequestLine {
        let words = self.bytes[range].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty }) else {
            throw .badRequest("a request must start with a line such as `GET /metrics HTTP/1.1`")
        }
        guard words[0].allSatisfy(Self.isTokenByte) else { throw .badRequest("the method is not a word") }
        let minorVersion = try Self.minorVersion(words[2])
        guard let method = HTTPRequest.Method(rawValue: String(decoding: words[0], as: UTF8.self)) else {
            throw .methodNotAllowed
        }
        let target = try Self.target(words[1])
        return RequestLine(
            method: method, path: target.path, authority: target.authority, minorVersion: minorVersion)
    }

    private static func minorVersion(_ word: ArraySlice<UInt8>) throws(HTTPRefusal) -> UInt8 {
        let word = Array(word)
        guard word.count == 8, word.starts(with: Array("HTTP/".utf8)), word[6] == UInt8(ascii: "."),
            Self.isDigit(word[5]), Self.isDigit(word[7])
        else { throw .badRequest("the request line must end with a version such as HTTP/1.1") }
        guard word[5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        return word[7] - UInt8(ascii: "0")
    }

    /// The path without its query. The target may be absolute, as for a proxy.
    private static func target(
        _ target: ArraySlice<UInt8>
    ) throws(HTTPRefusal) -> (path: String, authority: String?) {
        guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .badRequest("the target contains bytes that must be percent-encoded")
        }
        var text = String(decoding: target, as: UTF8.self)[...]
        var authority: String?
        if text.lowercased().hasPrefix("http://") {
            text = text.dropFirst("http://".count)
            authority = String(text.prefix { $0 != "/" })
            text = text.firstIndex(of: "/").map { text[$0...] } ?? "/"
        }
        guard text.first == "/" else { throw .badRequest("the target must start with `/`, such as `/metrics`") }
        return (String(text.prefix { $0 != "?" && $0 != "#" }), authority)
    }

    // MARK: Fields

    private func request() throws(HTTPRefusal) -> HTTPRequest {
        let line = try self.requestLine(self.lines[0])
        var keepsAlive = line.minorVersion >= 1
        var hosts = 0
        var host = ""
        for range in self.lines.dropFirst() {
            let (name, value) = try self.field(range)
            switch name {
            case "host":
                hosts += 1
                host = value
            case "connection":
                for option in value.split(separator: ",") {
                    switch Self.trimmed(option[...]).lowercased() {
                    case "close": keepsAlive = false
                    case "keep-alive" where line.minorVersion == 0: keepsAlive = true
                    default: break
                    }
                }
            case "content-length":
                guard value == "0" else { throw .badRequest("requests with a body are not accepted") }
            case "transfer-encoding":
                throw .badRequest("requests with a body are not accepted")
            default:
                break
            }
        }
        guard hosts == 1 || (hosts == 0 && line.minorVersion == 0) else {
            throw .badRequest("the request has \(hosts) Host fields, expected one")
        }
        if let text = self.hosts.refusal(of: Array((line.authority ?? host).utf8)) { throw .misdirected(text) }
        return HTTPRequest(method: line.method, path: line.path, keepsAlive: keepsAlive)
    }

    /// The field's name in lower case, and its value without surrounding white space.
    private func field(_ range: Range<Int>) throws(HTTPRefusal) -> (name: String, value: String) {
        let line = self.bytes[range]
        guard line.first != UInt8(ascii: " "), line.first != UInt8(ascii: "\t") else {
            throw .badRequest("a field continues on a second line")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
            throw .badRequest("a field has no name and colon")
        }
        let name = line[..<colon]
        guard name.allSatisfy(Self.isTokenByte) else { throw .badRequest("the name of a field is not a word") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
            throw .badRequest("the value of a field contains control characters")
        }
        return (
            String(decoding: name, as: UTF8.self).lowercased(),
            Self.trimmed(String(decoding: value, as: UTF8.self)[...])
        )
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        let start = text.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(start[...last])
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// RFC 9110's `tchar`.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
