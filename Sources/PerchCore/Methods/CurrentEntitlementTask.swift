import PerchModel
import PerchWire

struct CurrentEntitlementTask: WatchMethod {
    let asked: CurrentEntitlementRequest

    var view: ViewKey { self.asked.viewKey }

    func check() throws(CallRefusal) { try Check.present(self.asked.productID, "product_id") }
}

extension CurrentEntitlementRequest {
    var viewKey: ViewKey { .entitlement(product: self.productID, isSigned: self.includesJWS) }
}
