/// A place in a scenario: line and column, both counted from 1, columns in characters.
package struct SourcePlace: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: SourcePlace, right: SourcePlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    package var description: String { "\(self.line):\(self.column)" }
}

/// A mistake in the text of a scenario, with the expected text and a suggestion.
package struct ScenarioFault: Error, Hashable, Sendable, CustomStringConvertible {
    package var place: SourcePlace
    package var message: String

    package init(_ place: SourcePlace, _ message: String) {
        self.place = place
        self.message = message
    }

    package var description: String { "\(self.place): \(self.message)" }
}
