import PerchBase
import Synchronization

/// The transport: connections of every protocol, from bytes to calls, and from answers and values to bytes. Here is what is not
/// in the slots of connections: partial frames, pending output, and the next writes.
struct Transport: ~Copyable {
    /// Makes the struct immovable, as that of `LoopCore` does.
    private let anchor = Atomic<Bool>(false)

    /// The calls by stream number and connection.
    var streams = SlotTable()
    var unsent = Slab<Unsent>()
    var http = HTTPTables()
    var admission = Admission()
    /// What clients of perch/1 say they are in HELLO.
    var clientIDs: [Int32: [UInt8]] = [:]
    /// The OK status, the same bytes for all calls.
    let okStatus: PayloadHandle
    /// Protocols that ALPN chose, for connections that have not begun to speak them.
    var negotiated: [Int32: Wire] = [:]
    /// Certificates of connections whose peer has one.
    var certificates: [Int32: PeerCertificate] = [:]

    // Partial frames, incoming and outgoing.
    var partialInputs: [Int32: PartialInput] = [:]
    var partialBytes = 0
    var unfinishedFrames: [Int32: UnfinishedFrame] = [:]
    /// Connections whose kept input is read in the next tick.
    var pausedInputs: [Int32] = []

    // This turn.
    var work = WorkMeter()
    var listedConnections: [Int32] = []
    /// The number of those whose writes are planned: 0 once a tick's output is.
    var plannedCount = 0
    /// Connections whose group waits for the end of a sweep.
    var heldGroups: [Int32] = []
    /// The last WELCOME of this tick.
    var welcomed = (payload: PayloadHandle.none, said: Welcomed())
    var staging = Staging()

    // Time.
    var beats: TimerWheel
    var stalls: TimerWheel
    var draining = false
    var drainDeadline: Int64 = .max

    init(okStatus: PayloadHandle, now: Moment) {
        self.okStatus = okStatus
        self.beats = TimerWheel(startingAt: now.monotonic / 1_000)
        self.stalls = TimerWheel(startingAt: now.monotonic / 1_000)
    }
}
