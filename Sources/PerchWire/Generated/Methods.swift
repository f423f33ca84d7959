// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

package import PerchBase
package import PerchModel

/// Every RPC of the contract.
package enum Method: UInt8, BitwiseCopyable, Hashable, Sendable, CaseIterable {
    /// Products, and the identifiers that are unavailable.
    case productsTask
    /// The statuses of an account in a subscription group.
    case subscriptionStatusTask
    /// The transaction that entitles an account to a product, or none.
    case currentEntitlementTask
    /// The account's entitlements by their names in the app, whatever gives them: a subscription, a purchase, a grant.
    case entitlementsTask
    /// EntitlementsTask, once.
    case getEntitlements
    /// The named entitlements of an account as a signed pass (compact JWS), which others verify without asking the server: its keys
    /// are at /.well-known/jwks.json. It ends at the next change that time alone makes, after 24 hours at the latest.
    case getPass
    /// ProductsTask, once.
    case getProducts
    /// A promotional image of the catalogue, by the identifier in its product.
    case getImage
    /// SubscriptionStatusTask, once.
    case getSubscriptionStatus
    /// CurrentEntitlementTask, once.
    case getCurrentEntitlement
    /// Everything that an account is entitled to, once.
    case listCurrentEntitlements
    /// The products of a group, and the relation of each to the account's current plan.
    case listPlanOptions
    /// The offers of a product or group, and the account's eligibility for each.
    case getOfferEligibility
    /// The app's licence agreement and privacy policy.
    case getAppPolicies
    /// Every change of every account of an app, exactly once and in order, across reconnects. Services use it where they would
    /// otherwise want webhooks.
    case appChanges
    /// A copy of every named entitlement of an app: first all accounts that have one, then each change, for ever. A service that holds
    /// the copy answers in its own memory, and stays right while the server is away, because each entitlement has its end.
    ///
    /// `begin` starts a copy, `accounts` fills it, and `end` completes it: the entries since `begin` replace those of an earlier copy
    /// at once. Each later `accounts` is a change. A stream may begin another copy at any time: after a new catalogue or entitlement
    /// file, or if a resume token is of no use any more. The copy before stays valid until the new one's `end`. Where `begin` goes on with
    /// a copy, a bookmark follows as soon as every change that was missed has been sent: until then the copy is older than the server.
    case appEntitlements
    /// Why an account is entitled, or not, and what will change automatically; as sentences that can be read to the customer too.
    case explain
    /// Buys a product, as an app does. Test apps only.
    case purchase
    /// Marks a transaction as delivered. A second Finish changes nothing.
    case finish
    /// The transactions of an account, oldest first, a page at a time.
    case listTransactions
    /// The unfinished transactions, oldest first.
    case listUnfinished
    /// The newest transaction of a product, revoked ones included.
    case getLatestTransaction
    /// Each new or changed transaction, exactly once and in order, across reconnects.
    case transactionUpdates
    /// Restores purchases: delivers what waits for the customer's request. Never removes anything.
    case sync
    /// Requests a refund, as a customer does: approved, unless the text says `REJECT`. Test apps only.
    case requestRefund
    /// Redeems an offer code, as a customer does outside of a purchase. Test apps only.
    case redeemOfferCode
    /// Switches renewal on or off, as a customer does in the subscriptions sheet. Test apps only.
    case manageSubscriptions
    /// Resolves a billing issue, as a customer does who corrects the payment method: the store charges again, and the
    /// account's charges are no longer set to fail. Test apps only.
    case resolveBillingIssue
    /// Answers a price increase, as a customer does in the store's sheet. Test apps only.
    case answerPriceIncrease
    /// The record of the account's first use of the app.
    case getAppTransaction
    /// The purchases that a customer began outside the app, now and at each change.
    case purchaseIntents
    /// The store's valid messages for the customer, now and at each change.
    case messages
    /// Performs one operation on one account: buy, refund, renew, share, delete and so on. Answers after the commit.
    case operate
    /// The store's record of an account.
    case inspectAccount
    /// The accounts of the app, by key, a page at a time.
    case listAccounts
    /// Changes settings, armed failures and products of the app, all in one revision.
    case configure
    /// The app's settings and armed failures.
    case getSettings
    /// The app's clock and time rate.
    case getClock
    /// Freezes, resumes or advances the app's clock. Answers after everything due up to the new instant is settled and
    /// pushed.
    case setClock
    /// Lets something go wrong on purpose where the server is the App Store of other backends: with the next notifications of the
    /// app, or with the next requests of its backend. A server that stops forgets what has not gone wrong yet.
    case orderMishap
    /// The apps of this server.
    case listApps
    /// Parses a catalogue file and reports its contents, without loading it.
    case checkCatalog
    /// Replaces an app's catalogue: one change, one revision, one push for each stream that it affects.
    case loadCatalog
    /// The contents of an app's catalogue.
    case getCatalog
    /// Connections, their cost, and every counter.
    case getServerStatus
    /// Copies the store into a file on the server's machine while the server keeps working. One at a time.
    case backup
    /// Revokes a token before its end. Its holder's streams end within five seconds.
    case revokeToken
    /// Keeps a token for a browser, and returns a code for it. `perch console` puts the code into an address, where no token
    /// may be.
    case offerConsoleCode
    /// Exchanges a code for its token. The code is the only credential.
    case redeemConsoleCode
    /// The account of a transaction, or of a name that the App Store or the app gives a customer. In every environment.
    case findAccount
    /// Customers by any name: the beginning of their key, or a whole name of another kind. Keys in other capitals follow those in the
    /// very capitals of the text. In every environment. Reads a bounded number of rows, however many accounts there are.
    case findCustomers
    /// Writes a note beside a customer. A note changes nothing that the customer has, so the scope read is enough. In every environment.
    case addNote
    /// The notes beside a customer.
    case listNotes
    /// Deletes a note: an own one, or anybody's with the scope admin.
    case deleteNote
    /// Purchases that the App Store reported and that need somebody: those of no account that is known, and subscriptions whose
    /// renewal was awaited and never reported. A page looks at a limited number of accounts, so it may be empty and not the last.
    case listUnclaimed
    /// Says that a name of a customer belongs to an account from now on. What waited for it becomes the account's. The name is then another
    /// key of the account in calls, streams and copies, except the hash of an e-mail address. OWNED_BY_OTHER: it is the key of another account.
    case attachAlias
    /// Takes a name of a customer from its account.
    case detachAlias
    /// Gives an original transaction, and what follows it, to an account, whatever the app's claim policy says.
    case moveTransaction
    /// Gives everything that one account has to another, and its key too: an anonymous customer has signed in. Both accounts
    /// change in one revision.
    case mergeAccounts
    /// Erases an account: its transactions, facts, names and grants, and what waits or was kept about it. Its revisions stay, empty,
    /// so that cursors and tokens of others stay valid. Streams of the account get the value of one that owns nothing. Later
    /// reports about its purchases are not kept until a submission names an account for them. In every environment.
    case eraseAccount
    /// Everything that the store knows of an account. In every environment.
    case exportAccount
    /// Grants a named entitlement to an account, in every environment. It touches no purchase, and replaces an earlier grant of
    /// that name.
    case grantEntitlement
    /// Ends a grant.
    case revokeGrant
    /// Administrative and test changes, oldest first: who asked for what, from where. Customers' purchases are not among them.
    case listAudit
    /// Values whose signature was good and that were not taken, oldest first, a page at a time.
    case listDeadLetters
    /// Takes a dead letter once more. It is gone when that succeeds.
    case retryDeadLetter
    /// Deletes a dead letter.
    case dropDeadLetter
    /// What the App Store asks about purchases whose customers want refunds, in the order of the transactions, a page at a time. A
    /// question leaves the list a day after its deadline.
    case listConsumption
    /// Answers such a question. The answer is stored, and then sent to the App Store, again after a failure until the deadline.
    case answerConsumption
    /// Asks the App Store now for what it did not deliver, or says how far that is. Of several nodes of one store the one that has the
    /// right to ask must be called; others refuse with `LEASE_WAIT`.
    case reconcile
    /// Notifications of sandbox apps that were taken, oldest first, a page at a time: the latest 200. Those of production apps are
    /// not kept.
    case listNotifications
    /// A notification or a dead letter as it came.
    case getSignedPayload
    /// Takes signed transactions, renewal information, app transactions and notifications, from the app or its backend.
    /// Answers after everything is durable. The order of values does not matter, and a repetition changes nothing. A value that cannot
    /// be taken is refused alone, and `refused` says which; the call fails where all are. Credentials for one account submit for that
    /// account alone: so an app submits for its own customer.
    case submitTransaction
    /// Takes an App Store Server Notification, version 2, as Apple posts it. `POST /apple/notifications` of the listener
    /// `--apple-listen` is this call, without credentials: the signature says who sent it.
    case submitNotification
    /// Several watches on one stream. Each message names the watch that it is of. The list is fixed: to change it, call again with
    /// the tokens of the last values, and cancel this call. A watch whose value is still current answers `unchanged`. If one
    /// watch is refused, or ends, the call ends with its status; the detail `watch` is its place in the list.
    ///
    /// Each watch needs what its own method needs, besides.
    case watch

    /// Paths as in gRPC, `/package.Service/Method`, in the order of the cases.
    static let paths: [String] = [
        "/perch.v1.EntitlementService/ProductsTask",
        "/perch.v1.EntitlementService/SubscriptionStatusTask",
        "/perch.v1.EntitlementService/CurrentEntitlementTask",
        "/perch.v1.EntitlementService/EntitlementsTask",
        "/perch.v1.EntitlementService/GetEntitlements",
        "/perch.v1.EntitlementService/GetPass",
        "/perch.v1.EntitlementService/GetProducts",
        "/perch.v1.EntitlementService/GetImage",
        "/perch.v1.EntitlementService/GetSubscriptionStatus",
        "/perch.v1.EntitlementService/GetCurrentEntitlement",
        "/perch.v1.EntitlementService/ListCurrentEntitlements",
        "/perch.v1.EntitlementService/ListPlanOptions",
        "/perch.v1.EntitlementService/GetOfferEligibility",
        "/perch.v1.EntitlementService/GetAppPolicies",
        "/perch.v1.EntitlementService/AppChanges",
        "/perch.v1.EntitlementService/AppEntitlements",
        "/perch.v1.EntitlementService/Explain",
        "/perch.v1.TransactionService/Purchase",
        "/perch.v1.TransactionService/Finish",
        "/perch.v1.TransactionService/ListTransactions",
        "/perch.v1.TransactionService/ListUnfinished",
        "/perch.v1.TransactionService/GetLatestTransaction",
        "/perch.v1.TransactionService/TransactionUpdates",
        "/perch.v1.TransactionService/Sync",
        "/perch.v1.TransactionService/RequestRefund",
        "/perch.v1.TransactionService/RedeemOfferCode",
        "/perch.v1.TransactionService/ManageSubscriptions",
        "/perch.v1.TransactionService/ResolveBillingIssue",
        "/perch.v1.TransactionService/AnswerPriceIncrease",
        "/perch.v1.TransactionService/GetAppTransaction",
        "/perch.v1.TransactionService/PurchaseIntents",
        "/perch.v1.TransactionService/Messages",
        "/perch.v1.TestStoreService/Operate",
        "/perch.v1.TestStoreService/InspectAccount",
        "/perch.v1.TestStoreService/ListAccounts",
        "/perch.v1.TestStoreService/Configure",
        "/perch.v1.TestStoreService/GetSettings",
        "/perch.v1.TestStoreService/GetClock",
        "/perch.v1.TestStoreService/SetClock",
        "/perch.v1.TestStoreService/OrderMishap",
        "/perch.v1.AdminService/ListApps",
        "/perch.v1.AdminService/CheckCatalog",
        "/perch.v1.AdminService/LoadCatalog",
        "/perch.v1.AdminService/GetCatalog",
        "/perch.v1.AdminService/GetServerStatus",
        "/perch.v1.AdminService/Backup",
        "/perch.v1.AdminService/RevokeToken",
        "/perch.v1.AdminService/OfferConsoleCode",
        "/perch.v1.AdminService/RedeemConsoleCode",
        "/perch.v1.AdminService/FindAccount",
        "/perch.v1.AdminService/FindCustomers",
        "/perch.v1.AdminService/AddNote",
        "/perch.v1.AdminService/ListNotes",
        "/perch.v1.AdminService/DeleteNote",
        "/perch.v1.AdminService/ListUnclaimed",
        "/perch.v1.AdminService/AttachAlias",
        "/perch.v1.AdminService/DetachAlias",
        "/perch.v1.AdminService/MoveTransaction",
        "/perch.v1.AdminService/MergeAccounts",
        "/perch.v1.AdminService/EraseAccount",
        "/perch.v1.AdminService/ExportAccount",
        "/perch.v1.AdminService/GrantEntitlement",
        "/perch.v1.AdminService/RevokeGrant",
        "/perch.v1.AdminService/ListAudit",
        "/perch.v1.AdminService/ListDeadLetters",
        "/perch.v1.AdminService/RetryDeadLetter",
        "/perch.v1.AdminService/DropDeadLetter",
        "/perch.v1.AdminService/ListConsumption",
        "/perch.v1.AdminService/AnswerConsumption",
        "/perch.v1.AdminService/Reconcile",
        "/perch.v1.AdminService/ListNotifications",
        "/perch.v1.AdminService/GetSignedPayload",
        "/perch.v1.IngestService/SubmitTransaction",
        "/perch.v1.IngestService/SubmitNotification",
        "/perch.v1.WatchService/Watch",
    ]

    /// Whether the answer is a stream, which has no end of its own.
    package var isStreaming: Bool {
        switch self {
            case .productsTask, .subscriptionStatusTask, .currentEntitlementTask, .entitlementsTask, .appChanges, .appEntitlements, .transactionUpdates, .purchaseIntents, .messages, .watch: true
            default: false
        }
    }

    /// Whether a call changes nothing: the contract says `NO_SIDE_EFFECTS`.
    package var isSafe: Bool {
        switch self {
            case .productsTask, .subscriptionStatusTask, .currentEntitlementTask, .entitlementsTask, .getEntitlements, .getPass, .getProducts, .getImage, .getSubscriptionStatus, .getCurrentEntitlement, .listCurrentEntitlements, .listPlanOptions, .getOfferEligibility, .getAppPolicies, .appChanges, .appEntitlements, .explain, .listTransactions, .listUnfinished, .getLatestTransaction, .transactionUpdates, .getAppTransaction, .purchaseIntents, .messages, .inspectAccount, .listAccounts, .getSettings, .getClock, .listApps, .checkCatalog, .getCatalog, .getServerStatus, .findAccount, .findCustomers, .listNotes, .listUnclaimed, .exportAccount, .listAudit, .listDeadLetters, .listConsumption, .listNotifications, .getSignedPayload, .watch: true
            default: false
        }
    }

    /// Whether repeated calls have the effect of one: the contract says `IDEMPOTENT`.
    package var isIdempotent: Bool {
        switch self {
            case .revokeToken, .deleteNote, .attachAlias, .detachAlias, .moveTransaction, .revokeGrant, .dropDeadLetter, .answerConsumption, .submitTransaction, .submitNotification: true
            default: false
        }
    }

    /// The longest request, in bytes.
    package var requestBytesMax: Int {
        switch self {
            case .checkCatalog: Limits.catalogRequestBytesMax
            case .loadCatalog: Limits.catalogRequestBytesMax
            case .submitTransaction: Limits.appleSubmissionBytesMax
            case .submitNotification: Limits.appleRequestBytesMax
            default: Limits.requestBytesMax
        }
    }
}

