/// A wrong command line, environment or settings file. Exit code 2.
package struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The fault and its place.
    package let message: String
    /// The probable intention.
    package var suggestion: String?
    /// The command whose help explains more: `perch store buy`.
    package var command: String?

    package init(_ message: String, suggesting suggestion: String? = nil, command: String? = nil) {
        self.message = message
        self.suggestion = suggestion
        self.command = command
    }

    /// Without the name of the program; one sentence a line.
    package var description: String {
        var lines = [self.message]
        if let suggestion { lines.append("Did you mean \(suggestion)?") }
        if let command { lines.append("See `\(command) --help`.") }
        return lines.joined(separator: "\n")
    }
}
