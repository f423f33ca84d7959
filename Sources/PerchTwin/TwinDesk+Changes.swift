import PerchApple
import PerchBase
import PerchJSON
import PerchModel
import PerchStore

// The endpoints that change something, by the operations of the test store.
extension TwinDesk {
    func extend(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidOriginalID)
        let order = try ExtensionOrder(try call.request.fields())
        return try self.transaction(id, call, else: .originalNotFound) { _, row throws(TwinError) in
            guard row.transaction.originalID == id else { throw .invalidOriginalID }
            guard row.transaction.productType == .autoRenewable else { throw .extensionIneligible }
            guard row.transaction.ownership != .familyShared else { throw .extensionOfFamily }
            let operation = StoreOperation.extendRenewal(.transaction(id), milliseconds: order.milliseconds)
            var mutation = Mutation.operation(operation, account: nil, app: call.app.number)
            mutation.audit = Self.audit("extendRenewal", "\(id) by \(order)", call)
            return .ask(.mutate(mutation)) { answer throws(TwinError) in
                switch answer {
                case .mutated(.transaction(let extended, _, _), _):
                    return .answer { writer in
                        writer.member("originalTransactionId", "\(extended.originalID)")
                        writer.member("webOrderLineItemId", extended.webOrderLineItemID)
                        writer.member("success", true)
                        if let end = extended.expirationDate { writer.member("effectiveDate", end.milliseconds) }
                    }
                case .mutated: throw .general
                case .refused(let refusal): throw TwinError(refusal)
                default: preconditionFailure("a mutation was asked for")
                }
            }
        }
    }

    func finish(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        return try self.customer(of: id, call, else: .transactionNotFound) { account in
            let key = AccountKey(app: call.app.number, bytes: account.key)
            let mutation = Mutation(.transaction(key, id), needsTestApp: true) { view throws(Refusal) in
                guard let row = view.transaction else { preconditionFailure("the store did not fetch the transaction") }
                if row.isFinished { return .unchanged(answer: .none) }
                let fact = Fact(.finished(id), effective: view.now)
                return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
            }
            return .ask(.mutate(mutation)) { answer throws(TwinError) in
                if case .refused(let refusal) = answer { throw TwinError(refusal) }
                return .answer(TwinResponse(status: 200))
            }
        }
    }

    /// What a backend says of a refund is a line of the audit trail. The decision stays with whoever plays the App Store.
    func consumption(_ text: String, version: Int, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        let fields = try call.request.fields()
        guard let hasConsented = fields["customerConsented"]?.boolean else { throw .invalidConsent }
        if version > 1 {
            let deliveries = [
                "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
                "UNDELIVERED_OTHER",
            ]
            guard let delivery = fields["deliveryStatus"]?.string, deliveries.contains(delivery) else {
                throw .invalidDelivery
            }
            guard fields["sampleContentProvided"]?.boolean != nil else { throw .invalidSample }
        }
        let said = String(decoding: call.request.body.prefix(512), as: UTF8.self)
        return try self.transaction(id, call, else: .transactionNotFound) { _, row throws(TwinError) in
            // Without consent the App Store takes nothing.
            guard hasConsented else { throw .invalidConsent }
            let type = row.transaction.productType
            if version == 1, type != .consumable, type != .autoRenewable { throw .notConsumable }
            return .ask(.note(Self.audit("consumption", "\(id): \(said)", call))) { answer throws(TwinError) in
                if case .refused(let refusal) = answer { throw TwinError(refusal) }
                return .answer(TwinResponse(status: 202))
            }
        }
    }

    /// The newest transaction of a subscription gets the token, and its renewals inherit it; of anything else the transaction itself.
    func setAccountToken(_ text: String, _ call: Call) throws(TwinError) -> TwinStep {
        let id = try Self.number(text, else: .invalidTransactionID)
        guard let token = try call.request.fields()["appAccountToken"]?.string.flatMap({ UUIDText.canonical($0) })
        else {
            throw .invalidAccountToken
        }
        return try self.transaction(id, call, else: .transactionNotFound) { account, row throws(TwinError) in
            guard row.transaction.originalID == id else { throw .notOriginalID }
            guard row.transaction.ownership != .familyShared else { throw .familyTransaction }
            let key = AccountKey(app: call.app.number, bytes: account.key)
            var mutation = Mutation(.transaction(key, id), needsTestApp: true) { view throws(Refusal) in
                guard let row = view.transaction, let record = view.record else {
                    preconditionFailure("the store did not fetch the transaction")
                }
                var transaction = record.lines.first { $0.originalID == id }?.latest ?? row.transaction
                if transaction.appAccountToken == token { return .unchanged(answer: .none) }
                transaction.appAccountToken = token
                transaction.signedDate = view.now
                let fact = Fact(.accountTokenSet(transaction), effective: view.now)
                return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
            }
            mutation.audit = Self.audit("setAppAccountToken", "\(id)", call)
            return .ask(.mutate(mutation)) { answer throws(TwinError) in
                if case .refused(let refusal) = answer { throw TwinError(refusal) }
                return .answer(TwinResponse(status: 200))
            }
        }
    }

    static func audit(_ method: String, _ what: String, _ call: Call) -> AuditEntry {
        AuditEntry(
            at: call.wall, subject: "the backend", address: "", method: "AppStoreServerAPI", what: "\(method) \(what)",
            bundleID: call.app.bundleID, environment: "\(AppEnvironment.xcode)")
    }
}

/// By how much a renewal is to move, and why.
struct ExtensionOrder: CustomStringConvertible {
    let request: String
    private let days: Int64
    private let reason: Int64

    init(_ fields: JSONValue) throws(TwinError) {
        guard let days = fields["extendByDays"]?.integer, (1...90).contains(days) else { throw .invalidExtendByDays }
        guard let reason = fields["extendReasonCode"]?.integer, (0...3).contains(reason) else {
            throw .invalidExtendReason
        }
        guard let request = fields["requestIdentifier"]?.string, (1...128).contains(request.utf8.count) else {
            throw .invalidRequestID
        }
        self.days = days
        self.reason = reason
        self.request = request
    }

    var milliseconds: Int64 { self.days * 86_400_000 }
    var description: String { "\(self.days) days, reason \(self.reason)" }
}
