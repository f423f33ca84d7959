import PerchWire

extension Request {
    /// The first text with a NUL in it, and where; nil if there is none.
    var fieldWithNUL: (name: String, byte: Int)? {
        for (name, text) in self.texts {
            for (offset, byte) in text.utf8.enumerated() where byte == 0 { return (name, offset) }
        }
        return nil
    }

    /// Every text of a request, by the contract's names.
    private var texts: [(name: String, text: String)] {
        switch self {
        case .productsTask(let request), .getProducts(let request):
            return request.app.texts + request.productIDs.map { ("product_ids", $0) }
                + [("locale", request.locale), ("storefront", request.storefront)]
        case .getImage(let request):
            return request.app.texts + [("image_id", request.imageID)]
        case .subscriptionStatusTask(let request), .getSubscriptionStatus(let request):
            return request.app.texts + [("account", request.account), ("group_id", request.groupID)]
        case .currentEntitlementTask(let request), .getCurrentEntitlement(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .listCurrentEntitlements(let request):
            return request.app.texts + [("account", request.account)]
        case .purchase(let request):
            return request.app.texts + [
                ("account", request.account), ("product_id", request.productID),
                ("app_account_token", request.appAccountToken), ("offer.id", request.offer?.id ?? ""),
                ("offer.jws", request.offer?.jws ?? ""),
            ]
        case .finish(let request):
            return request.app.texts + [("account", request.account)]
        case .listTransactions(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .listUnfinished(let request):
            return request.app.texts + [("account", request.account)]
        case .getLatestTransaction(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .transactionUpdates(let request):
            return request.app.texts + [("account", request.account)]
        case .buyProduct(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .refundTransaction(let request):
            return request.app.texts
        case .setAutoRenew(let request):
            return request.app.texts
        case .forceRenewal(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .expireSubscription(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .getClock(let request):
            return request.app.texts
        case .setClock(let request):
            guard case .advanceToBoundary(let account)? = request.change else { return request.app.texts }
            return request.app.texts + [("account", account)]
        case .setTimeRate(let request):
            return request.app.texts
        case .loadCatalog(let request):
            return request.app.texts + [("source", request.source)] + request.images.map { ("images.id", $0.id) }
        case .getCatalog(let request):
            return request.app.texts
        case .checkCatalog(let request):
            return request.images.map { ("images.id", $0.id) }
        case .listApps, .getServerStatus:
            return []
        }
    }
}

extension AppReference {
    fileprivate var texts: [(name: String, text: String)] { [("app.bundle_id", self.bundleID)] }
}
