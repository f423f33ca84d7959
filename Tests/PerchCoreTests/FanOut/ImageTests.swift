import PerchBase
import PerchCore
import PerchModel
import PerchSimulation
import PerchStore
import PerchWire
import Testing

@Suite(.onChosenStorage) struct `images` {
    private static let first = ImageContent([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1])
    private static let second = ImageContent([0xFF, 0xD8, 0xFF, 2])

    /// The shop's catalogue, whose gold has the image `A` with this content.
    private static func catalogue(_ content: ImageContent?) -> Catalogue {
        let plain = TestShop.catalogue()
        let products = plain.products.map { product in
            var product = product
            if product.id == "gold" { product.promotionalImageID = "A" }
            return product
        }
        let images = content.map {
            [CatalogueImage(id: "A", hash: $0.hash, byteCount: UInt32($0.bytes.count))]
        }
        return Catalogue(
            products: products, groups: plain.groups, schemaVersion: plain.schemaVersion, images: images ?? [])
    }

    private static func load(_ content: ImageContent?, _ name: UInt8, _ world: World, _ client: WireClient) throws {
        world.catalogueFiles[[name]] = (Self.catalogue(content), TestShop.settings())
        world.catalogueImages[[name]] = content.map { [$0] } ?? []
        try world.require(.loadCatalog(LoadCatalogRequest(file: [name], source: "test")), from: client)
    }

    private static func image(
        known: [UInt8] = [], _ world: World, _ client: WireClient
    ) throws -> ImageAnswer {
        let response = try world.require(.getImage(GetImageRequest(imageID: "A", knownHash: known)), from: client)
        guard case .getImage(let answer) = response else { throw NoAnswer() }
        return answer
    }

    @Test func `images are answered with bytes, type and hash, and with the hash alone to a caller that has them`()
        throws
    {
        let world = World()
        let client = world.welcomedClient()
        try Self.load(Self.first, 1, world, client)
        let answer = try Self.image(world, client)
        #expect(
            answer
                == ImageAnswer(
                    contentHash: Self.first.hash.bytes, contentType: "image/png", content: Self.first.bytes))
        let again = try Self.image(known: answer.contentHash, world, client)
        #expect(again == ImageAnswer(contentHash: answer.contentHash, isUnchanged: true))
        #expect(try Self.image(known: Self.second.hash.bytes, world, client) == answer)
        #expect(world.loops[0].core.counters.imagesSent == 2)
        #expect(world.loops[0].core.counters.imagesUnchanged == 1)
    }

    @Test func `that change are pushed to the products that have them, once, and to no others`() throws {
        let world = World()
        let client = world.welcomedClient()
        try Self.load(Self.first, 1, world, client)
        let gold = client.call(.products(["gold"]))
        let coins = client.call(.products(["coins"]))
        world.settle()
        let revision = world.engine.header.revision
        let before = [gold, coins].map { client.products(on: $0).count }
        try Self.load(Self.second, 2, world, client)
        let after = [gold, coins].map { client.products(on: $0).count }
        #expect(zip(before, after).map { $1 - $0 } == [1, 0])
        #expect(world.engine.header.revision == revision + 1)
        #expect(
            client.products(on: gold).last?.value?.products.first?.promotionalImageHash == Self.second.hash.bytes)
        #expect(try Self.image(world, client).content == Self.second.bytes)
    }

    @Test func `images of a reloaded catalogue are no change`() throws {
        let world = World()
        let client = world.welcomedClient()
        try Self.load(Self.first, 1, world, client)
        let stream = client.call(.products(["gold"]))
        world.settle()
        let (revision, count) = (world.engine.header.revision, client.products(on: stream).count)
        try Self.load(Self.first, 1, world, client)
        #expect(world.engine.header.revision == revision)
        #expect(client.products(on: stream).count == count)
    }

    @Test func `that are not there are NOT_FOUND, with what to do`() throws {
        let world = World()
        let client = world.welcomedClient()
        let none = world.answer(to: .getImage(GetImageRequest(imageID: "A")), from: client)
        #expect(none.status?.reason == "IMAGE_UNKNOWN")
        #expect(none.status?.code == StatusCode.notFound.rawValue)
        #expect(none.status?.message.contains("Assets/A.png") == true)
        try Self.load(Self.first, 1, world, client)
        let other = world.answer(to: .getImage(GetImageRequest(imageID: "B")), from: client)
        #expect(other.status?.reason == "IMAGE_UNKNOWN")
        #expect(other.status?.message.contains("promotional_image_id") == true)
        try Self.load(nil, 2, world, client)
        #expect(
            world.answer(to: .getImage(GetImageRequest(imageID: "A")), from: client).status?.reason == "IMAGE_UNKNOWN")
    }

    @Test(arguments: [
        (GetImageRequest(), "FIELD_MISSING", "image_id"),
        (GetImageRequest(imageID: "A", knownHash: [1]), "FIELD_INVALID", "known_hash has 1 bytes; send the 32"),
    ])
    func `images are requested by name, with a whole hash or none`(
        _ request: GetImageRequest, _ reason: String, _ says: String
    ) throws {
        let world = World()
        let client = world.welcomedClient()
        let status = world.answer(to: .getImage(request), from: client).status
        #expect(status?.reason == reason)
        #expect(status?.message.contains(says) == true)
    }

    @Test(arguments: [Self.second, nil])
    func `replaced while they are on their way are the new ones, or none`(_ next: ImageContent?) throws {
        let world = World()
        let client = world.welcomedClient()
        try Self.load(Self.first, 1, world, client)
        world.catalogueFiles[[2]] = (Self.catalogue(next), TestShop.settings())
        world.catalogueImages[[2]] = next.map { [$0] } ?? []
        // Both in one turn: the store commits the catalogue and then reads an image that is gone, or the other way.
        client.call(.loadCatalog(LoadCatalogRequest(file: [2], source: "test")))
        let asked = (0..<20).map { _ in
            _ = world.deliver(client)
            world.turn()
            let stream = client.call(.getImage(GetImageRequest(imageID: "A")))
            world.runStore()
            return stream
        }
        world.settle()
        let contents = client.events.compactMap { event -> [UInt8]? in
            guard case .message(let stream, .getImage(let answer)) = event, asked.contains(stream) else { return nil }
            return answer.content
        }
        let expected: Set<[UInt8]> = [Self.first.bytes, next?.bytes ?? Self.first.bytes]
        #expect(Set(contents).isSubset(of: expected))
        #expect(contents.count == asked.count || next == nil)
    }

    @Test func `images are listed in the contents of a catalogue`() throws {
        let world = World()
        let client = world.welcomedClient()
        try Self.load(Self.first, 1, world, client)
        guard case .getCatalog(let contents) = try world.require(.getCatalog(GetCatalogRequest()), from: client) else {
            throw NoAnswer()
        }
        #expect(
            contents.images == [
                CatalogImageInfo(id: "A", contentHash: Self.first.hash.bytes, byteCount: UInt32(Self.first.bytes.count))
            ])
        #expect(contents.summary.imageCount == 1)
        #expect(contents.summary.subscriptionCount > 0)
    }
}
