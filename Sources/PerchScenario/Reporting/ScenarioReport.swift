import PerchBase

/// The result of a scenario.
package struct ScenarioReport: Sendable {
    /// A failed expectation.
    package struct Difference: Hashable, Sendable {
        package var place: SourcePlace
        /// The text of the line.
        package var line: String
        /// One sentence, without the place.
        package var message: String
        /// The expected and the seen value, one line each. Empty if the message has both.
        package var expected = ""
        package var seen = ""
    }

    package var file: String
    package var differences: [Difference] = []
    package var stepCount = 0
    package var checkCount = 0
    /// Steps and expectations after the line that ended the scenario.
    package var skippedCount = 0
    package var milliseconds: Int64 = 0
    /// Why the scenario did not reach its end, other than a failed expectation.
    package var failure: String?
    /// Set if no server was available.
    package var refusal: ServerRefusal?

    package init(file: String) { self.file = file }

    package var isPassed: Bool { self.differences.isEmpty && self.failure == nil }
}
