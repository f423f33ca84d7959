// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

package import PerchModel

/// A method as a client calls it: how its request is wrapped, and its answers are unwrapped.
package struct ContractCall<Asked, Answer>: Sendable {
    package let method: Method
    package let wrap: @Sendable (Asked) -> Request
    package let unwrap: @Sendable (Response) -> Answer?
}

/// Every method as a client calls it.
package enum Calls {
    /// Products, and the identifiers that are unavailable.
    package static var productsTask: ContractCall<ProductsRequest, TaskState<Products>> {
        ContractCall(method: .productsTask, wrap: { .productsTask($0) }) {
            if case .productsTask(let answer) = $0 { answer } else { nil }
        }
    }
    /// The statuses of an account in a subscription group.
    package static var subscriptionStatusTask: ContractCall<SubscriptionStatusRequest, TaskState<SubscriptionStatuses>> {
        ContractCall(method: .subscriptionStatusTask, wrap: { .subscriptionStatusTask($0) }) {
            if case .subscriptionStatusTask(let answer) = $0 { answer } else { nil }
        }
    }
    /// The transaction that entitles an account to a product, or none.
    package static var currentEntitlementTask: ContractCall<CurrentEntitlementRequest, TaskState<Verified<Transaction>?>> {
        ContractCall(method: .currentEntitlementTask, wrap: { .currentEntitlementTask($0) }) {
            if case .currentEntitlementTask(let answer) = $0 { answer } else { nil }
        }
    }
    /// The account's entitlements by their names in the app, whatever gives them: a subscription, a purchase, a grant.
    package static var entitlementsTask: ContractCall<AccountWatchRequest, TaskState<[NamedEntitlement]>> {
        ContractCall(method: .entitlementsTask, wrap: { .entitlementsTask($0) }) {
            if case .entitlementsTask(let answer) = $0 { answer } else { nil }
        }
    }
    /// EntitlementsTask, once.
    package static var getEntitlements: ContractCall<GetEntitlementsRequest, TaskState<[NamedEntitlement]>> {
        ContractCall(method: .getEntitlements, wrap: { .getEntitlements($0) }) {
            if case .getEntitlements(let answer) = $0 { answer } else { nil }
        }
    }
    /// The named entitlements of an account as a signed pass (compact JWS), which others verify without asking the server: its keys
    /// are at /.well-known/jwks.json. It ends at the next change that time alone makes, after 24 hours at the latest.
    package static var getPass: ContractCall<GetPassRequest, EntitlementPass> {
        ContractCall(method: .getPass, wrap: { .getPass($0) }) {
            if case .getPass(let answer) = $0 { answer } else { nil }
        }
    }
    /// ProductsTask, once.
    package static var getProducts: ContractCall<ProductsRequest, TaskState<Products>> {
        ContractCall(method: .getProducts, wrap: { .getProducts($0) }) {
            if case .getProducts(let answer) = $0 { answer } else { nil }
        }
    }
    /// A promotional image of the catalogue, by the identifier in its product.
    package static var getImage: ContractCall<GetImageRequest, ImageAnswer> {
        ContractCall(method: .getImage, wrap: { .getImage($0) }) {
            if case .getImage(let answer) = $0 { answer } else { nil }
        }
    }
    /// SubscriptionStatusTask, once.
    package static var getSubscriptionStatus: ContractCall<SubscriptionStatusRequest, TaskState<SubscriptionStatuses>> {
        ContractCall(method: .getSubscriptionStatus, wrap: { .getSubscriptionStatus($0) }) {
            if case .getSubscriptionStatus(let answer) = $0 { answer } else { nil }
        }
    }
    /// CurrentEntitlementTask, once.
    package static var getCurrentEntitlement: ContractCall<CurrentEntitlementRequest, TaskState<Verified<Transaction>?>> {
        ContractCall(method: .getCurrentEntitlement, wrap: { .getCurrentEntitlement($0) }) {
            if case .getCurrentEntitlement(let answer) = $0 { answer } else { nil }
        }
    }
    /// Everything that an account is entitled to, once.
    package static var listCurrentEntitlements: ContractCall<ListCurrentEntitlementsRequest, EntitlementList> {
        ContractCall(method: .listCurrentEntitlements, wrap: { .listCurrentEntitlements($0) }) {
            if case .listCurrentEntitlements(let answer) = $0 { answer } else { nil }
        }
    }
    /// The products of a group, and the relation of each to the account's current plan.
    package static var listPlanOptions: ContractCall<PlanOptionsRequest, PlanOptionList> {
        ContractCall(method: .listPlanOptions, wrap: { .listPlanOptions($0) }) {
            if case .listPlanOptions(let answer) = $0 { answer } else { nil }
        }
    }
    /// The offers of a product or group, and the account's eligibility for each.
    package static var getOfferEligibility: ContractCall<OfferEligibilityRequest, OfferEligibilityAnswer> {
        ContractCall(method: .getOfferEligibility, wrap: { .getOfferEligibility($0) }) {
            if case .getOfferEligibility(let answer) = $0 { answer } else { nil }
        }
    }
    /// The app's licence agreement and privacy policy.
    package static var getAppPolicies: ContractCall<AppPoliciesRequest, AppPoliciesAnswer> {
        ContractCall(method: .getAppPolicies, wrap: { .getAppPolicies($0) }) {
            if case .getAppPolicies(let answer) = $0 { answer } else { nil }
        }
    }
    /// Every change of every account of an app, exactly once and in order, across reconnects. Services use it where they would
    /// otherwise want webhooks.
    package static var appChanges: ContractCall<AppChangesRequest, FeedEvent> {
        ContractCall(method: .appChanges, wrap: { .appChanges($0) }) {
            if case .appChanges(let answer) = $0 { answer } else { nil }
        }
    }
    /// A copy of every named entitlement of an app: first all accounts that have one, then each change, for ever. A service that holds
    /// the copy answers in its own memory, and stays right while the server is away, because each entitlement has its end.
    ///
    /// `begin` starts a copy, `accounts` fills it, and `end` completes it: the entries since `begin` replace those of an earlier copy
    /// at once. Each later `accounts` is a change. A stream may begin another copy at any time: after a new catalogue or entitlement
    /// file, or if a resume token is of no use any more. The copy before stays valid until the new one's `end`. Where `begin` goes on with
    /// a copy, a bookmark follows as soon as every change that was missed has been sent: until then the copy is older than the server.
    package static var appEntitlements: ContractCall<AppEntitlementsRequest, CopyPart> {
        ContractCall(method: .appEntitlements, wrap: { .appEntitlements($0) }) {
            if case .appEntitlements(let answer) = $0 { answer } else { nil }
        }
    }
    /// Why an account is entitled, or not, and what will change automatically; as sentences that can be read to the customer too.
    package static var explain: ContractCall<ExplainRequest, ExplainAnswer> {
        ContractCall(method: .explain, wrap: { .explain($0) }) {
            if case .explain(let answer) = $0 { answer } else { nil }
        }
    }
    /// Buys a product, as an app does. Test apps only.
    package static var purchase: ContractCall<PurchaseRequest, PurchaseResponse> {
        ContractCall(method: .purchase, wrap: { .purchase($0) }) {
            if case .purchase(let answer) = $0 { answer } else { nil }
        }
    }
    /// Marks a transaction as delivered. A second Finish changes nothing.
    package static var finish: ContractCall<FinishRequest, Acknowledgement> {
        ContractCall(method: .finish, wrap: { .finish($0) }) {
            if case .finish(let answer) = $0 { answer } else { nil }
        }
    }
    /// The transactions of an account, oldest first, a page at a time.
    package static var listTransactions: ContractCall<ListTransactionsRequest, TransactionPage> {
        ContractCall(method: .listTransactions, wrap: { .listTransactions($0) }) {
            if case .listTransactions(let answer) = $0 { answer } else { nil }
        }
    }
    /// The unfinished transactions, oldest first.
    package static var listUnfinished: ContractCall<ListUnfinishedRequest, TransactionPage> {
        ContractCall(method: .listUnfinished, wrap: { .listUnfinished($0) }) {
            if case .listUnfinished(let answer) = $0 { answer } else { nil }
        }
    }
    /// The newest transaction of a product, revoked ones included.
    package static var getLatestTransaction: ContractCall<LatestTransactionRequest, LatestTransaction> {
        ContractCall(method: .getLatestTransaction, wrap: { .getLatestTransaction($0) }) {
            if case .getLatestTransaction(let answer) = $0 { answer } else { nil }
        }
    }
    /// Each new or changed transaction, exactly once and in order, across reconnects.
    package static var transactionUpdates: ContractCall<TransactionUpdatesRequest, TransactionEvent> {
        ContractCall(method: .transactionUpdates, wrap: { .transactionUpdates($0) }) {
            if case .transactionUpdates(let answer) = $0 { answer } else { nil }
        }
    }
    /// Restores purchases: delivers what waits for the customer's request. Never removes anything.
    package static var sync: ContractCall<SyncRequest, Acknowledgement> {
        ContractCall(method: .sync, wrap: { .sync($0) }) {
            if case .sync(let answer) = $0 { answer } else { nil }
        }
    }
    /// Requests a refund, as a customer does: approved, unless the text says `REJECT`. Test apps only.
    package static var requestRefund: ContractCall<RefundRequest, RefundAnswer> {
        ContractCall(method: .requestRefund, wrap: { .requestRefund($0) }) {
            if case .requestRefund(let answer) = $0 { answer } else { nil }
        }
    }
    /// Redeems an offer code, as a customer does outside of a purchase. Test apps only.
    package static var redeemOfferCode: ContractCall<RedeemOfferCodeRequest, RedeemedCode> {
        ContractCall(method: .redeemOfferCode, wrap: { .redeemOfferCode($0) }) {
            if case .redeemOfferCode(let answer) = $0 { answer } else { nil }
        }
    }
    /// Switches renewal on or off, as a customer does in the subscriptions sheet. Test apps only.
    package static var manageSubscriptions: ContractCall<ManageSubscriptionsRequest, Acknowledgement> {
        ContractCall(method: .manageSubscriptions, wrap: { .manageSubscriptions($0) }) {
            if case .manageSubscriptions(let answer) = $0 { answer } else { nil }
        }
    }
    /// Resolves a billing issue, as a customer does who corrects the payment method: the store charges again, and the
    /// account's charges are no longer set to fail. Test apps only.
    package static var resolveBillingIssue: ContractCall<ResolveBillingIssueRequest, Acknowledgement> {
        ContractCall(method: .resolveBillingIssue, wrap: { .resolveBillingIssue($0) }) {
            if case .resolveBillingIssue(let answer) = $0 { answer } else { nil }
        }
    }
    /// Answers a price increase, as a customer does in the store's sheet. Test apps only.
    package static var answerPriceIncrease: ContractCall<AnswerPriceIncreaseRequest, Acknowledgement> {
        ContractCall(method: .answerPriceIncrease, wrap: { .answerPriceIncrease($0) }) {
            if case .answerPriceIncrease(let answer) = $0 { answer } else { nil }
        }
    }
    /// The record of the account's first use of the app.
    package static var getAppTransaction: ContractCall<AppTransactionRequest, AppTransactionAnswer> {
        ContractCall(method: .getAppTransaction, wrap: { .getAppTransaction($0) }) {
            if case .getAppTransaction(let answer) = $0 { answer } else { nil }
        }
    }
    /// The purchases that a customer began outside the app, now and at each change.
    package static var purchaseIntents: ContractCall<AccountWatchRequest, TaskState<[PurchaseIntent]>> {
        ContractCall(method: .purchaseIntents, wrap: { .purchaseIntents($0) }) {
            if case .purchaseIntents(let answer) = $0 { answer } else { nil }
        }
    }
    /// The store's valid messages for the customer, now and at each change.
    package static var messages: ContractCall<AccountWatchRequest, TaskState<[StoreMessage]>> {
        ContractCall(method: .messages, wrap: { .messages($0) }) {
            if case .messages(let answer) = $0 { answer } else { nil }
        }
    }
    /// Performs one operation on one account: buy, refund, renew, share, delete and so on. Answers after the commit.
    package static var operate: ContractCall<OperateRequest, OperateResponse> {
        ContractCall(method: .operate, wrap: { .operate($0) }) {
            if case .operate(let answer) = $0 { answer } else { nil }
        }
    }
    /// The store's record of an account.
    package static var inspectAccount: ContractCall<InspectAccountRequest, AccountInspection> {
        ContractCall(method: .inspectAccount, wrap: { .inspectAccount($0) }) {
            if case .inspectAccount(let answer) = $0 { answer } else { nil }
        }
    }
    /// The accounts of the app, by key, a page at a time.
    package static var listAccounts: ContractCall<ListAccountsRequest, AccountPage> {
        ContractCall(method: .listAccounts, wrap: { .listAccounts($0) }) {
            if case .listAccounts(let answer) = $0 { answer } else { nil }
        }
    }
    /// Changes settings, armed failures and products of the app, all in one revision.
    package static var configure: ContractCall<ConfigureRequest, Acknowledgement> {
        ContractCall(method: .configure, wrap: { .configure($0) }) {
            if case .configure(let answer) = $0 { answer } else { nil }
        }
    }
    /// The app's settings and armed failures.
    package static var getSettings: ContractCall<SettingsRequest, SettingsList> {
        ContractCall(method: .getSettings, wrap: { .getSettings($0) }) {
            if case .getSettings(let answer) = $0 { answer } else { nil }
        }
    }
    /// The app's clock and time rate.
    package static var getClock: ContractCall<ClockRequest, ClockResponse> {
        ContractCall(method: .getClock, wrap: { .getClock($0) }) {
            if case .getClock(let answer) = $0 { answer } else { nil }
        }
    }
    /// Freezes, resumes or advances the app's clock. Answers after everything due up to the new instant is settled and
    /// pushed.
    package static var setClock: ContractCall<SetClockRequest, SetClockResponse> {
        ContractCall(method: .setClock, wrap: { .setClock($0) }) {
            if case .setClock(let answer) = $0 { answer } else { nil }
        }
    }
    /// Lets something go wrong on purpose where the server is the App Store of other backends: with the next notifications of the
    /// app, or with the next requests of its backend. A server that stops forgets what has not gone wrong yet.
    package static var orderMishap: ContractCall<OrderMishapRequest, OrderMishapResponse> {
        ContractCall(method: .orderMishap, wrap: { .orderMishap($0) }) {
            if case .orderMishap(let answer) = $0 { answer } else { nil }
        }
    }
    /// The apps of this server.
    package static var listApps: ContractCall<Void, AppList> {
        ContractCall(method: .listApps, wrap: { _ in .listApps }) {
            if case .listApps(let answer) = $0 { answer } else { nil }
        }
    }
    /// Parses a catalogue file and reports its contents, without loading it.
    package static var checkCatalog: ContractCall<CheckCatalogRequest, CheckCatalogResponse> {
        ContractCall(method: .checkCatalog, wrap: { .checkCatalog($0) }) {
            if case .checkCatalog(let answer) = $0 { answer } else { nil }
        }
    }
    /// Replaces an app's catalogue: one change, one revision, one push for each stream that it affects.
    package static var loadCatalog: ContractCall<LoadCatalogRequest, LoadCatalogResponse> {
        ContractCall(method: .loadCatalog, wrap: { .loadCatalog($0) }) {
            if case .loadCatalog(let answer) = $0 { answer } else { nil }
        }
    }
    /// The contents of an app's catalogue.
    package static var getCatalog: ContractCall<GetCatalogRequest, CatalogContents> {
        ContractCall(method: .getCatalog, wrap: { .getCatalog($0) }) {
            if case .getCatalog(let answer) = $0 { answer } else { nil }
        }
    }
    /// Connections, their cost, and every counter.
    package static var getServerStatus: ContractCall<Void, ServerStatus> {
        ContractCall(method: .getServerStatus, wrap: { _ in .getServerStatus }) {
            if case .getServerStatus(let answer) = $0 { answer } else { nil }
        }
    }
    /// Copies the store into a file on the server's machine while the server keeps working. One at a time.
    package static var backup: ContractCall<BackupRequest, BackupSummary> {
        ContractCall(method: .backup, wrap: { .backup($0) }) {
            if case .backup(let answer) = $0 { answer } else { nil }
        }
    }
    /// Revokes a token before its end. Its holder's streams end within five seconds.
    package static var revokeToken: ContractCall<RevokeTokenRequest, RevokeTokenResponse> {
        ContractCall(method: .revokeToken, wrap: { .revokeToken($0) }) {
            if case .revokeToken(let answer) = $0 { answer } else { nil }
        }
    }
    /// Keeps a token for a browser, and returns a code for it. `perch console` puts the code into an address, where no token
    /// may be.
    package static var offerConsoleCode: ContractCall<OfferConsoleCodeRequest, ConsoleCode> {
        ContractCall(method: .offerConsoleCode, wrap: { .offerConsoleCode($0) }) {
            if case .offerConsoleCode(let answer) = $0 { answer } else { nil }
        }
    }
    /// Exchanges a code for its token. The code is the only credential.
    package static var redeemConsoleCode: ContractCall<RedeemConsoleCodeRequest, ConsoleToken> {
        ContractCall(method: .redeemConsoleCode, wrap: { .redeemConsoleCode($0) }) {
            if case .redeemConsoleCode(let answer) = $0 { answer } else { nil }
        }
    }
    /// The account of a transaction, or of a name that the App Store or the app gives a customer. In every environment.
    package static var findAccount: ContractCall<FindAccountRequest, AccountFound> {
        ContractCall(method: .findAccount, wrap: { .findAccount($0) }) {
            if case .findAccount(let answer) = $0 { answer } else { nil }
        }
    }
    /// Customers by any name: the beginning of their key, or a whole name of another kind. Keys in other capitals follow those in the
    /// very capitals of the text. In every environment. Reads a bounded number of rows, however many accounts there are.
    package static var findCustomers: ContractCall<FindCustomersRequest, CustomersFound> {
        ContractCall(method: .findCustomers, wrap: { .findCustomers($0) }) {
            if case .findCustomers(let answer) = $0 { answer } else { nil }
        }
    }
    /// Writes a note beside a customer. A note changes nothing that the customer has, so the scope read is enough. In every environment.
    package static var addNote: ContractCall<AddNoteRequest, NoteAdded> {
        ContractCall(method: .addNote, wrap: { .addNote($0) }) {
            if case .addNote(let answer) = $0 { answer } else { nil }
        }
    }
    /// The notes beside a customer.
    package static var listNotes: ContractCall<ListNotesRequest, NoteList> {
        ContractCall(method: .listNotes, wrap: { .listNotes($0) }) {
            if case .listNotes(let answer) = $0 { answer } else { nil }
        }
    }
    /// Deletes a note: an own one, or anybody's with the scope admin.
    package static var deleteNote: ContractCall<DeleteNoteRequest, Acknowledgement> {
        ContractCall(method: .deleteNote, wrap: { .deleteNote($0) }) {
            if case .deleteNote(let answer) = $0 { answer } else { nil }
        }
    }
    /// Purchases that the App Store reported and that need somebody: those of no account that is known, and subscriptions whose
    /// renewal was awaited and never reported. A page looks at a limited number of accounts, so it may be empty and not the last.
    package static var listUnclaimed: ContractCall<ListUnclaimedRequest, UnclaimedPage> {
        ContractCall(method: .listUnclaimed, wrap: { .listUnclaimed($0) }) {
            if case .listUnclaimed(let answer) = $0 { answer } else { nil }
        }
    }
    /// Says that a name of a customer belongs to an account from now on. What waited for it becomes the account's. The name is then another
    /// key of the account in calls, streams and copies, except the hash of an e-mail address. OWNED_BY_OTHER: it is the key of another account.
    package static var attachAlias: ContractCall<AttachAliasRequest, MoveAnswer> {
        ContractCall(method: .attachAlias, wrap: { .attachAlias($0) }) {
            if case .attachAlias(let answer) = $0 { answer } else { nil }
        }
    }
    /// Takes a name of a customer from its account.
    package static var detachAlias: ContractCall<DetachAliasRequest, MoveAnswer> {
        ContractCall(method: .detachAlias, wrap: { .detachAlias($0) }) {
            if case .detachAlias(let answer) = $0 { answer } else { nil }
        }
    }
    /// Gives an original transaction, and what follows it, to an account, whatever the app's claim policy says.
    package static var moveTransaction: ContractCall<MoveTransactionRequest, MoveAnswer> {
        ContractCall(method: .moveTransaction, wrap: { .moveTransaction($0) }) {
            if case .moveTransaction(let answer) = $0 { answer } else { nil }
        }
    }
    /// Gives everything that one account has to another, and its key too: an anonymous customer has signed in. Both accounts
    /// change in one revision.
    package static var mergeAccounts: ContractCall<MergeAccountsRequest, MergeAccountsResponse> {
        ContractCall(method: .mergeAccounts, wrap: { .mergeAccounts($0) }) {
            if case .mergeAccounts(let answer) = $0 { answer } else { nil }
        }
    }
    /// Erases an account: its transactions, facts, names and grants, and what waits or was kept about it. Its revisions stay, empty,
    /// so that cursors and tokens of others stay valid. Streams of the account get the value of one that owns nothing. Later
    /// reports about its purchases are not kept until a submission names an account for them. In every environment.
    package static var eraseAccount: ContractCall<EraseAccountRequest, EraseAccountResponse> {
        ContractCall(method: .eraseAccount, wrap: { .eraseAccount($0) }) {
            if case .eraseAccount(let answer) = $0 { answer } else { nil }
        }
    }
    /// Everything that the store knows of an account. In every environment.
    package static var exportAccount: ContractCall<ExportAccountRequest, AccountExport> {
        ContractCall(method: .exportAccount, wrap: { .exportAccount($0) }) {
            if case .exportAccount(let answer) = $0 { answer } else { nil }
        }
    }
    /// Grants a named entitlement to an account, in every environment. It touches no purchase, and replaces an earlier grant of
    /// that name.
    package static var grantEntitlement: ContractCall<GrantEntitlementRequest, GrantEntitlementResponse> {
        ContractCall(method: .grantEntitlement, wrap: { .grantEntitlement($0) }) {
            if case .grantEntitlement(let answer) = $0 { answer } else { nil }
        }
    }
    /// Ends a grant.
    package static var revokeGrant: ContractCall<RevokeGrantRequest, Acknowledgement> {
        ContractCall(method: .revokeGrant, wrap: { .revokeGrant($0) }) {
            if case .revokeGrant(let answer) = $0 { answer } else { nil }
        }
    }
    /// Administrative and test changes, oldest first: who asked for what, from where. Customers' purchases are not among them.
    package static var listAudit: ContractCall<ListAuditRequest, AuditPage> {
        ContractCall(method: .listAudit, wrap: { .listAudit($0) }) {
            if case .listAudit(let answer) = $0 { answer } else { nil }
        }
    }
    /// Values whose signature was good and that were not taken, oldest first, a page at a time.
    package static var listDeadLetters: ContractCall<ListDeadLettersRequest, DeadLetterPage> {
        ContractCall(method: .listDeadLetters, wrap: { .listDeadLetters($0) }) {
            if case .listDeadLetters(let answer) = $0 { answer } else { nil }
        }
    }
    /// Takes a dead letter once more. It is gone when that succeeds.
    package static var retryDeadLetter: ContractCall<RetryDeadLetterRequest, RetryAnswer> {
        ContractCall(method: .retryDeadLetter, wrap: { .retryDeadLetter($0) }) {
            if case .retryDeadLetter(let answer) = $0 { answer } else { nil }
        }
    }
    /// Deletes a dead letter.
    package static var dropDeadLetter: ContractCall<DropDeadLetterRequest, Acknowledgement> {
        ContractCall(method: .dropDeadLetter, wrap: { .dropDeadLetter($0) }) {
            if case .dropDeadLetter(let answer) = $0 { answer } else { nil }
        }
    }
    /// What the App Store asks about purchases whose customers want refunds, in the order of the transactions, a page at a time. A
    /// question leaves the list a day after its deadline.
    package static var listConsumption: ContractCall<ListConsumptionRequest, ConsumptionPage> {
        ContractCall(method: .listConsumption, wrap: { .listConsumption($0) }) {
            if case .listConsumption(let answer) = $0 { answer } else { nil }
        }
    }
    /// Answers such a question. The answer is stored, and then sent to the App Store, again after a failure until the deadline.
    package static var answerConsumption: ContractCall<AnswerConsumptionRequest, Acknowledgement> {
        ContractCall(method: .answerConsumption, wrap: { .answerConsumption($0) }) {
            if case .answerConsumption(let answer) = $0 { answer } else { nil }
        }
    }
    /// Asks the App Store now for what it did not deliver, or says how far that is. Of several nodes of one store the one that has the
    /// right to ask must be called; others refuse with `LEASE_WAIT`.
    package static var reconcile: ContractCall<ReconcileRequest, ReconcileProgress> {
        ContractCall(method: .reconcile, wrap: { .reconcile($0) }) {
            if case .reconcile(let answer) = $0 { answer } else { nil }
        }
    }
    /// Notifications of sandbox apps that were taken, oldest first, a page at a time: the latest 200. Those of production apps are
    /// not kept.
    package static var listNotifications: ContractCall<ListNotificationsRequest, NotificationPage> {
        ContractCall(method: .listNotifications, wrap: { .listNotifications($0) }) {
            if case .listNotifications(let answer) = $0 { answer } else { nil }
        }
    }
    /// A notification or a dead letter as it came.
    package static var getSignedPayload: ContractCall<GetSignedPayloadRequest, SignedPayload> {
        ContractCall(method: .getSignedPayload, wrap: { .getSignedPayload($0) }) {
            if case .getSignedPayload(let answer) = $0 { answer } else { nil }
        }
    }
    /// Takes signed transactions, renewal information, app transactions and notifications, from the app or its backend.
    /// Answers after everything is durable. The order of values does not matter, and a repetition changes nothing. A value that cannot
    /// be taken is refused alone, and `refused` says which; the call fails where all are. Credentials for one account submit for that
    /// account alone: so an app submits for its own customer.
    package static var submitTransaction: ContractCall<SubmitTransactionRequest, SubmissionAnswer> {
        ContractCall(method: .submitTransaction, wrap: { .submitTransaction($0) }) {
            if case .submitTransaction(let answer) = $0 { answer } else { nil }
        }
    }
    /// Takes an App Store Server Notification, version 2, as Apple posts it. `POST /apple/notifications` of the listener
    /// `--apple-listen` is this call, without credentials: the signature says who sent it.
    package static var submitNotification: ContractCall<SubmitNotificationRequest, SubmissionAnswer> {
        ContractCall(method: .submitNotification, wrap: { .submitNotification($0) }) {
            if case .submitNotification(let answer) = $0 { answer } else { nil }
        }
    }
    /// Several watches on one stream. Each message names the watch that it is of. The list is fixed: to change it, call again with
    /// the tokens of the last values, and cancel this call. A watch whose value is still current answers `unchanged`. If one
    /// watch is refused, or ends, the call ends with its status; the detail `watch` is its place in the list.
    ///
    /// Each watch needs what its own method needs, besides.
    package static var watch: ContractCall<WatchRequest, WatchedResponse> {
        ContractCall(method: .watch, wrap: { .watch($0) }) {
            if case .watch(let answer) = $0 { answer } else { nil }
        }
    }
}
