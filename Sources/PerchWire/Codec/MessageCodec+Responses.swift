import CPerchProto
package import PerchBase
package import PerchModel

extension MessageCodec {
    /// Reads a response message, within the limits of what servers send.
    package func decodeResponse(_ method: Method, _ bytes: borrowing RawSpan) throws(MessageError) -> Response {
        switch method {
        case .productsTask:
            guard let state = TaskState<Products>(try self.response(Perch__V1__ProductsTaskResponse.self, bytes)) else {
                throw .missing(field: "perch.v1.ProductsTaskResponse.state")
            }
            return .productsTask(state)
        case .subscriptionStatusTask:
            guard
                let state = TaskState<SubscriptionStatuses>(
                    try self.response(Perch__V1__SubscriptionStatusTaskResponse.self, bytes))
            else {
                throw .missing(field: "perch.v1.SubscriptionStatusTaskResponse.state")
            }
            return .subscriptionStatusTask(state)
        case .currentEntitlementTask:
            guard
                let state = TaskState<Verified<Transaction>?>(
                    try self.response(Perch__V1__CurrentEntitlementTaskResponse.self, bytes))
            else {
                throw .missing(field: "perch.v1.CurrentEntitlementTaskResponse.state")
            }
            return .currentEntitlementTask(state)
        case .getProducts:
            guard let state = TaskState<Products>(try self.response(Perch__V1__GetProductsResponse.self, bytes)) else {
                throw .missing(field: "perch.v1.GetProductsResponse.state")
            }
            return .getProducts(state)
        case .getImage:
            return .getImage(ImageAnswer(try self.response(Perch__V1__GetImageResponse.self, bytes)))
        case .getSubscriptionStatus:
            guard
                let state = TaskState<SubscriptionStatuses>(
                    try self.response(Perch__V1__GetSubscriptionStatusResponse.self, bytes))
            else {
                throw .missing(field: "perch.v1.GetSubscriptionStatusResponse.state")
            }
            return .getSubscriptionStatus(state)
        case .getCurrentEntitlement:
            guard
                let state = TaskState<Verified<Transaction>?>(
                    try self.response(Perch__V1__GetCurrentEntitlementResponse.self, bytes))
            else {
                throw .missing(field: "perch.v1.GetCurrentEntitlementResponse.state")
            }
            return .getCurrentEntitlement(state)
        case .listCurrentEntitlements:
            return .listCurrentEntitlements(
                EntitlementList(try self.response(Perch__V1__ListCurrentEntitlementsResponse.self, bytes)))
        case .listPlanOptions:
            return .listPlanOptions(PlanOptionList(try self.response(Perch__V1__ListPlanOptionsResponse.self, bytes)))
        case .getOfferEligibility:
            return .getOfferEligibility(
                OfferEligibilityAnswer(try self.response(Perch__V1__GetOfferEligibilityResponse.self, bytes)))
        case .getAppPolicies:
            return .getAppPolicies(AppPoliciesAnswer(try self.response(Perch__V1__GetAppPoliciesResponse.self, bytes)))
        case .explain:
            return .explain(ExplainAnswer(try self.response(Perch__V1__ExplainResponse.self, bytes)))
        case .purchase:
            return .purchase(PurchaseResponse(try self.response(Perch__V1__PurchaseResponse.self, bytes)))
        case .finish:
            return .finish(Acknowledgement(try self.response(Perch__V1__FinishResponse.self, bytes)))
        case .listTransactions:
            return .listTransactions(
                TransactionPage(try self.response(Perch__V1__ListTransactionsResponse.self, bytes)))
        case .listUnfinished:
            return .listUnfinished(TransactionPage(try self.response(Perch__V1__ListUnfinishedResponse.self, bytes)))
        case .getLatestTransaction:
            return .getLatestTransaction(
                LatestTransaction(try self.response(Perch__V1__GetLatestTransactionResponse.self, bytes)))
        case .transactionUpdates:
            return .transactionUpdates(
                TransactionEvent(try self.response(Perch__V1__TransactionUpdatesResponse.self, bytes)))
        case .sync:
            return .sync(Acknowledgement(try self.response(Perch__V1__SyncResponse.self, bytes)))
        case .requestRefund:
            return .requestRefund(RefundAnswer(try self.response(Perch__V1__RequestRefundResponse.self, bytes)))
        case .redeemOfferCode:
            return .redeemOfferCode(RedeemedCode(try self.response(Perch__V1__RedeemOfferCodeResponse.self, bytes)))
        case .manageSubscriptions:
            return .manageSubscriptions(
                Acknowledgement(try self.response(Perch__V1__ManageSubscriptionsResponse.self, bytes)))
        case .getAppTransaction:
            return .getAppTransaction(
                AppTransactionAnswer(try self.response(Perch__V1__GetAppTransactionResponse.self, bytes)))
        case .purchaseIntents:
            guard
                let state = TaskState<[PurchaseIntent]>(
                    try self.response(Perch__V1__PurchaseIntentsResponse.self, bytes))
            else {
                throw .missing(field: "perch.v1.PurchaseIntentsResponse.state")
            }
            return .purchaseIntents(state)
        case .messages:
            guard let state = TaskState<[StoreMessage]>(try self.response(Perch__V1__MessagesResponse.self, bytes))
            else {
                throw .missing(field: "perch.v1.MessagesResponse.state")
            }
            return .messages(state)
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
        }
    }

