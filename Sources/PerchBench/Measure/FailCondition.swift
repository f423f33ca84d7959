/// A condition of `--fail-if`, such as `push_p99>20ms`. The bench fails if it holds.
package struct FailCondition: Hashable, Sendable, CustomStringConvertible {
    package enum Relation: String, Hashable, Sendable, CaseIterable {
        case atLeast = ">="
        case atMost = "<="
        case equal = "=="
        case unequal = "!="
        case above = ">"
        case below = "<"

        func holds(_ left: Double, _ right: Double) -> Bool {
            switch self {
            case .atLeast: left >= right
            case .atMost: left <= right
            case .equal: left == right
            case .unequal: left != right
            case .above: left > right
            case .below: left < right
            }
        }
    }

    /// The requirement that the condition protects, in words: `push_p99 at most 20.0 ms`.
    package var requirement: String {
        let words =
            switch self.relation {
            case .atLeast: "below"
            case .atMost: "above"
            case .equal: "not"
            case .unequal: "exactly"
            case .above: "at most"
            case .below: "at least"
            }
        let bound = self.isRatio ? decimals(self.bound, 3) : self.figure.unit.text(self.bound)
        return "\(self.figure.rawValue)\(self.isRatio ? " ratio to the baseline" : "") \(words) \(bound)"
    }

    /// The figure, or with `:ratio` its ratio to the baseline server.
    package let figure: Figure
    package let isRatio: Bool
    package let relation: Relation
    /// In the figure's own unit: nanoseconds, seconds, bytes, or a plain number.
    package let bound: Double
    /// The condition's original text.
    package let description: String

    /// The reason why a text is not a condition. `word` is the unknown word, `candidates` the possible ones.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
        package var word = ""
        package var candidates: [String] = []
    }

    package init(parsing text: String) throws(Fault) {
        let spaceless = text.filter { $0 != " " }
        guard let (relation, range) = Self.findRelation(spaceless) else {
            throw Fault(
                description: "has no comparison; write it like 'push_p99>20ms', with one of "
                    + Relation.allCases.map(\.rawValue).joined(separator: " "))
        }
        var name = String(spaceless[..<range.lowerBound])
        let isRatio = name.hasSuffix(":ratio")
        if isRatio { name.removeLast(":ratio".count) }
        guard let figure = Figure(rawValue: name) else {
            throw Fault(
                description: "names \"\(name.prefix(64))\", which is not a figure; `perch bench figures` lists them",
                word: name, candidates: Figure.allCases.map(\.rawValue))
        }
        guard !isRatio || figure.hasRatio else {
            throw Fault(description: "asks for the ratio of \(name), which has none; leave out \":ratio\"")
        }
        let bound = String(spaceless[range.upperBound...])
        self.figure = figure
        self.isRatio = isRatio
        self.relation = relation
        self.bound = try Self.number(bound, isRatio ? .count : figure.unit, of: name)
        self.description = text
    }

    private static func findRelation(_ text: String) -> (Relation, Range<String.Index>)? {
        for start in text.indices {
            for relation in Relation.allCases where text[start...].hasPrefix(relation.rawValue) {
                return (relation, start..<text.index(start, offsetBy: relation.rawValue.count))
            }
        }
        return nil
    }

    private static func units(_ unit: Figure.Unit) -> [(name: String, factor: Double)] {
        switch unit {
        case .nanoseconds: [("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9)]
        case .seconds: [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60)]
        case .bytes: Self.bytes
        case .bytesPerSecond: Self.bytes + Self.bytes.map { ($0.name + "/s", $0.factor) }
        case .share: [("%", 0.01)]
        case .perSecond: [("/s", 1)]
        case .count, .quotient: []
        }
    }

    private static let bytes: [(name: String, factor: Double)] = [
        ("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824),
    ]

    private static func number(_ text: String, _ unit: Figure.Unit, of name: String) throws(Fault) -> Double {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let suffix = String(text[digits.endIndex...])
        let units = Self.units(unit)
        guard let value = Double(digits), digits.first != "." else {
            throw Fault(description: "compares \(name) with \"\(text.prefix(64))\", expected a number")
        }
        // Times need a unit, because no unit is natural; a share needs %, because plain numbers would be ambiguous. 0
        // needs none, and bytes and counts have none.
        if suffix.isEmpty {
            func unitless(_ known: String, _ candidate: String) -> Fault {
                Fault(
                    description: "compares \(name) with \"\(text)\", which has no unit; \(known)", word: text,
                    candidates: [text + candidate])
            }
            switch unit {
            case .nanoseconds where value != 0, .seconds where value != 0:
                throw unitless("use ns, us, ms, s or m", "ms")
            case .share where value != 0: throw unitless("write shares in %", "%")
            default: return value
            }
        }
        guard let factor = units.first(where: { $0.name == suffix })?.factor else {
            let known = units.isEmpty ? "takes none" : "takes " + units.map(\.name).joined(separator: ", ")
            throw Fault(
                description: "gives \(name) the unit \"\(suffix.prefix(64))\", and it \(known)", word: suffix,
                candidates: units.map(\.name))
        }
        return value * factor
    }

    /// Nil unless the condition holds, otherwise a sentence with the measured value. `isCompared` means that a baseline
    /// was measured.
    package func breach(in figures: [Figure: Double], ratios: [Figure: Double], isCompared: Bool) -> String? {
        guard let value = self.isRatio ? ratios[self.figure] : figures[self.figure] else {
            let why =
                !self.isRatio
                ? self.figure.isMissingBecause
                : isCompared ? " on both sides" : " against the baseline server; add --floor"
            return "\(self.description): this run did not measure \(self.figure.rawValue)\(why)"
        }
        guard self.relation.holds(value, self.bound) else { return nil }
        let shown = self.isRatio ? decimals(value, 3) : self.figure.unit.text(value)
        return "\(self.description): it is \(shown)"
    }
}
