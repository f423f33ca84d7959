package import PerchBase

/// A complete answer. No answer is streamed, because the pages here have at most a few hundred kilobytes.
package struct HTTPResponse: Equatable, Sendable {
    package enum Status: Int, Sendable, CaseIterable {
        case ok = 200
        case badRequest = 400
        case notFound = 404
        case methodNotAllowed = 405
        case requestTimeout = 408
        case misdirected = 421
        case headTooLong = 431
        case serviceUnavailable = 503
        case versionNotSupported = 505

        var phrase: String {
            switch self {
            case .ok: "OK"
            case .badRequest: "Bad Request"
            case .notFound: "Not Found"
            case .methodNotAllowed: "Method Not Allowed"
            case .requestTimeout: "Request Timeout"
            case .misdirected: "Misdirected Request"
            case .headTooLong: "Request Header Fields Too Large"
            case .serviceUnavailable: "Service Unavailable"
            case .versionNotSupported: "HTTP Version Not Supported"
            }
        }
    }

    package var status: Status
    package var contentType: String
    package var body: [UInt8]

    package static let plainText = "text/plain; charset=utf-8"

    package init(_ status: Status, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// A line of text for users and scripts.
    package init(_ status: Status, _ text: String) {
        self.init(status, contentType: Self.plainText, body: Array((text + "\n").utf8))
    }

    /// Describes a refusal: what happened, the limit, and the next step.
    package init(_ refusal: HTTPRefusal) {
        switch refusal {
        case .badRequest(let why):
            self.init(.badRequest, "bad request: \(why)")
        case .methodNotAllowed:
            self.init(.methodNotAllowed, "only GET and HEAD are supported; nothing can be changed over HTTP")
        case .misdirected(let why):
            self.init(.misdirected, why)
        case .timeout:
            self.init(
                .requestTimeout,
                "the request was not complete within \(Limits.httpHeadMilliseconds) ms; send it at once")
        case .headTooLong:
            self.init(
                .headTooLong,
                "the request's head is longer than \(Limits.httpHeadBytesMax) bytes, the limit; send fewer fields")
        case .versionNotSupported:
            self.init(.versionNotSupported, "only HTTP/1.1 and HTTP/1.0 are supported")
        }
    }

    /// The head and the body; for HEAD only the head.
    package func bytes(to method: HTTPRequest.Method, keepsAlive: Bool, at time: Instant) -> [UInt8] {
        var head = "HTTP/1.1 \(self.status.rawValue) \(self.status.phrase)\r\n"
        head += "Date: \(time.httpDate)\r\n"
        head += "Content-Type: \(self.contentType)\r\n"
        head += "Content-Length: \(self.body.count)\r\n"
        if self.status == .methodNotAllowed { head += "Allow: GET, HEAD\r\n" }
        if self.status == .serviceUnavailable { head += "Retry-After: 1\r\n" }
        // Answers show the current state, so they must not be cached, and browsers must not guess their type.
        head += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        head += "Connection: \(keepsAlive ? "keep-alive" : "close")\r\n\r\n"
        return Array(head.utf8) + (method == .head ? [] : self.body)
    }
}
