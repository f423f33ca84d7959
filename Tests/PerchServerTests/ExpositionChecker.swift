import PerchMetrics

/// Reads Prometheus' text format as strictly as its description allows, and says what is wrong with it.
///
/// Besides the form, it checks: help and type once for each name and before its first value, no series twice, counters
/// that end in `_total` and are not negative, and histograms with growing buckets that end in `+Inf` with the count.
struct ExpositionChecker {
    private(set) var faults: [String] = []
    /// By name, as `# TYPE` says.
    private(set) var types: [String: String] = [:]
    /// By name and labels.
    private(set) var values: [String: Double] = [:]
    private var helped: Set<String> = []
    private var finished: Set<String> = []
    private var current = ""

    init(_ text: String) {
        if !text.hasSuffix("\n") { self.faults.append("the last line does not end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { self.read(line) }
        for (name, type) in self.types where type == "histogram" { self.checkHistogram(name) }
        for name in self.helped.subtracting(self.types.keys) { self.faults.append("\(name) has no type") }
    }

    private mutating func fault(_ what: String, _ line: Substring) { self.faults.append("\(what): \(line)") }

    private mutating func read(_ line: Substring) {
        if line.hasPrefix("# ") {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count == 4, !words[3].isEmpty else { return self.fault("a comment without content", line) }
            let name = String(words[2])
            switch words[1] {
            case "HELP":
                if !self.helped.insert(name).inserted { self.fault("help twice", line) }
                if !self.current.isEmpty { self.finished.insert(self.current) }
                self.current = name
            case "TYPE":
                if name != self.current { self.fault("a type apart from its help", line) }
                if self.types.updateValue(String(words[3]), forKey: name) != nil { self.fault("type twice", line) }
                if !["counter", "gauge", "histogram"].contains(words[3]) { self.fault("an unknown type", line) }
            default: self.fault("a comment", line)
            }
            return
        }
        guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
            return self.fault("no value", line)
        }
        let series = String(line[..<space])
        let name = String(series.prefix { $0 != "{" })
        guard Self.isName(name) else { return self.fault("no name", line) }
        let labels = series.dropFirst(name.count)
        if !labels.isEmpty, !Self.areLabels(labels) { self.fault("no labels", line) }
        let family = Self.family(of: name, in: self.types)
        if family != self.current || self.finished.contains(family) { self.fault("apart from its family", line) }
        if self.values.updateValue(value, forKey: series) != nil { self.fault("twice", line) }
        if (self.types[family] == "counter") != name.hasSuffix("_total") { self.fault("a counter's name", line) }
        if self.types[family] == "counter", value < 0 { self.fault("negative", line) }
    }

    private static func family(of name: String, in types: [String: String]) -> String {
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            let base = String(name.dropLast(suffix.count))
            if types[base] == "histogram" { return base }
        }
        return name
    }

    private static func isName(_ name: some StringProtocol) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// `{a="b",c="d"}`, with `\\`, `\"` and `\n` the only escapes.
    private static func areLabels(_ text: Substring) -> Bool {
        guard text.first == "{", text.last == "}" else { return false }
        var rest = text.dropFirst().dropLast()
        var names: Set<Substring> = []
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "="), Self.isName(rest[..<equals]),
                names.insert(rest[..<equals]).inserted
            else { return false }
            rest = rest[rest.index(after: equals)...]
            guard rest.popFirst() == "\"" else { return false }
            while let character = rest.popFirst(), character != "\"" {
                if character == "\\" {
                    guard let escaped = rest.popFirst(), "\\\"n".contains(escaped) else { return false }
                }
                if rest.isEmpty { return false }
            }
            if rest.isEmpty { return true }
            guard rest.popFirst() == ",", !rest.isEmpty else { return false }
        }
        return false
    }

    private mutating func checkHistogram(_ name: String) {
        var buckets: [(bound: Double, count: Double)] = []
        for (series, value) in self.values where series.hasPrefix("\(name)_bucket{le=\"") {
            let text = series.dropFirst("\(name)_bucket{le=\"".count).dropLast(2)
            buckets.append((text == "+Inf" ? .infinity : Double(text) ?? .nan, value))
        }
        buckets.sort { $0.bound < $1.bound }
        guard let last = buckets.last, last.bound == .infinity, self.values["\(name)_count"] == last.count,
            self.values["\(name)_sum"] != nil
        else {
            self.faults.append("\(name) has no +Inf, no sum, or another count")
            return
        }
        for (one, next) in zip(buckets, buckets.dropFirst()) where one.count > next.count {
            self.faults.append("\(name): the bucket to \(one.bound) holds more than the one to \(next.bound)")
        }
    }
}
