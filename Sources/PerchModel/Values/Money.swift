/// An amount of money in thousandths of the currency's unit, as in Apple's signed payloads.
public struct Money: Hashable, Sendable, CustomStringConvertible {
    /// Thousandths of the unit of the currency: 4,990 is 4.99.
    public var milliunits: Int64
    /// ISO 4217.
    public var currency: String

    /// Creates a value from its parts.
    public init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }

    /// `self` times `count`; nil on overflow.
    public func multiplied(by count: Int64) -> Money? {
        let (product, overflow) = self.milliunits.multipliedReportingOverflow(by: count)
        return overflow ? nil : Money(milliunits: product, currency: self.currency)
    }

    /// Parses a decimal such as `9.99`, `29` or `0.5` exactly: digits, at most one point, at most three decimals. Nil
    /// for anything else, including a sign, and on overflow.
    public static func milliunits(parsing text: some StringProtocol) -> Int64? {
        var whole: Int64 = 0
        var decimals = -1
        var digits = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "."), decimals < 0, digits > 0 {
                decimals = 0
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), decimals < 3 else { return nil }
            let (tens, overflow) = whole.multipliedReportingOverflow(by: 10)
            let (sum, overflowToo) = tens.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !overflowToo else { return nil }
            whole = sum
            digits += 1
            if decimals >= 0 { decimals += 1 }
        }
        guard digits > 0, decimals != 0 else { return nil }
        for _ in max(decimals, 0)..<3 {
            let (scaled, overflow) = whole.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            whole = scaled
        }
        return whole
    }

    /// The amount as a plain decimal with at least `decimals` and at most three decimals: `9.99`.
    public func decimal(decimals: Int = 2) -> String {
        let magnitude = self.milliunits.magnitude
        var fraction = String(magnitude % 1_000)
        fraction = String(repeating: "0", count: 3 - fraction.count) + fraction
        while fraction.count > decimals, fraction.last == "0" { fraction.removeLast() }
        let sign = self.milliunits < 0 ? "-" : ""
        return fraction.isEmpty ? "\(sign)\(magnitude / 1_000)" : "\(sign)\(magnitude / 1_000).\(fraction)"
    }

    /// The currency and the amount, such as `USD 4.99`.
    public var description: String { "\(self.currency) \(self.decimal())" }
}
