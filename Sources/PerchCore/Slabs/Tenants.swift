import PerchBase
import PerchModel
import PerchWire

/// One TCP connection. Its hot state: two cache lines.
struct Connection: BitwiseCopyable {
    enum Phase: UInt8 {
        /// Nothing but HELLO is taken.
        case greeting
        case open
        /// A reason is on its way out; nothing more is read as frames.
        case closing
        /// Everything is written and the writing side is shut; what still comes is thrown away for a while.
        case dying
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        static let acceptsZlib = Flags(rawValue: 1)
        /// In the loop's list of connections that have something to write.
        static let isListed = Flags(rawValue: 2)
        /// The kernel took less than it was given: wait until it is writable.
        static let isFull = Flags(rawValue: 4)
        static let isReadPaused = Flags(rawValue: 8)
        static let wantsBeat = Flags(rawValue: 16)
        /// A value went out since the last BEAT, on a connection with several watches.
        static let hasOpenGroup = Flags(rawValue: 32)
        static let peerHasEnded = Flags(rawValue: 64)
        /// Some input came: the limit for the first byte is met.
        static let hasSpoken = Flags(rawValue: 128)
        static let hasPartialInput = Flags(rawValue: 256)
        /// It counts among the connections of its address.
        static let countsForAddress = Flags(rawValue: 512)
        static let writesReason = Flags(rawValue: 1024)
        /// It counts among the connections of its identity.
        static let isCounted = Flags(rawValue: 2048)
        /// What lies between core and socket has bytes that the kernel did not take yet.
        static let isHeldBelow = Flags(rawValue: 4096)
        /// The server asks nobody for credentials, or valid ones came on this connection.
        static let isIdentified = Flags(rawValue: 8192)
        /// A timer will check its unfinished frame.
        static let hasFrameTimer = Flags(rawValue: 16384)
    }

    var socket: Int32
    var phase = Phase.greeting
    var flags: Flags
    var heartbeatSeconds: UInt16
    var firstCall: Int32 = -1
    var callCount: Int32 = 0
    /// Open streams. One that waits for its position is among them: its reader has heard `loading`, and counts it.
    var watchCount: Int32 = 0
    /// Watches whose first value is still on its way or waits for its instant, and streams of events that are behind: no
    /// beat passes them.
    var waitingCount: Int32 = 0
    var firstOwed: Int32 = -1
    var lastOwed: Int32 = -1
    var owedBytes: Int32 = 0
    var firstDirty: Int32 = -1
    var lastDirty: Int32 = -1
    /// The frame that the kernel took a part of: index among the unfinished ones.
    var unfinished: Int32 = -1
    /// Monotonic milliseconds; 0: nothing waits for the kernel.
    var stalledSince: Int64 = 0
    var lastBeat: Int64
    /// Whose it is: a number among the loop's identities.
    var identity = IdentityTable.nobody
    /// Where it comes from: a number among the loop's origins.
    var origin: Int32
}

/// One call on a connection: a unary one under way, a watch of a view, or a stream of events.
struct CallSlot: BitwiseCopyable {
    enum Kind: UInt8 {
        case unary
        /// A purchase that the store decides, and so the only kind of unary call that there are thousands of in a turn. Its
        /// answer is made of the store's alone: nothing is kept for it beside the slot.
        case order
        case watch
        case updates
        /// Its STATUS is owed; the stream number is still taken.
        case ending
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// In the connection's list of calls that have something to write.
        static let isListed = Flags(rawValue: 1)
        static let owesLoading = Flags(rawValue: 2)
        /// The newest value of its view has not been taken.
        static let owesValue = Flags(rawValue: 4)
        /// No value was ever said on this call: the next one is a snapshot.
        static let isFirst = Flags(rawValue: 8)
        /// Waits for its first value, at a revision that is here; of a stream of events, for what is in the store and
        /// not here.
        static let isWaiting = Flags(rawValue: 16)
        /// Came with a token: says `unchanged` if the digests agree.
        static let hasToken = Flags(rawValue: 32)
        /// What it owes is `unchanged`.
        static let owesUnchanged = Flags(rawValue: 64)
        /// `loading` was said, or is owed: it comes once.
        static let hasLoaded = Flags(rawValue: 128)
    }

