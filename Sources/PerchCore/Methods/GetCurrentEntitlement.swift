import PerchModel
import PerchWire

struct GetCurrentEntitlement: RecordMethod {
    let asked: CurrentEntitlementRequest

    func check() throws(CallRefusal) { try Check.present(self.asked.productID, "product_id") }

    func answer(_ read: AccountRead) -> TaskState<Verified<Transaction>?> {
        if let (failure, info) = read.failure(of: .currentEntitlement) { return .failure(failure, info) }
        let product = self.asked.productID
        let viewed = currentEntitlement(of: read.record, toProduct: product, app: read.app, at: read.now)
        var shown = read.info(
            self.asked.viewKey, read.context.codec.digest(of: viewed.value), forecast: viewed.forecast)
        shown.isNotInCatalog = viewed.value == nil && read.app.catalogue.product(product) == nil
        guard read.isSigned, var transaction = viewed.value else { return .success(viewed.value, shown) }
        read.signing.sign(&transaction)
        return .success(transaction, shown)
    }
}
