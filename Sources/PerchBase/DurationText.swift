/// A length of time as the command line takes it: `2d`, `1h30m`, `500ms`.
package func exactly(milliseconds: Int64) -> String {
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
