import PerchModel
import PerchWire

extension Request {
    /// The first text that contains a NUL, and the NUL's offset; nil for none.
    var fieldWithNUL: (name: String, byte: Int)? {
        for (name, text) in self.texts {
            for (offset, byte) in text.utf8.enumerated() where byte == 0 { return (name, offset) }
        }
        return nil
    }

    /// Every text of a request, by its name in the contract.
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
            return request.app.texts + [("account", request.account)] + request.order.texts("order")
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
        case .sync(let request):
            return request.app.texts + [("account", request.account)]
        case .requestRefund(let request):
            return request.app.texts + [("account", request.account), ("text", request.text)]
        case .redeemOfferCode(let request):
            return request.app.texts + [
                ("account", request.account), ("code", request.code), ("product_id", request.productID),
            ]
        case .manageSubscriptions(let request):
            return request.app.texts + [("account", request.account), ("product_id", request.productID)]
        case .getAppTransaction(let request):
            return request.app.texts + [("account", request.account)]
        case .purchaseIntents(let request), .messages(let request):
            return request.app.texts + [("account", request.account)]
        case .listPlanOptions(let request):
            return request.app.texts + [
                ("account", request.account), ("group_id", request.groupID), ("locale", request.locale),
            ]
        case .getOfferEligibility(let request):
            return request.app.texts + [
                ("account", request.account), ("group_id", request.groupID), ("product_id", request.productID),
            ]
        case .getAppPolicies(let request):
            return request.app.texts + [("locale", request.locale)]
        case .explain(let request):
            let texts = request.app.texts + [("account", request.account)]
            switch request.about {
            case .group(let id)?: return texts + [("group_id", id)]
            case .product(let id)?: return texts + [("product_id", id)]
            case nil: return texts
            }
        case .operate(let request):
            return request.app.texts + [("account", request.account)] + (request.operation?.texts ?? [])
        case .inspectAccount(let request):
            return request.app.texts + [("account", request.account)]
        case .listAccounts(let request):
            return request.app.texts
        case .configure(let request):
            return request.app.texts + request.settings.flatMap(\.texts)
        case .getSettings(let request):
            return request.app.texts
        case .getClock(let request):
            return request.app.texts
        case .setClock(let request):
            guard case .advanceToBoundary(let account)? = request.change else { return request.app.texts }
            return request.app.texts + [("account", account)]
        case .loadCatalog(let request):
            return request.app.texts + [("source", request.source)] + request.images.map { ("images.id", $0.id) }
        case .getCatalog(let request):
            return request.app.texts
        case .backup(let request):
            return [("path", request.path)]
        case .checkCatalog(let request):
            return request.images.map { ("images.id", $0.id) }
        case .revokeToken(let request):
            return [("token_id", request.tokenID)]
        case .listApps, .getServerStatus:
            return []
        }
    }
}

extension AppReference {
    fileprivate var texts: [(name: String, text: String)] { [("app.bundle_id", self.bundleID)] }
}

extension PurchaseOrder {
    fileprivate func texts(_ field: String) -> [(name: String, text: String)] {
        let own = [
            ("product_id", self.productID), ("app_account_token", self.appAccountToken),
            ("introductory_eligibility_jws", self.introductoryEligibilitySignature),
            ("seen_storefront", self.seenStorefront),
        ]
        return own.map { ("\(field).\($0.0)", $0.1) } + (self.offer?.texts("\(field).offer") ?? [])
    }
}

extension OrderedOffer {
    fileprivate func texts(_ field: String) -> [(name: String, text: String)] {
        [("\(field).id", self.id), ("\(field).jws", self.signature)]
    }
}

extension OperationTarget {
    fileprivate func texts(_ operation: String) -> [(name: String, text: String)] {
        guard case .product(let id) = self else { return [] }
        return [("operation.\(operation).target.product_id", id)]
    }
}

extension StoreOperation {
    fileprivate var texts: [(name: String, text: String)] {
        switch self {
        case .buy(let order): order.texts("operation.buy")
        case .refund(let target, _, _): target.texts("refund")
        case .reverseRefund(let target): target.texts("reverse_refund")
        case .declineRefund(let target): target.texts("decline_refund")
        case .requestConsumption(let target): target.texts("request_consumption")
        case .renew(let target): target.texts("renew")
        case .expire(let target): target.texts("expire")
        case .setAutoRenew(let target, _): target.texts("set_auto_renew")
        case .resolveBilling(let target): target.texts("resolve_billing")
        case .raisePrice(let target, _, _): target.texts("raise_price")
        case .answerPriceIncrease(let target, _): target.texts("answer_price_increase")
        case .extendRenewal(let target, _): target.texts("extend_renewal")
        case .share(let target, let member): target.texts("share") + [("operation.share.member", member)]
        case .stopSharing(let target, let member):
            (target?.texts("stop_sharing") ?? []) + [("operation.stop_sharing.member", member ?? "")]
        case .createIntent(let product, let offer):
            [("operation.create_intent.product_id", product)]
                + (offer?.texts("operation.create_intent.offer") ?? [])
        case .setStorefront(let storefront): [("operation.set_storefront.storefront", storefront)]
        case .setCharges, .decidePurchase, .deleteTransaction, .clearTransactions, .endIntent, .postMessage: []
        }
    }
}

extension AppSettingChange {
    fileprivate var texts: [(name: String, text: String)] {
        switch self {
        case .storefront(let text): [("settings.storefront", text)]
        case .locale(let text): [("settings.locale", text)]
        case .product(let edit):
            [
                ("settings.product.product_id", edit.productID),
                ("settings.product.display_name", edit.displayName ?? ""),
            ]
                + edit.offers.flatMap { offer in
                    [("settings.product.offers.id", offer.id)]
                        + offer.eligibility.map { ("settings.product.offers.eligibility", $0) }
                }
        default: []
        }
    }
}
