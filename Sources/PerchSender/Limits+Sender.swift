package import PerchBase

// MARK: Requests to other servers

extension Limits {
    /// Milliseconds for one attempt: name, connection, TLS, request and answer together.
    package static let senderTimeoutMilliseconds: Int64 = 30_000

    /// Bytes of an answer. A longer one is given up as it arrives. Apple's history pages have 20 notifications of up to 128 KiB.
    package static let senderAnswerBytesMax = 4 * 1024 * 1024

    /// Connections that are open at once.
    package static let senderConnectionsMax = 8

    /// Requests that wait or are under way. More are refused at once.
    package static let senderQueueMax = 10_000

    /// Attempts of one request, where it does not say otherwise.
    package static let senderAttemptsMax = 5

    /// The pause after the first failed attempt; it doubles up to the second value, and its second half is random.
    package static let senderBackoffMilliseconds: Int64 = 1_000
    package static let senderBackoffMillisecondsMax: Int64 = 60_000

    /// The longest pause that a server's `Retry-After` can ask for.
    package static let senderRetryAfterMillisecondsMax: Int64 = 3_600_000

    /// Letters of a message of libcurl that reach a log.
    package static let senderMessageMax = 200
}
