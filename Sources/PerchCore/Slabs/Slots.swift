import PerchBase
import PerchModel
import PerchWire

/// The hot state of one TCP connection: two cache lines.
struct Connection: BitwiseCopyable {
    enum Phase: UInt8 {
        /// Nothing but HELLO is taken.
        case greeting
        case open
        /// A DRAIN is being sent; further frames are ignored.
        case closing
        /// Everything is written and the writing side is shut down; further input is discarded for a while.
        case dying
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        static let acceptsZlib = Flags(rawValue: 1)
        /// In the loop's list of connections with output.
        static let isListed = Flags(rawValue: 2)
        /// The kernel accepted less than it was given, or the loop has sent enough for now: `writable` ends it.
        static let isFull = Flags(rawValue: 4)
        static let isReadPaused = Flags(rawValue: 8)
        static let wantsBeat = Flags(rawValue: 16)
        /// A value was sent since the last BEAT, on a connection with several watches.
        static let hasOpenGroup = Flags(rawValue: 32)
        static let peerHasEnded = Flags(rawValue: 64)
        /// Some input has arrived, within the time for the first byte.
        static let hasSpoken = Flags(rawValue: 128)
        static let hasPartialInput = Flags(rawValue: 256)
        /// Counts among the connections of its address.
        static let countsForAddress = Flags(rawValue: 512)
        static let writesReason = Flags(rawValue: 1024)
        /// Counts among the connections of its identity.
        static let isCounted = Flags(rawValue: 2048)
        /// The layer between core and socket has bytes that the kernel has not accepted yet.
        static let isHeldBelow = Flags(rawValue: 4096)
        /// The server needs no credentials, or this connection has valid ones.
        static let isIdentified = Flags(rawValue: 8192)
        /// A timer will check its unfinished frame.
        static let hasFrameTimer = Flags(rawValue: 16384)
        /// It came over the listener of Apple's notifications, which serves nothing else.
        static let isIntake = Flags(rawValue: 32768)
    }

    var socket: Int32
    var phase = Phase.greeting
    var wire = Wire.unknown
    var flags: Flags
    var heartbeatSeconds: UInt16
    var firstCall: Int32 = -1
    var callCount: Int32 = 0
    /// Number of open streams. A stream that waits for its position counts, because its client has received `loading`.
    var watchCount: Int32 = 0
    /// Calls that delay bookmarks: watches whose first value is pending or waits for its instant, watches of a view that is
    /// behind the clock, and streams of events that are behind.
    var waitingCount: Int32 = 0
    var firstUnsent: Int32 = -1
    var lastUnsent: Int32 = -1
    var unsentBytes: Int32 = 0
    var firstDirty: Int32 = -1
    var lastDirty: Int32 = -1
    /// Index of the partly written frame among the unfinished ones.
    var unfinished: Int32 = -1
    /// Of a connection of the HTTP family: what more it is.
    var http: Int32 = -1
    /// Monotonic milliseconds; 0: no output waits for the kernel.
    var stalledSince: Int64 = 0
    var lastBeat: Int64
    /// The revision of its last BEAT that no watch in failure held back.
    var vouchedRevision: UInt64 = 0
    /// Index of its identity in the loop's table.
    var identity = IdentityTable.nobody
    /// Index of its address among the loop's origins.
    var origin: Int32
}

/// One call of a connection: a unary one in progress, a watch of a view, or a stream of events.
struct CallSlot: BitwiseCopyable {
    /// What the call is, with the slot of what it waits for or shows.
    enum State: BitwiseCopyable, Equatable {
        /// `pending`: the place of its work in `Service.pending`; -1 if it waits for nothing.
        case unary(pending: Int32)
        /// A purchase that the store decides: the only unary call with thousands in one tick. Its answer depends on the
        /// store's alone, so nothing else is kept.
        case order(app: AppNumber)
        case watch(view: Int32)
        /// A stream of an account's events.
        case updates(account: Int32)
        /// A stream of every change of an app.
        case appChanges
        /// A copy of an app's entitlements.
        case copy
        /// A call of several watches, each of which has a slot.
        case several
        /// Its STATUS is pending; the stream number is still in use.
        case ending
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// In the connection's list of calls with output.
        static let isListed = Flags(rawValue: 1)
        static let hasUnsentLoading = Flags(rawValue: 2)
        /// The newest value of its view is not sent yet.
        static let hasUnsentValue = Flags(rawValue: 4)
        /// No value was sent on this call: the next one is a snapshot.
        static let isFirst = Flags(rawValue: 8)
        /// Waits for its first value, at a reached revision. For a stream of events: waits for events from the store.
        static let isWaiting = Flags(rawValue: 16)
        /// Has a resume token: the first answer is `unchanged` if the digests agree.
        static let hasToken = Flags(rawValue: 32)
        /// What it has unsent is `unchanged`.
        static let hasUnsentUnchanged = Flags(rawValue: 64)
        /// `loading` was sent, or is pending: it is sent once.
        static let hasLoaded = Flags(rawValue: 128)
    }

    var connection: Int32
    var stream: UInt32
    var state: State
    var method: Method
    var flags: Flags = []
    /// The caller has set a deadline.
    var hasDeadline = false
    /// The next call of the same view or account.
    var nextInTarget: Int32 = -1
    var previousInTarget: Int32 = -1
    var nextInConnection: Int32 = -1
    var previousInConnection: Int32 = -1
    var nextDirty: Int32 = -1
    var previousDirty: Int32 = -1

