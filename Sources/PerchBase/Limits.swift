/// Every limit of Perch: its unit, its reason, and the behaviour when it is reached. A limit says so where a setting
/// can change it.
///
/// Limits read on the hot path are inlinable, because reading a `static let` of another module is a call.
package enum Limits {
    /// Entries of one account's record: subscription lines, owned products, pending purchases, purchase intents and
    /// family shares. One more purchase fails with RECORD_LIMIT, because a record is read and sent whole.
    package static let recordEntriesMax = 4_096

    /// Purchases of one account that wait for approval. One more fails with PENDING_LIMIT.
    package static let pendingPurchasesMax = 64

    /// Purchases of one account that were started outside the app (purchase intents). One more fails with INTENT_LIMIT.
    package static let purchaseIntentsMax = 64

    /// Renewals that one backdated purchase creates at once. More fail the purchase with ADVANCE_LIMIT: all belong to
    /// one change, and each is a row. A monthly subscription reaches the limit after 83 years.
    package static let renewalsPerPurchaseMax = 1_000

    /// Milliseconds that one call may move an app's clock forward: a hundred years. More fails with ADVANCE_LIMIT. A
    /// weekly subscription renews 5,200 times in that span.
    package static let advanceMillisecondsMax: Int64 = 100 * 366 * 86_400_000

    /// Renewals of one subscription within one clock advance. More fails with ADVANCE_LIMIT.
    ///
    /// A time rate of two seconds a period would create a billion rows in a hundred years. At that rate the limit
    /// covers more than two days.
    package static let renewalsPerAdvanceMax: Int64 = 100_000

    /// Instants that a read accepts, in milliseconds since the Unix epoch: years of at most four digits. Others fail
    /// with FIELD_INVALID. Calendar arithmetic cannot overflow inside this range.
    package static let readableMilliseconds: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Facts of one account that a read about the past replays. An account with more fails with HISTORY_LIMIT there;
    /// reads of the present still work.
    ///
    /// The replay runs on the store's only thread and delays all other calls. A monthly subscription reaches the limit
    /// after 1,300 years, one that renews every two seconds after nine hours.
    package static let factsPerReadMax = 16_384

    /// Entries of an account's history in one answer, the newest ones. The audit trail is read once for each of them.
    package static let historyEntriesMax = 200

    /// Facts of an account of which more than this leave the account without a history.
    package static let historyFactsMax = 1_000

    /// Offers of one kind that edits add to a product. One more fails with FIELD_INVALID. The App Store accepts 10
    /// promotional offers, and each products view carries all of them.
    package static let editedOffersMax = 100
}

// MARK: Before WELCOME

extension Limits {
    /// Bytes of a HELLO. A longer one fails with FRAME_TOO_LONG from its header alone, because the peer is not
    /// authenticated yet.
    package static let helloBytesMax = 16 * 1024

    /// Milliseconds from accept to a complete HELLO. Later, the connection is closed with HELLO_TIMEOUT.
    package static let helloTimeoutMilliseconds: Int64 = 10_000

    /// Milliseconds from accept to the first byte. Later, the connection is closed with HELLO_TIMEOUT.
    package static let firstByteTimeoutMilliseconds: Int64 = 5_000

    /// Connections that were not welcomed yet, or that came without valid credentials to a server that asks for them.
    ///
    /// Any address may use free slots. When none is free, the oldest such connection of the address that holds most is closed
    /// with HANDSHAKE_LIMIT. Each loop has its part. At most half of the connections of the process, so that the others
    /// always find descriptors. 10,000 clients that come back at once fit, also where the kernel spreads them unevenly.
    package static let handshakesMax = 16_384

    /// Bytes that those connections hold: parts of frames, and `tlsHandshakeBytes` for each that speaks TLS. Beyond it, the
    /// oldest of the address that holds most is closed with HANDSHAKE_LIMIT. Each loop has its part. 10,000 handshakes of
    /// TLS hold 390 MiB.
    package static let handshakesBytesMax = 512 * 1024 * 1024

