import PerchModel
import PerchStore
import PerchWire

struct ResolveBillingIssue: ChangeMethod {
    let asked: ResolveBillingIssueRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) { try Check.present(self.asked.productID, "product_id") }

    func mutation(_ context: MethodContext) -> Mutation {
        context.operation(.resolveBilling(.product(self.asked.productID)), of: self.asked.account)
    }
}
