/// Every limit of Perch, with its unit, its reason and what happens when it is reached. Settings may change the ones
/// that say so.
///
/// Those that are asked for with each change or write are inlinable: a `static let` of another module is a call.
public enum Limits {
    /// Subscription lines and owned products of one account, with its purchases that wait, its intents and what it shares.
    /// Beyond it a purchase is refused with RECORD_LIMIT: a record is read and sent whole.
    public static let recordEntriesMax = 4_096

    /// Purchases of one account that wait for somebody. One more is refused with PENDING_LIMIT: a family that leaves so
    /// many requests unanswered answers none.
    package static let pendingPurchasesMax = 64

    /// Purchases of one account that were begun outside the app. One more is refused with INTENT_LIMIT: nobody has so
    /// many in mind.
    package static let purchaseIntentsMax = 64

    /// Renewals that one purchase in the past brings at once. Beyond it the purchase is refused with ADVANCE_LIMIT: they
    /// are one change, and each is a row. A monthly subscription has so many in 83 years.
    package static let renewalsPerPurchaseMax = 1_000

    /// Milliseconds that one call moves an app's clock forward at most: a hundred years. Beyond it ADVANCE_LIMIT: a weekly
    /// subscription renews 5,200 times in so long.
    package static let advanceMillisecondsMax: Int64 = 100 * 366 * 86_400_000

    /// Renewals of one subscription that one call moves an app's clock over. Beyond it ADVANCE_LIMIT: at a time rate of two
    /// seconds a hundred years are a billion of them, each a row. So many is more than two days at that rate.
    package static let renewalsPerAdvanceMax: Int64 = 100_000

    /// Instants that a read may be about, in milliseconds since the Unix epoch: those that a civil date has four digits
    /// for. Outside of it FIELD_INVALID: no calendar arithmetic can overflow inside.
    package static let readableMilliseconds: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Facts of one account that a read about the past folds anew. An account with more is answered HISTORY_LIMIT there,
    /// and for now as ever: the store's only thread folds, and everybody waits for it. So many renewals has a monthly
    /// subscription in 1,300 years, and one of two seconds in nine hours.
    package static let factsPerReadMax = 16_384

    /// Offers of one kind that edits give a product. One more is refused with FIELD_INVALID: the App Store takes 10
    /// promotional ones, and each products view carries them all.
    package static let editedOffersMax = 100
}

// MARK: Before WELCOME

extension Limits {
    /// Bytes of a HELLO. A longer one is FRAME_TOO_LONG, judged by its header alone: nobody is known yet.
    package static let helloBytesMax = 16 * 1024

    /// Milliseconds from accept to a whole HELLO; then HELLO_TIMEOUT, and the connection is closed.
    package static let helloTimeoutMilliseconds: Int64 = 10_000

    /// Milliseconds from accept to the first byte; then HELLO_TIMEOUT, and the connection is closed.
    package static let firstByteTimeoutMilliseconds: Int64 = 5_000

    /// Connections that have not been welcomed yet. One more is refused with HANDSHAKE_LIMIT.
    package static let handshakesMax = 512
}

// MARK: Frames and messages

extension Limits {
    /// Bytes of any message, compressed or inflated: FRAME_TOO_LONG from the header alone, INFLATE_LIMIT while
    /// inflating. 4 MiB hold a large catalogue file, and 10,000 statuses.
    package static let frameBytesMax = 4 * 1024 * 1024

    /// Bytes of the request of an ordinary method; then REQUEST_TOO_LONG, for that call only.
    @inlinable package static var requestBytesMax: Int { 64 * 1024 }

    /// Bytes of the request of a catalogue method; then CATALOG_TOO_LONG, for that call only.
    package static let catalogRequestBytesMax = 4 * 1024 * 1024

    /// Bytes of partial frames that all connections of a process hold together. The connection whose frame would go
    /// beyond is closed with PARTIAL_FRAMES_LIMIT.
    package static let partialFramesBytesMax = 64 * 1024 * 1024