    /// Bytes of a message on a connection without valid credentials, if the server needs them; then FRAME_TOO_LONG. A
    /// call with separate credentials and a usual request fits.
    package static let unidentifiedFrameBytesMax = 16 * 1024
}

// MARK: Frames and messages

extension Limits {
    /// Bytes of any message, compressed or inflated. A longer one fails with FRAME_TOO_LONG from the header alone, or
    /// with INFLATE_LIMIT while inflating. 4 MiB hold a large catalogue file, or 10,000 statuses.
    package static let frameBytesMax = 4 * 1024 * 1024

    /// Bytes of the request of an ordinary method. A longer one fails that call with REQUEST_TOO_LONG.
    @inlinable package static var requestBytesMax: Int { 64 * 1024 }

    /// Bytes of the request of a catalogue method. A longer one fails that call with CATALOG_TOO_LONG.
    package static let catalogRequestBytesMax = 4 * 1024 * 1024

    /// Bytes of partial frames that the connections of a process hold together. Each loop has its part, at least one longest
    /// frame. Beyond it, the oldest partial frame of the address that holds most goes: its connection is closed with
    /// PARTIAL_FRAMES_LIMIT. Connections without a handshake's end count in `handshakesBytesMax` instead.
    package static let partialFramesBytesMax = 64 * 1024 * 1024

    /// Milliseconds from the first byte of a frame to its last; then FRAME_TIMEOUT, and the connection is closed. A frame of
    /// 4 MiB needs 0.6 Mbit/s. While the server does not read a connection, its time stands still. Before valid credentials,
    /// `helloTimeoutMilliseconds` holds where it is shorter.
    package static let frameTimeoutMilliseconds: Int64 = 60_000

    /// Depth of nested messages; the outermost counts as 1. A deeper message fails with MESSAGE_TOO_DEEP. The deepest
    /// message of the contract needs 7.
    package static let protobufDepthMax = 32

    /// Occurrences of singular and unknown fields in a request, nested ones included. More fail with
    /// MESSAGE_TOO_MANY_FIELDS.
    ///
    /// protobuf-c stores every occurrence until the message is parsed, even where only the last one counts.
    package static let protobufSingularFieldsMax = 4_096

    /// Occurrences of singular and unknown fields in a server's message. A page of 500 transactions has 15,000.
    ///
    /// A message of `frameBytesMax` bytes has at most half as many fields, and `codecArenaBytesMax` bounds their
    /// memory.
    package static let responseSingularFieldsMax = 1_048_576

    /// Items of repeated fields in a message, packed and nested ones included. More fail with MESSAGE_TOO_MANY_ITEMS.
    package static let protobufRepeatedItemsMax = 65_536

    /// Bytes that one codec may allocate to read or write one message. Exceeding it while reading fails with
    /// MESSAGE_TOO_MANY_ITEMS.
    ///
    /// Two bytes of input can require a structure of 300 bytes. 32 MiB are eight times the longest message.
    package static let codecArenaBytesMax = 32 * 1024 * 1024

    /// Bytes that a codec keeps allocated between messages. It frees any excess when the next message begins.
    @inlinable package static var codecBytesKept: Int { 256 * 1024 }

    /// Inflated bytes for each compressed byte, above `inflateRatioFreeBytes`. More fail with INFLATE_RATIO. Catalogue
    /// text compresses 10:1; zlib's maximum is 1,032:1.
    package static let inflateRatioMax = 100

    /// Inflated bytes below which the ratio is not checked, because so few are cheap.
    package static let inflateRatioFreeBytes = 64 * 1024

    /// Bytes below which a message is never compressed: small messages grow, and compressing costs more than it saves.
    package static let compressBytesMin = 1024
}

// MARK: Values that callers supply

extension Limits {
    /// Bytes of UTF-8 in an account key, at least 1. Other lengths fail with ACCOUNT_KEY.
    package static let accountKeyBytesMax = 255

