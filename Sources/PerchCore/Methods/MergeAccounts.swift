import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct MergeAccounts: ChangeMethod {
    let asked: MergeAccountsRequest

    var auditNote: AuditNote { .audited("") }

    var accountsNamed: [String] { [self.asked.account, self.asked.intoAccount] }

    func check() throws(CallRefusal) { try Check.account(self.asked.intoAccount, field: "into_account") }

    func mutation(_ context: MethodContext) throws(CallRefusal) -> Mutation {
        try context.requireReportedApp()
        let account = context.key(ofAccount: self.asked.account)
        return .reported(
            .merge(account, into: context.key(ofAccount: self.asked.intoAccount)), app: context.app.number)
    }

    func answer(_ result: MutationResult, at position: Position, _ context: MethodContext) -> MergeAccountsResponse {
        guard case .reported(let outcome) = result else { preconditionFailure("a merger has an outcome") }
        return MergeAccountsResponse(position: position, movedCount: outcome.moved)
    }
}