    /// Nested messages, the outermost counted as 1; then MESSAGE_TOO_DEEP. The contract's deepest needs 7.
    package static let protobufDepthMax = 32

    /// Occurrences of singular and unknown fields in a request, nested ones included; then MESSAGE_TOO_MANY_FIELDS.
    ///
    /// protobuf-c remembers each until the message is read, also those of which only the last counts.
    package static let protobufSingularFieldsMax = 4_096

    /// The same in what a server sends: 500 transactions of a page have 15,000. A message of `frameBytesMax` bytes
    /// has at most half as many fields, and the memory for them is bounded by `codecArenaBytesMax`.
    package static let responseSingularFieldsMax = 1_048_576

    /// Items of repeated fields in a message, packed ones and nested ones included; then MESSAGE_TOO_MANY_ITEMS.
    package static let protobufRepeatedItemsMax = 65_536

    /// Bytes that one codec may hold while it reads or writes one message. Reading more is MESSAGE_TOO_MANY_ITEMS.
    ///
    /// Two bytes of input can ask for a structure of 300; 32 MiB are eight times the longest message.
    package static let codecArenaBytesMax = 32 * 1024 * 1024

    /// Bytes that a codec keeps for the next message; what a larger one needed is given back when the next begins.
    @inlinable package static var codecBytesKept: Int { 256 * 1024 }

    /// Inflated bytes for each compressed one, above `inflateRatioFreeBytes`; then INFLATE_RATIO. Text of catalogues
    /// compresses 10:1, zlib's utmost is 1,032:1.
    package static let inflateRatioMax = 100

    /// Inflated bytes at which the ratio begins to count: so many cost nobody anything.
    package static let inflateRatioFreeBytes = 64 * 1024

    /// Bytes below which a message is never compressed: it would cost more than it saves, and small messages grow.
    package static let compressBytesMin = 1024
}

// MARK: What callers give

extension Limits {
    /// Bytes of UTF-8 of an account's key, at least 1; otherwise ACCOUNT_KEY.
    package static let accountKeyBytesMax = 255

    /// Bytes of a bundle identifier that is given to a new app; a longer one is a mistake of the command line.
    package static let bundleIDBytesMax = 255

    /// Bytes of an idempotency key; then FIELD_INVALID.
    package static let idempotencyKeyBytesMax = 64

    /// Bytes of a client's name for itself across connections; then HELLO_INVALID.
    package static let clientIDBytesMax = 32

    /// Transactions in a page when the caller does not say.
    package static let pageSizeDefault = 100

    /// Transactions in a page; a larger wish gets so many.
    package static let pageSizeMax = 500

    /// Seconds between heartbeats: a wish outside is moved to the nearer end.
    package static let heartbeatSecondsMin: UInt32 = 10
    package static let heartbeatSecondsMax: UInt32 = 600
    /// Seconds between heartbeats when the client does not say.
    package static let heartbeatSecondsDefault: UInt32 = 30
}

// MARK: Connections and calls

extension Limits {
    /// Live calls on one connection. One more is ended with CALLS_LIMIT; the connection stays.
    package static let callsPerConnectionMax = 65_536

    /// Bytes that all open calls of the process hold: a slot each, what they watch and wait for, values that they are owed,
    /// each counted once however many share it. Then CALLS_BYTES_LIMIT for a call that would stay, which is a stream or waits
    /// for a position, and for one with a request that is not small; other reads and purchases go on. Eight million watches.
    package static let callsBytesMax = 2 * 1024 * 1024 * 1024

    /// Bytes up to which a request is small: what a call keeps of it is not counted beside its slot.
    @inlinable package static var smallRequestBytes: Int { 256 }

    /// Connections from one address, loopback excepted. One more is refused with CONNECTION_LIMIT.
    package static let connectionsPerAddressMax = 4_096

    /// Connections of one identity. One more is refused with CONNECTION_LIMIT.
    package static let connectionsPerIdentityMax = 20_000

