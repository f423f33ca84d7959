import PerchBase
import Testing

@testable import PerchScenario

/// Filler words without a meaning.
private let fillers: Set<String> = [
    "the", "a", "an", "is", "are", "and", "it", "to", "at", "on", "for", "of", "by", "with", "in", "set", "that",
]

@Suite("The effect of words")
struct EffectTests {
    /// The lines of the file that has every documented form.
    private static let lines = checkoutText("Tests/PerchScenarioTests/Vocabulary.scenario")
        .split(whereSeparator: \.isNewline).map(String.init).filter { !$0.hasPrefix("#") }

    /// How many of them are the head.
    private static let headCount = Self.lines.firstIndex { $0.hasPrefix("alice:") } ?? 0

    private static func isOfTheLanguage(_ word: String) -> Bool {
        let letters = word.filter { $0 != "," && $0 != ":" }
        return ScenarioWords.reserved.contains(Token.normalise(letters)) || fillers.contains(letters) || letters == "->"
    }

    private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    /// The line without one of its words, for each name and each value. Without a word of the language, a phrase may be
    /// another form of itself: `grace on` is `grace period on`.
    private static func shortened(_ line: String) -> [String] {
        let words = Self.words(line)
        return words.indices.filter { words.count > 1 && !Self.isOfTheLanguage(words[$0]) }.map { index in
            var rest = words
            rest.remove(at: index)
            return rest.joined(separator: " ")
        }
    }

    /// The line with one of its words twice, for each word.
    private static func doubled(_ line: String) -> [String] {
        let words = Self.words(line)
        // `in billing retry retry until` has two phrases.
        return words.indices.filter { !fillers.contains(words[$0]) && words[$0] != "retry" }.map { index in
            var more = words
            more.insert(words[index], at: index)
            return more.joined(separator: " ")
        }
    }

    private static func lengthened(_ line: String) -> [String] {
        ["surplus", "9.99", "EUR", "off", "with"].map { "\(line) \($0)" }
    }

    @Test func `a line of the head that loses, doubles or gains a word is refused or means something else`() {
        let head = Array(Self.lines[..<Self.headCount])
        func parse(_ lines: [String]) -> ParsedScenario {
            ScenarioParser.parse(lines.joined(separator: "\n") + "\nbuy gold for alice")
        }
        let meaning = parse(head).meaning
        for (index, line) in head.enumerated() {
            for other in Self.shortened(line) + Self.doubled(line) + Self.lengthened(line) {
                var lines = head
                lines[index] = other
                let found = parse(lines)
                #expect(!found.isSound || found.meaning != meaning, "\(line) means the same as: \(other)")
            }
        }
    }

    @Test func `a step or expectation that loses, doubles or gains a word is refused or means something else`() {
        let isCatalogue = { (line: String) in
            ["product", "accounts", "offer", "catalog", "end", "  "].contains { line.hasPrefix($0) }
        }
        // The context of all lines: the catalogues, the accounts and the named transactions.
        let context =
            Self.lines[..<Self.headCount].filter(isCatalogue)
            + ["alice: buy gold as T1", "alice: call latest gold as T3", "alice: buy gold -> held"]
        for line in Self.lines[Self.headCount...] {
            var others = Self.shortened(line) + Self.doubled(line) + Self.lengthened(line)
            while !others.isEmpty {
                // As many as the parser reports mistakes.
                let some = Array(others.prefix(Limits.scenarioFaultsMax))
                others.removeFirst(some.count)
                let parsed = ScenarioParser.parse((context + [line] + some).joined(separator: "\n"))
                let meaning = parsed.meaning(ofLine: context.count + 1)
                #expect(!meaning.isEmpty, "\(line)")
                for (index, other) in some.enumerated() {
                    let number = context.count + 2 + index
                    guard !parsed.faults.contains(where: { $0.place.line == number }) else { continue }
                    #expect(parsed.meaning(ofLine: number) != meaning, "\(line) means the same as: \(other)")
                }
            }
        }
    }

    @Test(arguments: [
        (
            "alice: ask to buy on",
            "a setting belongs to the whole app and to no account; remove \"alice\" and its colon"
        ),
        ("alice: +1mo", "the clock belongs to the whole app and to no account; remove \"alice\" and its colon"),
        ("alice: buy gold for bob", "the line is about \"alice\" and about \"bob\"; write one of them"),
        ("alice: buy gold quantity 2 quantity 3", "this line has two values for the quantity; remove one of them"),
        (
            "alice: buy gold with trial without trial",
            "this line has two values for the introductory offer; remove one of them"
        ),
        ("alice: refund gold prorated 50%", "this line has two values for the share; remove one of them"),
        ("alice: raise price of gold to 12.99 EUR", "a price has no currency here: the storefront determines it"),
        ("price of gold €12.99", "\"€12.99\" has a currency sign; write the digits, such as 9.99"),
        ("grace period 12h", "a grace period is a number of whole days, such as 16 days"),
        ("grace period 1mo", "a grace period is a number of whole days, such as 16 days"),
        ("alice: intent gold with", "the line ends where an offer is expected"),
        ("fail load products with", "the line ends where an error of StoreKit is expected"),
        ("edit gold price 1.99, price 2.99", "this line has two values for the price; remove one of them"),
        ("expect products gold in FRA in DEU: any", "this line has two values for the storefront; remove one of them"),
    ])
    func `a word that another one overrides is refused`(_ line: String, _ message: String) {
        let head = "product gold monthly 9.99 group club\naccounts alice, bob\nalice: buy gold\n"
        #expect(ScenarioParser.parse(head + line).faults.map(\.message) == [message])
    }

