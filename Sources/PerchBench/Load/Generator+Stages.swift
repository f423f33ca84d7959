import PerchBase
import PerchLoop

// From one stage to the next, and what each does in a turn.
extension Generator {
    func begin(at now: Int64) {
        self.enter(.joining, at: now)
        self.nextTick = now + 1_000_000_000
        self.atTick = (now, self.serverFigures?.cpuSeconds ?? 0, ThreadClock.nanoseconds())
    }

    var serverFigures: ProcessFigures? { self.serverProcess.flatMap { ProcessFigures(process: $0) } }

    private var watchers: Range<Int> { self.settings.writers..<self.connections.count }

    func enter(_ stage: Stage, at now: Int64) {
        // The end is the end.
        guard self.stage != .done || stage == .joining else { return }
        self.stage = stage
        self.stageBegan = now
        self.lastProgress = now
        switch stage {
        case .joining:
            self.toConnect = (0..<self.settings.writers).map { (Int32($0), now) }
        case .seeding, .away:
            break
        case .connecting:
            self.memory.baseResident = self.serverFigures?.residentBytes ?? 0
            self.memory.baseSockets = MachineFigures.socketBytes()
            if self.settings.workload == .storm { self.openWindow(at: now) }
            self.scheduleConnections(at: now)
        case .warming:
            self.nextDue = now
            self.scheduled = 0
        case .measuring:
            self.openWindow(at: now)
            if self.settings.workload == .resume { self.scheduleConnections(at: now) }
            if self.settings.workload == .mixed { self.slowDown(true) }
            self.nextChurn = now
            if self.settings.warmupNanoseconds == 0 { self.nextDue = now }
        case .settling:
            self.closeWindow(at: now)
            if self.settings.workload == .mixed { self.slowDown(false) }
        case .done:
            if self.recorder.ended == .max, self.recorder.began != .max { self.closeWindow(at: now) }
            self.finish()
        }
    }

    private func scheduleConnections(at now: Int64) {
        let rate = self.settings.workload == .storm ? self.settings.rate : nil
        self.toConnect = self.watchers.enumerated().map { place, index in
            (Int32(index), rate.map { now + Int64(place) * 1_000_000_000 / Int64($0) } ?? 0)
        }
        self.toConnectNext = 0
    }

    private func openWindow(at now: Int64) {
        self.recorder.begin(at: now)
        self.window.serverCPU = self.serverFigures?.cpuSeconds ?? 0
        self.window.generatorCPU = Double(ThreadClock.nanoseconds()) / 1e9
        self.atTick = (now, self.window.serverCPU, ThreadClock.nanoseconds())
        self.nextTick = now + 1_000_000_000
        self.windowCounts = self.ledger.counts
    }

    private func closeWindow(at now: Int64) {
        self.recorder.end(at: now)
        let figures = self.serverFigures
        self.window.serverCPU = (figures?.cpuSeconds ?? 0) - self.window.serverCPU
        self.window.generatorCPU = Double(ThreadClock.nanoseconds()) / 1e9 - self.window.generatorCPU
        if self.settings.workload == .idle || self.settings.workload == .storm { self.measureMemory() }
        self.recorder.converged = self.ledger.counts.converged - self.windowCounts.converged
        self.tickRecorder(at: now)
    }

    /// What connections and watches have cost: before any change is made under load, which costs memory of its own.
    private func measureMemory() {
        self.memory.resident = self.serverFigures?.residentBytes ?? 0
        self.memory.sockets = MachineFigures.socketBytes()
    }

    private func finish() {
        let settings = self.settings
        self.ledger.settle { watch in
            let index = settings.writers + Self.connection(of: watch, settings)
            return self.connections[index].phase == .open && self.connections[index].awaited == 0
        }
        for index in self.connections.indices { self.drop(index) }
    }

    /// The connection that a watch is on, counted without the writers.
    package static func connection(of watch: Int, _ settings: BenchSettings) -> Int {
        // Connection c has the watches from c·W/C on: the inverse, off by one at most where that is rounded.
        var index = Int(Int64(watch) * Int64(settings.connections) / Int64(settings.watches))
        func start(_ index: Int) -> Int { Int(Int64(settings.watches) * Int64(index) / Int64(settings.connections)) }
        while start(index + 1) <= watch { index += 1 }
        while start(index) > watch { index -= 1 }
        return index
    }

