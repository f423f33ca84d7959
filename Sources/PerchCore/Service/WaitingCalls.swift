import PerchBase
import PerchModel
import PerchWire

/// A call that waits until the loop has reached a position.
struct Waiter {
    var call: Int32
    var generation: UInt32
    var position: Position
    var app: AppNumber
    var request: Request
    /// Whether the call goes on without its token, if it waits too long.
    var forgivesToken = false
}

/// Calls that wait for positions: found by call, by the awaited revision, and, once that is reached, by the instant.
///
/// A connection may have 65,536 of them, so no operation visits all: neither a tick, nor the end of a call.
struct WaitingCalls {
    private struct Entry {
        var waiter: Waiter
        /// Number of earlier waiters: calls woken together continue in this order.
        var order: UInt64
        /// Its entry in the heap of revisions, or in that of its app's instants.
        var timer: TimerHeap.ID
        var hasRevision = false
    }

    /// Bytes of one more waiter: its entry, and its place in the heap.
    static let bytesPerWaiter = MemoryLayout<Entry>.stride + 64

    private var entries: [Int32: Entry] = [:]
    private var revisions = TimerHeap()
    private var instants: [AppNumber: TimerHeap] = [:]
    private var lastOrder: UInt64 = 0

    var isEmpty: Bool { self.entries.isEmpty }

    var count: Int { self.entries.count }

    subscript(call: Int32) -> Waiter? { self.entries.isEmpty ? nil : self.entries[call]?.waiter }

    mutating func add(_ waiter: Waiter) {
        self.lastOrder += 1
        // A revision beyond the range of the heap will never be reached.
        let timer = self.revisions.schedule(
            at: Int64(clamping: waiter.position.revision), payload: UInt64(UInt32(bitPattern: waiter.call)))
        precondition(self.entries[waiter.call] == nil, "call \(waiter.call) waits twice")
        self.entries[waiter.call] = Entry(waiter: waiter, order: self.lastOrder, timer: timer)
    }

    mutating func remove(_ call: Int32) {
        guard !self.entries.isEmpty, let entry = self.entries.removeValue(forKey: call) else { return }
        if entry.hasRevision {
            self.cancelInstant(entry)
        } else {
            self.revisions.cancel(entry.timer)
        }
    }

    private mutating func cancelInstant(_ entry: Entry) {
        self.instants[entry.waiter.app]?.cancel(entry.timer)
        if self.instants[entry.waiter.app]?.count == 0 { self.instants[entry.waiter.app] = nil }
    }

    /// Takes the calls whose position is reached, and reports those whose revision is reached but not their instant.
    mutating func take(
        applied: UInt64, clock: (AppNumber) -> Instant
    ) -> (woken: [Waiter], held: [Int32]) {
        var here: [Int32] = []
        while let due = self.revisions.popDue(at: Int64(clamping: applied)) {
            let call = Int32(bitPattern: UInt32(truncatingIfNeeded: due.payload))
            guard var entry = self.entries[call] else { preconditionFailure("a call waits that is gone") }
            entry.hasRevision = true
            entry.timer = self.instants[entry.waiter.app, default: TimerHeap()].schedule(
                at: entry.waiter.position.asOf.milliseconds, payload: due.payload)
            self.entries[call] = entry
            here.append(call)
        }
        var woken: [Entry] = []
        for app in self.instants.keys.sorted() {
            let now = clock(app).milliseconds
            while let due = self.instants[app]?.popDue(at: now) {
                let call = Int32(bitPattern: UInt32(truncatingIfNeeded: due.payload))
                guard let entry = self.entries.removeValue(forKey: call) else {
                    preconditionFailure("a call waits that is gone")
                }
                woken.append(entry)
            }
            if self.instants[app]?.count == 0 { self.instants[app] = nil }
        }
        woken.sort { $0.order < $1.order }
        return (woken.map(\.waiter), here.filter { self.entries[$0] != nil })
    }

    /// The next awaited instant of each app.
    var nextInstants: [(app: AppNumber, milliseconds: Int64)] {
        guard !self.instants.isEmpty else { return [] }
        return self.instants.keys.sorted().compactMap { app in
            self.instants[app]?.nextTime.map { (app, $0) }
        }
    }

    /// Traps if the tables contradict each other. Linear in size; for tests and the simulator.
    func checkInvariants(isTaken: (Waiter) -> Bool) {
        self.revisions.checkInvariants()
        for heap in self.instants.values {
            heap.checkInvariants()
            precondition(heap.count > 0, "an app without waiting calls is kept")
        }
        let timed = self.instants.values.reduce(0) { $0 + $1.count }
        precondition(
            self.revisions.count + timed == self.entries.count, "\(self.entries.count) wait, other numbers in order")
        for (call, entry) in self.entries {
            precondition(call == entry.waiter.call && isTaken(entry.waiter), "a waiter's call is gone")
        }
    }
}
