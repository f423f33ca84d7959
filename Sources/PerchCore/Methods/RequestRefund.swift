import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct RequestRefund: ChangeMethod {
    let asked: RefundRequest

    var auditNote: AuditNote { .notAudited }

    func mutation(_ context: MethodContext) -> Mutation {
        let (id, reason, text) = (self.asked.transactionID, self.asked.reason, self.asked.text)
        let subject = Subject.account(context.key(ofAccount: self.asked.account), opens: false)
        return Mutation(subject, needsTestApp: true) { view throws(Refusal) in
            let subject = OperationSubject(view)
            let decision = try decideRefundRequest(
                of: id, reason: reason, text: text, subject, app: view.app, now: view.now)
            return Decision(decision, of: subject)
        }
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> RefundAnswer {
        guard case .transaction(let transaction, let isAsItWas, let failure) = result else {
            preconditionFailure("a refund is of a transaction")
        }
        return RefundAnswer(
            position: position, isApproved: !isAsItWas, transaction: Verified(transaction, failure: failure))
    }
}
