import PerchBase
import PerchModel
import PerchStore
import PerchWire

/// The answer is stored. Whoever asks the App Store sends it, and does so again after a kill.
struct AnswerConsumption: ChangeMethod {
    let asked: AnswerConsumptionRequest

    var auditNote: AuditNote { .audited("\(self.asked.transactionID)") }

    func check() throws(CallRefusal) {
        guard self.asked.transactionID != 0 else {
            throw CallRefusal(
                .fieldMissing, "transaction_id is not set; it is the purchase that the App Store asks about",
                details: [.field("transaction_id")])
        }
        guard let answer = self.asked.answer else {
            throw CallRefusal(
                .fieldMissing, "answer is not set; it is what the App Store is told", details: [.field("answer")])
        }
        guard answer.hasConsent else {
            throw Self.invalid(
                "customer_consented", "is false, and the App Store takes no answer without the customer's consent")
        }
        guard answer.delivery != .unspecified, answer.delivery.rawValue < ConsumptionDelivery.names.count,
            answer.delivery.rawValue > 0
        else { throw Self.invalid("delivery", "is \(answer.delivery); say whether it was delivered, and why not") }
        guard answer.consumedMilli <= 100_000 else {
            throw Self.invalid("consumed_milli", "is \(answer.consumedMilli), the limit is 100000, which is all of it")
        }
        guard (0..<Int32(RefundPreference.names.count)).contains(answer.preference.rawValue) else {
            throw Self.invalid("preference", "is \(answer.preference), which is none of the contract's")
        }
    }

    private static func invalid(_ field: String, _ what: String) -> CallRefusal {
        CallRefusal(.fieldInvalid, "answer.\(field) \(what)", details: [.field("answer.\(field)")])
    }

    func mutation(_ context: MethodContext) throws(CallRefusal) -> Mutation {
        try context.requireReportedApp()
        guard let answer = self.asked.answer else { preconditionFailure("an answer was checked to be there") }
        return .reported(.answer(self.asked.transactionID, answer), app: context.app.number)
    }
}
