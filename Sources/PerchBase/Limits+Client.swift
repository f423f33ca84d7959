// MARK: A client

extension Limits {
    /// Calls and streams of one client, under way or waiting for a connection. One more fails with CALLS_LIMIT, before
    /// it is sent: as many as a server takes on one connection.
    package static let clientCallsMax = 65_536

    /// Times that a read is sent before its loss is reported: once more, on the next connection.
    package static let clientReadAttemptsMax = 2

    /// Times that a mutation with an idempotency key is sent before its loss is reported. More than a read, because only
    /// the answer tells whether it happened.
    package static let clientMutationAttemptsMax = 8

    /// Events that wait for a consumer. Beyond it the stream is cancelled, and opened again
    /// at the last event's cursor when half of them are taken: the server keeps the rest, and nothing else waits.
    package static let clientEventsMax = 1_024

    /// Revisions of its own changes that a client remembers to have been told of, where others are in doubt. Beyond it the
    /// oldest are forgotten, and an event of one of them may be handed on although its answer told of it.
    package static let clientToldRevisionsMax = 65_536

    /// Bytes of a server's host name, and of one of its labels. A longer one is refused as ADDRESS_INVALID: DNS has no room
    /// for it.
    package static let hostNameBytesMax = 254
    package static let hostNameLabelBytesMax = 63

    /// Addresses of a name that are tried for one connection, in the order that the system gives. Those behind are left out.
    package static let addressesPerNameMax = 16

    /// Bytes that a client reads from its connection in one turn of its loop. The rest comes with the next turn.
    package static let clientReadBytesPerTurn = 256 * 1024

    /// Bytes that may wait to be sent when a PING is answered. Beyond it the PONG is left out: a server that takes
    /// nothing cannot be waiting for it.
    package static let clientPongBytesMax = 64 * 1024

    /// Milliseconds that a connection must have lasted for the pauses before the next ones to begin from the shortest
    /// again. Below it, a server that welcomes and then fails would be asked at full speed.
    package static let clientStableMilliseconds: Int64 = 10_000

    /// Milliseconds that a server can ask a client to stay away, its jitter included. A longer wish is cut to this:
    /// somebody waits for a value.
    package static let clientAwayMillisecondsMax: Int64 = 600_000

    /// Heartbeats, in halves, without a byte after which a connection counts as dead: five halves. One may be late, and
    /// two lost mean that the network or the server is gone.
    package static let clientSilenceHalfHeartbeats: Int64 = 5

    /// Milliseconds by which the server's deadline of a call comes before the client's own, so that its answer is there
    /// in time; at most half of what is left.
    package static let clientDeadlineLeadMilliseconds: Int64 = 200

    /// Bytes of a file with credentials, and of what is sent from it. A longer one is refused as
    /// AUTHORIZATION_UNREADABLE: HELLO has room for 16 KiB.
    package static let clientAuthorizationBytesMax = 8 * 1024
}
