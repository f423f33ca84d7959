import CPerchProto
package import PerchBase
package import PerchModel

extension MessageCodec {
    func response<C: CMessage>(
        _ type: C.Type, _ bytes: borrowing RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<C> {
        try self.unpack(type, bytes, singularFieldsMax: Limits.responseSingularFieldsMax)
    }

    // MARK: The push path: what orders and views come to

    package func encode(_ response: PurchaseResponse) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__PurchaseResponse.self) { response.write(to: &$0) }
    }

    package func encode(_ response: OperateResponse) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__OperateResponse.self) { response.write(to: &$0) }
    }

    /// The answer to an order that came to a transaction: the bytes of an `OperateResponse` or a `PurchaseResponse`.
    package func encodePurchase(
        _ transaction: Transaction, _ failure: VerificationFailure, wasHeld: Bool, at position: Position,
        isOperation: Bool
    ) throws(MessageError) -> Encoded {
        try self.write(Perch__V1__OperateResponse.self) { writer in
            writer.flag(4, wasHeld)
            if isOperation { writer.value(3, PurchaseResult.success) }
            writer.message(isOperation ? 2 : 3) { writer in
                writer.value(2, failure)
                writer.message(1) { transaction.write(to: &$0) }
            }
            if !isOperation { writer.value(2, PurchaseResult.success) }
            writer.message(1) { position.write(to: &$0) }
        }
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

    package func encodeEntitlements(
        _ value: [NamedEntitlement], _ info: ValueInfo
    ) throws(MessageError) -> Encoded {
        try self.encode(.entitlementsTask(.success(value, info)))
    }

    package func encodeMessages(_ value: [StoreMessage], _ info: ValueInfo) throws(MessageError) -> Encoded {
        try self.encode(.messages(.success(value, info)))
    }

    /// gRPC's Length-Prefixed-Message of `loading`: the same bytes for all state streams.
    package static let loadingBody: [UInt8] = [0, 0, 0, 0, 2, 0x0A, 0]

    /// gRPC's Length-Prefixed-Message of an OK STATUS without details.
    package static let okStatusBody: [UInt8] = [0, 0, 0, 0, 0]

    // MARK: Digests

    /// Equal values have equal digests, whenever they were signed. Never covers `ValueInfo`. The last encoded message
    /// stays valid.
    package func digest(of value: SubscriptionStatuses) -> Digest {
        self.digest { value.write(to: &$0) }
    }

    /// The digest of an entitlement. Nil, meaning not entitled, has a digest too.
    package func digest(of value: Verified<Transaction>?) -> Digest {
        if let value, value.failure == .noFailure, value.value.contents.fields.rare == nil {
            return self.digest(ofPlain: value.value)
        }
        return self.digest { writer in
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
        return self.digest(Perch__V1__PurchaseIntentList.self) {
            Perch__V1__PurchaseIntentList.write(value, to: $0, arena)
        }
    }

    /// As above.
    package func digest(of value: [NamedEntitlement]) -> Digest {
        let arena = self.arena
        return self.digest(Perch__V1__NamedEntitlements.self) {
            Perch__V1__NamedEntitlements.write(value, to: $0, arena)
        }
    }

    /// As above.
    package func digest(of value: [StoreMessage]) -> Digest {
        let arena = self.arena
        return self.digest(Perch__V1__StoreMessages.self) { Perch__V1__StoreMessages.write(value, to: $0, arena) }
    }
}
