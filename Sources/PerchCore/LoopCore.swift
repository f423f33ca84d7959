package import PerchBase
package import PerchIdentity
package import PerchModel
package import PerchStore
package import PerchWire
import Synchronization

/// What one loop decides: sessions, calls, watches, fan-out and flush planning, as a value that is stepped.
///
/// No socket, no clock, no thread, no lock. The server's driver feeds it what epoll and the store say and executes its
/// effects; the simulator does the same from a seed. A turn is:
///
///     begin(now) → accepted/received/writable/… and store events → endInput() → planWrites() ⇄ wrote(…) → endTurn()
///
/// Everything it says in a turn is computed at one applied revision, `applied`.
package struct LoopCore: ~Copyable {
    /// Holds the struct to its place in memory. Without something in it that cannot be moved as bytes are, each method that
    /// only looks, and is not inlined, is given a copy of the two kilobytes.
    private let anchor = Atomic<Bool>(false)

    package let loop: Int
    package let identity: StoreIdentity
    package let epoch: UInt32
    package let settings: CoreSettings
    package internal(set) var counters = LoopCounters()
    /// What the driver has to do beside writing and asking the store; it empties the list.
    package var effects: [Effect] = []
    /// What is asked of the store, in this order; the driver empties the list. Apart from the effects, so that thousands in
    /// a turn are handed over as they stand.
    package var asks: [StoreRequest] = []
    /// For the log; the driver empties the list.
    package var notes: [LoopNote] = []
    /// Connections and calls are noted too: the log is at `debug`.
    package var notesEverything = false

    // What transport, service and views share: who is connected, what they called, and the bytes that go out.
    var connections = Slab<Connection>()
    var calls = Slab<CallSlot>()
    var payloads = Payloads()
    let codec = MessageCodec(serves: true)

    // What the loop knows: its time, the apps, and the revision up to which it has applied every change.
    var now: Moment
    var deadlines = TimerHeap()
    var apps: AppTable
    package internal(set) var applied: UInt64

    var transport: Transport
    var service: Service
    var views: Views

    package init(
        loop: Int, identity: StoreIdentity, epoch: UInt32, revision: UInt64, apps: [AppState], settings: CoreSettings,
        authenticator: Authenticator? = nil, revocations: [RevokedToken] = [], quotas: SharedQuotas = SharedQuotas(),
        now: Moment
    ) {
        self.loop = loop
        self.identity = identity
        self.epoch = epoch
        self.settings = settings
        self.applied = revision
        self.apps = AppTable(apps)
        self.now = now
        self.transport = Transport(now: now)
        let loading = self.payloads.insert(MessageCodec.loadingBody)
        let okStatus = self.payloads.insert(MessageCodec.okStatusBody)
        self.service = Service(
            authenticator: authenticator, revocations: revocations, quotas: quotas, okStatus: okStatus,
            identitiesKeptMax: settings.identitiesKeptMax)
        self.views = Views(loading: loading)
    }

    /// Bytes that the calls of the other loops of this process hold.
    package var callsBytesElsewhere: Int {
        get { self.service.callsBytesElsewhere }
        set { self.service.callsBytesElsewhere = newValue }
    }

    /// Why credentials were refused last, for the log: it names the key, and nothing of a token.
    package var lastCredentialRefusal: String { self.service.lastCredentialRefusal }

    /// Bytes of frames that have not come whole.
    package var partialBytes: Int { self.transport.partialBytes }
}

