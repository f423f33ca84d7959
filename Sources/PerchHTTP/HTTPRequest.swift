/// A request whose head has been read. It has no body: `HTTPHeadParser` refuses one.
package struct HTTPRequest: Equatable, Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        /// As GET, but only the head of the answer is sent.
        case head = "HEAD"
    }

    package var method: Method
    /// Begins with `/`; what stood behind a `?` is left out.
    package var path: String
    /// Whether the client wants to ask again on this connection.
    package var keepsAlive: Bool

    package init(method: Method = .get, path: String, keepsAlive: Bool = true) {
        self.method = method
        self.path = path
        self.keepsAlive = keepsAlive
    }
}

/// Why a request is not answered, as an answer. After each of these the connection is closed: where the next request
/// would begin is not known, or not worth knowing.
package enum HTTPRefusal: Error, Equatable, Sendable {
    /// Not a request; what is wrong with it.
    case badRequest(String)
    case methodNotAllowed
    /// The head did not end within `Limits.httpHeadMilliseconds`.
    case timeout
    /// The head did not end within `Limits.httpHeadBytesMax`.
    case headTooLong
    case versionNotSupported
}
