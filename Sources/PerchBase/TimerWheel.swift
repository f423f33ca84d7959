/// A timer wheel for many coarse deadlines of indexed entries, such as heartbeats, write stalls and lingering
/// connections.
///
/// It is a ring of one-second slots, each with an intrusive list of indexes: insert and remove write four integers,
/// whatever the number of entries. It is a value without clock or thread, like `TimerHeap`, which serves finer or later
/// deadlines. Indexes must be small and dense, such as rows of the caller's slab.
///
/// Entries fire by second, and within a second in the order of insertion.
package struct TimerWheel: Sendable {
    /// Length of the ring in seconds; each deadline must be nearer. 1,024 exceeds the longest heartbeat, 600 s.
    package static let slotCount = 1_024

    /// Node `slotCount` heads the list of due entries. Nodes below it head the slots; nodes above it are the entries.
    private static let dueHead = Int32(slotCount)
    private static let firstEntry = slotCount + 1

    private struct Node {
        /// Its own index if the list is empty; -1 if the entry is in no list.
        var next: Int32
        var previous: Int32
    }

    private var nodes: [Node]

    /// All entries due up to and including this second have fired or are in the due list.
    package private(set) var second: Int64

    package private(set) var count = 0

    package init(startingAt second: Int64) {
        self.second = second
        self.nodes = (0..<Int32(Self.firstEntry)).map { Node(next: $0, previous: $0) }
    }

    /// Schedules `index` for `dueSecond`, or for the next second if that has passed.
    ///
    /// Traps if the index is already in the wheel or the deadline is beyond the wheel; both are bugs in Perch.
    package mutating func insert(_ index: Int32, dueAt dueSecond: Int64) {
        let due = max(dueSecond, self.second + 1)
        precondition(
            due - self.second < Int64(Self.slotCount),
            "a deadline \(due - self.second) s ahead, the wheel reaches \(Self.slotCount - 1) s: use a TimerHeap")
        let node = Self.firstEntry + Int(index)
        while self.nodes.count <= node { self.nodes.append(Node(next: -1, previous: -1)) }
        precondition(self.nodes[node].next < 0, "index \(index) is in the wheel already")
        let head = Self.slot(of: due)
        let last = self.nodes[head].previous
        self.nodes[node] = Node(next: Int32(head), previous: last)
        self.nodes[Int(last)].next = Int32(node)
        self.nodes[head].previous = Int32(node)
        self.count += 1
    }

    /// Returns false if `index` is not in the wheel: it already fired, or was never inserted.
    @discardableResult
    package mutating func remove(_ index: Int32) -> Bool {
        guard self.contains(index) else { return false }
        self.unlink(Self.firstEntry + Int(index))
        return true
    }

    package func contains(_ index: Int32) -> Bool {
        let node = Self.firstEntry + Int(index)
        return index >= 0 && node < self.nodes.count && self.nodes[node].next >= 0
    }

    /// Moves all entries due up to `second` to the list that `popDue` empties. A time that stands still or runs
    /// backwards changes nothing; a jump costs at most one pass around the ring.
    package mutating func advance(to second: Int64) {
        guard second > self.second else { return }
        let steps = min(second - self.second, Int64(Self.slotCount))
        for step in 1...steps { self.appendToDue(slot: Self.slot(of: self.second + step)) }
        self.second = second
    }

    /// Removes and returns the next due index. It may be inserted again at once.
    package mutating func popDue() -> Int32? {
        let node = self.nodes[Int(Self.dueHead)].next
        guard node != Self.dueHead else { return nil }
        self.unlink(Int(node))
        return node - Int32(Self.firstEntry)
    }

    /// Traps if the lists are inconsistent. Linear, so only for tests and the simulator.
    package func checkInvariants() {
        var seen = 0
        for head in 0...Int(Self.dueHead) {
            var node = head
            repeat {
                let next = Int(self.nodes[node].next)
                precondition(self.nodes.indices.contains(next), "node \(node) points to \(next), outside the wheel")
                precondition(Int(self.nodes[next].previous) == node, "node \(next) does not point back to \(node)")
                precondition(next == head || next >= Self.firstEntry, "lists \(head) and \(next) are merged")
                node = next
                if node != head { seen += 1 }
                precondition(seen <= self.count, "more entries in lists than the \(self.count) counted")
            } while node != head
        }
        precondition(seen == self.count, "\(seen) entries in lists, \(self.count) counted")
        let linked = self.nodes[Self.firstEntry...].count(where: { $0.next >= 0 })
        precondition(linked == self.count, "\(linked) entries linked, \(self.count) counted")
    }

    private static func slot(of second: Int64) -> Int {
        Int(second & Int64(Self.slotCount - 1))
    }

    private mutating func unlink(_ node: Int) {
        let links = self.nodes[node]
        self.nodes[Int(links.previous)].next = links.next
        self.nodes[Int(links.next)].previous = links.previous
        self.nodes[node] = Node(next: -1, previous: -1)
        self.count -= 1
    }

    private mutating func appendToDue(slot: Int) {
        let first = self.nodes[slot].next
        guard first != Int32(slot) else { return }
        let last = self.nodes[slot].previous
        let lastDue = self.nodes[Int(Self.dueHead)].previous
        self.nodes[Int(lastDue)].next = first
        self.nodes[Int(first)].previous = lastDue
        self.nodes[Int(last)].next = Self.dueHead
        self.nodes[Int(Self.dueHead)].previous = last
        self.nodes[slot] = Node(next: Int32(slot), previous: Int32(slot))
    }
}
