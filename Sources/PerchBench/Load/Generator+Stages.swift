import PerchBase
import PerchLoop

// The stages of a round, and the work of each.
extension Generator {
    func begin(at now: Int64) {
        self.enter(.joining, at: now)
        self.measures.nextTick = now + 1_000_000_000
        self.measures.atTick = (now, self.serverFigures?.cpuSeconds ?? 0, ThreadClock.nanoseconds())
    }

    var serverFigures: ProcessFigures? { self.serverProcess.flatMap { ProcessFigures(process: $0) } }

    private var watchers: Range<Int> { self.settings.writers..<self.connections.count }

    func enter(_ stage: Stage, at now: Int64) {
        // `done` is final.
        guard self.stage != .done || stage == .joining else { return }
        let before = self.stage
        self.stage = stage
        self.stageBegan = now
        self.measures.lastProgress = now
        switch stage {
        case .joining:
            self.joining.toConnect = (0..<self.settings.writers).map { (Int32($0), now) }
        case .seeding, .away:
            break
        case .connecting:
            self.measures.memory.baseResident = self.serverFigures?.residentBytes
            self.measures.memory.baseSockets = MachineFigures.socketBytes()
            if self.settings.workload == .storm { self.openWindow(at: now) }
            self.scheduleConnections(at: now)
        case .warming:
            self.schedule.nextDue = now
            self.schedule.scheduled = 0
        case .measuring:
            self.openWindow(at: now)
            if self.settings.workload == .resume { self.scheduleConnections(at: now) }
            if self.settings.workload == .mixed { self.slowDown(true) }
            self.schedule.nextChurn = now
            if self.settings.warmupNanoseconds == 0 { self.schedule.nextDue = now }
        case .settling:
            self.closeWindow(of: before, at: now)
            if self.settings.workload == .mixed { self.slowDown(false) }
        case .done:
            if self.recorder.ended == .max, self.recorder.began != .max { self.closeWindow(of: before, at: now) }
            self.finish(at: now)
        }
    }

    private func scheduleConnections(at now: Int64) {
        let rate = self.settings.workload == .storm ? self.settings.rate : nil
        self.joining.toConnect = self.watchers.enumerated().map { place, index in
            (Int32(index), rate.map { now + Int64(place) * 1_000_000_000 / Int64($0) } ?? 0)
        }
        self.joining.toConnectNext = 0
    }

    private func openWindow(at now: Int64) {
        self.recorder.begin(at: now)
        self.measures.window.serverCPU = self.serverFigures?.cpuSeconds
        self.measures.window.generatorCPU = Double(ThreadClock.nanoseconds()) / 1e9
        self.measures.window.generatorWait = ProcessFigures.threadWaitSeconds()
        self.measures.window.sleeps = ProcessFigures.threadSleeps()
        self.measures.window.idle = self.polling.idleNanoseconds
        self.measures.atTick = (now, self.measures.window.serverCPU ?? 0, ThreadClock.nanoseconds())
        self.measures.nextTick = now + 1_000_000_000
        self.measures.window.counts = self.ledger.counts
    }

    private func closeWindow(of stage: Stage, at now: Int64) {
        self.recorder.end(at: now)
        let figures = self.serverFigures
        if let began = self.measures.window.serverCPU {
            self.measures.window.serverCPU = figures.map { $0.cpuSeconds - began }
        }
        self.measures.window.generatorCPU = Double(ThreadClock.nanoseconds()) / 1e9 - self.measures.window.generatorCPU
        self.measures.window.generatorWait = ProcessFigures.threadWaitSeconds() - self.measures.window.generatorWait
        self.measures.window.sleeps = ProcessFigures.threadSleeps() - self.measures.window.sleeps
        self.measures.window.idle = self.polling.idleNanoseconds - self.measures.window.idle
        if self.settings.workload == .idle || self.settings.workload == .storm { self.measureMemory() }
        self.recorder.converged = self.ledger.counts.converged - self.measures.window.counts.converged
        self.tell(self.tickRecorder(at: now), of: stage, seconds: self.recorder.seconds)
    }

    /// Measures the memory of connections and watches before the load, because changes need memory of their own.
    private func measureMemory() {
        self.measures.memory.resident = self.serverFigures?.residentBytes
        self.measures.memory.sockets = MachineFigures.socketBytes()
    }

