/// Quotes an untrusted text for a message: shortened to 64 scalars, without control characters.
package func quoted(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(64)
    let isCut = head.endIndex < text.unicodeScalars.endIndex
    return "\"" + printable(String(head)) + (isCut ? "…" : "") + "\""
}

/// Removes control characters from an untrusted text, including terminal escapes: catalogues contain names by third
/// parties.
package func printable(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F: true
        // Bidirectional controls, which reorder the text behind them.
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
