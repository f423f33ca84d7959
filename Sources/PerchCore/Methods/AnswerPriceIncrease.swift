import PerchModel
import PerchStore
import PerchWire

struct AnswerPriceIncrease: ChangeMethod {
    let asked: AnswerPriceIncreaseRequest

    var auditNote: AuditNote { .notAudited }

    func check() throws(CallRefusal) { try Check.present(self.asked.productID, "product_id") }

    func mutation(_ context: MethodContext) -> Mutation {
        context.operation(
            .answerPriceIncrease(.product(self.asked.productID), agrees: self.asked.agrees), of: self.asked.account)
    }
}
