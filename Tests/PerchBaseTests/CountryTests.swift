import PerchBase
import Testing

@Suite("A country") struct CountryTests {
    @Test func `the list has the 249 countries of ISO 3166-1 once, in the order of their codes`() {
        let codes = Country.all.map(\.code)
        #expect(codes.count == 249)
        #expect(codes == Set(codes).sorted())
        for country in Country.all {
            #expect(country.code.utf8.count == 3 && country.shortCode.utf8.count == 2 && !country.name.isEmpty)
        }
    }

    @Test(arguments: ["USA", "DEU", "JPN", "XKS"]) func `a code is one`(_ code: String) {
        #expect(Country.isCode(code))
    }

    @Test(arguments: ["GER", "usa", "DE", "", "XYZ", "ÅLA"]) func `a text without a matching country is refused`(
        _ text: String
    ) {
        #expect(!Country.isCode(text))
    }

    @Test(
        arguments: [
            ("GER", "DEU"), ("de", "DEU"), ("deu", "DEU"), ("Germany", "DEU"), ("germ", "DEU"), ("UK", "GBR"),
            ("SUI", "CHE"), ("swe", "SWE"), ("XYZ", nil), ("", nil), ("united", nil), ("ÅLA", nil),
        ] as [(String, String?)])
    func `a country is suggested for what was probably meant`(_ text: String, _ code: String?) {
        #expect(Country.meant(by: text)?.code == code)
    }
}
