// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file

import CPerchProto
import PerchBase
import PerchModel

extension MessageCodec {
    /// Reads a request, within the limits of requests. The caller bounds its length by `Method.requestBytesMax`.
    package func decodeRequest(_ method: Method, _ bytes: borrowing RawSpan) throws(MessageError) -> Request {
        switch method {
            case .productsTask:
                return .productsTask(ProductsRequest(try self.request(Perch__V1__ProductsTaskRequest.self, bytes)))
            case .subscriptionStatusTask:
                return .subscriptionStatusTask(SubscriptionStatusRequest(try self.request(Perch__V1__SubscriptionStatusTaskRequest.self, bytes)))
            case .currentEntitlementTask:
                if let quick = bytes.withUnsafeBytes({ QuickReader.entitlementRequest($0, names: self.names) }) {
                    return .currentEntitlementTask(quick)
                }
                return .currentEntitlementTask(CurrentEntitlementRequest(try self.request(Perch__V1__CurrentEntitlementTaskRequest.self, bytes)))
            case .entitlementsTask:
                return .entitlementsTask(AccountWatchRequest(try self.request(Perch__V1__EntitlementsTaskRequest.self, bytes)))
            case .getEntitlements:
                return .getEntitlements(GetEntitlementsRequest(try self.request(Perch__V1__GetEntitlementsRequest.self, bytes)))
            case .getPass:
                return .getPass(GetPassRequest(try self.request(Perch__V1__GetPassRequest.self, bytes)))
            case .getProducts:
                return .getProducts(ProductsRequest(try self.request(Perch__V1__GetProductsRequest.self, bytes)))
            case .getImage:
                return .getImage(GetImageRequest(try self.request(Perch__V1__GetImageRequest.self, bytes)))
            case .getSubscriptionStatus:
                return .getSubscriptionStatus(SubscriptionStatusRequest(try self.request(Perch__V1__GetSubscriptionStatusRequest.self, bytes)))
            case .getCurrentEntitlement:
                return .getCurrentEntitlement(CurrentEntitlementRequest(try self.request(Perch__V1__GetCurrentEntitlementRequest.self, bytes)))
            case .listCurrentEntitlements:
                return .listCurrentEntitlements(ListCurrentEntitlementsRequest(try self.request(Perch__V1__ListCurrentEntitlementsRequest.self, bytes)))
            case .listPlanOptions:
                return .listPlanOptions(PlanOptionsRequest(try self.request(Perch__V1__ListPlanOptionsRequest.self, bytes)))
            case .getOfferEligibility:
                return .getOfferEligibility(OfferEligibilityRequest(try self.request(Perch__V1__GetOfferEligibilityRequest.self, bytes)))
            case .getAppPolicies:
                return .getAppPolicies(AppPoliciesRequest(try self.request(Perch__V1__GetAppPoliciesRequest.self, bytes)))
            case .appChanges:
                return .appChanges(AppChangesRequest(try self.request(Perch__V1__AppChangesRequest.self, bytes)))
            case .appEntitlements:
                return .appEntitlements(AppEntitlementsRequest(try self.request(Perch__V1__AppEntitlementsRequest.self, bytes)))
            case .explain:
                return .explain(ExplainRequest(try self.request(Perch__V1__ExplainRequest.self, bytes)))
            case .purchase:
                if let quick = bytes.withUnsafeBytes({ QuickReader.purchaseRequest($0, names: self.names) }) {
                    return .purchase(quick)
                }
                return .purchase(PurchaseRequest(try self.request(Perch__V1__PurchaseRequest.self, bytes)))
            case .finish:
                return .finish(FinishRequest(try self.request(Perch__V1__FinishRequest.self, bytes)))
            case .listTransactions:
                return .listTransactions(ListTransactionsRequest(try self.request(Perch__V1__ListTransactionsRequest.self, bytes)))
            case .listUnfinished:
                return .listUnfinished(ListUnfinishedRequest(try self.request(Perch__V1__ListUnfinishedRequest.self, bytes)))
            case .getLatestTransaction:
                return .getLatestTransaction(LatestTransactionRequest(try self.request(Perch__V1__GetLatestTransactionRequest.self, bytes)))
            case .transactionUpdates:
                return .transactionUpdates(TransactionUpdatesRequest(try self.request(Perch__V1__TransactionUpdatesRequest.self, bytes)))
            case .sync:
                return .sync(SyncRequest(try self.request(Perch__V1__SyncRequest.self, bytes)))
            case .requestRefund:
                return .requestRefund(RefundRequest(try self.request(Perch__V1__RequestRefundRequest.self, bytes)))
            case .redeemOfferCode:
                return .redeemOfferCode(RedeemOfferCodeRequest(try self.request(Perch__V1__RedeemOfferCodeRequest.self, bytes)))
            case .manageSubscriptions:
                return .manageSubscriptions(ManageSubscriptionsRequest(try self.request(Perch__V1__ManageSubscriptionsRequest.self, bytes)))
            case .resolveBillingIssue:
                return .resolveBillingIssue(ResolveBillingIssueRequest(try self.request(Perch__V1__ResolveBillingIssueRequest.self, bytes)))
            case .answerPriceIncrease:
                return .answerPriceIncrease(AnswerPriceIncreaseRequest(try self.request(Perch__V1__AnswerPriceIncreaseRequest.self, bytes)))
            case .getAppTransaction:
                return .getAppTransaction(AppTransactionRequest(try self.request(Perch__V1__GetAppTransactionRequest.self, bytes)))
            case .purchaseIntents:
                return .purchaseIntents(AccountWatchRequest(try self.request(Perch__V1__PurchaseIntentsRequest.self, bytes)))
            case .messages:
                return .messages(AccountWatchRequest(try self.request(Perch__V1__MessagesRequest.self, bytes)))
            case .operate:
                if let quick = bytes.withUnsafeBytes({ QuickReader.operateRequest($0, names: self.names) }) {
                    return .operate(quick)
                }
                return .operate(try OperateRequest(try self.request(Perch__V1__OperateRequest.self, bytes)))
            case .inspectAccount:
                return .inspectAccount(InspectAccountRequest(try self.request(Perch__V1__InspectAccountRequest.self, bytes)))
            case .listAccounts:
                return .listAccounts(ListAccountsRequest(try self.request(Perch__V1__ListAccountsRequest.self, bytes)))
            case .configure:
                return .configure(try ConfigureRequest(try self.request(Perch__V1__ConfigureRequest.self, bytes)))
            case .getSettings:
                return .getSettings(SettingsRequest(try self.request(Perch__V1__GetSettingsRequest.self, bytes)))
            case .getClock:
                return .getClock(ClockRequest(try self.request(Perch__V1__GetClockRequest.self, bytes)))
            case .setClock:
                return .setClock(SetClockRequest(try self.request(Perch__V1__SetClockRequest.self, bytes)))
            case .orderMishap:
                return .orderMishap(OrderMishapRequest(try self.request(Perch__V1__OrderMishapRequest.self, bytes)))
            case .listApps:
                _ = try self.request(Perch__V1__ListAppsRequest.self, bytes)
                return .listApps
            case .checkCatalog:
                return .checkCatalog(CheckCatalogRequest(try self.request(Perch__V1__CheckCatalogRequest.self, bytes)))
            case .loadCatalog:
                return .loadCatalog(LoadCatalogRequest(try self.request(Perch__V1__LoadCatalogRequest.self, bytes)))
            case .getCatalog:
                return .getCatalog(GetCatalogRequest(try self.request(Perch__V1__GetCatalogRequest.self, bytes)))
            case .getServerStatus:
                _ = try self.request(Perch__V1__GetServerStatusRequest.self, bytes)
                return .getServerStatus
            case .backup:
                return .backup(BackupRequest(try self.request(Perch__V1__BackupRequest.self, bytes)))
            case .revokeToken:
                return .revokeToken(RevokeTokenRequest(try self.request(Perch__V1__RevokeTokenRequest.self, bytes)))
            case .offerConsoleCode:
                return .offerConsoleCode(OfferConsoleCodeRequest(try self.request(Perch__V1__OfferConsoleCodeRequest.self, bytes)))
            case .redeemConsoleCode:
                return .redeemConsoleCode(RedeemConsoleCodeRequest(try self.request(Perch__V1__RedeemConsoleCodeRequest.self, bytes)))
            case .findAccount:
                return .findAccount(FindAccountRequest(try self.request(Perch__V1__FindAccountRequest.self, bytes)))
            case .findCustomers:
                return .findCustomers(FindCustomersRequest(try self.request(Perch__V1__FindCustomersRequest.self, bytes)))
            case .addNote:
                return .addNote(AddNoteRequest(try self.request(Perch__V1__AddNoteRequest.self, bytes)))
            case .listNotes:
                return .listNotes(ListNotesRequest(try self.request(Perch__V1__ListNotesRequest.self, bytes)))
            case .deleteNote:
                return .deleteNote(DeleteNoteRequest(try self.request(Perch__V1__DeleteNoteRequest.self, bytes)))
            case .listUnclaimed:
                return .listUnclaimed(ListUnclaimedRequest(try self.request(Perch__V1__ListUnclaimedRequest.self, bytes)))
            case .attachAlias:
                return .attachAlias(AttachAliasRequest(try self.request(Perch__V1__AttachAliasRequest.self, bytes)))
            case .detachAlias:
                return .detachAlias(DetachAliasRequest(try self.request(Perch__V1__DetachAliasRequest.self, bytes)))
            case .moveTransaction:
                return .moveTransaction(MoveTransactionRequest(try self.request(Perch__V1__MoveTransactionRequest.self, bytes)))
            case .mergeAccounts:
                return .mergeAccounts(MergeAccountsRequest(try self.request(Perch__V1__MergeAccountsRequest.self, bytes)))
            case .eraseAccount:
                return .eraseAccount(EraseAccountRequest(try self.request(Perch__V1__EraseAccountRequest.self, bytes)))
            case .exportAccount:
                return .exportAccount(ExportAccountRequest(try self.request(Perch__V1__ExportAccountRequest.self, bytes)))
            case .grantEntitlement:
                return .grantEntitlement(GrantEntitlementRequest(try self.request(Perch__V1__GrantEntitlementRequest.self, bytes)))
            case .revokeGrant:
                return .revokeGrant(RevokeGrantRequest(try self.request(Perch__V1__RevokeGrantRequest.self, bytes)))
            case .listAudit:
                return .listAudit(ListAuditRequest(try self.request(Perch__V1__ListAuditRequest.self, bytes)))
            case .listDeadLetters:
                return .listDeadLetters(ListDeadLettersRequest(try self.request(Perch__V1__ListDeadLettersRequest.self, bytes)))
            case .retryDeadLetter:
                return .retryDeadLetter(RetryDeadLetterRequest(try self.request(Perch__V1__RetryDeadLetterRequest.self, bytes)))
            case .dropDeadLetter:
                return .dropDeadLetter(DropDeadLetterRequest(try self.request(Perch__V1__DropDeadLetterRequest.self, bytes)))
            case .listConsumption:
                return .listConsumption(ListConsumptionRequest(try self.request(Perch__V1__ListConsumptionRequest.self, bytes)))
            case .answerConsumption:
                return .answerConsumption(AnswerConsumptionRequest(try self.request(Perch__V1__AnswerConsumptionRequest.self, bytes)))
            case .reconcile:
                return .reconcile(ReconcileRequest(try self.request(Perch__V1__ReconcileRequest.self, bytes)))
            case .listNotifications:
                return .listNotifications(ListNotificationsRequest(try self.request(Perch__V1__ListNotificationsRequest.self, bytes)))
            case .getSignedPayload:
                return .getSignedPayload(GetSignedPayloadRequest(try self.request(Perch__V1__GetSignedPayloadRequest.self, bytes)))
            case .submitTransaction:
                return .submitTransaction(SubmitTransactionRequest(try self.request(Perch__V1__SubmitTransactionRequest.self, bytes)))
            case .submitNotification:
                return .submitNotification(SubmitNotificationRequest(try self.request(Perch__V1__SubmitNotificationRequest.self, bytes)))
            case .watch:
                return .watch(try WatchRequest(try self.request(Perch__V1__WatchRequest.self, bytes)))
        }
    }

