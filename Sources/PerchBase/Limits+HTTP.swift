// gRPC, Connect and gRPC-Web over HTTP/2 and HTTP/1.1, on the port of perch/1.
extension Limits {
    /// Bytes of a request's header fields, each counted with 32 more as RFC 9113 does. More fields are refused with 431 on
    /// their stream. Their block is decoded as it comes, so only these bytes are held.
    package static let headerListBytesMax = 16 * 1024

    /// CONTINUATION frames of one header block: a block of 1 MiB in whole frames fits. One more closes the connection with
    /// HTTP_FLOOD, because a block cannot be skipped: both sides' tables follow from it.
    package static let continuationsMax = 64

    /// Streams of one HTTP/2 connection that ended before their peer did, whose late frames are still expected. An older
    /// one's late frames are answered with STREAM_CLOSED.
    package static let earlyEndsKept = 256

    /// Gaps in the stream numbers of one HTTP/2 connection that are remembered. A client that opens streams in order has
    /// none.
    package static let streamGapsKept = 64

    /// Frames without data: PING, SETTINGS, PRIORITY, empty DATA, unknown kinds. Beyond it, HTTP_FLOOD. The meter starts
    /// again with each write of DATA or HEADERS: clients measure the round trip with a PING for the data that they get.
    package static let httpControls = RateLimit(perSecond: 20, burst: 100)

    /// Bytes of text in `grpc-message`, in the text of `grpc-status-details-bin` and in GOAWAY. The rest is cut off.
    package static let statusTextBytesMax = 1_024

    /// Bytes of `google.rpc.Status` in `grpc-status-details-bin`; longer ones are left out. Clients refuse trailers over 8 KiB.
    package static let statusDetailsBytesMax = 4_096

    /// Bytes of one DATA frame. No peer takes less, and a longer one would let others wait.
    @inlinable package static var dataFrameBytesMax: Int { 16 * 1024 }

    /// Bytes of requests that the calls of one HTTP connection have sent in part. A call that would go beyond it is refused
    /// with PARTIAL_FRAMES_LIMIT: one longest request and many usual ones fit.
    package static let httpRequestsBytesMax = 8 * 1024 * 1024

    /// The same as `httpRequestsBytesMax` for a connection without valid credentials, where the server needs them. One longest
    /// notification of the App Store and some usual requests fit.
    package static let unidentifiedHeldBytesMax = 256 * 1024

    /// Streams of an HTTP/2 connection without valid credentials, where the server needs them. One more gets REFUSED_STREAM,
    /// unless its head has a valid token.
    @inlinable package static var unidentifiedStreamsMax: Int { 100 }

    /// Streams of Health.Watch on one connection. One more is refused with CALLS_BYTES_LIMIT.
    package static let healthWatchesMax = 1_024

    /// Bytes of answers that may wait on a connection whose call of reflection asks for more; then CALLS_BYTES_LIMIT.
    package static let reflectionUnsentBytesMax = 256 * 1024

    /// Bytes of answers on one HTTP/2 connection that wait for a window. Calls beyond it are refused with CALLS_BYTES_LIMIT.
    package static let httpBlockedBytesMax = 8 * 1024 * 1024

    /// Bytes that a peer has sent on a stream or a connection before its window is given back.
    package static let httpWindowReturnBytes: Int32 = 16 * 1024

    /// Milliseconds after which an old connection of HTTP/2 is told its last stream, if its peer answers no PING.
    package static let httpLastStreamMilliseconds: Int64 = 10_000

    /// Milliseconds after which an `EventSource` comes back when its connection is lost: a random value of this range, so that
    /// the pages of a restarted server do not all return at one moment.
    package static let eventRetryMilliseconds: ClosedRange<Int64> = 500...2_000

    /// Milliseconds that an `EventSource` waits for the position of its last event, before it is given the present value: loops
    /// and nodes differ by less, and a restored store never reaches it.
    package static let forgivenTokenMilliseconds: Int64 = 2_000

    /// Percent by which ages are spread, so that the streams of one connection do not all return at one moment.
    package static let ageJitterPercent: Int64 = 20
}

extension Limits {
    /// Requests that one call of reflection answers. A tool asks a few dozen.
    package static let reflectionRequestsMax = 1_000

    /// Fields of the query of a GET. More are refused with MESSAGE_MALFORMED, and so is a path of more than `jsonDepth` names.
    /// The longest request of a read has a dozen fields; identifiers repeat.
    package static let queryFieldsMax = 128

    /// Bytes that a client of HTTP/1.1 may send ahead while its request is answered. More closes the connection.
    package static let httpAheadBytesMax = 64 * 1024
}
