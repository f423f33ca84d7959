/// A parsed request. It has no body, because `HTTPHeadParser` refuses bodies.
package struct HTTPRequest: Equatable, Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        /// Like GET, but the answer has no body.
        case head = "HEAD"
    }

    package var method: Method
    /// Starts with `/`; the query is removed.
    package var path: String
    /// Whether the client may send another request on this connection.
    package var keepsAlive: Bool

    package init(method: Method = .get, path: String, keepsAlive: Bool = true) {
        self.method = method
        self.path = path
        self.keepsAlive = keepsAlive
    }
}

/// The reason why a request is refused. The connection is closed afterwards, because the start of the next request is
/// unknown.
package enum HTTPRefusal: Error, Equatable, Sendable {
    /// Not a valid request, with the reason.
    case badRequest(String)
    case methodNotAllowed
    /// The request is for another host, with the reason.
    case misdirected(String)
    /// The head was not complete within `Limits.httpHeadMilliseconds`.
    case timeout
    /// The head was not complete within `Limits.httpHeadBytesMax`.
    case headTooLong
    case versionNotSupported
}
