import PerchBase
import PerchModel

// Crossings: instants at which a view changes without a write. Each app has its own clock.
extension LoopCore {
    mutating func setCrossing(_ view: Int32, _ instant: Instant) {
        let slot = self.views.slots[view]
        guard slot.crossing != instant else { return }
        self.views.slots[view].crossing = instant
        var heap = self.views.crossings.removeValue(forKey: slot.app) ?? TimerHeap()
        if slot.crossingTimer != .none { _ = heap.cancel(slot.crossingTimer) }
        self.views.slots[view].crossingTimer =
            instant == .distantFuture
            ? .none : heap.schedule(at: instant.milliseconds, payload: CrossingTimer.view(view).packed)
        self.views.crossings[slot.app] = heap
    }

    /// Recomputes values that change because time passed. Asks the store for their records, because the loop keeps
    /// none.
    mutating func raiseCrossings(of app: AppNumber, cause: Cause) {
        guard let next = self.views.crossings[app]?.nextTime else { return }
        let now = self.tables.clock(of: app).milliseconds
        guard next <= now, var heap = self.views.crossings.removeValue(forKey: app) else { return }
        while let due = heap.popDue(at: now) {
            guard case .view(let view) = CrossingTimer(packed: due.payload) else {
                if case .appChanges(let call) = CrossingTimer(packed: due.payload) { self.appChangesDue(call) }
                continue
            }
            self.views.slots[view].crossingTimer = .none
            self.views.slots[view].crossing = .distantFuture
            self.views.slots[view].pendingCause = cause
            self.tables.counters.crossings += 1
            self.fallBehindClock(view)
            self.refresh(view)
        }
        self.views.crossings[app] = heap
    }

    /// The clock has passed a view's crossing, and its record is not here. Its watches delay bookmarks until it is computed:
    /// another value of the connection may show a later instant, and a BEAT would put both into one group.
    private mutating func fallBehindClock(_ view: Int32) {
        self.views.slots[view].isStale = true
        var call = self.views.slots[view].firstWatch
        while call >= 0 {
            if !self.tables.calls[call].flags.contains(.isWaiting) { self.transport.holdBeats(for: call, &self.tables) }
            call = self.tables.calls[call].nextInTarget
        }
    }

    /// Whether the view of a watch is behind the clock.
    @inline(__always)
    func isBehindClock(_ call: Int32) -> Bool {
        let view = self.tables.calls[call].view
        return view >= 0 && self.views.slots[view].isStale
    }

    /// The view has its value of the present instant, or its load failed: its watches delay bookmarks no longer.
    mutating func catchUpWithClock(_ view: Int32) {
        guard self.views.slots[view].isStale else { return }
        self.views.slots[view].isStale = false
        var call = self.views.slots[view].firstWatch
        while call >= 0 {
            if !self.tables.calls[call].flags.contains(.isWaiting) {
                self.transport.releaseBeats(for: call, &self.tables)
            }
            call = self.tables.calls[call].nextInTarget
        }
    }

    /// Checked in every tick, mostly without a due crossing. `mutating`, so that the loop is not copied.
    var hasDueCrossing: Bool {
        mutating get {
            for (app, heap) in self.views.crossings {
                if let next = heap.nextTime, next <= self.tables.clock(of: app).milliseconds { return true }
            }
            return false
        }
    }
}
