package import PerchApple
package import PerchBase
package import PerchIdentity
package import PerchModel
package import PerchStore
package import PerchWire
import Synchronization

/// The decisions of one loop: connections, calls, watches, fan-out and flush planning, as a value that is stepped.
///
/// No socket, no clock, no thread. The server's driver feeds it events from epoll and the store and carries
/// out its effects; the simulator does the same from a seed. A tick is:
///
///     begin(now) → accepted/received/writable/… and store events → endInput() → planWrites() ⇄ wrote(…) → endTurn()
///
/// All output of a tick is computed at one revision, `applied`.
package struct LoopCore: ~Copyable {
    /// Makes the struct immovable. Otherwise each non-mutating method that is not inlined gets a copy of the struct,
    /// two kilobytes.
    private let anchor = Atomic<Bool>(false)

    var tables: Tables
    var transport: Transport
    var service: Service
    var views: Views

    package init(
        loop: Int, identity: StoreIdentity, epoch: UInt32, revision: UInt64, apps: [AppState], settings: CoreSettings,
        authenticator: Authenticator? = nil, revocations: [RevokedToken] = [], quotas: SharedQuotas = SharedQuotas(),
        seenTokens: SeenTokens = SeenTokens(), consoleCodes: ConsoleCodes? = nil,
        signer: SharedAppleSigner? = nil, now: Moment
    ) {
        self.tables = Tables(
            loop: loop, identity: identity, epoch: epoch, settings: settings, quotas: quotas, signer: signer, now: now,
            apps: AppTable(apps), applied: revision)
        self.transport = Transport(okStatus: self.tables.payloads.insert(MessageCodec.okStatusBody), now: now)
        self.service = Service(
            authenticator: authenticator, revocations: revocations, seenTokens: seenTokens,
            consoleCodes: consoleCodes,
            identitiesKeptMax: settings.identitiesKeptMax)
        self.views = Views(loading: self.tables.payloads.insert(MessageCodec.loadingBody))
    }

    package var loop: Int { self.tables.loop }
    package var identity: StoreIdentity { self.tables.identity }
    package var epoch: UInt32 { self.tables.epoch }
    package var applied: UInt64 { self.tables.applied }
    package var counters: LoopCounters { self.tables.counters }

    /// Actions for the driver beside writing and asking the store; the driver empties the list.
    package var effects: [Effect] {
        _read { yield self.tables.effects }
        _modify { yield &self.tables.effects }
    }

    /// Requests for the store, in order; the driver empties the list.
    package var asks: [StoreRequest] {
        _read { yield self.tables.asks }
        _modify { yield &self.tables.asks }
    }

    /// Notes for the log; the driver empties the list.
    package var notes: [LoopNote] {
        _read { yield self.tables.notes }
        _modify { yield &self.tables.notes }
    }

    /// Whether connections and calls are noted too, because the log is at `debug`.
    package var notesEverything: Bool {
        get { self.tables.notesEverything }
        set { self.tables.notesEverything = newValue }
    }

    /// Adds a note for this tick.
    package mutating func note(_ kind: LoopNote.Kind, _ connection: Int32, what: String = "") {
        self.tables.note(kind, connection, what: what)
    }

    /// Bytes held by the calls of this loop.
    package var callsBytes: Int { self.service.callsBytes(self.tables, self.views) }

    /// Bytes held by the calls of the other loops of this process.
    package var callsBytesElsewhere: Int {
        get { self.service.room.bytesElsewhere }
        set { self.service.room.bytesElsewhere = newValue }
    }

    /// Reason of the last refused credentials, for the log: it names the key, and no part of a token.
    package var lastCredentialRefusal: String { self.service.lastCredentialRefusal }

    /// Bytes of incomplete frames.
    package var partialBytes: Int { self.transport.partialBytes }
}

