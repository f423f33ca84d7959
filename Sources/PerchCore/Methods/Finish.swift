import PerchModel
import PerchStore
import PerchWire

struct Finish: ChangeMethod {
    let asked: FinishRequest

    var auditNote: AuditNote { .notAudited }

    func mutation(_ context: MethodContext) -> Mutation {
        let id = self.asked.transactionID
        let subject = Subject.transaction(context.key(ofAccount: self.asked.account), id)
        var mutation = Mutation(subject, needsTestApp: false) { view throws(Refusal) in
            guard let row = view.transaction else { preconditionFailure("the store did not fetch the transaction") }
            if row.isFinished { return .unchanged(answer: .none) }
            let fact = Fact(.finished(id), effective: view.now)
            return .commit([AccountFacts(account: row.account, facts: [fact])], answer: .none)
        }
        mutation.origin = context.caller.clientID
        return mutation
    }
}
