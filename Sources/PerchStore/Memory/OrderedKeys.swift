/// Keys in bytewise order, as indices of a list that holds them: a page of them is read without sorting all.
///
/// Pieces of at most `pieceMax` indices, so that an insertion moves few of them. The first purchase of an account takes 36,200
/// instructions with it, and 32,600 without, among 20,000 accounts (callgrind of `PushLoad.warmUp`). Later ones do not use it.
struct OrderedKeys {
    private static let pieceMax = 1_024

    /// None is empty, but for the only one.
    private var pieces: [[Int32]] = [[]]

    /// `key` is the new key at `index`, and no other is equal.
    mutating func insert(_ index: Int32, _ key: [UInt8], in list: (Int32) -> [UInt8]) {
        let (piece, place) = self.end(of: key, in: list)
        self.pieces[piece].insert(index, at: place)
        guard self.pieces[piece].count > Self.pieceMax else { return }
        let middle = Self.pieceMax / 2
        self.pieces.insert(Array(self.pieces[piece][middle...]), at: piece + 1)
        self.pieces[piece].removeSubrange(middle...)
    }

    mutating func remove(_ key: [UInt8], in list: (Int32) -> [UInt8]) {
        let (piece, place) = self.end(of: key, in: list)
        precondition(place > 0 && list(self.pieces[piece][place - 1]) == key, "a key is removed that is not there")
        self.pieces[piece].remove(at: place - 1)
        if self.pieces[piece].isEmpty, self.pieces.count > 1 { self.pieces.remove(at: piece) }
    }

    /// Calls `body` with the indices of the keys after `key`, in order, until it returns false.
    func forEach(after key: [UInt8], in list: (Int32) -> [UInt8], _ body: (Int32) -> Bool) {
        var (piece, place) = self.end(of: key, in: list)
        while piece < self.pieces.count {
            while place < self.pieces[piece].count {
                guard body(self.pieces[piece][place]) else { return }
                place += 1
            }
            (piece, place) = (piece + 1, 0)
        }
    }

    /// The place behind all keys up to `key`, in the last piece that begins with one of them.
    private func end(of key: [UInt8], in list: (Int32) -> [UInt8]) -> (piece: Int, place: Int) {
        func bound(_ count: Int, _ index: (Int) -> Int32) -> Int {
            var (low, high) = (0, count)
            while low < high {
                let middle = (low + high) / 2
                if key.lexicographicallyPrecedes(list(index(middle))) { high = middle } else { low = middle + 1 }
            }
            return low
        }
        let piece = self.pieces.count == 1 ? 0 : max(0, bound(self.pieces.count) { self.pieces[$0][0] } - 1)
        return (piece, bound(self.pieces[piece].count) { self.pieces[piece][$0] })
    }
}
