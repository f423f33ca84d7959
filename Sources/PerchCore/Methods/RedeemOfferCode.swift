import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct RedeemOfferCode: ChangeMethod {
    let asked: RedeemOfferCodeRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) { try Check.present(self.asked.code, "code") }

    func mutation(_ context: MethodContext) -> Mutation {
        let (code, product) = (self.asked.code, self.asked.productID)
        let subject = Subject.account(context.key(ofAccount: self.asked.account), opens: true)
        return Mutation(subject, needsTestApp: true) { view throws(Refusal) in
            let subject = OperationSubject(view)
            let decision = try decideRedemption(
                ofCode: code, productID: product, subject, app: view.app, now: view.now, numbers: &view.numbers)
            return Decision(decision, of: subject)
        }
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> RedeemedCode {
        guard case .transaction(let transaction, let wasHeld, let failure) = result else {
            preconditionFailure("a code is redeemed by a transaction")
        }
        return RedeemedCode(
            position: position, transaction: Verified(transaction, failure: failure), appliesAtRenewal: wasHeld)
    }
}
