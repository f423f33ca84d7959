public import PerchBase

/// What a client's connection is doing.
public enum ConnectionState: Hashable, Sendable {
    /// Nothing was asked yet, or the connection ended while nobody needed it.
    case idle
    /// A connection is being made.
    case connecting
    /// The server has said who it is.
    case connected(ServerInfo)
    /// There is no connection, why, and when the next is tried, by the wall clock.
    case waiting(until: Instant, reason: PerchError)
    /// The server refused the connection for a reason that waiting does not change. The client does not come back until a
    /// call or a stream asks for it.
    case refused(PerchError)
    /// The client was closed.
    case closed
}

/// Who a client is connected to.
public struct ServerInfo: Hashable, Sendable {
    /// When WELCOME came, by the wall clock of this machine.
    public var since: Instant
    /// Of the server program.
    public var version: String
    /// Names the store for ever; nil if the server sent no such name.
    public var storeID: StoreIdentity?
    /// Another one after each restore of a backup: tokens of another epoch are refused.
    public var epoch: UInt32
    /// Where the server stood when the connection began.
    public var revision: UInt64
    /// Time between heartbeats, as agreed.
    public var heartbeat: Duration

    public init(
        since: Instant, version: String, storeID: StoreIdentity?, epoch: UInt32, revision: UInt64, heartbeat: Duration
    ) {
        self.since = since
        self.version = version
        self.storeID = storeID
        self.epoch = epoch
        self.revision = revision
        self.heartbeat = heartbeat
    }
}