    /// Writes a request.
    package func encode(_ request: Request) throws(MessageError) -> Encoded {
        let arena = self.arena
        switch request {
            case .productsTask(let value): return try self.packRequest(Perch__V1__ProductsTaskRequest.self) { value.write(to: $0, arena) }
            case .subscriptionStatusTask(let value): return try self.packRequest(Perch__V1__SubscriptionStatusTaskRequest.self) { value.write(to: $0, arena) }
            case .currentEntitlementTask(let value): return try self.packRequest(Perch__V1__CurrentEntitlementTaskRequest.self) { value.write(to: $0, arena) }
            case .entitlementsTask(let value): return try self.packRequest(Perch__V1__EntitlementsTaskRequest.self) { value.write(to: $0, arena) }
            case .getEntitlements(let value): return try self.packRequest(Perch__V1__GetEntitlementsRequest.self) { value.write(to: $0, arena) }
            case .getPass(let value): return try self.packRequest(Perch__V1__GetPassRequest.self) { value.write(to: $0, arena) }
            case .getProducts(let value): return try self.packRequest(Perch__V1__GetProductsRequest.self) { value.write(to: $0, arena) }
            case .getImage(let value): return try self.packRequest(Perch__V1__GetImageRequest.self) { value.write(to: $0, arena) }
            case .getSubscriptionStatus(let value): return try self.packRequest(Perch__V1__GetSubscriptionStatusRequest.self) { value.write(to: $0, arena) }
            case .getCurrentEntitlement(let value): return try self.packRequest(Perch__V1__GetCurrentEntitlementRequest.self) { value.write(to: $0, arena) }
            case .listCurrentEntitlements(let value): return try self.packRequest(Perch__V1__ListCurrentEntitlementsRequest.self) { value.write(to: $0, arena) }
            case .listPlanOptions(let value): return try self.packRequest(Perch__V1__ListPlanOptionsRequest.self) { value.write(to: $0, arena) }
            case .getOfferEligibility(let value): return try self.packRequest(Perch__V1__GetOfferEligibilityRequest.self) { value.write(to: $0, arena) }
            case .getAppPolicies(let value): return try self.packRequest(Perch__V1__GetAppPoliciesRequest.self) { value.write(to: $0, arena) }
            case .appChanges(let value): return try self.packRequest(Perch__V1__AppChangesRequest.self) { value.write(to: $0, arena) }
            case .appEntitlements(let value): return try self.packRequest(Perch__V1__AppEntitlementsRequest.self) { value.write(to: $0, arena) }
            case .explain(let value): return try self.packRequest(Perch__V1__ExplainRequest.self) { value.write(to: $0, arena) }
            case .purchase(let value): return try self.packRequest(Perch__V1__PurchaseRequest.self) { value.write(to: $0, arena) }
            case .finish(let value): return try self.packRequest(Perch__V1__FinishRequest.self) { value.write(to: $0, arena) }
            case .listTransactions(let value): return try self.packRequest(Perch__V1__ListTransactionsRequest.self) { value.write(to: $0, arena) }
            case .listUnfinished(let value): return try self.packRequest(Perch__V1__ListUnfinishedRequest.self) { value.write(to: $0, arena) }
            case .getLatestTransaction(let value): return try self.packRequest(Perch__V1__GetLatestTransactionRequest.self) { value.write(to: $0, arena) }
            case .transactionUpdates(let value): return try self.packRequest(Perch__V1__TransactionUpdatesRequest.self) { value.write(to: $0, arena) }
            case .sync(let value): return try self.packRequest(Perch__V1__SyncRequest.self) { value.write(to: $0, arena) }
            case .requestRefund(let value): return try self.packRequest(Perch__V1__RequestRefundRequest.self) { value.write(to: $0, arena) }
            case .redeemOfferCode(let value): return try self.packRequest(Perch__V1__RedeemOfferCodeRequest.self) { value.write(to: $0, arena) }
            case .manageSubscriptions(let value): return try self.packRequest(Perch__V1__ManageSubscriptionsRequest.self) { value.write(to: $0, arena) }
            case .resolveBillingIssue(let value): return try self.packRequest(Perch__V1__ResolveBillingIssueRequest.self) { value.write(to: $0, arena) }
            case .answerPriceIncrease(let value): return try self.packRequest(Perch__V1__AnswerPriceIncreaseRequest.self) { value.write(to: $0, arena) }
            case .getAppTransaction(let value): return try self.packRequest(Perch__V1__GetAppTransactionRequest.self) { value.write(to: $0, arena) }
            case .purchaseIntents(let value): return try self.packRequest(Perch__V1__PurchaseIntentsRequest.self) { value.write(to: $0, arena) }
            case .messages(let value): return try self.packRequest(Perch__V1__MessagesRequest.self) { value.write(to: $0, arena) }
            case .operate(let value): return try self.packRequest(Perch__V1__OperateRequest.self) { value.write(to: $0, arena) }
            case .inspectAccount(let value): return try self.packRequest(Perch__V1__InspectAccountRequest.self) { value.write(to: $0, arena) }
            case .listAccounts(let value): return try self.packRequest(Perch__V1__ListAccountsRequest.self) { value.write(to: $0, arena) }
            case .configure(let value): return try self.packRequest(Perch__V1__ConfigureRequest.self) { value.write(to: $0, arena) }
            case .getSettings(let value): return try self.packRequest(Perch__V1__GetSettingsRequest.self) { value.write(to: $0, arena) }
            case .getClock(let value): return try self.packRequest(Perch__V1__GetClockRequest.self) { value.write(to: $0, arena) }
            case .setClock(let value): return try self.packRequest(Perch__V1__SetClockRequest.self) { value.write(to: $0, arena) }
            case .orderMishap(let value): return try self.packRequest(Perch__V1__OrderMishapRequest.self) { value.write(to: $0, arena) }
            case .listApps: return try self.packRequest(Perch__V1__ListAppsRequest.self) { _ in }
            case .checkCatalog(let value): return try self.packRequest(Perch__V1__CheckCatalogRequest.self) { value.write(to: $0, arena) }
            case .loadCatalog(let value): return try self.packRequest(Perch__V1__LoadCatalogRequest.self) { value.write(to: $0, arena) }
            case .getCatalog(let value): return try self.packRequest(Perch__V1__GetCatalogRequest.self) { value.write(to: $0, arena) }
            case .getServerStatus: return try self.packRequest(Perch__V1__GetServerStatusRequest.self) { _ in }
            case .backup(let value): return try self.packRequest(Perch__V1__BackupRequest.self) { value.write(to: $0, arena) }
            case .revokeToken(let value): return try self.packRequest(Perch__V1__RevokeTokenRequest.self) { value.write(to: $0, arena) }
            case .offerConsoleCode(let value): return try self.packRequest(Perch__V1__OfferConsoleCodeRequest.self) { value.write(to: $0, arena) }
            case .redeemConsoleCode(let value): return try self.packRequest(Perch__V1__RedeemConsoleCodeRequest.self) { value.write(to: $0, arena) }
            case .findAccount(let value): return try self.packRequest(Perch__V1__FindAccountRequest.self) { value.write(to: $0, arena) }
            case .findCustomers(let value): return try self.packRequest(Perch__V1__FindCustomersRequest.self) { value.write(to: $0, arena) }
            case .addNote(let value): return try self.packRequest(Perch__V1__AddNoteRequest.self) { value.write(to: $0, arena) }
            case .listNotes(let value): return try self.packRequest(Perch__V1__ListNotesRequest.self) { value.write(to: $0, arena) }
            case .deleteNote(let value): return try self.packRequest(Perch__V1__DeleteNoteRequest.self) { value.write(to: $0, arena) }
            case .listUnclaimed(let value): return try self.packRequest(Perch__V1__ListUnclaimedRequest.self) { value.write(to: $0, arena) }
            case .attachAlias(let value): return try self.packRequest(Perch__V1__AttachAliasRequest.self) { value.write(to: $0, arena) }
            case .detachAlias(let value): return try self.packRequest(Perch__V1__DetachAliasRequest.self) { value.write(to: $0, arena) }
            case .moveTransaction(let value): return try self.packRequest(Perch__V1__MoveTransactionRequest.self) { value.write(to: $0, arena) }
            case .mergeAccounts(let value): return try self.packRequest(Perch__V1__MergeAccountsRequest.self) { value.write(to: $0, arena) }
            case .eraseAccount(let value): return try self.packRequest(Perch__V1__EraseAccountRequest.self) { value.write(to: $0, arena) }
            case .exportAccount(let value): return try self.packRequest(Perch__V1__ExportAccountRequest.self) { value.write(to: $0, arena) }
            case .grantEntitlement(let value): return try self.packRequest(Perch__V1__GrantEntitlementRequest.self) { value.write(to: $0, arena) }
            case .revokeGrant(let value): return try self.packRequest(Perch__V1__RevokeGrantRequest.self) { value.write(to: $0, arena) }
            case .listAudit(let value): return try self.packRequest(Perch__V1__ListAuditRequest.self) { value.write(to: $0, arena) }
            case .listDeadLetters(let value): return try self.packRequest(Perch__V1__ListDeadLettersRequest.self) { value.write(to: $0, arena) }
            case .retryDeadLetter(let value): return try self.packRequest(Perch__V1__RetryDeadLetterRequest.self) { value.write(to: $0, arena) }
            case .dropDeadLetter(let value): return try self.packRequest(Perch__V1__DropDeadLetterRequest.self) { value.write(to: $0, arena) }
            case .listConsumption(let value): return try self.packRequest(Perch__V1__ListConsumptionRequest.self) { value.write(to: $0, arena) }
            case .answerConsumption(let value): return try self.packRequest(Perch__V1__AnswerConsumptionRequest.self) { value.write(to: $0, arena) }
            case .reconcile(let value): return try self.packRequest(Perch__V1__ReconcileRequest.self) { value.write(to: $0, arena) }
            case .listNotifications(let value): return try self.packRequest(Perch__V1__ListNotificationsRequest.self) { value.write(to: $0, arena) }
            case .getSignedPayload(let value): return try self.packRequest(Perch__V1__GetSignedPayloadRequest.self) { value.write(to: $0, arena) }
            case .submitTransaction(let value): return try self.packRequest(Perch__V1__SubmitTransactionRequest.self) { value.write(to: $0, arena) }
            case .submitNotification(let value): return try self.packRequest(Perch__V1__SubmitNotificationRequest.self) { value.write(to: $0, arena) }
            case .watch(let value): return try self.packRequest(Perch__V1__WatchRequest.self) { value.write(to: $0, arena) }
        }
    }