/// A point in time on both clocks.
package struct Moment: Hashable, Sendable {
    /// Milliseconds of a monotonic clock that includes suspend.
    package var monotonic: Int64
    /// The store's wall clock, which never runs backwards.
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
    /// Maximum number of unused identities that are kept.
    package var identitiesKeptMax = Limits.identitiesKeptMax
    package var handshakesMax = Limits.handshakesMax
    package var handshakesBytesMax = Limits.handshakesBytesMax
    package var partialFramesBytesMax = Limits.partialFramesBytesMax
    package var unidentifiedFrameBytesMax = Limits.unidentifiedFrameBytesMax
    package var frameTimeoutMilliseconds = Limits.frameTimeoutMilliseconds
    package var unsentBytesMax = Limits.unsentBytesMax
    package var writeStallMilliseconds = Limits.writeStallMilliseconds
    package var lingerMilliseconds = Limits.lingerMilliseconds
    package var dyingConnectionsMax = Limits.dyingConnectionsMax
    package var helloTimeoutMilliseconds = Limits.helloTimeoutMilliseconds
    package var firstByteTimeoutMilliseconds = Limits.firstByteTimeoutMilliseconds
    /// Time that a call without a deadline waits for a position ahead of the loop.
    package var behindWaitMilliseconds: Int64 = 30_000
    /// Streams of the HTTP family end at this age, and connections leave; 0: at none.
    package var streamAgeMilliseconds: Int64 = 0
    package var connectionAgeMilliseconds: Int64 = 0
    /// Origins whose pages may call, as `https://app.example.com`; `*` for all.
    package var origins: [String] = []
    /// The names by which clients of HTTP call the port.
    package var hosts = HostRule(.loopback)
    /// Pages that the port serves.
    package var files = ServedFiles()
    /// Several nodes have the store open.
    package var sharesStore = false
    /// Whether `LoadCatalog` makes apps in memory beside the store's: where the console's examples are served.
    package var hostsGuests = false
    /// Signs passes; nil in servers of tests.
    package var passKey: TokenKey?
    /// Maximum time from the beginning of a drain to the end of its streams.
    package var drainMilliseconds: Int64 = 2_000
    /// When clients of a stopping server may return, by its DRAIN.
    package var returnAfterMilliseconds = Limits.drainReturnMilliseconds

    package init() {}
}

/// Actions of the driver for the core, beside writing and asking the store.
package enum Effect: Equatable, Sendable {
    case listen(connection: Int32, socket: Int32, reading: Bool, writing: Bool)
    case shutDownWriting(connection: Int32, socket: Int32)
    case close(connection: Int32, socket: Int32)
    case control(ticket: UInt64, ControlRequest)
    /// Every connection of this loop has received its DRAIN and is closed.
    case drained
}

/// The bytes of a catalogue that a client sent.
package struct CatalogFiles: Equatable, Sendable {
    package var file: [UInt8]
    package var images: [CatalogImage]
    /// The file of named entitlements; empty for none.
    package var entitlements: [UInt8]

    func check() throws(CallRefusal) {
        let (found, limit) = (self.entitlements.count, Limits.entitlementFileBytesMax)
        guard found <= limit else {
            throw CallRefusal(
                .catalogTooLong, "entitlements has \(found) bytes, the limit is \(limit); name fewer",
                details: [.field("entitlements"), .found(found), .limit(limit)])
        }
    }
}

/// Tasks of the server outside of the loop: reading catalogue files, copying the store, reporting its findings.
package enum ControlRequest: Equatable, Sendable {
    case checkCatalog(CatalogFiles)
    case loadCatalog(CatalogFiles, app: AppNumber, source: String, origin: [UInt8], audit: AuditEntry?)
    /// The same, for an app in memory that is not there yet.
    case openGuest(CatalogFiles, bundleID: String, source: String, audit: AuditEntry?)
    case serverStatus
    /// A copy of the store, in a new file.
    case backup(path: String, audit: AuditEntry? = nil)
    /// Signed values to verify.
    case ingest(IngestWork)
    /// A mishap of the twin.
    case mishap(OrderMishapRequest, bundleID: String, audit: AuditEntry?)
    /// Asks the App Store now, or how far that is; `run` 0 begins.
    case reconcile(app: AppNumber, run: UInt64, isRehearsal: Bool, isWhole: Bool, audit: AuditEntry?)
}

/// What the server answers.
package enum ControlAnswer: Sendable {
    case response(Response)
    /// The store refused what the server asked it for.
    case failed(Refusal)
    case refused(ErrorReason, String, [StatusDetail])
    /// Values were verified and are to be written as this mutation; of a submission some may have been refused.
    case reported(Mutation, refused: [RefusedValue] = [])
    /// A value was not taken. It is kept first, and then refused.
    case deadLetter(Mutation, WireStatus)
}

