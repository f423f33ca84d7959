import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// One operation of a test store. A change outside the app has no origin: every reader of the account's transactions receives it.
struct Operate: ChangeMethod {
    let asked: OperateRequest

    /// Orders are customers' own.
    var auditNote: AuditNote {
        if self.asked.isOrder { return .notAudited }
        return .audited(self.asked.operation?.caseName ?? "")
    }

    /// An operation on a transaction needs no account.
    var needsAccount: Bool { false }

    var accountsNamed: [String] { [self.asked.account] + (self.asked.operation?.member.map { [$0] } ?? []) }

    func check() throws(CallRefusal) {
        guard let operation = self.asked.operation else {
            throw CallRefusal(
                .fieldMissing, "operation is not set; it names exactly one operation",
                details: [.field("operation")])
        }
        if operation.transaction == nil || !self.asked.account.isEmpty { try Check.account(self.asked.account) }
        switch operation {
        case .buy(let order): try Check.order(order, at: Self.orderField)
        case .createIntent(let product, _): try Check.present(product, "operation.create_intent.product_id")
        case .share(_, let member): try Check.account(member, field: "operation.share.member")
        case .stopSharing(_, let member?): try Check.account(member, field: "operation.stop_sharing.member")
        default: break
        }
    }

    func mutation(_ context: MethodContext) -> Mutation {
        guard let operation = self.asked.operation?.meant else {
            preconditionFailure("an operation was checked to be there")
        }
        let account = self.asked.account.isEmpty ? nil : context.key(ofAccount: self.asked.account)
        return .operation(operation, account: account, app: context.app.number)
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> OperateResponse {
        OperateResponse(result, at: position, isPurchase: self.asked.operation?.isPurchase == true)
    }

    /// The model does not know the request of an order: here its field has another path, and for an approval of an earlier order
    /// it has none.
    func refused(_ refusal: Refusal) -> Step? {
        .refuse(WireStatus(refusal.inOperate(isOrder: self.asked.isOrder)))
    }

    static let orderField = "operation.buy"
}

extension Refusal {
    /// The refusal of an order as `Operate` says it.
    func inOperate(isOrder: Bool) -> Refusal {
        let path = StoreOrder.field + "."
        guard self.field.hasPrefix(path) else { return self }
        var refusal = self
        refusal.field = isOrder ? "\(Operate.orderField).\(self.field.dropFirst(path.count))" : ""
        return refusal
    }
}

extension StoreOrder {
    /// The order's field in a `PurchaseRequest`, by which the model names it.
    static let field = "order"
}

extension OperateRequest {
    /// Whether it is a purchase.
    var isOrder: Bool {
        if case .buy? = self.operation { return true }
        return false
    }
}

extension OperateResponse {
    /// `isPurchase`: the response includes the result of a purchase.
    init(_ result: MutationResult, at position: Position, isPurchase: Bool) {
        let became: PurchaseResult = isPurchase ? result.purchaseResult : .unspecified
        // Built at once in each case, because changing it later would copy it.
        switch result {
        case .transaction(let transaction, let wasHeld, let failure):
            self.init(
                position: position, transaction: Verified(transaction, failure: failure), purchaseResult: became,
                wasHeld: isPurchase && wasHeld)
        case .pending(let number), .number(let number):
            self.init(position: position, purchaseResult: became, number: number)
        case .none, .cancelled, .clock, .reported:
            self.init(position: position, purchaseResult: became)
        }
    }
}

extension StoreOperation {
    /// Whether its result is that of a purchase.
    fileprivate var isPurchase: Bool {
        switch self {
        case .buy, .decidePurchase: true
        default: false
        }
    }

    /// The operation with the contract's defaults for the fields that the caller left out.
    var meant: StoreOperation {
        switch self {
        case .buy(var order) where order.quantity == 0:
            order.quantity = 1
            return .buy(order)
        case .refund(let target, .unspecified, let share):
            return .refund(target, reason: .other, share: share)
        default:
            return self
        }
    }

    /// The name of the case. A switch, because each operation is noted, and reflection costs 15,000 instructions.
    fileprivate var caseName: String {
        switch self {
        case .buy: "buy"
        case .refund: "refund"
        case .reverseRefund: "reverseRefund"
        case .declineRefund: "declineRefund"
        case .requestConsumption: "requestConsumption"
        case .renew: "renew"
        case .expire: "expire"
        case .setAutoRenew: "setAutoRenew"
        case .resolveBilling: "resolveBilling"
        case .setCharges: "setCharges"
        case .setPayments: "setPayments"
        case .setAppTransaction: "setAppTransaction"
        case .raisePrice: "raisePrice"
        case .answerPriceIncrease: "answerPriceIncrease"
        case .extendRenewal: "extendRenewal"
        case .share: "share"
        case .stopSharing: "stopSharing"
        case .decidePurchase: "decidePurchase"
        case .deleteTransaction: "deleteTransaction"
        case .clearTransactions: "clearTransactions"
        case .createIntent: "createIntent"
        case .endIntent: "endIntent"
        case .setStorefront: "setStorefront"
        case .postMessage: "postMessage"
        }
    }
}