    // MARK: A turn

    func step(at now: Int64) {
        if !self.toConnect.isEmpty { self.connectMore(at: now) }
        switch self.stage {
        case .joining:
            if self.established == self.settings.writers {
                self.enter(self.needsSeed ? .seeding : .connecting, at: now)
            }
        case .seeding: self.seed(at: now)
        case .connecting: self.watchConnecting(at: now)
        case .away: self.changeWhileAway(at: now)
        case .warming, .measuring:
            if self.settings.workload == .resume, self.stage == .measuring {
                self.watchReturning(at: now)
            } else {
                self.load(at: now)
            }
        case .settling: self.settle(at: now)
        case .done: break
        }
        if self.stage < .settling, self.stage != .measuring || self.settings.workload != .idle,
            now - self.lastProgress > Limits.benchStallMilliseconds * 1_000_000
        {
            self.giveUp("nothing has come for \(Limits.benchStallMilliseconds / 1_000) s while \(self.stage)")
        }
    }

    private var needsSeed: Bool {
        // What Redis publishes is kept nowhere: there is nothing to begin with.
        if case .redis = self.dialect { return false }
        return self.settings.workload != .catalog && self.settings.workload != .buy
    }

    /// One purchase of each account, 256 under way.
    private func seed(at now: Int64) {
        while self.seeded < self.settings.keys, self.awaitedAnswers < 256 {
            self.change(self.seeded, intended: now, at: now)
            self.underWay += 1
            self.seeded += 1
        }
        if self.seeded == self.settings.keys, self.awaitedAnswers == 0 { self.enter(.connecting, at: now) }
    }

    private func watchConnecting(at now: Int64) {
        guard self.established == self.connections.count, self.hasCounted() else { return }
        self.measureMemory()
        switch self.settings.workload {
        case .storm: self.enter(.settling, at: now)
        case .resume:
            for index in self.watchers { self.drop(index) }
            self.enter(.away, at: now)
        case .idle: self.enter(.measuring, at: now)
        default: self.enter(self.settings.warmupNanoseconds > 0 ? .warming : .measuring, at: now)
        }
    }

    private func changeWhileAway(at now: Int64) {
        let wanted = self.settings.keys * self.settings.changedPercent / 100
        while self.scheduled < wanted, self.awaitedAnswers < 256 {
            self.change(self.scheduled, intended: now, at: now)
            self.underWay += 1
            self.scheduled += 1
        }
        if self.scheduled == wanted, self.awaitedAnswers == 0 { self.enter(.measuring, at: now) }
    }

    private func watchReturning(at now: Int64) {
        if self.established == self.connections.count { self.enter(.settling, at: now) }
    }

    private var stageEnd: Int64 {
        switch self.stage {
        case .warming: self.stageBegan + self.settings.warmupNanoseconds
        case .measuring: self.stageBegan + self.settings.durationNanoseconds
        // A server that is behind goes on being heard: what it still says is late, and no gap.
        case .settling: self.lastProgress + self.settings.settleNanoseconds
        default: .max
        }
    }

    private func load(at now: Int64) {
        if now >= self.stageEnd {
            self.enter(self.stage == .warming ? .measuring : .settling, at: now)
            return
        }
        guard self.settings.workload != .idle else { return }
        if self.settings.churnPerSecond > 0, self.stage == .measuring { self.churn(at: now) }
        if let rate = self.settings.rate {
            self.keepSchedule(rate, at: now)
        } else {
            self.keepOutstanding(at: now)
        }
    }

    /// Open loop: what is due is sent, whatever has become of what was sent before.
    private func keepSchedule(_ rate: Int, at now: Int64) {
        var sent = 0
        while self.nextDue <= now, sent < Limits.benchChangesPerTurn {
            self.change(self.nextKey(), intended: self.nextDue, at: now)
            self.underWay += 1
            self.scheduled += 1
            sent += 1
            self.nextDue = self.scheduleBegan + Int64(self.scheduled) * 1_000_000_000 / Int64(rate)
        }
    }

    private var scheduleBegan: Int64 {
        if self.stage == .warming || self.settings.warmupNanoseconds == 0 { return self.stageBegan }
        return self.stageBegan - self.settings.warmupNanoseconds
    }

