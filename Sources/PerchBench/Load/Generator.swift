package import PerchBase
package import PerchLoop
import PerchScenario
import PerchWire

/// Runs one round on one thread: connects, watches, makes changes and measures.
///
///     joining ─▶ seeding ─▶ connecting ─▶ [away] ─▶ warming ─▶ measuring ─▶ settling ─▶ done
///
/// It drives an `EventLoop`, like the server. One thread must keep up with a server, so connections and watches are
/// plain structs in arrays, frames are read in place, and calls are copies of one encoded call.
///
/// Not `Sendable`: it belongs to the thread that runs its loop. Read `outcome` after the loop has ended.
package final class Generator: LoopDriver {
    enum Stage: Int, Comparable {
        /// Writers connect.
        case joining
        /// Each account gets a first purchase, so that its watchers have a value.
        case seeding
        case connecting
        /// In `resume`: no watcher is connected, and some accounts change.
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
        /// Does not read at present.
        var isSlow = false
        /// Paused reading for a while, so its late values are not the server's fault.
        var wasSlow = false
        /// Whether it was open before, so that its watches resume with their tokens.
        var isReturning = false
        var firstWatch: Int32 = 0
        var watchCount: Int32 = 0
        /// First messages that have not arrived yet.
        var awaited: Int32 = 0
        /// The planned time of connecting.
        var intended: Int64 = 0
    }

    /// The open changes of a writer: the change of each of its streams.
    struct Writer {
        var changes: [Int32] = [-1]
        var free: [UInt32] = []
        var out: [UInt8] = []
        var underWay = 0
        /// Open changes where answers arrive in order without a number, as in Redis.
        var inOrder: [Int32] = []
        var inOrderNext = 0
    }

    package static let interrupted = "interrupted by the user"
    package enum Dialect: Sendable {
        case perch(BenchTransport)
        /// RESP with publish and subscribe, and values of the given size. `runsScript`: a change calls the function `buy`,
        /// which publishes.
        case redis(valueBytes: Int, runsScript: Bool)
    }

    static let timerTag: UInt64 = 1 << 63

    let settings: BenchSettings
    let address: SocketAddress
    let loop: EventLoop
    let timer: PreciseTimer
    let codec = MessageCodec()
    let requests: Requests
    let serverProcess: Int32?
    /// Whether the server may share the generator's core, so that waiting for the core is expected. Set before the loop
    /// runs.
    var sharesCore = false
    /// The protocol of the server.
    let dialect: Dialect
    /// Nil for plaintext.
    var secure: SecureConnections?
    let progress: (Progress) -> Void
    /// Called once an iteration: whether the user wants to stop.
    let isInterrupted: () -> Bool

    // Writers first, then watchers.
    var connections: [Connection]
    var writers: [Writer]
    var ledger: Ledger
    var recorder = Recorder()
    var stage = Stage.joining
    var stageBegan: Int64 = 0

    /// Empty without gRPC.
    var http2 = HTTP2State()
    var input = Input()
    var joining = Joining()
    var schedule: Schedule
    var results = Results()
    var measures = Measures()
    private(set) var polling = Polling()

    /// What was read and written in part.
    struct Input {
        let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.benchReadBytes, alignment: 16)
        /// The start of an incomplete frame, by connection.
        var partials: [Int32: [UInt8]] = [:]
        /// Bytes that the kernel has not accepted, by connection.
        var unsent: [Int32: [UInt8]] = [:]
        /// The last compressed message and its content, because watchers of one view get the same bytes.
        var lastInflated: (bytes: [UInt8], plain: [UInt8], scan: PushScan) = ([], [], PushScan())
    }

    struct Joining {
        /// Connections to open, each with its planned time.
        var toConnect: [(connection: Int32, intended: Int64)] = []
        var toConnectNext = 0
        var handshaking = 0
        /// Connections whose watches have all received their first message.
        var established = 0
        /// The resume token of each watch, if tokens are needed.
        var tokens: [[UInt8]] = []
    }

    struct Schedule {
        var random: SplitMix64
        var nextDue: Int64 = 0
        var scheduled = 0
        var underWay = 0
        var seeded = 0
        var edition = 0
        var nextChurn: Int64 = 0
        /// Changes that must be answered before the stage ends.
        var awaitedAnswers = 0
    }

    struct Results {
        var refusals: [String: Int] = [:]
        var closes: [String: Int] = [:]
        var unchanged: UInt64 = 0
        /// Bytes of the last value and of the last answer.
        var messageLengths = (value: 0, answer: 0)
        var counting = Counting()
        var failure: String?
        /// The server's refusal, if that is the failure.
        var refusal: ServerRefusal?
        /// The last refusal of a change.
        var lastRefusal: ServerRefusal?
        /// Watcher connections that the server closed although they had read all data.
        var closedUnasked = 0
        /// Connections planned in the window that had no first values when the round ended.
        var unopened = 0
        /// Changes without an answer when the round ended.
        var lost = 0
    }

    struct Measures {
        var window = Window()
        var memory = Memory()
        var atTick = (time: Int64(0), serverCPU: 0.0, generatorCPU: Int64(0))
        var nextTick: Int64 = 0
        var lastProgress: Int64 = 0
    }

    /// Values at the start of the window, and then those of the window.
    struct Window {
        /// CPU seconds; nil if the server's process cannot be read.
        var serverCPU: Double?
        var generatorCPU = 0.0
        /// Seconds that the generator waited for a busy core.
        var generatorWait = 0.0
        /// How often the generator slept.
        var sleeps = 0
        /// Nanoseconds in which a polling generator found nothing to do.
        var idle: Int64 = 0
        var counts = Ledger.Counts()
    }

    struct Polling {
        var idleNanoseconds: Int64 = 0
        /// Whether something happened since the last iteration.
        var hadEvents = false
        var turnEnded: Int64 = 0
    }

    struct Memory {
        var baseResident: Int?
        var baseSockets = 0
        var resident: Int?
        var sockets = 0
    }

    /// Progress of a running round.
    package struct Progress: Sendable {
        package var stage: String
        /// Seconds since the stage began.
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
        dialect: Dialect = .perch(.perch), loop: EventLoop,
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
        self.requests = try Requests(settings, access, dialect.transport, self.codec)
        self.secure = access.tls.map { SecureConnections($0) }
        self.schedule = Schedule(random: SplitMix64(seed: settings.seed))
        let isAboutProducts = settings.workload == .catalog
        // The catalogue is the key after the accounts.
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
        if dialect.isGRPC { self.http2 = HTTP2State(connections: self.connections.count, watches: settings.watches) }
        if settings.workload == .resume || settings.workload == .mixed {
            self.joining.tokens = Array(repeating: [], count: settings.watches)
        }
        self.recorder.isAboutFirsts = settings.workload == .storm || settings.workload == .resume
    }

    deinit {
        self.secure?.endAll()
        self.input.readBuffer.deallocate()
    }

    /// The key of watch `index`. In `mixed`, two of ten watches follow account 0, one follows the products, and seven
    /// follow their own accounts.
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
        self.polling.hadEvents = true
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
        if self.isPolling, !self.polling.hadEvents { self.polling.idleNanoseconds += now - self.polling.turnEnded }
        self.polling.hadEvents = false
        if self.isInterrupted() { self.giveUp(Generator.interrupted) }
        // A new stage may have work at once, and no event may wake the loop.
        var before: Stage
        repeat {
            before = self.stage
            self.step(at: now)
        } while self.stage != before && self.stage != .done
        self.flushWriters()
        // Reading and sending in this iteration took time.
        now = Clocks.monotonic().nanoseconds
        if self.stage == .done {
            self.loop.stop()
            return nil
        }
        if now >= self.measures.nextTick { self.tick(at: now) }
        self.polling.turnEnded = now
        if self.isPolling || self.isBehind(at: now) { return MonotonicTime(nanoseconds: now) }
        self.timer.set(MonotonicTime(nanoseconds: min(self.nextDeadline, self.measures.nextTick)))
        return nil
    }

    private var isPolling: Bool { self.settings.polls && (self.stage == .warming || self.stage == .measuring) }

    /// Marks a round as failed although it ran to its end.
    func endBadly(_ reason: String, _ refusal: ServerRefusal? = nil) {
        if self.results.failure == nil { (self.results.failure, self.results.refusal) = (reason, refusal) }
    }

    /// Ends the round with its results so far. `refusal` is the server's refusal, if any.
    func giveUp(_ reason: String, _ refusal: ServerRefusal? = nil) {
        self.endBadly(reason, refusal)
        self.enter(.done, at: Clocks.monotonic().nanoseconds)
    }
}
