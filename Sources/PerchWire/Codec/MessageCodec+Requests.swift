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
        case .purchase:
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
        case .buyProduct:
            return .buyProduct(BuyProductRequest(try self.request(Perch__V1__BuyProductRequest.self, bytes)))
        case .refundTransaction:
            return .refundTransaction(
                RefundTransactionRequest(try self.request(Perch__V1__RefundTransactionRequest.self, bytes)))
        case .setAutoRenew:
            return .setAutoRenew(SetAutoRenewRequest(try self.request(Perch__V1__SetAutoRenewRequest.self, bytes)))
        case .forceRenewal:
            return .forceRenewal(ForceRenewalRequest(try self.request(Perch__V1__ForceRenewalRequest.self, bytes)))
        case .expireSubscription:
            return .expireSubscription(
                ExpireSubscriptionRequest(try self.request(Perch__V1__ExpireSubscriptionRequest.self, bytes)))
        case .getClock:
            return .getClock(ClockRequest(try self.request(Perch__V1__GetClockRequest.self, bytes)))
        case .setClock:
            return .setClock(SetClockRequest(try self.request(Perch__V1__SetClockRequest.self, bytes)))
        case .setTimeRate:
            return .setTimeRate(SetTimeRateRequest(try self.request(Perch__V1__SetTimeRateRequest.self, bytes)))
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
        }
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
        case .buyProduct(let request):
            return try self.pack(Perch__V1__BuyProductRequest.self) { request.write(to: $0, arena) }
        case .refundTransaction(let request):
            return try self.pack(Perch__V1__RefundTransactionRequest.self) { request.write(to: $0, arena) }
        case .setAutoRenew(let request):
            return try self.pack(Perch__V1__SetAutoRenewRequest.self) { request.write(to: $0, arena) }
        case .forceRenewal(let request):
            return try self.pack(Perch__V1__ForceRenewalRequest.self) { request.write(to: $0, arena) }
        case .expireSubscription(let request):
            return try self.pack(Perch__V1__ExpireSubscriptionRequest.self) { request.write(to: $0, arena) }
        case .getClock(let request):
            return try self.pack(Perch__V1__GetClockRequest.self) { request.write(to: $0, arena) }
        case .setClock(let request):
            return try self.pack(Perch__V1__SetClockRequest.self) { request.write(to: $0, arena) }
        case .setTimeRate(let request):
            return try self.pack(Perch__V1__SetTimeRateRequest.self) { request.write(to: $0, arena) }
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
        }
    }
}
