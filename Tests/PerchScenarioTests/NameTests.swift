import PerchModel
import Testing

@testable import PerchScenario

private let head = "product gold monthly 9.99 group club\n"

@Suite("Names in a scenario")
struct NameTests {
    /// Every word of the language, every letter, and some names that people write.
    private static let candidates: [String] = {
        let letters = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { String(decoding: [$0], as: UTF8.self) }
        let words = (ScenarioWords.phrases + ScenarioWords.fieldPhrases).flatMap(ScenarioWords.words)
        let states = RenewalState.names + TransactionEventKind.names
        let names = letters + letters.map { $0.uppercased() } + words + states + ["T1", "older", "S1", "Spring"]
        return Set(names).sorted()
    }()

    /// The places in which a transaction's name can appear.
    private static let places = [
        "alice: refund NAME", "alice: finish NAME", "alice: renew NAME", "alice: expire NAME", "at NAME.expires",
        "alice: share NAME with bob", "alice: stop sharing NAME", "alice: extend NAME by 1d", "alice: cancel NAME",
        "alice: call NAME as other9", "alice: auto-renew off NAME", "alice: request refund of NAME",
        "alice: resolve billing NAME", "alice: raise price of NAME to 12.99", "alice: delete NAME",
        "expect NAME: upgraded", "alice: expect NAME: upgraded", "alice: expect entitlement gold: NAME",
        "alice: expect entitlement gold: not NAME", "alice: expect history: NAME, NAME",
        "alice: expect updates: purchased NAME", "alice: expect status club: NAME",
        "alice: expect transaction NAME: upgraded", "alice: buy gold as NAME outside the app -> NAME",
    ]

    @Test func `every word is refused as a name, or read as the name wherever names stand`() {
        for place in Self.places {
            let expected = Self.parse("T9", at: place)
            #expect(expected.faults == [], "\(place)")
            for name in Self.candidates {
                let found = Self.parse(name, at: place)
                if found.faults.contains(where: { $0.message.contains("names no transaction") }) { continue }
                #expect(found.faults == [], "\(name) in: \(place)")
                #expect(
                    found.meaning == expected.meaning.replacing("T9", with: name), "\(name) in: \(place)")
            }
        }
    }

    private static func parse(_ name: String, at place: String) -> ParsedScenario {
        ScenarioParser.parse(
            head + "accounts alice, bob\nalice: buy gold as \(name)\n" + place.replacing("NAME", with: name))
    }

    @Test(arguments: ["S", "s", "T1", "A", "gift"])
    func `a name that is no word of the language is accepted`(_ name: String) {
        #expect(ScenarioParser.parse(head + "buy gold as \(name)\nexpect \(name): upgraded").faults == [])
    }

    @Test func `a reserved name is refused with its place and another name`() {
        let faults = ScenarioParser.parse(head + "buy gold as latest").faults.map(\.description)
        #expect(
            faults == [
                "2:13: \"latest\" is a word of the scenario language and names no transaction; write another name, such as T1"
            ])
    }
}