    func response<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        try self.unpack(type, bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
    }

    /// Writes a response message.
    package func encode(_ response: Response) throws(MessageError) -> Encoded {
        let arena = self.arena
        switch response {
        case .productsTask(let response):
            return try self.pack(Perch__V1__ProductsTaskResponse.self) { response.write(to: $0, arena) }
        case .subscriptionStatusTask(let response):
            return try self.pack(Perch__V1__SubscriptionStatusTaskResponse.self) { response.write(to: $0, arena) }
        case .currentEntitlementTask(let response):
            return try self.pack(Perch__V1__CurrentEntitlementTaskResponse.self) { response.write(to: $0, arena) }
        case .getProducts(let response):
            return try self.pack(Perch__V1__GetProductsResponse.self) { response.write(to: $0, arena) }
        case .getImage(let response):
            return try self.pack(Perch__V1__GetImageResponse.self) { response.write(to: $0, arena) }
        case .getSubscriptionStatus(let response):
            return try self.pack(Perch__V1__GetSubscriptionStatusResponse.self) { response.write(to: $0, arena) }
        case .getCurrentEntitlement(let response):
            return try self.pack(Perch__V1__GetCurrentEntitlementResponse.self) { response.write(to: $0, arena) }
        case .listCurrentEntitlements(let response):
            return try self.pack(Perch__V1__ListCurrentEntitlementsResponse.self) { response.write(to: $0, arena) }
        case .listPlanOptions(let response):
            return try self.pack(Perch__V1__ListPlanOptionsResponse.self) { response.write(to: $0, arena) }
        case .getOfferEligibility(let response):
            return try self.pack(Perch__V1__GetOfferEligibilityResponse.self) { response.write(to: $0, arena) }
        case .getAppPolicies(let response):
            return try self.pack(Perch__V1__GetAppPoliciesResponse.self) { response.write(to: $0, arena) }
        case .explain(let response):
            return try self.pack(Perch__V1__ExplainResponse.self) { response.write(to: $0, arena) }
        case .purchase(let response):
            return try self.encode(response)
        case .finish(let response):
            return try self.pack(Perch__V1__FinishResponse.self) { response.write(to: $0, arena) }
        case .listTransactions(let response):
            return try self.pack(Perch__V1__ListTransactionsResponse.self) { response.write(to: $0, arena) }
        case .listUnfinished(let response):
            return try self.pack(Perch__V1__ListUnfinishedResponse.self) { response.write(to: $0, arena) }
        case .getLatestTransaction(let response):
            return try self.pack(Perch__V1__GetLatestTransactionResponse.self) { response.write(to: $0, arena) }
        case .transactionUpdates(let response):
            return try self.pack(Perch__V1__TransactionUpdatesResponse.self) { response.write(to: $0, arena) }
        case .sync(let response):
            return try self.pack(Perch__V1__SyncResponse.self) { response.write(to: $0, arena) }
        case .requestRefund(let response):
            return try self.pack(Perch__V1__RequestRefundResponse.self) { response.write(to: $0, arena) }
        case .redeemOfferCode(let response):
            return try self.pack(Perch__V1__RedeemOfferCodeResponse.self) { response.write(to: $0, arena) }
        case .manageSubscriptions(let response):
            return try self.pack(Perch__V1__ManageSubscriptionsResponse.self) { response.write(to: $0, arena) }
        case .getAppTransaction(let response):
            return try self.pack(Perch__V1__GetAppTransactionResponse.self) { response.write(to: $0, arena) }
        case .purchaseIntents(let response):
            return try self.pack(Perch__V1__PurchaseIntentsResponse.self) { response.write(to: $0, arena) }
        case .messages(let response):
            return try self.pack(Perch__V1__MessagesResponse.self) { response.write(to: $0, arena) }
        case .operate(let response):
            return try self.encode(response)
        case .inspectAccount(let response):
            return try self.pack(Perch__V1__InspectAccountResponse.self) { response.write(to: $0, arena) }
        case .listAccounts(let response):
            return try self.pack(Perch__V1__ListAccountsResponse.self) { response.write(to: $0, arena) }
        case .configure(let response):
            return try self.pack(Perch__V1__ConfigureResponse.self) { response.write(to: $0, arena) }
        case .getSettings(let response):
            return try self.pack(Perch__V1__GetSettingsResponse.self) { response.write(to: $0, arena) }
        case .getClock(let response):
            return try self.pack(Perch__V1__GetClockResponse.self) { response.write(to: $0, arena) }
        case .setClock(let response):
            return try self.pack(Perch__V1__SetClockResponse.self) { response.write(to: $0, arena) }
        case .listApps(let response):
            return try self.pack(Perch__V1__ListAppsResponse.self) { response.write(to: $0, arena) }
        case .checkCatalog(let response):
            return try self.pack(Perch__V1__CheckCatalogResponse.self) { response.write(to: $0, arena) }
        case .loadCatalog(let response):
            return try self.pack(Perch__V1__LoadCatalogResponse.self) { response.write(to: $0, arena) }
        case .getCatalog(let response):
            return try self.pack(Perch__V1__GetCatalogResponse.self) { response.write(to: $0, arena) }
        case .getServerStatus(let response):
            return try self.pack(Perch__V1__GetServerStatusResponse.self) { response.write(to: $0, arena) }
        case .backup(let response):
            return try self.pack(Perch__V1__BackupResponse.self) { response.write(to: $0, arena) }
        case .revokeToken(let response):
            return try self.pack(Perch__V1__RevokeTokenResponse.self) { response.write(to: $0, arena) }
        }
    }

