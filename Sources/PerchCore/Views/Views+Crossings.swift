import PerchBase
import PerchModel

// Crossings: instants at which a view changes without a write. Each app has its own clock.
extension Views {
    mutating func setCrossing(_ view: Int32, _ instant: Instant) {
        let slot = self.slots[view]
        guard slot.crossing != instant else { return }
        self.slots[view].crossing = instant
        var heap = self.crossings.removeValue(forKey: slot.app) ?? TimerHeap()
        if slot.crossingTimer != .none { _ = heap.cancel(slot.crossingTimer) }
        self.slots[view].crossingTimer =
            instant == .distantFuture
            ? .none : heap.schedule(at: instant.milliseconds, payload: CrossingTimer.view(view).packed)
        self.crossings[slot.app] = heap
    }

    /// Recomputes values that change because time passed. Asks the store for their records, because the loop keeps
    /// none.
    mutating func raiseCrossings(of app: AppNumber, cause: Cause, _ tables: inout Tables, _ sink: inout some Sink) {
        guard let next = self.crossings[app]?.nextTime else { return }
        let now = tables.clock(of: app).milliseconds
        guard next <= now, var heap = self.crossings.removeValue(forKey: app) else { return }
        while let due = heap.popDue(at: now) {
            guard case .view(let view) = CrossingTimer(packed: due.payload) else {
                if case .appChanges(let call) = CrossingTimer(packed: due.payload) {
                    self.appChangesDue(call, &tables, &sink)
                }
                continue
            }
            self.slots[view].crossingTimer = .none
            self.slots[view].crossing = .distantFuture
            self.slots[view].pendingCause = cause
            tables.counters.crossings += 1
            self.fallBehindClock(view, &tables, &sink)
            self.refresh(view, &tables)
        }
        self.crossings[app] = heap
    }

    /// The clock has passed a view's crossing, and its record is not here. Its watches delay bookmarks until it is computed:
    /// another value of the connection may show a later instant, and a BEAT would put both into one group.
    private mutating func fallBehindClock(_ view: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        self.slots[view].isStale = true
        var call = self.slots[view].firstWatch
        while call >= 0 {
            if !tables.calls[call].flags.contains(.isWaiting) { sink.holdBeats(for: call, &tables) }
            call = tables.calls[call].nextInTarget
        }
    }

    /// Whether the view of a watch is behind the clock.
    @inline(__always)
    func isBehindClock(_ call: Int32, _ tables: borrowing Tables) -> Bool {
        let view = tables.calls[call].view
        return view >= 0 && self.slots[view].isStale
    }

    /// The view has its value of the present instant, or its load failed: its watches delay bookmarks no longer.
    mutating func catchUpWithClock(_ view: Int32, _ tables: inout Tables, _ sink: inout some Sink) {
        guard self.slots[view].isStale else { return }
        self.slots[view].isStale = false
        var call = self.slots[view].firstWatch
        while call >= 0 {
            if !tables.calls[call].flags.contains(.isWaiting) {
                sink.releaseBeats(for: call, &tables)
            }
            call = tables.calls[call].nextInTarget
        }
    }

    /// Recomputes what the time of this tick changes. Mostly nothing is due.
    mutating func raiseDueCrossings(_ tables: inout Tables, _ sink: inout some Sink) {
        guard self.hasDueCrossing(tables) else { return }
        for app in self.crossings.keys.sorted() { self.raiseCrossings(of: app, cause: .expiry, &tables, &sink) }
    }

    private func hasDueCrossing(_ tables: borrowing Tables) -> Bool {
        for (app, heap) in self.crossings {
            if let next = heap.nextTime, next <= tables.clock(of: app).milliseconds { return true }
        }
        return false
    }
}
