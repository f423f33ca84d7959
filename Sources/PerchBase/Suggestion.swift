/// Finds the candidate nearest to a mistyped word. Nil if none is near enough.
package func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
    let wanted = letters(of: word)
    let kinds = LetterKinds(wanted)
    var best: (word: String, distance: Int)?
    for candidate in candidates where kinds.mayBeNear(candidate) {
        guard let distance = distance(from: wanted, to: candidate), distance <= best?.distance ?? .max else { continue }
        // `of` is the beginning of `off`, and only similar to `on`.
        let isNearer = best.map {
            distance < $0.distance || begins($0.word, with: wanted) < begins(candidate, with: wanted)
        }
        if isNearer ?? true { best = (candidate, distance) }
    }
    return best?.word
}

/// 1 if a candidate begins with the typed text, else 0.
func begins(_ candidate: String, with wanted: [Unicode.Scalar]) -> Int {
    letters(of: candidate).starts(with: wanted) ? 1 : 0
}

/// The edit distance from the word to a candidate; nil if they are too far apart. A candidate that starts with a word
/// of two or more letters always counts as near.
func distance(from wanted: [Unicode.Scalar], to candidate: String) -> Int? {
    let other = letters(of: candidate)
    // The user may have typed only the beginning.
    if wanted.count >= 2, other.starts(with: wanted) { return wanted.count == other.count ? 0 : 1 }
    let allowed = wrongLettersMax(wanted.count, other.count)
    // The edit distance is at least the difference in length. This check is cheap; the edit distance costs the product
    // of both lengths, and words may be long.
    guard abs(wanted.count - other.count) <= allowed else { return nil }
    let distance = editDistance(wanted, other)
    return distance <= allowed ? distance : nil
}

/// A third of the letters may differ. Beyond that a suggestion would only confuse.
private func wrongLettersMax(_ left: Int, _ right: Int) -> Int { max(1, max(left, right) / 3) }

/// A bit set of a word's letters. It skips most of a dictionary's hundreds of words cheaply.
private struct LetterKinds {
    private let count: Int
    private let kinds: UInt64

    init(_ letters: [Unicode.Scalar]) {
        self.count = letters.count
        self.kinds = letters.reduce(0) { $0 | Self.bit(of: $1.value) }
    }

    /// False if lengths and letters alone prove that the candidate is too far away. Copies nothing of the candidate.
    func mayBeNear(_ candidate: String) -> Bool {
        var kinds: UInt64 = 0
        for byte in candidate.utf8 {
            // Letters of several bytes, or ones that change in lower case, need the full comparison.
            guard byte < 0x80 else { return true }
            kinds |= Self.bit(of: UInt32(byte))
        }
        // Each letter that only one word has is at least one mistake, and one correction fixes one letter on each side.
        let length = candidate.utf8.count
        let missing = (self.kinds & ~kinds).nonzeroBitCount
        let isFar = max(missing, (kinds & ~self.kinds).nonzeroBitCount, abs(self.count - length))
        let mayBegin = self.count >= 2 && self.count <= length && missing == 0
        return mayBegin || isFar <= wrongLettersMax(self.count, length)
    }

    /// The sixth bit is a letter's case. Other characters that share a bit can only let more candidates pass.
    private static func bit(of letter: UInt32) -> UInt64 { 1 << UInt64((letter | 0x20) & 0x3F) }
}

/// Compares scalars instead of characters, because comparing characters needs a table lookup for each pair.
func letters(of word: String) -> [Unicode.Scalar] { Array(word.lowercased().unicodeScalars) }

/// The number of insertions, deletions, substitutions and swaps of neighbours between two words.
package func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    let width = right.count + 1
    // Three rows of the table: this one and the two before it.
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
