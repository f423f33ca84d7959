import PerchBase
import PerchModel
import PerchWire

// What requests have in common.
extension Request {
    /// Nil for methods that are about the server and not about an app.
    var appReference: AppReference? {
        switch self {
        case .productsTask(let asked), .getProducts(let asked): asked.app
        case .getImage(let asked): asked.app
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked): asked.app
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked): asked.app
        case .listCurrentEntitlements(let asked): asked.app
        case .purchase(let asked): asked.app
        case .finish(let asked): asked.app
        case .listTransactions(let asked): asked.app
        case .listUnfinished(let asked): asked.app
        case .getLatestTransaction(let asked): asked.app
        case .transactionUpdates(let asked): asked.app
        case .sync(let asked): asked.app
        case .requestRefund(let asked): asked.app
        case .redeemOfferCode(let asked): asked.app
        case .manageSubscriptions(let asked): asked.app
        case .getAppTransaction(let asked): asked.app
        case .purchaseIntents(let asked), .messages(let asked): asked.app
        case .listPlanOptions(let asked): asked.app
        case .getOfferEligibility(let asked): asked.app
        case .getAppPolicies(let asked): asked.app
        case .explain(let asked): asked.app
        case .operate(let asked): asked.app
        case .inspectAccount(let asked): asked.app
        case .listAccounts(let asked): asked.app
        case .configure(let asked): asked.app
        case .getSettings(let asked): asked.app
        case .getClock(let asked): asked.app
        case .setClock(let asked): asked.app
        case .loadCatalog(let asked): asked.app
        case .getCatalog(let asked): asked.app
        case .listApps, .checkCatalog, .getServerStatus, .backup, .revokeToken: nil
        }
    }

    /// "At least this position", where a caller demanded it.
    var atLeast: Position? {
        switch self {
        case .productsTask(let asked), .getProducts(let asked): asked.atLeast
        case .getImage(let asked): asked.atLeast
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked): asked.atLeast
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked): asked.atLeast
        case .listCurrentEntitlements(let asked): asked.atLeast
        case .listTransactions(let asked): asked.atLeast
        case .listUnfinished(let asked): asked.atLeast
        case .getLatestTransaction(let asked): asked.atLeast
        case .transactionUpdates(let asked): asked.atLeast
        case .getAppTransaction(let asked): asked.atLeast
        case .purchaseIntents(let asked), .messages(let asked): asked.atLeast
        case .listPlanOptions(let asked): asked.atLeast
        case .getOfferEligibility(let asked): asked.atLeast
        case .explain(let asked): asked.atLeast
        case .inspectAccount(let asked): asked.atLeast
        default: nil
        }
    }

    /// What a call that watches a view goes on from, empty where it begins; nil for others.
    var resumeToken: [UInt8]? {
        switch self {
        case .productsTask(let asked): asked.resumeToken
        case .subscriptionStatusTask(let asked): asked.resumeToken
        case .currentEntitlementTask(let asked): asked.resumeToken
        case .purchaseIntents(let asked), .messages(let asked): asked.resumeToken
        default: nil
        }
    }

    /// The view that a call watches, and whose, if anybody's; nil for others.
    var watched: (view: ViewKey, account: [UInt8]?)? {
        switch self {
        case .productsTask(let asked):
            return (asked.viewKey, nil)
        case .subscriptionStatusTask(let asked): return (.status(group: asked.groupID), Array(asked.account.utf8))
        case .currentEntitlementTask(let asked):
            return (.entitlement(product: asked.productID), Array(asked.account.utf8))
        case .purchaseIntents(let asked): return (.intents, Array(asked.account.utf8))
        case .messages(let asked): return (.messages, Array(asked.account.utf8))
        default: return nil
        }
    }

    /// Every account that the request is about, for callers who may ask for one only. Exhaustive, so that a new request
    /// says whose it is; one without an account for a method that needs one gives an empty name, which is nobody's.
    var accountsNamed: [String] {
        switch self {
        case .subscriptionStatusTask(let asked), .getSubscriptionStatus(let asked): [asked.account]
        case .currentEntitlementTask(let asked), .getCurrentEntitlement(let asked): [asked.account]
        case .listCurrentEntitlements(let asked): [asked.account]
        case .purchase(let asked): [asked.account]
        case .finish(let asked): [asked.account]
        case .listTransactions(let asked): [asked.account]
        case .listUnfinished(let asked): [asked.account]
        case .getLatestTransaction(let asked): [asked.account]
        case .transactionUpdates(let asked): [asked.account]
        case .sync(let asked): [asked.account]
        case .requestRefund(let asked): [asked.account]
        case .redeemOfferCode(let asked): [asked.account]
        case .manageSubscriptions(let asked): [asked.account]
        case .getAppTransaction(let asked): [asked.account]
        case .purchaseIntents(let asked), .messages(let asked): [asked.account]
        case .listPlanOptions(let asked): [asked.account]
        case .getOfferEligibility(let asked): [asked.account]
        case .explain(let asked): [asked.account]
        // Sharing names the member of the family as well.
        case .operate(let asked): [asked.account] + (asked.operation?.member.map { [$0] } ?? [])
        case .inspectAccount(let asked): [asked.account]
        case .setClock(let asked):
            if case .advanceToBoundary(let account)? = asked.change { [account] } else { [] }
        case .productsTask, .getProducts, .getImage, .getAppPolicies, .listAccounts, .configure, .getSettings,
            .getClock, .listApps, .checkCatalog, .loadCatalog, .getCatalog, .getServerStatus, .backup, .revokeToken:
            []
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
