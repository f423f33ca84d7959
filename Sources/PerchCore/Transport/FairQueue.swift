/// Connections that hold a share of a bounded resource, grouped by address.
///
/// When the resource is full, the oldest connection of the address with the largest share gives way (`victim`). So one
/// address can use all free capacity, but cannot keep another address out. Among addresses with equal shares, the one
/// with the oldest connection gives way.
///
/// Every operation takes time logarithmic in the number of addresses.
struct FairQueue {
    private struct Member {
        var origin: Int32
        var weight: Int
        var order: UInt64
        var next: Int32 = -1
        var previous: Int32 = -1
    }

    private struct Group {
        var weight = 0
        var first: Int32 = -1
        var last: Int32 = -1
        /// The order of `first`.
        var order: UInt64 = 0
        var place: Int
    }

    /// By connection.
    private var members: [Int32: Member] = [:]
    /// By origin: an index of `Origins`.
    private var groups: [Int32: Group] = [:]
    /// Origins as a binary heap: none is before its parent.
    private var heap: [Int32] = []
    private var lastOrder: UInt64 = 0
    /// What all members hold together.
    private(set) var weight = 0

    var count: Int { self.members.count }
    var isEmpty: Bool { self.members.isEmpty }

    func contains(_ connection: Int32) -> Bool { self.members[connection] != nil }

    /// The total share of one origin's members.
    func weight(ofOrigin origin: Int32) -> Int { self.groups[origin]?.weight ?? 0 }

    /// The oldest member of the origin with the largest share; -1 for none.
    var victim: Int32 {
        guard let origin = self.heap.first, let group = self.groups[origin] else { return -1 }
        return group.first
    }

    /// Changes a connection's share; a new connection becomes the newest member of its origin.
    mutating func add(_ weight: Int, to connection: Int32, origin: Int32) {
        self.weight += weight
        var group = self.groups[origin] ?? Group(place: self.heap.count)
        group.weight += weight
        if let found = self.members.index(forKey: connection) {
            self.members.values[found].weight += weight
        } else {
            self.append(Member(origin: origin, weight: weight, order: self.nextOrder()), connection, to: &group)
        }
        self.groups[origin] = group
        if weight < 0 { self.siftDown(group.place) } else { self.siftUp(group.place) }
    }

    /// Takes a part of a connection's share away; a connection without a share is no member.
    mutating func release(_ weight: Int, of connection: Int32) {
        guard let member = self.members[connection] else { return }
        precondition(weight <= member.weight, "connection \(connection) gives back more than it holds")
        if weight == member.weight {
            self.remove(connection)
        } else {
            self.add(-weight, to: connection, origin: member.origin)
        }
    }

    /// Removes a connection; returns its share, or 0 if it was no member.
    @discardableResult
    mutating func remove(_ connection: Int32) -> Int {
        // Most connections are in no queue.
        guard !self.members.isEmpty, let member = self.members.removeValue(forKey: connection),
            var group = self.groups[member.origin]
        else { return 0 }
        self.weight -= member.weight
        guard member.previous >= 0 || member.next >= 0 else {
            self.removeGroup(member.origin, at: group.place)
            return member.weight
        }
        group.weight -= member.weight
        if member.previous >= 0, let previous = self.members.index(forKey: member.previous) {
            self.members.values[previous].next = member.next
        } else {
            group.first = member.next
        }
        if member.next >= 0, let next = self.members.index(forKey: member.next) {
            self.members.values[next].previous = member.previous
            if member.previous < 0 { group.order = self.members.values[next].order }
        } else {
            group.last = member.previous
        }
        self.groups[member.origin] = group
        self.siftDown(group.place)
        return member.weight
    }

    private mutating func nextOrder() -> UInt64 {
        self.lastOrder += 1
        return self.lastOrder
    }

    private mutating func append(_ member: Member, _ connection: Int32, to group: inout Group) {
        var member = member
        if group.first < 0 {
            group.first = connection
            group.order = member.order
            self.heap.append(member.origin)
        } else {
            member.previous = group.last
            self.members[group.last]?.next = connection
        }
        group.last = connection
        self.members[connection] = member
    }

    // MARK: The heap

    private func isBefore(_ left: Int32, _ right: Int32) -> Bool {
        guard let left = self.groups[left], let right = self.groups[right] else { return false }
        return left.weight != right.weight ? left.weight > right.weight : left.order < right.order
    }

    private mutating func put(_ origin: Int32, at place: Int) {
        self.heap[place] = origin
        self.groups[origin]?.place = place
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        let origin = self.heap[place]
        while place > 0, self.isBefore(origin, self.heap[(place - 1) / 2]) {
            self.put(self.heap[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        if place != start { self.put(origin, at: place) }
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        let origin = self.heap[place]
        while true {
            var child = 2 * place + 1
            guard child < self.heap.count else { break }
            if child + 1 < self.heap.count, self.isBefore(self.heap[child + 1], self.heap[child]) { child += 1 }
            guard self.isBefore(self.heap[child], origin) else { break }
            self.put(self.heap[child], at: place)
            place = child
        }
        if place != start { self.put(origin, at: place) }
    }

    private mutating func removeGroup(_ origin: Int32, at place: Int) {
        self.groups[origin] = nil
        let last = self.heap.removeLast()
        guard place < self.heap.count else { return }
        self.put(last, at: place)
        self.siftUp(place)
        if let moved = self.groups[last]?.place { self.siftDown(moved) }
    }

    /// Traps if the tables contradict each other.
    func checkInvariants() {
        precondition(self.heap.count == self.groups.count, "an origin is missing from the heap")
        var total = 0
        var found = 0
        for (place, origin) in self.heap.enumerated() {
            guard let group = self.groups[origin] else { preconditionFailure("origin \(origin) has no members") }
            precondition(group.place == place, "origin \(origin) is at \(place), it is noted at \(group.place)")
            let isInOrder = place == 0 || !self.isBefore(origin, self.heap[(place - 1) / 2])
            precondition(isInOrder, "the heap is out of order at \(place)")
            var weight = 0
            var connection = group.first
            var previous: Int32 = -1
            while connection >= 0 {
                guard let member = self.members[connection] else { preconditionFailure("a member is lost") }
                precondition(member.previous == previous && member.origin == origin, "the list of \(origin) is torn")
                weight += member.weight
                found += 1
                previous = connection
                connection = member.next
            }
            precondition(weight == group.weight && previous == group.last, "origin \(origin) does not add up")
            total += weight
        }
        precondition(total == self.weight && found == self.members.count, "members are counted wrongly")
    }
}
