/// `push_p99>20ms`: what must not be, for whoever asks only whether it was good enough.
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

    /// What is looked at: a figure, or, with `:ratio` behind it, its ratio to the floor.
    package let figure: Figure
    package let isRatio: Bool
    package let relation: Relation
    /// In the figure's own unit: nanoseconds, seconds, bytes, or a plain number.
    package let bound: Double
    /// As it was written.
    package let description: String

    /// Why a text is no condition: for people. `word` is what was not understood, `candidates` what it may have been.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
        package var word = ""
        package var candidates: [String] = []
    }

    package init(parsing text: String) throws(Fault) {
        let spaceless = text.filter { $0 != " " }
        guard let (relation, range) = Self.findRelation(spaceless) else {
            throw Fault(
                description: "has no comparison; write it as 'push_p99>20ms', with one of "
                    + Relation.allCases.map(\.rawValue).joined(separator: " "))
        }
        var name = String(spaceless[..<range.lowerBound])
        let isRatio = name.hasSuffix(":ratio")
        if isRatio { name.removeLast(":ratio".count) }
        guard let figure = Figure(rawValue: name) else {
            throw Fault(
                description: "names \"\(name.prefix(64))\", which is no figure; `perch bench figures` lists them",
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
            throw Fault(description: "compares \(name) with \"\(text.prefix(64))\", which should be a number")
        }
        // Times have no natural unit, a share would be read as per cent, and 0 needs none; bytes and counts are what they are.
        if suffix.isEmpty {
            func unitless(_ known: String, _ candidate: String) -> Fault {
                Fault(
                    description: "compares \(name) with \"\(text)\", which has no unit; \(known)", word: text,
                    candidates: [text + candidate])
            }
            switch unit {
            case .nanoseconds where value != 0, .seconds where value != 0:
                throw unitless("there are ns, us, ms, s, m", "ms")
            case .share where value != 0: throw unitless("a share is given in %", "%")
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

    /// Nil where it does not hold, else a sentence that says what was measured. `isCompared`: with a floor.
    package func breach(in figures: [Figure: Double], ratios: [Figure: Double], isCompared: Bool) -> String? {
        guard let value = self.isRatio ? ratios[self.figure] : figures[self.figure] else {
            let why =
                !self.isRatio
                ? self.figure.isMissingBecause
                : isCompared ? " on both sides" : " against the floor; give --floor"
            return "\(self.description): this run has not measured \(self.figure.rawValue)\(why)"
        }
        guard self.relation.holds(value, self.bound) else { return nil }
        let shown = self.isRatio ? decimals(value, 3) : self.figure.unit.text(value)
        return "\(self.description): it is \(shown)"
    }
}
