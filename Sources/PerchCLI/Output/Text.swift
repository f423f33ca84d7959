import PerchBase

/// A length of time for people: its two largest units.
func roughly(milliseconds: Int64) -> String {
    let magnitude = Int64(clamping: milliseconds.magnitude)
    switch magnitude {
    case 86_400_000...: return exactly(milliseconds: magnitude / 3_600_000 * 3_600_000)
    case 3_600_000...: return exactly(milliseconds: magnitude / 60_000 * 60_000)
    case 1_000...: return exactly(milliseconds: magnitude / 1_000 * 1_000)
    default: return exactly(milliseconds: magnitude)
    }
}

/// `256MiB`, `1500B`: what `ValueKind.bytes` takes, exactly.
func byteCount(_ bytes: Int64) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] as [(String, Int64)]
    where bytes >= size && bytes % size == 0 {
        return "\(bytes / size)\(unit)"
    }
    return "\(bytes)B"
}

/// Whole words on lines of at most `width` columns that begin with an indent. A longer word gets a whole line.
func wrapped(_ text: String, indent: Int, width: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = margin
    for word in text.split(separator: " ") {
        if line.count > indent, line.count + 1 + word.count > width {
            lines.append(line)
            line = margin
        }
        line += (line.count > indent ? " " : "") + word
    }
    return lines + [line]
}

/// Of a decimal number with at most three places, such as `12.5`; nil where it is none.
func thousandths(of text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let places = parts.count == 2 ? parts[1] : ""
    let isDecimal =
        (1...2).contains(parts.count) && (1...12).contains(parts[0].count) && places.count <= 3
        && (parts.count == 1 || !places.isEmpty) && parts.joined().utf8.allSatisfy { (48...57).contains($0) }
    return isDecimal ? Int64(parts[0] + places + String(repeating: "0", count: 3 - places.count)) : nil
}

extension String {
    var lowercasedFirst: String { self.prefix(1).lowercased() + self.dropFirst() }

    /// Without spaces at its end.
    var trimmed: String { String(self.reversed().drop { $0 == " " }.reversed()) }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}
