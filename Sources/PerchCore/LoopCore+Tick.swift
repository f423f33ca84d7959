import PerchBase
import PerchModel
import PerchStore
import PerchWire

// A tick: who acts when.
extension LoopCore {
    /// Begins a tick. `now` never runs backwards, on either clock.
    package mutating func begin(_ now: Moment) {
        assert(now.monotonic >= self.tables.now.monotonic && now.wall >= self.tables.now.wall, "a clock ran backwards")
        self.tables.now = now
        self.tables.counters.turns += 1
        self.transport.work.begin()
        self.service.beginTick()
    }

    /// Ends the input of a tick: handles due timers, and computes every listed view once.
    package mutating func endInput() {
        self.runTimers()
        self.service.wakeWaiters(&self.tables, &self.views, &self.transport)
        self.views.askForCopies(&self.tables, &self.transport)
        self.views.askForAppChanges(&self.tables, &self.transport)
        self.views.sweepOn(&self.tables)
        self.transport.tellHealth(&self.tables)
        let answered = self.transport.listedConnections.count
        self.views.computeViews(&self.tables, &self.transport)
        self.transport.putWatchersFirst(after: answered)
        self.transport.releaseGroups(&self.tables, &self.views)
    }

    private mutating func runTimers() {
        while let due = self.tables.deadlines.popDue(at: self.tables.now.monotonic) {
            self.transport.expired(due.payload, &self.tables, &self.views, &self.service)
        }
        self.service.endExpiredIdentities(&self.tables, &self.views, &self.transport)
        self.views.retryLoads(&self.tables)
        self.service.lookForApps(&self.tables)
        self.views.raiseDueCrossings(&self.tables, &self.transport)
        self.transport.runBeats(&self.tables, &self.views, &self.service)
    }

    /// Heartbeats vouch for a position. They pause while the store of several nodes is out of reach, and are sent then. Reads are refused
    /// meanwhile, those too that the store's thread has, because it may be waiting for a database that confirms nothing.
    package mutating func vouches(_ isFresh: Bool) {
        let ends = self.tables.vouches && !isFresh
        self.tables.vouches = isFresh
        guard ends else { return }
        self.service.endAppSearch(&self.tables, &self.views, &self.transport)
        for place in 0..<self.tables.tickets.extent where self.tables.tickets.isTaken(place) {
            guard case .call(let call, let generation) = self.tables.tickets[place],
                self.tables.calls.isTaken(call, generation: generation), self.tables.calls[call].method.isSafe,
                self.service.pendingCall(call, self.tables)?.asksStore == true
            else { continue }
            self.transport.holdPlace(of: call, &self.tables, &self.views)
            self.service.end(call, Service.outOfReach, &self.tables, &self.views, &self.transport)
        }
    }

    /// Whether an answer of the store is awaited.
    package var awaitsStore: Bool { self.tables.tickets.count > 0 }

    /// Ends a tick: reports barriers that are reached. Returns when to step the core again, in milliseconds of the
    /// monotonic clock; nil: at the next event.
    package mutating func endTurn() -> Int64? {
        self.views.reportBarriers(&self.tables)
        self.transport.forgetWelcome(&self.tables)
        self.transport.forgetBookmark(&self.tables)
        self.views.forgetEncodedChanges(&self.tables)
        self.views.forgetEncodedBatches(&self.tables)
        if !self.transport.pausedInputs.isEmpty { return self.tables.now.monotonic }
        var next = self.tables.deadlines.nextTime
        func consider(_ time: Int64) { next = min(next ?? .max, time) }
        if let time = self.views.nextTime(self.tables) { consider(time) }
        if let time = self.service.nextTime(self.tables) { consider(time) }
        if self.transport.beats.count > 0 || self.transport.stalls.count > 0 {
            consider((self.tables.now.monotonic / 1_000 + 1) * 1_000)
        }
        return next
    }
}