/// A point in time on both clocks.
package struct Moment: Hashable, Sendable {
    /// Milliseconds of a clock that never jumps and counts suspend.
    package var monotonic: Int64
    /// The wall clock as the store sees it: it never runs backwards.
    package var wall: Instant

    package init(monotonic: Int64, wall: Instant) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Settings of a core; the defaults are those of `Limits`.
package struct CoreSettings: Sendable {
    package var serverVersion = "0"
    package var frameBytesMax = Limits.frameBytesMax
    package var callsPerConnectionMax = Limits.callsPerConnectionMax
    package var callsBytesMax = Limits.callsBytesMax
    package var connectionsPerAddressMax = Limits.connectionsPerAddressMax
    package var connectionsPerIdentityMax = Limits.connectionsPerIdentityMax
    package var connectsPerAddress = Limits.connectsPerAddress
    package var callsPerIdentity = Limits.callsPerIdentity
    /// Identities that are kept while nobody uses them.
    package var identitiesKeptMax = Limits.identitiesKeptMax
    package var handshakesMax = Limits.handshakesMax
    package var handshakesBytesMax = Limits.handshakesBytesMax
    package var partialFramesBytesMax = Limits.partialFramesBytesMax
    package var unidentifiedFrameBytesMax = Limits.unidentifiedFrameBytesMax
    package var frameTimeoutMilliseconds = Limits.frameTimeoutMilliseconds
    package var owedBytesMax = Limits.owedBytesMax
    package var writeStallMilliseconds = Limits.writeStallMilliseconds
    package var lingerMilliseconds = Limits.lingerMilliseconds
    package var dyingConnectionsMax = Limits.dyingConnectionsMax
    package var helloTimeoutMilliseconds = Limits.helloTimeoutMilliseconds
    package var firstByteTimeoutMilliseconds = Limits.firstByteTimeoutMilliseconds
    /// Calls without a deadline wait for a position ahead of the loop for so long.
    package var behindWaitMilliseconds: Int64 = 30_000
    /// Streams end within this after a drain begins.
    package var drainMilliseconds: Int64 = 2_000

    package init() {}
}

/// What the driver has to do for the core, beside writing and asking the store.
package enum Effect: Equatable, Sendable {
    case listen(connection: Int32, socket: Int32, reading: Bool, writing: Bool)
    case shutDownWriting(connection: Int32, socket: Int32)
    case close(connection: Int32, socket: Int32)
    case control(ticket: UInt64, ControlRequest)
    /// Every connection of this loop has been told and is gone.
    case drained
}

/// What the server does for a loop outside of it: reading catalogue files, copying the store, telling what it finds
/// of itself.
package enum ControlRequest: Equatable, Sendable {
    case checkCatalog(file: [UInt8], images: [CatalogImage])
    case loadCatalog(app: AppNumber, file: [UInt8], images: [CatalogImage], source: String, origin: [UInt8])
    case serverStatus
    /// A copy of the store, in a new file.
    case backup(path: String)
}

/// What the server answers.
package enum ControlAnswer: Sendable {
    case response(Response)
    /// A catalogue was read and is now to be written, as this mutation.
    case mutation(Mutation, CatalogSummary)
    case refused(ErrorReason, String, [StatusDetail])
}

/// What a loop counts. Plain integers; the driver publishes them.
package struct LoopCounters: Sendable {
    package var connectionsAccepted: UInt64 = 0
    package var connectionsClosed: UInt64 = 0
    package var callsOpened: UInt64 = 0
    package var callsEnded: UInt64 = 0
    package var callsRefused: UInt64 = 0
    package var framesIn: UInt64 = 0
    package var framesOut: UInt64 = 0
    package var bytesIn: UInt64 = 0
    package var bytesOut: UInt64 = 0
    package var writes: UInt64 = 0
    package var turns: UInt64 = 0
    package var changesApplied: UInt64 = 0
    package var viewsComputed: UInt64 = 0
    /// Values of views encoded: one for each new value of a view on this loop, and one for its first-of-a-call form.
    package var viewsEncoded: UInt64 = 0
    package var valuesCompressed: UInt64 = 0
    package var imagesSent: UInt64 = 0
    package var imagesUnchanged: UInt64 = 0
    package var valuesPushed: UInt64 = 0
    package var eventsPushed: UInt64 = 0
    package var unchangedAnswers: UInt64 = 0
    /// Resumed watches whose value had changed.
    package var resumedWithValue: UInt64 = 0
    package var beatsSent: UInt64 = 0
    package var recordsAsked: UInt64 = 0
    package var crossings: UInt64 = 0
    package var stalledClosed: UInt64 = 0
    /// Closing connections that were cut off because their time was over.
    package var lingerExpired: UInt64 = 0
    /// Closing connections that were cut off because too many were closing.
    package var dyingCutOff: UInt64 = 0
    /// Times that a connection was no longer read from because it was owed too much.
    package var readPauses: UInt64 = 0
    /// Connections that were told that the server stops.
    package var connectionsDrained: UInt64 = 0
    package var refusalsByReason: [ErrorReason: UInt64] = [:]
    /// Tokens whose signature was looked at; those that are known are not looked at again.
    package var credentialsVerified: UInt64 = 0
    package var credentialsRefused: UInt64 = 0
    /// Identities whose time was over, or that were taken back, while they were known.
    package var identitiesEnded: UInt64 = 0
    /// Notes for the log that a turn had no place for.
    package var notesDropped: UInt64 = 0

    package init() {}
}
