import PerchBase
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
        case .listApps, .checkCatalog, .getServerStatus, .backup: nil
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
}
