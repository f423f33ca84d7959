// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

import PerchModel
import PerchWire

extension Request {
    /// The handler of the request's method, by the contract: a method without one does not compile.
    var handler: any MethodHandler {
        switch self {
            case .productsTask(let asked): ProductsTask(asked: asked)
            case .subscriptionStatusTask(let asked): SubscriptionStatusTask(asked: asked)
            case .currentEntitlementTask(let asked): CurrentEntitlementTask(asked: asked)
            case .entitlementsTask(let asked): EntitlementsTask(asked: asked)
            case .getEntitlements(let asked): GetEntitlements(asked: asked)
            case .getPass(let asked): GetPass(asked: asked)
            case .getProducts(let asked): GetProducts(asked: asked)
            case .getImage(let asked): GetImage(asked: asked)
            case .getSubscriptionStatus(let asked): GetSubscriptionStatus(asked: asked)
            case .getCurrentEntitlement(let asked): GetCurrentEntitlement(asked: asked)
            case .listCurrentEntitlements(let asked): ListCurrentEntitlements(asked: asked)
            case .listPlanOptions(let asked): ListPlanOptions(asked: asked)
            case .getOfferEligibility(let asked): GetOfferEligibility(asked: asked)
            case .getAppPolicies(let asked): GetAppPolicies(asked: asked)
            case .appChanges(let asked): AppChanges(asked: asked)
            case .appEntitlements(let asked): AppEntitlements(asked: asked)
            case .explain(let asked): Explain(asked: asked)
            case .purchase(let asked): Purchase(asked: asked)
            case .finish(let asked): Finish(asked: asked)
            case .listTransactions(let asked): ListTransactions(asked: asked)
            case .listUnfinished(let asked): ListUnfinished(asked: asked)
            case .getLatestTransaction(let asked): GetLatestTransaction(asked: asked)
            case .transactionUpdates(let asked): TransactionUpdates(asked: asked)
            case .sync(let asked): Sync(asked: asked)
            case .requestRefund(let asked): RequestRefund(asked: asked)
            case .redeemOfferCode(let asked): RedeemOfferCode(asked: asked)
            case .manageSubscriptions(let asked): ManageSubscriptions(asked: asked)
            case .resolveBillingIssue(let asked): ResolveBillingIssue(asked: asked)
            case .answerPriceIncrease(let asked): AnswerPriceIncrease(asked: asked)
            case .getAppTransaction(let asked): GetAppTransaction(asked: asked)
            case .purchaseIntents(let asked): PurchaseIntents(asked: asked)
            case .messages(let asked): Messages(asked: asked)
            case .operate(let asked): Operate(asked: asked)
            case .inspectAccount(let asked): InspectAccount(asked: asked)
            case .listAccounts(let asked): ListAccounts(asked: asked)
            case .configure(let asked): Configure(asked: asked)
            case .getSettings(let asked): GetSettings(asked: asked)
            case .getClock(let asked): GetClock(asked: asked)
            case .setClock(let asked): SetClock(asked: asked)
            case .orderMishap(let asked): OrderMishap(asked: asked)
            case .listApps: ListApps()
            case .checkCatalog(let asked): CheckCatalog(asked: asked)
            case .loadCatalog(let asked): LoadCatalog(asked: asked)
            case .getCatalog(let asked): GetCatalog(asked: asked)
            case .getServerStatus: GetServerStatus()
            case .backup(let asked): Backup(asked: asked)
            case .revokeToken(let asked): RevokeToken(asked: asked)
            case .offerConsoleCode(let asked): OfferConsoleCode(asked: asked)
            case .redeemConsoleCode(let asked): RedeemConsoleCode(asked: asked)
            case .findAccount(let asked): FindAccount(asked: asked)
            case .findCustomers(let asked): FindCustomers(asked: asked)
            case .addNote(let asked): AddNote(asked: asked)
            case .listNotes(let asked): ListNotes(asked: asked)
            case .deleteNote(let asked): DeleteNote(asked: asked)
            case .listUnclaimed(let asked): ListUnclaimed(asked: asked)
            case .attachAlias(let asked): AttachAlias(asked: asked)
            case .detachAlias(let asked): DetachAlias(asked: asked)
            case .moveTransaction(let asked): MoveTransaction(asked: asked)
            case .mergeAccounts(let asked): MergeAccounts(asked: asked)
            case .eraseAccount(let asked): EraseAccount(asked: asked)
            case .exportAccount(let asked): ExportAccount(asked: asked)
            case .grantEntitlement(let asked): GrantEntitlement(asked: asked)
            case .revokeGrant(let asked): RevokeGrant(asked: asked)
            case .listAudit(let asked): ListAudit(asked: asked)
            case .listDeadLetters(let asked): ListDeadLetters(asked: asked)
            case .retryDeadLetter(let asked): RetryDeadLetter(asked: asked)
            case .dropDeadLetter(let asked): DropDeadLetter(asked: asked)
            case .listConsumption(let asked): ListConsumption(asked: asked)
            case .answerConsumption(let asked): AnswerConsumption(asked: asked)
            case .reconcile(let asked): Reconcile(asked: asked)
            case .listNotifications(let asked): ListNotifications(asked: asked)
            case .getSignedPayload(let asked): GetSignedPayload(asked: asked)
            case .submitTransaction(let asked): SubmitTransaction(asked: asked)
            case .submitNotification(let asked): SubmitNotification(asked: asked)
            case .watch(let asked): Watch(asked: asked)
        }
    }
}

