import PerchBase

/// Maps a key to its slot in a slab: an open-addressed table of four bytes an entry. The key is not stored here, but in
/// the slot, where the caller compares it.
///
/// The caller supplies the hash and the comparison. It also grows the table, because only the caller can hash the
/// existing slots: see `larger`.
struct SlotTable: ~Copyable {
    private static let empty: Int32 = -1
    /// A removed entry: a search continues past it.
    private static let gone: Int32 = -2

    private var places: UnsafeMutablePointer<Int32>
    private var mask: Int
    private(set) var count = 0
    /// Places that are not empty.
    private var usedCount = 0

    init(capacity: Int = 64) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a table has a power of two of places")
        self.mask = capacity - 1
        self.places = GrowingMemory.resized(nil, from: 0, to: capacity)
        self.places.initialize(repeating: Self.empty, count: capacity)
    }

    deinit { GrowingMemory.free(self.places, self.mask + 1) }

    /// Fibonacci hashing: spreads neighbours and uses the upper bits.
    @inline(__always)
    private func home(_ hash: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: Int64(hash)) &* 0x9E37_79B9_7F4A_7C15) >> 32) & self.mask
    }

    /// The slot with that hash for which `isIt` returns true; -1 for none.
    @inline(__always)
    func find(_ hash: Int, _ isIt: (Int32) -> Bool) -> Int32 {
        var place = self.home(hash)
        while true {
            let slot = self.places[place]
            if slot == Self.empty { return -1 }
            if slot >= 0, isIt(slot) { return slot }
            place = (place + 1) & self.mask
        }
    }

    /// The slot at which a search for this hash begins; negative for none.
    @inline(__always)
    func first(_ hash: Int) -> Int32 { self.places[self.home(hash)] }

    /// Prefetches the entry of a hash.
    @inline(__always)
    func prefetch(_ hash: Int) { Prefetch.bytes(self.places + self.home(hash), MemoryLayout<Int32>.size) }

    /// Whether the table must grow before the next insertion.
    var isFull: Bool { (self.usedCount + 1) * 4 > (self.mask + 1) * 3 }

    mutating func insert(_ slot: Int32, _ hash: Int) {
        precondition(!self.isFull, "a table of \(self.mask + 1) places was not grown")
        var place = self.home(hash)
        while self.places[place] >= 0 { place = (place + 1) & self.mask }
        if self.places[place] == Self.empty { self.usedCount += 1 }
        self.places[place] = slot
        self.count += 1
    }

    mutating func remove(_ slot: Int32, _ hash: Int) {
        let place = self.place(of: slot, hash)
        let isLast = self.places[(place + 1) & self.mask] == Self.empty
        self.places[place] = isLast ? Self.empty : Self.gone
        if isLast { self.usedCount -= 1 }
        self.count -= 1
    }

    /// Replaces a slot by another one with the same key.
    mutating func replace(_ slot: Int32, with other: Int32, _ hash: Int) {
        self.places[self.place(of: slot, hash)] = other
    }

    private func place(of slot: Int32, _ hash: Int) -> Int {
        var place = self.home(hash)
        while self.places[place] != slot {
            precondition(self.places[place] != Self.empty, "slot \(slot) is not in its table")
            place = (place + 1) & self.mask
        }
        return place
    }

    /// A table with space for more, with the same slots, hashed by `hash`.
    func larger(_ hash: (Int32) -> Int) -> SlotTable {
        var capacity = 64
        while capacity < (self.count + 1) * 2 { capacity *= 2 }
        var table = SlotTable(capacity: capacity)
        for place in 0...self.mask where self.places[place] >= 0 {
            table.insert(self.places[place], hash(self.places[place]))
        }
        return table
    }

    /// A grown table has at most four entries a slot.
    static var bytesPerSlotMax: Int { 4 * MemoryLayout<Int32>.stride }

    var memoryBytes: Int { (self.mask + 1) * MemoryLayout<Int32>.stride }
}
