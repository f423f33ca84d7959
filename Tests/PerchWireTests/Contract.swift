import CPerchProto
import PerchBase

@testable import PerchWire

/// The contract as protobuf-c describes it, by the contract's own names.
enum Contract {
    typealias Descriptor = UnsafePointer<ProtobufCMessageDescriptor>

    static func descriptors(from roots: [Descriptor]) -> [String: Descriptor] {
        var found: [String: Descriptor] = [:]
        var waiting = roots
        while let descriptor = waiting.popLast() {
            let name = String(cString: descriptor.pointee.name)
            guard found.updateValue(descriptor, forKey: name) == nil else { continue }
            for index in 0..<Int(descriptor.pointee.n_fields) {
                let field = descriptor.pointee.fields[index]
                if field.type == PROTOBUF_C_TYPE_MESSAGE {
                    waiting.append(field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))
                }
            }
        }
        return found
    }

    /// The paths of all fields that a message of this kind can have.
    static func fields(of descriptor: Descriptor, path: String = "") -> Set<String> {
        var paths: Set<String> = []
        for index in 0..<Int(descriptor.pointee.n_fields) {
            let field = descriptor.pointee.fields[index]
            let name = path + "." + String(cString: field.name)
            paths.insert(name)
            if field.type == PROTOBUF_C_TYPE_MESSAGE {
                paths.formUnion(
                    self.fields(
                        of: field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self), path: name))
            }
        }
        return paths
    }

    /// The paths of the fields that are in these bytes, which the codec wrote.
    static func fields(in bytes: ArraySlice<UInt8>, of descriptor: Descriptor, path: String = "") -> Set<String> {
        var paths: Set<String> = []
        var at = bytes.startIndex
        func varint() -> UInt64 {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while true {
                let byte = bytes[at]
                at += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
        }
        while at < bytes.endIndex {
            let tag = varint()
            let field = (0..<Int(descriptor.pointee.n_fields)).map { descriptor.pointee.fields[$0] }
                .first { UInt64($0.id) == tag >> 3 }
            let name = path + "." + (field.map { String(cString: $0.name) } ?? "unknown")
            paths.insert(name)
            switch tag & 7 {
            case 0: _ = varint()
            case 1: at += 8
            case 5: at += 4
            default:
                let end = Int(varint()) + at
                if let field, field.type == PROTOBUF_C_TYPE_MESSAGE {
                    let inner = field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
                    paths.formUnion(self.fields(in: bytes[at..<end], of: inner, path: name))
                }
                at = end
            }
        }
        return paths
    }

    /// The request and the response of each method.
    static func messages(of method: PerchWire.Method) -> (request: Descriptor, response: Descriptor) {
        switch method {
        case .productsTask: (Perch__V1__ProductsTaskRequest.descriptor, Perch__V1__ProductsTaskResponse.descriptor)
        case .subscriptionStatusTask:
            (Perch__V1__SubscriptionStatusTaskRequest.descriptor, Perch__V1__SubscriptionStatusTaskResponse.descriptor)
        case .currentEntitlementTask:
            (Perch__V1__CurrentEntitlementTaskRequest.descriptor, Perch__V1__CurrentEntitlementTaskResponse.descriptor)
        case .getProducts: (Perch__V1__GetProductsRequest.descriptor, Perch__V1__GetProductsResponse.descriptor)
        case .getImage: (Perch__V1__GetImageRequest.descriptor, Perch__V1__GetImageResponse.descriptor)
        case .getSubscriptionStatus:
            (Perch__V1__GetSubscriptionStatusRequest.descriptor, Perch__V1__GetSubscriptionStatusResponse.descriptor)
        case .getCurrentEntitlement:
            (Perch__V1__GetCurrentEntitlementRequest.descriptor, Perch__V1__GetCurrentEntitlementResponse.descriptor)
        case .listCurrentEntitlements:
            (
                Perch__V1__ListCurrentEntitlementsRequest.descriptor,
                Perch__V1__ListCurrentEntitlementsResponse.descriptor
            )
        case .purchase: (Perch__V1__PurchaseRequest.descriptor, Perch__V1__PurchaseResponse.descriptor)
        case .finish: (Perch__V1__FinishRequest.descriptor, Perch__V1__FinishResponse.descriptor)
        case .listTransactions:
            (Perch__V1__ListTransactionsRequest.descriptor, Perch__V1__ListTransactionsResponse.descriptor)
        case .listUnfinished:
            (Perch__V1__ListUnfinishedRequest.descriptor, Perch__V1__ListUnfinishedResponse.descriptor)
        case .getLatestTransaction:
            (Perch__V1__GetLatestTransactionRequest.descriptor, Perch__V1__GetLatestTransactionResponse.descriptor)
        case .transactionUpdates:
            (Perch__V1__TransactionUpdatesRequest.descriptor, Perch__V1__TransactionUpdatesResponse.descriptor)
        case .listPlanOptions:
            (Perch__V1__ListPlanOptionsRequest.descriptor, Perch__V1__ListPlanOptionsResponse.descriptor)
        case .getOfferEligibility:
            (Perch__V1__GetOfferEligibilityRequest.descriptor, Perch__V1__GetOfferEligibilityResponse.descriptor)
        case .getAppPolicies:
            (Perch__V1__GetAppPoliciesRequest.descriptor, Perch__V1__GetAppPoliciesResponse.descriptor)
        case .explain:
            (Perch__V1__ExplainRequest.descriptor, Perch__V1__ExplainResponse.descriptor)
        case .sync:
            (Perch__V1__SyncRequest.descriptor, Perch__V1__SyncResponse.descriptor)
        case .requestRefund:
            (Perch__V1__RequestRefundRequest.descriptor, Perch__V1__RequestRefundResponse.descriptor)
        case .redeemOfferCode:
            (Perch__V1__RedeemOfferCodeRequest.descriptor, Perch__V1__RedeemOfferCodeResponse.descriptor)
        case .manageSubscriptions:
            (Perch__V1__ManageSubscriptionsRequest.descriptor, Perch__V1__ManageSubscriptionsResponse.descriptor)
        case .getAppTransaction:
            (Perch__V1__GetAppTransactionRequest.descriptor, Perch__V1__GetAppTransactionResponse.descriptor)
        case .purchaseIntents:
            (Perch__V1__PurchaseIntentsRequest.descriptor, Perch__V1__PurchaseIntentsResponse.descriptor)
        case .messages:
            (Perch__V1__MessagesRequest.descriptor, Perch__V1__MessagesResponse.descriptor)
        case .operate:
            (Perch__V1__OperateRequest.descriptor, Perch__V1__OperateResponse.descriptor)
        case .inspectAccount:
            (Perch__V1__InspectAccountRequest.descriptor, Perch__V1__InspectAccountResponse.descriptor)
        case .listAccounts:
            (Perch__V1__ListAccountsRequest.descriptor, Perch__V1__ListAccountsResponse.descriptor)
        case .configure:
            (Perch__V1__ConfigureRequest.descriptor, Perch__V1__ConfigureResponse.descriptor)
        case .getSettings:
            (Perch__V1__GetSettingsRequest.descriptor, Perch__V1__GetSettingsResponse.descriptor)
        case .getClock: (Perch__V1__GetClockRequest.descriptor, Perch__V1__GetClockResponse.descriptor)
        case .setClock: (Perch__V1__SetClockRequest.descriptor, Perch__V1__SetClockResponse.descriptor)
        case .listApps: (Perch__V1__ListAppsRequest.descriptor, Perch__V1__ListAppsResponse.descriptor)
        case .checkCatalog: (Perch__V1__CheckCatalogRequest.descriptor, Perch__V1__CheckCatalogResponse.descriptor)
        case .loadCatalog: (Perch__V1__LoadCatalogRequest.descriptor, Perch__V1__LoadCatalogResponse.descriptor)
        case .getCatalog: (Perch__V1__GetCatalogRequest.descriptor, Perch__V1__GetCatalogResponse.descriptor)
        case .getServerStatus:
            (Perch__V1__GetServerStatusRequest.descriptor, Perch__V1__GetServerStatusResponse.descriptor)
        case .backup: (Perch__V1__BackupRequest.descriptor, Perch__V1__BackupResponse.descriptor)
        case .offerConsoleCode:
            (Perch__V1__OfferConsoleCodeRequest.descriptor, Perch__V1__OfferConsoleCodeResponse.descriptor)
        case .redeemConsoleCode:
            (Perch__V1__RedeemConsoleCodeRequest.descriptor, Perch__V1__RedeemConsoleCodeResponse.descriptor)
        case .revokeToken: (Perch__V1__RevokeTokenRequest.descriptor, Perch__V1__RevokeTokenResponse.descriptor)
        }
    }

    /// Every message, by its name.
    static func all() -> [String: Descriptor] {
        let wire = [
            Perch__Wire__V1__Hello.descriptor, Perch__Wire__V1__Welcome.descriptor, Perch__Wire__V1__Call.descriptor,
            Perch__Wire__V1__Status.descriptor, Perch__Wire__V1__Beat.descriptor, Perch__Wire__V1__Drain.descriptor,
        ]
        let methods = PerchWire.Method.allCases.map { self.messages(of: $0) }
        return self.descriptors(from: wire + methods.map(\.request) + methods.map(\.response))
    }

    /// Nested messages that a value of the model always has: the model does not distinguish an absent one from an empty
    /// one.
    private static let alwaysThere: Set<String> = [
        "ValueInfo.position", "ListTransactionsResponse.position", "ListUnfinishedResponse.position",
        "GetLatestTransactionResponse.position", "SubscriptionOffer.price", "SubscriptionOffer.period",
        "BillingPlan.price", "BillingPlan.commitment_price", "SubscriptionInfo.period", "Product.price",
        "Product.storefront", "Transaction.storefront", "CommitmentInfo.price", "TransactionResult.transaction",
        "RenewalInfoResult.renewal_info", "SubscriptionStatus.transaction", "SubscriptionStatus.renewal_info",
        "GetClockResponse.clock", "SetClockResponse.clock", "CheckCatalogResponse.summary",
        "LoadCatalogResponse.summary", "GetCatalogResponse.summary", "ListPlanOptionsResponse.position",
        "GetOfferEligibilityResponse.position",
        "ExplainResponse.position", "GetAppTransactionResponse.position", "InspectAccountResponse.position",
        "PurchaseRequest.order", "PendingPurchase.order", "PlanOption.product", "GroupStatuses.statuses",
        "OfferEdit.period", "GetSubscriptionStatusRequest.as_of", "GetCurrentEntitlementRequest.as_of",
        "ListCurrentEntitlementsRequest.as_of", "ExplainRequest.as_of", "OperateRequest.operation",
    ]

    /// A message's bytes after conversion to the model and back; nil if it is no value of the model.
    ///
    /// This is all that the model does not tell apart: the nested messages above; `app` and `info` with nothing in
    /// them; `info` beside `loading`; bookmarks; and whether a forecast's state entitles, which the state itself says.
    static func inTheModel(_ bytes: ArraySlice<UInt8>, _ descriptor: Descriptor) -> [UInt8]? {
        let message = String(cString: descriptor.pointee.short_name)
        var fields: [(name: String, number: UInt64, value: UInt64, bytes: [UInt8])] = []
        let whole = Array(bytes)
        whole.withUnsafeBytes { buffer in
            var reader = ScannedFields(buffer, 0..<buffer.count)
            while let scanned = reader.next() {
                let field = (0..<Int(descriptor.pointee.n_fields)).map { descriptor.pointee.fields[$0] }
                    .first { UInt64($0.id) == scanned.number }!
                let name = String(cString: field.name)
                guard field.type == PROTOBUF_C_TYPE_MESSAGE else {
                    fields.append((name, scanned.number, scanned.value, Array(buffer[scanned.whole])))
                    continue
                }
                let inner = self.inTheModel(
                    whole[scanned.range], field.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))!
                let isAlwaysThere =
                    self.alwaysThere.contains("\(message).\(name)") || name == "app" || name == "info"
                if inner.isEmpty, isAlwaysThere { continue }
                var length: [UInt8] = []
                var count = inner.count
                while count > 0x7F {
                    length.append(UInt8(truncatingIfNeeded: count) | 0x80)
                    count >>= 7
                }
                length.append(UInt8(count))
                let tag = whole[scanned.whole].prefix { $0 >= 0x80 }.count + 1
                fields.append(
                    (name, scanned.number, 0, Array(whole[scanned.whole].prefix(tag)) + length + inner))
            }
        }
        if message == "Forecast" {
            let state = fields.first { $0.name == "state" }?.value ?? 0
            fields.removeAll { $0.name == "entitled" }
            // Subscribed, and in its grace period.
            if state == 1 || state == 4 { fields.append(("entitled", 5, 1, [5 << 3, 1])) }
        }
        let reads: Set<String> = [
            "GetProductsResponse", "GetSubscriptionStatusResponse", "GetCurrentEntitlementResponse",
        ]
        let streams: Set<String> = ["PurchaseIntentsResponse", "MessagesResponse"]
        if message.hasSuffix("TaskResponse") || reads.contains(message) || streams.contains(message) {
            // perch/1 has no bookmarks among the values of a stream.
            fields.removeAll { $0.name == "bookmark" }
            if fields.contains(where: { $0.name == "loading" }) { fields.removeAll { $0.name == "info" } }
            guard fields.contains(where: { $0.name != "info" }) else { return nil }
        }
        return fields.flatMap(\.bytes)
    }
}
