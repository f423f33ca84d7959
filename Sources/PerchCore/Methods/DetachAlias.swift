import PerchModel
import PerchStore
import PerchWire

struct DetachAlias: AccountMove {
    let asked: DetachAliasRequest

    var auditNote: AuditNote { .audited("") }

    func check() throws(CallRefusal) { try Check.oneName([self.asked.appAccountToken, self.asked.appTransactionID]) }

    func move(_ context: MethodContext) -> ReportedRequest {
        .detach(AccountAlias(token: self.asked.appAccountToken, id: self.asked.appTransactionID))
    }
}
