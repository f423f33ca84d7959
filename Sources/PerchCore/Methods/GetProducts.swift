import PerchModel
import PerchWire

struct GetProducts: AppMethod {
    let asked: ProductsRequest

    func check() throws(CallRefusal) { try Check.products(self.asked) }

    func answer(_ context: MethodContext) -> TaskState<Products> {
        let app = context.app
        var info = context.info(record: nil, app: app, at: context.now, forecast: nil)
        if let refusal = simulatedFailure(of: .loadProducts, app: app) {
            return .failure(WireStatus(refusal).failure, info)
        }
        let value = products(
            self.asked.productIDs, locale: self.asked.locale, storefront: self.asked.storefront, app: app)
        info.token = context.token(
            self.asked.viewKey, account: [], app.number, info.position, context.codec.digest(of: value))
        return .success(value, info)
    }
}
