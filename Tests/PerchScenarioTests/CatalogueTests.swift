import PerchBase
import PerchCatalogue
import PerchModel
import Testing

@testable import PerchScenario

@Suite("The catalogue of a scenario")
struct CatalogueTests {
    private func inline(_ parsed: ParsedScenario) -> ScenarioCatalogue? {
        guard case .inline(let catalogue)? = parsed.scenario.catalogue else { return nil }
        return catalogue
    }

    private func load(_ text: String) throws -> LoadedCatalogue {
        let parsed = ScenarioParser.parse(text + "\nfreeze")
        #expect(parsed.faults == [])
        guard let catalogue = self.inline(parsed) else {
            Issue.record("no catalogue")
            return try StoreKitFile.load([])
        }
        return try StoreKitFile.load(try catalogue.file())
    }

    private static let file = #"""
        catalog {
          "products": [{"productID": "a #1", "displayPrice": "0.99", "type": "Consumable",
            "localizations": [
            {"displayName": "{", "locale": "en_US"}]
          }
          ]
        }
        """#

    @Test func `a catalogue file stands within a scenario, whose lines keep their numbers`() throws {
        var asked: [CatalogueSource] = []
        let parsed = ScenarioParser.parse("# Recorded\n\(Self.file)\nbuy \"a #1\"\nbuy \"a #1\" twice") { source in
            asked.append(source)
            return (products: ["a #1"], groups: [])
        }
        #expect(parsed.faults.map { "\($0.place)" } == ["10:12"])
        guard case .text(let text)? = parsed.scenario.catalogue else {
            Issue.record("\(String(describing: parsed.scenario.catalogue)) is no text")
            return
        }
        #expect(asked == [.text(text)])
        #expect(try StoreKitFile.load(Array(text.utf8)).catalogue.products.map(\.id) == ["a #1"])
    }

    @Test(arguments: [
        (
            "catalog {\n \"products\": []\n }\nfreeze",
            "1:1: this catalogue has no end; write `}` at the beginning of a line below it"
        ),
        ("freeze\ncatalog {\n}", "2:1: `catalog` stands above the first step"),
        (
            "catalog Shop.storekit\ncatalog {\n}\nfreeze",
            "2:9: this is a second catalogue for the beginning; `load` replaces one later"
        ),
    ])
    func `a catalogue file within a scenario is refused`(_ text: String, _ message: String) {
        #expect(ScenarioParser.parse(text).faults.first.map(\.description) == message)
    }

    @Test func `a scenario's catalogue equals that of a catalogue file`() throws {
        let loaded = try self.load(
            """
            product gold monthly 9.99 group club level 2 trial 1w shareable name "Gold, pure"
            product annual yearly 99 group club level 1 intro 1y up front at 49.99 monthly plan at 9.50
            product coins consumable 0.99
            product lifetime non-consumable 49.99 shareable
            product season non-renewing 5
            """)
        #expect(loaded.warnings.isEmpty)
        let products = loaded.catalogue.products
        #expect(products.map(\.id).sorted() == ["annual", "coins", "gold", "lifetime", "season"])
        let gold = try #require(products.first { $0.id == "gold" })
        #expect(gold.price.milliunits == 9_990)
        #expect(gold.isFamilyShareable)
        #expect(gold.localizations.map(\.displayName) == ["Gold, pure"])
        #expect(gold.subscription?.groupID == "club")
        #expect(gold.subscription?.level == 2)
        #expect(gold.subscription?.introductoryOffers.map(\.paymentMode) == [.freeTrial])
        let annual = try #require(products.first { $0.id == "annual" })
        #expect(annual.subscription?.period == Period(1, .year))
        #expect(annual.subscription?.introductoryOffers.map(\.price.milliunits) == [49_990])
        #expect(annual.subscription?.billingPlans.count == 2)
    }

    @Test(
        arguments: [
            ("1mo at 0.99", [.new, .existing, .expired], false), ("1mo at 0.99 for new", [.new], false),
            ("1mo at 0.99 stackable", [.new, .existing, .expired], true),
            ("1mo at 0.99 for new, expired stackable", [.new, .expired], true),
            ("1mo at 0.99 for new, expired, stackable", [.new, .expired], true),
            ("1mo at 0.99 stackable for existing", [.existing], true),
        ] as [(String, CodeOffer.Eligibility, Bool)])
    func `a code says who may redeem it, and whether it goes behind the introductory offer`(
        _ terms: String, _ eligibility: CodeOffer.Eligibility, isStackable: Bool
    ) throws {
        // In the catalogue's own block, and above the first step, which is an edit of the product.
        let gold = "product gold monthly 9.99 trial 1w"
        let parsed = ScenarioParser.parse("\(gold)\noffer gold code BOTH \(terms)\nbuy gold")
        #expect(parsed.faults == [])
        guard case .product(let edit)? = parsed.scenario.settings.first, var catalogue = self.inline(parsed) else {
            Issue.record("\(parsed.scenario.settings)")
            return
        }
        catalogue.entries[0].offers += edit.offers
        let loaded = try StoreKitFile.load(try catalogue.file())
        #expect(loaded.warnings.isEmpty)
        #expect(edit.offers.map(\.isStackable) == [isStackable])
        let codes = try #require(loaded.catalogue.product("gold")?.subscription?.codeOffers)
        #expect(codes.map(\.offer.id) == ["BOTH"])
        #expect(codes.map(\.eligibility) == [eligibility])
        #expect(codes.map(\.isStackable) == [isStackable])
    }

    @Test(arguments: [
        ("product gold 9.99", "needs a type or a period"), ("product gold monthly", "has no price"),
        ("product coins consumable 0.99 group club", "only subscriptions"),
        ("product gold every 5mo 1.99", "is no billing period"),
        ("product gold monthly 9.99\nproduct gold weekly 1", "there is a product \"gold\" already"),
    ])
    func `an invalid product is refused`(_ text: String, part: String) {
        let messages = ScenarioParser.parse(text).faults.map(\.message)
        #expect(messages.count == 1)
        #expect(messages.first?.contains(part) == true, "\(messages)")
    }
}