    private func finish(at now: Int64) {
        let settings = self.settings
        let isOpen = { (watch: Int) -> Bool in
            let index = settings.writers + Self.connection(of: watch, settings)
            return self.connections[index].phase == .open && self.connections[index].awaited == 0
        }
        // A slow reader reaches the last value later, so an interrupted round must not count it. A reader of copies has no value.
        let isCounted = { (watch: Int) -> Bool in
            let index = settings.writers + Self.connection(of: watch, settings)
            return !settings.readsCopies && isOpen(watch)
                && (self.results.failure == nil || !self.connections[index].wasSlow)
        }
        self.ledger.settle(isOpen: isCounted)
        let isTimed = { (watch: Int) -> Bool in
            !settings.readsCopies && isOpen(watch)
                && !self.connections[settings.writers + Self.connection(of: watch, settings)].wasSlow
        }
        self.countMissed(at: now, isOpen: isTimed)
        if self.recorder.hasNews {
            self.tell(self.tickRecorder(at: now), of: .settling, seconds: self.recorder.seconds)
        }
        if let reason = RoundResult.badEnd(
            closedUnasked: self.results.closedUnasked, closes: self.results.closes, refused: self.recorder.refused,
            due: self.recorder.due, refusals: self.results.refusals)
        {
            self.endBadly(reason, self.results.closedUnasked > 0 ? nil : self.results.lastRefusal)
        } else if let cpu = self.measures.window.serverCPU, let process = self.serverProcess, cpu == 0,
            self.recorder.changes > 0
        {
            self.endBadly(
                "process \(process) used no CPU time during \(self.recorder.changes) changes; is it the server?"
            )
        }
        for index in self.connections.indices { self.drop(index) }
    }

    /// Counts missing events with their waiting time so far.
    private func countMissed(at now: Int64, isOpen: (Int) -> Bool) {
        self.results.lost = self.schedule.awaitedAnswers
        self.countUnopened(at: now)
        for writer in self.writers {
            // Changes by stream, and then those that are answered in order.
            let byStream = writer.changes.filter { $0 >= 0 && !self.ledger.isAnswered($0) }
            for change in byStream + writer.inOrder[writer.inOrderNext...] {
                self.recorder.recordMissedAnswer(intended: self.ledger.intended(change), at: now)
            }
        }
        self.ledger.eachMissed(isOpen: isOpen) { intended, watches in
            self.recorder.recordPush(intended: intended, arrived: now, times: watches)
        }
    }

    private func countUnopened(at now: Int64) {
        let underWay = self.connections.filter { !$0.isWriter && $0.phase != .closed && $0.awaited > 0 }.map(\.intended)
        let notBegun = self.joining.toConnect[self.joining.toConnectNext...].map(\.intended)
        // Without a schedule they had no intended time, so there is no waiting time.
        if self.recorder.began != .max { self.results.unopened = notBegun.count { $0 == 0 } }
        for intended in underWay + notBegun.filter({ $0 > 0 && $0 < now }) where self.recorder.contains(intended) {
            self.results.unopened += 1
            self.recorder.recordMissedFirst(intended: intended, at: now)
        }
    }

    /// The connection of a watch, counted without the writers.
    package static func connection(of watch: Int, _ settings: BenchSettings) -> Int {
        // Connection c has the watches from c·W/C on. This is the inverse, at most one off by rounding.
        var index = Int(Int64(watch) * Int64(settings.connections) / Int64(settings.watches))
        func start(_ index: Int) -> Int { Int(Int64(settings.watches) * Int64(index) / Int64(settings.connections)) }
        while start(index + 1) <= watch { index += 1 }
        while start(index) > watch { index -= 1 }
        return index
    }

    // MARK: An iteration