/// A request of any method, as both sides have it.
package indirect enum Request: Hashable, Sendable {
    case productsTask(ProductsRequest)
    case subscriptionStatusTask(SubscriptionStatusRequest)
    case currentEntitlementTask(CurrentEntitlementRequest)
    case entitlementsTask(AccountWatchRequest)
    case getEntitlements(GetEntitlementsRequest)
    case getPass(GetPassRequest)
    case getProducts(ProductsRequest)
    case getImage(GetImageRequest)
    case getSubscriptionStatus(SubscriptionStatusRequest)
    case getCurrentEntitlement(CurrentEntitlementRequest)
    case listCurrentEntitlements(ListCurrentEntitlementsRequest)
    case listPlanOptions(PlanOptionsRequest)
    case getOfferEligibility(OfferEligibilityRequest)
    case getAppPolicies(AppPoliciesRequest)
    case appChanges(AppChangesRequest)
    case appEntitlements(AppEntitlementsRequest)
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
    case resolveBillingIssue(ResolveBillingIssueRequest)
    case answerPriceIncrease(AnswerPriceIncreaseRequest)
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
    case orderMishap(OrderMishapRequest)
    case listApps
    case checkCatalog(CheckCatalogRequest)
    case loadCatalog(LoadCatalogRequest)
    case getCatalog(GetCatalogRequest)
    case getServerStatus
    case backup(BackupRequest)
    case revokeToken(RevokeTokenRequest)
    case offerConsoleCode(OfferConsoleCodeRequest)
    case redeemConsoleCode(RedeemConsoleCodeRequest)
    case findAccount(FindAccountRequest)
    case findCustomers(FindCustomersRequest)
    case addNote(AddNoteRequest)
    case listNotes(ListNotesRequest)
    case deleteNote(DeleteNoteRequest)
    case listUnclaimed(ListUnclaimedRequest)
    case attachAlias(AttachAliasRequest)
    case detachAlias(DetachAliasRequest)
    case moveTransaction(MoveTransactionRequest)
    case mergeAccounts(MergeAccountsRequest)
    case eraseAccount(EraseAccountRequest)
    case exportAccount(ExportAccountRequest)
    case grantEntitlement(GrantEntitlementRequest)
    case revokeGrant(RevokeGrantRequest)
    case listAudit(ListAuditRequest)
    case listDeadLetters(ListDeadLettersRequest)
    case retryDeadLetter(RetryDeadLetterRequest)
    case dropDeadLetter(DropDeadLetterRequest)
    case listConsumption(ListConsumptionRequest)
    case answerConsumption(AnswerConsumptionRequest)
    case reconcile(ReconcileRequest)
    case listNotifications(ListNotificationsRequest)
    case getSignedPayload(GetSignedPayloadRequest)
    case submitTransaction(SubmitTransactionRequest)
    case submitNotification(SubmitNotificationRequest)
    case watch(WatchRequest)

    package var method: Method {
        switch self {
            case .productsTask: .productsTask
            case .subscriptionStatusTask: .subscriptionStatusTask
            case .currentEntitlementTask: .currentEntitlementTask
            case .entitlementsTask: .entitlementsTask
            case .getEntitlements: .getEntitlements
            case .getPass: .getPass
            case .getProducts: .getProducts
            case .getImage: .getImage
            case .getSubscriptionStatus: .getSubscriptionStatus
            case .getCurrentEntitlement: .getCurrentEntitlement
            case .listCurrentEntitlements: .listCurrentEntitlements
            case .listPlanOptions: .listPlanOptions
            case .getOfferEligibility: .getOfferEligibility
            case .getAppPolicies: .getAppPolicies
            case .appChanges: .appChanges
            case .appEntitlements: .appEntitlements
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
            case .resolveBillingIssue: .resolveBillingIssue
            case .answerPriceIncrease: .answerPriceIncrease
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
            case .orderMishap: .orderMishap
            case .listApps: .listApps
            case .checkCatalog: .checkCatalog
            case .loadCatalog: .loadCatalog
            case .getCatalog: .getCatalog
            case .getServerStatus: .getServerStatus
            case .backup: .backup
            case .revokeToken: .revokeToken
            case .offerConsoleCode: .offerConsoleCode
            case .redeemConsoleCode: .redeemConsoleCode
            case .findAccount: .findAccount
            case .findCustomers: .findCustomers
            case .addNote: .addNote
            case .listNotes: .listNotes
            case .deleteNote: .deleteNote
            case .listUnclaimed: .listUnclaimed
            case .attachAlias: .attachAlias
            case .detachAlias: .detachAlias
            case .moveTransaction: .moveTransaction
            case .mergeAccounts: .mergeAccounts
            case .eraseAccount: .eraseAccount
            case .exportAccount: .exportAccount
            case .grantEntitlement: .grantEntitlement
            case .revokeGrant: .revokeGrant
            case .listAudit: .listAudit
            case .listDeadLetters: .listDeadLetters
            case .retryDeadLetter: .retryDeadLetter
            case .dropDeadLetter: .dropDeadLetter
            case .listConsumption: .listConsumption
            case .answerConsumption: .answerConsumption
            case .reconcile: .reconcile
            case .listNotifications: .listNotifications
            case .getSignedPayload: .getSignedPayload
            case .submitTransaction: .submitTransaction
            case .submitNotification: .submitNotification
            case .watch: .watch
        }
    }
}

