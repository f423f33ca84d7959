import PerchModel
import PerchWire

struct ProductsTask: WatchMethod {
    let asked: ProductsRequest

    var view: ViewKey { self.asked.viewKey }

    func check() throws(CallRefusal) { try Check.products(self.asked) }
}

extension ProductsRequest {
    /// What it shows, whoever asks.
    var viewKey: ViewKey {
        var seen: Set<String> = []
        let ids = self.productIDs.filter { seen.insert($0).inserted }
        return .products(ids: ids, locale: self.locale, storefront: self.storefront)
    }
}
