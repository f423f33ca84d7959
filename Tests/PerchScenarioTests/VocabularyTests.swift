import PerchTesting
import Testing

@testable import PerchScenario

@Suite("The page of documentation")
struct VocabularyTests {
    /// A file of this checkout.
    private func text(_ name: String) -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        return String(decoding: TemporaryDirectory.read("\(root)/\(name)"), as: UTF8.self)
    }

    @Test func `says nothing that is not read`() {
        let parsed = ScenarioParser.parse(self.text("Tests/PerchScenarioTests/Vocabulary.scenario"))
        #expect(parsed.faults.map(\.description) == [])
        #expect(parsed.scenario.isStrict)
        #expect(parsed.scenario.stepCount > 100)
    }

    @Test func `begins with an example that is read`() {
        let parts = self.text("proto/scenario/README.md").split(separator: "```", omittingEmptySubsequences: false)
        #expect(ScenarioParser.parse(String(parts[1])).faults.map(\.description) == [])
    }
}