/// A response message of any method, as both sides have it. A streaming method sends many.
package enum Response: Hashable, Sendable {
    case productsTask(TaskState<Products>)
    case subscriptionStatusTask(TaskState<SubscriptionStatuses>)
    case currentEntitlementTask(TaskState<Verified<Transaction>?>)
    case entitlementsTask(TaskState<[NamedEntitlement]>)
    case getEntitlements(TaskState<[NamedEntitlement]>)
    case getPass(EntitlementPass)
    case getProducts(TaskState<Products>)
    case getImage(ImageAnswer)
    case getSubscriptionStatus(TaskState<SubscriptionStatuses>)
    case getCurrentEntitlement(TaskState<Verified<Transaction>?>)
    case listCurrentEntitlements(EntitlementList)
    case listPlanOptions(PlanOptionList)
    case getOfferEligibility(OfferEligibilityAnswer)
    case getAppPolicies(AppPoliciesAnswer)
    case appChanges(FeedEvent)
    case appEntitlements(CopyPart)
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
    case resolveBillingIssue(Acknowledgement)
    case answerPriceIncrease(Acknowledgement)
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
    case orderMishap(OrderMishapResponse)
    case listApps(AppList)
    case checkCatalog(CheckCatalogResponse)
    case loadCatalog(LoadCatalogResponse)
    case getCatalog(CatalogContents)
    case getServerStatus(ServerStatus)
    case backup(BackupSummary)
    case revokeToken(RevokeTokenResponse)
    case offerConsoleCode(ConsoleCode)
    case redeemConsoleCode(ConsoleToken)
    case findAccount(AccountFound)
    case findCustomers(CustomersFound)
    case addNote(NoteAdded)
    case listNotes(NoteList)
    case deleteNote(Acknowledgement)
    case listUnclaimed(UnclaimedPage)
    case attachAlias(MoveAnswer)
    case detachAlias(MoveAnswer)
    case moveTransaction(MoveAnswer)
    case mergeAccounts(MergeAccountsResponse)
    case eraseAccount(EraseAccountResponse)
    case exportAccount(AccountExport)
    case grantEntitlement(GrantEntitlementResponse)
    case revokeGrant(Acknowledgement)
    case listAudit(AuditPage)
    case listDeadLetters(DeadLetterPage)
    case retryDeadLetter(RetryAnswer)
    case dropDeadLetter(Acknowledgement)
    case listConsumption(ConsumptionPage)
    case answerConsumption(Acknowledgement)
    case reconcile(ReconcileProgress)
    case listNotifications(NotificationPage)
    case getSignedPayload(SignedPayload)
    case submitTransaction(SubmissionAnswer)
    case submitNotification(SubmissionAnswer)
    case watch(WatchedResponse)

    package var method: Method {
        switch self {
            case .productsTask: .productsTask
            case .subscriptionStatusTask: .subscriptionStatusTask
            case .currentEntitlementTask: .currentEntitlementTask
            case .entitlementsTask: .entitlementsTask
            case .getEntitlements: .getEntitlements
            case .getPass: .getPass
            case .getProducts: .getProducts
            case .getImage: .getImage
            case .getSubscriptionStatus: .getSubscriptionStatus
            case .getCurrentEntitlement: .getCurrentEntitlement
            case .listCurrentEntitlements: .listCurrentEntitlements
            case .listPlanOptions: .listPlanOptions
            case .getOfferEligibility: .getOfferEligibility
            case .getAppPolicies: .getAppPolicies
            case .appChanges: .appChanges
            case .appEntitlements: .appEntitlements
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
            case .resolveBillingIssue: .resolveBillingIssue
            case .answerPriceIncrease: .answerPriceIncrease
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
            case .orderMishap: .orderMishap
            case .listApps: .listApps
            case .checkCatalog: .checkCatalog
            case .loadCatalog: .loadCatalog
            case .getCatalog: .getCatalog
            case .getServerStatus: .getServerStatus
            case .backup: .backup
            case .revokeToken: .revokeToken
            case .offerConsoleCode: .offerConsoleCode
            case .redeemConsoleCode: .redeemConsoleCode
            case .findAccount: .findAccount
            case .findCustomers: .findCustomers
            case .addNote: .addNote
            case .listNotes: .listNotes
            case .deleteNote: .deleteNote
            case .listUnclaimed: .listUnclaimed
            case .attachAlias: .attachAlias
            case .detachAlias: .detachAlias
            case .moveTransaction: .moveTransaction
            case .mergeAccounts: .mergeAccounts
            case .eraseAccount: .eraseAccount
            case .exportAccount: .exportAccount
            case .grantEntitlement: .grantEntitlement
            case .revokeGrant: .revokeGrant
            case .listAudit: .listAudit
            case .listDeadLetters: .listDeadLetters
            case .retryDeadLetter: .retryDeadLetter
            case .dropDeadLetter: .dropDeadLetter
            case .listConsumption: .listConsumption
            case .answerConsumption: .answerConsumption
            case .reconcile: .reconcile
            case .listNotifications: .listNotifications
            case .getSignedPayload: .getSignedPayload
            case .submitTransaction: .submitTransaction
            case .submitNotification: .submitNotification
            case .watch: .watch
        }
    }
}

