/// The nearest of the words that exist, if it is near enough to have been meant.
package func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
    let wanted = letters(of: word)
    var best: (word: String, distance: Int)?
    for candidate in candidates where mayBeNear(wanted, candidate) {
        let other = letters(of: candidate)
        let allowed = wrongLettersMax(wanted.count, other.count)
        // Somebody wrote the beginning and hoped that it would do.
        let isBeginning = wanted.count >= 2 && other.starts(with: wanted)
        // Words are at least as far apart as their lengths: most need no counting.
        guard isBeginning || abs(wanted.count - other.count) <= allowed else { continue }
        let distance = min(editDistance(wanted, other), isBeginning ? 1 : .max)
        guard distance <= allowed, distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
    }
    return best?.word
}

/// By lengths alone, before anything of a candidate is copied: a dictionary has hundreds, and few are near.
private func mayBeNear(_ wanted: [Unicode.Scalar], _ candidate: String) -> Bool {
    let length = candidate.utf8.count
    // Whose letters are of several bytes, or become others in lower case, is looked at in full.
    let isASCII = length == candidate.unicodeScalars.count
    guard isASCII, let first = candidate.utf8.first, let begin = wanted.first, begin.isASCII else { return true }
    // The sixth bit is the case of a letter; of what is none it says too much at worst.
    let mayBegin = wanted.count >= 2 && UInt32(first) | 0x20 == begin.value | 0x20
    return mayBegin || abs(wanted.count - length) <= wrongLettersMax(wanted.count, length)
}

/// A third of the letters may be wrong: beyond that a suggestion would only puzzle.
private func wrongLettersMax(_ left: Int, _ right: Int) -> Int { max(1, max(left, right) / 3) }

/// Scalars, not characters: whether two characters are one is a question of tables, asked for each pair of them.
private func letters(of word: String) -> [Unicode.Scalar] { Array(word.lowercased().unicodeScalars) }

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
