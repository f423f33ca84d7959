package import PerchBase
package import PerchLoop
import PerchModel
import PerchScenario
import PerchWire

/// One round of a scenario. Many accounts repeat the first account's actions line by line, and must receive the same
/// data.
///
///     joining ─▶ the head: catalogue, settings, clock, streams ─▶ line ─▶ line ─▶ … ─▶ ending ─▶ done
///
/// An app has one clock, so all accounts are at the same line. Each line starts one account after the other by a fixed
/// schedule. The next line begins when all accounts have their expected data. A line about the app runs once, and all
/// accounts wait for its results.
///
/// Belongs to the thread that runs its loop. Each account has its own connection, like a real app.
package final class ScenarioLoad: LoopDriver {
    struct Link {
        enum Phase: UInt8 { case closed, connecting, greeting, open }

        var socket: Int32 = -1
        var phase = Phase.closed
        var decoder = FrameDecoder()
        var unsent: [UInt8] = []
        /// The purpose of each stream.
        var targets: [Target] = [.none]
        var free: [UInt32] = []
        var clientID: [UInt8]
    }

    enum Target: Equatable {
        case none
        /// A request of the app.
        case common
        case ask(player: Int)
        case watch(Int)
    }

    struct Player {
        enum State: UInt8 { case waiting, busy, done, failed }

        var likeness = Likeness()
        var watches: [Watching]
        var state = State.waiting
        var askIndex = 0
        /// The planned start of its open request.
        var asked: Int64 = 0
        /// The planned start of its line.
        var intended: Int64 = 0
        /// Streams with outstanding data.
        var missing = 0
    }

    struct Watching {
        /// 0 if closed.
        var stream: UInt32 = 0
        /// Number of this line's expected values that have arrived.
        var progress = 0
        var hasValue = false
        /// The last value that matched no expected one.
        var unlike: Response?
    }

    static let timerTag: UInt64 = 1 << 63

    let program: ScenarioProgram
    let settings: BenchSettings
    let address: SocketAddress
    let loop: EventLoop
    let timer: PreciseTimer
    let codec = MessageCodec()
    let serverProcess: Int32?
    let progress: (Generator.Progress) -> Void
    let isInterrupted: () -> Bool
    let storeCount: Int
    /// As in `Generator`.
    var sharesCore = false

    // The store's links first, then one for each player.
    var links: [Link]
    var players: [Player]
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.benchReadBytes, alignment: 16)
    var recorder = Recorder()

    var passing = Passing()
    var results = Results()
    var measures = Measures()
    var isDone = false

    /// How far the players are.
    struct Passing {
        var nextLink = 0
        var handshaking = 0
        var passage = -1
        var passageBegan: Int64 = 0
        var commonIndex = 0
        var nextPlayer = 0
        var nextDue: Int64 = 0
        var settled = 0
        var pongs = 0
        var isEnding = false
        /// The server's latest known position. Later streams start at it.
        var reached = Position(revision: 0, asOf: .distantPast)
        /// The position at the start of the line. Values that are not newer belong to an earlier line.
        var floor = Position(revision: 0, asOf: .distantPast)
    }

    struct Results {
        var failure: String?
        var refusals: [String: Int] = [:]
        var findings: [String] = []
        var failed = 0
        var conflated = 0
        var valueBytes = 0
    }

    struct Measures {
        /// CPU seconds: at the start, then in total.
        var usage = (serverCPU: 0.0, generatorCPU: 0.0, generatorWait: 0.0)
        var memory = (base: 0, grown: 0)
        var atTick = (time: Int64(0), serverCPU: 0.0, generatorCPU: Int64(0))
        var nextTick: Int64 = 0
        var lastProgress: Int64 = 0
    }

    package init(
        _ program: ScenarioProgram, _ settings: BenchSettings, address: SocketAddress, serverProcess: Int32?,
        loop: EventLoop, isInterrupted: @escaping () -> Bool = { false },
        progress: @escaping (Generator.Progress) -> Void
    ) throws(SystemError) {
        self.program = program
        self.settings = settings
        self.address = address
        self.loop = loop
        self.serverProcess = serverProcess
        self.isInterrupted = isInterrupted
        self.progress = progress
        self.timer = try PreciseTimer(on: loop.poller, tag: Self.timerTag)
        self.storeCount = Limits.benchStoreConnections
        let watches = Array(repeating: Watching(), count: program.keys.count)
        self.players = Array(repeating: Player(watches: watches), count: settings.keys)
        self.links = (0..<Limits.benchStoreConnections + settings.keys).map { index in
            // Any number that no other client of this server uses.
            Link(clientID: Array("perch.scen.".utf8) + (0..<5).map { UInt8(truncatingIfNeeded: index >> (8 * $0)) })
        }
    }

    deinit { self.readBuffer.deallocate() }

    // MARK: LoopDriver

    package func ready(tag: UInt64, readable: Bool, writable: Bool, hungUp: Bool) {
        if tag == Self.timerTag {
            self.timer.clear()
            return
        }
        let link = Int(tag)
        guard self.links[link].phase != .closed else { return }
        if self.links[link].phase == .connecting {
            if writable || hungUp { self.connectEnded(link) }
            return
        }
        if writable { self.sendUnsent(link) }
        if readable || hungUp { self.receive(link) }
    }

    package func turn(now: MonotonicTime) -> MonotonicTime? {
        var now = now.nanoseconds
        if self.measures.nextTick == 0 { self.begin(at: now) }
        if self.isInterrupted() { self.giveUp(Generator.interrupted) }
        self.step(at: now)
        now = Clocks.monotonic().nanoseconds
        if self.isDone {
            self.finish(at: now)
            self.loop.stop()
            return nil
        }
        if now >= self.measures.nextTick { self.tick(at: now) }
        if self.hasDue, self.passing.nextDue <= now { return MonotonicTime(nanoseconds: now) }
        var next = self.hasDue ? min(self.passing.nextDue, self.measures.nextTick) : self.measures.nextTick
        let patience = self.measures.lastProgress + self.settings.settleNanoseconds + 1
        if self.passing.passage >= 0, patience > now { next = min(next, patience) }
        self.timer.set(MonotonicTime(nanoseconds: next))
        return nil
    }

    func giveUp(_ reason: String) {
        if self.results.failure == nil { self.results.failure = reason }
        self.isDone = true
    }

    private func begin(at now: Int64) {
        self.measures.lastProgress = now
        self.measures.nextTick = now + 1_000_000_000
        let figures = self.serverFigures
        self.measures.memory.base = figures?.residentBytes ?? 0
        self.measures.atTick = (now, figures?.cpuSeconds ?? 0, ThreadClock.nanoseconds())
        self.measures.usage = (
            figures?.cpuSeconds ?? 0, Double(ThreadClock.nanoseconds()) / 1e9, ProcessFigures.threadWaitSeconds()
        )
        self.recorder.begin(at: now)
    }

    private func finish(at now: Int64) {
        self.recorder.end(at: now)
        let figures = self.serverFigures
        self.measures.usage.serverCPU = (figures?.cpuSeconds ?? 0) - self.measures.usage.serverCPU
        self.measures.usage.generatorCPU = Double(ThreadClock.nanoseconds()) / 1e9 - self.measures.usage.generatorCPU
        self.measures.usage.generatorWait = ProcessFigures.threadWaitSeconds() - self.measures.usage.generatorWait
        self.measures.memory.grown = max(0, (figures?.residentBytes ?? 0) - self.measures.memory.base)
        self.tickRecorder(at: now)
        for link in self.links.indices where self.links[link].phase != .closed {
            Sockets.reset(self.links[link].socket)
            self.links[link].phase = .closed
        }
    }

    var serverFigures: ProcessFigures? { self.serverProcess.flatMap { ProcessFigures(process: $0) } }

    private func tick(at now: Int64) {
        self.measures.nextTick = now + 1_000_000_000
        let interval = self.tickRecorder(at: now)
        let open = self.links.count { $0.phase == .open }
        let stage =
            self.passing.passage < 0 || self.passing.passage >= self.program.passages.count
            ? "connections" : "line \(self.program.passages[self.passing.passage].line)"
        self.progress(
            Generator.Progress(
                stage: stage, seconds: Double(now - self.passing.passageBegan) / 1e9, connections: open,
                interval: interval))
    }

    @discardableResult
    private func tickRecorder(at now: Int64) -> Recorder.Interval {
        let figures = self.serverFigures
        let generator = ThreadClock.nanoseconds()
        let elapsed = Double(max(1, now - self.measures.atTick.time))
        let serverCPU = ((figures?.cpuSeconds ?? 0) - self.measures.atTick.serverCPU) * 1e9 / elapsed
        self.recorder.tick(
            at: now, residentBytes: figures?.residentBytes ?? 0, serverCPU: max(0, serverCPU),
            generatorCPU: Double(generator - self.measures.atTick.generatorCPU) / elapsed)
        self.measures.atTick = (now, figures?.cpuSeconds ?? 0, generator)
        return self.recorder.intervals[self.recorder.intervals.count - 1]
    }
}
