import CPerchProto
import PerchBase

extension MessageCodec {
    /// Reads a request, within the limits of requests. Its length is the caller's matter: `Method.requestBytesMax`.
    package func decodeRequest(_ method: Method, _ bytes: borrowing RawSpan) throws(MessageError) -> Request {
        switch method {
        case .productsTask:
            return .productsTask(ProductsRequest(try self.request(Perch__V1__ProductsTaskRequest.self, bytes)))
        case .subscriptionStatusTask:
            return .subscriptionStatusTask(
                SubscriptionStatusRequest(try self.request(Perch__V1__SubscriptionStatusTaskRequest.self, bytes)))
        case .currentEntitlementTask:
            if let quick = bytes.withUnsafeBytes({ QuickReader.entitlementRequest($0, names: self.names) }) {
                return .currentEntitlementTask(quick)
            }
            return .currentEntitlementTask(
                CurrentEntitlementRequest(try self.request(Perch__V1__CurrentEntitlementTaskRequest.self, bytes)))
        case .getProducts:
            return .getProducts(ProductsRequest(try self.request(Perch__V1__GetProductsRequest.self, bytes)))
        case .getImage:
            return .getImage(GetImageRequest(try self.request(Perch__V1__GetImageRequest.self, bytes)))
        case .getSubscriptionStatus:
            return .getSubscriptionStatus(
                SubscriptionStatusRequest(try self.request(Perch__V1__GetSubscriptionStatusRequest.self, bytes)))
        case .getCurrentEntitlement:
            return .getCurrentEntitlement(
                CurrentEntitlementRequest(try self.request(Perch__V1__GetCurrentEntitlementRequest.self, bytes)))
        case .listCurrentEntitlements:
            return .listCurrentEntitlements(
                ListCurrentEntitlementsRequest(try self.request(Perch__V1__ListCurrentEntitlementsRequest.self, bytes)))
        case .listPlanOptions:
            return .listPlanOptions(PlanOptionsRequest(try self.request(Perch__V1__ListPlanOptionsRequest.self, bytes)))
        case .getOfferEligibility:
            return .getOfferEligibility(
                OfferEligibilityRequest(try self.request(Perch__V1__GetOfferEligibilityRequest.self, bytes)))
        case .getAppPolicies:
            return .getAppPolicies(AppPoliciesRequest(try self.request(Perch__V1__GetAppPoliciesRequest.self, bytes)))
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
            return .listTransactions(
                ListTransactionsRequest(try self.request(Perch__V1__ListTransactionsRequest.self, bytes)))
        case .listUnfinished:
            return .listUnfinished(
                ListUnfinishedRequest(try self.request(Perch__V1__ListUnfinishedRequest.self, bytes)))
        case .getLatestTransaction:
            return .getLatestTransaction(
                LatestTransactionRequest(try self.request(Perch__V1__GetLatestTransactionRequest.self, bytes)))
        case .transactionUpdates:
            return .transactionUpdates(
                TransactionUpdatesRequest(try self.request(Perch__V1__TransactionUpdatesRequest.self, bytes)))
        case .sync:
            return .sync(SyncRequest(try self.request(Perch__V1__SyncRequest.self, bytes)))
        case .requestRefund:
            return .requestRefund(RefundRequest(try self.request(Perch__V1__RequestRefundRequest.self, bytes)))
        case .redeemOfferCode:
            return .redeemOfferCode(
                RedeemOfferCodeRequest(try self.request(Perch__V1__RedeemOfferCodeRequest.self, bytes)))
        case .manageSubscriptions:
            return .manageSubscriptions(
                ManageSubscriptionsRequest(try self.request(Perch__V1__ManageSubscriptionsRequest.self, bytes)))
        case .getAppTransaction:
            return .getAppTransaction(
                AppTransactionRequest(try self.request(Perch__V1__GetAppTransactionRequest.self, bytes)))
        case .purchaseIntents:
            return .purchaseIntents(
                AccountWatchRequest(try self.request(Perch__V1__PurchaseIntentsRequest.self, bytes)))
        case .messages:
            return .messages(AccountWatchRequest(try self.request(Perch__V1__MessagesRequest.self, bytes)))
        case .operate:
            if let quick = bytes.withUnsafeBytes({ QuickReader.operateRequest($0, names: self.names) }) {
                return .operate(quick)
            }
            return .operate(try OperateRequest(try self.request(Perch__V1__OperateRequest.self, bytes)))
        case .inspectAccount:
            return .inspectAccount(
                InspectAccountRequest(try self.request(Perch__V1__InspectAccountRequest.self, bytes)))
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
        }
    }

    /// An order of a test store's customer, where it is written as every serializer writes it, without the request around
    /// it; nil: it is read as any other request.
    package func decodeOrder(_ bytes: borrowing RawSpan) -> OperateRequest? {
        bytes.withUnsafeBytes { QuickReader.operateRequest($0, names: self.names) }
    }

