import PerchBase
import PerchIdentity
import PerchModel
import PerchWire

// Where the parts of a loop meet. Each part is handed the others behind these protocols, and nothing else of them.
//
//     transport ──▶ service ──▶ views
//         ▲            │          │
//         └─ CallSink ─┴──────────┘

// A parameter is `some Sink`, `some Source` or `some Gate`.
typealias Sink = CallSink & ~Copyable
typealias Source = ViewSource & ~Copyable
typealias Gate = ServiceGate & ~Copyable

/// The transport, as service and views know it: a call has output or an end. Service and views name no frame and no socket.
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
    /// A stream has sent everything that its caller missed: the connection says so without waiting for the heartbeat.
    mutating func vouch(for call: Int32, _ tables: inout Tables)
    /// A call delays the bookmarks of its connection until `releaseBeats`: a value that a BEAT would cover is pending.
    mutating func holdBeats(for call: Int32, _ tables: inout Tables)
    /// The pending value is ready. A BEAT that waited for the last such call is sent in this tick.
    mutating func releaseBeats(for call: Int32, _ tables: inout Tables)
    /// Whether output of a connection is pending.
    func hasOutput(_ connection: Int32, _ tables: borrowing Tables) -> Bool
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
        _ sink: inout some Sink)
    /// Attaches a call to the events of an account.
    mutating func watchUpdates(
        _ call: Int32, _ asked: TransactionUpdatesRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some Sink) throws(CallRefusal)
    /// Attaches a call to the changes of an app.
    mutating func watchAppChanges(
        _ call: Int32, _ asked: AppChangesRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some Sink) throws(CallRefusal)
    /// Makes a call a copy of an app's entitlements.
    mutating func beginCopy(
        _ call: Int32, _ asked: AppEntitlementsRequest, of app: AppNumber, _ tables: inout Tables,
        _ sink: inout some Sink)
    /// Sends the constant first message of a call without a token.
    mutating func sayLoading(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink)
    /// A call leaves what it watches.
    mutating func leave(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink)
    /// Bytes that watches and streams hold.
    var heldBytes: Int { get }

    // MARK: Calls of transports

    /// The first message of a watch without a token: the same bytes for all.
    var loading: PayloadHandle { get }
    /// The body that a watch gets next; none where it is being computed.
    func encoding(for call: Int32, zlib: Bool, _ tables: borrowing Tables) -> PayloadHandle
    /// Compresses the value of a watch for the first reader that accepts it.
    mutating func compressForReader(_ call: Int32, _ tables: inout Tables)
    /// A message in its compressed form, made for the first reader that accepts it.
    mutating func compressed(_ plain: PayloadHandle, _ known: PayloadHandle, _ tables: inout Tables) -> PayloadHandle
    /// Recomputes a view whose value was freed.
    mutating func refresh(_ view: Int32, _ tables: inout Tables)
    /// The newest value of a watch has been sent.
    mutating func valueTaken(_ call: Int32, _ tables: inout Tables)
    /// The unsent events of a stream, oldest first.
    func eventsReady(_ call: Int32, _ tables: borrowing Tables) -> ArraySlice<EncodedEvent>
    func hasEventsToSay(_ call: Int32, _ tables: borrowing Tables) -> Bool
    /// The first unsent event of a stream has been sent.
    mutating func eventTaken(_ call: Int32, _ tables: inout Tables, _ sink: inout some Sink)
    /// Asks for a stream's next events, if all have been sent and it is not live.
    mutating func resumeUpdates(_ call: Int32, _ tables: inout Tables)

    // MARK: Bookmarks

    /// Whether data of an applied revision is still on its way to its watches.
    var isSweeping: Bool { get }
    /// Whether the view of a watch is behind the clock.
    func isBehindClock(_ call: Int32, _ tables: borrowing Tables) -> Bool
    /// Whether the view of a watch is in failure.
    func hasFailed(_ call: Int32, _ tables: borrowing Tables) -> Bool
    func hasFailedWatch(_ connection: Int32, _ tables: borrowing Tables) -> Bool
    /// The revision of a BEAT.
    func vouchedRevision(_ connection: Int32, _ tables: borrowing Tables) -> UInt64
    /// The question that a watch or a stream waits for alone.
    func question(of call: Int32, _ tables: borrowing Tables) -> Ticket?
}

/// A transport's data about a call that it opens.
struct Opening {
    var method: Method
    /// The caller's deadline in milliseconds; 0: none.
    var timeoutMilliseconds: UInt64
    /// Metadata beside the request: credentials of this call.
    var metadata: [Metadata]
    /// The client cannot drop a resume token that is refused: it is given the value instead, as if it had none.
    var forgivesToken = false
}

/// The service, as transports know it: requests come, calls end early, and callers have credentials.
protocol ServiceGate: ~Copyable {
    // MARK: Calls

    /// Opens a call: checks it, and begins or refuses it. Returns why the connection is to be closed.
    mutating func open(
        _ connection: Int32, stream: UInt32, _ opening: borrowing Opening, request: borrowing RawSpan,
        _ tables: inout Tables, _ views: inout some Source, _ sink: inout some Sink
    ) -> WireStatus?
    /// Refuses a call before it has a slot.
    mutating func refuse(
        _ connection: Int32, _ stream: UInt32, _ status: WireStatus, _ tables: inout Tables,
        _ sink: inout some Sink)
    /// Ends a call: the peer cancelled it, or the connection drains.
    mutating func end(
        _ call: Int32, _ status: WireStatus, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink)
    /// Removes a call: the kernel has its end, or its connection is gone.
    mutating func removeCall(
        _ call: Int32, _ tables: inout Tables, _ views: inout some Source,
        _ sink: inout some Sink)
    /// Whether a call has no answer in progress.
    func isUnanswered(_ call: Int32, _ tables: borrowing Tables) -> Bool
    /// The deadline of a call has passed, its stream has reached its age, or it has waited too long for a position.
    mutating func timeIsUp(
        _ call: Int32, isAge: Bool, isDeadline: Bool, _ tables: inout Tables,
        _ views: inout some Source, _ sink: inout some Sink)

    // MARK: Credentials

    var hasAuthenticator: Bool { get }
    /// The tokens that come first on their connections have used up this tick's verifications.
    var hasVerifiedEnough: Bool { get }
    /// The identity for the credentials of a HELLO; empty for none.
    mutating func identify(
        _ connection: Int32, _ authorization: String, _ tables: inout Tables, _ sink: inout some Sink
    ) throws(CallRefusal) -> UInt32
    /// Verifies the token in the head of a request, before its body has come. Nil: it is valid, or there is none.
    mutating func identifyByHead(
        _ connection: Int32, _ head: RequestHead, _ tables: inout Tables, _ sink: inout some Sink
    ) -> WireStatus?
    /// Counts a connection for its identity. Returns why it is to be closed.
    mutating func admit(_ connection: Int32, as identity: UInt32, _ tables: inout Tables) -> WireStatus?
    /// The connection no longer has an identity.
    mutating func letGoIdentity(of connection: Int32, _ tables: inout Tables)
    /// Returns why a connection is to be closed whose identity has ended.
    mutating func identityCloseDue(
        _ connection: Int32, _ tables: inout Tables, _ sink: borrowing some Sink
    ) -> WireStatus?
    mutating func noteGreeting(_ connection: Int32, as identity: UInt32, _ tables: inout Tables)
    /// A connection is gone.
    mutating func forget(_ connection: Int32)
}
