import PerchBase
import PerchCore
import PerchIdentity
import PerchModel
import PerchStore
import PerchWire

/// A call of one method about `anna`, with what the contract promises of the method. The tests that call every method
/// read this table, so a new method needs one row.
struct MethodCase {
    let request: Request
    let scope: Scope
    /// Only an app of a test store has the method.
    var isOnlyTesting = false
    /// The shop's answer to a permitted caller, where the shop lacks the data.
    var refusal = ""

    private init(_ request: Request, _ scope: Scope, isOnlyTesting: Bool = false, refusal: String = "") {
        self.request = request
        self.scope = scope
        self.isOnlyTesting = isOnlyTesting
        self.refusal = refusal
    }

    private static func testing(_ request: Request, _ scope: Scope = .test, refusal: String = "") -> MethodCase {
        MethodCase(request, scope, isOnlyTesting: true, refusal: refusal)
    }

    /// Only an app whose purchases come from a store has the method.
    private static func reported(_ request: Request, _ scope: Scope) -> MethodCase {
        MethodCase(request, scope, refusal: "NOT_A_TOLD_APP")
    }

    private static let noLetter = String(repeating: "0", count: 34)

    /// `bought` and `coins` are two of anna's transactions.
    static func of(
        _ method: PerchWire.Method, bought: TransactionID = 1, coins: TransactionID = 1
    ) -> MethodCase {
        let anna = AccountWatchRequest(account: "anna")
        switch method {
        case .productsTask: return Self(.products(), .read)
        case .subscriptionStatusTask: return Self(.status(), .read)
        case .currentEntitlementTask: return Self(.entitlement(), .read)
        case .getProducts: return Self(.getProducts(ProductsRequest(productIDs: ["gold"])), .read)
        case .getImage: return Self(.getImage(GetImageRequest(imageID: "none")), .read, refusal: "IMAGE_UNKNOWN")
        case .getSubscriptionStatus: return Self(.readStatus(), .read)
        case .getCurrentEntitlement:
            return Self(
                .getCurrentEntitlement(CurrentEntitlementRequest(account: "anna", productID: "gold")), .read)
        case .listCurrentEntitlements:
            return Self(.listCurrentEntitlements(ListCurrentEntitlementsRequest(account: "anna")), .read)
        case .listPlanOptions:
            return Self(.listPlanOptions(PlanOptionsRequest(account: "anna", groupID: "plans")), .read)
        case .getOfferEligibility:
            return Self(.getOfferEligibility(OfferEligibilityRequest(account: "anna", groupID: "plans")), .read)
        case .getAppPolicies: return Self(.getAppPolicies(AppPoliciesRequest()), .read)
        case .explain: return Self(.explain(ExplainRequest(account: "anna", about: .group("plans"))), .read)
        case .purchase: return .testing(.buy("coins"), .write)
        case .finish: return Self(.finish(FinishRequest(account: "anna", transactionID: bought)), .write)
        case .listTransactions: return Self(.listTransactions(ListTransactionsRequest(account: "anna")), .read)
        case .listUnfinished: return Self(.listUnfinished(ListUnfinishedRequest(account: "anna")), .read)
        case .getLatestTransaction:
            return Self(.getLatestTransaction(LatestTransactionRequest(account: "anna", productID: "gold")), .read)
        case .transactionUpdates: return Self(.updates(), .read)
        case .appChanges: return Self(.changes(), .read)
        case .appEntitlements: return Self(.copy(), .read)
        case .sync: return Self(.sync(SyncRequest(account: "anna")), .write)
        case .requestRefund:
            return .testing(.requestRefund(RefundRequest(account: "anna", transactionID: coins)), .write)
        case .redeemOfferCode:
            return .testing(
                .redeemOfferCode(RedeemOfferCodeRequest(account: "anna", code: "none", productID: "gold")), .write,
                refusal: "PURCHASE_INVALID_OFFER")
        case .manageSubscriptions:
            return .testing(
                .manageSubscriptions(
                    ManageSubscriptionsRequest(account: "anna", productID: "gold", isAutoRenewOn: true)), .write)
        case .getAppTransaction: return Self(.getAppTransaction(AppTransactionRequest(account: "anna")), .read)
        case .purchaseIntents: return Self(.purchaseIntents(anna), .read)
        case .messages: return Self(.messages(anna), .read)
        case .operate: return .testing(.operate(.setAutoRenew(.product("gold"), isOn: true), "anna"))
        case .inspectAccount: return Self(.inspectAccount(InspectAccountRequest(account: "anna")), .test)
        case .listAccounts: return Self(.listAccounts(ListAccountsRequest()), .test)
        case .configure: return .testing(.configure(.locale("de")))
        case .getSettings: return .testing(.getSettings(SettingsRequest()))
        case .resolveBillingIssue:
            return .testing(
                .resolveBillingIssue(ResolveBillingIssueRequest(account: "anna", productID: "gold")), .write,
                refusal: "NOT_IN_RETRY")
        case .answerPriceIncrease:
            return .testing(
                .answerPriceIncrease(
                    AnswerPriceIncreaseRequest(account: "anna", productID: "gold", agrees: true)), .write,
                refusal: "NO_PRICE_INCREASE")
        case .getClock: return .testing(.getClock(ClockRequest()))
        case .setClock: return .testing(.clock(.freeze))
        case .orderMishap: return .testing(.orderMishap(OrderMishapRequest(kind: .lose)), refusal: "NO_TWIN")
        case .listApps: return Self(.listApps, .admin)
        case .checkCatalog: return Self(.checkCatalog(CheckCatalogRequest(file: [1])), .admin)
        case .loadCatalog: return Self(.loadCatalog(LoadCatalogRequest(file: [1], source: "test")), .admin)
        case .getCatalog: return Self(.getCatalog(GetCatalogRequest()), .admin)
        case .getServerStatus: return Self(.getServerStatus, .admin)
        case .backup: return Self(.backup(BackupRequest(path: "/none")), .admin, refusal: "BACKUP_FAILED")
        case .revokeToken: return Self(.revokeToken(RevokeTokenRequest(tokenID: "another")), .admin)
        case .entitlementsTask: return Self(.entitlementsTask(anna), .read)
        case .watch: return Self(.watch(WatchRequest(watches: [.status(), .products()])), .read)
        case .getEntitlements: return Self(.getEntitlements(GetEntitlementsRequest(account: "anna")), .read)
        case .getPass: return Self(.getPass(GetPassRequest(account: "anna")), .read)
        case .eraseAccount:
            return Self(.eraseAccount(EraseAccountRequest(account: "nobody")), .admin, refusal: "ACCOUNT_UNKNOWN")
        case .exportAccount: return Self(.exportAccount(ExportAccountRequest(account: "anna")), .admin)
        case .grantEntitlement:
            return Self(.grantEntitlement(GrantEntitlementRequest(account: "anna", name: "plus")), .admin)
        case .revokeGrant: return Self(.revokeGrant(RevokeGrantRequest(account: "anna", name: "plus")), .admin)
        case .listAudit: return Self(.listAudit(ListAuditRequest()), .admin)
        case .findAccount: return Self(.findAccount(FindAccountRequest(transactionID: 1)), .admin)
        case .findCustomers: return Self(.findCustomers(FindCustomersRequest(text: "an")), .read)
        case .addNote: return Self(.addNote(AddNoteRequest(account: "anna", text: "called")), .read)
        case .listNotes: return Self(.listNotes(ListNotesRequest(account: "anna")), .read)
        case .deleteNote: return Self(.deleteNote(DeleteNoteRequest(account: "anna", noteID: 1)), .read)
        case .listUnclaimed: return .reported(.listUnclaimed(ListUnclaimedRequest()), .admin)
        case .attachAlias:
            return .reported(.attachAlias(AttachAliasRequest(account: "anna", appTransactionID: "7")), .admin)
        case .detachAlias: return .reported(.detachAlias(DetachAliasRequest(appTransactionID: "7")), .admin)
        case .moveTransaction:
            return .reported(
                .moveTransaction(MoveTransactionRequest(originalTransactionID: 1, account: "anna")), .admin)
        case .mergeAccounts:
            return .reported(.mergeAccounts(MergeAccountsRequest(account: "anna", intoAccount: "berta")), .admin)
        case .listNotifications: return Self(.listNotifications(ListNotificationsRequest()), .admin)
        case .getSignedPayload:
            return Self(
                .getSignedPayload(GetSignedPayloadRequest(id: Self.noLetter)), .admin, refusal: "DEAD_LETTER_UNKNOWN")
        case .listDeadLetters: return Self(.listDeadLetters(ListDeadLettersRequest()), .admin)
        case .retryDeadLetter:
            return Self(
                .retryDeadLetter(RetryDeadLetterRequest(id: Self.noLetter)), .admin, refusal: "DEAD_LETTER_UNKNOWN")
        case .dropDeadLetter:
            return Self(
                .dropDeadLetter(DropDeadLetterRequest(id: Self.noLetter)), .admin, refusal: "DEAD_LETTER_UNKNOWN")
        case .listConsumption: return .reported(.listConsumption(ListConsumptionRequest()), .admin)
        case .answerConsumption:
            return .reported(
                .answerConsumption(
                    AnswerConsumptionRequest(
                        transactionID: 1, answer: ConsumptionAnswer(hasConsent: true, delivery: .delivered))), .admin)
        case .reconcile: return .reported(.reconcile(ReconcileRequest()), .admin)
        case .submitTransaction:
            return .reported(
                .submitTransaction(SubmitTransactionRequest(signedValues: ["a.b.c"], account: "anna")), .ingest)
        case .submitNotification:
            return .reported(.submitNotification(SubmitNotificationRequest(signedPayload: "a.b.c")), .ingest)
        // Every holder of a token may offer it, and the code is the credential of its browser.
        case .offerConsoleCode:
            return Self(.offerConsoleCode(OfferConsoleCodeRequest(token: "a.b.c")), .read, refusal: "FIELD_INVALID")
        case .redeemConsoleCode:
            return Self(.redeemConsoleCode(RedeemConsoleCodeRequest(code: "none")), .read, refusal: "FIELD_INVALID")
        }
    }
}
