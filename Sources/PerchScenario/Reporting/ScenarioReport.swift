import PerchBase

/// How a scenario went.
package struct ScenarioReport: Sendable {
    /// Something that was not as expected.
    package struct Difference: Hashable, Sendable {
        package var place: SourcePlace
        /// What stands there.
        package var line: String
        /// One sentence, without the place.
        package var message: String
        /// What was to be, and what was: two lines for people. Empty where the sentence says all.
        package var expected = ""
        package var seen = ""
    }

    package var file: String
    package var differences: [Difference] = []
    package var stepCount = 0
    package var checkCount = 0
    /// Steps and expectations behind one that ended the scenario.
    package var skippedCount = 0
    package var milliseconds: Int64 = 0
    /// Why it could not be played to its end: the server's fault, or nobody's.
    package var failure: String?
    /// Where there was no server to play it against.
    package var refusal: ServerRefusal?

    package init(file: String) { self.file = file }

    package var isPassed: Bool { self.differences.isEmpty && self.failure == nil }
}
