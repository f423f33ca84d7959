import PerchBase

/// Entries by instant, then account, each once.
///
/// Pieces of at most `pieceMax` entries, so that a change moves few of them. In one list of 10,000 entries a renewal, which removes
/// one and adds one, spent 80,000 of its 175,000 instructions on moving the others (callgrind of `pushcost renewals`).
struct OrderedEntries {
    private static let pieceMax = 512

    /// None is empty, but for the only one.
    private var pieces: [[DueEntry]] = [[]]

    var first: DueEntry? { self.pieces[0].first }

    /// Adds an entry. False: it was there.
    @discardableResult
    mutating func insert(_ entry: DueEntry) -> Bool {
        let (piece, place) = self.start(from: entry)
        if place < self.pieces[piece].count, self.pieces[piece][place] == entry { return false }
        self.pieces[piece].insert(entry, at: place)
        if self.pieces[piece].count > Self.pieceMax {
            let middle = Self.pieceMax / 2
            self.pieces.insert(Array(self.pieces[piece][middle...]), at: piece + 1)
            self.pieces[piece].removeSubrange(middle...)
        }
        return true
    }

    /// Removes an entry. False: it was not there.
    @discardableResult
    mutating func remove(_ entry: DueEntry) -> Bool {
        let (piece, place) = self.start(from: entry)
        guard place < self.pieces[piece].count, self.pieces[piece][place] == entry else { return false }
        self.pieces[piece].remove(at: place)
        if self.pieces[piece].isEmpty, self.pieces.count > 1 { self.pieces.remove(at: piece) }
        return true
    }

    /// The entries after one, or all, up to an instant; at most `limit` of them.
    func entries(after entry: DueEntry? = nil, through instant: Instant, limit: Int) -> [DueEntry] {
        var (piece, place) = entry.map { self.start(from: $0) } ?? (0, 0)
        var found: [DueEntry] = []
        while piece < self.pieces.count {
            for next in self.pieces[piece][place...] where next != entry {
                guard found.count < limit, next.instant <= instant else { return found }
                found.append(next)
            }
            (piece, place) = (piece + 1, 0)
        }
        return found
    }

    /// The entries up to one, and that one.
    func entries(upTo entry: DueEntry) -> [DueEntry] {
        self.entries(through: entry.instant, limit: .max).filter { $0 <= entry }
    }

    /// The place of an entry, or of the first one after it, in the last piece that begins before it.
    private func start(from entry: DueEntry) -> (piece: Int, place: Int) {
        let begun = self.pieces.count == 1 ? 1 : self.pieces.partitioningIndex { $0[0] > entry }
        let piece = max(begun - 1, 0)
        return (piece, self.pieces[piece].partitioningIndex { $0 >= entry })
    }
}
