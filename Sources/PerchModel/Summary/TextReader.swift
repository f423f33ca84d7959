import PerchBase

/// Who reads a text for people: the language, and where the clock on the wall stands.
package struct TextReader: Sendable {
    let table: TextTable
    /// The locale that was asked for, which need not be one of the table's language; empty for none.
    let locale: String
    private let offsetMinutes: Int64

    /// `offsetMinutes`: minutes east of UTC. The server has no zone files, so the offset holds for all instants of a text.
    package init(locale: String, offsetMinutes: Int32) {
        self.table = TextTable.table(of: locale)
        self.locale = locale
        self.offsetMinutes = Int64(offsetMinutes)
    }

    /// Fills in a text. Its first letter is a capital only where the text itself, or a customer without a name, begins it.
    func text(_ key: TextKey, _ values: [String: String] = [:]) -> String {
        Self.fill(self.table[key], values)
    }

    /// `A`, `A and B`, or `A, B and C`.
    func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + self.text(.and) + last
    }

    /// What is said of a name that no account has. A test store makes an account of it.
    package func unknown(_ account: String, in app: AppState) -> String {
        self.text(app.isTestApp ? .unknownYet : .unknown, ["account": Self.isolated(account)])
    }

    private static func fill(_ form: String, _ values: [String: String]) -> String {
        var text = ""
        var rest = form[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            guard let value = values[name] else { preconditionFailure("\(form) needs a value for \(name)") }
            text += value
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }

    /// An instant as people say it: with its year where it is another than that of `now`, and with the time where it is within two days.
    func day(_ instant: Instant, at now: Instant) -> String {
        let near = abs(instant.milliseconds(since: now)) < 2 * 86_400_000
        return self.day(instant, at: now, withTime: near)
    }

    func day(_ instant: Instant, at now: Instant, withTime: Bool) -> String {
        let (there, here) = (self.civil(instant), self.civil(now))
        let form = there.year == here.year ? self.table.day : self.table.dayOfYear
        let date = Self.fill(
            form,
            [
                "day": "\(there.day)", "month": self.table.months[Int(there.month) - 1], "year": "\(there.year)",
            ])
        guard withTime else { return date }
        let minutes = there.milliseconds / 60_000
        return Self.fill(
            self.table.dayWithTime, ["date": date, "time": "\(minutes / 60):\(Self.two(minutes % 60))"])
            + " " + self.zone
    }

    private func civil(_ instant: Instant) -> CivilTime {
        CivilTime(instant.advanced(byMilliseconds: self.offsetMinutes * 60_000))
    }

    /// `UTC`, `UTC+1` or `UTC-3:30`.
    private var zone: String {
        guard self.offsetMinutes != 0 else { return "UTC" }
        let size = abs(self.offsetMinutes)
        let minutes = size % 60 == 0 ? "" : ":\(Self.two(size % 60))"
        return "UTC\(self.offsetMinutes < 0 ? "-" : "+")\(size / 60)\(minutes)"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    func price(_ money: Money) -> String {
        let isOwn = TextTable.all.contains { self.locale.lowercased().hasPrefix($0.language) }
        return Storefronts.display(money, locale: isOwn ? self.locale : self.table.language)
    }

    /// A name within a sentence. One that is written from right to left, or turns the direction, leaves the words around it where they
    /// are.
    static func isolated(_ name: String) -> String {
        func turns(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC:
                true
            default: false
            }
        }
        let shown = String(
            String.UnicodeScalarView(name.unicodeScalars.filter { $0.properties.generalCategory != .control }))
        guard shown.unicodeScalars.contains(where: turns) else { return shown }
        let kept = shown.unicodeScalars.filter {
            !(0x202A...0x202E).contains($0.value) && !(0x2066...0x2069).contains($0.value)
        }
        return "\u{2068}\(String(String.UnicodeScalarView(kept)))\u{2069}"
    }
}
