package import PerchBase

/// A storage that several nodes share, beside its data: heartbeats, the other nodes, and the wake-up for changes. Belongs to the
/// store's thread.
package protocol StoreSharing: AnyObject {
    /// Sends a heartbeat if one is due, takes those that the storage has confirmed, and reads notifications. Waits for nothing, except
    /// to connect again.
    func beat(_ state: NodeState)
    /// Milliseconds since the last confirmed heartbeat was sent.
    var sinceBeat: Int64 { get }
    /// A descriptor that becomes readable with a notification; -1 without a connection.
    var descriptor: Int32 { get }
    /// Another number for each connection: a new descriptor may have the number of an old one.
    var connectionNumber: Int { get }
    /// The storage's clock less the machine's monotonic clock that counts suspend, in milliseconds. All nodes follow the storage's
    /// clock; no node reads the wall clock of its machine.
    var clockOffset: Int64 { get }
    /// Milliseconds by which the storage's clock jumped against the one that this node goes on with; 0 while they agree.
    var clockJump: Int64 { get }
    /// Why no heartbeat is confirmed, as far as this node can tell. Means nothing while they are.
    var obstacle: ReachObstacle { get }
    /// All nodes, as the last heartbeat found them.
    var nodes: [NodeReport] { get }
    /// The number of this node among them.
    var nodeID: Int64 { get }
    var databaseFigures: DatabaseFigures { get }
    /// Milliseconds for which this node alone may send requests to other servers; 0: another node may, or none has the right.
    var sendsForMilliseconds: Int64 { get }
    /// Keeps what waits for a code of the console, where every node finds it until `Limits.consoleCodeMilliseconds` have passed.
    func keepCode(_ name: [UInt8], _ sealed: [UInt8]) throws(StorageError)
    /// Hands that out and forgets it; nil: there is nothing of that name any more.
    func takeCode(_ name: [UInt8]) throws(StorageError) -> [UInt8]?
}

/// Why the storage confirms nothing to a node.
package enum ReachObstacle: Hashable, Sendable {
    /// Not one server of it says anything, not even that it refuses: the network of this node may be gone, and other nodes may go on.
    case silence
    /// Its machine refuses connections, or takes them and says nothing. Other nodes are as cut off as this one.
    case refusal
    /// It answers, and confirms no commit, because a synchronous standby has to have it first. Other nodes wait as this one does.
    case noStandby
}

/// What a node says of itself with each heartbeat.
package struct NodeState: Hashable, Sendable {
    /// Calls that are open, most of them streams.
    package var calls: Int
    package var isDraining: Bool
    /// It has requests to send to other servers, which one node at a time does.
    package var wantsToSend: Bool

    package init(calls: Int, isDraining: Bool, wantsToSend: Bool = false) {
        self.calls = calls
        self.isDraining = isDraining
        self.wantsToSend = wantsToSend
    }
}

/// A node of the store.
package struct NodeReport: Hashable, Sendable {
    package var id: Int64
    package var name: String
    package var version: String
    package var started: Instant
    /// Since its last heartbeat.
    package var silentMilliseconds: Int64
    package var appliedRevision: UInt64
    package var calls: Int
    package var isDraining: Bool

    package init(
        id: Int64, name: String, version: String, started: Instant, silentMilliseconds: Int64, appliedRevision: UInt64,
        calls: Int, isDraining: Bool
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.started = started
        self.silentMilliseconds = silentMilliseconds
        self.appliedRevision = appliedRevision
        self.calls = calls
        self.isDraining = isDraining
    }

    package var isGone: Bool { self.silentMilliseconds >= Limits.nodeGoneMilliseconds }
}

/// Counters of a store on a database server.
package struct DatabaseFigures: Hashable, Sendable {
    /// Batches that found that another node had committed.
    package var conflicts: UInt64 = 0
    package var reads: UInt64 = 0
    package var reconnects: UInt64 = 0
    /// Barriers before a change of another node was published.
    package var seals: UInt64 = 0
    package var heartbeats: UInt64 = 0
    /// Commits whose outcome was not known at first.
    package var unknownCommits: UInt64 = 0
    /// Why a connection was last given up; empty if none was.
    package var lastLoss = ""

    package init() {}
}