    var isEnding: Bool {
        @inline(__always) get { if case .ending = self.state { true } else { false } }
    }

    /// The view of a watch; -1 for other calls.
    var view: Int32 {
        @inline(__always) get { if case .watch(let view) = self.state { view } else { -1 } }
    }

    /// Whether it is a watch whose value is all that it has to say.
    var hasUnsentValueOnly: Bool {
        @inline(__always) get {
            self.view >= 0 && self.flags.contains(.hasUnsentValue) && !self.flags.contains(.hasUnsentLoading)
        }
    }

    /// Whether it is a stream of events or changes: each of them is sent once, and none is replaced by a newer one.
    var isFeed: Bool {
        @inline(__always) get {
            switch self.state {
            case .updates, .appChanges, .copy: true
            case .unary, .order, .watch, .several, .ending: false
            }
        }
    }
}

/// Pending output that is not state and so cannot be recomputed: answers, their statuses, and control messages of a
/// transport.
struct Unsent: BitwiseCopyable {
    /// The role of the output. Each transport has its own form for each role.
    enum Role: UInt8 {
        /// The answer of a unary call.
        case answer
        /// The end of a call.
        case status
        /// The transport's greeting, and the answer to a PING.
        case welcome
        case ping
        case pong
        /// Why a connection ends, now or soon.
        case farewell
        /// Of HTTP: the head of a response that is not as all are, and a frame of the connection's own.
        case head
        case control
    }

    var role: Role
    var stream: UInt32
    var payload: PayloadHandle
    /// The call that ends when this is sent; -1 for none.
    var endsCall: Int32
    var next: Int32 = -1
}

/// One view on this loop: its watchers, its position, and its encodings.
struct ViewSlot: BitwiseCopyable {
    enum State: UInt8 {
        /// No value yet, or one that must be recomputed before it is sent to a new watch.
        case empty
        case ready
    }

    var position = Position(revision: 0, asOf: .distantPast)
    var digest = Digest.zero
    /// When the value changes if nothing happens; the end of time for never.
    var crossing = Instant.distantFuture
    var crossingTimer = TimerHeap.ID.none
    /// Slot of the account; -1 for a products view.
    var account: Int32
    var app: AppNumber
    /// Index of its key among the keys of views.
    var key: Int32
    var firstWatch: Int32 = -1
    var watchCount: Int32 = 0
    var nextInAccount: Int32 = -1
    var previousInAccount: Int32 = -1
    /// Its encodings, while one of them is pending for a watch, or several watches share them; -1: none.
    var encodings: Int32 = -1
    var state = State.empty
    /// In the list of views that are computed at the end of this tick.
    var isListed = false
    /// Its last load failed. No bookmark vouches for its watches until it is loaded.
    var hasFailed = false
    /// The clock has passed its crossing, and its value is not computed yet: new watches do not get the kept value, and its
    /// watches delay bookmarks.
    var isStale = false
    private var causeNumber = UInt8(Cause.snapshot.rawValue)
    private var pendingCauseNumber = UInt8(Cause.unspecified.rawValue)

    init(account: Int32, app: AppNumber, key: Int32) {
        self.account = account
        self.app = app
        self.key = key
    }

    /// The cause of the last value.
    var cause: Cause {
        get { Cause(rawValue: Int32(self.causeNumber)) }
        set { self.causeNumber = UInt8(newValue.rawValue) }
    }

    /// The cause of the next value.
    var pendingCause: Cause {
        get { Cause(rawValue: Int32(self.pendingCauseNumber)) }
        set { self.pendingCauseNumber = UInt8(newValue.rawValue) }
    }
}

/// A value's forms, as a snapshot and as a change, plain and compressed; and `unchanged`.
struct Encodings: BitwiseCopyable {
    var snapshot = PayloadHandle.none
    var snapshotZlib = PayloadHandle.none
    var change = PayloadHandle.none
    var changeZlib = PayloadHandle.none
    var unchanged = PayloadHandle.none
    /// Digest of the previous value: the last value sent to a watch with a pending value, unless it was already behind.
    var previousDigest = Digest.zero

    var all: InlineArray<5, PayloadHandle> {
        [self.snapshot, self.snapshotZlib, self.change, self.changeZlib, self.unchanged]
    }
}

/// News of an account in this tick: its newest record, and the cause.
struct AccountNews {
    var record: AccountRecord?
    var cause: Cause
}

/// An account that is watched on this loop.
struct AccountSlot: BitwiseCopyable {
    /// 0 while the store has no such account.
    var number: AccountNumber = 0
    var app: AppNumber
    /// Its key: the place in the key store, and the length.
    var keyPlace: Int32
    var firstView: Int32 = -1
    var firstUpdates: Int32 = -1
    /// Views and streams of events of the account: the slot goes with the last of them.
    var holderCount: Int32 = 0
    /// The next slot with the same account number, under another key.
    var nextOfNumber: Int32 = -1
    /// Index in this tick's list of accounts with news; -1 for none.
    var news: Int32 = -1
    var keyCount: UInt8
    var hasNumber = false
    /// Which account the key leads to is not known until its record arrives. No stream of events becomes live before.
    var awaitsNumber = false
    /// Its record was asked for and has not arrived.
    var isAsked = false
    /// Its record could not be read when it was last asked for.
    var hasFailed = false
    /// In the list of accounts that are asked for again.
    var isListedAgain = false

    init(app: AppNumber, keyPlace: Int32, keyCount: Int) {
        self.app = app
        self.keyPlace = keyPlace
        self.keyCount = UInt8(keyCount)
    }
}
