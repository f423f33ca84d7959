/// A binary heap of deadlines: 64-bit times, each with a 64-bit payload that only the caller interprets.
///
/// It is a value without clock or thread, so the cores step it and the simulator replays it. The caller chooses the
/// unit and the clock. Timers of equal time fire in the order in which they were scheduled.
///
/// Cancelling frees the timer's slot at once and leaves a dead entry in the heap, recognised because its slot has
/// changed. Live entries and `deadEntriesTolerated` together bound the dead ones. A dead entry is never at the top, so
/// `nextTime` is always exact.
package struct TimerHeap: Sendable {
    /// A scheduled timer. After the timer fired or was cancelled the identifier is stale, and cancelling it does
    /// nothing.
    package struct ID: BitwiseCopyable, Hashable, Sendable {
        package var slot: Int32
        package var generation: UInt32

        package init(slot: Int32, generation: UInt32) {
            self.slot = slot
            self.generation = generation
        }

        /// The identifier of no timer.
        package static let none = ID(slot: -1, generation: 0)
    }

    private struct Entry {
        var time: Int64
        /// Number of timers scheduled up to this one. It breaks ties and shows whether the slot still belongs to this
        /// entry.
        var order: UInt64
        var slot: Int32

        static func < (left: Entry, right: Entry) -> Bool {
            left.time != right.time ? left.time < right.time : left.order < right.order
        }
    }

    private struct Slot {
        /// The order of the timer in this slot; 0 while free.
        var order: UInt64
        var payload: UInt64
        var nextFree: Int32
    }

    private var entries: [Entry] = []
    private var slots: [Slot] = []
    private var firstFree: Int32 = -1
    private var lastOrder: UInt64 = 0

    /// Scheduled timers; dead entries do not count.
    package private(set) var count = 0

    package static let deadEntriesTolerated = 64

    package init() {}

    /// The time of the next timer.
    package var nextTime: Int64? { self.entries.first?.time }

    package mutating func schedule(at time: Int64, payload: UInt64) -> ID {
        self.lastOrder += 1
        let slot: Int32
        if self.firstFree >= 0 {
            slot = self.firstFree
            self.firstFree = self.slots[Int(slot)].nextFree
            self.slots[Int(slot)] = Slot(order: self.lastOrder, payload: payload, nextFree: -1)
        } else {
            slot = Int32(self.slots.count)
            self.slots.append(Slot(order: self.lastOrder, payload: payload, nextFree: -1))
        }
        self.count += 1
        self.entries.append(Entry(time: time, order: self.lastOrder, slot: slot))
        self.siftUp(from: self.entries.count - 1)
        return ID(slot: slot, generation: UInt32(truncatingIfNeeded: self.lastOrder))
    }

    /// Returns false if the timer already fired or was cancelled, which is a legitimate race.
    @discardableResult
    package mutating func cancel(_ id: ID) -> Bool {
        guard self.isScheduled(id) else { return false }
        self.free(id.slot)
        self.dropDead()
        return true
    }

    package func isScheduled(_ id: ID) -> Bool {
        guard id.slot >= 0, Int(id.slot) < self.slots.count else { return false }
        let order = self.slots[Int(id.slot)].order
        return order != 0 && UInt32(truncatingIfNeeded: order) == id.generation
    }

    /// Removes and returns the next timer due at `now`. Call it until it returns nil; it also returns due timers that
    /// were scheduled meanwhile.
    package mutating func popDue(at now: Int64) -> (time: Int64, payload: UInt64)? {
        guard let top = self.entries.first, top.time <= now else { return nil }
        let payload = self.slots[Int(top.slot)].payload
        self.free(top.slot)
        self.dropDead()
        return (top.time, payload)
    }

    /// Traps if the heap is inconsistent. Linear, so only for tests and the simulator.
    package func checkInvariants() {
        var live = 0
        for (index, entry) in self.entries.enumerated() {
            precondition(index == 0 || !(entry < self.entries[(index - 1) / 2]), "entry \(index) precedes its parent")
            precondition(entry.order != 0 && entry.order <= self.lastOrder, "entry \(index) was never scheduled")
            if self.isLive(entry) { live += 1 }
        }
        precondition(live == self.count, "\(live) entries live, \(self.count) counted")
        precondition(self.entries.first.map(self.isLive) ?? true, "the top entry is dead")
        precondition(self.slots.count(where: { $0.order != 0 }) == self.count, "slots in use differ from timers")
        precondition(
            self.entries.count <= 2 * self.count + Self.deadEntriesTolerated,
            "\(self.entries.count) entries for \(self.count) timers")
        var free = 0
        var next = self.firstFree
        while next >= 0 {
            precondition(self.slots[Int(next)].order == 0, "slot \(next) is free and in use")
            free += 1
            precondition(free <= self.slots.count, "the free list has a cycle")
            next = self.slots[Int(next)].nextFree
        }
        precondition(free + self.count == self.slots.count, "\(self.slots.count - free - self.count) slots are lost")
    }

    private func isLive(_ entry: Entry) -> Bool {
        self.slots[Int(entry.slot)].order == entry.order
    }

    private mutating func free(_ slot: Int32) {
        self.slots[Int(slot)] = Slot(order: 0, payload: 0, nextFree: self.firstFree)
        self.firstFree = slot
        self.count -= 1
    }

    private mutating func dropDead() {
        while let top = self.entries.first, !self.isLive(top) {
            let last = self.entries.removeLast()
            guard !self.entries.isEmpty else { return }
            self.entries[0] = last
            self.siftDown(from: 0)
        }
        if self.entries.count > 2 * self.count + Self.deadEntriesTolerated { self.compact() }
    }

    private mutating func compact() {
        let slots = self.slots
        self.entries.removeAll { slots[Int($0.slot)].order != $0.order }
        for index in stride(from: self.entries.count / 2 - 1, through: 0, by: -1) { self.siftDown(from: index) }
    }

    private mutating func siftUp(from start: Int) {
        var index = start
        let entry = self.entries[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry < self.entries[parent] else { break }
            self.entries[index] = self.entries[parent]
            index = parent
        }
        self.entries[index] = entry
    }

    private mutating func siftDown(from start: Int) {
        var index = start
        let entry = self.entries[index]
        while true {
            var child = 2 * index + 1
            guard child < self.entries.count else { break }
            if child + 1 < self.entries.count, self.entries[child + 1] < self.entries[child] { child += 1 }
            guard self.entries[child] < entry else { break }
            self.entries[index] = self.entries[child]
            index = child
        }
        self.entries[index] = entry
    }
}
