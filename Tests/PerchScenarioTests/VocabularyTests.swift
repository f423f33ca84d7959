import PerchTesting
import Testing

@testable import PerchScenario

@Suite("The page of documentation")
struct VocabularyTests {
    @Test func `every word of the page is read`() {
        let parsed = ScenarioParser.parse(checkoutText("Tests/PerchScenarioTests/Vocabulary.scenario"))
        #expect(parsed.faults.map(\.description) == [])
        #expect(parsed.scenario.isStrict)
        #expect(parsed.scenario.stepCount > 100)
    }

    @Test func `the page begins with a readable example`() {
        let parts = checkoutText("proto/scenario/README.md").split(separator: "```", omittingEmptySubsequences: false)
        #expect(ScenarioParser.parse(String(parts[1])).faults.map(\.description) == [])
    }

    @Test func `lists every phrase of the parser`() throws {
        let page = checkoutText("proto/scenario/README.md")
        let parts = page.split(separator: "```words\n")
        let block = try #require(parts.count == 2 ? parts[1].split(separator: "```").first : nil)
        let listed = block.split(whereSeparator: { $0 == "," || $0.isNewline })
            .map { $0.drop(while: \.isWhitespace) }.filter { !$0.isEmpty }.map(String.init)
        #expect(listed == ScenarioWords.phrases)
    }

    @Test func `the page has exactly the phrases in the parser's code`() {
        let files = ["Steps", "Values", "Expectations", "Subjects", "Settings", "Catalogue"].map {
            "LineCursor+\($0).swift"
        }
        var phrases: Set<String> = []
        for file in files + ["ScenarioParser.swift"] {
            phrases.formUnion(Self.phrases(in: checkoutText("Sources/PerchScenario/Parsing/\(file)")))
        }
        #expect(phrases.count > 500)
        #expect(phrases.sorted() == ScenarioWords.phrases)
    }

    /// The literals in calls of `take` and `isNext`.
    private static func phrases(in code: String) -> Set<String> {
        var phrases: Set<String> = []
        for call in ["take(", "isNext("] {
            for part in code.split(separator: call).dropFirst() {
                var rest = part.drop(while: \.isWhitespace)
                while rest.first == "\"" {
                    let literal = rest.dropFirst().prefix { $0 != "\"" }
                    phrases.insert(String(literal))
                    rest = rest.dropFirst(literal.count + 2).drop { $0 == "," || $0.isWhitespace }
                }
            }
        }
        return phrases
    }
}