extension Request {
    /// The app that the request names; nil for a method that is about the server.
    package var app: AppReference? {
        switch self {
            case .productsTask(let asked): asked.app
            case .subscriptionStatusTask(let asked): asked.app
            case .currentEntitlementTask(let asked): asked.app
            case .entitlementsTask(let asked): asked.app
            case .getEntitlements(let asked): asked.app
            case .getPass(let asked): asked.app
            case .getProducts(let asked): asked.app
            case .getImage(let asked): asked.app
            case .getSubscriptionStatus(let asked): asked.app
            case .getCurrentEntitlement(let asked): asked.app
            case .listCurrentEntitlements(let asked): asked.app
            case .listPlanOptions(let asked): asked.app
            case .getOfferEligibility(let asked): asked.app
            case .getAppPolicies(let asked): asked.app
            case .appChanges(let asked): asked.app
            case .appEntitlements(let asked): asked.app
            case .explain(let asked): asked.app
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
            case .resolveBillingIssue(let asked): asked.app
            case .answerPriceIncrease(let asked): asked.app
            case .getAppTransaction(let asked): asked.app
            case .purchaseIntents(let asked): asked.app
            case .messages(let asked): asked.app
            case .operate(let asked): asked.app
            case .inspectAccount(let asked): asked.app
            case .listAccounts(let asked): asked.app
            case .configure(let asked): asked.app
            case .getSettings(let asked): asked.app
            case .getClock(let asked): asked.app
            case .setClock(let asked): asked.app
            case .orderMishap(let asked): asked.app
            case .loadCatalog(let asked): asked.app
            case .getCatalog(let asked): asked.app
            case .findAccount(let asked): asked.app
            case .findCustomers(let asked): asked.app
            case .addNote(let asked): asked.app
            case .listNotes(let asked): asked.app
            case .deleteNote(let asked): asked.app
            case .listUnclaimed(let asked): asked.app
            case .attachAlias(let asked): asked.app
            case .detachAlias(let asked): asked.app
            case .moveTransaction(let asked): asked.app
            case .mergeAccounts(let asked): asked.app
            case .eraseAccount(let asked): asked.app
            case .exportAccount(let asked): asked.app
            case .grantEntitlement(let asked): asked.app
            case .revokeGrant(let asked): asked.app
            case .listConsumption(let asked): asked.app
            case .answerConsumption(let asked): asked.app
            case .reconcile(let asked): asked.app
            case .submitTransaction(let asked): asked.app
            default: nil
        }
    }

