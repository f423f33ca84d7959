import PerchBase
import PerchTesting
import Testing

@testable import PerchScenario

private let sample = """
    # Alice pays late.
    start 2026-01-31T10:00:00Z
    product gold monthly 9.99 group club level 1 trial 1w
    product silver monthly 4.99 group club level 2 intro 3 x 1mo at 1.99
    product coins consumable 0.99
    offer gold win-back RETURN free 1mo paid 1 month, lapsed 1 to 6 months, wait 2 months
    grace period 16 days on
    catalog winter
      product snow non-consumable 3.99 shareable name "Snow, deep"
    end
    alice: buy gold with promotional spring signed "x" as T1 -> new, price 0, offer introductory free trial, until +1w
    alice: expect status club: pushes once, subscribed gold until +1w, renews at 2026-02-07T10:00Z, because none
    +1mo-1s  alice: expect entitlement gold: T1, not upgraded, pushes at least 2
    to next boundary of alice -> settled 1
    alice shares gold with bob
    bob: expect updates: including, purchased gold shared, count 1
    alice: refund T1 because developer issue 50% -> revoked at now
    alice: expect eligibility gold: introductory no, promotional spring yes because "NOT_X"
    alice: expect history with finished consumables: T1 revoked, last renewal
    fail load products with network error
    load winter
    expect products gold, coins in FRA with locale fr: coins unavailable, gold failure
    """

@Suite("A damaged scenario")
struct DamageTests {
    @Test func `the sample is sound`() {
        #expect(ScenarioParser.parse(sample).faults == [])
    }

    @Test func `a text that is cut at many places is read, or refused with a place in it`() {
        let characters = Array(sample)
        for end in stride(from: 0, to: characters.count, by: 5) { Self.read(String(characters[..<end])) }
    }

    @Test func `letters and words that are changed at random never do harm`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        let characters = Array(sample)
        let pieces =
            sample.split(separator: " ").map(String.init) + ["\"", ":", ",", "->", "+", "#", "é", "\0", "=", "expect"]
        for _ in 0..<300 {
            var text = characters
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text.remove(at: place)
                case 1: text.insert(contentsOf: Array(pieces.randomElement(using: &random) ?? ""), at: place)
                case 2: text[place] = Array(pieces.randomElement(using: &random) ?? " ").first ?? " "
                default: text.swapAt(place, Int.random(in: 0..<text.count, using: &random))
                }
            }
            Self.read(String(text), "seed \(seed)")
        }
    }

    private static func read(_ text: String, _ about: String = "") {
        let parsed = ScenarioParser.parse(text)
        let lineCount = text.split(omittingEmptySubsequences: false) { $0.isNewline }.count
        for fault in parsed.faults {
            #expect((1...lineCount).contains(fault.place.line), "\(about): \(fault)")
            #expect(fault.place.column >= 1, "\(about): \(fault)")
            #expect(!fault.message.isEmpty, "\(about)")
        }
        #expect(parsed.faults.count <= Limits.scenarioFaultsMax, "\(about)")
    }
}