    /// Reads a response message, within the limits of what servers send.
    package func decodeResponse(_ method: Method, _ bytes: borrowing RawSpan) throws(MessageError) -> Response {
        switch method {
            case .productsTask:
                return .productsTask(try TaskState<Products>(try self.response(Perch__V1__ProductsTaskResponse.self, bytes)))
            case .subscriptionStatusTask:
                return .subscriptionStatusTask(try TaskState<SubscriptionStatuses>(try self.response(Perch__V1__SubscriptionStatusTaskResponse.self, bytes)))
            case .currentEntitlementTask:
                return .currentEntitlementTask(try TaskState<Verified<Transaction>?>(try self.response(Perch__V1__CurrentEntitlementTaskResponse.self, bytes)))
            case .entitlementsTask:
                return .entitlementsTask(try TaskState<[NamedEntitlement]>(try self.response(Perch__V1__EntitlementsTaskResponse.self, bytes)))
            case .getEntitlements:
                return .getEntitlements(try TaskState<[NamedEntitlement]>(try self.response(Perch__V1__GetEntitlementsResponse.self, bytes)))
            case .getPass:
                return .getPass(EntitlementPass(try self.response(Perch__V1__GetPassResponse.self, bytes)))
            case .getProducts:
                return .getProducts(try TaskState<Products>(try self.response(Perch__V1__GetProductsResponse.self, bytes)))
            case .getImage:
                return .getImage(ImageAnswer(try self.response(Perch__V1__GetImageResponse.self, bytes)))
            case .getSubscriptionStatus:
                return .getSubscriptionStatus(try TaskState<SubscriptionStatuses>(try self.response(Perch__V1__GetSubscriptionStatusResponse.self, bytes)))
            case .getCurrentEntitlement:
                return .getCurrentEntitlement(try TaskState<Verified<Transaction>?>(try self.response(Perch__V1__GetCurrentEntitlementResponse.self, bytes)))
            case .listCurrentEntitlements:
                return .listCurrentEntitlements(EntitlementList(try self.response(Perch__V1__ListCurrentEntitlementsResponse.self, bytes)))
            case .listPlanOptions:
                return .listPlanOptions(PlanOptionList(try self.response(Perch__V1__ListPlanOptionsResponse.self, bytes)))
            case .getOfferEligibility:
                return .getOfferEligibility(OfferEligibilityAnswer(try self.response(Perch__V1__GetOfferEligibilityResponse.self, bytes)))
            case .getAppPolicies:
                return .getAppPolicies(AppPoliciesAnswer(try self.response(Perch__V1__GetAppPoliciesResponse.self, bytes)))
            case .appChanges:
                return .appChanges(FeedEvent(try self.response(Perch__V1__AppChangesResponse.self, bytes)))
            case .appEntitlements:
                return .appEntitlements(CopyPart(try self.response(Perch__V1__AppEntitlementsResponse.self, bytes)))
            case .explain:
                return .explain(ExplainAnswer(try self.response(Perch__V1__ExplainResponse.self, bytes)))
            case .purchase:
                return .purchase(PurchaseResponse(try self.response(Perch__V1__PurchaseResponse.self, bytes)))
            case .finish:
                return .finish(Acknowledgement(try self.response(Perch__V1__FinishResponse.self, bytes)))
            case .listTransactions:
                return .listTransactions(TransactionPage(try self.response(Perch__V1__ListTransactionsResponse.self, bytes)))
            case .listUnfinished:
                return .listUnfinished(TransactionPage(try self.response(Perch__V1__ListUnfinishedResponse.self, bytes)))
            case .getLatestTransaction:
                return .getLatestTransaction(LatestTransaction(try self.response(Perch__V1__GetLatestTransactionResponse.self, bytes)))
            case .transactionUpdates:
                return .transactionUpdates(TransactionEvent(try self.response(Perch__V1__TransactionUpdatesResponse.self, bytes)))
            case .sync:
                return .sync(Acknowledgement(try self.response(Perch__V1__SyncResponse.self, bytes)))
            case .requestRefund:
                return .requestRefund(RefundAnswer(try self.response(Perch__V1__RequestRefundResponse.self, bytes)))
            case .redeemOfferCode:
                return .redeemOfferCode(RedeemedCode(try self.response(Perch__V1__RedeemOfferCodeResponse.self, bytes)))
            case .manageSubscriptions:
                return .manageSubscriptions(Acknowledgement(try self.response(Perch__V1__ManageSubscriptionsResponse.self, bytes)))
            case .resolveBillingIssue:
                return .resolveBillingIssue(Acknowledgement(try self.response(Perch__V1__ResolveBillingIssueResponse.self, bytes)))
            case .answerPriceIncrease:
                return .answerPriceIncrease(Acknowledgement(try self.response(Perch__V1__AnswerPriceIncreaseResponse.self, bytes)))
            case .getAppTransaction:
                return .getAppTransaction(AppTransactionAnswer(try self.response(Perch__V1__GetAppTransactionResponse.self, bytes)))
            case .purchaseIntents:
                return .purchaseIntents(try TaskState<[PurchaseIntent]>(try self.response(Perch__V1__PurchaseIntentsResponse.self, bytes)))
            case .messages:
                return .messages(try TaskState<[StoreMessage]>(try self.response(Perch__V1__MessagesResponse.self, bytes)))
            case .operate:
                return .operate(OperateResponse(try self.response(Perch__V1__OperateResponse.self, bytes)))
            case .inspectAccount:
                return .inspectAccount(AccountInspection(try self.response(Perch__V1__InspectAccountResponse.self, bytes)))
            case .listAccounts:
                return .listAccounts(AccountPage(try self.response(Perch__V1__ListAccountsResponse.self, bytes)))
            case .configure:
                return .configure(Acknowledgement(try self.response(Perch__V1__ConfigureResponse.self, bytes)))
            case .getSettings:
                return .getSettings(SettingsList(try self.response(Perch__V1__GetSettingsResponse.self, bytes)))
            case .getClock:
                return .getClock(ClockResponse(try self.response(Perch__V1__GetClockResponse.self, bytes)))
            case .setClock:
                return .setClock(SetClockResponse(try self.response(Perch__V1__SetClockResponse.self, bytes)))
            case .orderMishap:
                return .orderMishap(OrderMishapResponse(try self.response(Perch__V1__OrderMishapResponse.self, bytes)))
            case .listApps:
                return .listApps(AppList(try self.response(Perch__V1__ListAppsResponse.self, bytes)))
            case .checkCatalog:
                return .checkCatalog(CheckCatalogResponse(try self.response(Perch__V1__CheckCatalogResponse.self, bytes)))
            case .loadCatalog:
                return .loadCatalog(LoadCatalogResponse(try self.response(Perch__V1__LoadCatalogResponse.self, bytes)))
            case .getCatalog:
                return .getCatalog(CatalogContents(try self.response(Perch__V1__GetCatalogResponse.self, bytes)))
            case .getServerStatus:
                return .getServerStatus(ServerStatus(try self.response(Perch__V1__GetServerStatusResponse.self, bytes)))
            case .backup:
                return .backup(BackupSummary(try self.response(Perch__V1__BackupResponse.self, bytes)))
            case .revokeToken:
                return .revokeToken(RevokeTokenResponse(try self.response(Perch__V1__RevokeTokenResponse.self, bytes)))
            case .offerConsoleCode:
                return .offerConsoleCode(ConsoleCode(try self.response(Perch__V1__OfferConsoleCodeResponse.self, bytes)))
            case .redeemConsoleCode:
                return .redeemConsoleCode(ConsoleToken(try self.response(Perch__V1__RedeemConsoleCodeResponse.self, bytes)))
            case .findAccount:
                return .findAccount(AccountFound(try self.response(Perch__V1__FindAccountResponse.self, bytes)))
            case .findCustomers:
                return .findCustomers(CustomersFound(try self.response(Perch__V1__FindCustomersResponse.self, bytes)))
            case .addNote:
                return .addNote(NoteAdded(try self.response(Perch__V1__AddNoteResponse.self, bytes)))
            case .listNotes:
                return .listNotes(NoteList(try self.response(Perch__V1__ListNotesResponse.self, bytes)))
            case .deleteNote:
                return .deleteNote(Acknowledgement(try self.response(Perch__V1__DeleteNoteResponse.self, bytes)))
            case .listUnclaimed:
                return .listUnclaimed(UnclaimedPage(try self.response(Perch__V1__ListUnclaimedResponse.self, bytes)))
            case .attachAlias:
                return .attachAlias(MoveAnswer(try self.response(Perch__V1__AttachAliasResponse.self, bytes)))
            case .detachAlias:
                return .detachAlias(MoveAnswer(try self.response(Perch__V1__DetachAliasResponse.self, bytes)))
            case .moveTransaction:
                return .moveTransaction(MoveAnswer(try self.response(Perch__V1__MoveTransactionResponse.self, bytes)))
            case .mergeAccounts:
                return .mergeAccounts(MergeAccountsResponse(try self.response(Perch__V1__MergeAccountsResponse.self, bytes)))
            case .eraseAccount:
                return .eraseAccount(EraseAccountResponse(try self.response(Perch__V1__EraseAccountResponse.self, bytes)))
            case .exportAccount:
                return .exportAccount(AccountExport(try self.response(Perch__V1__ExportAccountResponse.self, bytes)))
            case .grantEntitlement:
                return .grantEntitlement(GrantEntitlementResponse(try self.response(Perch__V1__GrantEntitlementResponse.self, bytes)))
            case .revokeGrant:
                return .revokeGrant(Acknowledgement(try self.response(Perch__V1__RevokeGrantResponse.self, bytes)))
            case .listAudit:
                return .listAudit(AuditPage(try self.response(Perch__V1__ListAuditResponse.self, bytes)))
            case .listDeadLetters:
                return .listDeadLetters(DeadLetterPage(try self.response(Perch__V1__ListDeadLettersResponse.self, bytes)))
            case .retryDeadLetter:
                return .retryDeadLetter(RetryAnswer(try self.response(Perch__V1__RetryDeadLetterResponse.self, bytes)))
            case .dropDeadLetter:
                return .dropDeadLetter(Acknowledgement(try self.response(Perch__V1__DropDeadLetterResponse.self, bytes)))
            case .listConsumption:
                return .listConsumption(ConsumptionPage(try self.response(Perch__V1__ListConsumptionResponse.self, bytes)))
            case .answerConsumption:
                return .answerConsumption(Acknowledgement(try self.response(Perch__V1__AnswerConsumptionResponse.self, bytes)))
            case .reconcile:
                return .reconcile(ReconcileProgress(try self.response(Perch__V1__ReconcileResponse.self, bytes)))
            case .listNotifications:
                return .listNotifications(NotificationPage(try self.response(Perch__V1__ListNotificationsResponse.self, bytes)))
            case .getSignedPayload:
                return .getSignedPayload(SignedPayload(try self.response(Perch__V1__GetSignedPayloadResponse.self, bytes)))
            case .submitTransaction:
                return .submitTransaction(SubmissionAnswer(try self.response(Perch__V1__SubmitTransactionResponse.self, bytes)))
            case .submitNotification:
                return .submitNotification(SubmissionAnswer(try self.response(Perch__V1__SubmitNotificationResponse.self, bytes)))
            case .watch:
                return .watch(try WatchedResponse(try self.response(Perch__V1__WatchResponse.self, bytes)))
        }
    }

