import CPerchCurl
import Glibc
import PerchBase
import Synchronization

/// Requests through libcurl's multi interface.
///
/// Sendable without a claim for its state, which one lock guards: only `wake` is called by other threads, and the lock is not
/// held while the sender's thread waits.
package final class CurlNetwork: SenderNetwork {
    private struct State {
        var requests: [UInt64: Handle] = [:]
        var isClosed = false
    }

    /// A pointer of libcurl's. Safe to send, because only the sender's thread follows it, and `perch_curl_wake`, which libcurl lets any
    /// thread call.
    private struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

    private let set: Handle
    private let state = Mutex(State())
    /// Addresses of a name instead of the resolver's, for tests.
    private let resolver: (@Sendable (String) -> [String])?

    /// Loads libcurl.
    package init(
        _ rules: SenderRules, resolver: (@Sendable (String) -> [String])? = nil
    ) throws(SenderUnavailable) {
        guard perch_curl_load() == 1 else { throw SenderUnavailable(String(cString: perch_curl_load_error())) }
        self.resolver = resolver
        var own = perch_curl_rules()
        own.allows_private = rules.allowsPrivateAddresses ? 1 : 0
        own.allows_loopback_http = rules.allowsLoopbackHTTP ? 1 : 0
        own.connections_max = Int32(Limits.senderConnectionsMax)
        let made: OpaquePointer? =
            if let path = rules.authoritiesPath {
                path.withCString { path in
                    own.authorities = path
                    return perch_curl_set_make(&own)
                }
            } else {
                perch_curl_set_make(&own)
            }
        guard let made else { throw SenderUnavailable("libcurl has no memory") }
        self.set = Handle(pointer: made)
    }

    deinit { self.close() }

    /// Whether an address is public; nil for a text that is no address.
    package static func isPublic(_ address: String) -> Bool? {
        switch perch_curl_is_public(address) {
        case 1: true
        case 0: false
        default: nil
        }
    }

    package func begin(_ request: SenderRequest, number: UInt64, authorization: String?) -> SenderFault? {
        var lines = request.headers
        if let authorization { lines.append("Authorization: " + authorization) }
        guard (lines + [request.url]).allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }) else {
            return SenderFault(.url, "a URL or a header has a control character")
        }
        var addresses: String?
        if let resolver = self.resolver { addresses = resolver(request.url).joined(separator: ",") }
        let headers = lines.flatMap { Array($0.utf8CString) }
        let begun = headers.withUnsafeBufferPointer { headers in
            request.body.withUnsafeBufferPointer { body in
                Self.withText(addresses) { addresses in
                    perch_curl_begin(
                        self.set.pointer, number, request.method.rawValue, request.url, headers.baseAddress,
                        Int32(lines.count), body.baseAddress, body.count, request.answerBytesMax,
                        Int32(clamping: request.timeoutMilliseconds), addresses)
                }
            }
        }
        guard let begun else {
            return SenderFault(.url, "only https is sent, and http to loopback where a setting allows it")
        }
        self.state.withLock { $0.requests[number] = Handle(pointer: begun) }
        return nil
    }

    package func advance() -> [(number: UInt64, result: SenderResult)] {
        _ = perch_curl_advance(self.set.pointer)
        var ended: [(number: UInt64, result: SenderResult)] = []
        while let request = perch_curl_next(self.set.pointer) {
            let number = perch_curl_number(request)
            ended.append((number, Self.result(of: request)))
            self.state.withLock { _ = $0.requests.removeValue(forKey: number) }
            perch_curl_request_free(request)
        }
        return ended
    }

    package func wait(milliseconds: Int32) { perch_curl_wait(self.set.pointer, milliseconds) }
    package func wake() { perch_curl_wake(self.set.pointer) }

    package func close() {
        let requests = self.state.withLock { state -> [Handle]? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return Array(state.requests.values)
        }
        guard let requests else { return }
        for request in requests {
            perch_curl_cancel(self.set.pointer, request.pointer)
            perch_curl_request_free(request.pointer)
        }
        perch_curl_set_free(self.set.pointer)
    }

    private static func result(of request: OpaquePointer) -> SenderResult {
        let fault = perch_curl_request_fault(request)
        guard fault == PERCH_CURL_NONE else {
            return .failure(SenderFault(Self.kind(of: fault), Self.message(fault, request)))
        }
        var answer = SenderAnswer(status: Int(perch_curl_status(request)))
        answer.contentType = String(cString: perch_curl_content_type(request))
        answer.date = String(cString: perch_curl_date(request))
        answer.retryAfter = String(cString: perch_curl_retry_after(request))
        var count = 0
        if let bytes = perch_curl_body(request, &count) {
            answer.body = Array(UnsafeBufferPointer(start: bytes, count: count))
        }
        return .success(answer)
    }

    private static func kind(of fault: perch_curl_fault) -> SenderFault.Kind {
        switch fault {
        case PERCH_CURL_URL: .url
        case PERCH_CURL_NAME: .name
        case PERCH_CURL_PRIVATE: .privateAddress
        case PERCH_CURL_CONNECT: .connect
        case PERCH_CURL_TIMEOUT: .timeout
        case PERCH_CURL_CERTIFICATE: .certificate
        case PERCH_CURL_TLS: .tls
        case PERCH_CURL_TOO_LONG: .tooLong
        case PERCH_CURL_BROKEN: .broken
        default: .other
        }
    }

    private static func message(_ fault: perch_curl_fault, _ request: OpaquePointer) -> String {
        switch fault {
        case PERCH_CURL_PRIVATE:
            "the name resolves to \(String(cString: perch_curl_refused_address(request))), which is no public address"
        case PERCH_CURL_TOO_LONG: "the answer is longer than its limit"
        default:
            String(
                printable(String(cString: perch_curl_message(request))).prefix(Limits.senderMessageMax))
        }
    }

    private static func withText<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let text else { return body(nil) }
        return text.withCString(body)
    }
}

/// libcurl cannot be used on this machine.
package struct SenderUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String {
        "requests to other servers need libcurl.so.4 (Debian's package libcurl4): \(self.reason)"
    }
}
