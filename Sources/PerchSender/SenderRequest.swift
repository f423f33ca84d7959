import PerchBase

/// A request to another server.
package struct SenderRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    package var method: Method
    /// `https://…`; `http://` only to loopback, where the settings allow it.
    package var url: String
    /// Lines such as `Accept: application/json`. A line with a control character is refused.
    package var headers: [String] = []
    package var body: [UInt8] = []
    /// Requests of one lane share its rate and its pauses.
    package var lane: SenderLane
    package var attemptsMax = Limits.senderAttemptsMax
    package var timeoutMilliseconds = Limits.senderTimeoutMilliseconds
    package var answerBytesMax = Limits.senderAnswerBytesMax
    /// The value of `Authorization`, made anew for each attempt: tokens end. Called on the sender's thread.
    package var authorization: (@Sendable () -> String)?
    /// Whether it may still be sent; nil: always. Asked before each attempt, on the sender's thread. One that may not ends with `stopped`.
    package var isWanted: (@Sendable () -> Bool)?
    /// Whether an answer that is no success is worth another attempt, beside 429 and 5xx, which always are.
    package var isRetried: (@Sendable (SenderAnswer) -> Bool)?

    package init(_ method: Method, _ url: String, lane: SenderLane) {
        self.method = method
        self.url = url
        self.lane = lane
    }
}

/// A name and a rate for requests that share a limit of the other server.
package struct SenderLane: Hashable, Sendable {
    package var name: String
    /// Requests in a thousand seconds, so that half a request a second is a whole number.
    package var perThousandSeconds: Int64
    /// Requests at once after a pause.
    package var burst: Int64

    package init(_ name: String, perThousandSeconds: Int64, burst: Int64 = 1) {
        precondition(perThousandSeconds > 0 && burst > 0, "lane \(name) lets no request through")
        self.name = name
        self.perThousandSeconds = perThousandSeconds
        self.burst = burst
    }
}

/// What a server answered, whatever its status. A redirect is an answer: it is not followed.
package struct SenderAnswer: Hashable, Sendable {
    package var status: Int
    package var contentType = ""
    /// As it came; empty for none.
    package var retryAfter = ""
    /// When the server answered, by its own clock, as it came.
    package var date = ""
    package var body: [UInt8] = []

    package init(status: Int) { self.status = status }

    package var isSuccess: Bool { (200...299).contains(self.status) }
}

/// Why there is no answer.
package struct SenderFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// Another scheme than https, no URL, a header with a control character.
        case url
        case name
        case privateAddress = "private_address"
        case connect
        case timeout
        case certificate
        case tls
        case tooLong = "too_long"
        case broken
        case other
        /// Refused before it was sent: too many wait.
        case full
        /// The sender ended first, or nobody wants the request any more.
        case stopped
    }

    package var kind: Kind
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { self.message }

    /// Whether another attempt may succeed.
    package var isTransient: Bool {
        switch self.kind {
        case .name, .connect, .timeout, .tls, .broken, .other: true
        case .url, .privateAddress, .certificate, .tooLong, .full, .stopped: false
        }
    }
}

package typealias SenderResult = Result<SenderAnswer, SenderFault>