    /// Writes a response message.
    package func encode(_ response: Response) throws(MessageError) -> Encoded {
        let arena = self.arena
        switch response {
            case .productsTask(let value): return try self.pack(Perch__V1__ProductsTaskResponse.self) { value.write(to: $0, arena) }
            case .subscriptionStatusTask(let value): return try self.pack(Perch__V1__SubscriptionStatusTaskResponse.self) { value.write(to: $0, arena) }
            case .currentEntitlementTask(let value): return try self.pack(Perch__V1__CurrentEntitlementTaskResponse.self) { value.write(to: $0, arena) }
            case .entitlementsTask(let value): return try self.pack(Perch__V1__EntitlementsTaskResponse.self) { value.write(to: $0, arena) }
            case .getEntitlements(let value): return try self.pack(Perch__V1__GetEntitlementsResponse.self) { value.write(to: $0, arena) }
            case .getPass(let value): return try self.pack(Perch__V1__GetPassResponse.self) { value.write(to: $0, arena) }
            case .getProducts(let value): return try self.pack(Perch__V1__GetProductsResponse.self) { value.write(to: $0, arena) }
            case .getImage(let value): return try self.pack(Perch__V1__GetImageResponse.self) { value.write(to: $0, arena) }
            case .getSubscriptionStatus(let value): return try self.pack(Perch__V1__GetSubscriptionStatusResponse.self) { value.write(to: $0, arena) }
            case .getCurrentEntitlement(let value): return try self.pack(Perch__V1__GetCurrentEntitlementResponse.self) { value.write(to: $0, arena) }
            case .listCurrentEntitlements(let value): return try self.pack(Perch__V1__ListCurrentEntitlementsResponse.self) { value.write(to: $0, arena) }
            case .listPlanOptions(let value): return try self.pack(Perch__V1__ListPlanOptionsResponse.self) { value.write(to: $0, arena) }
            case .getOfferEligibility(let value): return try self.pack(Perch__V1__GetOfferEligibilityResponse.self) { value.write(to: $0, arena) }
            case .getAppPolicies(let value): return try self.pack(Perch__V1__GetAppPoliciesResponse.self) { value.write(to: $0, arena) }
            case .appChanges(let value): return try self.pack(Perch__V1__AppChangesResponse.self) { value.write(to: $0, arena) }
            case .appEntitlements(let value): return try self.pack(Perch__V1__AppEntitlementsResponse.self) { value.write(to: $0, arena) }
            case .explain(let value): return try self.pack(Perch__V1__ExplainResponse.self) { value.write(to: $0, arena) }
            case .purchase(let value): return try self.encode(value)
            case .finish(let value): return try self.pack(Perch__V1__FinishResponse.self) { value.write(to: $0, arena) }
            case .listTransactions(let value): return try self.pack(Perch__V1__ListTransactionsResponse.self) { value.write(to: $0, arena) }
            case .listUnfinished(let value): return try self.pack(Perch__V1__ListUnfinishedResponse.self) { value.write(to: $0, arena) }
            case .getLatestTransaction(let value): return try self.pack(Perch__V1__GetLatestTransactionResponse.self) { value.write(to: $0, arena) }
            case .transactionUpdates(let value): return try self.pack(Perch__V1__TransactionUpdatesResponse.self) { value.write(to: $0, arena) }
            case .sync(let value): return try self.pack(Perch__V1__SyncResponse.self) { value.write(to: $0, arena) }
            case .requestRefund(let value): return try self.pack(Perch__V1__RequestRefundResponse.self) { value.write(to: $0, arena) }
            case .redeemOfferCode(let value): return try self.pack(Perch__V1__RedeemOfferCodeResponse.self) { value.write(to: $0, arena) }
            case .manageSubscriptions(let value): return try self.pack(Perch__V1__ManageSubscriptionsResponse.self) { value.write(to: $0, arena) }
            case .resolveBillingIssue(let value): return try self.pack(Perch__V1__ResolveBillingIssueResponse.self) { value.write(to: $0, arena) }
            case .answerPriceIncrease(let value): return try self.pack(Perch__V1__AnswerPriceIncreaseResponse.self) { value.write(to: $0, arena) }
            case .getAppTransaction(let value): return try self.pack(Perch__V1__GetAppTransactionResponse.self) { value.write(to: $0, arena) }
            case .purchaseIntents(let value): return try self.pack(Perch__V1__PurchaseIntentsResponse.self) { value.write(to: $0, arena) }
            case .messages(let value): return try self.pack(Perch__V1__MessagesResponse.self) { value.write(to: $0, arena) }
            case .operate(let value): return try self.encode(value)
            case .inspectAccount(let value): return try self.pack(Perch__V1__InspectAccountResponse.self) { value.write(to: $0, arena) }
            case .listAccounts(let value): return try self.pack(Perch__V1__ListAccountsResponse.self) { value.write(to: $0, arena) }
            case .configure(let value): return try self.pack(Perch__V1__ConfigureResponse.self) { value.write(to: $0, arena) }
            case .getSettings(let value): return try self.pack(Perch__V1__GetSettingsResponse.self) { value.write(to: $0, arena) }
            case .getClock(let value): return try self.pack(Perch__V1__GetClockResponse.self) { value.write(to: $0, arena) }
            case .setClock(let value): return try self.pack(Perch__V1__SetClockResponse.self) { value.write(to: $0, arena) }
            case .orderMishap(let value): return try self.pack(Perch__V1__OrderMishapResponse.self) { value.write(to: $0, arena) }
            case .listApps(let value): return try self.pack(Perch__V1__ListAppsResponse.self) { value.write(to: $0, arena) }
            case .checkCatalog(let value): return try self.pack(Perch__V1__CheckCatalogResponse.self) { value.write(to: $0, arena) }
            case .loadCatalog(let value): return try self.pack(Perch__V1__LoadCatalogResponse.self) { value.write(to: $0, arena) }
            case .getCatalog(let value): return try self.pack(Perch__V1__GetCatalogResponse.self) { value.write(to: $0, arena) }
            case .getServerStatus(let value): return try self.pack(Perch__V1__GetServerStatusResponse.self) { value.write(to: $0, arena) }
            case .backup(let value): return try self.pack(Perch__V1__BackupResponse.self) { value.write(to: $0, arena) }
            case .revokeToken(let value): return try self.pack(Perch__V1__RevokeTokenResponse.self) { value.write(to: $0, arena) }
            case .offerConsoleCode(let value): return try self.pack(Perch__V1__OfferConsoleCodeResponse.self) { value.write(to: $0, arena) }
            case .redeemConsoleCode(let value): return try self.pack(Perch__V1__RedeemConsoleCodeResponse.self) { value.write(to: $0, arena) }
            case .findAccount(let value): return try self.pack(Perch__V1__FindAccountResponse.self) { value.write(to: $0, arena) }
            case .findCustomers(let value): return try self.pack(Perch__V1__FindCustomersResponse.self) { value.write(to: $0, arena) }
            case .addNote(let value): return try self.pack(Perch__V1__AddNoteResponse.self) { value.write(to: $0, arena) }
            case .listNotes(let value): return try self.pack(Perch__V1__ListNotesResponse.self) { value.write(to: $0, arena) }
            case .deleteNote(let value): return try self.pack(Perch__V1__DeleteNoteResponse.self) { value.write(to: $0, arena) }
            case .listUnclaimed(let value): return try self.pack(Perch__V1__ListUnclaimedResponse.self) { value.write(to: $0, arena) }
            case .attachAlias(let value): return try self.pack(Perch__V1__AttachAliasResponse.self) { value.write(to: $0, arena) }
            case .detachAlias(let value): return try self.pack(Perch__V1__DetachAliasResponse.self) { value.write(to: $0, arena) }
            case .moveTransaction(let value): return try self.pack(Perch__V1__MoveTransactionResponse.self) { value.write(to: $0, arena) }
            case .mergeAccounts(let value): return try self.pack(Perch__V1__MergeAccountsResponse.self) { value.write(to: $0, arena) }
            case .eraseAccount(let value): return try self.pack(Perch__V1__EraseAccountResponse.self) { value.write(to: $0, arena) }
            case .exportAccount(let value): return try self.pack(Perch__V1__ExportAccountResponse.self) { value.write(to: $0, arena) }
            case .grantEntitlement(let value): return try self.pack(Perch__V1__GrantEntitlementResponse.self) { value.write(to: $0, arena) }
            case .revokeGrant(let value): return try self.pack(Perch__V1__RevokeGrantResponse.self) { value.write(to: $0, arena) }
            case .listAudit(let value): return try self.pack(Perch__V1__ListAuditResponse.self) { value.write(to: $0, arena) }
            case .listDeadLetters(let value): return try self.pack(Perch__V1__ListDeadLettersResponse.self) { value.write(to: $0, arena) }
            case .retryDeadLetter(let value): return try self.pack(Perch__V1__RetryDeadLetterResponse.self) { value.write(to: $0, arena) }
            case .dropDeadLetter(let value): return try self.pack(Perch__V1__DropDeadLetterResponse.self) { value.write(to: $0, arena) }
            case .listConsumption(let value): return try self.pack(Perch__V1__ListConsumptionResponse.self) { value.write(to: $0, arena) }
            case .answerConsumption(let value): return try self.pack(Perch__V1__AnswerConsumptionResponse.self) { value.write(to: $0, arena) }
            case .reconcile(let value): return try self.pack(Perch__V1__ReconcileResponse.self) { value.write(to: $0, arena) }
            case .listNotifications(let value): return try self.pack(Perch__V1__ListNotificationsResponse.self) { value.write(to: $0, arena) }
            case .getSignedPayload(let value): return try self.pack(Perch__V1__GetSignedPayloadResponse.self) { value.write(to: $0, arena) }
            case .submitTransaction(let value): return try self.pack(Perch__V1__SubmitTransactionResponse.self) { value.write(to: $0, arena) }
            case .submitNotification(let value): return try self.pack(Perch__V1__SubmitNotificationResponse.self) { value.write(to: $0, arena) }
            case .watch(let value): return try self.pack(Perch__V1__WatchResponse.self) { value.write(to: $0, arena) }
        }
    }
}

