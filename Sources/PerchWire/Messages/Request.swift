/// A request of any method, as both sides have it.
package enum Request: Hashable, Sendable {
    case productsTask(ProductsRequest)
    case subscriptionStatusTask(SubscriptionStatusRequest)
    case currentEntitlementTask(CurrentEntitlementRequest)
    case getProducts(ProductsRequest)
    case getImage(GetImageRequest)
    case getSubscriptionStatus(SubscriptionStatusRequest)
    case getCurrentEntitlement(CurrentEntitlementRequest)
    case listCurrentEntitlements(ListCurrentEntitlementsRequest)
    case purchase(PurchaseRequest)
    case finish(FinishRequest)
    case listTransactions(ListTransactionsRequest)
    case listUnfinished(ListUnfinishedRequest)
    case getLatestTransaction(LatestTransactionRequest)
    case transactionUpdates(TransactionUpdatesRequest)
    case buyProduct(BuyProductRequest)
    case refundTransaction(RefundTransactionRequest)
    case setAutoRenew(SetAutoRenewRequest)
    case forceRenewal(ForceRenewalRequest)
    case expireSubscription(ExpireSubscriptionRequest)
    case getClock(ClockRequest)
    case setClock(SetClockRequest)
    case setTimeRate(SetTimeRateRequest)
    case listApps
    case checkCatalog(CheckCatalogRequest)
    case loadCatalog(LoadCatalogRequest)
    case getCatalog(GetCatalogRequest)
    case getServerStatus

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
        case .purchase: .purchase
        case .finish: .finish
        case .listTransactions: .listTransactions
        case .listUnfinished: .listUnfinished
        case .getLatestTransaction: .getLatestTransaction
        case .transactionUpdates: .transactionUpdates
        case .buyProduct: .buyProduct
        case .refundTransaction: .refundTransaction
        case .setAutoRenew: .setAutoRenew
        case .forceRenewal: .forceRenewal
        case .expireSubscription: .expireSubscription
        case .getClock: .getClock
        case .setClock: .setClock
        case .setTimeRate: .setTimeRate
        case .listApps: .listApps
        case .checkCatalog: .checkCatalog
        case .loadCatalog: .loadCatalog
        case .getCatalog: .getCatalog
        case .getServerStatus: .getServerStatus
        }
    }
}
