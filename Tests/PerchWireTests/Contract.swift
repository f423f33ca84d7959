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
        (method.requestDescriptor, method.responseDescriptor)
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
        "GetOfferEligibilityResponse.position", "AppChangesResponse.position", "RetryDeadLetterResponse.position",
        "EntitlementsBegin.clock", "EntitlementsEnd.position",
        "EraseAccountResponse.position", "ExportAccountResponse.account", "MoveTransactionResponse.position",
        "MergeAccountsResponse.position", "DetachAliasResponse.position",
        "AttachAliasResponse.position", "AddNoteResponse.position",
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
            "GetEntitlementsResponse",
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
