/// A text that somebody else wrote, for sentences: in quotes, no longer than a line, nothing that steers a terminal.
package func quoted(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(64)
    let isCut = head.endIndex < text.unicodeScalars.endIndex
    return "\"" + printable(String(head)) + (isCut ? "…" : "") + "\""
}

/// A text without control characters, those of a terminal included: names in catalogues are other people's.
package func printable(_ text: String) -> String {
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