    /// Bytes that a connection may be owed before it is not read from: STATUS, unary answers, PONG.
    package static let owedBytesMax = 64 * 1024

    /// Milliseconds without progress while something waits to be written; then WRITE_STALLED, and closed.
    package static let writeStallMilliseconds: Int64 = 30_000

    /// Milliseconds for which a closing connection is read from, so that the peer can read why.
    package static let lingerMilliseconds: Int64 = 60_000

    /// Connections that are read from while they close, of all loops, each of which has its part. Beyond, the oldest is cut
    /// off.
    package static let dyingConnectionsMax = 1_024

    /// Connections below which a server that has descriptors for no more says so when it starts.
    package static let connectionsFew = 512
}

// MARK: The store

extension Limits {
    /// Bytes of records that the store thread keeps; beyond, those that were not needed for longest go.
    package static let recordCacheBytesMax = 256 * 1024 * 1024

    /// Milliseconds for which the cursors of event streams can be resumed; after both this and
    /// `cursorRetentionRevisionsMin`, CURSOR_TOO_OLD.
    package static let cursorRetentionMilliseconds: Int64 = 24 * 3_600_000

    /// Revisions for which the cursors of event streams can be resumed, however old.
    package static let cursorRetentionRevisionsMin: UInt64 = 100_000

    /// Milliseconds for which the answer to an idempotency key is kept; afterwards the key is new.
    package static let idempotencyKeyMilliseconds: Int64 = 7 * 24 * 3_600_000

    /// Milliseconds by which the lease of the store's clock is written ahead of the machine's: how far the clock that is
    /// shown may have run before a crash, and stands after one at most.
    package static let leaseMilliseconds: Int64 = 12_000

    /// The lease is renewed when the machine's clock has less than so many milliseconds left of it. Not the clock that is
    /// shown: that one stands at the lease after a crash, and each crash would run it ahead by another lease.
    package static let leaseRenewalMilliseconds: Int64 = 2_000

    /// Renewal attempts in one group commit. The rest come with the next, behind the purchases that came meanwhile.
    package static let attemptsPerBatchMax = 256

    /// Attempts that one account settles before its mutation; an account further behind waits for the next batch.
    package static let attemptsBeforeMutationMax = 1_000

    /// How often a decision may ask for more before that is a bug of ours, which traps.
    package static let decisionRoundsMax = 8
}

// MARK: A turn of a loop

extension Limits {
    /// Ready sockets that one epoll_wait hands over. The rest come with the next turn, in the kernel's rotation.
    ///
    /// 512 make a system call and a turn cheap for each of them, and keep a turn of frames within a few milliseconds.
    package static let eventsPerTurn = 512

    /// Jobs of Swift tasks that a loop runs in one turn. The rest wait for the next turn, behind the sockets.
    ///
    /// So tasks that enqueue themselves again cannot starve connections.
    package static let jobsPerTurn = 256

    /// Milliseconds that a loop sleeps at most. Then it takes a turn, so that a jump of the wall clock, and a suspend,
    /// which epoll's own timeout does not count, are noticed within a minute.
    package static let loopSleepMaxMilliseconds = 60_000

    /// Tables of connections and watches are mappings of their own from so many bytes on: one that grows moves its pages and
    /// copies none, and what it leaves behind goes back at once.
    package static let mappedPieceBytes = 128 * 1024

    /// Bytes of stack of a loop thread. Reserved, not touched: memory is used as deep as calls really go.
    package static let loopStackBytes = 1024 * 1024

    /// Bytes that one read takes of a connection in a turn: what is left is read in the next, after the others had theirs.
    package static let readBytes = 64 * 1024

    /// Asks that a loop collects before it asks a store that it drives itself. So what a change takes on its way (5 KiB) is
    /// let go while the cache still has it; more of them at once share little more (`pushcost keyed`: from 4 to 32 there is
    /// no difference beyond the noise).
    @inlinable package static var asksAtOnce: Int { 16 }