    func request<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        try self.unpack(type, bytes, singularFieldsMax: Limits.protobufSingularFieldsMax)
    }

    /// Writes a request.
    package func encode(_ request: Request) throws(MessageError) -> Encoded {
        let arena = self.arena
        switch request {
        case .productsTask(let request):
            return try self.pack(Perch__V1__ProductsTaskRequest.self) { request.write(to: $0, arena) }
        case .subscriptionStatusTask(let request):
            return try self.pack(Perch__V1__SubscriptionStatusTaskRequest.self) { request.write(to: $0, arena) }
        case .currentEntitlementTask(let request):
            return try self.pack(Perch__V1__CurrentEntitlementTaskRequest.self) { request.write(to: $0, arena) }
        case .getProducts(let request):
            return try self.pack(Perch__V1__GetProductsRequest.self) { request.write(to: $0, arena) }
        case .getImage(let request):
            return try self.pack(Perch__V1__GetImageRequest.self) { request.write(to: $0, arena) }
        case .getSubscriptionStatus(let request):
            return try self.pack(Perch__V1__GetSubscriptionStatusRequest.self) { request.write(to: $0, arena) }
        case .getCurrentEntitlement(let request):
            return try self.pack(Perch__V1__GetCurrentEntitlementRequest.self) { request.write(to: $0, arena) }
        case .listCurrentEntitlements(let request):
            return try self.pack(Perch__V1__ListCurrentEntitlementsRequest.self) { request.write(to: $0, arena) }
        case .listPlanOptions(let request):
            return try self.pack(Perch__V1__ListPlanOptionsRequest.self) { request.write(to: $0, arena) }
        case .getOfferEligibility(let request):
            return try self.pack(Perch__V1__GetOfferEligibilityRequest.self) { request.write(to: $0, arena) }
        case .getAppPolicies(let request):
            return try self.pack(Perch__V1__GetAppPoliciesRequest.self) { request.write(to: $0, arena) }
        case .explain(let request):
            return try self.pack(Perch__V1__ExplainRequest.self) { request.write(to: $0, arena) }
        case .purchase(let request):
            return try self.pack(Perch__V1__PurchaseRequest.self) { request.write(to: $0, arena) }
        case .finish(let request):
            return try self.pack(Perch__V1__FinishRequest.self) { request.write(to: $0, arena) }
        case .listTransactions(let request):
            return try self.pack(Perch__V1__ListTransactionsRequest.self) { request.write(to: $0, arena) }
        case .listUnfinished(let request):
            return try self.pack(Perch__V1__ListUnfinishedRequest.self) { request.write(to: $0, arena) }
        case .getLatestTransaction(let request):
            return try self.pack(Perch__V1__GetLatestTransactionRequest.self) { request.write(to: $0, arena) }
        case .transactionUpdates(let request):
            return try self.pack(Perch__V1__TransactionUpdatesRequest.self) { request.write(to: $0, arena) }
        case .sync(let request):
            return try self.pack(Perch__V1__SyncRequest.self) { request.write(to: $0, arena) }
        case .requestRefund(let request):
            return try self.pack(Perch__V1__RequestRefundRequest.self) { request.write(to: $0, arena) }
        case .redeemOfferCode(let request):
            return try self.pack(Perch__V1__RedeemOfferCodeRequest.self) { request.write(to: $0, arena) }
        case .manageSubscriptions(let request):
            return try self.pack(Perch__V1__ManageSubscriptionsRequest.self) { request.write(to: $0, arena) }
        case .getAppTransaction(let request):
            return try self.pack(Perch__V1__GetAppTransactionRequest.self) { request.write(to: $0, arena) }
        case .purchaseIntents(let request):
            return try self.pack(Perch__V1__PurchaseIntentsRequest.self) { request.write(to: $0, arena) }
        case .messages(let request):
            return try self.pack(Perch__V1__MessagesRequest.self) { request.write(to: $0, arena) }
        case .operate(let request):
            return try self.pack(Perch__V1__OperateRequest.self) { request.write(to: $0, arena) }
        case .inspectAccount(let request):
            return try self.pack(Perch__V1__InspectAccountRequest.self) { request.write(to: $0, arena) }
        case .listAccounts(let request):
            return try self.pack(Perch__V1__ListAccountsRequest.self) { request.write(to: $0, arena) }
        case .configure(let request):
            return try self.pack(Perch__V1__ConfigureRequest.self) { request.write(to: $0, arena) }
        case .getSettings(let request):
            return try self.pack(Perch__V1__GetSettingsRequest.self) { request.write(to: $0, arena) }
        case .getClock(let request):
            return try self.pack(Perch__V1__GetClockRequest.self) { request.write(to: $0, arena) }
        case .setClock(let request):
            return try self.pack(Perch__V1__SetClockRequest.self) { request.write(to: $0, arena) }
        case .listApps:
            return try self.pack(Perch__V1__ListAppsRequest.self) { _ in }
        case .checkCatalog(let request):
            return try self.pack(Perch__V1__CheckCatalogRequest.self) { request.write(to: $0, arena) }
        case .loadCatalog(let request):
            return try self.pack(Perch__V1__LoadCatalogRequest.self) { request.write(to: $0, arena) }
        case .getCatalog(let request):
            return try self.pack(Perch__V1__GetCatalogRequest.self) { request.write(to: $0, arena) }
        case .getServerStatus:
            return try self.pack(Perch__V1__GetServerStatusRequest.self) { _ in }
        case .backup(let request):
            return try self.pack(Perch__V1__BackupRequest.self) { request.write(to: $0, arena) }
        case .revokeToken(let request):
            return try self.pack(Perch__V1__RevokeTokenRequest.self) { request.write(to: $0, arena) }
        }
    }
}
