import PerchModel
import PerchStore
import PerchWire

struct ManageSubscriptions: ChangeMethod {
    let asked: ManageSubscriptionsRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) { try Check.present(self.asked.productID, "product_id") }

    func mutation(_ context: MethodContext) -> Mutation {
        context.operation(
            .setAutoRenew(.product(self.asked.productID), isOn: self.asked.isAutoRenewOn), of: self.asked.account
        ).failing(as: .manageSubscriptions)
    }
}
