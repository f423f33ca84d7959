import PerchBase
import PerchLoop
import PerchModel

/// The form of a text that a person writes, and the values that it may have.
package enum ValueKind: Sendable {
    /// Present or not. `--name=false` overrides a file or the environment.
    case flag
    case text
    /// One of these words. `json` has the names that the contract's JSON gives them, which are accepted too.
    case choice([String], json: [String: String] = [:])
    /// Letters, digits, dots, hyphens and underscores.
    case bundleID
    case count(ClosedRange<Int64>)
    /// With a unit, or bare bytes.
    case bytes(ClosedRange<Int64>)
    /// Of a fixed length, in milliseconds.
    case duration(ClosedRange<Int64>)
    /// Also by calendar months and years.
    case calendarDuration
    /// RFC 3339, in UTC.
    case instant
    /// `HOST:PORT` of a server, whose host may be a name.
    case address
    /// `ADDRESS:PORT` to listen on. Never a name, because a server does not look names up.
    case listenAddress
    /// `ADDRESS:PORT` to listen on, `on` or `off`.
    case listenAddressOrSwitch
    /// A country code of ISO 3166-1 alpha-3, or the word if there is one.
    case storefront(orWord: String?)
    case uuid
    /// A number or a name of `TimeRate`.
    case timeRate
    /// The number of a transaction.
    case transactionID
    /// A product, or the number of a transaction.
    case target
    /// An instant, or a distance from the app's clock such as `10m` and `-2d`.
    case moment
}

/// A parsed value.
package enum Value: Hashable, Sendable {
    case flag(Bool)
    case text(String)
    case number(Int64)
    case duration(CalendarDuration)
    case transactionID(UInt64)
    /// Of an option that may be given several times.
    case list([Value])
}

/// A length of time: calendar months, and a part of fixed length.
package struct CalendarDuration: Hashable, Sendable {
    package var months: Int64
    package var milliseconds: Int64

    package init(months: Int64 = 0, milliseconds: Int64 = 0) {
        self.months = months
        self.milliseconds = milliseconds
    }

    var negated: CalendarDuration { CalendarDuration(months: -self.months, milliseconds: -self.milliseconds) }
}