    // MARK: The push path: what orders and views come to

    package func encode(_ response: PurchaseResponse) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__PurchaseResponse.self) { response.write(to: &$0) }
    }

    package func encode(_ response: OperateResponse) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__OperateResponse.self) { response.write(to: &$0) }
    }

    package func encodeStatuses(
        _ value: SubscriptionStatuses, _ info: ValueInfo, token: ResumeToken? = nil
    ) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__SubscriptionStatusTaskResponse.self) {
            if token != nil || !info.isBlank { $0.message(5) { info.write(to: &$0, token: token) } }
            $0.message(3) { value.write(to: &$0) }
        }
    }

    package func encodeEntitlement(
        _ value: Verified<Transaction>?, _ info: ValueInfo, token: ResumeToken? = nil
    ) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__CurrentEntitlementTaskResponse.self) {
            if token != nil || !info.isBlank { $0.message(5) { info.write(to: &$0, token: token) } }
            $0.message(3) { writer in
                if let value { writer.message(1) { value.write(to: &$0) } }
            }
        }
    }

    package func encodeProducts(
        _ value: Products, _ info: ValueInfo, isRead: Bool = false
    ) throws(MessageError) -> Encoded {
        let arena = self.arena
        let state = TaskState.success(value, info)
        return isRead
            ? try self.pack(Perch__V1__GetProductsResponse.self) { state.write(to: $0, arena) }
            : try self.pack(Perch__V1__ProductsTaskResponse.self) { state.write(to: $0, arena) }
    }

    package func encodeIntents(_ value: [PurchaseIntent], _ info: ValueInfo) throws(MessageError) -> Encoded {
        try self.encode(.purchaseIntents(.success(value, info)))
    }

    package func encodeMessages(_ value: [StoreMessage], _ info: ValueInfo) throws(MessageError) -> Encoded {
        try self.encode(.messages(.success(value, info)))
    }

    /// gRPC's Length-Prefixed-Message of `loading`: the same bytes for all state streams.
    package static let loadingBody: [UInt8] = [0, 0, 0, 0, 2, 0x0A, 0]

    /// The same of a STATUS without anything to say: the call went well.
    package static let okStatusBody: [UInt8] = [0, 0, 0, 0, 0]

    /// Field 1 of every mutation's response, to be appended to one that was encoded without it: where a change stands
    /// is known only after its commit, and protobuf takes fields in any order.
    package static func encodePositionField(_ position: Position) -> [UInt8] {
        var inner: [UInt8] = []
        func append(_ value: UInt64, field: UInt8) {
            guard value != 0 else { return }
            inner.append(field << 3)
            var value = value
            while value > 0x7F {
                inner.append(UInt8(truncatingIfNeeded: value) | 0x80)
                value >>= 7
            }
            inner.append(UInt8(truncatingIfNeeded: value))
        }
        append(position.revision, field: 1)
        append(UInt64(bitPattern: position.asOf.milliseconds), field: 2)
        return [0x0A, UInt8(inner.count)] + inner
    }

    // MARK: Digests

    /// Equal values have equal digests, whatever was signed when. Never over `ValueInfo`. The last encoded message
    /// stays valid.
    package func digest(of value: SubscriptionStatuses) -> Digest {
        self.digest { value.write(to: &$0) }
    }

    /// As above. Nil, not entitled, has a digest too.
    package func digest(of value: Verified<Transaction>?) -> Digest {
        self.digest { writer in
            if let value { writer.message(1) { value.write(to: &$0) } }
        }
    }

    /// As above.
    package func digest(of value: Products) -> Digest {
        let arena = self.arena
        return self.digest(Perch__V1__Products.self) { value.write(to: $0, arena) }
    }

    /// As above.
    package func digest(of value: [PurchaseIntent]) -> Digest {
        let arena = self.arena
        return self.digest(Perch__V1__PurchaseIntentList.self) { value.write(to: $0, arena) }
    }

    /// As above.
    package func digest(of value: [StoreMessage]) -> Digest {
        let arena = self.arena
        return self.digest(Perch__V1__StoreMessages.self) { value.write(to: $0, arena) }
    }
}
