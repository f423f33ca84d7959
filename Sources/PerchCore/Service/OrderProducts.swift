import PerchBase
import PerchModel

/// The places of products in catalogues, by the place at which the codec keeps their names: an order looks one up without
/// hashing a text.
struct OrderProducts {
    private struct Entry {
        var version: UInt32
        var app: AppNumber
        var catalogueRevision: UInt64
        var product: Int32
    }

    private var entries: [Entry?] = Array(repeating: nil, count: Limits.recentTexts)

    /// Nil where the catalogue has no such product. `name` is called for one that is not known yet.
    @inline(__always)
    mutating func place(
        at place: Int, version: UInt32, of app: AppState, _ name: () -> String
    ) -> Int32? {
        if let entry = self.entries[place], entry.version == version, entry.app == app.number,
            entry.catalogueRevision == app.catalogueRevision
        {
            return entry.product
        }
        guard let product = app.catalogue.place(ofProduct: name()) else { return nil }
        self.entries[place] = Entry(
            version: version, app: app.number, catalogueRevision: app.catalogueRevision, product: Int32(product))
        return Int32(product)
    }
}
