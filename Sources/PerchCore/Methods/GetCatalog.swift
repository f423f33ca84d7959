import PerchBase
import PerchModel
import PerchWire

struct GetCatalog: AppMethod {
    let asked: GetCatalogRequest

    func answer(_ context: MethodContext) -> CatalogContents {
        let app = context.app
        let catalogue = app.catalogue
        return CatalogContents(
            productIDs: catalogue.products.map(\.id), groupIDs: catalogue.groups.map(\.id),
            source: app.catalogueSource, revision: app.catalogueRevision,
            summary: CatalogSummary(counting: catalogue),
            images: catalogue.images.map {
                CatalogImageInfo(id: $0.id, contentHash: $0.hash.bytes, byteCount: $0.byteCount)
            }, codeOffers: catalogue.codeOffers(limit: Limits.offerCodesMax))
    }
}
