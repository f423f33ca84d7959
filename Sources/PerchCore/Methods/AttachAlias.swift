import PerchBase
import PerchModel
import PerchStore
import PerchWire

struct AttachAlias: AccountMove {
    let asked: AttachAliasRequest

    var auditNote: AuditNote { .audited("") }

    func check() throws(CallRefusal) {
        try Check.oneName([self.asked.appAccountToken, self.asked.appTransactionID, self.asked.emailSha256])
        _ = try Check.emailHash(self.asked.emailSha256)
    }

    func move(_ context: MethodContext) -> ReportedRequest {
        if let hash = EmailHash.hash(hexadecimal: self.asked.emailSha256) {
            return .attachEmail(hash, to: context.key(ofAccount: self.asked.account))
        }
        return .attach(
            AccountAlias(token: self.asked.appAccountToken, id: self.asked.appTransactionID),
            to: context.key(ofAccount: self.asked.account))
    }
}