extension ValueKind {
    /// The reason why a text is not of this kind. It continues a sentence that begins with the option's name.
    package struct Mismatch: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
        /// The probable intention.
        package var suggestion: String?
    }

    package func parse(_ text: String) throws(Mismatch) -> Value {
        switch self {
        case .flag: return .flag(try Self.flag(text))
        case .text, .target:
            guard !text.isEmpty else { throw Mismatch("is empty") }
            return .text(text)
        case .bundleID: return .text(try Self.bundleID(text))
        case .choice(let choices, let json): return .text(try Self.choice(text, of: choices, json))
        case .count(let range):
            guard let number = Self.integer(text) else { throw Mismatch("is \(quoted(text)), it should be a number") }
            return .number(try Self.within(range, number, text) { String($0) })
        case .bytes(let range):
            return .number(try Self.within(range, try Self.bytes(text), text) { byteCount($0) })
        case .duration(let range):
            let length = try Self.duration(text)
            guard length.months == 0 else {
                throw Mismatch("is \(quoted(text)), and a calendar month has no fixed length; write days, such as 30d")
            }
            return .number(try Self.within(range, length.milliseconds, text) { exactly(milliseconds: $0) })
        case .calendarDuration:
            return .duration(try Self.duration(text))
        case .instant:
            return .number(try Self.instant(text, "a UTC time such as 2026-11-21T09:30:00Z, or a date"))
        case .moment: return try Self.moment(text)
        case .address:
            return .text(try Self.address(text, "HOST:PORT such as 127.0.0.1:7447"))
        case .listenAddress:
            return .text(try Self.listenAddress(text, "ADDRESS:PORT such as 127.0.0.1:7447"))
        case .listenAddressOrSwitch:
            if text == "on" || text == "off" { return .text(text) }
            return .text(try Self.listenAddress(text, "on, off, or ADDRESS:PORT such as 127.0.0.1:7448"))
        case .storefront(let word): return .text(try Self.storefront(text, or: word))
        case .uuid:
            guard Self.isUUID(text) else {
                throw Mismatch("is \(quoted(text)), it should be a UUID such as 123e4567-e89b-12d3-a456-426614174000")
            }
            return .text(text)
        case .timeRate: return .text(try Self.timeRate(text))
        case .transactionID:
            guard Self.isDigits(text), let id = UInt64(text) else {
                throw Mismatch("is \(quoted(text)), it should be the number of a transaction")
            }
            return .transactionID(id)
        }
    }

    private static func flag(_ text: String) throws(Mismatch) -> Bool {
        switch text {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw Mismatch("is \(quoted(text)), it can be true or false")
        }
    }

    private static func bundleID(_ text: String) throws(Mismatch) -> String {
        guard !text.isEmpty, text.utf8.count <= Limits.bundleIDBytesMax, text.utf8.allSatisfy(Self.isOfBundleID) else {
            throw Mismatch(
                "is \(quoted(text)), it should be letters, digits, dots, hyphens and underscores such as com.example.app"
            )
        }
        return text
    }

    private static func choice(
        _ text: String, of choices: [String], _ json: [String: String]
    ) throws(Mismatch) -> String {
        if let word = json[text] { return word }
        guard choices.contains(text) else {
            throw Mismatch(
                "is \(quoted(text)), it can be \(alternatives(choices))", suggesting: nearest(to: text, in: choices))
        }
        return text
    }

    private static func moment(_ text: String) throws(Mismatch) -> Value {
        let sign = text.first.flatMap { $0 == "-" || $0 == "+" ? $0 : nil }
        let length = sign == nil ? text : String(text.dropFirst())
        if let distance = try? Self.duration(length) { return .duration(sign == "-" ? distance.negated : distance) }
        return .number(
            try Self.instant(
                text, "a UTC time such as 2026-11-21T09:30:00Z, a date, or a distance from now such as 10m or -2d"))
    }

    private static func storefront(_ text: String, or word: String?) throws(Mismatch) -> String {
        guard Country.isCode(text) || text == word else {
            let or = word.map { ", or `\($0)`" } ?? ""
            throw Mismatch(
                "is \(quoted(text)), it should be a country code of three capital letters (ISO 3166-1 alpha-3) such as "
                    + "USA\(or)", suggesting: Country.meant(by: text)?.code)
        }
        return text
    }

    private static func timeRate(_ text: String) throws(Mismatch) -> String {
        guard let rate = TimeRate(named: text) ?? Int32(text).flatMap({ TimeRate(rawValue: $0) }) else {
            throw Mismatch(
                "is \(quoted(text)), which is no rate; `perch store clock rate --help` lists them",
                suggesting: nearest(to: text, in: TimeRate.all.map(\.name)))
        }
        return rate.name
    }

    private static func instant(_ text: String, _ expected: String) throws(Mismatch) -> Int64 {
        guard let time = CivilTime(parsing: text) else {
            throw Mismatch("is \(quoted(text)), it should be \(expected)")
        }
        guard Limits.readableMilliseconds.contains(time.instant.milliseconds) else {
            throw Mismatch("is \(quoted(text)), it should be from 1970 to 9999")
        }
        return time.instant.milliseconds
    }

    private static func within(
        _ range: ClosedRange<Int64>, _ number: Int64, _ text: String, _ shown: (Int64) -> String
    ) throws(Mismatch) -> Int64 {
        guard range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "at least \(shown(range.lowerBound))"
                : "from \(shown(range.lowerBound)) to \(shown(range.upperBound))"
            throw Mismatch("is \(quoted(text)), it can be \(bounds)")
        }
        return number
    }

    private static func isOfBundleID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Eight, four, four, four and twelve hexadecimal digits.
    private static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }

    private static func address(
        _ text: String, _ expected: String, isName: Bool = true
    ) throws(Mismatch) -> String {
        // As people copy it from a browser.
        if let scheme = text.firstRange(of: "://") {
            let rest = text[scheme.upperBound...].prefix { $0 != "/" }
            throw Mismatch(
                "is \(quoted(text)), it should be \(expected), without \(text[..<scheme.upperBound])",
                suggesting: (try? Destination(parsing: rest)).map { "\($0)" })
        }
        guard let colon = text.lastIndex(of: ":"), Self.isPort(text[text.index(after: colon)...]) else {
            throw Mismatch(
                "is \(quoted(text)), it should be \(expected)", suggesting: Self.completed(text, isName: isName))
        }
        do throws(SocketAddressFault) {
            _ = try Destination(parsing: text)
        } catch {
            throw Mismatch("is \(quoted(text)), it should be \(expected): \(error)")
        }
        return text
    }

    private static func listenAddress(_ text: String, _ expected: String) throws(Mismatch) -> String {
        let found = try Self.address(text, expected, isName: false)
        let colon = found.lastIndex(of: ":") ?? found.startIndex
        let port = found[colon...]
        if found[..<colon] == "localhost" {
            throw Mismatch(
                "is \(quoted(text)), it should be \(expected): a server listens on an address, not on a name",
                suggesting: "127.0.0.1\(port)")
        }
        if case .several? = try? Destination(parsing: found) {
            throw Mismatch("is \(quoted(text)), it should be \(expected): a server listens on one address")
        }
        if case .name? = try? Destination(parsing: found) {
            throw Mismatch(
                "is \(quoted(text)), it should be \(expected): a server listens on an address, not on a name; 0.0.0.0\(port) "
                    + "is every IPv4 address of this machine")
        }
        return found
    }

    /// Completes an address or a port by the default of the other. `isName`: a host name counts as an address.
    private static func completed(_ text: String, isName: Bool) -> String? {
        if Self.isPort(text) { return "127.0.0.1:\(text)" }
        guard !text.contains(":"), let whole = try? Destination(parsing: "\(text):7447") else { return nil }
        if case .name = whole, !isName { return nil }
        return isName ? "\(text):7447" : "\(whole)"
    }

    private static func isPort(_ text: some StringProtocol) -> Bool {
        Self.isDigits(text) && UInt16(text) != nil
    }

    /// Digits only: no sign, no separators.
    private static func integer(_ text: some StringProtocol) -> Int64? {
        Self.isDigits(text) ? Int64(text) : nil
    }

    private static let byteUnits: [(name: String, bytes: Int64)] = [
        ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
        ("kB", 1_000), ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000),
    ]

    private static func bytes(_ text: String) throws(Mismatch) -> Int64 {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text[digits.endIndex...]
        guard let number = Self.integer(digits) else {
            throw Mismatch("is \(quoted(text)), it should be a size such as 65536, 64KiB or 256MiB")
        }
        guard !unit.isEmpty else { return number }
        guard let factor = Self.byteUnits.first(where: { $0.name == unit })?.bytes else {
            throw Mismatch(
                "is \(quoted(text)), and \(quoted(String(unit))) is no unit of size; there are B, KiB, MiB, GiB, kB, MB, GB",
                suggesting: Self.byteUnits.first { $0.name.lowercased().hasPrefix(unit.lowercased()) }
                    .map { "\(digits)\($0.name)" })
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow else { throw Mismatch("is \(quoted(text)), which is more bytes than can be counted") }
        return product
    }

    private static let durationUnits: [(name: String, length: CalendarDuration)] = [
        ("ms", CalendarDuration(milliseconds: 1)),
        ("s", CalendarDuration(milliseconds: 1_000)),
        ("m", CalendarDuration(milliseconds: 60_000)),
        ("h", CalendarDuration(milliseconds: 3_600_000)),
        ("d", CalendarDuration(milliseconds: 86_400_000)),
        ("w", CalendarDuration(milliseconds: 7 * 86_400_000)),
        ("mo", CalendarDuration(months: 1)),
        ("y", CalendarDuration(months: 12)),
    ]

    /// `30s`, `1h30m`, `1mo`. A bare number is refused, because its unit is ambiguous; 0 needs none.
    private static func duration(_ text: String) throws(Mismatch) -> CalendarDuration {
        var total = CalendarDuration()
        guard text != "0" else { return total }
        var rest = text[...]
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest[digits.endIndex...]
            let letters = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest[letters.endIndex...]
            guard let number = Self.integer(digits) else {
                throw Mismatch("is \(quoted(text)), it should be a duration such as 500ms, 30s, 1h30m or 2d")
            }
            guard !letters.isEmpty else {
                throw Mismatch(
                    "is \(quoted(text)), which has no unit; there are ms, s, m, h, d, w, mo, y",
                    suggesting: rest.isEmpty ? "\(text)s" : nil)
            }
            guard let unit = Self.durationUnits.first(where: { $0.name == letters })?.length else {
                throw Mismatch(
                    "is \(quoted(text)), and \(quoted(String(letters))) is no unit of time; there are ms, s, m, h, d, w, "
                        + "mo, y")
            }
            let months = number.multipliedReportingOverflow(by: unit.months)
            let milliseconds = number.multipliedReportingOverflow(by: unit.milliseconds)
            let allMonths = total.months.addingReportingOverflow(months.partialValue)
            let all = total.milliseconds.addingReportingOverflow(milliseconds.partialValue)
            guard !months.overflow, !milliseconds.overflow, !allMonths.overflow, !all.overflow,
                allMonths.partialValue <= 120_000
            else { throw Mismatch("is \(quoted(text)), which is longer than can be counted") }
            total = CalendarDuration(months: allMonths.partialValue, milliseconds: all.partialValue)
        } while !rest.isEmpty
        return total
    }
}

extension ValueKind.Mismatch {
    init(_ description: String, suggesting suggestion: String? = nil) {
        self.description = description
        self.suggestion = suggestion
    }
}