    /// The position that the caller demands at least.
    package var atLeast: Position? {
        switch self {
            case .productsTask(let asked): asked.atLeast
            case .subscriptionStatusTask(let asked): asked.atLeast
            case .currentEntitlementTask(let asked): asked.atLeast
            case .entitlementsTask(let asked): asked.atLeast
            case .getEntitlements(let asked): asked.atLeast
            case .getPass(let asked): asked.atLeast
            case .getProducts(let asked): asked.atLeast
            case .getImage(let asked): asked.atLeast
            case .getSubscriptionStatus(let asked): asked.atLeast
            case .getCurrentEntitlement(let asked): asked.atLeast
            case .listCurrentEntitlements(let asked): asked.atLeast
            case .listPlanOptions(let asked): asked.atLeast
            case .getOfferEligibility(let asked): asked.atLeast
            case .appChanges(let asked): asked.atLeast
            case .appEntitlements(let asked): asked.atLeast
            case .explain(let asked): asked.atLeast
            case .listTransactions(let asked): asked.atLeast
            case .listUnfinished(let asked): asked.atLeast
            case .getLatestTransaction(let asked): asked.atLeast
            case .transactionUpdates(let asked): asked.atLeast
            case .getAppTransaction(let asked): asked.atLeast
            case .purchaseIntents(let asked): asked.atLeast
            case .messages(let asked): asked.atLeast
            case .inspectAccount(let asked): asked.atLeast
            default: nil
        }
    }

