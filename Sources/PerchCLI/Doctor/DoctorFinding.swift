import PerchClient

/// What `perch doctor` found about one thing.
package struct DoctorFinding: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable {
        case ok
        /// Worth a look; nothing fails for it.
        case warning
        /// Something will fail, or has.
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

    /// What a server says of itself. A level that only newer servers know is worth a look.
    init(_ finding: Finding) {
        self.init(
            Level(rawValue: finding.level) ?? .warning, "server: \(finding.subject)", finding.message,
            remedy: finding.remedy)
    }
}
