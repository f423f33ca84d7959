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
            ? .none : heap.schedule(at: instant.milliseconds, payload: UInt64(UInt32(bitPattern: view)))
        self.views.crossings[slot.app] = heap
    }

    /// Recomputes values that change because time passed. Asks the store for their records, because the loop keeps
    /// none.
    mutating func raiseCrossings(of app: AppNumber, cause: Cause) {
        guard let next = self.views.crossings[app]?.nextTime else { return }
        let now = self.clock(of: app).milliseconds
        guard next <= now, var heap = self.views.crossings.removeValue(forKey: app) else { return }
        while let due = heap.popDue(at: now) {
            let view = Int32(bitPattern: UInt32(truncatingIfNeeded: due.payload))
            self.views.slots[view].crossingTimer = .none
            self.views.slots[view].crossing = .distantFuture
            self.views.slots[view].isStale = true
            self.views.slots[view].pendingCause = cause
            self.counters.crossings += 1
            self.refresh(view)
        }
        self.views.crossings[app] = heap
    }

    /// Checked in every tick, mostly without a due crossing. `mutating`, so that the loop is not copied.
    var hasDueCrossing: Bool {
        mutating get {
            for (app, heap) in self.views.crossings {
                if let next = heap.nextTime, next <= self.clock(of: app).milliseconds { return true }
            }
            return false
        }
    }
}