    /// The token that a call resumes from, empty where it begins; nil for a call that has none.
    package var resumeToken: [UInt8]? {
        switch self {
            case .productsTask(let asked): asked.resumeToken
            case .subscriptionStatusTask(let asked): asked.resumeToken
            case .currentEntitlementTask(let asked): asked.resumeToken
            case .entitlementsTask(let asked): asked.resumeToken
            case .appEntitlements(let asked): asked.resumeToken
            case .purchaseIntents(let asked): asked.resumeToken
            case .messages(let asked): asked.resumeToken
            default: nil
        }
    }

    /// The moment that a read is about; nil for a call that is about now.
    package var asOf: AsOf? {
        switch self {
            case .getEntitlements(let asked): asked.asOf
            case .getSubscriptionStatus(let asked): asked.asOf
            case .getCurrentEntitlement(let asked): asked.asOf
            case .listCurrentEntitlements(let asked): asked.asOf
            case .explain(let asked): asked.asOf
            default: nil
        }
    }

    /// Whether the answer is to have signed forms; nil where it has none.
    package var includesJWS: Bool? {
        switch self {
            case .subscriptionStatusTask(let asked): asked.includesJWS
            case .currentEntitlementTask(let asked): asked.includesJWS
            case .getSubscriptionStatus(let asked): asked.includesJWS
            case .getCurrentEntitlement(let asked): asked.includesJWS
            case .listCurrentEntitlements(let asked): asked.includesJWS
            case .purchase(let asked): asked.includesJWS
            case .listTransactions(let asked): asked.includesJWS
            case .listUnfinished(let asked): asked.includesJWS
            case .getLatestTransaction(let asked): asked.includesJWS
            case .transactionUpdates(let asked): asked.includesJWS
            case .getAppTransaction(let asked): asked.includesJWS
            default: nil
        }
    }

