import PerchBase
import PerchCatalogue
import PerchModel
import Testing

@Suite struct `rules of win-back offers` {
    private func load(_ rule: String?) throws -> LoadedCatalogue {
        let offer = rule.map { Made.offer.with("perch", $0) } ?? Made.offer
        return try Made.file(Made.subscription("s").with("winbackOffers", Made.list([offer]))).load()
    }

    private func rule(_ rule: String?) throws -> WinBackRule? {
        let loaded = try self.load(rule)
        #expect(loaded.warnings == [])
        return try #require(loaded.catalogue.product("s")?.subscription?.winBackOffers.first).rule
    }

    @Test func `the rules come from Perch's own keys`() throws {
        let rule = try #require(
            try self.rule(
                """
                {"paidMonths": 3, "lapsedMonths": [2, 12], "waitMonths": 6, "from": "2026-01-01T00:00:00Z",
                 "until": "2026-07-01T00:00:00Z"}
                """))
        var expected = WinBackRule()
        expected.paidMonthsMin = 3
        expected.lapsedMonthsMin = 2
        expected.lapsedMonthsMax = 12
        expected.waitMonths = 6
        expected.from = CivilTime(year: 2026, month: 1, day: 1).instant
        expected.until = CivilTime(year: 2026, month: 7, day: 1).instant
        #expect(rule == expected)
    }

    @Test func `a file without the keys has no rules, and a partial rule has defaults`() throws {
        #expect(try self.rule(nil) == nil)
        #expect(try self.rule("null") == nil)
        #expect(try self.rule("{}") == WinBackRule())
        #expect(try self.rule("{\"waitMonths\":24}")?.waitMonths == 24)
        #expect(try self.rule("{\"lapsedMonths\":[1,24]}")?.lapsedMonthsMax == 24)
        #expect(try self.rule("{\"lapsedMonths\":[5,5]}")?.lapsedMonthsMin == 5)
    }

    @Test(arguments: [
        ("7", "should be an object, not a number"),
        ("{\"paidMonths\":0}", "\"paidMonths\" of the win-back offer \"offer\" is 0; write 1 to 1200 months"),
        ("{\"paidMonths\":1201}", "is 1201"), ("{\"paidMonths\":\"1\"}", "is \"1\"; write 1 to 1200 months"),
        ("{\"lapsedMonths\":[0,24]}", "is 0; write 1 to 24 months"), ("{\"lapsedMonths\":[1,25]}", "is 25"),
        ("{\"lapsedMonths\":[5,4]}", "is 5 to 4, which nobody is"), ("{\"lapsedMonths\":[1]}", "as [1, 24]"),
        ("{\"lapsedMonths\":3}", "as [1, 24]"), ("{\"waitMonths\":1}", "is 1; write 2 to 24 months"),
        ("{\"waitMonths\":25}", "is 25"), ("{\"waitMonths\":2.5}", "is 2.5; write 2 to 24 months"),
        ("{\"from\":\"2026-13-01T00:00:00Z\"}", "write an instant in UTC"), ("{\"until\":7}", "is a number"),
        ("{\"from\":\"2026-02-01T00:00:00Z\",\"until\":\"2026-01-01T00:00:00Z\"}", "write a later end"),
        ("{\"from\":\"2026-02-01T00:00:00Z\",\"until\":\"2026-02-01T00:00:00Z\"}", "write a later end"),
        ("{\"paidMonth\":1}", "has no key \"paidMonth\"; the keys are paidMonths"),
    ])
    func `that are odd refuse the file, with the product and the offer`(_ rule: String, _ says: String) throws {
        let error = try #require(throws: CatalogueError.self) { _ = try self.load(rule) }
        #expect(error.reason == .badRule)
        #expect(error.productID == "s")
        #expect(error.message.contains("the win-back offer \"offer\""), "\(error)")
        #expect(error.message.contains(says), "\(error)")
    }

    @Test func `stand in win-back offers only`() throws {
        let offers = Made.list([Made.offer.with("perch", "{\"paidMonths\":1}")])
        let loaded = try Made.file(Made.subscription("s").with("adHocOffers", offers)).load()
        #expect(loaded.reasons == [.unknownKey])
    }
}
