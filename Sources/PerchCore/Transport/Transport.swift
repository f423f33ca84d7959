import PerchBase

/// What perch/1 keeps of its connections beside their slots: frames in part, what is owed, and what is written next.
struct Transport: ~Copyable {
    /// The call that a stream number of a connection stands for.
    var streams = SlotTable()
    var owed = Slab<Owed>()
    var admission = Admission()
    /// Of connections whose peer has shown one.
    var certificates: [Int32: PeerCertificate] = [:]
    /// Of connections whose calls brought credentials that were not taken.
    var credentialFailures: [Int32: Int] = [:]

    // Frames in part, on their way in and out.
    var partialInputs: [Int32: PartialInput] = [:]
    var partialBytes = 0
    var unfinishedFrames: [Int32: UnfinishedFrame] = [:]
    /// Connections whose kept input is read at the next turn.
    var pausedInputs: [Int32] = []

    // This turn.
    var listedConnections: [Int32] = []
    /// Connections whose group waits for the end of a sweep.
    var heldGroups: [Int32] = []
    /// The last WELCOME of this turn.
    var welcomed = (payload: PayloadHandle.none, said: Welcomed())
    var staging = Staging()

    // Time.
    var beats: TimerWheel
    var stalls: TimerWheel
    var draining = false
    var drainDeadline: Int64 = .max

    init(now: Moment) {
        self.beats = TimerWheel(startingAt: now.monotonic / 1_000)
        self.stalls = TimerWheel(startingAt: now.monotonic / 1_000)
    }
}