extension ProductsTask: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<Products>) -> Response { .productsTask(answer) }
}

extension SubscriptionStatusTask: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<SubscriptionStatuses>) -> Response { .subscriptionStatusTask(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension CurrentEntitlementTask: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<Verified<Transaction>?>) -> Response { .currentEntitlementTask(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension EntitlementsTask: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<[NamedEntitlement]>) -> Response { .entitlementsTask(answer) }
    var account: String? { self.asked.account }
}

extension GetEntitlements: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<[NamedEntitlement]>) -> Response { .getEntitlements(answer) }
    var account: String? { self.asked.account }
    var asOf: AsOf? { self.asked.asOf }
}

extension GetPass: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: EntitlementPass) -> Response { .getPass(answer) }
    var account: String? { self.asked.account }
}

extension GetProducts: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<Products>) -> Response { .getProducts(answer) }
}

extension GetImage: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: ImageAnswer) -> Response { .getImage(answer) }
}

extension GetSubscriptionStatus: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<SubscriptionStatuses>) -> Response { .getSubscriptionStatus(answer) }
    var account: String? { self.asked.account }
    var asOf: AsOf? { self.asked.asOf }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension GetCurrentEntitlement: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<Verified<Transaction>?>) -> Response { .getCurrentEntitlement(answer) }
    var account: String? { self.asked.account }
    var asOf: AsOf? { self.asked.asOf }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension ListCurrentEntitlements: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: EntitlementList) -> Response { .listCurrentEntitlements(answer) }
    var account: String? { self.asked.account }
    var asOf: AsOf? { self.asked.asOf }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension ListPlanOptions: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: PlanOptionList) -> Response { .listPlanOptions(answer) }
    var account: String? { self.asked.account }
}

extension GetOfferEligibility: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: OfferEligibilityAnswer) -> Response { .getOfferEligibility(answer) }
    var account: String? { self.asked.account }
}

extension GetAppPolicies: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AppPoliciesAnswer) -> Response { .getAppPolicies(answer) }
}

extension AppChanges: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: FeedEvent) -> Response { .appChanges(answer) }
}

extension AppEntitlements: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: CopyPart) -> Response { .appEntitlements(answer) }
}

extension Explain: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: ExplainAnswer) -> Response { .explain(answer) }
    var account: String? { self.asked.account }
    var asOf: AsOf? { self.asked.asOf }
}

extension Purchase: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: PurchaseResponse) -> Response { .purchase(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension Finish: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .finish(answer) }
    var account: String? { self.asked.account }
}

extension ListTransactions: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TransactionPage) -> Response { .listTransactions(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension ListUnfinished: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TransactionPage) -> Response { .listUnfinished(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension GetLatestTransaction: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: LatestTransaction) -> Response { .getLatestTransaction(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension TransactionUpdates: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TransactionEvent) -> Response { .transactionUpdates(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension Sync: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .sync(answer) }
    var account: String? { self.asked.account }
}

extension RequestRefund: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: RefundAnswer) -> Response { .requestRefund(answer) }
    var account: String? { self.asked.account }
}

extension RedeemOfferCode: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: RedeemedCode) -> Response { .redeemOfferCode(answer) }
    var account: String? { self.asked.account }
}

extension ManageSubscriptions: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .manageSubscriptions(answer) }
    var account: String? { self.asked.account }
}

extension ResolveBillingIssue: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .resolveBillingIssue(answer) }
    var account: String? { self.asked.account }
}

extension AnswerPriceIncrease: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .answerPriceIncrease(answer) }
    var account: String? { self.asked.account }
}

extension GetAppTransaction: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AppTransactionAnswer) -> Response { .getAppTransaction(answer) }
    var account: String? { self.asked.account }
    var includesJWS: Bool { self.asked.includesJWS }
}

extension PurchaseIntents: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<[PurchaseIntent]>) -> Response { .purchaseIntents(answer) }
    var account: String? { self.asked.account }
}

