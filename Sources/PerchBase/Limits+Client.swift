// MARK: A client

extension Limits {
    /// Open calls and streams of one client, including those that wait for a connection. One more fails with
    /// CALLS_LIMIT before it is sent. A server allows as many on one connection.
    package static let clientCallsMax = 65_536

    /// Times that a read is sent before its loss is reported: once, and once more on the next connection.
    package static let clientReadAttemptsMax = 2

    /// Times that a mutation with an idempotency key is sent before its loss is reported. It exceeds a read's, because
    /// only the answer shows whether the mutation happened.
    package static let clientMutationAttemptsMax = 8

    /// Events queued for a consumer. Beyond it the client cancels the stream, and reopens it at the last event's cursor
    /// when the consumer has taken half of them. The server keeps the rest.
    package static let clientEventsMax = 1_024

    /// Revisions that a client created and knows from answers. Beyond it the oldest are forgotten, and the client
    /// may deliver an event although the answer already reported its change.
    package static let clientToldRevisionsMax = 65_536

    /// Bytes of a server's host name, and of one of its labels, as in DNS. A longer one fails with ADDRESS_INVALID.
    package static let hostNameBytesMax = 254
    package static let hostNameLabelBytesMax = 63

    /// Addresses of a host name that are tried for one connection, in the system's order. Later ones are ignored.
    package static let addressesPerNameMax = 16

    /// Bytes that a client reads from its connection in one iteration of its loop. The rest follows in the next.
    package static let clientReadBytesPerTurn = 256 * 1024

    /// Unsent bytes above which a PING is not answered: a server that reads nothing cannot be waiting for the PONG.
    package static let clientPongBytesMax = 64 * 1024

    /// Milliseconds that a connection must last before the reconnect delay starts again at its minimum. Otherwise a
    /// server that welcomes and then fails would get reconnects at full speed.
    package static let clientStableMilliseconds: Int64 = 10_000

    /// Longest time, in milliseconds, that a server can keep a client from reconnecting, jitter included. A longer
    /// request is reduced to this, because users wait for values.
    package static let clientAwayMillisecondsMax: Int64 = 600_000

    /// Half heartbeats without a byte after which a connection counts as dead: five, so two and a half heartbeats. One
    /// PING may be late; two lost ones mean that the network or the server failed.
    package static let clientSilenceHalfHeartbeats: Int64 = 5

    /// Milliseconds by which the server's deadline of a call precedes the client's, so that its answer arrives in time.
    /// It is at most half of the remaining time.
    package static let clientDeadlineLeadMilliseconds: Int64 = 200

    /// Bytes of a credentials file, and of the credentials sent from it. A longer one fails with
    /// AUTHORIZATION_UNREADABLE. HELLO has space for 16 KiB.
    package static let clientAuthorizationBytesMax = 8 * 1024
}