/// Signed values of the App Store, for the server's intake.
package enum IngestWork: Equatable, Sendable {
    /// Values that were submitted for an app, for an account or, if that is empty, for whom they name.
    case values([String], bundleID: String, environment: AppEnvironment, claimant: [UInt8])
    /// A notification, of one of these apps.
    case notification(String, reach: AppReach)
    /// A notification that the store refused for now: it is to be kept as a dead letter.
    case keep(String, WireStatus)
    /// A dead letter that is to be taken now.
    case retry(DeadLetter, ItemKey)
    /// Values that the App Store answered about an app: one notification, or transactions and renewal information.
    case fetched([String], bundleID: String, environment: AppEnvironment)
}

/// A loop's counters, as plain integers; the driver publishes them.
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
    /// Times that the rest of a connection's input waited for the next tick, because it had spent its part of one.
    package var inputsDeferred: UInt64 = 0
    package var changesApplied: UInt64 = 0
    package var viewsComputed: UInt64 = 0
    /// Encoded values of views: one for each new value of a view on this loop, and one for its snapshot form.
    package var viewsEncoded: UInt64 = 0
    package var valuesCompressed: UInt64 = 0
    package var imagesSent: UInt64 = 0
    package var imagesUnchanged: UInt64 = 0
    package var valuesPushed: UInt64 = 0
    package var eventsPushed: UInt64 = 0
    /// Messages of streams of apps' changes.
    package var appChangesSent: UInt64 = 0
    /// Parts of copies of apps' entitlements.
    package var copyPartsSent: UInt64 = 0
    /// Their bytes, before compression.
    package var copyBytesSent: UInt64 = 0
    /// Copies that became complete.
    package var copiesCompleted: UInt64 = 0
    package var unchangedAnswers: UInt64 = 0
    /// Resumed watches whose value had changed.
    package var resumedWithValue: UInt64 = 0
    package var beatsSent: UInt64 = 0
    package var bookmarksSent: UInt64 = 0
    package var http2Connections: UInt64 = 0
    package var http1Connections: UInt64 = 0
    package var grpcCalls: UInt64 = 0
    package var grpcWebCalls: UInt64 = 0
    package var connectCalls: UInt64 = 0
    package var eventCalls: UInt64 = 0
    /// Calls of Health and Reflection.
    package var httpServiceCalls: UInt64 = 0
    /// Streams of HTTP/2 that the peer reset before their end.
    package var httpStreamsReset: UInt64 = 0
    /// Streams of HTTP/2 beyond the limit of a connection.
    package var httpStreamsRefused: UInt64 = 0
    package var httpHeadsTooLong: UInt64 = 0
    package var recordsAsked: UInt64 = 0
    package var crossings: UInt64 = 0
    package var stalledClosed: UInt64 = 0
    /// Closing connections that were cut off after their time.
    package var lingerExpired: UInt64 = 0
    /// Streams of HTTP that writes were planned for. The work for a peer's frames shows here.
    package var streamsPlanned: UInt64 = 0
    /// Closing connections that were cut off because too many were closing.
    package var dyingCutOff: UInt64 = 0
    /// Times that reading from a connection paused because too many answers were unsent.
    package var readPauses: UInt64 = 0
    /// Connections that received a DRAIN because the server stops.
    package var connectionsDrained: UInt64 = 0
    package var refusalsByReason: [ErrorReason: UInt64] = [:]
    /// Notifications of the App Store that were not taken, by HTTP status and reason of their answers.
    package var notificationsRefused: [NotificationRefusal: UInt64] = [:]
    /// Requests on the port of notifications that were none, by the HTTP status of their answers.
    package var strayRequests: [Int: UInt64] = [:]

    package struct NotificationRefusal: Hashable, Sendable {
        package var status: Int
        package var reason: String

        package init(status: Int, reason: String) {
            self.status = status
            self.reason = reason
        }
    }

    /// Verified token signatures; a token that the loop knows is not verified again.
    package var credentialsVerified: UInt64 = 0
    package var credentialsRefused: UInt64 = 0
    /// Identities that expired or were revoked while the loop knew them.
    package var identitiesEnded: UInt64 = 0
    /// Log notes that were dropped because a tick had too many.
    package var notesDropped: UInt64 = 0

    package init() {}
}