    @Test(arguments: [
        (
            "product gold monthly 9.99 trial 1w intro 1mo at 1.99",
            "\"gold\" has two introductory offers, and StoreKit allows one for each product; remove one"
        ),
        ("product gold monthly yearly 9.99", "this line has two values for the period; remove one of them"),
        ("product gold monthly 9.99 4.99", "this line has two values for the price; remove one of them"),
        ("product gold monthly 9.99 EUR", "a price has no currency here: the storefront determines it"),
        ("start 2026-01-01+1mo", "`start` is a date, such as 2026-01-31T10:00:00Z"),
        ("start 2026-01-01\nstart 2026-01-02", "there is a `start` above already"),
        (
            "catalog Shop.storekit\nproduct gold monthly 9.99",
            "the catalogue is a file already; add the product there, or remove the `catalog` line"
        ),
        (
            "catalog A.storekit\ncatalog B.storekit",
            "this is a second catalogue for the beginning; `load` replaces one later"
        ),
        (
            "catalog snow\nproduct gold monthly 9.99 trial 1w\noffer gold introductory free 1mo\nend",
            "\"gold\" has the introductory offer already; a product has one"
        ),
    ])
    func `a line of the head that another one overrides is refused`(_ head: String, _ message: String) {
        let parsed = ScenarioParser.parse(head + "\nbuy \"gold\"")
        #expect(parsed.faults.map(\.message) == [message])
    }
}

@Suite("The accounts of a scenario")
struct AccountTests {
    private static let head = "product gold monthly 9.99 group club shareable\naccounts alice, bob\n"

    @Test(arguments: [
        ("alcie: buy gold", "3:1: the `accounts` line has no \"alcie\"; did you mean `alice`?"),
        ("alcie buys gold", "3:1: the `accounts` line has no \"alcie\"; did you mean `alice`?"),
        ("+1d alcie: buy gold", "3:5: the `accounts` line has no \"alcie\"; did you mean `alice`?"),
        ("alcie: expect updates: none", "3:1: the `accounts` line has no \"alcie\"; did you mean `alice`?"),
        ("alice: share gold with bobb", "3:24: the `accounts` line has no \"bobb\"; did you mean `bob`?"),
        ("alice: stop sharing gold with zoe", "3:31: the `accounts` line has no \"zoe\"; add it there"),
    ])
    func `a name that the accounts line does not list is refused`(_ line: String, _ message: String) {
        #expect(ScenarioParser.parse(Self.head + line).faults.map(\.description) == [message])
    }

    @Test func `accounts need no accounts line`() {
        let parsed = ScenarioParser.parse(
            "product gold monthly 9.99 shareable\nzoe: buy gold\nzoe: share gold with eva")
        #expect(parsed.faults == [])
        #expect(parsed.scenario.accounts == ["zoe", "eva"])
    }

    @Test(arguments: [
        ("accounts", "1:9: the line ends where the name of an account is expected"),
        ("accounts alice,", "1:16: the line ends where the name of an account is expected"),
        ("accounts alice, alice", "1:17: this line has two values for \"alice\"; remove one of them"),
        ("accounts alice -> bob", "1:16: expected the name of an account, but found \"->\""),
    ])
    func `an accounts line is a list of names`(_ line: String, _ message: String) {
        #expect(ScenarioParser.parse(line + "\nfreeze").faults.map(\.description) == [message])
    }
}

@Suite("The text of a scenario")
struct FileTextTests {
    @Test func `a byte order mark at the beginning is skipped`() {
        let parsed = ScenarioParser.parse("\u{FEFF}product gold monthly 9.99\nbuy gold\nbuy golf")
        #expect(parsed.faults.map { "\($0.place)" } == ["3:5"])
        #expect(ScenarioParser.parse("\u{FEFF}buy golf twice").faults.map { "\($0.place)" } == ["1:10"])
    }

    @Test(arguments: ["", "\n\n", "# nothing", "\u{FEFF}", "product gold monthly 9.99", "start 2026-01-01\nstrict"])
    func `a file without a step and without an expectation is refused`(_ text: String) {
        #expect(
            ScenarioParser.parse(text).faults.map(\.description) == [
                "1:1: the file has no step and no expectation; write at least one, or remove the file"
            ])
    }
}
