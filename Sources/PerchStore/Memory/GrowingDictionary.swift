/// A key that says cheaply into which part of a table it belongs. Keys that all belong into one make that one grow like any dictionary.
protocol Spread: Hashable {
    var spread: Int { get }
}

/// A dictionary that grows a little at a time.
///
/// Swift's doubles its memory at once: with 600,000 kept answers that took 300 ms, and every call waited. This one has many small
/// dictionaries, and each time the number of entries has grown by `pieceCount`, one of them is split into two (linear hashing).
struct GrowingDictionary<Key: Spread, Value> {
    private static var pieceCount: Int { 256 }

    /// As many as `1 << level`, and `split` more: those that were split since the level began, in order.
    private var pieces: [[Key: Value]] = [[:]]
    private var level = 0
    private var split = 0
    private(set) var count = 0

    subscript(key: Key) -> Value? { self.pieces[self.piece(of: key)][key] }

    /// Returns the value before.
    mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let old = self.pieces[self.piece(of: key)].updateValue(value, forKey: key)
        guard old == nil else { return old }
        self.count += 1
        if self.count > self.pieces.count * Self.pieceCount { self.grow() }
        return nil
    }

    mutating func removeValue(forKey key: Key) -> Value? {
        let old = self.pieces[self.piece(of: key)].removeValue(forKey: key)
        if old != nil { self.count -= 1 }
        return old
    }

    func forEach(_ body: (Key, Value) -> Void) {
        for piece in self.pieces { for (key, value) in piece { body(key, value) } }
    }

    /// The most entries in one piece, for tests.
    var largestPiece: Int { self.pieces.map(\.count).max() ?? 0 }

    private func piece(of key: Key) -> Int {
        let hash = key.spread
        let place = hash & (1 << self.level - 1)
        return place < self.split ? hash & (1 << (self.level + 1) - 1) : place
    }

    private mutating func grow() {
        let bit = 1 << self.level
        var (low, high) = (
            [Key: Value](minimumCapacity: Self.pieceCount), [Key: Value](minimumCapacity: Self.pieceCount)
        )
        for (key, value) in self.pieces[self.split] {
            if key.spread & bit == 0 { low[key] = value } else { high[key] = value }
        }
        self.pieces[self.split] = low
        self.pieces.append(high)
        self.split += 1
        if self.split == bit {
            self.level += 1
            self.split = 0
        }
    }
}