extension Method {
    /// protobuf-c's description of the request.
    var requestDescriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        switch self {
            case .productsTask: Perch__V1__ProductsTaskRequest.descriptor
            case .subscriptionStatusTask: Perch__V1__SubscriptionStatusTaskRequest.descriptor
            case .currentEntitlementTask: Perch__V1__CurrentEntitlementTaskRequest.descriptor
            case .entitlementsTask: Perch__V1__EntitlementsTaskRequest.descriptor
            case .getEntitlements: Perch__V1__GetEntitlementsRequest.descriptor
            case .getPass: Perch__V1__GetPassRequest.descriptor
            case .getProducts: Perch__V1__GetProductsRequest.descriptor
            case .getImage: Perch__V1__GetImageRequest.descriptor
            case .getSubscriptionStatus: Perch__V1__GetSubscriptionStatusRequest.descriptor
            case .getCurrentEntitlement: Perch__V1__GetCurrentEntitlementRequest.descriptor
            case .listCurrentEntitlements: Perch__V1__ListCurrentEntitlementsRequest.descriptor
            case .listPlanOptions: Perch__V1__ListPlanOptionsRequest.descriptor
            case .getOfferEligibility: Perch__V1__GetOfferEligibilityRequest.descriptor
            case .getAppPolicies: Perch__V1__GetAppPoliciesRequest.descriptor
            case .appChanges: Perch__V1__AppChangesRequest.descriptor
            case .appEntitlements: Perch__V1__AppEntitlementsRequest.descriptor
            case .explain: Perch__V1__ExplainRequest.descriptor
            case .purchase: Perch__V1__PurchaseRequest.descriptor
            case .finish: Perch__V1__FinishRequest.descriptor
            case .listTransactions: Perch__V1__ListTransactionsRequest.descriptor
            case .listUnfinished: Perch__V1__ListUnfinishedRequest.descriptor
            case .getLatestTransaction: Perch__V1__GetLatestTransactionRequest.descriptor
            case .transactionUpdates: Perch__V1__TransactionUpdatesRequest.descriptor
            case .sync: Perch__V1__SyncRequest.descriptor
            case .requestRefund: Perch__V1__RequestRefundRequest.descriptor
            case .redeemOfferCode: Perch__V1__RedeemOfferCodeRequest.descriptor
            case .manageSubscriptions: Perch__V1__ManageSubscriptionsRequest.descriptor
            case .resolveBillingIssue: Perch__V1__ResolveBillingIssueRequest.descriptor
            case .answerPriceIncrease: Perch__V1__AnswerPriceIncreaseRequest.descriptor
            case .getAppTransaction: Perch__V1__GetAppTransactionRequest.descriptor
            case .purchaseIntents: Perch__V1__PurchaseIntentsRequest.descriptor
            case .messages: Perch__V1__MessagesRequest.descriptor
            case .operate: Perch__V1__OperateRequest.descriptor
            case .inspectAccount: Perch__V1__InspectAccountRequest.descriptor
            case .listAccounts: Perch__V1__ListAccountsRequest.descriptor
            case .configure: Perch__V1__ConfigureRequest.descriptor
            case .getSettings: Perch__V1__GetSettingsRequest.descriptor
            case .getClock: Perch__V1__GetClockRequest.descriptor
            case .setClock: Perch__V1__SetClockRequest.descriptor
            case .orderMishap: Perch__V1__OrderMishapRequest.descriptor
            case .listApps: Perch__V1__ListAppsRequest.descriptor
            case .checkCatalog: Perch__V1__CheckCatalogRequest.descriptor
            case .loadCatalog: Perch__V1__LoadCatalogRequest.descriptor
            case .getCatalog: Perch__V1__GetCatalogRequest.descriptor
            case .getServerStatus: Perch__V1__GetServerStatusRequest.descriptor
            case .backup: Perch__V1__BackupRequest.descriptor
            case .revokeToken: Perch__V1__RevokeTokenRequest.descriptor
            case .offerConsoleCode: Perch__V1__OfferConsoleCodeRequest.descriptor
            case .redeemConsoleCode: Perch__V1__RedeemConsoleCodeRequest.descriptor
            case .findAccount: Perch__V1__FindAccountRequest.descriptor
            case .findCustomers: Perch__V1__FindCustomersRequest.descriptor
            case .addNote: Perch__V1__AddNoteRequest.descriptor
            case .listNotes: Perch__V1__ListNotesRequest.descriptor
            case .deleteNote: Perch__V1__DeleteNoteRequest.descriptor
            case .listUnclaimed: Perch__V1__ListUnclaimedRequest.descriptor
            case .attachAlias: Perch__V1__AttachAliasRequest.descriptor
            case .detachAlias: Perch__V1__DetachAliasRequest.descriptor
            case .moveTransaction: Perch__V1__MoveTransactionRequest.descriptor
            case .mergeAccounts: Perch__V1__MergeAccountsRequest.descriptor
            case .eraseAccount: Perch__V1__EraseAccountRequest.descriptor
            case .exportAccount: Perch__V1__ExportAccountRequest.descriptor
            case .grantEntitlement: Perch__V1__GrantEntitlementRequest.descriptor
            case .revokeGrant: Perch__V1__RevokeGrantRequest.descriptor
            case .listAudit: Perch__V1__ListAuditRequest.descriptor
            case .listDeadLetters: Perch__V1__ListDeadLettersRequest.descriptor
            case .retryDeadLetter: Perch__V1__RetryDeadLetterRequest.descriptor
            case .dropDeadLetter: Perch__V1__DropDeadLetterRequest.descriptor
            case .listConsumption: Perch__V1__ListConsumptionRequest.descriptor
            case .answerConsumption: Perch__V1__AnswerConsumptionRequest.descriptor
            case .reconcile: Perch__V1__ReconcileRequest.descriptor
            case .listNotifications: Perch__V1__ListNotificationsRequest.descriptor
            case .getSignedPayload: Perch__V1__GetSignedPayloadRequest.descriptor
            case .submitTransaction: Perch__V1__SubmitTransactionRequest.descriptor
            case .submitNotification: Perch__V1__SubmitNotificationRequest.descriptor
            case .watch: Perch__V1__WatchRequest.descriptor
        }
    }

    /// protobuf-c's description of one response message.
    var responseDescriptor: UnsafePointer<ProtobufCMessageDescriptor> {
        switch self {
            case .productsTask: Perch__V1__ProductsTaskResponse.descriptor
            case .subscriptionStatusTask: Perch__V1__SubscriptionStatusTaskResponse.descriptor
            case .currentEntitlementTask: Perch__V1__CurrentEntitlementTaskResponse.descriptor
            case .entitlementsTask: Perch__V1__EntitlementsTaskResponse.descriptor
            case .getEntitlements: Perch__V1__GetEntitlementsResponse.descriptor
            case .getPass: Perch__V1__GetPassResponse.descriptor
            case .getProducts: Perch__V1__GetProductsResponse.descriptor
            case .getImage: Perch__V1__GetImageResponse.descriptor
            case .getSubscriptionStatus: Perch__V1__GetSubscriptionStatusResponse.descriptor
            case .getCurrentEntitlement: Perch__V1__GetCurrentEntitlementResponse.descriptor
            case .listCurrentEntitlements: Perch__V1__ListCurrentEntitlementsResponse.descriptor
            case .listPlanOptions: Perch__V1__ListPlanOptionsResponse.descriptor
            case .getOfferEligibility: Perch__V1__GetOfferEligibilityResponse.descriptor
            case .getAppPolicies: Perch__V1__GetAppPoliciesResponse.descriptor
            case .appChanges: Perch__V1__AppChangesResponse.descriptor
            case .appEntitlements: Perch__V1__AppEntitlementsResponse.descriptor
            case .explain: Perch__V1__ExplainResponse.descriptor
            case .purchase: Perch__V1__PurchaseResponse.descriptor
            case .finish: Perch__V1__FinishResponse.descriptor
            case .listTransactions: Perch__V1__ListTransactionsResponse.descriptor
            case .listUnfinished: Perch__V1__ListUnfinishedResponse.descriptor
            case .getLatestTransaction: Perch__V1__GetLatestTransactionResponse.descriptor
            case .transactionUpdates: Perch__V1__TransactionUpdatesResponse.descriptor
            case .sync: Perch__V1__SyncResponse.descriptor
            case .requestRefund: Perch__V1__RequestRefundResponse.descriptor
            case .redeemOfferCode: Perch__V1__RedeemOfferCodeResponse.descriptor
            case .manageSubscriptions: Perch__V1__ManageSubscriptionsResponse.descriptor
            case .resolveBillingIssue: Perch__V1__ResolveBillingIssueResponse.descriptor
            case .answerPriceIncrease: Perch__V1__AnswerPriceIncreaseResponse.descriptor
            case .getAppTransaction: Perch__V1__GetAppTransactionResponse.descriptor
            case .purchaseIntents: Perch__V1__PurchaseIntentsResponse.descriptor
            case .messages: Perch__V1__MessagesResponse.descriptor
            case .operate: Perch__V1__OperateResponse.descriptor
            case .inspectAccount: Perch__V1__InspectAccountResponse.descriptor
            case .listAccounts: Perch__V1__ListAccountsResponse.descriptor
            case .configure: Perch__V1__ConfigureResponse.descriptor
            case .getSettings: Perch__V1__GetSettingsResponse.descriptor
            case .getClock: Perch__V1__GetClockResponse.descriptor
            case .setClock: Perch__V1__SetClockResponse.descriptor
            case .orderMishap: Perch__V1__OrderMishapResponse.descriptor
            case .listApps: Perch__V1__ListAppsResponse.descriptor
            case .checkCatalog: Perch__V1__CheckCatalogResponse.descriptor
            case .loadCatalog: Perch__V1__LoadCatalogResponse.descriptor
            case .getCatalog: Perch__V1__GetCatalogResponse.descriptor
            case .getServerStatus: Perch__V1__GetServerStatusResponse.descriptor
            case .backup: Perch__V1__BackupResponse.descriptor
            case .revokeToken: Perch__V1__RevokeTokenResponse.descriptor
            case .offerConsoleCode: Perch__V1__OfferConsoleCodeResponse.descriptor
            case .redeemConsoleCode: Perch__V1__RedeemConsoleCodeResponse.descriptor
            case .findAccount: Perch__V1__FindAccountResponse.descriptor
            case .findCustomers: Perch__V1__FindCustomersResponse.descriptor
            case .addNote: Perch__V1__AddNoteResponse.descriptor
            case .listNotes: Perch__V1__ListNotesResponse.descriptor
            case .deleteNote: Perch__V1__DeleteNoteResponse.descriptor
            case .listUnclaimed: Perch__V1__ListUnclaimedResponse.descriptor
            case .attachAlias: Perch__V1__AttachAliasResponse.descriptor
            case .detachAlias: Perch__V1__DetachAliasResponse.descriptor
            case .moveTransaction: Perch__V1__MoveTransactionResponse.descriptor
            case .mergeAccounts: Perch__V1__MergeAccountsResponse.descriptor
            case .eraseAccount: Perch__V1__EraseAccountResponse.descriptor
            case .exportAccount: Perch__V1__ExportAccountResponse.descriptor
            case .grantEntitlement: Perch__V1__GrantEntitlementResponse.descriptor
            case .revokeGrant: Perch__V1__RevokeGrantResponse.descriptor
            case .listAudit: Perch__V1__ListAuditResponse.descriptor
            case .listDeadLetters: Perch__V1__ListDeadLettersResponse.descriptor
            case .retryDeadLetter: Perch__V1__RetryDeadLetterResponse.descriptor
            case .dropDeadLetter: Perch__V1__DropDeadLetterResponse.descriptor
            case .listConsumption: Perch__V1__ListConsumptionResponse.descriptor
            case .answerConsumption: Perch__V1__AnswerConsumptionResponse.descriptor
            case .reconcile: Perch__V1__ReconcileResponse.descriptor
            case .listNotifications: Perch__V1__ListNotificationsResponse.descriptor
            case .getSignedPayload: Perch__V1__GetSignedPayloadResponse.descriptor
            case .submitTransaction: Perch__V1__SubmitTransactionResponse.descriptor
            case .submitNotification: Perch__V1__SubmitNotificationResponse.descriptor
            case .watch: Perch__V1__WatchResponse.descriptor
        }
    }
}
