import PerchBase
import PerchModel
import PerchWire

// What requests have in common.
extension Request {
    /// The view that a call watches, and its account; nil for other calls.
    var watched: (view: ViewKey, account: [UInt8]?)? {
        switch self {
        case .productsTask(let asked):
            return (asked.viewKey, nil)
        case .subscriptionStatusTask(let asked):
            return (.status(group: asked.groupID, isSigned: asked.includesJWS), Array(asked.account.utf8))
        case .currentEntitlementTask(let asked):
            return (.entitlement(product: asked.productID, isSigned: asked.includesJWS), Array(asked.account.utf8))
        case .purchaseIntents(let asked): return (.intents, Array(asked.account.utf8))
        case .messages(let asked): return (.messages, Array(asked.account.utf8))
        case .entitlementsTask(let asked): return (.entitlements, Array(asked.account.utf8))
        default: return nil
        }
    }

    /// Every account that the request names, for callers that may use only one.
    ///
    /// The generator refuses a method of one account whose request has no field `account`.
    var accountsNamed: [String] {
        switch self {
        case .operate(let asked): [asked.account] + (asked.operation?.member.map { [$0] } ?? [])
        case .setClock(let asked):
            if case .advanceToBoundary(let account)? = asked.change { [account] } else { [] }
        case .mergeAccounts(let asked): [asked.account, asked.intoAccount]
        default: self.account.map { [$0] } ?? []
        }
    }
}

extension ProductsRequest {
    /// What it shows, whoever asks.
    var viewKey: ViewKey {
        var seen: Set<String> = []
        let ids = self.productIDs.filter { seen.insert($0).inserted }
        return .products(ids: ids, locale: self.locale, storefront: self.storefront)
    }
}
