import PerchBase

extension Instant {
    /// Reads the only form that RFC 9110 allows a server to send; nil for any other.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1_970...9_999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 3, zip(clock, [24, 60, 61]).allSatisfy({ (0..<$1).contains($0) }) else { return nil }
        let seconds = clock[0] * 3_600 + clock[1] * 60 + clock[2]
        self = CivilTime(year: year, month: Int64(month) + 1, day: day, milliseconds: seconds * 1_000).instant
    }
}