    var connection: Int32
    var stream: UInt32
    var method: Method
    var kind: Kind
    var flags: Flags = []
    /// The caller has said how long it waits.
    var hasDeadline = false
    /// Of a watch: its view. Of a stream of events: its account. Of an order: its app. Of another unary call: what it waits
    /// with.
    var target: Int32 = -1
    var nextInTarget: Int32 = -1
    var previousInTarget: Int32 = -1
    var nextInConnection: Int32 = -1
    var previousInConnection: Int32 = -1
    var nextDirty: Int32 = -1
    var previousDirty: Int32 = -1
}

/// What is not state and so cannot be computed again: answers, their statuses, and a transport's own control messages.
struct Owed: BitwiseCopyable {
    /// What it is to a transport, which writes each in its own form.
    enum Role: UInt8 {
        /// The answer of a unary call.
        case answer
        /// The end of a call.
        case status
        /// The transport's greeting, and the answer to a round trip.
        case welcome
        case ping
        case pong
        /// Why a connection ends, or that it soon will.
        case farewell
    }

    var role: Role
    var stream: UInt32
    var payload: PayloadHandle
    /// The call that ends when this is taken; -1 for none.
    var endsCall: Int32
    var next: Int32 = -1
}

/// One view on this loop: who looks at it, where it stands, and its encodings.
struct ViewSlot: BitwiseCopyable {
    enum State: UInt8 {
        /// No value yet, or one that has to be computed again before anybody new can have it.
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
    /// What it shows: its place among the keys of views.
    var key: Int32
    var firstWatch: Int32 = -1
    var watchCount: Int32 = 0
    var nextInAccount: Int32 = -1
    var previousInAccount: Int32 = -1
    /// Its encodings, while somebody is owed one of them, or several share them; -1: none.
    var encodings: Int32 = -1
    var state = State.empty
    /// In the list of views that are computed at the end of this turn.
    var isListed = false
    var hasFailed = false
    /// Time has passed its crossing: nobody new is given the value that is kept.
    var isStale = false
    private var causeNumber = UInt8(Cause.snapshot.rawValue)
    private var pendingCauseNumber = UInt8(Cause.unspecified.rawValue)

    init(account: Int32, app: AppNumber, key: Int32) {
        self.account = account
        self.app = app
        self.key = key
    }

    /// What led to the last value.
    var cause: Cause {
        get { Cause(rawValue: Int32(self.causeNumber)) }
        set { self.causeNumber = UInt8(newValue.rawValue) }
    }

    /// What will have led to the next.
    var pendingCause: Cause {
        get { Cause(rawValue: Int32(self.pendingCauseNumber)) }
        set { self.pendingCauseNumber = UInt8(newValue.rawValue) }
    }
}

/// A value's forms, as the first of a call and as a change, plain and compressed; and `unchanged`.
struct Encodings: BitwiseCopyable {
    var snapshot = PayloadHandle.none
    var snapshotZlib = PayloadHandle.none
    var change = PayloadHandle.none
    var changeZlib = PayloadHandle.none
    var unchanged = PayloadHandle.none
    /// Of the value before: what a watch that owes the newest one was told last, if it was not behind before.
    var previousDigest = Digest.zero

    var all: InlineArray<5, PayloadHandle> {
        [self.snapshot, self.snapshotZlib, self.change, self.changeZlib, self.unchanged]
    }
}

/// What came of an account in this turn: its newest record, and what led to it.
struct AccountNews {
    var record: AccountRecord?
    var cause: Cause
}

/// An account that somebody watches on this loop.
struct AccountSlot: BitwiseCopyable {
    /// 0 while there is no such account yet.
    var number: AccountNumber = 0
    var app: AppNumber
    /// Its key: where in the store of keys, and how long.
    var keyPlace: Int32
    var firstView: Int32 = -1
    var firstUpdates: Int32 = -1
    var tenantCount: Int32 = 0
    /// Other keys of the same account.
    var nextOfNumber: Int32 = -1
    /// Where in this turn's list of accounts with news; -1: not there.
    var news: Int32 = -1
    var keyCount: UInt8
    var hasNumber = false
    /// A record has been asked for and is on its way.
    var isAsked = false

    init(app: AppNumber, keyPlace: Int32, keyCount: Int) {
        self.app = app
        self.keyPlace = keyPlace
        self.keyCount = UInt8(keyCount)
    }
}