    /// Closed loop: a change is over when all its watchers have seen it, or something newer.
    private func keepOutstanding(at now: Int64) {
        self.underWay -= self.ledger.convergedNow
        self.ledger.convergedNow = 0
        var sent = 0
        while self.underWay < self.settings.outstanding, sent < Limits.benchChangesPerTurn {
            guard let key = self.nextFreeKey() else { break }
            self.change(key, intended: now, at: now)
            self.underWay += 1
            sent += 1
        }
    }

    /// Of `buy`, a key of a writer that has nothing under way: each waits for its answer.
    private func nextFreeKey() -> Int? {
        guard self.settings.watches == 0 else { return self.nextKey() }
        guard let writer = self.writers.indices.first(where: { self.writers[$0].underWay == 0 }) else { return nil }
        let count = (self.settings.keys - writer + self.writers.count - 1) / self.writers.count
        return writer + self.writers.count * self.random.below(max(1, count))
    }

    private func settle(at now: Int64) {
        self.underWay -= self.ledger.convergedNow
        self.ledger.convergedNow = 0
        let isQuiet = self.awaitedAnswers == 0 && (self.underWay <= 0 || self.settings.watches == 0)
        guard isQuiet || now >= self.stageEnd else { return }
        if now >= self.stageEnd || self.hasCounted() { self.enter(.done, at: now) }
    }

    // MARK: Mixed

    private func churn(at now: Int64) {
        while self.nextChurn <= now {
            let index = self.settings.writers + self.random.below(self.settings.connections)
            if self.connections[index].phase == .open, self.connections[index].awaited == 0 {
                self.drop(index)
                self.toConnect.append((Int32(index), self.nextChurn))
            }
            self.nextChurn += 1_000_000_000 / Int64(self.settings.churnPerSecond)
        }
    }

    /// Connections that do not read, spread over all.
    private func slowDown(_ isSlow: Bool) {
        let count = self.settings.connections * self.settings.slowPercent / 100
        for place in 0..<count {
            let index = self.settings.writers + place * self.settings.connections / count
            self.connections[index].isSlow = isSlow && self.connections[index].phase == .open
            self.connections[index].wasSlow = true
            if self.connections[index].phase == .open { self.setInterest(index) }
        }
    }

    // MARK: Time

    /// There is something to do before anything comes: do not sleep.
    func isBehind(at now: Int64) -> Bool {
        if self.settings.rate != nil, self.stage == .warming || self.stage == .measuring, self.nextDue <= now,
            self.settings.workload != .storm, self.settings.workload != .resume
        {
            return true
        }
        return self.stageEnd <= now
    }

    var nextDeadline: Int64 {
        var next = self.stageEnd
        let isLoading = self.stage == .warming || self.stage == .measuring
        if isLoading, self.settings.rate != nil { next = min(next, self.nextDue) }
        if self.stage == .measuring, self.settings.churnPerSecond > 0 { next = min(next, self.nextChurn) }
        if self.toConnectNext < self.toConnect.count, self.handshaking < self.settings.handshakes {
            next = min(next, self.toConnect[self.toConnectNext].intended)
        }
        return max(next, 1)
    }

    func tick(at now: Int64) {
        self.nextTick = now + 1_000_000_000
        let interval = self.tickRecorder(at: now)
        self.progress(
            Progress(
                stage: "\(self.stage)", seconds: Double(now - self.stageBegan) / 1e9, connections: self.established,
                interval: interval))
    }

    @discardableResult
    private func tickRecorder(at now: Int64) -> Recorder.Interval {
        let figures = self.serverFigures
        let generator = ThreadClock.nanoseconds()
        let elapsed = Double(max(1, now - self.atTick.time))
        let serverCPU = ((figures?.cpuSeconds ?? 0) - self.atTick.serverCPU) * 1e9 / elapsed
        let generatorCPU = Double(generator - self.atTick.generatorCPU) / elapsed
        self.atTick = (now, figures?.cpuSeconds ?? 0, generator)
        guard self.recorder.began != .max, self.recorder.ended == .max || self.recorder.ended == now else {
            return Recorder.Interval()
        }
        self.recorder.tick(
            at: now, residentBytes: figures?.residentBytes ?? 0, serverCPU: max(0, serverCPU),
            generatorCPU: generatorCPU)
        return self.recorder.intervals[self.recorder.intervals.count - 1]
    }
}
