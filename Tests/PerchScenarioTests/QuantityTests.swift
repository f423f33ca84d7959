import Testing

@testable import PerchScenario

@Suite struct `a quantity` {
    @Test(arguments: ["buy 0 coins", "buy coins quantity 0", "buy coins x0"])
    func `of nothing is an error`(_ step: String) {
        let parsed = ScenarioParser.parse("product coins consumable 0.99\n\(step)\n")
        #expect(parsed.faults.count == 1)
        #expect(parsed.faults.first?.description.contains("buying 0 buys nothing") == true)
    }

    @Test func `of one is what nobody writes`() {
        #expect(ScenarioParser.parse("product coins consumable 0.99\nbuy 1 coins\nbuy coins x10\n").faults.isEmpty)
    }
}
