package import PerchBase
package import PerchLoop
import PerchScenario
import PerchWire

/// One round: connects, watches, makes changes and measures, on one thread.
///
///     joining ─▶ seeding ─▶ connecting ─▶ [away] ─▶ warming ─▶ measuring ─▶ settling ─▶ done
///
/// A driver of an `EventLoop`, as the server's own loop is. Connections and watches are plain structs in arrays, frames
/// are read in place, calls are copies of one that was encoded once: one thread has to keep up with a server.
///
/// Not `Sendable`: it belongs to the thread that runs its loop. `outcome` is read when that has ended.
package final class Generator: LoopDriver {
    enum Stage: Int, Comparable {
        /// The connections of writers are made.
        case joining
        /// Each account gets a first purchase, so that there is a value to be shown.
        case seeding
        case connecting
        /// Of `resume`: nobody is connected, and some accounts change.
        case away
        case warming, measuring, settling, done

        static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    struct Connection {
        enum Phase: UInt8 { case closed, connecting, greeting, open }

        var socket: Int32 = -1
        var generation: UInt32 = 0
        var phase = Phase.closed
        var isWriter = false
        /// Does not read for now.
        var isSlow = false
        /// Did not read for a while: how late its values were is its own doing.
        var wasSlow = false
        /// It has been open before: its watches come back with their tokens.
        var isReturning = false
        var firstWatch: Int32 = 0
        var watchCount: Int32 = 0
        /// First messages that are still to come.
        var awaited: Int32 = 0
        /// When it was meant to be made.
        var intended: Int64 = 0
    }

    /// What a writer has under way: which change each of its streams carries.
    struct Writer {
        var changes: [Int32] = [-1]
        var free: [UInt32] = []
        var out: [UInt8] = []
        var underWay = 0
        /// Where answers carry no number but come in order, as those of Redis: what they answer.
        var inOrder: [Int32] = []
        var inOrderNext = 0
    }

    package static let interrupted = "it was interrupted"
    package enum Dialect: Sendable {
        case perch
        /// RESP, publish and subscribe, with values of so many bytes.
        case redis(valueBytes: Int)
    }

    static let timerTag: UInt64 = 1 << 63

    let settings: BenchSettings
    let address: SocketAddress
    let loop: EventLoop
    let timer: PreciseTimer
    let codec = MessageCodec()
    let requests: Requests
    let serverProcess: Int32?
    /// The server may run on the generator's core: to wait for it there is no finding. Before the loop runs.
    var sharesCore = false
    /// What is spoken to the server.
    let dialect: Dialect
    /// Nil in plaintext.
    var secure: SecureConnections?
    let progress: (Progress) -> Void
    /// Asked once a turn: whether somebody wants it to end.
    let isInterrupted: () -> Bool

    // Writers first, then watchers.
    var connections: [Connection]
    var writers: [Writer]
    var ledger: Ledger
    var recorder = Recorder()
    var stage = Stage.joining
    var stageBegan: Int64 = 0

    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.benchReadBytes, alignment: 16)
    /// The beginning of a frame, of connections that have one.
    var partials: [Int32: [UInt8]] = [:]
    /// What a connection's kernel did not take.
    var unsent: [Int32: [UInt8]] = [:]
    /// Connections to be made, each with when it was meant to be.
    var toConnect: [(connection: Int32, intended: Int64)] = []
    var toConnectNext = 0
    var handshaking = 0
    /// Connections whose watches have all had their first message.
    var established = 0
    /// Of each watch, where tokens are needed.
    var tokens: [[UInt8]] = []
    /// The last compressed message and what it says: watchers of one view are sent the same bytes.
    var lastInflated: (bytes: [UInt8], plain: [UInt8], scan: PushScan) = ([], [], PushScan())

    // The schedule.
    var random: SplitMix
    var nextDue: Int64 = 0
    var scheduled = 0
    var underWay = 0
    var seeded = 0
    var edition = 0
    var nextChurn: Int64 = 0
    /// Changes that must be answered before the stage ends.
    var awaitedAnswers = 0

    // What became of it.
    var refusals: [String: Int] = [:]
    var closes: [String: Int] = [:]
    var unchanged: UInt64 = 0
    var valueBytes = 0
    var answerBytes = 0
    var counting = Counting()
    var failure: String?
    /// How the server refused, where that is the failure.
    private(set) var refusal: ServerRefusal?
    /// How it refused a change last.
    var lastRefusal: ServerRefusal?
    /// Connections of watchers that were closed though nobody asked for it and they had read what there was.
    var closedUnasked = 0
    /// Of those that were to be made in the window: those that had no first values when the round ended.
    var unopened = 0
    var lastProgress: Int64 = 0
    /// Changes that had no answer when the round ended.
    var lost = 0
    /// Seconds, at its beginning and then of the window. The server's is nil where nobody may look at it, or it has ended; of
    /// the generator also how long it waited for a processor that it could have used.
    var window: (serverCPU: Double?, generatorCPU: Double, generatorWait: Double) = (nil, 0, 0)
    var windowCounts = Ledger.Counts()
    var memory = Memory()
    var atTick = (time: Int64(0), serverCPU: 0.0, generatorCPU: Int64(0))
    var nextTick: Int64 = 0

    struct Memory {
        var baseResident: Int?
        var baseSockets = 0
        var resident: Int?
        var sockets = 0
    }

    /// What is told while it runs.
    package struct Progress: Sendable {
        package var stage: String
        /// Since the stage began.
        package var seconds: Double
        package var connections: Int
        package var interval: Recorder.Interval

        package init(stage: String, seconds: Double, connections: Int, interval: Recorder.Interval) {
            self.stage = stage
            self.seconds = seconds
            self.connections = connections
            self.interval = interval
        }
    }

    package init(
        _ settings: BenchSettings, address: SocketAddress, access: BenchAccess = BenchAccess(), serverProcess: Int32?,
        dialect: Dialect = .perch, loop: EventLoop,
        isInterrupted: @escaping () -> Bool = { false }, progress: @escaping (Progress) -> Void
    ) throws {
        self.settings = settings
        self.address = address
        self.loop = loop
        self.serverProcess = serverProcess
        self.dialect = dialect
        self.progress = progress
        self.isInterrupted = isInterrupted
        self.timer = try PreciseTimer(on: loop.poller, tag: Self.timerTag)
        self.requests = try Requests(settings, access, self.codec)
        self.secure = access.tls.map { SecureConnections($0) }
        self.random = SplitMix(seed: settings.seed)
        let isAboutProducts = settings.workload == .catalog
        // The catalogue is a key of its own, behind the accounts.
        self.ledger = Ledger(keys: settings.keys + 1)
        self.ledger.reserve(watches: settings.watches, changes: settings.changesExpected)
        self.writers = Array(repeating: Writer(), count: settings.writers)
        self.connections = Array(repeating: Connection(), count: settings.writers)
        for index in 0..<settings.writers { self.connections[index].isWriter = true }
        self.connections.reserveCapacity(settings.writers + settings.connections)
        var watch = 0
        for index in 0..<settings.connections {
            var connection = Connection()
            connection.firstWatch = Int32(watch)
            let end = Int(Int64(settings.watches) * Int64(index + 1) / Int64(settings.connections))
            connection.watchCount = Int32(end - watch)
            while watch < end {
                self.ledger.addWatch(key: isAboutProducts ? settings.keys : Self.key(of: watch, settings))
                watch += 1
            }
            self.connections.append(connection)
        }
        if settings.workload == .resume || settings.workload == .mixed {
            self.tokens = Array(repeating: [], count: settings.watches)
        }
        self.recorder.isAboutFirsts = settings.workload == .storm || settings.workload == .resume
    }

    deinit {
        self.secure?.endAll()
        self.readBuffer.deallocate()
    }

    /// What watch `index` looks at. In `mixed`, of ten watches two look at account 0, one at the products, and seven at
    /// accounts of their own.
    static func key(of index: Int, _ settings: BenchSettings) -> Int {
        guard settings.workload == .mixed else { return index % settings.keys }
        switch index % 10 {
        case 0, 1: return 0
        case 2: return settings.keys
        default: return index % settings.keys
        }
    }

    // MARK: LoopDriver

    package func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        if tag == Self.timerTag {
            self.timer.clear()
            return
        }
        let index = Int(tag & 0xFFFF_FFFF)
        guard self.connections[index].phase != .closed,
            self.connections[index].generation == UInt32(truncatingIfNeeded: tag >> 32)
        else { return }
        if self.connections[index].phase == .connecting {
            if writable || hungUp { self.connectEnded(index) }
            return
        }
        if writable { self.sendUnsent(index) }
        if readable || hungUp { self.receive(index) }
    }

    package func turn(now: MonotonicTime) -> MonotonicTime? {
        var now = now.nanoseconds
        if self.stageBegan == 0 { self.begin(at: now) }
        if self.isInterrupted() { self.giveUp(Generator.interrupted) }
        // A stage that begins has something to do at once, and nobody may come to wake it.
        var before: Stage
        repeat {
            before = self.stage
            self.step(at: now)
        } while self.stage != before && self.stage != .done
        self.flushWriters()
        // What was received and sent in this turn took its time.
        now = Clocks.monotonic().nanoseconds
        if self.stage == .done {
            self.loop.stop()
            return nil
        }
        if now >= self.nextTick { self.tick(at: now) }
        if self.isBehind(at: now) { return MonotonicTime(nanoseconds: now) }
        self.timer.set(MonotonicTime(nanoseconds: min(self.nextDeadline, self.nextTick)))
        return nil
    }

    /// The round has ended as it should, and what it came to is not what was asked for.
    func endBadly(_ reason: String, _ refusal: ServerRefusal? = nil) {
        if self.failure == nil { (self.failure, self.refusal) = (reason, refusal) }
    }

    /// Ends the round with what it has. `refusal`: how the server refused, where it did.
    func giveUp(_ reason: String, _ refusal: ServerRefusal? = nil) {
        self.endBadly(reason, refusal)
        self.enter(.done, at: Clocks.monotonic().nanoseconds)
    }
}

/// Small and seeded: the same bench makes the same changes.
package struct SplitMix: Sendable {
    private var state: UInt64

    package init(seed: UInt64) { self.state = seed }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: self.next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
