import PerchClient

/// A finding of `perch doctor` about one subject.
package struct DoctorFinding: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable {
        case ok
        /// A risk; nothing fails because of it.
        case warning
        /// A failure, past or future.
        case problem
    }

    package var level: Level
    /// The examined thing.
    package var subject: String
    /// The finding, with its numbers.
    package var message: String
    /// The next step; empty with `ok`.
    package var remedy: String

    package init(_ level: Level, _ subject: String, _ message: String, remedy: String = "") {
        self.level = level
        self.subject = subject
        self.message = message
        self.remedy = remedy
    }

    /// A finding of the server about itself. An unknown level counts as a warning.
    init(_ finding: Finding) {
        self.init(
            Level(rawValue: finding.level) ?? .warning, "server: \(finding.subject)", finding.message,
            remedy: finding.remedy)
    }
}
