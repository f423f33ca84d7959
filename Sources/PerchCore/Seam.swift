import PerchBase
import PerchIdentity
import PerchModel
import PerchWire

// Where the parts of a loop meet. Each part is handed the others behind these protocols, and nothing else of them.
//
//     transport ──▶ service ──▶ views
//         ▲            │          │
//         └─ CallSink ─┴──────────┘

/// The transport, as service and views know it: a call has output or an end. Neither names a frame or a socket.
protocol CallSink: ~Copyable {
    // MARK: Calls of service

    /// Counts work that a call of the connection under way has cost.
    mutating func spend(_ units: Int)
    /// Enters a new call under its stream number.
    mutating func nameStream(of call: Int32, _ tables: borrowing Tables)
    /// The stream number is free for another call.
    mutating func forgetStream(of call: Int32, _ tables: borrowing Tables)
    /// Sends the answer of a unary call. The transport takes over the payload's reference.
    mutating func send(_ call: Int32, _ payload: PayloadHandle, _ tables: inout Tables)
    /// Sends the end of a call that went wrong. The call is removed when the kernel has taken it.
    mutating func sendEnd(of call: Int32, _ status: WireStatus, _ tables: inout Tables)
    /// Sends the end of a call that went well.
    mutating func sendEnd(of call: Int32, _ tables: inout Tables)
    /// Sends the end of a call that never got a slot.
    mutating func sendRefusal(_ connection: Int32, stream: UInt32, _ status: WireStatus, _ tables: inout Tables)
    /// A call has no more output.
    mutating func unlist(_ call: Int32, _ tables: inout Tables)

    // MARK: Calls of views

    /// A watch or a stream of events has output: its connection fetches it when it is written to.
    mutating func ready(_ call: Int32, _ tables: inout Tables)
    /// A stream has sent everything up to `applied`: bookmarks that wait for it may go out.
    mutating func caughtUp(_ call: Int32, _ tables: inout Tables)
    /// A call delays the bookmarks of its connection until `releaseBeats`: a value that a BEAT would cover is pending.
    mutating func holdBeats(for call: Int32, _ tables: inout Tables)
    /// The pending value is ready. A BEAT that waited for the last such call is sent in this tick.
    mutating func releaseBeats(for call: Int32, _ tables: inout Tables)
    /// Whether the stream of a call accepts no output now.
    func isFull(_ call: Int32, _ tables: borrowing Tables) -> Bool

    // MARK: What is known of a caller

    /// The peer of a connection is known.
    mutating func identified(_ connection: Int32, _ tables: inout Tables)
    /// The verified certificate of a peer; nil without one.
    func certificate(of connection: Int32) -> PeerCertificate?

    /// Whether the peer of a call accepts zlib.
    func acceptsZlib(_ call: Int32, _ tables: borrowing Tables) -> Bool
    /// The address of a caller, for the audit trail.
    func callerAddress(ofCall call: Int32, _ tables: borrowing Tables) -> PeerAddress
    /// What the client of a call says it is, in HELLO or with the call.
    func clientID(ofCall call: Int32, _ tables: borrowing Tables) -> [UInt8]
    /// The same for a stream that has no call yet; nil without an ID.
    func clientID(_ connection: Int32, stream: UInt32, _ tables: borrowing Tables) -> [UInt8]?
}

/// The views, as the service knows them: what a call watches.
protocol ViewSource: ~Copyable {
    /// Attaches a call to a view.
    mutating func watch(
        _ call: Int32, of app: AppNumber, account key: [UInt8]?, _ viewKey: ViewKey, _ tables: inout Tables,
        _ sink: inout some CallSink & ~Copyable)
    /// Attaches a call to the events of an account.
    mutating func watchUpdates(
        _ call: Int32, _ asked: TransactionUpdatesRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some CallSink & ~Copyable) throws(CallRefusal)
    /// Attaches a call to the changes of an app.
    mutating func watchAppChanges(
        _ call: Int32, _ asked: AppChangesRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some CallSink & ~Copyable) throws(CallRefusal)
    /// Sends the constant first message of a call without a token.
    mutating func sayLoading(_ call: Int32, _ tables: inout Tables, _ sink: inout some CallSink & ~Copyable)
    /// A call leaves what it watches.
    mutating func leave(_ call: Int32, _ tables: inout Tables, _ sink: inout some CallSink & ~Copyable)
    /// Bytes that watches and streams hold.
    var heldBytes: Int { get }
}