    /// Bytes of the bundle identifier of a new app. A longer one is a mistake on the command line.
    package static let bundleIDBytesMax = 255

    /// Bytes of an idempotency key. A longer one fails with FIELD_INVALID.
    package static let idempotencyKeyBytesMax = 64

    /// Bytes of the identifier that a client keeps across connections. A longer one fails with HELLO_INVALID.
    package static let clientIDBytesMax = 32

    /// Transactions of a page when the caller names no size.
    package static let pageSizeDefault = 100

    /// Transactions of a page. A larger request is reduced to this.
    package static let pageSizeMax = 500

    /// Seconds between heartbeats. A request outside this range is moved to its nearer end.
    package static let heartbeatSecondsMin: UInt32 = 10
    package static let heartbeatSecondsMax: UInt32 = 600
    /// Seconds between heartbeats when the client names none.
    package static let heartbeatSecondsDefault: UInt32 = 30
}

// MARK: Connections and calls

extension Limits {
    /// Open calls of one connection. One more ends with CALLS_LIMIT; the connection stays open.
    package static let callsPerConnectionMax = 65_536

    /// Watches of one call of several. A request with more is refused with FIELD_INVALID: its client makes a second call.
    package static let watchesPerCallMax = 256

    /// Bytes held by all open calls of the process: call slots, watch and wait state, and pending values, a shared
    /// value counted once. 2 GiB hold about eight million watches.
    ///
    /// At the limit, streams, calls that wait for a position, and calls with a large request fail with
    /// CALLS_BYTES_LIMIT. Other reads and purchases go on.
    package static let callsBytesMax = 2 * 1024 * 1024 * 1024

    /// Bytes up to which a request is small: what a call keeps of it is not counted in `callsBytesMax`.
    @inlinable package static var smallRequestBytes: Int { 256 }

    /// Connections from one address, loopback excepted. One more is refused with CONNECTION_LIMIT.
    package static let connectionsPerAddressMax = 4_096

    /// Connections of one identity. One more is refused with CONNECTION_LIMIT.
    package static let connectionsPerIdentityMax = 20_000

    /// Pending bytes (STATUS, unary answers, PONG) above which a connection is not read.
    package static let unsentBytesMax = 64 * 1024

    /// Milliseconds without progress while output is pending. Then the connection is closed with WRITE_STALLED.
    package static let writeStallMilliseconds: Int64 = 30_000

    /// Milliseconds that a closing connection is still read, so that the peer can read the reason.
    package static let lingerMilliseconds: Int64 = 60_000

    /// Milliseconds that a DRAIN with a final reason asks a client to stay away, and the same again as jitter. A client that
    /// obeys DRAIN only, and comes back with the same settings, does so once or twice in two minutes.
    package static let drainFinalMilliseconds: UInt32 = 60_000

    /// Milliseconds that a DRAIN of a full server asks a client to stay away; the jitter is four times as long.
    package static let drainWhenFullMilliseconds: UInt32 = 1_000

    /// Milliseconds that a DRAIN of a server that stops asks clients to stay away, so that the next process listens when
    /// they return. With 10,000 streams on one core the process ends 0.14 s after SIGTERM, and the next listens 0.03 s later.
    package static let drainReturnMilliseconds: UInt32 = 1_000

    /// Milliseconds of jitter in the DRAINs of a server that stops, so that its clients do not return at one moment.
    package static let drainJitterMilliseconds: UInt32 = 1_000

    /// Milliseconds of jitter in every other DRAIN.
    package static let drainShortJitterMilliseconds: UInt32 = 1_000

    /// Closing connections that are still read, over all loops; each loop has an equal part. One more aborts the
    /// oldest.
    package static let dyingConnectionsMax = 1_024

    /// Connections below which a server logs at start that its descriptor limit allows only so few.
    package static let connectionsFew = 512
}

// MARK: The store

