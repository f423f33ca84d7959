import PerchModel
import PerchStore
import PerchWire

struct MergeAccounts: AccountMove {
    let asked: MergeAccountsRequest

    var auditNote: AuditNote { .audited("") }

    var accountsNamed: [String] { [self.asked.account, self.asked.intoAccount] }

    func check() throws(CallRefusal) { try Check.account(self.asked.intoAccount, field: "into_account") }

    func move(_ context: MethodContext) -> ReportedRequest {
        .merge(
            context.key(ofAccount: self.asked.account), into: context.key(ofAccount: self.asked.intoAccount))
    }
}
