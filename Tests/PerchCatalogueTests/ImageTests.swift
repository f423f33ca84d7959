import PerchBase
import PerchCatalogue
import PerchJSON
import PerchModel
import Testing

@Suite struct `images of a bundle` {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func png(_ fill: UInt8, count: Int = 100) -> [UInt8] {
        Self.png + [UInt8](repeating: fill, count: count - Self.png.count)
    }

    private static func product(_ id: String, image: String) -> Made {
        Made.product(id).with("promotionalImageID", "\"\(image)\"")
    }

    private func load(_ products: [Made], _ images: [ImageFile]) throws -> LoadedCatalogue {
        try StoreKitFile.load(Array(Made.file(products: products).json.utf8), images: images)
    }

    @Test func `the images are those that products name, by ID, each with its bytes and hash`() throws {
        let (a, b) = (ImageFile(id: "A", bytes: Self.png(1)), ImageFile(id: "B", bytes: Self.png(2)))
        let products = [Self.product("x", image: "B"), Self.product("y", image: "A"), Self.product("z", image: "B")]
        let loaded = try self.load(products, [a, b])
        #expect(loaded.catalogue.images.map(\.id) == ["A", "B"])
        #expect(loaded.catalogue.image("A")?.hash == ContentHash(of: a.bytes))
        #expect(loaded.catalogue.image("A")?.byteCount == 100)
        #expect(Set(loaded.images) == [ImageContent(a.bytes), ImageContent(b.bytes)])
        #expect(loaded.summary.imageCount == 2)
        #expect(loaded.summary.description.hasSuffix(", 2 images"))
        #expect(loaded.warnings == [])
    }

    @Test func `images with other bytes make another catalogue`() throws {
        let product = [Self.product("x", image: "A")]
        let one = try self.load(product, [ImageFile(id: "A", bytes: Self.png(1))]).catalogue
        #expect(try self.load(product, [ImageFile(id: "A", bytes: Self.png(1))]).catalogue == one)
        #expect(try self.load(product, [ImageFile(id: "A", bytes: Self.png(2))]).catalogue != one)
    }

    @Test(arguments: [
        ("with others in the bundle", [ImageFile(id: "B", bytes: [])], "no such file is in Assets"),
        ("in a plain file", [], "Assets/A.png"),
        ("that is a text", [ImageFile(id: "A", bytes: Array("text".utf8))], "neither PNG nor JPEG"),
        ("that is empty", [ImageFile(id: "A", bytes: [])], "neither PNG nor JPEG"),
    ])
    func `that cannot be had are reported at the product, which is sold without`(
        _ name: String, _ files: [ImageFile], _ says: String
    ) throws {
        let loaded = try self.load([Self.product("x", image: "A")], files)
        #expect(loaded.catalogue.product("x")?.promotionalImageID == "A")
        #expect(loaded.catalogue.images == [])
        let warning = try #require(loaded.warnings.first { $0.productID == "x" })
        #expect(warning.reason == .image)
        #expect(warning.message.contains(says))
        #expect(warning.place > .start)
    }

    @Test func `that no product names are left out and reported`() throws {
        let loaded = try self.load([Made.product("x")], [ImageFile(id: "A", bytes: Self.png(1))])
        #expect(loaded.images == [])
        #expect(loaded.reasons == [.image])
    }

    @Test func `an image may be JPEG`() throws {
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
        let loaded = try self.load([Self.product("x", image: "A")], [ImageFile(id: "A", bytes: jpeg)])
        #expect(loaded.images.map(\.bytes) == [jpeg])
        #expect(ImageContent.contentType(of: jpeg) == "image/jpeg")
        #expect(ImageContent.contentType(of: Self.png(1)) == "image/png")
    }

    @Test func `beyond the limit refuse the file, with product, place and both numbers`() throws {
        let limit = Limits.catalogueImageBytes
        #expect(
            try self.load([Self.product("x", image: "A")], [ImageFile(id: "A", bytes: Self.png(1, count: limit))])
                .warnings == [])
        let error = try #require(throws: CatalogueError.self) {
            _ = try self.load(
                [Self.product("x", image: "A")], [ImageFile(id: "A", bytes: Self.png(1, count: limit + 1))])
        }
        #expect(error.reason == .imageTooLong)
        #expect(error.productID == "x")
        #expect(error.message.contains("\(limit + 1) bytes, the limit is \(limit)"))
    }

    @Test func `that are too many bytes together refuse the file`() throws {
        // JPEG's three bytes and zeros. Images of equal bytes are counted each time.
        let bytes = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: Limits.catalogueImageBytes - 3)
        let count = Limits.catalogueImagesBytes / bytes.count + 1
        let files = (0..<count).map { ImageFile(id: "\($0)", bytes: bytes) }
        let products = (0..<count).map { Self.product("p\($0)", image: "\($0)") }
        let error = try #require(throws: CatalogueError.self) { _ = try self.load(products, files) }
        #expect(error.reason == .imageTooLong)
        #expect(error.message.contains("the limit is \(Limits.catalogueImagesBytes)"))
    }

    @Test func `images with a name that is too long are left out`() throws {
        let name = String(repeating: "x", count: Limits.catalogueIdentifierBytes + 1)
        let loaded = try self.load([Self.product("x", image: name)], [])
        #expect(loaded.catalogue.product("x")?.promotionalImageID == "")
        #expect(loaded.reasons == [.leftOut])
    }
}
