package import PerchBase
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
    case listPlanOptions(PlanOptionList)
    case getOfferEligibility(OfferEligibilityAnswer)
    case getAppPolicies(AppPoliciesAnswer)
    case explain(ExplainAnswer)
    case purchase(PurchaseResponse)
    case finish(Acknowledgement)
    case listTransactions(TransactionPage)
    case listUnfinished(TransactionPage)
    case getLatestTransaction(LatestTransaction)
    case transactionUpdates(TransactionEvent)
    case sync(Acknowledgement)
    case requestRefund(RefundAnswer)
    case redeemOfferCode(RedeemedCode)
    case manageSubscriptions(Acknowledgement)
    case getAppTransaction(AppTransactionAnswer)
    case purchaseIntents(TaskState<[PurchaseIntent]>)
    case messages(TaskState<[StoreMessage]>)
    case operate(OperateResponse)
    case inspectAccount(AccountInspection)
    case listAccounts(AccountPage)
    case configure(Acknowledgement)
    case getSettings(SettingsList)
    case getClock(ClockResponse)
    case setClock(SetClockResponse)
    case listApps(AppList)
    case checkCatalog(CheckCatalogResponse)
    case loadCatalog(LoadCatalogResponse)
    case getCatalog(CatalogContents)
    case getServerStatus(ServerStatus)
    case backup(BackupSummary)
    case revokeToken(RevokeTokenResponse)

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

extension Response {
    /// Where a mutation stands; nil of a read.
    package var position: Position? {
        switch self {
        case .purchase(let answer): answer.position
        case .finish(let answer), .sync(let answer), .manageSubscriptions(let answer), .configure(let answer):
            answer.position
        case .requestRefund(let answer): answer.position
        case .redeemOfferCode(let answer): answer.position
        case .operate(let answer): answer.position
        case .setClock(let answer): answer.position
        case .loadCatalog(let answer): answer.position
        default: nil
        }
    }
}