extension Limits {
    /// Bytes of records that the store thread caches. Beyond it, the least recently used records are evicted.
    package static let recordCacheBytesMax = 256 * 1024 * 1024

    /// Milliseconds that an event stream's cursor can be resumed. A cursor older than both this and
    /// `cursorRetentionRevisionsMin` fails with CURSOR_TOO_OLD.
    package static let cursorRetentionMilliseconds: Int64 = 24 * 3_600_000

    /// Revisions that an event stream's cursor can be resumed, whatever their age.
    package static let cursorRetentionRevisionsMin: UInt64 = 100_000

    /// Milliseconds that the answer to an idempotency key is stored. Afterwards the key counts as new.
    package static let idempotencyKeyMilliseconds: Int64 = 7 * 24 * 3_600_000

    /// Milliseconds that the store's clock lease is written ahead of the machine's clock.
    ///
    /// It bounds how far the published clock ran before a crash, and so how long it stands still after one.
    package static let leaseMilliseconds: Int64 = 12_000

    /// Milliseconds of lease left at which it is renewed, measured by the machine's clock.
    ///
    /// The published clock would be wrong here: it stands at the lease after a crash, so each crash would move it ahead
    /// by another lease.
    package static let leaseRenewalMilliseconds: Int64 = 2_000

    /// Renewal attempts in one group commit. The rest follow in the next batch, after the purchases that arrived
    /// meanwhile.
    package static let attemptsPerBatchMax = 256

    /// Attempts that one account settles before its mutation. An account with more waits for the next batch.
    package static let attemptsBeforeMutationMax = 1_000

    /// Rounds in which a decision may request more data. More is a bug in Perch and traps.
    package static let decisionRoundsMax = 8

    /// Runs of a batch before its callers get UNAVAILABLE. Each run but the last found that another node had committed, or
    /// that a lost commit was not written.
    package static let batchRunsMax = 8

    /// Milliseconds before the store tries again to reach its storage.
    package static let storageRetryMilliseconds: Int64 = 250

    /// Changes of other nodes that one request reads.
    package static let feedChangesAtOnce = 1_024

    /// Entries that one page of an app's changes holds. A reader that stopped holds at most one page.
    package static let changesPerPage = 64

    /// Bytes of records, as estimated, after which a page of an app's changes ends.
    package static let changePageBytes = 1024 * 1024

    /// Commits of all apps that one page of an app's changes goes through. Readers of a quiet app pass those of busy ones in
    /// such steps.
    package static let changeRowsPerPage = 256

    /// Facts that one page of an app's changes reads to rebuild records as they were. A longer history takes several pages.
    package static let changeFactsPerPage = 4_096

    /// Entries of apps' changes that the store reads in a tick, for all readers. The rest waits behind the next mutations.
    package static let changesPerTick = 512

    /// Bytes of records as they were, kept for the readers of apps' changes.
    package static let changeRecordsBytes = 16 * 1024 * 1024

    /// Past crossings that are forgotten at once, for each app.
    package static let crossingsForgottenAtOnce = 10_000

    /// Revisions after which a stream of an app's changes sends its cursor, although nothing matched its filter.
    package static let changesMarkerRevisions: UInt64 = 1_000

    /// Accounts whose records a slice of a copy of an app's entitlements reads. Changes wait for one slice at most.
    package static let copyAccountsPerSlice = 128

    /// Rows of sources that a slice reads, where the storage keeps them.
    package static let copyRowsPerSlice = 128

    /// Accounts whose rows of sources are filled in one commit, for a store of a version without them.
    package static let sourcesFilledAtOnce = 256

    /// Milliseconds between two such commits.
    package static let sourcesFillPauseMilliseconds: Int64 = 20

    /// Bytes of keys and segments after which a batch of a copy ends.
    package static let copyBatchBytes = 16 * 1024

    /// Other keys of an account that a copy has: its callers' first, each in bytewise order.
    package static let copyAliasesMax = 1_000

