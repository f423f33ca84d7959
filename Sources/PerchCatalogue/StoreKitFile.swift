import PerchJSON
package import PerchModel

/// What a `.storekit` file says.
package struct LoadedCatalogue: Sendable {
    package let catalogue: Catalogue
    /// The settings that an app begins with; the test store changes them later.
    package let settings: AppSettings
    /// What the file makes fail, or has chosen to.
    package let failures: [FileFailure]
    /// The bytes of the catalogue's images.
    package let images: [ImageContent]
    package let summary: CatalogueSummary
    /// In the order of the file.
    package let warnings: [CatalogueWarning]
}

/// Xcode's StoreKit configuration file: one JSON document. Apple publishes no schema, so this reads what real files of
/// all versions were seen to have, asks no version number, and says at which place it found what it does not know.
///
/// Pure: bytes in, values out, on any thread. Who has a path, or a bundle directory with its `Configuration.storekit` and
/// its `Assets`, reads the bytes himself.
package enum StoreKitFile {
    /// All of a file or nothing: the first thing that cannot be used throws.
    package static func load(
        _ bytes: [UInt8], images: [ImageFile] = []
    ) throws(CatalogueError) -> LoadedCatalogue {
        let root: JSONValue
        do {
            root = try JSONReader.read(bytes)
        } catch {
            throw CatalogueError(error)
        }
        var loader = CatalogueLoader()
        return try loader.load(root, images)
    }
}
