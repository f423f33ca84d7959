import PerchBase
import PerchModel

// Crossings: instants at which a view changes although nothing is written. Each app has its own clock.
extension LoopCore {
    mutating func setCrossing(_ view: Int32, _ instant: Instant) {
        let slot = self.views[view]
        guard slot.crossing != instant else { return }
        self.views[view].crossing = instant
        var heap = self.crossings.removeValue(forKey: slot.app) ?? TimerHeap()
        if slot.crossingTimer != .none { _ = heap.cancel(slot.crossingTimer) }
        self.views[view].crossingTimer =
            instant == .distantFuture
            ? .none : heap.schedule(at: instant.milliseconds, payload: UInt64(UInt32(bitPattern: view)))
        self.crossings[slot.app] = heap
    }

    /// Values that change because time passed are computed again; their records are asked for, as the loop keeps none.
    mutating func raiseCrossings(of app: AppNumber, cause: Cause) {
        guard let next = self.crossings[app]?.nextTime else { return }
        let now = self.clock(of: app).milliseconds
        guard next <= now, var heap = self.crossings.removeValue(forKey: app) else { return }
        while let due = heap.popDue(at: now) {
            let view = Int32(bitPattern: UInt32(truncatingIfNeeded: due.payload))
            self.views[view].crossingTimer = .none
            self.views[view].crossing = .distantFuture
            self.views[view].isStale = true
            self.views[view].pendingCause = cause
            self.counters.crossings += 1
            self.refresh(view)
        }
        self.crossings[app] = heap
    }

    /// Asked in every turn, and mostly nothing is due. `mutating`, so that the loop is not copied.
    var hasDueCrossing: Bool {
        mutating get {
            for (app, heap) in self.crossings {
                if let next = heap.nextTime, next <= self.clock(of: app).milliseconds { return true }
            }
            return false
        }
    }
}