    func step(at now: Int64) {
        if !self.joining.toConnect.isEmpty { self.connectMore(at: now) }
        switch self.stage {
        case .joining:
            if self.joining.established == self.settings.writers {
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
            now - self.measures.lastProgress > Limits.benchStallMilliseconds * 1_000_000
        {
            self.giveUp("no progress for \(Limits.benchStallMilliseconds / 1_000) s in stage \(self.stage)")
        }
    }

    private var needsSeed: Bool {
        // Redis stores no published messages, so there is no first value.
        if case .redis = self.dialect { return false }
        return self.settings.workload != .catalog && self.settings.workload != .buy
    }

    /// Makes one purchase for each account, 256 at a time.
    private func seed(at now: Int64) {
        while self.schedule.seeded < self.settings.keys, self.schedule.awaitedAnswers < 256 {
            self.change(self.schedule.seeded, intended: now, at: now)
            self.schedule.underWay += 1
            self.schedule.seeded += 1
        }
        if self.schedule.seeded == self.settings.keys, self.schedule.awaitedAnswers == 0 {
            self.enter(.connecting, at: now)
        }
    }

    private func watchConnecting(at now: Int64) {
        guard self.joining.established == self.connections.count, self.hasCounted() else { return }
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
        while self.schedule.scheduled < wanted, self.schedule.awaitedAnswers < 256 {
            self.change(self.schedule.scheduled, intended: now, at: now)
            self.schedule.underWay += 1
            self.schedule.scheduled += 1
        }
        if self.schedule.scheduled == wanted, self.schedule.awaitedAnswers == 0 { self.enter(.measuring, at: now) }
    }

    private func watchReturning(at now: Int64) {
        if self.joining.established == self.connections.count { self.enter(.settling, at: now) }
    }

    private var stageEnd: Int64 {
        switch self.stage {
        case .warming: self.stageBegan + self.settings.warmupNanoseconds
        case .measuring: self.stageBegan + self.settings.durationNanoseconds
        // A server that lags behind is still read: its late values are late, and not gaps.
        case .settling: self.measures.lastProgress + self.settings.settleNanoseconds
        default: .max
        }
    }

    private func load(at now: Int64) {
        let end = self.stageEnd
        guard now < end else {
            // The window starts at its planned time, so that it includes the first scheduled change.
            if self.stage == .warming { return self.enter(.measuring, at: end) }
            if let rate = self.settings.rate, self.settings.workload != .idle { self.endSchedule(rate, at: now) }
            return self.enter(.settling, at: now)
        }
        guard self.settings.workload != .idle else { return }
        if self.settings.churnPerSecond > 0, self.stage == .measuring { self.churn(at: now) }
        if let rate = self.settings.rate {
            self.keepSchedule(rate, at: now)
        } else {
            self.keepOutstanding(at: now)
        }
    }

    /// Open loop: sends what is due, whatever happened to earlier changes.
    private func keepSchedule(_ rate: Int, at now: Int64) {
        var sent = 0
        while self.schedule.nextDue <= min(now, self.stageEnd - 1), sent < Limits.benchChangesPerTurn {
            self.change(self.nextKey(), intended: self.schedule.nextDue, at: now)
            self.schedule.underWay += 1
            self.schedule.scheduled += 1
            sent += 1
            self.schedule.nextDue = self.scheduleBegan + Int64(self.schedule.scheduled) * 1_000_000_000 / Int64(rate)
        }
    }

    /// Sends the rest of the window's due changes late. Changes beyond a limit stay unsent, and count as equally late.
    private func endSchedule(_ rate: Int, at now: Int64) {
        self.keepSchedule(rate, at: now)
        let due = Int((self.stageEnd - 1 - self.scheduleBegan) * Int64(rate) / 1_000_000_000) + 1
        guard due > self.schedule.scheduled else { return }
        self.recorder.recordDue(
            intended: self.schedule.nextDue, at: now, times: UInt64(due - self.schedule.scheduled), isSent: false)
    }

    private var scheduleBegan: Int64 {
        if self.stage == .warming || self.settings.warmupNanoseconds == 0 { return self.stageBegan }
        return self.stageBegan - self.settings.warmupNanoseconds
    }

    /// Closed loop: a change ends when all its watchers have seen it, or a newer one.
    private func keepOutstanding(at now: Int64) {
        self.schedule.underWay -= self.ledger.convergedNow
        self.ledger.convergedNow = 0
        var sent = 0
        while self.schedule.underWay < self.settings.outstanding, sent < Limits.benchChangesPerTurn {
            guard let key = self.nextFreeKey() else { break }
            self.change(key, intended: now, at: now)
            self.schedule.underWay += 1
            sent += 1
        }
    }

    /// For `buy`, a key of a writer without an open change: each writer waits for its answer.
    private func nextFreeKey() -> Int? {
        guard self.settings.watches == 0 else { return self.nextKey() }
        guard let writer = self.writers.indices.first(where: { self.writers[$0].underWay == 0 }) else { return nil }
        let count = (self.settings.keys - writer + self.writers.count - 1) / self.writers.count
        return writer + self.writers.count * self.schedule.random.below(count)
    }

    private func settle(at now: Int64) {
        self.schedule.underWay -= self.ledger.convergedNow
        self.ledger.convergedNow = 0
        let isQuiet = self.schedule.awaitedAnswers == 0 && (self.schedule.underWay <= 0 || self.settings.watches == 0)
        guard isQuiet || now >= self.stageEnd else { return }
        if self.schedule.awaitedAnswers > 0 {
            return self.giveUp(
                "\(self.schedule.awaitedAnswers) changes had no answer when the server had sent nothing for "
                    + duration(nanoseconds: Double(self.settings.settleNanoseconds)))
        }
        if now >= self.stageEnd || self.hasCounted() { self.enter(.done, at: now) }
    }

    // MARK: Mixed

    private func churn(at now: Int64) {
        while self.schedule.nextChurn <= now {
            let index = self.settings.writers + self.schedule.random.below(self.settings.connections)
            if self.connections[index].phase == .open, self.connections[index].awaited == 0 {
                self.drop(index)
                self.joining.toConnect.append((Int32(index), self.schedule.nextChurn))
            }
            self.schedule.nextChurn += 1_000_000_000 / Int64(self.settings.churnPerSecond)
        }
    }

    /// Makes some connections stop reading, spread over all.
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

    /// Whether work is due before any event, so the loop must not sleep.
    func isBehind(at now: Int64) -> Bool {
        if self.settings.rate != nil, self.stage == .warming || self.stage == .measuring, self.schedule.nextDue <= now,
            self.settings.workload != .storm, self.settings.workload != .resume
        {
            return true
        }
        return self.stageEnd <= now
    }

    var nextDeadline: Int64 {
        var next = self.stageEnd
        let isLoading = self.stage == .warming || self.stage == .measuring
        if isLoading, self.settings.rate != nil { next = min(next, self.schedule.nextDue) }
        if self.stage == .measuring, self.settings.churnPerSecond > 0 { next = min(next, self.schedule.nextChurn) }
        if self.joining.toConnectNext < self.joining.toConnect.count,
            self.joining.handshaking < self.settings.handshakes
        {
            next = min(next, self.joining.toConnect[self.joining.toConnectNext].intended)
        }
        return max(next, 1)
    }

    func tick(at now: Int64) {
        self.measures.nextTick = now + 1_000_000_000
        self.tell(self.tickRecorder(at: now), of: self.stage, seconds: Double(now - self.stageBegan) / 1e9)
    }

    private func tell(_ interval: Recorder.Interval, of stage: Stage, seconds: Double) {
        self.progress(
            Progress(stage: "\(stage)", seconds: seconds, connections: self.joining.established, interval: interval))
    }

    private func tickRecorder(at now: Int64) -> Recorder.Interval {
        let figures = self.serverFigures
        let generator = ThreadClock.nanoseconds()
        let elapsed = Double(max(1, now - self.measures.atTick.time))
        let serverCPU = ((figures?.cpuSeconds ?? 0) - self.measures.atTick.serverCPU) * 1e9 / elapsed
        let generatorCPU = Double(generator - self.measures.atTick.generatorCPU) / elapsed
        self.measures.atTick = (now, figures?.cpuSeconds ?? 0, generator)
        // Events after the window are reported once, at the end.
        let isInWindow = self.recorder.ended == .max || self.recorder.ended == now
        guard self.recorder.began != .max, isInWindow || self.stage == .done else { return Recorder.Interval() }
        self.recorder.tick(
            at: now, residentBytes: figures?.residentBytes ?? 0, serverCPU: max(0, serverCPU),
            generatorCPU: generatorCPU)
        return self.recorder.intervals[self.recorder.intervals.count - 1]
    }
}