    /// Changes for which is fetched at once what they look at (`Prefetch`). More than a core has loads under way at a time
    /// need not be, and what is fetched too early has left the first cache again.
    @inlinable package static var prefetchedAtOnce: Int { 16 }

    /// Bytes in which a turn's frames are laid out before they are written. They hold about 200 values of 300 bytes; more
    /// would only delay the first byte of a batch.
    @inlinable package static var stagingBytes: Int { 64 * 1024 }

    /// Bytes of a frame that is copied to its neighbours, so that they leave in one system call; longer ones are referred
    /// to where they lie.
    @inlinable package static var copiedFrameBytesMax: Int { 4 * 1024 }

    /// Bytes that one connection is given in one system call at most.
    @inlinable package static var writeBytesMax: Int { 256 * 1024 }

    /// Watchers who are written to before the answers of the same turn. A write takes some 10 us, so the answer of a change
    /// waits 0.2 ms for them at most; with more watchers it goes first.
    @inlinable package static var watchersBeforeAnswers: Int { 16 }

    /// Pieces of memory for frames that are kept of each size when they are given back. The allocator has the others again.
    @inlinable package static var payloadPiecesKept: Int32 { 1_024 }

    /// Transactions of which a loop keeps what they were written as, enough for the changes of two turns. A power of two.
    @inlinable package static var writtenTransactions: Int { 512 }

    /// Bytes of a transaction that is kept so. One without advanced commerce has about 250.
    @inlinable package static var writtenTransactionBytesMax: Int { 512 }

    /// Names of apps and products that a loop compares what it reads with, before it reads them anew. A power of two.
    @inlinable package static var recentTexts: Int { 64 }

    /// Bytes of a text that is kept so. Identifiers of apps and products seldom have more than forty.
    @inlinable package static var recentTextBytesMax: Int { 64 }

    /// Events for which an inbox keeps room between batches. What a larger burst grew is given back when it is taken.
    ///
    /// An inbox itself drops nothing, because its order is what a loop's `applied` revision rests on: `post` answers
    /// with the depth, and who fills it holds back.
    package static let inboxCapacityKept = 4_096
}

// MARK: Sockets

extension Limits {
    /// Connections that a listener accepts in one turn. The rest wait in its backlog for the next turn.
    package static let acceptsPerTurn = 64

    /// Connections that the kernel holds for a listener until they are accepted; it lowers this to net.core.somaxconn.
    /// Beyond it a client's SYN is dropped, and its kernel tries again.
    package static let listenBacklog = 4_096

    /// Milliseconds for which a listener rests after it had to refuse, unless a connection ends before that.
    ///
    /// Level-triggered readiness would otherwise turn a full process into a busy one. Within a tenth of a second
    /// a client neither gives up nor notices.
    package static let acceptPauseMilliseconds = 100

    /// Descriptors of the process that are not for connections: listeners, epoll, the store, logs, and what an
    /// operator opens by hand. Connections beyond the rest are refused by the acceptor, and counted.
    package static let descriptorsReserved = 64

    /// Pieces that one send takes. Linux takes no more (IOV_MAX); what lies behind them is not looked at.
    package static let piecesPerSend = 1_024

    /// Bytes of SO_SNDBUF of a connection; Linux doubles it for its own bookkeeping. A connection whose reader stopped
    /// holds no more than this in the kernel; without it, it was seen to hold 3.3 to 4 MB.
    package static let sendBufferBytes = 128 * 1024

    /// Bytes that may wait in the kernel unsent (TCP_NOTSENT_LOWAT) before a connection no longer counts as writable.
    /// More would only be older values.
    package static let notSentLowWaterBytes = 64 * 1024

    /// Milliseconds after which the kernel gives up a peer that does not acknowledge (TCP_USER_TIMEOUT).
    ///
    /// Always above write stall plus linger: at 20 s it was seen to reset stopped readers before they could read why.
    package static let peerTimeoutMilliseconds = 90_000
}
