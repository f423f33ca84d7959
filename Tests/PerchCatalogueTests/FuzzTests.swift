import PerchBase
import PerchCatalogue
import PerchJSON
import PerchModel
import Testing

@Suite struct `mutated files` {
    /// Pieces that mean something: keys, values and brackets of the format, and of JSON at its edges.
    private static let words = [
        "{}", "[]", "null", "true", "0", "-1", "1e400", "\"\"", "\"P1M\"", "\"P0M\"", "\"9.99\"", "\"\\ud800\"", "{",
        "}",
        "[", "]", ",", ":", "\"", "\\", "\u{FEFF}", "\u{0}", "\"productID\":\"app.perch.coins\",",
        "\"type\":\"Consumable\",",
        "\"perch\":{\"paidMonths\":1},", "\"promotionalImageID\":\"A\",", "\"introductoryOffer\":null,",
        "\"_storeKitErrors\":[{\"name\":\"Purchase\",\"enabled\":true,\"current\":{\"index\":1,\"type\":\"generic\"}}],",
        "\"subscriptionGroupID\":\"x\",", "\"billingPlans\":[{\"billingPlanType\":\"MONTHLY\",\"isEnabled\":true}],",
        "9223372036854775808", "\"9223372036854775.808\"", "\"lapsedMonths\":[24,1],",
    ]

    /// Some thousands in all, a hundred at a time so that a failure names its seed.
    @Test(arguments: UInt64(1)...30)
    func `mutated files are refused at a place, or load as whole catalogues`(_ seed: UInt64) throws {
        let ours = try Samples.ours()
        let other = try Samples.real(Samples.names[Int(seed) % Samples.names.count])
        for round in 0..<100 {
            var random = SplitMix64(seed: seed << 32 | UInt64(round))
            let bytes = Self.mutated(ours, other, &random)
            let images = [ImageFile(id: "A", bytes: Array(bytes.prefix(Int.random(in: 0..<64, using: &random))))]
            do throws(CatalogueError) {
                try Self.check(try StoreKitFile.load(bytes, images: images), "seed \(seed), round \(round)")
            } catch {
                #expect(error.place >= .start && !error.message.isEmpty, "seed \(seed), round \(round)")
            }
        }
    }

    /// The properties that users of the loader rely on.
    private static func check(_ loaded: LoadedCatalogue, _ name: String) throws(CatalogueError) {
        let catalogue = loaded.catalogue
        #expect(!catalogue.products.isEmpty, "\(name)")
        #expect(Set(catalogue.products.map(\.id)).count == catalogue.products.count, "\(name)")
        #expect(Set(catalogue.images.map(\.hash)) == Set(loaded.images.map(\.hash)), "\(name)")
        #expect(CatalogueSummary(of: catalogue) == loaded.summary, "\(name)")
        for product in catalogue.products {
            #expect(product.price.milliunits >= 0 && !product.id.isEmpty, "\(name)")
            #expect(product.type == .autoRenewable || product.subscription == nil, "\(name)")
            guard let subscription = product.subscription else { continue }
            #expect(catalogue.group(subscription.groupID) != nil && subscription.level >= 1, "\(name)")
            for offer in subscription.winBackOffers {
                guard let rule = offer.rule else { continue }
                #expect(rule.lapsedMonthsMin <= rule.lapsedMonthsMax && rule.paidMonthsMin >= 1, "\(name)")
            }
        }
    }

    private static func mutated(_ ours: [UInt8], _ other: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = ours
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let count = min(Int.random(in: 0..<40, using: &random), bytes.count - at)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes.removeSubrange(at..<at + count)
            case 1:
                bytes.replaceSubrange(at..<at + count, with: Array((words.randomElement(using: &random) ?? "").utf8))
            case 2: bytes.insert(contentsOf: Array((words.randomElement(using: &random) ?? "").utf8), at: at)
            case 3: for index in at..<at + count { bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            case 4:
                // A piece of another file.
                let from = Int.random(in: 0..<other.count, using: &random)
                bytes.insert(contentsOf: other[from..<min(other.count, from + count * 8)], at: at)
            default:
                // A piece of itself again.
                let from = Int.random(in: 0..<ours.count, using: &random)
                bytes.insert(contentsOf: ours[from..<min(ours.count, from + count * 8)], at: at)
            }
            if bytes.isEmpty { return bytes }
        }
        return bytes
    }
}