    /// Erased accounts whose keys the process remembers, so that copies can remove them. A copy that goes past an earlier
    /// erasure begins again.
    package static let erasedKeysKept = 10_000

    /// Shards that the accounts of an app can be divided into for copies.
    package static let copyShardsMax: UInt32 = 256

    /// Due renewals of an app that are held in memory, the earliest first. The rest stay in storage until these are settled;
    /// up to twice as many are held before the latest are dropped again.
    package static let dueEntriesHeld = 256
}

// MARK: One iteration of an event loop

extension Limits {
    /// Ready sockets that one epoll_wait returns. The rest follow in the next iteration, in the kernel's rotation.
    ///
    /// 512 share the cost of one system call, and still bound an iteration to a few milliseconds.
    package static let eventsPerTurn = 512

    /// Jobs of Swift tasks in one iteration. The rest run in the next iteration, after the sockets.
    ///
    /// Tasks that re-enqueue themselves therefore cannot starve connections.
    package static let jobsPerTurn = 256

    /// Longest sleep of a loop, in milliseconds. The iteration after it notices a wall-clock jump or a suspend, which
    /// epoll's timeout does not count.
    package static let loopSleepMaxMilliseconds = 60_000

    /// Bytes from which a table of connections or watches is its own memory mapping. A mapping grows by moving its
    /// pages instead of copying them, and it is returned to the kernel at once.
    package static let mappedPieceBytes = 128 * 1024

    /// Bytes of stack of a loop thread. They are reserved address space; only the depth really used becomes memory.
    package static let loopStackBytes = 1024 * 1024

    /// Bytes that one read takes from a connection. The rest follows in the next iteration, after the other
    /// connections.
    package static let readBytes = 64 * 1024

    /// What the input of one connection may cost in an iteration, in thousands of instructions as `WorkMeter` counts them.
    /// The rest follows in the next iteration, after the other connections. 4,096 are 450 purchases of perch/1.
    @inlinable package static var workPerConnection: Int { 4_096 }

    /// What the input of all connections may cost in an iteration. Beyond it, a connection has `workPerConnectionMin` left.
    @inlinable package static var workPerTurn: Int { 4_096 }

    /// What input may cost in an iteration that was received before it, and paused: some 15 refused requests of HTTP/1.1. Connections
    /// with such input take turns, and beyond it they wait for the next iteration, so that their number does not lengthen it.
    @inlinable package static var workPausedPerTurn: Int { 1_024 }

    /// What the input of a connection may cost in any case: a HELLO and its first calls.
    @inlinable package static var workPerConnectionMin: Int { 48 }

    /// Store requests that a loop collects before it runs a store that it drives itself.
    ///
    /// Small batches free a change's 5 KiB of intermediate data while it is still in the CPU cache. `pushcost keyed`
    /// shows no difference beyond noise between 4 and 32.
    @inlinable package static var asksAtOnce: Int { 16 }

    /// Number of changes whose data is prefetched together (`Prefetch`).
    ///
    /// A core has few loads under way at a time, and data that is fetched too early has left the first-level cache
    /// again.
    @inlinable package static var prefetchedAtOnce: Int { 16 }

    /// Bytes of the staging buffer for one iteration's frames. It holds about 200 values of 300 bytes; more would delay
    /// the first byte of a batch.
    @inlinable package static var stagingBytes: Int { 64 * 1024 }

    /// Bytes up to which a frame is copied next to its neighbours, so that they leave in one system call. Longer frames
    /// are sent from where they lie.
    @inlinable package static var copiedFrameBytesMax: Int { 4 * 1024 }

    /// Bytes that one system call writes to a connection.
    @inlinable package static var writeBytesMax: Int { 256 * 1024 }

    /// Bytes that an iteration sends by writes of more than `shortWriteBytes`. Beyond it each of them sends that many, up to four times
    /// as much together, and the rest follows in later iterations: 200 connections that fetch long answers would take 60 ms at once.
    @inlinable package static var bulkBytesPerTurn: Int { 1024 * 1024 }
    @inlinable package static var shortWriteBytes: Int { 16 * 1024 }