    /// The account that the request names.
    package var account: String? {
        switch self {
            case .subscriptionStatusTask(let asked): asked.account
            case .currentEntitlementTask(let asked): asked.account
            case .entitlementsTask(let asked): asked.account
            case .getEntitlements(let asked): asked.account
            case .getPass(let asked): asked.account
            case .getSubscriptionStatus(let asked): asked.account
            case .getCurrentEntitlement(let asked): asked.account
            case .listCurrentEntitlements(let asked): asked.account
            case .listPlanOptions(let asked): asked.account
            case .getOfferEligibility(let asked): asked.account
            case .explain(let asked): asked.account
            case .purchase(let asked): asked.account
            case .finish(let asked): asked.account
            case .listTransactions(let asked): asked.account
            case .listUnfinished(let asked): asked.account
            case .getLatestTransaction(let asked): asked.account
            case .transactionUpdates(let asked): asked.account
            case .sync(let asked): asked.account
            case .requestRefund(let asked): asked.account
            case .redeemOfferCode(let asked): asked.account
            case .manageSubscriptions(let asked): asked.account
            case .resolveBillingIssue(let asked): asked.account
            case .answerPriceIncrease(let asked): asked.account
            case .getAppTransaction(let asked): asked.account
            case .purchaseIntents(let asked): asked.account
            case .messages(let asked): asked.account
            case .operate(let asked): asked.account
            case .inspectAccount(let asked): asked.account
            case .addNote(let asked): asked.account
            case .listNotes(let asked): asked.account
            case .deleteNote(let asked): asked.account
            case .attachAlias(let asked): asked.account
            case .moveTransaction(let asked): asked.account
            case .mergeAccounts(let asked): asked.account
            case .eraseAccount(let asked): asked.account
            case .exportAccount(let asked): asked.account
            case .grantEntitlement(let asked): asked.account
            case .revokeGrant(let asked): asked.account
            case .submitTransaction(let asked): asked.account
            default: nil
        }
    }

