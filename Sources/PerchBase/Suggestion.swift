/// The nearest of the words that exist, if it is near enough to have been meant.
package func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
    let wanted = letters(of: word)
    let kinds = LetterKinds(wanted)
    var best: (word: String, distance: Int)?
    for candidate in candidates where kinds.mayBeNear(candidate) {
        guard let distance = distance(from: wanted, to: candidate), distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
    }
    return best?.word
}

/// What has to be mended of a word so that it is the candidate, where it may have been meant.
func distance(from wanted: [Unicode.Scalar], to candidate: String) -> Int? {
    let other = letters(of: candidate)
    // Somebody wrote the beginning and hoped that it would do.
    if wanted.count >= 2, other.starts(with: wanted) { return wanted.count == other.count ? 0 : 1 }
    let allowed = wrongLettersMax(wanted.count, other.count)
    // Words are at least as far apart as their lengths. Counting is the product of them, and words may be long.
    guard abs(wanted.count - other.count) <= allowed else { return nil }
    let distance = editDistance(wanted, other)
    return distance <= allowed ? distance : nil
}

/// A third of the letters may be wrong: beyond that a suggestion would only puzzle.
private func wrongLettersMax(_ left: Int, _ right: Int) -> Int { max(1, max(left, right) / 3) }

/// Which letters a word has, as a bit each: a dictionary has hundreds of words, and few are near.
private struct LetterKinds {
    private let count: Int
    private let kinds: UInt64

    init(_ letters: [Unicode.Scalar]) {
        self.count = letters.count
        self.kinds = letters.reduce(0) { $0 | Self.bit(of: $1.value) }
    }

    /// False where lengths and letters alone say that they are too far apart, before anything of the candidate is copied.
    func mayBeNear(_ candidate: String) -> Bool {
        var kinds: UInt64 = 0
        for byte in candidate.utf8 {
            // Whose letters are of several bytes, or become others in lower case, is looked at in full.
            guard byte < 0x80 else { return true }
            kinds |= Self.bit(of: UInt32(byte))
        }
        // A letter that the other has not is a mistake at least, and one mistake mends one of each side.
        let length = candidate.utf8.count
        let missing = (self.kinds & ~kinds).nonzeroBitCount
        let isFar = max(missing, (kinds & ~self.kinds).nonzeroBitCount, abs(self.count - length))
        let mayBegin = self.count >= 2 && self.count <= length && missing == 0
        return mayBegin || isFar <= wrongLettersMax(self.count, length)
    }

    /// The sixth bit is the case of a letter. Of others that share a bit it says too little, never too much.
    private static func bit(of letter: UInt32) -> UInt64 { 1 << UInt64((letter | 0x20) & 0x3F) }
}

/// Scalars, not characters: whether two characters are one is a question of tables, asked for each pair of them.
func letters(of word: String) -> [Unicode.Scalar] { Array(word.lowercased().unicodeScalars) }

/// How many letters must be put in, taken out, changed, or swapped with their neighbour.
package func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    let width = right.count + 1
    // Three rows of the table: this one, and the two before it.
    var rows = Array(0..<width) + [Int](repeating: 0, count: 2 * width)
    var (current, previous, beforePrevious) = (width, 0, 2 * width)
    for (row, letter) in left.enumerated() {
        rows[current] = row + 1
        for (column, other) in right.enumerated() {
            var cost = min(
                rows[previous + column] + (letter == other ? 0 : 1), rows[previous + column + 1] + 1,
                rows[current + column] + 1)
            if row > 0, column > 0, letter == right[column - 1], other == left[row - 1] {
                cost = min(cost, rows[beforePrevious + column - 1] + 1)
            }
            rows[current + column + 1] = cost
        }
        (current, previous, beforePrevious) = (beforePrevious, current, previous)
    }
    return rows[previous + right.count]
}

/// `a, b or c`.
package func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}
