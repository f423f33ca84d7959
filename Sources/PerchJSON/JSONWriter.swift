import PerchBase

/// The document is longer than the writer's limit.
package struct JSONOverflow: Error, Hashable, Sendable, CustomStringConvertible {
    package let limitBytes: Int

    package var description: String { "the JSON is longer than the limit of \(self.limitBytes) bytes; ask for less" }
}

/// Writes one JSON document into bytes, within a limit.
///
/// Calls that make no document, such as a value without its key or an object left open, are our bug and trap. The writer
/// escapes control characters, also DEL and U+0080 to U+009F, so that no text can steer a terminal.
package struct JSONWriter {
    package enum KeyOrder: Hashable, Sendable {
        case asCalled
        /// By their bytes, when an object ends.
        case sorted
    }

    package enum Layout: Hashable, Sendable {
        /// No white space: one line.
        case compact
        /// Two spaces a level, for readability.
        case indented
    }

    private struct Level {
        let isObject: Bool
        var count = 0
        /// The members of a sorted object: key, and start and end of the member.
        var members: [(key: String, start: Int, end: Int)] = []
    }

    private let limitBytes: Int
    private let order: KeyOrder
    private let layout: Layout
    private var bytes: [UInt8] = []
    private var levels: [Level] = []
    private var hasKey = false
    private var isComplete = false
    private var hasOverflowed = false

    package init(limitBytes: Int = Limits.jsonOutputBytes, keys order: KeyOrder = .asCalled, layout: Layout = .compact)
    {
        self.limitBytes = limitBytes
        self.order = order
        self.layout = layout
    }

    /// The document. It must be complete.
    package consuming func finish() throws(JSONOverflow) -> [UInt8] {
        precondition(self.isComplete && self.levels.isEmpty, "a JSON document was finished before it was complete")
        guard !self.hasOverflowed else { throw JSONOverflow(limitBytes: self.limitBytes) }
        return self.bytes
    }

    // MARK: Containers

    package mutating func beginObject() { self.begin(isObject: true) }
    package mutating func endObject() { self.end(isObject: true) }
    package mutating func beginArray() { self.begin(isObject: false) }
    package mutating func endArray() { self.end(isObject: false) }

    /// The key of the next value.
    package mutating func key(_ key: String) {
        precondition(self.levels.last?.isObject == true && !self.hasKey, "the key \(quoted(key)) has no place here")
        self.separate()
        if self.order == .sorted {
            self.levels[self.levels.count - 1].members.append((key, self.bytes.count, self.bytes.count))
        }
        self.write(text: key)
        self.append(self.layout == .compact ? ":" : ": ")
        self.hasKey = true
    }

    // MARK: Values

    package mutating func null() { self.scalar { $0.append("null") } }
    package mutating func boolean(_ value: Bool) { self.scalar { $0.append(value ? "true" : "false") } }
    package mutating func string(_ value: String) { self.scalar { $0.write(text: value) } }
    package mutating func integer(_ value: some FixedWidthInteger) { self.scalar { $0.append(String(value)) } }

    /// JSON has no infinities and no NaN: they become null.
    package mutating func double(_ value: Double) {
        self.scalar { $0.append(value.isFinite ? String(value) : "null") }
    }

    /// A value that was read, as it was written: numbers in their own digits. Members named in `hidden` are left out at
    /// each depth.
    package mutating func value(_ value: JSONValue, hiding hidden: Set<String> = []) {
        switch value.content {
        case .null: self.null()
        case .boolean(let value): self.boolean(value)
        case .number(let text): self.scalar { $0.append(text) }
        case .string(let value): self.string(value)
        case .array(let elements):
            self.beginArray()
            for element in elements { self.value(element, hiding: hidden) }
            self.endArray()
        case .object(let members):
            self.beginObject()
            for member in members where !hidden.contains(member.key) {
                self.key(member.key)
                self.value(member.value, hiding: hidden)
            }
            self.endObject()
        }
    }

    // MARK: Members, in one call

    package mutating func member(_ key: String, _ value: String) {
        self.key(key)
        self.string(value)
    }

    package mutating func member(_ key: String, _ value: Bool) {
        self.key(key)
        self.boolean(value)
    }

    package mutating func member(_ key: String, _ value: some FixedWidthInteger) {
        self.key(key)
        self.integer(value)
    }

    // MARK: How it is done

    /// Before a value: its comma, or its key, must be there.
    private mutating func open() {
        precondition(!self.isComplete, "a JSON document has one value")
        if let level = self.levels.last {
            precondition(!level.isObject || self.hasKey, "a value in an object needs its key")
            if !level.isObject { self.separate() }
        }
        self.hasKey = false
    }

    private mutating func scalar(_ write: (inout JSONWriter) -> Void) {
        self.open()
        write(&self)
        self.isComplete = self.levels.isEmpty
    }

    private mutating func begin(isObject: Bool) {
        self.open()
        self.append(isObject ? "{" : "[")
        self.levels.append(Level(isObject: isObject))
    }

    private mutating func end(isObject: Bool) {
        precondition(self.levels.last?.isObject == isObject && !self.hasKey, "what ends here was not begun")
        guard var level = self.levels.popLast() else { return }
        if isObject, self.order == .sorted, !self.hasOverflowed { self.sort(&level.members) }
        if level.count > 0 { self.breakLine() }
        self.append(isObject ? "}" : "]")
        self.isComplete = self.levels.isEmpty
    }

    /// The comma between two members or elements, and the line that the next one stands on.
    private mutating func separate() {
        let top = self.levels.count - 1
        if self.levels[top].count > 0 {
            if !self.levels[top].members.isEmpty {
                self.levels[top].members[self.levels[top].members.count - 1].end = self.bytes.count
            }
            self.append(",")
        }
        self.levels[top].count += 1
        self.breakLine()
    }

    private mutating func breakLine() {
        guard self.layout == .indented else { return }
        self.append("\n" + String(repeating: "  ", count: self.levels.count))
    }

    /// Sorts the members of the object that ends by their keys. All separators in an object have the same length, so the
    /// object keeps its length.
    private mutating func sort(_ members: inout [(key: String, start: Int, end: Int)]) {
        guard members.count > 1, let first = members.first else { return }
        members[members.count - 1].end = self.bytes.count
        let separator = Array(self.bytes[members[0].end..<members[1].start])
        members.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var sorted: [UInt8] = []
        sorted.reserveCapacity(self.bytes.count - first.start)
        for (index, member) in members.enumerated() {
            if index > 0 { sorted += separator }
            sorted += self.bytes[member.start..<member.end]
        }
        self.bytes.replaceSubrange(first.start..., with: sorted)
    }

    private mutating func append(_ text: String) {
        guard self.bytes.count + text.utf8.count <= self.limitBytes else {
            self.hasOverflowed = true
            return
        }
        if !self.hasOverflowed { self.bytes.append(contentsOf: text.utf8) }
    }

    private mutating func write(text: String) {
        guard text.utf8.count <= self.limitBytes - self.bytes.count else {
            self.hasOverflowed = true
            return
        }
        self.append(escaped(text))
    }
}

/// A text in quotes, with JSON's escapes.
private func escaped(_ text: String) -> String {
    var result = "\""
    result.reserveCapacity(text.utf8.count + 2)
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        case "\u{0}"..<" ", "\u{7F}"..."\u{9F}":
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
