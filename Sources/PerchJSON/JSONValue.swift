/// A place in a text file, as editors count: both from 1.
package struct JSONPlace: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var line: UInt32
    /// In Unicode scalars, so that an editor's cursor finds it behind text in any script.
    package var column: UInt32

    package init(line: UInt32, column: UInt32) {
        self.line = line
        self.column = column
    }

    package static let start = JSONPlace(line: 1, column: 1)

    package static func < (left: JSONPlace, right: JSONPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    package var description: String { "line \(self.line), column \(self.column)" }
}

/// A JSON value with its place in the document.
package struct JSONValue: Sendable {
    package enum Content: Sendable {
        case null
        case boolean(Bool)
        /// The digits of the document, so that a price never passes through a binary fraction.
        case number(String)
        case string(String)
        case array([JSONValue])
        /// In the order of the document; no key occurs twice.
        case object([JSONMember])
    }

    package let content: Content
    /// The place of its first character.
    package let place: JSONPlace

    package init(_ content: Content, at place: JSONPlace) {
        self.content = content
        self.place = place
    }

    /// The value of a key; nil if it is missing, or this is no object.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self.content else { return nil }
        return members.first { $0.key == key }?.value
    }

    package var isNull: Bool {
        if case .null = self.content { true } else { false }
    }

    package var boolean: Bool? {
        if case .boolean(let value) = self.content { value } else { nil }
    }

    package var string: String? {
        if case .string(let value) = self.content { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let value) = self.content { value } else { nil }
    }

    package var members: [JSONMember]? {
        if case .object(let value) = self.content { value } else { nil }
    }

    /// A number written as an integer that fits; `1.0` and `1e3` are not.
    package var integer: Int64? {
        if case .number(let text) = self.content { Int64(text) } else { nil }
    }

    /// The binary fraction nearest to a number. Not for prices.
    package var double: Double? {
        if case .number(let text) = self.content { Double(text) } else { nil }
    }

    /// The kind of value, for sentences: `a string`.
    package var kind: String {
        switch self.content {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// One member of an object.
package struct JSONMember: Sendable {
    package let key: String
    /// The place of the key's opening quote.
    package let place: JSONPlace
    package let value: JSONValue

    package init(key: String, at place: JSONPlace, value: JSONValue) {
        self.key = key
        self.place = place
        self.value = value
    }
}
