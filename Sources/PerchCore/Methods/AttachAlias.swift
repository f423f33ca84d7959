import PerchModel
import PerchStore
import PerchWire

struct AttachAlias: AccountMove {
    let asked: AttachAliasRequest

    var auditNote: AuditNote { .audited("") }

    func check() throws(CallRefusal) { try Check.oneName([self.asked.appAccountToken, self.asked.appTransactionID]) }

    func move(_ context: MethodContext) -> ReportedRequest {
        .attach(
            AccountAlias(token: self.asked.appAccountToken, id: self.asked.appTransactionID),
            to: context.key(ofAccount: self.asked.account))
    }
}
