public import PerchBase

/// The state of a client's connection.
public enum ConnectionState: Hashable, Sendable {
    /// There is no connection, because no call and no stream needs one.
    case idle
    /// The client connects.
    case connecting
    /// The server has accepted the connection.
    case connected(ServerInfo)
    /// There is no connection, for `reason`. The next attempt is at `until`, by the wall clock.
    case waiting(until: Instant, reason: PerchError)
    /// The server refused the connection for a reason that waiting does not change. The client reconnects only for a
    /// new call or stream.
    case refused(PerchError)
    /// The client was closed.
    case closed
}

/// The server of a connection.
public struct ServerInfo: Hashable, Sendable {
    /// Arrival of WELCOME, by the wall clock of this machine.
    public var since: Instant
    /// Version of the server program.
    public var version: String
    /// Permanent identity of the store; nil if the server sent none.
    public var storeID: StoreIdentity?
    /// Epoch of the store. It rises with each restore from a backup; the server refuses tokens of another epoch.
    public var epoch: UInt32
    /// Revision of the server at the start of the connection.
    public var revision: UInt64
    /// Agreed time between heartbeats.
    public var heartbeat: Duration

    /// Creates server information from its parts, for tests.
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
