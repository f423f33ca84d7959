import PerchBase

/// A text that somebody else wrote, for sentences: in quotes, no longer than a line, nothing that steers a terminal.
func quoted(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(64)
    let isCut = head.endIndex < text.unicodeScalars.endIndex
    return "\"" + printable(String(head)) + (isCut ? "…" : "") + "\""
}

/// A text without control characters, those of a terminal included: names in catalogues are other people's.
func printable(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F: true
        // Marks that turn the direction of what is behind them.
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        if isControl(scalar) {
            result += "\\u{" + String(scalar.value, radix: 16) + "}"
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}

extension String {
    var lowercasedFirst: String { self.prefix(1).lowercased() + self.dropFirst() }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}

/// `2d`, `1h30m`, `500ms`: what `ValueKind.duration` takes, exactly.
func exactly(milliseconds: Int64) -> String {
    guard milliseconds != 0 else { return "0s" }
    var rest = milliseconds.magnitude
    var text = milliseconds < 0 ? "-" : ""
    for (unit, length) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)]
        as [(String, UInt64)]
    {
        guard rest >= length else { continue }
        text += "\(rest / length)\(unit)"
        rest %= length
    }
    return text
}

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
