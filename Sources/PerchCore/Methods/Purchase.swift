import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// A purchase of the app's own customer.
struct Purchase: ChangeMethod {
    let asked: PurchaseRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) { try Check.order(self.asked.order, at: StoreOrder.field) }

    func mutation(_ context: MethodContext) -> Mutation {
        var order = self.asked.order
        // A customer who has agreed is not asked again.
        order.isByApp = !self.asked.isConfirmed
        return Mutation.operation(
            StoreOperation.buy(order).meant, account: context.key(ofAccount: self.asked.account),
            app: context.app.number,
            origin: context.caller.clientID)
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> PurchaseResponse {
        PurchaseResponse(result, at: position, signing: self.includesJWS ? context.signing : nil)
    }
}

extension PurchaseResponse {
    /// `signing`: for a caller that wants the signed form.
    init(_ result: MutationResult, at position: Position, signing: Signing?) {
        self.init(position: position, result: result.purchaseResult)
        if case .transaction(let transaction, let wasHeld, let failure) = result {
            var shown = Verified(transaction, failure: failure)
            signing?.sign(&shown)
            (self.transaction, self.wasHeld) = (shown, wasHeld)
        }
        if case .pending(let number) = result { self.pendingNumber = number }
    }
}
