import PerchStore
import PerchWire

struct MoveTransaction: AccountMove {
    let asked: MoveTransactionRequest

    var auditNote: AuditNote { .audited(String(self.asked.originalTransactionID)) }

    func move(_ context: MethodContext) -> ReportedRequest {
        .claim(self.asked.originalTransactionID, for: context.key(ofAccount: self.asked.account))
    }
}
