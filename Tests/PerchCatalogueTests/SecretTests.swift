import PerchCatalogue
import PerchModel
import Testing

@Suite struct `private keys` {
    private static let secret = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg"
    private static let pair = "{\"id\":\"8A1B2C3D\",\"privateKey\":\"\(secret)\"}"

    /// Everywhere that a hand may have put it.
    static let files: [Made] = {
        let a = Made.product("a")
        let s = Made.subscription("s")
        let both = Made.file(products: [a], groups: [.group("g", [s])])
        return [
            both.with("subscriptionOffersKeyPair", pair),
            both.with("privateKey", "\"\(secret)\""),
            both.with("settings", "{\"subscriptionOffersKeyPair\":\(pair)}"),
            Made.file(products: [a.with("subscriptionOffersKeyPair", pair)]),
            Made.file(products: [a.with("privateKey", "\"\(secret)\"")]),
            Made.file(products: [a.with("localizations", "[{\"locale\":\"en\",\"privateKey\":\"\(secret)\"}]")]),
            Made.file(s.with("adHocOffers", Made.list([Made.offer.with("subscriptionOffersKeyPair", pair)]))),
            Made.file(groups: [Made.group("g", [s]).with("subscriptionOffersKeyPair", pair)]),
        ]
    }()

    @Test(arguments: files.indices)
    func `a private key is in nothing that comes out of a file`(_ index: Int) throws {
        let loaded = try Self.files[index].load()
        var everything = ""
        dump(loaded, to: &everything)
        for product in loaded.catalogue.products {
            let json = String(decoding: product.json, as: UTF8.self)
            #expect(json.contains("productID"))
            everything += json
            dump(product, to: &everything)
        }
        everything += loaded.warnings.map(\.description).joined() + loaded.summary.description
        #expect(!everything.contains("MIGH"))
        #expect(!everything.contains("8A1B2C3D") || index == 1)
    }

    /// Files that are refused close to the key, or in it.
    @Test(arguments: [
        "{\"subscriptionOffersKeyPair\":\(pair),}",
        "{\"subscriptionOffersKeyPair\":\(pair)}",
        "{\"subscriptionOffersKeyPair\":{\"privateKey\":\(secret)}}",
        "{\"subscriptionOffersKeyPair\":{\"privateKey\":\"\(secret)\n\"}}",
        "{\"subscriptionOffersKeyPair\":{\"privateKey\":\"\(secret)",
        "{\"subscriptionOffersKeyPair\":{\"privateKey\" \"\(secret)\"}}",
        "{\"subscriptionOffersKeyPair\":{\"privateKey\":\"\(secret)\",\"privateKey\":\"\(secret)\"}}",
        "{\"subscriptionOffersKeyPair\":\"\(secret)\",\"products\":\"\(secret)\"}",
    ])
    func `a private key is in no error`(_ text: String) throws {
        let error = try #require(throws: CatalogueError.self) { _ = try StoreKitFile.load(Array(text.utf8)) }
        var everything = error.description
        dump(error, to: &everything)
        #expect(!everything.contains("MIG"), "\(error)")
    }
}
