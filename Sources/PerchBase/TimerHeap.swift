/// Deadlines in order: a binary heap of 64-bit times, each with a 64-bit payload that only the caller understands.
///
/// A value without clock or thread: the cores step it, the simulator replays it. Times are in whatever unit and on
/// whatever clock the caller keeps to. Timers of equal time come out in the order in which they were scheduled.
///
/// Cancelling frees the timer's slot at once and leaves its entry in the heap, where it is known as dead because the
/// slot has moved on. Dead entries never outnumber the living by more than `deadEntriesTolerated`, and never stand at
/// the top, so that `nextTime` is always true.
package struct TimerHeap: Sendable {
    /// A scheduled timer. Once it has come out or was cancelled its name is stale, and cancelling it does nothing.
    package struct ID: BitwiseCopyable, Hashable, Sendable {
        package var slot: Int32
        package var generation: UInt32

        package init(slot: Int32, generation: UInt32) {
            self.slot = slot
            self.generation = generation
        }

        /// No timer: what a table holds where none is scheduled.
        package static let none = ID(slot: -1, generation: 0)
    }

    private struct Entry {
        var time: Int64
        /// How many timers were scheduled before: breaks ties, and tells whether the slot still means this entry.
        var order: UInt64
        var slot: Int32

        static func < (left: Entry, right: Entry) -> Bool {
            left.time != right.time ? left.time < right.time : left.order < right.order
        }
    }

    private struct Slot {
        /// The order of the timer that lives here; 0 while free.
        var order: UInt64
        var payload: UInt64
        var nextFree: Int32
    }

    private var entries: [Entry] = []
    private var slots: [Slot] = []
    private var firstFree: Int32 = -1
    private var lastOrder: UInt64 = 0

    /// Timers that will come out, dead entries not counted.
    package private(set) var count = 0

    package static let deadEntriesTolerated = 64

    package init() {}

    /// The time of the timer that comes out next.
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

    /// False when the timer had come out or was cancelled already, which is a legitimate race.
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

    /// Takes out the next timer that is due at `now`. Call until nil; what is scheduled meanwhile and due comes too.
    package mutating func popDue(at now: Int64) -> (time: Int64, payload: UInt64)? {
        guard let top = self.entries.first, top.time <= now else { return nil }
        let payload = self.slots[Int(top.slot)].payload
        self.free(top.slot)
        self.dropDead()
        return (top.time, payload)
    }

    /// Traps where the heap contradicts itself. Linear; for tests and the simulator.
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
            precondition(free <= self.slots.count, "the free list has a ring")
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