extension Messages: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: TaskState<[StoreMessage]>) -> Response { .messages(answer) }
    var account: String? { self.asked.account }
}

extension Operate: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: OperateResponse) -> Response { .operate(answer) }
    var account: String? { self.asked.account }
}

extension InspectAccount: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AccountInspection) -> Response { .inspectAccount(answer) }
    var account: String? { self.asked.account }
}

extension ListAccounts: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AccountPage) -> Response { .listAccounts(answer) }
}

extension Configure: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .configure(answer) }
}

extension GetSettings: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: SettingsList) -> Response { .getSettings(answer) }
}

extension GetClock: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: ClockResponse) -> Response { .getClock(answer) }
}

extension SetClock: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: SetClockResponse) -> Response { .setClock(answer) }
}

extension OrderMishap: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: OrderMishapResponse) -> Response { .orderMishap(answer) }
}

extension ListApps: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AppList) -> Response { .listApps(answer) }
}

extension CheckCatalog: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: CheckCatalogResponse) -> Response { .checkCatalog(answer) }
}

extension LoadCatalog: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: LoadCatalogResponse) -> Response { .loadCatalog(answer) }
}

extension GetCatalog: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: CatalogContents) -> Response { .getCatalog(answer) }
}

extension GetServerStatus: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: ServerStatus) -> Response { .getServerStatus(answer) }
}

extension Backup: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: BackupSummary) -> Response { .backup(answer) }
}

extension RevokeToken: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: RevokeTokenResponse) -> Response { .revokeToken(answer) }
}

extension OfferConsoleCode: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: ConsoleCode) -> Response { .offerConsoleCode(answer) }
}

extension RedeemConsoleCode: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: ConsoleToken) -> Response { .redeemConsoleCode(answer) }
}

extension FindAccount: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AccountFound) -> Response { .findAccount(answer) }
}

extension FindCustomers: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: CustomersFound) -> Response { .findCustomers(answer) }
}

extension AddNote: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: NoteAdded) -> Response { .addNote(answer) }
    var account: String? { self.asked.account }
}

extension ListNotes: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: NoteList) -> Response { .listNotes(answer) }
    var account: String? { self.asked.account }
}

extension DeleteNote: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .deleteNote(answer) }
    var account: String? { self.asked.account }
}

extension ListUnclaimed: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: UnclaimedPage) -> Response { .listUnclaimed(answer) }
}

extension AttachAlias: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: MoveAnswer) -> Response { .attachAlias(answer) }
    var account: String? { self.asked.account }
}

extension DetachAlias: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: MoveAnswer) -> Response { .detachAlias(answer) }
}

extension MoveTransaction: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: MoveAnswer) -> Response { .moveTransaction(answer) }
    var account: String? { self.asked.account }
}

extension MergeAccounts: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: MergeAccountsResponse) -> Response { .mergeAccounts(answer) }
    var account: String? { self.asked.account }
}

extension EraseAccount: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: EraseAccountResponse) -> Response { .eraseAccount(answer) }
    var account: String? { self.asked.account }
}

extension ExportAccount: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AccountExport) -> Response { .exportAccount(answer) }
    var account: String? { self.asked.account }
}

extension GrantEntitlement: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: GrantEntitlementResponse) -> Response { .grantEntitlement(answer) }
    var account: String? { self.asked.account }
}

extension RevokeGrant: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .revokeGrant(answer) }
    var account: String? { self.asked.account }
}

extension ListAudit: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: AuditPage) -> Response { .listAudit(answer) }
}

extension ListDeadLetters: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: DeadLetterPage) -> Response { .listDeadLetters(answer) }
}

extension RetryDeadLetter: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: RetryAnswer) -> Response { .retryDeadLetter(answer) }
}

extension DropDeadLetter: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .dropDeadLetter(answer) }
}

extension ListConsumption: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: ConsumptionPage) -> Response { .listConsumption(answer) }
}

extension AnswerConsumption: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: Acknowledgement) -> Response { .answerConsumption(answer) }
}

extension Reconcile: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: ReconcileProgress) -> Response { .reconcile(answer) }
}

extension ListNotifications: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: NotificationPage) -> Response { .listNotifications(answer) }
}

extension GetSignedPayload: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: SignedPayload) -> Response { .getSignedPayload(answer) }
}

extension SubmitTransaction: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: SubmissionAnswer) -> Response { .submitTransaction(answer) }
    var account: String? { self.asked.account }
}

extension SubmitNotification: ChangingMethod {
    typealias Effect = ChangesSomething
    static func response(_ answer: SubmissionAnswer) -> Response { .submitNotification(answer) }
}

extension Watch: SafeMethod {
    typealias Effect = ChangesNothing
    static func response(_ answer: WatchedResponse) -> Response { .watch(answer) }
}