    /// The key that makes a mutation safe to repeat, empty where the caller gave none; nil for a read.
    package var idempotencyKey: [UInt8]? {
        switch self {
            case .purchase(let asked): asked.idempotencyKey
            case .finish(let asked): asked.idempotencyKey
            case .sync(let asked): asked.idempotencyKey
            case .requestRefund(let asked): asked.idempotencyKey
            case .redeemOfferCode(let asked): asked.idempotencyKey
            case .manageSubscriptions(let asked): asked.idempotencyKey
            case .resolveBillingIssue(let asked): asked.idempotencyKey
            case .answerPriceIncrease(let asked): asked.idempotencyKey
            case .operate(let asked): asked.idempotencyKey
            case .configure(let asked): asked.idempotencyKey
            case .addNote(let asked): asked.idempotencyKey
            case .grantEntitlement(let asked): asked.idempotencyKey
            case .submitTransaction(let asked): asked.idempotencyKey
            default: nil
        }
    }

}

extension Response {
    /// The position of a mutation; nil for a read.
    package var position: Position? {
        switch self {
            case .getPass(let answer): answer.position
            case .purchase(let answer): answer.position
            case .finish(let answer): answer.position
            case .sync(let answer): answer.position
            case .requestRefund(let answer): answer.position
            case .redeemOfferCode(let answer): answer.position
            case .manageSubscriptions(let answer): answer.position
            case .resolveBillingIssue(let answer): answer.position
            case .answerPriceIncrease(let answer): answer.position
            case .operate(let answer): answer.position
            case .configure(let answer): answer.position
            case .setClock(let answer): answer.position
            case .loadCatalog(let answer): answer.position
            case .deleteNote(let answer): answer.position
            case .grantEntitlement(let answer): answer.position
            case .revokeGrant(let answer): answer.position
            case .dropDeadLetter(let answer): answer.position
            case .answerConsumption(let answer): answer.position
            default: nil
        }
    }
}