    /// Watchers up to which an iteration writes to watchers before it answers calls.
    ///
    /// A write takes about 10 us, so 16 watchers delay the answer by about 0.2 ms. With more watchers the answer goes
    /// first.
    @inlinable package static var watchersBeforeAnswers: Int { 16 }

    /// Freed pieces of frame memory that are kept for each size. Further ones go back to the allocator.
    @inlinable package static var payloadPiecesKept: Int32 { 1_024 }

    /// Transactions whose encoded form a loop caches: enough for the changes of two iterations. A power of two.
    @inlinable package static var writtenTransactions: Int { 512 }

    /// Bytes of an encoded transaction that is cached. One without advanced commerce has about 250.
    @inlinable package static var writtenTransactionBytesMax: Int { 512 }

    /// App and product names that a loop caches to skip decoding the same bytes again. A power of two.
    @inlinable package static var recentTexts: Int { 64 }
    /// Sales whose encoded fields a loop keeps. Beyond, the newest replaces an older one.
    @inlinable package static var writtenSales: Int { 64 }
    /// Bytes of one run of such fields. A longer one is written each time.
    @inlinable package static var writtenRunBytesMax: Int { 256 }

    /// Bytes of a text that is cached. Identifiers of apps and products seldom exceed forty.
    @inlinable package static var recentTextBytesMax: Int { 64 }

    /// Events for which an inbox keeps capacity between batches. The capacity of a larger burst is freed when the batch
    /// is taken.
    ///
    /// An inbox never drops an event, because the loop's `applied` revision depends on their order. `post` returns the
    /// depth, and the sender must hold back.
    package static let inboxCapacityKept = 4_096
}

// MARK: Sockets

extension Limits {
    /// Connections that a listener accepts in one iteration. The rest stay in its backlog until the next.
    ///
    /// 1,024 take some 10 ms. With 64, 10,000 clients at once overflowed the backlog, because the server greeted those 64
    /// before it accepted more: the kernel dropped SYNs, and their clients came a second later.
    package static let acceptsPerTurn = 1_024

    /// Length of a listener's accept backlog; the kernel lowers it to net.core.somaxconn. Beyond it the kernel drops a
    /// client's SYN, and the client's kernel retries.
    package static let listenBacklog = 4_096

    /// Milliseconds that a listener pauses after it refused a connection, unless a connection ends earlier.
    ///
    /// Without the pause, level-triggered readiness would keep a full process busy. A tenth of a second is too short
    /// for a client to notice.
    package static let acceptPauseMilliseconds = 100

    /// Log notes about calls and connections that one loop writes in an iteration. Further ones are counted in
    /// `perch_log_notes_dropped_total`, because a busy server at level `debug` produces more than a log accepts.
    package static let notesPerTurnMax = 256

    /// Descriptors reserved for other uses than connections: listeners, epoll, the store, logs, and files that an
    /// operator opens. The acceptor refuses and counts connections beyond the rest.
    package static let descriptorsReserved = 64

    /// Pieces that one send accepts, which is Linux's IOV_MAX. Later pieces are ignored.
    package static let piecesPerSend = 1_024

    /// SO_SNDBUF of a connection, in bytes; Linux doubles it for its own bookkeeping. It bounds the kernel memory of a
    /// connection whose peer stopped reading; without it, 3.3 to 4 MB were measured.
    package static let sendBufferBytes = 128 * 1024

    /// Unsent bytes in the kernel above which a connection is not writable (TCP_NOTSENT_LOWAT). More would only hold
    /// older values.
    package static let notSentLowWaterBytes = 64 * 1024

    /// Milliseconds after which the kernel drops a peer that does not acknowledge (TCP_USER_TIMEOUT).
    ///
    /// Must exceed the write stall plus the linger time. A value of 20 s reset stopped readers before they could read
    /// the reason.
    package static let peerTimeoutMilliseconds = 90_000
}
