package import PerchModel

/// A response message of any method, as both sides have it. A streaming method sends many.
package enum Response: Hashable, Sendable {
    case productsTask(TaskState<Products>)
    case subscriptionStatusTask(TaskState<SubscriptionStatuses>)
    case currentEntitlementTask(TaskState<Verified<Transaction>?>)
    /// Of the reads: only `failure` and `success`; the other states of a stream are our bug, trapped.
    case getProducts(TaskState<Products>)
    case getImage(ImageAnswer)
    case getSubscriptionStatus(TaskState<SubscriptionStatuses>)
    case getCurrentEntitlement(TaskState<Verified<Transaction>?>)
    case listCurrentEntitlements(EntitlementList)
    case purchase(PurchaseResponse)
    case finish(Acknowledgement)
    case listTransactions(TransactionPage)
    case listUnfinished(TransactionPage)
    case getLatestTransaction(LatestTransaction)
    case transactionUpdates(TransactionEvent)
    case buyProduct(BuyProductResponse)
    case refundTransaction(ChangedTransaction)
    case setAutoRenew(Acknowledgement)
    case forceRenewal(ChangedTransaction)
    case expireSubscription(Acknowledgement)
    case getClock(ClockResponse)
    case setClock(SetClockResponse)
    case setTimeRate(Acknowledgement)
    case listApps(AppList)
    case checkCatalog(CheckCatalogResponse)
    case loadCatalog(LoadCatalogResponse)
    case getCatalog(CatalogContents)
    case getServerStatus(ServerStatus)

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
