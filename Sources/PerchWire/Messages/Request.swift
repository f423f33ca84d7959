/// A request of any method, as both sides have it.
package indirect enum Request: Hashable, Sendable {
    case productsTask(ProductsRequest)
    case subscriptionStatusTask(SubscriptionStatusRequest)
    case currentEntitlementTask(CurrentEntitlementRequest)
    case getProducts(ProductsRequest)
    case getImage(GetImageRequest)
    case getSubscriptionStatus(SubscriptionStatusRequest)
    case getCurrentEntitlement(CurrentEntitlementRequest)
    case listCurrentEntitlements(ListCurrentEntitlementsRequest)
    case listPlanOptions(PlanOptionsRequest)
    case getOfferEligibility(OfferEligibilityRequest)
    case getAppPolicies(AppPoliciesRequest)
    case explain(ExplainRequest)
    case purchase(PurchaseRequest)
    case finish(FinishRequest)
    case listTransactions(ListTransactionsRequest)
    case listUnfinished(ListUnfinishedRequest)
    case getLatestTransaction(LatestTransactionRequest)
    case transactionUpdates(TransactionUpdatesRequest)
    case sync(SyncRequest)
    case requestRefund(RefundRequest)
    case redeemOfferCode(RedeemOfferCodeRequest)
    case manageSubscriptions(ManageSubscriptionsRequest)
    case getAppTransaction(AppTransactionRequest)
    case purchaseIntents(AccountWatchRequest)
    case messages(AccountWatchRequest)
    case operate(OperateRequest)
    case inspectAccount(InspectAccountRequest)
    case listAccounts(ListAccountsRequest)
    case configure(ConfigureRequest)
    case getSettings(SettingsRequest)
    case getClock(ClockRequest)
    case setClock(SetClockRequest)
    case listApps
    case checkCatalog(CheckCatalogRequest)
    case loadCatalog(LoadCatalogRequest)
    case getCatalog(GetCatalogRequest)
    case getServerStatus
    case backup(BackupRequest)
    case revokeToken(RevokeTokenRequest)

    package var method: Method {
        switch self {
        case .productsTask: .productsTask
        case .subscriptionStatusTask: .subscriptionStatusTask
        case .currentEntitlementTask: .currentEntitlementTask
        case .getProducts: .getProducts
        case .getImage: .getImage
        case .getSubscriptionStatus: .getSubscriptionStatus
        case .getCurrentEntitlement: .getCurrentEntitlement
        case .listCurrentEntitlements: .listCurrentEntitlements
        case .listPlanOptions: .listPlanOptions
        case .getOfferEligibility: .getOfferEligibility
        case .getAppPolicies: .getAppPolicies
        case .explain: .explain
        case .purchase: .purchase
        case .finish: .finish
        case .listTransactions: .listTransactions
        case .listUnfinished: .listUnfinished
        case .getLatestTransaction: .getLatestTransaction
        case .transactionUpdates: .transactionUpdates
        case .sync: .sync
        case .requestRefund: .requestRefund
        case .redeemOfferCode: .redeemOfferCode
        case .manageSubscriptions: .manageSubscriptions
        case .getAppTransaction: .getAppTransaction
        case .purchaseIntents: .purchaseIntents
        case .messages: .messages
        case .operate: .operate
        case .inspectAccount: .inspectAccount
        case .listAccounts: .listAccounts
        case .configure: .configure
        case .getSettings: .getSettings
        case .getClock: .getClock
        case .setClock: .setClock
        case .listApps: .listApps
        case .checkCatalog: .checkCatalog
        case .loadCatalog: .loadCatalog
        case .getCatalog: .getCatalog
        case .getServerStatus: .getServerStatus
        case .backup: .backup
        case .revokeToken: .revokeToken
        }
    }
}
