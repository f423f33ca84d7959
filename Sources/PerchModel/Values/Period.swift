import PerchBase

/// A length of time by the calendar.
public struct Period: Hashable, Sendable, CustomStringConvertible {
    /// A unit of the calendar.
    public struct Unit: OpenEnumeration {
        /// The number in the contract.
        public let rawValue: Int32
        /// Creates a value from its number, which this version need not know.
        public init(rawValue: Int32) { self.rawValue = rawValue }
        /// Names of the known values, by number.
        public static let names = ["unspecified", "day", "week", "month", "year"]
        /// Days.
        public static let day = Self(rawValue: 1)
        /// Weeks.
        public static let week = Self(rawValue: 2)
        /// Calendar months.
        public static let month = Self(rawValue: 3)
        /// Calendar years.
        public static let year = Self(rawValue: 4)
    }

    /// The unit in which `value` counts.
    public var unit: Unit
    /// At least 1.
    public var value: Int32

    /// Creates a value from its parts.
    public init(_ value: Int32, _ unit: Unit) {
        self.unit = unit
        self.value = value
    }

    /// Reads the ISO 8601 durations of catalogue files: `P1W`, `P3D`, `P6M`, `P1Y`.
    public init?(iso8601 text: some StringProtocol) {
        guard text.utf8.first == UInt8(ascii: "P"), let last = text.last?.asciiValue, text.utf8.count >= 3,
            text.utf8.dropFirst().first != UInt8(ascii: "+"), let value = Int32(text.dropFirst().dropLast()),
            (1...10_000).contains(value)
        else { return nil }
        switch last {
        case UInt8(ascii: "D"): self.init(value, .day)
        case UInt8(ascii: "W"): self.init(value, .week)
        case UInt8(ascii: "M"): self.init(value, .month)
        case UInt8(ascii: "Y"): self.init(value, .year)
        default: return nil
        }
    }

    /// Whether the period counts calendar months, and so keeps the day of the month.
    public var isMonthly: Bool { self.unit == .month || self.unit == .year }

    /// The period as text, such as `1 month`.
    public var description: String {
        let letter = [.day: "D", .week: "W", .month: "M", .year: "Y"][self.unit, default: "?"]
        return "P\(self.value)\(letter)"
    }

    /// The end of this period by the calendar, in UTC, keeping the time of day.
    ///
    /// `anchorDay` is the day of the month on which the line began: 31 January, 28 February, 31 March. Periods beyond
    /// the calendar's range end at the end of time.
    func calendarEnd(from start: Instant, anchorDay: Int64) -> Instant {
        guard start.milliseconds < Int64.max / 2 else { return .distantFuture }
        switch self.unit {
        case .month: return CivilTime(start).adding(months: Int64(self.value), anchorDay: anchorDay).instant
        case .year: return CivilTime(start).adding(months: 12 * Int64(self.value), anchorDay: anchorDay).instant
        case .week: return start.advanced(byMilliseconds: Int64(self.value) * 7 * 86_400_000)
        default: return start.advanced(byMilliseconds: Int64(self.value) * 86_400_000)
        }
    }
}
