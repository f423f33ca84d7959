import PerchJSON
package import PerchModel

/// The content of a `.storekit` file.
package struct LoadedCatalogue: Sendable {
    package let catalogue: Catalogue
    /// The settings that an app begins with; the test store changes them later.
    package let settings: AppSettings
    /// The failures that the file chooses, armed or not.
    package let failures: [FileFailure]
    /// The bytes of the catalogue's images.
    package let images: [ImageContent]
    package let summary: CatalogueSummary
    /// In the order of the file.
    package let warnings: [CatalogueWarning]
    /// Whether there was a file of named entitlements beside it.
    package var hasEntitlements = false

    /// The same, with the named entitlements of another file.
    func naming(_ entitlements: [EntitlementRule]) -> LoadedCatalogue {
        LoadedCatalogue(
            catalogue: self.catalogue.replacing(entitlements: entitlements), settings: self.settings,
            failures: self.failures, images: self.images, summary: self.summary, warnings: self.warnings,
            hasEntitlements: true)
    }
}

/// Xcode's StoreKit configuration file: one JSON document. Apple publishes no schema. The loader reads what real files of
/// all versions have, whatever version they state, and warns of unknown keys with their places.
///
/// Pure: bytes in, values out, on any thread. The caller reads the file, or the bundle directory with its
/// `Configuration.storekit` and `Assets`.
package enum StoreKitFile {
    /// Loads a whole file. Throws at the first mistake that refuses it.
    package static func load(
        _ bytes: [UInt8], images: [ImageFile] = [], entitlements: [UInt8]? = nil
    ) throws(CatalogueError) -> LoadedCatalogue {
        let root: JSONValue
        do {
            root = try JSONReader.read(bytes)
        } catch {
            throw CatalogueError(error)
        }
        var loader = CatalogueLoader()
        let loaded = try loader.load(root, images)
        guard let entitlements else { return loaded }
        return loaded.naming(try EntitlementFile.load(entitlements, for: loaded.catalogue))
    }
}
